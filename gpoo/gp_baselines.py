"""Searches with a Gaussian process that [GPOO] is compared with: GPTree, and GP-UCB on points.

References: [GPTree] S. Shekhar and T. Javidi, "Gaussian process bandits with adaptive
discretization", Electronic Journal of Statistics 12 (2018); N. Srinivas et al., "Gaussian process
optimization in the bandit setting", ICML 2010. GP-UCB is not in the paper: it is ours.
"""

from functools import partial

import numpy as np

from fivebo.common.checks import count, one_of, positive
from fivebo.common.gp.acquisition import upper_bound
from fivebo.gpoo.algorithms import RULES
from fivebo.gpoo.optimizer import Schedule, TreeSearch, oldest_best
from fivebo.gpoo.posterior import CellPosterior
from fivebo.gpoo.tree import point_cell


def gptree_margin(depth, *, budget, arity, u=2.0, C2=1.0, C3=1.0, D1=1.0, rho=0.5, slope=0.1):
    r"""Return V_h, GPTree's bound on the variation within a cell of depth h, in units of f.

    .. math:: V_h = 4 g(\rho^h) \Bigl[ \sqrt{2u + C_4 + h \log K + 4 D_1 \log(1/g(\rho^h))}
        + C_3 \Bigr], \qquad C_4 = C_2 + 2 \log(n^2 \pi^2 / 6), \quad g(x) = 0.1 x

    Source: [GPOO] Sec. 5 compares with [GPTree], Claim 2; constants of the authors' code.

    Parameters
    ----------
    depth : int or array_like
        h.
    budget, arity : int
        n and K.
    u, C2, C3, D1, rho, slope : float
        Constants; slope is that of g.
    """
    h = np.asarray(depth, dtype=float)
    C4 = C2 + 2 * np.log(budget**2 * np.pi**2 / 6)
    g = slope * rho**h
    return 4 * g * (np.sqrt(2 * u + C4 + h * np.log(arity) + 4 * D1 * np.log(1 / g)) + C3)


def gptree_beta(budget, *, u=2.0, scale=0.25):
    """Return ``0.25 sqrt(log n + u)``; it multiplies the standard deviation itself.

    Source: [GPOO] Sec. 5 compares with [GPTree]; the factor is that of the authors' code.

    Examples
    --------
    >>> round(float(gptree_beta(80)), 4)
    0.6316
    """
    return scale * np.sqrt(np.log(budget) + u)


def gptree_max_depth(budget, *, alpha=0.5, rho=0.5):
    """Return ``log(n) (1 + 1/alpha) / (2 alpha log(1/rho))``. Source: [GPTree] Eq. (3.4).

    Constants of the authors' code, [GPOO] Sec. 5.
    """
    return np.log(budget) * (1 + 1 / alpha) / (2 * alpha * np.log(1 / rho))


class GPTree(TreeSearch):
    r"""Gaussian process bandit with adaptive discretisation.

    .. math::
        I = \min\{ \mu + \beta_n \sigma,\ \mu_{parent} + \beta_n \sigma_{parent} + V_{h-1} \} + V_h

    The leaf of largest index is expanded, at no cost, while ``beta_n sigma <= V_h`` and its depth
    is at most the cap; else it is pulled. Recommends the first-reached deepest expanded node.

    Parameters
    ----------
    partition, kernel, noise_var, variance, jitter
        As in `GPOO`.
    budget : int
        n.
    scale : float, optional
        Size of f, in its units, that counts as 1 for the constants of V_h, which is multiplied by
        it.

    Notes
    -----
    Source: [GPOO] Sec. 5, in the form and with the constants of the authors' code, which follow
    [GPTree] with g linear.
    """

    def __init__(
        self, partition, kernel, *, noise_var, budget, variance="latent", jitter=0.0, scale=1.0
    ):
        one_of(variance, "variance", RULES["variance"])
        super().__init__(partition)
        noise_var, budget = positive(noise_var, "noise_var"), count(budget, "budget")
        self.model = CellPosterior(kernel, noise_var + jitter, self.nodes)
        self._added = noise_var if variance == "predictive" else 0.0
        self.multiplier = float(gptree_beta(budget))
        self.max_depth = float(gptree_max_depth(budget))
        self._unit_margin = partial(gptree_margin, budget=budget, arity=partition.arity)
        self._scale = positive(scale, "scale")
        self.margins = np.array([self._margin(0)])

    def _margin(self, depth):
        """Return V_h, in units of f."""
        return self._scale * float(self._unit_margin(depth))

    def expand(self, place):
        """Expand a leaf."""
        places = super().expand(place)
        margin = self._margin(self.nodes[places[0]].depth)
        self.margins = np.append(self.margins, np.full(len(places), margin))
        return places

    def widths(self):
        """Return ``beta_n sigma`` of all nodes, in units of f."""
        return self.multiplier * np.sqrt(self.model.var + self._added)

    def indices(self):
        """Return the index I of all nodes."""
        own = self.model.mean + self.widths()
        parents = np.array(self.parents)
        bound = np.where(parents >= 0, (own + self.margins)[parents], np.inf)
        return np.minimum(own, bound) + self.margins

    def _select(self):
        while True:
            place = oldest_best(self.open(self.leaves()), self.indices())
            too_deep = self.nodes[place].depth > self.max_depth
            if not self.n_told or too_deep or self.widths()[place] > self.margins[place]:
                return place
            self.expand(place)


class GPUCB(TreeSearch):
    r"""GP-UCB on a finite set of points: what single-point feedback would give.

    .. math:: x_t = \arg\max_x\; \mu_{t-1}(x) + \sqrt{\beta_t}\, \sigma_{t-1}(x)

    Parameters
    ----------
    partition : Partition
        Gives the domain; its cells are not used.
    kernel, noise_var
        As in `GPOO`.
    points : array_like of shape (m, d)
        Candidates in the domain of the partition.
    beta : callable
        ``beta(t)``.

    Notes
    -----
    Ours. A query is a cell of one point; recommends the highest posterior mean.
    """

    def __init__(self, partition, kernel, *, noise_var, points, beta):
        points = partition.domain.check_all(points, "points")
        super().__init__(partition, [point_cell(x, i) for i, x in enumerate(points)])
        self.beta = Schedule(beta, "beta", 1)
        self.model = CellPosterior(kernel, noise_var, self.nodes)

    def _select(self):
        width = np.sqrt(self.beta(self.n_told + 1))
        bounds = upper_bound(self.model.mean, self.model.std, width)
        return oldest_best(self.open(self.leaves()), bounds)

    def _recommend(self):
        return oldest_best(self.leaves(), self.model.mean)
