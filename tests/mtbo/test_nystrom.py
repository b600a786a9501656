"""Nystrom posteriors against Algorithm 2 as printed, weights included."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from fivebo.mtbo.multitask import ICM
from fivebo.mtbo.nystrom import (
    BlockNystrom,
    dictionary_accuracy,
    inclusion_probabilities,
    nystrom_posterior,
)
from fivebo.mtbo.posteriors import exact_posterior
from tests.mtbo.oracles import gamma_sum, mt_bkb_posterior

ETA = 0.1


def filled(form, kernel, history, chosen):
    X, arms, Y = history
    posterior = form(kernel, ETA, X)
    for arm, y in zip(arms, Y, strict=True):
        posterior.add(arm, y)
    posterior.fit(np.unique(arms[chosen]))
    return posterior


@pytest.mark.paper(
    "mtbo",
    "eq-7",
    "lemma-8",
    "eq-17",
    "eq-8",
    "app-a-cost",
    "s3-cost-mt-bkb",
    "alg2-l15",
    "alg2-l16",
    "alg2-l17",
    "s3-empty-dictionary",
)
@pytest.mark.parametrize("form", [BlockNystrom, nystrom_posterior], ids=["block", "fast"])
@pytest.mark.parametrize("chosen", [[0, 3], [0, 1, 2, 3], []], ids=str)
def test_posterior_is_the_printed_one_whatever_the_weights(kernel, history, form, chosen):
    X, arms, Y = history
    posterior = filled(form, kernel, history, chosen)
    p = np.random.default_rng(4).uniform(0.2, 1, len(arms))
    for i in (0, 3, 8):
        mean, block = mt_bkb_posterior(gamma_sum(kernel.terms), X[arms], Y, chosen, p, ETA, X[i])
        np.testing.assert_allclose(posterior.mean[i], mean, rtol=1e-7, atol=1e-9)
        assert posterior.norm[i] == pytest.approx(np.linalg.norm(block, 2), abs=1e-8)
        term = np.linalg.slogdet(np.eye(3) + block / ETA)[1]
        assert posterior.log_det_term(i) == pytest.approx(term, abs=1e-6)


@pytest.mark.paper("mtbo", "lemma-8")
@pytest.mark.parametrize("form", [BlockNystrom, nystrom_posterior], ids=["block", "fast"])
def test_full_dictionary_is_exact(kernel, history, form):
    X, arms, Y = history
    exact = exact_posterior(kernel, ETA, X)
    exact.update(arms, Y)
    posterior = filled(form, kernel, history, range(len(arms)))
    np.testing.assert_allclose(posterior.mean, exact.mean, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(posterior.norm, exact.norm, atol=1e-9)


def test_residual_prevents_variance_starvation(history):
    """Far from a one-point dictionary the variance stays the prior's."""
    X, arms, Y = history
    kernel = ICM(RBF(0.02), np.eye(3))
    posterior = filled(nystrom_posterior, kernel, history, [0])
    assert posterior.norm[14] == pytest.approx(1.0)
    assert posterior.norm[3] == pytest.approx(ETA / (3 + ETA), rel=1e-9)  # visited three times


@pytest.mark.paper("mtbo", "alg2-l9", "s3-q-range")
def test_inclusion_probabilities_by_hand():
    norms = np.array([0.02, 0.5])
    np.testing.assert_allclose(inclusion_probabilities(norms, 5.0, eta=0.1), [0.1, 1.0])
    scaled = inclusion_probabilities(norms, 0.5, eta=0.1, scale="eta")
    np.testing.assert_allclose(scaled, [0.1, 1.0])
    with pytest.raises(ValueError, match="q must lie"):
        inclusion_probabilities(norms, 0.0, eta=0.1)


@pytest.mark.paper("mtbo", "lemma-7", "eq-16", "eq-22")
def test_accuracy_equals_the_dual_form_of_lemma_7():
    """|| (K+aI)^{-1/2} K^{1/2} (I - S^2) K^{1/2} (K+aI)^{-1/2} || on the t x t Gram matrix."""
    rng = np.random.default_rng(0)
    X = np.linspace(0, 1, 12)[:, None]
    arms = rng.integers(12, size=30)
    p = rng.uniform(0.3, 1, 30)
    z = rng.random(30) < p
    alpha = 0.07
    K = RBF(0.2)(X[arms])
    values, U = np.linalg.eigh(K)
    M = U * np.sqrt(np.maximum(values, 0) / (np.maximum(values, 0) + alpha)) @ U.T
    expected = np.linalg.norm(M @ np.diag(1 - z / p) @ M, 2)
    w, V = np.linalg.eigh(RBF(0.2)(X))
    features = (V * np.sqrt(np.maximum(w, 0))).T
    weights = np.bincount(arms[z], 1 / p[z], minlength=12)
    counts = np.bincount(arms, minlength=12)
    assert dictionary_accuracy(features, counts, weights, alpha) == pytest.approx(
        expected, rel=1e-7
    )
