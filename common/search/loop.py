"""The one way to run a search on a function of the user's own."""

import copy
import functools
import sys
from collections import deque
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, BrokenExecutor, wait
from dataclasses import dataclass, field

import numpy as np

from fivebo.common.checks import count, number, shown
from fivebo.common.names import check_name
from fivebo.common.search.journal import Journal
from fivebo.common.search.optimizer import Optimizer
from fivebo.common.search.plain import plain
from fivebo.common.search.workers import EvaluationError, Processes, workers_for

MODES = ("async", "sync")


def optimize(
    optimizer, objective, budget, journal=None, *, progress=True, environment=None, n_workers=1,
    mode="async", workers=None, timeout=None, max_failures=10,
):  # fmt: skip
    """Optimise a function of your own, with a journal from which a killed run resumes.

    An evaluation fails if the objective raises, returns None or what `tell` refuses, takes longer
    than `timeout`, or its process dies. It is told as failed, and the search goes on.

    Parameters
    ----------
    optimizer : Optimizer
        Freshly built with the same settings and seed as before, if the journal exists.
    objective : callable
        ``objective(query) -> y``. It gets a copy of the query. A batch (`classify_dfo`) is given
        whole to a single worker, member by member (as batches of one) to several.
    budget : int
        Number of evaluations, failed ones and those in the journal counted: a larger budget than
        last time extends the run, an equal one evaluates nothing. What the optimiser was told
        before does not count.
    journal : path-like, optional
        Append-only file of JSON lines, written before and after each evaluation. One that was
        started and not finished is made again.
    progress : bool, optional
        Show a bar and failures on standard error.
    environment : callable, optional
        ``environment(query) -> done`` completes a query by what nature draws, for instance x to
        (x, w), or gives what can really be carried out, before it is evaluated and told.
    n_workers : int, optional
        Evaluations at the same time; more than 1 for optimisers that hand out more than one query
        (`EGPTS`) or batches.
    mode : {"async", "sync"}, optional
        A worker that is done gets a new query at once, or all wait for each other.
    workers : {"threads", "processes"} or concurrent.futures.Executor, optional
        Default: this thread, threads if there are several, processes if there is a time-out.
    timeout : float, optional
        Seconds after which an evaluation is stopped and has failed.
    max_failures : int, optional
        So many failures in a row end the run: something is wrong with the objective.

    Returns
    -------
    Optimizer
        `optimizer`, after `budget` evaluations; call its `recommend()` and `result()`.

    Raises
    ------
    ValueError, TypeError
        A setting that cannot be; the journal is damaged or belongs to another search; an objective
        that cannot be sent to a process. Nothing has been evaluated.
    RuntimeError
        Another process writes to the journal, or `max_failures` evaluations in a row failed.
    """
    budget, n_workers = count(budget, "budget", least=0), count(n_workers, "n_workers")
    check_name("mode", mode, MODES)
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"optimizer must be built first, as MTKB(...) is, got {shown(optimizer)}")
    _check_function(objective, "objective")
    if environment is not None:
        _check_function(environment, "environment")
    if n_workers > 1 and not (optimizer.parallel or optimizer.divisible):
        raise ValueError(
            f"{type(optimizer).__name__} hands out one query until it is told: use n_workers=1, or "
            "a parallel optimiser such as EGPTS"
        )
    max_failures = count(max_failures, "max_failures")
    pool = workers_for(objective, n_workers, workers, timeout)
    run = _Run(optimizer, pool, n_workers, mode, max_failures, environment)
    run.left = deque(asked.query for asked in optimizer.pending)
    run.anew = functools.partial(Processes, objective, n_workers, timeout)
    try:
        with Journal(journal, optimizer) as run.log:
            run.replay(budget)
            run.until(budget, progress)
    finally:
        run.pool.close()
    return optimizer


def _check_function(function, name):
    if not callable(function):
        raise TypeError(f"{name} must be a function of the query, got {shown(function)}")


@dataclass
class _Evaluation:
    """A query on its way: its parts, where it is carried out, and the values there are."""

    step: int
    query: object
    parts: list
    done: object = None
    values: dict = field(default_factory=dict)
    reason: str = ""


