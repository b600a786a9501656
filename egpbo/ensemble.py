"""The ensemble of GPs on random features: posteriors, log-weights and their updates.

Reference: [EGPBO] Lu et al., arXiv:2205.14090v1 (2022), Sec. 3, Sec. 3.1, Sec. 8. All components
are held in stacked arrays, so that an update costs one pass for all of them.
"""

import warnings

import numpy as np
from scipy.linalg import cho_solve
from scipy.special import logsumexp

from fivebo.common.gp.factor import forward_solve, log_density
from fivebo.egpbo.features import features


def normalise(log_weights, floor=0.0):
    r"""Return weights that sum to one, from logarithms, each raised by the floor.

    .. math:: w^m \leftarrow (w^m + b) / (1 + M b)

    Parameters
    ----------
    log_weights : ndarray of shape (M,)
    floor : float, optional
        b >= 0; every weight is then at least b / (1 + M b).

    Returns
    -------
    ndarray of shape (M,)

    Notes
    -----
    Source: [EGPBO] Sec. 5 (a comment in its source names a floor of 1e-4; off by default).
    """
    weights = np.exp(log_weights - logsumexp(log_weights))
    return (weights + floor) / (weights + floor).sum()


def batch_posterior(Phi, y, prior_var, noise_var):
    r"""Posterior of the feature weights, and the evidence of the feature model.

    .. math::
        \Sigma = (\Phi'\Phi / \sigma_n^2 + I / \sigma_\theta^2)^{-1}, \quad
        \hat\theta = \Sigma \Phi' y / \sigma_n^2, \quad
        p(y) = N(y; 0, \sigma_\theta^2 \Phi\Phi' + \sigma_n^2 I)

    Parameters
    ----------
    Phi : ndarray of shape (n, 2D)
    y : ndarray of shape (n,)
    prior_var, noise_var : float
        sigma_theta^2 and sigma_n^2, in squared units of y.

    Returns
    -------
    theta : ndarray of shape (2D,)
    Sigma : ndarray of shape (2D, 2D)
    log_evidence : float

    Notes
    -----
    Source: [EGPBO] Sec. 8, Eq. (9).
    """
    n, width = Phi.shape
    A = Phi.T @ Phi / noise_var + np.eye(width) / prior_var
    factor, _ = cholesky(A)
    Sigma = cho_solve((factor, True), np.eye(width))
    Sigma = (Sigma + Sigma.T) / 2
    theta = cho_solve((factor, True), Phi.T @ y / noise_var)
    C = prior_var * Phi @ Phi.T + noise_var * np.eye(n)
    root, _ = cholesky(C)
    return theta, Sigma, log_density(forward_solve(root, y), root.diagonal())


def cholesky(A):
    """Factorise a symmetric matrix; jitter rises from rounding level, with a warning.

    Parameters
    ----------
    A : ndarray of shape (n, n)

    Returns
    -------
    factor : ndarray of shape (n, n)
        Lower triangle.
    jitter : float
        What was added to the diagonal; 0 in ordinary cases.

    Raises
    ------
    numpy.linalg.LinAlgError
        Even a jitter of 1e-4 of the largest diagonal entry does not help.
    """
    top = float(np.diag(A).max())
    for relative in (0.0, *10.0 ** np.arange(-14, -3)):
        try:
            factor = np.linalg.cholesky(A + relative * top * np.eye(len(A)))
        except np.linalg.LinAlgError:
            continue
        if relative > 1e-10:
            warnings.warn(
                f"jitter of {relative * top:.3g} added to the diagonal of a {len(A)} x {len(A)} "
                f"matrix with diagonal up to {top:.3g}", RuntimeWarning, stacklevel=2,
            )  # fmt: skip
        return factor, relative * top
    raise np.linalg.LinAlgError(
        f"a {len(A)} x {len(A)} matrix is not positive definite: smallest diagonal entry "
        f"{np.diag(A).min():.3g}, largest {top:.3g}, jitter tried up to {1e-4 * top:.3g}; "
        "raise noise_var"
    )


