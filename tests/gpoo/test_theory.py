"""Widths, constants and bounds against their formulas and the paper's anchors."""

import numpy as np
import pytest

from fivebo.gpoo import theory
from fivebo.gpoo.functions import lipschitz_quantile, published_function
from fivebo.gpoo.tree import Partition


@pytest.mark.paper("gpoo", "lemma-1-beta", "s5-beta")
def test_golden_beta():
    t = np.array([2, 10, 20, 40, 80])
    scaled = theory.beta_scaled(t)
    np.testing.assert_allclose(scaled, [0.4187, 0.7405, 0.8792, 1.0178, 1.1564], atol=5e-5)
    proof = theory.beta_srinivas(t, p=0.1)
    np.testing.assert_allclose(proof, [8.37, 14.81, 17.58, 20.36, 23.13], atol=6e-3)
    np.testing.assert_allclose(proof, 20 * scaled)
    union = theory.beta_union(t, p=0.1, arity=2)
    np.testing.assert_allclose(union, 2 * np.log((1 + 2 * t) * np.pi**2 * t**2 / 0.6))


@pytest.mark.paper("gpoo", "lemma-1-beta", "s5-beta", "s3-beta-time")
def test_betas_worked_by_hand():
    """log(pi^2 / 0.6) = 2.8002854, log(pi^2 / 3) = 1.1908475, and so on."""
    assert theory.beta_srinivas(1, p=0.1) == pytest.approx(5.6005708, abs=1e-6)
    assert theory.beta_srinivas(1, p=0.5) == pytest.approx(2.3816950, abs=1e-6)
    assert theory.beta_srinivas(3, p=0.1) == pytest.approx(5.6005708 + 4 * 1.0986123, abs=1e-6)
    assert theory.beta_union(1, p=0.1, arity=2) == pytest.approx(5.6005708 + 2.1972246, abs=1e-6)
    assert theory.beta_union(3, p=0.1, arity=4) == pytest.approx(9.9950200 + 5.1298987, abs=1e-6)
    assert theory.beta_scaled(1) == pytest.approx(0.28002854, abs=1e-7)
    assert theory.beta_scaled(1, p=0.5, scale=3.0) == pytest.approx(3.5725425, abs=1e-6)
    t = np.array([10.0, 1e3, 1e5, 1e7])
    for beta in (theory.beta_srinivas(t, p=0.1), theory.beta_union(t, p=0.1, arity=2)):
        assert (np.diff(beta / np.log(t)) < 0).all()  # O(log t)
        assert (np.diff(beta) > 0).all()


@pytest.mark.paper("gpoo", "lemma-1-beta")
def test_union_bound_sums_to_p():
    t = np.arange(1, 200001)
    failures = (1 + 3 * t) * np.exp(-theory.beta_union(t, p=0.1, arity=3) / 2)
    assert 0.0999 < failures.sum() <= 0.1


@pytest.mark.paper("gpoo", "a2-tail", "app-a-lipschitz")
def test_lipschitz_constant_inverts_the_tail():
    for p in (0.01, 0.1, 0.5):
        L = theory.lipschitz_constant(p, a=1.5, b=3.0, dim=2)
        assert theory.lipschitz_tail(L, a=1.5, b=3.0, dim=2) == pytest.approx(p)
    with pytest.raises(ValueError, match="at most d a"):
        theory.lipschitz_constant(0.9, a=0.5, b=1.0)


@pytest.mark.paper("gpoo", "a2-tail", "app-a-lipschitz")
def test_lipschitz_constants_worked_by_hand():
    assert theory.lipschitz_tail(2.0, a=1.0, b=2.0) == pytest.approx(0.3678794412)  # 1 / e
    assert theory.lipschitz_tail(3.0, a=0.5, b=1.5, dim=2) == pytest.approx(0.0183156389)  # e^-4
    assert theory.lipschitz_constant(0.1, a=1.0, b=2.0) == pytest.approx(3.0348542587)
    assert theory.lipschitz_constant(0.8, a=1.0, b=1.0) == pytest.approx(0.4723807271)
    assert theory.lipschitz_constant(0.5, a=0.5, b=1.0) == 0  # the bound says nothing below


@pytest.mark.paper("gpoo", "app-a-quantile")
def test_golden_quantiles_of_the_largest_slope():
    """Medians and tails measured by an independent sampler; two to three per cent apart."""
    for length_scale, expected in ((0.1, (6.4, 8.9, 11.1)), (0.05, (14.8, 19.2, 23.4))):
        found = [lipschitz_quantile(length_scale, 0.1, 1, p) for p in (0.5, 0.1, 0.01)]
        np.testing.assert_allclose(found, expected, rtol=0.035)
    # the peak over an interval exceeds the value at a point
    assert found[0] > theory.derivative_std(0.05, 0.1)


