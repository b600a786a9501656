"""Search domains with validation at the boundary: a wrong query never reaches a model."""

import numpy as np

from fivebo.common.checks import as_finite_array, positive

TOLERANCE = 1e-9
"""How far off a query may lie and be taken for rounding, relative to the range of each axis."""


class FiniteSet:
    """A finite set of points in R^d, the domain on which all acquisitions are exhaustive.

    Parameters
    ----------
    points : array_like of shape (m, d) or (m,)
        Distinct points; a vector is read as m points on the line.
    tolerance : float, optional
        Largest distance at which a query still counts as one of them, along each axis and
        relative to that axis' range (to its value, where that is always the same); in (0, 0.5).
        Points that went through float32 or a text file with few digits need a larger one.

    Raises
    ------
    ValueError, TypeError
        The points are empty, repeated, not finite or not real.
    """

    def __init__(self, points, tolerance=TOLERANCE):
        points = as_finite_array(points, "points")
        points = points[:, None] if points.ndim == 1 else points
        if points.ndim != 2:
            raise ValueError(f"points must have shape (m, d), got {points.shape}")
        if len(np.unique(points, axis=0)) < len(points):
            raise ValueError(
                "points must be distinct; remove the repeats with numpy.unique(axis=0)"
            )
        self.points = points
        self.points.setflags(write=False)
        spread, size = np.ptp(points, axis=0), np.abs(points).max(0)
        self._scale = np.where(spread > 0, spread, np.where(size > 0, size, 1.0))
        self.tolerance = positive(tolerance, "tolerance", upper=0.5)

    def __len__(self):
        return len(self.points)

    @property
    def dim(self):
        """Number of coordinates d."""
        return self.points.shape[1]

    @property
    def sides(self):
        """Range of each coordinate, shape (d,); its size where it is always the same."""
        return self._scale

    def index(self, x):
        """Return the index of the point `x`.

        Parameters
        ----------
        x : array_like of shape (d,), or a number if d = 1

        Raises
        ------
        ValueError, TypeError
            `x` has the wrong shape, is not finite, or is not a point of the set.
        """
        x = np.atleast_1d(as_finite_array(x, "query"))
        if x.shape != (self.dim,):
            raise ValueError(f"query must have shape ({self.dim},), got {x.shape}")
        distance = (np.abs(self.points - x) / self._scale).max(1)
        nearest = int(distance.argmin())
        if distance[nearest] > self.tolerance:
            raise ValueError(
                f"query {x.tolist()} is not one of the {len(self)} points of the domain; the "
                f"nearest is {self.points[nearest].tolist()}{_cure(distance[nearest], type(self))}"
            )
        return nearest


class Box:
    """A box in R^d.

    Parameters
    ----------
    bounds : array_like of shape (d, 2)
        Lower and upper limit of each input, in the units of the input.
    tolerance : float, optional
        How far outside a query may lie and still be taken for rounding, relative to the side; it
        is then moved to the face.

    Raises
    ------
    ValueError, TypeError
        The bounds are no finite (d, 2) array, or a lower limit is not below its upper one.
    """

    def __init__(self, bounds, tolerance=TOLERANCE):
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
        self.lower.setflags(write=False)
        self.upper.setflags(write=False)
        self.tolerance = positive(tolerance, "tolerance", upper=0.5)

    @property
    def dim(self):
        """Number of inputs d."""
        return len(self.lower)

    @property
    def bounds(self):
        """Limits, shape (d, 2)."""
        return np.column_stack([self.lower, self.upper])

    @property
    def sides(self):
        """Lengths of the sides, shape (d,)."""
        return self.upper - self.lower

    def to_unit(self, X):
        """Map points of the box to the unit cube; shape is kept."""
        return (X - self.lower) / self.sides

    def from_unit(self, U):
        """Map points of the unit cube to the box, never outside it by rounding."""
        return np.clip(self.lower + np.asarray(U) * self.sides, self.lower, self.upper)

    def uniform(self, n, rng):
        """Draw n points uniformly, shape (n, d)."""
        return self.from_unit(rng.random((n, self.dim)))

    def inside(self, points):
        """Whether points of shape (m, d) lie in the closed box, shape (m,)."""
        return ((points >= self.lower) & (points <= self.upper)).all(axis=1)

    def check(self, x, name="query"):
        """Return a query as an array of shape (d,), or say what is wrong with it.

        Raises
        ------
        ValueError, TypeError
            Wrong shape, not finite, not real, or outside the box.
        """
        x = np.atleast_1d(as_finite_array(x, name))
        if x.shape != (self.dim,):
            raise ValueError(f"{name} must have shape ({self.dim},), got {x.shape}")
        return self._pulled_in(x[None], lambda _: f"{name} {x.tolist()}")[0]

    def check_all(self, X, name="X"):
        """Return points as an array of shape (n, d); one point of shape (d,) is one row.

        Raises
        ------
        ValueError, TypeError
            As `check`, of every point.
        """
        X = np.atleast_2d(as_finite_array(X, name))
        if X.ndim != 2 or X.shape[1] != self.dim:
            raise ValueError(f"{name} must have shape (n, {self.dim}), got {X.shape}")
        return self._pulled_in(X, lambda k: f"point {k + 1} of {name}")

    def _pulled_in(self, X, named):
        off = np.maximum(self.lower - X, X - self.upper) / self.sides
        if (off > self.tolerance).any():
            k, i = np.argwhere(off > self.tolerance)[0]
            raise ValueError(
                f"{named(k)} is outside the box: input {i + 1} is {X[k, i]:.17g} and must lie in "
                f"[{self.lower[i]:g}, {self.upper[i]:g}]{_cure(off[k, i], type(self))}"
            )
        return np.clip(X, self.lower, self.upper)


def _cure(distance, kind):
    """Name the tolerance that would take a small deviation for rounding."""
    if distance > 1e-3:
        return ""
    enough = 10.0 ** np.ceil(np.log10(1.01 * distance))
    return (
        f", {distance:.1e} of the range away; if that is rounding (float32, a text file), build "
        f"the domain with {kind.__name__}(..., tolerance={enough:.0e})"
    )
