"""Problems: anchors of the functions and of the setting, and the simulator customer by customer."""

import numpy as np
import pytest

from fivebo.common.search.pareto import hypervolume, nondominated
from fivebo.common.search.rng import rng_for
from fivebo.mvabo import problems, study
from fivebo.mvabo.bounds import objectives
from fivebo.mvabo.instances import sample_path
from fivebo.mvabo.kernels import squared_exponential
from fivebo.mvabo.newsvendor import NewsvendorProblem, preferences, profit_table, sales


def instance_rng(seed=0):
    return rng_for("mvabo", "test", "problems", seed, "instance")


@pytest.mark.paper("mvabo", "s51-pw", "s51-grid", "s51-sigma", "s2-setting", "s2-noise")
def test_gp_test_functions_have_the_papers_setting():
    instance = problems.GPTestProblem().draw(instance_rng())
    W = instance.domain.W.points[:, 0]
    np.testing.assert_allclose(W, np.linspace(-1, 1, 100))
    np.testing.assert_allclose(instance.domain.X.points[:, 0], W)
    p = instance.domain.p
    assert p.sum() == pytest.approx(1)
    assert p[0] / p[50] == pytest.approx(np.exp(-0.5) / np.exp(-0.5 * W[50] ** 2))
    assert instance.noise_std == 0.01
    assert not instance.fitted
    assert instance.kernel.first.length_scale == instance.kernel.second.length_scale == 0.25
    noise = np.random.default_rng(0)
    x, w = instance.domain.X.points[3], instance.domain.W.points[7]
    y = np.array([instance.observe((x, w), noise) for _ in range(2000)])
    assert y.mean() == pytest.approx(instance.values[3, 7], abs=1e-3)
    assert y.std() == pytest.approx(0.01, rel=0.1)


@pytest.mark.paper("mvabo", "s51-oracle", "s51-oracle-jitter", "s2-rkhs", "s51-paths")
def test_sample_paths_are_posterior_means_of_known_norm():
    """On the 25 x 25 nodes the oracle is the sample; the norm is that of its coefficients."""
    nodes = np.linspace(-1, 1, 25)
    Z = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1).reshape(-1, 2)
    K = squared_exponential(1.0, 0.25, 0.25)(Z)
    f, norm = sample_path(instance_rng(), 25, 0.25, 1.0, 1e-4)
    values = f(nodes[:, None], nodes[:, None]).ravel()
    # values = K a with s = (K + jitter) a: recover a from the values, compare a' K a
    a = np.linalg.lstsq(K, values, rcond=1e-10)[0]
    assert norm == pytest.approx(np.sqrt(a @ K @ a), rel=1e-3)
    norms = {
        jitter: np.mean([sample_path(instance_rng(s), 25, 0.25, 1.0, jitter)[1] for s in range(50)])
        for jitter in (1e-8, 1e-6, 1e-4)
    }
    assert norms[1e-8] == pytest.approx(17.7, abs=0.4)
    assert norms[1e-6] == pytest.approx(15.6, abs=0.4)
    assert norms[1e-4] == pytest.approx(13.1, abs=0.4)
    axis = nodes[[3], None]
    draws = np.array(
        [
            sample_path(instance_rng(s), 25, 0.25, 1.0, 1e-8)[0](nodes[:, None], axis)
            for s in range(300)
        ]
    )[:, :, 0]
    assert draws.var(axis=0).mean() == pytest.approx(1.0, abs=0.1)
    lag = nodes[4] - nodes[0]
    near = np.mean(draws[:, 10] * draws[:, 14])
    assert near == pytest.approx(np.exp(-(lag**2) / (2 * 0.25**2)), abs=0.15)


@pytest.mark.paper("mvabo", "s51-paths", "s51-runs")
def test_ten_runs_share_each_of_fifty_functions():
    problem = problems.GPTestProblem()
    seeds = [problem.instance_seed(seed) for seed in range(500)]
    assert sorted(set(seeds)) == list(range(50))
    assert all(seeds.count(path) == 10 for path in range(50))
    assert seeds[:50] == list(range(50))


