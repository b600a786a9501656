"""The public optimisers of gpoo for the contract test, on a line."""

import numpy as np

from fivebo.common.search.domains import Box
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
from tests.contract import Case


def _parts(x_unit, y_unit, x_shift):
    """Domain, kernel, noise and delta(h) in the units."""
    domain = Box([[x_shift, x_shift + x_unit]])
    return {
        "partition": Partition(domain, 2, 4),
        "kernel": SquaredExponential(0.2 * x_unit, 0.5 * y_unit**2),
        "noise_var": (0.1 * y_unit) ** 2,
        "noise_std": 0.1 * y_unit,
        "delta": geometric_delta(3.0 * y_unit, 2),
    }


def maker(cls, *names, **settings):
    """Return `Case.make` of a class that takes some of the parts, and settings of its own."""

    def make(x_unit=1.0, y_unit=1.0, x_shift=0.0, rng=0, **changes):
        parts = _parts(x_unit, y_unit, x_shift)
        given = {name: parts[name] for name in ("partition", *names)}
        return cls(**given | settings | changes)

    return make


make_gpoo = maker(GPOO, "kernel", "noise_var", "delta", beta=beta_scaled)
make_tree = maker(GPTree, "kernel", "noise_var", budget=40)


def make_gptree(x_unit=1.0, y_unit=1.0, x_shift=0.0, rng=0, **changes):
    return make_tree(x_unit, y_unit, x_shift, **{"scale": y_unit} | changes)


def make_ucb(x_unit=1.0, y_unit=1.0, x_shift=0.0, rng=0, **changes):
    parts = _parts(x_unit, y_unit, x_shift)
    points = x_shift + x_unit * np.linspace(0, 1, 17)[:, None]
    settings = {"noise_var": parts["noise_var"], "points": points, "beta": beta_scaled} | changes
    return GPUCB(parts["partition"], parts["kernel"], **settings)


def make_two_stage(x_unit=1.0, y_unit=1.0, x_shift=0.0, rng=0, **changes):
    search = make_gpoo(x_unit, y_unit, x_shift)
    return TwoStage(search, **{"cell_rounds": 6, "point_rounds": 8} | changes)


def objective(cell, x_unit=1.0, y_unit=1.0, x_shift=0.0):
    x = (cell.representatives - x_shift) / x_unit
    return y_unit * float(np.sin(5 * x).mean())


def inputs(cell):
    return np.concatenate([cell.low, cell.high, cell.representatives.ravel()])


def case(make, changes, **facts):
    return Case(make, objective, inputs, changes, rounds=12, choices_from=2, **facts)


WITHOUT_MODEL = {"model": False, "y_shifts": True}
make_hoo = maker(HOO, "delta", "noise_std", budget=40)
make_stooo = maker(StoOO, "delta", "noise_std", budget=40)

CASES = {
    "GPOO": case(make_gpoo, {"max_depth": 3}),
    "TwoStage": case(make_two_stage, {"cell_rounds": 4}),
    "StoOO": case(make_stooo, {"eta": 0.2}, **WITHOUT_MODEL),
    "HOO": case(make_hoo, {"budget": 50}, **WITHOUT_MODEL),
    "RandomCells": case(maker(RandomCells, budget=7), {"budget": 8}, **WITHOUT_MODEL),
    "GPTree": case(make_gptree, {"variance": "predictive"}),
    "GPUCB": case(make_ucb, {"noise_var": 0.02}),
}
