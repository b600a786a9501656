"""The algorithms as users and the paper know them: whole runs against literal transcriptions."""

import numpy as np
import pytest

from fivebo.common.gp.kernels import SquaredExponential
from fivebo.common.search.rng import Streams
from fivebo.mvabo import (
    BOVO,
    BQOUCB,
    MOMVABO,
    MTMVABO,
    AdaBOVO,
    AdaBQOUCB,
    ConstrainedMVABO,
    ContinuousMTMVABO,
    NoisyInputDomain,
    RandomSampling,
    TheoryBeta,
    UncertainDomain,
    UncertaintySampling,
    squared_exponential,
)
from fivebo.mvabo.problems import GPTestProblem
from tests.mvabo import oracles
from tests.mvabo.conftest import P, W, X

NOISE_VAR = 1e-2
ROUNDS = 9


def f(x, w):
    return float(np.sin(4 * x) * (1 + 0.5 * w) + 0.3 * w)


def k(x, w, x2, w2):
    return oracles.gauss(x, w, x2, w2, 1.0, 0.3, 0.6)


def nature(seed=3):
    rng = np.random.default_rng(seed)
    return lambda: (rng.choice(len(W), p=P), 0.1 * rng.standard_normal())


def drive(optimizer, rounds=ROUNDS, seed=3):
    draw = nature(seed)
    for _ in range(rounds):
        query, (j, noise) = optimizer.ask(), draw()
        x, w = query if isinstance(query, tuple) else (query, W[[j]])
        optimizer.tell((x, w), f(x[0], w[0]) + noise)
    return optimizer.result()


def settings(**more):
    return {"noise_var": NOISE_VAR, "beta_sqrt": 2.0, "rng": 5} | more


def choose(values, rng):
    best = np.flatnonzero(values >= values.max() - 1e-12)
    return int(best[int(rng.random() * len(best))])


def literal_run(pick, w_rule=None, beta=lambda log_det: 2.0, known=True, seed=3):
    """The loop shared by all three algorithms: `pick(R, t)` gives values to maximise."""
    draw, rng = nature(seed), Streams.of(5).initial
    data, queries, history, counts = [], [], [], np.zeros(len(W))
    for t in range(ROUNDS):
        p = P if known else counts / t if t else np.full(len(W), 1 / len(W))
        mean, sd = oracles.posterior(k, data, X, W, NOISE_VAR)
        R = oracles.intervals(mean, sd, p, beta(oracles.log_det(k, data, NOISE_VAR)))
        values = pick(R, mean, sd, p)
        i = choose(np.zeros(len(X)) if t == 0 else values, rng)  # the prior is flat to rounding
        j, noise = draw()
        if w_rule:
            j = choose(w_rule(sd[i], p), rng)
        history.append(R)
        queries.append((i, j))
        counts[j] += 1
        data.append(((X[i], W[j]), f(X[i], W[j]) + noise))
    return queries, history


def assert_same(optimizer, queries):
    i, j, _ = optimizer.model.data()
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [tuple(map(int, q)) for q in queries]


@pytest.mark.paper(
    "mvabo", "alg1-input", "alg1-l1", "alg1-l2", "alg1-l3", "alg1-l4", "alg1-l5", "alg1-l6",
    "alg1-out", "s32-mt-rule", "s2-g", "s5-xhat", "thm-41-xhat",
)  # fmt: skip
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_algorithm_1_line_by_line(domain, kernel, alpha):
    optimizer = MTMVABO(domain, kernel, alpha=alpha, **settings())
    own_step, online = [], []
    draw = nature()
    for _ in range(ROUNDS):
        x, (j, noise) = optimizer.ask(), draw()
        own_step.append(optimizer.recommended(rule="own-step"))
        online.append(optimizer.recommended(rule="online"))
        optimizer.tell((x, W[[j]]), f(x[0], W[j]) + noise)
        assert optimizer.recommended(rule="online") == online[-1]
        assert optimizer.recommended(rule="own-step") == own_step[-1]
    queries, history = literal_run(lambda R, *_: alpha * R[:, 1] + (1 - alpha) * R[:, 3])
    assert_same(optimizer, queries)
    low = [alpha * R[:, 0] + (1 - alpha) * R[:, 2] for R in history]
    chosen = [i for i, _ in queries]
    for t in range(ROUNDS):
        values = [low[t][i] for i in chosen[: t + 1]]
        assert low[t][online[t]] == pytest.approx(max(values), abs=1e-8)
        own = [low[s][chosen[s]] for s in range(t + 1)]
        assert own[chosen.index(own_step[t])] <= max(own) + 1e-8
        assert max(own[s] for s in range(t + 1) if chosen[s] == own_step[t]) == pytest.approx(
            max(own), abs=1e-8
        )
    data = [((X[i], W[j]), y) for i, j, y in zip(*optimizer.model.data(), strict=True)]
    mean, sd = oracles.posterior(k, data, X, W, NOISE_VAR)
    R = oracles.intervals(mean, sd, P, 2.0)
    last = alpha * R[:, 0] + (1 - alpha) * R[:, 2]
    final = optimizer.recommended(rule="final")
    assert last[final] == pytest.approx(max(last[i] for i in chosen), abs=1e-8)


