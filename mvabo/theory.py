"""Confidence parameter, information gain and stopping times of [MVABO]: pure functions.

`log` is natural; the information gain has the paper's factor 1/2, so that
``ln det(I + K_T / sigma^2) <= 2 gamma_T``. The printed constants C_1 and C_2 have lost digits in
our copy of the text; the raw forms below follow from the proofs and do not depend on them.
"""

from dataclasses import dataclass

import numpy as np

from fivebo.common.checks import positive


def beta_sqrt(log_det, *, b, delta, share=3):
    r"""Square root of the confidence parameter.

    .. math:: \beta_t^{1/2} = \sqrt{ \ln\det(I + \sigma^{-2} K_{t-1}) + 2 \ln(c/\delta) } + B

    The text writes K_t, which needs the unknown w_t; K_{t-1} is what the bound on the t - 1 data
    gives. Valid if the model's noise variance is the true one and k(z, z) <= 1.

    Source: [MVABO] Lemma 2.1 (c = 1, also Theorems C.1, C.2); Theorems 4.1, 4.2, B.1, D.1 (c = 3).

    Parameters
    ----------
    log_det : float or array_like
        ln det(I + K / sigma^2) of the data.
    b : float
        Bound B on the RKHS norm of f.
    delta : float
        Failure probability in (0, 1).
    share : {1, 3}
        Number c of events that share delta.

    Returns
    -------
    float or ndarray
        beta_t^{1/2}; it multiplies the posterior standard deviation.

    Examples
    --------
    >>> round(float(beta_sqrt(2.0, b=1.0, delta=0.1)), 6)
    3.966883
    """
    positive(delta, "delta", upper=1.0)
    return np.sqrt(np.asarray(log_det) + 2 * np.log(share / delta)) + positive(b, "b")


@dataclass(frozen=True)
class TheoryBeta:
    """The schedule of `beta_sqrt` as the optimisers take it: a function of the log determinant.

    Parameters
    ----------
    b, delta, share
        As in `beta_sqrt`.

    Notes
    -----
    Source: [MVABO] Lemma 2.1.
    """

    b: float
    delta: float = 0.05
    share: int = 3

    def __call__(self, log_det):
        """Return beta_t^{1/2}."""
        return float(beta_sqrt(log_det, b=self.b, delta=self.delta, share=self.share))


def gain_bound(horizon, n_points, noise_var):
    r"""Bound on the maximum information gain of a finite domain with k(z, z) <= 1.

    .. math:: \gamma_T \le \frac n2 \ln\Bigl( 1 + \frac{T}{n \sigma^2} \Bigr)

    gamma_T is the largest mutual information ``ln det(I + K_A / sigma^2) / 2`` of T points A.

    Source: ours, from the arithmetic-geometric mean of the eigenvalues; [MVABO] Sec. 4 defines
    gamma_T and refers to known bounds.

    Parameters
    ----------
    horizon : int or array_like
        T.
    n_points : int
        Number n of points of the domain.
    noise_var : float
        sigma^2.
    """
    T = np.asarray(horizon, dtype=float)
    return n_points / 2 * np.log1p(T / (n_points * noise_var))


def _log_ratio(noise_var):
    """Return ln(1 + sigma^-2)."""
    return np.log1p(1 / positive(noise_var, "noise_var"))


def sum_of_variances(gain, noise_var):
    r"""Bound on the summed variances at the observed points, ``2 gamma_T / ln(1 + sigma^-2)``.

    Source: [MVABO] Lemma A.3, Eq. (24); its root times sqrt(T) is Eq. (25).
    """
    return 2 * np.asarray(gain) / _log_ratio(noise_var)


def expectation_slack(delta, share=3, bound=1.0):
    r"""Additive term of the bound on summed conditional expectations, ``8 K ln(6 K c / delta)``.

    .. math:: \sum_t E[S_t | F_{t-1}] \le 2 \sum_t S_t + 8 K \ln(6 K c / \delta)

    Source: [MVABO] Lemma A.2; with c = 3 and K = 1 it is the one of Eqs. (22), (23), as
    k(z, z) <= 1 bounds sigma by 1 (App. A.1).

    Parameters
    ----------
    delta : float
        Failure probability in (0, 1), shared by `share` events.
    share : int
    bound : float
        K >= 1, largest value of S_t.
    """
    return 8 * bound * np.log(6 * bound * share / positive(delta, "delta", upper=1.0))


