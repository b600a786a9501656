"""Labels from values, from order and from pairwise comparisons."""

import pickle

import numpy as np
import pytest

from fivebo.classify_dfo import (
    Catalogue,
    Comparisons,
    Enumeration,
    Judge,
    Order,
    RepeatedClassification,
    Values,
    theory,
)
from tests.classify_dfo import oracles

X = np.random.default_rng(0).random((300, 2))
F = ((X - 0.4) ** 2).sum(axis=1)


def search(feedback, batch=30, rng=0, kind=RepeatedClassification):
    sampler = Enumeration(Catalogue(X), eta=0.5)
    return kind(sampler, batch=batch, feedback=feedback, rng=rng)


@pytest.mark.paper("classify_dfo", "alg1-l5")
def test_threshold_of_an_even_batch_makes_half_of_it_high():
    labels = Values().relabel([np.arange(10.0), np.array([4.0, 1, 3, 2])], None, None, None)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0]
    odd = Values().relabel([np.array([3.0, 1, 2, 2, 5])], None, None, None)
    assert odd.tolist() == [1, 0, 0, 0, 1]  # a value at the threshold is low
    quartile = Values(0.25).relabel([np.arange(1.0, 9.0)], None, None, None)
    assert quartile.tolist() == [0, 0, 1, 1, 1, 1, 1, 1]


@pytest.mark.paper("classify_dfo", "s31-order")
def test_order_needs_no_scale_and_freezes_old_labels():
    plain, warped = search(Order()), search(Order())
    for t in range(4):
        a, b = plain.ask(), warped.ask()
        np.testing.assert_array_equal(a, b)
        plain.tell(a, F[a])
        warped.tell(b, np.exp(3 * F[b]) + 100 * t)  # any increasing scale, another each batch
    assert (
        plain.labels[:30].tolist()
        == (F[plain.batches[0]] > np.median(F[plain.batches[0]])).tolist()
    )


@pytest.mark.paper("classify_dfo", "eq-1", "eq-1-ties", "eq-1-older", "s31-count")
@pytest.mark.parametrize("c", [1, 5, 10])
def test_labels_from_comparisons_by_equation_1(c):
    run = search(Comparisons(c), kind=Judge)
    labels, told = [], 0
    for _ in range(4):
        batch = run.ask()
        pairs = run.pairs()
        everything = np.concatenate([*run.batches, batch])
        start = len(everything) - 30
        assert (pairs[:, 1] >= start).all()
        assert (pairs[:, 0] != pairs[:, 1]).all()
        wins = {}
        for i, j in pairs:
            wins.setdefault(int(i), []).append(F[everything[i]] < F[everything[j]])
        assert set(wins) == {i for i, z in enumerate(labels) if z == 0} | set(
            range(start, start + 30)
        )
        assert all(len(w) == c for w in wins.values())
        run.tell(batch, F[batch])
        told += len(pairs)
        assert run.n_comparisons == told
        labels = [oracles.pairwise_label(wins[i]) if i in wins else 1 for i in range(start + 30)]
        run.ask()
        assert run.labels.tolist() == labels


@pytest.mark.paper("classify_dfo", "eq-1", "s31-error")
def test_share_of_wrong_labels_is_that_of_the_formula():
    """Batches of 100: an action of rank r beats an opponent with probability (99 - r) / 99."""
    rng, c, batches = np.random.default_rng(1), 5, 400
    feedback = Comparisons(c)
    wrong = []
    for _ in range(batches):
        pairs = feedback.pairs(np.empty(0, dtype=int), 100, rng)
        g = (pairs[:, 0] < pairs[:, 1]).astype(float)
        labels = feedback.relabel([feedback.scores(g, pairs, 0, 100)], np.empty(0, int), g, pairs)
        wrong.append((labels != (np.arange(100) >= 50)).mean())
    q = (99 - np.arange(100)) / 99
    expected = theory.pairwise_label_error(q, c).mean()
    assert abs(np.mean(wrong) - expected) < 5 * np.std(wrong) / np.sqrt(batches)


@pytest.mark.paper("classify_dfo", "s31-error")
@pytest.mark.parametrize(
    ("c", "error"),
    [(1, 0.25), (3, 0.1875), (5, 0.1562), (7, 0.1367), (10, 0.1230), (15, 0.0982), (20, 0.0881),
     (30, 0.0722), (50, 0.0561)],
)  # fmt: skip
def test_mean_label_error_over_a_uniform_rank(c, error):
    nodes, weights = np.polynomial.legendre.leggauss(80)
    halves = [(nodes + 1) / 4, (nodes + 3) / 4]  # below and above q = 1/2
    mean = sum(theory.pairwise_label_error(q, c, ties="coin") @ weights for q in halves) / 4
    assert mean == pytest.approx(error, abs=6e-5)


