"""Maximisation of an acquisition over a box: vectorised screening, then gradient polish.

[EGPBO] Sec. 3.1 asks for "a gradient-based solver" and says neither starts nor tolerances.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fivebo.common.checks import count, one_of


def settings_of(kind, value, name):
    """Return settings of a class, its defaults for None; else raise TypeError."""
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}(...) or None, got {value!r}")
    return value


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
            count(getattr(self, name), name)
        one_of(self.starts, "starts", ("fresh", "fixed"))


class Maximiser:
    """Maximises functions over a box; keeps the fixed starts if there are any.

    Parameters
    ----------
    domain : Box
        Of the functions' inputs.
    search : Search or None
        None takes the defaults.
    """

    def __init__(self, domain, search):
        self.domain = domain
        self.search = settings_of(Search, search, "search")
        self._fixed = None

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
                self._fixed = self.domain.uniform(self.search.n_fixed, rng)
            points, keep = self._fixed, self.search.n_fixed
        else:
            points, keep = self.domain.uniform(self.search.n_screen, rng), self.search.n_polish
        found = values(points)
        order = np.argsort(-found, kind="stable")[:keep]
        return points[order], found[order]

    def maximise(self, function, rng, unit=1.0):
        """Return the best point found and its value.

        The solver sees the unit cube and values in `unit`: its tolerances know no other.

        Parameters
        ----------
        function : object
            Callable on points of shape (n, d), with ``value_and_gradient(x)``.
        rng : numpy.random.Generator
        unit : float, optional
            Size of the function's values.

        Returns
        -------
        x : ndarray of shape (d,)
        value : float
        """
        from scipy.optimize import minimize

        def negative(u):
            value, gradient = function.value_and_gradient(self.domain.from_unit(u))
            return -value / unit, -gradient * (self.domain.sides / unit)

        points, found = self.starts(function, rng)
        best, best_value = points[0], float(found[0])
        cube = [(0.0, 1.0)] * self.domain.dim
        for start in self.domain.to_unit(points):
            result = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=cube)
            if -result.fun * unit > best_value:
                best, best_value = self.domain.from_unit(result.x), -float(result.fun) * unit
        return best, best_value
