"""Ties: values that differ by rounding only are equal, whatever the unit."""

import math

import numpy as np

TIE = 1e-12
"""How far apart values may be and tie, relative to the largest of them in size."""


def tied_with_max(values):
    """Return the indices of the values that tie with the maximum, in order.

    Parameters
    ----------
    values : array_like of shape (n,)
        At least one, none NaN. Infinite ones tie only with their like and do not count for the
        size.

    Returns
    -------
    ndarray of int
        At least one.

    >>> tied_with_max([0.1 + 0.2, 0.3, -1.0])
    array([0, 1])
    """
    values = np.asarray(values, dtype=float)
    best = values.max()
    if not math.isfinite(best):
        return (values == best).nonzero()[0]
    size = np.abs(values[np.isfinite(values)]).max()
    return (values >= best - TIE * size).nonzero()[0]
