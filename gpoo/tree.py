"""K-ary partitions of a box into boxes, their representative points and diameters.

Reference: [GPOO] Sec. 2 (cells, representative points) and Assumption 3 (diameters).
"""

from dataclasses import dataclass

import numpy as np

from fivebo.common.checks import count, one_of
from fivebo.common.search.domains import Box


@dataclass(frozen=True, eq=False, repr=False)
class Cell:
    """A node (h, i) of the tree with its cell, the query of every method here. [GPOO] Sec. 2.

    Parameters
    ----------
    depth, index : int
        h >= 0 and i in 0, ..., K^h - 1.
    low, high : ndarray of shape (d,)
        Corners of the box, in the user's units.
    representatives : ndarray of shape (S, d) or None
        C_{h,i}, the points whose rewards are averaged; None asks for the average over the box.
    """

    depth: int
    index: int
    low: np.ndarray
    high: np.ndarray
    representatives: np.ndarray | None

    @property
    def name(self):
        """The pair (h, i), which no other node of its partition has."""
        return (self.depth, self.index)

    def copy(self):
        """Return the same cell with arrays of its own."""
        points = None if self.representatives is None else self.representatives.copy()
        return Cell(self.depth, self.index, self.low.copy(), self.high.copy(), points)

    def __repr__(self):
        return f"Cell {self.name} from {self.low.tolist()} to {self.high.tolist()}"


