"""Bounds and constants: numeric anchors, literal formulas, growth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fivebo.egpbo import theory

ANCHOR = {"n_models": 4, "dim": 2, "noise_var": 0.2, "growth": 0.5, "expected_sup": 1.0}


@pytest.mark.paper("egpbo", "thm-1", "thm-1-c1", "thm-1-c2", "lemma-3")
def test_theorem_1_anchor():
    assert theory.theorem1_c1(2, 0.2) == pytest.approx(3.607163, abs=1e-6)
    assert theory.theorem1_terms(100, **ANCHOR) == pytest.approx(
        (489.5744, 38.3882, 40.1254), abs=1e-4
    )
    assert theory.theorem1_bound(100, **ANCHOR) == pytest.approx(568.0880, abs=1e-4)


@pytest.mark.paper("egpbo", "thm-1")
@given(st.integers(2, 10_000), st.integers(1, 20), st.integers(1, 10), st.floats(0, 0.99))
def test_theorem_1_literally(T, M, d, c):
    s2, B = 0.3, 1.7
    c1 = (2 + d**0.5) * (2 / np.log(1 + s2**-1)) ** 0.5
    c2 = 9 * M * B + np.pi**2 * d / 6 + (2 * np.pi) ** 0.5 * M / 12
    expected = c1 * (M * T ** (c + 1) * np.log(T)) ** 0.5
    expected += 2 * s2**0.5 * (M * T * np.log(T)) ** 0.5 + c2
    found = theory.theorem1_bound(T, n_models=M, dim=d, noise_var=s2, growth=c, expected_sup=B)
    assert found == pytest.approx(expected)


@pytest.mark.paper("egpbo", "thm-1", "thm-1-c1", "thm-1-c2", "lemma-3")
def test_theorem_1_at_its_smallest_values():
    """One evaluation, kernel and input, a supremum of 0: both roots vanish with log 1."""
    smallest = {"n_models": 1, "dim": 1, "noise_var": 1.0, "growth": 0.0, "expected_sup": 0.0}
    assert theory.theorem1_c1(1, 1.0) == pytest.approx(3 * (2 / 0.693147) ** 0.5, rel=1e-6)
    first, second, third = theory.theorem1_terms(1, **smallest)
    assert first == second == 0
    assert third == pytest.approx(1.644934 + 2.506628 / 12, abs=1e-6)  # pi^2 / 6, sqrt(2 pi) / 12


@pytest.mark.paper("egpbo", "thm-1-sublinear")
def test_the_bound_is_sublinear():
    T = 10.0 ** np.arange(5, 20)  # past exp(10), where T^0.1 overtakes log T
    per_step = theory.theorem1_bound(T, **ANCHOR | {"growth": 0.9}) / T
    assert (np.diff(per_step) < 0).all()


@pytest.mark.paper("egpbo", "thm-2", "lemma-2")
def test_theorem_2_scales_the_first_term():
    first, second, third = theory.theorem1_terms(100, **ANCHOR)
    assert theory.theorem2_bound(100, rho=1.0, **ANCHOR) == pytest.approx(first + second + third)
    assert theory.theorem2_bound(100, rho=4.0, **ANCHOR) == pytest.approx(
        2 * first + second + third
    )


@pytest.mark.paper("egpbo", "lemma-2")
def test_variance_ratio_bounds_the_ratio_of_posterior_variances():
    rng = np.random.default_rng(0)
    X = rng.random((14, 1))
    K = np.exp(-0.5 * (X - X.T) ** 2 / 0.2**2)
    noise = 0.05

    def variances(told):
        A = K[np.ix_(told, told)] + noise * np.eye(len(told))
        return np.diag(K - K[:, told] @ np.linalg.solve(A, K[told]))

    def log_det(told):
        return np.linalg.slogdet(np.eye(len(told)) + K[np.ix_(told, told)] / noise)[1]

    some, everything = list(range(8)), list(range(11))  # three evaluations are out
    rho = (variances(some) / variances(everything)).max()
    assert 1 <= rho <= theory.variance_ratio(log_det(everything), log_det(some))


@pytest.mark.paper("egpbo", "lemma-2")
def test_variance_ratio_is_attained_at_a_single_pending_point():
    """Prior variance 1, noise 1/4: the variance falls from 1 to 1/5, and det(I + K / s^2) is 5."""
    assert theory.variance_ratio(np.log(5.0), 0.0) == pytest.approx(5)
    assert theory.variance_ratio(4.0, 3.0) == pytest.approx(np.e)
    assert theory.variance_ratio(3.0, 3.0) == 1
    assert theory.variance_ratio(3.0 - 0.5e-12, 3.0) == 1  # rounding
    with pytest.raises(ValueError, match="log_det_full"):
        theory.variance_ratio(3.0 - 1.5e-12, 3.0)


@pytest.mark.paper("egpbo", "lemma-1", "s4-matern")
def test_exponents_and_gains_worked_by_hand():
    assert theory.gain_exponent("matern-3/2", 1) == 0.25
    assert theory.gain_exponent("matern-5/2", 3) == 0.375
    independent = theory.greedy_gain(np.diag([1.0, 2.0, 5.0]), 1.0, 3)  # largest variance first
    np.testing.assert_allclose(independent, 0.5 * np.log([6, 6 * 3, 6 * 3 * 2]))
    correlated = theory.greedy_gain([[1.0, 0.5], [0.5, 2.0]], 0.5, 2)  # det [[3, 1], [1, 5]] = 14
    np.testing.assert_allclose(correlated, [0.5 * np.log(5), 0.5 * np.log(14)])


@pytest.mark.paper("egpbo", "lemma-1", "s4-matern")
def test_growth_of_the_information_gain():
    assert theory.gain_exponent("rbf", 5) == 0
    assert theory.gain_exponent("matern-5/2", 2) == pytest.approx(2 / 7)
    x = np.linspace(0, 1, 300)[:, None]
    K = np.exp(-0.5 * (x - x.T) ** 2 / 0.2**2)
    gains = theory.greedy_gain(K, 0.1, 200)
    assert (np.diff(gains) > 0).all()
    assert gains[0] == pytest.approx(0.5 * np.log(1 + 1 / 0.1))
    slope = np.polyfit(np.log(np.arange(50, 201)), np.log(gains[49:]), 1)[0]
    assert slope < 0.4  # polylogarithmic
    chosen = 0.5 * np.linalg.slogdet(np.eye(300) + K / 0.1)[1]
    assert gains[-1] < chosen


@pytest.mark.paper("egpbo", "s5-exp3-rate")
def test_exp3_rate():
    assert theory.exp3_rate(11, 200) == pytest.approx(0.2770, abs=1e-4)
    assert theory.exp3_rate(4, 200) == pytest.approx(0.1270, abs=1e-4)
    assert theory.exp3_rate(11, 1) == 1
    assert theory.exp3_rate(1, 200) == 0  # one arm leaves nothing to explore


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: theory.theorem1_bound(0, **ANCHOR), "T must"),
        (lambda: theory.theorem1_bound(9, **ANCHOR | {"growth": 1.0}), "growth"),
        (lambda: theory.theorem1_bound(9, **ANCHOR | {"noise_var": 0.0}), "noise_var"),
        (lambda: theory.theorem1_bound(9, **ANCHOR | {"n_models": 0}), "n_models"),
        (lambda: theory.theorem2_bound(9, rho=0.5, **ANCHOR), "rho"),
        (lambda: theory.variance_ratio(1.0, 2.0), "log_det_full"),
        (lambda: theory.gain_exponent("cosine", 2), "family"),
        (lambda: theory.theorem1_c1(0, 0.2), "dim"),
        (lambda: theory.theorem1_c2(4, 0, 1.0), "dim"),
        (lambda: theory.theorem1_c2(4, 2, -0.1), "expected_sup"),
        (lambda: theory.exp3_rate(0, 9), "n_arms"),
        (lambda: theory.exp3_rate(4, 0), "horizon"),
    ],
)
def test_values_outside_their_range_are_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()
