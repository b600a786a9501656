"""Bounds on masses along random sequences, and the lemmas on resampling by Monte Carlo."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from classify_dfo import bootstrap_theory, theory
from tests.classify_dfo import oracles


def sequence(rng, hard):
    """Random h over random rounds, actions with their own rates of being cut."""
    size, rounds = rng.integers(2, 60), rng.integers(1, 60)
    h = rng.random((rounds, size)) * rng.random(size) * 1.5
    h = np.clip(h, 0, 1)
    if hard:
        h = (rng.random((rounds, size)) < h).astype(float)
    h[:, rng.integers(size)] = 1.0  # something is cut in every round
    return h


@pytest.mark.paper("classify_dfo", "thm-1", "thm-1-proof", "alg1-soft")
@pytest.mark.parametrize("hard", [True, False])
def test_theorem_1_on_random_sequences(hard):
    rng, slack = np.random.default_rng(0 if hard else 1), np.inf
    for _ in range(400):
        h, eta = sequence(rng, hard), rng.uniform(0.01, 0.5)
        history, cuts = oracles.multiplicative_weights(h, eta)
        T, size = h.shape
        before = [np.full(size, 1 / size), *history[:-1]]
        gamma = min(a @ p for a, p in zip(h, before, strict=True))
        bound = theory.theorem1_bound(T, gamma, eta, cuts, size)
        slack = min(slack, (np.log(history[-1]) - bound).min())
        nu = gamma / (eta + 2)
        assert (cuts < nu * T).sum() <= theory.rarely_cut_bound(T, gamma, eta, size) + 1e-9
        weights = np.prod(1 - eta * h, axis=0)
        assert weights.sum() <= theory.normaliser_bound(T, gamma, eta, size) + 1e-9
    assert 0 < slack < 1.0


@pytest.mark.paper("classify_dfo", "thm-1-proof")
def test_the_inequality_under_theorem_1():
    x = np.linspace(0, 0.5, 1001)
    assert (-np.log1p(-x) <= x + x**2 + 1e-15).all()


@pytest.mark.paper("classify_dfo", "cor-1", "cor-1-eta", "cor-1-share")
def test_corollary_1_follows_from_theorem_1_at_the_optimal_eta():
    q = np.linspace(1e-6, 0.25, 2001)
    eta = theory.optimal_eta(q)
    assert (eta >= 0).all()
    assert (eta <= 0.5).all()
    inner = eta < 0.5
    np.testing.assert_allclose(((eta + 1) * (eta + 2) * q)[inner], 0.5, rtol=1e-9)
    slope = eta / (eta + 2) - eta * (eta + 1) * q
    stated = theory.corollary1_bound(q, 1.0, 1, 0.5)  # log(2 |X|) = 0
    assert (slope - stated >= -1e-12).all()
    assert slope[-1] == pytest.approx(stated[-1], abs=1e-9)
    assert np.abs(1 / 10 - (1 / 6 - 2 * 0.1 / 3)) < 1e-12  # the pieces cross at q = 1 / 10
    assert theory.optimal_eta(2 / 15) == pytest.approx(0.5)


@pytest.mark.paper("classify_dfo", "cor-1")
def test_the_larger_constants_would_be_false():
    eta = np.linspace(1e-4, 0.5, 5000)
    best = (eta / (eta + 2) - eta * (eta + 1) * 0.1).max()
    assert min(1 / 5, (1 - 0.4) / 3) - best == pytest.approx(0.075, abs=1e-3)


@pytest.mark.paper("classify_dfo", "cor-1-eta")
def test_the_formula_is_not_the_maximiser():
    eta = np.linspace(1e-4, 0.5, 50_001)
    values = eta / (eta + 2) - eta * (eta + 1) * 0.2
    assert theory.optimal_eta(0.2) == pytest.approx(0.158, abs=5e-4)
    assert eta[values.argmax()] == pytest.approx(0.3816, abs=1e-3)


@pytest.mark.paper("classify_dfo", "cor-1", "cor-1-share")
@pytest.mark.parametrize("seed", range(30))
def test_corollary_1_on_random_sequences(seed):
    rng = np.random.default_rng(seed)
    h = sequence(rng, True)
    T, size = h.shape
    for _ in range(3):  # eta depends on the mistakes, and these on the coverage at that eta
        eta = rng.uniform(0.05, 0.5)
        history, cuts = oracles.multiplicative_weights(h, eta)
        before = [np.full(size, 1 / size), *history[:-1]]
        gamma = min(a @ p for a, p in zip(h, before, strict=True))
        q = cuts / (gamma * T)
        fits = (q <= 0.25) & (np.abs(theory.optimal_eta(np.minimum(q, 0.25)) - eta) < 1e-9)
        assert (np.log(history[-1])[fits] >= theory.corollary1_bound(q[fits], gamma, T, size)).all()
    history, cuts = oracles.multiplicative_weights(h, 0.5)
    before = [np.full(size, 1 / size), *history[:-1]]
    gamma = min(a @ p for a, p in zip(h, before, strict=True))
    q = cuts / (gamma * T)
    fits = q <= 2 / 15
    assert (np.log(history[-1])[fits] >= theory.corollary1_bound(q[fits], gamma, T, size)).all()
    assert (q[fits] >= theory.corollary1_least_share(gamma, T, size)).all()


@pytest.mark.paper("classify_dfo", "s2-bound")
@settings(max_examples=60, deadline=None)
@given(st.integers(2, 60), st.sampled_from([0.25, 0.5, 1.0]), st.integers(0, 10**6))
def test_noise_free_bound_with_exact_superlevel_sets(size, eta, seed):
    rng = np.random.default_rng(seed)
    f = rng.permutation(size).astype(float)
    p, best = np.full(size, 1 / size), int(f.argmin())
    for T in range(1, 25):
        order = np.argsort(f)
        median = f[order][np.searchsorted(np.cumsum(p[order]), 0.5)]
        alpha = max(median, f[best] + 0.5)  # never cuts the minimiser
        p = p * (1 - eta * (f >= alpha))
        p = p / p.sum()
        bound = theory.cutting_plane_bound(T, eta, size)
        assert np.log(p[best]) >= bound - 1e-9


@pytest.mark.paper("classify_dfo", "s2-bound")
def test_noise_free_bound_as_printed_fails():
    p = np.array([0.8, 0.2])  # |X| = 2, eta = 1/2, T = 2
    printed = min(2 * math.log(2 / 1.5) - math.log(2), 0)
    assert math.exp(printed) == pytest.approx(8 / 9)
    assert p[0] < math.exp(printed)
    assert math.log(p[0]) >= theory.cutting_plane_bound(2, 0.5, 2)


@pytest.mark.paper("classify_dfo", "cor-1-remark")
def test_mass_above_1_minus_gamma_is_cut_or_coverage_is_missed():
    assert theory.least_draws(0.25) == 4
    rng = np.random.default_rng(0)
    draws = rng.geometric(0.25, 20_000)
    assert draws.mean() == pytest.approx(4, abs=5 * draws.std() / 20_000**0.5)


@pytest.mark.paper("classify_dfo", "thm-3-batch", "thm-3-median")
@pytest.mark.parametrize("n", [8, 30, 100])
@pytest.mark.parametrize("gamma", [0.1, 0.25, 0.4])
def test_sample_medians_are_above_the_quantile(n, gamma):
    chance, bound = theory.median_failure(n, gamma)
    assert chance <= bound
    rng = np.random.default_rng(n)
    seen = np.mean(np.median(rng.random((4000, n)), axis=1) < gamma)
    strictly = stats.binom.sf(n // 2, n, gamma)
    tie = stats.binom.pmf(n // 2, n, gamma) if n % 2 == 0 else 0
    spread = 5 * math.sqrt((strictly + tie) / 4000) + 1e-3
    assert strictly - spread <= seen <= strictly + tie + spread


@pytest.mark.paper("classify_dfo", "thm-3", "thm-3-batch", "thm-a5", "thm-a7")
def test_theorem_3_and_its_kin():
    bound = theory.selective_bound(200, 0.3, 0.1, 0.5, 50)
    assert bound == pytest.approx(min(0.2 * 0.2 * 200 - math.log(100), math.log(0.7)))
    assert theory.selective_bound(10, 0.3, 0.1, 0.5, 50) == pytest.approx(0.4 - math.log(100))
    n = theory.median_batch(0.25, 0.05, 10)
    assert 10 * 2 * math.exp(-2 * 0.25**2 * n) == pytest.approx(0.05, rel=1e-9)
    assert theory.vc_batch(0.1, 3, 0.05, 10, 2.0) == pytest.approx(
        20 * (3 * math.log(10) + math.log(20) + math.log(20))
    )
    loss = bootstrap_theory.bootstrap_loss(2.0, 0.05)
    assert loss == pytest.approx(0.15)
    assert theory.selective_bound(500, 0.4, loss, 0.5, 9) == pytest.approx(math.log(0.6))


@pytest.mark.paper("classify_dfo", "thm-a6", "thm-a7")
def test_bernstein_abstention():
    assert theory.bernstein_abstention(2.0, 0.01, 1.0, 1.5) == pytest.approx(0.12)
    assert theory.bernstein_abstention(2.0, 0.01, 0.5, 1.5) == pytest.approx(0.6)


@pytest.mark.paper("classify_dfo", "lem-a1")
def test_lemma_a1_is_theorem_1_with_a_volume():
    gamma, eta, T, M, volume = 0.3, 0.4, 50, 2.0, 7.5
    stated = gamma * eta / (eta + 2) * (T - (eta + 1) * (eta + 2) * M / gamma)
    assert theory.theorem1_bound(T, gamma, eta, M, volume) == pytest.approx(
        stated - math.log(2 * volume)
    )


@pytest.mark.paper("classify_dfo", "lem-a2", "thm-a2")
@pytest.mark.parametrize("seed", range(30))
def test_lemma_a2_on_random_distributions(seed):
    rng = np.random.default_rng(seed)
    high = np.arange(40) >= rng.integers(10, 30)
    p = np.where(high, rng.random(40), 1.0)
    p = p / p.sum()
    h = high & (rng.random(40) < 0.8)
    eta = rng.uniform(0.05, 1)
    gamma, nu = p[high].sum(), p[high & ~h].sum()
    after = p * (1 - eta * h)
    after = after / after.sum()
    factor = theory.low_side_ratio(gamma, nu, eta)
    assert (factor * after[~high] >= 1 / (~high).sum() - 1e-12).all()
    if gamma + nu < 1:
        share = theory.low_share(gamma, nu)
        half = p * (1 - 0.5 * h)
        assert half[~high].sum() / half.sum() >= share - 1e-12


@pytest.mark.paper("classify_dfo", "thm-a2")
def test_theorem_a2():
    assert theory.linear_bound(10**6, 0.1, 4.0, 0.1) == -math.log(4)
    short = theory.linear_bound(10, 0.1, 4.0, 0.1)
    assert short == pytest.approx(0.2 * 0.15 * 10 - math.log(8) + math.log(0.1))
    for gamma in np.linspace(0.25, 0.75, 11):
        for nu in np.linspace(0, 0.24, 7):
            assert theory.low_share(gamma, nu) >= (0.25 - nu) / (7 / 8 + nu / 2) - 1e-12
    n = 64
    off = 2 * stats.binom.sf(n // 2 - 1, n, 0.25)
    assert off <= theory.quartile_failure(n)


@pytest.mark.paper("classify_dfo", "thm-a2")
@pytest.mark.parametrize(("n", "tau", "delta"), [(8, 0.2, 0.05), (50, 0.4, 0.01)])
def test_draws_to_keep_n(n, tau, delta):
    drawn = math.ceil(theory.draws_to_keep(n, tau, delta))
    assert stats.binom.cdf(n - 1, drawn, tau) <= delta
    rest = tau * drawn - n  # Hoeffding with equality at the formula's solution
    exact = theory.draws_to_keep(n, tau, delta)
    assert 2 * (tau * exact - n) ** 2 / exact == pytest.approx(math.log(1 / delta), rel=1e-9)
    assert rest > 0


@pytest.mark.paper("classify_dfo", "lem-a3", "thm-a3")
def test_lemma_a3_by_monte_carlo():
    rng, trials, B, d = np.random.default_rng(5), 20_000, 20, 3
    x = np.array([1.0, -2.0, 0.5])
    root = np.array([[1.0, 0, 0], [0.5, 2, 0], [0, 0.3, 0.7]])
    scale = math.sqrt(x @ root @ root.T @ x)
    for tau, excess in ((1.0, 0.0), (1.0, 0.3), (2.0, 0.5)):
        theta = rng.standard_normal((trials, B, d)) @ root.T
        seen = np.mean((theta @ x).min(axis=1) + math.sqrt(tau) * scale > excess * scale)
        chance = bootstrap_theory.missed_infimum(B, tau, excess)
        assert abs(seen - chance) < 5 * math.sqrt(chance / trials) + 1e-4
    assert bootstrap_theory.quadratic_mistake(20, 1.0) == pytest.approx(0.8413447**20, rel=1e-5)
    assert bootstrap_theory.draws_for(0.05) <= math.log(0.05) / math.log(0.95)


@pytest.mark.paper("classify_dfo", "lem-a4", "thm-a3")
@pytest.mark.parametrize(("B", "d", "c"), [(20, 5, 3.0), (10, 2, 6.0), (50, 8, 4.0)])
def test_lemma_a4_by_the_chi_square_law(B, d, c):
    exact = 1 - stats.chi2.cdf(c * d, d) ** B
    assert exact <= bootstrap_theory.far_draw_bound(B, d, c)


@pytest.mark.paper("classify_dfo", "lem-a5")
def test_lemma_a5_on_logistic_losses():
    rng, n, d, delta = np.random.default_rng(6), 400, 3, 0.1
    theta = np.array([1.0, -0.5, 0.2])

    def hessian(X):
        p = 1 / (1 + np.exp(-X @ theta))
        return (X * (p * (1 - p))[:, None]).T @ X / len(X)

    gamma = np.linalg.eigvalsh(hessian(rng.uniform(-1, 1, (200_000, d))))[0]
    bound = bootstrap_theory.least_curvature(n, d, delta, gamma, 0.25 * d)
    seen = [np.linalg.eigvalsh(hessian(rng.uniform(-1, 1, (n, d))))[0] for _ in range(200)]
    assert 0 < bound < gamma
    assert np.mean(np.array(seen) < bound) <= delta


@pytest.mark.paper("classify_dfo", "lem-a6")
def test_lemma_a6_levels_are_nested_for_a_logistic_loss():
    """L_tau in Q_{tau + zeta} in L_{tau + 2 zeta} about the minimum of a regularised loss."""
    rng = np.random.default_rng(7)
    x, z = rng.standard_normal(60), (rng.random(60) < 0.6) * 2 - 1
    grid = np.linspace(-6, 6, 24_001)
    loss = np.log1p(np.exp(-np.outer(grid, x * z))).mean(axis=1) + 0.05 * grid**2
    at = loss.argmin()
    step = grid[1] - grid[0]
    curvature = (loss[at + 1] - 2 * loss[at] + loss[at - 1]) / step**2
    quadratic = curvature / 2 * (grid - grid[at]) ** 2
    rise = loss - loss[at]
    lipschitz = np.abs(x**3).mean() / (6 * math.sqrt(3))  # largest third derivative
    for tau in (0.01, 0.05):
        zeta = bootstrap_theory.quadratic_slack(tau, 0.1, lipschitz)
        assert (quadratic[rise <= tau] <= tau + zeta + 1e-9).all()
        inside = quadratic <= tau
        outer = bootstrap_theory.quadratic_slack(tau, curvature, lipschitz)
        assert (rise[inside] <= tau + outer + 1e-9).all()


@pytest.mark.paper("classify_dfo", "thm-4", "thm-4-draws", "thm-a5")
def test_constants_of_theorem_4():
    assert bootstrap_theory.bootstrap_draws(0.05) == 62
    for constant in (5.79, 12.1, 1.83):  # the three forms that the paper prints
        assert constant <= 15
    assert math.log(0.8413447) == pytest.approx(-1 / 5.79, rel=1e-3)
    scale = bootstrap_theory.bootstrap_scale(100, 4, 0.05)
    assert scale == pytest.approx(2 + math.sqrt(math.log(20)) + 0.1)
    assert bootstrap_theory.bootstrap_error(scale, 100, 62, 0.05) == pytest.approx(
        scale**2 / 100 * math.log(62 / 0.05)
    )
    assert bootstrap_theory.bootstrap_batch(4, 0.05, 1.0, 0.1) == pytest.approx(20 * math.log(160))
    assert bootstrap_theory.repeated_batch(4, 0.05, 1.0, 0.1, 10) == pytest.approx(
        20 * (math.log(160) + math.log(20))
    )
