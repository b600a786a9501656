"""Exact posteriors of multi-task kernels on a finite candidate set ([MTBO] Sec. 3.1, App. A).

`SpectralPosterior` and `DecoupledPosterior` work in the eigenbasis of the tasks, `BlockPosterior`
on the n t x n t block matrix. All keep posterior mean and spectral norm of every candidate.
"""

from dataclasses import dataclass

import numpy as np

from fivebo.common.checks import positive
from fivebo.common.gp.factor import clip_variance
from fivebo.common.gp.kernels import gram
from fivebo.common.gp.posterior import GP

SPECTRAL_LIMIT = 400
"""Candidates up to which `exact_posterior` diagonalises their kernel matrix once."""


@dataclass
class Queries:
    """Past queries on a finite candidate set: repeats are counted, not stored.

    Parameters
    ----------
    counts : ndarray of shape (m,)
        Visits of each candidate.
    sums : ndarray of shape (m, n)
        Sums of the observations at each candidate.
    arms : ndarray of shape (t,)
        Candidate of each round.
    """

    counts: np.ndarray
    sums: np.ndarray
    arms: np.ndarray

    @classmethod
    def none(cls, m, n):
        """Return the state before the first round."""
        return cls(np.zeros(m), np.zeros((m, n)), np.empty(0, dtype=int))

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


class TaskKernel:
    """The multi-task kernel as a scalar one on pairs (x, task), ``Gamma(x, x')_ij`` (Remark 2).

    Points carry the task number as a last coordinate.
    """

    def __init__(self, kernel):
        self.multitask = kernel

    def __call__(self, X, Y=None):
        """Return ``Gamma(x, x')_ij`` for all pairs."""
        Y = X if Y is None else Y
        i, j = X[:, -1].astype(int), Y[:, -1].astype(int)
        return sum(k(X[:, :-1], Y[:, :-1]) * B[np.ix_(i, j)] for k, B in self.multitask.terms)

    def diag(self, X):
        """Return ``Gamma(x, x)_ii``."""
        i = X[:, -1].astype(int)
        return sum(k.diag(X[:, :-1]) * B[i, i] for k, B in self.multitask.terms)


def with_tasks(X, n_tasks):
    """Return every point with every task number: (m, d) -> (m n, d + 1), tasks running fastest."""
    X = np.asarray(X, dtype=float)
    tasks = np.tile(np.arange(n_tasks, dtype=float), len(X))
    return np.column_stack([np.repeat(X, n_tasks, axis=0), tasks])


class Decoupled:
    """What posteriors in the eigenbasis share: norms, log determinants and blocks.

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
        for component in kernel.components():
            gram(component.kernel, candidates[:1])  # refuses kernels with noise in them
        self._components = kernel.components()
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
    O(r^3 + r m (r + c)), whatever the number of rounds.

    Parameters
    ----------
    kernel : SumKernel
        One whose `components()` share one scalar kernel.
    eta : float
        Regulariser > 0, in squared units of y.
    candidates : ndarray of shape (m, d)

    Notes
    -----
    Source: [MTBO] Sec. 3.3 and App. A: Eq. (3) and Eq. (4) split the block matrix, Eq. (5) and
    Eq. (6) are evaluated in the features' space by Lemma 2.
    """

    def __init__(self, kernel, eta, candidates):
        super().__init__(kernel, eta, candidates)
        matrix = gram(self._components[0].kernel, candidates)
        self._features = spectral_features(matrix, matrix)
        self._queries = Queries.none(len(candidates), self.n_tasks)

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
    multiplied by xi; each is extended in O(t^2 + t m) a round.

    Parameters
    ----------
    kernel : SumKernel
        One whose `components()` exist: `ICM` or `DiagonalKernel`.
    eta : float
        Regulariser > 0, in squared units of y.
    candidates : ndarray of shape (m, d)

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


class BlockPosterior:
    r"""Exact posterior for any multi-task kernel, on the n t x n t block matrix.

    .. math::
        \mu_t(x) = G_t(x)^\top (G_t + \eta I_{nt})^{-1} Y_t, \qquad
        \Gamma_t(x, x') = \Gamma(x, x') - G_t(x)^\top (G_t + \eta I_{nt})^{-1} G_t(x')

    The n rows of an observation extend one factor: O(n^3 t^2 + n^3 t m) a round.

    Parameters
    ----------
    kernel : SumKernel
    eta : float
        Regulariser > 0, in squared units of y.
    candidates : ndarray of shape (m, d)

    Notes
    -----
    Source: [MTBO] Sec. 3.1, Eq. (1); Lemma 2 links it to the primal form, Lemma 4 its log
    determinants to `log_det_term`.
    """

    def __init__(self, kernel, eta, candidates):
        self.eta, self.n_tasks = positive(eta, "eta"), kernel.n_tasks
        self._candidates = with_tasks(candidates, self.n_tasks)
        self._gp = GP(TaskKernel(kernel), eta)
        self._tracked = self._gp.track(self._candidates)
        self._blocks = kernel.diag(candidates)
        self.mean = np.zeros((len(candidates), self.n_tasks))
        self.norm = np.linalg.eigvalsh(self._blocks)[:, -1]

    def update(self, index, y):
        """Add y (n,) at candidate `index`, or y (s, n) at s of them."""
        n = self.n_tasks
        before = self._gp.n_observations
        rows = np.atleast_1d(index)[:, None] * n + np.arange(n)
        self._gp.condition(self._candidates[rows.ravel()], np.ravel(y))
        self.mean = self._tracked.mean.reshape(-1, n)
        for _, rows in self._tracked.rows(before):
            rows = rows.reshape(len(rows), -1, n)
            self._blocks = self._blocks - np.einsum("rmi,rmj->mij", rows, rows)
        self.norm = np.linalg.eigvalsh(self._blocks)[:, -1]

    def log_det_term(self, index):
        """Return log det(I_n + Gamma_t(x, x) / eta) at a candidate."""
        return float(np.linalg.slogdet(np.eye(self.n_tasks) + self._blocks[index] / self.eta)[1])

    def task_variances(self):
        """Return the diagonals of Gamma_t(x, x), shape (m, n)."""
        return np.diagonal(self._blocks, axis1=1, axis2=2)

    def blocks(self):
        """Return Gamma_t(x, x) of shape (m, n, n)."""
        return self._blocks


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
