"""Tree searches without a model that [GPOO] is compared with: StoOO, uniform cells, and HOO.

References: [Munos] R. Munos, "From Bandits to Monte-Carlo Tree Search", Foundations and Trends in
Machine Learning 7 (2014), Fig. 3.9; [HOO] S. Bubeck, R. Munos, G. Stoltz and C. Szepesvari,
"X-Armed Bandits", JMLR 12 (2011). HOO is not in the paper: it is ours.
"""

import math

import numpy as np

from fivebo.common.checks import count, one_of, positive
from fivebo.gpoo.optimizer import Schedule, TreeSearch, oldest_best
from fivebo.gpoo.tree import product_points

FORMS = ("gaussian", "hoeffding", "code")


def stooo_width(pulls, *, budget, eta, noise_std, form="gaussian"):
    r"""Half-width of StoOO's intervals after T pulls, in units of f.

    .. math:: \sigma \sqrt{2 \log(n^2/\eta) / T} \text{ (gaussian)}, \quad
        \sqrt{\log(n^2/\eta) / (2T)} \text{ (hoeffding)}, \quad
        \log(n^2/\eta) / (2T) \text{ (code)}

    Source: [GPOO] Sec. 5 compares with [Munos] Fig. 3.9, whose rewards lie in [0, 1]
    ("hoeffding"); "gaussian" is the same for N(0, sigma^2) noise; the authors' experiments leave
    the root out ("code").

    Parameters
    ----------
    pulls : int or ndarray
        T >= 1.
    budget : int
        n.
    eta : float
        Failure probability.
    noise_std : float
        sigma, in units of f; only "gaussian" uses it.
    form : {"gaussian", "hoeffding", "code"}

    Examples
    --------
    >>> round(float(stooo_width(1, budget=80, eta=0.1, noise_std=0.1)), 6)
    0.47046
    """
    log_term = math.log(budget**2 / eta)
    if form == "gaussian":
        return noise_std * (2 * log_term / pulls) ** 0.5
    if form == "hoeffding":
        return (log_term / (2 * pulls)) ** 0.5
    return log_term / (2 * pulls)


class StoOO(TreeSearch):
    r"""Stochastic optimistic optimisation: no model, each node judged by its own pulls.

    Pulls the leaf of largest ``mean + width + delta(h)``, unpulled leaves first, and expands it
    once its width is at most delta(h); with form "code", once ``T >= log(n^2/eta) / (2T)``. With
    S > 1 it is the aggregated StoOO: the same method on averaged rewards.

    Parameters
    ----------
    partition : Partition
    budget : int
        n, which enters the width.
    delta : callable
        As in `GPOO`.
    noise_std : float
        sigma, in units of f.
    eta : float, optional
        Failure probability in (0, 1).
    form : {"gaussian", "hoeffding", "code"}, optional
        See `stooo_width`.

    Notes
    -----
    Source: [GPOO] Sec. 5; [Munos] Fig. 3.9. Recommends the first-reached deepest expanded node.
    "hoeffding" and "code" are for rewards in [0, 1], as their sources; "gaussian" for any unit.
    """

    def __init__(self, partition, *, budget, delta, noise_std, eta=0.1, form="gaussian"):
        super().__init__(partition)
        self.delta, self.form = Schedule(delta, "delta", 0, falls=True), one_of(form, "form", FORMS)
        self._width = {
            "budget": count(budget, "budget"), "eta": positive(eta, "eta", upper=1.0),
            "noise_std": positive(noise_std, "noise_std"), "form": form,
        }  # fmt: skip
        self._values = np.array([np.inf])

    def _select(self):
        place = oldest_best(self.open(self.leaves()), self._values)
        self.delta(self.nodes[place].depth)  # a bad value is found before anything is evaluated
        return place

    def _update(self, place, y):
        pulls, margin = self.pulls[place], self.delta(self.nodes[place].depth)
        width = stooo_width(pulls, **self._width)
        self._values[place] = self.sums[place] / pulls + width + margin
        if pulls >= width if self.form == "code" else width <= margin:
            n_new = len(self.expand(place))
            self._values = np.concatenate([self._values, [np.inf] * n_new])


