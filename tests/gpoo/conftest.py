"""Searches of every kind on a small problem."""

import numpy as np
import pytest

from fivebo.gpoo import (
    GPOO,
    GPUCB,
    HOO,
    GPTree,
    Partition,
    RandomCells,
    SquaredExponential,
    StoOO,
    TwoStage,
)
from fivebo.gpoo.theory import beta_scaled, geometric_delta

KERNEL = SquaredExponential(0.1, 0.5)
DELTA = geometric_delta(3.0, 2)
CODE = {
    "start": "children", "round_order": "test-pull", "variance": "predictive",
    "recommendation": "deepest", "max_depth": 10,
}  # fmt: skip


def gpoo(partition=None, **changes):
    settings = {"noise_var": 0.01, "delta": DELTA, "beta": beta_scaled} | changes
    return GPOO(partition or Partition(1, 2, 4), KERNEL, **settings)


def line(**changes):
    return Partition(1, 2, 4, **changes)


ALL = {
    "gpoo": gpoo,
    "gpoo-code": lambda: gpoo(**CODE),
    "gpoo-boxes": lambda: gpoo(Partition(1, 2, None)),
    "gpoo-square": lambda: gpoo(Partition(2, 4, 4, "all"), beta=None),
    "stooo": lambda: StoOO(line(), budget=20, delta=DELTA, noise_std=0.1),
    "stooo-code": lambda: StoOO(line(), budget=20, delta=DELTA, noise_std=0.1, form="code"),
    "random": lambda: RandomCells(line(), budget=20),
    "hoo": lambda: HOO(line(), budget=20, delta=DELTA, noise_std=0.1),
    "gptree": lambda: GPTree(line(), KERNEL, noise_var=0.01, budget=20),
    "gp-ucb": lambda: GPUCB(
        line(), KERNEL, noise_var=0.01, points=np.linspace(0, 1, 33)[:, None], beta=beta_scaled
    ),
    "two-stage": lambda: TwoStage(gpoo(), cell_rounds=12, point_rounds=8),
}


@pytest.fixture(params=ALL, ids=str)
def make(request):
    return ALL[request.param]


def average(cell):
    """A smooth reward, averaged over the points of a cell, or its corners for a box."""
    points = cell.representatives
    if points is None:
        points = np.linspace(cell.low, cell.high, 9)
    return float(np.sin(5 * points[:, 0]).mean() + 0.1 * points.sum(1).mean())


def pulled(search):
    """The names of the cells that were observed, in order."""
    return [search.nodes[entry.query].name for entry in search.told if entry.value is not None]


def rewards(search):
    return [entry.value for entry in search.told if entry.value is not None]


def drive(search, rounds, seed=3):
    noise = np.random.default_rng(seed)
    for _ in range(rounds):
        cell = search.ask()
        search.tell(cell, average(cell) + 0.1 * noise.standard_normal())
    return search.result()
