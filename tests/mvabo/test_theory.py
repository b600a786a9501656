"""Confidence parameter, stopping times and the inequalities behind them."""

import functools

import numpy as np
import pytest

from fivebo.mvabo import study, theory
from tests.mvabo import oracles

SMALL = {"b_tilde": 1.0, "noise_var": 1.0}
GAIN = functools.partial(theory.gain_bound, n_points=4, noise_var=1.0)


def small_beta(T, share):
    return theory.beta_sqrt(2 * GAIN(T), b=1.0, delta=0.1, share=share)


def bound_41(T):
    return theory.stopping_bound(
        T, GAIN(T), beta_sqrt=small_beta(T, 3), delta=0.1, weights=(0.5, 0.5), **SMALL
    )


def bound_42(T):
    return theory.stopping_bound(
        T, GAIN(T), beta_sqrt=small_beta(T, 3), delta=0.1, weights=(1, 1), **SMALL
    )


def bound_c1(T):
    return theory.stopping_bound(
        T, GAIN(T), beta_sqrt=small_beta(T, 1), delta=0.1, weights=(0.5, 0.5), simulator=True,
        **SMALL,
    )  # fmt: skip


@pytest.mark.paper("mvabo", "thm-41", "eq-11", "eq-12", "thm-42-1", "thm-c1", "thm-b1")
@pytest.mark.parametrize(
    ("eps", "expected"),
    [
        (20, (82, 496, 1)),
        (10, (496, 3205, 31)),
        (5, (3205, 22247, 476)),
        (2, (42634, 366552, 8516)),
    ],
)
def test_stopping_times_of_a_small_domain(eps, expected):
    """Anchors: |X| = |Omega| = 2, sigma^2 = B = B~ = 1, delta = 0.1, alpha = 1/2."""
    found = tuple(theory.stopping_time(b, eps) for b in (bound_41, bound_42, bound_c1))
    assert found == expected


@pytest.mark.paper("mvabo", "eq-11", "eq-12", "thm-c1")
def test_left_sides_at_1000():
    assert bound_41(1000) == pytest.approx(7.689225, abs=1e-6)
    assert bound_42(1000) == pytest.approx(15.378451, abs=1e-6)
    assert bound_c1(1000) == pytest.approx(3.976784, abs=1e-6)


@pytest.mark.paper("mvabo", "thm-d1")
def test_a_continuous_domain_needs_half_of_eps():
    assert theory.stopping_time(bound_42, 10 / 2) == 22247


@pytest.mark.paper("mvabo", "eq-11", "cor-a1", "eq-26", "s4-c1", "s4-c2")
@pytest.mark.parametrize("reading", [16, 8])
def test_both_readings_of_the_printed_constants_are_the_raw_form(reading):
    T = np.array([1, 10, 1000, 10**6])
    constants = {
        "beta_sqrt": small_beta(T, 3), "delta": 0.1, "weights": (0.3, 0.7), "b_tilde": 2.0,
        "noise_var": 0.01,
    }  # fmt: skip
    printed = theory.printed_form(T, GAIN(T), reading=reading, **constants)
    np.testing.assert_allclose(printed, theory.stopping_bound(T, GAIN(T), **constants), rtol=1e-12)


@pytest.mark.paper("mvabo", "thm-c1", "eq-11")
def test_raw_forms_written_out():
    T, gain, b, delta = 50, 3.0, 2.5, 0.1
    S, V, q = np.sqrt(2 * T * gain / np.log(2)), 2 * gain / np.log(2), 4 * np.log(18 / delta)
    expected = 0.4 / T * 4 * b * (S + q) + 0.6 / T * np.sqrt(
        16 * T * 1.5 * b * (S + q) + 40 * T * b**2 * (V + q)
    )
    constants = {"beta_sqrt": b, "b_tilde": 1.5, "noise_var": 1.0, "delta": delta}
    found = theory.stopping_bound(T, gain, weights=(0.4, 0.6), **constants)
    assert found == pytest.approx(expected)
    expected = 0.4 / T * 2 * b * S + 0.6 / T * np.sqrt(8 * T * 1.5 * b * S + 20 * T * b**2 * V)
    found = theory.stopping_bound(T, gain, weights=(0.4, 0.6), simulator=True, **constants)
    assert found == pytest.approx(expected)


