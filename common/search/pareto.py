"""Non-dominated sets and hypervolumes; all objectives are maximised."""

import numpy as np


def nondominated(values):
    """Return which rows no other row dominates; rows with equal values are all kept.

    A row dominates another if it is at least as large in every objective and larger in one.

    Parameters
    ----------
    values : ndarray of shape (n, k)

    Returns
    -------
    ndarray of shape (n,) of bool
    """
    from moocore import is_nondominated

    return is_nondominated(values, maximise=True, keep_weakly=True)


def hypervolume(values, reference):
    """Return the volume that some rows dominate above a reference point.

    Parameters
    ----------
    values : ndarray of shape (n, k)
    reference : array_like of shape (k,)
        Rows not above it in every objective add nothing.

    Returns
    -------
    float
        In the product of the objectives' units.
    """
    from moocore import hypervolume as volume

    return float(volume(values, ref=np.asarray(reference, dtype=float), maximise=True))
