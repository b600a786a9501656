"""The loop: one run of an experiment with its metrics, or a user's function with a journal."""

import json
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

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
    import pandas as pd
    from threadpoolctl import threadpool_info, threadpool_limits

    key = dict(zip(KEYS, _key(experiment, method, variant, seed), strict=True))
    row = dict.fromkeys(RUN_COLUMNS) | key
    row |= {"horizon": experiment.horizon, "code": code, "status": "ok", "error": ""}
    row |= {"started": datetime.now(UTC).isoformat(timespec="seconds")}
    row["params"] = json.dumps(
        {"problem": experiment.problem_params(variant), "method": experiment.params(variant)},
        sort_keys=True,
    )
    start, values = time.perf_counter(), []
    with threadpool_limits(1):
        try:
            facts, values = _loop(study, experiment, method, variant, seed)
            row |= facts
        except (OSError, SurroundingsError):
            raise
        except Exception as error:
            row |= {"status": "failed", "error": f"{type(error).__name__}: {error}"}
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        row["blas_threads"] = max((pool["num_threads"] for pool in pools), default=1)
    row["wall_s"] = time.perf_counter() - start
    trace = pd.DataFrame(values, columns=["step", "n_evals", "metric", "value"])
    for name, value in key.items():
        trace[name] = value
    return row, trace[TRACE_COLUMNS]


def _key(experiment, method, variant, seed):
    return (experiment.paper, experiment.name, experiment.problem, method, variant, seed)


def _loop(study, experiment, method, variant, seed):
    names = (experiment.paper, experiment.name, experiment.problem, seed)
    problem = study.PROBLEMS[experiment.problem](**experiment.problem_params(variant))
    instance = problem.draw(rng_for(*names, "instance"))
    params = study.Params(**experiment.params(variant))
    horizon = experiment.horizon
    optimizer = study.METHODS[method](instance, params, horizon, Streams.named(*names, method))
    noise = rng_for(*names, "noise")
    scorer = study.scorer(instance, method, params, horizon, experiment.metrics)
    kept = set(record_steps(horizon, experiment.record_steps))
    values, seconds = [], []
    for step in range(1, horizon + 1):
        start = time.perf_counter()
        query = optimizer.ask()
        asking = time.perf_counter() - start
        scorer.asked(step, optimizer, query)
        y = instance.observe(query, noise)
        start = time.perf_counter()
        optimizer.tell(query, y)
        seconds.append(asking + time.perf_counter() - start)
        scores = scorer.told(step, optimizer, query, y)
        if step in kept:
            if "round_seconds" in experiment.metrics:
                scores["round_seconds"] = np.median(seconds)
            seconds.clear()
            values += [(step, step, name, float(value)) for name, value in scores.items()]
    facts = {
        name: getattr(instance, name) for name in ("direction", "n_init", "noise_std", "optimum")
    }
    return facts, values


def optimize(optimizer, objective, budget, journal=None, progress=True):
    """Optimise a function of your own, with a journal from which a killed run resumes.

    Parameters
    ----------
    optimizer : object with ask, tell, recommend, result
        Any optimiser of this package, freshly built with the same settings and seed as before.
    objective : callable
        ``objective(query) -> y``; evaluated once a round.
    budget : int
        Number of evaluations in all. A larger budget than last time extends the run, an equal
        one evaluates nothing.
    journal : path-like, optional
        Append-only file of JSON lines, written before and after each evaluation. An evaluation
        that was started and not finished is made again.
    progress : bool, optional
        Show a bar on standard error.

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

    if not isinstance(budget, int) or isinstance(budget, bool) or budget < 0:
        raise ValueError(f"budget must be an integer >= 0, got {budget!r}")
    done = _replay(optimizer, journal, budget)
    for step in trange(
        done + 1, budget + 1, initial=done, total=budget, disable=not progress, desc="evaluations"
    ):
        query = optimizer.ask()
        _append(journal, {"step": step, "query": _plain(query)})
        y = objective(query)
        optimizer.tell(query, y)
        _append(journal, {"step": step, "y": _plain(y)})
    return optimizer


def _replay(optimizer, journal, budget):
    """Bring `optimizer` to the state the journal left; return the number of evaluations."""
    if journal is None or not Path(journal).exists():
        return 0
    text = Path(journal).read_text()
    lines = text.splitlines()
    if lines and not text.endswith("\n"):  # the line that a kill cut short
        lines.pop()
        Path(journal).write_text("".join(f"{line}\n" for line in lines))
    try:
        entries = [json.loads(line) for line in lines]
    except json.JSONDecodeError as error:
        raise ValueError(f"journal {journal} is damaged ({error}); restore or remove it") from None
    told = {entry["step"]: entry["y"] for entry in entries if "y" in entry}
    asked = {entry["step"]: entry["query"] for entry in entries if "query" in entry}
    for step in range(1, min(len(told), budget) + 1):
        query = optimizer.ask()
        if _plain(query) != asked[step]:
            raise ValueError(
                f"journal {journal} holds query {asked[step]} at evaluation {step}, this optimiser "
                f"asks {_plain(query)}: use the settings and seed it was written with, or a new "
                "file"
            )
        optimizer.tell(
            query, np.asarray(told[step]) if isinstance(told[step], list) else told[step]
        )
    return min(len(told), budget)


def _append(journal, entry):
    if journal is None:
        return
    with open(journal, "a") as file:
        file.write(json.dumps(entry) + "\n")
        file.flush()


def _plain(value):
    """Return arrays, tuples and dataclasses as JSON holds them; floats survive bit for bit."""
    if hasattr(value, "__dataclass_fields__"):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value
