"""Aggregated observations: the printed matrices, weights 1/S, noise once, limits in S."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from fivebo.common.gp.functionals import Functionals
from fivebo.common.gp.posterior import GP
from fivebo.gpoo import BoxAverages, Partition, SquaredExponential
from fivebo.gpoo.functions import published_function
from fivebo.gpoo.posterior import CellPosterior
from fivebo.gpoo.problems import PublishedProblem
from fivebo.gpoo.regions import cell_functionals
from tests.gpoo.oracles import dense_posterior

KERNEL = SquaredExponential(0.05, 0.1)


def grown(S, rounds=80, seed=0):
    """A posterior over a tree that grows by random expansions, and its history."""
    rng = np.random.default_rng(seed)
    partition = Partition(1, 2, S)
    nodes, history = [partition.root], []
    posterior = CellPosterior(KERNEL, 0.01, nodes)
    for t in range(rounds):
        place, y = int(rng.integers(len(nodes))), float(rng.standard_normal())
        posterior.observe(place, y)
        history.append((nodes[place], y))
        if t % 4 == 0:
            new = partition.children(nodes[int(rng.integers(len(nodes)))])
            new = [c for c in new if c not in nodes]
            if new:
                nodes += new
                posterior.add(new)
    return posterior, nodes, history


@pytest.mark.paper("gpoo", "eq-2", "eq-3", "eq-4", "s3-matrix-a", "s3-gaussian", "app-b")
@pytest.mark.parametrize("S", [1, 3, 10])
def test_one_sweep_with_caches_is_the_dense_posterior(S):
    posterior, nodes, history = grown(S)
    pairs = [(cell.representatives, y) for cell, y in history]
    for place, cell in enumerate(nodes):
        mean, var = dense_posterior(KERNEL, 0.01, pairs, cell.representatives)
        assert posterior.mean[place] == pytest.approx(mean, abs=1e-11)
        assert posterior.var[place] == pytest.approx(var, abs=1e-12)


@pytest.mark.paper("gpoo", "eq-3", "eq-4", "s3-gaussian")
def test_any_test_points_and_weights():
    """Eqs. (3), (4) for a_* and X_* that are no cell's, after averages over cells."""
    posterior, _, history = grown(3, rounds=12)
    rng = np.random.default_rng(2)
    X, a = rng.random((5, 1)), rng.standard_normal(5)
    points = np.concatenate([cell.representatives for cell, _ in history])
    A = np.kron(np.eye(12), np.full((1, 3), 1 / 3))
    C = A @ KERNEL(points) @ A.T + 0.01 * np.eye(12)
    k_star = A @ KERNEL(points, X) @ a
    mean, var = posterior.gp.predict(Functionals(X[None], a))
    assert mean[0] == pytest.approx(k_star @ np.linalg.solve(C, [y for _, y in history]), abs=1e-11)
    expected = a @ KERNEL(X) @ a - k_star @ np.linalg.solve(C, k_star)
    assert var[0] == pytest.approx(expected, abs=1e-11)


@pytest.mark.paper("gpoo", "s2-prior-mean")
@pytest.mark.parametrize("S", [1, 10, None])
def test_prior_mean_is_zero(S):
    partition = Partition(1, 2, S)
    nodes = [partition.root, *partition.children(partition.root)]
    assert CellPosterior(KERNEL, 0.01, nodes).mean.tolist() == [0, 0, 0]


@pytest.mark.paper("gpoo", "s2-row-order")
def test_order_of_the_representative_points_does_not_matter():
    rng, partition = np.random.default_rng(3), Partition(1, 2, 5)
    nodes = [partition.root, *partition.children(partition.root)]
    mixed = [replace(c, representatives=rng.permutation(c.representatives)) for c in nodes]
    plain, other = (CellPosterior(KERNEL, 0.01, cells) for cells in (nodes, mixed))
    for posterior in (plain, other):
        posterior.observe(0, 0.4)
        posterior.observe(2, -0.1)
    np.testing.assert_allclose(other.mean, plain.mean, rtol=1e-12)
    np.testing.assert_allclose(other.var, plain.var, rtol=1e-12)
    f = published_function(1)
    np.testing.assert_allclose(f.averages(mixed), f.averages(nodes), rtol=1e-12)


@pytest.mark.paper("gpoo", "app-b")
def test_block_form_of_the_sweep_is_the_sequential_one():
    _, nodes, history = grown(3, rounds=30)
    X = np.stack([cell.representatives for cell, _ in history])
    y = np.array([r for _, r in history])
    C = np.stack([cell.representatives for cell in nodes])
    one = GP(KERNEL, 0.01).condition(X, y).predict(C)
    two = GP(KERNEL, 0.01).condition(X[:11], y[:11]).condition(X[11:], y[11:]).predict(C)
    np.testing.assert_allclose(one, two, atol=1e-12)


@pytest.mark.paper("gpoo", "s3-matrix-a")
@pytest.mark.parametrize(("K", "S"), [(2, 10), (5, 3), (4, 1)])
def test_weights_are_one_over_S_whatever_K_is(K, S):
    """With 1/K, as the text prints, a constant reward would come out as c S / K."""
    partition = Partition(1, K, S)
    nodes = [partition.root, *partition.children(partition.root)]
    posterior = CellPosterior(SquaredExponential(5.0, 100.0), 1e-4, nodes)
    for place in range(len(nodes)):
        posterior.observe(place, 0.7)
    np.testing.assert_allclose(posterior.mean, 0.7, atol=1e-4)
    assert cell_functionals(nodes).weights == pytest.approx(1 / S)


