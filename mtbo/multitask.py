"""Multi-task kernels and their exact posteriors ([MTBO] Sec. 2, Sec. 3.1, App. A).

`DecoupledPosterior` works in the eigenbasis of the tasks, `BlockPosterior` on the n t x n t block
matrix; both keep mean and spectral norm on a finite set of candidates.
"""

from dataclasses import dataclass

import numpy as np

from common.domains import as_finite_array, positive
from common.gp import GP
from common.kernels import Kernel


@dataclass(frozen=True)
class Component:
    """Tasks seen along p orthonormal directions that share one scalar kernel.

    Parameters
    ----------
    kernel : Kernel
        Scalar kernel k.
    scale : float
        Eigenvalue xi > 0: the component's prior is xi k.
    directions : ndarray of shape (n, p)
        Orthonormal columns u_i.
    """

    kernel: Kernel
    scale: float
    directions: np.ndarray


class SumKernel:
    r"""Sum of separable kernels.

    .. math:: \Gamma(x, x') = \sum_{j=1}^M k_j(x, x') B_j \in R^{n \times n}

    Parameters
    ----------
    terms : sequence of (Kernel, array_like of shape (n, n))
        Scalar kernels k_j with symmetric positive semi-definite matrices B_j.

    Raises
    ------
    ValueError, TypeError
        No terms; a B_j is not square, symmetric and positive semi-definite; sizes differ.

    Notes
    -----
    Source: [MTBO] Sec. 2, "Examples of multi-task (MT) kernels".
    """

    def __init__(self, terms):
        self.terms = [(kernel, _task_matrix(B)) for kernel, B in terms]
        if not self.terms:
            raise ValueError("terms must hold at least one (kernel, B)")
        for kernel, B in self.terms:
            if not isinstance(kernel, Kernel):
                raise TypeError(f"not a kernel: {kernel!r:.80}; give kernel(X, Y) and diag(X)")
            if len(B) != self.n_tasks:
                raise ValueError(f"all B must be {self.n_tasks} x {self.n_tasks}, got {B.shape}")

    @property
    def n_tasks(self):
        """Number n of tasks."""
        return len(self.terms[0][1])

    def diag(self, X):
        """Return the blocks Gamma(x, x) of shape (m, n, n)."""
        return sum(kernel.diag(X)[:, None, None] * B for kernel, B in self.terms)

    def kappa(self, X):
        """Return max over X of the spectral norm of Gamma(x, x)."""
        return float(np.linalg.eigvalsh(self.diag(X))[:, -1].max())

    def components(self):
        """Return the decoupled form as a list of `Component`, or None if there is none."""
        return None


class ICM(SumKernel):
    r"""Intrinsic coregionalisation model.

    .. math:: \Gamma(x, x') = k(x, x') B, \qquad B = \sum_i \xi_i u_i u_i^\top

    Parameters
    ----------
    kernel : Kernel
        Scalar kernel k, stationary with unit variance in the paper.
    B : array_like of shape (n, n)
        Inter-task matrix, symmetric positive semi-definite.

    Notes
    -----
    Source: [MTBO] Sec. 2 and App. A.
    """

    def __init__(self, kernel, B):
        super().__init__([(kernel, B)])

    @property
    def kernel(self):
        """Scalar kernel k."""
        return self.terms[0][0]

    @property
    def B(self):  # noqa: N802 (the paper's letter)
        """Inter-task matrix."""
        return self.terms[0][1]

    def components(self):
        """Return one `Component` an eigenvalue of B; zero eigenvalues carry nothing."""
        xi, U = np.linalg.eigh(self.B)
        rounding = len(xi) * np.finfo(float).eps * xi[-1]
        groups = np.split(np.arange(len(xi)), np.flatnonzero(np.diff(xi) > 100 * rounding) + 1)
        return [
            Component(self.kernel, float(xi[group].mean()), U[:, group])
            for group in groups
            if xi[group].mean() > rounding
        ]


