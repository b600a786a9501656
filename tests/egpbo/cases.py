"""The public optimisers of egpbo, small and quick, for tests/test_contract.py."""

from functools import partial

import numpy as np

from fivebo.egpbo import (
    EGPEI,
    EGPTS,
    EXP3BO,
    GPEI,
    GPTS,
    BanditBO,
    FullyBayesianGPTS,
    Kernel,
    RandomSearch,
    Search,
    SimulatedWorkers,
)
from fivebo.egpbo.bayes import BayesSettings
from fivebo.egpbo.evidence import FitSettings
from tests.contract import Case

BOX = np.array([[-2.0, 2.0], [0.0, 1.0]])
FIXED = [Kernel("rbf", length_scale=s) for s in (0.2, 0.5)]
FITTED = [Kernel("rbf"), Kernel("matern-5/2")]
QUICK = {"search": Search(n_screen=40, n_polish=1), "fits": FitSettings(restarts=0)}
FEATURES = {"n_features": 12, **QUICK}


def build(kind, settings, x_unit=1.0, y_unit=1.0, x_shift=0.0, rng=0, **changes):
    """Build one on a box in other units; models see the unit cube and standardised y."""
    return kind(x_shift + x_unit * BOX, **{"n_init": 4, "rng": rng} | settings | changes)


def workers(x_unit=1.0, y_unit=1.0, x_shift=0.0, rng=0, **changes):
    """Build workers around EGP-TS."""
    settings = {"n_workers": 2, "mode": "async"} | changes
    return SimulatedWorkers(
        build(EGPTS, {"kernels": FIXED, **FEATURES}, x_unit, y_unit, x_shift, rng),
        rng=rng,
        **settings,
    )


def objective(query, x_unit=1.0, y_unit=1.0, x_shift=0.0):
    """Return a smooth function of two inputs."""
    x = (query - x_shift) / x_unit
    return float(y_unit * (np.sin(3 * x[0]) - (x[1] - 0.4) ** 2))


def inputs(query):
    """Return the coordinates: a query has no more."""
    return query


def other(optimizer):
    """Return a point of the box that nobody asked for."""
    box = optimizer.box
    return box.from_unit(np.full(box.dim, 0.37))


def nearby(query):
    """Return the query at half the digits, as a machine that is set by hand has it."""
    return query.astype(np.float32).astype(float)


def case(kind, changes, model=True, **settings):
    """Return the case of a class that takes any point of the box."""
    return Case(
        partial(build, kind, settings), objective, inputs, changes, other=other, nearby=nearby,
        y_shifts=True, model=model,
    )  # fmt: skip


CASES = {
    "EGPTS": case(EGPTS, {"noise_var": 0.02}, kernels=FIXED, refit_every=3, **FEATURES),
    "GPTS": case(GPTS, {"n_features": 13}, **FEATURES),
    "FullyBayesianGPTS": case(
        FullyBayesianGPTS, {"bayes": BayesSettings(8, 4)}, bayes=BayesSettings(8, 3), **FEATURES
    ),
    "BanditBO": case(BanditBO, {"kernels": FITTED}, kernels=FIXED, **FEATURES),
    "EXP3BO": case(EXP3BO, {"rewards": "code"}, kernels=FIXED, horizon=8, **FEATURES),
    "GPEI": case(GPEI, {"n_init": 3}, kernel=Kernel("matern-5/2", length_scale=0.4), **QUICK),
    "EGPEI": case(EGPEI, {"form": "sampled"}, kernels=FITTED, form="mixture", **QUICK),
    "RandomSearch": case(RandomSearch, {"n_init": 5}, model=False),
    "SimulatedWorkers": Case(
        workers, objective, inputs, {"mode": "sync"}, nearby=nearby, y_shifts=True
    ),
}
