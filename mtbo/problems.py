"""Synthetic problems of [MTBO] Sec. 5: RKHS functions, perturbed sine, shifted Branin-Hoo.

A problem is a record of settings; `draw` makes an instance of it, with the true function on a
finite domain. All are maximised.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fivebo.common.checks import count, positive
from fivebo.common.gp.kernels import SquaredExponential
from fivebo.common.search.domains import FiniteSet
from fivebo.mtbo.multitask import ICM, SumKernel, similarity_kernel


def unit_grid(n, dim=1):
    """Return the net {1/n, 2/n, ..., 1}^dim of [0, 1]^dim, shape (n^dim, dim)."""
    axis = np.arange(1, n + 1) / n
    return np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)


def _check_common(problem):
    """Refuse lengthscales, noise or similarities out of range."""
    positive(problem.length_scale, "length_scale")
    positive(problem.noise_std, "noise_std")
    if not 0 <= problem.omega <= 1:
        raise ValueError(f"omega must lie in [0, 1], got {problem.omega}")


@dataclass
class Instance:
    """A drawn problem: the truth that optimisers never see, and the noise model.

    Parameters
    ----------
    domain : FiniteSet
        m candidate queries.
    values : ndarray of shape (m, n)
        Noise-free f on the domain.
    kernel : SumKernel
        Multi-task kernel that the methods are given.
    noise_std : float
        Sub-Gaussian constant sigma, in units of f.
    true_norm : float
        RKHS norm of f; NaN where it is not known.
    """

    domain: FiniteSet
    values: np.ndarray
    kernel: SumKernel
    noise_std: float
    true_norm: float = np.nan
    direction: str = "max"
    n_init: int = 0
    optimum: float = np.nan  # a set of Pareto optimal points, no number

    @property
    def kappa(self):
        """Largest spectral norm of Gamma(x, x) on the domain."""
        return self.kernel.kappa(self.domain.points)

    @property
    def printed_norm_bound(self):
        """The bound b = max_x ||f(x)||_2 / kappa, as printed. [MTBO] Sec. 5, RKHS function."""
        return float(np.linalg.norm(self.values, axis=1).max() / self.kappa)

    def observe(self, query, rng):
        """Return y = f(x) + N(0, sigma^2 I), shape (n,)."""
        noise = rng.standard_normal(self.values.shape[1])
        return self.values[self.domain.index(query)] + self.noise_std * noise


@dataclass(frozen=True)
class RKHSProblem:
    r"""Functions drawn from the RKHS of a multi-task kernel.

    .. math:: f(\cdot) = \sum_{i \le p} \Gamma(\cdot, x_i) c_i

    with x_i uniform on the domain, c_i uniform on [-1, 1]^n. The setting is Sec. 2's: f maps X to
    R^n, is maximised and seen with Gaussian noise. Source: [MTBO] Sec. 5, "RKHS function";
    Fig. 1 (a)-(c), Fig. 2 (a), Fig. 3 (a).

    Parameters
    ----------
    n_tasks : int
    task_kernel : {"icm", "similarity"}
        ``B = A' A`` with A_ij uniform on [0, 1], or Gamma_omega.
    omega : float
        Similarity in [0, 1], for "similarity".
    length_scale : float
        Of the squared exponential kernel, in units of the domain [0, 1].
    n_points : int
        Points of the net along each axis.
    dim : int
        Axes of the domain; 1 in the paper.
    n_centres : int
        Number p of centres.
    noise_std : float
    normalised : bool
        Divide f by its largest absolute value.
    """

    n_tasks: int = 2
    task_kernel: Literal["icm", "similarity"] = "icm"
    omega: float = 0.5
    length_scale: float = 0.2
    n_points: int = 100
    dim: int = 1
    n_centres: int = 100
    noise_std: float = 0.1
    normalised: bool = False

    def __post_init__(self):
        for name in ("n_tasks", "n_points", "dim", "n_centres"):
            count(getattr(self, name), name)
        _check_common(self)

    def draw(self, rng):
        """Draw A, the centres and the coefficients, in this order whatever the kernel."""
        X = unit_grid(self.n_points, self.dim)
        A = rng.random((self.n_tasks, self.n_tasks))
        centres = X[rng.integers(len(X), size=self.n_centres)]
        C = rng.uniform(-1, 1, (self.n_centres, self.n_tasks))
        k = SquaredExponential(self.length_scale)
        if self.task_kernel == "icm":
            kernel = ICM(k, A.T @ A)
        else:
            kernel = similarity_kernel(k, self.n_tasks, self.omega)
        values = k(X, centres) @ C @ kernel.B
        norm = np.sqrt(np.einsum("ij,ij->", k(centres), C @ kernel.B @ C.T))
        scale = np.abs(values).max() if self.normalised else 1.0
        return Instance(FiniteSet(X), values / scale, kernel, self.noise_std, float(norm / scale))


@dataclass(frozen=True)
class SineProblem:
    r"""Perturbed sine functions, four related tasks.

    .. math::
        f_i(x) = \sin(2\pi x) + a \sum_j W_{ij} \exp\bigl( -(x - m_j)^2 / (2 w^2) \bigr)

    Source: [MTBO] Sec. 5, "Perturbed sine function", Fig. 1 (d), after Baldassarre et al. (2012).

    Parameters
    ----------
    amplitude : float
        a, weight of the perturbation.
    width : float
        w, standard deviation of its Gaussians.
    centres : tuple of 3 float
        m_j.
    weights : tuple of 4 tuples of 3 float
        W; the paper chose its own "carefully" and does not print it.
    omega, length_scale, n_points, noise_std
        As in `RKHSProblem`.
    """

    amplitude: float = 0.6
    width: float = 0.1
    centres: tuple = (0.05, 0.4, 0.7)
    weights: tuple = ((1, 0.5, -0.5), (-0.5, 1, 0.5), (0.5, -1, 1), (-1, -0.5, -1))
    omega: float = 0.6
    length_scale: float = 0.2
    n_points: int = 100
    noise_std: float = 0.1

    def __post_init__(self):
        count(self.n_points, "n_points")
        positive(self.width, "width")
        _check_common(self)

    def draw(self, rng):
        """Return the one instance: nothing about it is random."""
        X = unit_grid(self.n_points)
        bumps = np.exp(-((X - np.array(self.centres)) ** 2) / (2 * self.width**2))
        values = np.sin(2 * np.pi * X) + self.amplitude * bumps @ np.array(self.weights).T
        kernel = similarity_kernel(
            SquaredExponential(self.length_scale), len(self.weights), self.omega
        )
        return Instance(FiniteSet(X), values, kernel, self.noise_std)


def branin(x1, x2):
    r"""Return the Branin-Hoo function on [-5, 10] x [0, 15], minimum 0.397887.

    .. math::
        \Bigl(x_2 - \frac{5.1}{4\pi^2} x_1^2 + \frac{5}{\pi} x_1 - 6\Bigr)^2
            + 10 \Bigl(1 - \frac{1}{8\pi}\Bigr) \cos x_1 + 10

    Source: Jones (2001), cited in [MTBO] Sec. 5.
    """
    valley = x2 - 5.1 * x1**2 / (4 * np.pi**2) + 5 * x1 / np.pi - 6
    return valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x1) + 10


@dataclass(frozen=True)
class BraninProblem:
    """Shifted Branin-Hoo functions, negated because f is maximised.

    Task i is the function translated by i % of the range "along either axis"; all tasks are
    standardised by one common mean and standard deviation over the domain. Source: [MTBO] Sec. 5,
    "Shifted Branin-Hoo", Fig. 1 (e).

    Parameters
    ----------
    n_tasks : int
    n_points : int
        Grid points along each axis, from 0 to 1.
    shift : float
        Translation of task i as a share of the range, divided by i.
    axes : {"both", "first"}
        Axes that are translated.
    omega, length_scale, noise_std
        As in `RKHSProblem`; noise in units of the standardised function.
    """

    n_tasks: int = 10
    n_points: int = 30
    shift: float = 0.01
    axes: Literal["both", "first"] = "both"
    omega: float = 0.5
    length_scale: float = 0.2
    noise_std: float = 0.1

    def __post_init__(self):
        for name in ("n_tasks", "n_points"):
            count(getattr(self, name), name)
        _check_common(self)

    def draw(self, rng):
        """Return the one instance: nothing about it is random."""
        axis = np.linspace(0, 1, self.n_points)
        X = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
        shift = 15 * self.shift * np.arange(1, self.n_tasks + 1)
        x1, x2 = -5 + 15 * X[:, :1], 15 * X[:, 1:]
        values = -branin(x1 - shift, x2 - (shift if self.axes == "both" else 0))
        values = (values - values.mean()) / values.std()
        kernel = similarity_kernel(SquaredExponential(self.length_scale), self.n_tasks, self.omega)
        return Instance(FiniteSet(X), values, kernel, self.noise_std)