def width_bound(horizon, sd_sum, var_sum, *, beta_sqrt, b_tilde, weights):
    r"""Bound on the summed widths of the intervals at the chosen designs.

    .. math::
        a_1\, 2 \beta_T^{1/2} \sum_t \int \sigma_{t-1} p + a_2 \sqrt{ 8 T \tilde B \beta_T^{1/2}
            \sum_t \int \sigma_{t-1} p + 20 T \beta_T \sum_t \int \sigma_{t-1}^2 p }

    Source: [MVABO] Lemma A.1 (a = (alpha, 1 - alpha)), Eqs. (14), (15), (16), (17), (18), (19),
    (20), (21); a = (1, 1) for lambda_t, Eqs. (30), (31), (32), (34).

    Parameters
    ----------
    horizon : int
        T.
    sd_sum, var_sum : float
        ``sum_t int sigma p`` and ``sum_t int sigma^2 p`` at the chosen designs, or bounds on them.
    beta_sqrt : float
        beta_T^{1/2}.
    b_tilde : float
        B~ = max |f - E_w f|.
    weights : tuple of 2 float
        (a_1, a_2).

    Returns
    -------
    float or ndarray
    """
    root = 8 * horizon * b_tilde * beta_sqrt * sd_sum + 20 * horizon * beta_sqrt**2 * var_sum
    return weights[0] * 2 * beta_sqrt * sd_sum + weights[1] * np.sqrt(root)


def stopping_bound(
    horizon, gain, *, beta_sqrt, b_tilde, noise_var, delta, weights, simulator=False
):
    r"""Bound on the average width after T rounds: the left side of the stopping conditions.

    .. math::
        \frac{a_1}{T} 4 \beta_T^{1/2} (S + q) + \frac{a_2}{T} \sqrt{ 16 T \tilde B \beta_T^{1/2}
            (S + q) + 40 T \beta_T (2\gamma_T/\mathcal{L} + q) }

    with ``S = sqrt(2 T gamma_T / L)``, ``L = ln(1 + sigma^-2)``, ``q = 4 ln(18/delta)``. In the
    simulator setting w_t has the largest variance, no expectation is bounded, and the bound is
    ``width_bound`` with S and ``2 gamma_T / L``. The first term is that of methods for F_1 alone;
    only the second knows B~ ([MVABO] Sec. 4).

    Source: [MVABO] Theorem 4.1, Eq. (11) (a = (alpha, 1 - alpha)); Theorems 4.2, Eq. (12), B.1 and
    D.1 (a = (1, 1)); App. A.1, Corollary A.1, Eqs. (26), (27); `simulator`: Theorem C.1.

    Parameters
    ----------
    horizon : int or array_like
        T.
    gain : float or array_like
        gamma_T, or half the realised log determinant.
    beta_sqrt : float or array_like
        beta_T^{1/2}.
    b_tilde, noise_var, delta, weights
        B~, sigma^2, failure probability and (a_1, a_2).
    simulator : bool, optional

    Returns
    -------
    float or ndarray
        In units of f; compare with eps, min(eps), or min(eps)/2 for a continuous X.
    """
    T = np.asarray(horizon, dtype=float)
    variances = sum_of_variances(gain, noise_var)
    sds = np.sqrt(T * variances)
    if not simulator:
        slack = expectation_slack(delta)
        sds, variances = 2 * sds + slack, 2 * variances + slack
    total = width_bound(T, sds, variances, beta_sqrt=beta_sqrt, b_tilde=b_tilde, weights=weights)
    return total / T


def noisy_simulator_bound(
    horizon, gain, *, beta_sqrt, b_tilde, noise_var, weights, density, volume=None
):
    r"""Bound of the simulator setting with noisy inputs.

    Printed: Theorem C.1's with ``R = sup p(xi)`` on each term. Its proof needs one rule to satisfy
    two inequalities that no rule does; for ``xi_t = argmax sigma^2 p`` on a Delta of volume
    |Delta| they hold with ``sqrt(|Delta| R)`` (sd) and ``|Delta| R`` (variance).

    Source: [MVABO] Theorem C.2 (a = (alpha, 1 - alpha)).

    Parameters
    ----------
    horizon, gain, beta_sqrt, b_tilde, noise_var, weights
        As in `stopping_bound`.
    density : float
        R.
    volume : float, optional
        |Delta|; None gives the printed form. With a pmf p_j on m points use R = max p_j and
        |Delta| = m.
    """
    T = np.asarray(horizon, dtype=float)
    variances = sum_of_variances(gain, noise_var)
    if volume is None:
        on_sd, on_variance = density, density
    else:
        on_sd, on_variance = np.sqrt(volume * density), volume * density
    total = width_bound(
        T, on_sd * np.sqrt(T * variances), on_variance * variances,
        beta_sqrt=beta_sqrt, b_tilde=b_tilde, weights=weights,
    )  # fmt: skip
    return total / T


