"""What is uncertain: designs with environments w and their probabilities, or noise on x."""

import math

import numpy as np

from fivebo.common.checks import as_finite_array, positive, shown
from fivebo.common.gp.product import Product
from fivebo.common.search.domains import TOLERANCE, Box, FiniteSet
from fivebo.mvabo.posterior import BoxPosterior, DensePosterior, ProductPosterior

NEAR = 0.01
"""On a box, designs this close along every axis, relative to its side, fail together."""


class UncertainDomain:
    r"""Designs X and environments Omega with the probabilities p(w).

    Integrals over w are sums with the weights p_j, as [MVABO] Sec. 2 allows for a finite Omega.
    A design is an index of X, an environment one of W.

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

    space = FiniteSet
    """What X is."""

    def __init__(self, X, W, p=None):
        self.X = X if isinstance(X, self.space) else self.space(X)
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

    @property
    def extent(self):
        """Range of each input of f, shape (d,), in its units."""
        return np.concatenate([np.ptp(self.X.points, axis=0), np.ptp(self.W.points, axis=0)])

    def index(self, query):
        """Return the indices (i, j) of a query (x, w).

        Raises
        ------
        ValueError, TypeError
            The query is no pair, or x or w is not a point of its set.
        """
        if not isinstance(query, tuple | list) or len(query) != 2:
            raise ValueError(
                f"a query is a pair (x, w), got {shown(query)}; tell what was observed with "
                "tell((x, w), y)"
            )
        return self.design(query[0]), self._environment_index(query[1])

    def _environment_index(self, w):
        try:
            return self.W.index(w)
        except (TypeError, ValueError) as error:
            raise type(error)(f"environment w: {error}") from None

    def design(self, x):
        """Return the index of a design; raise if it is not in X."""
        return self.X.index(x)

    def designs(self, X=None):
        """Return the designs at points of shape (k, d1), all without any; they index a model."""
        if X is None:
            return slice(None)
        return [self.design(x) for x in np.atleast_1d(as_finite_array(X, "X"))]

    def point(self, i):
        """Return x of a design, shape (d1,), a copy."""
        return self.X.points[i].copy()

    def near(self, i, other):
        """Whether a failure at one design speaks of the other: they are the same."""
        return i == other

    def points(self, i=None, j=None):
        """Return the joined points (x_i, w_j) of shape (n m, d), or those of paired indices."""
        if i is None:
            i, j = (index.ravel() for index in np.indices(self.shape))
        return np.hstack([self.X.points[i], self.W.points[j]])

    def model(self, kernel, noise_var):
        """Return the posterior of f on all (x, w), in the form that suits the kernel.

        Raises
        ------
        ValueError
            The kernel is a product whose first factor does not take x.
        """
        self._check_split(kernel)
        if isinstance(kernel, Product):
            return ProductPosterior(self, kernel, noise_var)
        return DensePosterior(self.points(), None, self, kernel, noise_var)

    def _check_split(self, kernel):
        if isinstance(kernel, Product) and kernel.split != self.X.dim:
            raise ValueError(
                f"kernel {kernel!r} takes {kernel.split} coordinate(s) for x, which has "
                f"{self.X.dim}: use squared_exponential(..., dim_x={self.X.dim})"
            )


class UncertainBox(UncertainDomain):
    """A box X of designs with environments Omega; a design is its point, a tuple of floats.

    Parameters
    ----------
    X : Box or array_like of shape (d1, 2)
        The box, or its limits.
    W, p
        As in `UncertainDomain`.

    Notes
    -----
    Source: [MVABO] App. D.
    """

    space = Box

    @property
    def shape(self):
        """(infinity, m)."""
        return math.inf, len(self.W)

    @property
    def extent(self):
        """Range of each input of f, shape (d,), in its units."""
        return np.concatenate([self.X.sides, np.ptp(self.W.points, axis=0)])

    def design(self, x):
        """Return a design as a tuple; raise if it is not in the box."""
        return tuple(self.X.check(x).tolist())

    def designs(self, X=None):
        """Return points of shape (k, d1) as they index a model."""
        if X is None:
            raise ValueError(f"X is a box: name designs, as an array of shape (k, {self.X.dim})")
        return self.X.check_all(X)

    def point(self, i):
        """Return x of a design, shape (d1,)."""
        return np.array(i)

    def near(self, i, other):
        """Whether a failure at one design speaks of the other: it is within `NEAR` of it."""
        return bool((np.abs(np.subtract(i, other)) <= NEAR * self.X.sides).all())

    def points(self, i, j):
        """Return the joined points (x, w) of shape (k, d) of paired designs and indices of w."""
        return np.hstack([i, self.W.points[j]])

    def model(self, kernel, noise_var):
        """Return the posterior of f at any (x, w)."""
        self._check_split(kernel)
        return BoxPosterior(self, kernel, noise_var)


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
        Points x + xi closer than this along every axis, relative to the axis' range, are one.

    Notes
    -----
    Source: [MVABO] Sec. 3.3.2, Eqs. (9), (10); App. C.1, Eqs. (39), (40). The GP
    lives on D = {x + xi} with one argument, so pairs (x, xi) of the same sum share one value of f.
    """

    def __init__(self, X, W, p=None, tolerance=TOLERANCE):
        super().__init__(X, W, p)
        if self.X.dim != self.W.dim:
            raise ValueError(
                f"x has {self.X.dim} coordinate(s), xi {self.W.dim}; both need the same number"
            )
        sums = (self.X.points[:, None, :] + self.W.points[None, :, :]).reshape(-1, self.X.dim)
        places = _places(sums, positive(tolerance, "tolerance", upper=0.5))
        _, first, where = np.unique(places, axis=0, return_index=True, return_inverse=True)
        self.inputs, self.where = sums[first], where.reshape(self.shape)
        self.inputs.setflags(write=False)
        self.where.setflags(write=False)

    @property
    def extent(self):
        """Range of each input of f, shape (d,), in its units."""
        return np.ptp(self.inputs, axis=0)

    def points(self, i=None, j=None):
        """Return the inputs x_i + xi_j of all pairs (n m, d), or of paired indices."""
        where = self.where.ravel() if i is None else self.where[i, j]
        return self.inputs[where]

    def model(self, kernel, noise_var):
        """Return the posterior of f, kept on the distinct inputs."""
        return DensePosterior(self.inputs, self.where, self, kernel, noise_var)


def _places(points, tolerance):
    """Return for each coordinate its place among the distinct ones of its axis, same shape."""
    order = np.argsort(points, axis=0, kind="stable")
    steps = np.diff(np.take_along_axis(points, order, axis=0), axis=0)
    apart = steps > tolerance * np.ptp(points, axis=0)
    places = np.empty(points.shape, dtype=int)
    rank = np.vstack([np.zeros((1, points.shape[1]), dtype=int), apart.cumsum(axis=0)])
    np.put_along_axis(places, order, rank, axis=0)
    return places


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
