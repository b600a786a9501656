"""Workers on a simulated clock: Algorithms 1 and 2 of [EGPBO] seen as one sequential search.

Algorithm 1 is the mode "sync": K queries from one posterior, then K updates. Algorithm 2 is
"async": a worker that returns gets a new query at once. Pending points are not imputed. Real
workers are those of `fivebo.common.search.loop.optimize`.
"""

import copy
import math
from dataclasses import dataclass

import numpy as np

from fivebo.common.checks import count, one_of
from fivebo.common.search.loop import MODES
from fivebo.common.search.optimizer import Asked, Optimizer, Told
from fivebo.egpbo.optimizer import BoxOptimizer

DURATIONS = {
    "uniform": lambda rng: 2 * rng.random(),
    "half-normal": lambda rng: math.sqrt(math.pi / 2) * abs(rng.standard_normal()),
    "exponential": lambda rng: rng.standard_exponential(),
}
"""Laws of evaluation times, all of mean 1. Source: [EGPBO] Sec. 3.2 cites work that uses these."""


@dataclass(eq=False)
class Job:
    """A query with a worker: when it finishes, its place in the order of dispatch, what came of it.

    `component` is the one that proposed it, see `EGPTS`; `answer` is the arguments of `tell`.
    """

    finish: float
    order: int
    query: np.ndarray
    component: object
    answer: tuple = ()


class SimulatedWorkers(Optimizer):
    """K workers with random evaluation times, seen as a sequential optimiser.

    `ask` returns the query that finishes next and `tell` delivers its observation, and none of
    another point, so that any loop can drive it. `clock` is the simulated time of the last
    delivery.

    Parameters
    ----------
    optimizer : EGPTS
        With one worker, any optimiser of this paper.
    n_workers : int
        K.
    mode : {"async", "sync"}
    durations : {"uniform", "half-normal", "exponential"}, optional
        Law of the evaluation times, of mean 1.
    rng : int or numpy.random.Generator
        For the evaluation times.

    Notes
    -----
    Source: [EGPBO] Algs. 1, 2, Sec. 3.2. With one worker both modes are the sequential method.
    """

    def __init__(self, optimizer, n_workers, mode, durations="exponential", *, rng):
        if not isinstance(optimizer, BoxOptimizer):
            raise TypeError(
                f"optimizer must be one of egpbo's with a box, got {type(optimizer).__name__}"
            )
        super().__init__(optimizer.streams)
        self.n_workers = count(n_workers, "n_workers")
        if n_workers > 1 and not optimizer.parallel:
            raise ValueError(
                f"{type(optimizer).__name__} hands out one query until it is told: use "
                "n_workers=1, or EGPTS"
            )
        self.optimizer, self.fits = optimizer, optimizer.fits
        self.mode = one_of(mode, "mode", MODES)
        self.durations = one_of(durations, "durations", DURATIONS)
        self._rng = np.random.default_rng(rng)
        self.clock, self._order = 0.0, 0
        self._running, self._finished = [], []

    def _propose(self):
        """Hand out what can be; the next to finish is asked."""
        free = self.n_workers - len(self._running)
        if self.mode == "sync" and self._running:
            free = 0
        for _ in range(max(min(free, self.optimizer.room()), not self._running)):
            finish = self.clock + DURATIONS[self.durations](self._rng)
            query = self.optimizer.ask()
            component = self.optimizer.pending[-1].note
            self._running.append(Job(finish, self._order, query, component))
            self._order += 1
        self.n_failed_fits = self.optimizer.n_failed_fits
        self.n_fits_at_limit = self.optimizer.n_fits_at_limit
        job = min(self._running, key=_next)
        return Asked(job.query, job)

    def tell(self, done, y, *, query=None):
        """Deliver the observation of the query that `ask` returned; None if it failed.

        Bad input is refused at once, in mode "sync" too, where the optimiser learns of it when
        the round is over.

        Raises
        ------
        ValueError, TypeError
            As `Optimizer.tell`, and for the observation of a point that was not asked for: a
            worker delivers its query, possibly carried out elsewhere (`query`).
        """
        super().tell(done, y, query=done if query is None else query)
        told = self.told[-1]
        job = told.note
        job.answer = (told.query, told.value)
        self._running.remove(job)
        self._finished.append(job)
        self.clock = job.finish
        self._deliver()

    def withdraw(self, query):
        """Take back the query that finishes next; its worker is free. See `Optimizer.withdraw`."""
        job = self.pending[self._place(query)].note
        super().withdraw(query)
        self.optimizer.withdraw(job.query)
        self._running.remove(job)
        self._deliver()

    def _deliver(self):
        """Tell the optimiser what has finished; in mode "sync" when the round is over."""
        if self.mode == "async" or not self._running:
            _tell(self.optimizer, self._finished)
            self._finished = []

    def _informed(self):
        """Return the optimiser, or a copy that has been told what waits for the round's end."""
        if not self._finished:
            return self.optimizer
        informed = copy.deepcopy(self.optimizer)
        _tell(informed, self._finished)
        return informed

    def recommend(self):
        """Return the optimiser's recommendation from all that was told."""
        return self._informed().recommend()

    def posterior(self, X):
        """Return the optimiser's posterior of all that was told."""
        return self._informed().posterior(X)

    def _own(self, query):
        return self.optimizer._own(query)

    def _learn(self, query, value, note):
        """Take nothing here: `_deliver` tells the optimiser."""

    def _public(self, query):
        return query.copy()

    def _answers(self, query, asked):
        return np.array_equal(query, asked)

    def _columns(self):
        return self.optimizer._columns()

    def _row(self, entry):
        return self.optimizer._row(Told(entry.query, entry.value, entry.note.component))


def _next(job):
    return job.finish, job.order


def _tell(optimizer, jobs):
    """Tell what jobs found, in the order of their dispatch."""
    for job in sorted(jobs, key=lambda job: job.order):
        optimizer.tell(*job.answer, query=job.query)
