"""GPOO, Algorithm 1 of [GPOO]; ``l. 3`` in a comment is line 3.

Reference: [GPOO] M. Zhang, R. Tsuchida and C. S. Ong, AAAI 2022. Rewards are maximised. Line
numbers are those of our layout, in which the expansion test stands on line 6 as in the paper.
"""

from functools import partial

import numpy as np

from fivebo.common.checks import count, one_of, positive
from fivebo.common.search.ties import tied_with_max
from fivebo.gpoo.optimizer import Schedule, TreeSearch, oldest_best
from fivebo.gpoo.posterior import CellPosterior
from fivebo.gpoo.theory import b_value, beta_union, confidence_width, is_expanded

RULES = {
    "start": ("root", "children"),
    "round_order": ("pull-test", "test-pull"),
    "variance": ("latent", "predictive"),
    "recommendation": ("highest-mean", "deepest"),
}
"""Choices in which the text and the authors' experiments differ; the first is the text's."""


class GPOO(TreeSearch):
    r"""Gaussian process optimistic optimisation of the average reward of a cell.

    .. math::
        (h_t, i_t) = \arg\max_{(h,i) \in \mathcal L_t} b_{h,i}(t), \qquad
        b_{h,i}(t) = \mu(X_{h,i} | Z_{1:t-1}) + \sqrt{\beta_t}\, \sigma(X_{h,i} | Z_{1:t-1})
            + \delta(h)

    The pulled node is expanded if its confidence interval has become at most delta(h). The method
    is deterministic: it takes no seed.

    Parameters
    ----------
    partition : Partition
        K, S and the cells.
    kernel : Kernel
        k, known (Assumption 1).
    noise_var : float
        Model noise variance, in squared units of f.
    delta : callable
        ``delta(h)``, decreasing and > 0, in units of f; see `gpoo.theory.lipschitz_delta`.
    beta : callable, optional
        ``beta(t)``; default: `gpoo.theory.beta_union` at p = 0.1.
    start : {"root", "children"}, optional
        Start from the root as a leaf, or pull each of its K children once.
    round_order : {"pull-test", "test-pull"}, optional
        Test the node just pulled at the end of its round with beta_t; or at the start of the next
        round with the last beta, its children having b-values only after that round's pull.
    variance : {"latent", "predictive"}, optional
        sigma^2 of Eq. (4), or with `noise_var` added, in intervals and tests.
    recommendation : {"highest-mean", "deepest"}, optional
        Non-leaf node of highest posterior mean at the end; or the deepest expanded one, the first
        unless a later one of equal depth had the higher mean when it was expanded.
    max_depth : int, optional
        Nodes below this depth are not expanded.
    jitter : float, optional
        Added to the noise variance in inference, but not to predictive variances.

    Raises
    ------
    ValueError, TypeError
        A setting out of range, or delta(0) or beta(1) no positive number. `ask` raises it for
        later values that are none, and for a delta(h) above delta(h - 1), before anything is
        evaluated.

    Examples
    --------
    >>> from fivebo.gpoo import Partition, SquaredExponential
    >>> optimizer = GPOO(
    ...     Partition(1, arity=2, n_points=10), SquaredExponential(0.1), noise_var=0.01,
    ...     delta=lambda h: 5 * 2.0**-h)
    >>> for _ in range(40):
    ...     cell = optimizer.ask()
    ...     optimizer.tell(cell, float(np.sin(5 * cell.representatives).mean()))
    >>> bool(optimizer.recommend().low[0] < 0.32 < optimizer.recommend().high[0])
    True

    Notes
    -----
    Source: [GPOO] Algorithm 1, Eq. (5), Sec. 3. Ties, up to rounding, go to the oldest leaf.
    """

    def __init__(
        self, partition, kernel, *, noise_var, delta, beta=None, start="root",
        round_order="pull-test", variance="latent", recommendation="highest-mean", max_depth=None,
        jitter=0.0,
    ):  # fmt: skip
        given = {
            "start": start, "round_order": round_order, "variance": variance,
            "recommendation": recommendation,
        }  # fmt: skip
        self.rules = {name: one_of(value, name, RULES[name]) for name, value in given.items()}
        super().__init__(partition)
        beta = beta or partial(beta_union, p=0.1, arity=partition.arity)
        self.beta, self.delta = Schedule(beta, "beta", 1), Schedule(delta, "delta", 0, falls=True)
        self.max_depth = np.inf if max_depth is None else count(max_depth, "max_depth", least=0)
        self.noise_var = positive(noise_var, "noise_var")
        self.model = CellPosterior(kernel, self.noise_var + jitter, self.nodes)  # l. 1
        self.margins = np.array([self.delta(0)])  # delta(h) of every node
        self._ranked = 1  # nodes that have a b-value
        self._untested = None
        if start == "children":
            self._deepest = self.expand(0)[-1]
            self._ranked = len(self.nodes)

    @property
    def width_var(self):
        """Variances that intervals are made of, all nodes."""
        added = self.noise_var if self.rules["variance"] == "predictive" else 0.0
        return self.model.var + added

    def widths(self, t):
        """Return CI_{h,i}, the half-widths of all nodes' confidence intervals with beta_t."""
        return confidence_width(self.width_var, self.beta(t))

    def b_values(self, t):
        """Return b_{h,i} of all nodes with beta_t under the present posterior. [GPOO] Eq. (5)."""
        return b_value(self.model.mean, self.widths(t), self.margins)

    @property
    def selection_round(self):
        """The t whose beta_t selects the next node."""
        late = self.rules["round_order"] == "test-pull"
        return max(1, self.n_told + (0 if late else 1))

    def expand(self, place):
        """Expand a leaf; of equally deep ones that of the higher mean is the deepest."""
        best, depth = self._deepest, self.nodes[place].depth
        higher = tied_with_max(self.model.mean[[best, place]])[0] == 1
        if depth == self.nodes[best].depth and higher:
            self._deepest = place
        places = super().expand(place)
        self.margins = np.append(self.margins, np.full(len(places), self.delta(depth + 1)))
        return places

    def _select(self):
        self.beta(self.n_told + 1)  # a bad value is found before anything is evaluated
        place = self._next()
        if (depth := self.nodes[place].depth) <= self.max_depth:
            self.delta(depth + 1)
        return place

    def _next(self):
        if self.rules["start"] == "children" and self.n_told < self.partition.arity:
            unpulled = [i for i in range(1, 1 + self.partition.arity) if not self.pulls[i]]
            return int(self.open(np.array(unpulled))[0])
        if self.rules["round_order"] == "test-pull":
            self._test(self.n_told)
        else:
            self._ranked = len(self.nodes)
        eligible = self.open(self.leaves())
        if (old := eligible[eligible < self._ranked]).size:  # none: the only leaf was expanded
            eligible = old
        return oldest_best(eligible, self.b_values(self.selection_round))  # l. 3

    def _update(self, place, y):
        self._ranked, self._untested = len(self.nodes), place  # l. 4-5: the reward is in the model
        t = self.n_told + 1
        if self.rules["start"] == "children" and t <= self.partition.arity:
            # after the first pulls the best leaf is tested
            last = t == self.partition.arity
            self._untested = oldest_best(self.leaves(), self.b_values(t)) if last else None
        if self.rules["round_order"] == "pull-test":
            self._test(t)

    def _test(self, t):
        """Expand the node in question if its interval with beta_t is at most delta(h)."""
        place, self._untested = self._untested, None
        if place is None or self.nodes[place].depth > self.max_depth:
            return
        width = confidence_width(self.width_var[place], self.beta(t))
        if is_expanded(width, self.margins[place]):  # l. 6
            self.expand(place)  # l. 7

    def _recommend(self):
        if self.rules["recommendation"] == "deepest":
            return self._deepest
        inner = np.flatnonzero(~self.is_leaf)
        if not inner.size:
            return 0
        return oldest_best(inner, self.model.mean)  # l. 8