@pytest.mark.paper("gpoo", "a2-kernels")
def test_derivative_std_by_finite_differences():
    from sklearn.gaussian_process.kernels import RBF, Matern

    for kernel, nu in ((RBF(0.3), np.inf), (Matern(0.3, nu=2.5), 2.5)):
        h = 1e-3
        k = kernel(np.array([[0.0], [h]]))
        std = np.sqrt((k[0, 0] + k[1, 1] - 2 * k[0, 1]) / h**2)
        assert theory.derivative_std(0.3, nu=nu) == pytest.approx(std, rel=1e-3)
    assert theory.derivative_std(0.2, 0.09) == pytest.approx(1.5)
    assert theory.derivative_std(0.2, 0.09, nu=2.5) == pytest.approx(1.9364916731)  # sqrt(5/3)
    assert theory.derivative_std(0.2, 0.09, nu=1.5) == pytest.approx(2.5980762114)  # sqrt(3)
    for nu in (0.5, 1.0):
        with pytest.raises(ValueError, match="nu must exceed 1"):
            theory.derivative_std(0.3, nu=nu)


@pytest.mark.paper("gpoo", "a3-diameters", "s5-delta", "code-c7-base")
def test_deltas():
    delta = theory.lipschitz_delta(Partition(1, 2, 10), 19.2)
    assert delta(3) == pytest.approx(19.2 * 0.95 / 8)
    fourteen = theory.geometric_delta(14, 2)
    assert fourteen(8) == pytest.approx(0.0546875)
    with pytest.raises(ValueError, match="base must exceed 1"):
        theory.geometric_delta(14, 1)


@pytest.mark.paper("gpoo", "code-c8")
def test_predictive_variance_stops_expansion_at_depth_7():
    """sqrt(beta_80 0.005) exceeds delta(8) and not delta(7), whatever the posterior is."""
    width = theory.confidence_width(0.005, theory.beta_scaled(80))
    assert width == pytest.approx(0.0760, abs=5e-5)
    delta = theory.geometric_delta(14, 2)
    assert width > 1.3 * delta(8)
    assert not theory.is_expanded(width, delta(8))
    assert theory.is_expanded(width, delta(7))


@pytest.mark.paper("gpoo", "eq-5", "s3-confidence", "s3-expansion-equality")
def test_b_value_and_expansion():
    width = theory.confidence_width(0.04, 2.25)
    assert width == pytest.approx(0.3)
    assert theory.b_value(0.5, width, 0.2) == pytest.approx(1.0)
    assert theory.is_expanded(0.3, 0.3)


@pytest.mark.paper("gpoo", "s4-pulls")
def test_pulls_of_one_node_bring_its_interval_within_delta():
    from fivebo.common.gp.posterior import GP
    from fivebo.gpoo import SquaredExponential

    for beta, margin in ((2.0, 0.11), (9.0, 0.2), (1.0, 3.0)):
        T = int(theory.pulls_bound(beta, 0.01, margin))
        gp = GP(SquaredExponential(0.1, 0.5), 0.01)
        for _ in range(T):
            gp.condition([[0.3]], [0.0])
        width = theory.confidence_width(gp.predict([[0.3]])[1][0], beta)
        assert width <= margin


@pytest.mark.paper("gpoo", "s4-pulls")
def test_pulls_worked_by_hand_and_by_the_least_number_that_suffices():
    found = theory.pulls_bound([23.1282, 2.0, 2.0, 0.5], 0.01, [0.109375, 0.1, 0.2, 1.0])
    assert found.tolist() == [20, 2, 1, 1]
    rng = np.random.default_rng(0)
    for beta, margin in zip(rng.uniform(0.3, 25, 40), rng.uniform(0.03, 2, 40), strict=True):
        for prior in (0.01, 0.1, 1e9):
            T = 1
            while beta * 0.01 * prior / (T * prior + 0.01) > margin**2:
                T += 1
            bound = theory.pulls_bound(beta, 0.01, margin)
            assert bound == T if prior > 1 else bound >= T


@pytest.mark.paper("gpoo", "s4-selected", "s4-expanded")
def test_selected_gap_is_three_deltas_at_most_if_the_interval_is_within_delta():
    assert theory.expanded_gap(0.2, 0.2) == pytest.approx(0.6)
    assert theory.expanded_gap(0.2, 0.1) == pytest.approx(0.4)
    assert theory.expanded_gap([0.2, 1.0], 0.3) == pytest.approx([0.8, 1.6])