@pytest.mark.paper("mvabo", "s51-bird", "s51-benchmark-sign", "s51-benchmark-scale")
def test_bird():
    for x in ((4.70104, 3.15294), (-1.58214, -3.13024)):
        assert problems.bird(*x) == pytest.approx(-106.764537, abs=1e-4)
    grid = np.linspace(-2 * np.pi, 2 * np.pi, 100)
    raw = problems.bird(grid[:, None], grid[None])
    assert (raw.min(), raw.max()) == pytest.approx((-106.705, 175.304), abs=1e-3)
    assert (raw.mean(), raw.std()) == pytest.approx((26.974, 41.054), abs=1e-3)
    instance = problems.BirdProblem().draw(None)
    np.testing.assert_allclose(instance.values, -(raw - raw.mean()) / raw.std(), atol=1e-12)
    F = instance.objectives
    assert F[:, 0].min() == pytest.approx(-0.591, abs=1e-3)
    assert F[:, 0].max() == pytest.approx(0.644, abs=1e-3)
    assert F[:, 1].min() == pytest.approx(-1.576, abs=1e-3)
    assert F[:, 1].max() == pytest.approx(-0.281, abs=1e-3)
    best = (F[:, 0].argmax(), F[:, 1].argmax(), F.mean(axis=1).argmax())
    assert best == (39, 51, 48)
    assert nondominated(F).sum() == 13
    assert instance.b_tilde == pytest.approx(3.76, abs=0.01)
    assert instance.fitted


@pytest.mark.paper("mvabo", "s51-rosenbrock", "s51-rosenbrock-box", "s51-rosenbrock-low")
def test_rosenbrock():
    assert problems.rosenbrock(1.0, 1.0, 1.0) == 0
    assert problems.rosenbrock(-1.0, 2.0, 0.5) == pytest.approx(100 + 4 + 100 * 3.5**2 + 1)
    instance = problems.RosenbrockProblem().draw(None)
    assert instance.values.shape == (10**4, 100)
    x, w = instance.domain.X.points[1234], instance.domain.W.points[56]
    raw = problems.rosenbrock(*(2.048 * x), 2.048 * w[0])
    other = problems.rosenbrock(*(2.048 * instance.domain.X.points[0]), -2.048)
    slope = (instance.values[1234, 56] - instance.values[0, 0]) / (raw - other)
    assert slope < 0  # negated and scaled by 1 / std
    assert 1 / -slope == pytest.approx(1.0e3, rel=0.1)
    F = instance.objectives
    assert (F[:, 0].min(), F[:, 0].max()) == pytest.approx((-4.66, 0.875), abs=1e-2)
    assert (F[:, 1].min(), F[:, 1].max()) == pytest.approx((-0.920, -0.118), abs=1e-3)


@pytest.mark.paper("mvabo", "s51-bird-box", "s51-rosenbrock-box", "s51-rosenbrock-low")
@pytest.mark.parametrize(
    ("problem", "mean_only", "deviation_only"),
    [
        (problems.BirdProblem(), 0.3694, 0.0351),
        (problems.RosenbrockProblem(), 5.2e-5, 0.8672),
        (problems.RosenbrockProblem(n_x=25), 0.0, 0.7870),
        (NewsvendorProblem(), 0.0, 1.1312),
    ],
    ids=["bird", "rosenbrock", "rosenbrock-25", "newsvendor"],
)
def test_what_the_best_design_of_one_objective_loses_in_g(problem, mean_only, deviation_only):
    """The numbers that the remarks on claims which are not found here rest on."""
    F = problem.draw(None).objectives
    G = F.mean(axis=1)
    assert G.max() - G[F[:, 0].argmax()] == pytest.approx(mean_only, abs=1e-4)
    assert G.max() - G[F[:, 1].argmax()] == pytest.approx(deviation_only, abs=1e-4)
    if isinstance(problem, NewsvendorProblem):
        assert np.ptp(F, axis=0) == pytest.approx([4.74, 0.096], abs=5e-3)


