"""Ties are relative: no unit and no infinity decides them."""

import numpy as np
import pytest

from fivebo.common.search.ties import tied_with_max


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_rounding_ties_and_differences_do_not_in_any_unit(unit):
    values = unit * np.array([0.3, 0.1 + 0.2, -5.0, 0.3 - 1e-10])
    assert tied_with_max(values).tolist() == [0, 1]


def test_infinities_tie_with_their_like_and_set_no_scale():
    assert tied_with_max([np.inf, 1.0, np.inf]).tolist() == [0, 2]
    assert tied_with_max([-np.inf, 1.0, 1.0 - 1e-9]).tolist() == [1]
    assert tied_with_max([-np.inf, -np.inf]).tolist() == [0, 1]
    assert tied_with_max([0.0, 0.0]).tolist() == [0, 1]
