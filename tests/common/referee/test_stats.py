"""Laws, textbook values and degenerate samples of the statistics behind the verdicts."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from fivebo.common.referee import coverage, stats


def pairs(rng, n, ratio, spread=0.4):
    """Return paired, skewed, positive samples whose means differ by `ratio`."""
    shared = rng.gamma(4, 1, n)
    a, b = (shared * np.exp(rng.normal(0, spread, n)) for _ in range(2))
    return ratio * a, b


def test_ratio_of_means_and_its_parts_agree():
    a, b = pairs(np.random.default_rng(0), 15, 0.7)
    found = stats.compare(a, b)
    assert found.effect == pytest.approx(a.mean() / b.mean())
    assert stats.log_ratio_parts(a, b).mean() == pytest.approx(math.log(found.effect))
    assert found.low < found.effect < found.high


def test_swapping_the_methods_inverts_the_comparison():
    a, b = pairs(np.random.default_rng(1), 12, 0.8)
    one, other = stats.compare(a, b), stats.compare(b, a)
    assert one.effect == pytest.approx(1 / other.effect)
    assert one.low == pytest.approx(1 / other.high)
    assert one.p_less == pytest.approx(other.p_greater)


def test_sign_flip_p_value_is_the_enumerated_one():
    differences = np.array([-3.0, -1.0, 2.0, -4.0])
    means = [np.mean(differences * [1 - 2 * (k >> i & 1) for i in range(4)]) for k in range(16)]
    expected = np.mean([m <= differences.mean() + 1e-12 for m in means])
    assert stats.sign_flip_test(differences)[0] == pytest.approx(expected)


def test_sign_flip_is_the_same_in_every_call():
    differences = np.random.default_rng(2).normal(0.1, 1, 40)
    assert stats.sign_flip_test(differences) == stats.sign_flip_test(differences)


def test_interval_of_a_ratio_covers_the_truth():
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(400):
        found = stats.mean_interval(stats.log_ratio_parts(*pairs(rng, 10, 0.6)))
        hits += found[0] <= math.log(0.6) <= found[1]
    assert 0.90 <= hits / 400 <= 0.99


def test_null_rejections_stay_at_the_level():
    rng = np.random.default_rng(4)
    rejected = np.mean([stats.compare(*pairs(rng, 8, 1.0)).p_less < 0.05 for _ in range(400)])
    assert rejected < 0.08


@pytest.mark.parametrize(
    ("a", "b", "effect"),
    [
        ([2.0], [4.0], 0.5),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 1.0),
        ([1.0] * 6, [1.0] * 6, 1.0),
        ([0.0] * 6, [2.0] * 6, 0.0),
    ],
)
def test_degenerate_samples_give_numbers(a, b, effect):
    found = stats.compare(a, b)
    assert found.effect == effect
    assert not any(map(math.isnan, vars(found).values()))
    if len(a) == 1 or a == b:
        assert found.p_less == 1.0


def test_no_variance_is_a_point_and_significant():
    found = stats.compare([1.0] * 6, [2.0] * 6)
    assert (found.low, found.high) == (0.5, 0.5)
    assert found.p_less == pytest.approx(2**-6)


@pytest.mark.parametrize("bad", [[], [np.nan, 1.0], [np.inf], [[1.0, 2.0]]])
def test_bad_samples_are_refused(bad):
    with pytest.raises(ValueError, match="non-empty 1-D sample of finite numbers"):
        stats.mean_interval(bad)


def test_ratio_refuses_unpaired_and_negative_samples():
    with pytest.raises(ValueError, match="must be paired"):
        stats.log_ratio_parts([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="positive means"):
        stats.compare([-1.0, -2.0], [1.0, 1.0])


def test_t_interval_matches_scipy():
    values = np.random.default_rng(5).normal(size=9)
    expected = scipy_stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert stats.mean_interval(values) == pytest.approx((expected.low, expected.high))
    assert stats.mean_interval([3.0]) == (-math.inf, math.inf)


def test_one_sided_matches_scipy():
    values = np.random.default_rng(6).normal(1, 1, 7)
    expected = scipy_stats.ttest_1samp(values, 0.5, alternative="less").pvalue
    assert stats.one_sided(values, 0.5) == pytest.approx((expected, 1 - expected))
    assert stats.one_sided([2.0, 2.0], 1.0) == (1.0, 0.0)


def test_gains_are_compared_as_a_ratio_of_ratios():
    rng = np.random.default_rng(7)
    first, second = pairs(rng, 20, 0.9), pairs(rng, 20, 0.4)
    found = stats.compare_gains(first, second)
    ratios = [a.mean() / b.mean() for a, b in (first, second)]
    assert found.effect == pytest.approx(ratios[1] / ratios[0])
    assert found.p_less < 0.01
    assert found.low < found.effect < found.high < 1
    exact = ([1.0, 1.0], [2.0, 2.0])
    assert stats.compare_gains(exact, exact).p_less == 1.0


def test_holm_textbook_example():
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert stats.holm([0.9, 0.8]).max() == 1.0
    assert stats.holm([]).size == 0


def test_power_calculation_has_the_power():
    n = stats.seeds_needed(0.5, 1.0)
    assert n == 27  # G*Power: one-sided one-sample t, d = 0.5, alpha 0.05, power 0.8
    rng = np.random.default_rng(8)
    found = np.mean([stats.one_sided(rng.normal(0.5, 1, n), 0)[1] < 0.05 for _ in range(1000)])
    assert found == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(("distance", "std"), [(0.0, 1.0), (-1.0, 1.0), (1e-9, 1.0), (1.0, np.inf)])
def test_power_calculation_gives_up(distance, std):
    assert stats.seeds_needed(distance, std) is None


def test_trend_is_found_in_its_direction_only():
    rng = np.random.default_rng(9)
    falling = rng.normal(size=(8, 4)) * 0.3 - np.arange(4)
    assert stats.trend_test(falling)[0] < 0.001 < 0.99 < stats.trend_test(falling)[1]
    assert stats.trend_test(np.ones((4, 3))) == (1.0, 1.0)
    with pytest.raises(ValueError, match="3 or more"):
        stats.trend_test(np.ones((4, 2)))


def test_slope_of_a_power_law():
    steps = np.array([1, 5, 20, 100])
    assert stats.loglog_slope(steps, 3.0 * steps**1.7) == pytest.approx(1.7)
    with pytest.raises(ValueError, match="at least 3 positive points, got 2 of 3"):
        stats.loglog_slope([1, 2, 3], [1.0, 0.0, 2.0])


def test_clopper_pearson_known_interval():
    found = coverage.coverage(0, 10, 0.1)
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 10))
    assert found.low == 0.0
    assert coverage.coverage(3, 10, 0.0).p_greater == 0.0


def test_runs_to_certify():
    assert coverage.runs_to_certify(0.0, 0.1) == 29
    assert 0.9**29 < 0.05 < 0.9**28
    assert coverage.runs_to_certify(0.2, 0.1) is None
    n = coverage.runs_to_certify(0.05, 0.1)
    assert coverage.coverage(math.ceil(0.05 * n), n, 0.1).p_less < 0.05
