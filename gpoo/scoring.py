"""Metrics and certificates of a run of [GPOO]: they know the truth, the searches do not."""

import numpy as np

from fivebo.common.lab import scoring
from fivebo.gpoo import theory
from fivebo.gpoo.baselines import RandomCells, StoOO

METRICS = (
    "aggregated_regret", "point_regret", "recommended_depth", "n_leaves", "pulled_depth",
    "pulled_index", "reward", "coverage_ratio", "selected_gap_ratio", "expanded_gap_ratio",
    "pulls_ratio", "aggregated_regret_ratio", "depth_ratio", "smoothness_ratio", "round_seconds",
)  # fmt: skip

CERTIFICATES = METRICS[7:13]
COUNTED_DEPTH = 12
COUNTED_CELLS = 2**11
"""Depth, and number of cells of a depth, up to which the near-optimal ones are counted."""


class Scorer(scoring.Scorer):
    """Scores of a run step by step; parameters are those of `fivebo.common.lab.scoring.Scorer`.

    The aggregated regret ([GPOO] Sec. 2, Definition 2) compares the largest reward of a point with
    the average reward of the recommended cell; with S = 1 it is the simple regret (Definition 1).
    ``point_regret`` is the smallest simple regret among the points of that cell.
    """

    OF_SOME = (
        (("gpoo",), (*CERTIFICATES, "smoothness_ratio")),
        (("gpoo", "stooo", "gptree", "hoo"), ("n_leaves",)),
    )

    def __init__(self, instance, method, params, horizon, metrics):
        super().__init__(instance, method, params, horizon, metrics)
        self.known = Averages(instance.f)
        self.certificates = None
        if "smoothness_ratio" in self.names:
            self.smoothness = smoothness_ratio(instance, params)
        if any(name in CERTIFICATES for name in self.names):
            self.certificates = Certificates(instance, params)

    def _before(self, step, optimizer, query):
        self.query = query
        if self.certificates:
            self.certificates.asked(optimizer)

    def _after(self, step, optimizer, query, y):
        self.reward = y
        if self.certificates:
            self.certificates.told(optimizer)

    def _score(self, name, step, optimizer):
        if name == "aggregated_regret":
            return self._curve(step, optimizer)
        if name == "point_regret":
            points = optimizer.recommend().representatives
            return np.nan if points is None else self.instance.optimum - self._best(points)
        if name == "recommended_depth":
            return optimizer.recommend().depth
        if name == "n_leaves":
            return len(optimizer.leaves())
        if name == "reward":
            return self.reward
        if name.startswith("pulled_"):
            return getattr(self.query, name.removeprefix("pulled_"))
        if name == "smoothness_ratio":
            return self.smoothness
        return self.certificates.score(name, step, optimizer)

    def _curve(self, step, optimizer):
        """Regret of the run, or of a fresh run with budget `step` where the budget matters."""
        fresh = self.method in FRESH and self.params.curve == "fresh" and step < self.horizon
        if fresh:
            optimizer = fresh_run(self.instance, self.method, self.params, step, self.known)
        return self._regret(optimizer.recommend())

    def _regret(self, cell):
        return self.instance.optimum - self.known.of(cell)

    def _best(self, points):
        return float(self.instance.f(points).max())


FRESH = ("stooo", "random")
"""Methods whose budget enters their rules, so that a curve over budgets takes fresh runs."""


def fresh_run(instance, method, params, budget, known):
    """Return a search of its own with a given budget, run to the end on noise of its own.

    The paper plots StoOO so ([GPOO] Sec. 5, authors' code). The noise depends on the instance and
    the budget, not on the method.

    Parameters
    ----------
    instance, method, params
        As in `Scorer`; method is one of `FRESH`.
    budget : int
        n >= 1.
    known : Averages
        Of the instance.
    """
    rng = np.random.default_rng([instance.restart_seed, budget])
    noise = instance.noise_std * rng.standard_normal(budget)
    if method == "random":
        search = RandomCells(instance.partition, budget=budget)
        known.learn(search.nodes)
    else:
        search = StoOO(
            instance.partition, budget=budget, delta=params.delta_of(instance),
            noise_std=instance.noise_std, eta=params.eta, form=params.stooo,
        )  # fmt: skip
    for eps in noise:
        cell = search.ask()
        search.tell(cell, known.of(cell) + eps)
    return search


