"""Exact CSS three ways, the agnostic classifier, and Theorem 2 on finite classes."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fivebo.classify_dfo import AgnosticSelective, Catalogue, Enumeration, HalfSpaceCSS, theory
from fivebo.classify_dfo.algorithms import RepeatedClassification
from fivebo.classify_dfo.selective import (
    _by_programmes,
    disagreement_coefficient,
    excess_width,
    is_surely_high_lp,
    largest_margin,
    version_space_rays,
)
from tests.classify_dfo import oracles


def linear_labels(rng, n=8, d=2):
    X = rng.random((n, d))
    f = X @ rng.standard_normal(d)
    return X, (f > np.median(f)).astype(int), f


@pytest.mark.paper("classify_dfo", "def-1", "def-1-retraining", "def-1-half-spaces")
@pytest.mark.parametrize("seed", range(6))
def test_rays_programmes_retrainings_and_hulls_agree(seed):
    rng = np.random.default_rng(seed)
    X, z, _ = linear_labels(rng)
    new = rng.random((25, 2))
    h = HalfSpaceCSS().fit(X, z, None)(new)
    by_programmes = _by_programmes(X, z, largest_margin(X, z)[1], new)
    for i, x in enumerate(new):
        decided = oracles.css_by_retraining(X, z, x)
        assert h[i] == by_programmes[i] == is_surely_high_lp(X, z, x) == (decided == 1)
        assert h[i] == oracles.css_by_hulls(X, z, x)


@pytest.mark.paper("classify_dfo", "def-1-half-spaces")
@pytest.mark.parametrize("dim", [1, 3, 5])
def test_other_dimensions_agree_with_the_hull_test(dim):
    rng = np.random.default_rng(dim)
    X, z, _ = linear_labels(rng, n=10, d=dim)
    new = rng.random((20, dim))
    h = HalfSpaceCSS().fit(X, z, None)(new)
    assert h.tolist() == [oracles.css_by_hulls(X, z, x) for x in new]


@pytest.mark.paper("classify_dfo", "s22-abstain")
def test_no_decision_counts_as_low_and_the_training_points_keep_their_labels():
    X, z, _ = linear_labels(np.random.default_rng(1), n=30)
    np.testing.assert_array_equal(HalfSpaceCSS().fit(X, z, None)(X), z)
    corner = np.array([[0.5, 0.5], [0.51, 0.5]])
    assert set(
        HalfSpaceCSS().fit(np.array([[0.0, 0], [1, 1]]), np.array([0, 1]), None)(corner)
    ) == {0}


def test_rays_of_many_points_take_little_memory():
    """All pairs of 1,500 points against all points would be 27 GB."""
    X, z, _ = linear_labels(np.random.default_rng(3), n=1500)
    tracemalloc.start()
    rays = version_space_rays(X, z)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5e7
    signed = np.where(z > 0, 1.0, -1.0)[:, None] * np.column_stack([X, np.ones(len(X))])
    assert len(rays) >= 4
    assert (rays @ signed.T).min() > -1e-9
    assert ((np.abs(rays @ signed.T) < 1e-9).sum(axis=1) >= 2).all()


@pytest.mark.parametrize("flat", [np.array([[0.0, 0], [0, 1], [0, 2], [0, 3]]), np.zeros((1, 2))])
def test_rays_of_classes_without_area(flat):
    X = np.vstack([flat, [[1.0, 0], [1, 1], [1, 2]]])
    z = np.r_[np.zeros(len(flat), dtype=int), 1, 1, 1]
    new = np.random.default_rng(0).uniform(-1, 3, (60, 2))
    h = HalfSpaceCSS().fit(X, z, None)(new)
    assert h.any()
    assert h.tolist() == [oracles.css_by_hulls(X, z, x) for x in new]


@pytest.mark.paper("classify_dfo", "def-1-half-spaces")
@pytest.mark.parametrize("direction", [(1.0, 0.0), (1.0, 2.0)])
def test_points_on_a_line_are_decided_along_it(direction):
    steps = np.array([0.0, 1.0, 2.0, 4.0, 5.0])
    X, z = np.outer(steps, direction), np.array([0, 0, 0, 1, 1])
    on = np.outer([-1.0, 1.5, 3.0, 4.0, 4.5, 5.0, 6.0], direction)
    off = on + np.array([-direction[1], direction[0]])
    h = HalfSpaceCSS().fit(X, z, None)
    assert h(on).tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert not h(off).any()


def test_labels_that_no_half_space_separates_decide_nothing():
    X = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])
    z = np.array([0, 0, 1, 1])
    assert largest_margin(X, z)[0] <= 1e-9
    assert len(version_space_rays(X, z)) == 0
    assert not HalfSpaceCSS().fit(X, z, None)(np.random.default_rng(0).random((50, 2))).any()


@pytest.mark.paper("classify_dfo", "def-1", "s22-abstain")
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_css_never_cuts_the_minimiser_of_a_linear_function(seed):
    axis = np.linspace(0, 1, 21)
    X = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    f = X @ np.random.default_rng(seed).standard_normal(2)
    sampler = Enumeration(Catalogue(X), eta=0.5)
    search = RepeatedClassification(sampler, HalfSpaceCSS(), batch=8, rng=seed)
    for _ in range(6):
        batch = search.ask()
        search.tell(batch, f[batch])
        low = f <= np.median(f[batch])
        before = sampler.mistakes.copy()
        search.ask()
        assert not (sampler.mistakes - before)[low].any()
    assert sampler.mistakes[f.argmin()] == 0


def half_planes(rng, count=400):
    angle, offset = rng.uniform(0, 2 * np.pi, count), rng.uniform(-1, 1, count)
    return np.column_stack([np.cos(angle), np.sin(angle), offset])


@pytest.mark.paper("classify_dfo", "eq-6")
def test_agnostic_classifier_by_its_definition():
    rng = np.random.default_rng(2)
    H = half_planes(rng, 60)
    X = rng.uniform(-1, 1, (40, 2))
    z = (X[:, 0] > 0).astype(int)
    new = rng.uniform(-1, 1, (15, 2))
    cost, chosen = AgnosticSelective(H).disagreement_cost(X, z, new)
    errors = [
        np.mean([(x @ g[:2] + g[2] > 0) != label for x, label in zip(X, z, strict=True)]) for g in H
    ]
    best = int(np.argmin(errors))
    for i, x in enumerate(new):
        says = [x @ g[:2] + g[2] > 0 for g in H]
        against = [e for e, s in zip(errors, says, strict=True) if s != says[best]]
        assert chosen[i] == says[best]
        assert cost[i] == pytest.approx(min(against, default=np.inf) - errors[best])


@pytest.mark.paper("classify_dfo", "eq-6", "a5-width")
def test_agnostic_classifier_decides_where_disagreement_is_costly_only():
    rng = np.random.default_rng(3)
    H = half_planes(rng)
    X = rng.uniform(-1, 1, (6000, 2))
    z = ((X[:, 0] > 0) ^ (rng.random(6000) < 0.05)).astype(int)
    new = np.array([[0.95, 0.0], [0.02, 0.0], [-0.02, 0.0], [-0.95, 0.0]])
    classifier = AgnosticSelective(H, delta=0.05)
    assert classifier.fit(X, z, None)(new).tolist() == [1, 0, 0, 0]
    assert not classifier.fit(X[:50], z[:50], None)(new).any()  # too few: the width is above 1


@pytest.mark.paper("classify_dfo", "a5-width")
def test_excess_width_falls_with_n_and_has_the_anchor():
    widths = [excess_width(n, 0.05, 3) for n in (10, 100, 1000, 10_000)]
    assert widths == sorted(widths, reverse=True)
    expected = 2 * np.sqrt(2 * (3 * np.log(2000 * np.e / 3) + np.log(40)) / 1000)
    assert excess_width(1000, 0.05, 3) == pytest.approx(expected, rel=1e-12)


@pytest.mark.paper("classify_dfo", "def-2", "thm-2")
@pytest.mark.parametrize("seed", range(20))
def test_abstention_of_css_on_a_finite_class_is_below_theorem_2(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (60, 2))
    labels = (np.column_stack([X, np.ones(60)]) @ half_planes(rng, 80).T > 0).T
    mass = rng.dirichlet(np.ones(60))
    truth = int(rng.integers(80))
    seen = rng.choice(60, 8, p=mass)
    space = (labels[:, seen] == labels[truth, seen]).all(axis=1)
    error = ((labels != labels[truth]) @ mass)[space].max()
    undecided = (labels[space].min(axis=0) != labels[space].max(axis=0)) @ mass
    coefficient = disagreement_coefficient(labels, truth, mass)
    assert undecided <= theory.abstention_bound(coefficient, error) + 1e-12


@pytest.mark.paper("classify_dfo", "def-2")
def test_disagreement_coefficient_of_thresholds_on_a_line_is_two():
    labels = np.array([np.arange(100) >= k for k in range(101)])
    mass = np.full(100, 0.01)
    assert disagreement_coefficient(labels, 50, mass) == pytest.approx(2.0)


@pytest.mark.paper("classify_dfo", "def-1-half-spaces")
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(("low", "side"), [(0, 1e-9), (1e6, 1.0), (-1e50, 1e50), (0, 1e9)])
def test_decisions_do_not_depend_on_the_units(dim, low, side):
    rng = np.random.default_rng(5)
    X, z, _ = linear_labels(rng, n=12, d=dim)
    new = rng.random((40, dim))
    h = HalfSpaceCSS().fit(X, z, None)(new)
    assert 0 < h.mean() < 1
    scaled = HalfSpaceCSS().fit(low + side * X, z, None)(low + side * new)
    np.testing.assert_array_equal(scaled, h)


@pytest.mark.paper("classify_dfo", "a5-width")
def test_the_width_is_a_number_for_few_points_of_a_large_class():
    """2 n points have 2^(2n) labellings at most, which (2 n e / d)^d forgets above d = 2 n."""
    assert excess_width(5, 0.05, 33) == excess_width(5, 0.05, 10) > 1
    assert excess_width(5, 0.05, 9) < excess_width(5, 0.05, 10)


def test_an_agnostic_classifier_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"hypotheses must have shape \(K, 4\) for 3 features"):
        AgnosticSelective(np.ones((5, 3))).disagreement_cost(np.ones((2, 3)), np.ones(2), None)
    with pytest.raises(ValueError, match="vc_dim must be an integer >= 1"):
        AgnosticSelective(np.ones((5, 3)), vc_dim=0)
