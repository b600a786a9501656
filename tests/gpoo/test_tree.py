"""Partitions, representative points and diameters from their definitions."""

import numpy as np
import pytest

from fivebo.common.search.domains import Box
from fivebo.gpoo.tree import Partition, point_cell

SHAPES = {
    "line-2": Partition(1, 2, 3),
    "line-3": Partition(1, 3, 1),
    "square-cyclic": Partition(2, 2, 4),
    "square-cyclic-3": Partition(2, 3, 9),
    "square-all": Partition(2, 4, 4, "all"),
    "cube-all": Partition(3, 8, 8, "all"),
    "boxes": Partition(2, 2, None),
    "field": Partition(Box([[3.0, 43.0], [-2.0, 28.0]]), 2, 4),
}


@pytest.fixture(params=SHAPES, ids=str)
def partition(request):
    return SHAPES[request.param]


def cells_of(partition, depth):
    cells = [partition.root]
    for _ in range(depth):
        cells = [child for cell in cells for child in partition.children(cell)]
    return cells


@pytest.mark.paper("gpoo", "s2-domain", "s2-tree")
def test_root_is_the_domain_and_children_cover_their_parent(partition):
    d = partition.dim
    low, high = ([3.0, -2.0], [43.0, 28.0]) if partition is SHAPES["field"] else ([0] * d, [1] * d)
    assert (partition.root.low.tolist(), partition.root.high.tolist()) == (low, high)
    for cell in cells_of(partition, 2)[::3]:
        children = partition.children(cell)
        assert len(children) == partition.arity
        volume = sum(np.prod(c.high - c.low) for c in children)
        assert volume == pytest.approx(np.prod(cell.high - cell.low))
        assert all((c.low >= cell.low).all() and (c.high <= cell.high).all() for c in children)


@pytest.mark.paper("gpoo", "s2-partition", "s2-numbering")
def test_every_point_lies_in_exactly_one_cell_of_a_depth(partition):
    rng = np.random.default_rng(0)
    d = partition.dim
    unit = np.concatenate([rng.random((40, d)), rng.integers(0, 5, (40, d)) / 4])
    points = partition.domain.from_unit(unit)
    for depth in range(4):
        cells = cells_of(partition, depth)
        assert [c.name for c in cells] == [(depth, i) for i in range(partition.arity**depth)]
        inside = np.array([[partition.holds(c, x) for c in cells] for x in points])
        assert (inside.sum(axis=1) == 1).all()
        for x, row in zip(points[::7], inside[::7], strict=True):
            assert partition.locate(x, depth).name == cells[int(row.argmax())].name


@pytest.mark.paper("gpoo", "s2-representatives", "s2-points-place")
def test_representatives_are_inside_and_at_the_midpoints_of_equal_parts(partition):
    for cell in cells_of(partition, 2):
        if partition.n_points is None:
            assert cell.representatives is None
            continue
        assert cell.representatives.shape == (partition.n_points, partition.dim)
        assert all(partition.holds(cell, x) for x in cell.representatives)
    line = Partition(1, 2, 4).cell(2, 3)
    np.testing.assert_allclose(
        line.representatives[:, 0], [0.75 + 0.25 * (2 * s - 1) / 8 for s in (1, 2, 3, 4)]
    )


@pytest.mark.paper("gpoo", "a3-diameters", "s2-higher-dim")
def test_diameter_is_the_largest_l1_distance_from_a_representative(partition):
    for depth in range(4):
        cells = cells_of(partition, depth)
        for cell in (cells[0], cells[-1]):
            corners = np.stack(
                np.meshgrid(*np.stack([cell.low, cell.high], axis=1), indexing="ij"), axis=-1
            ).reshape(-1, partition.dim)
            points = corners if cell.representatives is None else cell.representatives
            distance = np.abs(points[:, None] - corners).sum(-1).max()
            assert partition.diameter(depth) == pytest.approx(distance)
            np.testing.assert_allclose(partition.sides(depth), cell.high - cell.low)
        assert depth == 0 or partition.diameter(depth) < partition.diameter(depth - 1)


@pytest.mark.paper("gpoo", "a3-diameters", "app-d-delta")
def test_closed_forms_of_the_line():
    for K in (2, 3):
        for h in range(5):
            assert Partition(1, K, 1).diameter(h) == pytest.approx(K**-h / 2)
            assert Partition(1, K, 10).diameter(h) == pytest.approx(0.95 * K**-h)
            assert Partition(1, K, None).diameter(h) == pytest.approx(K**-h)


@pytest.mark.paper("gpoo", "a4-well-shaped")
def test_cells_hold_a_ball_around_every_representative(partition):
    nu = partition.well_shaped()
    if partition.n_points is None:
        assert nu == 0
        return
    tightest = np.inf
    for depth in range(4):
        for cell in (cells_of(partition, depth)[0], cells_of(partition, depth)[-1]):
            X = cell.representatives
            inner = np.minimum(X - cell.low, cell.high - X).min()
            assert inner >= nu * partition.diameter(depth) - 1e-12
            tightest = min(tightest, inner / partition.diameter(depth))
    assert tightest == pytest.approx(nu)
    assert Partition(1, 2, 10).well_shaped() == pytest.approx(1 / 19)


def test_cells_are_reached_by_name():
    partition = Partition(2, 3, 1)
    for cell in cells_of(partition, 3)[::5]:
        assert partition.cell(*cell.name) is cell
    with pytest.raises(ValueError, match=r"0\.\.8 at depth 2, got 9"):
        partition.cell(2, 9)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"arity": 1}, "arity must be an integer >= 2"),
        ({"domain": 0}, "domain, if it is no Box, must be an integer >= 1"),
        ({"n_points": 0}, "n_points must be"),
        ({"n_points": 2.0}, "n_points must be an integer"),
        ({"domain": 2, "n_points": 3}, "S must be an integer to the power 2, got 3; use 4 or 9"),
        ({"domain": 2, "arity": 2, "split": "all"}, "K must be an integer to the power 2, got 2"),
        ({"split": "random"}, "unknown split"),
    ],
)
def test_bad_settings_are_refused(settings, match):
    with pytest.raises((TypeError, ValueError), match=match):
        Partition(**settings)


@pytest.mark.paper("gpoo", "s2-domain")
@pytest.mark.parametrize("x", [[1.5], [-0.1], [0.5, 0.5], [np.nan]])
def test_points_outside_the_domain_are_refused(x):
    with pytest.raises(ValueError, match=r"^x (must|\[.*outside the box)"):
        Partition().locate(x, 2)


def test_a_point_is_a_cell_of_its_own():
    cell = point_cell(np.array([0.2, 0.4]), 7)
    assert cell.name == (0, 7)
    np.testing.assert_array_equal(cell.representatives, [[0.2, 0.4]])
