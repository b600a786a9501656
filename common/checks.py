"""Checks of values at the boundary: a wrong number never reaches a model."""

import numbers

import numpy as np

from fivebo.common.names import check_name

LARGEST = 1e100
"""Numbers beyond this size are refused: their squares would overflow far from the cause."""


def shown(value):
    """Return a value as a message shows it: one line, short, whatever it is."""
    if getattr(value, "size", 0) > 10:  # an array or a table
        return f"{type(value).__name__} of shape {value.shape}"
    text = " ".join(repr(value.tolist() if isinstance(value, np.ndarray) else value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def as_finite_array(value, name, *, ndim=None):
    """Return `value` as a float64 array, or say in one line what is wrong with it.

    Parameters
    ----------
    value : array_like
        Real numbers.
    name : str
        What the caller calls the value; it opens the error message.
    ndim : int, optional
        Required number of dimensions.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    TypeError
        `value` is complex, text, None or not an array of numbers.
    ValueError
        `value` is empty or masked, holds NaN, infinities or numbers beyond `LARGEST`, or has the
        wrong number of dimensions.
    """
    if np.ma.is_masked(value):
        raise ValueError(f"{name} must have a value throughout, some are masked; drop those first")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array of real numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"{name} must hold real numbers, got {shown(value)} (dtype {array.dtype}); "
            "convert it to float first"
        )
    array = array.astype(np.float64)
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got an array of shape {array.shape}")
    if not np.isfinite(array).all():
        bad = array[~np.isfinite(array)][0]
        raise ValueError(f"{name} must be finite, got {bad}; drop or replace such values first")
    if np.abs(array).max() > LARGEST:
        raise ValueError(
            f"{name} must be at most {LARGEST:g} in size, got {np.abs(array).max():g}; rescale it"
        )
    if ndim is not None and array.ndim != ndim:
        raise ValueError(
            f"{name} must have {ndim} dimension(s), got an array of shape {array.shape}"
        )
    return array


def positive(value, name, *, upper=np.inf, closed=False):
    """Return `value` as a float in (0, upper), or (0, upper] if `closed`; else raise ValueError."""
    number = float(as_finite_array(value, name, ndim=0))
    if not (0 < number < upper or (closed and number == upper)):
        bound = "]" if closed else ")"
        raise ValueError(f"{name} must lie in (0, {upper:g}{bound}, got {number:g}")
    return number


def number(value, name):
    """Return `value` as a float if it holds one finite real number; else raise."""
    if isinstance(value, float) and abs(value) <= LARGEST:
        return float(value)
    array = as_finite_array(value, name)
    if array.size != 1:
        raise ValueError(f"{name} must be one number, got an array of shape {array.shape}")
    return float(array.reshape(()))


def count(value, name, least=1):
    """Return `value` as an int of at least `least`; else raise TypeError or ValueError."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer >= {least}, got {shown(value)}")
    if value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value}")
    return int(value)


def one_of(value, name, valid):
    """Return `value` if it is one of the `valid` words; else raise ValueError with the nearest."""
    check_name(name, value, valid)
    return value
