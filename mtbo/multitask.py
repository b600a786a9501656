"""Multi-task kernels: sums of scalar kernels times task matrices ([MTBO] Sec. 2)."""

from dataclasses import dataclass

import numpy as np

from fivebo.common.checks import as_finite_array, count
from fivebo.common.gp.kernels import Kernel, check_kernel
from fivebo.common.search.plain import described


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
        try:
            self.terms = [(kernel, _task_matrix(B)) for kernel, B in terms]
        except TypeError as error:
            raise TypeError(f"terms must be pairs (kernel, B): {error}") from None
        if not self.terms:
            raise ValueError("terms must hold at least one (kernel, B)")
        for kernel, B in self.terms:
            check_kernel(kernel)
            if len(B) != self.n_tasks:
                raise ValueError(f"all B must be {self.n_tasks} x {self.n_tasks}, got {B.shape}")
        same = {}  # equal kernels become one object, whose factorisation is shared
        self.terms = [(same.setdefault((type(k), repr(described(k))), k), B) for k, B in self.terms]

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
    n_tasks = count(n_tasks, "n_tasks")
    if not 0 <= float(as_finite_array(omega, "omega", ndim=0)) <= 1:
        raise ValueError(f"omega must lie in [0, 1], got {omega}")
    ones = np.ones((n_tasks, n_tasks))
    return ICM(kernel, omega * np.eye(n_tasks) + (1 - omega) * ones / n_tasks)


class DiagonalKernel(SumKernel):
    r"""Independent tasks.

    .. math:: \Gamma(x, x') = \mathrm{diag}(k_1(x, x'), \ldots, k_n(x, x'))

    Parameters
    ----------
    kernels : sequence of n Kernel
        Tasks with equal kernels share the factorisation too.
    scales : array_like of shape (n,), optional
        Variances that multiply the kernels; default 1.

    Notes
    -----
    Source: [MTBO] Sec. 2, Remark 1 and Remark 3.
    """

    def __init__(self, kernels, scales=None):
        if not isinstance(kernels, list | tuple):
            raise TypeError(f"kernels must be a list, one kernel a task, got {kernels!r:.80}")
        scales = np.ones(len(kernels)) if scales is None else as_finite_array(scales, "scales")
        if scales.shape != (len(kernels),):
            raise ValueError(f"scales must have shape ({len(kernels)},), got {scales.shape}")
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
    rounding = 1e-10 * np.abs(B).max()
    if B.shape[0] != B.shape[1] or not np.allclose(B, B.T, rtol=0, atol=rounding):
        raise ValueError(f"B must be square and symmetric, got shape {B.shape}; use (B + B.T) / 2")
    B = (B + B.T) / 2
    values = np.linalg.eigvalsh(B)
    if values[-1] <= 0 or values[0] < -1e-10 * values[-1]:
        raise ValueError(
            f"B must be positive semi-definite and not zero, its eigenvalues are {values}"
        )
    return B
