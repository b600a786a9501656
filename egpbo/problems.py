"""Problems of [EGPBO] Sec. 5: synthetic functions, robot pushing, and functions of the prior.

A problem is a record of settings; `draw` makes an instance of it. All are maximised. Tuning tasks
are in `egpbo.tuning`.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from fivebo.common.checks import count, one_of
from fivebo.common.search.domains import Box
from fivebo.egpbo import robot
from fivebo.egpbo.features import DEGREES, Kernel, SampledFunction, draw_frequencies


@dataclass
class Instance:
    """A drawn problem: the truth that optimisers never see, and the noise of observations.

    Source: [EGPBO] Sec. 2, Sec. 5.

    Parameters
    ----------
    box : Box
    truth : callable
        Noise-free f of one point.
    optimum : float
        Largest value of f; NaN where it is not known.
    noise_std : float
        Standard deviation of the observation noise, in units of f.
    n_init : int
        Initial points of every method.
    """

    box: Box
    truth: object
    optimum: float
    noise_std: float = 0.0
    n_init: int = 10
    direction: str = field(default="max", init=False)

    def __post_init__(self):
        """Refuse noise that is no standard deviation."""
        if not 0 <= self.noise_std < np.inf:
            raise ValueError(f"noise_std must be at least 0, got {self.noise_std!r}")

    def observe(self, query, rng):
        """Return f(x) plus independent Gaussian noise."""
        return self.truth(query) + self.noise_std * rng.standard_normal()


def ackley(X):
    r"""Return the negated Ackley function, optimum 0 at 0.

    .. math::
        -\bigl(-20 e^{-0.2\sqrt{\overline{x^2}}} - e^{\overline{\cos 2\pi x}} + 20 + e\bigr)

    Source: [EGPBO] Sec. 5.1, Table 3.
    """
    X = np.asarray(X)
    root = np.sqrt((X**2).mean(-1))
    return 20 * np.exp(-0.2 * root) + np.exp(np.cos(2 * np.pi * X).mean(-1)) - 20 - np.e


def zakharov(X):
    r"""Return the negated Zakharov function, optimum 0 at 0.

    .. math:: -\bigl(\sum x_i^2 + (\sum i x_i / 2)^2 + (\sum i x_i / 2)^4\bigr)

    Source: [EGPBO] Sec. 5.1, Table 3.
    """
    X = np.asarray(X)
    s = X @ (0.5 * np.arange(1, X.shape[-1] + 1))
    return -((X**2).sum(-1) + s**2 + s**4)


def drop_wave(X):
    r"""Return the negated drop-wave function, optimum 1 at 0.

    .. math:: (1 + \cos 12r) / (r^2 / 2 + 2), \quad r = \|x\|

    Source: [EGPBO] Sec. 5.1, Table 3.
    """
    r2 = (np.asarray(X) ** 2).sum(-1)
    return (1 + np.cos(12 * np.sqrt(r2))) / (0.5 * r2 + 2)


def eggholder(X):
    r"""Return the negated Eggholder function, optimum 959.6407 at (512, 404.2319).

    .. math::
        (x_2 + 47) \sin\sqrt{|x_1/2 + x_2 + 47|} + x_1 \sin\sqrt{|x_1 - x_2 - 47|}

    Source: [EGPBO] Sec. 5.1, Table 3.
    """
    x1, x2 = np.moveaxis(np.asarray(X), -1, 0)
    return (x2 + 47) * np.sin(np.sqrt(np.abs(x1 / 2 + x2 + 47))) + x1 * np.sin(
        np.sqrt(np.abs(x1 - x2 - 47))
    )


EGGHOLDER_OPTIMUM = 959.6406627208509

FUNCTIONS = {
    # function, dimension, limits of every input, optimum, noise standard deviation
    "ackley": (ackley, 5, (-32.768, 32.768), 0.0, 0.2),
    "zakharov": (zakharov, 2, (-5.0, 10.0), 0.0, 0.2),
    "drop-wave": (drop_wave, 2, (-5.12, 5.12), 1.0, 0.02),
    "eggholder": (eggholder, 2, (-512.0, 512.0), EGGHOLDER_OPTIMUM, 0.2),
}


@dataclass(frozen=True)
class SyntheticProblem:
    """A synthetic benchmark, negated because f is maximised.

    Source: [EGPBO] Sec. 5, Sec. 5.1, Figs. 1, 2, Table 3 (its domains and dimensions are not in
    our copy).

    Parameters
    ----------
    function : {"ackley", "zakharov", "drop-wave", "eggholder"}
    dim : int or None
        Inputs of Ackley and Zakharov; None takes 5 and 2.
    limits : tuple of two float, or None
        Limits of every input; None takes the usual ones of the function.
    noise_std : float or None
        None takes the released code's 0.2, but 0.02 for drop-wave, whose values are below 1.
    n_init : int
    """

    function: Literal["ackley", "zakharov", "drop-wave", "eggholder"] = "ackley"
    dim: int | None = None
    limits: tuple[float, float] | None = None
    noise_std: float | None = None
    n_init: int = 10

    def draw(self, rng):
        """Return the one instance: nothing about it is random."""
        function, dim, limits, optimum, noise_std = FUNCTIONS[self.function]
        if self.dim is not None and self.function not in ("ackley", "zakharov"):
            raise ValueError(f"{self.function} has 2 inputs: leave dim=None, got {self.dim}")
        box = Box([self.limits or limits] * (self.dim or dim))
        noise = noise_std if self.noise_std is None else self.noise_std
        return Instance(box, function, optimum, noise, self.n_init)


@dataclass
class PushInstance(Instance):
    """Robot pushing: every observation is a push of its own, with noise in the velocity."""

    goal: np.ndarray = None
    push_noise: float = 0.0

    def observe(self, query, rng):
        """Return minus the distance of a noisy push from the goal, plus observation noise."""
        velocity_noise = self.push_noise * rng.standard_normal(2)
        value = -robot.distance_to_goal(query, self.goal, velocity_noise)
        return value + self.noise_std * rng.standard_normal()


@dataclass(frozen=True)
class RobotProblem:
    """Push an object to a goal; f is minus the distance that remains, in metres.

    Regret is that of the push without noise; the optimum is taken as 0, which is met up to the
    simulator's steps (some centimetres). Source: [EGPBO] Sec. 5.2, Fig. 3.

    Parameters
    ----------
    n_inputs : {3, 4}
        Hand position and duration; with 4 also the hand's angle.
    push_noise : float
        Standard deviation of the noise of each component of the target velocity, in m/s.
    noise_std : float
        Standard deviation of the noise of the observed distance, in metres.
    goal_limit : float
        Goals are uniform on a square of this half width, in metres.
    n_init : int
    """

    n_inputs: Literal[3, 4] = 3
    push_noise: float = 0.1
    noise_std: float = 0.2
    goal_limit: float = 5.0
    n_init: int = 10

    def draw(self, rng):
        """Draw the goal."""
        goal = rng.uniform(-self.goal_limit, self.goal_limit, 2)
        return PushInstance(
            Box(robot.BOUNDS[self.n_inputs]),
            lambda x: -robot.distance_to_goal(x, goal),
            0.0,
            self.noise_std,
            self.n_init,
            goal=goal,
            push_noise=self.push_noise,
        )


@dataclass
class PriorInstance(Instance):
    """A function drawn from the ensemble prior, with the member it came from."""

    member: int = 0
    kernels: tuple = ()
    prior_var: float = 1.0
    expected_sup: float = np.nan


@dataclass(frozen=True)
class PriorProblem:
    r"""Functions drawn from the ensemble prior itself, :math:`f \sim \sum_m w_0^m GP(0, \kappa^m)`.

    What Theorem 1 assumes, up to the random features with which f is drawn. The member is known,
    so that its weight can be followed. Source: [EGPBO] Eq. (7), Theorem 1.

    Parameters
    ----------
    families : tuple of str
    length_scales : tuple of float
        One for each family, in units of the unit cube.
    dim : int
    member : int or None
        Member that f is drawn from; None draws it uniformly, as w_0 = 1/M.
    prior_var : float
        sigma_theta^2.
    noise_std : float
    n_frequencies : int
        Random frequencies of the drawn function.
    sup_samples : int
        Sample paths from which B, the expected supremum, is estimated.
    n_init : int
    """

    families: tuple[str, ...] = ("rbf", "rbf", "matern-3/2", "matern-5/2")
    length_scales: tuple[float, ...] = (0.1, 0.4, 0.2, 0.2)
    dim: int = 2
    member: int | None = None
    prior_var: float = 1.0
    noise_std: float = 0.1
    n_frequencies: int = 500
    sup_samples: int = 50
    n_init: int = 10

    def __post_init__(self):
        """Refuse dictionaries that do not fit together."""
        for family in self.families:
            one_of(family, "family", ("rbf", *DEGREES))
        if len(self.families) != len(self.length_scales):
            raise ValueError(
                f"families and length_scales must have the same length, got {len(self.families)} "
                f"and {len(self.length_scales)}"
            )
        count(self.sup_samples, "sup_samples")
        if self.member is not None and not 0 <= self.member < len(self.families):
            raise ValueError(f"member must lie in 0..{len(self.families) - 1}, got {self.member}")

    def draw(self, rng):
        """Draw the member, then the function."""
        kernels = self.kernels()
        drawn = int(rng.integers(len(kernels)))
        member = drawn if self.member is None else self.member
        path = self.path(kernels[member], rng)
        best = polish(path, rng.random((3000, self.dim)))
        return PriorInstance(
            Box([(0.0, 1.0)] * self.dim),
            lambda x: float(path(np.atleast_2d(x))[0]),
            best,
            self.noise_std,
            self.n_init,
            member=member,
            kernels=kernels,
            prior_var=self.prior_var,
            expected_sup=expected_sup(self),
        )

    def kernels(self):
        """Return the dictionary."""
        return tuple(
            Kernel(family, length_scale=scale)
            for family, scale in zip(self.families, self.length_scales, strict=True)
        )

    def path(self, kernel, rng):
        """Draw a function from a member."""
        V = draw_frequencies(kernel, kernel.length_scale, self.n_frequencies, self.dim, rng)
        theta = np.sqrt(self.prior_var) * rng.standard_normal(2 * self.n_frequencies)
        return SampledFunction(V, theta)


@lru_cache
def expected_sup(problem):
    """Return B, the mean supremum of paths of all members, on 400 points of the unit cube.

    One estimate for all seeds: B is a constant of the prior. Source: [EGPBO] Theorem 1, Lemma 3.

    Parameters
    ----------
    problem : PriorProblem
    """
    rng, kernels = np.random.default_rng(0), problem.kernels()
    grid = rng.random((400, problem.dim))
    sups = [
        problem.path(kernels[m % len(kernels)], rng)(grid).max() for m in range(problem.sup_samples)
    ]
    return float(np.mean(sups))


def polish(path, points, n_starts=10):
    """Return the largest value of a sampled function on the unit cube: screening, then L-BFGS-B."""
    from scipy.optimize import minimize

    values = path(points)
    best = float(values.max())
    for start in points[np.argsort(-values)[:n_starts]]:
        found = minimize(
            lambda x: tuple(-part for part in path.value_and_gradient(x)), start, jac=True,
            method="L-BFGS-B", bounds=[(0, 1)] * points.shape[1],
        )  # fmt: skip
        best = max(best, -float(found.fun))
    return best
