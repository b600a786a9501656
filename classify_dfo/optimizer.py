"""What every method of [CDFO] shares: whole batches, ask and tell, history, recommendation."""

import numpy as np

from fivebo.classify_dfo.spaces import Catalogue
from fivebo.common.checks import as_finite_array, count
from fivebo.common.search.rng import Streams


class BatchOptimizer:
    """Minimisation over a catalogue or a box by batches of queries; subclasses propose.

    A batch is asked and told as a whole: a round of the method needs all its values.

    Parameters
    ----------
    domain : Catalogue or Box
    batch : int
        n, queries of a batch.
    rng : int, numpy.random.Generator or Streams

    Attributes
    ----------
    batches, values : list of ndarray
        Queries and values of every batch told.

    Notes
    -----
    Source: [CDFO] Sec. 1, batched derivative-free optimisation.
    """

    def __init__(self, domain, *, batch, rng=0):
        self.domain, self.batch = domain, count(batch, "batch")
        self.streams = Streams.of(rng)
        self.batches, self.values = [], []
        self._pending = None

    def _propose(self):
        """Return the next batch: row numbers (n,), or points (n, d)."""
        raise NotImplementedError

    def _update(self, batch, y):
        """Take a batch and its values into the model."""

    def ask(self):
        """Return the next batch; the pending one until it is told.

        Returns
        -------
        ndarray
            Row numbers of shape (n,) of a catalogue, or points of shape (n, d) of a box.
        """
        if self._pending is None:
            self._pending = self._propose()
        return self._pending.copy()

    def tell(self, batch, y):
        """Take the answers to the whole pending batch.

        Parameters
        ----------
        batch : array_like
            The pending batch, in its order; no other, because thresholds and weights of a round
            belong to it.
        y : array_like of shape (n,)
            Values, to be minimised.

        Raises
        ------
        ValueError, TypeError
            Nothing is pending, the batch is another, or the answers are incomplete or not finite;
            the state is unchanged.
        """
        batch = self._checked(batch)
        y = as_finite_array(y, f"y of batch {len(self.batches) + 1}", ndim=1)
        if len(y) != self._n_answers(batch):
            raise ValueError(
                f"y must hold {self._n_answers(batch)} numbers for this batch, got {len(y)}; "
                "measure the missing ones, or tell their worst possible value"
            )
        self._keep(batch, y)
        self._pending = None

    def _checked(self, batch):
        batch = self.domain.check(batch)
        if self._pending is None:
            raise ValueError("no batch is pending: ask() for one before tell()")
        if not np.array_equal(batch, self._pending):
            raise ValueError(
                f"batch must be the pending one of {len(self._pending)} queries, in its order; "
                "call ask() to see it"
            )
        return batch

    def _n_answers(self, batch):
        """Return how many numbers the batch is answered by."""
        return len(batch)

    def _keep(self, batch, y):
        """Take a checked batch and its answers into history and model."""
        self._update(batch, y)
        self.batches.append(batch)
        self.values.append(y)

    def recommend(self):
        """Return the best query so far: a row number, or a point of shape (d,).

        Raises
        ------
        ValueError
            Nothing has been told yet.
        """
        if not self.values:
            raise ValueError("no batch told yet: tell at least one before recommend()")
        best = np.concatenate(self.values).argmin()
        return np.concatenate(self.batches)[best]

    def result(self):
        """Return the history as a tidy frame: batch (from 0), query columns, y.

        The query columns are ``row`` for a catalogue, or ``x_1`` to ``x_d`` for a box.
        """
        import pandas as pd

        if isinstance(self.domain, Catalogue):
            names = ["row"]
        else:
            names = [f"x_{i}" for i in range(1, self.domain.dim + 1)]
        columns = ["batch", *names, "y"]
        parts = [
            pd.DataFrame(batch.reshape(len(batch), -1), columns=names).assign(batch=t, y=y)
            for t, (batch, y) in enumerate(zip(self.batches, self.values, strict=True))
        ]
        frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
        return frame[columns]
