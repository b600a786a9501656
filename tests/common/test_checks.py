"""Values at the boundary: what is taken, and how the rest is refused."""

import numpy as np
import pandas as pd
import pytest

from fivebo.common.checks import as_finite_array, count, number, one_of, positive, shown


def test_ranges():
    assert positive(0.5, "x") == 0.5
    assert positive(1, "x", upper=1, closed=True) == 1.0
    for value in (0, -1, 1):
        with pytest.raises(ValueError, match=rf"x must lie in \(0, 1\), got {value}"):
            positive(value, "x", upper=1)
    with pytest.raises(ValueError, match="dimension"):
        as_finite_array([1.0, 2.0], "x", ndim=0)


def test_counts_and_words():
    assert count(np.int64(3), "n") == 3
    assert count(0, "n", least=0) == 0
    for value, error in ((0, ValueError), (1.5, TypeError), (True, TypeError), ("a", TypeError)):
        with pytest.raises(error, match=f"n must be an integer >= 1, got {value!r}"):
            count(value, "n")
    with pytest.raises(ValueError, match="unknown mode 'exat'; did you mean 'exact'"):
        one_of("exat", "mode", ("exact", "one"))


def test_a_number_is_one_finite_real_number():
    assert [number(v, "y") for v in (2, np.float32(0.5), [1.5], np.array([[3.0]]))] == [
        *(2.0, 0.5, 1.5, 3.0)
    ]
    for value, error in (([1, 2], ValueError), (np.nan, ValueError), ("1", TypeError)):
        with pytest.raises(error, match="y must"):
            number(value, "y")


def test_a_masked_value_is_no_zero():
    with pytest.raises(ValueError, match="some are masked"):
        as_finite_array(np.ma.masked, "y")
    with pytest.raises(ValueError, match="some are masked"):
        as_finite_array(np.ma.array([1.0, 2.0], mask=[False, True]), "y")
    np.testing.assert_array_equal(as_finite_array(np.ma.array([1.0, 2.0]), "y"), [1.0, 2.0])


def test_messages_show_a_value_in_one_short_line():
    frame = pd.DataFrame({"a": ["x"] * 40, "b": ["y"] * 40})
    assert shown(frame) == "DataFrame of shape (40, 2)"
    assert shown(np.zeros((3, 100))) == "ndarray of shape (3, 100)"
    assert shown(np.array([1.0, 2.0])) == "[1.0, 2.0]"
    for value in (frame.head(3), ["long"] * 100, "a\nb"):
        assert len(shown(value)) <= 80
        assert "\n" not in shown(value)
    with pytest.raises(TypeError, match="got DataFrame of shape"):
        as_finite_array(frame, "X")


@pytest.mark.parametrize("value", [1e200, -1e101, np.float64(1e150), np.full(1, 1e101)])
def test_a_number_too_large_to_be_squared_is_refused_whatever_holds_it(value):
    with pytest.raises(ValueError, match=r"y must be at most 1e\+100 in size, got"):
        number(value, "y")
    assert number(-1e100, "y") == -1e100
