"""Algorithm 1 against its literal transcription; the protocol of batches; its special cases."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fivebo.classify_dfo import (
    Catalogue,
    Comparisons,
    Enumeration,
    ForestConsensus,
    HalfSpaceCSS,
    ImportanceSampling,
    Logistic,
    LogisticEnsemble,
    MultiplierBootstrap,
    Order,
    Perturbation,
    RepeatedClassification,
    Values,
)
from fivebo.classify_dfo.optimizer import BatchOptimizer
from fivebo.common.search.domains import Box
from fivebo.common.search.loop import optimize
from fivebo.common.search.plain import plain
from tests.classify_dfo import oracles

X = np.random.default_rng(0).random((200, 3))
F = ((X - 0.3) ** 2).sum(axis=1)


class Cut:
    """A classifier that needs no randomness: high where the first feature is above a mean."""

    def fit(self, X, z, rng):
        limit = X[z == 1, 0].mean()
        return lambda rows: (rows[:, 0] > limit).astype(float)


def search(batch=20, classifier=None, rng=0, eta=0.5, repeats=True, **settings):
    sampler = Enumeration(Catalogue(X), eta=eta, repeats=repeats)
    return RepeatedClassification(sampler, classifier, batch=batch, rng=rng, **settings)


def drive(search, rounds, values=F):
    for _ in range(rounds):
        batch = search.ask()
        search.tell(batch, values[batch])
    return search


@pytest.mark.paper(
    "classify_dfo", "alg1-l1", "alg1-l2", "alg1-l3", "alg1-l4", "alg1-l5", "alg1-l6", "alg1-l7",
    "alg1-l8", "alg1-l9", "alg1-l11",
)  # fmt: skip
def test_algorithm_1_line_by_line():
    run = drive(search(classifier=Cut()), 6)
    rng = search(rng=0).streams.algorithm
    first = run.batches[0]
    X_t, Y_t, p, best = oracles.algorithm_1(
        F, X, first, 5, 0.5,
        classify=lambda A, z, rows: Cut().fit(A, z, None)(rows),
        draw=lambda p: rng.choice(len(p), 20, p=p),
    )  # fmt: skip
    for batch, expected in zip(run.batches, X_t, strict=True):
        np.testing.assert_array_equal(batch, expected)
    np.testing.assert_allclose(np.exp(run.sampler.log_probabilities()), p, rtol=1e-12)
    assert run.recommend() == best


@pytest.mark.paper("classify_dfo", "alg1-l2", "s1-batches")
def test_first_batch_is_uniform_without_repeats_and_shared_by_seed():
    counts = np.zeros(len(X))
    for seed in range(400):
        batch = search(rng=seed).ask()
        assert len(set(batch)) == 20
        counts[batch] += 1
    spread = np.sqrt(400 * 0.1 * 0.9)
    assert np.abs(counts - 40).max() < 5 * spread
    np.testing.assert_array_equal(
        search(rng=7, eta=1.0).ask(), search(rng=7, classifier=Cut()).ask()
    )


@pytest.mark.paper("classify_dfo", "alg1-l6")
def test_all_past_points_are_relabelled_with_the_present_threshold():
    run = drive(search(), 4)
    run.ask()
    values = np.concatenate(run.values)
    np.testing.assert_array_equal(run.labels, values > np.median(run.values[-1]))
    assert run.labels[60:].sum() == 10


@pytest.mark.paper("classify_dfo", "alg1-l11")
def test_recommendation_is_the_best_of_the_last_batch_not_of_all():
    run = search()
    first = run.ask()
    run.tell(first, np.arange(20.0))
    second = run.ask()
    run.tell(second, 100 - np.arange(20.0))
    assert run.recommend() == second[-1]
    assert BatchOptimizer.recommend(run) == first[0]


@pytest.mark.paper("classify_dfo", "alg1-one-class")
def test_labels_of_one_kind_leave_the_distribution_as_it_is():
    run = search()
    run.tell(run.ask(), np.ones(20))
    run.ask()
    assert run.sampler.coverage == [0.0]
    np.testing.assert_allclose(run.sampler.log_probabilities(), -np.log(len(X)), rtol=1e-12)


@pytest.mark.parametrize("repeats", [True, False])
def test_same_seed_same_bits_and_pending_batch_until_told(repeats):
    one, two = (drive(search(repeats=repeats), 4) for _ in range(2))
    assert plain(one.ask()) == plain(one.ask()) == plain(two.ask())
    np.testing.assert_array_equal(one.result(), two.result())


def test_without_repeats_no_action_is_measured_twice_and_the_end_is_said():
    run = drive(search(repeats=False, eta=1.0), 10)
    assert len(set(np.concatenate(run.batches))) == 200
    with pytest.raises(ValueError, match="only 0 of 200 actions are not yet measured"):
        run.ask()


@pytest.mark.parametrize(
    ("batch", "y", "error", "message"),
    [
        ("same", np.ones(19), ValueError, "must hold 20 numbers"),
        ("same", np.append(np.ones(19), np.nan), ValueError, "must be finite"),
        ("same", ["a"] * 20, TypeError, "real numbers"),
        ("reversed", np.ones(20), ValueError, "the batch is not pending"),
        ("half", np.ones(10), ValueError, "the batch is not pending"),
        ("outside", np.ones(20), ValueError, "row numbers from 0 to 199"),
    ],
)
def test_wrong_answers_are_refused_and_change_nothing(batch, y, error, message):
    run = drive(search(), 2)
    asked = run.ask()
    given = {"same": asked, "reversed": asked[::-1], "half": asked[:10], "outside": asked + 1000}
    with pytest.raises(error, match=message):
        run.tell(given[batch], y)
    assert len(run.values) == 2
    np.testing.assert_array_equal(run.ask(), asked)
    run.tell(asked, F[asked])


def test_nothing_pending_and_nothing_told_are_said():
    run = search()
    with pytest.raises(ValueError, match="ask\\(\\) for one before"):
        run.tell(np.arange(20), np.ones(20))
    with pytest.raises(ValueError, match="no observation yet"):
        run.recommend()
    assert run.result().empty


@pytest.mark.parametrize("value", [0, -1, 1.5])
def test_eta_out_of_range_is_refused(value):
    with pytest.raises(ValueError, match="eta must lie in"):
        search(eta=value)
    with pytest.raises(ValueError, match="eta must lie in"):
        Perturbation(Box([[0, 1]]), eta=value)


def test_the_global_generator_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    drive(search(), 3)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_a_killed_search_resumes_from_its_journal(tmp_path):
    whole = optimize(search(), lambda rows: F[rows], 6, progress=False)
    path = tmp_path / "journal.jsonl"
    optimize(search(), lambda rows: F[rows], 3, journal=path, progress=False)
    again = optimize(search(), lambda rows: F[rows], 6, journal=path, progress=False)
    np.testing.assert_array_equal(whole.result(), again.result())


def test_boxes_get_points_inside_and_come_closer():
    box = Box([[0, 10], [-5, 5]])
    run = RepeatedClassification(Perturbation(box), batch=100, rng=1)
    goal = np.array([2.0, 1.0])
    for _ in range(8):
        batch = run.ask()
        assert box.inside(batch).all()
        run.tell(batch, ((batch - goal) ** 2).sum(axis=1))
    assert run.values[-1].mean() < 0.1 * run.values[0].mean()
    assert list(run.result()) == ["batch", "x_1", "x_2", "y", "status"]


@settings(max_examples=20, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(-100, 100), st.integers(0, 10**6))
def test_only_the_order_of_values_matters(scale, shift, seed):
    """An increasing affine map of f changes no label, so it changes no batch (n odd: no mean)."""
    grid = np.round(F * 1000)
    one = drive(search(batch=21, rng=seed, feedback=Values()), 3, grid)
    two = drive(search(batch=21, rng=seed, feedback=Values()), 3, scale * grid + shift)
    for a, b in zip(one.batches, two.batches, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.paper("classify_dfo", "s4-rf", "s1-batches")
def test_the_default_classifier_is_the_literal_forest():
    assert search().classifier == ForestConsensus("high", 0.75, 10)


def test_a_refused_ask_can_be_repeated_with_a_smaller_batch():
    run = drive(search(batch=60, repeats=False, feedback=Order()), 3)
    for _ in range(2):
        with pytest.raises(ValueError, match="only 20 of 200 actions are not yet measured"):
            run.ask()
    assert run.sampler.rounds == 3
    assert len(run.labels) == 180
    run.batch = 20
    assert len(set(np.concatenate([*run.batches, run.ask()]))) == 200


class Fixed:
    """A classifier of one's own, with a decision of any kind."""

    def __init__(self, h):
        self.h = h

    def fit(self, X, z, rng):
        return self.h


