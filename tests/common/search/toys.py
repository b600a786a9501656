"""Three optimisers without a model, to try the contract, the loop and the journal on."""

import numpy as np

from fivebo.common.checks import as_finite_array
from fivebo.common.search.domains import Box, FiniteSet
from fivebo.common.search.optimizer import Asked, Optimizer, numbered


class Walk(Optimizer):
    """Ask the points of a finite set in random order, one at a time."""

    def __init__(self, domain, rng=0):
        super().__init__(rng)
        self.domain = domain if isinstance(domain, FiniteSet) else FiniteSet(domain)

    def _propose(self):
        seen = {entry.query for entry in self.told if entry.value is not None}
        left = [i for i in range(len(self.domain)) if i not in seen and i not in self.failed]
        return Asked(int(self.streams.algorithm.choice(left)), "asked")

    def _own(self, query):
        return self.domain.index(query)

    def _public(self, query):
        return self.domain.points[query].copy()

    def _learn(self, query, value, note):
        pass

    def recommend(self):
        self._needs_data()
        best = max((e for e in self.told if e.value is not None), key=lambda e: e.value)
        return self._public(best.query)

    def _columns(self):
        return [*numbered("x", self.domain.dim), "y"]

    def _row(self, entry):
        return (*self._public(entry.query), np.nan if entry.value is None else entry.value)


class Scatter(Walk):
    """Ask uniform points of a box, as many at a time as there are workers."""

    parallel = True

    def __init__(self, domain, rng=0):
        Optimizer.__init__(self, rng)
        self.domain = domain if isinstance(domain, Box) else Box(domain)

    def _propose(self):
        return Asked(self.domain.uniform(1, self.streams.algorithm)[0])

    def _own(self, query):
        return self.domain.check(query)

    def _public(self, query):
        return query.copy()

    def _answers(self, query, asked):
        return np.array_equal(query, asked)


class Handful(Scatter):
    """Ask batches of uniform points; only the pending batch is taken."""

    parallel, divisible = False, True

    def __init__(self, domain, batch=3, rng=0):
        super().__init__(domain, rng)
        self.batch = batch

    def _propose(self):
        return Asked(self.domain.uniform(self.batch, self.streams.algorithm))

    def _own(self, query):
        return self.domain.check_all(query)

    def _value(self, y):
        return as_finite_array([np.nan if v is None else v for v in y], "y")

    def parts(self, query):
        return [query[i : i + 1] for i in range(len(query))]

    def _columns(self):
        return ["best"]

    def _row(self, entry):
        return (np.nan if entry.value is None else entry.value.max(),)
