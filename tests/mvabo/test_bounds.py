"""Intervals of F_1 and F_2 against the case-by-case formulas, and the lemmas about them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fivebo.mvabo.bounds import objective_bounds, objectives, spread
from fivebo.mvabo.theory import width_bound
from tests.mvabo import oracles
from tests.mvabo.conftest import random_posterior

SEEDS = st.integers(0, 10**6)
BETAS = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0, 20.0])


@pytest.mark.paper("mvabo", "s31-f1-bounds", "s31-typo", "s31-sq", "s31-f2-bounds", "eq-6")
@pytest.mark.parametrize(
    ("b", "expected"),
    [(0.5, (-0.25, 0.25, -1.5, -0.5)), (1.0, (-0.5, 0.5, -2.0, 0.0))],
)
def test_vectors_worked_by_hand(b, expected):
    """p = (1/2, 1/2), mu = (1, -1), sigma = (1/2, 1/2); at b = 1 the case l~ = 0 is closed."""
    found = objective_bounds(
        np.array([[1.0, -1.0]]), np.full((1, 2), 0.25), np.array([0.5, 0.5]), b
    )
    assert (found.l1[0], found.u1[0], found.l2[0], found.u2[0]) == pytest.approx(expected)


@pytest.mark.paper(
    "mvabo",
    "eq-6",
    "s31-f1-bounds",
    "s31-sq",
    "s31-f2-bounds",
    "s32-g-bounds",
    "eq-8",
    "s2-bounds",
    "s32-opt-pes",
)
@given(seed=SEEDS, b=BETAS, alpha=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_bounds_are_the_papers_case_by_case(seed, b, alpha):
    mean, sd, p = random_posterior(np.random.default_rng(seed))
    found, R = objective_bounds(mean, sd**2, p, b), oracles.intervals(mean, sd, p, b)
    np.testing.assert_allclose(np.column_stack([found.l1, found.u1, found.l2, found.u2]), R,
                               atol=1e-9)  # fmt: skip
    np.testing.assert_allclose(found.diameter, oracles.diameters(R), atol=1e-9)
    low, high = found.scalarized(alpha)
    np.testing.assert_allclose(low, alpha * R[:, 0] + (1 - alpha) * R[:, 2], atol=1e-9)
    np.testing.assert_allclose(high, alpha * R[:, 1] + (1 - alpha) * R[:, 3], atol=1e-9)
    np.testing.assert_array_equal(found.pessimistic, np.column_stack([found.l1, found.l2]))


def test_blocks_do_not_matter():
    rng = np.random.default_rng(0)
    mean, sd, p = random_posterior(rng, n=3000, m=40)
    whole = objective_bounds(mean, sd**2, p, 2.0)
    some = objective_bounds(mean[1700:1703], sd[1700:1703] ** 2, p, 2.0)
    np.testing.assert_allclose(whole.l2[1700:1703], some.l2, rtol=1e-12)


@pytest.mark.paper("mvabo", "s31-f1-bounds", "s31-f2-bounds", "eq-13", "eq-3-4", "eq-5", "eq-1")
@given(seed=SEEDS, b=BETAS)
@settings(max_examples=100, deadline=None)
def test_any_f_within_its_bounds_has_f1_and_f2_within_theirs(seed, b):
    """P6: the sandwich is deterministic."""
    rng = np.random.default_rng(seed)
    mean, sd, p = random_posterior(rng)
    kind = rng.integers(3)
    u = [rng.uniform(-1, 1, mean.shape), rng.choice([-1, 1], mean.shape), 0][kind]
    f = mean + b * sd * u
    F1, F2 = objectives(f, p)
    for x in range(len(f)):
        assert F1[x] == pytest.approx(sum(f[x] * p))
        V = sum((f[x] - sum(f[x] * p)) ** 2 * p)
        assert F2[x] == pytest.approx(-np.sqrt(V))
    found = objective_bounds(mean, sd**2, p, b)
    tiny = 1e-9
    assert (found.l1 - tiny <= F1).all()
    assert (found.u1 + tiny >= F1).all()
    assert (found.l2 - tiny <= F2).all()
    assert (found.u2 + tiny >= F2).all()
    assert (found.u2 <= 0).all()


def pieces(seed, b):
    """Mean, p, sigma, and m~, s~, l~, u~, l_sq, u_sq of one design."""
    mean, sd, p = random_posterior(np.random.default_rng(seed), n=1)
    mu, s = mean[0], sd[0]
    m, st_ = mu - mu @ p, s + s @ p
    low, high = m - b * st_, m + b * st_
    low_sq = np.where((low <= 0) & (high >= 0), 0, np.minimum(low**2, high**2))
    return mean, sd, p, s, m, st_, low, high, low_sq, np.maximum(low**2, high**2)


@pytest.mark.paper("mvabo", "eq-14", "eq-16", "eq-17", "eq-18", "eq-19", "eq-20", "lemma-a1")
@given(seed=SEEDS, b=st.sampled_from([0.1, 0.5, 1.0, 3.0]))
@settings(max_examples=100, deadline=None)
def test_widths_of_one_step(seed, b):
    """P1 to P5: every step of the proof of Lemma A.1."""
    mean, sd, p, s, m, s_c, low, high, low_sq, high_sq = pieces(seed, b)
    found = objective_bounds(mean, sd**2, p, b)
    near = {"rel": 1e-9, "abs": 1e-12}
    # P1, Eq. (14)
    assert found.u1[0] - found.l1[0] == pytest.approx(2 * b * (s @ p), **near)
    np.testing.assert_allclose(high - low, 2 * b * s_c)
    assert s_c @ p == pytest.approx(2 * (s @ p), **near)
    assert s_c**2 @ p == pytest.approx(s**2 @ p + 3 * (s @ p) ** 2, **near)
    assert s_c**2 @ p <= 4 * (s**2 @ p) + 1e-12
    # P2
    step = np.maximum(low**2, high**2) - np.minimum(low**2, high**2)
    np.testing.assert_allclose(step, 4 * b * abs(m) * s_c, atol=1e-9)
    # P3, Eqs. (17), (19)
    strip = np.maximum(0, np.minimum(high, -low)) ** 2
    np.testing.assert_allclose(high_sq - low_sq, step + strip, atol=1e-9)
    assert (strip <= b**2 * s_c**2 + 1e-9).all()
    # P4, Eqs. (18), (20) under event (2)
    f = mean[0] + b * s * np.random.default_rng(seed).uniform(-1, 1, len(s))
    b_tilde = spread(f[None], p)
    assert (high_sq - low_sq <= 4 * b_tilde * b * s_c + 5 * b**2 * s_c**2 + 1e-9).all()
    integral = (high_sq - low_sq) @ p
    bound = 8 * b_tilde * b * (s @ p) + 20 * b**2 * (s**2 @ p)
    assert integral <= bound + 1e-9
    # P5, Eq. (16)
    assert found.u2[0] - found.l2[0] <= np.sqrt(bound) + 1e-9


@pytest.mark.paper("mvabo", "lemma-a1", "eq-15", "eq-21", "eq-30-32")
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_summed_widths(alpha):
    """P7, Lemma A.1: random posteriors with f inside, beta_t growing."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        T, sums, total, spreads, diagonal = int(rng.integers(1, 12)), np.zeros(2), 0.0, [], 0.0
        betas = np.sort(rng.uniform(0.2, 4, T))
        for b in betas:
            mean, sd, p = random_posterior(rng, n=1)
            f = mean + b * sd * rng.uniform(-1, 1, mean.shape)
            spreads.append(spread(f, p))
            found = objective_bounds(mean, sd**2, p, b)
            low, high = found.scalarized(alpha)
            total += high[0] - low[0]
            diagonal += found.diameter[0]
            sums += sd[0] @ p, sd[0] ** 2 @ p
        constants = {"beta_sqrt": betas[-1], "b_tilde": max(spreads)}
        assert total <= width_bound(T, *sums, weights=(alpha, 1 - alpha), **constants) + 1e-9
        assert diagonal <= width_bound(T, *sums, weights=(1, 1), **constants) + 1e-9


@pytest.mark.paper("mvabo", "lemma-d1", "lemma-d2")
def test_objectives_are_continuous_in_x():
    """P15, Lemmas D.1 and D.2 for a function of known Lipschitz constant."""
    rng = np.random.default_rng(0)
    W, p = np.linspace(-1, 1, 15), rng.dirichlet(np.ones(15))
    X = np.sort(rng.random(60))
    f = np.sin(4 * X[:, None] + 2 * W) * np.cos(W)
    L, (F1, F2), b_tilde = 4.0, objectives(f, p), spread(f, p)
    distance = abs(X[:, None] - X)
    assert (abs(F1[:, None] - F1) <= L * distance + 1e-12).all()
    assert (abs(F2[:, None] - F2) <= np.sqrt(4 * b_tilde * L * distance) + 1e-12).all()


@pytest.mark.paper("mvabo", "thm-41-btilde", "thm-c1-btilde")
def test_spread_is_the_largest_deviation_of_either_sign():
    f, p = np.array([[0.0, 1.0], [4.0, 2.0]]), np.array([0.25, 0.75])
    assert spread(f, p) == pytest.approx(1.5)
    assert spread(-f, p) == pytest.approx(1.5)
