"""Kernels: the protocol, the squared exponential and the Matérn family.

Any object with the protocol serves the posterior, those of scikit-learn among them. Those of this
module also know their slopes, by x and by the logarithms of their parameters.
"""

import copy
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.spatial.distance import cdist

from fivebo.common.checks import as_finite_array, positive
from fivebo.common.names import check_name


@runtime_checkable
class Kernel(Protocol):
    """A positive semi-definite function of two points in R^d.

    Every kernel of `sklearn.gaussian_process.kernels` satisfies it.
    """

    def __call__(self, X, Y=None):
        """Return the matrix k(x_i, y_j) of shape (n, m) for X (n, d) and Y (m, d)."""

    def diag(self, X):
        """Return the vector k(x_i, x_i) of shape (n,)."""


class Stationary:
    r"""A function of the scaled distance; subclasses say which.

    .. math:: k(x, x') = v\, c(s), \qquad s = \sum_i (x_i - x'_i)^2 / l_i^2

    Parameters
    ----------
    length_scale : float or array_like of shape (d,), optional
        l, in units of the inputs; one number serves all axes.
    variance : float, optional
        v, in squared units of f.

    Raises
    ------
    ValueError, TypeError
        A lengthscale or the variance is no positive number.
    """

    def __init__(self, length_scale=1.0, variance=1.0):
        scales = as_finite_array(length_scale, "length_scale")
        if scales.ndim > 1 or (scales <= 0).any():
            raise ValueError(
                f"length_scale must be one positive number, or one an axis, got {scales.tolist()}"
            )
        self.length_scale = float(scales) if scales.ndim == 0 else scales
        self.variance = positive(variance, "variance")

    def _shape(self, s):
        """Return c(s) and g(s) = -2 dc/ds, of the shape of s; s may be overwritten."""
        raise NotImplementedError

    def __call__(self, X, Y=None):
        """Return the matrix k(x_i, y_j), shape (n, m)."""
        X = self._scaled(X)
        Y = X if Y is None else self._scaled(Y)
        K = self._correlation(cdist(X, Y, "sqeuclidean"))
        K *= self.variance
        return K

    def _correlation(self, s):
        return self._shape(s)[0]

    def diag(self, X):
        """Return k(x_i, x_i), shape (n,)."""
        return np.full(len(X), self.variance)

    def slopes_by_x(self, x, Y):
        r"""Return the derivatives of k(x, y_j) by x.

        .. math:: \partial k / \partial x_i = -v\, g(s) (x_i - y_i) / l_i^2

        Parameters
        ----------
        x : ndarray of shape (d,)
        Y : ndarray of shape (m, d)

        Returns
        -------
        ndarray of shape (m, d)
        """
        apart = (self._scaled(Y) - self._scaled(x[None])) / self.length_scale
        s = ((apart * self.length_scale) ** 2).sum(1)
        return self.variance * self._shape(s)[1][:, None] * apart

    @property
    def theta(self):
        """Logarithms of the variance and of the lengthscales, shape (1 + k,)."""
        return np.log(np.r_[self.variance, self.length_scale])

    @property
    def axes(self):
        """What each entry of `theta` is: "variance", or the slice of axes with a lengthscale."""
        if np.ndim(self.length_scale) == 0:
            return ("variance", slice(0, None))
        return ("variance", *(slice(i, i + 1) for i in range(len(self.length_scale))))

    def with_theta(self, theta):
        """Return the same kernel with other parameters."""
        values, other = np.exp(theta), copy.copy(self)  # a fit makes hundreds: no checks again
        other.variance = float(values[0])
        single = np.ndim(self.length_scale) == 0
        other.length_scale = float(values[1]) if single else values[1:]
        return other

    def with_slopes(self, X):
        r"""Return k(X, X) and its derivatives by `theta`, as a function that contracts them.

        .. math:: \partial k / \partial \log l_i = v\, g(s) (x_i - x'_i)^2 / l_i^2

        Parameters
        ----------
        X : ndarray of shape (n, d)

        Returns
        -------
        K : ndarray of shape (n, n)
        contract : callable
            Maps a symmetric M of shape (n, n) to :math:`\sum_{ij} M_{ij}\, \partial K_{ij} /
            \partial\theta_p`, shape (1 + k,). All axes together are two matrix products, not one
            (n, n) matrix each.
        """
        Z = self._scaled(X - X.mean(0))
        s = cdist(Z, Z, "sqeuclidean")
        single = np.ndim(self.length_scale) == 0
        c, g = self._shape(s.copy() if single else s)
        K = self.variance * c

        def contract(M):
            W = M * g
            if single:
                by_scale = [np.vdot(W, s)]
            else:
                np.fill_diagonal(W, 0.0)  # there (x_i - x'_i)^2 is 0, and would cancel
                by_scale = 2 * (W.sum(1) @ Z**2 - np.einsum("ni,ni->i", Z, W @ Z))
            return np.concatenate([[np.vdot(M, K)], self.variance * np.asarray(by_scale)])

        return K, contract

    def __repr__(self):
        scales = np.asarray(self.length_scale).tolist()
        return f"{type(self).__name__}({scales}, variance={self.variance:g})"

    def _scaled(self, X):
        if np.ndim(self.length_scale) and len(self.length_scale) != X.shape[1]:
            raise ValueError(
                f"{self!r} has {len(self.length_scale)} lengthscales, the points {X.shape[1]} "
                "coordinates; give one lengthscale, or one an axis"
            )
        return X / self.length_scale


