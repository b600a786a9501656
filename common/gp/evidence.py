"""The marginal likelihood, its gradient, and its maximum: one fit for any kernel of the core.

Parameters are searched in logarithms: the kernel's `theta`, then the noise variance. Their limits
are relative to the data (`search_limits`); a parameter whose limits are equal is known, not fitted.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from fivebo.common.checks import as_finite_array, positive
from fivebo.common.gp.factor import forward_solve, log_density


@dataclass(frozen=True)
class Limits:
    """How far a fit may go, relative to the data: no limit depends on the user's units.

    Parameters
    ----------
    length_scale : (float, float)
        In units of the spread of the inputs along the axis.
    variance : (float, float)
        In units of the mean square of y.
    noise_var : (float, float) or None
        In units of the mean square of y; None: the noise variance is known.

    Raises
    ------
    ValueError
        A pair that is not 0 < lower <= upper.
    """

    length_scale: tuple[float, float] = (1e-2, 1e2)
    variance: tuple[float, float] = (1e-2, 1e2)
    noise_var: tuple[float, float] | None = (1e-6, 1e1)

    def __post_init__(self):
        """Refuse limits within which nothing can be fitted."""
        for name in ("length_scale", "variance"):
            positive_range(getattr(self, name), name)
        if self.noise_var is not None:
            positive_range(self.noise_var, "noise_var")


@dataclass(frozen=True)
class Fit:
    """What a fit found.

    Parameters
    ----------
    kernel : Kernel
    noise_var : float
        In squared units of y.
    evidence : float
        Log marginal likelihood, in nats.
    theta : ndarray
        Logarithms of the kernel's parameters and of the noise variance: a start of the next fit.
    at_limit : tuple of str
        Fitted parameters that ended at a limit, such as "variance" or "length_scale 2".
    """

    kernel: object
    noise_var: float
    evidence: float
    theta: np.ndarray
    at_limit: tuple


def positive_range(value, name):
    """Refuse what is not a pair of numbers with 0 < lower <= upper."""
    pair = as_finite_array(value, name)
    if pair.shape != (2,) or not 0 < pair[0] <= pair[1]:
        raise ValueError(f"{name} must be two numbers, 0 < lower <= upper, got {value!r}")


def log_evidence(kernel, noise_var, X, y):
    r"""Return the log marginal likelihood of a kernel of the core, and its gradient.

    .. math::
        \log p(y) = -\tfrac12 y^\top K_y^{-1} y - \tfrac12 \log\det K_y - \tfrac n2 \log 2\pi,
        \qquad \frac{\partial}{\partial\theta} = \tfrac12 \mathrm{tr}\Bigl[ \bigl(
        \alpha\alpha^\top - K_y^{-1} \bigr) \frac{\partial K_y}{\partial\theta} \Bigr]

    with :math:`K_y = K + \sigma^2 I` and :math:`\alpha = K_y^{-1} y`.

    Source: Rasmussen & Williams (2006), Eqs. (5.8), (5.9).

    Parameters
    ----------
    kernel : Kernel
        With `with_slopes`.
    noise_var : float
        sigma^2, in squared units of y.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or (n, p)
        Observations less their prior mean; p independent outputs that share the kernel are summed.

    Returns
    -------
    value : float
        -inf where the Gram matrix is not positive definite.
    gradient : ndarray of shape (p + 1,)
        By the kernel's `theta` and by the logarithm of the noise variance.
    """
    K, contract = kernel.with_slopes(X)
    diagonal = np.einsum("ii->i", K)  # a view
    diagonal += noise_var
    L, info = lapack.dpotrf(K, lower=1)
    if info:
        return -np.inf, np.zeros(len(kernel.theta) + 1)
    diagonal -= noise_var  # `contract` looks at K once more
    value = log_density(forward_solve(L, y), L.diagonal())
    lower = lapack.dpotri(L, lower=1)[0]
    precision = lower + lower.T
    np.einsum("ii->i", precision)[:] /= 2
    alpha = precision @ y
    p = 1 if alpha.ndim == 1 else alpha.shape[1]
    M = np.dot(alpha.reshape(len(y), p), alpha.reshape(len(y), p).T) - p * precision
    return value, 0.5 * np.append(contract(M), noise_var * np.trace(M))


def log_evidences(grams, y):
    """Return the log marginal likelihoods of y under many Gram matrices at once.

    Parameters
    ----------
    grams : ndarray of shape (k, n, n)
        Covariances of y, noise included.
    y : ndarray of shape (n,)

    Returns
    -------
    ndarray of shape (k,)
        -inf where a matrix is not positive definite.
    """
    roots = _roots(grams)
    whitened = np.linalg.solve(roots, np.broadcast_to(y[:, None], (len(roots), len(y), 1)))[..., 0]
    log_det = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(1)
    found = -0.5 * (whitened**2).sum(1) - log_det - 0.5 * len(y) * np.log(2 * np.pi)
    return np.where(np.isfinite(found), found, -np.inf)


def _roots(grams):
    """Factorise matrices; one that rounding left indefinite gets NaN, the others are kept."""
    try:
        return np.linalg.cholesky(grams)
    except np.linalg.LinAlgError:
        if len(grams) == 1:
            return np.full_like(grams, np.nan)
        return np.concatenate([_roots(one[None]) for one in grams])


def spread(X, axes=slice(None)):
    """Return the root mean squared distance of points of shape (n, d) along some axes.

    What `search_limits` takes for the spread of the inputs unless it is told.
    """
    return float(np.sqrt(2 * X.var(0)[axes].sum()))


def search_limits(kernel, X, y, noise_var, limits, x_spread=None, y_square=None):
    """Return the logarithms of the lower and upper limits of all parameters of a fit.

    Parameters
    ----------
    kernel : Kernel
        With `axes`.
    X, y, noise_var
        As in `log_evidence`.
    limits : Limits
    x_spread : float or array_like of shape (d,), optional
        Spread of the inputs, in their units, such as the sides of the box that is searched;
        default: the root mean squared distance of the data.
    y_square : float, optional
        Mean square of y; default: that of the data.

    Returns
    -------
    ndarray of shape (p + 1, 2)

    Raises
    ------
    ValueError
        The data have no spread (one point, or y = 0 throughout) and none is given.
    """
    y_square = float(np.mean(np.square(y))) if y_square is None else y_square
    if not y_square > 0:
        raise ValueError("y must differ from its prior mean, or y_square be given")
    rows = []
    for axes in kernel.axes:
        if axes == "variance":
            rows.append(np.multiply(limits.variance, y_square))
            continue
        along = spread(X, axes) if x_spread is None else np.max(_along(x_spread, axes))
        if not along > 0:
            raise ValueError(f"inputs must differ in {_named(axes)}, or x_spread be given")
        rows.append(np.multiply(limits.length_scale, along))
    known = limits.noise_var is None
    rows.append([noise_var, noise_var] if known else np.multiply(limits.noise_var, y_square))
    return np.log(rows)


def _along(x_spread, axes):
    """Return the spread along each of some axes; one number serves all."""
    return x_spread if np.ndim(x_spread) == 0 else np.asarray(x_spread)[axes]


def start_of(kernel, noise_var):
    """Return the logarithms of a kernel's parameters and of the noise variance."""
    return np.r_[kernel.theta, np.log(noise_var)]


