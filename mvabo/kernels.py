"""The ARD Gaussian kernel of [MVABO] Sec. 5.1, and the limits within which it is fitted."""

import numpy as np

from fivebo.common.gp.evidence import Limits, search_limits
from fivebo.common.gp.kernels import SquaredExponential
from fivebo.common.gp.product import Product

LIMITS = Limits(
    length_scale=(np.exp(-4) / 2, np.exp(3) / 2), variance=(np.exp(-4), 1e5), noise_var=None
)
"""Lengthscales relative to the range of the domain, the variance to the mean square of y."""

MAX_ITERATIONS = 50
"""Of a fit, from each of its starts."""


def squared_exponential(variance=1.0, x_scales=0.25, w_scales=0.25, dim_x=None):
    r"""Return the ARD Gaussian kernel of the experiments as a product kernel.

    .. math:: k(z, z') = s^2 \exp\Bigl( -\sum_i \frac{(z_i - z'_i)^2}{2 l_i^2} \Bigr)

    Parameters
    ----------
    variance : float
        s^2 = s_ker^2, in squared units of f.
    x_scales, w_scales : float or array_like
        Lengthscales l^(x) and l^(w), in units of the inputs. One number serves all axes, and a fit
        then finds one for all; an array has one an axis.
    dim_x : int, optional
        Number of coordinates of x; default: the number of `x_scales`.

    Returns
    -------
    Product

    Notes
    -----
    Source: [MVABO] Sec. 5.1; the minus sign and the factor 2 are lost in our copy of the text and
    are those of the authors' public sampler.
    """
    dim_x = np.size(x_scales) if dim_x is None else dim_x
    return Product(SquaredExponential(x_scales, variance), SquaredExponential(w_scales), dim_x)


def fit_limits(kernel, y, noise_var, extent):
    """Return the limits of a fit, shape (p + 1, 2), as `fivebo.common.gp.evidence.fit` takes them.

    Of several variances, which only count by their product, the first is fitted. The others, the
    noise and lengthscales along which the domain does not extend keep their values.

    Parameters
    ----------
    kernel : Kernel
        Of the core.
    y : ndarray of shape (t,)
        Not all 0.
    noise_var : float
        sigma^2.
    extent : ndarray of shape (d,)
        Range of the domain along each input.

    Notes
    -----
    Source: ours; [MVABO] Sec. 5.1 gives none. On [-1, 1] a lengthscale lies in exp(-4) ... exp(3).
    """
    sides = np.where(extent > 0, extent, 1.0)
    limits = search_limits(kernel, None, y, noise_var, LIMITS, x_spread=sides)
    theta, axes = kernel.theta, kernel.axes
    first, *others = (p for p, of in enumerate(axes) if of == "variance")
    limits[first] -= theta[others].sum()
    flat = [p for p, of in enumerate(axes) if of != "variance" and not extent[of].any()]
    held = [*others, *flat]
    limits[held] = theta[held, None]
    return limits
