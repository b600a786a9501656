"""What EGP-TS is compared with: bandits, fully Bayesian GP-TS, expected improvement."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from fivebo.common.gp.posterior import GP
from fivebo.egpbo import EGPEI, EXP3BO, GPEI, BanditBO, FullyBayesianGPTS, Kernel, Search
from fivebo.egpbo.bayes import BayesSettings, HyperparameterSampler
from fivebo.egpbo.evidence import FitSettings
from fivebo.egpbo.expected_improvement import MixtureImprovement
from fivebo.egpbo.features import features

BOX = [[0.0, 1.0], [0.0, 1.0]]
ARMS = [Kernel("rbf", length_scale=s) for s in (0.1, 0.3, 1.0)]
SMALL = {
    "n_init": 4, "n_features": 12, "search": Search(n_screen=40, n_polish=1), "rng": 5,
}  # fmt: skip


def f(x):
    return float(np.sin(6 * x[0]) - (x[1] - 0.4) ** 2)


def drive(optimizer, rounds):
    for _ in range(rounds):
        x = optimizer.ask()
        optimizer.tell(x, f(x))
    return optimizer.result()


@pytest.mark.paper("egpbo", "s5-banditbo")
def test_banditbo_plays_the_largest_sampled_maximum_and_teaches_that_arm_alone(monkeypatch):
    a = BanditBO(BOX, ARMS, **SMALL)
    drive(a, 4)
    found = []
    original = BanditBO._sample_maximiser
    monkeypatch.setattr(
        BanditBO, "_sample_maximiser", lambda s, m: found.append(original(s, m)) or found[-1]
    )
    x = a.ask()
    values = [value for _, value in found]
    best = int(np.argmax(values))
    assert len(found) == 3
    np.testing.assert_allclose(x, found[best][0])
    before, weights = a.ensemble.theta.copy(), a.weights
    a.tell(x, f(x))
    changed = [not np.array_equal(b, t) for b, t in zip(before, a.ensemble.theta, strict=True)]
    assert changed == [m == best for m in range(3)]
    np.testing.assert_array_equal(a.weights, weights)


@pytest.mark.paper("egpbo", "s5-exp3bo", "s5-exp3-rewards")
@pytest.mark.parametrize("rewards", ["normalised", "code"])
def test_exp3bo_update_by_hand(rewards):
    a = EXP3BO(BOX, ARMS, horizon=20, rewards=rewards, **SMALL)
    eta = np.sqrt(3 * np.log(3) / ((np.e - 1) * 20))
    drive(a, 4)
    omega, played, low, high = np.ones(3), [[] for _ in range(3)], np.inf, -np.inf
    for _ in range(10):
        p = (1 - eta) * omega / omega.sum() + eta / 3
        np.testing.assert_allclose(a.probabilities, p, atol=1e-12)
        x = a.ask()
        a.tell(x, f(x))
        m = int(a.result()["component"].iloc[-1])
        played[m] = (played[m] or [a.scaling.x(a.data()[0][0])]) + [a.scaling.x(x)]
        reward = (features(np.array(played[m]), a.ensemble.V[m]) @ a.ensemble.theta[m]).max()
        if rewards == "code":
            reward = a.scaling.centre + a.scaling.scale * reward
        else:
            low, high = min(low, reward), max(high, reward)
            reward = (reward - low) / (high - low) if high > low else 0.5
        omega[m] *= np.exp(eta * reward / p[m] / 3)
    assert a.probabilities.sum() == pytest.approx(1)
    assert a.probabilities.min() >= eta / 3 - 1e-12


@pytest.mark.paper("egpbo", "s5-bayes", "s5-bayes-priors", "s5-bayes-sampler", "code-bayes-density")
def test_hyperparameter_samples_follow_the_posterior():
    """Against a grid over the same three parameters."""
    rng = np.random.default_rng(0)
    X = rng.random((8, 1))
    y = np.sin(6 * X[:, 0]) * 2 + 0.4 * rng.standard_normal(8)
    settings = BayesSettings(
        n_samples=40, warm_up=60, length_prior=(0.05, 2.0), magnitude_prior=(1.0, 20.0)
    )
    sampler = HyperparameterSampler(settings)
    samples = np.concatenate([sampler.draw(X, y, 0.2, rng) for _ in range(25)])
    assert samples.shape == (1000, 3)
    assert (samples.min(0) >= [0.05, 1.0, 0.1]).all()
    assert (samples.max(0) <= [2.0, 20.0, 0.3]).all()
    ls, ss, ns = np.linspace(0.05, 2, 30), np.linspace(1, 20, 16), np.linspace(0.1, 0.3, 5)
    weight = np.empty((30, 16, 5))
    for i, scale in enumerate(ls):
        K = RBF(scale)(X)
        for j, s2 in enumerate(ss):
            for k, noise in enumerate(ns):
                C = s2 * K + noise * np.eye(8)
                weight[i, j, k] = multivariate_normal.logpdf(y, np.zeros(8), C)
    weight = np.exp(weight - weight.max())
    mean_length = (weight.sum((1, 2)) * ls).sum() / weight.sum()
    mean_magnitude = (weight.sum((0, 2)) * ss).sum() / weight.sum()
    assert samples[:, 0].mean() == pytest.approx(mean_length, rel=0.15)
    assert samples[:, 1].mean() == pytest.approx(mean_magnitude, rel=0.15)


@pytest.mark.paper("egpbo", "s5-bayes-weights", "code-bayes-noise")
def test_fully_bayesian_weights_are_equal_and_stay_so():
    a = FullyBayesianGPTS(BOX, bayes=BayesSettings(n_samples=8, warm_up=3), **SMALL)
    drive(a, 7)
    np.testing.assert_allclose(a.weights, 1 / 8)
    assert len(set(a.ensemble.noise_vars)) == 8  # each sample brings its own noise
    assert (np.abs(a.ensemble.noise_vars / 0.01 - 1) <= 0.5).all()  # U[0.5, 1.5] of sigma_n^2


class Fixed:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def predict(self, X):
        return np.full(len(X), self.mean), np.full(len(X), self.std**2)


@pytest.mark.paper("egpbo", "s54-ei", "s54-mixture")
@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.3, 0.2]])
def test_mixture_improvement_by_simulation(weights):
    rng = np.random.default_rng(1)
    means, stds = [0.0, 0.4, -0.5][: len(weights)], [0.5, 0.2, 1.0][: len(weights)]
    gps = [Fixed(m, s) for m, s in zip(means, stds, strict=True)]
    m = rng.choice(len(weights), 400_000, p=weights)
    draws = rng.normal(np.take(means, m), np.take(stds, m))
    found = np.exp(MixtureImprovement(gps, weights, 0.2)(np.zeros((1, 2)))[0])
    assert found == pytest.approx(np.maximum(draws - 0.2, 0).mean(), abs=0.003)


@pytest.mark.paper("egpbo", "s54-ei", "s54-mixture")
@pytest.mark.parametrize("best", [0.5, 60.0])
def test_the_gradient_of_the_improvement_by_differences(best):
    rng = np.random.default_rng(3)
    X, y = rng.random((9, 2)), rng.standard_normal(9)
    gps = [
        GP(Kernel(family).exact(scale), 0.01).condition(X, y)
        for family, scale in (("rbf", 0.4), ("matern-3/2", [0.3, 0.9]))
    ]
    acquisition, x = MixtureImprovement(gps, [0.7, 0.3], best), np.array([0.45, 0.31])
    value, gradient = acquisition.value_and_gradient(x)
    assert value == pytest.approx(acquisition(x[None])[0])
    steps = 1e-5 * np.eye(2)
    np.testing.assert_allclose(
        gradient, (acquisition(x + steps) - acquisition(x - steps)) / 2e-5, rtol=1e-6
    )


@pytest.mark.paper("egpbo", "s5-gp-ei")
def test_the_fitted_gp_predicts_as_scikit_learns():
    a = GPEI(BOX, Kernel("rbf", ard=True), n_init=4, fits=FitSettings(restarts=0), rng=2)
    drive(a, 8)
    a.ask()  # refits
    (found,), (X, y) = a.hyperparameters, a.data()
    Z = np.random.default_rng(2).random((7, 2))
    kernel = ConstantKernel(found.kernel.variance) * RBF(found.kernel.length_scale)
    model = GaussianProcessRegressor(kernel, alpha=found.noise_var, optimizer=None)
    theirs = model.fit(X, (y - y.mean()) / y.std()).predict(Z, return_std=True)
    mean, std = a.posterior(Z)
    np.testing.assert_allclose(mean, y.mean() + y.std() * theirs[0], atol=1e-6)
    np.testing.assert_allclose(std, y.std() * theirs[1], atol=1e-5)


@pytest.mark.paper("egpbo", "s54-sampled", "code-ei-weights")
def test_egp_ei_weighs_by_evidence_and_one_kernel_is_gp_ei():
    a = EGPEI(BOX, [Kernel("rbf"), Kernel("matern-3/2")], n_init=6, rng=0)
    drive(a, 7)
    evidences = np.array([h.evidence for h in a.hyperparameters])
    expected = np.exp(evidences - evidences.max())
    np.testing.assert_allclose(a.weights, expected / expected.sum())
    search = Search(n_screen=40, n_polish=1)
    one = {"n_init": 4, "search": search, "rng": 1}
    mixture = drive(EGPEI(BOX, [Kernel("rbf")], form="mixture", **one), 5)
    single = drive(GPEI(BOX, Kernel("rbf"), **one), 5)
    np.testing.assert_array_equal(mixture["y"][:4], single["y"][:4])
    assert mixture["y"][4] == pytest.approx(single["y"][4], abs=1e-3)  # other screening points


@pytest.mark.paper("egpbo", "s54-dictionary", "s54-incumbent", "s54-refit", "s54-noise")
@pytest.mark.parametrize("form", ["sampled", "mixture"])
def test_egp_ei_improves_on_the_best_observation_under_refitted_kernels(form, monkeypatch):
    a = EGPEI(BOX, form=form, n_init=5, search=Search(n_screen=20, n_polish=1), rng=0)
    assert [k.family for k in a.kernels] == ["rbf", "rbf", "matern-3/2", "matern-5/2"]
    assert [k.ard for k in a.kernels] == [True, False, False, False]
    seen, original = [], a.maximiser.maximise

    def spy(function, rng):
        seen.append(function)
        return original(function, rng)

    monkeypatch.setattr(a.maximiser, "maximise", spy)
    for t in range(5, 9):
        drive(a, t - a.n_told)
        weights = a.weights
        a.ask()
        y = a.data()[1]
        assert a._fitted_at == t
        assert seen[-1].best == pytest.approx((y.max() - y.mean()) / y.std())
        assert all(0.99e-4 <= h.noise_var <= 1.01 for h in a.hyperparameters)
        if form == "mixture":
            assert seen[-1].gps == a.gps
            np.testing.assert_array_equal(seen[-1].log_weights, np.log(a.weights))
            assert t == 5 or not np.array_equal(weights, a.weights)
        else:
            assert (len(seen[-1].gps), *seen[-1].log_weights) == (1, 0.0)


@pytest.mark.paper("egpbo", "s5-gp-ei")
def test_gp_ei_finds_a_simple_maximum():
    a = GPEI([[0.0, 1.0]], n_init=4, rng=0)
    for _ in range(14):
        x = a.ask()
        a.tell(x, -((x[0] - 0.37) ** 2))
    assert a.recommend()[0] == pytest.approx(0.37, abs=0.02)


def test_matrices_that_rounding_leaves_indefinite_have_no_density():
    sampler = HyperparameterSampler(BayesSettings(length_prior=(0.1, 1e3)))
    X = np.random.default_rng(0).random((20, 2))
    P = np.array([[np.log(900.0), np.log(90.0), 1.0], [np.log(0.101), np.log(2.0), 1.0]])
    found = sampler.log_density(P, X, X[:, 0], 1e-14)
    assert found[0] == -np.inf
    assert np.isfinite(found[1])
