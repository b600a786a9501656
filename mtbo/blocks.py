"""Multi-task posteriors in block form, for any kernel ([MTBO] Sec. 3.1): n rows an observation."""

import numpy as np

from fivebo.common.checks import positive
from fivebo.common.gp.posterior import GP


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


class Blocks:
    """What posteriors in block form share: norms, log determinants and variances.

    Attributes
    ----------
    mean : ndarray of shape (m, n)
    norm : ndarray of shape (m,)
        Spectral norm of Gamma_t(x, x), in squared units of y.
    """

    def __init__(self, kernel, eta, candidates):
        self.eta, self.n_tasks = positive(eta, "eta"), kernel.n_tasks
        self._kernel = TaskKernel(kernel)
        self._candidates = with_tasks(candidates, self.n_tasks)
        self._prior = kernel.diag(candidates)
        self._set(np.zeros((len(candidates), self.n_tasks)), self._prior)

    def _set(self, mean, blocks):
        self.mean, self._blocks = mean, blocks
        self.norm = np.maximum(np.linalg.eigvalsh(blocks)[:, -1], 0)

    def log_det_term(self, index):
        """Return log det(I_n + Gamma_t(x, x) / eta) at a candidate."""
        return float(np.linalg.slogdet(np.eye(self.n_tasks) + self._blocks[index] / self.eta)[1])

    def task_variances(self):
        """Return the diagonals of Gamma_t(x, x), shape (m, n)."""
        return np.maximum(np.diagonal(self._blocks, axis1=1, axis2=2), 0)

    def blocks(self):
        """Return Gamma_t(x, x) of shape (m, n, n)."""
        return self._blocks


class BlockPosterior(Blocks):
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
        super().__init__(kernel, eta, candidates)
        self._gp = GP(self._kernel, eta)
        self._tracked = self._gp.track(self._candidates)

    def update(self, index, y):
        """Add y (n,) at candidate `index`, or y (s, n) at s of them."""
        n, blocks = self.n_tasks, self._blocks
        before = self._gp.n_observations
        rows = np.atleast_1d(index)[:, None] * n + np.arange(n)
        self._gp.condition(self._candidates[rows.ravel()], np.ravel(y))
        for _, rows in self._tracked.rows(before):
            rows = rows.reshape(len(rows), -1, n)
            blocks = blocks - np.einsum("rmi,rmj->mij", rows, rows)
        self._set(self._tracked.mean.reshape(-1, n), blocks)
