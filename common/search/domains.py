"""Search domains with validation at the boundary: a wrong query never reaches a model."""

import numpy as np

from fivebo.common.checks import as_finite_array, positive


class FiniteSet:
    """A finite set of points in R^d, the domain on which all acquisitions are exhaustive.

    Parameters
    ----------
    points : array_like of shape (m, d) or (m,)
        Distinct points; a vector is read as m points on the line.
    tolerance : float, optional
        Largest distance at which a query still counts as one of them, along each axis and
        relative to that axis' range (1 where the range is 0); in (0, 0.5).

    Raises
    ------
    ValueError, TypeError
        The points are empty, repeated, not finite or not real.
    """

    def __init__(self, points, tolerance=1e-9):
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
        spread = np.ptp(points, axis=0)
        self._scale = np.where(spread > 0, spread, 1.0)
        self.tolerance = positive(tolerance, "tolerance", upper=0.5)

    def __len__(self):
        return len(self.points)

    @property
    def dim(self):
        """Number of coordinates d."""
        return self.points.shape[1]

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
                f"nearest is {self.points[nearest].tolist()}"
            )
        return nearest