@pytest.mark.paper(
    "mvabo", "alg2-l1", "alg2-l2", "alg2-l3", "alg2-l4", "alg2-l5", "alg2-l6", "alg2-l7",
    "alg2-l8", "alg2-l9", "alg2-l10", "alg2-l11", "alg2-out", "alg2-same-t", "s32-mo-rule",
    "alg2-input",
)  # fmt: skip
@pytest.mark.parametrize("eps", [(0.0, 0.0), (0.3, 0.2), (2.0, 2.0)], ids=str)
def test_algorithm_2_line_by_line(domain, kernel, eps):
    optimizer = MOMVABO(domain, kernel, eps=eps, **settings())
    done, draw = [], nature()
    for _ in range(ROUNDS):
        x, (j, noise) = optimizer.ask(), draw()
        done.append(optimizer.done)
        optimizer.tell((x, W[[j]]), f(x[0], W[j]) + noise)
    stops = []

    def pick(R, *_):
        members = oracles.estimated(np.round(R, 9).tolist())
        M = oracles.potential(np.round(R, 9).tolist(), members, eps)
        U = oracles.uncertain(np.round(R, 9).tolist(), members, eps)
        stops.append(not any(M) and not any(U))
        candidates = np.logical_or(members, M)
        return np.where(candidates, oracles.diameters(R), -np.inf)

    queries, _ = literal_run(pick)
    assert_same(optimizer, queries)
    assert done == stops
    assert any(done) == (eps == (2.0, 2.0))
    recommended = {float(x[0]) for x in optimizer.recommend()}
    assert recommended == {float(x) for x in X[optimizer.pareto_set()]}


@pytest.mark.paper(
    "mvabo", "alg3-l1", "alg3-l2", "alg3-l3", "alg3-l4", "alg3-l5", "alg3-l6", "alg3-l7",
    "alg3-l8", "alg3-l9", "alg3-l10", "alg3-l11", "alg3-l12", "alg3-l13", "alg3-l14", "eq-33",
    "app-b-sets", "app-b-problem", "app-b-infeasible", "alg3-input",
)  # fmt: skip
@pytest.mark.parametrize(
    ("h", "eps"),
    [
        (-0.35, (0.3, 0.3)),
        (-0.35, (1.5, 1.5)),
        (-0.01, (0.1, 0.1)),
        (-0.35, (0.9, 0.3)),
        (-0.35, (0.3, 0.9)),
        (-0.35, (2.5, 1.2)),
    ],
)
def test_algorithm_3_line_by_line(domain, kernel, h, eps):
    optimizer = ConstrainedMVABO(domain, kernel, h=h, eps=eps, **settings())
    done, outputs, draw = [], [], nature()
    for _ in range(ROUNDS):
        x, (j, noise) = optimizer.ask(), draw()
        done.append(optimizer.done)
        outputs.append(optimizer.recommended())
        optimizer.tell((x, W[[j]]), f(x[0], W[j]) + noise)
    expected = []

    def pick(R, *_):
        S, M = oracles.constrained_sets(R, h, eps)
        if not expected:  # l. 1
            S, M = [False] * len(X), [True] * len(X)
        diameters = oracles.diameters(R)
        widest = max((d for d, m in zip(diameters, M, strict=True) if m), default=-np.inf)
        output = max((x for x in range(len(X)) if S[x]), key=lambda x: R[x][0], default=None)
        expected.append((widest <= min(eps), output))
        return np.where(M, diameters, -np.inf) if any(M) else diameters

    queries, _ = literal_run(pick)
    assert_same(optimizer, queries)
    assert [(d, o) for d, o in zip(done, outputs, strict=True)] == expected


