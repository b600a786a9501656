"""What all methods share, in every form of their models: units, ties, failures, posteriors."""

import functools

import numpy as np
import pytest

from fivebo import mtbo
from fivebo.common.gp.kernels import Matern, SquaredExponential
from tests.mtbo.cases import CASES, alone, case, joint, linear, objective


def summed(x_unit, y_unit):
    rough = Matern(0.2 * x_unit, variance=y_unit**2, nu=1.5), np.diag([0.3, 0.0])
    return mtbo.SumKernel([*joint(x_unit, y_unit).terms, rough])


FORMS = {name: case.make for name, case in CASES.items()} | {
    "MTKB-blocks": case({}, "MTKB", summed, linear).make,
    "MTBKB-blocks": case({}, "MTBKB", summed, linear, horizon=20, q=0.5).make,
    "ITKB-greedy": case({}, "ITKB", alone, gain="greedy", horizon=20).make,
    "MOBO-linear": case({}, "MOBO", alone, linear, confident=False).make,
}


@pytest.fixture(params=FORMS, ids=str)
def make(request):
    return FORMS[request.param]


def drive(optimizer, rounds, **units):
    """Run some rounds; return the places of the queries in the domain."""
    for _ in range(rounds):
        x = optimizer.ask()
        optimizer.tell(x, objective(x, **units))
    return [entry.query for entry in optimizer.told]


@pytest.mark.parametrize(
    "units",
    [{"x_unit": 1e-12, "y_unit": 1e12}, {"x_unit": 3e9, "y_unit": 7e-12}, {"x_shift": 1e4}],
    ids=str,
)
def test_units_and_shifts_leave_the_queries(make, units):
    assert drive(make(**units), 15, **units) == drive(make(), 15)


@pytest.mark.parametrize("u", [1e-6, 1e6])
def test_rules_as_printed_in_other_units(u):
    """q of the printed rule has the unit 1 / y^2; IGP-UCB's radius as printed has that of y."""
    units = {"y_unit": u}
    rule = functools.partial(FORMS["MTBKB"], inclusion_scale="paper")
    assert drive(rule(q=5 / u**2, **units), 15, **units) == drive(rule(q=5.0), 15)
    kernel, points = alone(1.0, 1.0), CASES["ITKB"].make().domain
    one, other = (
        mtbo.ITKB(
            points, kernel, mtbo.ChebyshevScalarization([-unit, -2 * unit]), b=2.0 * unit,
            noise_std=0.1 * unit, radius="printed",
        )
        for unit in (1, u)
    )  # fmt: skip
    assert drive(other, 15, **units) == drive(one, 15)


def test_candidates_that_tie_up_to_rounding_are_drawn_from():
    """Symmetric data on a symmetric domain: the best candidate and its mirror image both come."""
    X, seen = np.linspace(-1, 1, 12) ** 3, set()
    for seed in range(12):
        optimizer = mtbo.MTKB(
            X, mtbo.ICM(SquaredExponential(0.4), [[1.0]]), mtbo.LinearScalarization(1), b=1.0,
            noise_std=0.1, rng=seed,
        )  # fmt: skip
        for place in (2, 9, 4, 7):
            optimizer.tell(X[place], [np.cos(X[place])])
        values = optimizer.acquisition(np.ones(1))
        assert (values != values[::-1]).any(), "no rounding to mend"
        seen.add(float(optimizer.ask()[0]))
    assert len(seen) == 2
    assert sum(seen) == pytest.approx(0, abs=1e-15)


def test_queries_that_tie_up_to_rounding_are_both_recommended():
    X = np.linspace(-1, 1, 12) ** 3
    optimizer = mtbo.MTKB(
        X, mtbo.ICM(SquaredExponential(0.4), np.eye(2)), mtbo.LinearScalarization(2), b=1.0,
        noise_std=0.1,
    )  # fmt: skip
    for place in (2, 9, 4, 7):
        optimizer.tell(X[place], [1.0, 2.0 - X[place] ** 2])
    front = optimizer.recommend()[:, 0]
    np.testing.assert_allclose(front, -front[::-1], atol=1e-15)
    assert len(front) in (2, 4)


def test_failed_points_are_passed_over_until_none_is_left(make):
    optimizer, asked = make(), []
    for _ in range(16):
        asked.append(optimizer.ask()[0])
        optimizer.tell(asked[-1:], None)
    assert len(set(asked)) == 16
    assert optimizer.result()["status"].eq("failed").all()
    assert optimizer.result()["y_1"].isna().all()
    assert optimizer.result()["lambda_1"].notna().all()
    optimizer.tell(optimizer.ask(), None)  # all have failed: none is passed over
    optimizer.tell(asked[:1], [1.0, 1.0])
    assert optimizer.ask()[0] == asked[0]
    assert optimizer.recommend().tolist() == [asked[:1]]


def test_nothing_is_recommended_before_an_observation(make):
    optimizer = make()
    optimizer.tell(optimizer.ask(), None)
    with pytest.raises(ValueError, match="no observation yet"):
        optimizer.recommend()


def test_posterior_on_points_of_the_domain(make):
    optimizer = make()
    drive(optimizer, 6)
    mean, std = optimizer.posterior()
    points = optimizer.domain.points
    assert mean.shape == std.shape == (16, 2)
    some = optimizer.posterior(points[[3, 11, 3]])
    np.testing.assert_array_equal(some, [mean[[3, 11, 3]], std[[3, 11, 3]]])
    np.testing.assert_array_equal(optimizer.posterior(points[3]), [mean[[3]], std[[3]]])
    mean[:] = np.nan  # a copy
    assert np.isfinite(optimizer.posterior()[0]).all()
    for X, match in ((0.123, "not one of the 16 points"), ([[0, 0]], "shape"), (np.nan, "finite")):
        with pytest.raises(ValueError, match=match):
            optimizer.posterior(X)


def test_equal_kernels_are_one_whether_or_not_the_same_object():
    """Two constructions with equal settings do the same."""
    one, twin = SquaredExponential(0.2), SquaredExponential(0.2)
    a, b = (
        mtbo.ITBKB(
            np.linspace(0, 1, 16), mtbo.DiagonalKernel(kernels), mtbo.LinearScalarization(2),
            b=2.0, noise_std=0.1, horizon=20, q=0.5,
        )
        for kernels in ([one, one], [one, twin])
    )  # fmt: skip
    assert a.settings() == b.settings()
    assert drive(a, 12) == drive(b, 12)
    assert len(a.dictionary) == len(b.dictionary) <= 12


def test_changes_of_what_was_passed_in_change_nothing():
    kernel, scalarization = joint(1.0, 1.0), mtbo.ChebyshevScalarization([-1.0, -2.0])
    points = np.linspace(0, 1, 16)
    a, b = (mtbo.MTKB(points, kernel, scalarization, b=2.0, noise_std=0.1) for _ in range(2))
    expected = drive(a, 8)
    points[:] = 0
    kernel.B[:], kernel.kernel.length_scale, scalarization.reference[:] = 0, 5.0, 9.0
    assert drive(b, 8) == expected
