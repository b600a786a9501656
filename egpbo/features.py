"""Kernels of the dictionaries and their random Fourier features.

Reference: [EGPBO] Lu et al., arXiv:2205.14090v1 (2022), Sec. 2.1, Sec. 8.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fivebo.common.checks import one_of, positive
from fivebo.common.gp.kernels import Matern, SquaredExponential

DEGREES = {"matern-3/2": 3, "matern-5/2": 5}
"""Degrees of freedom 2 nu of the Student law from which Matern frequencies are drawn."""


@dataclass(frozen=True)
class Kernel:
    r"""One kernel of a dictionary, :math:`\kappa = \sigma_\theta^2 \bar\kappa`.

    Lengthscales follow `fivebo.common.gp.kernels`: RBF is ``exp(-r^2 / (2 l^2))``.

    Parameters
    ----------
    family : {"rbf", "matern-3/2", "matern-5/2"}
    ard : bool, optional
        One lengthscale an input instead of one for all.
    length_scale : float, optional
        Known lengthscale, in units of the model's inputs; None fits it.
    variance : float, optional
        Known magnitude sigma_theta^2, in squared units of the model's outputs; None fits it.

    Raises
    ------
    ValueError
        Unknown family, a lengthscale or magnitude that is not positive, or a known lengthscale
        with `ard`.

    Notes
    -----
    Source: [EGPBO] Sec. 2.1, Sec. 5.
    """

    family: Literal["rbf", "matern-3/2", "matern-5/2"] = "rbf"
    ard: bool = False
    length_scale: float | None = None
    variance: float | None = None

    def __post_init__(self):
        """Refuse settings that make no kernel."""
        one_of(self.family, "family", ("rbf", *DEGREES))
        if self.variance is not None:
            positive(self.variance, "variance")
        if self.length_scale is not None:
            positive(self.length_scale, "length_scale")
            if self.ard:
                raise ValueError("a kernel with ard=True has fitted lengthscales: leave "
                                 "length_scale=None")  # fmt: skip

    def exact(self, length_scale, variance=1.0):
        """Return the exact kernel with some lengthscales and magnitude. [EGPBO] Sec. 2.1, Sec. 5.

        Parameters
        ----------
        length_scale : float or array_like of shape (d,)
        variance : float, optional

        Returns
        -------
        fivebo.common.gp.kernels.Stationary
        """
        if self.family == "rbf":
            return SquaredExponential(length_scale, variance)
        return Matern(length_scale, variance, nu=DEGREES[self.family] / 2)


def mixed_dictionary():
    """Return RBF-ARD, RBF, Matern-3/2 and Matern-5/2, all fitted. [EGPBO] Sec. 5, Fig. 1."""
    return (
        Kernel("rbf", ard=True),
        Kernel("rbf"),
        Kernel("matern-3/2"),
        Kernel("matern-5/2"),
    )


def as_dictionary(kernels):
    """Return kernels as a tuple, the mixed dictionary for None. [EGPBO] Sec. 3.

    Raises
    ------
    ValueError
        Not one or more of `Kernel`.
    """
    if kernels is None:
        return mixed_dictionary()
    found = tuple(kernels) if isinstance(kernels, Iterable) else ()
    if not found or not all(isinstance(kernel, Kernel) for kernel in found):
        raise ValueError(
            "kernels must be one or more egpbo.Kernel, for example [Kernel('rbf')], "
            f"got {kernels!r}"
        )
    return found


def rbf_dictionary(as_variance=False):
    """Return 11 RBF kernels with fixed lengthscales 10^-4, ..., 10^6. [EGPBO] Sec. 5, Fig. 2.

    Parameters
    ----------
    as_variance : bool, optional
        Read the 11 values as squared lengthscales: l = 10^-2, 10^-1.5, ..., 10^3.
    """
    power = 0.5 if as_variance else 1.0
    return tuple(Kernel("rbf", length_scale=10.0 ** (power * c)) for c in range(-4, 7))


def draw_frequencies(kernel, length_scale, n_features, dim, rng, scaling="spectral"):
    r"""Draw frequencies from the normalised spectral density of a kernel.

    .. math::
        v_j = z_j / l \quad\text{(RBF)}, \qquad
        v_j = z_j / (l \sqrt{g_j}),\; g_j \sim \chi^2_{2\nu} / (2\nu) \quad\text{(Matern)},

    with :math:`z_j \sim N(0, I_d)` and one :math:`g_j` for all coordinates: the Matern law is a
    multivariate Student law with :math:`2\nu` degrees of freedom.

    Parameters
    ----------
    kernel : Kernel
    length_scale : float or ndarray of shape (d,)
    n_features : int
        D; the feature vector has 2D entries.
    dim : int
        d.
    rng : numpy.random.Generator
    scaling : {"spectral", "notebook"}, optional
        "notebook" divides by sqrt(l) as the released code does; its kernel then has lengthscale
        sqrt(l), another one unless l = 1.

    Returns
    -------
    ndarray of shape (D, d)
        In inverse units of the inputs.

    Notes
    -----
    Source: [EGPBO] Sec. 2.1, Eq. (5), Sec. 8. The paper gives no rule for Matern kernels.
    """
    Z = rng.standard_normal((n_features, dim))
    if kernel.family in DEGREES:
        degrees = DEGREES[kernel.family]
        Z /= np.sqrt(rng.chisquare(degrees, (n_features, 1)) / degrees)
    scale = np.sqrt(length_scale) if scaling == "notebook" else np.asarray(length_scale)
    return Z / scale


def features(X, V):
    r"""Return the random features of points.

    .. math::
        \phi(x) = D^{-1/2} [\sin(v_1'x), \dots, \sin(v_D'x), \cos(v_1'x), \dots, \cos(v_D'x)]'

    so that :math:`\phi(x)'\phi(x) = 1`; the order of the entries is of no consequence.

    Parameters
    ----------
    X : ndarray of shape (..., d)
    V : ndarray of shape (D, d)

    Returns
    -------
    ndarray of shape (..., 2D)
        Dimensionless.

    Notes
    -----
    Source: [EGPBO] Sec. 2.1, Eq. (5).
    """
    angles = X @ V.T
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1) / np.sqrt(len(V))


class SampledFunction:
    r"""A function drawn from a component, :math:`\phi(x)'\tilde\theta`, with its gradient.

    .. math::
        \nabla = D^{-1/2} \sum_j \bigl( a_j \cos(v_j'x) - b_j \sin(v_j'x) \bigr) v_j,

    a and b the weights of the sines and of the cosines.

    Parameters
    ----------
    V : ndarray of shape (D, d)
    theta : ndarray of shape (2D,)

    Notes
    -----
    Source: [EGPBO] Sec. 3.1, Eqs. (10), (12).
    """

    def __init__(self, V, theta):
        self.V = V
        self.a, self.b = np.split(theta / np.sqrt(len(V)), 2)

    def __call__(self, X):
        """Return values at points of shape (n, d), shape (n,)."""
        angles = X @ self.V.T
        return np.sin(angles) @ self.a + np.cos(angles) @ self.b

    def value_and_gradient(self, x):
        """Return the value and the gradient at one point of shape (d,)."""
        angles = self.V @ x
        sin, cos = np.sin(angles), np.cos(angles)
        return self.a @ sin + self.b @ cos, (self.a * cos - self.b * sin) @ self.V
