"""What every method of [EGPBO] shares: initial points, ask and tell, failures, scaling, history."""

import copy
from dataclasses import dataclass, field

import numpy as np

from fivebo.common.checks import as_finite_array
from fivebo.common.search.rng import Streams
from fivebo.egpbo.box import Box, whole


@dataclass
class Query:
    """A query that is out with a worker.

    Parameters
    ----------
    x : ndarray of shape (d,)
        In the units of the box.
    component : int or None
        Index of the component that proposed it; None for initial points.
    """

    x: np.ndarray
    component: int | None = None


@dataclass
class Scaling:
    """Maps queries and observations to the units of the model.

    Parameters
    ----------
    box : Box
    inputs : {"unit", "raw"}
        The model sees the unit cube, or the box itself.
    outputs : {"standardised", "centred", "raw"}
        What is done to y; mean and scale change at refits only, or the posterior between them
        would not be one posterior.
    """

    box: Box
    inputs: str = "unit"
    outputs: str = "standardised"
    centre: float = field(default=0.0, init=False)
    scale: float = field(default=1.0, init=False)

    def __post_init__(self):
        """Refuse unknown scalings."""
        if self.inputs not in ("unit", "raw"):
            raise ValueError(f"inputs must be 'unit' or 'raw', got {self.inputs!r}")
        if self.outputs not in ("standardised", "centred", "raw"):
            raise ValueError(
                f"outputs must be 'standardised', 'centred' or 'raw', got {self.outputs!r}"
            )

    def fit(self, y):
        """Take centre and scale from all observations; constant ones keep their scale.

        Constant means up to rounding, relative to the observations: no unit of y is too small.
        """
        self.centre = 0.0 if self.outputs == "raw" else float(np.mean(y))
        self.scale = 1.0
        spread = float(np.ptp(y))
        if self.outputs == "standardised" and spread > 1e-15 * np.abs(y).max():
            self.scale = float(np.std(y)) or spread  # squares below 1e-324 are zero

    def x(self, X):
        """Map queries to model inputs."""
        return self.box.to_unit(X) if self.inputs == "unit" else np.asarray(X)

    def y(self, y):
        """Map observations to model outputs."""
        return (np.asarray(y) - self.centre) / self.scale

    def query(self, x):
        """Map a model input to a query."""
        return self.box.from_unit(x) if self.inputs == "unit" else np.array(x)

    @property
    def limits(self):
        """Lower and upper corner of the model's inputs."""
        if self.inputs == "unit":
            return np.zeros(self.box.dim), np.ones(self.box.dim)
        return self.box.lower, self.box.upper


