"""Hyperparameters of a component by maximum marginal likelihood of the exact kernel.

The paper fits the exact kernel and then draws frequencies ([EGPBO] Sec. 3.1, Sec. 8, Alg. 1).
"""

from dataclasses import dataclass

import numpy as np

from fivebo.common.checks import count
from fivebo.common.gp import evidence
from fivebo.common.gp.evidence import Fit, Limits, positive_range, start_of


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
    magnitude_bounds : tuple of float
        Limits of fitted sigma_theta^2, in units of the mean square of the model's outputs (1 if
        they are standardised).
    length_bounds : tuple of float
        Limits of fitted lengthscales, in sides of the box.
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
        count(self.restarts, "restarts", 0)
        count(self.full_every, "full_every")
        positive_range(self.magnitude_bounds, "magnitude_bounds")
        positive_range(self.length_bounds, "length_bounds")


def fit(
    kernel, X, y, noise_var, settings, last=None, restarts=0, rng=None, *, noise_bounds=None,
    x_spread=1.0, y_square=1.0,
):  # fmt: skip
    """Maximise the marginal likelihood over the parameters of a dictionary's kernel that are free.

    Parameters
    ----------
    kernel : egpbo.features.Kernel
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    noise_var : float
        sigma_n^2, in squared units of y; where it is fitted, its value at the first start.
    settings : FitSettings
    last : Fit, optional
        The fit before, one of the starts.
    restarts : int, optional
        Further starts, at random between the limits.
    rng : numpy.random.Generator
        For those starts.
    noise_bounds : tuple of float, optional
        Limits of a noise variance that is fitted, in units of `y_square`; None: it is known.
    x_spread : float or ndarray of shape (d,), optional
        Sides of the box, the unit of lengthscales' limits; default: the unit cube's.
    y_square : float, optional
        Unit of variances' limits; default: that of standardised observations.

    Returns
    -------
    fivebo.common.gp.evidence.Fit

    Raises
    ------
    numpy.linalg.LinAlgError
        No start gave a finite marginal likelihood.

    Notes
    -----
    Source: [EGPBO] Sec. 3.1, Sec. 5.
    """
    x_spread = np.broadcast_to(x_spread, X.shape[1:])
    scale = kernel.length_scale or (x_spread if kernel.ard else x_spread.max())
    variances = np.multiply(settings.magnitude_bounds, y_square)
    if kernel.variance is not None:
        variances = np.full(2, kernel.variance)
    if kernel.length_scale is not None and noise_bounds is None:
        correlation = kernel.exact(scale)(X)
        variance, value, hit = evidence.fit_variance(correlation, y, noise_var, variances)
        found = kernel.exact(scale, variance)
        at_limit = ("variance",) if hit else ()
        return Fit(found, noise_var, value, start_of(found, noise_var), at_limit)
    first = kernel.exact(scale, y_square)
    limits = Limits(settings.length_bounds, settings.magnitude_bounds, noise_bounds)
    limits = evidence.search_limits(first, X, y, noise_var, limits, x_spread, y_square)
    limits[0] = np.log(variances)
    if kernel.length_scale is not None:
        limits[1:-1] = np.log(scale)
    starts = [start_of(first, noise_var) if last is None else last.theta]
    starts += [rng.uniform(*limits.T) for _ in range(restarts)]
    return evidence.fit(first, X, y, limits, starts)
