"""The run of one seed of an experiment, scored at every step."""

import json
import time
from datetime import UTC, datetime

import numpy as np

from fivebo.common.files import SurroundingsError
from fivebo.common.lab.records import KEYS, RUN_COLUMNS, TRACE_COLUMNS, record_steps
from fivebo.common.search.rng import Streams, rng_for


def run_seed(study, experiment, *, method, variant, seed):
    """Run one method on one seed of an experiment and score it at every step.

    Parameters
    ----------
    study : module
        The paper's `study` module.
    experiment : fivebo.common.lab.experiments.Experiment
        Resolved at a scale.
    method, variant : str
    seed : int

    Returns
    -------
    row : dict
        One row of the runs table; `code` is left to the caller. An exception inside the run gives
        status "failed" and its text.
    trace : DataFrame
        Rows of the trace table; none if the run failed.

    Raises
    ------
    OSError, SurroundingsError
        The surroundings failed (disk, data file): not a result of the method.
    """
    return run_trajectory(study, experiment, methods=[method], variant=variant, seed=seed)[0]


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


def run_trajectory(study, experiment, *, methods, variant, seed):
    """Run methods that share their queries once, and score each of them at every step.

    Parameters
    ----------
    study, experiment, variant, seed
        As in `run_seed`.
    methods : sequence of str
        One of the groups of `trajectories`.

    Returns
    -------
    list of (dict, DataFrame)
        Row and trace of each method, as in `run_seed`; all have the time of the one run.
    """
    from threadpoolctl import threadpool_info, threadpool_limits

    facts = {"horizon": experiment.horizon, "status": "ok", "error": ""}
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


def prepare(study, experiment, methods, variant, seed):
    """Build all that a run needs: the instance, one optimiser, and a scorer for each method.

    Parameters
    ----------
    study, experiment, methods, variant, seed
        As in `run_trajectory`.

    Returns
    -------
    instance : object
    optimizer : object
    scorers : dict of str to object
    """
    names = (experiment.paper, experiment.name, experiment.problem, seed)
    problem = study.PROBLEMS[experiment.problem](**experiment.problem_params(variant))
    instance = _instance(problem, names)
    params = study.Params(**experiment.params(variant))
    horizon = experiment.horizon
    walker = getattr(study, "TRAJECTORIES", {}).get(methods[0], methods[0])
    optimizer = study.METHODS[walker](instance, params, horizon, Streams.named(*names, walker))
    scorers = {
        method: study.scorer(instance, method, params, horizon, experiment.metrics)
        for method in methods
    }
    return instance, optimizer, scorers


def _loop(study, experiment, methods, variant, seed):
    instance, optimizer, scorers = prepare(study, experiment, methods, variant, seed)
    names, horizon = (
        (experiment.paper, experiment.name, experiment.problem, seed),
        experiment.horizon,
    )
    noise, environment = (rng_for(*names, stream) for stream in ("noise", "environment"))
    complete = getattr(instance, "complete", lambda query, rng: query)
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
    facts["failed_fits"] = int(getattr(optimizer, "n_failed_fits", 0))
    facts["fits_at_limit"] = int(getattr(optimizer, "n_fits_at_limit", 0))
    return facts, values


def _instance(problem, names):
    """Draw the problem's instance; a problem may let several seeds share one (`instance_seed`)."""
    *experiment, seed = names
    seed = getattr(problem, "instance_seed", lambda seed: seed)(seed)
    return problem.draw(rng_for(*experiment, seed, "instance"))
