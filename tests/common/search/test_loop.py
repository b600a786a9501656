"""One loop for one worker and many: failures, time-outs, deaths, batches, the order of answers."""

import os
import pickle
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from fivebo.common.search.loop import optimize
from tests.common.search.toys import Handful, Scatter, Walk

BOX = [[0.0, 1.0]]
GRID = np.linspace(0, 1, 21)


def f(x):
    return float(x.sum())


def changing(x):
    x *= 10
    return float(x.sum()) / 10


def failing(x):
    if x[0] > 0.6:
        raise ValueError("too hot")
    return None if x[0] < 0.2 else float(x.sum())


def dying(x):
    if 0.3 < x[0] < 0.4:
        os.kill(os.getpid(), signal.SIGKILL)
    return float(x.sum())


def slow(x):
    time.sleep(30 if 0.3 < x[0] < 0.4 else 0)
    return float(x.sum())


def run(objective, budget=12, kind=Scatter, **options):
    domain = GRID if kind is Walk else BOX
    return optimize(kind(domain), objective, budget, progress=False, **options)


@pytest.mark.parametrize("options", [{}, {"n_workers": 3}, {"workers": "processes"}])
def test_an_objective_that_changes_its_argument_changes_nothing(options):
    assert run(changing, **options).result()["x_1"].max() <= 1
    by_query = run(f, **options).result().sort_values("x_1")["y"]
    np.testing.assert_allclose(run(changing, **options).result().sort_values("x_1")["y"], by_query)


@pytest.mark.parametrize("kind", [Walk, Scatter])
def test_failures_are_kept_and_the_search_goes_on(kind):
    found = run(failing, kind=kind)
    frame = found.result()
    expected = (frame["x_1"] > 0.6) | (frame["x_1"] < 0.2)
    assert (frame["status"] == "failed").tolist() == expected.tolist()
    assert 0 < expected.sum() < 12
    assert found.pending == []


def test_reasons_are_printed_beside_the_bar(capsys):
    optimize(Scatter(BOX), failing, 8)
    said = capsys.readouterr().err
    assert "failed: ValueError: too hot" in said
    assert "8/8" in said


def test_an_objective_that_always_fails_ends_the_run():
    optimizer = Walk(GRID)
    with pytest.raises(RuntimeError, match=r"last 4 evaluations all failed.*NameError.*mend"):
        optimize(optimizer, lambda x: unknown, 12, progress=False, max_failures=4)  # noqa: F821
    assert len(optimizer.told) == 4


@pytest.mark.parametrize("n_workers", [1, 3])
def test_a_process_that_dies_is_one_failed_evaluation(n_workers):
    found = run(dying, n_workers=n_workers, workers="processes")
    frame = found.result()
    inside = frame["x_1"].between(0.3, 0.4)
    assert (frame["status"] == "failed").tolist() == inside.tolist()
    assert inside.any()
    assert (len(frame), found.pending) == (12, [])


def test_a_broken_pool_of_the_user_is_made_anew_and_its_work_done_again():
    with ProcessPoolExecutor(2) as pool:
        found = run(dying, n_workers=2, workers=pool)
    frame = found.result()
    assert (frame["status"] == "failed").tolist() == frame["x_1"].between(0.3, 0.4).tolist()
    assert found.pending == []


def test_an_evaluation_that_takes_too_long_is_stopped():
    start = time.monotonic()
    frame = run(slow, n_workers=2, timeout=0.5).result()
    assert time.monotonic() - start < 20
    assert (frame["status"] == "failed").tolist() == frame["x_1"].between(0.3, 0.4).tolist()


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"workers": "processes"}, TypeError, "cannot be sent to another process.*threads"),
        ({"timeout": 1.0}, TypeError, "cannot be sent"),
        ({"timeout": 1.0, "workers": "threads"}, ValueError, "needs workers='processes'"),
        ({"timeout": -1.0}, ValueError, "timeout must lie in"),
        ({"workers": "thread"}, ValueError, "did you mean 'threads'"),
        ({"mode": "asynch"}, ValueError, "did you mean 'async'"),
        ({"n_workers": 0}, ValueError, "n_workers must be an integer >= 1"),
        ({"n_workers": 2, "kind": Walk}, ValueError, "Walk hands out one query until it is told"),
    ],
)
def test_what_cannot_run_is_refused_before_the_first_evaluation(options, error, match):
    calls = []
    with pytest.raises(error, match=match):
        run(lambda x: calls.append(x) or 1.0, **options)
    assert calls == []


@pytest.mark.parametrize("budget", [True, 2.5, "3", None])
def test_a_budget_is_a_count(budget):
    with pytest.raises(TypeError, match=f"budget must be an integer >= 0, got {budget!r}"):
        run(f, budget)
    with pytest.raises(ValueError, match="budget must be an integer >= 0, got -1"):
        run(f, -1)
    assert len(run(f, np.int64(2)).told) == 2
    assert len(run(f, 0).told) == 0


