"""The low-rank grid posterior and the dense one against literal formulas and the core GP."""

import warnings

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel

from fivebo.common.gp.evidence import fit, start_of
from fivebo.common.gp.factor import NotPositiveDefiniteError
from fivebo.common.gp.kernels import SquaredExponential
from fivebo.common.gp.posterior import GP
from fivebo.common.gp.product import Product
from fivebo.mvabo import (
    ContinuousMTMVABO,
    NoisyInputDomain,
    UncertainDomain,
    squared_exponential,
)
from fivebo.mvabo import posterior as module
from fivebo.mvabo.kernels import LIMITS, fit_limits
from fivebo.mvabo.problems import RosenbrockProblem
from tests.mvabo import oracles
from tests.mvabo.conftest import P, W, X


def fill(posterior, rounds=12, seed=0):
    rng = np.random.default_rng(seed)
    n, m = posterior.domain.shape
    for _ in range(rounds):
        posterior.add(int(rng.integers(n)), int(rng.integers(m)), float(rng.normal()))
    return posterior


@pytest.mark.paper(
    "mvabo", "s2-posterior-mean", "s2-posterior-var", "s51-kernel", "s51-ard", "s2-gp"
)
def test_posterior_is_the_papers_formula(domain, kernel):
    posterior = fill(domain.model(kernel, 0.01), 8)
    i, j, y = posterior.data()
    data = [((X[a], W[b]), v) for a, b, v in zip(i, j, y, strict=True)]

    def k(x, w, x2, w2):
        return oracles.gauss(x, w, x2, w2, 1.0, 0.3, 0.6)

    mean, sd = oracles.posterior(k, data, X, W, 0.01)
    np.testing.assert_allclose(posterior.mean, mean, atol=1e-9)
    np.testing.assert_allclose(posterior.var, sd**2, atol=1e-10)
    assert posterior.log_det == pytest.approx(oracles.log_det(k, data, 0.01))
    assert (posterior.var <= 1 + 1e-12).all()  # of f: the noise is never added


KERNELS = {
    "gaussian": squared_exponential(1.7, (0.3, 0.8), 0.4),
    "matern": Product(Matern([0.3, 0.8], nu=2.5), Matern(0.5, nu=1.5), 2),
    "short": squared_exponential(1.0, 0.5, 0.01, dim_x=2),
}


@pytest.fixture
def plane():
    rng = np.random.default_rng(0)
    return UncertainDomain(rng.random((14, 2)), np.linspace(-1, 1, 40), np.full(40, 1 / 40))


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("noise_var", [1e-4, 0.1])
def test_product_posterior_is_the_dense_one(plane, kernel, noise_var):
    low_rank = fill(plane.model(kernel, noise_var), 70)  # more than two chunks
    dense = fill(module.DensePosterior(plane.points(), None, plane, kernel, noise_var), 70)
    np.testing.assert_allclose(low_rank.mean, dense.mean, atol=1e-8)
    np.testing.assert_allclose(low_rank.var, dense.var, atol=1e-9)
    assert low_rank.log_det == pytest.approx(dense.log_det, rel=1e-8)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_new_kernel_gives_what_a_fresh_posterior_has(plane, kernel):
    changed = fill(plane.model(squared_exponential(2.0, 0.6, 0.9, dim_x=2), 1e-3), 40)
    i, j, y = changed.data()
    changed.set_kernel(kernel)
    fresh = plane.model(kernel, 1e-3)
    for point in zip(i, j, y, strict=True):
        fresh.add(*(v.item() for v in point))
    for each in (changed, fresh):
        each.add(3, 7, 0.5)
    np.testing.assert_allclose(changed.mean, fresh.mean, atol=1e-8)
    np.testing.assert_allclose(changed.var, fresh.var, atol=1e-9)
    assert changed.log_det == pytest.approx(fresh.log_det)


def test_a_kernel_that_fails_changes_nothing(plane):
    posterior = fill(plane.model(KERNELS["gaussian"], 1e-4), 10)
    before = posterior.mean.copy(), posterior.var.copy(), posterior.kernel
    bad = squared_exponential(1.0, 0.5, 0.5, dim_x=2)
    bad.first.variance = -5.0  # cannot be made through the constructor
    with pytest.raises(NotPositiveDefiniteError, match="noise_var"):
        posterior.set_kernel(bad)
    np.testing.assert_array_equal(posterior.mean, before[0])
    np.testing.assert_array_equal(posterior.var, before[1])
    assert posterior.kernel is before[2]


