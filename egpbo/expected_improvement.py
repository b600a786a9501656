"""EGP-EI and GP-EI: expected improvement under exact GPs and under their mixture.

Reference: [EGPBO] Lu et al., arXiv:2205.14090v1 (2022), Sec. 5.4. Its formula was not available to
us; the sampled form is that of the released code with true evidences in the weights.
"""

import numpy as np
from scipy.special import logsumexp

from fivebo.common.checks import one_of
from fivebo.common.gp.acquisition import improvement_slope, log_expected_improvement
from fivebo.common.gp.posterior import GP
from fivebo.egpbo.ensemble import normalise
from fivebo.egpbo.features import Kernel
from fivebo.egpbo.optimizer import DictionaryOptimizer

NOISE_BOUNDS = (1e-4, 1.0)
"""Limits of the learned noise variance, in squared units of the standardised observations."""


class MixtureImprovement:
    r"""Logarithm of the expected improvement over b of a mixture of GPs, and its gradient.

    .. math:: EI = \sum_m w^m \bigl[ (\mu_m - b) \Phi(z_m) + s_m \varphi(z_m) \bigr],
              \qquad z_m = (\mu_m - b) / s_m

    Where EI is too small to be told from 0, its logarithm still leads to where it is largest.

    Parameters
    ----------
    gps : sequence of GP
    weights : sequence of float
    best : float
        b, in units of the GPs' outputs.

    Notes
    -----
    Source: [EGPBO] Sec. 5.4.
    """

    def __init__(self, gps, weights, best):
        self.gps, self.best = gps, best
        with np.errstate(divide="ignore"):
            self.log_weights = np.log(weights)

    def __call__(self, X):
        """Return values at points of shape (n, d), shape (n,)."""
        moments = [gp.predict(X) for gp in self.gps]
        parts = [log_expected_improvement(mean - self.best, np.sqrt(var)) for mean, var in moments]
        return logsumexp(self.log_weights[:, None] + np.stack(parts), axis=0)

    def value_and_gradient(self, x):
        """Return the value and the gradient at one point of shape (d,)."""
        parts, slopes = [], []
        for gp in self.gps:
            mean, var, mean_slope, var_slope = gp.predict_slopes(x)
            std = np.sqrt(max(var, np.finfo(float).tiny))
            part, slope = improvement_slope(
                mean - self.best, std, mean_slope, var_slope / (2 * std), log=True
            )
            parts.append(part)
            slopes.append(slope)
        parts = self.log_weights + np.array(parts)
        value = logsumexp(parts)
        return float(value), np.exp(parts - value) @ np.array(slopes)


class EGPEI(DictionaryOptimizer):
    r"""Expected improvement with an ensemble of exact GPs, refitted at every evaluation.

    Parameters
    ----------
    box : Box or array_like of shape (d, 2)
    kernels : sequence of Kernel, optional
        Default: the mixed dictionary.
    form : {"sampled", "mixture"}, optional
        "sampled" draws one component by the weights and maximises its EI, as the released code
        does; "mixture" maximises the exact EI of the mixture, see `MixtureImprovement`.
    n_init : int, optional
    search : Search, optional
    fits : FitSettings, optional
    rng : int, numpy.random.Generator or Streams, optional

    Notes
    -----
    Source: [EGPBO] Sec. 5.4, Figs. 10, 11. The weights are evidences; the released code uses
    their n-th root.
    """

    def __init__(
        self, box, kernels=None, *, form="sampled", n_init=10, search=None, fits=None, rng=0
    ):
        super().__init__(box, kernels, 1, search=search, fits=fits, n_init=n_init, rng=rng)
        one_of(form, "form", ("sampled", "mixture"))
        self.form, self.gps = form, None

    @property
    def weights(self):
        """Weights by exact evidence, shape (M,). [EGPBO] Eq. (9)."""
        if self.gps is None:
            return np.full(len(self.kernels), 1 / len(self.kernels))
        return normalise(np.array([h.evidence for h in self.hyperparameters]))

    def _build(self, X, y):
        found = self._fit_components(X, y, NOISE_BOUNDS[0], NOISE_BOUNDS)
        self.gps = [GP(h.kernel, h.noise_var).condition(X, y) for h in found]

    def _suggest(self):
        best, weights = float(self.scaling.y(self.data()[1].max())), self.weights
        if self.form == "mixture":
            acquisition, m = MixtureImprovement(self.gps, weights, best), None
        else:
            m = int(self.streams.algorithm.choice(len(weights), p=weights))
            acquisition = MixtureImprovement([self.gps[m]], [1.0], best)
        return self.maximiser.maximise(acquisition, self.streams.algorithm)[0], m

    def _predict(self, X):
        means, variances = zip(*(gp.predict(X) for gp in self.gps), strict=True)
        return np.stack(means), np.stack(variances)


class GPEI(EGPEI):
    """Expected improvement with one exact GP.

    Parameters
    ----------
    box : Box or array_like of shape (d, 2)
    kernel : Kernel, optional
        Default: Matern-5/2 with one lengthscale an input, the default of the library that the
        released code used.
    **settings
        Of `EGPEI`.

    Notes
    -----
    Source: [EGPBO] Sec. 5.
    """

    def __init__(self, box, kernel=None, **settings):
        super().__init__(box, [kernel or Kernel("matern-5/2", ard=True)], **settings)
