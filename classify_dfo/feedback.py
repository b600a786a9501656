"""What a batch answers with: values, the order within it, or pairwise comparisons.

Each kind turns answers into labels: 1 is high, above the threshold alpha of the last batch
([CDFO] Alg. 1, l. 5-6), and into scores that order a batch, lower being better.
"""

from dataclasses import dataclass

import numpy as np

from fivebo.common.checks import count, positive

ROUNDING = 1e-12
"""How far above a threshold rounding can put a score, relative to the scores' range."""


def threshold(scores, quantile):
    """Return alpha, a quantile of scores; those above it by rounding only are not above it.

    Source: [CDFO] Alg. 1, l. 5.

    Parameters
    ----------
    scores : ndarray
        Of the last batch.
    quantile : float
    """
    return np.quantile(scores, quantile) + ROUNDING * np.ptp(scores)


@dataclass(frozen=True)
class Values:
    r"""Function values: all points ever measured are labelled by the present threshold.

    .. math:: \alpha^{(t)} = \mathrm{median}(\{Y_i^{(t-1)}\}), \quad
        Z_i = 1\{Y_i > \alpha^{(t)}\} \text{ for all } i \text{ of all batches}

    Parameters
    ----------
    quantile : float
        Of the last batch, in (0, 1); the paper's is the median.

    Notes
    -----
    Source: [CDFO] Alg. 1, l. 5-6. The listing prints Y^(t), which is not yet observed there; the
    last observed batch is meant.
    """

    quantile: float = 0.5

    pairwise = False
    """Whether pairs of actions are answered, not actions."""

    def __post_init__(self):
        """Refuse a quantile out of range."""
        positive(self.quantile, "quantile", upper=1.0)

    def pairs(self, labels, n, rng):
        """Return the pairs to compare: none."""
        return None

    def scores(self, y, pairs, n_old, n):
        """Return the scores of the last batch, shape (n,): the values."""
        return y

    def relabel(self, scores, labels, y, pairs):
        """Return the labels of all points.

        Parameters
        ----------
        scores : list of ndarray
            Of every batch.
        labels : ndarray
            Those of the points before the last batch.
        y, pairs
            Answers of the last batch.
        """
        alpha = threshold(scores[-1], self.quantile)  # l. 5
        return (np.concatenate(scores) > alpha).astype(int)


@dataclass(frozen=True)
class Order(Values):
    """Any numbers that order one batch: values of different batches are never compared.

    The labels of a batch stay those of its own round, because the order within batches does not
    tell where an old point stands in a new one.

    Parameters
    ----------
    quantile : float
        As in `Values`.

    Notes
    -----
    Source: [CDFO] Sec. 1, Sec. 3.1, ordinal measurements.
    """

    def relabel(self, scores, labels, y, pairs):
        """Return the old labels followed by those of the last batch."""
        alpha = threshold(scores[-1], self.quantile)  # l. 5
        return np.append(labels, scores[-1] > alpha).astype(int)


@dataclass(frozen=True)
class Comparisons:
    r"""Outcomes of pairwise comparisons, g = 1{f(X_i) < f(X_j)}.

    .. math:: \hat Z_i = 1\Bigl\{ \frac1c \sum_{k=1}^c g(X_i, X_{j_k}) < \frac12 \Bigr\}

    Each action meets c opponents drawn from its batch, itself excluded; a tie of wins and losses
    counts as low. So does each older point that is still labelled low; one that was ever labelled
    high stays so, which is right as long as the threshold falls.

    Parameters
    ----------
    c : int
        Comparisons of a point.
    quantile : float
        As in `Values`; a point is high if it loses more than this share.

    Notes
    -----
    Source: [CDFO] Sec. 3.1, Eq. (1), restored: its display is cut in our text.
    """

    c: int = 10
    quantile: float = 0.5

    pairwise = True

    def __post_init__(self):
        """Refuse settings out of range."""
        count(self.c, "c")
        positive(self.quantile, "quantile", upper=1.0)

    def pairs(self, labels, n, rng):
        """Draw the pairs to compare: positions (i, j) in the history, shape (m, 2).

        Parameters
        ----------
        labels : ndarray
            Of the points before the batch.
        n : int
            Size of the batch, which comes last in the history.
        rng : numpy.random.Generator
        """
        start = len(labels)
        own = np.repeat(np.arange(n), self.c)
        others = rng.integers(n - 1, size=own.size)
        others += others >= own
        old = np.repeat(np.flatnonzero(labels == 0), self.c)
        against = rng.integers(n, size=old.size)
        pairs = np.column_stack([np.append(own + start, old), np.append(others, against) + start])
        return pairs

    def scores(self, y, pairs, n_old, n):
        """Return the share of comparisons that each action of the last batch lost, shape (n,)."""
        return 1 - np.reshape(y[: n * self.c], (n, self.c)).mean(axis=1)

    def relabel(self, scores, labels, y, pairs):
        """Return the labels of all points from the answers y of shape (m,)."""
        n, labels = len(scores[-1]), labels.copy()
        met = pairs[n * self.c :: self.c, 0]
        lost = 1 - np.reshape(y[n * self.c :], (-1, self.c)).mean(axis=1)
        limit = self.quantile + ROUNDING  # 1 - 0.7 is above 0.3 in floating point
        labels[met] = lost > limit
        return np.append(labels, scores[-1] > limit).astype(int)
