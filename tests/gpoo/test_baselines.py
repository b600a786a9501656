"""StoOO, HOO, GPTree and GP-UCB against literal transcriptions and simple cases."""

import numpy as np
import pytest

from fivebo.gpoo import GPUCB, HOO, GPTree, Partition, RandomCells, SquaredExponential, StoOO
from fivebo.gpoo.baselines import stooo_width
from fivebo.gpoo.gp_baselines import gptree_beta, gptree_margin, gptree_max_depth
from fivebo.gpoo.theory import beta_scaled, geometric_delta
from tests.gpoo.conftest import pulled
from tests.gpoo.oracles import dense_posterior, oldest, points_of, split

DELTA = geometric_delta(3.0, 2)
KERNEL = SquaredExponential(0.1, 0.5)


def noisy(seed=4):
    noise = np.random.default_rng(seed)
    return lambda X: float(np.sin(5 * X).mean() + 0.1 * noise.standard_normal())


def run(search, rounds):
    reward = noisy()
    for _ in range(rounds):
        cell = search.ask()
        search.tell(cell, reward(cell.representatives))
    return pulled(search)


@pytest.mark.paper("gpoo", "s5-stooo", "s5-stooo-code", "s5-stooo-aggregated")
@pytest.mark.parametrize("form", ["gaussian", "hoeffding", "code"])
@pytest.mark.parametrize("S", [1, 5])
def test_stooo_line_by_line(form, S):
    n, eta, sigma = 60, 0.1, 0.1
    log = np.log(n**2 / eta)
    search = StoOO(Partition(1, 2, S), budget=n, delta=DELTA, noise_std=sigma, form=form)
    found = run(search, n)
    reward, samples, leaves, best = noisy(), {}, [(0, 0, 0.0, 1.0)], (0, 0)
    for t in range(n):
        values = []
        for node in leaves:
            T = len(samples.get(node, ()))
            width = {
                "gaussian": sigma * np.sqrt(2 * log / T) if T else np.inf,
                "hoeffding": np.sqrt(log / (2 * T)) if T else np.inf,
                "code": log / (2 * T) if T else np.inf,
            }[form]
            values.append(np.mean(samples[node]) + width + DELTA(node[0]) if T else np.inf)
        node = leaves[oldest(values)]
        assert found[t] == node[:2], f"round {t + 1}"
        samples.setdefault(node, []).append(reward(points_of(node[2], node[3], S)))
        T, d = len(samples[node]), DELTA(node[0])
        needed = {
            "gaussian": 2 * sigma**2 * log / d**2,
            "hoeffding": log / (2 * d**2),
            "code": log / (2 * T),
        }[form]
        if needed <= T:
            if node[0] > best[0]:
                best = node[:2]
            leaves.remove(node)
            leaves += split(node, 2)
    assert search.recommend().name == best


@pytest.mark.paper("gpoo", "s5-stooo")
def test_widths_of_stooo():
    settings = {"budget": 80, "eta": 0.1, "noise_std": 0.1}
    log = np.log(6400 / 0.1)
    assert stooo_width(4, form="gaussian", **settings) == pytest.approx(0.1 * np.sqrt(log / 2))
    assert stooo_width(4, form="hoeffding", **settings) == pytest.approx(np.sqrt(log / 8))
    assert stooo_width(4, form="code", **settings) == pytest.approx(log / 8)
    ratio = stooo_width(4, form="hoeffding", **settings) / stooo_width(4, **settings)
    assert ratio == pytest.approx(5)  # 1 / (2 sigma)


@pytest.mark.paper("gpoo", "s5-gptree", "s5-gptree-constants", "s5-gptree-depth")
def test_constants_of_gptree():
    assert gptree_beta(80) == pytest.approx(0.6316, abs=5e-5)
    assert gptree_max_depth(80) == pytest.approx(19.0, abs=0.05)
    h, n, K = 3, 80, 2
    C4 = 1 + 2 * np.log(n**2 * np.pi**2 / 6)
    g = 0.1 * 0.5**h
    inside = 4 + C4 + h * np.log(K) + 4 * np.log(1 / g)
    assert gptree_margin(h, budget=n, arity=K) == pytest.approx(4 * g * (np.sqrt(inside) + 1))