@pytest.mark.parametrize(
    ("h", "message"),
    [
        (lambda rows: np.where(rows[:, 0] > 0.5, 1.0, -1.0), r"must lie in \[0, 1\], got -1"),
        (lambda rows: 2 * (rows[:, 0] > 0.5), r"must lie in \[0, 1\], got 2"),
        (lambda rows: np.full(len(rows), np.nan), r"must lie in \[0, 1\], got nan"),
        (lambda rows: (rows[:, :1] > 0.5).astype(float), "must return .* got shape"),
        (lambda rows: ["high"] * len(rows), "must return .* numbers"),
    ],
)
def test_a_decision_that_is_no_share_is_refused_and_changes_nothing(h, message):
    run = drive(search(classifier=Fixed(h)), 1)
    with pytest.raises(ValueError, match=message):
        run.ask()
    assert (run.sampler.rounds, len(run.labels)) == (0, 0)
    assert not run.sampler.log_weights.any()
    run = RepeatedClassification(Perturbation(Box([[0, 1]])), Fixed(h), batch=5)
    run.tell(run.ask(), np.arange(5.0))
    with pytest.raises(ValueError, match=message):
        run.ask()


def test_a_decision_may_be_of_booleans_or_a_list():
    one, two, three = (
        drive(search(classifier=Fixed(h), eta=0.5), 3)
        for h in (
            lambda rows: (rows[:, 0] > 0.5).astype(float),
            lambda rows: rows[:, 0] > 0.5,
            lambda rows: (rows[:, 0] > 0.5).tolist(),
        )
    )
    assert plain(one.batches) == plain(two.batches) == plain(three.batches)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RepeatedClassification(Catalogue(X), batch=5), TypeError, "sampler must be an"),
        (lambda: search(classifier="forest"), TypeError, r"classifier must be an object with fit"),
        (lambda: search(classifier=ForestConsensus), TypeError, r"such as ForestConsensus\(\)"),
        (lambda: search(feedback="order"), TypeError, "feedback must be an object with pairs"),
        (lambda: search(feedback=Comparisons(3), batch=1), ValueError, "at least 2 actions"),
        (lambda: Enumeration(Box([[0, 1]])), TypeError, "Enumeration needs a Catalogue, got Box"),
        (lambda: Perturbation(Catalogue(X)), TypeError, "Perturbation needs a Box, got Cat"),
        (lambda: ImportanceSampling(Catalogue(X)), TypeError, "ImportanceSampling needs a Box"),
        (lambda: RepeatedClassification(drive(search(), 2).sampler, batch=5), ValueError, "new"),
    ],
)
def test_parts_that_do_not_fit_are_refused_before_anything_is_measured(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_sampler_serves_several_searches_and_is_not_changed():
    sampler = Enumeration(Catalogue(X))
    one, two = (RepeatedClassification(sampler, batch=20) for _ in range(2))
    drive(one, 3)
    assert sampler.rounds == 0
    assert plain(drive(two, 3).batches) == plain(one.batches)


@pytest.mark.parametrize(
    "classifier",
    [ForestConsensus(), Logistic(), LogisticEnsemble(), MultiplierBootstrap(), HalfSpaceCSS()],
)
def test_a_search_can_be_pickled_and_goes_on_alike(classifier):
    run = drive(search(classifier=classifier), 2)
    run.ask()
    again = pickle.loads(pickle.dumps(run))
    assert plain(drive(run, 2).ask()) == plain(drive(again, 2).ask())


@pytest.mark.paper("classify_dfo", "s4-units")
@pytest.mark.parametrize(
    "classifier", [ForestConsensus("soft"), Logistic(), LogisticEnsemble(), MultiplierBootstrap(5)]
)
@pytest.mark.parametrize(
    ("unit", "shift"), [(1e-12, 0), (1e12, 0), (1.0, 1e3), ([1e-12, 1e12, 1], 0), (1e-50, 0)]
)
def test_units_of_the_inputs_do_not_matter(classifier, unit, shift):
    """Trees work in single precision and penalties mean features of order 1."""
    table = [Catalogue(X), Catalogue(shift + unit * X)]
    runs = [
        RepeatedClassification(Enumeration(t, eta=0.9, repeats=False), classifier, batch=20)
        for t in table
    ]
    for run in runs:
        drive(run, 4)
    assert plain(runs[0].batches) == plain(runs[1].batches)
    bounds = np.array([[0.0, 1], [-1, 1], [2, 3]])
    shifted = shift + np.broadcast_to(unit, 3)[:, None] * bounds
    for box, run in zip((Box(bounds), Box(shifted)), runs, strict=True):
        again = RepeatedClassification(Perturbation(box, eta=0.9), classifier, batch=20)
        for _ in range(4):
            batch = again.ask()
            again.tell(batch, ((box.to_unit(batch) - 0.3) ** 2).sum(axis=1))
        run.points = box.to_unit(again.ask())
    np.testing.assert_allclose(runs[0].points, runs[1].points, atol=1e-9)


def test_members_that_failed_are_kept_and_not_learnt_from():
    run, whole = (search(batch=20, repeats=False) for _ in range(2))
    batch = run.ask()
    y = [None if k in (3, 7) else value for k, value in enumerate(F[batch])]
    run.tell(batch, y)
    left = np.delete(batch, [3, 7])
    np.testing.assert_array_equal(run.batches[0], left)
    np.testing.assert_array_equal(run.values[0], F[left])
    table = run.result()
    assert (table["status"] == "failed").to_numpy().nonzero()[0].tolist() == [3, 7]
    assert table["row"].tolist() == batch.tolist()
    np.testing.assert_array_equal(table["y"].dropna(), F[left])
    run.ask()
    assert len(run.labels) == 18
    whole.ask()
    assert run.recommend() == left[F[left].argmin()]
    drive(run, 8)
    assert not set(batch[[3, 7]]) & set(np.concatenate(run.batches))  # others were left
    with pytest.raises(ValueError, match="only 2 of 200"):
        drive(run, 3)


@pytest.mark.parametrize("told", [0, 2])
@pytest.mark.parametrize("answer", [None, [None] * 20])
def test_a_failed_batch_is_kept_and_another_one_is_drawn(told, answer):
    run = drive(search(), told)
    first = run.ask()
    run.tell(first, answer)
    assert len(run.batches) == told
    assert run.result()["status"].tolist() == ["ok"] * 20 * told + ["failed"] * 20
    second = run.ask()
    assert plain(first) != plain(second)
    drive(run, 1)
    assert run.result().groupby("batch").size().tolist() == [20] * (told + 2)


def test_a_batch_carried_out_slightly_elsewhere_answers_the_pending_one():
    box = Box([[0, 10], [-5, 5]])
    run = RepeatedClassification(Perturbation(box), batch=10)
    asked = run.ask()
    done = asked.round(2)
    with pytest.raises(ValueError, match=r"tell\(done, y, query=asked\)"):
        run.tell(done, np.arange(10.0))
    with pytest.raises(ValueError, match="the 10 actions of the batch"):
        run.tell(done[:9], np.arange(9.0), query=asked)
    run.tell(done, np.arange(10.0), query=asked)
    np.testing.assert_array_equal(run.batches[0], done)
    rows = search().ask()
    run = search()
    run.ask()
    with pytest.raises(ValueError, match="the 20 actions of the batch"):
        run.tell(rows[::-1], F[rows], query=rows)


def test_several_workers_share_a_batch_and_failures_cost_their_members_only():
    def objective(rows):
        if rows[0] % 9 == 0:
            raise RuntimeError("no signal")
        return F[rows]

    run = optimize(search(), objective, 4, n_workers=2, progress=False)
    table = run.result()
    failed = table["status"] == "failed"
    assert failed.any()
    assert ((table["row"] % 9 == 0) == failed).all()
    with pytest.raises(ValueError, match="hands out one query"):
        optimize(search(feedback=Comparisons(3)), objective, 4, n_workers=2)
