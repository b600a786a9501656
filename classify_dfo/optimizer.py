"""What every method of [CDFO] shares: batches of queries, their answers, the history."""

import numpy as np

from fivebo.classify_dfo.spaces import Catalogue
from fivebo.common.checks import as_finite_array, count
from fivebo.common.search.optimizer import Optimizer, numbered


class BatchOptimizer(Optimizer):
    """Minimisation over a catalogue or a box by batches of queries; subclasses propose.

    A query is a batch: an array of row numbers (n,) of a catalogue, or of points (n, d) of a box.
    It is told as a whole, for a round of the method needs all its values, but members that failed
    may be None: they stand in `result` and are learnt nothing from.

    Parameters
    ----------
    domain : Catalogue or Box
    batch : int
        n, queries of a batch.
    rng : int, numpy.random.Generator or Streams

    Attributes
    ----------
    batches, values : list of ndarray
        Queries and values of every batch, of the members that were measured.
    failed : list
        Rows or points whose evaluation failed.

    Notes
    -----
    Source: [CDFO] Sec. 1, batched derivative-free optimisation.
    """

    divisible = True

    def __init__(self, domain, *, batch, rng=0):
        super().__init__(rng)
        self.domain, self.batch = domain, count(batch, "batch")
        self.batches, self.values = [], []

    def _own(self, query):
        return self.domain.check_all(query, "batch")

    def _public(self, query):
        return query.copy()

    def _answers(self, query, asked):
        return np.array_equal(query, asked)

    def parts(self, query):
        """Return the members of a batch, as batches of one."""
        return [query[i : i + 1] for i in range(len(query))] if self.divisible else [query]

    def tell(self, done, y, *, query=None):
        """Take the answers to the pending batch.

        Parameters
        ----------
        done : array_like
            The pending batch, in its order; no other, because thresholds and weights of a round
            belong to it.
        y : sequence of float or None, or None
            Values of shape (n,), to be minimised; None for a member that failed. None alone, or
            throughout, is a failed batch: the next `ask` draws another one.
        query : array_like, optional
            The pending batch, if `done` is where it was carried out: slightly elsewhere in a box.

        Raises
        ------
        ValueError, TypeError
            Nothing is pending, the batch is another, or the answers are incomplete or not finite;
            the state is unchanged.
        """
        asked = self.pending[self._place(done if query is None else query)].query
        own = self._own(done)
        if own.shape != asked.shape or (
            isinstance(self.domain, Catalogue) and not np.array_equal(own, asked)
        ):
            raise ValueError(
                f"done must be the {len(asked)} actions of the batch that was asked, in their "
                "order; None in y stands for one that was not carried out"
            )
        super().tell(own, y, query=asked)

    def _place(self, query):
        own = self._own(query)
        if not self.pending:
            raise ValueError("the batch is not pending, none is: ask() for one before tell()")
        asked = self.pending[0].query
        if not np.array_equal(own, asked):
            raise ValueError(
                f"the batch is not pending: ask() shows the {len(asked)} queries that are, in "
                "their order. In a box, tell(done, y, query=asked) takes what was carried out "
                "slightly elsewhere"
            )
        return 0

    def _n_answers(self):
        """Return how many numbers answer the pending batch."""
        return len(self.pending[0].query)

    def _value(self, y):
        """Return the answers, NaN for members that failed; None if all did."""
        failed = np.atleast_1d(np.equal(np.asarray(y, dtype=object), None).astype(bool))
        if failed.any() and not self.divisible:
            raise ValueError("y must be complete: what is compared needs all its answers")
        measured = [value for value in y if value is not None] if failed.any() else y
        measured = as_finite_array(measured, "y", ndim=1) if not failed.all() else None
        if len(failed) != (n := self._n_answers()):
            raise ValueError(
                f"y must hold {n} numbers for this batch, got {len(failed)}; None stands for a "
                "member that failed"
            )
        if measured is None:
            return None
        y = np.full(n, np.nan)
        y[~failed] = measured
        return y

    def _measured(self, query, value):
        """Return which members of a batch its answers measure, shape (n,)."""
        return np.zeros(len(query), dtype=bool) if value is None else ~np.isnan(value)

    def _learn(self, query, value, note):
        measured = self._measured(query, value)
        self._take(query[measured], value[measured])

    def _take(self, batch, y):
        """Take the measured members of a batch and their values into history and model."""
        self.batches.append(batch)
        self.values.append(y)

    def _pass_over(self, own, value):
        measured = self._measured(own, value)
        if self.failed:
            known = own[measured].tolist()
            self.failed = [query for query in self.failed if query.tolist() not in known]
        self.failed += list(own[~measured])

    def recommend(self):
        """Return the best query so far: a row number, or a point of shape (d,).

        Raises
        ------
        ValueError
            Nothing has been told yet.
        """
        self._needs_data()
        best = np.concatenate(self.values).argmin()
        return np.concatenate(self.batches)[best]

    def result(self):
        """Return the history as a tidy frame: batch (from 0), query columns, y, status.

        There is a row an action. The query columns are ``row`` for a catalogue, or ``x_1`` to
        ``x_d`` for a box; status is "ok" or "failed". Optimisers that fit hyperparameters add
        `failed_fits` and `fits_at_limit`, the numbers of such fits until then.
        """
        import pandas as pd

        of_box = not isinstance(self.domain, Catalogue)
        names = numbered("x", self.domain.dim) if of_box else ["row"]
        counts = ["failed_fits", "fits_at_limit"] if self.fits else []
        columns, values = ["batch", *names, "y", "status", *counts], iter(self.values)
        frames = [pd.DataFrame(columns=columns)] if not self.told else []
        for t, entry in enumerate(self.told):
            frame = pd.DataFrame(entry.query.reshape(len(entry.query), -1), columns=names)
            frame = frame.assign(batch=t, y=np.nan, status="failed")
            if entry.value is not None:
                measured = self._measured(entry.query, entry.value)
                frame.loc[measured, "y"], frame.loc[measured, "status"] = next(values), "ok"
            frames.append(frame.assign(**dict(zip(counts, entry.fits, strict=False)))[columns])
        return pd.concat(frames, ignore_index=True)
