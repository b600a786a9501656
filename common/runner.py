"""The loop: one run of an experiment with its metrics, or a user's function with a journal."""

import json
import operator
import time
from datetime import UTC, datetime

import numpy as np

from common.files import SurroundingsError
from common.records import KEYS, RUN_COLUMNS, TRACE_COLUMNS, record_steps
from common.rng import Streams, rng_for


def run_seed(study, experiment, *, method, variant, seed, code):
    """Run one method on one seed of an experiment and score it at every step.

    Parameters
    ----------
    study : module
        The paper's `study` module.
    experiment : common.experiments.Experiment
        Resolved at a scale.
    method, variant : str
    seed : int
    code : str
        Fingerprint of the code that runs.

    Returns
    -------
    row : dict
        One row of the runs table. An exception inside the run gives status "failed" and its text.
    trace : DataFrame
        Rows of the trace table; none if the run failed.

    Raises
    ------
    OSError, SurroundingsError
        The surroundings failed (disk, data file): not a result of the method.
    """
    return run_trajectory(
        study, experiment, methods=[method], variant=variant, seed=seed, code=code
    )[0]


def trajectories(study, methods):
    """Group methods that walk the same trajectory, so that it is run once.

    Parameters
    ----------
    study : module
        Its `TRAJECTORIES`, if it has one, maps a method to the one whose queries it shares.
    methods : sequence of str

    Returns
    -------
    list of list of str
    """
    shared, groups = getattr(study, "TRAJECTORIES", {}), {}
    for method in methods:
        groups.setdefault(shared.get(method, method), []).append(method)
    return list(groups.values())


def run_trajectory(study, experiment, *, methods, variant, seed, code):
    """Run methods that share their queries once, and score each of them at every step.

    Parameters
    ----------
    study, experiment, variant, seed, code
        As in `run_seed`.
    methods : sequence of str
        One of the groups of `trajectories`.

    Returns
    -------
    list of (dict, DataFrame)
        Row and trace of each method, as in `run_seed`; all have the time of the one run.
    """
    from threadpoolctl import threadpool_info, threadpool_limits

    facts = {"horizon": experiment.horizon, "code": code, "status": "ok", "error": ""}
    facts |= {"started": datetime.now(UTC).isoformat(timespec="seconds")}
    facts["params"] = json.dumps(
        {"problem": experiment.problem_params(variant), "method": experiment.params(variant)},
        sort_keys=True,
    )
    start, values = time.perf_counter(), {method: [] for method in methods}
    with threadpool_limits(1):
        try:
            found, values = _loop(study, experiment, methods, variant, seed)
            facts |= found
        except (OSError, SurroundingsError):
            raise
        except Exception as error:
            facts |= {"status": "failed", "error": f"{type(error).__name__}: {error}"}
        facts["blas_threads"] = max((pool["num_threads"] for pool in threadpool_info()), default=1)
    facts["wall_s"] = time.perf_counter() - start
    keys = {method: _key(experiment, method, variant, seed) for method in methods}
    return [_tables(keys[method], facts, values[method]) for method in methods]


def _tables(key, facts, values):
    """Return one method's row of the runs table and its rows of the trace."""
    import pandas as pd

    key = dict(zip(KEYS, key, strict=True))
    trace = pd.DataFrame(values, columns=["step", "n_evals", "metric", "value"])
    for name, value in key.items():
        trace[name] = value
    return dict.fromkeys(RUN_COLUMNS) | key | facts, trace[TRACE_COLUMNS]


def _key(experiment, method, variant, seed):
    return (experiment.paper, experiment.name, experiment.problem, method, variant, seed)


