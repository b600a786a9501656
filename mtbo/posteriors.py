"""Exact posteriors in the eigenbasis of the tasks, on a finite candidate set ([MTBO] App. A).

Like those in block form (`mtbo.blocks`), they keep posterior mean and spectral norm of every
candidate.
"""

import numpy as np

from fivebo.common.checks import positive
from fivebo.common.gp.factor import clip_variance
from fivebo.common.gp.kernels import check_no_white_noise, gram
from fivebo.common.gp.posterior import GP
from fivebo.mtbo.blocks import BlockPosterior

SPECTRAL_LIMIT = 400
"""Candidates up to which `exact_posterior` diagonalises their kernel matrix once."""


class Queries:
    """Past queries on m candidates: repeats are counted, not stored.

    Attributes
    ----------
    counts : ndarray of shape (m,)
        Visits of each candidate.
    sums : ndarray of shape (m, n)
        Sums of the observations at each candidate.
    arms : ndarray of shape (t,)
        Candidate of each round.
    """

    def __init__(self, m, n):
        self.counts, self.sums = np.zeros(m), np.zeros((m, n))
        self.arms = np.empty(0, dtype=int)

    def add(self, index, y):
        """Record y (n,) at a candidate, or y (s, n) at s of them."""
        index = np.atleast_1d(index)
        np.add.at(self.counts, index, 1)
        np.add.at(self.sums, index, np.atleast_2d(y))
        self.arms = np.append(self.arms, index)


def spectral_features(matrix, cross):
    r"""Return the embedding :math:`(G^{1/2})^+ G(x)` of points on the span of others.

    Eigenvalues below ``max(eig) * size * machine epsilon`` are dropped, so repeated or clustered
    points are harmless.

    Parameters
    ----------
    matrix : ndarray of shape (s, s)
        Kernel matrix of the spanning points.
    cross : ndarray of shape (s, m)
        Kernel between spanning points and points.

    Returns
    -------
    ndarray of shape (r, m)
        Features in an orthonormal basis of the span, r <= s.
    """
    values, vectors = np.linalg.eigh(matrix)
    if values[0] < -np.sqrt(np.finfo(float).eps) * values[-1]:
        raise ValueError(
            f"kernel matrix is not positive semi-definite: eigenvalues from {values[0]:.3g} to "
            f"{values[-1]:.3g}"
        )
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    return (vectors[:, kept] / np.sqrt(values[kept])).T @ cross


def diagonalise(features, counts, alphas):
    """Diagonalise V = sum_s phi_s phi_s' once for all regularisers.

    Parameters
    ----------
    features : ndarray of shape (r, m)
    counts : ndarray of shape (m,)
    alphas : array_like of shape (c,)
        Regulariser eta / xi of each component.

    Returns
    -------
    features : ndarray of shape (r, m)
        In the eigenbasis of V.
    shrink : ndarray of shape (r, c)
        v_j / (v_j + alpha_c): the variance is k - sum_j phi_j^2 shrink_j.
    inverse : ndarray of shape (r, c)
        1 / (v_j + alpha_c).
    """
    visited = counts > 0
    seen = features[:, visited]
    v, Q = np.linalg.eigh((seen * counts[visited]) @ seen.T)
    v = np.maximum(v, 0)[:, None]
    inverse = 1 / (v + np.asarray(alphas))
    return Q.T @ features, v * inverse, inverse


def weight_space(features, queries, components, eta):
    """Return mean (m, n) and explained variances (m, c), not multiplied by xi, of components."""
    alphas = [eta / part.scale for part in components]
    features, shrink, inverse = diagonalise(features, queries.counts, alphas)
    moments, mean = features @ queries.sums, 0.0
    for part, weights in zip(components, inverse.T, strict=True):
        U = part.directions
        mean = mean + features.T @ (weights[:, None] * (moments @ U)) @ U.T
    return mean, (features**2).T @ shrink


