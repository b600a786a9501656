"""Scalarisations: laws of s_lambda, L_lambda and P_lambda ([MTBO] Sec. 2, Sec. 5, App. E)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kstest

from fivebo.mtbo.scalarization import ChebyshevScalarization, LinearScalarization, draw_weights

vectors = arrays(float, 4, elements=st.floats(-100, 100))
positive = arrays(float, 4, elements=st.floats(0.01, 1))
SCALARIZATIONS = [LinearScalarization(4), ChebyshevScalarization([0.0, -1.0, 2.0, 0.5])]


@pytest.mark.paper("mtbo", "s2-linear", "s2-chebyshev")
def test_values_by_hand():
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    y = np.array([1.0, 2.0, 3.0, 4.0])
    assert LinearScalarization(4)(y, weights) == pytest.approx(3.0)
    chebyshev = ChebyshevScalarization([0.0, -1.0, 2.0, 0.5])
    assert chebyshev(y, weights) == pytest.approx(0.1)  # min of 0.1, 0.6, 0.3, 1.4
    np.testing.assert_allclose(chebyshev(np.stack([y, y + 1]), weights), [0.1, 0.2])
    assert LinearScalarization(4).lipschitz(weights) == pytest.approx(np.sqrt(0.3))
    assert chebyshev.lipschitz(weights) == 0.4


@pytest.mark.paper("mtbo", "s2-lipschitz")
@pytest.mark.parametrize("s", SCALARIZATIONS, ids=lambda s: type(s).__name__)
@given(u=vectors, v=vectors, raw=positive)
def test_lipschitz_constant_in_the_l2_norm(s, u, v, raw):
    weights = raw / raw.sum()
    bound = s.lipschitz(weights) * np.linalg.norm(u - v)
    assert abs(s(u, weights) - s(v, weights)) <= bound + 1e-9
    assert s.lipschitz(weights) <= 1 + 1e-12


@pytest.mark.paper("mtbo", "s2-monotone")
@pytest.mark.parametrize("s", SCALARIZATIONS, ids=lambda s: type(s).__name__)
@given(u=vectors, gap=positive, raw=positive)
def test_monotone_in_every_coordinate(s, u, gap, raw):
    weights = raw / raw.sum()
    assert s(u, weights) < s(u + gap, weights)


@pytest.mark.paper("mtbo", "s2-weights", "s5-weights", "app-e-linear-weights")
@pytest.mark.parametrize("law", ["reciprocal", "uniform"])
def test_weights_lie_on_the_simplex_and_follow_their_law(law):
    weights = draw_weights(law, 2, np.random.default_rng(0), size=20_000)
    np.testing.assert_allclose(weights.sum(1), 1)
    assert (weights > 0).all()
    # n = 2: both laws are that of u1 / (u1 + u2), whose distribution function is known
    ratio = weights[:, 0] / weights[:, 1]
    uniform_ratio = np.where(ratio < 1, ratio / 2, 1 - 1 / (2 * ratio))
    assert kstest(uniform_ratio, "uniform").pvalue > 1e-3


@pytest.mark.paper("mtbo", "s2-weights", "s5-weights", "app-e-linear-weights")
def test_laws_by_their_definition():
    u = 1 - np.random.default_rng(7).random(20)
    alpha = u.sum() / u
    drawn = draw_weights("reciprocal", 20, np.random.default_rng(7))
    np.testing.assert_allclose(drawn, alpha / alpha.sum())
    np.testing.assert_allclose(draw_weights("uniform", 20, np.random.default_rng(7)), u / u.sum())


def test_reciprocal_law_is_heavier_than_dirichlet():
    rng = np.random.default_rng(0)
    top = draw_weights("reciprocal", 20, rng, size=2000).max(1)
    assert np.median(top) > 1.5 * np.median(rng.dirichlet(np.ones(20), 2000).max(1))


def test_reference_point_must_be_a_finite_vector():
    with pytest.raises(ValueError, match="finite"):
        ChebyshevScalarization([0.0, np.nan])