@pytest.mark.paper("gpoo", "s5-gptree")
@pytest.mark.parametrize("variance", ["latent", "predictive"])
def test_gptree_line_by_line(variance):
    n, K = 30, 2
    search = GPTree(Partition(1, K, 3), KERNEL, noise_var=0.01, budget=n, variance=variance)
    found = run(search, n)
    reward, history, best = noisy(), [], (0, 0)
    parents, leaves = {}, [(0, 0, 0.0, 1.0)]
    added = 0.01 if variance == "predictive" else 0.0

    def upper(node):
        points = points_of(node[2], node[3], 3)
        mean, var = dense_posterior(KERNEL, 0.01, history, points)
        width = gptree_beta(n) * np.sqrt(var + added)
        return mean + width, width

    def V(h):
        return gptree_margin(h, budget=n, arity=K)

    def index(node):
        U = upper(node)[0]
        if node in parents:
            U = min(U, upper(parents[node])[0] + V(node[0] - 1))
        return U + V(node[0])

    for t in range(n):
        while True:
            node = leaves[oldest([index(leaf) for leaf in leaves])]
            if not t or upper(node)[1] > V(node[0]) or node[0] > gptree_max_depth(n):
                break
            if node[0] > best[0]:
                best = node[:2]
            leaves.remove(node)
            for child in split(node, K):
                parents[child] = node
                leaves.append(child)
        assert found[t] == node[:2], f"round {t + 1}"
        points = points_of(node[2], node[3], 3)
        history.append((points, reward(points)))
    assert search.recommend().name == best


def test_hoo_bounds_by_recursion_from_all_rewards():
    n, sigma = 40, 0.1
    search = HOO(Partition(1, 2, 2), budget=n, delta=DELTA, noise_std=sigma)
    reward, samples = noisy(), {}

    def below(name):
        h, i = name
        return [r for (g, j), rs in samples.items() if g >= h and j >> (g - h) == i for r in rs]

    def bound(name):
        rewards = below(name)
        if not rewards:
            return np.inf
        width = sigma * np.sqrt(8 * np.log(n) / len(rewards))
        U = np.mean(rewards) + width + DELTA(name[0])
        children = [(name[0] + 1, 2 * name[1]), (name[0] + 1, 2 * name[1] + 1)]
        return min(U, max(map(bound, children)))

    for _ in range(n):
        name = (0, 0)
        while below(name):
            name = max([(name[0] + 1, 2 * name[1] + j) for j in (0, 1)], key=bound)
        cell = search.ask()
        assert cell.name == name
        y = reward(cell.representatives)
        samples.setdefault(name, []).append(y)
        search.tell(cell, y)
    assert len(samples) == n  # every round plays a new node
    assert search.recommend().name in samples


def test_gp_ucb_against_scikit_learn():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    X = np.linspace(0, 1, 25)[:, None]
    search = GPUCB(Partition(), KERNEL, noise_var=0.01, points=X, beta=beta_scaled)
    kernel, reward, y, seen = ConstantKernel(0.5) * RBF(0.1), noisy(), [], []
    for t in range(1, 16):
        cell = search.ask()
        if y:
            model = GaussianProcessRegressor(kernel, alpha=0.01, optimizer=None).fit(seen, y)
            mean, std = model.predict(X, return_std=True)
            u = mean + np.sqrt(beta_scaled(t)) * std
            assert u[cell.index] == pytest.approx(u.max(), abs=1e-8)
        seen.append(cell.representatives[0])
        y.append(reward(cell.representatives))
        search.tell(cell, y[-1])
    mean = GaussianProcessRegressor(kernel, alpha=0.01, optimizer=None).fit(seen, y).predict(X)
    assert mean[search.recommend().index] == pytest.approx(mean.max(), abs=1e-8)
    with pytest.raises(ValueError, match="of points is outside the box"):
        GPUCB(Partition(), KERNEL, noise_var=0.01, points=X + 1, beta=beta_scaled)


@pytest.mark.paper("gpoo", "s5-random")
def test_uniform_cells_cover_the_square_and_go_round():
    search = RandomCells(Partition(2, 2, 1), budget=10)
    names = run(search, 11)
    assert len(set(names)) == 9
    assert names[9:] == names[:2]
    assert RandomCells(Partition(), budget=1).nodes[0].high[0] == 1


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"form": "bernstein"}, "form"),
        ({"eta": 1.5}, "eta must lie"),
        ({"noise_std": 0.0}, "noise_std must lie"),
        ({"budget": 0}, "budget must be an integer"),
    ],
)
def test_bad_settings_are_refused(changes, match):
    settings = {"budget": 10, "delta": DELTA, "noise_std": 0.1} | changes
    with pytest.raises(ValueError, match=match):
        StoOO(Partition(), **settings)
