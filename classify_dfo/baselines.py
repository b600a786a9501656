"""What [CDFO] Sec. 4 compares with: random search, CMA-ES and GP-EI.

All minimise by whole batches; their first batch is the uniform one of all methods, except that
CMA-ES draws its own.
"""

import numpy as np

from fivebo.classify_dfo.optimizer import BatchOptimizer
from fivebo.classify_dfo.spaces import Catalogue, first_batch, require
from fivebo.classify_dfo.surrogate import ACQUISITIONS, TIES, Surrogate, best_candidate
from fivebo.common.checks import as_finite_array, count, one_of, positive
from fivebo.common.search.domains import Box
from fivebo.common.search.optimizer import Asked


class _Uniform(BatchOptimizer):
    """Uniform draws; on a catalogue no action is drawn twice."""

    def _unseen(self):
        """Return which actions of a catalogue are left, shape (N,); failed ones come last.

        Raises
        ------
        ValueError
            All have been evaluated.
        """
        unseen = np.ones(self.domain.size, dtype=bool)
        for batch in self.batches:
            unseen[batch] = False
        if not unseen.any():
            raise ValueError(
                f"all {self.domain.size} actions have been evaluated, nothing is left to ask; "
                "recommend() gives the best"
            )
        fresh = unseen.copy()
        fresh[self.failed] = False
        return fresh if fresh.any() else unseen

    def _draw(self, n, unseen=None):
        """Draw n points of a box, or n of the unseen actions (what is left, if that is less)."""
        rng = self.streams.algorithm
        if isinstance(self.domain, Box):
            return self.domain.uniform(n, rng)
        left = np.flatnonzero(unseen)
        return rng.choice(left, min(n, len(left)), replace=False)


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
        n -= sum(map(len, first))
        return Asked(np.concatenate([*first, self._draw(n, unseen)]) if n else first[0])


class CMAES(BatchOptimizer):
    """CMA-ES of the library `cma`, one generation a batch; for boxes only.

    It works on the unit cube. Its draws, the first batch included, come from the stream
    "algorithm", its starting point from "initial". A batch that was carried out slightly elsewhere
    is learnt as if where it was asked, one with less than half its values not at all. Source:
    [CDFO] Sec. 4; population, starting point and step size are ASSUMED.

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
        solutions = self._strategy.ask()
        return Asked(self.domain.from_unit(solutions), solutions)

    def _learn(self, query, value, note):
        measured = np.flatnonzero(~np.isnan(value))
        if len(measured) >= max(self._strategy.sp.weights.mu, 2):  # fewer do not make a generation
            self._strategy.tell([note[i] for i in measured], value[measured].tolist())
        super()._learn(query, value, note)


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
        "randn": _Draws(rng),
        "verbose": -9,
    }
    return cma.CMAEvolutionStrategy(x0, step, options)


class _Draws:
    """Standard normal draws of a Generator, called as `cma` wants it."""

    def __init__(self, rng):
        self._rng = rng

    def __call__(self, *shape):
        """Return an array of a shape."""
        return self._rng.standard_normal(shape)


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

    fits = True

    NEAR = 1e-3
    """Share of the sides within which a point of a box that failed is passed over."""

    def __init__(
        self, domain, *, batch, jitter=0.01, n_fit=300, restarts=5, max_points=None,
        candidates=1000, starts=3, search="log", rng=0,
    ):  # fmt: skip
        super().__init__(domain, batch=batch, rng=rng)
        self.jitter = float(as_finite_array(jitter, "jitter", ndim=0))
        if self.jitter < 0:
            raise ValueError(f"jitter must be at least 0, got {self.jitter:g}")
        self.candidates, self.starts = count(candidates, "candidates"), count(starts, "starts")
        self.search = one_of(search, "search", ACQUISITIONS)
        self.max_points = None if max_points is None else count(max_points, "max_points")
        self.surrogate = Surrogate(n_fit, restarts)
        self._n_fitted = 0  # batches that the surrogate knows

    def _propose(self):
        if not self.batches:
            return Asked(first_batch(self.domain, self.batch, self.streams.initial))
        if isinstance(self.domain, Box):
            self._fit()
            return Asked(np.vstack([self._climb(), self._draw(self.batch - 1)]))
        unseen = self._unseen()
        self._fit()
        features = self.domain.features
        greedy, _ = best_candidate(self.surrogate, features, self.jitter, unseen, self.search)
        unseen[greedy] = False
        return Asked(np.concatenate([[greedy], self._draw(self.batch - 1, unseen)]))

    def _fit(self):
        """Fit the surrogate to all batches, once: the next `ask` or `posterior` finds it done."""
        if self._n_fitted == len(self.batches):
            return
        queries, y = self._data()
        found = self.surrogate.fit(self._inputs(queries), y, self.streams.algorithm)
        self.n_failed_fits += found is None
        self.n_fits_at_limit += found is not None and bool(found.at_limit)
        self._n_fitted = len(self.batches)

    def posterior(self, X=None):
        """Return mean and standard deviation of f, in units of y.

        Parameters
        ----------
        X : array_like, optional
            Rows of a catalogue, by default all, or points of shape (m, d) of a box.

        Returns
        -------
        mean, std : ndarray of shape (m,)

        Raises
        ------
        ValueError, TypeError
            No data yet: the prior is that of standardised data; or X is not in the domain.
        """
        self._needs_data()
        if X is None:
            if isinstance(self.domain, Box):
                raise TypeError("posterior() needs the points X, for a box has infinitely many")
            X = np.arange(self.domain.size)
        self._fit()
        mean, std = self.surrogate.mean_std(self._inputs(self.domain.check_all(X, "X")))
        return self.surrogate.centre + self.surrogate.scale * mean, self.surrogate.scale * std

    def _inputs(self, queries):
        """Return what the surrogate takes: points in the unit cube, or features."""
        if isinstance(self.domain, Box):
            return self.domain.to_unit(queries)
        return self.domain.features[queries]

    def _data(self):
        """Return queries and values that the posterior is conditioned on."""
        queries, y = np.concatenate(self.batches), np.concatenate(self.values)
        if self.max_points is None or len(y) <= self.max_points:
            return queries, y
        order = self.streams.algorithm.permutation(len(y))
        best = int(y.argmin())
        kept = np.append(order[order != best][: self.max_points - 1], best)
        return queries[kept], y[kept]

    def _climb(self):
        """Return the point of a box where the improvement is largest, as far as was found.

        Near one that failed a uniform point takes its place.
        """
        from scipy.optimize import minimize

        U = self.streams.algorithm.random((self.candidates, self.domain.dim))
        model = self.surrogate
        values = model.acquisition(*model.mean_std(U), self.jitter, self.search)
        best, best_value = U[values.argmax()], values.max()

        def negated(u):
            value, gradient = model.slopes(u, self.jitter, self.search)
            return -value, -gradient

        bounds = [(0, 1)] * self.domain.dim
        for u in U[np.argsort(-values)[: self.starts]]:
            found = minimize(negated, u, jac=True, method="L-BFGS-B", bounds=bounds)
            if -found.fun > best_value + TIES * abs(best_value):
                best, best_value = found.x, -found.fun
        for failed in self.failed:
            if (np.abs(self.domain.to_unit(failed) - best) < self.NEAR).all():
                return self._draw(1)[0]
        return self.domain.from_unit(best)