class RandomCells(TreeSearch):
    """Pulls equal cells once each and recommends the best observed: the authors' "Random".

    The cells are ``floor(n^(1/d))^d`` boxes in order; what is left of the budget pulls them again
    from the first, and the mean counts.

    Parameters
    ----------
    partition : Partition
        Gives d and S.
    budget : int
        n.

    Notes
    -----
    Source: [GPOO] Sec. 5; it is in the authors' code and not in their plots.
    """

    def __init__(self, partition, *, budget):
        side = int(count(budget, "budget") ** (1 / partition.dim) + 1e-9)
        corners = product_points([np.arange(side)] * partition.dim)
        lows, highs = (partition.domain.from_unit((corners + k) / side) for k in (0, 1))
        boxes = [partition.box(1, i, lows[i], highs[i]) for i in range(len(corners))]
        super().__init__(partition, boxes)

    def _select(self):
        places = self.open(self.leaves())
        return int(places[np.array(self.pulls)[places].argmin()])

    def _recommend(self):
        return oldest_best(self.leaves(), self.means())


class HOO(TreeSearch):
    r"""Hierarchical optimistic optimisation (truncated to a known budget n), on average rewards.

    .. math::
        U_{h,i} = \hat\mu_{h,i} + \sigma \sqrt{8 \log n / T_{h,i}} + \delta(h), \qquad
        B_{h,i} = \min\bigl\{ U_{h,i}, \max_j B_{h+1,j} \bigr\}

    where the pulls of a node are those of all its descendants. With sigma = 1/2, as for rewards
    in [0, 1], it is the width of the source.

    Parameters
    ----------
    partition, budget, delta, noise_std
        As in `StoOO`.

    Notes
    -----
    Ours. Source: [HOO] Sec. 3. Recommends the last pulled node along the most pulled children.
    """

    def __init__(self, partition, *, budget, delta, noise_std):
        super().__init__(partition)
        self.delta = Schedule(delta, "delta", 0, falls=True)
        n = max(count(budget, "budget"), 2)
        self._scale = positive(noise_std, "noise_std") * np.sqrt(8 * np.log(n))
        self._children = {}
        self._below, self._visits, self._bounds = [0.0], [0], np.array([np.inf])

    def _select(self):
        place, open_ = 0, self._reaching_open()
        while place in self._children:
            children = self._children[place]
            place = oldest_best(children[open_[children]], self._bounds)
        self.delta(self.nodes[place].depth)  # a bad value is found before anything is evaluated
        return place

    def _reaching_open(self):
        """Whether each node has an open leaf below it, or is one."""
        found = np.full(len(self.nodes), not self.failed)
        for place in self.open(self.leaves()) if self.failed else ():
            while place >= 0 and not found[place]:
                found[place], place = True, self.parents[place]
        return found

    def _update(self, place, y):
        self._children[place] = self.expand(place)
        n_new = len(self._children[place])
        self._below += [0.0] * n_new  # rewards of each node and of all below it, and their number
        self._visits += [0] * n_new
        self._bounds = np.concatenate([self._bounds, [np.inf] * n_new])
        while place >= 0:
            self._below[place] += y
            self._visits[place] += 1
            T, depth = self._visits[place], self.nodes[place].depth
            upper = self._below[place] / T + self._scale / np.sqrt(T) + self.delta(depth)
            self._bounds[place] = min(upper, self._bounds[self._children[place]].max())
            place = self.parents[place]

    def _recommend(self):
        place = 0
        while pulled := [c for c in self._children.get(place, ()) if self._visits[c]]:
            place = max(pulled, key=self._visits.__getitem__)
        return int(place)
