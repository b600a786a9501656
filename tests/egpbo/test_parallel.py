"""Synchronous and asynchronous workers, simulated and real."""

import threading
import time

import numpy as np
import pytest

from fivebo.egpbo import (
    EGPEI,
    EGPTS,
    EXP3BO,
    GPEI,
    BanditBO,
    Kernel,
    RandomSearch,
    Search,
    SimulatedWorkers,
    run_workers,
)
from fivebo.egpbo.evidence import FitSettings
from fivebo.egpbo.parallel import DURATIONS
from tests.egpbo.oracles import phi

BOX = [[-2.0, 2.0], [0.0, 1.0]]


def make(seed=5, **more):
    settings = {"n_init": 4, "n_features": 12, "refit_every": 6, "rng": seed} | more
    return EGPTS(
        BOX, [Kernel("rbf", length_scale=s) for s in (0.1, 0.4)],
        search=Search(n_screen=40, n_polish=1), fits=FitSettings(restarts=0), **settings,
    )  # fmt: skip


def f(x):
    return float(np.sin(3 * x[0]) - (x[1] - 0.4) ** 2)


def drive(workers, rounds):
    for _ in range(rounds):
        x = workers.ask()
        np.testing.assert_array_equal(x, workers.ask())
        workers.tell(x, f(x))
    return workers.result()


@pytest.mark.paper("egpbo", "alg1-workers", "alg2-dispatch")
def test_one_worker_is_the_sequential_method_in_both_modes():
    sequential = make()
    for _ in range(16):
        x = sequential.ask()
        sequential.tell(x, f(x))
    for mode in ("sync", "async"):
        workers = SimulatedWorkers(make(), 1, mode, rng=np.random.default_rng(0))
        assert drive(workers, 16).equals(sequential.result())
    for mode in ("sync", "async"):
        real = make()
        assert run_workers(real, f, 16, 1, mode=mode).empty
        assert real.result().equals(sequential.result())


@pytest.mark.paper("egpbo", "alg1-workers")
def test_a_synchronous_round_uses_one_posterior():
    optimizer = make()
    for _ in range(4):
        optimizer.tell(optimizer.ask(), f(optimizer.pending[-1].x))
    X = optimizer.ask(3)
    assert X.shape == (3, 2)
    assert len(np.unique(X, axis=0)) == 3
    theta = optimizer.ensemble.theta.copy()
    one_by_one = make()
    for _ in range(4):
        one_by_one.tell(one_by_one.ask(), f(one_by_one.pending[-1].x))
    np.testing.assert_array_equal(X, [one_by_one.ask() for _ in range(3)])
    np.testing.assert_array_equal(theta, one_by_one.ensemble.theta)
    for x in X[::-1]:  # in any order
        optimizer.tell(x, f(x))
    for x in X:
        one_by_one.tell(x, f(x))
    np.testing.assert_allclose(optimizer.ensemble.theta, one_by_one.ensemble.theta, atol=1e-10)
    np.testing.assert_allclose(optimizer.weights, one_by_one.weights, atol=1e-10)


@pytest.mark.paper("egpbo", "alg2-update", "alg2-pending")
def test_a_returning_worker_gets_a_query_from_the_updated_posterior():
    optimizer = make()
    for _ in range(4):
        optimizer.tell(optimizer.ask(), f(optimizer.pending[-1].x))
    first, second = optimizer.ask(), optimizer.ask()
    before = optimizer.ensemble.theta.copy()
    optimizer.tell(second, f(second))  # out of order
    assert not np.array_equal(before, optimizer.ensemble.theta)
    optimizer.ask()
    assert len(optimizer.pending) == 2
    np.testing.assert_array_equal(optimizer.pending[0].x, first)
    model = optimizer.ensemble
    u = optimizer.scaling.x(second)
    assert model.features(u)[0] == pytest.approx(phi(u, model.V[0]))


@pytest.mark.paper("egpbo", "s3-refit-count")
def test_refits_count_evaluations_not_rounds():
    optimizer = make()
    workers = SimulatedWorkers(optimizer, 3, "sync", rng=np.random.default_rng(0))
    drive(workers, 4 + 6)
    workers.ask()
    assert optimizer._fitted_at == 10


@pytest.mark.paper("egpbo", "s3-durations")
@pytest.mark.parametrize("law", DURATIONS)
def test_durations_have_mean_one(law):
    rng = np.random.default_rng(0)
    drawn = [DURATIONS[law](rng) for _ in range(20_000)]
    assert np.mean(drawn) == pytest.approx(1, abs=0.03)
    assert min(drawn) >= 0


def test_the_clock_runs_and_asynchronous_workers_idle_less():
    clocks = {}
    for mode in ("sync", "async"):
        workers = SimulatedWorkers(make(), 4, mode, rng=np.random.default_rng(1))
        times = []
        for _ in range(40):
            x = workers.ask()
            workers.tell(x, f(x))
            times.append(workers.clock)
        assert (np.diff(times) >= 0).all() or mode == "sync"
        clocks[mode] = times[-1]
    assert clocks["async"] < 0.75 * clocks["sync"]
    alone = SimulatedWorkers(make(), 1, "async", rng=np.random.default_rng(1))
    drive(alone, 40)
    assert clocks["async"] < 0.5 * alone.clock


