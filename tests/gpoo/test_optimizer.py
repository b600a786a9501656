"""Cells as queries: failures, checked delta(h) and beta_t, ties, the user's box, the posterior."""

import numpy as np
import pytest

from fivebo.common.gp.posterior import GP
from fivebo.common.search.domains import Box
from fivebo.gpoo import GPOO, HOO, BoxAverages, Partition, SquaredExponential, StoOO
from fivebo.gpoo.theory import beta_scaled, geometric_delta
from fivebo.gpoo.tree import point_cell
from tests.gpoo.conftest import (
    ALL,
    CODE,
    DELTA,
    KERNEL,
    average,
    drive,
    gpoo,
    line,
    pulled,
    rewards,
)


@pytest.fixture(params=ALL, ids=str)
def make(request):
    return ALL[request.param]


@pytest.mark.parametrize("before", [0, 2, 6, 11])
def test_a_failed_cell_is_passed_over_until_the_next_observation(make, before):
    search = make()
    drive(search, before)
    failed, room = [], len(getattr(search, "stages", [search])[-1].leaves())
    for _ in range(min(3, room)):
        cell = search.ask()
        assert cell.name not in failed
        failed.append(cell.name)
        search.tell(cell, None)
    assert search.n_told == before
    drive(search, 1)
    assert list(search.result()["status"][before:]) == ["failed"] * len(failed) + ["ok"]
    assert np.isnan(search.result()["y"][before])
    stages = getattr(search, "stages", [search])
    assert all(stage.failed == [] for stage in stages)


def test_a_failed_cell_comes_back_so_that_nothing_below_it_is_lost():
    search = StoOO(line(), budget=20, delta=DELTA, noise_std=0.1)
    drive(search, 1)
    for name, y in (((1, 0), None), ((1, 1), 0.3), ((1, 0), 0.2)):
        assert search.ask().name == name
        search.tell(search.ask(), y)


def test_if_all_leaves_have_failed_none_is_passed_over():
    search = gpoo()
    for _ in range(3):
        assert search.ask().name == (0, 0)
        search.tell(search.ask(), None)
    drive(search, 1)
    assert pulled(search) == [(0, 0)]


def test_hoo_goes_round_subtrees_whose_leaves_have_all_failed():
    search = HOO(line(), budget=20, delta=DELTA, noise_std=0.1)
    drive(search, 4)
    asked = set()
    for _ in range(len(search.leaves())):
        asked.add(search.ask().name)
        search.tell(search.ask(), None)
    assert asked == {search.nodes[i].name for i in search.leaves()}


DELTAS = {
    "nan": (lambda h: np.nan if h == 3 else 3.0 * 2.0**-h, r"delta\(3\) must be finite"),
    "zero": (lambda h: 3.0 * (h < 2), r"delta\(2\) must lie in"),
    "rises": (lambda h: 3.0 + (h == 2), r"delta\(2\) must be at most delta\(1\) = 3, got 4"),
    "none": (lambda h: None if h == 1 else 3.0, r"delta\(1\) must hold real numbers"),
}
SEARCHES = {
    "gpoo": lambda delta: gpoo(delta=delta),
    "gpoo-code": lambda delta: gpoo(**CODE | {"delta": delta}),
    "stooo": lambda delta: StoOO(line(), budget=20, delta=delta, noise_std=0.1),
    "hoo": lambda delta: HOO(line(), budget=20, delta=delta, noise_std=0.1),
}


def walk(make, delta, rounds):
    search = make(delta)
    for _ in range(200):
        cell = search.ask()
        rounds.append(search)
        search.tell(cell, average(cell))


