"""Parallel evaluation: real workers of `concurrent.futures`, and workers on a simulated clock.

Algorithm 1 of [EGPBO] is the mode "sync": K queries from one posterior, then K updates. Algorithm 2
is "async": a worker that returns gets a new query at once. Pending points are not imputed.
"""

import math
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, ThreadPoolExecutor, wait

import numpy as np

from fivebo.egpbo.box import whole
from fivebo.egpbo.optimizer import BoxOptimizer

MODES = ("async", "sync")

DURATIONS = {
    "uniform": lambda rng: 2 * rng.random(),
    "half-normal": lambda rng: math.sqrt(math.pi / 2) * abs(rng.standard_normal()),
    "exponential": lambda rng: rng.standard_exponential(),
}
"""Laws of evaluation times, all of mean 1. Source: [EGPBO] Sec. 3.2 cites work that uses these."""


def _check(optimizer, n_workers, mode):
    """Refuse what cannot run, above all sequential methods: workers would share one query."""
    name = type(optimizer).__name__
    if not isinstance(optimizer, BoxOptimizer):
        raise TypeError(f"optimizer must be one of egpbo's with ask and tell, got {name}")
    if whole(n_workers, "n_workers") > 1 and not optimizer.parallel:
        raise ValueError(f"{name} hands out one query until it is told: use n_workers=1, or EGPTS")
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")


def _n_dispatch(optimizer, n_workers, n_running, mode):
    """Return how many queries to hand out: the initial points are waited for before the rest."""
    if mode == "sync" and n_running:
        return 0
    free = n_workers - n_running
    if optimizer.in_initial_phase:
        return max(0, min(free, optimizer.n_init - optimizer.n_told - n_running))
    return free


class SimulatedWorkers:
    """K workers with random evaluation times, seen as a sequential optimiser.

    `ask` returns the query that finishes next and `tell` delivers its observation, so that any
    loop can drive it; `clock` is the simulated time of the last delivery.

    Parameters
    ----------
    optimizer : EGPTS
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
        _check(optimizer, n_workers, mode)
        if durations not in DURATIONS:
            raise ValueError(f"durations must be one of {', '.join(DURATIONS)}, got {durations!r}")
        self.optimizer, self.n_workers, self.mode = optimizer, n_workers, mode
        self._duration, self._rng = DURATIONS[durations], np.random.default_rng(rng)
        self.clock = 0.0
        self._running = []  # (time of finish, order of dispatch, query)
        self._finished = []
        self._order = 0

    def ask(self):
        """Return the query that finishes next, the same one until it is told."""
        n = _n_dispatch(self.optimizer, self.n_workers, len(self._running), self.mode)
        for _ in range(n):
            finish = self.clock + self._duration(self._rng)
            self._running.append((finish, self._order, self.optimizer.ask()))
            self._order += 1
        return min(self._running, key=lambda job: job[:2])[2].copy()

    def tell(self, query, y):
        """Deliver the observation of the query that `ask` returned; None if it failed.

        Bad input is refused at once, in mode "sync" too, where the optimiser learns of it later.
        """
        if not self._running:
            raise ValueError("no query is out: ask() first, then tell its observation")
        job = min(self._running, key=lambda job: job[:2])
        x, value = self.optimizer.validated(query, y)
        if not np.array_equal(job[2], x):
            raise ValueError(
                f"query {x.tolist()} is not the one that finishes next, "
                f"{job[2].tolist()}: tell what ask() returned"
            )
        if self.mode == "async":
            self.optimizer.tell(query, y)
        else:
            self._finished.append((job[1], x, None if y is None else value))
        self._running.remove(job)
        self.clock = job[0]
        if self.mode == "sync" and not self._running:
            for _, x, value in sorted(self._finished, key=lambda done: done[0]):
                self.optimizer.tell(x, value)
            self._finished = []

    def recommend(self):
        """Return the optimiser's recommendation."""
        return self.optimizer.recommend()

    def result(self):
        """Return the optimiser's history."""
        return self.optimizer.result()


def run_workers(optimizer, objective, budget, n_workers=4, *, mode="async", executor=None):
    """Maximise a function with workers that evaluate it at the same time.

    Parameters
    ----------
    optimizer : EGPTS
    objective : callable
        ``objective(x) -> y``. If it raises, or returns no finite number, that evaluation has
        failed: the others go on, and it is reported.
    budget : int
        Evaluations to start, failed ones included.
    n_workers : int, optional
        K.
    mode : {"async", "sync"}, optional
    executor : concurrent.futures.Executor, optional
        Default: threads, which suit functions that release Python's lock or wait for something.

    Returns
    -------
    DataFrame
        The failures: columns evaluation (order of dispatch, from 1), x, error. Everything else
        is in ``optimizer.result()``.

    Notes
    -----
    Source: [EGPBO] Algs. 1, 2, Sec. 3.2.
    """
    import pandas as pd

    _check(optimizer, n_workers, mode)
    whole(budget, "budget", 0)
    if executor is None:
        with ThreadPoolExecutor(n_workers) as own:
            return run_workers(optimizer, objective, budget, n_workers, mode=mode, executor=own)
    running, started, failures = {}, 0, []
    until = ALL_COMPLETED if mode == "sync" else FIRST_COMPLETED
    while running or started < budget:
        n = min(_n_dispatch(optimizer, n_workers, len(running), mode), budget - started)
        for _ in range(n):
            started += 1
            x = optimizer.ask()
            running[executor.submit(objective, x.copy())] = (started, x)
        done, _ = wait(running, return_when=until)
        for future in sorted(done, key=lambda f: running[f][0]):
            evaluation, x = running.pop(future)
            error = _deliver(optimizer, future, x)
            if error:
                failures.append((evaluation, x, error))
    return pd.DataFrame(failures, columns=["evaluation", "x", "error"])


def _deliver(optimizer, future, x):
    """Tell the optimiser what a worker returned; return why the evaluation failed, or None."""
    error = future.exception()
    if error is None:
        try:
            if future.result() is None:
                raise TypeError("the objective returned None")
            optimizer.tell(x, future.result())
        except (TypeError, ValueError) as refused:  # no finite number; the state is unchanged
            error = refused
        else:
            return None
    if not isinstance(error, Exception):
        raise error  # KeyboardInterrupt, SystemExit
    optimizer.tell(x, None)
    return f"{type(error).__name__}: {error}"