def customer_by_customer(stock, w, shares, problem):
    """The simulator as told: customers come in turn and take the best product in stock, or none."""
    left, income = list(stock), 0.0
    for share in shares:
        best, value = None, 0.0
        for j in range(2):
            gumbel = -np.euler_gamma - np.log(-np.log(1 - np.exp(-w[j] * share[j])))
            utility = problem.utility + gumbel
            if left[j] > 0 and utility > value:
                best, value = j, utility
        if best is not None:
            left[best] -= 1
            income += problem.prices[best]
    return income - sum(c * x for c, x in zip(problem.costs, stock, strict=True))


@pytest.mark.paper("mvabo", "s52-simulator", "s52-profit")
def test_newsvendor_is_the_simulation_customer_by_customer():
    problem = NewsvendorProblem(
        n_x=6, n_w=2, customers=60, capacity=50.0, replications=7, standardised=False
    )
    table = profit_table(problem)
    rng = np.random.default_rng(problem.table_seed)
    shares = rng.standard_exponential((7, 60, 2))
    shares /= shares.sum(axis=1, keepdims=True)
    stock, levels = problem.stock(), problem.levels()
    assert stock.tolist() == [0, 10, 20, 30, 40, 50]
    for a, b, c, d in (
        (0, 0, 0, 0),
        (0, 3, 1, 0),
        (2, 2, 1, 1),
        (5, 1, 0, 1),
        (5, 5, 1, 1),
        (1, 4, 0, 0),
    ):
        w = (levels[c], levels[d])
        profits = [customer_by_customer((stock[a], stock[b]), w, s, problem) for s in shares]
        assert table[6 * a + b, 2 * c + d] == pytest.approx(np.mean(profits))


@pytest.mark.paper("mvabo", "s52-gamma", "s52-parameters", "s52-grid", "s52-model")
def test_newsvendor_setting():
    problem = NewsvendorProblem()
    assert problem.levels()[[0, -1]] == pytest.approx([905.1208, 1100.5781], abs=1e-3)
    instance = problem.draw(None)
    assert instance.values.shape == (400, 100)
    assert instance.values.std() == pytest.approx(1)
    assert abs(instance.domain.X.points).max() == abs(instance.domain.W.points).max() == 1
    p = instance.domain.p.reshape(10, 10)
    np.testing.assert_allclose(p, np.outer(p.sum(1), p.sum(0)))  # independent components
    w = problem.levels()
    assert p[4, 0] / p[2, 0] == pytest.approx(np.exp(999 * np.log(w[4] / w[2]) - w[4] + w[2]))
    assert instance.fitted
    # given their sum, Exp(1) variables are w times Dirichlet shares: mean and variance 1
    rng = np.random.default_rng(0)
    shares = rng.standard_exponential((200, 1000))
    shares /= shares.sum(axis=1, keepdims=True)
    E = shares * rng.gamma(1000, size=(200, 1))
    assert (E.mean(), E.var()) == pytest.approx((1, 1), abs=0.02)


@pytest.mark.paper("mvabo", "s52-parameters")
def test_newsvendor_profits_of_the_public_parameters():
    """Anchors at x = (450, 450), utility 0.5, and a flat sell-out at utility 1."""
    rng = np.random.default_rng(1)
    shares = rng.standard_exponential((100, 1000, 2))
    shares /= shares.sum(axis=1, keepdims=True)
    stock = np.array([0, 450])
    for w, utility, expected in (
        (905, 0.5, 3851),
        (1000, 0.5, 4199),
        (1100, 0.5, 4475),
        (1000, 1, 4950),
    ):
        sold_1, sold_2 = sales(stock, preferences((w, w), shares, utility))
        profit = 8 * sold_1[:, 1, 1].mean() + 18 * sold_2[:, 1, 1].mean() - 15 * 450
        assert profit == pytest.approx(expected, abs=40)


