"""Averages of a Gaussian process over boxes, in closed form for the squared exponential kernel.

Reference: [GPOO] App. D, the continuous analogue of Eq. (1), which the paper only sketches.
"""

import numpy as np
from scipy.special import erf

from fivebo.common.checks import as_finite_array
from fivebo.common.gp import kernels
from fivebo.common.gp.functionals import Functionals

GAUSS = tuple(0.5 * a for a in np.polynomial.legendre.leggauss(12))
"""Half nodes and half weights on [-1, 1]: exact to rounding over one length scale."""


class SquaredExponential(kernels.SquaredExponential):
    """The core's kernel, which also knows its averages over boxes.

    Parameters and the rest are those of `fivebo.common.gp.kernels.SquaredExponential`.
    """

    def box_point(self, low, high, X):
        r"""Return ``1/|U| int_U k(u, x) du`` for boxes U and points x, shape (n, m).

        .. math:: \frac{l}{|U|} \sqrt{\pi/2} \Bigl[
            \mathrm{erf}\frac{b - x}{\sqrt 2 l} - \mathrm{erf}\frac{a - x}{\sqrt 2 l} \Bigr]

        for each coordinate. Source: [GPOO] App. D.
        """
        product = self.variance
        low, high, X = (self._scaled(points) for points in (low, high, X))
        for j in range(X.shape[1]):
            product = product * _interval_point(low[:, j, None], high[:, j, None], X[:, j])
        return product

    def box_box(self, low, high, other_low, other_high):
        r"""Return ``1/(|U||V|) int_U int_V k`` for boxes U and V, shape (n, m).

        For each coordinate, with U = [a, b], V = [c, e] and
        ``G(z) = z sqrt(pi/2) erf(z / sqrt 2) + exp(-z^2 / 2)``,

        .. math:: \frac{l^2}{|U||V|} \bigl[ G(\tfrac{b-c}{l}) - G(\tfrac{a-c}{l})
            - G(\tfrac{b-e}{l}) + G(\tfrac{a-e}{l}) \bigr].

        Where both sides are below l this cancels, and the closed integral over the longer side is
        averaged over the shorter by Gauss-Legendre nodes, to rounding. Source: [GPOO] App. D.
        """
        product = self.variance
        low, high = self._scaled(low), self._scaled(high)
        other_low, other_high = self._scaled(other_low), self._scaled(other_high)
        for j in range(low.shape[1]):
            bounds = np.broadcast_arrays(
                low[:, j, None], high[:, j, None], other_low[:, j], other_high[:, j]
            )
            product = product * _interval_interval(*bounds)
        return product


def _interval_point(a, b, x):
    """Return the average of exp(-(u - x)^2 / 2) over u in [a, b]; all in units of l."""
    root = np.sqrt(2)
    return np.sqrt(np.pi / 2) * (erf((b - x) / root) - erf((a - x) / root)) / (b - a)


def _interval_interval(a, b, c, e):
    """Return the average of exp(-(u - v)^2 / 2) over u in [a, b] and v in [c, e]."""
    first, second = b - a, e - c
    wide = _primitive(b - c) - _primitive(a - c) - _primitive(b - e) + _primitive(a - e)
    wide /= first * second
    if (near := np.minimum(first, second) < 1).any():
        swap = first < second  # average over the shorter side
        longer = [np.where(swap, *pair)[near] for pair in ((c, a), (e, b))]
        short = [np.where(swap, *pair)[near] for pair in ((a, c), (b, e))]
        middle, width = (short[0] + short[1]) / 2, short[1] - short[0]
        nodes, weights = GAUSS
        wide[near] = sum(
            w * _interval_point(*longer, middle + width * x)
            for x, w in zip(nodes, weights, strict=True)
        )
    return wide


def _primitive(z):
    return z * np.sqrt(np.pi / 2) * erf(z / np.sqrt(2)) + np.exp(-(z**2) / 2)


class BoxAverages:
    r"""A batch of averages of f over boxes, ``1/|U| int_U f``: functionals for the core GP.

    Parameters
    ----------
    low, high : array_like of shape (n, d)
        Corners, low < high in every coordinate.

    Notes
    -----
    Source: [GPOO] App. D. The kernel must know its integrals, as `SquaredExponential` does.
    """

    def __init__(self, low, high):
        self.low, self.high = (
            as_finite_array(side, name, ndim=2) for side, name in ((low, "low"), (high, "high"))
        )
        if self.low.shape != self.high.shape or not (self.low < self.high).all():
            raise ValueError("low and high must have the same shape, with low < high throughout")

    def __len__(self):
        return len(self.low)

    @property
    def points(self):
        """Centres of the boxes, shape (n, d)."""
        return (self.low + self.high) / 2

    def append(self, other):
        """Return the batch of both, self first."""
        return BoxAverages(
            np.concatenate([self.low, other.low]), np.concatenate([self.high, other.high])
        )

    def cross(self, kernel, other):
        """Return the covariances with other averages or with point functionals, (n, m)."""
        if not hasattr(kernel, "box_box"):
            raise TypeError(
                f"averages over boxes need a kernel with closed integrals, got {kernel!r:.60}; use "
                "gpoo.SquaredExponential, or a finite number of representative points"
            )
        if isinstance(other, Functionals):
            cov = kernel.box_point(self.low, self.high, other.points)
            return cov if other.plain else np.add.reduceat(cov * other.weights, other.starts, 1)
        return kernel.box_box(self.low, self.high, other.low, other.high)

    def diag(self, kernel):
        """Return the prior variances, shape (n,)."""
        return np.concatenate(
            [self.part(i, i + 1).cross(kernel, self.part(i, i + 1))[0] for i in range(len(self))]
        )

    def part(self, first, stop):
        """Return averages `first` to `stop` (exclusive) as a batch of their own."""
        return BoxAverages(self.low[first:stop], self.high[first:stop])


def cell_functionals(cells):
    """Return what the cells measure, [GPOO] Eq. (1): weights 1/S, or averages over the boxes.

    Parameters
    ----------
    cells : sequence of gpoo.tree.Cell

    Returns
    -------
    Functionals or BoxAverages
    """
    if cells[0].representatives is None:
        return BoxAverages([c.low for c in cells], [c.high for c in cells])
    return Functionals(np.stack([c.representatives for c in cells]))
