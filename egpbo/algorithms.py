"""EGP-TS: Thompson sampling with an ensemble of Gaussian processes, Algorithms 1 and 2 of [EGPBO].

Reference: [EGPBO] Lu et al., arXiv:2205.14090v1 (2022). It maximises. Algorithm 1 (K synchronous
workers) and Algorithm 2 (asynchronous) are the same object used in two ways: `ask(n)` and then
n times `tell`, or one `ask` for every `tell`; see `egpbo.parallel`.
"""

import numpy as np

from fivebo.common.checks import as_finite_array, positive
from fivebo.egpbo.acquisition import Maximiser
from fivebo.egpbo.box import settings_of, whole
from fivebo.egpbo.ensemble import Ensemble
from fivebo.egpbo.evidence import FitSettings, fit
from fivebo.egpbo.features import SampledFunction, as_dictionary, draw_frequencies
from fivebo.egpbo.optimizer import BoxOptimizer


class EGPTS(BoxOptimizer):
    r"""Ensemble Thompson sampling.

    .. math::
        m_t \sim \mathrm{Cat}(w_t), \quad \tilde\theta \sim N(\hat\theta^{m_t}, \Sigma^{m_t}),
        \quad x_{t+1} = \arg\max_{x \in X} \phi^{m_t}(x)'\tilde\theta

    Parameters
    ----------
    box : Box or array_like of shape (d, 2)
        Search space X.
    kernels : sequence of Kernel, optional
        Dictionary; default: the mixed one.
    n_init : int, optional
        Initial points t_0, uniform on the box.
    n_features : int, optional
        D, frequencies a component.
    noise_var : float, optional
        sigma_n^2, in squared units of the scaled observations.
    refit_every : int, optional
        Evaluations after which hyperparameters, frequencies, posteriors and weights are made
        anew from all data; 0: never after the first time.
    prior_weights : array_like of shape (M,), optional
        w_0; default 1/M.
    weight_floor : float, optional
        See `egpbo.ensemble.normalise`.
    evidence : {"features", "exact", "none"}, optional
        What weighs the components at a (re-)initialisation: the evidence of the feature model,
        that of the exact GP, or nothing (w_0, as in the released code).
    frequencies : {"spectral", "notebook"}, optional
        See `egpbo.features.draw_frequencies`.
    inputs, outputs : str, optional
        See `egpbo.optimizer.Scaling`.
    search : Search, optional
    fits : FitSettings, optional
    rng : int, numpy.random.Generator or Streams, optional

    Attributes
    ----------
    weights : ndarray of shape (M,)
        w_t.
    failed_fits : int
        Fits that gave no number and were replaced by the one before.

    Examples
    --------
    >>> optimizer = EGPTS([[-2, 2]], n_init=5, rng=0)
    >>> for _ in range(12):
    ...     x = optimizer.ask()
    ...     optimizer.tell(x, -(x[0] - 1) ** 2)
    >>> bool(abs(optimizer.recommend()[0] - 1) < 0.2)
    True

    Notes
    -----
    Source: [EGPBO] Algs. 1, 2; Sec. 3, Sec. 3.1, Sec. 3.2, Sec. 5, Eqs. (7), (10), (12).
    """

    parallel = True

    def __init__(
        self, box, kernels=None, *, n_init=10, n_features=50, noise_var=0.01, refit_every=50,
        prior_weights=None, weight_floor=0.0, evidence="features", frequencies="spectral",
        inputs="unit", outputs="standardised", search=None, fits=None, rng=0,
    ):  # fmt: skip
        super().__init__(box, n_init=n_init, inputs=inputs, outputs=outputs, rng=rng)
        self.kernels = as_dictionary(kernels)
        _check_settings(noise_var, weight_floor, evidence, frequencies)
        self.prior_weights = _prior_weights(prior_weights, len(self.kernels))
        self.n_features = whole(n_features, "n_features")
        self.refit_every, self.noise_var = whole(refit_every, "refit_every", 0), noise_var
        self.weight_floor, self.evidence, self.frequencies = weight_floor, evidence, frequencies
        self.fits = settings_of(FitSettings, fits, "fits")
        self.maximiser = Maximiser(*self.scaling.limits, search)
        self.ensemble = None
        self.hyperparameters = [None] * len(self.kernels)
        self.failed_fits = 0
        self._fitted_at = self._full_fit_at = 0  # mutants: the first fit sets both before use

    def ask(self, n=None):
        """Return a new query, or n of them drawn from the same posterior (one synchronous round).

        Parameters
        ----------
        n : int, optional
            K workers of Alg. 1; each query has its own component and its own sample.

        Returns
        -------
        ndarray of shape (d,), or (n, d) with `n`
        """
        if n is None:
            return super().ask()
        return np.stack([super(EGPTS, self).ask() for _ in range(whole(n, "n"))])

    @property
    def weights(self):
        """Mixture weights w_t, shape (M,); w_0 before the first model. [EGPBO] Eq. (9)."""
        return self.prior_weights.copy() if self.ensemble is None else self.ensemble.weights

    def _refit_due(self):
        if self.ensemble is None:
            return True
        return self.refit_every > 0 and self.n_told - self._fitted_at >= self.refit_every

    def _refit(self):
        """(Re-)initialise from all acquired pairs. [EGPBO] Alg. 1, Sec. 3.1, Eqs. (8), (9)."""
        X, y = self.data()
        X, y = self.scaling.x(X), self.scaling.y(y)
        found = self._fit_components(X, y)
        V = [self._frequencies(k, h) for k, h in zip(self.kernels, found, strict=True)]
        prior_vars = [h.prior_var for h in found]
        self.ensemble = Ensemble(V, prior_vars, self.noise_var, self.prior_weights,
                                 self.weight_floor)  # fmt: skip
        exact = [h.evidence for h in found] if self.evidence == "exact" else None
        self.ensemble.condition(X, y, exact)
        if self.evidence == "none":
            self.ensemble.log_weights = self.ensemble.log_prior_weights.copy()
        self._fitted_at = self.n_told

    def _frequencies(self, kernel, hyperparameters):
        return draw_frequencies(
            kernel, hyperparameters.length_scale, self.n_features, self.box.dim,
            self.streams.algorithm, self.frequencies,
        )  # fmt: skip

    def _fit_components(self, X, y):
        """Fit every component; one that fails keeps its last hyperparameters."""
        full = self.ensemble is None or self.n_told - self._full_fit_at >= self.fits.full_every
        if full:
            self._full_fit_at = self.n_told
        for m, kernel in enumerate(self.kernels):
            last = self.hyperparameters[m]
            try:
                self.hyperparameters[m] = fit(
                    kernel, X, y, self.noise_var, self.fits, last,
                    self.fits.restarts if full else 0, self.streams.algorithm,
                )  # fmt: skip
            except np.linalg.LinAlgError:
                if last is None:
                    raise
                self.failed_fits += 1
        return self.hyperparameters

    def _propose(self):
        """Draw a component and a function from it, and maximise it. [EGPBO] Eqs. (10), (12)."""
        m = self.ensemble.draw_component(self.streams.algorithm)
        return self._sample_maximiser(m)[0], m

    def _sample_maximiser(self, m):
        theta = self.ensemble.draw_theta(m, self.streams.algorithm)
        function = SampledFunction(self.ensemble.V[m], theta)
        return self.maximiser.maximise(function, self.streams.algorithm)  # mutants: a pair, twice

    def _observe(self, x, y, component):
        """Update weights and posteriors of all components. [EGPBO] Eqs. (13), (15)."""
        if self.ensemble is not None:
            self.ensemble.update(x, y)

    def posterior_mean(self, X):
        """Return the mixture's posterior mean at points of shape (n, d). [EGPBO] Eq. (8)."""
        X = self.box.check_all(X)
        if self.ensemble is None:
            raise self.no_model()
        mean = self.ensemble.mean(self.scaling.x(X))
        return self.scaling.centre + self.scaling.scale * mean


def _check_settings(noise_var, weight_floor, evidence, frequencies):
    positive(noise_var, "noise_var")
    if as_finite_array(weight_floor, "weight_floor", ndim=0) < 0:
        raise ValueError(f"weight_floor must be at least 0, got {weight_floor!r}")
    if evidence not in ("features", "exact", "none"):
        raise ValueError(f"evidence must be 'features', 'exact' or 'none', got {evidence!r}")
    if frequencies not in ("spectral", "notebook"):
        raise ValueError(f"frequencies must be 'spectral' or 'notebook', got {frequencies!r}")


def _prior_weights(weights, n):
    weights = np.full(n, 1 / n) if weights is None else as_finite_array(weights, "prior_weights")
    if weights.shape != (n,) or (weights < 0).any():
        raise ValueError(f"prior_weights must be {n} numbers >= 0, got {weights.tolist()}")
    if abs(weights.sum() - 1) > 1e-9:
        raise ValueError(f"prior_weights must sum to 1, got {weights.sum():g}")
    return weights
