"""Problems of [GPOO] Sec. 5: the three published functions, and functions drawn from the prior.

A problem is a record of settings; `draw` makes an instance of it. All are maximised.
"""

from dataclasses import dataclass
from typing import Literal

from fivebo.gpoo.functions import KernelExpansion, draw_function, published_function
from fivebo.gpoo.regions import SquaredExponential
from fivebo.gpoo.tree import Partition


@dataclass
class Instance:
    """A drawn problem: the truth that searches never see, and what they are given.

    Parameters
    ----------
    f : KernelExpansion
        True reward function.
    partition : Partition
        K, S and the cells.
    kernel : SquaredExponential
        The kernel that the searches use.
    noise_std : float
        sigma of each observed average, in units of f.
    optimum : float
        ``f* = max f``, a point's reward.
    restart_seed : int
        Seed of the noise of fresh runs (see `gpoo.scoring`).
    """

    f: KernelExpansion
    partition: Partition
    kernel: SquaredExponential
    noise_std: float
    optimum: float
    restart_seed: int
    direction: str = "max"
    n_init: int = 0

    @classmethod
    def of(cls, problem, f, partition, kernel, rng):
        """Make the instance of a problem whose function is drawn, with its seed of fresh runs."""
        seed = int(rng.integers(2**62))
        return cls(f, partition, kernel, problem.noise_std, f.maximum(), seed)

    def observe(self, query, rng):
        """Return r = a'f(X) + eps: the average of the cell, then one draw of N(0, sigma^2)."""
        return float(self.f.averages([query])[0] + self.noise_std * rng.standard_normal())


@dataclass(frozen=True)
class PublishedProblem:
    """One of the three functions of the paper's experiments, on [0, 1].

    Source: [GPOO] Sec. 2, Eq. (1) for the reward, whose noise is added once; Sec. 5 for the
    settings, which are those of the authors' code.

    Parameters
    ----------
    function : {1, 2, 3}
        See `gpoo.functions.data_of_function`.
    arity : int
        K.
    n_points : int or None
        S; None averages over the whole cell (App. D).
    noise_std : float
        sigma.
    length_scale, prior_var : float
        l and v of the searches' kernel, the same for all three functions.
    """

    function: Literal[1, 2, 3] = 1
    arity: int = 2
    n_points: int | None = 1
    noise_std: float = 0.1
    length_scale: float = 0.05
    prior_var: float = 0.1

    def __post_init__(self):
        Partition(1, self.arity, self.n_points)

    def draw(self, rng):
        """Return the instance; only the seed of fresh runs is random."""
        f, partition = published_function(self.function), Partition(1, self.arity, self.n_points)
        kernel = SquaredExponential(self.length_scale, self.prior_var)
        return Instance.of(self, f, partition, kernel, rng)


@dataclass(frozen=True)
class SampledProblem:
    """A function drawn from the prior that the searches are given, on [0, 1]^d.

    Assumption 1 holds here. Source: [GPOO] Sec. 2; the experiment is ours.

    Parameters
    ----------
    dim : int
        d, 1 or 2.
    arity, n_points, noise_std, length_scale, prior_var
        As in `PublishedProblem`.
    split : {"cyclic", "all"}
        See `gpoo.tree.Partition`.
    """

    dim: int = 1
    arity: int = 2
    n_points: int | None = 1
    split: Literal["cyclic", "all"] = "cyclic"
    noise_std: float = 0.1
    length_scale: float = 0.05
    prior_var: float = 0.1

    def __post_init__(self):
        Partition(self.dim, self.arity, self.n_points, self.split)
        if self.dim not in (1, 2):
            raise ValueError(f"dim must be 1 or 2, got {self.dim}")

    def draw(self, rng):
        """Draw f, then the seed of fresh runs."""
        f = draw_function(self.length_scale, self.prior_var, self.dim, rng)
        partition = Partition(self.dim, self.arity, self.n_points, self.split)
        return Instance.of(self, f, partition, f.kernel, rng)
