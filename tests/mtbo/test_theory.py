"""Schedules and constants against numbers worked by hand from the printed formulas."""

import numpy as np
import pytest

from fivebo.mtbo import baseline_theory, theory


@pytest.mark.paper("mtbo", "thm-2-radius", "thm-1")
def test_mt_kb_radius_by_hand():
    # b = 2, sigma / sqrt(eta) = 0.3 / 0.5 = 0.6, 2 log(1 / 0.05) = 5.99146454710798, sum = 3
    expected = 2 + 0.6 * np.sqrt(5.99146454710798 + 3)
    constants = {"noise_std": 0.3, "eta": 0.25, "delta": 0.05}
    assert theory.mt_kb_radius(3.0, b=2.0, **constants) == pytest.approx(expected, rel=1e-12)
    assert theory.mt_kb_radius(0.0, b=2.0, noise_std=0.3, eta=0.25, delta=1) == 2.0
    width = theory.concentration_width(0.49, 3.0, norm_f=2.0, **constants)
    assert width == pytest.approx(0.7 * expected, rel=1e-12)


@pytest.mark.paper("mtbo", "thm-1")
def test_printed_factor_of_theorem_1_is_another_number():
    value = theory.mt_kb_radius_as_printed(3.0, b=2.0, noise_std=0.3, n_tasks=4, delta=0.05)
    assert value == pytest.approx(2 + 0.6 * np.sqrt(5.99146454710798 + 3), rel=1e-12)
    other = theory.mt_kb_radius_as_printed(3.0, b=2.0, noise_std=0.3, n_tasks=9, delta=0.05)
    assert other == pytest.approx(2 + 0.9 * np.sqrt(5.99146454710798 + 3), rel=1e-12)


@pytest.mark.paper("mtbo", "thm-3-radius", "thm-3-c", "thm-3-rho")
def test_mt_bkb_radius_by_hand():
    # eps = 0.36: c_eps = 1 + 1 / 0.8 = 2.25, rho = 1.36 / 0.64 = 2.125
    # 2 log(2 / 0.05) = 7.37775890822787
    assert theory.c_epsilon(0.36) == pytest.approx(2.25)
    assert theory.nystrom_rho(0.36) == pytest.approx(2.125)
    value = theory.mt_bkb_radius(3.0, b=2.0, noise_std=0.3, eta=0.25, delta=0.05, epsilon=0.36)
    assert value == pytest.approx(4.5 + 0.6 * np.sqrt(7.37775890822787 + 6.375), rel=1e-12)
    assert theory.c_epsilon(0.1) == pytest.approx(2.054, abs=5e-4)
    assert theory.nystrom_rho(0.1) == pytest.approx(1.2222222, abs=1e-6)


@pytest.mark.paper("mtbo", "thm-3-q")
@pytest.mark.parametrize(("epsilon", "q"), [(0.1, 6591), (0.5, 647), (0.9, 1265)])
def test_oversampling_at_the_papers_horizon(epsilon, q):
    assert theory.nystrom_q(200, epsilon=epsilon, delta=0.1) == pytest.approx(q, abs=0.6)
    # Lemma 7 has 2T in place of 4T
    ratio = np.log(4000) / np.log(8000)
    lemma = theory.nystrom_q(200, epsilon=epsilon, delta=0.1, rule="lemma-7")
    assert lemma == pytest.approx(ratio * theory.nystrom_q(200, epsilon=epsilon, delta=0.1))


def test_oversampling_needs_a_round():
    assert theory.nystrom_q(1, epsilon=0.5, delta=0.1) > 0
    with pytest.raises(ValueError, match="horizon must be at least 1, got 0"):
        theory.nystrom_q(0, epsilon=0.5, delta=0.1)


@pytest.mark.paper("mtbo", "thm-3-q")
@pytest.mark.parametrize(
    ("horizon", "epsilon", "q"),
    # log 200 / 0.01, log 4 / 0.25 and, the logarithm being below 1, 1 / 0.25
    [(200, 0.1, 529.83174), (4, 0.5, 5.54517744), (2, 0.5, 4.0), (1, 0.5, 4.0)],
)
def test_order_wise_oversampling_by_hand(horizon, epsilon, q):
    value = theory.nystrom_q(horizon, epsilon=epsilon, delta=0.1, rule="order-wise")
    assert value == pytest.approx(q, rel=1e-7)


@pytest.mark.paper("mtbo", "s4-accuracy")
def test_a_lower_accuracy_needs_a_smaller_q_only_up_to_the_golden_ratio():
    """d/d eps of log((1 + eps) / (1 - eps)) - 2 log eps is 0 where eps^2 + eps = 1."""
    turn = (np.sqrt(5) - 1) / 2
    q = [theory.nystrom_q(200, epsilon=e, delta=0.1) for e in np.linspace(0.01, turn, 50)]
    assert (np.diff(q) < 0).all()
    q = [theory.nystrom_q(200, epsilon=e, delta=0.1) for e in np.linspace(turn, 0.99, 50)]
    assert (np.diff(q) > 0).all()


@pytest.mark.paper("mtbo", "thm-2-regret")
def test_theorem_2_bound_by_hand():
    # 2 (2 + 0.6 sqrt(5.99146454710798 + 3)) sqrt((1 + 2 / 0.25) * 100 * 4)
    value = theory.theorem2_bound(
        100, 3.0, 4.0, b=2.0, noise_std=0.3, eta=0.25, delta=0.05, kappa=2.0
    )
    assert value == pytest.approx(2 * (2 + 0.6 * np.sqrt(8.99146454710798)) * 60, rel=1e-12)


