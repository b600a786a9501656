"""Reward functions with closed values, slopes and averages: finite sums of kernel sections.

Reference: [GPOO] Sec. 5 and the authors' code for the three functions; draws from the prior for
Assumption 1.
"""

from functools import lru_cache, reduce
from itertools import pairwise

import numpy as np

from fivebo.gpoo.regions import SquaredExponential
from fivebo.gpoo.tree import product_points

CUTOFF = 1e-11
"""Eigenvalues below this share of the largest are left out of a draw: they are rounding."""

GRID = {1: 2001, 2: 61}
"""Grid points along each axis, by dimension, on which peaks and slopes are looked for."""


class KernelExpansion:
    r"""The function :math:`f(x) = \sum_i c_i k(x, x_i)` on [0, 1]^d.

    Parameters
    ----------
    kernel : gpoo.regions.SquaredExponential
    centres : ndarray of shape (n, d)
    coefficients : ndarray of shape (n,)
    """

    def __init__(self, kernel, centres, coefficients):
        self.kernel, self.centres, self.coefficients = kernel, centres, coefficients

    @property
    def dim(self):
        """Number of coordinates d."""
        return self.centres.shape[1]

    def __call__(self, X):
        """Return f at the points X of shape (n, d)."""
        return self.kernel(X, self.centres) @ self.coefficients

    def gradient(self, X):
        """Return the partial derivatives at the points X, shape (n, d)."""
        cov = self.kernel(X, self.centres) * self.coefficients
        slopes = [
            (cov * np.subtract.outer(X[:, j], self.centres[:, j])).sum(1) for j in range(self.dim)
        ]
        return -np.stack(slopes, axis=1) / self.kernel.length_scale**2

    def averages(self, cells):
        """Return the average rewards of cells, shape (n,): over their points, or their boxes."""
        if cells[0].representatives is None:
            low, high = (np.stack([getattr(c, side) for c in cells]) for side in ("low", "high"))
            return self.kernel.box_point(low, high, self.centres) @ self.coefficients
        points = np.stack([c.representatives for c in cells])
        return self(points.reshape(-1, self.dim)).reshape(len(cells), -1).mean(axis=1)

    def maximum(self):
        """Return the maximum on [0, 1]^d: the highest peaks of a grid, each refined by grids.

        The last spacing is 1e-4 of the first, so that the error is far below 1e-9 for length
        scales above 0.005.
        """
        n, d = GRID[self.dim], self.dim
        X = _grid(n, d)
        best = -np.inf
        for x in X[_peaks(self(X).reshape([n] * d))]:
            for level in range(5):
                steps = (2 * _grid(21, d) - 1) * 10.0**-level / (n - 1)
                near = np.clip(x + steps, 0, 1)
                values = self(near)
                x = near[values.argmax()]
            best = max(best, float(values.max()))
        return best

    def largest_slope(self):
        """Return ``max_j sup |df/dx_j|``, the Lipschitz constant in the L1 distance, on a grid."""
        return float(np.abs(self.gradient(_grid(GRID.get(self.dim, 15), self.dim))).max())


def _peaks(values):
    """Return the flat indices of the four highest grid points that no axis neighbour exceeds."""
    padded = np.pad(values, 1, constant_values=-np.inf)
    inner = tuple([slice(1, -1)] * values.ndim)
    is_peak = np.ones(values.shape, dtype=bool)
    for axis in range(values.ndim):
        for shift in (-1, 1):
            is_peak &= values >= np.roll(padded, shift, axis)[inner]
    places = np.flatnonzero(is_peak)
    return places[np.argsort(values.ravel()[places])[-4:]]


def _grid(n, dim):
    return product_points([np.linspace(0, 1, n)] * dim)


