"""What [CDFO] Sec. 4 compares with: random search, CMA-ES, GP-EI; and box classification (ours).

All minimise by whole batches; their first batch is the uniform one of all methods, except that
CMA-ES draws its own.
"""

import numpy as np

from fivebo.classify_dfo.optimizer import BatchOptimizer
from fivebo.classify_dfo.spaces import Box, Catalogue, first_batch, require
from fivebo.classify_dfo.surrogate import ACQUISITIONS, Surrogate, best_candidate
from fivebo.common.checks import as_finite_array, count, one_of, positive


class _Uniform(BatchOptimizer):
    """Uniform draws; on a catalogue no action is drawn twice."""

    def _unseen(self):
        """Return which actions of a catalogue have not been asked, shape (N,)."""
        unseen = np.ones(self.domain.size, dtype=bool)
        for batch in self.batches:
            unseen[batch] = False
        return unseen

    def _draw(self, n, unseen=None):
        """Draw n points of a box, or n of the unseen actions (what is left, if that is less)."""
        rng = self.streams.algorithm
        if isinstance(self.domain, Box):
            return self.domain.uniform(n, rng)
        left = np.flatnonzero(unseen)
        return rng.choice(left, min(n, len(left)), replace=False)

    def _check_left(self, unseen):
        if not unseen.any():
            raise ValueError(
                f"all {self.domain.size} actions have been evaluated, nothing is left to ask; "
                "recommend() gives the best"
            )


class RandomSearch(_Uniform):
    """Uniform batches of `factor` n queries: "random", and "random-2x" with twice the budget.

    Source: [CDFO] Sec. 4. Draws from a catalogue are without replacement (ASSUMED).

    Parameters
    ----------
    domain : Catalogue or Box
    batch : int
        n of the other methods.
    factor : int, optional
        2 for the baseline that has twice the evaluations of the others.
    rng : int, numpy.random.Generator or Streams
    """

    def __init__(self, domain, *, batch, factor=1, rng=0):
        super().__init__(domain, batch=batch, rng=rng)
        self.factor = count(factor, "factor")

    def _propose(self):
        n = self.factor * self.batch
        first = [] if self.batches else [first_batch(self.domain, self.batch, self.streams.initial)]
        unseen = None
        if isinstance(self.domain, Catalogue):
            unseen = self._unseen()
            unseen[np.concatenate([[], *first]).astype(int)] = False
            if not first:
                self._check_left(unseen)
        n -= sum(map(len, first))
        return np.concatenate([*first, self._draw(n, unseen)]) if n else first[0]


class CMAES(BatchOptimizer):
    """CMA-ES of the library `cma`, one generation a batch; for boxes only.

    It works on the unit cube. Its draws, the first batch included, come from the stream
    "algorithm", its starting point from "initial". Source: [CDFO] Sec. 4; population, starting
    point and step size are ASSUMED.

    Parameters
    ----------
    domain : Box
        Of at least 2 inputs.
    batch : int
        Population size, at least 2.
    step_share : float, optional
        Initial step size as a share of the sides, in (0, 1].
    rng : int, numpy.random.Generator or Streams
    """

    def __init__(self, domain, *, batch, step_share=0.25, rng=0):
        require(domain, Box, "CMAES")
        super().__init__(domain, batch=batch, rng=rng)
        if self.batch < 2:
            raise ValueError(f"CMAES needs a batch of at least 2, got {self.batch}")
        if domain.dim < 2:
            raise ValueError(
                "CMAES needs a box of at least 2 inputs, got 1: `cma` has no such search"
            )
        self.step_share = positive(step_share, "step_share", upper=1.0, closed=True)
        self._strategy = start_cma(
            self.streams.initial.random(domain.dim), self.step_share, self.batch,
            self.streams.algorithm,
        )  # fmt: skip

    def _propose(self):
        self._solutions = self._strategy.ask()
        points = self.domain.lower + np.array(self._solutions) * self.domain.side
        return np.clip(points, self.domain.lower, self.domain.upper)

    def _update(self, batch, y):
        self._strategy.tell(self._solutions, y.tolist())


def start_cma(x0, step, population, rng):
    """Start `cma` on the unit cube with draws from a Generator; the global one is not touched.

    Parameters
    ----------
    x0 : ndarray of shape (d,)
    step : float
        Initial standard deviation.
    population : int
    rng : numpy.random.Generator
    """
    import cma

    options = {
        "popsize": population,
        "bounds": [0, 1],
        "seed": np.nan,  # do not seed: the draws are ours
        "randn": lambda *shape: rng.standard_normal(shape),
        "verbose": -9,
    }
    return cma.CMAEvolutionStrategy(x0, step, options)


