"""The marginal likelihood and its fit: against scikit-learn, dense formulas, units and limits."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from fivebo.common.gp.evidence import (
    Limits,
    fit,
    fit_variance,
    log_evidence,
    log_evidences,
    search_limits,
    spread,
    start_of,
)
from fivebo.common.gp.kernels import Matern, SquaredExponential
from fivebo.common.gp.posterior import GP
from fivebo.common.gp.product import Product

KERNELS = [
    SquaredExponential(0.5, 2.0),
    SquaredExponential([0.5, 0.8], 2.0),
    Matern([0.5, 0.8], 2.0, 1.5),
    Product(SquaredExponential(0.4), Matern(0.9, 2.0), split=1),
]


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(25, 2))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=25)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_value_is_the_density_of_a_normal_law_and_gradient_its_differences(kernel, data):
    X, y = data
    value, gradient = log_evidence(kernel, 0.05, X, y)
    law = multivariate_normal(np.zeros(25), kernel(X) + 0.05 * np.eye(25))
    assert value == pytest.approx(law.logpdf(y), rel=1e-10)
    assert GP(kernel, 0.05).condition(X, y).log_marginal_likelihood == pytest.approx(value)
    theta, step = start_of(kernel, 0.05), 1e-6
    for p, slope in enumerate(gradient):
        shift = step * (np.arange(len(theta)) == p)
        ahead, behind = (
            log_evidence(kernel.with_theta(t[:-1]), np.exp(t[-1]), X, y)[0]
            for t in (theta + shift, theta - shift)
        )
        assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-5, abs=1e-6)


def test_many_at_once_are_one_by_one_and_an_indefinite_one_is_minus_infinity(data):
    X, y = data
    grams = np.stack([k(X) + 0.05 * np.eye(25) for k in KERNELS])
    grams[2] -= 10 * np.eye(25)
    found = log_evidences(grams, y)
    assert found[2] == -np.inf
    for i in (0, 1, 3):
        assert found[i] == pytest.approx(log_evidence(KERNELS[i], 0.05, X, y)[0], rel=1e-10)


def test_fit_reaches_what_scikit_learn_reaches(data):
    X, y = data
    kernel = SquaredExponential([1.0, 1.0])
    limits = search_limits(kernel, X, y, 0.1, Limits((1e-3, 1e3), (1e-4, 1e4), (1e-6, 1e1)))
    found = fit(kernel, X, y, limits, [start_of(kernel, 0.1)])
    wide = (1e-6, 1e6)
    theirs = GaussianProcessRegressor(
        sk.ConstantKernel(1.0, wide) * sk.RBF([1.0, 1.0], wide) + sk.WhiteKernel(0.1, wide)
    ).fit(X, y)
    assert found.evidence == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-4)
    assert found.at_limit == ()
    assert log_evidence(found.kernel, found.noise_var, X, y)[0] == pytest.approx(found.evidence)


@pytest.mark.parametrize("unit_x", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("unit_y", [1e-12, 1.0, 1e12])
def test_fit_does_not_depend_on_units(data, unit_x, unit_y):
    X, y = data
    kernel = Matern([1.0, 1.0], 1.0, 2.5)
    limits = search_limits(kernel, X, y, 1e-2, Limits())
    plain = fit(kernel, X, y, limits, [start_of(kernel, 1e-2)])
    own = kernel.with_theta(kernel.theta + np.log([unit_y**2, unit_x, unit_x]))
    limits = search_limits(own, unit_x * X, unit_y * y, unit_y**2 * 1e-2, Limits())
    scaled = fit(own, unit_x * X, unit_y * y, limits, [start_of(own, unit_y**2 * 1e-2)])
    np.testing.assert_allclose(
        scaled.theta - plain.theta, np.log([unit_y**2, unit_x, unit_x, unit_y**2]), atol=1e-7
    )


def test_fit_holds_known_parameters_and_names_those_at_a_limit(data):
    X, y = data
    kernel = Product(SquaredExponential(0.5), SquaredExponential(0.5), split=1)
    limits = search_limits(kernel, X, y, 0.01, Limits((0.1, 0.2), noise_var=None))
    limits[2] = kernel.theta[2]  # the second factor's variance
    found = fit(kernel, X, y, limits, [start_of(kernel, 0.01)])
    assert found.noise_var == pytest.approx(0.01)
    assert found.kernel.second.variance == 1.0
    assert found.at_limit == ("length_scale 1", "length_scale 2..")


def test_a_start_without_a_finite_value_is_left_out_and_none_at_all_raises(data):
    X, y = np.repeat(data[0], 2, axis=0), np.repeat(data[1], 2)
    kernel = SquaredExponential([1.0, 1.0])
    limits = search_limits(kernel, X, y, 1e-300, Limits(noise_var=None))
    with pytest.raises(np.linalg.LinAlgError, match="no start gave a finite"):
        fit(kernel, X, y, limits, [start_of(kernel, 1e-300)])


def test_variance_alone_is_the_general_fit_with_the_rest_fixed(data):
    X, y = data
    kernel = SquaredExponential(0.3)
    limits = search_limits(kernel, X, y, 0.05, Limits(noise_var=None))
    limits[1] = kernel.theta[1]
    general = fit(kernel, X, y, limits, [start_of(kernel, 0.05)])
    variance, evidence, at_limit = fit_variance(kernel(X), y, 0.05, np.exp(limits[0]))
    assert variance == pytest.approx(general.kernel.variance, rel=1e-4)
    assert evidence == pytest.approx(general.evidence, rel=1e-9)
    assert not at_limit
    assert fit_variance(kernel(X), y, 0.05, (1e-9, 1e-8))[2]
    known = fit_variance(kernel(X), y, 0.05, (2.0, 2.0))
    assert known == (
        2.0,
        pytest.approx(log_evidence(SquaredExponential(0.3, 2.0), 0.05, X, y)[0]),
        False,
    )


def test_limits_follow_the_data_or_what_is_given(data):
    X, y = data
    kernel, limits = SquaredExponential([1.0, 1.0]), Limits((0.5, 2.0), (0.1, 10.0), None)
    found = np.exp(search_limits(kernel, X, y, 0.3, limits))
    np.testing.assert_allclose(found[0], np.multiply((0.1, 10.0), np.mean(y**2)))
    pairs = (X[:, None, 0] - X[None, :, 0]) ** 2
    np.testing.assert_allclose(found[1], np.multiply((0.5, 2.0), np.sqrt(pairs.mean())))
    np.testing.assert_allclose(found[3], 0.3)
    given = np.exp(search_limits(kernel, X, y, 0.3, limits, x_spread=[2.0, 3.0], y_square=4.0))
    np.testing.assert_allclose(given[:3, 0], [0.4, 1.0, 1.5])
    assert spread(X) == pytest.approx(np.hypot(spread(X, slice(0, 1)), spread(X, slice(1, 2))))
    with pytest.raises(ValueError, match="y must differ"):
        search_limits(kernel, X, 0 * y, 0.3, limits)
    with pytest.raises(ValueError, match="inputs must differ in length_scale 1"):
        search_limits(kernel, X[:1], y[:1], 0.3, limits)
    with pytest.raises(ValueError, match="variance must be two numbers"):
        Limits(variance=(2.0, 1.0))


def test_several_outputs_are_summed(data):
    X, y = data
    Y, kernel = np.column_stack([y, np.cos(3 * y), y**2]), SquaredExponential([0.5, 0.8], 2.0)
    value, gradient = log_evidence(kernel, 0.05, X, Y)
    single = [log_evidence(kernel, 0.05, X, column) for column in Y.T]
    assert value == pytest.approx(sum(v for v, _ in single))
    np.testing.assert_allclose(gradient, sum(g for _, g in single))
