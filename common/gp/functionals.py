"""Linear functionals of f: points, averages over regions, and any other weighted sums."""

import numpy as np

from fivebo.common.checks import as_finite_array


class Functionals:
    """A batch of n linear functionals of f, stored as flat points, weights and offsets.

    Parameters
    ----------
    X : array_like of shape (n, d) or (n, S, d)
        Points, or S representatives of each functional.
    weights : array_like of shape (n, S) or (S,), optional
        Weights a of the representatives; default 1/S (their average, and 1 for points).
    """

    def __init__(self, X, weights=None):
        X = as_finite_array(X, "X")
        if X.ndim == 2:
            X = X[:, None, :]
        if X.ndim != 3:
            raise ValueError(f"X must have shape (n, d) or (n, S, d), got {X.shape}")
        n, size, dim = X.shape
        self.points = X.reshape(n * size, dim)
        self.starts = np.arange(0, n * size, size)
        self.plain = size == 1 and weights is None
        if self.plain:
            self.weights = np.ones(n)
            return
        weights = np.full(size, 1 / size) if weights is None else weights
        weights = as_finite_array(weights, "weights")
        if weights.shape not in ((size,), (n, size)):
            raise ValueError(
                f"weights must have shape ({size},) or ({n}, {size}), got {weights.shape}"
            )
        self.weights = np.broadcast_to(weights, (n, size)).reshape(-1)

    @classmethod
    def _of(cls, points, weights, starts, plain):
        batch = object.__new__(cls)
        batch.points, batch.weights, batch.starts = points, weights, starts
        batch.plain = plain
        return batch

    def __len__(self):
        return len(self.starts)

    def append(self, other):
        """Return the batch of both, self first."""
        return Functionals._of(
            np.concatenate([self.points, other.points]),
            np.concatenate([self.weights, other.weights]),
            np.concatenate([self.starts, other.starts + len(self.points)]),
            self.plain and other.plain,
        )

    def cross(self, kernel, other):
        """Return the covariances ``a_i' k(X_i, Z_j) b_j`` of shape (len(self), len(other)).

        A batch of another kind, such as exact averages over regions, knows them itself.
        """
        if not isinstance(other, Functionals):
            return other.cross(kernel, self).T
        cov = kernel(self.points, other.points)
        if not self.plain:
            cov = np.add.reduceat(self.weights[:, None] * cov, self.starts, axis=0)
        if not other.plain:
            cov = np.add.reduceat(cov * other.weights, other.starts, axis=1)
        return cov

    def diag(self, kernel):
        """Return the prior variances ``a_i' k(X_i, X_i) a_i`` of shape (n,)."""
        if len(self) == len(self.points):
            return self.weights**2 * kernel.diag(self.points)
        # blocks of about 256 representatives: some waste, but no call of the kernel per functional
        step = max(1, 256 * len(self) // len(self.points))
        parts = (self.part(i, i + step) for i in range(0, len(self), step))
        return np.concatenate([np.diag(part.cross(kernel, part)) for part in parts])

    def part(self, first, stop):
        """Return functionals `first` to `stop` (exclusive) as a batch of their own."""
        ends = np.append(self.starts, len(self.points))
        low, high = ends[first], ends[min(stop, len(self))]
        return Functionals._of(
            self.points[low:high],
            self.weights[low:high],
            self.starts[first:stop] - low,
            self.plain,
        )


def as_functionals(X, weights=None):
    """Return `X` as a batch of functionals; a batch passes through unchanged.

    Parameters
    ----------
    X : array_like of shape (n, d) or (n, S, d), or a batch of functionals
        A batch is anything with `append`, `cross`, `diag` and `part` as `Functionals` has them.
    weights : array_like of shape (n, S) or (S,), optional
        Only with arrays.
    """
    return X if weights is None and hasattr(X, "cross") else Functionals(X, weights)
