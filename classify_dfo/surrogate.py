"""The GP of the baseline GP-EI: standardised, refitted at every batch, searched exhaustively."""

import numpy as np

from fivebo.common.checks import count
from fivebo.common.gp.acquisition import (
    expected_improvement,
    improvement_slope,
    log_expected_improvement,
)
from fivebo.common.gp.evidence import Limits, fit, search_limits
from fivebo.common.gp.kernels import SquaredExponential
from fivebo.common.gp.posterior import GP

BLOCK = 256
"""Candidates at a time whose deviations an exhaustive search computes."""

LIMITS = Limits(length_scale=(1e-2, 1e2), variance=(1e-2, 1e2), noise_var=(1e-6, 1e1))

START = np.log([0.9, 0.5, 0.1])
"""Prior variance, lengthscale and noise variance that every fit starts from, standardised."""

TIES = 1e-9
"""Relative difference of acquisitions that the rounding of a posterior explains."""

ACQUISITIONS = {"log": log_expected_improvement, "plain": expected_improvement}
"""What is maximised: the same point wherever the plain improvement does not underflow."""


class Surrogate:
    r"""GP with covariance :math:`v \exp(-\|x - x'\|^2 / 2\ell^2)` and Gaussian noise.

    Observations are standardised, points are divided by the root mean squared distance of the
    data. Hyperparameters maximise the marginal likelihood on at most `n_fit` random data: from a
    fixed start, and the first time from `restarts` random ones, later from the last values.
    Source: [CDFO] Sec. 4, "the default RBF kernel was used".

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
        """Logarithms of v, of the lengthscale and of the noise variance, standardised."""

    def fit(self, X, y, rng):
        """Fit hyperparameters, and condition on data X (n, d), y (n,).

        Returns
        -------
        Fit or None
            None if it failed: the last hyperparameters are kept.
        """
        self.centre, self.scale = float(np.mean(y)), float(np.std(y))
        if not self.scale > 1e-12 * abs(self.centre):
            self.scale = 1.0  # all values are equal
        self._middle = X.mean(0)
        self._spread = float(np.sqrt(2 * X.var(0).sum())) or 1.0
        U, z = self._standard(X), (y - self.centre) / self.scale
        some = np.arange(len(X))
        if len(X) > self.n_fit:
            some = rng.choice(len(X), self.n_fit, replace=False)
        kernel = SquaredExponential()
        limits = search_limits(kernel, U, z, None, LIMITS, x_spread=1.0, y_square=1.0)
        starts = [START] if self.theta is None else [self.theta, START]
        if self.theta is None:
            starts += list(rng.uniform(*limits.T, (self.restarts, len(limits))))
        try:
            found = fit(kernel, U[some], z[some], limits, starts)
        except np.linalg.LinAlgError:
            found = None
        if found is not None:
            self.theta = found.theta
        elif self.theta is None:
            self.theta = START
        self.condition(U, z)
        return found

    def condition(self, U, z):
        """Condition on standardised data under the present hyperparameters; return self."""
        kernel = SquaredExponential().with_theta(self.theta[:-1])
        self.model = GP(kernel, np.exp(self.theta[-1])).condition(U, z)
        noise_var = self.model.noise_var + self.model.jitter
        self.f_min = float((z - noise_var * self.model.weights).min())  # of the means at the data
        return self

    def _standard(self, X):
        return (X - self._middle) / self._spread

    def acquisition(self, mean, std, jitter, search="log"):
        r"""Return the improvement below `f_min` by more than :math:`\xi`, or its logarithm.

        Source: [CDFO] Sec. 4 (GpyOpt, expected improvement); the logarithm is ours.

        Parameters
        ----------
        mean, std : ndarray
            Standardised.
        jitter : float
            :math:`\xi`, standardised; that library's is 0.01.
        search : {"log", "plain"}, optional
        """
        return ACQUISITIONS[search](self.f_min - mean - jitter, std)

    def mean(self, X):
        """Return the posterior mean at points (m, d), standardised."""
        return self.model.predict_mean(self._standard(X))

    def mean_std(self, X):
        """Return posterior mean and standard deviation of f at points (m, d), standardised."""
        mean, var = self.model.predict(self._standard(X))
        return mean, np.sqrt(var)

    def slopes(self, x, jitter, search="log"):
        """Return the acquisition at one point x of shape (d,) and its gradient by x."""
        mean, var, by_mean, by_var = self.model.predict_slopes(self._standard(x))
        std = max(np.sqrt(var), 1e-9 * np.sqrt(self.model.kernel.variance))
        gain = self.f_min - mean - jitter
        value, slope = improvement_slope(gain, std, -by_mean, by_var / (2 * std), search == "log")
        return value, slope / self._spread


def best_candidate(surrogate, X, jitter, allowed=None, search="log"):
    """Return index and value of the largest acquisition on a finite set, exactly.

    Improvement grows with the standard deviation, so the prior one bounds it from the mean alone;
    candidates are taken in the order of that bound until it falls below the best value. Of those
    that tie up to rounding, the first is returned.

    Parameters
    ----------
    surrogate : Surrogate
    X : ndarray of shape (m, d)
    jitter : float
    allowed : ndarray of bool, shape (m,), optional
        Candidates to choose from; default all.
    search : {"log", "plain"}, optional
    """
    prior = np.sqrt(surrogate.model.kernel.variance)
    bound = surrogate.acquisition(surrogate.mean(X), prior, jitter, search)
    if allowed is not None:
        bound[~allowed] = -np.inf
    order, values = np.argsort(-bound, kind="stable"), np.full(len(X), -np.inf)
    best = -np.inf
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        block = block[bound[block] > best]
        if not len(block):
            break
        values[block] = surrogate.acquisition(*surrogate.mean_std(X[block]), jitter, search)
        best = max(best, values[block].max())
    if best == -np.inf:
        return int(order[0]), best
    return int(np.argmax(values >= best - TIES * abs(best))), float(best)
