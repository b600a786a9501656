"""What a Gaussian process says of f and of its data: predictions, samples, likelihoods."""

import numpy as np

from fivebo.common.gp.factor import clip_variance, log_density
from fivebo.common.gp.functionals import as_functionals
from fivebo.common.gp.kernels import Stationary, check_no_white_noise

BLOCK_POINTS = 256
"""Points at a time: their covariances with the data stay in the processor's cache."""


class Predictions:
    """The questions to a `GP`; what it grows by stands in `GP` itself."""

    def predict(self, X, weights=None, return_cov=False):
        """Return posterior mean and variance (or covariance) of f at any points.

        Parameters
        ----------
        X : array_like of shape (m, d) or (m, S, d)
            Query points, or representatives of linear functionals.
        weights : array_like of shape (m, S) or (S,), optional
            Weights of the representatives; default 1/S.
        return_cov : bool, optional
            Return the (m, m) covariance matrix instead of the variances.

        Returns
        -------
        mean : ndarray of shape (m,) or (m, p)
            In units of y.
        var : ndarray of shape (m,), or (m, m)
            In squared units of y.
        """
        query = as_functionals(X, weights)
        if self._data is None:
            check_no_white_noise(self.kernel, query.points[:1])
        prior = query.cross(self.kernel, query) if return_cov else query.diag(self.kernel)
        if self._data is None:
            return np.full(len(query), self.mean), prior
        V = self._factor.solve(self._data.cross(self.kernel, query))
        mean = self.mean + V.T @ self._whitened
        if return_cov:
            return mean, prior - V.T @ V
        return mean, clip_variance(prior - np.einsum("tm,tm->m", V, V), prior)

    @property
    def weights(self):
        """Weights ``(K_t + noise_var I)^{-1} (y - mean)`` of the data, shape (t,) or (t, p)."""
        if self._weights is None:
            self._weights = self._factor.solve_transposed(self._whitened)
        return self._weights

    def predict_mean(self, X):
        """Return the posterior mean at points X of shape (m, d): no triangular solve, O(t m)."""
        if self._data is None:
            return np.full(len(X), self.mean)
        query, data, weights = as_functionals(X), self._data, self.weights
        if isinstance(self.kernel, Stationary) and getattr(data, "plain", False) and query.plain:
            return self.mean + _weighted(self.kernel, query.points, data.points, weights)
        blocks = (query.part(i, i + BLOCK_POINTS) for i in range(0, len(query), BLOCK_POINTS))
        return self.mean + np.concatenate(
            [block.cross(self.kernel, data) @ weights for block in blocks]
        )

    def predict_slopes(self, x):
        """Return mean, variance and their derivatives by x at one point, O(t^2).

        Parameters
        ----------
        x : ndarray of shape (d,)

        Returns
        -------
        mean, var : float
        mean_slope, var_slope : ndarray of shape (d,)
            Per unit of x. The kernel must have `slopes_by_x`, the data be plain points.
        """
        k = self.kernel(x[None], self._data.points)[0]
        slopes = self.kernel.slopes_by_x(x, self._data.points)
        v = self._factor.solve(k[:, None])[:, 0]
        prior = self.kernel.diag(x[None])
        var = clip_variance(prior - v @ v, prior)[0]
        w = self._factor.solve_transposed(v)
        return self.mean + k @ self.weights, var, self.weights @ slopes, -2 * (w @ slopes)

    def sample(self, X, rng, n_samples=1):
        """Draw joint samples of f from the posterior.

        Parameters
        ----------
        X : array_like of shape (m, d)
        rng : numpy.random.Generator
        n_samples : int, optional

        Returns
        -------
        ndarray of shape (n_samples, m)
        """
        mean, cov = self.predict(X, return_cov=True)
        if mean.ndim > 1:
            raise ValueError("sample needs scalar outputs, got p outputs; use one GP an output")
        values, vectors = np.linalg.eigh(cov)
        root = vectors * np.sqrt(np.clip(values, 0, None))
        return mean + rng.standard_normal((n_samples, len(mean))) @ root.T

    @property
    def log_det(self):
        """Log det(I + K_t / noise_var), twice the information gain in nats."""
        return float(
            2 * np.log(self._factor.diagonal()).sum() - self.n_observations * np.log(self.noise_var)
        )

    @property
    def log_marginal_likelihood(self):
        """Log p(y | hyperparameters), summed over outputs (R&W Eq. 2.30)."""
        if self._data is None:
            return 0.0
        return log_density(self._whitened, self._factor.diagonal())


def _weighted(kernel, X, Y, weights):
    """Return k(X, Y) @ weights, with distances from matrix products: twice as fast as `kernel`.

    They are good to rounding of the squared size of the points, in lengthscales.
    """
    centre, weights = Y.mean(0), kernel.variance * weights
    Y = (Y - centre) / kernel.length_scale
    squares, buffer = (Y**2).sum(1), np.empty((BLOCK_POINTS, len(Y)))
    found = np.empty((len(X), *weights.shape[1:]))
    for i in range(0, len(X), BLOCK_POINTS):
        A = (X[i : i + BLOCK_POINTS] - centre) / kernel.length_scale
        s = np.matmul(-2 * A, Y.T, out=buffer[: len(A)])
        s += squares
        s += (A**2).sum(1)[:, None]
        found[i : i + BLOCK_POINTS] = kernel._correlation(np.maximum(s, 0, out=s)) @ weights
    return found