def test_workers_really_work_at_the_same_time():
    together = threading.Barrier(3, timeout=10)

    def meeting(x):
        together.wait()
        return float(x.sum())

    assert len(run(meeting, n_workers=3, mode="sync").told) == 12


def test_one_worker_in_either_mode_is_the_sequential_loop():
    plain = run(f).result()
    for options in ({"mode": "sync"}, {"workers": "processes"}, {"n_workers": 1, "mode": "async"}):
        assert run(f, **options).result().equals(plain)


def test_synchronous_answers_come_in_the_order_of_asking():
    calls = iter(range(100))

    def later_is_faster(x):
        time.sleep(0.05 if next(calls) % 2 == 0 else 0.0)
        return float(x.sum())

    asked = [float(x[0]) for x in Scatter(BOX).ask(12)]
    assert run(later_is_faster, n_workers=2, mode="sync").result()["x_1"].tolist() == asked


def test_an_executor_of_the_user_is_left_running():
    with ThreadPoolExecutor(2) as pool:
        run(f, n_workers=2, workers=pool)
        assert pool.submit(f, np.ones(1)).result() == 1.0


def test_a_query_that_is_out_already_comes_first():
    walk = Walk(GRID)
    x = walk.ask()
    optimize(walk, f, 3, progress=False)
    assert walk.result()["x_1"][0] == x[0]


def test_nature_completes_what_was_asked_and_the_query_is_answered():
    found = optimize(Scatter(BOX), f, 6, progress=False, environment=lambda x: x.round(1))
    np.testing.assert_array_equal(found.result()["x_1"], found.result()["x_1"].round(1))
    assert found.result()["x_1"].nunique() > 1
    assert found.pending == []


@pytest.mark.parametrize("n_workers", [1, 3])
def test_a_batch_is_whole_for_one_worker_and_divided_among_several(n_workers):
    sizes = []

    def measure(batch):
        sizes.append(len(batch))
        return batch[:, 0]

    found = run(measure, 4, Handful, n_workers=n_workers)
    assert len(found.told) == 4
    assert sizes == ([3] * 4 if n_workers == 1 else [1] * 12)
    expected = [max(b[:, 0]) for b in (entry.query for entry in found.told)]
    assert found.result()["best"].tolist() == expected


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"optimizer": None}, "optimizer must be built first, .* got None"),
        ({"optimizer": Walk}, "optimizer must be built first"),
        ({"objective": None}, "objective must be a function of the query, got None"),
        ({"objective": "f"}, "objective must be a function of the query, got 'f'"),
        ({"environment": 3}, "environment must be a function of the query, got 3"),
    ],
)
def test_what_is_no_function_or_no_optimiser_is_refused_at_once(change, match, tmp_path):
    optimizer = Walk(GRID)
    before = pickle.dumps(optimizer)
    given = {"optimizer": optimizer, "objective": f} | change
    with pytest.raises(TypeError, match=match):
        optimize(budget=3, journal=tmp_path / "j", progress=False, **given)
    assert pickle.dumps(optimizer) == before
    assert not (tmp_path / "j").exists()


def test_an_objective_no_pool_of_processes_can_take_is_refused_at_once():
    with ProcessPoolExecutor(1) as pool, pytest.raises(TypeError, match="cannot be sent"):
        optimize(Walk(GRID), lambda x: 1.0, 12, workers=pool, progress=False)


def test_what_nature_makes_no_query_of_is_refused_before_it_is_evaluated():
    for done in (lambda x: None, lambda x: x + 10):
        with pytest.raises((TypeError, ValueError), match=r"environment\(.*\) must give a query"):
            optimize(Scatter(BOX), pytest.fail, 3, environment=done, progress=False)


def test_a_parallel_search_goes_on_with_what_was_out_when_it_was_interrupted(tmp_path):
    def interrupted(x):
        raise KeyboardInterrupt

    optimizer, path = Scatter(BOX), tmp_path / "j"
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            optimize(optimizer, interrupted, 4, path, progress=False)
    optimize(optimizer, f, 4, path, progress=False)
    assert optimizer.pending == []
    assert optimizer.result().equals(optimize(Scatter(BOX), f, 4, progress=False).result())


@pytest.mark.parametrize("kind", [np.longdouble, np.float32, lambda y: np.array([[y]])])
def test_a_value_of_an_odd_kind_is_taken_and_written(kind, tmp_path):
    once = optimize(Walk(GRID), lambda x: kind(x[0]), 3, tmp_path / "j", progress=False)
    again = optimize(Walk(GRID), pytest.fail, 3, tmp_path / "j", progress=False)
    assert set(once.result()["status"]) == {"ok"}
    assert again.result().equals(once.result())