class Decoupled:
    """What posteriors in the eigenbasis share: norms, log determinants and blocks.

    Parameters
    ----------
    kernel : SumKernel
        One whose `components()` exist: `ICM` or `DiagonalKernel`.
    eta : float
        Regulariser > 0, in squared units of y.
    candidates : ndarray of shape (m, d)

    Attributes
    ----------
    mean : ndarray of shape (m, n)
    norm : ndarray of shape (m,)
        Spectral norm of Gamma_t(x, x), in squared units of y.
    variances : ndarray of shape (m, c)
        ``g_i(x)``, the terms whose maximum is the norm, one column a component.
    """

    def __init__(self, kernel, eta, candidates):
        self.eta, self.n_tasks = positive(eta, "eta"), kernel.n_tasks
        self._candidates = candidates
        self._components = kernel.components()
        for part in self._components:
            check_no_white_noise(part.kernel, candidates[:1])
        self._scales = np.array([part.scale for part in self._components])
        self._multiplicity = np.array([part.directions.shape[1] for part in self._components])
        self._prior = np.column_stack([c.kernel.diag(candidates) for c in self._components])
        self._set(np.zeros((len(candidates), self.n_tasks)), self._prior)

    def _set(self, mean, unscaled):
        self.mean = mean
        self.variances = clip_variance(unscaled, self._prior) * self._scales
        self.norm = self.variances.max(1)

    def log_det_term(self, index):
        """Return log det(I_n + Gamma_t(x, x) / eta) at a candidate."""
        return float(self._multiplicity @ np.log1p(self.variances[index] / self.eta))

    def task_variances(self):
        """Return the diagonals of Gamma_t(x, x), shape (m, n)."""
        squares = np.column_stack([(part.directions**2).sum(1) for part in self._components])
        return self.variances @ squares.T

    def blocks(self):
        """Return Gamma_t(x, x) of shape (m, n, n)."""
        projections = [part.directions @ part.directions.T for part in self._components]
        return np.einsum("mc,cij->mij", self.variances, projections)


class SpectralPosterior(Decoupled):
    r"""Exact posterior by one eigen-decomposition a round that serves all tasks.

    With the candidates' kernel matrix diagonalised once, ``k(x, x') = phi(x)' phi(x')`` in r
    features (r is about 20 for a smooth kernel on 100 points), a round costs
    O(r^3 + r m (r + c)), whatever the number of rounds. Parameters are those of `Decoupled`; the
    components of the kernel must share one scalar kernel.

    Notes
    -----
    Source: [MTBO] Sec. 3.3 and App. A: Eq. (3) and Eq. (4) split the block matrix, Eq. (5) and
    Eq. (6) are evaluated in the features' space by Lemma 2.
    """

    def __init__(self, kernel, eta, candidates):
        super().__init__(kernel, eta, candidates)
        matrix = gram(self._components[0].kernel, candidates)
        self._features = spectral_features(matrix, matrix)
        self._queries = Queries(len(candidates), self.n_tasks)

    def update(self, index, y):
        """Add y (n,) at candidate `index`, or y (s, n) at s of them."""
        self._queries.add(index, y)
        mean, explained = weight_space(self._features, self._queries, self._components, self.eta)
        self._set(mean, self._prior - explained)


class DecoupledPosterior(Decoupled):
    r"""Exact posterior in the eigenbasis of the tasks: one scalar GP a component.

    .. math::
        \mu_t(x) = \sum_i \xi_i k_t(x)^\top (\xi_i K_t + \eta I_t)^{-1} Y_t^i u_i

    .. math::
        \|\Gamma_t(x, x)\| = \max_i \xi_i \bigl( k(x, x)
            - \xi_i k_t(x)^\top (\xi_i K_t + \eta I_t)^{-1} k_t(x) \bigr)

    A GP with kernel xi k and noise eta is one with kernel k and noise eta / xi, its variance
    multiplied by xi; each is extended in O(t^2 + t m) a round. Parameters are those of `Decoupled`.

    Notes
    -----
    Source: [MTBO] Sec. 3.3 and App. A: Eq. (3) and Eq. (4) split the block matrix, Eq. (5) and
    Eq. (6) are the formulas above.
    """

    def __init__(self, kernel, eta, candidates):
        super().__init__(kernel, eta, candidates)
        self._gps = [GP(part.kernel, eta / part.scale) for part in self._components]
        self._tracked = [gp.track(candidates) for gp in self._gps]

    def update(self, index, y):
        """Add y (n,) at candidate `index`, or y (s, n) at s of them."""
        X, Y = self._candidates[np.atleast_1d(index)], np.atleast_2d(y)
        mean = 0.0
        for part, gp, tracked in zip(self._components, self._gps, self._tracked, strict=True):
            gp.condition(X, Y @ part.directions)
            mean = mean + tracked.mean @ part.directions.T
        self._set(mean, np.column_stack([tracked.var for tracked in self._tracked]))


def exact_posterior(kernel, eta, candidates):
    """Return the cheapest exact posterior that the kernel and the number of candidates allow.

    Parameters
    ----------
    kernel : SumKernel
    eta : float
        Regulariser > 0, in squared units of y.
    candidates : ndarray of shape (m, d)

    Returns
    -------
    SpectralPosterior, DecoupledPosterior or BlockPosterior
        All give the same numbers to rounding.
    """
    components = kernel.components()
    if components is None:
        return BlockPosterior(kernel, eta, candidates)
    shared = all(part.kernel is components[0].kernel for part in components)
    small = len(candidates) <= SPECTRAL_LIMIT
    form = SpectralPosterior if shared and small else DecoupledPosterior
    return form(kernel, eta, candidates)
