"""Distributions p^(t) of [CDFO] Algorithm 1 and draws from them, by enumeration or on a box."""

import numpy as np

from fivebo.classify_dfo.spaces import Catalogue, require, scaled
from fivebo.common.checks import count, positive
from fivebo.common.search.domains import Box


def log_keep(h, eta):
    """Return log(1 - eta h), -inf where eta h = 1. Source: [CDFO] Alg. 1, l. 7."""
    with np.errstate(divide="ignore"):
        return np.log1p(-eta * h)


def decision(decide, rows):
    """Return h at rows, shape (m,), or say what a classifier of one's own has done wrong.

    Source: [CDFO] Sec. 1, h maps to [0, 1].
    """
    h = np.asarray(decide(rows))
    if h.shape != (len(rows),) or h.dtype.kind not in "fiub":
        raise ValueError(
            f"the classifier's h must return {len(rows)} numbers for as many rows, got shape "
            f"{h.shape} of {h.dtype}"
        )
    h = h.astype(float)
    if (wrong := h[~((h >= 0) & (h <= 1))]).size:
        raise ValueError(f"the classifier's h must lie in [0, 1], got {wrong[0]:g}")
    return h


class Enumeration:
    r"""p^(t) on a catalogue, every weight kept in logs.

    .. math:: p^{(t)}(x) \propto p^{(t-1)}(x) (1 - \eta h^{(t)}(x))

    eta = 1 is the limit from below: where no weight is left, or too few without repeats, the
    points that were cut least often come next.

    Parameters
    ----------
    domain : Catalogue
    eta : float, optional
        Multiplicative weight in (0, 1].
    repeats : bool, optional
        Draw independently, as the paper writes; or without replacement from the actions that
        have not been measured, which suits a deterministic f.

    Attributes
    ----------
    coverage : list of float
        Sum over x of h^(t) p^(t-1) of each round.
    mistakes : ndarray of shape (N,)
        M_T, the sum of h^(t) at every action.

    Notes
    -----
    Source: [CDFO] Alg. 1, l. 1, l. 7-8, Sec. 2.1, Sec. 4.
    """

    def __init__(self, domain, *, eta=1.0, repeats=True):
        require(domain, Catalogue, "Enumeration")
        self.domain, self.repeats = domain, bool(repeats)
        self.eta = positive(eta, "eta", upper=1.0, closed=True)
        self.log_weights = np.zeros(domain.size)  # l. 1
        self.zeros = np.zeros(domain.size, dtype=int)  # factors 1 - eta h that were 0
        self.mistakes, self.coverage = np.zeros(domain.size), []

    def settings(self):
        """Return the constructor's arguments."""
        return {"domain": self.domain, "eta": self.eta, "repeats": self.repeats}

    @property
    def rounds(self):
        """Number of updates so far."""
        return len(self.coverage)

    def log_probabilities(self):
        """Return log p^(t) of all actions, shape (N,); -inf off the support."""
        alive = self.zeros == self.zeros.min()
        logs = np.where(alive, self.log_weights, -np.inf)
        return logs - np.logaddexp.reduce(logs)

    def update(self, decide):
        """Downweight by h^(t), a function of features in [0, 1]; return its values, shape (N,)."""
        h = decision(decide, self.domain.unit)
        self.coverage.append(float(h @ np.exp(self.log_probabilities())))
        self.mistakes += h
        change = log_keep(h, self.eta)  # l. 7
        lost = np.isneginf(change)
        self.zeros += lost
        self.log_weights[~lost] += change[~lost]
        return h

    def draw(self, n, rng, batches, failed=()):
        """Draw X^(t) ~ p^(t), n row numbers.

        Without repeats, rows that `failed` are passed over as long as n others are left.

        Raises
        ------
        ValueError
            Without repeats, fewer than n actions are left.
        """
        if self.repeats:
            return rng.choice(self.domain.size, n, p=np.exp(self.log_probabilities()))  # l. 8
        free = np.ones(self.domain.size, dtype=bool)
        free[np.concatenate(batches)] = False
        left = np.flatnonzero(free)
        free[list(failed)] = False
        if np.count_nonzero(free) >= n:
            left = np.flatnonzero(free)
        if len(left) < n:
            raise ValueError(
                f"only {len(left)} of {self.domain.size} actions are not yet measured, a batch "
                f"needs {n}: stop here, make the batch smaller, or allow repeats"
            )
        # largest keys log w + Gumbel noise: draws without replacement, proportional to w
        keys = self.log_weights[left] + rng.gumbel(size=len(left))
        return left[np.lexsort((-keys, self.zeros[left]))[:n]]  # l. 8


