"""The core GP against dense formulas, a second library, and the cases that break such code."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from fivebo.common.gp import kernels
from fivebo.common.gp.factor import JitterWarning, NotPositiveDefiniteError
from fivebo.common.gp.kernels import SquaredExponential
from fivebo.common.gp.posterior import GP

KERNELS = [RBF(0.3), 4.0 * RBF([0.2, 0.7]), Matern(0.5, nu=1.5) + ConstantKernel(0.2)]


def data(n, seed=0, dim=2):
    rng = np.random.default_rng(seed)
    return rng.random((n, dim)), rng.standard_normal(n)


def dense(kernel, noise_var, X, y, Z, mean=0.0):
    """Posterior mean and covariance by the textbook formulas, nothing shared with the package."""
    inverse = np.linalg.inv(kernel(X) + noise_var * np.eye(len(X)))
    cross = kernel(Z, X)
    return mean + cross @ inverse @ (y - mean), kernel(Z) - cross @ inverse @ cross.T


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("steps", [[1] * 12, [12], [5, 1, 6]], ids=str)
def test_posterior_equals_dense_formula_however_the_data_arrive(kernel, steps):
    X, y = data(12)
    Z = data(30, seed=1)[0]
    gp = GP(kernel, 0.05, mean=0.4)
    tracked = gp.track(Z)
    start = 0
    for step in steps:
        gp.condition(X[start : start + step], y[start : start + step])
        start += step
    mean, cov = dense(kernel, 0.05, X, y, Z, mean=0.4)
    scale = kernel.diag(Z).max()
    np.testing.assert_allclose(tracked.mean, mean, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(tracked.var, np.diag(cov), rtol=1e-10, atol=1e-10 * scale)
    np.testing.assert_allclose(gp.predict(Z)[0], mean, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(gp.predict(Z, return_cov=True)[1], cov, atol=1e-10 * scale)
    np.testing.assert_allclose(gp.predict(Z)[1], np.diag(cov), atol=1e-10 * scale)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("outputs", [(), (2,)])
@pytest.mark.parametrize(
    "kernel", [kernels.SquaredExponential(0.4, 2.0), kernels.Matern([0.3, 0.7], 0.5, nu=1.5)]
)
def test_mean_at_many_points_is_that_of_the_prediction(kernel, outputs, unit):
    rng = np.random.default_rng(5)
    kernel = kernel.with_theta(
        kernel.theta + np.log(unit) * np.arange(len(kernel.theta)).clip(0, 1)
    )
    X, C = unit * (7 + rng.random((30, 2))), unit * (7 + 2 * rng.random((600, 2)))
    gp = GP(kernel, 0.1, mean=3.0).condition(X, rng.standard_normal((30, *outputs)))
    np.testing.assert_allclose(gp.predict_mean(C), gp.predict(C)[0], rtol=1e-10, atol=1e-11)


def test_one_query_at_a_time_equals_all_at_once():
    X, y = data(9)
    Z = data(5, seed=3)[0]
    gp = GP(RBF(0.3), 0.01).condition(X, y)
    mean, var = gp.predict(Z)
    for i in range(5):
        one = gp.predict(Z[i : i + 1])
        np.testing.assert_allclose([one[0][0], one[1][0]], [mean[i], var[i]], rtol=1e-12)


def test_evidence_and_information_gain_match_scikit_learn_and_the_dense_determinant():
    X, y = data(15)
    gp = GP(RBF(0.3), 0.04).condition(X, y)
    reference = GaussianProcessRegressor(RBF(0.3), alpha=0.04, optimizer=None).fit(X, y)
    assert gp.log_marginal_likelihood == pytest.approx(
        reference.log_marginal_likelihood_value_, rel=1e-12
    )
    gram = RBF(0.3)(X)
    assert gp.log_det == pytest.approx(np.linalg.slogdet(np.eye(15) + gram / 0.04)[1], rel=1e-10)


def test_hand_worked_single_observation():
    # k = 1, noise 0.25, y = 2: mean 2 / 1.25 = 1.6, variance 1 - 1 / 1.25 = 0.2, gain log 5
    gp = GP(RBF(1.0), 0.25).condition([[0.0]], [2.0])
    mean, var = gp.predict([[0.0]])
    assert (mean[0], var[0]) == pytest.approx((1.6, 0.2), rel=1e-14)
    assert gp.log_det == pytest.approx(np.log(5), rel=1e-14)


def test_aggregated_observation_is_one_observation_of_the_average():
    X, _ = data(8)
    groups, y = X.reshape(2, 4, 2), np.array([1.0, -0.5])
    Z = data(20, seed=1)[0]
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [1.0, -1.0, 0.5, 0.0]])
    for w in (None, weights):
        A = np.zeros((2, 8))
        A[0, :4], A[1, 4:] = (0.25, 0.25) if w is None else w
        inverse = np.linalg.inv(A @ RBF(0.3)(X) @ A.T + 0.01 * np.eye(2))
        cross = RBF(0.3)(Z, X) @ A.T
        gp = GP(RBF(0.3), 0.01)
        tracked = gp.track(Z)
        gp.condition(groups[:1], y[:1], None if w is None else w[:1])
        gp.condition(groups[1:], y[1:], None if w is None else w[1:])
        np.testing.assert_allclose(tracked.mean, cross @ inverse @ y, rtol=1e-10, atol=1e-12)
        expected = 1 - np.einsum("zi,ij,zj->z", cross, inverse, cross)
        np.testing.assert_allclose(tracked.var, expected, rtol=1e-10)


def test_tracked_averages_equal_the_average_of_the_joint_posterior():
    X, y = data(6)
    cells = np.random.default_rng(2).random((70, 3, 2))
    gp = GP(RBF(0.3), 0.01).condition(X, y)
    tracked = gp.track(cells)
    mean, cov = gp.predict(cells.reshape(-1, 2), return_cov=True)
    np.testing.assert_allclose(tracked.mean, mean.reshape(-1, 3).mean(1), rtol=1e-9, atol=1e-12)
    expected = [cov[3 * i : 3 * i + 3, 3 * i : 3 * i + 3].mean() for i in range(70)]
    np.testing.assert_allclose(tracked.var, expected, rtol=1e-8, atol=1e-12)


def test_shared_factor_serves_several_outputs():
    X, _ = data(7)
    Y = np.random.default_rng(5).standard_normal((7, 3))
    gp = GP(RBF(0.3), 0.02)
    tracked = gp.track(X)
    for x, y in zip(X, Y, strict=True):
        gp.condition(x[None], y[None])
    for p in range(3):
        alone = GP(RBF(0.3), 0.02).condition(X, Y[:, p])
        np.testing.assert_allclose(tracked.mean[:, p], alone.predict(X)[0], rtol=1e-10)


def test_new_hyperparameters_equal_a_new_model_and_failure_changes_nothing():
    X, y = data(100)
    Z = data(300, seed=1)[0]
    gp = GP(RBF(0.3), 0.02)
    tracked = gp.track(Z)
    gp.condition(X, y)
    gp.set_hyperparameters(kernel=RBF(0.5), noise_var=0.1, mean=1.0)
    fresh = GP(RBF(0.5), 0.1, mean=1.0).condition(X, y)
    np.testing.assert_allclose(tracked.mean, fresh.predict(Z)[0], rtol=1e-10)
    np.testing.assert_allclose(tracked.var, fresh.predict(Z)[1], rtol=1e-8)
    before = tracked.mean.copy()
    with pytest.raises(ValueError, match="noise_var"):
        gp.set_hyperparameters(noise_var=-1)
    assert gp.noise_var == 0.1
    np.testing.assert_array_equal(before, tracked.mean)
    gp.condition(Z[:1], [0.3])  # still extends after a rebuild
    fresh.condition(Z[:1], [0.3])
    np.testing.assert_allclose(tracked.mean, fresh.predict(Z)[0], rtol=1e-9)


def test_tracking_before_during_and_after_the_data_is_the_same():
    X, y = data(80)
    Z = data(40, seed=1)[0]
    gp = GP(RBF(0.3), 0.02)
    early = gp.track(Z)
    gp.condition(X[:70], y[:70])
    middle = gp.track(Z)
    for i in range(70, 80):
        gp.condition(X[i : i + 1], y[i : i + 1])
    late = gp.track(Z)
    for other in (middle, late):
        np.testing.assert_allclose(early.mean, other.mean, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(early.var, other.var, rtol=1e-9)


def test_samples_have_the_posterior_moments():
    X, y = data(4, dim=1)
    Z = np.linspace(0, 1, 6)[:, None]
    gp = GP(RBF(0.3), 0.1).condition(X, y)
    draws = gp.sample(Z, np.random.default_rng(0), n_samples=40_000)
    mean, cov = gp.predict(Z, return_cov=True)
    np.testing.assert_allclose(draws.mean(0), mean, atol=5 * np.sqrt(cov.max() / 40_000))
    np.testing.assert_allclose(np.cov(draws.T), cov, atol=0.02 * cov.max())


@pytest.mark.parametrize("noise_std", [1e-3, 1e-2, 1e-6])
def test_fifty_duplicates_and_near_duplicates_run(noise_std):
    X = np.full((50, 1), 0.3) + np.where(np.arange(50) % 2, 1e-9, 0)[:, None]
    gp = GP(RBF(0.2), noise_std**2)
    tracked = gp.track(np.linspace(0, 1, 101)[:, None])
    for x in X:
        gp.condition(x[None], [1.0])
    assert np.isfinite(tracked.mean).all()
    assert tracked.var.min() >= 0
    assert tracked.mean[30] == pytest.approx(1.0, rel=1e-3)


def test_jitter_is_reported_and_hopeless_matrices_are_refused_with_the_facts():
    gp = GP(RBF(1.0), 1e-18)
    with pytest.warns(JitterWarning, match=r"distance 0, noise_var 1e-18.*jitter 1\.49e-08"):
        gp.condition([[0.1], [0.1]], [1.0, 1.0])
    assert gp.jitter == pytest.approx(1.49e-8, rel=1e-2)

    class Indefinite:
        def __call__(self, X, Y=None):
            return -np.ones((len(X), len(X if Y is None else Y)))

        def diag(self, X):
            return -np.ones(len(X))

    with pytest.raises(NotPositiveDefiniteError, match="no jitter up to"):
        GP(Indefinite(), 1e-3).condition([[0.0]], [0.0])


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_huge_and_tiny_scales_of_y_and_kernel(scale):
    X, y = data(20)
    Z = data(15, seed=1)[0]
    plain = GP(RBF(0.3), 0.01).condition(X, y).predict(Z)
    scaled = GP(ConstantKernel(scale**2, "fixed") * RBF(0.3), 0.01 * scale**2)
    scaled = scaled.condition(X, y * scale).predict(Z)
    np.testing.assert_allclose(scaled[0] / scale, plain[0], rtol=1e-8)
    np.testing.assert_allclose(scaled[1] / scale**2, plain[1], rtol=1e-8)


@settings(deadline=None, max_examples=40)
@given(
    n=st.integers(1, 12),
    seed=st.integers(0, 10_000),
    noise_var=st.floats(1e-6, 10.0),
    length=st.floats(0.01, 3.0),
)
def test_variance_never_rises_never_is_negative_and_is_the_diagonal(n, seed, noise_var, length):
    X, y = data(n, seed)
    X[: n // 2] = X[0] + 1e-7  # clustered
    Z = np.vstack([data(5, seed + 1)[0], X])
    gp = GP(RBF(length), noise_var)
    tracked = gp.track(Z)
    last, gain = tracked.var.copy(), 0.0
    for x, value in zip(X, y, strict=True):
        gp.condition(x[None], [value])
        assert (tracked.var <= last + 1e-12).all()
        assert gp.log_det >= gain - 1e-12
        last, gain = tracked.var.copy(), gp.log_det
    cov = gp.predict(Z, return_cov=True)[1]
    assert tracked.var.min() >= 0
    np.testing.assert_allclose(tracked.var, np.diag(cov), atol=1e-8)


BAD = [
    (lambda gp: gp.condition([[np.nan, 0.0]], [0.0]), ValueError, "finite"),
    (lambda gp: gp.condition([[0.0, 0.0]], [np.inf]), ValueError, "finite"),
    (lambda gp: gp.condition([[0.0]], [0.0]), ValueError, "coordinate"),
    (lambda gp: gp.condition([[0.0, 0.0]], [0.0, 1.0]), ValueError, "shape"),
    (lambda gp: gp.condition([[0.0, 0.0]], [[0.0, 1.0]]), ValueError, "outputs"),
    (lambda gp: gp.condition([["a", "b"]], [0.0]), TypeError, "real numbers"),
    (lambda gp: gp.condition([[0.0, 0.0]], [1j]), TypeError, "real numbers"),
    (lambda gp: gp.condition(np.empty((0, 2)), []), ValueError, "empty"),
    (lambda gp: gp.condition([[0.0, 0.0]], [0.0], weights=[1.0, 2.0]), ValueError, "weights"),
]


@pytest.mark.parametrize(("call", "error", "match"), BAD)
def test_bad_data_is_refused_and_changes_nothing(call, error, match):
    X, y = data(5)
    gp = GP(RBF(0.3), 0.01).condition(X, y)
    tracked = gp.track(X)
    before = tracked.mean.copy()
    with pytest.raises(error, match=match):
        call(gp)
    assert gp.n_observations == 5
    np.testing.assert_array_equal(tracked.mean, before)


@pytest.mark.parametrize("noise_var", [0.0, -1.0, np.nan, np.inf])
def test_noise_must_be_positive(noise_var):
    with pytest.raises(ValueError, match="noise_var"):
        GP(RBF(0.3), noise_var)


def test_kernel_must_follow_the_protocol():
    with pytest.raises(TypeError, match="SquaredExponential"):
        GP("rbf", 0.1)


def test_memory_is_refused_before_it_is_needed():
    gp = GP(RBF(0.3), 0.1)
    with pytest.raises(MemoryError, match="GB, available are"):
        gp.track(np.linspace(0, 1, 1000)[:, None], rounds=10**12)


def test_the_prior_without_data():
    gp = GP(RBF(0.3), 0.1, mean=2.0)
    tracked = gp.track([[0.1], [0.2]])
    np.testing.assert_array_equal(tracked.mean, [2.0, 2.0])
    np.testing.assert_array_equal(gp.predict([[0.3]]), [[2.0], [1.0]])
    assert (gp.log_det, gp.log_marginal_likelihood) == (0.0, 0.0)
    gp.set_hyperparameters(mean=3.0)
    np.testing.assert_array_equal(tracked.mean, [3.0, 3.0])


def test_white_noise_in_the_kernel_is_refused_wherever_points_come_in():
    from sklearn.gaussian_process.kernels import WhiteKernel

    noisy = RBF(0.2) + WhiteKernel(0.5)
    with pytest.raises(ValueError, match="give it as noise_var"):
        GP(noisy, 0.01).condition([[0.1], [0.2]], [1.0, 2.0])
    with pytest.raises(ValueError, match="give it as noise_var"):
        GP(noisy, 0.01).track([[0.1], [0.2]])
    with pytest.raises(ValueError, match="give it as noise_var"):
        GP(noisy, 0.01).predict([[0.1]])
    told, tracking = GP(RBF(0.2), 0.01).condition([[0.1]], [1.0]), GP(RBF(0.2), 0.01)
    tracking.track([[0.1]])
    for gp in (told, tracking):
        with pytest.raises(ValueError, match="give it as noise_var"):
            gp.set_hyperparameters(kernel=noisy)
        assert gp.kernel == RBF(0.2)


def test_mean_and_slopes_are_those_of_the_prediction():
    rng = np.random.default_rng(0)
    X, y, Z = rng.random((30, 2)), rng.standard_normal(30), rng.random((700, 2))
    gp = GP(SquaredExponential([0.2, 0.4], 2.0), 0.1, mean=0.3)
    np.testing.assert_array_equal(gp.predict_mean(Z[:3]), [0.3] * 3)
    gp.condition(X[:20], y[:20])
    gp.predict_mean(Z[:1])  # what is kept of the weights must not outlive the data
    gp.condition(X[20:], y[20:])
    np.testing.assert_allclose(gp.predict_mean(Z), gp.predict(Z)[0], rtol=1e-10)
    np.testing.assert_allclose(
        gp.weights, np.linalg.solve(gp.kernel(X) + 0.1 * np.eye(30), y - 0.3), rtol=1e-8
    )


def test_a_kernel_that_is_changed_later_changes_nothing():
    kernel, X = RBF(0.3), np.linspace(0, 1, 5)[:, None]
    gp, other = GP(kernel, 0.01).condition(X, X[:, 0]), GP(RBF(0.3), 0.01).condition(X, X[:, 0])
    kernel.length_scale = 3.0
    np.testing.assert_array_equal(
        gp.condition(X, X[:, 0]).log_det, other.condition(X, X[:, 0]).log_det
    )
