"""The GP of the baseline GP-EI: isotropic squared exponential, refitted at every batch.

It gives the posterior of `common.gp`, but the mean on many candidates costs no triangular solve,
which an exhaustive search needs.
"""

import warnings

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import erfcx, log_ndtr, ndtr

from fivebo.common.checks import count
from fivebo.common.gp.factor import NotPositiveDefiniteError, factorise

BLOCK = 256
"""Candidates at a time: their covariances with the data stay in the processor's cache."""

LENGTH_LIMITS = (1e-2, 1e2)
"""Limits of the lengthscale, in units of the root mean squared distance of the data."""

VARIANCE_LIMITS, NOISE_LIMITS = (1e-2, 1e2), (1e-6, 1e1)
"""Limits of prior and noise variance, in squared units of the standardised observations."""


START = (0.9, 0.5, 0.1)
"""Prior variance, lengthscale and noise variance that every fit starts from, in those units."""


def expected_improvement(mean, std, f_min, jitter=0.01):
    r"""Return the expected improvement below `f_min` by more than `jitter`.

    .. math:: EI = g\,\Phi(g / s) + s\,\varphi(g / s), \quad g = f_{\min} - \mu - \xi

    Source: [CDFO] Sec. 4 (GpyOpt, expected improvement); xi = 0.01 is that library's.

    Parameters
    ----------
    mean, std : array_like
        mu and s of f; s may be 0.
    f_min : float
    jitter : float, optional
        xi, in units of the (standardised) observations.

    >>> round(float(expected_improvement(0.0, 1.0, 0.0, jitter=0.0)), 4)
    0.3989
    """
    gain, std = f_min - np.asarray(mean, dtype=float) - jitter, np.asarray(std, dtype=float)
    z = gain / np.maximum(std, 1e-12)
    smooth = gain * ndtr(z) + std * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return np.where(std > 1e-12, smooth, np.maximum(gain, 0))


def log_expected_improvement(mean, std, f_min, jitter=0.01):
    r"""Return the logarithm of `expected_improvement`, finite where that underflows to 0.

    .. math:: \log EI = \log s + \log h(g / s), \quad h(z) = \varphi(z) + z\,\Phi(z)

    Source: [CDFO] Sec. 4 maximises the improvement; the logarithm is ours.

    Parameters
    ----------
    mean, std, f_min, jitter
        As in `expected_improvement`; std is taken as at least 1e-12.

    >>> round(float(log_expected_improvement(100.0, 1.0, 0.0, jitter=0.0)), 2)
    -5010.13
    """
    gain, std = f_min - np.asarray(mean, dtype=float) - jitter, np.maximum(std, 1e-12)
    return np.log(std) + _log_h(gain / std)


def _log_h(z):
    """Return log(phi(z) + z Phi(z)) without cancellation."""
    z = np.asarray(z, dtype=float)
    near = np.maximum(z, -1)
    far = np.clip(-z, 1, 1e5)  # beyond, h(z) is phi(z) / z^2 to working precision
    mills = np.sqrt(np.pi / 2) * erfcx(far / np.sqrt(2))
    tail = np.where(z < -1e5, -2 * np.log(np.maximum(-z, 1)), np.log1p(-far * mills))
    return np.where(
        z > -1,
        np.log(np.exp(-0.5 * near**2) / np.sqrt(2 * np.pi) + near * ndtr(near)),
        _log_density(z) + tail,
    )


def _log_density(z):
    """Return the logarithm of the standard normal density."""
    return -0.5 * z**2 - 0.5 * np.log(2 * np.pi)


ACQUISITIONS = {"log": log_expected_improvement, "plain": expected_improvement}
"""What is maximised: the same point wherever the plain improvement does not underflow."""


