"""Fits of hyperparameters against scikit-learn's and against brute force."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from fivebo.egpbo.evidence import FitSettings, fit
from fivebo.egpbo.features import Kernel

RNG = np.random.default_rng(0)
X = RNG.random((25, 2))
Y = np.sin(4 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(25)

CASES = {
    "rbf": (Kernel("rbf"), RBF(0.4)),
    "ard": (Kernel("rbf", ard=True), RBF([0.4, 0.9])),
    "m32": (Kernel("matern-3/2"), Matern(0.4, nu=1.5)),
    "m52": (Kernel("matern-5/2", ard=True), Matern([0.4, 0.9], nu=2.5)),
}


@pytest.mark.paper("egpbo", "s3-fit")
@pytest.mark.parametrize("case", CASES)
def test_fits_reach_scikit_learns_maximum(case):
    kernel, correlation = CASES[case]
    correlation = correlation.clone_with_theta(correlation.theta)
    correlation.length_scale_bounds = (0.05, 20.0)
    model = GaussianProcessRegressor(
        ConstantKernel(1.0, (1e-5, 1e5)) * correlation, alpha=0.05, n_restarts_optimizer=3,
        random_state=0,
    ).fit(X, Y)  # fmt: skip
    found = fit(kernel, X, Y, 0.05, FitSettings(), None, 5, np.random.default_rng(1))
    assert found.evidence >= model.log_marginal_likelihood_value_ - 1e-4


@pytest.mark.paper("egpbo", "s5-fixed-lengthscales")
@pytest.mark.parametrize("scale", [1e-4, 0.1, 1.0, 1e6])
def test_a_fixed_lengthscale_leaves_the_magnitude_to_fit(scale):
    kernel = Kernel("rbf", length_scale=scale)
    found = fit(kernel, X, Y, 0.05, FitSettings())
    model = GaussianProcessRegressor(
        ConstantKernel(1.0, (1e-5, 1e5)) * RBF(scale, "fixed"), alpha=0.05,
        n_restarts_optimizer=5, random_state=0,
    ).fit(X, Y)  # fmt: skip
    assert found.kernel.length_scale == scale
    assert found.evidence >= model.log_marginal_likelihood_value_ - 1e-6
    assert np.log(found.kernel.variance) == pytest.approx(
        np.log(model.kernel_.k1.constant_value), abs=1e-2
    )


@pytest.mark.paper("egpbo", "s54-noise")
@pytest.mark.parametrize("scale", [0.1, 0.7])
def test_a_fixed_lengthscale_stays_where_the_noise_is_fitted(scale):
    kernel = Kernel("matern-5/2", length_scale=scale)
    found = fit(kernel, X, Y, 1e-4, FitSettings(), None, 3, RNG, noise_bounds=(1e-4, 1.0))
    assert found.kernel.length_scale == pytest.approx(scale, rel=1e-12)
    assert 1e-4 < found.noise_var < 1


@pytest.mark.parametrize("length_scale", [None, 0.3])
def test_a_known_magnitude_is_not_fitted(length_scale):
    kernel = Kernel("rbf", length_scale=length_scale, variance=2.0)
    found = fit(kernel, X, Y, 0.05, FitSettings(magnitude_bounds=(1e-5, 1e-4)), y_square=7.0)
    assert found.kernel.variance == pytest.approx(2.0, rel=1e-12)


@pytest.mark.paper("egpbo", "s5-length-bounds", "s5-magnitude-bounds")
@pytest.mark.parametrize("case", CASES)
def test_limits_are_in_sides_of_the_box_and_in_units_of_the_observations(case):
    kernel, _ = CASES[case]
    settings = FitSettings(length_bounds=(0.1, 0.2), magnitude_bounds=(0.5, 0.6))
    sides = np.array([3e5, 2e-7])
    one = fit(kernel, X, Y, 0.05, settings, None, 2, np.random.default_rng(0))
    if kernel.ard:
        other = fit(
            kernel, X * sides, 1e6 * Y, 0.05e12, settings, None, 2, np.random.default_rng(0),
            x_spread=sides, y_square=1e12,
        )  # fmt: skip
        np.testing.assert_allclose(other.kernel.length_scale, one.kernel.length_scale * sides)
    else:
        other = fit(
            kernel, 3e5 * X, 1e6 * Y, 0.05e12, settings, None, 2, np.random.default_rng(0),
            x_spread=3e5, y_square=1e12,
        )  # fmt: skip
        np.testing.assert_allclose(other.kernel.length_scale, 3e5 * one.kernel.length_scale)
    assert other.kernel.variance == pytest.approx(1e12 * one.kernel.variance)
    assert other.at_limit == one.at_limit
    assert "variance" in one.at_limit


def test_a_fit_goes_on_from_the_last_one():
    rng = np.random.default_rng(0)
    first = fit(Kernel("rbf"), X[:20], Y[:20], 0.05, FitSettings(), None, 4, rng)
    later = fit(Kernel("rbf"), X, Y, 0.05, FitSettings(), first)
    fresh = fit(Kernel("rbf"), X, Y, 0.05, FitSettings(), None, 4, rng)
    assert later.evidence == pytest.approx(fresh.evidence, abs=1e-3)
