"""What every tree search of [GPOO] shares: a query is a cell, named by its place in the tree."""

import numpy as np

from fivebo.common.checks import positive, shown
from fivebo.common.search.optimizer import Asked, Optimizer, numbered
from fivebo.common.search.rng import Streams
from fivebo.common.search.ties import tied_with_max
from fivebo.gpoo.tree import Cell, Partition

UNUSED = Streams.of(0)
"""Streams of searches that draw nothing, made once."""


class TreeSearch(Optimizer):
    """A search that pulls cells of a growing tree, one a round; subclasses choose.

    Nodes are named by their place in `nodes`, which is their order of birth. `tell` takes the
    pending cell and no other: whether a node is expanded is tested on the node just pulled. A cell
    whose evaluation failed is passed over until the next observation, not for ever: with it a
    whole part of the domain would be lost. No search draws anything: none takes a seed.

    Parameters
    ----------
    partition : gpoo.tree.Partition
    nodes : list of Cell, optional
        First nodes; default: the root.

    Attributes
    ----------
    nodes : list of Cell
    parents : list of int
        Place of each node's parent; -1 for the first nodes.
    is_leaf : ndarray of bool
    pulls, sums : list
        Number of times that each node has been pulled, and the sum of its rewards.
    model : gpoo.posterior.CellPosterior or None
        Posterior of all nodes; None where a search has none.
    """

    model = None

    def __init__(self, partition, nodes=None):
        super().__init__(UNUSED)
        if not isinstance(partition, Partition):
            raise TypeError(
                f"partition must be a gpoo.Partition, got {shown(partition)}; use for example "
                "Partition(2, arity=2) for the unit square"
            )
        self.partition = partition
        self.nodes = [partition.root] if nodes is None else nodes
        n = len(self.nodes)
        self.parents, self.is_leaf = [-1] * n, np.ones(n, dtype=bool)
        self.pulls, self.sums = [0] * n, [0.0] * n
        self._deepest = 0

    def leaves(self):
        """Return the places of the leaves, oldest first."""
        return self.is_leaf.nonzero()[0]

    def means(self):
        """Return the mean reward of each node; -inf where it has not been pulled."""
        pulls = np.array(self.pulls)
        return np.where(pulls > 0, np.array(self.sums) / np.maximum(pulls, 1), -np.inf)

    def expand(self, place):
        """Make a leaf an inner node with K children; return the places of the children."""
        children, first = self.partition.children(self.nodes[place]), len(self.nodes)
        if self.model is not None:
            self.model.add(children)  # they join the posterior of the history so far
        self.is_leaf[place] = False
        self.nodes += children
        self.parents += [place] * len(children)
        self.is_leaf = np.concatenate([self.is_leaf, [True] * len(children)])
        self.pulls += [0] * len(children)
        self.sums += [0.0] * len(children)
        if self.nodes[place].depth > self.nodes[self._deepest].depth:
            self._deepest = place
        return np.arange(first, len(self.nodes))

    def _select(self):
        """Return the place of the next node to pull."""
        raise NotImplementedError

    def _update(self, place, y):
        """Go on from a reward that the node and the model have taken; `n_told` has not yet."""

    def _recommend(self):
        """Return the place of the recommended node: the first-reached deepest expanded one."""
        return self._deepest

    def _propose(self):
        return Asked(self._select())

    def _learn(self, query, value, note):
        if self.model is not None:
            self.model.observe(query, value)
        self.pulls[query] += 1
        self.sums[query] += value
        self._update(query, value)

    def _pass_over(self, own, value):
        self.failed = [] if value is not None else [*self.failed, own]

    def open(self, places):
        """Return the places, of an ndarray, whose evaluation has not failed; all if none is."""
        left = places[~np.isin(places, self.failed)] if self.failed else places
        return left if left.size else places

    def _own(self, query):
        name = _name(query)
        if not self.pending:
            raise ValueError(f"cell {name} is not pending, none is: call ask() first")
        place = self.pending[0].query
        if name != self.nodes[place].name:
            raise ValueError(
                f"cell {name} is not pending, {self.nodes[place].name} is, and no other can be "
                "told: whether a cell is split is tested on the one just pulled. Tell that one, or "
                "withdraw it and ask again"
            )
        return place

    def _public(self, query):
        return self.nodes[query].copy()

    def recommend(self):
        """Return the recommended cell X_N, a copy."""
        self._needs_data()
        return self._public(self._recommend())

    def posterior(self, X=None):
        """Return mean and standard deviation of the average rewards of cells.

        Parameters
        ----------
        X : sequence of Cell, optional
            Any cells, such as `Partition.cell` gives them, or `gpoo.tree.point_cell` of a point;
            default: all nodes of the tree, in the order of `nodes`.

        Returns
        -------
        mean, std : ndarray of shape (n,)
            In units of f; without observation noise.
        """
        if self.model is None:
            return super().posterior(X)
        if X is None:
            return self.model.mean.copy(), self.model.std
        for cell in X:
            if not isinstance(cell, Cell):
                raise TypeError(f"X must be a list of cells, got {shown(X)}")
        return self.model.at(X)

    def _columns(self):
        d = self.partition.dim
        return ["depth", "index", *numbered("low", d), *numbered("high", d), "y"]

    def _row(self, entry):
        cell = self.nodes[entry.query]
        return (*cell.name, *cell.low, *cell.high, np.nan if entry.value is None else entry.value)


def oldest_best(places, values):
    """Return the place of the largest value; ties, up to rounding, go to the oldest node.

    Parameters
    ----------
    places : ndarray of int
        Increasing.
    values : ndarray
        Of all nodes.
    """
    return int(places[tied_with_max(values[places])[0]])


class Schedule:
    """A user's function of the depth or the round, of which every value is checked when needed.

    It begins at `first`, must be positive, and must not rise if it `falls`; errors call it `name`.
    """

    def __init__(self, function, name, first, falls=False):
        if not callable(function):
            raise TypeError(f"{name} must be a function, got {shown(function)}")
        self.function, self.name, self.first, self.falls = function, name, first, falls
        self._known = {}
        self(first)

    def __call__(self, n):
        """Return the value at n, a positive number, or raise ValueError that names n."""
        if n not in self._known:
            value = positive(self.function(n), f"{self.name}({n})")
            if self.falls and n > self.first and value > (before := self(n - 1)):
                raise ValueError(
                    f"{self.name}({n}) must be at most {self.name}({n - 1}) = {before:g}, got "
                    f"{value:g}: a cell varies no more than the one it is a part of"
                )
            self._known[n] = value
        return self._known[n]


def _name(query):
    """Return the pair (h, i) of a cell, or of one as a journal holds it."""
    if isinstance(query, Cell):
        return query.name
    if isinstance(query, dict) and {"depth", "index"} <= set(query):
        return (query["depth"], query["index"])
    raise TypeError(f"query must be the cell that ask() returned, got {shown(query)}")
