"""Problems of [MVABO] Sec. 5 and the ones for its extensions: records of settings that `draw`.

All are maximised.
"""

from dataclasses import dataclass

import numpy as np

from fivebo.common.gp.kernels import SquaredExponential
from fivebo.common.search.domains import FiniteSet
from fivebo.mvabo.bounds import spread
from fivebo.mvabo.continuous import tau_grid
from fivebo.mvabo.domain import NoisyInputDomain, UncertainDomain
from fivebo.mvabo.instances import Instance, axis, benchmark, normal_weights, sample_path
from fivebo.mvabo.kernels import squared_exponential
from fivebo.mvabo.theory import tau


@dataclass(frozen=True)
class GPTestProblem:
    """GP test functions on a grid of [-1, 1]^2, X the first axis and Omega the second.

    Source: [MVABO] Sec. 5.1, "GP Test Functions"; the setting is Sec. 2's.

    Parameters
    ----------
    n_x, n_w : int
        Grid points of X and Omega.
    n_nodes : int
        Nodes an axis of the sample path.
    length_scale, variance : float
        Of the kernel that draws f and that the methods use.
    jitter : float
        Added to the nodes' Gram matrix, which is singular to working precision.
    noise_var : float
        sigma^2 of the observations and of the model.
    n_paths : int
        Number of different functions; seed s runs on function s modulo n_paths.
    """

    n_x: int = 100
    n_w: int = 100
    n_nodes: int = 25
    length_scale: float = 0.25
    variance: float = 1.0
    jitter: float = 1e-8
    noise_var: float = 1e-4
    n_paths: int = 50

    def instance_seed(self, seed):
        """Return the seed of the function: runs n_paths apart share one."""
        return seed % self.n_paths

    def draw(self, rng):
        """Draw a function."""
        f, norm = sample_path(rng, self.n_nodes, self.length_scale, self.variance, self.jitter)
        X, W = axis(self.n_x)[:, None], axis(self.n_w)[:, None]
        domain = UncertainDomain(X, W, normal_weights(W[:, 0]))
        kernel = squared_exponential(self.variance, self.length_scale, self.length_scale)
        return Instance(domain, f(X, W), kernel, float(np.sqrt(self.noise_var)), true_norm=norm)


def bird(a, b):
    r"""Return the Bird function on [-2 pi, 2 pi]^2, minimum -106.764537.

    .. math:: \sin(a) e^{(1-\cos b)^2} + \cos(b) e^{(1-\sin a)^2} + (a-b)^2

    Source: the usual definition; [MVABO] Sec. 5.1 gives the name only.
    """
    first = np.sin(a) * np.exp((1 - np.cos(b)) ** 2)
    return first + np.cos(b) * np.exp((1 - np.sin(a)) ** 2) + (a - b) ** 2


def rosenbrock(x1, x2, x3):
    r"""Return the 3-D Rosenbrock function, minimum 0 at (1, 1, 1).

    .. math:: \sum_{i=1}^2 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2

    Source: the usual definition; [MVABO] Sec. 5.1 gives the name only.
    """
    first = 100 * (x2 - x1**2) ** 2 + (1 - x1) ** 2
    return first + 100 * (x3 - x2**2) ** 2 + (1 - x2) ** 2


@dataclass(frozen=True)
class BirdProblem:
    """Bird function: X the first dimension, Omega the second, both scaled to [-1, 1].

    Source: [MVABO] Sec. 5.1, "Benchmark Functions of Optimization".

    Parameters
    ----------
    n_x, n_w : int
    half_width : float
        The original domain is [-half_width, half_width]^2.
    sign : float
        -1 turns the minimisation benchmark into a maximisation problem.
    standardised : bool
        Centre and scale f by its mean and standard deviation over the grid.
    length_scale : float
        Of all axes, until the first fit.
    noise_var : float
        In squared units of the standardised f.
    """

    n_x: int = 100
    n_w: int = 100
    half_width: float = 6.283185307179586
    sign: float = -1.0
    standardised: bool = True
    length_scale: float = 0.25
    noise_var: float = 1e-4

    def draw(self, rng):
        """Return the one function: nothing about it is random."""
        X, W = axis(self.n_x)[:, None], axis(self.n_w)[None, :]
        values = self.sign * bird(self.half_width * X, self.half_width * W)
        return benchmark(self, values, X, W.T, normal_weights(W[0]))