@dataclass
class _Run:
    """The state of one call of `optimize`."""

    optimizer: object
    pool: object
    n_workers: int
    mode: str
    max_failures: int
    environment: object
    log: object = None
    anew: object = None
    """Makes a pool in place of one that broke."""
    left: deque = field(default_factory=deque)
    """Queries that were out before, which come first; a parallel optimiser would ask others."""
    started: int = 0
    finished: int = 0
    failed_in_a_row: int = 0
    tasks: deque = field(default_factory=deque)
    """Pairs (evaluation, members of it) that wait for a worker."""
    running: dict = field(default_factory=dict)
    """Future to its task, in the order of dispatch."""

    def replay(self, budget):
        """Bring the optimiser to the state after the evaluations of the journal."""
        out = {}
        for entry in self.log.entries:
            if entry.get("ask", budget + 1) <= budget:
                out[entry["ask"]] = self._asked_again(entry)
            elif "part" in entry and entry["part"][0] in out:
                self._measured_again(out[entry["part"][0]], *entry["part"], entry["y"])
            elif entry.get("tell") in out:
                self._told_again(out.pop(entry["tell"]), entry)
        self.started = self.finished + len(out)
        for evaluation in out.values():
            self._enqueue(evaluation)

    def _measured_again(self, evaluation, step, member, y):
        try:
            value = None if y is None else number(y, "y")
        except (TypeError, ValueError) as error:
            self.log.refuse(f"member {member} of evaluation {step}: {error}")
        if member >= len(evaluation.parts):
            self.log.refuse(f"evaluation {step} has no member {member}")
        evaluation.values[member] = value

    def _told_again(self, evaluation, entry):
        done = entry.get("done", evaluation.query)
        try:
            self.optimizer.tell(done, entry.get("y"), query=evaluation.query)
        except (TypeError, ValueError) as error:
            self.log.refuse(f"evaluation {evaluation.step}: {error}")
        self.finished += 1

    def _ask(self):
        return self.optimizer._public(self.left.popleft()) if self.left else self.optimizer.ask()

    def _asked_again(self, entry):
        query = self._ask()
        if plain(query) != entry["query"]:
            raise ValueError(
                f"journal {self.log.path} holds query {shown(entry['query'])} at evaluation "
                f"{entry['ask']}, this optimiser asks {shown(plain(query))}: another version wrote "
                "it, or it was edited; tell its observations to a fresh optimiser, and use a new "
                "file"
            )
        return _Evaluation(entry["ask"], query, self.optimizer.parts(query))

    def until(self, budget, progress):
        """Evaluate until the budget is spent."""
        from tqdm import tqdm

        if self.finished >= budget:
            return
        self.log.begin_session()  # a journal that is refused stays as it is
        bar = tqdm(desc="evaluations", total=budget, initial=self.finished, disable=not progress)
        until = ALL_COMPLETED if self.mode == "sync" else FIRST_COMPLETED
        with bar:
            while True:
                self._fill(budget)
                if not self.running:
                    return
                wait(self.running, return_when=until)
                for future in [future for future in self.running if future.done()]:
                    self._finish(future, bar)

    def _fill(self, budget):
        """Give every free worker something to do; in mode "sync" only when all are free."""
        if self.mode == "sync" and self.running:
            return
        while len(self.running) < self.n_workers:
            idle = not (self.running or self.tasks)  # then a query that is out already comes first
            more = self.started < budget and (self.left or self.optimizer.room() > 0 or idle)
            if not self.tasks and more:
                self.started += 1
                query = self._ask()
                self.log.begin(self.started, query)
                self._enqueue(_Evaluation(self.started, query, self.optimizer.parts(query)))
            if not self.tasks:
                return
            self._submit(*self.tasks.popleft())

    def _enqueue(self, evaluation):
        """Queue what has no value yet: a batch whole for one worker, else member by member."""
        query = copy.deepcopy(evaluation.query)
        evaluation.done = query if self.environment is None else self._completed(query)
        missing = [i for i in range(len(evaluation.parts)) if i not in evaluation.values]
        if not missing:
            self._settle(evaluation)
        elif self.n_workers == 1:
            self.tasks.append((evaluation, missing))
        else:
            self.tasks.extend((evaluation, [member]) for member in missing)

    def _completed(self, query):
        """Return what nature makes of a query; refuse before it is evaluated what is no query."""
        done = self.environment(copy.deepcopy(query))
        try:
            self.optimizer._own(done)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"environment({shown(query)}) must give a query, got {shown(done)}: {error}"
            ) from None
        return done

    def _submit(self, evaluation, members):
        what = evaluation.done
        if len(members) < len(evaluation.parts):
            what = np.concatenate([evaluation.parts[i] for i in members])
        try:
            future = self.pool.submit(copy.deepcopy(what))
        except BrokenExecutor:
            self.pool = self.anew()
            future = self.pool.submit(copy.deepcopy(what))
        self.running[future] = evaluation, members

    def _finish(self, future, bar):
        """Take what a worker returned; a pool that broke is made anew, its work done again."""
        evaluation, members = self.running.pop(future)
        y = None
        try:
            y = future.result()
            reason = "the objective returned None" if y is None else ""
        except BrokenExecutor:
            self.tasks.appendleft((evaluation, members))
            return
        except EvaluationError as error:
            reason = str(error)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        if len(members) == len(evaluation.parts):
            self._tell(evaluation, y, reason, bar)
            return
        values = [None] * len(members)
        try:
            if not reason and np.size(y) != len(members):
                raise ValueError(f"y must hold {len(members)} value(s), got {shown(y)}")
            values = values if reason else [number(v, "y") for v in np.ravel(y)]
        except (TypeError, ValueError) as error:
            reason = str(error)
        for member, value in zip(members, values, strict=True):
            evaluation.values[member] = value
            self.log.part(evaluation.step, member, value)
        evaluation.reason = reason or evaluation.reason
        self._settle(evaluation, bar)

    def _settle(self, evaluation, bar=None):
        """Tell a batch once all its members have been tried."""
        if len(evaluation.values) < len(evaluation.parts):
            return
        values = [evaluation.values[i] for i in range(len(evaluation.parts))]
        good = any(value is not None for value in values)
        self._tell(evaluation, values if good else None, evaluation.reason, bar)

    def _tell(self, evaluation, y, reason, bar):
        """Tell the optimiser, then the journal; what it refuses is a failed evaluation."""
        elsewhere = None if self.environment is None else evaluation.done
        if y is not None:
            try:
                self.optimizer.tell(evaluation.done, y, query=evaluation.query)
            except (TypeError, ValueError) as error:
                y, reason = None, str(error)
        if y is None:
            reason = reason or "no value"
            self.optimizer.tell(evaluation.done, None, query=evaluation.query)
        self.log.end(evaluation.step, y, elsewhere, error=reason if y is None else None)
        self.finished += 1
        self.failed_in_a_row = self.failed_in_a_row + 1 if y is None else 0
        if bar is not None:
            bar.update()
            if y is None and not bar.disable:
                bar.write(f"evaluation {evaluation.step} failed: {reason}", file=sys.stderr)
        if self.failed_in_a_row >= self.max_failures:
            raise RuntimeError(
                f"the last {self.failed_in_a_row} evaluations all failed, this one with: {reason}; "
                "mend the objective and run again, or raise max_failures"
            )