@pytest.mark.parametrize("make", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize(("delta", "match"), DELTAS.values(), ids=DELTAS)
def test_every_depth_of_delta_is_checked_before_an_evaluation_is_spent_on_it(make, delta, match):
    """The constructor or `ask` refuses it, `tell` never does."""
    rounds = []
    with pytest.raises((TypeError, ValueError), match=match):
        walk(make, delta, rounds)
    for search in rounds[-1:]:
        assert search.n_told == len(rounds)
        with pytest.raises((TypeError, ValueError), match=match):
            search.ask()


def test_every_round_of_beta_is_checked_before_it():
    search = gpoo(beta=lambda t: 1.0 if t < 5 else -1.0)
    with pytest.raises(ValueError, match=r"beta\(5\) must lie in"):
        drive(search, 9)
    assert search.n_told == 4
    with pytest.raises(TypeError, match="delta must be a function, got 3"):
        gpoo(delta=3)


@pytest.mark.paper("gpoo", "s3-ties")
@pytest.mark.parametrize("seed", range(12))
def test_symmetric_children_tie_whatever_rounding_says(seed):
    rng = np.random.default_rng(seed)
    kernel = SquaredExponential(rng.uniform(0.05, 0.5), rng.uniform(0.1, 9))
    for S in (1, 5, None):
        search = GPOO(Partition(1, 2, S), kernel, noise_var=0.01, delta=lambda h: 50.0)
        search.tell(search.ask(), rng.standard_normal())
        assert search.ask().name == (1, 0)


@pytest.mark.paper("gpoo", "s2-domain")
@pytest.mark.parametrize("S", [4, None])
def test_a_box_in_the_users_units_is_the_unit_square(S):
    sides, corner = np.array([40.0, 3e-6]), np.array([-8.0, 1e-6])
    ground = Box(np.column_stack([corner, corner + sides]))
    settings = {"noise_var": 0.01, "delta": geometric_delta(3.0, 2), "beta": beta_scaled}
    unit = GPOO(Partition(2, 2, S), SquaredExponential([0.2, 0.3], 0.5), **settings)
    own = GPOO(
        Partition(ground, 2, S), SquaredExponential(np.array([0.2, 0.3]) * sides, 0.5), **settings
    )
    for _ in range(40):
        cell, here = unit.ask(), own.ask()
        assert here.name == cell.name
        np.testing.assert_allclose(here.low, ground.from_unit(cell.low), rtol=1e-12)
        np.testing.assert_allclose(here.high, ground.from_unit(cell.high), rtol=1e-12)
        y = average(cell)
        unit.tell(cell, y)
        own.tell(here, y)
    np.testing.assert_allclose(own.posterior(), unit.posterior(), rtol=1e-7, atol=1e-9)
    assert own.partition.locate(own.recommend().low, 3).depth == 3


def test_posterior_of_any_cells_after_the_equations():
    search = gpoo()
    drive(search, 15)
    seen = [search.nodes[e.query].representatives for e in search.told]
    cells = [Partition(1, 3, S).cell(2, i) for S, i in ((1, 4), (7, 0), (3, 8), (1, 2))]
    cells.append(point_cell(np.array([0.37])))
    mean, std = search.posterior(cells)
    C = np.array([[KERNEL(p, q).mean() for q in seen] for p in seen]) + 0.01 * np.eye(15)
    for k, cell in enumerate(cells):
        k_star = np.array([KERNEL(p, cell.representatives).mean() for p in seen])
        prior = KERNEL(cell.representatives).mean()
        assert mean[k] == pytest.approx(k_star @ np.linalg.solve(C, rewards(search)), abs=1e-10)
        var = prior - k_star @ np.linalg.solve(C, k_star)
        assert std[k] ** 2 == pytest.approx(var, abs=1e-10)
    mean, std = search.posterior()
    assert len(mean) == len(std) == len(search.nodes)
    mean[:] = np.nan
    assert np.isfinite(search.posterior()[0]).all()
    with pytest.raises(TypeError, match="X must be a list of cells"):
        search.posterior([0.3])


def test_points_and_boxes_inform_each_other():
    """Averages over boxes from points, and from boxes on, are limits of many points."""
    box, many = Partition(1, 2, None).cell(2, 1), Partition(1, 2, 4000).cell(2, 1)
    for name in ("gpoo", "gpoo-boxes"):
        search = ALL[name]()
        drive(search, 12)
        (exact, limit), std = search.posterior([box, many])
        assert exact == pytest.approx(limit, abs=1e-6)
        assert std[0] == pytest.approx(std[1], abs=1e-5)
    points = np.array([[0.1], [0.6]])
    gp = GP(KERNEL, 0.01).condition(points, [0.3, -0.2])
    mean, _ = gp.predict(BoxAverages([[0.0]], [[0.3]]))
    x = (np.arange(3000) + 0.5)[:, None] / 10000
    assert mean[0] == pytest.approx(gp.predict(x)[0].mean(), abs=1e-7)


def test_what_is_no_partition_is_refused():
    with pytest.raises(TypeError, match=r"partition must be a gpoo.Partition, got 2; use"):
        StoOO(2, budget=20, delta=DELTA, noise_std=0.1)
    with pytest.raises(TypeError, match=r"domain, if it is no Box, must be an integer >= 1"):
        Partition([[0, 1]])
