"""Named random streams: every draw of every run comes from one of them."""

import hashlib
import json
import numbers
from dataclasses import dataclass

import numpy as np

SHARED_STREAMS = ("instance", "initial", "noise", "scalarization", "environment")
"""Streams that leave the method out of their name: all methods of a seed face the same draws."""

OPTIMIZER_STREAMS = ("initial", "scalarization", "environment", "algorithm")
"""Streams an optimiser may draw from; it never sees the objective's own (instance, noise)."""


def check_seed(seed):
    """Return `seed` as an int, or raise if it is not an integer of at least 0.

    Parameters
    ----------
    seed : int
        Any integer >= 0; 0 is a seed like every other.

    Raises
    ------
    TypeError
        `seed` is not an integer (booleans are not).
    ValueError
        `seed` is negative.
    """
    if isinstance(seed, bool | np.bool_) or not isinstance(seed, numbers.Integral):
        raise TypeError(f"seed must be an integer >= 0, got {seed!r}; pass for example seed=0")
    if seed < 0:
        raise ValueError(f"seed must be an integer >= 0, got {seed}; pass for example {-seed}")
    return int(seed)


def rng_for(paper, experiment, problem, seed, stream, method=None):
    """Make the generator of one named stream.

    The names are hashed (SHA-256) into a `numpy.random.SeedSequence`, so a stream depends on
    nothing but its name: not on the number of seeds, their order, the jobs or the cores.

    Parameters
    ----------
    paper, experiment, problem : str
        Names of the run.
    seed : int
        Seed of the run, >= 0.
    stream : str
        One of `SHARED_STREAMS`, or "algorithm".
    method : str, optional
        Slug of the method: required for "algorithm", forbidden for the shared streams, so that
        comparisons between methods are paired.

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    ValueError
        The stream is unknown, or `method` is missing or forbidden.
    """
    if stream not in (*SHARED_STREAMS, "algorithm"):
        raise ValueError(
            f"unknown stream {stream!r}; use one of {', '.join((*SHARED_STREAMS, 'algorithm'))}"
        )
    if (method is None) == (stream == "algorithm"):
        rule = "needs the method's name" if stream == "algorithm" else "must not name a method"
        raise ValueError(f"stream {stream!r} {rule}, got method={method!r}")
    names = [paper, experiment, problem, check_seed(seed), stream, method]
    digest = hashlib.sha256(json.dumps(names).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence(np.frombuffer(digest, "<u4").tolist()))


@dataclass(frozen=True)
class Streams:
    """The generators an optimiser draws from, one a purpose.

    Parameters
    ----------
    initial : numpy.random.Generator
        First queries and the breaking of ties.
    scalarization : numpy.random.Generator
        Random scalarisation weights.
    environment : numpy.random.Generator
        Environmental variables that nature draws.
    algorithm : numpy.random.Generator
        The method's own draws.
    """

    initial: np.random.Generator
    scalarization: np.random.Generator
    environment: np.random.Generator
    algorithm: np.random.Generator

    @classmethod
    def of(cls, rng):
        """Make streams from a seed or a Generator; streams pass through unchanged.

        Parameters
        ----------
        rng : int, numpy.random.Generator or Streams
            A Generator is asked for four children (`Generator.spawn`), in the order of the
            fields; the global NumPy generator is never touched.
        """
        if isinstance(rng, cls):
            return rng
        if not isinstance(rng, np.random.Generator):
            rng = np.random.default_rng(check_seed(rng))
        return cls(*rng.spawn(len(OPTIMIZER_STREAMS)))

    @classmethod
    def named(cls, paper, experiment, problem, seed, method):
        """Make the streams of one run of an experiment."""
        return cls(
            *(
                rng_for(paper, experiment, problem, seed, s, method if s == "algorithm" else None)
                for s in OPTIMIZER_STREAMS
            )
        )
