"""The kernel protocol: what scikit-learn's kernel objects offer, and no more."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Kernel(Protocol):
    """A positive semi-definite function of two points in R^d.

    Every kernel of `sklearn.gaussian_process.kernels` satisfies it.
    """

    def __call__(self, X, Y=None):
        """Return the matrix k(x_i, y_j) of shape (n, m) for X (n, d) and Y (m, d)."""

    def diag(self, X):
        """Return the vector k(x_i, x_i) of shape (n,)."""
