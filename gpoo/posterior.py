"""The posterior of every node of a growing tree, kept up to date on the common GP.

Reference: [GPOO] Sec. 3, Eqs. (2)-(4), and App. B.
"""

import numpy as np

from fivebo.common.gp.posterior import GP
from fivebo.gpoo.regions import cell_functionals


class CellPosterior:
    r"""Posterior of the cells' average rewards ``a' f(X_{h,i})``.

    With :math:`\bar k(p, q) = a^\top k(X_p, X_q) a`, history :math:`Z_{1:t} = (X_{1:t}, Y_{1:t},
    A_{1:t})` and model noise :math:`\sigma^2`,

    .. math::
        \mu = \bar k_*^\top C_t^{-1} Y_{1:t}, \qquad
        \sigma^2_* = \bar k(*, *) - \bar k_*^\top C_t^{-1} \bar k_*, \qquad
        C_t = A_{1:t} k(X_{1:t}, X_{1:t}) A_{1:t}^\top + \sigma^2 I_t

    where the entries of A are 1/S. The variance is that of the average reward, without noise, and
    the noise is added once to each observed average. The prior mean is 0.

    Parameters
    ----------
    kernel : Kernel
        k; with closed integrals (`SquaredExponential`) if the cells are averages over boxes.
    noise_var : float
        Model noise variance sigma^2, in squared units of f.
    cells : sequence of Cell
        First nodes.

    Notes
    -----
    Source: [GPOO] Sec. 3, Eqs. (2), (3), (4). One sweep of App. B: the row ``L^{-1} k_q`` of every
    node q is kept, so that a round costs O(t) a node, a new node O(t^2), and N rounds O(N^3).
    """

    def __init__(self, kernel, noise_var, cells):
        self.gp = GP(kernel, noise_var)
        self._tracked = self.gp.track(cell_functionals(cells))

    def add(self, cells):
        """Track further nodes, placed after those there are."""
        self.gp.extend_tracked(self._tracked, cell_functionals(cells))

    def observe(self, place, y):
        """Take one average reward of the node at `place`."""
        self.gp.condition_tracked(self._tracked, place, y)

    def at(self, cells):
        """Return mean and standard deviation of any cells' average rewards, shape (n,) each.

        Parameters
        ----------
        cells : sequence of Cell
            Whatever they average: boxes, points, any number of them.
        """
        kinds = {}
        for i, cell in enumerate(cells):
            points = cell.representatives
            kinds.setdefault(None if points is None else points.shape, []).append(i)
        mean, var = np.empty((2, len(cells)))
        for places in kinds.values():
            alike = cell_functionals([cells[i] for i in places])
            mean[places], var[places] = self.gp.predict(alike)
        return mean, np.sqrt(var)

    @property
    def mean(self):
        """Posterior means of all nodes, in units of f."""
        return self._tracked.mean

    @property
    def var(self):
        """Posterior variances of all nodes' average rewards, in squared units of f, >= 0."""
        return self._tracked.var

    @property
    def std(self):
        """Square roots of `var`."""
        return np.sqrt(self._tracked.var)