class Surrogate:
    r"""GP with covariance :math:`v \exp(-\|x - x'\|^2 / 2\ell^2)` and Gaussian noise.

    Observations are standardised. Hyperparameters maximise the marginal likelihood (scikit-learn)
    on at most `n_fit` random data: from a fixed start, and the first time from `restarts` random
    ones, later from the last values. Source: [CDFO] Sec. 4, "the default RBF kernel was used".

    Parameters
    ----------
    n_fit : int, optional
        Data that hyperparameters are fitted to; the posterior has all.
    restarts : int, optional
    """

    def __init__(self, n_fit=300, restarts=5):
        self.n_fit = count(n_fit, "n_fit")
        self.restarts = count(restarts, "restarts")
        self.theta = None
        """Logarithms of v, of the lengthscale over the data's distance scale, of the noise."""

    def fit(self, X, y, rng):
        """Fit hyperparameters, and condition on data X (n, d), y (n,); return self."""
        self.centre, self.scale = float(np.mean(y)), float(np.std(y))
        if not self.scale > 1e-12 * abs(self.centre):
            self.scale = 1.0  # all values are equal
        z = (y - self.centre) / self.scale
        self._middle = X.mean(0)
        self._spread = float(np.sqrt(2 * X.var(0).sum())) or 1.0
        some = np.arange(len(X))
        if len(X) > self.n_fit:
            some = rng.choice(len(X), self.n_fit, replace=False)
        self._fit_hyperparameters((X[some] - self._middle) / self._spread, z[some], rng)
        return self.condition(X, z, *np.exp(self.theta))

    def condition(self, X, z, variance, length, noise_var):
        """Condition on standardised data; `length` is relative to the data's distance scale."""
        self.variance, self.noise_var = float(variance), float(noise_var)
        self._scale_x = self._spread * length
        self._X = (X - self._middle) / self._scale_x
        self._half_squares = 0.5 * (self._X**2).sum(1)
        L, jitter = factorise(self._covariance(self._X), self.noise_var, self.variance)
        if L is None:
            raise NotPositiveDefiniteError(
                f"covariance of {len(X)} observations stays singular with jitter {jitter:.3g}, "
                f"noise_var {self.noise_var:.3g}"
            )
        self._L, self._alpha = L, cho_solve((L, True), z, check_finite=False)
        self.f_min = float((z - (self.noise_var + jitter) * self._alpha).min())
        return self

    def _fit_hyperparameters(self, X, z, rng):
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        starts = [START] if self.theta is None else [np.exp(self.theta), START]
        found = []
        for variance, length, noise_var in starts:
            kernel = ConstantKernel(variance, VARIANCE_LIMITS) * RBF(length, LENGTH_LIMITS)
            model = GaussianProcessRegressor(
                kernel + WhiteKernel(noise_var, NOISE_LIMITS),
                n_restarts_optimizer=self.restarts if self.theta is None else 0,
                random_state=int(rng.integers(2**31)),
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a value at its limit is a value
                model.fit(X, z)
            theta = model.kernel_.theta
            if np.isfinite(theta).all():
                found.append((model.log_marginal_likelihood_value_, theta))
        if found:
            self.theta = max(found, key=lambda pair: pair[0])[1]
        elif self.theta is None:
            self.theta = np.log(START)

    def _covariance(self, A, out=None):
        """Return covariances of scaled points with the data, shape (m, n), without a copy."""
        out = np.matmul(A, self._X.T, out=out)
        out -= self._half_squares
        out -= 0.5 * (A**2).sum(1)[:, None]
        np.minimum(out, 0, out=out)
        np.exp(out, out=out)
        out *= self.variance
        return out

    def mean(self, X):
        """Return the posterior mean at points (m, d), standardised, by blocks."""
        mean, buffer = np.empty(len(X)), np.empty((BLOCK, len(self._X)))
        for start in range(0, len(X), BLOCK):
            A = (X[start : start + BLOCK] - self._middle) / self._scale_x
            mean[start : start + BLOCK] = self._covariance(A, buffer[: len(A)]) @ self._alpha
        return mean

    def mean_std(self, X):
        """Return posterior mean and standard deviation of f at points (m, d), standardised."""
        cross = self._covariance((X - self._middle) / self._scale_x)
        V = solve_triangular(self._L, cross.T, lower=True, check_finite=False)
        var = self.variance - np.einsum("nm,nm->m", V, V)
        return cross @ self._alpha, np.sqrt(np.maximum(var, 0))

    def improvement_gradient(self, x, jitter, search="log"):
        r"""Return the acquisition at one point and its gradient in x, shape (d,).

        .. math:: \nabla EI = -\Phi(z) \nabla\mu + \varphi(z) \nabla s, \quad
                  \nabla \log EI = \nabla EI / EI

        Parameters
        ----------
        x : ndarray of shape (d,)
        jitter : float
        search : {"log", "plain"}, optional
        """
        a = (x - self._middle) / self._scale_x
        k = self._covariance(a[None])[0]
        w = cho_solve((self._L, True), k, check_finite=False)
        std = np.sqrt(max(self.variance - k @ w, 1e-18))
        slopes = k[:, None] * (self._X - a) / self._scale_x  # d k_i / d x
        mean, mean_slope = k @ self._alpha, self._alpha @ slopes
        std_slope = -(w @ slopes) / std
        z = (self.f_min - mean - jitter) / std
        value = float(ACQUISITIONS[search](mean, std, self.f_min, jitter))
        scale = value if search == "log" else 0.0  # divided by EI in the exponents
        share, density = np.exp(log_ndtr(z) - scale), np.exp(_log_density(z) - scale)
        return value, -share * mean_slope + density * std_slope


def best_candidate(surrogate, X, jitter, allowed=None, search="log"):
    """Return index and value of the largest acquisition on a finite set, exactly.

    Improvement grows with the standard deviation, so the prior one bounds it from the mean alone;
    candidates are taken in the order of that bound until it falls below the best value.

    Parameters
    ----------
    surrogate : Surrogate
    X : ndarray of shape (m, d)
    jitter : float
    allowed : ndarray of bool, shape (m,), optional
        Candidates to choose from; default all.
    search : {"log", "plain"}, optional
    """
    acquisition = ACQUISITIONS[search]
    bound = acquisition(surrogate.mean(X), np.sqrt(surrogate.variance), surrogate.f_min, jitter)
    if allowed is not None:
        bound[~allowed] = -np.inf
    order = np.argsort(-bound, kind="stable")
    best, best_value = int(order[0]), -np.inf
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        block = block[bound[block] > best_value]
        if not len(block):
            break
        values = acquisition(*surrogate.mean_std(X[block]), surrogate.f_min, jitter)
        if values.max() > best_value:
            best, best_value = int(block[values.argmax()]), float(values.max())
    return best, best_value
