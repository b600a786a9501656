"""Validation at the boundary."""

import numpy as np
import pytest

from fivebo.common.checks import as_finite_array, count, one_of, positive
from fivebo.common.search.domains import FiniteSet


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


def test_ranges():
    assert positive(0.5, "x") == 0.5
    assert positive(1, "x", upper=1, closed=True) == 1.0
    for value in (0, -1, 1):
        with pytest.raises(ValueError, match=rf"x must lie in \(0, 1\), got {value}"):
            positive(value, "x", upper=1)
    with pytest.raises(ValueError, match="dimension"):
        as_finite_array([1.0, 2.0], "x", ndim=0)


def test_every_axis_has_its_own_tolerance():
    domain = FiniteSet([[a, b] for a in (0, 1e12) for b in (0.0, 1.0)])
    with pytest.raises(ValueError, match="not one of the 4 points"):
        domain.index([1e12, 0.5])
    assert domain.index([1e12 + 1, 1.0]) == 3
    for tolerance in (np.nan, -1, 0.5):
        with pytest.raises(ValueError, match="tolerance"):
            FiniteSet([0.0, 1.0], tolerance=tolerance)


def test_counts_and_words():
    assert count(np.int64(3), "n") == 3
    for value, error in ((0, ValueError), (1.5, TypeError), (True, TypeError), ("a", TypeError)):
        with pytest.raises(error, match="n must be an integer >= 1"):
            count(value, "n")
    with pytest.raises(ValueError, match="unknown mode 'exat'; did you mean 'exact'"):
        one_of("exat", "mode", ("exact", "one"))
