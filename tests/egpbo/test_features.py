"""Random features against the exact kernels, and their gradients."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from fivebo.egpbo.features import (
    Kernel,
    SampledFunction,
    draw_frequencies,
    features,
    mixed_dictionary,
    rbf_dictionary,
)
from tests.egpbo.oracles import gradient, phi

KERNELS = {
    "rbf": (Kernel("rbf"), [0.7], RBF(0.7)),
    "rbf-ard": (Kernel("rbf", ard=True), [0.5, 1.0, 2.0], RBF([0.5, 1.0, 2.0])),
    "matern-3/2": (Kernel("matern-3/2"), [0.7], Matern(0.7, nu=1.5)),
    "matern-5/2": (Kernel("matern-5/2"), [0.7], Matern(0.7, nu=2.5)),
    "matern-ard": (
        Kernel("matern-3/2", ard=True), [0.5, 1.0, 2.0], Matern([0.5, 1.0, 2.0], nu=1.5)
    ),
}  # fmt: skip


@pytest.mark.paper("egpbo", "s2-spectral", "s8-frequencies", "s8-matern")
@pytest.mark.parametrize("name", KERNELS)
def test_features_approach_the_exact_kernel(name):
    kernel, scale, exact = KERNELS[name]
    rng = np.random.default_rng(0)
    X = rng.random((6, 3))
    V = draw_frequencies(kernel, np.array(scale), 200_000, 3, rng)
    Phi = features(X, V)
    np.testing.assert_allclose(Phi @ Phi.T, exact(X), atol=0.008)


@pytest.mark.paper("egpbo", "eq-5")
def test_features_are_sines_and_cosines_of_unit_norm():
    rng = np.random.default_rng(1)
    V, X = rng.standard_normal((7, 2)), rng.random((4, 2))
    np.testing.assert_allclose(features(X, V), [phi(x, V) for x in X], atol=1e-15)
    np.testing.assert_allclose((features(X, V) ** 2).sum(1), 1)


@pytest.mark.paper("egpbo", "code-frequencies")
def test_the_codes_scaling_realises_the_root_of_the_lengthscale():
    rng = np.random.default_rng(2)
    X = np.array([[0.0, 0.0, 0.0], [0.7, -0.3, 0.5]])
    V = draw_frequencies(Kernel("rbf"), 0.25, 200_000, 3, rng, "notebook")
    Phi = features(X, V)
    assert Phi[0] @ Phi[1] == pytest.approx(RBF(0.5)(X)[0, 1], abs=0.005)
    assert RBF(0.25)(X)[0, 1] == pytest.approx(0.0013, abs=1e-4)


def test_matern_draws_share_one_mixing_variable_for_all_coordinates():
    """The law is spherical: independent Student coordinates would have heavier corners."""
    rng = np.random.default_rng(3)
    V = draw_frequencies(Kernel("matern-3/2"), 1.0, 100_000, 2, rng)
    directions = V / np.linalg.norm(V, axis=1, keepdims=True)
    assert (directions**4).sum(1).mean() == pytest.approx(0.75, abs=0.005)


@pytest.mark.paper("egpbo", "s2-kernels")
@pytest.mark.parametrize("family", ["rbf", "matern-3/2", "matern-5/2"])
def test_correlations_are_scikit_learns(family):
    r = np.linspace(0, 4, 9)[:, None]
    zero = np.zeros((1, 1))
    exact = RBF() if family == "rbf" else Matern(nu={"3": 1.5, "5": 2.5}[family[7]])
    np.testing.assert_allclose(Kernel(family).exact(1.0)(r, zero), exact(r, zero), atol=1e-12)


@pytest.mark.paper("egpbo", "s3-gradient")
def test_gradient_of_a_sampled_function():
    rng = np.random.default_rng(4)
    V, theta, x = rng.standard_normal((9, 3)), rng.standard_normal(18), rng.random(3)
    f = SampledFunction(V, theta)
    value, slope = f.value_and_gradient(x)
    assert value == pytest.approx(phi(x, V) @ theta)
    assert value == pytest.approx(f(x[None])[0])
    np.testing.assert_allclose(slope, gradient(x, V, theta), atol=1e-12)
    steps = 1e-6 * np.eye(3)
    numeric = (f(x + steps) - f(x - steps)) / 2e-6
    np.testing.assert_allclose(slope, numeric, atol=1e-7)


@pytest.mark.paper("egpbo", "s5-mixed", "s5-rbf", "s5-rbf-meaning")
def test_dictionaries():
    assert [k.family for k in mixed_dictionary()] == ["rbf", "rbf", "matern-3/2", "matern-5/2"]
    assert [k.ard for k in mixed_dictionary()] == [True, False, False, False]
    assert [k.length_scale for k in rbf_dictionary()] == pytest.approx(10.0 ** np.arange(-4, 7))
    squares = [k.length_scale**2 for k in rbf_dictionary(as_variance=True)]
    assert squares == pytest.approx(10.0 ** np.arange(-4, 7))


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"family": "cosine"}, "family"),
        ({"length_scale": 0.0}, "length_scale must lie in"),
        ({"length_scale": 1.0, "ard": True}, "ard"),
        ({"variance": -1.0}, "variance must lie in"),
    ],
)
def test_bad_kernels_are_refused(settings, match):
    with pytest.raises(ValueError, match=match):
        Kernel(**settings)
