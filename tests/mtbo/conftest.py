"""Kernels of all kinds on a small domain."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from fivebo.mtbo.multitask import ICM, DiagonalKernel, SumKernel, similarity_kernel

B3 = np.array([[1.0, 0.4, -0.2], [0.4, 0.8, 0.1], [-0.2, 0.1, 0.5]])
RANK_ONE = np.outer([1.0, -0.5, 0.3], [1.0, -0.5, 0.3])

KERNELS = {
    "icm": ICM(RBF(0.3), B3),
    "icm-rank-one": ICM(RBF(0.3), RANK_ONE),
    "omega-0": similarity_kernel(RBF(0.3), 3, 0.0),
    "omega-06": similarity_kernel(RBF(0.3), 3, 0.6),
    "omega-1": similarity_kernel(RBF(0.3), 3, 1.0),
    "diagonal": DiagonalKernel([RBF(0.3), RBF(0.1), Matern(0.4, nu=1.5)], [1.0, 2.0, 0.5]),
    "sum": SumKernel([(RBF(0.3), B3), (Matern(0.2, nu=2.5), np.diag([0.2, 0.0, 0.4]))]),
}


@pytest.fixture(params=KERNELS, ids=str)
def kernel(request):
    return KERNELS[request.param]


@pytest.fixture
def history():
    """Eight rounds on fifteen candidates, with repeats."""
    rng = np.random.default_rng(0)
    X = np.linspace(0, 1, 15)[:, None]
    arms = np.array([3, 11, 3, 7, 0, 3, 14, 7])
    return X, arms, rng.standard_normal((8, 3))