@pytest.mark.paper("mvabo", "s332-noisy-input", "app-c1-gp")
def test_noisy_inputs_of_the_same_sum_share_one_value():
    axis = np.linspace(-1, 1, 9)
    domain = NoisyInputDomain(axis[1:-1], axis[3:6], [0.25, 0.5, 0.25])
    assert len(domain.inputs) == 9
    posterior = fill(domain.model(SquaredExponential(0.4), 1e-3), 8)
    sums = axis[1:-1, None] + axis[3:6]
    for a, b in ((0, 2), (1, 1), (2, 0)):  # x_i + xi_j equal
        assert sums[a, b] == pytest.approx(sums[1, 1])
        assert posterior.mean[a, b] == posterior.mean[1, 1]
    i, j, y = posterior.data()
    gp = GP(RBF(0.4), 1e-3).condition(sums[i, j][:, None], y)
    mean, var = gp.predict(sums.reshape(-1, 1))
    np.testing.assert_allclose(posterior.mean.ravel(), mean, atol=1e-10)
    np.testing.assert_allclose(posterior.var.ravel(), var, atol=1e-10)
    posterior.set_kernel(SquaredExponential(0.3, 2.0))
    gp = GP(SquaredExponential(0.3, 2.0), 1e-3).condition(sums[i, j][:, None], y)
    np.testing.assert_allclose(posterior.mean.ravel(), gp.predict(sums.reshape(-1, 1))[0])


def test_memory_is_refused_before_it_is_gone(plane, monkeypatch):
    posterior = plane.model(KERNELS["gaussian"], 1e-4)
    monkeypatch.setattr(
        module.psutil, "virtual_memory", lambda: type("M", (), {"available": 1000})()
    )
    with pytest.raises(MemoryError, match="use fewer designs"):
        posterior.add(0, 0, 1.0)
    assert posterior.n_observations == 0


def test_duplicates_and_constant_values_are_ordinary(plane):
    posterior = plane.model(KERNELS["gaussian"], 1e-6)
    for _ in range(50):
        posterior.add(2, 5, 1.0)
    assert posterior.mean[2, 5] == pytest.approx(1.0, abs=1e-4)
    assert 0 <= posterior.var[2, 5] <= 1e-6
    assert np.isfinite(posterior.mean).all()


def test_rosenbrock_low_rank_error_on_the_full_grid():
    """10^6 points, 60 observations, a refit on the way: the direct form on 3,000 of them."""
    instance = RosenbrockProblem().draw(None)
    rng, domain = np.random.default_rng(0), instance.domain
    posterior = domain.model(instance.kernel, 1e-4)
    for t in range(60):
        i, j = int(rng.integers(10**4)), int(rng.integers(100))
        posterior.add(i, j, float(instance.values[i, j]))
        if t == 40:
            posterior.set_kernel(squared_exponential(2.0, (0.5, 0.35), 0.3))
    a, b = rng.integers(10**4, size=3000), rng.integers(100, size=3000)
    i, j, y = posterior.data()
    gp = GP(posterior.kernel, 1e-4).condition(domain.points(i, j), y)
    mean, var = gp.predict(domain.points(a, b))
    assert abs(mean - posterior.mean[a, b]).max() <= 1e-8
    assert abs(var - posterior.var[a, b]).max() <= 1e-8


def fitted(kernel, Z, y, noise_var=1e-4, extent=None):
    limits = fit_limits(kernel, y, noise_var, np.ones(Z.shape[1]) if extent is None else extent)
    return fit(kernel, Z, y, limits, [start_of(kernel, noise_var)], 50), np.exp(limits)


@pytest.mark.paper("mvabo", "s51-ml", "s51-ard")
def test_a_fit_finds_the_scales_that_made_the_data():
    rng = np.random.default_rng(0)
    Z, truth = rng.random((80, 3)), squared_exponential(2.0, (0.2, 3.0), 0.5)
    y = np.linalg.cholesky(truth(Z) + 1e-4 * np.eye(80)) @ rng.standard_normal(80)
    found, _ = fitted(squared_exponential(1.0, (0.25, 0.25), 0.25), Z, y)
    assert found.kernel.first.length_scale[0] == pytest.approx(0.2, rel=0.3)
    assert found.kernel.second.length_scale == pytest.approx(0.5, rel=0.3)
    assert found.kernel.first.length_scale[1] > 1.0
    assert found.kernel.second.variance == 1.0
    assert found.noise_var == pytest.approx(1e-4)
    assert found.at_limit == ()


