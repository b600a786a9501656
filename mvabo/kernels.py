"""Kernels of [MVABO]: the ARD Gaussian kernel, and products of a kernel of x and one of w."""

import numpy as np
from scipy.spatial.distance import cdist

from fivebo.common.checks import as_finite_array, positive
from fivebo.common.gp.kernels import Kernel


class SquaredExponential:
    r"""Gaussian kernel with a lengthscale an axis.

    .. math:: k(z, z') = s^2 \exp\Bigl( -\sum_i \frac{(z_i - z'_i)^2}{2 l_i^2} \Bigr)

    Parameters
    ----------
    variance : float
        s^2 = s_ker^2, in squared units of f.
    scales : float or array_like of shape (d,)
        Lengthscales l_i in units of the inputs; one number serves all axes.

    Notes
    -----
    Source: [MVABO] Sec. 5.1; the minus sign and the factor 2 are lost in our copy of the text and
    are those of the authors' public sampler.
    """

    def __init__(self, variance=1.0, scales=1.0):
        self.variance = positive(variance, "variance")
        self.scales = np.atleast_1d(as_finite_array(scales, "scales"))
        if self.scales.ndim != 1 or (self.scales <= 0).any():
            raise ValueError(f"scales must be positive lengthscales, one an axis, got {scales!r}")

    def __call__(self, X, Y=None):
        """Return the matrix k(x_i, y_j)."""
        X = self._scaled(X)
        Y = X if Y is None else self._scaled(Y)
        return self.variance * np.exp(-0.5 * cdist(X, Y, "sqeuclidean"))

    def diag(self, X):
        """Return k(x_i, x_i)."""
        return np.full(len(X), self.variance)

    def __repr__(self):
        return f"SquaredExponential({self.variance:g}, {self.scales.tolist()})"

    def _scaled(self, X):
        if len(self.scales) not in (1, X.shape[1]):
            raise ValueError(
                f"{self!r} has {len(self.scales)} lengthscales, the points {X.shape[1]} "
                "coordinates; give one lengthscale, or one an axis"
            )
        return X / self.scales


class ProductKernel:
    """Kernel ``k((x, w), (x', w')) = k_x(x, x') k_w(w, w')`` on joined points (x, w).

    On a grid X x Omega its structure saves most of the work: see `mvabo.posterior`.

    Parameters
    ----------
    x, w : Kernel
        Kernels of the design and of the environment.
    dim_x : int
        Number of coordinates of x in a joined point.
    """

    def __init__(self, x, w, dim_x=1):
        for name, kernel in (("x", x), ("w", w)):
            if not isinstance(kernel, Kernel):
                raise TypeError(
                    f"{name} must be a kernel with kernel(X, Y) and diag(X), got {kernel!r:.80}"
                )
        self.x, self.w, self.dim_x = x, w, dim_x

    def __call__(self, Z, Y=None):
        """Return the matrix of the products."""
        Y = Z if Y is None else Y
        d = self.dim_x
        return self.x(Z[:, :d], Y[:, :d]) * self.w(Z[:, d:], Y[:, d:])

    def diag(self, Z):
        """Return k(z_i, z_i)."""
        return self.x.diag(Z[:, : self.dim_x]) * self.w.diag(Z[:, self.dim_x :])

    def __repr__(self):
        return f"ProductKernel({self.x!r}, {self.w!r})"


def squared_exponential(variance=1.0, x_scales=0.25, w_scales=0.25, dim_x=None):
    """Return the ARD Gaussian kernel of [MVABO] Sec. 5.1 as a product kernel.

    Parameters
    ----------
    variance : float
        s_ker^2.
    x_scales, w_scales : float or array_like
        Lengthscales l^(x) and l^(w), one number or one an axis.
    dim_x : int, optional
        Number of coordinates of x; default: the number of `x_scales`.

    Returns
    -------
    ProductKernel
    """
    dim_x = len(np.atleast_1d(x_scales)) if dim_x is None else dim_x
    return ProductKernel(
        SquaredExponential(variance, x_scales), SquaredExponential(1.0, w_scales), dim_x
    )
