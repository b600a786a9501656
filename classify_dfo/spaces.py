"""Action spaces of [CDFO]: a catalogue of actions with features, or a box."""

import numpy as np

from fivebo.common.checks import as_finite_array
from fivebo.common.search.domains import Box


class Catalogue:
    """A finite action space whose actions are the rows of a feature matrix.

    Queries are row numbers. Rows may share their features: a classifier then treats them alike.

    Parameters
    ----------
    features : array_like of shape (N, d) or (N,)
        A vector is read as N actions with one feature.

    Raises
    ------
    ValueError, TypeError
        The features are empty, not finite or not real.

    Attributes
    ----------
    features : ndarray of shape (N, d)
    unit : ndarray of shape (N, d)
        The same with the range of each feature mapped to [0, 1], which is what classifiers see.

    Notes
    -----
    Source: [CDFO] Sec. 4, discrete action spaces are enumerated.
    """

    def __init__(self, features):
        features = as_finite_array(features, "features")
        features = features[:, None] if features.ndim == 1 else features
        if features.ndim != 2:
            raise ValueError(f"features must have shape (N, d), got {features.shape}")
        self.features = features
        low, sides = features.min(axis=0), np.ptp(features, axis=0)
        sides[sides == 0] = 1.0
        self.unit = (
            features if (low == 0).all() and (sides == 1).all() else (features - low) / sides
        )
        for array in (self.features, self.unit):
            array.setflags(write=False)

    @property
    def size(self):
        """Number of actions, |X|."""
        return len(self.features)

    @property
    def dim(self):
        """Number of features d."""
        return self.features.shape[1]

    def uniform(self, n, rng):
        """Draw n different rows, uniformly; the whole catalogue has to suffice."""
        if n > self.size:
            raise ValueError(
                f"a batch of {n} different actions needs a catalogue of at least as many, this "
                f"one has {self.size}; make the batch smaller"
            )
        return rng.choice(self.size, n, replace=False)

    def check_all(self, batch, name="batch"):
        """Return a batch as row numbers of shape (n,), or say what is wrong with it."""
        rows = as_finite_array(batch, name, ndim=1)
        wrong = rows[(rows != np.floor(rows)) | (rows < 0) | (rows >= self.size)]
        if wrong.size:
            raise ValueError(
                f"{name} must hold row numbers from 0 to {self.size - 1}, got {wrong[0]:g}"
            )
        return rows.astype(int)

    def to_unit(self, rows):
        """Return the features of rows, as `unit` has them, shape (n, d)."""
        return self.unit[rows]

    def settings(self):
        """Return what tells one catalogue from another."""
        return {"features": self.features}


def require(domain, kind, user):
    """Raise TypeError unless a domain is of the kind that its user can search.

    Parameters
    ----------
    domain : object
    kind : type
        Box or Catalogue.
    user : str
        What needs it.
    """
    if not isinstance(domain, kind):
        raise TypeError(
            f"{user} needs a {kind.__name__}, got {type(domain).__name__}; "
            "a Catalogue is for actions in a list, a Box for continuous inputs"
        )


def scaled(domain, queries):
    """Return what classifiers see of queries, shape (n, d), which no unit of the user's is in.

    Inputs of a box run from -1 to 1, features of a catalogue from 0 to 1. A penalty and the single
    precision of trees depend on the unit otherwise. Source: ours, [CDFO] Sec. 4 gives none; on its
    linear functions' box, [-1, 1]^d, nothing is changed.
    """
    if isinstance(domain, Box):
        return (queries - (domain.lower + domain.upper) / 2) / (domain.sides / 2)
    return domain.to_unit(queries)


def first_batch(domain, n, rng):
    """Draw X^(0), n different actions of a catalogue or n points of a box, uniformly.

    All methods of a seed are given the same stream, so they start from the same batch.

    Source: [CDFO] Alg. 1, l. 1-2 (there with replacement; repeats would cost measurements).
    """
    return domain.uniform(n, rng)
