"""Standard test functions and random ones, all minimised, with their exact or known minima."""

from dataclasses import dataclass

import numpy as np

SHEKEL_CENTRES = np.array(
    [
        [4, 4, 4, 4], [1, 1, 1, 1], [8, 8, 8, 8], [6, 6, 6, 6], [3, 7, 3, 7],
        [2, 9, 2, 9], [5, 5, 3, 3], [8, 1, 8, 1], [6, 2, 6, 2], [7, 3.6, 7, 3.6],
    ]
)  # fmt: skip
SHEKEL_WIDTHS = np.array([0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5])
SHEKEL_MINIMA = {5: -10.153199679058229, 7: -10.402940566818662, 10: -10.536409816692046}
"""Minimum on [0, 10]^4 by number of terms; near (4, 4, 4, 4) in each case."""

HARTMANN_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14],
    ]
)  # fmt: skip
HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381],
    ]
)  # fmt: skip
HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
HARTMANN_MINIMUM = -3.322368011415515


def shekel(X, n_terms=10):
    r"""Return the Shekel function on [0, 10]^4.

    .. math:: f(x) = -\sum_{i=1}^m \frac{1}{\|x - C_i\|^2 + \beta_i}

    Source: the usual definition; [CDFO] Fig. 4a gives the name and dimension 4 only.

    Parameters
    ----------
    X : array_like of shape (n, 4)
    n_terms : {5, 7, 10}, optional
        m.

    >>> round(float(shekel([[4, 4, 4, 4]])[0]), 3)
    -10.536
    """
    X = np.asarray(X, dtype=float)
    squares = ((X[:, None] - SHEKEL_CENTRES[:n_terms]) ** 2).sum(-1)
    return -(1 / (squares + SHEKEL_WIDTHS[:n_terms])).sum(-1)


def hartmann6(X):
    r"""Return the Hartmann function on [0, 1]^6.

    .. math:: f(x) = -\sum_{i=1}^4 \alpha_i \exp\Bigl(-\sum_{j=1}^6 A_{ij} (x_j - P_{ij})^2\Bigr)

    Source: the usual definition; [CDFO] Fig. 4b gives the name and dimension 6 only.

    Parameters
    ----------
    X : array_like of shape (n, 6)

    >>> round(float(hartmann6([[0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]])[0]), 4)
    -3.3224
    """
    X = np.asarray(X, dtype=float)
    exponents = (HARTMANN_A * (X[:, None] - HARTMANN_P) ** 2).sum(-1)
    return -np.exp(-exponents) @ HARTMANN_WEIGHTS


@dataclass(frozen=True)
class SeparableQuadratic:
    r"""A linear function plus a diagonal quadratic, minimised exactly on [-1, 1]^d.

    .. math:: f(x) = w^\top x + \tfrac12 \sum_i D_i (x_i - c_i)^2

    Source: [CDFO] Sec. 4, Figs. 3a (D = 0) and 3b.

    Parameters
    ----------
    w : ndarray of shape (d,)
    D : ndarray of shape (d,)
        Not negative.
    c : ndarray of shape (d,)
    """

    w: np.ndarray
    D: np.ndarray
    c: np.ndarray

    def __call__(self, X):
        """Return f at points of shape (n, d)."""
        return X @ self.w + 0.5 * (X - self.c) ** 2 @ self.D

    def minimiser(self):
        """Return the minimum point on [-1, 1]^d: each coordinate on its own."""
        with np.errstate(divide="ignore", invalid="ignore"):
            free = np.where(self.D > 0, self.c - self.w / self.D, -np.inf * np.sign(self.w))
        return np.clip(np.nan_to_num(free), -1, 1)
