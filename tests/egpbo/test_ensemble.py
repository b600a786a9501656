"""Posteriors, weights and their updates against the formulas written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fivebo.egpbo.ensemble import Ensemble, batch_posterior, cholesky, normalise
from fivebo.egpbo.features import Kernel, draw_frequencies, features
from tests.egpbo.oracles import evidence, posterior, round_updates

NOISE = 0.2
SCALES = (0.1, 0.4, 2.0)
PRIOR_VARS = (1.0, 2.5, 0.7)


def make(seed=0, n_features=20, **more):
    rng = np.random.default_rng(seed)
    V = [draw_frequencies(Kernel("rbf"), s, n_features, 2, rng) for s in SCALES]
    return Ensemble(V, PRIOR_VARS, NOISE, **more)


def data(n, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    return X, np.sin(5 * X[:, 0]) + 0.3 * rng.standard_normal(n)


@pytest.mark.paper("egpbo", "eq-9", "s8-batch", "s3-evidence")
def test_batch_posterior_and_evidence():
    X, y = data(15)
    V = make().V[0]
    theta, Sigma, log_evidence = batch_posterior(features(X, V), y, 1.7, NOISE)
    expected_theta, expected_Sigma = posterior(X, y, V, 1.7, NOISE)
    np.testing.assert_allclose(theta, expected_theta, atol=1e-10)
    np.testing.assert_allclose(Sigma, expected_Sigma, atol=1e-10)
    assert log_evidence == pytest.approx(evidence(X, y, V, 1.7, NOISE), abs=1e-9)


@pytest.mark.paper("egpbo", "eq-13", "eq-9", "eq-7")
def test_chained_weights_equal_the_evidence():
    X, y = data(60)
    chained, batch = make(), make()
    for x, value in zip(X, y, strict=True):
        chained.update(x, value)
    batch.condition(X, y)
    np.testing.assert_allclose(chained.log_weights, batch.log_weights, rtol=0, atol=1e-10)
    exact = np.array(
        [evidence(X, y, V, s, NOISE) for V, s in zip(batch.V, PRIOR_VARS, strict=True)]
    )
    np.testing.assert_allclose(batch.log_weights + np.log(3), exact, atol=1e-9)
    np.testing.assert_allclose(chained.weights, batch.weights, atol=1e-10)


@pytest.mark.paper("egpbo", "eq-15", "eq-14")
def test_rank_one_updates_equal_the_batch_posterior():
    X, y = data(60)
    chained, batch = make(), make()
    for x, value in zip(X, y, strict=True):
        chained.update(x, value)
    batch.condition(X, y)
    np.testing.assert_allclose(chained.theta, batch.theta, atol=1e-8)
    np.testing.assert_allclose(chained.Sigma, batch.Sigma, atol=1e-8)


def test_rank_one_updates_stay_sound_in_a_hard_case():
    rng = np.random.default_rng(5)
    V = [draw_frequencies(Kernel("rbf"), 0.3, 50, 2, rng)]
    chained, batch = Ensemble(V, [1e4], 1e-4), Ensemble(V, [1e4], 1e-4)
    X = rng.random((600, 2))
    y = np.sin(5 * X[:, 0])
    for x, value in zip(X, y, strict=True):
        chained.update(x, value)
    batch.condition(X, y)
    np.testing.assert_array_equal(chained.Sigma[0], chained.Sigma[0].T)
    scale = np.abs(batch.Sigma).max()
    np.testing.assert_allclose(chained.Sigma / scale, batch.Sigma / scale, atol=1e-4)
    assert cholesky(chained.Sigma[0])[1] <= 1e-10 * scale


@pytest.mark.paper("egpbo", "eq-5-prior", "eq-13", "eq-14", "eq-15", "alg1-update")
def test_an_update_is_the_papers_line_by_line():
    X, y = data(12)
    ensemble = make()
    models = [
        (V, np.zeros(40), s * np.eye(40)) for V, s in zip(ensemble.V, PRIOR_VARS, strict=True)
    ]
    weights = np.full(3, 1 / 3)
    for x, value in zip(X, y, strict=True):
        mean, var = ensemble.predict(x)
        models_before = models
        models, weights = round_updates(models, weights, x, value, NOISE)
        for m, (V, theta, Sigma) in enumerate(models_before):
            p = features(x, V)
            assert mean[m] == pytest.approx(p @ theta, abs=1e-12)
            assert var[m] == pytest.approx(p @ Sigma @ p + NOISE, abs=1e-12)
        ensemble.update(x, value)
        np.testing.assert_allclose(ensemble.weights, weights, atol=1e-12)
    for m, (_, theta, Sigma) in enumerate(models):
        np.testing.assert_allclose(ensemble.theta[m], theta, atol=1e-12)
        np.testing.assert_allclose(ensemble.Sigma[m], Sigma, atol=1e-12)


@pytest.mark.paper("egpbo", "s5-banditbo", "s5-exp3bo")
@pytest.mark.parametrize("only", [0, 1, 2])
def test_an_update_of_one_component_leaves_the_others_and_all_weights(only):
    X, y = data(6)
    whole, one = make(), make()
    for x, value in zip(X, y, strict=True):
        whole.update(x, value)
        one.update(x, value, only=only)
    for m in range(3):
        theta, Sigma = (whole.theta[m], whole.Sigma[m]) if m == only else (0, PRIOR_VARS[m])
        np.testing.assert_allclose(one.theta[m], theta, atol=1e-12)
        np.testing.assert_allclose(one.Sigma[m], Sigma * np.eye(40) if m != only else Sigma)
    np.testing.assert_array_equal(one.weights, np.full(3, 1 / 3))


@pytest.mark.paper("egpbo", "alg1-batch")
@settings(max_examples=20, deadline=None)
@given(st.permutations(range(8)))
def test_the_order_of_a_rounds_updates_is_of_no_consequence(order):
    X, y = data(8)
    one, other = make(), make()
    for i in range(8):
        one.update(X[i], y[i])
    for i in order:
        other.update(X[i], y[i])
    np.testing.assert_allclose(one.theta, other.theta, atol=1e-10)
    np.testing.assert_allclose(one.Sigma, other.Sigma, atol=1e-10)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-10)


@pytest.mark.paper("egpbo", "s5-floor")
@given(
    st.lists(st.floats(-2000, 50), min_size=1, max_size=12),
    st.floats(1e-6, 0.5),
)
def test_the_floor_is_respected(log_weights, floor):
    weights = normalise(np.array(log_weights), floor)
    assert weights.sum() == pytest.approx(1)
    assert weights.min() >= floor / (1 + len(weights) * floor) * (1 - 1e-12)


@pytest.mark.paper("egpbo", "code-densities")
def test_weights_survive_densities_that_underflow():
    ensemble = make()
    for _ in range(5):
        ensemble.update(np.array([0.5, 0.5]), 1e4)
    assert np.isfinite(ensemble.weights).all()
    assert ensemble.weights.sum() == pytest.approx(1)


@pytest.mark.paper("egpbo", "eq-10")
def test_components_and_functions_are_drawn_from_the_mixture():
    ensemble = make(n_features=2)
    X, y = data(20)
    ensemble.condition(X, y)
    rng = np.random.default_rng(0)
    drawn = np.bincount([ensemble.draw_component(rng) for _ in range(20_000)], minlength=3)
    np.testing.assert_allclose(drawn / 20_000, ensemble.weights, atol=0.015)
    thetas = np.array([ensemble.draw_theta(1, rng) for _ in range(20_000)])
    np.testing.assert_allclose(thetas.mean(0), ensemble.theta[1], atol=0.05)
    np.testing.assert_allclose(np.cov(thetas.T), ensemble.Sigma[1], atol=0.08)


@pytest.mark.paper("egpbo", "eq-10", "alg1-component")
@pytest.mark.parametrize(
    ("u", "component"), [(0.0, 0), (0.19, 0), (0.21, 1), (0.49, 1), (0.51, 2), (0.999, 2), (1.0, 2)]
)
def test_a_component_is_the_weights_interval_that_a_uniform_number_meets(u, component):
    class Fixed:
        def random(self):
            return u  # 1 is what rounding might make of it

    assert make(prior_weights=[0.2, 0.3, 0.5]).draw_component(Fixed()) == component


@pytest.mark.paper("egpbo", "s3-selection")
@pytest.mark.parametrize("member", [0, 1, 2])
def test_the_weight_of_the_true_member_wins(member):
    weights = []
    for seed in range(6):
        ensemble = make(seed, n_features=100)
        rng = np.random.default_rng(100 + seed)
        theta = np.sqrt(PRIOR_VARS[member]) * rng.standard_normal(200)
        X = rng.random((120, 2))
        y = features(X, ensemble.V[member]) @ theta + np.sqrt(NOISE) * rng.standard_normal(120)
        path = []
        for x, value in zip(X, y, strict=True):
            ensemble.update(x, value)
            path.append(ensemble.weights[member])
        weights.append(path)
    mean = np.mean(weights, axis=0)
    assert mean[-1] > 0.85
    assert mean[-1] > mean[4]


def test_prior_weight_zero_leaves_a_component_out():
    ensemble = make(prior_weights=[0.5, 0.0, 0.5])
    X, y = data(10)
    ensemble.condition(X, y)
    assert ensemble.weights[1] == 0


def test_a_matrix_beyond_repair_is_named():
    with pytest.raises(np.linalg.LinAlgError, match="raise noise_var"):
        cholesky(np.diag([1.0, -1.0]))


def test_jitter_is_reported():
    v = np.ones((3, 1))
    with pytest.warns(RuntimeWarning, match="jitter"):
        factor, jitter = cholesky(v @ v.T - 1e-7 * np.eye(3))
    assert jitter > 0
    assert np.isfinite(factor).all()