class Partition:
    r"""Cells of a box by equal splits: at every depth the K^h boxes form a partition.

    Boxes are half-open, closed at the upper face of the domain, so that every x lies in exactly
    one. The S representative points are the centres of a regular grid of sub-boxes, for d = 1

    .. math:: x_{h,i^s} = l + (u - l) \frac{2s - 1}{2S}, \qquad s = 1, \ldots, S.

    Parameters
    ----------
    domain : int or Box
        d for the unit cube [0, 1]^d; or any box, in the user's units.
    arity : int
        K >= 2, children of a node.
    n_points : int or None
        S, an integer to the power d; None is the average over the whole box (App. D).
    split : {"cyclic", "all"}
        Split coordinate h mod d into K parts, or all of them into K^(1/d) parts.

    Attributes
    ----------
    domain : Box
    dim : int
        d.

    Raises
    ------
    ValueError, TypeError
        A number out of range or no integer, or S or K no d-th power where it must be one.

    Notes
    -----
    Source: [GPOO] Sec. 2; App. D for averages over boxes. The places of the points, domains other
    than the unit cube and all of d > 1 are ours.

    Examples
    --------
    >>> Partition(1, arity=2, n_points=2).root.representatives[:, 0]
    array([0.25, 0.75])
    """

    def __init__(self, domain=1, arity=2, n_points=1, split="cyclic"):
        if not isinstance(domain, Box):
            domain = Box([[0.0, 1.0]] * count(domain, "domain, if it is no Box,"))
        self.domain, self.dim = domain, domain.dim
        self.arity = count(arity, "arity", least=2)
        self.split = one_of(split, "split", ("cyclic", "all"))
        self.n_points = None if n_points is None else count(n_points, "n_points")
        self.per_axis = None if n_points is None else _root(self.n_points, self.dim, "S")
        self.parts = _root(self.arity, self.dim, "K") if split == "all" else self.arity
        self._born = {}

    def settings(self):
        """Return the constructor's arguments: the cells born so far are no part of them."""
        return {name: getattr(self, name) for name in ("domain", "arity", "n_points", "split")}

    @property
    def root(self):
        """The node (0, 0), whose cell is the domain."""
        return self.box(0, 0, self.domain.lower.copy(), self.domain.upper.copy())

    def children(self, cell):
        """Return the K nodes (h + 1, K i), ..., (h + 1, K i + K - 1), always the same objects."""
        if cell.name not in self._born:
            self._born[cell.name] = self._split(cell)
        return self._born[cell.name]

    def _split(self, cell):
        axes = range(self.dim) if self.split == "all" else [cell.depth % self.dim]
        edges = {j: np.linspace(cell.low[j], cell.high[j], self.parts + 1) for j in axes}
        found = []
        for number, places in enumerate(np.ndindex(*[self.parts] * len(edges))):
            low, high = cell.low.copy(), cell.high.copy()
            for j, place in zip(axes, places, strict=True):
                low[j], high[j] = edges[j][place], edges[j][place + 1]
            found.append(self.box(cell.depth + 1, self.arity * cell.index + number, low, high))
        return found

    def cell(self, depth, index):
        """Return the node (h, i), its corners reached from the root as in a run."""
        if not 0 <= index < self.arity**depth:
            raise ValueError(
                f"index must lie in 0..{self.arity**depth - 1} at depth {depth}, got {index}"
            )
        cell = self.root
        for h in range(depth):
            cell = self.children(cell)[index // self.arity ** (depth - h - 1) % self.arity]
        return cell

    def locate(self, x, depth):
        """Return the one node of a depth whose cell holds the point x, of shape (d,)."""
        x, cell = self.domain.check(x, "x"), self.root
        for _ in range(depth):
            cell = next(c for c in self.children(cell) if self.holds(c, x))
        return cell

    def holds(self, cell, x):
        """Whether a cell holds the point x: half-open, closed at the upper face of the domain."""
        last = (x == cell.high) & (cell.high == self.domain.upper)
        return bool(((x >= cell.low) & ((x < cell.high) | last)).all())

    def sides(self, depth):
        """Return the side lengths of the cells of a depth, shape (d,), in units of x."""
        if self.split == "all":
            return self.domain.sides * float(self.parts) ** -depth
        splits = (depth + self.dim - 1 - np.arange(self.dim)) // self.dim
        return self.domain.sides * float(self.arity) ** -splits

    def diameter(self, depth):
        r"""Return the largest L1 distance from a representative point to a point of its cell.

        .. math:: \sup_{x \in X_{h,i}} \ell(x_{h,i^s}, x) = c_S \sum_j \mathrm{side}_j(h),
            \qquad c_S = 1 - \frac{1}{2 S^{1/d}}

        so 1/2 for S = 1 and 1 for averages over the box. Source: [GPOO] Assumption 3; times L it
        is the smallest admissible delta(h) (see `gpoo.theory.lipschitz_delta`).
        """
        c_S = 1.0 if self.per_axis is None else 1 - 1 / (2 * self.per_axis)
        return float(c_S * self.sides(depth).sum())

    def well_shaped(self):
        """Return nu: every cell holds the L1 ball of radius nu times `diameter` around each point.

        1 / (2S - 1) in one dimension; 0 for averages over boxes, whose points reach the faces.
        Source: [GPOO] Assumption 4.
        """
        if self.per_axis is None:
            return 0.0
        inner = [self.sides(h).min() / (2 * self.per_axis) for h in range(self.dim)]
        return min(r / self.diameter(h) for h, r in enumerate(inner))

    def box(self, depth, index, low, high):
        """Return a box with its representative points as a cell, whatever its corners."""
        if self.per_axis is None:
            return Cell(depth, index, low, high, None)
        steps = (np.arange(self.per_axis) + 0.5) / self.per_axis
        axes = low[:, None] + (high - low)[:, None] * steps
        points = axes.T if self.dim == 1 else product_points(axes)
        return Cell(depth, index, low, high, points)


def point_cell(x, index=0):
    """Return a point of the domain as a cell of its own, for methods with point feedback."""
    return Cell(0, index, x, x, x[None])


def product_points(axes):
    """Return all points of a grid, shape (n_1 ... n_d, d), the last axis running fastest."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _root(value, dim, name):
    """Return the d-th root of a count that must be a d-th power."""
    root = round(value ** (1 / dim))
    if root**dim != value:
        nearest = f"{max(root, 1) ** dim} or {(root + 1) ** dim}"
        raise ValueError(
            f"{name} must be an integer to the power {dim}, got {value}; use {nearest}"
        )
    return root
