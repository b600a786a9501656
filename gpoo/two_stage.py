"""The two-stage use of Definition 2: recommend a cell, then a finite-armed bandit on its points.

Reference: [GPOO] Sec. 2; Z. Karnin, T. Koren and O. Somekh, "Almost Optimal Exploration in
Multi-Armed Bandits", ICML 2013 (sequential halving).
"""

import numpy as np

from fivebo.gpoo.search import TreeSearch
from fivebo.gpoo.tree import point_cell


class TwoStage:
    r"""A cell search for the first rounds, then sequential halving on the S points of its cell.

    The second stage looks for :math:`\min_{x \in C_N} \hat R_N(x) \le R_N` with rewards of single
    points. Source: [GPOO] Sec. 2, after Definition 2, which leaves the finite-armed bandit open.

    Parameters
    ----------
    search : TreeSearch
        First stage, freshly built, on cells with representative points.
    cell_rounds : int
        Rounds of the first stage, >= 1.
    point_rounds : int
        Rounds of the second stage, >= 1.
    """

    def __init__(self, search, *, cell_rounds, point_rounds):
        if search.partition.n_points is None:
            raise ValueError("the second stage needs representative points; set n_points to S >= 1")
        for name, value in (("cell_rounds", cell_rounds), ("point_rounds", point_rounds)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.search, self.cell_rounds, self.point_rounds = search, cell_rounds, point_rounds
        self.arms = None

    @property
    def n_observations(self):
        """Number t of rounds so far."""
        return self.search.n_observations + (self.arms.n_observations if self.arms else 0)

    def ask(self):
        """Return the next cell, in the second stage one of a single point."""
        if self.arms is None and self.search.n_observations >= self.cell_rounds:
            cell = self.search.recommend()
            self.arms = SequentialHalving(self.search.partition, cell, self.point_rounds)
        return self._stage.ask()

    def tell(self, query, y):
        """Take the reward of the pending query; see `TreeSearch.tell`."""
        self._stage.tell(query, y)

    def recommend(self):
        """Return the recommended cell, in the second stage the best point as a cell."""
        return self._stage.recommend()

    def result(self):
        """Return the history of both stages as a tidy frame; points have low = high."""
        import pandas as pd

        first = self.search.result().assign(stage="cells")
        if self.arms is None:
            return first
        second = self.arms.result().assign(stage="points")
        second["t"] += len(first)
        return pd.concat([first, second], ignore_index=True)

    @property
    def _stage(self):
        return self.search if self.arms is None else self.arms


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
        super().__init__(partition)
        self.nodes = [point_cell(x, i) for i, x in enumerate(cell.representatives)]
        n = len(self.nodes)
        self.parents, self.is_leaf, self.pulls = [-1] * n, [True] * n, [0] * n
        self._sums = np.zeros(n)
        self._phases = max(1, int(np.ceil(np.log2(n))))
        self._budget, self._alive, self._queue = budget, list(range(n)), []

    def _select(self):
        if not self._queue:
            if self.n_observations and len(self._alive) > 1:
                self._alive = sorted(self._alive, key=lambda i: -self._mean(i))
                self._alive = self._alive[: -(-len(self._alive) // 2)]
            share = max(1, self._budget // (self._phases * len(self._alive)))
            self._queue = sorted(self._alive) * share
        return self._queue[0]

    def _update(self, place, y):
        self._queue.pop(0)
        self._sums[place] += y

    def _mean(self, place):
        return self._sums[place] / self.pulls[place] if self.pulls[place] else -np.inf

    def _recommend(self):
        return max(self._alive, key=self._mean)