def fit(kernel, X, y, limits, starts, max_iterations=None):
    """Maximise the marginal likelihood by L-BFGS-B in logarithms, from each of some starts.

    Parameters
    ----------
    kernel : Kernel
        Of the core; only its kind counts, its parameters are found.
    X, y
        As in `log_evidence`.
    limits : ndarray of shape (p + 1, 2)
        From `search_limits`; equal ones hold a parameter fixed.
    starts : iterable of ndarray of shape (p + 1,)
        As `start_of` gives them; clipped to the limits.
    max_iterations : int, optional
        Of a start.

    Returns
    -------
    Fit

    Raises
    ------
    numpy.linalg.LinAlgError
        No start gave a finite value.
    """
    from scipy.optimize import minimize

    unit = 0.5 * np.size(y) * np.log(np.mean(np.square(y)) or 1.0)  # stops alike in all units

    def negative(theta):
        value, gradient = log_evidence(kernel.with_theta(theta[:-1]), np.exp(theta[-1]), X, y)
        return -value - unit, -gradient

    options = {} if max_iterations is None else {"maxiter": max_iterations}
    best, lowest = None, np.inf
    for start in starts:
        start = np.clip(start, *limits.T)
        if not np.isfinite(negative(start)[0]):
            continue
        found = minimize(
            negative, start, jac=True, method="L-BFGS-B", bounds=limits, options=options
        )
        if found.fun < lowest:
            best, lowest = found.x, float(found.fun)
    if best is None:
        raise np.linalg.LinAlgError(f"no start gave a finite marginal likelihood of {kernel!r}")
    fitted = kernel.with_theta(best[:-1])
    names = [_named(axes) for axes in kernel.axes] + ["noise_var"]
    at_limit = tuple(n for n, hit in zip(names, _hits(best, limits), strict=True) if hit)
    return Fit(fitted, float(np.exp(best[-1])), -lowest - unit, best, at_limit)


