"""EGP-EI and GP-EI: expected improvement under exact GPs and under their mixture.

Reference: [EGPBO] Lu et al., arXiv:2205.14090v1 (2022), Sec. 5.4. Its formula was not available to
us; the sampled form is that of the released code with true evidences in the weights.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.spatial.distance import cdist
from scipy.special import ndtr

from fivebo.egpbo.acquisition import Maximiser
from fivebo.egpbo.box import settings_of
from fivebo.egpbo.ensemble import normalise
from fivebo.egpbo.evidence import FitSettings, draw_starts, maximise_evidence
from fivebo.egpbo.features import Kernel, as_dictionary, correlation
from fivebo.egpbo.optimizer import BoxOptimizer

NOISE_BOUNDS = (1e-4, 1.0)
"""Limits of the learned noise variance, in squared units of the standardised observations."""


def expected_improvement(mean, std, best):
    r"""Return the expected improvement over `best`.

    .. math:: EI = (\mu - b)\,\Phi(z) + s\,\varphi(z), \quad z = (\mu - b) / s

    Source: [EGPBO] Sec. 5.4.

    Parameters
    ----------
    mean, std : array_like
        Of f; std may be 0.
    best : float
        b.

    >>> round(float(expected_improvement(0.0, 1.0, 0.0)), 4)
    0.3989
    """
    mean, std = np.asarray(mean, dtype=float), np.asarray(std, dtype=float)
    z = (mean - best) / np.maximum(std, 1e-12)
    return np.where(
        std > 1e-12,
        (mean - best) * ndtr(z) + std * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi),
        np.maximum(mean - best, 0),
    )


class ExactGP:
    """An exact GP with fitted magnitude, lengthscales and noise.

    Parameters
    ----------
    kernel : Kernel
    settings : FitSettings

    Notes
    -----
    Source: [EGPBO] Sec. 5 (GP-EI is refitted at every evaluation).
    """

    def __init__(self, kernel, settings):
        self.kernel, self.settings = kernel, settings
        self.values = None  # magnitude, lengthscales, noise variance
        self.evidence = -np.inf

    def fit(self, X, y, restarts, rng):
        """Fit all hyperparameters from the last values and `restarts` random ones."""
        starts = draw_starts(
            self.kernel, X.shape[1], self.settings, self.values, NOISE_BOUNDS, restarts, rng
        )
        self.values, self.evidence = maximise_evidence(
            self.kernel, X, y, self.settings, starts, NOISE_BOUNDS
        )
        self._X, (self._magnitude, *scales, noise_var) = X, self.values
        self._scales = np.array(scales)
        K = self._covariance(X) + noise_var * np.eye(len(X))
        self._factor = cho_factor(K, lower=True)
        self._alpha = cho_solve(self._factor, y)

    def _covariance(self, X):
        distances = cdist(X / self._scales, self._X / self._scales)
        return self._magnitude * correlation(self.kernel.family, distances)

    def predict(self, X):
        """Return mean and standard deviation of f at points of shape (n, d)."""
        K = self._covariance(X)
        V = solve_triangular(self._factor[0], K.T, lower=True)
        var = self._magnitude - np.einsum("ij,ij->j", V, V)
        return K @ self._alpha, np.sqrt(var.clip(0))


class _Improvement:
    """Expected improvement of a weighted set of GPs, with a numerical gradient."""

    def __init__(self, gps, weights, best):
        self.gps, self.weights, self.best = gps, weights, best

    def __call__(self, X):
        return sum(
            w * expected_improvement(*gp.predict(X), self.best)
            for gp, w in zip(self.gps, self.weights, strict=True)
        )

    def value_and_gradient(self, x, step=1e-5):
        steps = step * np.eye(len(x))
        values = self(np.vstack([x, x + steps, x - steps]))
        ahead, behind = np.split(values[1:], 2)
        return values[0], (ahead - behind) / (2 * step)


class EGPEI(BoxOptimizer):
    r"""Expected improvement with an ensemble of exact GPs.

    .. math:: EI(x) = \sum_m w^m \bigl[ (\mu_m - b) \Phi(z_m) + s_m \varphi(z_m) \bigr]

    Parameters
    ----------
    box : Box or array_like of shape (d, 2)
    kernels : sequence of Kernel, optional
        Default: the mixed dictionary.
    form : {"sampled", "mixture"}, optional
        "sampled" draws one component by the weights and maximises its EI, as the released code
        does; "mixture" maximises the exact EI of the mixture above.
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
        super().__init__(box, n_init=n_init, rng=rng)
        if form not in ("sampled", "mixture"):
            raise ValueError(f"form must be 'sampled' or 'mixture', got {form!r}")
        self.form = form
        self.kernels = as_dictionary(kernels)
        self.fits = settings_of(FitSettings, fits, "fits")
        self.gps = [ExactGP(kernel, self.fits) for kernel in self.kernels]
        self.maximiser = Maximiser(*self.scaling.limits, search)
        self._fitted_at = self._full_fit_at = 0

    @property
    def weights(self):
        """Weights by exact evidence, shape (M,). [EGPBO] Eq. (9)."""
        if not self._fitted_at:
            return np.full(len(self.gps), 1 / len(self.gps))
        return normalise(np.array([gp.evidence for gp in self.gps]))

    def _refit_due(self):
        return self.n_told > self._fitted_at

    def _refit(self):
        X, y = self.data()
        full = not self._fitted_at or self.n_told - self._full_fit_at >= self.fits.full_every
        if full:
            self._full_fit_at = self.n_told
        for gp in self.gps:
            restarts = self.fits.restarts if full else 0
            gp.fit(self.scaling.x(X), self.scaling.y(y), restarts, self.streams.algorithm)
        self._fitted_at = self.n_told

    def _propose(self):
        best, weights = float(self.scaling.y(max(self._y))), self.weights
        if self.form == "mixture":
            acquisition, m = _Improvement(self.gps, weights, best), None
        else:
            m = int(self.streams.algorithm.choice(len(weights), p=weights))
            acquisition = _Improvement([self.gps[m]], [1.0], best)
        return self.maximiser.maximise(acquisition, self.streams.algorithm)[0], m

    def posterior_mean(self, X):
        """Return the mixture's posterior mean at points of shape (n, d)."""
        X = self.scaling.x(self.box.check_all(X))
        if not self._fitted_at:
            raise self.no_model()
        mean = sum(w * gp.predict(X)[0] for w, gp in zip(self.weights, self.gps, strict=True))
        return self.scaling.centre + self.scaling.scale * mean


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