class GPEI(_Uniform):
    """GP-EI in batches: the point of largest expected improvement and n - 1 uniform ones.

    What GpyOpt's evaluator "random" does. f_min is the smallest posterior mean at the data. On a
    catalogue the improvement is enumerated over the actions not yet evaluated; on a box the best
    of `candidates` uniform points is improved by L-BFGS-B from the best `starts`. Source: [CDFO]
    Sec. 4; own GP in place of the library.

    Parameters
    ----------
    domain : Catalogue or Box
    batch : int
        n.
    jitter : float, optional
        xi of the improvement, >= 0, in units of the standardised observations.
    n_fit, restarts : int, optional
        See `Surrogate`.
    max_points : int, optional
        The posterior is that of so many data at most: the best one and random others, drawn anew
        each round; None uses all.
    candidates, starts : int, optional
        On boxes only.
    search : {"log", "plain"}, optional
        What is maximised: the logarithm of the improvement, or itself, as the library does; that
        underflows to 0 everywhere when the GP is sure, and then any point is as good.
    rng : int, numpy.random.Generator or Streams
    """

    def __init__(
        self,
        domain,
        *,
        batch,
        jitter=0.01,
        n_fit=300,
        restarts=5,
        max_points=None,
        candidates=1000,
        starts=3,
        search="log",
        rng=0,
    ):
        super().__init__(domain, batch=batch, rng=rng)
        self.jitter = float(as_finite_array(jitter, "jitter", ndim=0))
        if self.jitter < 0:
            raise ValueError(f"jitter must be at least 0, got {self.jitter:g}")
        self.candidates, self.starts = count(candidates, "candidates"), count(starts, "starts")
        self.search = one_of(search, "search", ACQUISITIONS)
        self.max_points = None if max_points is None else count(max_points, "max_points")
        self.surrogate = Surrogate(n_fit, restarts)

    def _propose(self):
        if not self.batches:
            return first_batch(self.domain, self.batch, self.streams.initial)
        queries, y = self._data()
        if isinstance(self.domain, Box):
            self.surrogate.fit(self._unit(queries), y, self.streams.algorithm)
            return np.vstack([self._climb(), self._draw(self.batch - 1)])
        unseen = self._unseen()
        self._check_left(unseen)
        features = self.domain.features
        self.surrogate.fit(features[queries], y, self.streams.algorithm)
        greedy, _ = best_candidate(self.surrogate, features, self.jitter, unseen, self.search)
        unseen[greedy] = False
        return np.concatenate([[greedy], self._draw(self.batch - 1, unseen)])

    def _data(self):
        """Return queries and values that the posterior is conditioned on."""
        queries, y = np.concatenate(self.batches), np.concatenate(self.values)
        if self.max_points is None or len(y) <= self.max_points:
            return queries, y
        order = self.streams.algorithm.permutation(len(y))
        best = int(y.argmin())
        kept = np.append(order[order != best][: self.max_points - 1], best)
        return queries[kept], y[kept]

    def _unit(self, points):
        return (points - self.domain.lower) / self.domain.side

    def _climb(self):
        """Return the point of a box where the improvement is largest, as far as was found."""
        from scipy.optimize import minimize

        U = self.streams.algorithm.random((self.candidates, self.domain.dim))
        model, acquisition = self.surrogate, ACQUISITIONS[self.search]
        values = acquisition(*model.mean_std(U), model.f_min, self.jitter)
        best, best_value = U[values.argmax()], values.max()

        def negated(u):
            value, gradient = model.improvement_gradient(u, self.jitter, self.search)
            return -value, -gradient

        bounds = [(0, 1)] * self.domain.dim
        for u in U[np.argsort(-values)[: self.starts]]:
            found = minimize(negated, u, jac=True, method="L-BFGS-B", bounds=bounds)
            if -found.fun > best_value:
                best, best_value = found.x, -found.fun
        points = self.domain.lower + best * self.domain.side
        return np.clip(points, self.domain.lower, self.domain.upper)


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
            return first_batch(self.domain, self.batch, self.streams.initial)
        rng = self.streams.algorithm
        queries, y = np.concatenate(self.batches), np.concatenate(self.values)
        good = np.argsort(y, kind="stable")[: self.positives]
        last = np.arange(len(queries) - len(self.batches[-1]), len(queries))
        bad = queries[np.setdiff1d(last, good)]
        points = self.domain.uniform(self.batch, rng)
        for i in np.flatnonzero(rng.random(self.batch) < self.trust):
            centre = queries[rng.choice(good)]
            points[i] = rng.uniform(*shrink_box(centre, bad, self.domain, rng))
        return points


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
