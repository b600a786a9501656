"""A small domain, its kernel, and random posteriors."""

import numpy as np
import pytest

from fivebo.mvabo import UncertainDomain, squared_exponential

X = np.linspace(0, 1, 9)
W = np.array([-0.5, -0.1, 0.2, 0.7])
P = np.array([0.1, 0.4, 0.3, 0.2])


@pytest.fixture
def domain():
    return UncertainDomain(X, W, P)


@pytest.fixture
def kernel():
    return squared_exponential(1.0, 0.3, 0.6)


def random_posterior(rng, n=6, m=5):
    """Random mean and sd of shape (n, m), and probabilities of w."""
    p = rng.dirichlet(np.ones(m))
    return rng.normal(size=(n, m)), rng.exponential(0.5, size=(n, m)), p
