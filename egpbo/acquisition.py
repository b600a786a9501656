"""Maximisation of an acquisition over a box: vectorised screening, then gradient polish.

[EGPBO] Sec. 3.1 asks for "a gradient-based solver" and says neither starts nor tolerances.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fivebo.egpbo.box import settings_of, whole


@dataclass(frozen=True)
class Search:
    """How an acquisition is maximised.

    Parameters
    ----------
    starts : {"fresh", "fixed"}
        "fresh": uniform points drawn anew for every query, screened, the best polished.
        "fixed": the released code's 40 uniform starts, drawn once and all polished.
    n_screen : int
        Points that are screened.
    n_polish : int
        Best points from which L-BFGS-B starts.
    n_fixed : int
        Starts of "fixed".

    Notes
    -----
    Source: [EGPBO] Sec. 3.1 (silent); the released code.
    """

    starts: Literal["fresh", "fixed"] = "fresh"
    n_screen: int = 512
    n_polish: int = 2
    n_fixed: int = 40

    def __post_init__(self):
        """Refuse numbers that leave nothing to search."""
        for name in ("n_screen", "n_polish", "n_fixed"):
            whole(getattr(self, name), name)
        if self.starts not in ("fresh", "fixed"):
            raise ValueError(f"starts must be 'fresh' or 'fixed', got {self.starts!r}")


class Maximiser:
    """Maximises functions over a box; keeps the fixed starts if there are any.

    Parameters
    ----------
    lower, upper : ndarray of shape (d,)
    search : Search or None
        None takes the defaults.
    """

    def __init__(self, lower, upper, search):
        self.lower, self.upper = lower, upper
        self.search = settings_of(Search, search, "search")
        self._fixed = None

    def _uniform(self, n, rng):
        return self.lower + rng.random((n, len(self.lower))) * (self.upper - self.lower)

    def starts(self, values, rng):
        """Return the points to polish, best first, with their values.

        Parameters
        ----------
        values : callable
            Points of shape (n, d) to values of shape (n,).
        rng : numpy.random.Generator
        """
        if self.search.starts == "fixed":
            if self._fixed is None:
                self._fixed = self._uniform(self.search.n_fixed, rng)
            points, keep = self._fixed, self.search.n_fixed
        else:
            points, keep = self._uniform(self.search.n_screen, rng), self.search.n_polish
        found = values(points)
        order = np.argsort(-found, kind="stable")[:keep]
        return points[order], found[order]

    def maximise(self, function, rng):
        """Return the best point found and its value.

        Parameters
        ----------
        function : object
            Callable on points of shape (n, d), with ``value_and_gradient(x)``.
        rng : numpy.random.Generator

        Returns
        -------
        x : ndarray of shape (d,)
        value : float
        """
        from scipy.optimize import minimize

        def negative(x):
            value, gradient = function.value_and_gradient(x)
            return -value, -gradient

        points, found = self.starts(function, rng)
        best, best_value = points[0], float(found[0])
        bounds = np.column_stack([self.lower, self.upper])
        for start in points:
            result = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=bounds)
            if -result.fun > best_value:
                best, best_value = result.x, -float(result.fun)
        return np.clip(best, self.lower, self.upper), best_value
