"""What the contract test (tests/test_contract.py) needs to know of mvabo's optimisers."""

from dataclasses import replace
from functools import partial

import numpy as np

from fivebo.mvabo import (
    BOVO,
    BQOUCB,
    MOMVABO,
    MTMVABO,
    AdaBOVO,
    AdaBQOUCB,
    ConstrainedMVABO,
    ContinuousMTMVABO,
    RandomSampling,
    UncertainDomain,
    UncertaintySampling,
    squared_exponential,
)
from tests.contract import Case

X, W, P = np.linspace(0, 1, 9), np.array([-0.5, 0.0, 0.2, 0.7]), np.array([0.1, 0.4, 0.3, 0.2])


def settings(x_unit, y_unit, rng, changes):
    kernel = squared_exponential(y_unit**2, 0.3 * x_unit, 0.6 * x_unit)
    return kernel, {"noise_var": 1e-2 * y_unit**2, "beta_sqrt": 2.0, "rng": rng} | changes


def make(cls, x_unit=1.0, y_unit=1.0, x_shift=0.0, rng=0, *, in_y=None, **changes):
    """Nature draws w, which is not shifted then; a chosen w is, as all of a query."""
    kernel, options = settings(x_unit, y_unit, rng, changes)
    options = {name: np.multiply(v, y_unit) for name, v in (in_y or {}).items()} | options
    W_shift = x_shift if options.get("w_rule") else 0.0
    return cls(UncertainDomain(x_shift + x_unit * X, W_shift + x_unit * W, P), kernel, **options)


def make_box(x_unit=1.0, y_unit=1.0, x_shift=0.0, rng=0, **changes):
    kernel, options = settings(x_unit, y_unit, rng, changes)
    box = [[x_shift, x_shift + x_unit]]
    return ContinuousMTMVABO(box, x_unit * W, P, kernel, **options)


def chosen(done, x_unit=1.0, y_unit=1.0, x_shift=0.0):
    x, w = ((np.ravel(part)[0] - x_shift) / x_unit for part in done)
    return y_unit * (np.sin(4 * x) * (1 + 0.5 * w) + 0.3 * w)


def drawn(done, **units):
    return chosen((done[0], units.get("x_shift", 0.0)), **units)


def nature(query):
    """The one environment that is the same number in all units."""
    return query, np.zeros(1)


def other(optimizer):
    asked = optimizer.pending[0].query[0]
    return (X[3] if asked != 3 else X[5]), optimizer.domain.W.points[1]


def nearby(query):
    return query + (1e-3 if query[0] < 0.5 else -1e-3)


DRAWN = {
    "RandomSampling": partial(make, RandomSampling),
    "BQOUCB": partial(make, BQOUCB),
    "AdaBQOUCB": partial(make, AdaBQOUCB),
    "MTMVABO": partial(make, MTMVABO, refit_every=3),
    "MOMVABO": partial(make, MOMVABO, in_y={"eps": (0.1, 0.1)}),
    "ConstrainedMVABO": partial(make, ConstrainedMVABO, in_y={"h": -0.35, "eps": (0.1, 0.1)}),
    "ContinuousMTMVABO": partial(make_box, refit_every=3),
}
CHOSEN = {
    "UncertaintySampling": partial(make, UncertaintySampling, w_rule="sd"),
    "BOVO": partial(make, BOVO, w_rule="sd-p"),
    "AdaBOVO": partial(make, AdaBOVO, w_rule="var-p"),
}
CHANGES = {"beta_sqrt": 2.5}
CASES = {
    name: Case(build, drawn, np.ravel, CHANGES, complete=nature, other=other)
    for name, build in DRAWN.items()
}
CASES |= {
    name: Case(build, chosen, np.ravel, CHANGES, other=other) for name, build in CHOSEN.items()
}
CASES["ContinuousMTMVABO"] = replace(CASES["ContinuousMTMVABO"], nearby=nearby)
