"""Synchronous and asynchronous workers, simulated and real."""

import copy
import pickle

import numpy as np
import pytest

from fivebo.common.search.loop import optimize
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
        real = optimize(make(), f, 16, mode=mode, progress=False)
        assert real.result().equals(sequential.result())


@pytest.mark.paper("egpbo", "alg1-workers")
def test_a_synchronous_round_uses_one_posterior():
    optimizer = make()
    for _ in range(4):
        optimizer.tell(optimizer.ask(), f(optimizer.pending[-1].query))
    X = optimizer.ask(3)
    assert X.shape == (3, 2)
    assert len(np.unique(X, axis=0)) == 3
    theta = optimizer.ensemble.theta.copy()
    one_by_one = make()
    for _ in range(4):
        one_by_one.tell(one_by_one.ask(), f(one_by_one.pending[-1].query))
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
        optimizer.tell(optimizer.ask(), f(optimizer.pending[-1].query))
    first, second = optimizer.ask(), optimizer.ask()
    before = optimizer.ensemble.theta.copy()
    optimizer.tell(second, f(second))  # out of order
    assert not np.array_equal(before, optimizer.ensemble.theta)
    optimizer.ask()
    assert len(optimizer.pending) == 2
    np.testing.assert_array_equal(optimizer.pending[0].query, first)
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
    with pytest.raises(ValueError, match="not pending; pending are"):
        workers.tell([0.0, 0.0], 1.0)
    asked = workers.ask()
    workers.tell(asked.round(2), 1.0, query=asked)  # carried out elsewhere
    np.testing.assert_array_equal(workers.optimizer.data()[0], asked.round(2)[None])


@pytest.mark.paper("egpbo", "alg1-workers", "alg2-dispatch")
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_real_workers_that_fail_do_not_stop_the_others(mode):
    def unstable(x):
        if -1.5 < x[0] < -0.5:
            raise RuntimeError("out of memory")
        return f(x)

    optimizer = optimize(make(), unstable, 24, n_workers=4, mode=mode, progress=False)
    told = optimizer.result()
    failed = (told["x_1"] > -1.5) & (told["x_1"] < -0.5)
    assert len(told) == 24
    assert failed.any()
    assert ((told["status"] == "failed") == failed).all()
    assert not optimizer.pending
    assert np.isfinite(optimizer.weights).all()


def test_initial_points_are_waited_for_before_the_rest():
    optimizer = make()
    assert optimizer.room() == 4
    X = optimizer.ask(3)
    assert optimizer.room() == 1
    optimizer.tell(X[0], None)  # one more takes its place
    assert optimizer.room() == 2
    optimizer.ask(3)
    assert optimizer.room() == 0
    for x in [asked.query for asked in optimizer.pending]:
        optimizer.tell(x, f(x))
    assert optimizer.room() == np.inf


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


SEQUENTIAL = {
    "BanditBO": BanditBO, "EGPEI": EGPEI, "GPEI": GPEI, "RandomSearch": RandomSearch,
    "EXP3BO": lambda box, **more: EXP3BO(box, horizon=9, **more),
}  # fmt: skip


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_sequential_methods_do_not_hand_one_query_to_several_workers(name):
    optimizer = SEQUENTIAL[name](BOX, n_init=4, rng=0)
    with pytest.raises(ValueError, match=f"{name} hands out one query .* n_workers=1"):
        SimulatedWorkers(optimizer, 2, "async", rng=0)
    assert len(drive(SimulatedWorkers(optimizer, 1, "async", rng=0), 5)) == 5


def test_workers_need_an_optimiser():
    nested = SimulatedWorkers(make(), 2, "sync", rng=0)
    with pytest.raises(TypeError, match="with a box, got SimulatedWorkers"):
        SimulatedWorkers(nested, 2, "sync", rng=0)


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
    with pytest.raises(ValueError, match="pending are none"):
        SimulatedWorkers(make(), 2, "sync", rng=0).tell([0.0, 0.5], 1.0)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_simulated_workers_copy_and_pickle_at_any_moment(mode):
    workers = SimulatedWorkers(make(), 3, mode, rng=0)
    whole = drive(copy.deepcopy(workers), 14)
    for left in range(14, 0, -1):
        x = workers.ask()
        assert drive(pickle.loads(pickle.dumps(workers)), left).equals(whole)
        workers.tell(x, f(x))
        workers.recommend()
    assert workers.result().equals(whole)


def test_a_recommendation_within_a_round_knows_what_has_come_back():
    workers = SimulatedWorkers(make(), 4, "sync", rng=0)
    x = workers.ask()
    workers.tell(x, 50.0)
    np.testing.assert_array_equal(workers.recommend(), x)
    assert workers.optimizer.n_told == 0  # until the round is over
    with pytest.raises(ValueError, match="no model yet"):
        workers.posterior([x])


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_query_that_is_withdrawn_frees_its_worker(mode):
    workers = SimulatedWorkers(make(), 2, mode, rng=0)
    drive(workers, 6)
    x = workers.ask()
    workers.withdraw(x)
    assert not workers.pending
    assert len(workers.optimizer.pending) == len(workers._running) + len(workers._finished)
    assert len(drive(workers, 6)) == 12
    workers.tell(workers.ask(), None)
    assert workers.result()["status"].tolist() == ["ok"] * 12 + ["failed"]


def test_integers_of_numpy_are_integers():
    optimizer = make(n_init=np.int64(3), n_features=np.int32(8), refit_every=np.int64(6))
    optimize(optimizer, f, np.int64(5), n_workers=np.int64(2), progress=False)
    assert optimizer.ask(np.int64(3)).shape == (3, 2)
    for wrong, error in ((3.0, TypeError), (True, TypeError), ("3", TypeError), (0, ValueError)):
        with pytest.raises(error, match="n must be an integer >= 1"):
            optimizer.ask(wrong)
