"""Fits of hyperparameters against scikit-learn's and against brute force."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from fivebo.egpbo.evidence import FitSettings, fit, fit_magnitude, log_evidence, squared_differences
from fivebo.egpbo.features import Kernel

RNG = np.random.default_rng(0)
X = RNG.random((25, 2))
Y = np.sin(4 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(25)

CASES = {
    "rbf": (Kernel("rbf"), RBF(0.4), [0.4]),
    "ard": (Kernel("rbf", ard=True), RBF([0.4, 0.9]), [0.4, 0.9]),
    "m32": (Kernel("matern-3/2"), Matern(0.4, nu=1.5), [0.4]),
    "m52": (Kernel("matern-5/2", ard=True), Matern([0.4, 0.9], nu=2.5), [0.4, 0.9]),
}


@pytest.mark.paper("egpbo", "s3-fit")
@pytest.mark.parametrize("case", CASES)
def test_evidence_and_gradient_are_scikit_learns(case):
    kernel, correlation, scales = CASES[case]
    model = GaussianProcessRegressor(
        ConstantKernel(1.7) * correlation + WhiteKernel(0.05), alpha=0, optimizer=None
    ).fit(X, Y)
    theirs, their_slope = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    ours, slope = log_evidence(
        kernel.family, squared_differences(X, kernel.ard), Y, 1.7, np.array(scales), 0.05
    )
    assert ours == pytest.approx(theirs, rel=1e-10)
    np.testing.assert_allclose(slope, their_slope, rtol=1e-8)


@pytest.mark.paper("egpbo", "s3-fit")
@pytest.mark.parametrize("case", CASES)
def test_fits_reach_scikit_learns_maximum(case):
    kernel, correlation, _ = CASES[case]
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
    assert found.length_scale.tolist() == [scale]
    assert found.evidence >= model.log_marginal_likelihood_value_ - 1e-6
    assert np.log(found.prior_var) == pytest.approx(
        np.log(model.kernel_.k1.constant_value), abs=1e-2
    )


def test_magnitude_by_brute_force():
    K = RBF(0.3)(X)
    grid = np.exp(np.linspace(np.log(1e-3), np.log(1e3), 4001))
    values = [
        log_evidence("rbf", squared_differences(X, False), Y, s, np.array([0.3]), 0.05)[0]
        for s in grid[::40]
    ]
    prior_var, evidence = fit_magnitude(K, Y, 0.05, (1e-3, 1e3))
    assert evidence >= max(values) - 1e-9
    assert fit_magnitude(K, Y, 0.05, (2.0, 2.0))[0] == 2.0
    assert 1e-3 <= prior_var <= 1e3


def test_a_fit_goes_on_from_the_last_one():
    rng = np.random.default_rng(0)
    first = fit(Kernel("rbf"), X[:20], Y[:20], 0.05, FitSettings(), None, 4, rng)
    later = fit(Kernel("rbf"), X, Y, 0.05, FitSettings(), first)
    fresh = fit(Kernel("rbf"), X, Y, 0.05, FitSettings(), None, 4, rng)
    assert later.evidence == pytest.approx(fresh.evidence, abs=1e-3)
