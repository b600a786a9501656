"""Posterior samples of the hyperparameters of an isotropic RBF GP, for fully Bayesian GP-TS."""

from dataclasses import dataclass

import numpy as np

from fivebo.common.checks import count
from fivebo.common.gp.evidence import log_evidences, positive_range
from fivebo.common.gp.kernels import SquaredExponential


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
        Limits of the uniform priors of the lengthscale, in sides of the box, and of sigma_theta^2,
        in units of the mean square of the model's outputs.
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
        count(self.n_samples, "n_samples")
        count(self.warm_up, "warm_up")
        for name in ("length_prior", "magnitude_prior", "noise_prior"):
            positive_range(getattr(self, name), name)


class HyperparameterSampler:
    """Draws (lengthscale, magnitude, noise variance) by emcee's affine-invariant ensemble.

    The walk is in (log l, log sigma_theta^2, sigma_n^2 / noise_var); the density has the Jacobian.

    Parameters
    ----------
    settings : BayesSettings

    Notes
    -----
    Source: [EGPBO] Sec. 5, fully Bayesian GP-TS; NUTS is replaced by emcee.
    """

    def __init__(self, settings):
        limits = [np.log(settings.length_prior), np.log(settings.magnitude_prior)]
        self.lower, self.upper = np.array([*limits, settings.noise_prior]).T
        self.settings = settings
        self.walkers = None

    def log_density(self, P, X, y, noise_var):
        """Return the log posterior density of each row of P, up to a constant.

        Parameters
        ----------
        P : ndarray of shape (k, 3)
            log l, log sigma_theta^2, sigma_n^2 / noise_var.
        X : ndarray of shape (n, d)
        y : ndarray of shape (n,)
        noise_var : float
        """
        inside = ((self.lower <= P) & (self.upper >= P)).all(1)
        found = np.full(len(P), -np.inf)
        if not inside.any():
            return found
        log_l, log_s2, noise = P[inside].T
        K = np.stack([SquaredExponential(*both)(X) for both in np.exp(P[inside, :2])])
        K += (noise_var * noise)[:, None, None] * np.eye(len(y))
        found[inside] = log_evidences(K, y) + log_l + log_s2
        return found

    def draw(self, X, y, noise_var, rng):
        """Return samples of (l, sigma_theta^2, sigma_n^2), shape (n_samples, 3).

        Parameters
        ----------
        X : ndarray of shape (n, d)
        y : ndarray of shape (n,)
        noise_var : float
            Unit of the noise prior.
        rng : numpy.random.Generator
        """
        import emcee

        n = max(8, self.settings.n_samples + self.settings.n_samples % 2)  # emcee wants it even
        if self.walkers is None or len(self.walkers) != n:
            middle = [self.lower[0] / 6, self.lower[1], self.lower[2]]  # l from about 0.3 to 3
            high = [self.upper[0] / 6, self.upper[1], self.upper[2]]
            self.walkers = rng.uniform(middle, high, (n, 3))
        sampler = emcee.EnsembleSampler(
            n, 3, lambda P: self.log_density(P, X, y, noise_var), vectorize=True
        )
        sampler.random_state = np.random.RandomState(rng.integers(2**32)).get_state()
        state = sampler.run_mcmc(self.walkers, self.settings.warm_up, skip_initial_state_check=True)
        self.walkers = state.coords
        P = self.walkers[rng.permutation(n)[: self.settings.n_samples]]
        return np.column_stack([np.exp(P[:, :2]), noise_var * P[:, 2]])
