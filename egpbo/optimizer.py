"""What every method of [EGPBO] shares: initial points, failures, dictionary and refits."""

import copy

import numpy as np

from fivebo.common.checks import count
from fivebo.common.search.domains import Box
from fivebo.common.search.optimizer import Asked, Optimizer, numbered
from fivebo.common.search.ties import tied_with_max
from fivebo.egpbo.acquisition import Maximiser, settings_of
from fivebo.egpbo.evidence import FitSettings, fit
from fivebo.egpbo.features import as_dictionary
from fivebo.egpbo.scaling import Scaling

CLOSE = 0.01
"""Distance, in sides of the box along every input, at which a query is passed over as failed."""


class BoxOptimizer(Optimizer):
    """Sequential or parallel maximisation over a box; subclasses give the proposal.

    The first `n_init` queries are uniform on the box ([EGPBO] Sec. 5, Alg. 1); then `_suggest`. A
    query near one that failed is replaced by a uniform one.

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

    def __init__(self, box, *, n_init=10, inputs="unit", outputs="standardised", rng=0):
        super().__init__(rng)
        self.box = box if isinstance(box, Box) else Box(box)
        self.n_init = count(n_init, "n_init")
        self.scaling = Scaling(self.box, inputs, outputs)

    def _suggest(self):
        """Return a model input and the component that proposed it."""
        raise NotImplementedError

    def _learn(self, query, value, note):
        """Take nothing at once: what has no model, or builds it from all data, needs no more."""

    @property
    def in_initial_phase(self):
        """Whether the model still waits for initial points."""
        return self.n_told < self.n_init

    def data(self):
        """Return all successful queries (n, d) and observations (n,) in the order of `tell`."""
        pairs = [(e.query, e.value) for e in self.told if e.value is not None]
        X, y = zip(*pairs, strict=True) if pairs else ((), ())
        return np.array(X).reshape(-1, self.box.dim), np.array(y)

    def room(self):
        """Return how many queries can be handed out: initial points are waited for before others.

        See `Optimizer.room`.
        """
        if self.parallel and self.in_initial_phase:
            return max(0, self.n_init - self.n_told - len(self.pending))
        return super().room()

    def _propose(self):
        if self.in_initial_phase:
            return self._passed_over(Asked(self.box.uniform(1, self.streams.initial)[0]))
        x, component = self._suggest()
        return self._passed_over(Asked(self.scaling.query(x), component))

    def _passed_over(self, asked):
        """Replace a query near a failed one by the first of 100 uniform ones that is near none."""
        if not self.failed or not self._near_failed(asked.query[None])[0]:
            return asked
        points = self.box.uniform(100, self.streams.initial)
        return Asked(points[self._near_failed(points).argmin()])

    def _near_failed(self, points):
        apart = np.abs(points[:, None] - np.array(self.failed)) / self.box.sides
        return (apart <= CLOSE).all(2).any(1)

    def _own(self, query):
        return self.box.check(query)

    def _public(self, query):
        return query.copy()

    def _answers(self, query, asked):
        return np.array_equal(query, asked)

    def recommend(self):
        """Return the query with the largest observation, shape (d,).

        Raises
        ------
        ValueError
            Nothing has been told yet.
        """
        self._needs_data()
        X, y = self.data()
        return X[tied_with_max(y)[0]]

    def _columns(self):
        return [*numbered("x", self.box.dim), "y", "component"]

    def _row(self, entry):
        """Return the row; component is NaN for initial points and those not asked for."""
        y, component = (np.nan if v is None else v for v in (entry.value, entry.note))
        return (*entry.query, y, component)


class DictionaryOptimizer(BoxOptimizer):
    """A `BoxOptimizer` with a model for every kernel of a dictionary, refitted every so often.

    Parameters
    ----------
    box, n_init, inputs, outputs, rng
        As in `BoxOptimizer`.
    kernels : sequence of Kernel or None
    refit_every : int
        Evaluations between refits; 0: never after the first.
    search : Search or None
    fits : FitSettings or None

    Attributes
    ----------
    hyperparameters : list of M Fit
        None before the first fit.
    """

    fits = True

    def __init__(self, box, kernels, refit_every, *, search, fits, **shared):
        super().__init__(box, **shared)
        self.kernels = as_dictionary(kernels)
        self.refit_every = count(refit_every, "refit_every", 0)
        self.fit_settings = settings_of(FitSettings, fits, "fits")
        self.maximiser = Maximiser(self.scaling.domain, search)
        self.hyperparameters = [None] * len(self.kernels)
        self._fitted_at = self._full_fit_at = 0  # mutants: the first fit sets both before use

    def _build(self, X, y):
        """Build the model from all data, in its units."""
        raise NotImplementedError

    def _predict(self, X):
        """Return means and variances of f at model inputs, shape (M, n), of all components."""
        raise NotImplementedError

    def _propose(self):
        if not self.in_initial_phase:
            self._refit_if_due()
        return super()._propose()

    def _refit_due(self):
        """Whether a refit is due; data that were all alike have no scale and are fitted again."""
        since = self.n_told - self._fitted_at
        if not self._fitted_at or (since and not self.scaling.informed):
            return True
        return 0 < self.refit_every <= since

    def _refit_if_due(self):
        if self._refit_due():
            X, y = self.data()
            self.scaling.fit(y)
            self._build(self.scaling.x(X), self.scaling.y(y))
            self._fitted_at = self.n_told

    def _fit_components(self, X, y, noise_var, noise_bounds=None):
        """Fit every component; one that fails keeps its last hyperparameters."""
        settings = self.fit_settings
        full = not self._fitted_at or self.n_told - self._full_fit_at >= settings.full_every
        if full:
            self._full_fit_at = self.n_told
        for m, kernel in enumerate(self.kernels):
            last = self.hyperparameters[m]
            try:
                found = fit(
                    kernel, X, y, noise_var, settings, last, settings.restarts if full else 0,
                    self.streams.algorithm,
                    noise_bounds=noise_bounds, x_spread=self.scaling.domain.sides,
                    y_square=self.scaling.square,
                )  # fmt: skip
            except np.linalg.LinAlgError:
                if last is None:
                    raise
                self.n_failed_fits += 1
            else:
                self.hyperparameters[m] = found
                self.n_fits_at_limit += bool(found.at_limit)
        return self.hyperparameters

    def posterior(self, X):
        r"""Return mean and standard deviation of f under the mixture of all components.

        .. math:: \mu = \sum_m w^m \mu^m, \qquad
            \sigma^2 = \sum_m w^m \bigl[ (\sigma^m)^2 + (\mu^m - \mu)^2 \bigr]

        A model that is due for a refit is refitted on a copy: looking does not change the run.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Points of the box.

        Returns
        -------
        mean, std : ndarray of shape (n,)
            In units of y.

        Raises
        ------
        ValueError, TypeError
            X is not in the box; fewer than `n_init` observations have been told.

        Notes
        -----
        Source: [EGPBO] Eq. (8).
        """
        X = self.box.check_all(X)
        if self.in_initial_phase:
            raise ValueError(
                f"no model yet: it is made after {self.n_init} observations, {self.n_told} told"
            )
        model = self
        if self._refit_due():
            model = copy.deepcopy(self)
            model._refit_if_due()
        means, variances = model._predict(model.scaling.x(X))
        mean = model.weights @ means
        var = model.weights @ (variances + (means - mean) ** 2)
        return model.scaling.centre + model.scaling.scale * mean, model.scaling.scale * np.sqrt(var)

    def recommend(self):
        """Return the query with the largest posterior mean, shape (d,).

        Before there is a model, that with the largest observation.

        Raises
        ------
        ValueError
            Nothing has been told yet.
        """
        if self.in_initial_phase:
            return super().recommend()
        X, _ = self.data()
        return X[tied_with_max(self.posterior(X)[0])[0]]
