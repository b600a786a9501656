"""Radii, constants and bounds of [MTBO] and of its baselines: pure functions, `log` natural.

Information gains follow the paper: log det without the factor 1/2, unless a docstring says so.
"""

import numpy as np

from fivebo.common.checks import positive


def _failure(delta):
    return positive(delta, "delta", upper=1.0, closed=True)


def _accuracy(epsilon):
    return positive(epsilon, "epsilon", upper=1.0)


def _spread(noise_std, eta):
    return positive(noise_std, "noise_std") / np.sqrt(positive(eta, "eta"))


def mt_kb_radius(log_det, *, b, noise_std, eta, delta):
    r"""Confidence radius of MT-KB after t rounds.

    .. math::
        \beta_t = b + \frac{\sigma}{\sqrt\eta} \sqrt{ 2 \log(1/\delta)
            + \sum_{s=1}^t \log\det\bigl( I_n + \eta^{-1} \Gamma_{s-1}(x_s, x_s) \bigr) }

    Source: [MTBO] Theorem 2.

    Parameters
    ----------
    log_det : float or array_like
        The realised sum, 0 at t = 0; each term before x_s is added. Dimensionless.
    b : float
        Bound on the RKHS norm of f. It has no unit, as sigma / sqrt(eta) has none, where the
        kernel has that of y squared; where the kernel has none, b has that of y.
    noise_std : float
        Sub-Gaussian constant sigma of the noise, in units of y.
    eta : float
        Regulariser, in units of the kernel.
    delta : float
        Failure probability in (0, 1].

    Returns
    -------
    float or ndarray
        beta_t; it multiplies the square root of the spectral norm of Gamma_t.

    Raises
    ------
    ValueError
        `eta` or `delta` out of range.

    Examples
    --------
    >>> round(float(mt_kb_radius(2.0, b=1.0, noise_std=0.1, eta=0.1, delta=0.1)), 6)
    1.812722
    """
    spread = _spread(noise_std, eta)
    growth = 2 * np.log(1 / _failure(delta)) + np.asarray(log_det)
    return positive(b, "b") + spread * np.sqrt(growth)


def mt_kb_radius_as_printed(log_det, *, b, noise_std, n_tasks, delta):
    r"""Radius with the factor that the text of Theorem 1 prints, sigma sqrt(n).

    .. math:: b + \sigma \sqrt{n} \sqrt{2 \log(1/\delta) + \log\det(\cdot)}

    The proof and Theorems 2 and 3 have sigma / sqrt(eta) there. Source: [MTBO] Theorem 1.

    Parameters
    ----------
    log_det, b, noise_std, delta
        As in `mt_kb_radius`.
    n_tasks : int
        Number n of tasks.
    """
    growth = 2 * np.log(1 / _failure(delta)) + np.asarray(log_det)
    return b + noise_std * np.sqrt(n_tasks) * np.sqrt(growth)


def concentration_width(norm, log_det, *, norm_f, noise_std, eta, delta):
    r"""Half-width of the multi-task concentration inequality.

    .. math::
        \|f(x) - \mu_t(x)\|_2 \le \Bigl( \|f\|_\Gamma + \frac{\sigma}{\sqrt\eta} \sqrt{
            2 \log(1/\delta) + \log\det(I_{nt} + \eta^{-1} G_t) } \Bigr) \|\Gamma_t(x,x)\|^{1/2}

    with probability at least 1 - delta, for all x and all t >= 0. Source: [MTBO] Theorem 1; with
    c_eps in front of the norm and Gamma~_t it is Lemma 9; without noise it is certain (Sec. 4).

    Parameters
    ----------
    norm : array_like
        Spectral norm of Gamma_t(x, x).
    log_det, noise_std, eta, delta
        As in `mt_kb_radius`.
    norm_f : float
        RKHS norm of f.

    Returns
    -------
    ndarray
        Width in units of y.
    """
    radius = mt_kb_radius(log_det, b=norm_f, noise_std=noise_std, eta=eta, delta=delta)
    return radius * np.sqrt(norm)


def nystrom_rho(epsilon):
    """Return rho = (1 + eps) / (1 - eps), eps in (0, 1). Source: [MTBO] Theorem 3, Lemma 10."""
    return (1 + _accuracy(epsilon)) / (1 - epsilon)


def c_epsilon(epsilon):
    """Return c_eps = 1 + 1 / sqrt(1 - eps), eps in (0, 1). Source: [MTBO] Theorem 3 and Lemma 9."""
    return 1 + 1 / np.sqrt(1 - _accuracy(epsilon))


def nystrom_q(horizon, *, epsilon, delta, rule="theorem-3"):
    r"""Oversampling q of the dictionary.

    .. math:: q = \frac{6 \rho \log(4T/\delta)}{\varepsilon^2}

    Source: [MTBO] Theorem 3 ("theorem-3"); Lemma 7 has log(2T/delta) ("lemma-7"); the authors'
    earlier single-task code runs log(T) / eps^2 ("order-wise", off the theory). Sec. 4.1 has q and
    the dictionary shrink as eps grows; q does so only up to eps = (sqrt(5) - 1) / 2, about 0.618,
    and rises beyond, as rho has no bound.

    Parameters
    ----------
    horizon : int
        Number T of rounds.
    epsilon, delta : float
        Accuracy in (0, 1) and failure probability in (0, 1].
    rule : {"theorem-3", "lemma-7", "order-wise"}

    Returns
    -------
    float
        q; it multiplies the spectral norm in the inclusion probability.

    Examples
    --------
    >>> round(float(nystrom_q(200, epsilon=0.1, delta=0.1)), 1)
    6590.6
    """
    rho = nystrom_rho(epsilon)
    if horizon < 1:
        raise ValueError(f"horizon must be at least 1, got {horizon}")
    if rule == "order-wise":
        return max(np.log(horizon), 1.0) / epsilon**2
    factor = {"theorem-3": 4, "lemma-7": 2}[rule]
    return 6 * rho * np.log(factor * horizon / _failure(delta)) / epsilon**2


