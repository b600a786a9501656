"""The two result tables: their columns, the steps they keep, and the laws they obey."""

from fivebo.common.lab.metrics import METRICS

KEYS = ["paper", "experiment", "problem", "method", "variant", "seed"]
RUN_COLUMNS = [
    *KEYS,
    *("direction", "horizon", "n_init", "noise_std", "optimum", "params", "status", "error"),
    *("failed_fits", "fits_at_limit", "wall_s", "code", "started", "blas_threads"),
]
"""Columns of `runs`, a row a run. `params` is JSON: what the variant changes of problem and method.
`status` is ok or failed, then with an `error` and no facts of the run. `failed_fits` counts the
fits of a model's hyperparameters that failed, `fits_at_limit` those that ended at a limit of their
search. `code` is the fingerprint of the method's code (see `stamps`), `started` the time in UTC.
"""

TRACE_COLUMNS = [*KEYS, "step", "n_evals", "metric", "value"]

STEP_GRIDS = ("all", "log")


def record_steps(horizon, how):
    """Return the steps a trace keeps, as a tuple of increasing ints from 1 to `horizon`.

    Parameters
    ----------
    horizon : int
    how : {"all", "log"}
        Every step, or about 40 log-spaced ones with the first and the last.
    """
    if how == "all":
        return tuple(range(1, horizon + 1))
    if how == "log":
        grid = {round(horizon ** (i / 40)) for i in range(41)}
        return tuple(sorted(grid))
    raise ValueError(f"record_steps must be one of {', '.join(STEP_GRIDS)}, got {how!r}")


def check_laws(runs, trace, expected=None):
    """Raise ValueError listing every law that the two tables break.

    Parameters
    ----------
    runs, trace : DataFrame
        Tables with the columns `RUN_COLUMNS` and `TRACE_COLUMNS`.
    expected : iterable of tuple, optional
        Keys (in the order of `KEYS`) that must be present.
    """
    broken = [
        f"{name} table has columns {list(frame.columns)}, must have {columns}"
        for name, frame, columns in (("runs", runs, RUN_COLUMNS), ("trace", trace, TRACE_COLUMNS))
        if list(frame.columns) != columns
    ]
    if not broken:
        broken = list(_run_laws(runs, expected))
        if not runs.duplicated(KEYS).any():
            broken += _trace_laws(runs, trace)
    if broken:
        raise ValueError("results break the laws of the tables:\n- " + "\n- ".join(broken))


def _run_laws(runs, expected):
    if runs.duplicated(KEYS).any():
        yield f"run keys repeat: {_first_key(runs[runs.duplicated(KEYS)])}"
    if expected is not None:
        missing = set(expected) - set(runs[KEYS].itertuples(index=False, name=None))
        if missing:
            yield f"{len(missing)} configured run(s) missing, first {min(missing)}"
    codes = runs.groupby(["experiment", "variant", "method"])["code"].nunique()
    for unit in codes.index[codes > 1]:
        yield f"more than one code version of {', '.join(unit)}"


def _trace_laws(runs, trace):
    unknown = set(trace["metric"]) - set(METRICS)
    if unknown:
        yield f"metrics outside the closed list: {sorted(unknown)}"
        return
    cell = [*KEYS, "metric"]
    if trace.duplicated([*cell, "step"]).any():
        yield f"trace keys repeat: {_first_key(trace[trace.duplicated([*cell, 'step'])])}"
        return
    failed = runs.loc[runs["status"] == "failed", KEYS]
    if len(failed) and len(trace.merge(failed, on=KEYS)):
        yield "a failed run has trace rows"
    yield from _step_laws(runs, trace)
    values = trace["value"].to_numpy()
    lowest = trace["metric"].map(
        {name: -1e-9 if m.regret else -float("inf") for name, m in METRICS.items()}
    )
    if (values < lowest.to_numpy()).any():
        yield f"negative regret: {_first_key(trace[values < lowest.to_numpy()])}"
    for name, metric in METRICS.items():
        part = trace[trace["metric"] == name]
        if metric.monotone and len(part):
            change = part.sort_values([*KEYS, "step"]).groupby(KEYS, sort=False)["value"].diff()
            if (metric.monotone * change < -1e-9).any():
                yield f"{name} is not monotone"


def _step_laws(runs, trace):
    """All metrics of a finished run hold the same steps: all of them, or the log-spaced ones."""
    horizons = runs[runs["status"] == "ok"].set_index(KEYS)["horizon"]
    recorded = trace.groupby([*KEYS, "metric"], sort=False)["step"].agg(tuple)
    allowed = {h: {record_steps(h, how) for how in STEP_GRIDS} for h in horizons.unique()}
    for cell, steps in recorded.items():
        horizon = horizons.get(cell[:-1])
        if horizon is None or tuple(sorted(steps)) not in allowed[horizon]:
            yield f"steps not contiguous: {cell} has {len(steps)} of horizon {horizon}"
            return
    if missing := set(horizons.index) - {cell[:-1] for cell in recorded.index}:
        yield f"finished runs without trace: {min(missing)}"


def _first_key(frame):
    return tuple(frame.iloc[0][KEYS])