def test_the_initial_design_is_the_same_for_every_number_of_workers():
    expected = make().streams.initial.random((4, 2))
    for k in (1, 3, 8):
        workers = SimulatedWorkers(make(), k, "async", rng=np.random.default_rng(2))
        frame = drive(workers, 12)
        initial = frame[frame["component"].isna()][["x_1", "x_2"]].to_numpy()
        found = np.sort(make().box.to_unit(initial), axis=0)
        np.testing.assert_allclose(found, np.sort(expected, axis=0), atol=1e-12)


def test_only_the_query_that_finishes_next_can_be_told():
    workers = SimulatedWorkers(make(), 2, "async", rng=np.random.default_rng(0))
    workers.ask()
    with pytest.raises(ValueError, match="finishes next"):
        workers.tell([0.0, 0.0], 1.0)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_worker_that_fails_does_not_stop_the_others(mode):
    lock, seen = threading.Lock(), []

    def unstable(x):
        with lock:
            seen.append(x)
            n = len(seen)
        time.sleep(0.002)
        if n == 3:
            raise RuntimeError("out of memory")
        if n == 7:
            return float("nan")
        if n == 9:
            return None
        return f(x)

    optimizer = make()
    failures = run_workers(optimizer, unstable, 24, 4, mode=mode)
    assert len(seen) == len(optimizer.result()) == 24
    assert len(failures) == 3
    text = " ".join(failures["error"])
    assert "RuntimeError: out of memory" in text
    assert "finite" in text
    assert "None" in text
    told = optimizer.result()
    assert (told["status"] == "failed").sum() == 3
    failed = told[told["status"] == "failed"][["x_1", "x_2"]].to_numpy()
    for x in failures["x"]:
        assert (failed == x).all(1).any()
    assert not optimizer.pending
    assert np.isfinite(optimizer.weights).all()


def test_all_workers_failing_ends_the_run():
    def broken(x):
        raise ValueError("never")

    assert len(run_workers(make(), broken, 9, 4)) == 9


def test_an_interrupt_is_not_a_failed_evaluation():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_workers(make(), interrupted, 3, 2)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_workers": 0}, "n_workers"),
        ({"mode": "both"}, "mode"),
        ({"durations": "normal"}, "durations"),
    ],
)
def test_bad_settings_are_refused(settings, match):
    given = {"n_workers": 2, "mode": "async"} | settings
    with pytest.raises(ValueError, match=match):
        SimulatedWorkers(make(), rng=np.random.default_rng(0), **given)
    if "durations" not in settings:
        with pytest.raises(ValueError, match=match):
            run_workers(make(), f, 3, **given)
    with pytest.raises(ValueError, match="budget"):
        run_workers(make(), f, -1)


SEQUENTIAL = {
    "BanditBO": BanditBO, "EGPEI": EGPEI, "GPEI": GPEI, "RandomSearch": RandomSearch,
    "EXP3BO": lambda box, **more: EXP3BO(box, horizon=9, **more),
}  # fmt: skip


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_sequential_methods_do_not_hand_one_query_to_several_workers(name):
    optimizer = SEQUENTIAL[name](BOX, n_init=4, rng=0)
    calls = []
    with pytest.raises(ValueError, match=f"{name} hands out one query .* n_workers=1"):
        run_workers(optimizer, lambda x: calls.append(x) or f(x), 6, 2)
    with pytest.raises(ValueError, match="n_workers=1"):
        SimulatedWorkers(optimizer, 2, "async", rng=0)
    assert not calls
    assert run_workers(optimizer, f, 5, 1).empty
    assert len(optimizer.result()) == 5


def test_workers_need_an_optimiser():
    nested = SimulatedWorkers(make(), 2, "sync", rng=0)
    with pytest.raises(TypeError, match="ask and tell, got SimulatedWorkers"):
        run_workers(nested, f, 3, 2)


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize(
    ("y", "error"), [(np.nan, ValueError), ("good", TypeError), ([1.0, 2.0], ValueError)]
)
def test_bad_input_to_simulated_workers_is_refused_at_once(mode, y, error):
    pair = [SimulatedWorkers(make(), 4, mode, rng=0) for _ in range(2)]
    for workers in pair:
        drive(workers, 6)
    with pytest.raises(error, match=r"tell\(query, None\)|one number"):
        pair[0].tell(pair[0].ask(), y)
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        pair[0].tell([0.1], 1.0)
    assert drive(pair[0], 9).equals(drive(pair[1], 9))


def test_nothing_is_told_before_it_is_asked():
    with pytest.raises(ValueError, match=r"ask\(\) first"):
        SimulatedWorkers(make(), 2, "sync", rng=0).tell([0.0, 0.5], 1.0)


def test_integers_of_numpy_are_integers():
    optimizer = make(n_init=np.int64(3), n_features=np.int32(8), refit_every=np.int64(6))
    assert run_workers(optimizer, f, np.int64(5), np.int64(2)).empty
    assert optimizer.ask(np.int64(3)).shape == (3, 2)
    for wrong in (3.0, True, "3", 0):
        with pytest.raises(ValueError, match="n must be an integer >= 1"):
            optimizer.ask(wrong)