@pytest.mark.paper("gpoo", "s2-reward", "s2-noise-once", "eq-1")
@pytest.mark.parametrize("S", [1, 10, None])
def test_noise_is_added_once_after_averaging(S):
    instance = PublishedProblem(1, n_points=S).draw(np.random.default_rng(0))
    cell = instance.partition.cell(2, 3)
    rng = np.random.default_rng(1)
    rewards = [instance.observe(cell, rng) for _ in range(4000)]
    points = np.linspace(0.75, 1, 20001)[:, None] if S is None else cell.representatives
    assert np.mean(rewards) == pytest.approx(instance.f(points).mean(), abs=0.006)
    assert np.std(rewards) == pytest.approx(0.1, rel=0.04)  # not 0.1 / sqrt(S)


@pytest.mark.paper("gpoo", "s3-golden")
def test_golden_prior_and_posterior():
    partition = Partition(1, 2, 10)
    nodes = [partition.root, *partition.children(partition.root)]
    F = cell_functionals(nodes)
    prior = F.cross(KERNEL, F)
    assert prior[0, 0] == pytest.approx(0.012441402714, abs=1e-11)
    assert prior[1, 1] == pytest.approx(0.023242505298, abs=1e-11)
    assert prior[1, 2] == pytest.approx(0.000911888791, abs=1e-11)
    assert prior[0, 1] == pytest.approx(0.012160095980, abs=1e-11)
    posterior = CellPosterior(KERNEL, 0.005, nodes)
    posterior.observe(1, 0.3)
    posterior.observe(2, 0.6)
    np.testing.assert_allclose(
        posterior.mean, [0.375383770585, 0.250266421471, 0.495382917485], atol=1e-11
    )
    np.testing.assert_allclose(
        posterior.var, [0.002297618981, 0.004113885631, 0.004113885631], atol=1e-11
    )
    assert prior[0, 0] < prior[1, 1] < 0.1  # wider cells have the smaller variance


def test_kernel_is_the_squared_exponential_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, Y = rng.random((7, 2)), rng.random((5, 2))
    other = ConstantKernel(0.1) * RBF(0.05)
    np.testing.assert_allclose(KERNEL(X, Y), other(X, Y), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(KERNEL.diag(X), other.diag(X))
    np.testing.assert_allclose(KERNEL(X), KERNEL(X, X))


def interval(a, b):
    return np.array([[a]]), np.array([[b]])


@pytest.mark.paper("gpoo", "app-d-kernel")
@pytest.mark.parametrize(
    "bounds", [(0.1, 0.35, 0.2, 0.9), (0.0, 0.02, 0.01, 0.04), (0.3, 0.31, 0.0, 1.0)]
)
def test_closed_integrals_against_quadrature(bounds):
    a, b, c, e = bounds
    kernel = SquaredExponential(0.07)
    both = dblquad(lambda x, y: np.exp(-((x - y) ** 2) / (2 * 0.07**2)), c, e, a, b, epsabs=1e-13)[
        0
    ]
    assert kernel.box_box(*interval(a, b), *interval(c, e))[0, 0] * (b - a) * (
        e - c
    ) == pytest.approx(both, rel=1e-8)
    one = quad(lambda x: np.exp(-((x - c) ** 2) / (2 * 0.07**2)), a, b, epsabs=1e-14)[0]
    assert kernel.box_point(*interval(a, b), np.array([[c]]))[0, 0] * (b - a) == pytest.approx(
        one, rel=1e-10
    )


@pytest.mark.paper("gpoo", "app-d-kernel")
def test_golden_double_integral():
    value = SquaredExponential(0.07).box_box(*interval(0.1, 0.35), *interval(0.2, 0.9))[0, 0]
    assert value * 0.25 * 0.7 == pytest.approx(0.02596734504, abs=1e-11)


@pytest.mark.paper("gpoo", "app-d-limit", "app-d-kernel")
@pytest.mark.parametrize("dim", [1, 2])
def test_many_points_meet_the_closed_integral(dim):
    kernel = SquaredExponential(0.2, 0.5)
    boxes = Partition(dim, 2, None)
    exact = [boxes.cell(h, i) for h, i in ((0, 0), (1, 1), (3, 5), (6, 3))]
    reference = cell_functionals(exact).cross(kernel, cell_functionals(exact))
    errors = []
    for per_axis in (5, 10, 50):
        partition = Partition(dim, 2, per_axis**dim)
        cells = [partition.cell(*c.name) for c in exact]
        F = cell_functionals(cells)
        errors.append(np.abs(F.cross(kernel, F) - reference).max())
    assert errors[0] > 3 * errors[1] > 20 * errors[2]  # second order in 1/S
    assert errors[2] < 1e-4


@pytest.mark.paper("gpoo", "app-d-reward")
def test_averages_over_boxes_inform_points():
    kernel = SquaredExponential(0.2, 1.0)
    boxes = BoxAverages([[0.0], [0.3], [0.6]], [[0.3], [0.6], [1.0]])
    gp = GP(kernel, 1e-4).condition(boxes, [0.1, 0.8, 0.3])
    x = (np.arange(3000) + 0.5)[:, None] / 3000
    mean, _ = gp.predict(x)
    own, _ = gp.predict(boxes)
    for k, (a, b) in enumerate(((0, 900), (900, 1800), (1800, 3000))):
        assert mean[a:b].mean() == pytest.approx(own[k], abs=1e-6)
    averaged, _ = gp.predict(Functionals(x[None, :900]).points[None])
    assert averaged[0] == pytest.approx(own[0], abs=1e-6)
    with pytest.raises(ValueError, match="low < high"):
        BoxAverages([[0.3]], [[0.3]])
