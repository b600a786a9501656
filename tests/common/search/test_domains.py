"""Validation at the boundary."""

import numpy as np
import pytest

from fivebo.common.search.domains import Box, FiniteSet


def test_points_find_themselves_and_rounding_is_forgiven():
    domain = FiniteSet(np.linspace(0, 1, 11))
    assert [domain.index(x) for x in domain.points] == list(range(11))
    assert domain.index(0.1 + 0.2) == 3
    assert (len(domain), domain.dim) == (11, 1)


@pytest.mark.parametrize(
    ("query", "error", "match"),
    [
        (0.55, ValueError, r"\[0.55\] is not one of the 11 points.*nearest is \[0.5"),
        (1e300, ValueError, "at most 1e"),
        ([0.1, 0.2], ValueError, r"shape \(1,\)"),
        (np.nan, ValueError, "finite"),
        ("0.1", TypeError, "real numbers"),
        (1j, TypeError, "real numbers"),
        (None, TypeError, "real numbers"),
        ([], ValueError, "empty"),
    ],
)
def test_other_queries_are_refused(query, error, match):
    with pytest.raises(error, match=match):
        FiniteSet(np.linspace(0, 1, 11)).index(query)


def test_points_must_be_distinct_finite_and_rectangular():
    with pytest.raises(ValueError, match="distinct"):
        FiniteSet([0.0, 0.0])
    with pytest.raises(ValueError, match="rectangular"):
        FiniteSet([[0.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="finite"):
        FiniteSet([0.0, np.inf])


def test_points_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        FiniteSet([0.0, 1.0]).points[0] = 3


def test_the_caller_keeps_an_array_of_its_own():
    mine = np.array([[0.0], [1.0]])
    FiniteSet(mine)
    mine[0] = 5.0  # would raise if the set had frozen the caller's array


def test_every_axis_has_its_own_tolerance():
    domain = FiniteSet([[a, b] for a in (0, 1e12) for b in (0.0, 1.0)])
    with pytest.raises(ValueError, match="not one of the 4 points"):
        domain.index([1e12, 0.5])
    assert domain.index([1e12 + 1, 1.0]) == 3
    for tolerance in (np.nan, -1, 0.5):
        with pytest.raises(ValueError, match="tolerance"):
            FiniteSet([0.0, 1.0], tolerance=tolerance)


def test_rounded_points_are_taken_with_the_tolerance_that_the_refusal_names():
    points = np.linspace(0, 1, 11)
    single = points.astype(np.float32)
    with pytest.raises(ValueError, match=r"rounding.*FiniteSet") as refused:
        [FiniteSet(points, tolerance=1e-10).index(x) for x in single]
    named = float(str(refused.value).rpartition("tolerance=")[2].rstrip(")"))
    assert named == 1e-8
    wide = FiniteSet(points, tolerance=1e-7)
    assert [wide.index(x) for x in single] == list(range(11))
    with pytest.raises(ValueError, match="is not one of") as refused:
        FiniteSet(points).index(0.55)
    assert "tolerance" not in str(refused.value)  # that is no rounding


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_an_axis_that_is_always_the_same_has_its_own_unit(unit):
    domain = FiniteSet(unit * np.array([[0.0, 3.0], [1.0, 3.0]]))
    assert domain.index([unit, 3 * unit]) == 1
    with pytest.raises(ValueError, match="not one of"):
        domain.index([unit, 2 * unit])


def test_box_maps_to_the_unit_cube_and_back():
    box = Box([[-2, 2], [1e6, 3e6]])
    np.testing.assert_array_equal(box.from_unit([[0, 0], [1, 1]]), [[-2, 1e6], [2, 3e6]])
    np.testing.assert_allclose(box.to_unit(box.from_unit([0.3, 0.7])), [0.3, 0.7])
    np.testing.assert_array_equal(box.sides, [4, 2e6])
    np.testing.assert_array_equal(box.bounds, [[-2, 2], [1e6, 3e6]])
    drawn = box.uniform(50, np.random.default_rng(0))
    assert box.inside(drawn).all()
    assert not box.inside(drawn + box.sides).any()


def test_box_takes_rounding_for_the_face_and_refuses_what_is_outside():
    box = Box([[0, 1], [0, 10]])
    np.testing.assert_array_equal(box.check([1 + 1e-12, 3]), [1, 3])
    np.testing.assert_array_equal(box.check_all([[0, -1e-9], [1, 2]]), [[0, 0], [1, 2]])
    with pytest.raises(ValueError, match=r"input 2 is 10\.5 and must lie in \[0, 10\]$"):
        box.check([0.5, 10.5])
    with pytest.raises(ValueError, match=r"point 2 of X is outside.*tolerance=1e-07"):
        box.check_all([[0, 0], [1 + 2e-8, 0]])
    with pytest.raises(ValueError, match=r"query must have shape \(2,\)"):
        box.check([1.0])
    with pytest.raises(ValueError, match=r"X must have shape \(n, 2\)"):
        box.check_all([[1.0]])


@pytest.mark.parametrize(
    ("bounds", "match"),
    [
        ([[0, 1], [2, 2]], "input 2 must have lower < upper"),
        ([0, 1], "dimension"),
        ([[0, 1, 2]], r"shape \(d, 2\)"),
        ([[0, np.inf]], "finite"),
    ],
)
def test_what_is_no_box_is_refused(bounds, match):
    with pytest.raises(ValueError, match=match):
        Box(bounds)


def test_the_limits_of_a_box_cannot_be_changed_behind_a_search():
    bounds = np.array([[0.0, 1.0]])
    box = Box(bounds)
    bounds[:] = 7
    np.testing.assert_array_equal(box.bounds, [[0.0, 1.0]])
    with pytest.raises(ValueError, match="read-only"):
        box.lower[0] = 0.5
