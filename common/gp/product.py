"""Products of a kernel of some coordinates and one of the others."""

import copy

import numpy as np

from fivebo.common.checks import count
from fivebo.common.gp.kernels import SquaredExponential, check_kernel


class Product:
    r"""Product of a kernel of the first coordinates and one of the others.

    .. math:: k((x, w), (x', w')) = k_1(x, x')\, k_2(w, w')

    Parameters
    ----------
    first, second : Kernel
    split : int
        Number of coordinates that `first` takes.

    Raises
    ------
    TypeError, ValueError
        A factor is no kernel, or `split` is no integer >= 1.
    """

    def __init__(self, first, second, split=1):
        self.first, self.second = check_kernel(first, "first"), check_kernel(second, "second")
        self.split = count(split, "split")

    def _parts(self, X):
        return X[..., : self.split], X[..., self.split :]

    def __call__(self, X, Y=None):
        """Return the matrix of the products, shape (n, m)."""
        (X, W), (Y, V) = self._parts(X), self._parts(X if Y is None else Y)
        return self.first(X, Y) * self.second(W, V)

    def diag(self, X):
        """Return k(x_i, x_i), shape (n,)."""
        X, W = self._parts(X)
        return self.first.diag(X) * self.second.diag(W)

    def slopes_by_x(self, x, Y):
        """Return the derivatives of k(x, y_j) by x, shape (m, d); see `Stationary.slopes_by_x`."""
        (x, w), (Y, V) = self._parts(x), self._parts(Y)
        along_x = self.first.slopes_by_x(x, Y) * self.second(V, w[None])
        return np.hstack([along_x, self.first(Y, x[None]) * self.second.slopes_by_x(w, V)])

    @property
    def theta(self):
        """The parameters of both factors, `first`'s before `second`'s."""
        return np.concatenate([self.first.theta, self.second.theta])

    @property
    def axes(self):
        """What each entry of `theta` is; see `Stationary.axes`."""
        return (
            *(_moved(axes, 0, self.split) for axes in self.first.axes),
            *(_moved(axes, self.split, None) for axes in self.second.axes),
        )

    def with_theta(self, theta):
        """Return the same product with other parameters."""
        n, other = len(self.first.axes), copy.copy(self)
        other.first = self.first.with_theta(theta[:n])
        other.second = self.second.with_theta(theta[n:])
        return other

    def with_slopes(self, X):
        """Return k(X, X) and the contraction of its slopes; see `Stationary.with_slopes`."""
        if type(self.first) is type(self.second) is SquaredExponential:
            return self._with_slopes_of_one(X)
        X, W = self._parts(X)
        (first, by_first), (second, by_second) = (
            self.first.with_slopes(X), self.second.with_slopes(W),
        )  # fmt: skip
        return first * second, lambda M: np.append(by_first(M * second), by_second(M * first))

    def _with_slopes_of_one(self, X):
        """Do the same where the product is one squared exponential: half the exponentials."""
        kernels, n = (self.first, self.second), X.shape[1]
        dims, joint = (self.split, n - self.split), copy.copy(self.first)
        scales = [np.full(d, k.length_scale) for k, d in zip(kernels, dims, strict=True)]
        joint.length_scale = np.concatenate(scales)
        joint.variance = self.first.variance * self.second.variance
        K, contract = joint.with_slopes(X)
        single = [np.ndim(k.length_scale) == 0 for k in kernels]

        def parted(M):
            slopes = contract(M)
            along = slopes[1 : 1 + self.split], slopes[1 + self.split :]
            along = [[s.sum()] if one else s for s, one in zip(along, single, strict=True)]
            return np.concatenate([slopes[:1], along[0], slopes[:1], along[1]])

        return K, parted

    def __repr__(self):
        return f"{type(self).__name__}({self.first!r}, {self.second!r}, split={self.split})"


def _moved(axes, start, stop):
    """Return the axes of a factor, counted in the joined points."""
    if axes == "variance":
        return axes
    return slice(axes.start + start, stop if axes.stop is None else axes.stop + start)
