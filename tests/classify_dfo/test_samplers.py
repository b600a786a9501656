"""p^(t) and draws from it: bookkeeping, eta = 1, distributions of both samplers on boxes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from fivebo.classify_dfo import Catalogue, Enumeration, ImportanceSampling, Perturbation
from fivebo.common.search.domains import Box
from tests.classify_dfo import oracles


def catalogue(size):
    return Catalogue(np.arange(float(size)))


def told(h):
    return lambda rows: np.asarray(h, dtype=float)


@pytest.mark.paper("classify_dfo", "alg1-l1", "alg1-l7", "alg1-soft", "s21-coverage")
@settings(max_examples=100, deadline=None)
@given(
    arrays(float, st.tuples(st.integers(1, 20), st.integers(2, 12)), elements=st.floats(0, 1)),
    st.floats(0.01, 0.99),
)
def test_logs_equal_the_stepwise_recursion(rounds, eta):
    sampler = Enumeration(catalogue(rounds.shape[1]), eta=eta)
    before = [np.full(rounds.shape[1], 1 / rounds.shape[1])]
    for h in rounds:
        sampler.update(told(h))
    history, cuts = oracles.multiplicative_weights(rounds, eta)
    np.testing.assert_allclose(np.exp(sampler.log_probabilities()), history[-1], rtol=1e-10)
    np.testing.assert_allclose(sampler.mistakes, cuts, rtol=1e-12)
    expected = [h @ p for h, p in zip(rounds, before + history, strict=False)]
    np.testing.assert_allclose(sampler.coverage, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.paper("classify_dfo", "alg1-eta-limit")
def test_eta_1_is_the_limit_of_eta_below_1():
    rng = np.random.default_rng(1)
    rounds = (rng.random((6, 8)) < 0.5).astype(float)
    rounds[3] = 1.0  # everything is cut: no weight is left
    one, near = (Enumeration(catalogue(8), eta=eta) for eta in (1.0, 1 - 1e-9))
    for h in rounds:
        one.update(told(h))
        near.update(told(h))
        np.testing.assert_allclose(
            np.exp(one.log_probabilities()), np.exp(near.log_probabilities()), atol=1e-6
        )


@pytest.mark.paper("classify_dfo", "alg1-eta-limit", "alg1-repeats")
def test_too_small_a_support_is_filled_with_the_least_cut():
    sampler = Enumeration(catalogue(10), eta=1.0, repeats=False)
    sampler.update(told([0, 0, 0, 1, 1, 1, 1, 1, 1, 1]))
    sampler.update(told([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]))
    drawn = sampler.draw(4, np.random.default_rng(0), [np.array([0])])
    assert set(drawn) == {1, 2, 3, 4}
    assert set(sampler.draw(2, np.random.default_rng(0), [np.array([0])])) == {1, 2}


@pytest.mark.paper("classify_dfo", "alg1-l8")
def test_independent_draws_have_the_frequencies_of_p():
    sampler = Enumeration(catalogue(6), eta=0.5)
    sampler.update(told([1, 0, 1, 0, 0.5, 0]))
    p = np.exp(sampler.log_probabilities())
    drawn = sampler.draw(60_000, np.random.default_rng(3), [])
    counts = np.bincount(drawn, minlength=6)
    assert stats.chisquare(counts, 60_000 * p).pvalue > 1e-4


@pytest.mark.paper("classify_dfo", "alg1-repeats")
def test_draws_without_repeats_take_the_first_with_the_probabilities_of_p():
    sampler = Enumeration(catalogue(5), eta=0.5, repeats=False)
    sampler.update(told([1, 1, 0, 0, 0]))
    rng = np.random.default_rng(4)
    counts = np.zeros(5)
    for _ in range(4000):
        counts[sampler.draw(1, rng, [np.array([4])])] += 1
    assert counts[4] == 0
    assert stats.chisquare(counts[:4], 4000 * np.array([1, 1, 2, 2]) / 6).pvalue > 1e-4


def uniform_start(box, n=300, seed=0):
    return [box.uniform(n, np.random.default_rng(seed))]


@pytest.mark.paper("classify_dfo", "s4-importance")
def test_importance_sampling_of_nothing_cut_is_uniform():
    box = Box([[0, 1], [0, 3]])
    sampler = ImportanceSampling(box, candidates=400)
    sampler.update(lambda rows: np.zeros(len(rows)))
    rng = np.random.default_rng(5)
    points = np.concatenate([sampler.draw(150, rng, uniform_start(box, seed=s)) for s in range(6)])
    for column, side in zip(points.T, box.sides, strict=True):
        assert stats.kstest(column / side, "uniform").pvalue > 1e-3


def half(rows):
    """High on the right half of the box."""
    return (rows[:, 0] > 0.5).astype(float)


def half_of_scaled(rows):
    """The same of points as a sampler shows them to a classifier, from -1 to 1."""
    return half((rows + 1) / 2)


@pytest.mark.paper("classify_dfo", "s4-importance")
def test_importance_sampling_has_the_share_of_the_target():
    box, shares = Box([[0, 1]] * 2), []
    for seed in range(12):
        sampler = ImportanceSampling(box, eta=0.5, candidates=200)
        sampler.update(half_of_scaled)
        rng = np.random.default_rng(seed)
        shares.append(half(sampler.draw(300, rng, uniform_start(box, seed=seed))).mean())
    assert abs(np.mean(shares) - 1 / 3) < 5 * np.std(shares, ddof=1) / np.sqrt(12) + 0.005


@pytest.mark.paper("classify_dfo", "s4-perturbation", "s4-importance")
@pytest.mark.parametrize("kind", [Perturbation, ImportanceSampling])
@pytest.mark.parametrize("dim", [2, 25])
def test_no_draw_is_where_a_weight_is_zero_and_all_are_inside(kind, dim):
    box = Box([[0, 1]] * dim)
    sampler = kind(box)
    sampler.update(half_of_scaled)
    points = sampler.draw(60, np.random.default_rng(6), uniform_start(box, 100))
    assert half(points).sum() == 0
    assert box.inside(points).all()


@pytest.mark.paper("classify_dfo", "s4-perturbation")
def test_perturbation_by_its_definition():
    box = Box([[0, 1]] * 2)
    sampler = Perturbation(box, eta=0.5, width=2.0)
    parents = np.array([[0.2, 0.2], [0.4, 0.8], [0.9, 0.5]])
    sampler.update(half_of_scaled)
    weights = np.array([1, 1, 0.5]) / 2.5
    np.testing.assert_allclose(sampler.log_target(parents), np.log([1, 1, 0.5]))
    centre = sum(w * x for w, x in zip(weights, parents, strict=True))
    var = sum(w * (x - centre) ** 2 for w, x in zip(weights, parents, strict=True))
    expected = 2.0 * np.sqrt(var) * 3 ** (-1 / 6)
    np.testing.assert_allclose(sampler.scale(parents, weights), expected, rtol=1e-12)


def test_one_parent_left_still_moves_and_everything_cut_is_survived():
    box = Box([[0, 1]])
    sampler = Perturbation(box)
    parents = np.array([[0.1], [0.7], [0.8]])
    sampler.update(half_of_scaled)
    assert sampler.scale(parents, np.array([1.0, 0, 0]))[0] > 0
    sampler.update(lambda rows: np.ones(len(rows)))
    assert len(sampler.draw(3, np.random.default_rng(0), [parents])) == 3


@pytest.mark.parametrize("kind", [Perturbation, ImportanceSampling])
def test_a_single_parent_without_spread_still_moves(kind):
    box = Box([[0, 1], [-3, 3]])
    sampler = kind(box, width=0.5)
    parent = np.array([[0.4, 1.0]])
    np.testing.assert_allclose(sampler.scale(parent, np.ones(1)), 0.5 * box.sides / np.sqrt(12))
    drawn = sampler.draw(1, np.random.default_rng(0), [parent])
    assert (drawn != parent).all()


@pytest.mark.parametrize("dim", [10, 19])
def test_candidates_are_drawn_until_enough_are_inside(dim):
    """In the corner of a cube almost all fall off; few points, or none, would be left."""
    box = Box([[-1, 1]] * dim)
    parents = np.where(np.random.default_rng(1).random((30, dim)) < 0.85, -1.0, 1.0)
    for seed in range(3):
        points = Perturbation(box, candidates=1, width=3.0).draw(
            30, np.random.default_rng(seed), [parents]
        )
        assert box.inside(points).all()
        assert len(np.unique(points, axis=0)) == 30


def test_importance_sampling_says_when_it_has_too_many_inputs():
    box = Box([[0, 1]] * 300)
    with pytest.raises(ValueError, match=r"0 fell into the box of 300 inputs: .* use Pert"):
        ImportanceSampling(box).draw(20, np.random.default_rng(0), uniform_start(box, 20))
