"""Lemmas 1, 2, 4, 5, 6 and 10 of [MTBO] as laws on random data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern

from fivebo.mtbo import gains
from fivebo.mtbo.blocks import BlockPosterior
from fivebo.mtbo.multitask import ICM, SumKernel, similarity_kernel
from fivebo.mtbo.nystrom import BlockNystrom, dictionary_accuracy, inclusion_probabilities
from fivebo.mtbo.posteriors import exact_posterior
from fivebo.mtbo.theory import (
    c_epsilon,
    concentration_width,
    nystrom_q,
    nystrom_rho,
    theorem2_bound,
)
from tests.mtbo.oracles import gamma_sum, log_det_gain

X = np.linspace(0, 1, 20)[:, None]
ETA = 0.1
law = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 100_000)


def random_psd(rng, n, rank=None):
    A = rng.standard_normal((rank or n, n))
    return A.T @ A / n


def random_sum_kernel(rng):
    return SumKernel([(RBF(0.3), random_psd(rng, 3)), (Matern(0.1, nu=1.5), random_psd(rng, 3, 1))])


@pytest.mark.paper("mtbo", "lemma-2")
@law
@given(seed=seeds, eta=st.floats(1e-3, 10.0))
def test_lemma_2_operator_identities(seed, eta):
    A = np.random.default_rng(seed).standard_normal((6, 4))
    left = np.linalg.inv(A.T @ A + eta * np.eye(4))
    right = np.linalg.inv(A @ A.T + eta * np.eye(6))
    np.testing.assert_allclose(left @ A.T, A.T @ right, atol=1e-8)
    np.testing.assert_allclose(np.eye(4) - A.T @ right @ A, eta * left, atol=1e-8)


@pytest.mark.paper("mtbo", "lemma-4", "lemma-5", "eq-13", "app-c-sum")
@law
@given(seed=seeds)
def test_lemmas_4_and_5_on_blocks(seed):
    rng = np.random.default_rng(seed)
    kernel = random_sum_kernel(rng)
    posterior = BlockPosterior(kernel, ETA, X)
    kappa, gain, traces, arms = kernel.kappa(X), 0.0, 0.0, rng.integers(20, size=8)
    widths, norms = 0.0, 0.0
    for arm in arms:
        before, mean = posterior.blocks().copy(), posterior.mean
        widths += posterior.norm[arm] ** 0.5
        gain += posterior.log_det_term(arm)
        posterior.update(arm, rng.standard_normal(3))
        after = posterior.blocks()
        traces += np.trace(after[arm])
        norms += posterior.norm[arm]
        assert np.linalg.eigvalsh(before - after).min() > -1e-10
        assert np.linalg.eigvalsh((1 + kappa / ETA) * after - before).min() > -1e-9
        assert np.linalg.eigvalsh(after).max() <= kappa + 1e-10
        # the block update behind the first order
        S = ETA * np.eye(3) + before[arm]
        np.testing.assert_allclose(
            after[arm], before[arm] - before[arm] @ np.linalg.solve(S, before[arm]), atol=1e-10
        )
        assert mean is not posterior.mean
    exact = log_det_gain(gamma_sum(kernel.terms), X[arms], ETA)
    assert gain == pytest.approx(exact, rel=1e-8)
    assert traces / ETA <= exact + 1e-9
    # the sum of widths in the proof of Theorem 2, by its bound at radius b = 1: sigma, log -> 0
    bound = theorem2_bound(
        8, 0.0, norms, b=1.0, noise_std=1e-12, eta=ETA, delta=1.0, kappa=kappa, lipschitz=0.5
    )
    assert widths <= bound + 1e-9


@pytest.mark.paper("mtbo", "lemma-4")
def test_lemma_4_is_no_equality():
    posterior = exact_posterior(ICM(RBF(0.3), np.eye(1)), ETA, X)
    gain = posterior.log_det_term(0)
    posterior.update(0, np.zeros(1))
    assert posterior.norm[0] / ETA < 0.5 * gain


@pytest.mark.paper("mtbo", "lemma-1", "thm-2-compact", "s4-information")
@law
@given(seed=seeds, n=st.integers(1, 5))
def test_lemma_1_at_the_same_points(seed, n):
    rng = np.random.default_rng(seed)
    kernel = ICM(RBF(0.3), random_psd(rng, n, rank=max(1, n - 1)))
    arms = rng.integers(20, size=7)
    gram = RBF(0.3)(X[arms])
    exact = log_det_gain(gamma_sum(kernel.terms), X[arms], ETA)
    xi = np.linalg.eigvalsh(kernel.B)
    xi[xi < 1e-12] = 0
    split = gains.lemma1_gain(xi, lambda alpha: gains.log_det_gain(gram, alpha), eta=ETA)
    assert split == pytest.approx(exact, rel=1e-8)
    posterior, total = exact_posterior(kernel, ETA, X), 0.0
    for arm in arms:
        posterior.update(arm, np.zeros(n))
        total += posterior.norm[arm]
    gain = gains.log_det_gain(gram, ETA)
    assert total <= gains.lemma1_norm_sum(gain, eta=ETA, kappa=xi.max()) + 1e-10


@pytest.mark.paper("mtbo", "s4-omega")
def test_gain_grows_with_unrelatedness():
    def gain(alpha):
        return gains.greedy_gain(RBF(0.3), X, alpha, 10)[-1]

    values = [gains.similarity_gain(4, omega, gain, eta=ETA) for omega in (0, 0.25, 0.5, 0.75, 1)]
    assert values[0] == pytest.approx(gain(ETA))
    assert values[-1] == pytest.approx(4 * gain(ETA))
    assert (np.diff(values) > 0).all()
    with_eigenvalues = gains.lemma1_gain(
        np.linalg.eigvalsh(similarity_kernel(RBF(0.3), 4, 0.5).B), gain, eta=ETA
    )
    assert values[2] == pytest.approx(with_eigenvalues)


@pytest.mark.paper("mtbo", "lemma-6")
@law
@given(seed=seeds)
def test_lemma_6_at_the_same_points(seed):
    rng = np.random.default_rng(seed)
    kernel = random_sum_kernel(rng)
    arms = rng.integers(20, size=6)
    single = [gains.log_det_gain(k(X[arms]), ETA) for k, _ in kernel.terms]
    tops = [np.linalg.eigvalsh(B)[-1] for _, B in kernel.terms]
    ranks = [np.linalg.matrix_rank(B) for _, B in kernel.terms]
    exact = log_det_gain(gamma_sum(kernel.terms), X[arms], ETA)
    assert exact <= gains.lemma6_gain(ranks, tops, single) + 1e-9
    posterior, total = BlockPosterior(kernel, ETA, X), 0.0
    for arm in arms:
        posterior.update(arm, np.zeros(3))
        total += posterior.norm[arm]
    assert total <= gains.lemma6_norm_sum(tops, single, eta=ETA) + 1e-9


@pytest.mark.paper("mtbo", "lemma-10")
@law
@given(seed=seeds)
def test_lemma_10_at_the_realised_accuracy(seed):
    rng = np.random.default_rng(seed)
    B = random_psd(rng, 3)
    kernel = ICM(RBF(0.3), B)
    arms = rng.integers(20, size=40)
    p = rng.uniform(0.5, 1, 40)
    z = rng.random(40) < p
    if not z.any():
        return
    w, V = np.linalg.eigh(RBF(0.3)(X))
    features = (V * np.sqrt(np.maximum(w, 0))).T
    counts = np.bincount(arms, minlength=20)
    weights = np.bincount(arms[z], 1 / p[z], minlength=20)
    epsilon = max(
        dictionary_accuracy(features, counts, weights, ETA / xi)
        for xi in np.linalg.eigvalsh(B)
        if xi > 1e-12
    )
    if not 0 < epsilon < 1:
        return
    exact, approximate = exact_posterior(kernel, ETA, X), BlockNystrom(kernel, ETA, X)
    exact.update(arms, np.zeros((40, 3)))
    for arm in arms:
        approximate.add(arm, np.zeros(3))
    approximate.fit(np.unique(arms[z]))
    rho, true = nystrom_rho(epsilon), exact.blocks()
    assert np.linalg.eigvalsh(rho * true - approximate.blocks()).min() > -1e-9
    assert np.linalg.eigvalsh(approximate.blocks() - true / rho).min() > -1e-9


def draw_function(rng, kernel):
    """Return f on X, an element of the RKHS of an ICM kernel, and its norm."""
    C, gram = rng.uniform(-1, 1, (20, kernel.n_tasks)), kernel.kernel(X)
    return gram @ C @ kernel.B, np.sqrt(np.einsum("ij,ij->", gram, C @ kernel.B @ C.T))


@pytest.mark.paper("mtbo", "s4-noise-free", "thm-1")
@law
@given(seed=seeds, eta=st.floats(1e-2, 10.0))
def test_without_noise_the_band_is_the_norm_times_the_root_of_the_variance(seed, eta):
    """||f(x) - mu_t(x)|| <= ||f|| ||Gamma_t(x, x)||^{1/2}: no probability in it."""
    rng = np.random.default_rng(seed)
    kernel = ICM(RBF(0.3), random_psd(rng, 3))
    f, norm_f = draw_function(rng, kernel)
    posterior = exact_posterior(kernel, eta, X)
    for arm in rng.integers(20, size=5):
        posterior.update(arm, f[arm])
        error = np.linalg.norm(f - posterior.mean, axis=1)
        width = concentration_width(
            posterior.norm, 0.0, norm_f=norm_f, noise_std=1e-12, eta=eta, delta=1.0
        )
        assert (error <= width * (1 + 1e-8) + 1e-8).all()


@pytest.mark.paper("mtbo", "lemma-9", "thm-3-c")
def test_lemma_9_at_the_realised_accuracy():
    """Sampled dictionaries of accuracy below 1 keep the Nystrom mean in the band of c_eps."""
    tried = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        kernel = ICM(RBF(0.3), random_psd(rng, 3))
        f, norm_f = draw_function(rng, kernel)
        arms, p = rng.integers(20, size=30), rng.uniform(0.5, 1, 30)
        z = rng.random(30) < p
        w, V = np.linalg.eigh(RBF(0.3)(X))
        features = (V * np.sqrt(np.maximum(w, 0))).T
        counts = np.bincount(arms, minlength=20)
        weights = np.bincount(arms[z], 1 / p[z], minlength=20)
        epsilon = max(
            dictionary_accuracy(features, counts, weights, ETA / xi)
            for xi in np.linalg.eigvalsh(kernel.B)
            if xi > 1e-12
        )
        if epsilon >= 1:
            continue
        posterior = BlockNystrom(kernel, ETA, X)
        for arm in arms:
            posterior.add(arm, f[arm] + 0.1 * rng.standard_normal(3))
        posterior.fit(np.unique(arms[z]))
        gain = log_det_gain(gamma_sum(kernel.terms), X[arms], ETA)
        width = concentration_width(
            posterior.norm, gain, norm_f=c_epsilon(epsilon) * norm_f, noise_std=0.1, eta=ETA,
            delta=0.1,
        )  # fmt: skip
        assert (np.linalg.norm(f - posterior.mean, axis=1) <= width).all()
        tried += 1
    assert tried >= 20


@pytest.mark.paper("mtbo", "lemma-7", "eq-16", "eq-22")
def test_lemma_7_at_the_theorys_oversampling():
    """With p scaled by 1/eta and Lemma 7's q, the accuracy eps is met in every one of 200 draws."""
    rng = np.random.default_rng(0)
    epsilon, horizon = 0.5, 40_000
    counts = rng.multinomial(horizon, np.full(20, 1 / 20))
    w, V = np.linalg.eigh(RBF(0.3)(X))
    features = (V * np.sqrt(np.maximum(w, 0))).T
    inverse = np.linalg.inv((features * counts) @ features.T + ETA * np.eye(20))
    norms = ETA * np.einsum("rm,rs,sm->m", features, inverse, features)
    q = nystrom_q(horizon, epsilon=epsilon, delta=0.1, rule="lemma-7")
    p = inclusion_probabilities(norms, q, eta=ETA, scale="eta")
    assert p.max() < 1, "points must be left out for the test to mean something"
    draws = [rng.binomial(counts, p) / p for _ in range(200)]
    worst = max(dictionary_accuracy(features, counts, weights, ETA) for weights in draws)
    assert 0 < worst <= epsilon


@pytest.mark.paper("mtbo", "thm-2-gamma")
@law
@given(seed=seeds)
def test_greedy_gain_brackets_every_design(seed):
    rng = np.random.default_rng(seed)
    arms = rng.integers(20, size=5)
    gram = RBF(0.3)(X[arms])
    assert gains.log_det_gain(gram, ETA) <= gains.gain_upper_bound(RBF(0.3), X, ETA, 5)
    assert gains.greedy_gain(RBF(0.3), X, ETA, 5)[0] == pytest.approx(np.log(11))
