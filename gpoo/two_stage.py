"""The two-stage use of Definition 2: recommend a cell, then a finite-armed bandit on its points.

Reference: [GPOO] Sec. 2; Z. Karnin, T. Koren and O. Somekh, "Almost Optimal Exploration in
Multi-Armed Bandits", ICML 2013 (sequential halving).
"""

import copy
from dataclasses import replace

import numpy as np

from fivebo.common.checks import count, shown
from fivebo.common.search.optimizer import Asked, Optimizer
from fivebo.common.search.ties import tied_with_max
from fivebo.gpoo.optimizer import TreeSearch, oldest_best
from fivebo.gpoo.tree import point_cell


class TwoStage(Optimizer):
    r"""A cell search for the first rounds, then sequential halving on the S points of its cell.

    The second stage looks for :math:`\min_{x \in C_N} \hat R_N(x) \le R_N` with rewards of single
    points. Source: [GPOO] Sec. 2, after Definition 2, which leaves the finite-armed bandit open.
    A query is a cell, in the second stage one of a single point; in the optimiser's own form it is
    the pair of the stage, 0 or 1, and its place there.

    Parameters
    ----------
    search : TreeSearch
        First stage, on cells with representative points; a copy is used.
    cell_rounds : int
        Observations of the first stage, >= 1.
    point_rounds : int
        Observations of the second stage, >= 1.

    Attributes
    ----------
    stages : list of TreeSearch
        The first stage, and the second once it has begun.
    """

    def __init__(self, search, *, cell_rounds, point_rounds):
        super().__init__()
        if not isinstance(search, TreeSearch):
            raise TypeError(f"search must be a cell search such as GPOO, got {shown(search)}")
        if search.partition.n_points is None:
            raise ValueError("the second stage needs representative points; set n_points to S >= 1")
        self.stages = [copy.deepcopy(search)]
        self.cell_rounds = count(cell_rounds, "cell_rounds")
        self.point_rounds = count(point_rounds, "point_rounds")

    def _propose(self):
        first = self.stages[0]
        if len(self.stages) == 1 and first.n_told >= self.cell_rounds:
            arms = SequentialHalving(first.partition, first.recommend(), self.point_rounds)
            self.stages.append(arms)
        self.stages[-1].ask()
        return Asked((len(self.stages) - 1, self.stages[-1].pending[0].query))

    def _learn(self, query, value, note):
        self.stages[-1].tell(self._public(query), value)

    def _pass_over(self, own, value):
        if value is None:
            self.stages[-1].tell(self._public(own), None)

    def _own(self, query):
        return (len(self.stages) - 1, self.stages[-1]._own(query))

    def _public(self, query):
        return self.stages[query[0]]._public(query[1])

    def recommend(self):
        """Return the recommended cell, in the second stage the best point as a cell."""
        self._needs_data()
        return next(stage for stage in reversed(self.stages) if stage.n_told).recommend()

    def posterior(self, X=None):
        """Return mean and standard deviation of the cells' averages, after the first stage."""
        return self.stages[0].posterior(X)

    def _columns(self):
        return [*self.stages[0]._columns(), "stage"]

    def _row(self, entry):
        stage, place = entry.query
        row = self.stages[stage]._row(replace(entry, query=place))
        return (*row, ("cells", "points")[stage])


class SequentialHalving(TreeSearch):
    """Best of the S points of a cell with a fixed budget: the worse half drops out in each phase.

    Parameters
    ----------
    partition : Partition
    cell : Cell
        Its representatives are the arms.
    budget : int
        Rounds, spread evenly over the phases and the arms left; rounds beyond it go on with the
        last arms.

    Notes
    -----
    Ours: [GPOO] Sec. 2 asks for some finite-armed bandit. Means are over all pulls of an arm.
    """

    def __init__(self, partition, cell, budget):
        super().__init__(partition, [point_cell(x, i) for i, x in enumerate(cell.representatives)])
        n = len(self.nodes)
        self._phases = max(1, int(np.ceil(np.log2(n))))
        self._budget, self._alive, self._queue = count(budget, "budget"), np.arange(n), []

    def _select(self):
        if not self._queue:
            if self.n_told and len(self._alive) > 1:
                self._alive = self._better_half()
            share = max(1, self._budget // (self._phases * len(self._alive)))
            self._queue = self._alive.tolist() * share
        return int(self.open(np.array(self._queue))[0])

    def _update(self, place, y):
        self._queue.remove(place)

    def _better_half(self):
        means, left, kept = self.means(), self._alive.tolist(), []
        while len(kept) < len(left):
            kept.append(left.pop(tied_with_max(means[left])[0]))
        return np.sort(kept)

    def _recommend(self):
        return oldest_best(self._alive, self.means())