class Ensemble:
    r"""M components with random features, their posteriors and log-weights.

    Parameters
    ----------
    frequencies : sequence of M ndarray of shape (D, d)
    prior_vars : array_like of shape (M,)
        sigma_theta^2 of each component.
    noise_var : float or array_like of shape (M,)
        sigma_n^2.
    prior_weights : array_like of shape (M,), optional
        w_0; default 1/M.
    floor : float, optional
        Weight floor b, see `normalise`.

    Attributes
    ----------
    theta : ndarray of shape (M, 2D)
    Sigma : ndarray of shape (M, 2D, 2D)
    log_weights : ndarray of shape (M,)
        Unnormalised: log w_0^m plus the log evidence of component m.

    Notes
    -----
    Source: [EGPBO] Eq. (5) (prior of the weights); Sec. 3, Eqs. (7), (8), (9); Sec. 3.1, Eqs. (13),
    (14), (15).
    """

    def __init__(self, frequencies, prior_vars, noise_var, prior_weights=None, floor=0.0):
        self.V = np.stack(frequencies)
        M, D, _ = self.V.shape
        self.prior_vars = np.asarray(prior_vars, dtype=float)
        self.noise_vars = np.broadcast_to(np.asarray(noise_var, dtype=float), (M,))
        self.floor = floor
        w0 = np.full(M, 1 / M) if prior_weights is None else np.asarray(prior_weights)
        with np.errstate(divide="ignore"):  # a prior weight of zero leaves a component out
            self.log_prior_weights = np.log(w0)
        self.log_weights = self.log_prior_weights.copy()
        self.theta = np.zeros((M, 2 * D))
        self.Sigma = self.prior_vars[:, None, None] * np.eye(2 * D)

    def __len__(self):
        return len(self.V)

    @property
    def weights(self):
        """Posterior weights w_t, shape (M,), the floor applied."""
        return normalise(self.log_weights, self.floor)

    def condition(self, X, y, evidences=None):
        """Set posteriors and weights from all data at once: (re-)initialisation.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        y : ndarray of shape (n,)
        evidences : array_like of shape (M,), optional
            Log evidences that weigh the components; default: those of the feature model, with
            which Eqs. (9) and (13) are one quantity.

        Notes
        -----
        Source: [EGPBO] Eqs. (8), (9), Sec. 8, Alg. 1.
        """
        found = [
            batch_posterior(features(X, V), y, prior_var, noise_var)
            for V, prior_var, noise_var in zip(
                self.V, self.prior_vars, self.noise_vars, strict=True
            )
        ]
        self.theta = np.stack([f[0] for f in found])
        self.Sigma = np.stack([f[1] for f in found])
        evidences = [f[2] for f in found] if evidences is None else evidences
        self.log_weights = self.log_prior_weights + np.asarray(evidences)

    def features(self, x):
        """Return the features of one point under every component, shape (M, 2D)."""
        angles = self.V @ x
        return np.concatenate([np.sin(angles), np.cos(angles)], axis=1) / np.sqrt(self.V.shape[1])

    def predict(self, x):
        r"""Return the predictive mean and variance of y at one point, for every component.

        .. math::
            \hat y^m = \phi^m{}'\hat\theta^m, \quad
            (\sigma^m)^2 = \phi^m{}'\Sigma^m\phi^m + \sigma_n^2

        Source: [EGPBO] Sec. 3.1, Eq. (14).

        Parameters
        ----------
        x : ndarray of shape (d,)

        Returns
        -------
        mean, var : ndarray of shape (M,)
        """
        phi = self.features(x)
        mean = np.einsum("mi,mi->m", phi, self.theta)
        return mean, self.noise_vars + np.einsum("mi,mij,mj->m", phi, self.Sigma, phi)

    def update(self, x, y, only=None):
        r"""Take one observation: weights by the predictive density, then rank-one posteriors.

        .. math::
            w_{t+1}^m \propto w_t^m N(y; \hat y^m, (\sigma^m)^2), \quad
            \hat\theta \mathrel{+}= \sigma^{-2} \Sigma\phi (y - \hat y), \quad
            \Sigma \mathrel{-}= \sigma^{-2} \Sigma\phi\phi'\Sigma

        Source: [EGPBO] Sec. 3.1, Eqs. (13), (14), (15).

        Parameters
        ----------
        x : ndarray of shape (d,)
        y : float
        only : int, optional
            Update this component alone, and no weight: what the bandit baselines do.
        """
        chosen = slice(None) if only is None else slice(only, only + 1)
        phi, Sigma = self.features(x)[chosen], self.Sigma[chosen]
        gain = np.einsum("mij,mj->mi", Sigma, phi)
        var = self.noise_vars[chosen] + np.einsum("mi,mi->m", phi, gain)
        error = y - np.einsum("mi,mi->m", phi, self.theta[chosen])
        if only is None:
            self.log_weights = self.log_weights - 0.5 * (np.log(2 * np.pi * var) + error**2 / var)
        self.theta[chosen] += (error / var)[:, None] * gain
        Sigma -= gain[:, :, None] * (gain / var[:, None])[:, None, :]
        self.Sigma[chosen] = (Sigma + Sigma.transpose(0, 2, 1)) / 2

    def draw_component(self, rng):
        """Draw m ~ Cat(w_t) by one uniform number. [EGPBO] Eq. (10)."""
        cumulative = np.cumsum(self.weights)
        return int(min(np.searchsorted(cumulative, rng.random() * cumulative[-1], "right"),
                       len(self) - 1))  # fmt: skip

    def draw_theta(self, m, rng):
        """Draw theta ~ N(theta_hat^m, Sigma^m), shape (2D,). [EGPBO] Eq. (10)."""
        factor, _ = cholesky(self.Sigma[m])
        return self.theta[m] + factor @ rng.standard_normal(len(factor))

    def posterior(self, X):
        """Return means and variances of f at points of shape (n, d), both of shape (M, n).

        Source: [EGPBO] Sec. 3, Eq. (8), Sec. 3.1, Eq. (14).
        """
        Phi = [features(X, V) for V in self.V]
        means = np.stack([P @ theta for P, theta in zip(Phi, self.theta, strict=True)])
        variances = [((P @ S) * P).sum(1) for P, S in zip(Phi, self.Sigma, strict=True)]
        return means, np.stack(variances).clip(0)
