"""What the contract test (tests/test_contract.py) needs to know of classify_dfo's optimisers."""

from functools import partial

import numpy as np

from fivebo.classify_dfo import (
    CMAES,
    GPEI,
    BoxClassifier,
    Comparisons,
    ForestConsensus,
    Judge,
    Perturbation,
    RandomSearch,
    RepeatedClassification,
)
from fivebo.common.search.domains import Box
from tests.contract import Case


def box(x_unit, x_shift):
    return Box(x_shift + x_unit * np.array([[0.0, 1.0], [-1.0, 2.0]]))


def make(cls, x_unit=1.0, y_unit=1.0, x_shift=0.0, rng=0, **settings):
    return cls(box(x_unit, x_shift), **{"batch": 6, "rng": rng} | settings)


def make_search(cls, x_unit=1.0, y_unit=1.0, x_shift=0.0, rng=0, **settings):
    sampler = Perturbation(box(x_unit, x_shift), eta=0.9, candidates=4)
    classifier = ForestConsensus("majority", n_trees=3)
    return cls(sampler, classifier, **{"batch": 6, "rng": rng} | settings)


def objective(batch, x_unit=1.0, y_unit=1.0, x_shift=0.0):
    x = (batch - x_shift) / x_unit
    return y_unit * ((x[:, 0] - 0.3) ** 2 + 0.2 * np.sin(3 * x[:, 1]))


def nearby(batch):
    return 0.999 * batch + 0.001 * np.array([0.5, 0.5])


def case(make, changes, **facts):
    options = {"inputs": np.asarray, "nearby": nearby, "y_shifts": True, "rounds": 5}
    return Case(make, objective, changes=changes, **options | facts)


CASES = {
    "RepeatedClassification": case(
        partial(make_search, RepeatedClassification), {"batch": 7}, model=False
    ),
    "Judge": case(
        partial(make_search, Judge, feedback=Comparisons(3)),
        {"feedback": Comparisons(5)},
        model=False,
    ),
    "RandomSearch": case(partial(make, RandomSearch), {"factor": 2}, model=False),
    "CMAES": case(partial(make, CMAES), {"step_share": 0.5}, model=False),
    "GPEI": case(
        partial(make, GPEI, candidates=50, restarts=1, starts=2), {"jitter": 0.1}, model=True
    ),
    "BoxClassifier": case(partial(make, BoxClassifier), {"positives": 3}, model=False),
}
