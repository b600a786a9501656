"""A drawn problem of [MVABO]: the truth, nature, and sample paths of known RKHS norm."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from fivebo.common.gp.kernels import SquaredExponential
from fivebo.mvabo.bounds import objectives, spread
from fivebo.mvabo.domain import UncertainDomain
from fivebo.mvabo.kernels import squared_exponential


@dataclass
class Instance:
    """A drawn problem: the truth, the model that the methods are given, and nature.

    Nature draws w from p(w) and adds independent normal noise: [MVABO] Sec. 2.

    Parameters
    ----------
    domain : UncertainDomain
        X, Omega and the true p(w).
    values : ndarray of shape (n, m)
        Noise-free f on the domain.
    kernel : Kernel
        Of the methods; their first one if they fit it.
    noise_std : float
        sigma, in units of f.
    fitted : bool
        The methods fit the kernel along the run.
    true_norm : float
        RKHS norm of f; NaN where it is not known.
    function : callable, optional
        f at designs off the grid: (k, d1) to (k, m). For a continuous X.
    fine : ndarray of shape (N, d1), optional
        Designs that stand for a continuous X in the truth; default: the domain's.
    """

    domain: UncertainDomain
    values: np.ndarray
    kernel: object
    noise_std: float
    fitted: bool = False
    true_norm: float = np.nan
    function: object = None
    fine: np.ndarray | None = None
    direction: str = "max"
    n_init: int = 0
    optimum: float = np.nan  # depends on the weight alpha of the method
    objectives: np.ndarray = field(init=False)  # (F_1, F_2) on the domain, shape (n, 2)
    reference: np.ndarray = field(init=False)  # (F_1, F_2) on all of X, shape (N, 2)

    def __post_init__(self):
        self.objectives = np.column_stack(objectives(self.values, self.domain.p))
        self.reference = self.objectives
        if self.fine is not None:
            off_grid = np.column_stack(objectives(self.function(self.fine), self.domain.p))
            self.reference = np.vstack([self.objectives, off_grid])
        self.cumulative = np.cumsum(self.domain.p)
        self.b_tilde = spread(self.values, self.domain.p)

    def best_value(self, alpha):
        """Return max G over X; on a continuous interval every peak of the fine grid is refined."""
        G = alpha * self.reference[:, 0] + (1 - alpha) * self.reference[:, 1]
        if self.fine is None:
            return float(G.max())
        from scipy.optimize import minimize_scalar

        def loss(x):
            return -float(np.dot([alpha, 1 - alpha], self.objectives_at([x])))

        x, G = self.fine[:, 0], G[len(self.domain.X) :]
        peaks = 1 + np.flatnonzero((G[1:-1] >= G[:-2]) & (G[1:-1] >= G[2:]))
        refined = [
            minimize_scalar(
                loss, bounds=x[[k - 1, k + 1]], method="bounded", options={"xatol": 1e-12}
            ).fun
            for k in peaks
        ]
        return float(max(G.max(), *(-value for value in refined), -np.inf))

    def objectives_at(self, x):
        """Return (F_1, F_2) at one design."""
        if self.function is None:
            return self.objectives[self.domain.X.index(x)]
        return np.ravel(objectives(self.function(np.atleast_2d(x)), self.domain.p))

    def complete(self, query, rng):
        """Add the environment that nature draws to a design; a chosen one is left as it is."""
        u = rng.random()  # one draw a round in any case, so that all methods share the draws
        if isinstance(query, tuple):
            return query
        j = min(int(np.searchsorted(self.cumulative, u, side="right")), len(self.cumulative) - 1)
        return query, self.domain.W.points[j].copy()

    def observe(self, query, rng):
        """Return y = f(x, w) + N(0, sigma^2)."""
        x, w = query
        if self.function is None:
            value = self.values[self.domain.index(query)]
        else:
            value = self.function(np.atleast_2d(x))[0, self.domain.W.index(w)]
        return float(value + self.noise_std * rng.standard_normal())


def benchmark(problem, values, X, W, p):
    """Make the instance of a benchmark, whose kernel is fitted, from its values of shape (n, m).

    Parameters
    ----------
    problem : object
        Its `standardised`, `length_scale` (of all axes, until the first fit) and `noise_var`.
    values, X, W, p
        Of shape (n, m), (n, d1), (m, d2) and (m,).
    """
    if problem.standardised:
        values = (values - values.mean()) / values.std()
    scales = (np.full(A.shape[1], problem.length_scale) for A in (X, W))
    kernel = squared_exponential(1.0, *scales)
    noise_std = float(np.sqrt(problem.noise_var))
    return Instance(UncertainDomain(X, W, p), values, kernel, noise_std, fitted=True)


def axis(n):
    """Return n equally spaced points of [-1, 1]."""
    return np.linspace(-1, 1, n)


def normal_weights(w, scale=1.0):
    """Return the standard normal density on a grid, normalised to sum to 1. [MVABO] Sec. 5.1."""
    density = np.exp(-0.5 * (np.asarray(w) / scale) ** 2)
    return density / density.sum()


@lru_cache(maxsize=16)
def _spectrum(n_nodes, length_scale):
    nodes = axis(n_nodes)[:, None]
    values, vectors = np.linalg.eigh(SquaredExponential(length_scale)(nodes))
    return nodes, np.clip(values, 0, None), vectors


def sample_path(rng, n_nodes, length_scale, variance, jitter, dim=2):
    r"""Draw a path of a Gaussian process on nodes and return the posterior mean through it.

    .. math:: f(x, w) = \sum_i a_i k((x, w), z_i), \qquad a = (K + \text{jitter}\, I)^{-1} s

    with s a draw of the process on an ``n_nodes x n_nodes`` grid of [-1, 1]^2. f lies in the RKHS
    of k with norm ``sqrt(a' K a)``, as Sec. 2 asks. Source: [MVABO] Sec. 5.1, "GP Test Functions".

    Parameters
    ----------
    rng : numpy.random.Generator
    n_nodes : int
        Nodes an axis.
    length_scale, variance : float
        Of the Gaussian kernel.
    jitter : float
        Added to the diagonal of K.
    dim : {1, 2}
        1: f has one argument, on [-1, 1].

    Returns
    -------
    f : callable
        From points X (k, 1) and W (m, 1) to the values (k, m); from X to (k, 1) if dim is 1.
    norm : float
    """
    nodes, values, vectors = _spectrum(n_nodes, length_scale)
    values_w, vectors_w = (values, vectors) if dim == 2 else (np.ones(1), np.eye(1))
    spectrum = variance * np.outer(values, values_w)
    draw = np.sqrt(spectrum) * rng.standard_normal(spectrum.shape)  # s in the eigenbasis
    coefficients = draw / (spectrum + jitter)
    a = vectors @ coefficients @ vectors_w.T
    k = SquaredExponential(length_scale)

    def f(X, W=None):
        right = np.eye(1) if dim == 1 else k(nodes, W)
        return variance * k(X, nodes) @ a @ right

    return f, float(np.sqrt((coefficients**2 * spectrum).sum()))