class Averages:
    """True average rewards of cells, each evaluated once.

    Parameters
    ----------
    f : gpoo.functions.KernelExpansion
    """

    def __init__(self, f):
        self.f, self._known = f, {}

    def learn(self, cells):
        """Evaluate several cells at once."""
        values = self.f.averages(cells).tolist()
        self._known.update(zip(map(_corners, cells), values, strict=True))

    def of(self, cell):
        """Return a'f(X) of a cell."""
        key = _corners(cell)
        if key not in self._known:
            self.learn([cell])
        return self._known[key]


def _corners(cell):
    """Return what names a cell: single points have no (h, i) of the partition."""
    return (cell.low.tobytes(), cell.high.tobytes())


def smoothness_ratio(instance, params):
    """Return the true variation of f within cells over delta(h), the largest over depths 0 to 12.

    At most 1 exactly if delta(h) satisfies [GPOO] Assumption 3 with the true Lipschitz constant.
    """
    slope, delta = instance.f.largest_slope(), params.delta_of(instance)
    return max(slope * instance.partition.diameter(h) / delta(h) for h in range(13))


class Certificates:
    """Left side over right side of the analysis' inequalities along one run of GPOO.

    [GPOO] Sec. 4, Lemma 1 (intervals), the condition on expanded nodes, pulls of a node, the
    regret theorem. The intervals are those of selection: history of t - 1 rounds with beta_t.

    Parameters
    ----------
    instance : gpoo.problems.Instance
    params : gpoo.study.Params
    """

    def __init__(self, instance, params):
        self.instance, self.params = instance, params
        self.delta = params.delta_of(instance)
        self.truth = np.empty(0)  # average rewards of all nodes of the tree
        self.widest = {}  # bound on f* - fbar of each expanded node, from its last selection
        self.counts = None

    def _true_averages(self, search):
        if new := search.nodes[len(self.truth) :]:
            self.truth = np.append(self.truth, self.instance.f.averages(new))
        return self.truth

    def asked(self, search):
        """Take the intervals that selected the pending node."""
        self.place, truth = search.pending[0].query, self._true_averages(search)
        widths = search.widths(search.selection_round)
        self.coverage = float((np.abs(truth - search.model.mean) / widths).max())
        self.gap = float(theory.expanded_gap(search.margins[self.place], widths[self.place]))

    def told(self, search):
        """Take the expansion of the round."""
        self.is_expanded = not search.is_leaf[self.place]
        if self.is_expanded:
            self.widest[self.place] = self.gap
        self._true_averages(search)

    def score(self, name, step, search):
        """Return one ratio; NaN where the statement does not apply."""
        loss = self.instance.optimum - self.truth[self.place]
        margin = search.margins[self.place]
        if name == "coverage_ratio":
            return self.coverage
        if name == "selected_gap_ratio":
            return loss / self.gap
        if name == "expanded_gap_ratio":
            return loss / (3 * margin) if self.is_expanded else np.nan
        if name == "pulls_ratio":
            allowed = theory.pulls_bound(search.beta(step), search.noise_var, margin)
            return search.pulls[self.place] / allowed
        if not self.widest:
            return np.nan
        deepest = max(self.widest, key=lambda place: search.nodes[place].depth)
        if name == "aggregated_regret_ratio":
            return self._regret_ratio(step, search, deepest)
        reached = search.nodes[deepest].depth
        return (1 + self._certain_depth(step, search)) / (1 + reached)

    def _regret_ratio(self, step, search, deepest):
        recommended = search._recommend()
        widths = search.widths(step + 1)
        bound = theory.regret_bound(self.widest[deepest] / 3, widths[deepest], widths[recommended])
        return (self.instance.optimum - self.truth[recommended]) / bound

    def _certain_depth(self, step, search):
        """Return the depth that the theorem's budget argument guarantees by this round."""
        depths = range(COUNTED_DEPTH)
        if self.counts is None:
            self.counts = self._near_optimal_counts(depths)
        margins = [search.delta(h) for h in range(COUNTED_DEPTH + 1)]
        return theory.depth_bound(
            step, self.counts, margins, beta=search.beta(step), noise_var=search.noise_var,
            arity=search.partition.arity,
        )  # fmt: skip

    def _near_optimal_counts(self, depths):
        """Return |I_h|, the number of near-optimal cells, of each depth."""
        partition, delta = self.instance.partition, self.delta
        counts, cells = [], [partition.root]
        for h in depths:
            values = self.instance.f.averages(cells)
            inside = theory.near_optimal(values, self.instance.optimum, delta(h))
            counts.append(int(inside.sum()))
            if len(cells) * partition.arity > COUNTED_CELLS:
                break
            cells = [child for cell in cells for child in partition.children(cell)]
        return counts