def mt_bkb_radius(log_det, *, b, noise_std, eta, delta, epsilon):
    r"""Confidence radius of MT-BKB after t rounds.

    .. math::
        \tilde\beta_t = b \Bigl( 1 + \frac{1}{\sqrt{1-\varepsilon}} \Bigr)
            + \frac{\sigma}{\sqrt\eta} \sqrt{ 2 \log(2/\delta) + \rho \sum_{s=1}^t
            \log\det\bigl( I_n + \eta^{-1} \tilde\Gamma_{s-1}(x_s, x_s) \bigr) }

    Source: [MTBO] Theorem 3; Eq. (21) bounds the exact log determinant by rho times the sum.

    Parameters
    ----------
    log_det : float or array_like
        The sum, each term with the approximation of its own round (stored, not recomputed).
    b, noise_std, eta, delta
        As in `mt_kb_radius`.
    epsilon : float
        Accuracy of the dictionary, in (0, 1).

    Examples
    --------
    >>> round(float(mt_bkb_radius(0.0, b=1.0, noise_std=0.1, eta=0.1, delta=0.1, epsilon=0.1)), 6)
    2.828138
    """
    growth = 2 * np.log(2 / _failure(delta)) + nystrom_rho(epsilon) * np.asarray(log_det)
    return c_epsilon(epsilon) * positive(b, "b") + _spread(noise_std, eta) * np.sqrt(growth)


def theorem2_bound(horizon, gain, norm_sum, *, b, noise_std, eta, delta, kappa, lipschitz=1.0):
    r"""Regret bound of MT-KB.

    .. math::
        R_C(T) \le 2 L \Bigl( b + \frac{\sigma}{\sqrt\eta} \sqrt{2 \log(1/\delta)
            + \gamma_{nT}} \Bigr) \sqrt{ (1 + \kappa/\eta)\, T \sum_t \|\Gamma_t(x_t,x_t)\| }

    Source: [MTBO] Theorem 2; the root bounds the sum of widths in App. C.2.

    Parameters
    ----------
    horizon : int or array_like
        T.
    gain : float or array_like
        gamma_nT(Gamma, eta), or the realised log det, which gives a smaller bound that the proof
        supports as well.
    norm_sum : float or array_like
        ``sum_t ||Gamma_t(x_t, x_t)||``, each term after x_t is added.
    b, noise_std, eta, delta
        As in `mt_kb_radius`.
    kappa : float
        Bound on ``||Gamma(x, x)||``.
    lipschitz : float, optional
        L, at least every L_lambda; 1 holds for both scalarisations.

    Returns
    -------
    float or ndarray
        Bound on the cumulative regret, in units of y.
    """
    radius = mt_kb_radius(gain, b=b, noise_std=noise_std, eta=eta, delta=delta)
    return 2 * lipschitz * radius * np.sqrt((1 + kappa / eta) * np.multiply(horizon, norm_sum))


def theorem3_bound(
    horizon, gain, norm_sum, *, b, noise_std, eta, delta, kappa, epsilon, lipschitz=1.0
):
    r"""Regret bound of MT-BKB.

    .. math::
        R_C(T) \le 2 L \Bigl( c_\varepsilon b + \frac{\sigma}{\sqrt\eta} \sqrt{2 \log(2/\delta)
            + \rho^2 \gamma_{nT}} \Bigr) \sqrt{ \rho (1 + \kappa/\eta)\, T
            \sum_t \|\Gamma_t(x_t,x_t)\| }

    It is at most ``2 rho^{3/2}`` times Theorem 2's bound at failure probability delta / 2.
    Source: [MTBO] Theorem 3 and its proof (App. D.1).

    Parameters
    ----------
    horizon, gain, norm_sum, b, noise_std, eta, delta, kappa, lipschitz
        As in `theorem2_bound`; exact Gamma at the queries of MT-BKB.
    epsilon : float
        Accuracy in (0, 1).
    """
    rho = nystrom_rho(epsilon)
    growth = 2 * np.log(2 / _failure(delta)) + rho**2 * np.asarray(gain)
    radius = c_epsilon(epsilon) * b + _spread(noise_std, eta) * np.sqrt(growth)
    root = np.sqrt(rho * (1 + kappa / eta) * np.multiply(horizon, norm_sum))
    return 2 * lipschitz * radius * root


def regret_factor(epsilon):
    """Return 2 rho^{3/2}, the price of the dictionary in Theorem 3. Source: [MTBO] Theorem 3."""
    return 2 * nystrom_rho(epsilon) ** 1.5


def theorem3_dictionary_bound(norm_sum, *, q, epsilon, kappa, eta):
    r"""Bound on the dictionary size.

    .. math:: m_t \le 3 \rho q (1 + \kappa/\eta) \sum_{s \le t} \|\Gamma_s(x_s, x_s)\|

    Source: [MTBO] Theorem 3; Sec. 4.1 draws the growth in t from it.

    Parameters
    ----------
    norm_sum : float or array_like
        The sum, exact Gamma at the queries of MT-BKB, each term after x_s is added.
    q, epsilon, kappa, eta : float
    """
    return 3 * nystrom_rho(epsilon) * q * (1 + kappa / eta) * np.asarray(norm_sum)