@pytest.mark.paper("mvabo", "app-b-infeasible", "thm-b1")
def test_an_impossible_threshold_is_declared_infeasible(domain, kernel):
    optimizer = ConstrainedMVABO(
        domain, kernel, h=-1e-3, eps=(1e-4, 1e-4), **settings(noise_var=1e-4)
    )
    rng = np.random.default_rng(0)
    while not optimizer.done:
        x, w = optimizer.ask(), W[[rng.choice(4)]]
        optimizer.tell((x, w), f(x[0], w[0]))
        assert len(optimizer.result()) < 200
    assert optimizer.infeasible
    assert optimizer.recommend() is None
    assert optimizer.domain.X.index(optimizer.ask()) >= 0  # may go on


@pytest.mark.paper("mvabo", "lemma-21", "thm-41-beta", "s2-index")
def test_theory_beta_grows_with_the_data_seen_before_the_choice(domain, kernel):
    schedule = TheoryBeta(2.0, 0.1)
    optimizer = MTMVABO(domain, kernel, **settings(beta_sqrt=schedule))
    drive(optimizer)
    queries, _ = literal_run(lambda R, *_: 0.5 * R[:, 1] + 0.5 * R[:, 3], beta=schedule)
    assert_same(optimizer, queries)
    data = [((X[i], W[j]), y) for i, j, y in zip(*optimizer.model.data(), strict=True)]
    assert optimizer.beta_sqrt == pytest.approx(schedule(oracles.log_det(k, data, NOISE_VAR)))


@pytest.mark.paper("mvabo", "s331-empirical", "s331-first")
def test_an_unknown_law_is_the_share_of_each_w_seen(kernel):
    optimizer = MTMVABO(UncertainDomain(X, W), kernel, **settings())
    drive(optimizer)
    queries, _ = literal_run(lambda R, *_: 0.5 * R[:, 1] + 0.5 * R[:, 3], known=False)
    assert_same(optimizer, queries)
    counts = np.bincount([j for _, j in queries], minlength=4)
    np.testing.assert_allclose(optimizer.weights, counts / ROUNDS)


W_RULES = {
    "sd": lambda sd, p: sd,
    "sd-p": lambda sd, p: sd * p,
    "var-p": lambda sd, p: sd**2 * p,
}


@pytest.mark.paper("mvabo", "s333-simulator", "app-c2-sim", "app-c2-rule", "app-c2-others")
@pytest.mark.parametrize("name", W_RULES)
def test_in_the_simulator_setting_w_is_chosen_after_x(domain, kernel, name):
    optimizer = MTMVABO(domain, kernel, **settings(w_rule=name))
    x, w = optimizer.ask()
    assert x.shape == (1,)
    assert w.shape == (1,)
    drive(optimizer)
    queries, _ = literal_run(lambda R, *_: 0.5 * R[:, 1] + 0.5 * R[:, 3], w_rule=W_RULES[name])
    assert_same(optimizer, queries)
    others = MOMVABO(domain, kernel, **settings(w_rule=name))
    drive(others, 4)
    i = domain.X.index(others.ask()[0])
    score = W_RULES[name](np.sqrt(others.model.var[i]), P)
    assert score[domain.W.index(others.ask()[1])] == pytest.approx(score.max())


def test_sd_p_and_var_p_are_different_rules():
    sd, p = np.array([1.0, 0.5, 0.3]), np.array([0.2, 0.45, 0.35])
    assert (sd * p).argmax() == 1
    assert (sd**2 * p).argmax() == 0