def printed_form(horizon, gain, *, beta_sqrt, b_tilde, noise_var, delta, weights, reading):
    r"""Eq. (11) in the paper's C_1 and C_2, under both readings of the lost digits.

    .. math::
        \frac{a_1}{T} \beta_T^{1/2} \bigl( \sqrt{c T C_1 \gamma_T} + C_2 \bigr) + \frac{a_2}{T}
            \sqrt{ 2 T \tilde B \beta_T^{1/2} \bigl( \sqrt{4 c T C_1 \gamma_T} + 2 C_2 \bigr)
            + 5 T \beta_T ( c' C_1 \gamma_T + 2 C_2 ) }

    with ``C_2 = 16 ln(18/delta)`` and either ``C_1 = 16 / ln(1 + sigma^-2)``, c = 2, c' = 1, or
    ``C_1 = 8 / ln(1 + sigma^-2)``, c = 4, c' = 2. Both equal `stopping_bound`.

    Source: [MVABO] Theorem 4.1, Eq. (11).

    Parameters
    ----------
    horizon, gain, beta_sqrt, b_tilde, noise_var, delta, weights
        As in `stopping_bound`.
    reading : {16, 8}
        Numerator of C_1.
    """
    factor, last = {16: (2, 1), 8: (4, 2)}[reading]
    T, b = np.asarray(horizon, dtype=float), beta_sqrt
    c_1, c_2 = reading / _log_ratio(noise_var), 16 * np.log(18 / delta)
    first = b * (np.sqrt(factor * T * c_1 * gain) + c_2)
    inner = 2 * T * b_tilde * b * (np.sqrt(4 * factor * T * c_1 * gain) + 2 * c_2)
    inner = inner + 5 * T * b**2 * (last * c_1 * gain + 2 * c_2)
    return (weights[0] * first + weights[1] * np.sqrt(inner)) / T


def stopping_time(bound, target, limit=10**7):
    """Return the smallest T >= 1 with ``bound(T) <= target``, or None if it exceeds `limit`.

    Parameters
    ----------
    bound : callable
        Takes an array of T; for instance a partial `stopping_bound`.
    target : float
        eps, min(eps_1, eps_2), or half of it (Theorem D.1).
    limit : int, optional

    Notes
    -----
    Source: [MVABO] Theorems 4.1, 4.2, B.1, C.1, C.2, D.1: "the smallest positive integer".
    """
    positive(target, "target")
    start, size = (
        1,
        1024,  # mutants: size of the first block; any size finds the same T
    )
    while start <= limit:
        T = np.arange(start, min(start + size, limit + 1))
        met = np.flatnonzero(bound(T) <= target)
        if len(met):
            return int(T[met[0]])
        start, size = (
            start + size,
            min(2 * size, 2**20),  # mutants: size of the next block; any size finds the same T
        )
    return None


def tau(lipschitz, dim, eps, b_tilde):
    r"""Return the number of segments an axis that suffices for a continuous X.

    .. math:: \tau = \max\{ 2 L d_1 / \epsilon_1,\; 16 \tilde B L d_1 / \epsilon_2^2 \}

    rounded up. Source: [MVABO] Theorem D.1, from Lemmas D.1, D.2 and Eqs. (41), (42), (43).

    Parameters
    ----------
    lipschitz : float
        L, of f in x in the l1 norm.
    dim : int
        d_1.
    eps : tuple of 2 float
        (eps_1, eps_2) > 0.
    b_tilde : float
        B~.

    Examples
    --------
    >>> tau(5.0, 1, (0.5, 0.5), 2.0)
    640
    """
    for value, name in ((lipschitz, "lipschitz"), (eps[0], "eps[0]"), (eps[1], "eps[1]")):
        positive(value, name)
    return int(
        np.ceil(max(2 * lipschitz * dim / eps[0], 16 * b_tilde * lipschitz * dim / eps[1] ** 2))
    )