@pytest.mark.paper("mvabo", "thm-c1", "thm-c1-c1")
def test_the_simulators_bound_in_the_papers_constant():
    """C_1 = 8 / ln(1 + sigma^-2) inside Theorem C.1's own form."""
    T, gain, b, b_tilde, noise_var, alpha = 70, 2.5, 1.5, 0.8, 0.25, 0.3
    C1 = 8 / np.log(5)  # 1 + 1 / 0.25
    expected = alpha / T * b * np.sqrt(T * C1 * gain) + (1 - alpha) / T * np.sqrt(
        4 * T * b_tilde * b * np.sqrt(T * C1 * gain) + 5 * T * b**2 * C1 * gain
    )
    found = theory.stopping_bound(
        T, gain, beta_sqrt=b, b_tilde=b_tilde, noise_var=noise_var, delta=0.1,
        weights=(alpha, 1 - alpha), simulator=True,
    )  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.paper("mvabo", "s4-terms")
def test_only_the_second_term_depends_on_b_tilde():
    """T = 1, gamma = ln(2)/2, sigma = beta = 1: S = 2 gamma / L = 1."""
    settings = {"beta_sqrt": 1.0, "noise_var": 1.0, "delta": 0.9}
    gain, q = np.log(2) / 2, 4 * np.log(20)

    def bound(weights, b_tilde):
        return theory.stopping_bound(1, gain, weights=weights, b_tilde=b_tilde, **settings)

    assert bound((1, 0), 0.0) == bound((1, 0), 9.0) == pytest.approx(4 * (1 + q))
    assert bound((0, 1), 0.0) == pytest.approx(np.sqrt(40 * (1 + q)))
    assert bound((0, 1), 2.0) == pytest.approx(np.sqrt((32 + 40) * (1 + q)))


@pytest.mark.paper("mvabo", "thm-c2", "thm-c2-sound", "app-c2-bounded")
def test_noisy_simulator_bound_has_the_density_on_each_term():
    T, gain, b, R = 50, 3.0, 2.5, 1.7
    S, V = np.sqrt(2 * T * gain / np.log(2)), 2 * gain / np.log(2)
    settings = {"beta_sqrt": b, "b_tilde": 1.5, "noise_var": 1.0, "weights": (0.4, 0.6)}

    def expected(on_sd, on_var):
        root = 8 * T * 1.5 * b * on_sd * S + 20 * T * b**2 * on_var * V
        return 0.4 / T * 2 * b * on_sd * S + 0.6 / T * np.sqrt(root)

    printed = theory.noisy_simulator_bound(T, gain, density=R, **settings)
    assert printed == pytest.approx(expected(R, R))
    sound = theory.noisy_simulator_bound(T, gain, density=R, volume=3.0, **settings)
    assert sound == pytest.approx(expected(np.sqrt(3 * R), 3 * R))


@pytest.mark.paper("mvabo", "thm-c2-sound", "app-c2-rule")
def test_the_sound_rule_satisfies_both_inequalities_and_the_printed_one_does_not():
    """sigma^2 p: int sigma p <= sqrt(m R) sigma(xi), int sigma^2 p <= m R sigma^2(xi)."""
    rng, broken = np.random.default_rng(0), 0
    for _ in range(500):
        m = int(rng.integers(2, 8))
        sd, p = rng.random(m), rng.dirichlet(np.ones(m))
        j, R = int((sd**2 * p).argmax()), p.max()
        assert sd @ p <= np.sqrt(m * R) * sd[j] + 1e-12
        assert sd**2 @ p <= m * R * sd[j] ** 2 + 1e-12
        k = int((sd * p).argmax())
        broken += sd @ p > sd[k] * p[k] + 1e-12  # what the printed proof says of sigma p
    assert broken > 400


@pytest.mark.paper("mvabo", "thm-41", "s4-limit")
def test_a_time_beyond_the_limit_is_none():
    """At the size of the experiments the theorems ask for more than 10^7 rounds."""
    gain = functools.partial(theory.gain_bound, n_points=10**4, noise_var=1e-4)

    def bound(T):
        beta = theory.beta_sqrt(2 * gain(T), b=18.0, delta=0.05)
        return theory.stopping_bound(
            T, gain(T), beta_sqrt=beta, b_tilde=3.0, noise_var=1e-4, delta=0.05, weights=(0.5, 0.5)
        )

    assert theory.stopping_time(bound, 1.0) is None
    assert 1e12 < min(T for T in 10.0 ** np.arange(10, 15) if bound(T) <= 1.0) <= 1e13


@pytest.mark.paper("mvabo", "s4-limit")
def test_the_limit_is_the_last_time_that_is_tried():
    assert theory.stopping_time(lambda T: 10.0 / T, 1.0, limit=10) == 10
    assert theory.stopping_time(lambda T: 11.0 / T, 1.0, limit=10) is None
    assert theory.stopping_time(lambda T: 1025.0 / T, 1.0, limit=1025) == 1025
    assert theory.stopping_time(lambda T: 1026.0 / T, 1.0, limit=1025) is None