@pytest.mark.paper(
    "mvabo", "s332-noisy-input", "app-c1-bounds", "app-c1-delta", "eq-9-10", "eq-39-40",
    "app-c2-naive", "app-c2-rule",
)  # fmt: skip
@pytest.mark.parametrize("name", [None, *W_RULES])
def test_noisy_inputs_line_by_line(name):
    axis = np.linspace(-1, 1, 11)
    xi, p, designs = axis[4:7], np.array([0.2, 0.5, 0.3]), axis[1:-1]
    domain = NoisyInputDomain(designs, xi, p)
    optimizer = MTMVABO(domain, SquaredExponential(0.3), **settings(w_rule=name))
    rng, tie, data = np.random.default_rng(0), Streams.of(5).initial, []
    for t in range(ROUNDS):

        def k1(x, w, x2, w2):
            return np.exp(-((x + w - x2 - w2) ** 2) / (2 * 0.3**2))

        mean, sd = oracles.posterior(k1, data, designs, xi, NOISE_VAR)
        R = oracles.intervals(mean, sd, p, 2.0)
        values = 0.5 * R[:, 1] + 0.5 * R[:, 3]
        i = choose(np.zeros(9) if t == 0 else values, tie)
        j = rng.choice(3, p=p)
        x = optimizer.ask()
        if name:
            j = choose(W_RULES[name](sd[i], p), tie)
            x, chosen = x
            assert chosen[0] == xi[j]
        assert x[0] == designs[i]
        y = np.sin(3 * (x[0] + xi[j])) + 0.1 * rng.standard_normal()
        optimizer.tell((x, xi[[j]]), y)
        data.append(((designs[i], xi[j]), y))


@pytest.mark.paper("mvabo", "s5-rs", "s5-us", "s5-bqoucb", "s5-bovo", "s5-ada", "s5-shared-beta")
def test_baselines_are_their_definitions(domain, kernel):
    us = UncertaintySampling(domain, kernel, **settings())
    drive(us)
    queries, _ = literal_run(lambda R, mean, sd, p: sd**2 @ p)
    assert_same(us, queries)
    for cls, ada, column in ((BQOUCB, AdaBQOUCB, 1), (BOVO, AdaBOVO, 3)):
        plain, adaptive = cls(domain, kernel, **settings()), ada(domain, kernel, **settings())
        drive(plain)
        drive(adaptive)
        queries, history = literal_run(lambda R, *_, c=column: R[:, c])
        assert_same(plain, queries)
        assert_same(adaptive, queries)
        low, chosen = history[-1], [i for i, _ in queries]
        own = low[:, column - 1]
        assert own[plain.recommended(rule="online")] == pytest.approx(
            max(own[i] for i in chosen), abs=1e-8
        )
        G = 0.5 * low[:, 0] + 0.5 * low[:, 2]
        assert G[adaptive.recommended(rule="online")] == pytest.approx(
            max(G[i] for i in chosen), abs=1e-8
        )
    counts = np.zeros(len(X))
    rs = RandomSampling(domain, kernel, **settings())
    for i in drive(rs, 90)["x_1"]:
        counts[np.argmin(abs(X - i))] += 1
    assert counts.min() > 0


def test_bo_vo_is_mt_mva_bo_with_alpha_0_and_bqoucb_with_alpha_1(domain, kernel):
    for cls, alpha in ((BOVO, 0.0), (BQOUCB, 1.0)):
        same = MTMVABO(domain, kernel, alpha=alpha, **settings())
        assert drive(cls(domain, kernel, **settings())).equals(drive(same))


@pytest.mark.paper("mvabo", "eq-27", "thm-41-certificate")
def test_the_gap_is_the_certificate_of_an_early_stop(domain, kernel):
    optimizer = MTMVABO(domain, kernel, alpha=0.3, **settings())
    assert optimizer.gap() == np.inf
    drive(optimizer)
    _, history = literal_run(lambda R, *_: 0.3 * R[:, 1] + 0.7 * R[:, 3])
    i, _, _ = optimizer.model.data()
    high = [0.3 * R[x, 1] + 0.7 * R[x, 3] for R, x in zip(history, i, strict=True)]
    low = [0.3 * R[x, 0] + 0.7 * R[x, 2] for R, x in zip(history, i, strict=True)]
    assert optimizer.gap() == pytest.approx(min(high) - max(low), abs=1e-8)
    widths = np.array(high) - low
    assert optimizer.gap() <= widths.mean() + 1e-9  # Eq. (27)


