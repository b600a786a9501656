"""One run of an experiment: paired streams, failures as rows, the caller's generator untouched."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from fivebo.common.files import SurroundingsError
from fivebo.common.lab.experiments import load_paper
from fivebo.common.lab.records import RUN_COLUMNS, TRACE_COLUMNS
from fivebo.common.lab.runner import run_seed
from fivebo.mtbo import study


@pytest.fixture(scope="module")
def experiment():
    return load_paper("mtbo", "smoke").experiments["fig1b"]


def run(experiment, method="mt-kb", seed=0, plugin=study):
    return run_seed(plugin, experiment, method=method, variant="default", seed=seed)


def test_row_and_trace_have_the_contracts_columns(experiment):
    row, trace = run(experiment)
    assert list(row) == RUN_COLUMNS
    assert list(trace.columns) == TRACE_COLUMNS
    assert (row["status"], row["error"], row["direction"], row["noise_std"]) == (
        "ok",
        "",
        "max",
        0.1,
    )
    assert row["blas_threads"] == 1
    assert set(trace["metric"]) == set(experiment.metrics) - {"dictionary_size"}
    assert sorted(set(trace["step"])) == list(range(1, experiment.horizon + 1))


def test_same_seed_same_bits_and_another_seed_other_numbers(experiment):
    first, second = run(experiment)[1], run(experiment)[1]
    assert first.equals(second)
    assert not first["value"].equals(run(experiment, seed=1)[1]["value"])


def test_methods_of_a_seed_face_the_same_problem_and_first_query(experiment):
    """Regret of the first round is equal: same f, same weights, same first query."""
    first = {
        method: run(experiment, method)[1].query("step == 1 and metric == 'average_regret'")
        for method in experiment.method_names
    }
    assert len({float(frame["value"].iloc[0]) for frame in first.values()}) == 1


def test_a_run_leaves_the_global_generator_alone(experiment):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    for method in experiment.method_names:
        run(experiment, method)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


class Plugin:
    """The study with one method that fails in its third round."""

    PROBLEMS, Params, scorer = study.PROBLEMS, study.Params, study.scorer

    def __init__(self, error):
        def build(*args):
            optimizer = study.METHODS["mt-kb"](*args)
            tell = optimizer.tell

            def failing(query, y):
                if len(optimizer.result()) == 2:
                    raise error
                tell(query, y)

            optimizer.tell = failing
            return optimizer

        self.METHODS = {"mt-kb": build}


def test_a_failure_is_a_row_with_its_reason(experiment):
    row, trace = run(experiment, plugin=Plugin(FloatingPointError("variance below rounding")))
    assert (row["status"], row["error"]) == (
        "failed",
        "FloatingPointError: variance below rounding",
    )
    assert list(row) == RUN_COLUMNS
    assert len(trace) == 0


@pytest.mark.parametrize("error", [OSError("disk"), SurroundingsError("data"), KeyboardInterrupt()])
def test_the_surroundings_stop_the_job(experiment, error):
    with pytest.raises(type(error)):
        run(experiment, plugin=Plugin(error))


def test_sparse_recording_keeps_the_same_values(experiment):
    longer = dataclasses.replace(experiment, horizon=60)
    sparse = dataclasses.replace(longer, record_steps="log")
    full, few = run(longer)[1], run(sparse)[1]
    assert len(few) < len(full)
    joined = few.merge(full, on=[*TRACE_COLUMNS[:-1]], suffixes=("", "_full"))
    assert len(joined) == len(few)
    np.testing.assert_array_equal(joined["value"], joined["value_full"])


def test_evaluations_are_counted_by_the_size_of_a_query(experiment):
    batched = dict(vars(study)) | {"query_size": lambda query: 7}
    _, trace = run(experiment, plugin=SimpleNamespace(**batched))
    assert (trace["n_evals"] == 7 * trace["step"]).all()
    assert (run(experiment)[1]["n_evals"] == run(experiment)[1]["step"]).all()
