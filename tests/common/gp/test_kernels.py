"""Kernels of the core: against scikit-learn's, finite differences, and the laws of all of them."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from fivebo.common.gp.kernels import (
    Matern,
    SquaredExponential,
    check_no_white_noise,
    gram,
)
from fivebo.common.gp.product import Product

ARD = np.array([0.3, 0.7, 1.9])
PAIRS = [
    (SquaredExponential(0.4, 2.0), 2.0 * sk.RBF(0.4)),
    (SquaredExponential(ARD, 0.5), 0.5 * sk.RBF(ARD)),
    *((Matern(0.4, 3.0, nu), 3.0 * sk.Matern(0.4, nu=nu)) for nu in (0.5, 1.5, 2.5)),
    *((Matern(ARD, 1.0, nu), sk.Matern(ARD, nu=nu)) for nu in (0.5, 1.5, 2.5)),
]
KERNELS = [
    *(own for own, _ in PAIRS),
    Product(SquaredExponential(0.4, 2.0), Matern([0.3, 0.9], 1.5, 1.5), split=1),
    Product(Matern([0.3, 0.9]), SquaredExponential(0.2), split=2),
    Product(SquaredExponential(0.4, 2.0), SquaredExponential([0.3, 0.9], 1.5), split=1),
    Product(SquaredExponential([0.4, 0.8]), SquaredExponential(0.3), split=2),
]


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(12, 3)) + 5.0


@pytest.mark.parametrize(("own", "theirs"), PAIRS, ids=repr)
def test_values_are_those_of_scikit_learn(own, theirs, points):
    np.testing.assert_allclose(own(points), theirs(points), rtol=1e-12)
    np.testing.assert_allclose(own(points, points[:4]), theirs(points, points[:4]), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_diagonal_and_symmetry(kernel, points):
    K = kernel(points)
    np.testing.assert_allclose(np.diag(K), kernel.diag(points), rtol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(gram(kernel, points), K)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_slopes_by_parameters_are_central_differences(kernel, points):
    M = np.random.default_rng(1).normal(size=(12, 12))
    M += M.T
    K, contract = kernel.with_slopes(points)
    np.testing.assert_allclose(K, kernel(points), rtol=1e-9, atol=1e-15)
    theta, step = kernel.theta, 1e-6
    for p, slope in enumerate(contract(M)):
        shift = step * (np.arange(len(theta)) == p)
        ahead, behind = (kernel.with_theta(theta + s)(points) for s in (shift, -shift))
        difference = np.vdot(M, ahead - behind) / (2 * step)
        assert slope == pytest.approx(difference, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_slopes_by_x_are_central_differences(kernel, points):
    x, Y, step = points[0], points[1:], 1e-6
    found = kernel.slopes_by_x(x, Y)
    for i in range(3):
        shift = step * (np.arange(3) == i)
        ahead, behind = (kernel((x + s)[None], Y)[0] for s in (shift, -shift))
        np.testing.assert_allclose(found[:, i], (ahead - behind) / (2 * step), atol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_theta_round_trip_and_axes(kernel, points):
    again = kernel.with_theta(kernel.theta)
    np.testing.assert_allclose(again(points), kernel(points), rtol=1e-12)
    assert len(kernel.axes) == len(kernel.theta)
    covered = [a for axes in kernel.axes if axes != "variance" for a in range(3)[axes]]
    assert sorted(covered) == [0, 1, 2]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_values_do_not_depend_on_the_unit_of_x(kernel, points, unit):
    scaled = kernel.with_theta(
        kernel.theta + np.log(unit) * np.array([axis != "variance" for axis in kernel.axes])
    )
    np.testing.assert_allclose(scaled(unit * points), kernel(points), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: SquaredExponential(0.0), ValueError, "length_scale must be one positive number"),
        (lambda: SquaredExponential([1.0, -2.0]), ValueError, r"got \[1.0, -2.0\]"),
        (lambda: SquaredExponential(1.0, 0.0), ValueError, "variance must lie in"),
        (lambda: Matern(nu=2.0), ValueError, "unknown nu"),
        (lambda: Product(SquaredExponential(), "k"), TypeError, "second must be callable"),
        (lambda: Product(SquaredExponential(), Matern(), 0), ValueError, "split must be"),
        (lambda: SquaredExponential(ARD)(np.ones((2, 2))), ValueError, "3 lengthscales"),
    ],
)
def test_what_is_no_kernel_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_white_noise_in_a_kernel_is_refused(points):
    noisy = sk.RBF(0.2) + sk.WhiteKernel(0.5)
    with pytest.raises(ValueError, match="leave white noise out of it and give it as noise_var"):
        check_no_white_noise(noisy, points[:1])
    check_no_white_noise(sk.RBF(0.2) + sk.ConstantKernel(0.5), points[:1])