@pytest.mark.paper("mvabo", "s2-mt-accurate", "thm-41-certificate")
def test_a_gap_of_at_most_eps_means_an_eps_accurate_design():
    """Under event (2), which the test makes sure of, at every step of several runs."""
    problem, reached = GPTestProblem(n_x=15, n_w=8, n_nodes=8, length_scale=0.6), 0
    for seed in range(5):
        instance = problem.draw(np.random.default_rng(seed))
        G = 0.5 * instance.objectives.sum(axis=1)
        optimizer = MTMVABO(
            instance.domain, instance.kernel, noise_var=1e-4, beta_sqrt=8.0, rng=seed
        )
        noise, environment = np.random.default_rng(seed), np.random.default_rng(seed)
        for _ in range(60):
            error = abs(instance.values - optimizer.model.mean)
            assert (error <= 8 * np.sqrt(optimizer.model.var)).all()
            query = instance.complete(optimizer.ask(), environment)
            optimizer.tell(query, instance.observe(query, noise))
            best = G[optimizer.recommended(rule="own-step")]
            assert best >= G.max() - optimizer.gap() - 1e-9
        reached += optimizer.gap() <= 0.5
    assert reached == 5


def build(cls, **more):
    return lambda: cls(
        UncertainDomain(X, W, P), squared_exponential(1.0, 0.3, 0.6), **settings(**more)
    )


ALL = {
    "mt-mva-bo": build(MTMVABO),
    "mo-mva-bo": build(MOMVABO, eps=(0.1, 0.1)),
    "constrained": build(ConstrainedMVABO, h=-0.4, eps=(0.1, 0.1)),
    "rs": build(RandomSampling),
    "us": build(UncertaintySampling),
    "ada-bqoucb": build(AdaBQOUCB),
    "ada-bo-vo": build(AdaBOVO),
    "simulator": build(MTMVABO, w_rule="sd"),
    "theory": build(MOMVABO, beta_sqrt=TheoryBeta(2.0)),
    "refit": build(MTMVABO, refit_every=4),
    "continuous": lambda: ContinuousMTMVABO(
        [[0.0, 1.0]], W, P, squared_exponential(1.0, 0.3, 0.6), noise_var=NOISE_VAR, rng=5
    ),
}


@pytest.fixture(params=ALL, ids=str)
def make(request):
    return ALL[request.param]


def test_the_history_has_a_row_a_round(make):
    frame = drive(make(), 5)
    fits = ["failed_fits", "fits_at_limit"]
    assert list(frame.columns) == ["t", "x_1", "w_1", "y", "status", *fits]
    assert list(frame["t"]) == [1, 2, 3, 4, 5]


def test_the_first_query_is_random_and_shared_by_the_methods():
    names = set(ALL) - {"rs", "continuous", "simulator"}
    assert len({float(ALL[name]().ask()[0]) for name in names}) == 1
    first = {float(build(MTMVABO, rng=seed)().ask()[0]) for seed in range(30)}
    assert len(first) > 4


BAD = [
    ((0.55, 0.2), 0.0, ValueError, "not one of the 9 points"),
    ((0.0, 0.3), 0.0, ValueError, "environment w: query"),
    (np.array([0.0]), 0.0, ValueError, r"a query is a pair \(x, w\)"),
    ((0.0, -0.1), np.nan, ValueError, r"evaluation 1 at .*: y must be finite"),
    ((0.0, -0.1), np.inf, ValueError, "finite"),
    ((0.0, -0.1), "a", TypeError, "real numbers"),
    ((0.0, -0.1), 1j, TypeError, "real numbers"),
    ((0.0, -0.1), [0.0, 1.0], ValueError, "one number"),
    ((0.0, -0.1), [], ValueError, "empty"),
    ((np.nan, -0.1), 0.0, ValueError, "finite"),
    (([0.0, 0.0], -0.1), 0.0, ValueError, r"\[0.0, 0.0\]|shape \(1,\)"),
    ((0.0, "a"), 0.0, TypeError, "environment w"),
]


