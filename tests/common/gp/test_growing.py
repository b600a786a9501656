"""Tracked sets that grow and observations of their own candidates, against a fresh posterior."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from fivebo.common.gp import tracking
from fivebo.common.gp.posterior import GP


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(params=[1, 4], ids=["points", "averages"])
def size(request):
    return request.param


@pytest.mark.parametrize("outputs", [(), (2,)], ids=["scalar", "vector"])
def test_candidates_added_at_any_time_have_the_posterior_of_a_fresh_set(size, outputs, rng):
    X, C = rng.random((90, size, 2)), rng.random((40, size, 2))
    y = rng.standard_normal((90, *outputs))
    gp = GP(RBF(0.3), 0.01, mean=0.2)
    grown = gp.track(C[:1])
    for t in range(90):
        if t % 10 == 0:
            at = len(grown)
            gp.extend_tracked(grown, C[at : at + 4])
        gp.condition(X[t : t + 1], y[t : t + 1])
    mean, var = gp.predict(C[: len(grown)])
    assert len(grown) == 37
    np.testing.assert_allclose(grown.mean, mean, atol=1e-10)
    np.testing.assert_allclose(grown.var, var, atol=1e-12)


def test_observing_a_tracked_candidate_is_observing_its_point(size, rng):
    C = rng.random((6, size, 1))
    one, other = GP(RBF(0.3), 0.01), GP(RBF(0.3), 0.01)
    mine, theirs = one.track(C), other.track(C)
    for place in (3, 0, 3, 5, 3, *[2] * (tracking.CHUNK_ROWS + 3)):
        y = float(rng.standard_normal())
        one.condition_tracked(mine, place, y)
        other.condition(C[place : place + 1], [y])
    np.testing.assert_allclose(mine.mean, theirs.mean, atol=1e-10)
    np.testing.assert_allclose(mine.var, theirs.var, atol=1e-12)
    assert one.log_marginal_likelihood == pytest.approx(other.log_marginal_likelihood)


def test_bad_use_of_tracked_sets_is_refused_and_changes_nothing(rng):
    gp = GP(RBF(0.3), 0.01)
    tracked, foreign = gp.track(rng.random((3, 1))), GP(RBF(0.3), 0.01).track(rng.random((3, 1)))
    with pytest.raises(ValueError, match="not this GP's"):
        gp.condition_tracked(foreign, 0, 1.0)
    with pytest.raises(ValueError, match=r"0\.\.2, got 3"):
        gp.condition_tracked(tracked, 3, 1.0)
    with pytest.raises(ValueError, match="finite"):
        gp.condition_tracked(tracked, 0, np.nan)
    assert gp.n_observations == 0
    gp.condition_tracked(tracked, 0, 1.0)
    with pytest.raises(MemoryError, match="fewer candidates"):
        tracked._widen(10**12)
    assert len(tracked) == 3