def test_the_smallest_time_is_found_even_if_the_bound_is_not_monotone():
    assert theory.stopping_time(lambda T: np.where(T == 3, 0.0, 5.0 - (T > 2000)), 1.0) == 3
    assert theory.stopping_time(lambda T: 3000.0 / T, 1.0) == 3000


@pytest.mark.paper("mvabo", "lemma-21", "thm-41-beta", "thm-c1-beta")
def test_beta():
    assert theory.beta_sqrt(3.0, b=2.0, delta=0.1, share=1) == pytest.approx(
        2 + np.sqrt(3 + 2 * np.log(10))
    )
    assert theory.beta_sqrt(3.0, b=2.0, delta=0.1) == pytest.approx(2 + np.sqrt(3 + 2 * np.log(30)))
    assert theory.TheoryBeta(2.0, 0.1)(3.0) == theory.beta_sqrt(3.0, b=2.0, delta=0.1)
    assert theory.TheoryBeta(2.0)(3.0) == pytest.approx(2 + np.sqrt(3 + 2 * np.log(60)))
    for bad in ({"b": 0.0, "delta": 0.1}, {"b": 1.0, "delta": 1.0}, {"b": 1.0, "delta": 0.0}):
        with pytest.raises(ValueError, match="must lie in"):
            theory.beta_sqrt(1.0, **bad)


@pytest.mark.paper("mvabo", "s4-gain", "lemma-a3", "eq-24", "eq-25")
def test_gain_bound_and_sum_of_variances():
    """P9 on random finite domains, repeats included."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        n, T, noise_var = int(rng.integers(2, 6)), int(rng.integers(1, 25)), rng.uniform(0.01, 1)
        Z = rng.random((n, 2))
        k = functools.partial(oracles.gauss, variance=1.0, lx=0.4, lw=0.3)
        picks, total, root = rng.integers(n, size=T), 0.0, 0.0
        data = []
        for i in picks:
            _, sd = oracles.posterior(k, data, [Z[i, 0]], [Z[i, 1]], noise_var)
            total, root = total + sd[0, 0] ** 2, root + sd[0, 0]
            data.append(((Z[i, 0], Z[i, 1]), 0.0))
        log_det = oracles.log_det(k, data, noise_var)
        assert log_det / 2 <= theory.gain_bound(T, n, noise_var) + 1e-9
        assert total <= theory.sum_of_variances(log_det / 2, noise_var) + 1e-9
        assert root <= np.sqrt(T * theory.sum_of_variances(log_det / 2, noise_var)) + 1e-9


@pytest.mark.paper("mvabo", "lemma-a2", "eq-22-23", "app-a1-kernel")
def test_sums_of_conditional_expectations():
    """P8: martingale processes in [0, 1]; the bound fails in at most a share delta of 400 runs."""
    assert theory.expectation_slack(0.1) == pytest.approx(8 * np.log(18 * 10))
    assert study.PROBLEMS["gp-test"]().variance == 1  # k(z, z) = 1, so K = 1
    assert theory.expectation_slack(0.1, share=1, bound=2.0) == pytest.approx(16 * np.log(12 / 0.1))
    rng, delta, failures = np.random.default_rng(0), 0.3, 0
    for _ in range(400):
        means = rng.random(60) ** rng.choice([0.3, 1, 4])
        S = (rng.random(60) < means).astype(float)  # the noisiest with these means
        slack = theory.expectation_slack(delta, share=1)
        failures += bool((np.cumsum(means) > 2 * np.cumsum(S) + slack).any())
    assert failures <= delta * 400


@pytest.mark.paper("mvabo", "thm-d1-tau", "eq-41", "eq-42", "eq-43")
def test_tau_makes_both_discretisation_errors_at_most_half_of_eps():
    for L, d, eps, b in ((5.0, 1, (0.5, 0.5), 2.0), (2.0, 2, (0.01, 3.0), 1.0)):
        tau = theory.tau(L, d, eps, b)
        assert tau == int(np.ceil(max(2 * L * d / eps[0], 16 * b * L * d / eps[1] ** 2)))
        assert L * d / tau <= eps[0] / 2 + 1e-12
        assert np.sqrt(4 * b * L * d / tau) <= eps[1] / 2 + 1e-12
    assert theory.tau(1.5, 3, (0.7, 40.0), 1.0) == 13  # 9 / 0.7 = 12.86
    assert theory.tau(1.5, 2, (90.0, 2.0), 0.3) == 4  # 14.4 / 4 = 3.6
    with pytest.raises(ValueError, match="eps"):
        theory.tau(1.0, 1, (0.0, 1.0), 1.0)
