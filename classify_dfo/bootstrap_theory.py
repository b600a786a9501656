"""Bounds on selective classification by resampling: Sec. 3 and App. A.3, A.4 of [CDFO].

Pure functions; numbers that our text has lost are restored by derivation (`fidelity.yaml` says
which). Phi is the standard normal distribution function.
"""

import math

from fivebo.common.checks import count, positive


def _phi(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def _chance(delta):
    return positive(delta, "delta", upper=1.0)


def bootstrap_draws(delta):
    r"""Perturbed models that Theorem 4 asks for.

    .. math:: B \geq 15 \log(3/\delta)

    Source: [CDFO] Theorem 4, Theorem A.4.

    >>> bootstrap_draws(0.05)
    62
    """
    return math.ceil(15 * math.log(3 / _chance(delta)))


def bootstrap_scale(n, dim, delta):
    r"""Order of the scale sigma, without its constant.

    .. math:: \sigma = O(d^{1/2} + \log^{1/2}(1/\delta) + n^{-1/2})

    Source: [CDFO] Theorem 4, Theorem A.4.
    """
    return math.sqrt(dim) + math.sqrt(math.log(1 / _chance(delta))) + 1 / math.sqrt(n)


def bootstrap_error(scale, n, draws, delta):
    r"""Order of epsilon, which times Delta_h bounds the abstention, without its constant.

    .. math:: \varepsilon = O(\sigma^2 n^{-1} \log(B/\delta))

    Source: [CDFO] Theorem 4, Theorem A.4.
    """
    return scale**2 / n * math.log(draws / _chance(delta))


def bootstrap_batch(dim, delta, smoothness, convexity):
    r"""Return the samples that Theorem 4 asks for.

    .. math:: n \geq 2 \log(2d/\delta) S / \gamma

    Source: [CDFO] Theorem 4, Theorem A.4.

    Parameters
    ----------
    dim : int
    delta : float
    smoothness, convexity : float
        S bounds the Hessian of a loss, gamma is the strong convexity of L_n.
    """
    return 2 * math.log(2 * dim / _chance(delta)) * smoothness / convexity


def repeated_batch(dim, delta, smoothness, convexity, rounds):
    r"""Return the samples for which `bootstrap_batch` holds in all of T rounds.

    .. math:: n \geq 2 S \gamma^{-1} (\log(2d/\delta) + \log 2T)

    Source: [CDFO] Theorem A.5, first term.
    """
    inner = math.log(2 * dim / _chance(delta)) + math.log(2 * rounds)
    return 2 * smoothness / convexity * inner


def bootstrap_loss(coefficient, error):
    r"""Coverage lost to the bootstrap in a round, (1 + Delta_h) epsilon.

    Source: [CDFO] Theorem A.5; `theory.selective_bound` takes it.
    """
    return (1 + coefficient) * error


def missed_infimum(draws, tau, excess=0.0):
    r"""Chance that no draw of B comes close to the infimum over an ellipsoid.

    .. math:: P\Bigl( \min_i x^\top\theta_i - \inf_{\theta \in Q_\tau} x^\top\theta
        > \epsilon \sqrt{x^\top\Sigma x} \Bigr) = (1 - \Phi(\epsilon - \sqrt\tau))^B

    for theta_i ~ N(theta, Sigma), Q_tau the ellipsoid of squared radius tau.

    Source: [CDFO] Lemma A.3.

    >>> round(missed_infimum(20, 1.0), 4)
    0.0316
    """
    return (1 - _phi(excess - math.sqrt(positive(tau, "tau")))) ** count(draws, "draws")


def far_draw_bound(draws, dim, c):
    r"""Bound on the chance that any of B draws leaves the ellipsoid of squared radius c d.

    .. math:: P(\max_i (\theta_i - \theta)^\top \Sigma^{-1} (\theta_i - \theta) \geq c d)
        \leq B (c e^{1-c})^{d/2}, \quad c > 1

    Source: [CDFO] Lemma A.4.

    >>> round(far_draw_bound(20, 5, 3.0), 4)
    2.1007
    """
    if c <= 1:
        raise ValueError(f"c must be above 1, got {c:g}")
    return draws * (c * math.exp(1 - c)) ** (dim / 2)


def quadratic_mistake(draws, tau):
    r"""Bound on the chance that the draws decide where the ellipsoid does not, Phi(sqrt tau)^B.

    Source: [CDFO] Theorem A.3, first part; the second is `far_draw_bound`.
    """
    return missed_infimum(draws, tau)


def draws_for(delta, tau=1.0):
    r"""Draws for which `quadratic_mistake` is at most delta, log delta / log Phi(sqrt tau).

    Source: [CDFO] Lemma A.3, App. A.3; the paper's log 0.95 in the denominator is safe.

    >>> draws_for(0.05)
    18
    """
    return math.ceil(math.log(_chance(delta)) / math.log(_phi(math.sqrt(tau))))


def least_curvature(n, dim, delta, convexity, smoothness):
    r"""Lower bound on the smallest eigenvalue of the Hessian of L_n, with probability 1 - delta.

    .. math:: \lambda_{\min}(\nabla^2 L_n)
        \geq \bigl( 1 - \sqrt{2 L \log(d/\delta) / (n \gamma)} \bigr) \gamma

    Source: [CDFO] Lemma A.5, by the matrix Chernoff inequality.

    Parameters
    ----------
    n, dim, delta
    convexity, smoothness : float
        gamma and L: smallest eigenvalue of the expected Hessian, largest of a single one.

    >>> round(least_curvature(1000, 3, 0.05, 0.1, 0.25), 4)
    0.0857
    """
    return (
        1 - math.sqrt(2 * smoothness * math.log(dim / _chance(delta)) / (n * convexity))
    ) * convexity


def quadratic_slack(tau, convexity, lipschitz):
    r"""Order of zeta, by which a sublevel set of L_n and its quadratic model differ.

    .. math:: \zeta = O(M (\tau/\gamma)^{3/2}), \quad
        VS_{\tau+2\zeta} \supseteq L_{\tau+2\zeta} \supseteq Q_{\tau+\zeta} \supseteq L_\tau

    Source: [CDFO] Lemma A.6, Definition A.1; taken here with the constant 1/6 of Taylor's theorem
    on the radius sqrt(2 tau / gamma).

    Parameters
    ----------
    tau : float
        Level above the minimum.
    convexity : float
        gamma.
    lipschitz : float
        M, Lipschitz constant of the Hessian.
    """
    return lipschitz / 6 * (2 * tau / convexity) ** 1.5