@pytest.mark.paper("mtbo", "thm-3-regret")
def test_theorem_3_bound_by_hand_and_its_factor():
    constants = {"b": 2.0, "noise_std": 0.3, "eta": 0.25, "kappa": 2.0}
    value = theory.theorem3_bound(100, 3.0, 4.0, delta=0.05, epsilon=0.36, **constants)
    radius = 4.5 + 0.6 * np.sqrt(7.37775890822787 + 2.125**2 * 3)
    assert value == pytest.approx(2 * radius * np.sqrt(2.125) * 60, rel=1e-12)
    assert theory.regret_factor(0.36) == pytest.approx(6.1954, abs=1e-4)  # 2 * 2.125^1.5
    rng = np.random.default_rng(0)
    for gain, epsilon in zip(rng.uniform(0, 50, 50), rng.uniform(0.01, 0.95, 50), strict=True):
        upper = theory.regret_factor(epsilon) * theory.theorem2_bound(
            100, gain, 4.0, delta=0.025, **constants
        )
        bound = theory.theorem3_bound(100, gain, 4.0, delta=0.05, epsilon=epsilon, **constants)
        assert bound <= upper * (1 + 1e-12)


@pytest.mark.paper("mtbo", "thm-3-dictionary", "s4-dictionary-growth")
def test_dictionary_bound_by_hand():
    value = theory.theorem3_dictionary_bound(4.0, q=10.0, epsilon=0.36, kappa=2.0, eta=0.25)
    assert value == pytest.approx(3 * 2.125 * 10 * 9 * 4)


@pytest.mark.paper("mtbo", "app-e-it-radius")
def test_igp_ucb_radius_by_hand():
    # 1 + 0.2 sqrt(2 (1.5 + 1 + log 10)), log 10 = 2.302585092994046
    value = baseline_theory.igp_ucb_radius(1.5, b=1.0, noise_std=0.2, delta=0.1)
    assert value == pytest.approx(1 + 0.2 * np.sqrt(2 * 4.802585092994046), rel=1e-12)
    # at n = 1 the self-normalised form is Theorem 1's: the gain here has the factor 1/2
    ours = baseline_theory.igp_ucb_radius(1.5, b=1.0, noise_std=0.2, delta=0.1, eta=0.3)
    paper = theory.mt_kb_radius(3.0, b=1.0, noise_std=0.2, delta=0.1, eta=0.3)
    assert ours == pytest.approx(paper, rel=1e-12)
    assert baseline_theory.igp_ucb_regulariser(200) == 1.01


@pytest.mark.paper("mtbo", "app-e-it-bkb")
def test_bkb_radius_by_hand():
    constants = {"b": 1.0, "noise_std": 0.2, "eta": 0.25, "delta": 0.1}
    # 2.25 + 0.8 sqrt(2.125 log(7) 3 + log 10)
    value = baseline_theory.bkb_radius(7, 3.0, epsilon=0.36, **constants)
    inside = 2.125 * 1.9459101490553132 * 3 + 2.302585092994046
    assert value == pytest.approx(2.25 + 0.8 * np.sqrt(inside), rel=1e-12)
    assert baseline_theory.bkb_radius(0, 0.0, epsilon=0.36, **constants) == pytest.approx(
        2.25 + 0.8 * np.sqrt(2.302585092994046)
    )
    code = baseline_theory.bkb_code_radius(7, 3.0, **constants)
    inside = 1.9459101490553132 * 3 + 2.302585092994046
    assert code == pytest.approx(1 + 0.4 * np.sqrt(inside), rel=1e-12)


@pytest.mark.paper("mtbo", "app-e-it-bkb")
def test_bkb_radius_does_not_grow_where_its_logarithm_is_not_positive():
    # log(kappa^2 t) is 0 at t = 1 and kappa = 1, and log t is 0 at t = 1; the sum is 3 all the same
    constants = {"b": 1.0, "noise_std": 0.2, "eta": 0.25, "delta": 0.1}
    flat = 2.25 + 0.8 * 1.5174271293851463  # sqrt(log 10)
    assert baseline_theory.bkb_radius(1, 3.0, epsilon=0.36, **constants) == pytest.approx(flat)
    small = baseline_theory.bkb_radius(1, 3.0, epsilon=0.36, kappa_sq=0.5, **constants)
    assert small == pytest.approx(flat)
    # kappa^2 = 2, t = 3: log 6 = 1.791759469228055
    large = baseline_theory.bkb_radius(3, 3.0, epsilon=0.36, kappa_sq=2.0, **constants)
    inside = 2.125 * 1.791759469228055 * 3 + 2.302585092994046
    assert large == pytest.approx(2.25 + 0.8 * np.sqrt(inside), rel=1e-12)
    code = 1 + 0.4 * 1.5174271293851463
    assert baseline_theory.bkb_code_radius(1, 3.0, **constants) == pytest.approx(code)
    assert baseline_theory.bkb_code_radius(0, 0.0, **constants) == pytest.approx(code)


@pytest.mark.paper("mtbo", "app-e-mobo")
def test_mobo_radius_by_hand():
    assert baseline_theory.mobo_radius(4) == pytest.approx(np.sqrt(0.125 * np.log(9)))
    assert baseline_theory.mobo_radius(4, dim=2, rule="dragonfly") == pytest.approx(
        np.sqrt(0.4 * np.log(17))
    )


@pytest.mark.parametrize("delta", [0.0, -0.1, 1.1, np.nan])
def test_failure_probability_out_of_range(delta):
    with pytest.raises(ValueError, match="delta"):
        theory.mt_kb_radius(1.0, b=1.0, noise_std=0.1, eta=0.1, delta=delta)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -0.5])
def test_accuracy_out_of_range(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        theory.nystrom_rho(epsilon)
