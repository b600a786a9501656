"""The experiments' functions against the anchors of the paper's settings."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.gaussian_process.kernels import RBF

from fivebo.mtbo.multitask import DiagonalKernel
from fivebo.mtbo.problems import (
    BraninProblem,
    RKHSProblem,
    SineProblem,
    branin,
    unit_grid,
)
from fivebo.mtbo.sensors import SensorProblem, load_sensors


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.paper("mtbo", "s5-rkhs-grid")
def test_net_of_the_unit_interval():
    np.testing.assert_allclose(unit_grid(100)[[0, -1], 0], [0.01, 1.0])
    assert unit_grid(71, 2).shape == (5041, 2)


@pytest.mark.paper(
    "mtbo",
    "s5-rkhs-function",
    "s5-rkhs-b",
    "s5-rkhs-centres",
    "s5-rkhs-coefficients",
    "s5-rkhs-lengthscale",
    "s2-rkhs-norm",
    "s5-rkhs-kappa",
)
def test_rkhs_function_and_its_norm_from_the_definition():
    problem = RKHSProblem(n_tasks=3)
    instance = problem.draw(rng())
    draws = rng()
    A = draws.random((3, 3))
    X = unit_grid(100)
    centres = X[draws.integers(100, size=100)]
    C = draws.uniform(-1, 1, (100, 3))
    B, k = A.T @ A, RBF(0.2)
    for i in (0, 50, 99):
        f = sum(k(X[i : i + 1], c[None])[0, 0] * B @ w for c, w in zip(centres, C, strict=True))
        np.testing.assert_allclose(instance.values[i], f, rtol=1e-9)
    norm = sum(
        C[i] @ B @ C[j] * k(centres[i : i + 1], centres[j : j + 1])[0, 0]
        for i in range(100)
        for j in range(100)
    )
    assert instance.true_norm == pytest.approx(np.sqrt(norm), rel=1e-9)
    assert instance.kappa == pytest.approx(np.linalg.eigvalsh(B)[-1])


@pytest.mark.paper("mtbo", "s2-smoothness", "s2-rkhs-norm")
def test_functions_are_as_smooth_as_their_kernel():
    """||f(x) - f(x')|| <= ||f|| ||Gamma_x - Gamma_x'||, by the reproducing property."""
    for seed, kind in ((0, "icm"), (1, "icm"), (2, "similarity")):
        instance = RKHSProblem(n_tasks=3, task_kernel=kind, n_points=30).draw(rng(seed))
        points, F = instance.domain.points, instance.values
        B, gram = instance.kernel.B, RBF(0.2)(instance.domain.points)
        for i, j in ((0, 29), (3, 4), (10, 20)):
            # the squared operator norm is the norm of Gamma(x,x) + Gamma(x',x') - 2 Gamma(x,x')
            gap = np.linalg.norm((2 - 2 * gram[i, j]) * B, 2) ** 0.5
            assert np.linalg.norm(F[i] - F[j]) <= instance.true_norm * gap
        assert len(points) == 30


@pytest.mark.paper("mtbo", "s5-norm-bound")
def test_printed_norm_bound_is_no_upper_bound():
    """||f(x)|| <= ||f|| sqrt(kappa): the printed b lies below the norm where kappa > 1."""
    for seed in range(5):
        instance = RKHSProblem(n_tasks=20).draw(rng(seed))
        largest = np.linalg.norm(instance.values, axis=1).max()
        assert instance.printed_norm_bound == pytest.approx(largest / instance.kappa)
        assert instance.true_norm * np.sqrt(instance.kappa) >= largest
        assert instance.printed_norm_bound < instance.true_norm
        assert 60 < instance.kappa < 150  # about 108 in the mean


@pytest.mark.paper("mtbo", "s5-rkhs-scale")
def test_normalised_function_keeps_the_norm_relation():
    raw, unit = (RKHSProblem(normalised=flag).draw(rng()) for flag in (False, True))
    scale = np.abs(raw.values).max()
    np.testing.assert_allclose(unit.values * scale, raw.values)
    assert unit.true_norm * scale == pytest.approx(raw.true_norm)


def test_variants_of_a_seed_share_centres_and_coefficients():
    one, other = (
        RKHSProblem(n_tasks=4, task_kernel="similarity", omega=omega).draw(rng(3))
        for omega in (1.0, 0.5)
    )
    # f_omega = F C (omega I + (1 - omega) 1 / n): the mean over tasks does not depend on omega
    np.testing.assert_allclose(one.values.mean(1), other.values.mean(1), rtol=1e-9)


@pytest.mark.paper("mtbo", "s5-sine", "s5-sine-weights", "s5-sine-noise", "s5-sine-omega")
def test_sine_values_by_hand():
    instance = SineProblem().draw(rng())
    x = 0.25
    bumps = [np.exp(-((x - m) ** 2) / 0.02) for m in (0.05, 0.4, 0.7)]
    assert instance.values[24, 0] == pytest.approx(
        1 + 0.6 * (bumps[0] + 0.5 * bumps[1] - 0.5 * bumps[2])
    )
    assert (instance.values.shape, instance.noise_std) == ((100, 4), 0.1)
    assert instance.kappa == pytest.approx(1.0)


@pytest.mark.paper("mtbo", "s5-branin", "s5-branin-scale", "s5-branin-grid")
def test_branin_minimum_and_shifts():
    best = minimize(lambda x: branin(*x), [3.0, 2.0])
    assert best.fun == pytest.approx(0.397887, abs=1e-6)
    for x in ((-np.pi, 12.275), (np.pi, 2.275), (9.42478, 2.475)):
        assert branin(*x) == pytest.approx(0.397887, abs=1e-5)
    instance = BraninProblem(n_points=31, n_tasks=20).draw(rng())
    values = instance.values.reshape(31, 31, 20)
    # a shift of 20 % is six cells of a grid with 31 points
    unshifted = -branin(-5 + 15 * np.arange(31) / 30, 15 * np.arange(31) / 30)
    shifted = values[np.arange(6, 31), np.arange(6, 31), 19]
    slope = np.polyfit(unshifted[:25], shifted, 1)
    np.testing.assert_allclose(np.polyval(slope, unshifted[:25]), shifted, atol=1e-9)
    assert slope[0] > 0  # negated: maximised
    first = BraninProblem(n_points=31, n_tasks=20, axes="first").draw(rng()).values
    first = first.reshape(31, 31, 20)[6:, :25, 19]
    unshifted = -branin(-5 + 15 * np.arange(25)[:, None] / 30, 15 * np.arange(25)[None] / 30)
    slope = np.polyfit(unshifted.ravel(), first.ravel(), 1)
    np.testing.assert_allclose(np.polyval(slope, unshifted), first, atol=1e-9)
    assert instance.values.mean() == pytest.approx(0, abs=1e-12)
    assert instance.values.std() == pytest.approx(1)


@pytest.mark.paper("mtbo", "s5-sensors", "s5-sensors-data")
def test_sensor_data():
    locations, readings = load_sensors()
    assert locations.shape == (51, 2)
    assert sum(len(rows) for rows in readings) == 35_936 - 68  # mote 15 dropped
    assert min(len(rows) for rows in readings) >= 579
    assert all((rows >= 0).all() for rows in readings)


@pytest.mark.paper(
    "mtbo",
    "s5-sensors-b",
    "s5-sensors-jitter",
    "s5-sensors-units",
    "s5-sensors-kernel",
    "s5-sensors-noise",
    "s5-sensors-split",
)
def test_sensor_kernel_near_its_anchor():
    instance = SensorProblem(length_scale=4.0).draw(rng())
    anchor = np.array([[0.81, -0.19, -0.75], [-0.19, 1.86, 0.37], [-0.75, 0.37, 0.88]])
    np.testing.assert_allclose(instance.kernel.B, anchor, atol=0.2)
    assert instance.noise_std**2 == pytest.approx(8, abs=0.5)
    fitted = SensorProblem().draw(rng()).kernel.kernel.length_scale
    assert 3 < fitted < 5.5
    correlation = np.corrcoef(instance.values.T)
    assert correlation[0, 2] == pytest.approx(-0.95, abs=0.03)  # temperature and humidity


@pytest.mark.paper("mtbo", "s5-sensors-observation")
def test_sensor_observations_have_mean_f_and_are_readings():
    instance = SensorProblem().draw(rng())
    noise = rng(1)
    x = instance.domain.points[7]
    draws = np.array([instance.observe(x, noise) for _ in range(4000)])
    spread = draws.std(0) / np.sqrt(4000)
    assert (np.abs(draws.mean(0) - instance.values[7]) < 5 * spread).all()
    held = instance.readings[7]
    assert all((held == draw).all(1).any() for draw in draws[:20])


@pytest.mark.paper("mtbo", "s2-noise", "s5-rkhs-noise", "s2-objective")
def test_noise_has_the_stated_standard_deviation():
    instance = RKHSProblem().draw(rng())
    noise = rng(1)
    x = instance.domain.points[3]
    errors = np.array([instance.observe(x, noise) - instance.values[3] for _ in range(4000)])
    assert errors.std() == pytest.approx(0.1, rel=0.05)


@pytest.mark.paper("mtbo", "app-e-it-kernel")
def test_independent_kernels_of_the_study():
    from fivebo.mtbo.study import Params, independent_kernel

    instance = RKHSProblem(n_tasks=3).draw(rng())
    unit = independent_kernel(instance, Params())
    assert isinstance(unit, DiagonalKernel)
    np.testing.assert_array_equal(unit.scales, 1)
    marginal = independent_kernel(instance, Params(it_kernel="marginal"))
    np.testing.assert_array_equal(marginal.scales, np.diag(instance.kernel.B))
