"""What the workflow needs of the toy paper."""

import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Literal

from fivebo.toy.algorithms import Greedy, Uniform

DATA = {}
METRICS = ("instant_regret", "average_regret")


@dataclass(frozen=True)
class Numbers:
    """Some numbers; each observation waits `pause` seconds and may fail."""

    n_points: int = 20
    noise_std: float = 0.1
    pause: float = 0.0
    faulty: bool = False

    def draw(self, rng):
        values = rng.random(self.n_points)

        def observe(query, noise):
            time.sleep(self.pause)
            if self.faulty:
                raise ArithmeticError("the toy broke")
            return values[query] + self.noise_std * noise.standard_normal()

        return SimpleNamespace(
            direction="max",
            n_init=0,
            noise_std=self.noise_std,
            optimum=float(values.max()),
            values=values,
            observe=observe,
        )


@dataclass(frozen=True)
class Params:
    """Settings that do nothing, one of each type."""

    eta: float = 0.1
    rounds: int = 1
    rule: Literal["plain", "fancy"] = "plain"
    weights: tuple[float, ...] = (0.5, 0.5)
    limit: int | None = None

    def __post_init__(self):
        if self.eta <= 0:
            raise ValueError(f"eta must be > 0, got {self.eta}")


PROBLEMS = {"numbers": Numbers}
METHODS = {
    "uniform": lambda instance, params, horizon, streams: Uniform(
        len(instance.values), streams.algorithm
    ),
    "greedy": lambda instance, params, horizon, streams: Greedy(
        len(instance.values), streams.algorithm
    ),
}


def scorer(instance, method, params, horizon, metrics):
    regrets = []

    def told(t, optimizer, query, y):
        regrets.append(float(instance.optimum - instance.values[query]))
        scores = {"instant_regret": regrets[-1], "average_regret": sum(regrets) / t}
        return {name: scores[name] for name in metrics}

    return SimpleNamespace(asked=lambda t, optimizer, query: None, told=told)
