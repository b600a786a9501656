"""IT-KB, IT-BKB and MOBO against scalar GPs, one a task."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from fivebo.mtbo import (
    ITBKB,
    ITKB,
    MOBO,
    ChebyshevScalarization,
    DiagonalKernel,
    LinearScalarization,
)

X = np.linspace(0, 1, 12)[:, None]
ETA = 0.1
Z = np.array([-1.0, -2.0])
SCALES = np.array([1.0, 0.5])


def kernel(scales=SCALES):
    return DiagonalKernel([RBF(0.3)] * 2, scales)


def told(optimizer, rounds=6):
    rng = np.random.default_rng(1)
    arms = rng.integers(12, size=rounds)
    Y = rng.standard_normal((rounds, 2))
    for arm, y in zip(arms, Y, strict=True):
        optimizer.tell(X[arm], y)
    return arms, Y


def scalar_gps(arms, Y, scales=SCALES):
    """Posterior mean (m, n) and std (m, n) of one scikit-learn GP a task."""
    fits = [
        GaussianProcessRegressor(
            ConstantKernel(scale, "fixed") * RBF(0.3), alpha=ETA, optimizer=None
        )
        .fit(X[arms], y)
        .predict(X, return_std=True)
        for scale, y in zip(scales, Y.T, strict=True)
    ]
    return np.column_stack([m for m, _ in fits]), np.column_stack([s for _, s in fits])


@pytest.mark.paper("mtbo", "app-e-it-acquisition", "app-e-it-radius")
@pytest.mark.parametrize("radius", ["printed", "self-normalised"])
def test_it_kb_acquisition(radius):
    s = ChebyshevScalarization(Z)
    optimizer = ITKB(X, kernel(), s, b=1.5, noise_std=0.2, radius=radius)
    arms, Y = told(optimizer)
    mean, std = scalar_gps(arms, Y)
    gram = RBF(0.3)(X[arms])
    gain = [0.5 * np.linalg.slogdet(np.eye(6) + c * gram / ETA)[1] for c in SCALES]
    log10 = np.log(10)
    if radius == "printed":
        beta = [1.5 + 0.2 * np.sqrt(2 * (g + 1 + log10)) for g in gain]
    else:
        beta = [1.5 + 0.2 / np.sqrt(ETA) * np.sqrt(2 * (g + log10)) for g in gain]
    lam = np.array([0.7, 0.3])
    expected = s(mean, lam) + 0.7 * np.sqrt(2) * (np.array(beta) * std).max(1)
    np.testing.assert_allclose(optimizer.acquisition(lam), expected, rtol=1e-8)


@pytest.mark.paper("mtbo", "app-e-it-gain")
def test_it_kb_with_the_greedy_gain_has_a_radius_that_ignores_the_queries():
    def radii(arms):
        optimizer = ITKB(
            X, kernel(), LinearScalarization(2), b=1, noise_std=0.2, gain="greedy", horizon=4
        )
        for arm in arms:
            optimizer.tell(X[arm], [0.0, 0.0])
        return optimizer.radius

    np.testing.assert_allclose(radii([0, 0, 0]), radii([0, 6, 11]))
    realised = ITKB(X, kernel(), LinearScalarization(2), b=1, noise_std=0.2)
    told(realised, 3)
    assert (radii([0, 0, 0]) >= realised.radius - 1e-12).all()


@pytest.mark.paper("mtbo", "app-e-it-bkb")
@pytest.mark.parametrize("scales", [np.ones(2), SCALES], ids=["shared", "own"])
def test_it_bkb_with_a_full_dictionary_is_exact_with_bkbs_radius(scales):
    s = LinearScalarization(2)
    optimizer = ITBKB(
        X, kernel(scales), s, b=1.5, noise_std=0.2, horizon=50, epsilon=0.36, delta=0.1
    )
    arms, Y = told(optimizer)
    mean, std = scalar_gps(arms, Y, scales)
    rho = 1.36 / 0.64
    radius = [
        2.25 * 1.5
        + 2 * 0.2 / np.sqrt(ETA) * np.sqrt(
            rho * np.log(6) * (std[arms, i] ** 2).sum() / ETA + np.log(10)
        )
        for i in range(2)
    ]  # fmt: skip
    lam = np.array([0.6, 0.8])
    expected = mean @ lam + 1.0 * np.sqrt(2) * (np.array(radius) * std).max(1)
    np.testing.assert_allclose(optimizer.acquisition(lam), expected, rtol=1e-6)
    assert len(optimizer.dictionary) == 6 * len(set(scales))


@pytest.mark.paper("mtbo", "app-e-it-bkb", "app-e-it-bkb-dictionary")
def test_it_bkb_inclusion_has_the_regulariser_in_it():
    """With q Gamma~ / eta < 1, the share of kept points is that probability, not eta times it."""
    kept = []
    for seed in range(60):
        optimizer = ITBKB(
            X, kernel(np.ones(2)), LinearScalarization(2), b=1, noise_std=0.2, horizon=50, q=0.05,
            rng=seed,
        )  # fmt: skip
        optimizer.tell(X[3], [0.0, 0.0])  # probability 0.05 / 0.1 = 0.5 of the prior's norm 1
        kept.append(len(optimizer.dictionary))
    assert 0.3 < np.mean(kept) < 0.7


@pytest.mark.paper("mtbo", "app-e-mobo", "app-e-mobo-model")
def test_mobo_acquisitions():
    for rule, multiplier in (
        ("hypermapper", np.sqrt(0.125 * np.log(15))),
        ("dragonfly", np.sqrt(0.2 * np.log(15))),
    ):
        lam = np.array([0.7, 0.3])
        chebyshev = MOBO(X, kernel(), ChebyshevScalarization(Z), radius=rule)
        mean, std = scalar_gps(*told(chebyshev))
        expected = (lam * (mean + multiplier * std - Z)).min(1)
        np.testing.assert_allclose(chebyshev.acquisition(lam), expected, rtol=1e-8)
        linear = MOBO(X, kernel(), LinearScalarization(2), radius=rule)
        told(linear)
        expected = mean @ lam + multiplier * np.sqrt(std**2 @ lam**2)
        np.testing.assert_allclose(linear.acquisition(lam), expected, rtol=1e-8)
