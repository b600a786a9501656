"""What every tree search of [GPOO] shares: the tree, ask and tell, the history."""

import math

import numpy as np

from fivebo.common.checks import as_finite_array


class TreeSearch:
    """A search that pulls cells of a growing tree, one a round; subclasses choose.

    Nodes are named by their place in `nodes`, which is their order of birth. `tell` takes the
    pending cell and no other: whether a node is expanded is tested on the node just pulled.

    Parameters
    ----------
    partition : gpoo.tree.Partition

    Attributes
    ----------
    nodes : list of Cell
    parents : list of int
        Place of each node's parent; -1 for the root.
    is_leaf : list of bool
    pulls : list of int
        Number of times that each node has been pulled.
    """

    def __init__(self, partition):
        self.partition = partition
        self.nodes, self.parents = [partition.root], [-1]
        self.is_leaf, self.pulls = [True], [0]
        self._pending = None
        self._history = []

    @property
    def n_observations(self):
        """Number t of rounds so far."""
        return len(self._history)

    def leaves(self):
        """Return the places of the leaves, oldest first."""
        return np.flatnonzero(self.is_leaf)

    def expand(self, place):
        """Make a leaf an inner node with K children; return the places of the children."""
        children = self.partition.children(self.nodes[place])
        first = len(self.nodes)
        self.is_leaf[place] = False
        self.nodes += children
        self.parents += [place] * len(children)
        self.is_leaf += [True] * len(children)
        self.pulls += [0] * len(children)
        return range(first, first + len(children))

    def _select(self):
        raise NotImplementedError

    def _update(self, place, y):
        raise NotImplementedError

    def _recommend(self):
        raise NotImplementedError

    def ask(self):
        """Return the next cell to pull, the same one until it is told.

        Returns
        -------
        Cell
            Measure the average reward over its `representatives`, shape (S, d), or over the box
            from `low` to `high` if they are None.
        """
        if self._pending is None:
            self._pending = self._select()
        return self.nodes[self._pending]

    def tell(self, query, y):
        """Take the average reward of the pending cell.

        Parameters
        ----------
        query : Cell
            What `ask` returned.
        y : float
            Its noisy average reward, in units of f.

        Raises
        ------
        ValueError, TypeError
            Not the pending cell, or a reward that is no finite real number (a failed evaluation
            cannot be told: evaluate again); the state is unchanged.
        """
        step = self.n_observations + 1
        if not hasattr(query, "depth") or not hasattr(query, "representatives"):
            raise TypeError(f"query of round {step} must be the cell from ask(), got {query!r:.60}")
        if self._pending is None:
            raise ValueError(f"round {step}: no cell is pending; call ask() first")
        pending = self.nodes[self._pending]
        if query is not pending and query.name != pending.name:
            raise ValueError(
                f"round {step}: cell {query.name} is not the pending one {pending.name}; the "
                "method tests the cell it has just pulled, so tell what ask() returned"
            )
        y = check_reward(y, step, pending)
        place = self._pending
        self.pulls[place] += 1
        self._history.append((place, y))
        self._pending = None
        self._update(place, y)

    def recommend(self):
        """Return the recommended cell X_N."""
        return self.nodes[self._recommend()]

    def history(self):
        """Return the places of the pulled nodes, shape (t,), and their rewards, shape (t,)."""
        places = np.array([place for place, _ in self._history], dtype=int)
        return places, np.array([y for _, y in self._history], dtype=float)

    def result(self):
        """Return the history as a tidy frame: t, depth, index, low_1.., high_1.., y."""
        import pandas as pd

        d = range(1, self.partition.dim + 1)
        columns = ["t", "depth", "index", *(f"low_{j}" for j in d), *(f"high_{j}" for j in d), "y"]
        cells = [(self.nodes[place], y) for place, y in self._history]
        rows = [(t, *c.name, *c.low, *c.high, y) for t, (c, y) in enumerate(cells, start=1)]
        return pd.DataFrame(rows, columns=columns)


def check_reward(y, step, cell):
    """Return the reward as a float, or raise with the round and the cell it belongs to."""
    if isinstance(y, float) and math.isfinite(y):
        return float(y)
    where = f"round {step}, cell {cell.name} from {cell.low.tolist()} to {cell.high.tolist()}"
    if y is None:
        raise TypeError(
            f"{where}: y is None: a failed evaluation carries no information here; evaluate again"
        )
    try:
        array = as_finite_array(y, "y")
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from None
    if array.size != 1:
        raise ValueError(f"{where}: y must be one number, the average, got shape {array.shape}")
    return float(array.reshape(()))