def similarity_kernel(kernel, n_tasks, omega):
    r"""Make the kernel whose parameter is the similarity between tasks.

    .. math:: \Gamma_\omega(x, x') = k(x, x') \bigl( \omega I_n + (1 - \omega) 1_n / n \bigr)

    Eigenvalue 1 on the vector of ones, omega (n - 1 times) on its complement; kappa = 1.

    Parameters
    ----------
    kernel : Kernel
    n_tasks : int
    omega : float
        In [0, 1]; 0: identical tasks, 1: unrelated tasks.

    Returns
    -------
    ICM

    Notes
    -----
    Source: [MTBO] Sec. 2, after Evgeniou et al. (2005).
    """
    if not 0 <= omega <= 1:
        raise ValueError(f"omega must lie in [0, 1], got {omega}")
    ones = np.ones((n_tasks, n_tasks))
    return ICM(kernel, omega * np.eye(n_tasks) + (1 - omega) * ones / n_tasks)


class DiagonalKernel(SumKernel):
    r"""Independent tasks.

    .. math:: \Gamma(x, x') = \mathrm{diag}(k_1(x, x'), \ldots, k_n(x, x'))

    Parameters
    ----------
    kernels : sequence of n Kernel
        Tasks that share the very same object share the factorisation too.
    scales : array_like of shape (n,), optional
        Variances that multiply the kernels; default 1.

    Notes
    -----
    Source: [MTBO] Sec. 2, Remark 1 and Remark 3.
    """

    def __init__(self, kernels, scales=None):
        scales = np.ones(len(kernels)) if scales is None else as_finite_array(scales, "scales")
        eye = np.eye(len(kernels))
        super().__init__(
            [(k, s * np.outer(e, e)) for k, s, e in zip(kernels, scales, eye, strict=True)]
        )
        self.scales = scales

    def components(self):
        """Return one `Component` a group of tasks with equal kernel and scale."""
        groups = {}
        for i, (kernel, _) in enumerate(self.terms):
            groups.setdefault((id(kernel), float(self.scales[i])), (kernel, []))[1].append(i)
        eye = np.eye(self.n_tasks)
        return [Component(k, scale, eye[:, tasks]) for (_, scale), (k, tasks) in groups.items()]


def _task_matrix(B):
    B = as_finite_array(B, "B", ndim=2)
    if B.shape[0] != B.shape[1] or not np.allclose(B, B.T, rtol=1e-10, atol=1e-12):
        raise ValueError(f"B must be square and symmetric, got shape {B.shape}; use (B + B.T) / 2")
    B = (B + B.T) / 2
    values = np.linalg.eigvalsh(B)
    if values[-1] <= 0 or values[0] < -1e-10 * values[-1]:
        raise ValueError(
            f"B must be positive semi-definite and not zero, its eigenvalues are {values}"
        )
    return B


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


class DecoupledPosterior:
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

    Attributes
    ----------
    variances : ndarray of shape (m, c)
        ``g_i(x)``, the terms under the maximum, one column a component.

    Notes
    -----
    Source: [MTBO] Sec. 3.3 and App. A: Eq. (3) and Eq. (4) split the block matrix, Eq. (5) and
    Eq. (6) are the formulas above.
    """

    def __init__(self, kernel, eta, candidates):
        self.eta, self.n_tasks = positive(eta, "eta"), kernel.n_tasks
        self._candidates = candidates
        self._components = kernel.components()
        self._gps = [GP(part.kernel, eta / part.scale) for part in self._components]
        self._tracked = [gp.track(candidates) for gp in self._gps]
        self._multiplicity = np.array([part.directions.shape[1] for part in self._components])
        self.mean = np.zeros((len(candidates), self.n_tasks))
        self._refresh()

    def _refresh(self):
        scales = [part.scale for part in self._components]
        self.variances = np.column_stack([t.var for t in self._tracked]) * scales
        self.norm = self.variances.max(1)

    def update(self, index, y):
        """Add y (n,) at candidate `index`, or y (s, n) at s of them."""
        X, Y = self._candidates[np.atleast_1d(index)], np.atleast_2d(y)
        for part, gp in zip(self._components, self._gps, strict=True):
            gp.condition(X, Y @ part.directions)
        self.mean = sum(
            t.mean @ part.directions.T
            for part, t in zip(self._components, self._tracked, strict=True)
        )
        self._refresh()

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
    """Return the decoupled posterior where the kernel allows it, else the block form."""
    form = BlockPosterior if kernel.components() is None else DecoupledPosterior
    return form(kernel, eta, candidates)
