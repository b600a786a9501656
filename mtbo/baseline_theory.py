"""Radii of the papers that the baselines of [MTBO] come from: pure functions, `log` natural.

[IGP] Chowdhury & Gopalan, ICML 2017; [BKB] Calandriello et al., COLT 2019; [MOBO] Paria et al.,
UAI 2019. All gains here carry the factor 1/2 of their papers.
"""

import numpy as np

from fivebo.common.checks import positive
from fivebo.mtbo.theory import c_epsilon, nystrom_rho


def igp_ucb_radius(gain, *, b, noise_std, delta, eta=None):
    r"""Radius of IGP-UCB, used at round t with the gain of t - 1 rounds.

    .. math:: \beta_t = B + R \sqrt{2 (\gamma_{t-1} + 1 + \ln(1/\delta))}

    Source: [IGP] Theorem 2 and Algorithm 1. With `eta`, the form that Theorem 1 of [MTBO] gives at
    n = 1 for that regulariser: R becomes sigma / sqrt(eta) and the "+ 1" goes. As printed, kernel
    and regulariser have no unit, B and R that of y.

    Parameters
    ----------
    gain : float or array_like
        gamma_{t-1} = 1/2 log det, in nats.
    b : float
        Bound B on the RKHS norm.
    noise_std : float
        Sub-Gaussian constant R, in units of y.
    delta : float
        Failure probability in (0, 1].
    eta : float, optional
        Regulariser of the self-normalised form.

    Examples
    --------
    >>> round(float(igp_ucb_radius(2.0, b=1.0, noise_std=0.1, delta=0.1)), 6)
    1.325656
    """
    b, noise_std = positive(b, "b"), positive(noise_std, "noise_std")
    log_failure = np.log(1 / positive(delta, "delta", upper=1.0, closed=True))
    if eta is None:
        return b + noise_std * np.sqrt(2 * (np.asarray(gain) + 1 + log_failure))
    return b + noise_std / np.sqrt(eta) * np.sqrt(2 * (np.asarray(gain) + log_failure))


def igp_ucb_regulariser(horizon):
    """Return lambda = 1 + 2 / T, the regulariser of IGP-UCB. Source: [IGP] Algorithm 1."""
    return 1 + 2 / horizon


def bkb_radius(t, variance_sum, *, b, noise_std, eta, delta, epsilon, kappa_sq=1.0):
    r"""Radius of BKB after t rounds, for the variance that is not divided by eta.

    .. math::
        \tilde\beta_t = \Bigl(1 + \frac{1}{\sqrt{1-\varepsilon}}\Bigr) F + \frac{2\xi}{\sqrt\eta}
            \sqrt{ \alpha \log(\kappa^2 t) \sum_{s \le t} \tilde\sigma_t^2(x_s)
                   + \log(1/\delta) }, \qquad \alpha = \frac{1+\varepsilon}{1-\varepsilon}

    [BKB]'s own variance is divided by the regulariser and its radius multiplied by its root; here
    the radius multiplies the root of eta sigma~^2. Source: [BKB] Theorem 2.

    Parameters
    ----------
    t : int
        Number of rounds; t = 0 gives the prior's radius.
    variance_sum : float
        Sum over all past queries of the present ``sigma~_t^2 = Gamma~_t / eta``. Dimensionless.
    b, noise_std, eta, delta, epsilon : float
        F, xi, regulariser, failure probability, accuracy.
    kappa_sq : float, optional
        Bound on k(x, x).
    """
    b, noise_std = positive(b, "b"), positive(noise_std, "noise_std")
    growth = nystrom_rho(epsilon) * np.log(max(kappa_sq * t, 1.0)) * variance_sum
    log_failure = np.log(1 / positive(delta, "delta", upper=1.0, closed=True))
    spread = 2 * noise_std / np.sqrt(positive(eta, "eta"))
    return c_epsilon(epsilon) * b + spread * np.sqrt(growth + log_failure)


def bkb_code_radius(t, variance_sum, *, b, noise_std, eta, delta):
    r"""Simplified radius that BKB's authors run.

    .. math::
        F + \frac{\xi}{\sqrt\eta} \sqrt{ \log(t) \sum_{s \le t} \tilde\sigma_t^2(x_s)
            + \log(1/\delta) }

    Parameters
    ----------
    t, variance_sum, b, noise_std, eta, delta
        As in `bkb_radius`.
    """
    growth = np.log(max(t, 1)) * variance_sum
    return b + noise_std / np.sqrt(eta) * np.sqrt(growth + np.log(1 / delta))


def mobo_radius(t, *, dim=1, rule="hypermapper"):
    r"""Multiplier of the standard deviation in MOBO's UCB at round t >= 1.

    .. math:: \sqrt{0.125 \log(2t+1)} \qquad\text{or}\qquad \sqrt{0.2\, d \log(2dt+1)}

    Source: public implementations that cite [MOBO] (rule "hypermapper"), and its authors' own
    library (rule "dragonfly"); the paper under reproduction names no value.

    Examples
    --------
    >>> round(float(mobo_radius(1)), 6)
    0.370576
    """
    if rule == "hypermapper":
        return np.sqrt(0.125 * np.log(2 * t + 1))
    return np.sqrt(0.2 * dim * np.log(2 * dim * t + 1))
