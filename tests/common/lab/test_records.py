"""The laws of the two tables: each one is broken once and must be named."""

import numpy as np
import pandas as pd
import pytest

from fivebo.common.lab.records import (
    KEYS,
    METRICS,
    RUN_COLUMNS,
    TRACE_COLUMNS,
    check_laws,
    record_steps,
)

KEY = ("p", "e", "q", "m", "default")


def tables(seeds=2, horizon=4, how="all"):
    runs, trace = [], []
    for seed in range(seeds):
        row = dict.fromkeys(RUN_COLUMNS) | dict(zip(KEYS, (*KEY, seed), strict=True))
        runs.append(row | {"horizon": horizon, "status": "ok", "code": "c"})
        for step in record_steps(horizon, how):
            for metric, value in (("average_regret", 1.0), ("bayes_regret", 1.0 / step)):
                trace.append((*KEY, seed, step, step, metric, value))
    return pd.DataFrame(runs), pd.DataFrame(trace, columns=TRACE_COLUMNS)


EXPECTED = [(*KEY, seed) for seed in range(2)]


@pytest.mark.parametrize("how", ["all", "log"])
def test_lawful_tables_pass(how):
    check_laws(*tables(horizon=50, how=how), EXPECTED)


def break_(runs, trace, name):
    if name == "columns":
        return runs.rename(columns={"code": "kode"}), trace
    if name == "run keys repeat":
        return pd.concat([runs, runs[:1]]), trace
    if name == "missing":
        return runs[:1], trace[trace["seed"] == 0]
    if name == "more than one code":
        return runs.assign(code=["a", "b"]), trace
    if name == "closed list":
        return runs, trace.replace({"metric": {"bayes_regret": "luck"}})
    if name == "trace keys repeat":
        return runs, pd.concat([trace, trace[:1]])
    if name == "a failed run has trace":
        return runs.assign(status=["failed", "ok"]), trace
    if name == "contiguous":
        return runs, trace[trace["step"] != 2]
    if name == "without trace":
        return runs, trace[trace["seed"] == 0]
    if name == "negative regret":
        return runs, trace.assign(value=trace["value"].where(trace["step"] != 4, -1e-6))
    if name == "bayes_regret is not monotone":
        change = (trace["step"] == 4) & (trace["metric"] == "bayes_regret")
        return runs, trace.assign(value=trace["value"].mask(change, 5.0))
    raise AssertionError(name)


@pytest.mark.parametrize(
    "law",
    [
        "columns",
        "run keys repeat",
        "missing",
        "more than one code",
        "closed list",
        "trace keys repeat",
        "a failed run has trace",
        "contiguous",
        "without trace",
        "negative regret",
        "bayes_regret is not monotone",
    ],
)
def test_each_broken_law_is_named(law):
    with pytest.raises(ValueError, match=law):
        check_laws(*break_(*tables(), law), EXPECTED)


def test_a_failed_run_is_a_row_and_breaks_no_law():
    runs, trace = tables()
    runs.loc[1, ["status", "error"]] = ["failed", "ValueError: no"]
    check_laws(runs, trace[trace["seed"] == 0], EXPECTED)


def test_rounding_below_zero_is_no_negative_regret():
    runs, trace = tables()
    check_laws(runs, trace.assign(value=np.where(trace["metric"] == "average_regret", -1e-12, 0)))


def test_recorded_steps():
    assert record_steps(5, "all") == (1, 2, 3, 4, 5)
    steps = record_steps(5000, "log")
    assert (steps[0], steps[-1]) == (1, 5000)
    assert 30 <= len(steps) <= 41
    assert record_steps(1, "log") == (1,)
    with pytest.raises(ValueError, match="'some'"):
        record_steps(5, "some")


def test_every_metric_is_described():
    for name, metric in METRICS.items():
        assert metric.direction in ("min", "max", "none"), name
        assert metric.symbol, name
        assert metric.definition, name
        assert metric.monotone in (-1, 0, 1), name
