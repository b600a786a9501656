"""Pareto sets against their definitions, and the lemmas that make MO-MVA-BO stop and be right."""

import numpy as np
import pytest

from fivebo.mvabo.bounds import Bounds
from fivebo.mvabo.fronts import accuracy, estimated_set, potential_set, uncertain_set
from tests.mvabo import oracles


def random_intervals(rng, n=None, width=None, coarse=False):
    """Random boxes with the truth inside, as (Bounds, rows l1 u1 l2 u2, F)."""
    n = int(rng.integers(1, 12)) if n is None else n
    F = rng.normal(size=(n, 2))
    if rng.random() < 0.5:  # an extended front
        t = rng.random(n)
        F = np.column_stack([np.cos(t * np.pi / 2), np.sin(t * np.pi / 2)])
    if coarse:
        F = np.round(2 * F) / 2
    w = rng.exponential(0.3, size=(n, 2)) if width is None else width * rng.random((n, 2))
    share = rng.random((n, 2))
    low, high = F - share * w, F + (1 - share) * w
    if coarse:
        low, high = np.floor(2 * low) / 2, np.ceil(2 * high) / 2
    bounds = Bounds(low[:, 0], high[:, 0], low[:, 1], high[:, 1])
    return bounds, np.column_stack([low[:, 0], high[:, 0], low[:, 1], high[:, 1]]), F


EPS = [(0.0, 0.0), (0.1, 0.1), (0.5, 0.05), (0.5, 0.5)]


@pytest.mark.paper("mvabo", "eq-7", "s32-mt", "s32-ut", "s2-dominance", "s2-prec-eps", "s2-prec")
@pytest.mark.parametrize("coarse", [False, True], ids=["generic", "ties"])
@pytest.mark.parametrize("eps", EPS)
def test_sets_are_the_papers(eps, coarse):
    rng = np.random.default_rng(1)
    for _ in range(150):
        bounds, R, _ = random_intervals(rng, coarse=coarse)
        members = estimated_set(bounds)
        assert members.tolist() == oracles.estimated(R.tolist())
        assert potential_set(bounds, members, eps).tolist() == oracles.potential(
            R.tolist(), members, eps
        )
        assert uncertain_set(bounds, members, eps).tolist() == oracles.uncertain(
            R.tolist(), members, eps
        )


@pytest.mark.paper("mvabo", "lemma-a4", "lemma-a5")
def test_the_estimated_set_is_never_empty_and_covers_the_potential_one():
    """P11."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        bounds, R, _ = random_intervals(rng, coarse=bool(rng.integers(2)))
        members = estimated_set(bounds)
        assert members.any()
        for x in np.flatnonzero(potential_set(bounds, members, (0.0, 0.0))):
            pes = R[:, [0, 2]]
            assert any(oracles.below(pes[x], pes[m]) for m in np.flatnonzero(members))


@pytest.mark.paper("mvabo", "thm-42-1", "s32-ut", "s2-prec")
def test_small_boxes_stop_the_search_and_the_printed_relation_does_not():
    """P12: with all diameters at most min eps, M_t and U_t are empty, but not with "either"."""
    rng, eps, printed_fails = np.random.default_rng(3), (0.2, 0.3), 0
    for _ in range(300):
        bounds, R, _ = random_intervals(rng, width=0.2 / np.sqrt(2))
        assert bounds.diameter.max() <= min(eps)
        members = estimated_set(bounds)
        assert not potential_set(bounds, members, eps).any()
        assert not uncertain_set(bounds, members, eps).any()
        literal = oracles.uncertain(R.tolist(), members, eps, oracles.either_below)
        printed_fails += any(literal)
    assert printed_fails > 100


@pytest.mark.paper("mvabo", "s32-ut", "s2-prec")
def test_the_printed_relation_does_not_stop_even_with_points_for_boxes():
    """The true front (0, 1), (1, 0) known exactly: with "either" both designs stay undecided."""
    values = np.array([[0.0, 1.0], [1.0, 0.0]])
    bounds = Bounds(values[:, 0], values[:, 0], values[:, 1], values[:, 1])
    members, eps = estimated_set(bounds), (0.1, 0.1)
    assert members.all()
    assert not uncertain_set(bounds, members, eps).any()
    R = np.column_stack([values[:, 0], values[:, 0], values[:, 1], values[:, 1]]).tolist()
    assert all(oracles.uncertain(R, members, eps, oracles.either_below))


@pytest.mark.paper("mvabo", "thm-42-2", "s2-eps-accurate", "s2-front", "s2-eps-front", "lemma-a6")
def test_empty_sets_mean_an_accurate_set():
    """P13 and P14, for every case in which both sets are empty and F lies in its boxes."""
    rng, seen = np.random.default_rng(4), 0
    for _ in range(2000):
        bounds, _, F = random_intervals(rng, n=int(rng.integers(1, 7)), width=0.4)
        eps = tuple(rng.uniform(0.05, 0.5, 2))
        members = estimated_set(bounds)
        if potential_set(bounds, members, eps).any() or uncertain_set(bounds, members, eps).any():
            continue
        seen += 1
        assert oracles.pareto_accurate(F, np.flatnonzero(members), eps)
        assert accuracy(F, F[members], eps) <= 1 + 1e-12
    assert seen > 300


@pytest.mark.paper("mvabo", "s2-eps-accurate", "s2-pareto", "lemma-a6")
def test_accuracy_is_the_smallest_multiple_of_eps():
    rng = np.random.default_rng(5)
    for _ in range(200):
        F = np.round(rng.normal(size=(6, 2)), 1)
        members = np.flatnonzero(rng.random(6) < 0.5)
        if not len(members):
            continue
        s = accuracy(F, F[members], (0.3, 0.2))
        for factor, expected in ((s * (1 + 1e-9) + 1e-9, True), (s * 0.999 - 1e-6, False)):
            if factor > 0:
                eps = (factor * 0.3, factor * 0.2)
                assert oracles.pareto_accurate(F, members, eps) == expected


@pytest.mark.paper("mvabo", "lemma-d3")
def test_the_region_below_the_front_is_a_band_and_a_deep_part():
    """P16, Lemma D.3 on a fine net of y: Z+ is the disjoint union of Z-(eps) and Z*(eps)."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        F, eps = np.round(rng.normal(size=(5, 2)), 1), (0.3, 0.2)
        front = np.array([f for x, f in enumerate(F) if not oracles.dominated(F, x)])
        corners = np.array(sorted(set(map(tuple, front))))
        for y in rng.uniform(-3, 3, (200, 2)):
            inside = oracles.in_region(F, y)
            deep = any(y[0] < f[0] - eps[0] and y[1] < f[1] - eps[1] for f in corners)
            band = inside and oracles.in_band(F, y, eps)
            assert inside == (deep or band)
            assert not (deep and band)
