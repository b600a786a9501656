"""Posterior samples of the hyperparameters of an isotropic RBF GP, for fully Bayesian GP-TS."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from fivebo.egpbo.box import positive_range, whole


@dataclass(frozen=True)
class BayesSettings:
    """Priors and sampler of the fully Bayesian baseline.

    Parameters
    ----------
    n_samples : int
        Hyperparameter samples, each a GP of equal weight.
    warm_up : int
        Steps of the sampler at every refit, all walkers starting where they stood.
    length_prior, magnitude_prior : tuple of float
        Limits of the uniform priors of the lengthscale and of sigma_theta^2.
    noise_prior : tuple of float
        Limits of the uniform prior of the noise variance, in units of the model's noise_var:
        at the released code's 0.2 they are the paper's U[0.1, 0.3].

    Notes
    -----
    Source: [EGPBO] Sec. 5: U[1e-3, 1e3], U[1, 100], U[0.1, 0.3]; the sampler there is NUTS.
    """

    n_samples: int = 11
    warm_up: int = 30
    length_prior: tuple[float, float] = (1e-3, 1e3)
    magnitude_prior: tuple[float, float] = (1.0, 100.0)
    noise_prior: tuple[float, float] = (0.5, 1.5)

    def __post_init__(self):
        """Refuse numbers and limits of which no sample can be drawn."""
        whole(self.n_samples, "n_samples")
        whole(self.warm_up, "warm_up")
        for name in ("length_prior", "magnitude_prior", "noise_prior"):
            positive_range(getattr(self, name), name)


class HyperparameterSampler:
    """Draws (lengthscale, magnitude, noise variance) by emcee's affine-invariant ensemble.

    The walk is in (log l, log sigma_theta^2, sigma_n^2); the density has the Jacobian.

    Parameters
    ----------
    settings : BayesSettings
    noise_var : float
        Unit of the noise prior.

    Notes
    -----
    Source: [EGPBO] Sec. 5, fully Bayesian GP-TS; NUTS is replaced by emcee.
    """

    def __init__(self, settings, noise_var):
        noise = np.array(settings.noise_prior) * noise_var
        limits = [np.log(settings.length_prior), np.log(settings.magnitude_prior), noise]
        self.lower, self.upper = np.array(limits).T
        self.settings = settings
        self.walkers = None

    def log_density(self, P, squared_distances, y):
        """Return the log posterior density of each row of P, up to a constant.

        Parameters
        ----------
        P : ndarray of shape (k, 3)
            log l, log sigma_theta^2, sigma_n^2.
        squared_distances : ndarray of shape (n, n)
        y : ndarray of shape (n,)
        """
        inside = ((self.lower <= P) & (self.upper >= P)).all(1)
        found = np.full(len(P), -np.inf)
        if not inside.any():
            return found
        log_l, log_s2, noise = P[inside].T
        K = np.exp(log_s2)[:, None, None] * np.exp(
            -0.5 * squared_distances * np.exp(-2 * log_l)[:, None, None]
        )
        K += noise[:, None, None] * np.eye(len(y))
        root = _roots(K)
        fit = np.linalg.solve(root, np.broadcast_to(y[:, None], (len(root), len(y), 1)))
        log_det = 2 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(1)
        value = -0.5 * ((fit[..., 0] ** 2).sum(1) + log_det) + log_l + log_s2
        found[inside] = np.where(np.isfinite(value), value, -np.inf)
        return found

    def draw(self, X, y, rng):
        """Return samples of (l, sigma_theta^2, sigma_n^2), shape (n_samples, 3).

        Parameters
        ----------
        X : ndarray of shape (n, d)
        y : ndarray of shape (n,)
        rng : numpy.random.Generator
        """
        import emcee

        n = max(8, self.settings.n_samples + self.settings.n_samples % 2)  # emcee wants it even
        if self.walkers is None or len(self.walkers) != n:
            middle = [self.lower[0] / 6, self.lower[1], self.lower[2]]  # l from about 0.3 to 3
            high = [self.upper[0] / 6, self.upper[1], self.upper[2]]
            self.walkers = rng.uniform(middle, high, (n, 3))
        distances = cdist(X, X, "sqeuclidean")
        sampler = emcee.EnsembleSampler(
            n, 3, lambda P: self.log_density(P, distances, y), vectorize=True
        )
        sampler.random_state = np.random.RandomState(rng.integers(2**32)).get_state()
        state = sampler.run_mcmc(self.walkers, self.settings.warm_up, skip_initial_state_check=True)
        self.walkers = state.coords
        P = self.walkers[rng.permutation(n)[: self.settings.n_samples]]
        return np.column_stack([np.exp(P[:, :2]), P[:, 2]])


def _roots(K):
    """Factorise matrices; one that rounding left indefinite gets NaN, the others are kept."""
    try:
        return np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        if len(K) == 1:
            return np.full_like(K, np.nan)
        return np.concatenate([_roots(one[None]) for one in K])