class Perturbation:
    r"""Draws by Gaussian perturbation of the last batch (S2), the default on boxes.

    Parents are points of the last batch with probability proportional to the target
    :math:`\tilde p^{(t)}(x) = 1_{box}(x) \prod_s (1 - \eta h^{(s)}(x))`; K n candidates are
    parents plus normal noise with a standard deviation of width times that of the weighted
    parents, times n^(-1/(d+4)) below 20 dimensions; n of them are drawn with the target as
    weights. The density of the candidates is ignored, so the cloud drifts outwards as it shrinks.

    Parameters
    ----------
    domain : Box
    eta : float, optional
        Multiplicative weight in (0, 1].
    width : float, optional
        Factor of the scale of the perturbation.
    candidates : int, optional
        K.

    Notes
    -----
    Source: [CDFO] Sec. 4, "we perturb samples from the previous rounds using a Gaussian and use
    importance sampling"; the rest is our reading.
    """

    SMALL_DIM = 20
    """Below it the scale shrinks with n, and candidates off the box are dropped, not clipped."""

    TRIES = 100
    """Times that candidates are drawn, at most, until n of them are in the box."""

    coverage = mistakes = None

    def __init__(self, domain, *, eta=1.0, width=1.0, candidates=20):
        require(domain, Box, type(self).__name__)
        self.domain, self.candidates = domain, count(candidates, "candidates")
        self.eta = positive(eta, "eta", upper=1.0, closed=True)
        self.width = positive(width, "width")
        self.decisions = []

    def settings(self):
        """Return the constructor's arguments."""
        return {n: getattr(self, n) for n in ("domain", "eta", "width", "candidates")}

    @property
    def rounds(self):
        """Number of updates so far."""
        return len(self.decisions)

    def update(self, decide):
        """Take h^(t), a function of points as `scaled` maps them."""
        self.decisions.append(decide)

    def log_target(self, points):
        """Return the log of the unnormalised target at points of shape (m, d) of the box."""
        total, rows = np.zeros(len(points)), scaled(self.domain, points)
        for decide in self.decisions:
            total += log_keep(decision(decide, rows), self.eta)  # l. 7
        return total

    def scale(self, parents, weights):
        """Return the standard deviation of the perturbation of each input, shape (d,).

        A single parent, which has no spread, is given that of the uniform law.
        """
        if len(parents) == 1:
            return self.width * self.domain.sides / np.sqrt(12)
        centre = weights @ parents
        spread = np.sqrt(weights @ (parents - centre) ** 2)
        rounding = 4 * np.finfo(float).eps * np.abs(parents).max(axis=0)
        spread = np.where(spread > rounding, spread, parents.std(axis=0))
        n, d = parents.shape
        return self.width * spread * (n ** (-1 / (d + 4)) if d < self.SMALL_DIM else 1.0)

    def propose(self, parents, weights, n, rng):
        """Return candidates, at least n and all inside the box: K n less those that fell off.

        Where fewer than n are left, more are drawn.
        """
        scale, kept, found = self.scale(parents, weights), [], 0
        while found < n:
            chosen = parents[rng.choice(len(parents), self.candidates * n, p=weights)]
            points = chosen + scale * rng.standard_normal(chosen.shape)
            if self.domain.dim >= self.SMALL_DIM or len(kept) == self.TRIES:
                points = self._clipped(points, found)
            kept.append(points[self.domain.inside(points)])
            found += len(kept[-1])
        return np.concatenate(kept)

    def _clipped(self, points, found):
        """Move candidates into the box."""
        return np.clip(points, self.domain.lower, self.domain.upper)

    def draw(self, n, rng, batches, failed=()):
        """Draw n points, shape (n, d)."""
        parents = batches[-1]
        points = self.propose(parents, _normalised(self.log_target(parents)), n, rng)
        weights = _normalised(self.log_target(points))
        enough = np.count_nonzero(weights) >= n
        return points[rng.choice(len(points), n, replace=not enough, p=weights)]  # l. 8


class ImportanceSampling(Perturbation):
    """Draws by importance sampling that converges to p^(t) as K grows (S1).

    Parents come from all batches, and candidates are weighted by the target over the density of
    the normal mixture that they come from; n are drawn independently.

    Parameters
    ----------
    domain, eta, width, candidates
        As in `Perturbation`.

    Notes
    -----
    Source: [CDFO] Sec. 4, the sentence read literally; slower, and exact in the limit.
    """

    SMALL_DIM = np.inf
    ROWS = 2_000_000
    """Distances held at once."""

    def _clipped(self, points, found):
        """Refuse: clipped candidates have no density."""
        raise ValueError(
            f"of {self.TRIES * len(points)} candidates {found} fell into the box of "
            f"{self.domain.dim} inputs: importance sampling is for few inputs; use Perturbation"
        )

    def draw(self, n, rng, batches, failed=()):
        """Draw n points, shape (n, d)."""
        parents = np.concatenate(batches)
        weights = _normalised(self.log_target(parents))
        points = self.propose(parents, weights, n, rng)
        density = self._log_density(points, parents, weights)
        chances = _normalised(self.log_target(points) - density)
        return points[rng.choice(len(points), n, p=chances)]  # l. 8

    def _log_density(self, points, parents, weights):
        """Return the log density of the candidates up to a constant, shape (m,)."""
        from scipy.spatial.distance import cdist

        scale = self.scale(parents, weights)
        used = weights > 0
        centres, logs = parents[used] / scale, np.log(weights[used])
        step = max(1, self.ROWS // len(centres))
        parts = [
            np.logaddexp.reduce(logs - cdist(part / scale, centres, "sqeuclidean") / 2, axis=1)
            for part in np.array_split(points, -(-len(points) // step))
        ]
        return np.concatenate(parts)


def _normalised(logs):
    """Return weights that sum to 1, uniform if all of them are zero."""
    top = logs.max()
    weights = np.exp(logs - top) if np.isfinite(top) else np.ones(len(logs))
    return weights / weights.sum()