@pytest.mark.paper("mvabo", "s51-ml-bounds")
def test_limits_are_relative_to_the_domain_and_to_y():
    rng = np.random.default_rng(0)
    Z, extent = rng.random((60, 3)) * [1, 100, 0], np.array([1.0, 100.0, 0.0])
    kernel, y = squared_exponential(1.0, (0.25, 25.0), 7.0), 30 * rng.normal(size=60)
    found, limits = fitted(kernel, Z, y, extent=extent)
    np.testing.assert_allclose(limits[0], np.multiply(LIMITS.variance, np.mean(y**2)))
    np.testing.assert_allclose(limits[1], LIMITS.length_scale)
    np.testing.assert_allclose(limits[2], np.multiply(LIMITS.length_scale, 100))
    np.testing.assert_allclose(limits[3:], [[1, 1], [7, 7], [1e-4, 1e-4]])  # all three are known
    assert found.kernel.second.length_scale == pytest.approx(7.0)
    flat, limits = fitted(kernel, Z, np.ones(60), extent=extent)
    assert "length_scale 1" in flat.at_limit
    assert flat.kernel.first.length_scale[0] == pytest.approx(limits[1, 1])
    on_the_papers_axis = np.multiply(LIMITS.length_scale, 2.0)
    np.testing.assert_allclose(on_the_papers_axis, np.exp([-4, 3]))


def test_only_the_product_of_two_variances_is_fitted():
    rng = np.random.default_rng(1)
    Z, y = rng.random((30, 2)), rng.normal(size=30)
    one = Product(SquaredExponential(0.3, 2.0), SquaredExponential(0.6, 3.0))
    other = Product(SquaredExponential(0.3, 6.0), SquaredExponential(0.6))
    (a, _), (b, _) = fitted(one, Z, y), fitted(other, Z, y)
    assert a.kernel.second.variance == pytest.approx(3.0)
    np.testing.assert_allclose(a.kernel(Z), b.kernel(Z), rtol=1e-4)


@pytest.mark.paper("mvabo", "s51-kernel")
def test_the_kernel_is_the_papers():
    kernel = squared_exponential(1.5, 0.3, 0.6)
    Z = np.column_stack([X[:4], W])
    np.testing.assert_allclose(np.diag(kernel(Z)), kernel.diag(Z))
    np.testing.assert_allclose(kernel(Z), 1.5 * RBF([0.3, 0.6])(Z), atol=1e-12)
    assert squared_exponential(1.0, (0.5, 0.2), 0.1).split == 2
    with pytest.raises(ValueError, match="dim_x=2"):
        UncertainDomain(np.eye(2), W).model(kernel, 0.1)


def test_domains_refuse_what_is_no_domain():
    for p, match in (
        ([0.5, 0.5], r"shape \(4,\)"), ([0.5, 0.5, 0.5, -0.5], "sum to 1"), ([0.2] * 4, "its sum"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=match):
            UncertainDomain(X, W, p)
    with pytest.raises(ValueError, match="same number"):
        NoisyInputDomain(X, np.zeros((1, 2)))
    domain = UncertainDomain(X, W, P)
    with pytest.raises(ValueError, match=r"environment w: query .* not one of the 4 points"):
        domain.index((X[0], 0.3))
    sampled = UncertainDomain.from_samples(X, [0.5, -1.0, 0.5, 0.5])
    assert sampled.W.points.ravel().tolist() == [-1.0, 0.5]
    assert sampled.p.tolist() == [0.25, 0.75]


@pytest.mark.parametrize("noisy", [0, 1])
def test_white_noise_in_a_factor_of_a_product_is_refused(domain, kernel, noisy):
    factors = [RBF(0.3), RBF(0.6)]
    factors[noisy] += WhiteKernel(0.5)
    product = Product(*factors, split=domain.X.dim)
    with pytest.raises(ValueError, match="leave white noise out"):
        domain.model(product, 0.01)
    posterior = domain.model(kernel, 0.01)
    with pytest.raises(ValueError, match="leave white noise out"):
        posterior.set_kernel(product)
    box = ContinuousMTMVABO([[0.0, 1.0]], [0.0, 0.1], None, Product(*factors), noise_var=0.01)
    with pytest.raises(ValueError, match="leave white noise out"):
        box.ask()


@pytest.mark.parametrize("variance", [1e10, 1e18, 1e22])
def test_noise_below_rounding_of_the_prior_never_makes_the_mean_explode(variance):
    domain = UncertainDomain(np.linspace(0, 1, 9), np.linspace(-1, 1, 4), np.full(4, 0.25))
    model = domain.model(squared_exponential(variance, 0.3, 0.6), noise_var=0.01)
    y = np.sqrt(variance) * np.sin(np.arange(9.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in range(24):
            model.add(t % 3, 1, y[t % 3])
    assert np.abs(model.mean).max() <= 10 * np.abs(y).max()
    assert bool(caught) == (variance > 1e10)
    assert all("noise_var 0.01" in str(warning.message) for warning in caught)
    if caught:
        with pytest.raises(np.linalg.LinAlgError, match="raise noise_var"):
            model.set_kernel(squared_exponential(2 * variance, 0.3, 0.6))
