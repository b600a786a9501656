"""The search space: a box with validation at the boundary, and its map to the unit cube.

And the checks of settings that all modules share.
"""

import numbers

import numpy as np

from fivebo.common.checks import as_finite_array


def whole(value, name, least=1):
    """Return a Python or NumPy integer of at least `least` as an int; else raise ValueError."""
    integer = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if not integer or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
    return int(value)


def positive_range(value, name):
    """Refuse what is not a pair of numbers with 0 < lower <= upper."""
    pair = as_finite_array(value, name)
    if pair.shape != (2,) or not 0 < pair[0] <= pair[1]:
        raise ValueError(f"{name} must be two numbers, 0 < lower <= upper, got {value!r}")


def settings_of(kind, value, name):
    """Return settings of a class, its defaults for None; else raise TypeError."""
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}(...) or None, got {value!r}")
    return value


class Box:
    """A box in R^d, the feasible set X of [EGPBO] Sec. 2.

    Parameters
    ----------
    bounds : array_like of shape (d, 2)
        Lower and upper limit of each input, in the units of the input.

    Raises
    ------
    ValueError, TypeError
        The bounds are no finite (d, 2) array, or a lower limit is not below its upper one.
    """

    def __init__(self, bounds):
        bounds = as_finite_array(bounds, "bounds", ndim=2)
        if bounds.shape[1] != 2:
            raise ValueError(f"bounds must have shape (d, 2), got {bounds.shape}")
        wrong = np.flatnonzero(bounds[:, 0] >= bounds[:, 1])
        if len(wrong):
            i = wrong[0]
            raise ValueError(
                f"bounds of input {i + 1} must have lower < upper, got {bounds[i].tolist()}"
            )
        self.lower, self.upper = bounds.T.copy()

    @property
    def dim(self):
        """Number of inputs d."""
        return len(self.lower)

    @property
    def bounds(self):
        """Limits, shape (d, 2)."""
        return np.column_stack([self.lower, self.upper])

    def to_unit(self, X):
        """Map points of the box to the unit cube; shape is kept."""
        return (X - self.lower) / (self.upper - self.lower)

    def from_unit(self, U):
        """Map points of the unit cube to the box, never outside it by rounding."""
        X = self.lower + np.asarray(U) * (self.upper - self.lower)
        return np.clip(X, self.lower, self.upper)

    def check(self, x):
        """Return a query as an array of shape (d,), or say what is wrong with it.

        Raises
        ------
        ValueError, TypeError
            Wrong shape, not finite, not real, or outside the box.
        """
        x = np.atleast_1d(as_finite_array(x, "query"))
        if x.shape != (self.dim,):
            raise ValueError(f"query must have shape ({self.dim},), got {x.shape}")
        slack = 1e-9 * (self.upper - self.lower)
        outside = np.flatnonzero((x < self.lower - slack) | (x > self.upper + slack))
        if len(outside):
            i = outside[0]
            raise ValueError(
                f"query {x.tolist()} is outside the box: input {i + 1} must lie in "
                f"[{self.lower[i]:g}, {self.upper[i]:g}]"
            )
        return np.clip(x, self.lower, self.upper)

    def check_all(self, X):
        """Return points as an array of shape (n, d); one point of shape (d,) is one row.

        Raises
        ------
        ValueError, TypeError
            As `check`, of every point.
        """
        X = np.atleast_2d(as_finite_array(X, "X"))
        if X.shape[1:] != (self.dim,):
            raise ValueError(f"X must have shape (n, {self.dim}), got {X.shape}")
        return np.array([self.check(x) for x in X])
