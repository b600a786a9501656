"""Who evaluates: this thread, threads, processes that can be stopped, or a given executor."""

import multiprocessing
import pickle
import queue
import signal
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.connection import wait as wait_for

from fivebo.common.checks import positive
from fivebo.common.names import check_name

KINDS = ("threads", "processes")


class EvaluationError(Exception):
    """An evaluation gave no value; the text says why."""


def workers_for(objective, n_workers, workers, timeout):
    """Return what evaluates: an object with ``submit(query) -> Future`` and ``close()``.

    Parameters
    ----------
    objective : callable
    n_workers : int
    workers : {"threads", "processes"}, concurrent.futures.Executor or None
        None: this thread if one is enough, threads if not, processes if there is a time-out.
    timeout : float or None
        Seconds an evaluation may take.

    Raises
    ------
    ValueError, TypeError
        Processes and an objective that cannot be pickled; a time-out without processes.
    """
    if timeout is not None:
        positive(timeout, "timeout")
    if isinstance(workers, Executor):
        kind = workers
    else:
        kind = workers or ("threads" if timeout is None else "processes")
        check_name("workers", kind, KINDS)
    if timeout is not None and kind != "processes":
        raise ValueError(
            f"timeout={timeout:g} needs workers='processes': only a process can be stopped"
        )
    if kind == "processes":
        return Processes(objective, n_workers, timeout)
    if isinstance(kind, ProcessPoolExecutor):
        pickled(objective)
    if kind == "threads" and n_workers == 1:
        return Inline(objective)
    return Futures(objective, n_workers, None if kind == "threads" else kind)


class Inline:
    """Evaluates in the calling thread: what interrupts it interrupts the search."""

    def __init__(self, objective):
        self._objective = objective

    def submit(self, query):
        """Evaluate at once."""
        future = Future()
        try:
            future.set_result(self._objective(query))
        except Exception as error:
            future.set_exception(error)
        return future

    def close(self):
        """Do nothing."""


class Futures:
    """Evaluates in an executor: own threads, or the user's, which is left running."""

    def __init__(self, objective, n_workers, executor=None):
        self._objective, self._own = objective, executor is None
        self._executor = ThreadPoolExecutor(n_workers) if executor is None else executor

    def submit(self, query):
        """Hand an evaluation over."""
        return self._executor.submit(self._objective, query)

    def close(self):
        """Give up what has not begun; own threads end when their evaluation does."""
        if self._own:
            self._executor.shutdown(wait=False, cancel_futures=True)


class Processes:
    """Evaluates in processes of its own; one that dies or is too slow is replaced by a new one.

    Each is driven by a thread that waits for it, so that one death is one failed evaluation.
    """

    def __init__(self, objective, n_workers, timeout=None):
        self._payload, self._timeout = pickled(objective), timeout
        self._idle, self._all, self._closed = queue.SimpleQueue(), [], False
        for _ in range(n_workers):
            self._idle.put(self._start())
        self._threads = ThreadPoolExecutor(n_workers)

    def _start(self):
        here, there = multiprocessing.Pipe()
        process = multiprocessing.Process(target=_serve, args=(there, self._payload), daemon=True)
        process.start()
        there.close()
        self._all.append(process)
        return process, here

    def submit(self, query):
        """Hand an evaluation to the next process that is free."""
        return self._threads.submit(self._evaluate, query)

    def _evaluate(self, query):
        process, connection = self._idle.get()
        try:
            connection.send(query)
            if not wait_for([connection, process.sentinel], self._timeout):
                raise EvaluationError(f"no value after {self._timeout:g} s, it was stopped")
            if not connection.poll():
                raise EOFError
            good, value = connection.recv()
        except (EOFError, ConnectionError):
            process.join(1)
            raise EvaluationError(
                f"the worker process died (exit code {process.exitcode}; -9 is killed, perhaps for "
                "want of memory)"
            ) from None
        except EvaluationError:
            process.kill()
            process.join()
            raise
        else:
            if not good:
                raise EvaluationError(value)
            return value
        finally:
            if not process.is_alive() and not self._closed:
                self._all.remove(process)
                process, connection = self._start()
            self._idle.put((process, connection))

    def close(self):
        """Stop all processes, whatever they are doing."""
        self._closed = True
        for process in self._all:
            process.kill()
        self._threads.shutdown(wait=False, cancel_futures=True)


def pickled(objective):
    """Return an objective as bytes, or refuse it before anything is evaluated."""
    try:
        return pickle.dumps(objective)
    except Exception as error:
        raise TypeError(
            f"objective {objective!r:.60} cannot be sent to another process ({error}): define it "
            "with def at the top of a module, or use workers='threads'"
        ) from None


def _serve(connection, payload):
    """Answer queries until the other end is gone; Ctrl-C is for the search, not for its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    objective = pickle.loads(payload)
    while True:
        try:
            query = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer = True, objective(query)
            pickle.dumps(answer)
        except Exception as error:
            answer = False, f"{type(error).__name__}: {error}"
        connection.send(answer)
