"""Random scalarisations: from n objectives to one, of known Lipschitz constant ([MTBO] Sec. 2)."""

from dataclasses import dataclass, field

import numpy as np

from fivebo.common.checks import as_finite_array


def draw_weights(law, n_tasks, rng, size=None):
    r"""Draw weights lambda on the simplex ``{lambda > 0, ||lambda||_1 = 1}``.

    With u uniform on (0, 1]^n,

    .. math::
        \lambda = u / \|u\|_1 \ \text{("uniform")}, \qquad
        \lambda = \alpha / \|\alpha\|_1,\ \alpha_i = \|u\|_1 / u_i \ \text{("reciprocal")}

    Parameters
    ----------
    law : {"reciprocal", "uniform"}
        P_lambda of the Chebyshev and of the linear scalarisation. Neither is Dirichlet(1, ..., 1).
    n_tasks : int
    rng : numpy.random.Generator
    size : int, optional
        Number of draws.

    Returns
    -------
    ndarray of shape (n_tasks,) or (size, n_tasks)
        Dimensionless.

    Notes
    -----
    Source: [MTBO] Sec. 2 (the simplex), Sec. 5 (reciprocal) and App. E (uniform).
    """
    u = 1 - rng.random((n_tasks,) if size is None else (size, n_tasks))  # never 0
    alpha = {"uniform": u, "reciprocal": 1 / u}[law]  # ||u||_1 cancels
    return alpha / alpha.sum(-1, keepdims=True)


@dataclass(frozen=True)
class LinearScalarization:
    r"""Linear scalarisation, maximised.

    .. math:: s_\lambda(y) = \sum_i \lambda_i y_i, \qquad L_\lambda = \|\lambda\|_2

    Parameters
    ----------
    n_tasks : int

    Notes
    -----
    Source: [MTBO] Sec. 2; the l2 Lipschitz constant is derived there from the inner product.
    """

    n_tasks: int
    law: str = field(default="uniform", init=False)

    def __call__(self, y, weights):
        """Return s_lambda(y): y (..., n), weights (n,) -> (...,), in units of y."""
        return np.asarray(y) @ weights

    def lipschitz(self, weights):
        """Return L_lambda in the l2 norm, at most 1."""
        return float(np.linalg.norm(weights))


@dataclass(frozen=True)
class ChebyshevScalarization:
    r"""Chebyshev scalarisation, maximised.

    .. math:: s_\lambda(y) = \min_i \lambda_i (y_i - z_i), \qquad L_\lambda = \max_i \lambda_i

    Parameters
    ----------
    reference : array_like of shape (n,)
        Reference point z, in units of y. It leaves the monotonicity alone, but sets the scale of
        the regret.

    Notes
    -----
    Source: [MTBO] Sec. 2; ``|min a - min b| <= max |a - b|`` gives the constant.
    """

    reference: np.ndarray
    law: str = field(default="reciprocal", init=False)

    def __post_init__(self):
        object.__setattr__(self, "reference", as_finite_array(self.reference, "reference", ndim=1))

    @property
    def n_tasks(self):
        """Number n of tasks."""
        return len(self.reference)

    def __call__(self, y, weights):
        """Return s_lambda(y): y (..., n), weights (n,) -> (...,), in units of y."""
        return (weights * (np.asarray(y) - self.reference)).min(-1)

    def lipschitz(self, weights):
        """Return L_lambda in the l2 norm, at most 1."""
        return float(np.max(weights))
