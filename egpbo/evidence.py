"""Hyperparameters of a component by maximum marginal likelihood of the exact kernel.

The paper fits the exact kernel and then draws frequencies ([EGPBO] Sec. 3.1, Sec. 8, Alg. 1).
"""

import warnings
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FitSettings:
    """How hyperparameters are fitted.

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
        K = kernel.correlation(kernel.length_scale)(X)
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


def _fit_all(kernel, X, y, noise_var, settings, last, restarts, rng):
    """Fit magnitude and lengthscales with scikit-learn."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel

    start = np.ones(kernel.n_scales(X.shape[1])) if last is None else last.length_scale
    magnitude = 1.0 if last is None else last.prior_var
    correlation = kernel.correlation(start)
    correlation.length_scale_bounds = settings.length_bounds
    model = GaussianProcessRegressor(
        ConstantKernel(magnitude, settings.magnitude_bounds) * correlation,
        alpha=noise_var,
        n_restarts_optimizer=restarts,
        random_state=int(rng.integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parameters at their limits are ordinary with few points
        model.fit(X, y)
    evidence = float(model.log_marginal_likelihood_value_)
    if not np.isfinite(evidence):
        raise np.linalg.LinAlgError(f"the marginal likelihood of {kernel} is {evidence}")
    fitted = model.kernel_
    return Hyperparameters(
        float(fitted.k1.constant_value), np.atleast_1d(fitted.k2.length_scale), evidence
    )