def data_of_function(number):
    """Return length scale, points and values that make one of the paper's functions.

    Source: [GPOO] Sec. 5, from the authors' code: three bumps (1), ten low wiggles and a peak (2),
    the same with a needle (3).

    Parameters
    ----------
    number : {1, 2, 3}
    """
    if number == 1:
        return 0.1, [0.05, 0.2, 0.4, 0.65, 0.9], [0.85, 0.1, 0.87, 0.05, 0.98]
    edges = np.linspace(0, 0.9, 10)
    x, y = [], []
    for low, high in pairwise(edges):
        centre = (low + high) / 2
        x += [centre, centre + 2 * (high - low) / 3]
        y += [0.1, 0.2]
    if number == 3:
        x, y = [*x, 0.94, 0.945], [*y, 0.1, 0.2]
    return {2: 0.05, 3: 0.01}[number], [*x, 0.95], [*y, 0.9]


@lru_cache(maxsize=3)
def published_function(number):
    """Return one of the paper's functions: the posterior mean of a GP given a few made points.

    Variance 0.1, noise variance 0.005 with the authors' jitter of 1e-8. Source: [GPOO] Sec. 5.

    Parameters
    ----------
    number : {1, 2, 3}
    """
    length_scale, x, y = data_of_function(number)
    kernel, X = SquaredExponential(length_scale, 0.1), np.array(x)[:, None]
    gram = kernel(X) + (0.005 + 1e-8) * np.eye(len(X))
    return KernelExpansion(kernel, X, np.linalg.solve(gram, np.array(y)))


@lru_cache(maxsize=8)
def _whitener(length_scale, variance, dim):
    """Return kernel, grid and a square root of the inverse Gram matrix on it.

    The matrix is a product over the axes, and so are its eigenvectors here: those of equal
    eigenvalues are the same wherever it is computed.
    """
    n = int(np.ceil((4 if dim == 1 else 3) / length_scale)) + 1
    values, vectors = np.linalg.eigh(SquaredExponential(length_scale)(_grid(n, 1)))
    values = variance * reduce(np.kron, [values] * dim)
    kept = values > CUTOFF * values.max()
    root = reduce(np.kron, [vectors] * dim)[:, kept] / np.sqrt(values[kept])
    return SquaredExponential(length_scale, variance), _grid(n, dim), root


def draw_function(length_scale, variance, dim, rng):
    """Draw f from GP(0, k) on a fine grid and continue it by its conditional mean.

    What the grid leaves open is below 1e-4 prior standard deviations in one dimension and 1e-3 in
    two. Source: [GPOO] Assumption 1.

    Parameters
    ----------
    length_scale, variance : float
        Of the squared exponential kernel.
    dim : int
    rng : numpy.random.Generator
    """
    kernel, centres, root = _whitener(length_scale, variance, dim)
    return KernelExpansion(kernel, centres, root @ rng.standard_normal(root.shape[1]))


@lru_cache(maxsize=32)
def lipschitz_quantile(length_scale, variance, dim, p):
    r"""Return L with ``P(sup_j sup_x |df/dx_j| > L) <= p`` for f drawn from the prior, by sampling.

    The quantile of ``sup |df/dx_1|`` at 1 - p/d over 4,000 draws; the union bound over the d
    coordinates is that of [GPOO] App. A, for Assumption 2 without its constants a, b.

    Parameters
    ----------
    length_scale, variance : float
    dim : int
    p : float
        Failure probability in (0, 1).

    Returns
    -------
    float
        In units of f per unit of x.
    """
    from fivebo.common.search.rng import rng_for

    rng = rng_for("gpoo", "lipschitz-quantile", f"{dim}-d", 0, "environment")
    kernel, centres, root = _whitener(length_scale, variance, dim)
    X = _grid({1: 401, 2: 41}.get(dim, 11), dim)
    cov = kernel(X, centres) * np.subtract.outer(centres[:, 0], X[:, 0]).T
    slopes = cov @ root / kernel.length_scale**2  # (points, kept), times a standard normal
    peaks = [
        np.abs(slopes @ rng.standard_normal((root.shape[1], 500))).max(axis=0) for _ in range(8)
    ]
    return float(np.quantile(np.concatenate(peaks), 1 - p / dim))