class BoxOptimizer:
    """Sequential or parallel maximisation over a box; subclasses give model and proposal.

    The first `n_init` queries are uniform on the box ([EGPBO] Sec. 5, Alg. 1); then `_propose`.

    Parameters
    ----------
    box : Box or array_like of shape (d, 2)
    n_init : int
        Number t_0 of initial points, >= 1. Observations that are told without being asked for
        count as well.
    inputs, outputs : str
        See `Scaling`.
    rng : int, numpy.random.Generator or Streams
    """

    parallel = False
    """Whether `ask` hands out a new query although one is out."""

    def __init__(self, box, *, n_init=10, inputs="unit", outputs="standardised", rng=0):
        self.box = box if isinstance(box, Box) else Box(box)
        self.n_init = whole(n_init, "n_init")
        self.scaling = Scaling(self.box, inputs, outputs)
        self.streams = Streams.of(rng)
        self.pending = []
        self._history = []
        self._X, self._y = [], []

    def _refit(self):
        """Build the model from all observations."""
        raise NotImplementedError

    def _refit_due(self):
        raise NotImplementedError

    def _propose(self):
        """Return a model input and the component that proposed it."""
        raise NotImplementedError

    def _observe(self, x, y, component):
        """Take a model input and output into the model."""

    @property
    def n_told(self):
        """Number of successful evaluations."""
        return len(self._y)

    @property
    def in_initial_phase(self):
        """Whether the model still waits for initial points."""
        return self.n_told < self.n_init

    def data(self):
        """Return all successful queries (n, d) and observations (n,) in the order of `tell`."""
        return np.array(self._X).reshape(-1, self.box.dim), np.array(self._y)

    def ask(self):
        """Return the next query, shape (d,), in the units of the box.

        The pending query is returned until it is told; a parallel method hands out a new one on
        each call, and all of them are pending.
        """
        if self.parallel or not self.pending:
            self.pending.append(self._next())
        return self.pending[-1].x.copy()

    def _next(self):
        if self.in_initial_phase:
            return Query(self.box.from_unit(self.streams.initial.random(self.box.dim)))
        if self._refit_due():
            self.scaling.fit(self._y)
            self._refit()
        x, component = self._propose()
        return Query(self.scaling.query(x), component)

    def tell(self, query, y):
        """Take the observation of any point of the box.

        Parameters
        ----------
        query : array_like of shape (d,)
            A pending query, or another point of the box.
        y : float or None
            Observed value, to be maximised; None reports that the evaluation failed: the query
            is no longer pending, the failure is kept in `result`, the model learns nothing.

        Raises
        ------
        ValueError, TypeError
            Wrong shape, outside the box, NaN, infinite, complex or text; the state is unchanged.
        """
        x, value = self.validated(query, y)
        at = next((i for i, q in enumerate(self.pending) if np.array_equal(q.x, x)), None)
        component = None if at is None else self.pending[at].component
        if y is not None:
            # a model input is computed before anything changes: it may raise
            self._observe(self.scaling.x(x), float(self.scaling.y(value)), component)
            self._X.append(x)
            self._y.append(value)
        if at is not None:
            del self.pending[at]
        self._history.append((x, value, component))

    def validated(self, query, y):
        """Return query and observation as `tell` takes them, or raise as it does; change nothing.

        Returns
        -------
        x : ndarray of shape (d,)
        value : float
            NaN for a failed evaluation.
        """
        x = self.box.check(query)
        step = len(self._history) + 1
        return x, np.nan if y is None else _scalar(y, f"evaluation {step}, x={x.tolist()}")

    def posterior_mean(self, X):
        """Return the model's mean of f at points of shape (n, d), in the units of y."""
        raise NotImplementedError

    def no_model(self):
        """Return the error of those who ask for a model that is not there."""
        return ValueError(f"no model yet: ask() makes it after {self.n_init} observations, "
                          f"{self.n_told} told")  # fmt: skip

    def recommend(self):
        """Return the query with the largest posterior mean, shape (d,).

        A model that is due for a refit is refitted on a copy: looking does not change the run.

        Raises
        ------
        ValueError
            Nothing has been told yet.
        """
        if not self._y:
            raise ValueError("no observation yet: tell at least one before recommend()")
        X, y = self.data()
        if self.in_initial_phase:
            return X[y.argmax()].copy()
        model = self
        if self._refit_due():
            model = copy.deepcopy(self)
            model.scaling.fit(y)
            model._refit()
        return X[model.posterior_mean(X).argmax()].copy()

    def result(self):
        """Return the history as a tidy frame: t, x_1..x_d, y, component, status.

        `component` is NaN for initial points and for points that were not asked for; `status`
        is "ok" or "failed".
        """
        import pandas as pd

        rows = [
            (t, *x, y, np.nan if c is None else c, "failed" if np.isnan(y) else "ok")
            for t, (x, y, c) in enumerate(self._history, start=1)
        ]
        names = [f"x_{i}" for i in range(1, self.box.dim + 1)]
        return pd.DataFrame(rows, columns=["t", *names, "y", "component", "status"])


def _scalar(y, where):
    """Return one finite real number, or say where it came from."""
    try:
        value = np.squeeze(as_finite_array(y, "y"))
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{where}: {error}; report a failed evaluation as tell(query, None)"
        ) from None
    if value.ndim:
        raise ValueError(f"{where}: y must be one number, got an array of shape {value.shape}")
    return float(value)
