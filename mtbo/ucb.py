"""What every method of [MTBO] shares: random weights, an exhaustive argmax, ask and tell."""

import numpy as np

from fivebo.common.checks import as_finite_array, one_of
from fivebo.common.search.domains import FiniteSet
from fivebo.common.search.pareto import nondominated
from fivebo.common.search.rng import Streams
from fivebo.mtbo.multitask import SumKernel
from fivebo.mtbo.scalarization import ChebyshevScalarization, LinearScalarization, draw_weights


class ScalarizedUCB:
    """Upper confidence bound search under random scalarisations; subclasses give the bound.

    The rounds of Algorithm 1, l. 2 and 9 (Algorithm 2, l. 2 and 18) are the caller's loop over
    `ask` and `tell`. What they look for is the Pareto set of [MTBO] Sec. 2.

    Parameters
    ----------
    domain : FiniteSet or array_like of shape (m, d)
    kernel : SumKernel
    scalarization : LinearScalarization or ChebyshevScalarization
    lipschitz : {"exact", "one"}
    rng : int, numpy.random.Generator or Streams

    Attributes
    ----------
    weights : ndarray of shape (n,) or None
        lambda_t of the pending query.
    """

    def __init__(self, domain, kernel, scalarization, lipschitz, rng):
        if not isinstance(kernel, SumKernel):
            raise TypeError(
                f"kernel must be an ICM, DiagonalKernel or SumKernel, got {kernel!r:.80}; a scalar "
                "kernel k becomes ICM(k, [[1.0]])"
            )
        self.domain = domain if isinstance(domain, FiniteSet) else FiniteSet(domain)
        if not isinstance(scalarization, LinearScalarization | ChebyshevScalarization):
            raise TypeError(
                "scalarization must be a LinearScalarization or ChebyshevScalarization, got "
                f"{scalarization!r:.80}"
            )
        n_tasks = kernel.n_tasks
        if scalarization.n_tasks != n_tasks:
            raise ValueError(
                f"scalarization is for {scalarization.n_tasks} task(s), the kernel has {n_tasks}"
            )
        one_of(lipschitz, "lipschitz", ("exact", "one"))
        self.n_tasks, self.scalarization = n_tasks, scalarization
        self._exact_lipschitz = lipschitz == "exact"
        self.streams = Streams.of(rng)
        self.weights = None
        self._pending = None
        self._history = []

    def acquisition(self, weights):
        """Return the acquisition on the domain, shape (m,)."""
        raise NotImplementedError

    def _update(self, index, y):
        raise NotImplementedError

    def lipschitz(self, weights):
        """Return the Lipschitz constant L_lambda that the acquisition uses."""
        return self.scalarization.lipschitz(weights) if self._exact_lipschitz else 1.0

    def ask(self):
        """Return the next query, the same one until it is told.

        Returns
        -------
        ndarray of shape (d,)
            A point of the domain, in its units.
        """
        if self._pending is None:
            law = self.scalarization.law
            self.weights = draw_weights(law, self.n_tasks, self.streams.scalarization)  # l. 3
            values = self.acquisition(self.weights)
            best = np.flatnonzero(values == values.max())
            # one draw a round, needed or not: the methods of a seed share the stream
            self._pending = int(best[int(self.streams.initial.random() * len(best))])  # l. 5
        return self.domain.points[self._pending].copy()

    def tell(self, query, y):
        """Take the observation of any point of the domain.

        Parameters
        ----------
        query : array_like of shape (d,)
            The pending query, or another point of the domain.
        y : array_like of shape (n,)
            One value a task, in units of f.

        Raises
        ------
        ValueError, TypeError
            Wrong shape, not a point of the domain, NaN, infinite, complex or text (a failed
            evaluation cannot be told: ask again, or leave it out); the state is unchanged.
        """
        step = len(self._history) + 1
        index = self.domain.index(query)
        if y is None:
            raise TypeError(
                f"y of round {step} at x={np.ravel(query).tolist()} is None: a failed evaluation "
                "carries no information here; evaluate again, or do not tell it"
            )
        try:
            y = np.atleast_1d(as_finite_array(y, "y"))
        except (TypeError, ValueError) as error:
            where = f"round {step}, x={np.ravel(query).tolist()}"
            raise type(error)(f"{where}: {error}") from None
        if y.shape != (self.n_tasks,):
            raise ValueError(
                f"y of round {step} must have shape ({self.n_tasks},), one value a task, got "
                f"{y.shape}"
            )
        self._update(index, y)  # l. 6-8
        asked = index == self._pending
        self._history.append((index, y, self.weights if asked else None))
        if asked:
            self._pending = None

    def recommend(self, weights=None):
        """Return the queries that are Pareto optimal under the posterior mean, or one maximiser.

        Parameters
        ----------
        weights : array_like of shape (n,), optional
            A scalarisation weight lambda: return the maximiser of s_lambda(mu_t) on the domain.

        Returns
        -------
        ndarray of shape (k, d), or (d,) with `weights`

        Notes
        -----
        [MTBO] Sec. 2: the queries X_T are the output, as f(X_T) is to approximate the front.
        """
        mean = self.posterior_mean()
        if weights is not None:
            weights = as_finite_array(weights, "weights", ndim=1)
            if weights.shape != (self.n_tasks,) or weights.min() < 0 or weights.max() == 0:
                raise ValueError(
                    f"weights must be {self.n_tasks} numbers >= 0, not all 0, one a task, got "
                    f"{weights.tolist()}"
                )
            return self.domain.points[self.scalarization(mean, weights).argmax()].copy()
        if not self._history:
            return np.empty((0, self.domain.dim))
        queried = np.unique([index for index, _, _ in self._history])
        front = nondominated(mean[queried])
        return self.domain.points[queried[front]].copy()

    def history(self):
        """Return domain indices (t,) and observations (t, n) of all rounds."""
        return np.array([h[0] for h in self._history]), np.array([h[1] for h in self._history])

    def posterior_mean(self):
        """Return mu_t on the domain, shape (m, n), in units of y."""
        return self.posterior.mean

    def result(self):
        """Return the history as a tidy frame: t, x_1..x_d, y_1..y_n, lambda_1..lambda_n.

        Rows told without being asked have no weights (NaN).
        """
        import pandas as pd

        n, none = self.n_tasks, np.full(self.n_tasks, np.nan)
        rows = [
            (t, *self.domain.points[index], *y, *(none if weights is None else weights))
            for t, (index, y, weights) in enumerate(self._history, start=1)
        ]
        columns = [f"x_{i}" for i in range(1, self.domain.dim + 1)]
        columns += [f"{name}_{i}" for name in ("y", "lambda") for i in range(1, n + 1)]
        return pd.DataFrame(rows, columns=["t", *columns])
