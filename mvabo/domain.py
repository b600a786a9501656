"""What is uncertain: a finite X with environments w and their probabilities, or noise on x."""

import numpy as np

from fivebo.common.checks import as_finite_array
from fivebo.common.search.domains import FiniteSet
from fivebo.mvabo.kernels import ProductKernel
from fivebo.mvabo.posterior import DensePosterior, ProductPosterior


class UncertainDomain:
    r"""Designs X and environments Omega with the probabilities p(w).

    Integrals over w are sums with the weights p_j, as [MVABO] Sec. 2 allows for a finite Omega.

    Parameters
    ----------
    X : FiniteSet or array_like of shape (n, d1)
        Candidate designs.
    W : FiniteSet or array_like of shape (m, d2)
        Environments.
    p : array_like of shape (m,) or None
        Probabilities of `W`, summing to 1. None: unknown, estimated from the environments seen so
        far ([MVABO] Sec. 3.3.1), uniform before the first.

    Raises
    ------
    ValueError, TypeError
        Empty, repeated or non-finite points, or `p` is no probability vector.
    """

    def __init__(self, X, W, p=None):
        self.X = X if isinstance(X, FiniteSet) else FiniteSet(X)
        self.W = W if isinstance(W, FiniteSet) else FiniteSet(W)
        self.p = None if p is None else _probabilities(p, len(self.W))

    @classmethod
    def from_samples(cls, X, samples, **settings):
        """Make a domain whose p(w) is the empirical law of samples of w.

        Parameters
        ----------
        X : FiniteSet or array_like of shape (n, d1)
        samples : array_like of shape (N, d2) or (N,)
            Past or simulated environments; equal ones are counted.
        """
        samples = as_finite_array(samples, "samples")
        samples = samples[:, None] if samples.ndim == 1 else samples
        W, counts = np.unique(samples, axis=0, return_counts=True)
        return cls(X, W, counts / counts.sum(), **settings)

    @property
    def shape(self):
        """(n, m): numbers of designs and of environments."""
        return len(self.X), len(self.W)

    def index(self, query):
        """Return the indices (i, j) of a query (x, w).

        Raises
        ------
        ValueError, TypeError
            The query is no pair, or x or w is not a point of its set.
        """
        if not isinstance(query, tuple | list) or len(query) != 2:
            raise ValueError(
                f"a query is a pair (x, w), got {query!r:.80}; tell what was observed with "
                "tell((x, w), y)"
            )
        return self.X.index(query[0]), self._environment_index(query[1])

    def _environment_index(self, w):
        try:
            return self.W.index(w)
        except (TypeError, ValueError) as error:
            raise type(error)(f"environment w: {error}") from None

    def points(self, i=None, j=None):
        """Return the joined points (x_i, w_j) of shape (n m, d), or those of paired indices."""
        if i is None:
            i, j = (index.ravel() for index in np.indices(self.shape))
        return np.hstack([self.X.points[i], self.W.points[j]])

    def posterior(self, kernel, noise_var):
        """Return the posterior of f on all (x, w), in the form that suits the kernel."""
        if isinstance(kernel, ProductKernel):
            return ProductPosterior(self, kernel, noise_var)
        return DensePosterior(self.points(), None, self, kernel, noise_var)


class NoisyInputDomain(UncertainDomain):
    """Designs X whose inputs are disturbed: f is evaluated at x + xi, xi ~ p(xi).

    Parameters
    ----------
    X : FiniteSet or array_like of shape (n, d)
    W : FiniteSet or array_like of shape (m, d)
        The disturbances xi in Delta.
    p : array_like of shape (m,) or None
        As in `UncertainDomain`.
    tolerance : float, optional
        Points x + xi closer than this along every axis are one point.

    Notes
    -----
    Source: [MVABO] Sec. 3.3.2, Eqs. (9), (10); App. C.1, Eqs. (39), (40). The GP
    lives on D = {x + xi} with one argument, so pairs (x, xi) of the same sum share one value of f.
    """

    def __init__(self, X, W, p=None, tolerance=1e-9):
        super().__init__(X, W, p)
        if self.X.dim != self.W.dim:
            raise ValueError(
                f"x has {self.X.dim} coordinate(s), xi {self.W.dim}; both need the same number"
            )
        sums = self.X.points[:, None, :] + self.W.points[None, :, :]
        rounded = np.round(sums.reshape(-1, self.X.dim) / tolerance).astype(np.int64)
        _, first, where = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
        self.inputs = sums.reshape(-1, self.X.dim)[first]
        self.where = where.reshape(self.shape)

    def points(self, i=None, j=None):
        """Return the inputs x_i + xi_j of all pairs (n m, d), or of paired indices."""
        where = self.where.ravel() if i is None else self.where[i, j]
        return self.inputs[where]

    def posterior(self, kernel, noise_var):
        """Return the posterior of f, kept on the distinct inputs."""
        return DensePosterior(self.inputs, self.where, self, kernel, noise_var)


def _probabilities(p, m):
    p = as_finite_array(p, "p", ndim=1)
    if p.shape != (m,):
        raise ValueError(f"p must have shape ({m},), a probability for each w, got {p.shape}")
    if (p < 0).any() or abs(p.sum() - 1) > 1e-9:
        raise ValueError(
            f"p must be >= 0 and sum to 1, got smallest {p.min():.3g} and sum {p.sum():.6g}; "
            "divide it by its sum"
        )
    p.setflags(write=False)
    return p