@pytest.mark.parametrize(("query", "y", "error", "match"), BAD)
def test_bad_input_is_refused_and_changes_nothing(make, query, y, error, match):
    a, b = make(), make()
    a.ask()
    if isinstance(a, ContinuousMTMVABO) and "9 points" in match:
        query, match = (1.5, 0.2), "outside the box"
    with pytest.raises(error, match=match):
        a.tell(query, y)
    assert len(a.result()) == 0
    assert drive(a, 4).equals(drive(b, 4))


@pytest.mark.parametrize(
    ("cls", "changes", "match"),
    [
        (MTMVABO, {"alpha": 1.5}, r"alpha must lie in \[0, 1\]"),
        (MTMVABO, {"noise_var": 0.0}, "noise_var"),
        (MTMVABO, {"beta_sqrt": -1.0}, "beta_sqrt"),
        (MTMVABO, {"recommendation": "R3"}, "final, online, own-step"),
        (MTMVABO, {"w_rule": "max"}, "w_rule 'max'.*None, sd, sd-p, var-p"),
        (MTMVABO, {"refit_every": 0}, "refit_every"),
        (MTMVABO, {"rng": -1}, "seed"),
        (MOMVABO, {"eps": (0.1, -0.1)}, r"pair \(eps_1, eps_2\)"),
        (MOMVABO, {"eps": 0.1}, "pair"),
        (ConstrainedMVABO, {"h": 0.1}, "negative"),
        (ConstrainedMVABO, {"h": np.nan}, "finite"),
    ],
)
def test_bad_settings_are_refused_at_construction(domain, kernel, cls, changes, match):
    with pytest.raises(ValueError, match=match):
        cls(domain, kernel, **settings(**changes))


def test_constant_observations_and_a_single_design_run(make):
    a = make()
    for j in range(12):
        query = a.ask()
        a.tell(query if isinstance(query, tuple) else (query, W[j % 4]), 1.0)
    alone = MOMVABO(UncertainDomain([[0.5]], W, P), squared_exponential(), **settings())
    drive(alone, 5)
    assert len(alone.recommend()) == 1


def test_one_environment_is_plain_gp_ucb():
    """A single w: F_1 = f and F_2's upper bound is 0 (special case), alpha = 1 is GP-UCB."""
    domain = UncertainDomain(X, [[0.0]], [1.0])
    optimizer = BQOUCB(domain, squared_exponential(1.0, 0.3, 0.6), **settings())
    for _ in range(6):
        x = optimizer.ask()
        i = domain.X.index(x)
        upper = optimizer.model.mean[:, 0] + 2 * np.sqrt(optimizer.model.var[:, 0])
        assert upper[i] == pytest.approx(upper.max())
        assert (optimizer.bounds.u2 == 0).all()
        optimizer.tell((x, [0.0]), f(x[0], 0.0))


@pytest.mark.paper("mvabo", "app-d-grid", "app-d-half", "eq-41")
def test_a_discretised_continuous_domain_uses_half_of_eps(kernel):
    from fivebo.mvabo import tau_grid

    grid = tau_grid(20, 1)
    np.testing.assert_allclose(grid[:, 0], np.arange(21) / 20)
    assert tau_grid(4, 2).shape == (25, 2)
    x = np.random.default_rng(0).random((500, 2))
    distance = abs(x[:, None] - tau_grid(4, 2)).sum(axis=2).min(axis=1)
    assert distance.max() <= 2 / 4
    domain = UncertainDomain(grid, W, P)
    half = MOMVABO(domain, kernel, eps=(0.4, 0.3), discretised=True, **settings())
    whole = MOMVABO(domain, kernel, eps=(0.2, 0.15), **settings())
    assert half.slack == (0.2, 0.15)
    assert drive(half, 12).equals(drive(whole, 12))
    assert half.done == whole.done
    np.testing.assert_array_equal(half.undecided(), whole.undecided())
    with pytest.raises(ValueError, match="tau"):
        tau_grid(0, 1)
