"""The optimiser classes of mtbo in use, for the contract test."""

import functools

import numpy as np

from fivebo import mtbo
from fivebo.common.gp.kernels import SquaredExponential
from tests.contract import Case

POINTS = np.linspace(0, 1, 16) ** 1.5
B = np.array([[1.0, 0.6], [0.6, 0.8]])


def objective(query, x_unit=1.0, y_unit=1.0, x_shift=0.0):
    x = (query[0] - x_shift) / x_unit
    return y_unit * np.array([np.sin(5 * x), np.cos(3 * x)])


def other(optimizer):
    """Return a point of the domain that is not pending."""
    points = optimizer.domain.points
    return points[(optimizer.pending[-1].query + 5) % len(points)].copy()


def joint(x_unit, y_unit):
    return mtbo.ICM(SquaredExponential(0.3 * x_unit), B * y_unit**2)


def alone(x_unit, y_unit):
    kernels = [SquaredExponential(0.3 * x_unit), SquaredExponential(0.2 * x_unit)]
    return mtbo.DiagonalKernel(kernels, np.array([1.0, 0.5]) * y_unit**2)


def linear(y_unit):
    return mtbo.LinearScalarization(2)


def chebyshev(y_unit):
    return mtbo.ChebyshevScalarization(np.array([-1.0, -2.0]) * y_unit)


def build(
    name, kernel, scalarization=chebyshev, confident=True, *, x_unit=1.0, y_unit=1.0, x_shift=0.0,
    rng=0, **changes,
):  # fmt: skip
    options = {"b": 2.0, "noise_std": 0.1 * y_unit} if confident else {}
    options |= {"eta": 0.1 * y_unit**2, "rng": rng} | changes
    domain = x_shift + x_unit * POINTS
    return getattr(mtbo, name)(domain, kernel(x_unit, y_unit), scalarization(y_unit), **options)


def case(changes, *args, **options):
    make = functools.partial(build, *args, **options)
    return Case(make, objective, np.asarray, changes, other=other)


CASES = {
    "MTKB": case({"delta": 0.05}, "MTKB", joint),
    "MTBKB": case({"epsilon": 0.2}, "MTBKB", joint, horizon=20, q=0.5),
    "ITKB": case({"gain": "greedy", "horizon": 20}, "ITKB", alone),
    "ITBKB": case({"radius": "bkb-code"}, "ITBKB", alone, horizon=20, q=0.5),
    "MOBO": case({"radius": "dragonfly"}, "MOBO", alone, confident=False),
}
"""One a public class."""
