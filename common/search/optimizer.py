"""What it is to ask and tell: the contract of all optimisers, whatever a query is."""

import copy
import math
from dataclasses import dataclass

from fivebo.common.checks import count, number, shown
from fivebo.common.search.plain import constructor_settings
from fivebo.common.search.rng import Streams


@dataclass
class Asked:
    """A query that is out.

    Parameters
    ----------
    query : object
        In the optimiser's own form, such as an index of its domain.
    note : object
        What the optimiser remembers of how it came about; None if nothing.
    """

    query: object
    note: object = None


@dataclass
class Told:
    """An evaluation that was told.

    Parameters
    ----------
    query : object
        Where it was carried out, in the optimiser's own form.
    value : object
        The observation; None if it failed.
    note : object
        That of the query it answers; None if it was not asked for.
    fits : (int, int)
        Fits that failed, and that ended at a limit, until then.
    """

    query: object
    value: object
    note: object = None
    fits: tuple = (0, 0)


class Optimizer:
    """The contract; subclasses say what a query is, which comes next, and what is learnt.

    A subclass gives `_propose`, `_learn`, `_own`, `_public` and `recommend`, and the columns of
    `result`. All state lives in plain attributes: an optimiser pickles and copies at any moment
    and then goes on identically.

    Parameters
    ----------
    rng : int, numpy.random.Generator or Streams, optional
        Seed or source of all draws.

    Attributes
    ----------
    streams : Streams
    pending : list of Asked
        Queries that are out, oldest first.
    told : list of Told
        All evaluations, failed ones included, in the order of `tell`.
    failed : list
        Queries whose evaluation failed, in the optimiser's own form: they are passed over until
        they are told a value.
    n_failed_fits, n_fits_at_limit : int
        Fits of hyperparameters that gave no number and were replaced by the one before, and fits
        with a parameter at the limit of its search.
    """

    parallel = False
    """Whether `ask` hands out a new query although one is out."""

    divisible = False
    """Whether a query is a batch whose members may be evaluated one by one; see `parts`."""

    fits = False
    """Whether hyperparameters are fitted; `result` then counts the fits."""

    def __new__(cls, *args, **options):
        """Remember the arguments as they are now: `settings` tells them."""
        self = super().__new__(cls)
        self._settings = constructor_settings(cls, args, options)
        return self

    def __init__(self, rng=0):
        self.streams = Streams.of(rng)
        self.pending, self.told, self.failed = [], [], []
        self.n_told = self.n_failed_fits = self.n_fits_at_limit = 0

    def __copy__(self):
        """Copy deeply: two searches that share their lists would spoil each other."""
        return copy.deepcopy(self)

    def _propose(self):
        """Return the next query as `Asked`."""
        raise NotImplementedError

    def _learn(self, query, value, note):
        """Take an observation into the model; raise before anything is changed."""
        raise NotImplementedError

    def _own(self, query):
        """Return a user's query in the optimiser's own form; raise ValueError or TypeError."""
        raise NotImplementedError

    def _own_asked(self, query):
        """Return what `ask` gave, in the own form: more than can be told, in some papers less."""
        return self._own(query)

    def _public(self, query):
        """Return a query as the user gets it, a copy."""
        raise NotImplementedError

    def _value(self, y):
        """Return an observation as the model takes it; raise ValueError or TypeError."""
        return number(y, "y")

    def _answers(self, query, asked):
        """Whether an evaluation at `query` answers the one that was asked."""
        return query == asked

    def recommend(self):
        """Return what the search recommends after the evaluations so far.

        Raises
        ------
        ValueError
            Nothing has been told yet.
        """
        raise NotImplementedError

    def posterior(self, X=None):
        """Return mean and standard deviation of f, in units of y.

        Parameters
        ----------
        X : object, optional
            Where: queries of the optimiser; default, where the domain is finite, all of it.

        Returns
        -------
        mean, std : ndarray
        """
        raise TypeError(f"{type(self).__name__} has no model of f, so no posterior")

    def room(self):
        """Return how many queries can be handed out before the next answer; may be infinite."""
        return math.inf if self.parallel else int(not self.pending)

    def ask(self, n=None):
        """Return the next query.

        It stays the same until it is answered or withdrawn; a parallel optimiser hands out a new
        one on each call, and all of them are pending.

        Parameters
        ----------
        n : int, optional
            So many queries at once, of parallel optimisers.

        Returns
        -------
        object
            A copy, in the user's units; a list of them with `n`.
        """
        if n is not None:
            if not self.parallel and count(n, "n") > 1:
                raise ValueError(
                    f"{type(self).__name__} hands out one query until it is told: use ask()"
                )
            return [self.ask() for _ in range(count(n, "n"))]
        if self.parallel or not self.pending:
            self.pending.append(self._propose())
        return self._public(self.pending[-1].query)

    def tell(self, done, y, *, query=None):
        """Take an observation of any valid query, asked for or not.

        Without `query`, it answers the pending query that equals `done`. If none does and one
        single query is out, that one is withdrawn: the next `ask` proposes anew from all data.

        Parameters
        ----------
        done : object
            What was carried out.
        y : object or None
            The observation. None reports that the evaluation failed: it is kept in `result`, the
            model learns nothing, and `ask` goes on to another query.
        query : object, optional
            The pending query that this answers, if it was carried out at a slightly different
            point.

        Raises
        ------
        ValueError, TypeError
            Wrong shape, outside the domain, NaN, infinite, complex or text, or `query` is not
            pending; the state is unchanged.
        """
        at = None if query is None else self._place(query)
        own = self._own(done) if y is not None else self._own_asked(done)
        try:
            value = None if y is None else self._value(y)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"evaluation {len(self.told) + 1} at {shown(done)}: {error}; report a failed one "
                "as tell(query, None)"
            ) from None
        if at is None:
            at = next((i for i, a in enumerate(self.pending) if self._answers(own, a.query)), None)
        note = None if at is None else self.pending[at].note
        if value is not None:
            self._learn(own, value, note)
        if at is not None:
            del self.pending[at]
        elif value is not None and len(self.pending) == 1:
            self.pending.clear()
        self.told.append(Told(own, value, note, (self.n_failed_fits, self.n_fits_at_limit)))
        self.n_told += value is not None
        self._pass_over(own, value)

    def _pass_over(self, own, value):
        """Remember a query that failed, forget one that has a value now."""
        self.failed = [f for f in self.failed if not self._answers(own, f)]
        if value is None:
            self.failed.append(own)

    def withdraw(self, query):
        """Take a pending query back: it will not be carried out.

        Raises
        ------
        ValueError, TypeError
            It is not pending.
        """
        del self.pending[self._place(query)]

    def _place(self, query):
        """Return the place of a query among the pending ones."""
        own = self._own_asked(query)
        for i, asked in enumerate(self.pending):
            if self._answers(own, asked.query) or self._answers(asked.query, own):
                return i
        out = [self._public(asked.query) for asked in self.pending]
        raise ValueError(
            f"query {shown(query)} is not pending; pending are {shown(out) if out else 'none'}"
        )

    def parts(self, query):
        """Return what can be evaluated apart of a query: its members if it is a batch."""
        return [query]

    def settings(self):
        """Return the constructor's arguments by name, as plain data.

        Arrays and lists of more than 64 elements, generators and functions stand there by a hash.
        """
        return copy.deepcopy(self._settings)

    def _needs_data(self):
        """Raise ValueError unless an observation has been told."""
        if not self.n_told:
            raise ValueError("no observation yet: tell at least one before recommend()")

    def _columns(self):
        """Return the columns of `result` between t and status."""
        raise NotImplementedError

    def _row(self, entry):
        """Return the values of `_columns` of one `Told`; y is NaN where it failed."""
        raise NotImplementedError

    def result(self):
        """Return the history as a tidy frame, a row an evaluation.

        The columns are t (from 1), those of query and observation, and status: "ok" or "failed".
        Optimisers that fit hyperparameters add `failed_fits` and `fits_at_limit`, the numbers of
        such fits until then.
        """
        import pandas as pd

        rows = [
            (
                t,
                *self._row(e),
                "failed" if e.value is None else "ok",
                *(e.fits if self.fits else ()),
            )
            for t, e in enumerate(self.told, start=1)
        ]
        counts = ["failed_fits", "fits_at_limit"] if self.fits else []
        return pd.DataFrame(rows, columns=["t", *self._columns(), "status", *counts])


def numbered(name, n):
    """Return the columns ``name_1`` to ``name_n`` of a table."""
    return [f"{name}_{i}" for i in range(1, n + 1)]
