"""Distributions p^(t) of [CDFO] Algorithm 1 and draws from them, by enumeration or on a box."""

import numpy as np

from common.domains import count, positive


def log_keep(h, eta):
    """Return log(1 - eta h), -inf where eta h = 1. Source: [CDFO] Alg. 1, l. 7."""
    with np.errstate(divide="ignore"):
        return np.log1p(-eta * h)


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
        self.domain, self.repeats = domain, bool(repeats)
        self.eta = positive(eta, "eta", upper=1.0, closed=True)
        self.log_weights = np.zeros(domain.size)  # l. 1
        self.zeros = np.zeros(domain.size, dtype=int)  # factors 1 - eta h that were 0
        self.mistakes, self.coverage = np.zeros(domain.size), []

    def log_probabilities(self):
        """Return log p^(t) of all actions, shape (N,); -inf off the support."""
        alive = self.zeros == self.zeros.min()
        logs = np.where(alive, self.log_weights, -np.inf)
        return logs - np.logaddexp.reduce(logs)

    def update(self, decide):
        """Downweight by h^(t), given as a function of features; return its values, shape (N,)."""
        h = decide(self.domain.features)
        self.coverage.append(float(h @ np.exp(self.log_probabilities())))
        self.mistakes += h
        change = log_keep(h, self.eta)  # l. 7
        lost = np.isneginf(change)
        self.zeros += lost
        self.log_weights[~lost] += change[~lost]
        return h

    def draw(self, n, rng, batches):
        """Draw X^(t) ~ p^(t), n row numbers.

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

    coverage = mistakes = None

    def __init__(self, domain, *, eta=1.0, width=1.0, candidates=20):
        self.domain, self.candidates = domain, count(candidates, "candidates")
        self.eta = positive(eta, "eta", upper=1.0, closed=True)
        self.width = positive(width, "width")
        self.decisions = []

    def update(self, decide):
        """Take h^(t), a function of points."""
        self.decisions.append(decide)

    def log_target(self, points):
        """Return the log of the unnormalised target at points of shape (m, d) of the box."""
        total = np.zeros(len(points))
        for decide in self.decisions:
            total += log_keep(decide(points), self.eta)  # l. 7
        return total

    def scale(self, parents, weights):
        """Return the standard deviation of the perturbation of each input, shape (d,)."""
        centre = weights @ parents
        spread = np.sqrt(weights @ (parents - centre) ** 2)
        spread = np.where(spread > 0, spread, parents.std(axis=0))
        n, d = parents.shape
        return self.width * spread * (n ** (-1 / (d + 4)) if d < self.SMALL_DIM else 1.0)

    def propose(self, parents, weights, n, rng):
        """Return up to K n candidates, all inside the box."""
        chosen = parents[rng.choice(len(parents), self.candidates * n, p=weights)]
        points = chosen + self.scale(parents, weights) * rng.standard_normal(chosen.shape)
        if self.domain.dim < self.SMALL_DIM:
            return points[self.domain.inside(points)]
        return np.clip(points, self.domain.lower, self.domain.upper)

    def draw(self, n, rng, batches):
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

    def draw(self, n, rng, batches):
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