class SquaredExponential(Stationary):
    r"""Gaussian kernel, ``c(s) = exp(-s / 2)``.

    Parameters
    ----------
    length_scale, variance
        As in `Stationary`.

    Notes
    -----
    Source: Rasmussen & Williams (2006), Eqs. (2.31), (5.1).
    """

    def _shape(self, s):
        s *= -0.5
        np.exp(s, out=s)
        return s, s


class Matern(Stationary):
    r"""Matérn kernel of half-integer smoothness, with :math:`a = \sqrt{2 \nu s}`.

    .. math::
        e^{-a}\ (\nu = 1/2), \qquad (1 + a) e^{-a}\ (3/2), \qquad
        (1 + a + a^2/3) e^{-a}\ (5/2)

    Parameters
    ----------
    length_scale, variance
        As in `Stationary`.
    nu : {0.5, 1.5, 2.5}, optional
        Smoothness.

    Notes
    -----
    Source: Rasmussen & Williams (2006), Eqs. (4.14), (4.17).
    """

    def __init__(self, length_scale=1.0, variance=1.0, nu=2.5):
        super().__init__(length_scale, variance)
        check_name("nu", nu, (0.5, 1.5, 2.5))
        self.nu = float(nu)

    def _shape(self, s):
        a = np.sqrt(2 * self.nu * s)
        decay = np.exp(-a)
        if self.nu == 0.5:  # a kink at distance 0, where the slope by x is taken as 0
            return decay, np.divide(decay, a, out=np.zeros_like(a), where=a > 0)
        if self.nu == 1.5:
            return (1 + a) * decay, 3 * decay
        return (1 + a + a**2 / 3) * decay, 5 / 3 * (1 + a) * decay

    def __repr__(self):
        return f"{super().__repr__()[:-1]}, nu={self.nu:g})"


def check_kernel(kernel, name="kernel"):
    """Return `kernel` if it has the protocol; else raise TypeError with an example."""
    if isinstance(kernel, type) or not isinstance(kernel, Kernel):
        raise TypeError(
            f"{name} must be callable as kernel(X, Y) and have diag(X), got {kernel!r:.80}; "
            "use for example fivebo.common.gp.kernels.SquaredExponential(0.2)"
        )
    return kernel


def check_no_white_noise(kernel, x):
    """Raise ValueError if a kernel has a part that is there at equal indices only.

    Parameters
    ----------
    kernel : Kernel
    x : ndarray of shape (1, d)
        Any point: the covariance with itself is compared with `diag`.

    Raises
    ------
    ValueError
        They differ: such a part is noise, and would be lost between points told one by one.
    """
    alone, cross = float(kernel.diag(x)[0]), float(kernel(x, x)[0, 0])
    if not np.isclose(alone, cross, rtol=1e-8, atol=0):  # NaN as well
        raise ValueError(
            f"kernel {kernel} has variance {alone:g} at a point and covariance {cross:g} of that "
            "point with itself; leave white noise out of it and give it as noise_var (or eta)"
        )


def gram(kernel, X):
    """Return the matrix k(x_i, x_j); refuse NaN, infinities and white noise in it.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n, d)

    Returns
    -------
    ndarray of shape (n, n)
    """
    matrix = kernel(X, X)
    if not np.isfinite(matrix).all():
        raise ValueError(f"kernel {kernel} gave a non-finite covariance; check its hyperparameters")
    check_no_white_noise(kernel, X[:1])
    return matrix
