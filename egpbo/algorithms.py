"""EGP-TS: Thompson sampling with an ensemble of Gaussian processes, Algorithms 1 and 2 of [EGPBO].

Reference: [EGPBO] Lu et al., arXiv:2205.14090v1 (2022). It maximises. Algorithm 1 (K synchronous
workers) and Algorithm 2 (asynchronous) are the same object used in two ways: `ask(n)` and then
n times `tell`, or one `ask` for every `tell`; see `egpbo.parallel`.
"""

import numpy as np

from fivebo.common.checks import as_finite_array, count, one_of, positive
from fivebo.egpbo.ensemble import Ensemble
from fivebo.egpbo.features import SampledFunction, draw_frequencies
from fivebo.egpbo.optimizer import DictionaryOptimizer


class EGPTS(DictionaryOptimizer):
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
        See `egpbo.scaling.Scaling`.
    search : Search, optional
    fits : FitSettings, optional
    rng : int, numpy.random.Generator or Streams, optional

    Attributes
    ----------
    weights : ndarray of shape (M,)
        w_t.

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
        super().__init__(
            box, kernels, refit_every, search=search, fits=fits, n_init=n_init, inputs=inputs,
            outputs=outputs, rng=rng,
        )  # fmt: skip
        _check_settings(weight_floor, evidence, frequencies)
        self.prior_weights = _prior_weights(prior_weights, len(self.kernels))
        self.n_features = count(n_features, "n_features")
        self.noise_var = positive(noise_var, "noise_var")
        self.weight_floor, self.evidence, self.frequencies = weight_floor, evidence, frequencies
        self.ensemble = None

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
        found = super().ask(n)
        return found if n is None else np.stack(found)

    @property
    def weights(self):
        """Mixture weights w_t, shape (M,); w_0 before the first model. [EGPBO] Eq. (9)."""
        return self.prior_weights.copy() if self.ensemble is None else self.ensemble.weights

    def _build(self, X, y):
        """(Re-)initialise from all acquired pairs. [EGPBO] Alg. 1, Sec. 3.1, Eqs. (8), (9)."""
        found = self._fit_components(X, y, self.noise_var)
        V = self._frequencies([h.kernel.length_scale for h in found])
        prior_vars = [h.kernel.variance for h in found]
        self.ensemble = Ensemble(V, prior_vars, self.noise_var, self.prior_weights,
                                 self.weight_floor)  # fmt: skip
        exact = [h.evidence for h in found] if self.evidence == "exact" else None
        self.ensemble.condition(X, y, exact)
        if self.evidence == "none":
            self.ensemble.log_weights = self.ensemble.log_prior_weights.copy()

    def _frequencies(self, length_scales):
        """Draw the frequencies of every component."""
        return [
            draw_frequencies(
                kernel, scale, self.n_features, self.box.dim, self.streams.algorithm,
                self.frequencies,
            )
            for kernel, scale in zip(self.kernels, length_scales, strict=True)
        ]  # fmt: skip

    def _suggest(self):
        """Draw a component and a function from it, and maximise it. [EGPBO] Eqs. (10), (12)."""
        m = self.ensemble.draw_component(self.streams.algorithm)
        return self._sample_maximiser(m)[0], m

    def _sample_maximiser(self, m):
        theta = self.ensemble.draw_theta(m, self.streams.algorithm)
        function = SampledFunction(self.ensemble.V[m], theta)
        unit = np.sqrt(self.scaling.square)
        return self.maximiser.maximise(function, self.streams.algorithm, unit)  # mutants: a pair

    def _learn(self, query, value, note):
        """Update weights and posteriors of all components. [EGPBO] Eqs. (13), (15)."""
        if self.ensemble is not None:
            self.ensemble.update(self.scaling.x(query), float(self.scaling.y(value)))

    def _predict(self, X):
        return self.ensemble.posterior(X)


def _check_settings(weight_floor, evidence, frequencies):
    if as_finite_array(weight_floor, "weight_floor", ndim=0) < 0:
        raise ValueError(f"weight_floor must be at least 0, got {weight_floor!r}")
    one_of(evidence, "evidence", ("features", "exact", "none"))
    one_of(frequencies, "frequencies", ("spectral", "notebook"))


def _prior_weights(weights, n):
    weights = np.full(n, 1 / n) if weights is None else as_finite_array(weights, "prior_weights")
    if weights.shape != (n,) or (weights < 0).any():
        raise ValueError(f"prior_weights must be {n} numbers >= 0, got {weights.tolist()}")
    if abs(weights.sum() - 1) > 1e-9:
        raise ValueError(f"prior_weights must sum to 1, got {weights.sum():g}")
    return weights
