"""What every method of [MTBO] shares: random weights, an exhaustive argmax, Pareto sets."""

import copy

import numpy as np

from fivebo.common.checks import as_finite_array, one_of
from fivebo.common.search.domains import FiniteSet
from fivebo.common.search.optimizer import Asked, Optimizer, numbered
from fivebo.common.search.pareto import nondominated
from fivebo.common.search.ties import TIE, tied_with_max
from fivebo.mtbo.multitask import SumKernel
from fivebo.mtbo.scalarization import ChebyshevScalarization, LinearScalarization, draw_weights


class ScalarizedUCB(Optimizer):
    """Upper confidence bound search under random scalarisations; subclasses give the bound.

    The rounds of Algorithm 1, l. 2 and 9 (Algorithm 2, l. 2 and 18) are the caller's loop over
    `ask` and `tell`. What they look for is the Pareto set of [MTBO] Sec. 2. A query is a point of
    the domain, shape (d,); an observation one value a task, shape (n,), in units of f.

    Parameters
    ----------
    domain : FiniteSet or array_like of shape (m, d)
    kernel : SumKernel
    scalarization : LinearScalarization or ChebyshevScalarization
    lipschitz : {"exact", "one"}
    rng : int, numpy.random.Generator or Streams

    Attributes
    ----------
    model : object
        Posterior on the domain, with `mean` and `task_variances()`.

    Notes
    -----
    Units: observations, `reference` and `noise_std` times u, with the kernel's task matrices (or
    `scales`) and `eta` times u^2, leave every query as it is. The norm bound b stays: the norm of
    u f under u^2 Gamma is that of f under Gamma.
    """

    def __init__(self, domain, kernel, scalarization, lipschitz, rng):
        if not isinstance(kernel, SumKernel):
            raise TypeError(
                f"kernel must be an ICM, DiagonalKernel or SumKernel, got {kernel!r:.80}; a scalar "
                "kernel k becomes ICM(k, [[1.0]])"
            )
        super().__init__(rng)
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
        self._exact_lipschitz = lipschitz == "exact"
        self.kernel, self.scalarization = copy.deepcopy((kernel, scalarization))
        self.n_tasks = n_tasks

    @property
    def weights(self):
        """lambda_t of the pending query, shape (n,); None if none is out."""
        return self.pending[-1].note if self.pending else None

    def acquisition(self, weights):
        """Return the acquisition on the domain, shape (m,)."""
        raise NotImplementedError

    def lipschitz(self, weights):
        """Return the Lipschitz constant L_lambda that the acquisition uses."""
        return self.scalarization.lipschitz(weights) if self._exact_lipschitz else 1.0

    def _propose(self):
        law = self.scalarization.law
        weights = draw_weights(law, self.n_tasks, self.streams.scalarization)  # l. 3
        points = np.arange(len(self.domain))
        left = np.delete(points, self.failed) if len(self.failed) < len(points) else points
        best = left[tied_with_max(self.acquisition(weights)[left])]
        # one draw a round, needed or not: the methods of a seed share the stream
        return Asked(int(best[int(self.streams.initial.random() * len(best))]), weights)  # l. 5

    def _own(self, query):
        return self.domain.index(query)

    def _public(self, query):
        return self.domain.points[query].copy()

    def _value(self, y):
        y = np.atleast_1d(as_finite_array(y, "y"))  # l. 6
        if y.shape != (self.n_tasks,):
            raise ValueError(
                f"y must have shape ({self.n_tasks},), one value a task, got {y.shape}"
            )
        return y

    def _marginals(self):
        """Return mean and variance of every task on the domain, each of shape (m, n)."""
        return self.model.mean, self.model.task_variances()

    def posterior(self, X=None):
        """Return posterior mean and standard deviation of f, (k, n) each, in units of y.

        Parameters
        ----------
        X : array_like of shape (k, d), or (k,) on the line, optional
            Points of the domain, others are refused; default all of it.
        """
        mean, var = self._marginals()
        if X is not None:
            rows = [self.domain.index(x) for x in np.atleast_1d(as_finite_array(X, "X"))]
            mean, var = mean[rows], var[rows]
        return mean.copy(), np.sqrt(var)

    def recommend(self, weights=None):
        """Return the queries that are Pareto optimal under the posterior mean, or one maximiser.

        Parameters
        ----------
        weights : array_like of shape (n,), optional
            A scalarisation weight lambda: return the maximiser of s_lambda(mu_t) on the domain.

        Returns
        -------
        ndarray of shape (k, d), or (d,) with `weights`

        Raises
        ------
        ValueError, TypeError
            Nothing has been told yet, or the weights are no n numbers >= 0.

        Notes
        -----
        [MTBO] Sec. 2: the queries X_T are the output, as f(X_T) is to approximate the front.
        """
        self._needs_data()
        mean, _ = self._marginals()
        if weights is not None:
            weights = as_finite_array(weights, "weights", ndim=1)
            if weights.shape != (self.n_tasks,) or weights.min() < 0 or weights.max() == 0:
                raise ValueError(
                    f"weights must be {self.n_tasks} numbers >= 0, not all 0, one a task, got "
                    f"{weights.tolist()}"
                )
            return self._public(tied_with_max(self.scalarization(mean, weights))[0])
        queried = np.unique([entry.query for entry in self.told if entry.value is not None])
        values, rounding = mean[queried], TIE * np.abs(mean).max(0)
        front = values[nondominated(values)]
        equal = (np.abs(values[:, None] - front) <= rounding).all(2).any(1)
        return self.domain.points[queried[equal]]

    def _columns(self):
        n = self.n_tasks
        return [*numbered("x", self.domain.dim), *numbered("y", n), *numbered("lambda", n)]

    def _row(self, entry):
        """Return x, y and lambda; a point that was not asked for has no weights (NaN)."""
        none = np.full(self.n_tasks, np.nan)
        y, weights = (none if part is None else part for part in (entry.value, entry.note))
        return (*self.domain.points[entry.query], *y, *weights)
