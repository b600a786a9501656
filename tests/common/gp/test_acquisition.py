"""Acquisitions: against sampling, quadrature in many digits, and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fivebo.common.gp.acquisition import (
    expected_improvement,
    improvement_slope,
    log_expected_improvement,
    upper_bound,
)
from fivebo.common.gp.kernels import Matern
from fivebo.common.gp.posterior import GP


@pytest.mark.parametrize(("gain", "std"), [(0.3, 0.5), (-1.0, 0.5), (2.0, 0.1), (0.0, 1.0)])
def test_improvement_is_the_mean_of_the_positive_part(gain, std):
    mean = stats.norm(gain, std).expect(lambda v: v, lb=0)
    assert expected_improvement(gain, std) == pytest.approx(mean, rel=1e-6)
    assert log_expected_improvement(gain, std) == pytest.approx(np.log(mean), rel=1e-6)


@given(st.floats(-30, 5), st.floats(1e-3, 1e3))
def test_logarithm_is_that_of_the_improvement_where_it_can_be_formed(z, std):
    plain = expected_improvement(z * std, std)
    if plain > 1e-200 and z > -6:
        assert np.log(plain) == pytest.approx(log_expected_improvement(z * std, std), rel=1e-6)


def test_logarithm_stays_finite_and_monotone_far_below():
    z = -np.logspace(0, 9, 300)
    found = log_expected_improvement(z, 1.0)
    assert np.isfinite(found).all()
    assert (np.diff(found) < 0).all()


@pytest.mark.parametrize("unit", [1e-150, 1e-12, 1e12, 1e150])
def test_improvement_has_the_unit_of_f(unit):
    gain, std = np.array([0.3, -1.0, 2.0]), np.array([0.5, 0.4, 0.1])
    np.testing.assert_allclose(
        expected_improvement(unit * gain, unit * std) / unit, expected_improvement(gain, std)
    )


def test_without_deviation_the_gain_is_sure():
    np.testing.assert_array_equal(expected_improvement([1.5, -1.0], 0.0), [1.5, 0.0])
    np.testing.assert_array_equal(
        log_expected_improvement([1.5, -1.0], 0.0), [np.log(1.5), -np.inf]
    )
    assert upper_bound(1.0, 0.5, 3.0) == 2.5


@pytest.mark.parametrize("log", [False, True])
def test_gradient_along_a_posterior_is_its_differences(log):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(15, 2))
    gp = GP(Matern([0.3, 0.5], 2.0, 2.5), 0.01, mean=0.4).condition(X, np.sin(6 * X[:, 0]))
    value = log_expected_improvement if log else expected_improvement

    def improvement(x):
        mean, var = gp.predict(x[None])
        return value(mean[0] - 0.9, np.sqrt(var[0]))

    x, step = np.array([0.31, 0.62]), 1e-6
    mean, var, mean_slope, var_slope = gp.predict_slopes(x)
    expected_mean, expected_var = gp.predict(x[None])
    assert (mean, var) == pytest.approx((expected_mean[0], expected_var[0]))
    std = np.sqrt(var)
    found, gradient = improvement_slope(mean - 0.9, std, mean_slope, var_slope / (2 * std), log)
    assert found == pytest.approx(improvement(x))
    for i in range(2):
        shift = step * (np.arange(2) == i)
        difference = (improvement(x + shift) - improvement(x - shift)) / (2 * step)
        assert gradient[i] == pytest.approx(difference, rel=1e-5)
