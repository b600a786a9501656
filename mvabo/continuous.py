"""A continuous X: MT-MVA-BO with a continuous optimiser, and the grid that MO-MVA-BO runs on.

Reference: [MVABO] App. D. For the grid, `tau_grid` with `mvabo.theory.tau` and
``MOMVABO(..., discretised=True)``.
"""

import numpy as np

from fivebo.common.checks import as_finite_array, positive
from fivebo.common.gp.posterior import GP
from fivebo.common.search.domains import FiniteSet
from fivebo.common.search.rng import Streams
from fivebo.mvabo.bounds import objective_bounds
from fivebo.mvabo.domain import UncertainDomain
from fivebo.mvabo.search import checked_observation

N_STARTS, N_REFINED = 64, 3
"""Random designs at which the acquisition is evaluated, and the best of them that are refined."""

DIFFERENCE = 1e-6
"""Step of the forward differences, relative to the width of X."""


def tau_grid(tau, dim):
    """Return the grid X~ that divides each axis of [0, 1]^dim into tau segments.

    Source: [MVABO] App. D; every x is within ``dim / tau`` of a grid point in the l1 norm, Eq.
    (41) (within half of it, in fact).

    Parameters
    ----------
    tau : int
        Segments an axis, >= 1.
    dim : int

    Returns
    -------
    ndarray of shape ((tau + 1)^dim, dim)
    """
    if not isinstance(tau, int | np.integer) or tau < 1:
        raise ValueError(f"tau must be an integer >= 1, got {tau!r}")
    axis = np.linspace(0, 1, int(tau) + 1)
    return np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)


class ContinuousMTMVABO:
    r"""MT-MVA-BO on a box: the acquisition is maximised by L-BFGS-B from several starts.

    Parameters
    ----------
    low, high : array_like of shape (d1,)
        The box X.
    W, p
        Environments and their probabilities, as in `UncertainDomain`.
    kernel : Kernel
        On joined points (x, w).
    noise_var, beta_sqrt, alpha, rng
        As in `MTMVABO`; beta_sqrt is a constant or a function of the log determinant.

    Notes
    -----
    Source: [MVABO] App. D, first paragraph. `recommend` is the rule of Sec. 5 on the queried
    designs with the bounds of all data.
    """

    def __init__(
        self, low, high, W, p, kernel, *, noise_var, beta_sqrt=3.0, alpha=0.5, rng=0
    ):  # fmt: skip
        self.low, self.high = (
            np.atleast_1d(as_finite_array(v, n)) for v, n in ((low, "low"), (high, "high"))
        )
        if self.low.shape != self.high.shape or not (self.low < self.high).all():
            raise ValueError(f"low must be below high on every axis, got {low!r} and {high!r}")
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha must lie in [0, 1], got {alpha!r}")
        self._law = UncertainDomain([self.low], W, p)  # for the checks of w and p
        self._beta_sqrt = beta_sqrt if callable(beta_sqrt) else positive(beta_sqrt, "beta_sqrt")
        self.alpha, self.gp, self.streams = float(alpha), GP(kernel, noise_var), Streams.of(rng)
        self._x, self._j, self._y = [], [], []
        self._pending = None

    def bounds_at(self, X):
        """Return the bounds of step t at any designs of shape (k, d1)."""
        W = self._law.W.points
        Z = np.hstack([np.repeat(X, len(W), axis=0), np.tile(W, (len(X), 1))])
        mean, var = (v.reshape(len(X), len(W)) for v in self.gp.predict(Z))
        beta = self._beta_sqrt
        beta = float(beta(self.gp.log_det if self._y else 0.0)) if callable(beta) else beta
        return objective_bounds(mean, var, self._law.p, beta)

    def _upper(self, X):
        return self.bounds_at(X).scalarized(self.alpha)[1]

    def ask(self):
        """Return the next design x of shape (d1,), the same one until it is told."""
        if self._pending is None:
            share = self.streams.initial.random((N_STARTS, len(self.low)))
            starts = self.low + share * (self.high - self.low)
            if self._x:
                starts = np.vstack([starts, self._x])
            values = self._upper(starts)
            order = np.argsort(-values, kind="stable")[:N_REFINED]
            found = [self._refined(x, v) for x, v in zip(starts[order], values[order], strict=True)]
            self._pending = max(found, key=lambda pair: pair[0])[1]
        return self._pending.copy()

    def _refined(self, x, value):
        from scipy.optimize import minimize

        step = DIFFERENCE * (self.high - self.low)

        def objective(x):
            inward = np.where(x + step > self.high, -step, step)
            values = self._upper(np.vstack([x, x + np.diag(inward)]))
            return -values[0], -(values[1:] - values[0]) / inward

        limits = np.column_stack([self.low, self.high])
        found = minimize(objective, x, jac=True, method="L-BFGS-B", bounds=limits)
        better = np.isfinite(found.fun) and -found.fun > value
        return (-found.fun, np.clip(found.x, self.low, self.high)) if better else (value, x)

    def tell(self, query, y):
        """Take an observation; nothing is changed if the input is refused.

        Parameters
        ----------
        query : tuple (x, w)
            x in the box, w one of the environments.
        y : float
        """
        if not isinstance(query, tuple | list) or len(query) != 2:
            raise ValueError(f"a query is a pair (x, w), got {query!r:.80}")
        x = np.atleast_1d(as_finite_array(query[0], "query"))
        if x.shape != self.low.shape or (x < self.low).any() or (x > self.high).any():
            raise ValueError(
                f"query {x.tolist()} is not in the box from {self.low.tolist()} to "
                f"{self.high.tolist()}"
            )
        j = self._law.index((self._law.X.points[0], query[1]))[1]
        y = checked_observation(y, f"round {len(self._y) + 1}, x={x.tolist()}")
        self.gp.condition(np.hstack([x, self._law.W.points[j]])[None], [y])
        self._x.append(x)
        self._j.append(j)
        self._y.append(y)
        if self._pending is not None and np.array_equal(x, self._pending):
            self._pending = None

    def recommend(self):
        """Return the design of the highest lower bound of G; None before the first.

        Of the designs observed so far and the one asked for, as in Sec. 5.
        """
        asked = self._x if self._pending is None else [*self._x, self._pending]
        if not asked:
            return None
        low = self.bounds_at(np.array(asked)).scalarized(self.alpha)[0]
        return asked[int(low.argmax())].copy()

    @property
    def domain(self):
        """The designs observed so far with all environments, as an `UncertainDomain`."""
        return UncertainDomain(FiniteSet(np.unique(self._x, axis=0)), self._law.W, self._law.p)

    def result(self):
        """Return the history as a tidy frame: t, x_1.., w_1.., y."""
        import pandas as pd

        columns = {"t": np.arange(1, len(self._y) + 1)}
        X = np.array(self._x).reshape(-1, len(self.low))
        W = self._law.W.points[np.array(self._j, dtype=int)]
        columns |= {f"x_{k}": values for k, values in enumerate(X.T, start=1)}
        columns |= {f"w_{k}": values for k, values in enumerate(W.T, start=1)}
        return pd.DataFrame(columns | {"y": self._y})