def _loop(study, experiment, methods, variant, seed):
    names = (experiment.paper, experiment.name, experiment.problem, seed)
    problem = study.PROBLEMS[experiment.problem](**experiment.problem_params(variant))
    instance = _instance(problem, names)
    params = study.Params(**experiment.params(variant))
    horizon = experiment.horizon
    walker = getattr(study, "TRAJECTORIES", {}).get(methods[0], methods[0])
    optimizer = study.METHODS[walker](instance, params, horizon, Streams.named(*names, walker))
    noise, environment = (rng_for(*names, stream) for stream in ("noise", "environment"))
    complete = getattr(instance, "complete", lambda query, rng: query)
    scorers = {
        method: study.scorer(instance, method, params, horizon, experiment.metrics)
        for method in methods
    }
    kept = set(record_steps(horizon, experiment.record_steps))
    size_of = getattr(study, "query_size", lambda query: 1)
    values, seconds, n_evals = {method: [] for method in methods}, [], 0
    for step in range(1, horizon + 1):
        start = time.perf_counter()
        query = optimizer.ask()
        asking = time.perf_counter() - start
        query = complete(query, environment)
        for scorer in scorers.values():
            scorer.asked(step, optimizer, query)
        y = instance.observe(query, noise)
        start = time.perf_counter()
        optimizer.tell(query, y)
        seconds.append(asking + time.perf_counter() - start)
        n_evals += size_of(query)
        scores = {name: scorer.told(step, optimizer, query, y) for name, scorer in scorers.items()}
        if step in kept:
            for method, found in scores.items():
                if "round_seconds" in experiment.metrics:
                    found["round_seconds"] = np.median(seconds)
                values[method] += [(step, n_evals, name, float(v)) for name, v in found.items()]
            seconds.clear()
    facts = {
        name: getattr(instance, name) for name in ("direction", "n_init", "noise_std", "optimum")
    }
    return facts, values


def _instance(problem, names):
    """Draw the problem's instance; a problem may let several seeds share one (`instance_seed`)."""
    *experiment, seed = names
    seed = getattr(problem, "instance_seed", lambda seed: seed)(seed)
    return problem.draw(rng_for(*experiment, seed, "instance"))


def optimize(optimizer, objective, budget, journal=None, progress=True, environment=None):
    """Optimise a function of your own, with a journal from which a killed run resumes.

    Parameters
    ----------
    optimizer : object with ask, tell, recommend, result
        Any optimiser of this package, freshly built with the same settings and seed as before.
    objective : callable
        ``objective(query) -> y``; evaluated once a round.
    budget : int
        Number of evaluations, those in the journal counted: a larger budget than last time
        extends the run, an equal one evaluates nothing. Without a journal, every call makes
        `budget` of them; what the optimiser was told before does not count.
    journal : path-like, optional
        Append-only file of JSON lines, written before and after each evaluation. An evaluation
        that was started and not finished is made again.
    progress : bool, optional
        Show a bar on standard error.
    environment : callable, optional
        ``environment(query) -> query`` completes a query by what nature draws, for instance x to
        (x, w), before it is evaluated and told.

    Returns
    -------
    object
        `optimizer`, after `budget` evaluations; call its `recommend()` and `result()`.

    Raises
    ------
    ValueError
        The journal belongs to another optimiser, seed or setting, or is damaged.
    """
    from tqdm import trange

    from common.journal import Journal

    try:
        budget = operator.index(budget) if not isinstance(budget, bool) else -1
    except TypeError:
        raise ValueError(f"budget must be an integer >= 0, got {budget!r}") from None
    if budget < 0:
        raise ValueError(f"budget must be an integer >= 0, got {budget!r}")
    log = Journal(journal, optimizer)
    done = min(len(log.told), budget)
    _replay(optimizer, log, done)
    for step in trange(
        done + 1, budget + 1, initial=done, total=budget, disable=not progress, desc="evaluations"
    ):
        query = optimizer.ask()
        log.begin(step, query)
        completed = query if environment is None else environment(query)
        y = objective(completed)
        optimizer.tell(completed, y)
        log.end(step, y, None if environment is None else completed)
    return optimizer


def _replay(optimizer, log, steps):
    """Bring `optimizer` to the state after some evaluations of the journal."""
    from common.journal import plain

    for asked, told in zip(log.asked[:steps], log.told[:steps], strict=True):
        query = optimizer.ask()
        if plain(query) != asked["query"]:
            raise ValueError(
                f"journal {log.path} holds query {asked['query']} at evaluation {asked['step']}, "
                f"this optimiser asks {plain(query)}: use the settings and seed it was written "
                "with, or a new file"
            )
        y = told["y"]
        optimizer.tell(told.get("told", query), np.asarray(y) if isinstance(y, list) else y)
