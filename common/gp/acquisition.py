"""Acquisition functions of a Gaussian posterior, for either direction, with their slopes.

A gain g is what f is expected to improve by: ``mean - best`` where f is maximised, ``best - mean``
where it is minimised, less a margin if one is wanted.
"""

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr


def upper_bound(mean, std, width):
    """Return ``mean + width std``, the upper confidence bound.

    Parameters
    ----------
    mean, std : ndarray
        Posterior mean and standard deviation of f, in its units.
    width : float
        beta^{1/2}, dimensionless.
    """
    return mean + width * std


def expected_improvement(gain, std):
    r"""Return the expected improvement.

    .. math:: EI = E[\max(g + s\epsilon, 0)] = g\,\Phi(g / s) + s\,\varphi(g / s)

    Source: D. R. Jones, M. Schonlau and W. J. Welch (1998), Eq. (15).

    Parameters
    ----------
    gain, std : array_like
        g, and the standard deviation s >= 0 of f, in units of f; where s is 0, EI is max(g, 0).

    >>> round(float(expected_improvement(0.0, 1.0)), 4)
    0.3989
    """
    gain, std, z = _standardised(gain, std)
    smooth = gain * ndtr(z) + std * np.exp(_log_density(z))
    return np.where(std > 0, smooth, np.maximum(gain, 0))


def log_expected_improvement(gain, std):
    r"""Return the logarithm of `expected_improvement`, finite where that underflows to 0.

    .. math:: \log EI = \log s + \log h(g / s), \quad h(z) = \varphi(z) + z\,\Phi(z)

    Parameters
    ----------
    gain, std : array_like
        As in `expected_improvement`; -inf where s is 0 and nothing is gained.

    >>> round(float(log_expected_improvement(-100.0, 1.0)), 2)
    -5010.13
    """
    gain, std, z = _standardised(gain, std)
    with np.errstate(divide="ignore"):
        sure = np.log(np.maximum(gain, 0))
        return np.where(std > 0, np.log(std) + _log_h(z), sure)


def improvement_slope(gain, std, gain_slope, std_slope, log=False):
    r"""Return the expected improvement at one point, or its logarithm, and its gradient.

    .. math:: \nabla EI = \Phi(z) \nabla g + \varphi(z) \nabla s, \qquad
              \nabla \log EI = \nabla EI / EI

    Parameters
    ----------
    gain, std : float
        As in `expected_improvement`, std > 0.
    gain_slope, std_slope : ndarray of shape (d,)
    log : bool, optional

    Returns
    -------
    value : float
    gradient : ndarray of shape (d,)
    """
    z = gain / std
    value = float((log_expected_improvement if log else expected_improvement)(gain, std))
    scale = value if log else 0.0  # divided by EI in the exponents
    share, density = np.exp(log_ndtr(z) - scale), np.exp(_log_density(z) - scale)
    return value, share * gain_slope + density * std_slope


def _standardised(gain, std):
    gain, std = np.broadcast_arrays(np.asarray(gain, float), np.asarray(std, float))
    with np.errstate(over="ignore"):  # a gain of very many deviations is a sure one
        z = np.divide(gain, std, out=np.zeros(gain.shape), where=std > 0)
    return gain, std, z


def _log_h(z):
    """Return log(phi(z) + z Phi(z)) without cancellation."""
    near = np.maximum(z, -1)
    far = np.clip(-z, 1, 1e5)  # beyond, h(z) is phi(z) / z^2 to working precision
    mills = np.sqrt(np.pi / 2) * erfcx(far / np.sqrt(2))
    tail = np.where(z < -1e5, -2 * np.log(np.maximum(-z, 1)), np.log1p(-far * mills))
    return np.where(
        z > -1,
        np.log(np.exp(_log_density(near)) + near * ndtr(near)),
        _log_density(z) + tail,
    )


def _log_density(z):
    """Return the logarithm of the standard normal density."""
    return -0.5 * z**2 - 0.5 * np.log(2 * np.pi)
