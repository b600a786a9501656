"""Action spaces of [CDFO]: a catalogue of actions with features, or a box."""

import numpy as np

from fivebo.common.checks import as_finite_array


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
        self.features.setflags(write=False)

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

    def check(self, batch):
        """Return a batch as row numbers of shape (n,), or say what is wrong with it."""
        rows = as_finite_array(batch, "batch", ndim=1)
        wrong = rows[(rows != np.floor(rows)) | (rows < 0) | (rows >= self.size)]
        if wrong.size:
            raise ValueError(
                f"batch must hold row numbers from 0 to {self.size - 1}, got {wrong[0]:g}"
            )
        return rows.astype(int)

    def rows(self, batch):
        """Return the features of a checked batch, shape (n, d)."""
        return self.features[batch]


class Box:
    """A box in R^d as action space; queries are points.

    Parameters
    ----------
    lower, upper : array_like of shape (d,)
        Corners, in the units of the inputs.

    Raises
    ------
    ValueError, TypeError
        The corners differ in shape, are not finite, or a lower limit is not below its upper one.

    Notes
    -----
    Source: [CDFO] Sec. 4, continuous action spaces.
    """

    def __init__(self, lower, upper):
        self.lower = as_finite_array(lower, "lower", ndim=1)
        self.upper = as_finite_array(upper, "upper", ndim=1)
        if self.lower.shape != self.upper.shape:
            raise ValueError(
                f"lower and upper must have one shape, got {self.lower.shape} and "
                f"{self.upper.shape}"
            )
        if (wrong := np.flatnonzero(self.lower >= self.upper)).size:
            i = wrong[0]
            raise ValueError(
                f"input {i + 1} must have lower < upper, got {self.lower[i]:g} and "
                f"{self.upper[i]:g}"
            )

    @property
    def dim(self):
        """Number of inputs d."""
        return len(self.lower)

    @property
    def side(self):
        """Lengths of the sides, shape (d,)."""
        return self.upper - self.lower

    def uniform(self, n, rng):
        """Draw n points uniformly, shape (n, d)."""
        points = self.lower + rng.random((n, self.dim)) * self.side
        return np.clip(points, self.lower, self.upper)

    def inside(self, points):
        """Whether points of shape (m, d) lie in the closed box, shape (m,)."""
        return ((points >= self.lower) & (points <= self.upper)).all(axis=1)

    def check(self, batch):
        """Return a batch as points of shape (n, d), or say what is wrong with it."""
        points = as_finite_array(batch, "batch", ndim=2)
        if points.shape[1] != self.dim:
            raise ValueError(f"batch must have shape (n, {self.dim}), got {points.shape}")
        slack = 1e-9 * self.side
        outside = (points < self.lower - slack) | (points > self.upper + slack)
        if outside.any():
            k, i = np.argwhere(outside)[0]
            raise ValueError(
                f"point {k + 1} of the batch is outside the box: input {i + 1} is "
                f"{points[k, i]:g} and must lie in [{self.lower[i]:g}, {self.upper[i]:g}]"
            )
        return np.clip(points, self.lower, self.upper)

    def rows(self, batch):
        """Return the features of a checked batch: the points themselves."""
        return batch


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


def first_batch(domain, n, rng):
    """Draw X^(0), n different actions of a catalogue or n points of a box, uniformly.

    All methods of a seed are given the same stream, so they start from the same batch.

    Source: [CDFO] Alg. 1, l. 1-2 (there with replacement; repeats would cost measurements).
    """
    return domain.uniform(n, rng)
