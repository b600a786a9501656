"""Lengthscales and variance of the ARD Gaussian kernel by maximum marginal likelihood."""

import numpy as np
from scipy.linalg import lapack

from fivebo.mvabo.kernels import squared_exponential

LOG_SCALES, LOG_VARIANCE = (-4.0, 3.0), (-4.0, 8.0)
"""Bounds of the search, natural logarithms."""

MAX_ITERATIONS = 50


def log_likelihood(theta, squares, y, noise_var):
    r"""Log marginal likelihood of an ARD Gaussian kernel, and its gradient.

    .. math::
        -\tfrac12 y^\top K_\sigma^{-1} y - \tfrac12 \ln\det K_\sigma - \tfrac t2 \ln 2\pi, \quad
        K_\sigma = K + \sigma^2 I

    Parameters
    ----------
    theta : ndarray of shape (1 + d,)
        ln s^2, ln l_1, ..., ln l_d.
    squares : ndarray of shape (d, t, t)
        Squared differences of the inputs along each axis.
    y : ndarray of shape (t,)
    noise_var : float
        sigma^2, held fixed.

    Returns
    -------
    value : float
        -inf where the Gram matrix is not positive definite.
    gradient : ndarray of shape (1 + d,)

    Notes
    -----
    Source: [MVABO] Sec. 5.1; Rasmussen & Williams (2006), Eqs. (5.8), (5.9).
    """
    inverse = np.exp(-2 * theta[1:])
    K = (-0.5 * inverse @ squares.reshape(len(squares), -1)).reshape(squares.shape[1:])
    K += theta[0]
    np.exp(K, out=K)
    gram = K.copy()
    gram[np.diag_indices_from(gram)] += noise_var
    L, info = lapack.dpotrf(gram, lower=1)
    if info:
        return -np.inf, np.zeros_like(theta)
    precision, _ = lapack.dpotri(L, lower=1)  # its lower triangle; above it stands what was there
    precision = np.tril(precision)
    precision += np.tril(precision, -1).T
    alpha = precision @ y
    value = -0.5 * y @ alpha - np.log(L.diagonal()).sum() - 0.5 * len(y) * np.log(2 * np.pi)
    M = (np.outer(alpha, alpha) - precision) * K
    along = squares.reshape(len(squares), -1) @ M.ravel()
    gradient = np.concatenate([[M.sum()], inverse * along])
    return float(value), 0.5 * gradient


def fit_ard(Z, y, dim_x, noise_var, starts):
    """Return the ARD kernel of highest marginal likelihood found from some starts.

    Parameters
    ----------
    Z : ndarray of shape (t, d)
        Joined inputs (x, w).
    y : ndarray of shape (t,)
    dim_x : int
        Number of coordinates of x.
    noise_var : float
    starts : sequence of ProductKernel
        From `squared_exponential`; L-BFGS-B runs from each.

    Returns
    -------
    ProductKernel or None
        None if no start gives a finite likelihood.
    """
    from scipy.optimize import minimize

    squares = np.stack([np.subtract.outer(z, z) ** 2 for z in Z.T])
    limits = [LOG_VARIANCE] + [LOG_SCALES] * Z.shape[1]

    def objective(theta):
        value, gradient = log_likelihood(theta, squares, y, noise_var)
        return (-value, -gradient) if np.isfinite(value) else (1e25, gradient)

    best, chosen = 1e24, None
    for start in starts:
        theta = np.clip(ard_parameters(start, Z.shape[1]), *np.transpose(limits))
        found = minimize(
            objective, theta, jac=True, method="L-BFGS-B", bounds=limits,
            options={"maxiter": MAX_ITERATIONS},
        )  # fmt: skip
        if np.isfinite(found.fun) and found.fun < best:
            best, chosen = found.fun, found.x
    if chosen is None:
        return None
    scales = np.exp(chosen[1:])
    return squared_exponential(np.exp(chosen[0]), scales[:dim_x], scales[dim_x:])


def ard_parameters(kernel, dim):
    """Return (ln s^2, ln l_1, ..., ln l_d) of a kernel from `squared_exponential`."""
    x = np.broadcast_to(kernel.x.scales, kernel.dim_x)
    w = np.broadcast_to(kernel.w.scales, dim - kernel.dim_x)
    return np.log([kernel.x.variance * kernel.w.variance, *x, *w])