@pytest.mark.paper("classify_dfo", "eq-1-ties")
@pytest.mark.parametrize(("c", "high", "low"), [(10, 0.0776, 0.1685), (20, 0.0643, 0.1119)])
def test_ties_count_as_low(c, high, low):
    nodes, weights = np.polynomial.legendre.leggauss(80)
    falsely_high = theory.pairwise_label_error((nodes + 3) / 4, c) @ weights / 2
    falsely_low = theory.pairwise_label_error((nodes + 1) / 4, c) @ weights / 2
    assert (falsely_high, falsely_low) == (
        pytest.approx(high, abs=6e-5),
        pytest.approx(low, abs=6e-5),
    )


@pytest.mark.paper("classify_dfo", "s31-error")
def test_label_error_is_below_hoeffdings_bound_and_tiny_for_the_best():
    q = np.linspace(0, 1, 201)
    for c in (1, 4, 9, 20):
        error = theory.pairwise_label_error(q, c)
        assert (error <= np.exp(-2 * c * (q - 0.5) ** 2) + 1e-12).all()
    assert theory.pairwise_label_error(0.99, 5) < 1e-4


def test_comparisons_must_be_zeros_and_ones_and_complete():
    run = search(Comparisons(3))
    batch, pairs = run.ask(), run.pairs()
    with pytest.raises(ValueError, match="must hold 90 numbers"):
        run.tell(batch, np.ones(30))
    with pytest.raises(ValueError, match="comparisons must be 0 or 1"):
        run.tell(batch, np.full(len(pairs), 0.5))
    assert run.n_comparisons == 0
    run.tell(batch, np.ones(len(pairs)))
    assert run.n_comparisons == 90
    assert search(Values()).pairs() is None
    with pytest.raises(ValueError, match="at least 2 actions"):
        search(Comparisons(3), batch=1).ask()


def test_the_batch_comes_back_best_first_by_wins():
    run = search(Comparisons(40), kind=Judge)
    batch = run.ask()
    run.tell(batch, F[batch])
    assert F[run.recommend()] <= np.quantile(F[batch], 0.2)
    assert run.result()["y"].between(0, 1).all()


@pytest.mark.paper("classify_dfo", "eq-1-ties")
@pytest.mark.parametrize("tenths", range(1, 10))
def test_a_tie_counts_as_low_at_every_quantile(tenths):
    """A point that loses just the share `quantile` is low, the next worse one high."""
    feedback = Comparisons(10, tenths / 10)
    g = np.concatenate([np.arange(10) >= lost for lost in (tenths, tenths + 1) * 2]).astype(float)
    pairs = np.repeat([0, 1, 0, 0], 10)[:, None]
    pairs[20:] = np.repeat([0, 1], 10)[:, None]
    scores = feedback.scores(g, pairs, 2, 2)
    labels = feedback.relabel([scores], np.zeros(2, dtype=int), g, pairs)
    assert labels.tolist() == [0, 1, 0, 1]


def test_a_judge_refuses_values_that_are_none_and_can_be_copied():
    run = search(Comparisons(3), kind=Judge)
    with pytest.raises(ValueError, match="ask\\(\\) for one before"):
        run.tell(np.arange(30), F[:30])
    batch = run.ask()
    for y, error, message in (
        (np.full(30, np.nan), ValueError, "must be finite"),
        (["a"] * 30, TypeError, "real numbers"),
        (F[:29], ValueError, "y must hold 30 numbers"),
    ):
        with pytest.raises(error, match=message):
            run.tell(batch, y)
    assert run.n_comparisons == 0
    again = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(again.ask(), batch)
    run.tell(batch, F[batch])
    assert run.n_comparisons == 90
    with pytest.raises(TypeError, match=r"a judge needs feedback=Comparisons\(\)"):
        search(Values(), kind=Judge)


def test_comparisons_are_told_whole_or_not_at_all():
    run = search(Comparisons(3))
    batch, pairs = run.ask(), run.pairs()
    with pytest.raises(ValueError, match="y must be complete"):
        run.tell(batch, [None, *np.ones(len(pairs) - 1)])
    run.tell(batch, None)
    assert (run.n_comparisons, len(run.batches)) == (0, 0)
    again, pairs = run.ask(), run.pairs()
    assert set(again) != set(batch)
    run.tell(again, np.ones(len(pairs)))
    assert run.result()["status"].tolist() == ["failed"] * 30 + ["ok"] * 30


@pytest.mark.parametrize("kind", [Values, Order])
@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_the_score_at_the_quantile_is_low_in_any_unit(kind, unit):
    """0.7 times 10 is just above or below 7 in floating point."""
    scores = unit * np.random.default_rng(0).random(11)
    labels = kind(0.7).relabel([scores], np.empty(0, dtype=int), None, None)
    assert labels.sum() == 3
