"""Problems of [CDFO] Secs. 3 and 4: records of settings that `draw` makes an instance of.

All are minimised and free of noise, as in the paper. Queries of a finite problem are row indices.
"""

from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from fivebo.classify_dfo import airfoil, dna
from fivebo.classify_dfo.functions import (
    HARTMANN_MINIMUM,
    SHEKEL_MINIMA,
    SeparableQuadratic,
    hartmann6,
    shekel,
)
from fivebo.classify_dfo.spaces import Catalogue
from fivebo.common.checks import count, one_of, positive
from fivebo.common.search.domains import Box


@dataclass(frozen=True)
class Instance:
    """A drawn problem: the truth that optimisers never see. [CDFO] Sec. 2.

    Parameters
    ----------
    domain : Catalogue or Box
    optimum : float
        Smallest value of f.
    values : ndarray of shape (N,), or None
        f of every action of a finite set.
    function : callable, or None
        f of points of shape (n, d) of a box.
    names : tuple of str
        What the actions are called, empty if they have no names.
    """

    domain: object
    optimum: float
    values: np.ndarray | None = None
    function: object = None
    names: tuple = ()
    noise_std: float = field(default=0.0, init=False)
    n_init: int = field(default=0, init=False)
    direction: str = field(default="min", init=False)

    def evaluate(self, queries):
        """Return f of a batch: indices of shape (n,) or points of shape (n, d)."""
        queries = self.domain.check_all(queries)
        return self.function(queries) if self.values is None else self.values[queries]

    def observe(self, query, rng):
        """Return f of a batch; there is no noise."""
        return self.evaluate(query)


def finite_instance(domain, values, names=()):
    """Make the instance of a finite problem from the value of every action."""
    return Instance(domain, float(values.min()), values=values, names=names)


@lru_cache(maxsize=1)
def kmer_actions():
    """Return the set of all 8-mers, made once a process."""
    return Catalogue(dna.kmer_features())


@dataclass(frozen=True)
class DNA:
    """Find the 8-mer that a transcription factor binds most: f is minus the median fluorescence.

    Source: [CDFO] Sec. 4, Figs. 2a, 2b, 3c. That the measure is the median, and that the space
    is one 8-mer of each pair of strands, is ASSUMED.

    Parameters
    ----------
    assay : str
        Name of one of the 200 assays; the figures' ones are bundled.
    """

    assay: str = "CRX_REF_R1"

    def draw(self, rng):
        """Return the one instance: nothing about it is random."""
        return finite_instance(kmer_actions(), -dna.load_medians(self.assay), dna.kmers())


@dataclass(frozen=True)
class Airfoil:
    """Find the NACA 4-digit airfoil of largest lift to drag: f is minus it, 0 where XFOIL fails.

    Values are those of the bundled table (Re 1e6, 4 degrees). Source: [CDFO] Sec. 4, Fig. 2c.

    Parameters
    ----------
    n_stations : int
        Points a side; features are 2 (2 n_stations - 1) coordinates.
    trailing_edge : {"open", "closed"}
        Of the features' geometry.
    """

    n_stations: int = 51
    trailing_edge: Literal["open", "closed"] = "open"

    def __post_init__(self):
        one_of(self.trailing_edge, "trailing_edge", airfoil.TRAILING_EDGES)

    def draw(self, rng):
        """Return the one instance: nothing about it is random."""
        names, values = airfoil.load_objective()
        domain = airfoil_actions(self.n_stations, self.trailing_edge)
        return finite_instance(domain, values, names)


@lru_cache(maxsize=2)
def airfoil_actions(n_stations, trailing_edge):
    """Return the set of all airfoils by their outlines, made once a process."""
    names, _ = airfoil.load_objective()
    return Catalogue(airfoil.outline_features(names, n_stations, trailing_edge))


@dataclass(frozen=True)
class Shekel:
    """The Shekel function on [0, 10]^4. Source: [CDFO] Sec. 4, Fig. 4a.

    Parameters
    ----------
    terms : {5, 7, 10}
        m; the paper does not say which, 10 is ASSUMED.
    """

    terms: Literal[5, 7, 10] = 10

    def __post_init__(self):
        if self.terms not in SHEKEL_MINIMA:
            raise ValueError(f"terms must be 5, 7 or 10, got {self.terms!r}")

    def draw(self, rng):
        """Return the one instance: nothing about it is random."""
        return Instance(
            Box([[0, 10]] * 4), SHEKEL_MINIMA[self.terms],
            function=partial(shekel, n_terms=self.terms),
        )  # fmt: skip


@dataclass(frozen=True)
class Hartmann:
    """The Hartmann function on [0, 1]^6. Source: [CDFO] Sec. 4, Fig. 4b."""

    def draw(self, rng):
        """Return the one instance: nothing about it is random."""
        return Instance(Box([[0, 1]] * 6), HARTMANN_MINIMUM, function=hartmann6)


@dataclass(frozen=True)
class Linear:
    """A random linear function on [-1, 1]^d, w ~ N(0, I). Source: [CDFO] Sec. 4, Fig. 3a.

    Parameters
    ----------
    dim : int
        d; the number is missing from the text that we could read.
    """

    dim: int = 300

    def __post_init__(self):
        count(self.dim, "dim")

    def draw(self, rng):
        """Draw w."""
        zero = np.zeros(self.dim)
        return _box_instance(SeparableQuadratic(rng.standard_normal(self.dim), zero, zero))


def _box_instance(function):
    """Make the instance of a function on [-1, 1]^d that knows its minimum point."""
    best = function.minimiser()
    box = Box([[-1, 1]] * len(best))
    return Instance(box, float(function(best[None])[0]), function=function)


@dataclass(frozen=True)
class LinearQuadratic:
    r"""A random linear function plus a large quadratic one, which no linear classifier fits.

    .. math:: f(x) = w^\top x + \tfrac12 (x - c)^\top D (x - c)

    w ~ N(0, I), c uniform on the box, D diagonal with uniform entries, scaled so that the
    quadratic's range on the box is `range_ratio` times the linear part's. Source: [CDFO] Sec. 4,
    Fig. 3b; the law of the quadratic is ASSUMED.

    Parameters
    ----------
    dim : int
    range_ratio : float
    """

    dim: int = 300
    range_ratio: float = 1.0

    def __post_init__(self):
        count(self.dim, "dim")
        positive(self.range_ratio, "range_ratio")

    def draw(self, rng):
        """Draw w, c and D."""
        w, c = rng.standard_normal(self.dim), rng.uniform(-1, 1, self.dim)
        D = rng.random(self.dim)
        D *= self.range_ratio * 2 * np.abs(w).sum() / (0.5 * D @ (1 + np.abs(c)) ** 2)
        return _box_instance(SeparableQuadratic(w, D, c))


@dataclass(frozen=True)
class UnitSquare:
    """A linear function on a grid of the unit square. Source: [CDFO] Sec. 3, Figs. 1a, 1b.

    Parameters
    ----------
    side : int
        Points an axis.
    weights : {"random", "equal"}
        w is a random unit vector, or f = x_1 + x_2.
    """

    side: int = 101
    weights: Literal["random", "equal"] = "random"

    def __post_init__(self):
        count(self.side, "side")
        one_of(self.weights, "weights", ("random", "equal"))

    def draw(self, rng):
        """Draw w."""
        axis = np.linspace(0, 1, self.side)
        X = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
        w = np.ones(2) if self.weights == "equal" else rng.standard_normal(2)
        return finite_instance(
            Catalogue(X), X @ (w / np.linalg.norm(w) if self.weights == "random" else w)
        )