@dataclass(frozen=True)
class RosenbrockProblem:
    """Rosenbrock function: X the first two dimensions, Omega the third, scaled to [-1, 1].

    Source: [MVABO] Sec. 5.1, "Benchmark Functions of Optimization".

    Parameters
    ----------
    n_x : int
        Grid points along each axis of X.
    low, high : float
        The original domain is [low, high]^3.
    n_w, sign, standardised, length_scale, noise_var
        As in `BirdProblem`.
    """

    n_x: int = 100
    n_w: int = 100
    low: float = -2.048
    high: float = 2.048
    sign: float = -1.0
    standardised: bool = True
    length_scale: float = 0.25
    noise_var: float = 1e-4

    def draw(self, rng):
        """Return the one function: nothing about it is random."""
        grid = axis(self.n_x)
        X = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
        centre, half = (self.high + self.low) / 2, (self.high - self.low) / 2
        x = centre + half * X
        W = axis(self.n_w)[:, None]
        values = self.sign * rosenbrock(x[:, :1], x[:, 1:], centre + half * W.T)
        return benchmark(self, values, X, W, normal_weights(W[:, 0]))


@dataclass(frozen=True)
class NoisyInputProblem:
    """A function of one input seen at x + xi: the noisy-input setting, ours.

    Source: [MVABO] Sec. 3.3.2, App. C.1 give the setting, no experiment.

    Parameters
    ----------
    n_x : int
        Designs, equally spaced on [-1 + reach, 1 - reach].
    n_w : int
        Odd number of disturbances, with the same spacing as the designs.
    spread : float
        Standard deviation of the normal density of xi, as a share of its reach.
    n_nodes, length_scale, variance, jitter, noise_var
        As in `GPTestProblem`.
    """

    n_x: int = 81
    n_w: int = 21
    spread: float = 0.5
    n_nodes: int = 25
    length_scale: float = 0.15
    variance: float = 1.0
    jitter: float = 1e-8
    noise_var: float = 1e-4

    def draw(self, rng):
        """Draw a function."""
        f, norm = sample_path(rng, self.n_nodes, self.length_scale, self.variance, self.jitter, 1)
        inputs = axis(self.n_x + self.n_w - 1)
        half = self.n_w // 2
        xi = inputs[self.n_x // 2 + half] - inputs[self.n_x // 2 :][: self.n_w]
        xi = np.sort(xi - xi.mean())
        X = inputs[half : half + self.n_x, None]
        p = normal_weights(xi, self.spread * xi.max())
        domain = NoisyInputDomain(X, xi[:, None], p)
        values = f(domain.inputs)[:, 0][domain.where]
        kernel = SquaredExponential(self.length_scale, self.variance)
        return Instance(domain, values, kernel, float(np.sqrt(self.noise_var)), true_norm=norm)


@dataclass(frozen=True)
class ContinuousProblem:
    """A GP test function whose X is the interval [0, 1]: the continuous setting, ours.

    Source: [MVABO] App. D, Theorem D.1 give the setting and tau, no experiment.

    Parameters
    ----------
    n_segments : int or None
        Segments of the grid X~ of X; None takes Theorem D.1's tau for `grid_eps` and the true
        Lipschitz constant, found on the fine grid.
    grid_eps : tuple of 2 float
        Accuracy that tau is made for.
    n_fine : int
        Designs that stand for X in the truth.
    n_w, n_nodes, length_scale, variance, jitter, noise_var
        As in `GPTestProblem`; lengths in units of the symmetric interval [-1, 1].
    """

    n_segments: int | None = None
    grid_eps: tuple[float, float] = (0.5, 0.5)
    n_fine: int = 4001
    n_w: int = 30
    n_nodes: int = 15
    length_scale: float = 0.5
    variance: float = 1.0
    jitter: float = 1e-8
    noise_var: float = 1e-4

    def draw(self, rng):
        """Draw a function, and make the grid of its X."""
        f, norm = sample_path(rng, self.n_nodes, self.length_scale, self.variance, self.jitter)
        W = axis(self.n_w)[:, None]
        p = normal_weights(W[:, 0])
        fine = np.linspace(0, 1, self.n_fine)[:, None]

        def function(X):
            return f(2 * X - 1, W)

        values = function(fine)
        lipschitz = float(np.abs(np.diff(values, axis=0)).max() * (self.n_fine - 1))
        segments = self.n_segments or tau(lipschitz, 1, self.grid_eps, spread(values, p))
        X = FiniteSet(tau_grid(segments, 1))
        kernel = squared_exponential(self.variance, self.length_scale / 2, self.length_scale)
        return Instance(
            UncertainDomain(X, W, p), function(X.points), kernel, float(np.sqrt(self.noise_var)),
            true_norm=norm, function=function, fine=fine,
        )  # fmt: skip