@pytest.mark.paper("mvabo", "s332-problem")
def test_noisy_inputs_stay_within_the_functions_interval():
    instance = problems.NoisyInputProblem().draw(instance_rng())
    assert abs(instance.domain.inputs).max() == pytest.approx(1)
    assert len(instance.domain.inputs) == 101
    assert instance.values.shape == (81, 21)
    xi = instance.domain.W.points[:, 0]
    np.testing.assert_allclose(xi, -xi[::-1], atol=1e-12)
    p = instance.domain.p
    np.testing.assert_allclose(p, p[::-1])
    assert p[10] / p[0] == pytest.approx(np.exp(0.5 / 0.5**2))


@pytest.mark.paper("mvabo", "app-d-problem", "thm-d1-tau", "app-d-lipschitz")
def test_the_grid_of_a_continuous_domain_is_fine_enough():
    instance = problems.ContinuousProblem().draw(instance_rng())
    assert len(instance.reference) == len(instance.domain.X) + 4001
    x = instance.fine[123]
    np.testing.assert_allclose(
        instance.objectives_at(x), instance.reference[len(instance.domain.X) + 123]
    )
    G = instance.reference
    X = np.concatenate([instance.domain.X.points[:, 0], instance.fine[:, 0]])
    grid = instance.domain.X.points[:, 0]
    nearest = abs(X[:, None] - grid).argmin(axis=1)
    difference = abs(G - instance.objectives[nearest])
    assert difference[:, 0].max() <= 0.5 / 2
    assert difference[:, 1].max() <= 0.5 / 2
    finer = np.linspace(0, 1, 40001)[:, None]
    truth = np.column_stack(objectives(instance.function(finer), instance.domain.p))
    for alpha in (0.0, 0.5, 1.0):
        best = instance.best_value(alpha)
        assert 0 <= best - (alpha * truth[:, 0] + (1 - alpha) * truth[:, 1]).max() + 1e-12 < 1e-6
    coarse = problems.ContinuousProblem(n_segments=10).draw(instance_rng())
    assert len(coarse.domain.X) == 11


@pytest.mark.paper("mvabo", "s2-nature")
def test_nature_draws_w_by_its_probabilities_and_every_method_gets_the_same():
    instance = problems.GPTestProblem(n_x=5, n_w=4).draw(instance_rng())
    x, draws = instance.domain.X.points[0], []
    rng = np.random.default_rng(0)
    for _ in range(4000):
        draws.append(instance.domain.W.index(instance.complete(x, rng)[1]))
    np.testing.assert_allclose(np.bincount(draws) / 4000, instance.domain.p, atol=0.03)
    chosen = (x, instance.domain.W.points[2])
    a, b = np.random.default_rng(1), np.random.default_rng(1)
    assert instance.complete(chosen, a) is chosen
    instance.complete(x, b)
    assert a.random() == b.random()  # a chosen w uses up a draw as well


def test_hypervolume_of_two_points():
    assert hypervolume(np.array([[1.0, 2.0], [2.0, 1.0]]), (0, 0)) == pytest.approx(3)
    assert hypervolume(np.array([[1.0, 2.0], [2.0, 1.0], [0.5, 0.5]]), (0, 0)) == pytest.approx(3)
    assert hypervolume(np.array([[-1.0, 2.0]]), (0, 0)) == 0


@pytest.mark.parametrize("problem", study.PROBLEMS)
def test_problems_are_pure_in_their_stream(problem):
    record = study.PROBLEMS[problem]
    small = {"n_x": 8} if problem in ("rosenbrock", "newsvendor") else {}
    a, b = (record(**small).draw(instance_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(a.values, b.values)
    assert a.direction == "max"
