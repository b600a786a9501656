"""Optimisation by box-shaped classifiers: ours, beside what [CDFO] compares with."""

import numpy as np

from fivebo.classify_dfo.optimizer import BatchOptimizer
from fivebo.classify_dfo.spaces import first_batch, require
from fivebo.common.checks import count, positive
from fivebo.common.search.domains import Box
from fivebo.common.search.optimizer import Asked


class BoxClassifier(BatchOptimizer):
    """Optimisation by box-shaped classifiers, in the manner of RACOS; ours, for boxes only.

    Each query has its own random box around one of the best points so far that holds no other
    point of the last batch; with probability 1 - `trust` it is uniform instead. Not an experiment
    of [CDFO], which cites the approach (Sec. 1).

    Parameters
    ----------
    domain : Box
    batch : int
    positives : int, optional
        Number of best points so far that count as good.
    trust : float, optional
        Probability of a query from a learnt box, in (0, 1].
    rng : int, numpy.random.Generator or Streams
    """

    def __init__(self, domain, *, batch, positives=10, trust=0.95, rng=0):
        require(domain, Box, "BoxClassifier")
        super().__init__(domain, batch=batch, rng=rng)
        self.positives = count(positives, "positives")
        self.trust = positive(trust, "trust", upper=1.0, closed=True)

    def _propose(self):
        if not self.batches:
            return Asked(first_batch(self.domain, self.batch, self.streams.initial))
        rng = self.streams.algorithm
        queries, y = np.concatenate(self.batches), np.concatenate(self.values)
        good = np.argsort(y, kind="stable")[: self.positives]
        last = np.arange(len(queries) - len(self.batches[-1]), len(queries))
        bad = queries[np.setdiff1d(last, good)]
        points = self.domain.uniform(self.batch, rng)
        for i in np.flatnonzero(rng.random(self.batch) < self.trust):
            centre = queries[rng.choice(good)]
            points[i] = rng.uniform(*shrink_box(centre, bad, self.domain, rng))
        return Asked(points)


def shrink_box(centre, others, box, rng):
    """Shrink a box at random, one side a time, until it holds `centre` and none of the others.

    A step picks a point still inside and a coordinate, and cuts that side at a random place
    between the point and the centre. Source: randomised coordinate shrinking (Yu, Qian and Hu,
    AAAI 2016).

    Parameters
    ----------
    centre : ndarray of shape (d,)
    others : ndarray of shape (m, d)
        Copies of the centre are left aside: no box could exclude them.
    box : Box
    rng : numpy.random.Generator

    Returns
    -------
    lower, upper : ndarray of shape (d,)
    """
    lower, upper = box.lower.copy(), box.upper.copy()
    others = others[(others != centre).any(axis=1)]
    while len(others):
        i = rng.integers(len(centre))
        rival = others[rng.integers(len(others)), i]
        if rival > centre[i]:
            upper[i] = rng.uniform(centre[i], rival)
        elif rival < centre[i]:
            lower[i] = rng.uniform(rival, centre[i])
        others = others[(others[:, i] >= lower[i]) & (others[:, i] <= upper[i])]
    return lower, upper
