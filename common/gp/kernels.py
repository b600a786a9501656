"""The kernel protocol: what scikit-learn's kernel objects offer, and no more."""

from typing import Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Kernel(Protocol):
    """A positive semi-definite function of two points in R^d.

    Every kernel of `sklearn.gaussian_process.kernels` satisfies it.
    """

    def __call__(self, X, Y=None):
        """Return the matrix k(x_i, y_j) of shape (n, m) for X (n, d) and Y (m, d)."""

    def diag(self, X):
        """Return the vector k(x_i, x_i) of shape (n,)."""


def check_kernel(kernel):
    """Return `kernel` if it has the protocol; else raise TypeError with an example."""
    if isinstance(kernel, type) or not isinstance(kernel, Kernel):
        raise TypeError(
            f"kernel must be callable as kernel(X, Y) and have diag(X), got {kernel!r:.80}; "
            "use for example sklearn.gaussian_process.kernels.RBF(0.2)"
        )
    return kernel


def gram(kernel, X):
    """Return the matrix k(x_i, x_j), checked.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n, d)

    Returns
    -------
    ndarray of shape (n, n)

    Raises
    ------
    ValueError
        It holds NaN or infinities, or its diagonal is not ``kernel.diag(X)``: a white-noise part
        belongs to the noise variance, not to the kernel.
    """
    matrix = kernel(X, X)
    if not np.isfinite(matrix).all():
        raise ValueError(f"kernel {kernel} gave a non-finite covariance; check its hyperparameters")
    if not np.allclose(np.diag(matrix), kernel.diag(X), rtol=1e-8, atol=0):
        raise ValueError(
            f"kernel {kernel} differs from its own diag at equal points; leave white noise out of "
            "it and give it as noise_var (or eta)"
        )
    return matrix