@pytest.mark.paper("gpoo", "def-3", "thm-depth", "thm-regret")
def test_budget_argument_by_enumeration():
    margins, counts = [2.0**-h for h in range(9)], [1, 2, 3, 3, 3, 3, 3, 3]
    pulls = [int(np.ceil(4.0 * 0.01 / m**2)) for m in margins]
    for budget in (0, 1, 5, 50, 700, 10**6):
        depth, spent = -1, pulls[0]
        for level in range(8):
            if spent <= budget:
                depth = level
            spent += 2 * counts[level] * pulls[level + 1]
        found = theory.depth_bound(budget, counts, margins, beta=4.0, noise_var=0.01, arity=2)
        assert found == depth
    assert theory.near_optimal([0.1, 0.5, 0.9], 1.0, 0.2).tolist() == [False, True, True]
    exact = theory.near_optimal([0.24, 0.25, 1.0], 1.0, 0.25)  # equality counts
    assert exact.tolist() == [False, True, True]
    assert theory.regret_bound(0.1) == pytest.approx(0.3)
    assert theory.regret_bound(0.1, 0.02, 0.03) == pytest.approx(0.35)


@pytest.mark.paper("gpoo", "thm-depth")
def test_budget_argument_worked_by_hand():
    """n(delta) = 2, 8, 32 and 128: depths 0, 1 and 2 cost 2, 2 + 3 * 8 and 26 + 3 * 2 * 32."""
    settings = {"beta": 8.0, "noise_var": 0.01, "arity": 3}
    margins, counts = [0.2, 0.1, 0.05, 0.025], [1, 2, 5]
    for budget, depth in ((1, -1), (2, 0), (25, 0), (26, 1), (217, 1), (218, 2), (10**9, 2)):
        assert theory.depth_bound(budget, counts, margins, **settings) == depth
    # what is not given is not counted
    assert theory.depth_bound(10**9, [1, 2], margins, **settings) == 1
    assert theory.depth_bound(10**9, counts, margins[:2], **settings) == 0


@pytest.mark.paper("gpoo", "thm-rate")
def test_rate_is_the_depth_that_the_budget_buys():
    """delta(H) with C delta^-d cells a depth: N = beta sigma^2 delta^-(d+2) up to constants."""
    beta, noise_var = 20.0, 0.01
    for d in (0.0, 0.5, 1.0):
        reached = []
        for budget in (10**4, 10**8):
            margins = [1.4**-h for h in range(200)]
            counts = [max(1.0, m**-d) for m in margins]
            H = theory.depth_bound(budget, counts, margins, beta=beta, noise_var=noise_var, arity=2)
            rate = theory.regret_rate(budget, dimension=d, beta=beta, noise_var=noise_var)
            reached.append(margins[H] / rate)
        assert reached[0] == pytest.approx(reached[1], rel=0.6)


@pytest.mark.paper("gpoo", "thm-rate")
def test_rates_worked_by_hand():
    rate = theory.regret_rate([200, 3200], dimension=2.0, beta=20.0, noise_var=0.1)
    assert rate == pytest.approx([0.3162277660, 0.1581138830])  # 0.01^(1/4), and half of it
    assert theory.regret_rate(200, dimension=0.0, beta=20.0, noise_var=0.1) == pytest.approx(0.1)


@pytest.mark.paper("gpoo", "def-3", "thm-rate")
@pytest.mark.parametrize(("number", "S"), [(1, 1), (1, 10), (2, 1)])
def test_near_optimal_cells_of_a_quadratic_peak_grow_like_a_dimension_of_one_half(number, S):
    """Within 3 delta of the top lie sqrt(delta) / delta cells: |I_h| delta^(1/2) levels off."""
    f, partition = published_function(number), Partition(1, 2, S)
    delta = theory.lipschitz_delta(partition, f.largest_slope())
    scaled = []
    for h in (12, 13, 14):
        edges = np.arange(2**h) / 2**h
        steps = (np.arange(S) + 0.5) / S / 2**h
        values = sum(f((edges + step)[:, None]) for step in steps) / S
        count = theory.near_optimal(values, f.maximum(), delta(h)).sum()
        scaled.append(count * delta(h) ** 0.5)
    assert scaled == pytest.approx([scaled[0]] * 3, rel=0.1)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: theory.beta_srinivas(0, p=0.1), "count from 1"),
        (lambda: theory.beta_srinivas(1, p=1.0), r"p must lie in \(0, 1\)"),
        (lambda: theory.beta_union(1, p=0.0, arity=2), "p must lie"),
        (lambda: theory.lipschitz_delta(Partition(), -1.0), "L must lie"),
        (lambda: theory.pulls_bound(1.0, 0.0, 0.1), "noise_var must lie"),
    ],
)
def test_values_out_of_range_are_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()
