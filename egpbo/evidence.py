"""Hyperparameters of a component by maximum marginal likelihood of the exact kernel.

The paper fits the exact kernel and then draws frequencies ([EGPBO] Sec. 3.1, Sec. 8, Alg. 1).
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from fivebo.egpbo.box import positive_range, whole
from fivebo.egpbo.features import DEGREES, correlation


@dataclass(frozen=True)
class FitSettings:
    """How hyperparameters are fitted. [EGPBO] Sec. 3.1.

    Parameters
    ----------
    restarts : int
        Random restarts of a full fit, besides the start from the last values.
    full_every : int
        A fit is full if so many observations came since the last full one; the fits between
        start from the last values alone.
    magnitude_bounds, length_bounds : tuple of float
        Limits of sigma_theta^2 and of fitted lengthscales, in units of the model (the unit cube).
        Source: [EGPBO] Sec. 5 is silent. The released code leaves scikit-learn's 1e-5 to 1e5 for
        both; a lengthscale far below the distance of the points is white noise, a local optimum
        of the evidence from which no later fit returns.
    """

    restarts: int = 2
    full_every: int = 25
    magnitude_bounds: tuple[float, float] = (1e-5, 1e5)
    length_bounds: tuple[float, float] = (0.05, 20.0)

    def __post_init__(self):
        """Refuse numbers and limits with which nothing can be fitted."""
        whole(self.restarts, "restarts", 0)
        whole(self.full_every, "full_every")
        positive_range(self.magnitude_bounds, "magnitude_bounds")
        positive_range(self.length_bounds, "length_bounds")


@dataclass(frozen=True)
class Hyperparameters:
    """Fitted values of a component.

    Parameters
    ----------
    prior_var : float
        sigma_theta^2, in squared units of y.
    length_scale : ndarray of shape (1,) or (d,)
        In units of the inputs.
    evidence : float
        Log marginal likelihood of the exact GP.
    """

    prior_var: float
    length_scale: np.ndarray
    evidence: float


def fit(kernel, X, y, noise_var, settings, last=None, restarts=0, rng=None):
    """Maximise the marginal likelihood over the magnitude and the lengthscales that are free.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    noise_var : float
        sigma_n^2, fixed.
    settings : FitSettings
    last : Hyperparameters, optional
        The fit before, one of the starts.
    restarts : int, optional
        Further starts, at random.
    rng : numpy.random.Generator
        For those starts; not used if the lengthscale is fixed.

    Returns
    -------
    Hyperparameters

    Raises
    ------
    numpy.linalg.LinAlgError
        No start gave a finite marginal likelihood.

    Notes
    -----
    Source: [EGPBO] Sec. 3.1, Sec. 5.
    """
    if kernel.length_scale is not None:
        K = correlation(kernel.family, cdist(X, X) / kernel.length_scale)
        prior_var, evidence = fit_magnitude(K, y, noise_var, settings.magnitude_bounds)
        return Hyperparameters(prior_var, np.array([kernel.length_scale]), evidence)
    return _fit_all(kernel, X, y, noise_var, settings, last, restarts, rng)


def fit_magnitude(K, y, noise_var, bounds):
    r"""Maximise the evidence over the magnitude alone, exactly, from one eigendecomposition.

    .. math::
        \log p(y) = -\tfrac12 \sum_i \Bigl[ \log 2\pi(\sigma_\theta^2 e_i + \sigma_n^2)
            + \frac{(u_i'y)^2}{\sigma_\theta^2 e_i + \sigma_n^2} \Bigr]

    with eigenpairs :math:`(e_i, u_i)` of the correlation matrix. Source: [EGPBO] Sec. 3.1.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Correlations.
    y : ndarray of shape (n,)
    noise_var : float
    bounds : tuple of float
        Limits of the magnitude.

    Returns
    -------
    prior_var, evidence : float
    """
    from scipy.optimize import minimize_scalar

    eigenvalues, U = np.linalg.eigh(K)
    eigenvalues, squares = eigenvalues.clip(0), (U.T @ y) ** 2

    def negative(log_var):
        variances = np.exp(np.asarray(log_var))[..., None] * eigenvalues + noise_var
        return 0.5 * (np.log(2 * np.pi * variances) + squares / variances).sum(-1)

    if bounds[0] == bounds[1]:  # a known magnitude
        return bounds[0], -float(negative(np.log(bounds[0])))
    grid = np.linspace(*np.log(bounds), 70)
    at = int(negative(grid).argmin())
    around = grid[[max(at - 1, 0), min(at + 1, len(grid) - 1)]]
    found = minimize_scalar(
        lambda v: float(negative(v)), bounds=around, method="bounded",
        options={"xatol": 1e-8},
    )  # fmt: skip
    return float(np.exp(found.x)), -float(found.fun)


def squared_differences(X, ard):
    """Return squared differences of points: one matrix an input (d, n, n), or their sum (1, n, n).

    Parameters
    ----------
    X : ndarray of shape (n, d)
    ard : bool
    """
    parts = (X.T[:, :, None] - X.T[:, None, :]) ** 2
    return parts if ard else parts.sum(0, keepdims=True)


def correlation_and_slopes(family, differences, length_scale):
    r"""Return the correlation matrix and its derivatives by the log lengthscales.

    With :math:`s_k = \Delta_k^2 / l_k^2` and :math:`r^2 = \sum_k s_k` the derivative by
    :math:`\log l_k` is :math:`s_k e^{-r^2/2}` (RBF), :math:`3 s_k e^{-a}` (Matern-3/2) and
    :math:`\tfrac53 (1 + a) s_k e^{-a}` (Matern-5/2).

    Source: [EGPBO] Sec. 2.1.

    Parameters
    ----------
    family : str
    differences : ndarray of shape (k, n, n)
    length_scale : ndarray of shape (k,)

    Returns
    -------
    K : ndarray of shape (n, n)
    slopes : ndarray of shape (k, n, n)
    """
    scaled = differences / length_scale[:, None, None] ** 2
    r2 = scaled.sum(0)
    if family == "rbf":
        K = np.exp(-0.5 * r2)
        return K, scaled * K
    a = np.sqrt(DEGREES[family] * r2)
    decay = np.exp(-a)
    if family == "matern-3/2":
        return (1 + a) * decay, 3 * scaled * decay
    return (1 + a + a**2 / 3) * decay, 5 / 3 * scaled * ((1 + a) * decay)


def log_evidence(family, differences, y, prior_var, length_scale, noise_var):
    """Return the log marginal likelihood and its gradient.

    Scikit-learn's numbers at a tenth of its overhead, which counts where single-GP methods refit
    at every evaluation. Source: [EGPBO] Sec. 3.1.

    Parameters
    ----------
    family : str
    differences : ndarray of shape (k, n, n)
    y : ndarray of shape (n,)
    prior_var : float
    length_scale : ndarray of shape (k,)
    noise_var : float

    Returns
    -------
    value : float
    gradient : ndarray of shape (k + 2,)
        By the logarithms of magnitude, lengthscales and noise variance.
    """
    K, slopes = correlation_and_slopes(family, differences, length_scale)
    factor = cho_factor(prior_var * K + noise_var * np.eye(len(y)), lower=True)
    alpha = cho_solve(factor, y)
    log_det = 2 * np.log(np.diag(factor[0])).sum()
    value = -0.5 * (y @ alpha + log_det + len(y) * np.log(2 * np.pi))
    inner = np.outer(alpha, alpha) - cho_solve(factor, np.eye(len(y)))
    by_scale = 0.5 * prior_var * np.einsum("ij,kij->k", inner, slopes)
    by_magnitude = 0.5 * prior_var * np.einsum("ij,ij->", inner, K)
    by_noise = 0.5 * noise_var * np.trace(inner)
    return float(value), np.array([by_magnitude, *by_scale, by_noise])


def maximise_evidence(kernel, X, y, settings, starts, noise_bounds):
    """Maximise the evidence over magnitude, lengthscales and noise by L-BFGS-B in logarithms.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    settings : FitSettings
    starts : iterable of ndarray
        Magnitude, lengthscales, noise variance.
    noise_bounds : tuple of float
        Equal for a noise that is known.

    Returns
    -------
    values : ndarray
        As a start.
    evidence : float

    Raises
    ------
    numpy.linalg.LinAlgError
        No start gave a finite value.
    """
    from scipy.optimize import minimize

    differences = squared_differences(X, kernel.ard)
    free = [settings.magnitude_bounds, *[settings.length_bounds] * len(differences), noise_bounds]
    bounds = np.log(free)

    def negative(logs):
        values = np.exp(logs)
        try:
            value, gradient = log_evidence(
                kernel.family, differences, y, values[0], values[1:-1], values[-1]
            )
        except np.linalg.LinAlgError:
            return np.inf, np.zeros_like(logs)
        return -value, -gradient

    best, lowest = None, np.inf
    for start in starts:
        found = minimize(
            negative, np.clip(np.log(start), *bounds.T), jac=True, method="L-BFGS-B", bounds=bounds
        )
        if found.fun < lowest:
            best, lowest = np.exp(found.x), float(found.fun)
    if best is None:
        raise np.linalg.LinAlgError(f"no start gave a finite marginal likelihood of {kernel}")
    return best, -lowest


def draw_starts(kernel, dim, settings, last, noise_range, restarts, rng):
    """Yield the last values, or magnitude and lengthscales 1, then `restarts` random ones."""
    k = kernel.n_scales(dim)
    yield np.r_[np.ones(1 + k), noise_range[0]] if last is None else last
    ranges = [settings.magnitude_bounds, *[settings.length_bounds] * k, noise_range]
    low, high = np.log(ranges).T
    for _ in range(restarts):
        yield np.exp(rng.uniform(low, high))


def _fit_all(kernel, X, y, noise_var, settings, last, restarts, rng):
    """Fit magnitude and lengthscales at a known noise."""
    noise = (noise_var, noise_var)
    if last is not None:
        last = np.r_[last.prior_var, last.length_scale, noise_var]
    starts = draw_starts(kernel, X.shape[1], settings, last, noise, restarts, rng)
    values, evidence = maximise_evidence(kernel, X, y, settings, starts, noise)
    return Hyperparameters(float(values[0]), values[1:-1], evidence)