def _named(axes):
    """Return what a user calls a parameter; axes count from 1."""
    if axes == "variance":
        return axes
    if axes.stop is None:
        return "length_scale" if axes.start == 0 else f"length_scale {axes.start + 1}.."
    last = f"-{axes.stop}" if axes.stop > axes.start + 1 else ""
    return f"length_scale {axes.start + 1}{last}"


def _hits(theta, limits):
    """Whether a parameter that is free ended at a limit, to a millionth of its range."""
    low, high = limits.T
    near = np.minimum(theta - low, high - theta) <= 1e-6 * (high - low)
    return near & (high > low)


def fit_variance(correlation, y, noise_var, limits):
    r"""Maximise the evidence over the kernel's variance alone, from one eigendecomposition.

    .. math::
        \log p(y) = -\tfrac12 \sum_i \Bigl[ \log 2\pi(v e_i + \sigma^2)
            + \frac{(u_i'y)^2}{v e_i + \sigma^2} \Bigr]

    with eigenpairs :math:`(e_i, u_i)` of the correlation matrix.

    Parameters
    ----------
    correlation : ndarray of shape (n, n)
        Gram matrix of the kernel with variance 1.
    y : ndarray of shape (n,)
    noise_var : float
        sigma^2 > 0.
    limits : (float, float)
        Lower and upper limit of v, in squared units of y.

    Returns
    -------
    variance, evidence : float
    at_limit : bool
    """
    from scipy.optimize import minimize_scalar

    eigenvalues, U = np.linalg.eigh(correlation)
    eigenvalues, squares = eigenvalues.clip(0), (U.T @ y) ** 2
    noise_var = positive(noise_var, "noise_var")

    def negative(log_var):
        variances = np.exp(np.asarray(log_var))[..., None] * eigenvalues + noise_var
        return 0.5 * (np.log(2 * np.pi * variances) + squares / variances).sum(-1)

    if limits[0] == limits[1]:  # a known variance
        return limits[0], -float(negative(np.log(limits[0]))), False
    grid = np.linspace(*np.log(limits), 70)
    at = int(negative(grid).argmin())
    around = grid[[max(at - 1, 0), min(at + 1, len(grid) - 1)]]
    found = minimize_scalar(
        lambda v: float(negative(v)), bounds=around, method="bounded", options={"xatol": 1e-8}
    )
    near = min(found.x - grid[0], grid[-1] - found.x) <= 1e-6 * (grid[-1] - grid[0])
    return float(np.exp(found.x)), -float(found.fun), bool(near)
