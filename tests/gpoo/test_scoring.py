"""Regrets and certificates against their definitions; every setting reaches its method."""

import numpy as np
import pytest

from fivebo.common.lab.experiments import load_paper
from fivebo.common.lab.records import METRICS
from fivebo.common.search.rng import Streams, rng_for
from fivebo.gpoo import study
from fivebo.gpoo.functions import draw_function
from fivebo.gpoo.problems import PublishedProblem, SampledProblem
from fivebo.gpoo.scoring import Averages, fresh_run, smoothness_ratio
from fivebo.gpoo.theory import depth_bound

KEY = ("gpoo", "test", "published", 0)


def run(method, params, metrics, horizon=30, problem=None):
    problem = problem or PublishedProblem(1, n_points=4)
    instance = problem.draw(rng_for(*KEY, "instance"))
    search = study.METHODS[method](instance, params, horizon, Streams.named(*KEY, method))
    scorer = study.scorer(instance, method, params, horizon, metrics)
    noise, rows = rng_for(*KEY, "noise"), []
    for t in range(1, horizon + 1):
        cell = search.ask()
        scorer.asked(t, search, cell)
        y = instance.observe(cell, noise)
        search.tell(cell, y)
        rows.append(scorer.told(t, search, cell, y))
    return instance, search, rows


@pytest.mark.paper("gpoo", "def-1", "def-2", "s2-min-below-mean", "s2-fixed-budget")
@pytest.mark.parametrize("method", ["gpoo", "gptree", "hoo", "gp-ucb", "gpoo-two-stage"])
def test_regrets_from_their_definitions(method):
    metrics = ("aggregated_regret", "point_regret", "recommended_depth", "reward")
    instance, search, rows = run(method, study.Params(), metrics)
    points = search.recommend().representatives
    dense = instance.f(np.linspace(0, 1, 200001)[:, None]).max()
    assert rows[-1]["aggregated_regret"] == pytest.approx(
        dense - instance.f(points).mean(), abs=1e-7
    )
    assert rows[-1]["point_regret"] == pytest.approx(dense - instance.f(points).max(), abs=1e-7)
    for row in rows:
        assert -1e-9 <= row["point_regret"] <= row["aggregated_regret"] + 1e-12
    assert [row["reward"] for row in rows] == search.result()["y"].tolist()


@pytest.mark.paper("gpoo", "def-2", "s2-regret-one-point", "s2-floor")
def test_one_point_a_cell_makes_both_regrets_equal_and_more_leave_a_floor():
    metrics = ("aggregated_regret", "point_regret")
    _, _, rows = run("gpoo", study.Params(), metrics, problem=PublishedProblem(3, n_points=1))
    assert all(row["aggregated_regret"] == pytest.approx(row["point_regret"]) for row in rows)
    instance = PublishedProblem(3, n_points=10).draw(rng_for(*KEY, "instance"))
    cells = [instance.partition.cell(6, i) for i in range(64)]
    assert (instance.optimum - instance.f.averages(cells)).min() > 0.1


@pytest.mark.paper("gpoo", "s5-stooo-fresh")
@pytest.mark.parametrize("method", ["stooo", "random"])
def test_curves_of_budgeted_methods_come_from_fresh_runs(method):
    params = study.Params()
    instance, search, rows = run(method, params, ("aggregated_regret",), horizon=12)
    known = Averages(instance.f)
    for budget in (1, 5, 11):
        fresh = fresh_run(instance, method, params, budget, known)
        assert fresh.n_told == budget
        loss = instance.optimum - instance.f.averages([fresh.recommend()])[0]
        assert rows[budget - 1]["aggregated_regret"] == pytest.approx(loss)
    last = instance.optimum - instance.f.averages([search.recommend()])[0]
    assert rows[-1]["aggregated_regret"] == pytest.approx(last)
    _, single, rows = run(method, study.Params(curve="single"), ("aggregated_regret",), horizon=12)
    assert len(single.result()) == 12


RATIOS = (
    "coverage_ratio", "selected_gap_ratio", "expanded_gap_ratio", "pulls_ratio",
    "aggregated_regret_ratio", "depth_ratio", "smoothness_ratio",
)  # fmt: skip
CERTIFIED = {"beta": "union", "delta": "lipschitz"}


@pytest.mark.paper(
    "gpoo", "lemma-1", "s4-selected", "s4-expanded", "s4-pulls", "thm-regret", "thm-depth",
    "thm-probability",
)  # fmt: skip
@pytest.mark.parametrize("S", [1, 4, None])
def test_certificates_along_a_run_from_their_definitions(S):
    params = study.Params(**CERTIFIED)
    problem = SampledProblem(n_points=S)
    instance = problem.draw(rng_for(*KEY, "instance"))
    search = study.METHODS["gpoo"](instance, params, 40, None)
    scorer = study.scorer(instance, "gpoo", params, 40, RATIOS)
    noise, gaps = rng_for(*KEY, "noise"), {}
    for t in range(1, 41):
        cell = search.ask()
        scorer.asked(t, search, cell)
        place = search.pending[0].query
        truth = instance.f.averages(search.nodes)
        widths = np.sqrt(params.beta_of(2)(t) * search.model.var)
        cover = (np.abs(truth - search.model.mean) / widths).max()
        gap = search.delta(cell.depth) + 2 * widths[place]
        loss = instance.optimum - truth[place]
        assert loss <= gap + 1e-12  # holds on the event that the certificates check
        search.tell(cell, instance.observe(cell, noise))
        row = scorer.told(t, search, cell, 0.0)
        assert row["coverage_ratio"] == pytest.approx(cover)
        assert row["selected_gap_ratio"] == pytest.approx(loss / gap)
        if not search.is_leaf[place]:
            gaps[place] = gap
            expected = loss / (3 * search.delta(cell.depth))
            assert row["expanded_gap_ratio"] == pytest.approx(expected)
        else:
            assert np.isnan(row["expanded_gap_ratio"])
        assert 0 < row["pulls_ratio"] <= 1
        if gaps:
            deepest = max(gaps, key=lambda p: search.nodes[p].depth)
            last = np.sqrt(params.beta_of(2)(t + 1) * search.model.var)
            names = [node.name for node in search.nodes]
            best = names.index(search.recommend().name)
            bound = gaps[deepest] + last[deepest] + last[best]
            regret = instance.optimum - instance.f.averages([search.nodes[best]])[0]
            assert row["aggregated_regret_ratio"] == pytest.approx(regret / bound)
            assert row["depth_ratio"] <= 1


@pytest.mark.paper("gpoo", "thm-depth", "def-3")
def test_guaranteed_depth_from_counts_of_near_optimal_cells():
    params = study.Params(**CERTIFIED)
    instance, search, rows = run("gpoo", params, ("depth_ratio",), 60, SampledProblem(n_points=1))
    counts, margins = [], [search.delta(h) for h in range(12)]
    for h in range(9):
        cells = [instance.partition.cell(h, i) for i in range(2**h)]
        values = instance.f.averages(cells)
        counts.append(int((values + 3 * margins[h] >= instance.optimum).sum()))
    certain = depth_bound(60, counts, margins, beta=search.beta(60), noise_var=0.01, arity=2)
    reached = max(c.depth for c, leaf in zip(search.nodes, search.is_leaf, strict=True) if not leaf)
    assert rows[-1]["depth_ratio"] == pytest.approx((1 + certain) / (1 + reached))


@pytest.mark.paper("gpoo", "a3-diameters", "s5-delta-holds", "app-a-lipschitz")
@pytest.mark.parametrize(
    ("function", "S", "holds"),
    [(1, 1, True), (1, 10, True), (2, 1, True), (2, 10, False), (3, 1, False), (3, 10, False)],
)
def test_where_the_delta_of_the_experiments_holds(function, S, holds):
    """With 14 2^-h the effective L is 28 for S = 1 and 14.7 for S = 10."""
    instance = PublishedProblem(function, n_points=S).draw(rng_for(*KEY, "instance"))
    assert (smoothness_ratio(instance, study.Params()) <= 1) == holds
    partition = instance.partition
    assert 14 / partition.diameter(0) == pytest.approx({1: 28, 10: 14.7}[S], abs=0.05)


@pytest.mark.paper("gpoo", "a1-prior", "a2-kernels", "s2-higher-dim")
@pytest.mark.parametrize(("dim", "length_scale"), [(1, 0.05), (2, 0.2)])
def test_drawn_functions_have_the_prior_covariance(dim, length_scale):
    rng = np.random.default_rng(0)
    x = rng.random((12, dim))
    values = np.array([draw_function(length_scale, 0.1, dim, rng)(x) for _ in range(3000)])
    kernel = draw_function(length_scale, 0.1, dim, rng).kernel
    np.testing.assert_allclose(values.T @ values / 3000, kernel(x), atol=0.012)
    f = draw_function(length_scale, 0.1, dim, rng)
    many = rng.random((20000, dim))
    assert f(many).max() <= f.maximum() + 1e-12
    h = 1e-6 * np.eye(dim)
    for j in range(dim):
        slope = (f(x + h[j]) - f(x - h[j])) / 2e-6
        np.testing.assert_allclose(f.gradient(x)[:, j], slope, atol=1e-5)
    assert np.abs(f.gradient(many)).max() <= f.largest_slope() * 1.02


def test_every_metric_of_the_study_is_in_the_closed_list():
    assert set(study.METRICS) <= set(METRICS)


@pytest.mark.parametrize("method", study.METHODS)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"beta": "union", "delta": "lipschitz"},
        {"beta": "srinivas", "stooo": "hoeffding", "curve": "single"},
        {"variance": "predictive", "model_noise_var": 0.005, "jitter": 1e-8, "stooo": "code"},
        {"start": "children", "round_order": "test-pull", "recommendation": "deepest"},
        {"delta": "base-2", "max_depth": 2, "delta_scale": 5.0},
    ],
    ids=lambda p: "-".join(p) or "default",
)
def test_every_setting_runs_with_every_method(method, params):
    metrics = ("aggregated_regret", "recommended_depth")
    _, _, rows = run(method, study.Params(**params), metrics, horizon=8)
    assert all(np.isfinite(row["aggregated_regret"]) for row in rows)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("p", 0.01), ("delta_scale", 3.0), ("delta", "lipschitz"), ("lipschitz_p", 0.5),
        ("beta", "union"), ("model_noise_var", 0.05), ("variance", "predictive"),
    ],
)  # fmt: skip
def test_every_number_reaches_the_b_values(field, value):
    shared = {"delta": "lipschitz"} if field == "lipschitz_p" else {}
    found = []
    for changes in (shared, {**shared, field: value}):
        instance = SampledProblem(n_points=4).draw(rng_for(*KEY, "instance"))
        search = study.METHODS["gpoo"](instance, study.Params(**changes), 10, None)
        search.tell(search.ask(), 0.3)
        found.append(search.b_values(2)[0])
    assert found[0] != found[1]


@pytest.mark.paper(
    "gpoo", "s5-sk", "s5-budget", "s5-repeats", "s5-arity", "s5-points", "s5-domain", "s5-kernel",
    "s5-prior-variance",
)  # fmt: skip
def test_settings_of_the_experiments():
    experiments = load_paper("gpoo", "paper").experiments
    regret, sk, ablation = (experiments[name] for name in ("regret", "sk", "ablation"))
    assert (regret.horizon, regret.seeds, sk.seeds) == (80, 100, 100)
    code = study.Params(**regret.params("f1-s1-code"))
    for f in (1, 2, 3):
        problem = PublishedProblem(**regret.problem_params(f"f{f}-s10-code"))
        assert (problem.function, problem.arity, problem.n_points) == (f, 2, 10)
        assert (problem.noise_std, problem.length_scale, problem.prior_var) == (0.1, 0.05, 0.1)
        grid = {
            tuple(sk.problem_params(v).values()) for v in sk.variants if v.startswith(f"f{f}-k")
        }
        assert grid == {(f, K, S) for K in (2, 3, 4, 5) for S in (1, 10, 20, 30, 40, 50)}
        for experiment, variant in (
            (regret, f"f{f}-s10-code"), (sk, f"f{f}-k2-s1"), (ablation, f"f{f}-code"),
        ):  # fmt: skip
            assert study.Params(**experiment.params(variant)) == code
        assert study.Params(**ablation.params(f"f{f}-paper")) == study.Params()
        assert study.Params(**regret.params(f"f{f}-s1")) == study.Params()
        assert PublishedProblem(function=f).draw(rng_for(*KEY, "instance")).partition.dim == 1
    assert study.Params(**sk.params("f3-paper-k2-s1")) == study.Params()
    assert (code.start, code.round_order, code.variance, code.model_noise_var) == (
        "children", "test-pull", "predictive", 0.005,
    )  # fmt: skip
    assert (code.beta, code.recommendation, code.delta) == ("scaled", "deepest", "base-2")
    assert (code.max_depth, code.jitter, code.stooo) == (10, 1e-8, "code")


@pytest.mark.paper("gpoo", "thm-probability", "app-a-quantile", "lemma-1")
def test_certificates_permit_the_failures_that_their_statement_does():
    """Lemma 1 fails with p, Assumption 3 with that of L, what needs both with their sum."""
    config = load_paper("gpoo", "paper")
    claims = {claim["id"]: claim for claim in config.claims}
    experiment = config.experiments["certificates"]
    params = study.Params(**experiment.params("s1"))
    assert (params.p, params.lipschitz_p) == (0.1, 0.02)
    assert claims["theory-intervals"]["delta"] == params.p
    assert claims["theory-smoothness"]["delta"] == params.lipschitz_p
    for name in ("selected", "expanded", "regret", "depth"):
        both = params.p + params.lipschitz_p
        assert claims[f"theory-{name}"]["delta"] == pytest.approx(both)
    assert "delta" not in claims["theory-pulls"]
    fixed = [c for c in config.claims if c.get("experiment") == "assumptions"]
    for claim in fixed:  # delta(h) is fixed there, only the intervals may fail
        sure = claim["metric"] == "smoothness_ratio"
        assert claim.get("delta", 0) == (0 if sure else params.p)
    # every round is tried
    for name in ("certificates", "assumptions"):
        assert config.experiments[name].record_steps == "all"


@pytest.mark.paper("gpoo", "s5-seeds")
def test_runs_are_paired_and_repeat():
    rows = [run("gpoo", study.Params(), ("aggregated_regret",))[2] for _ in range(2)]
    assert rows[0] == rows[1]


@pytest.mark.paper("gpoo", "app-d-reward", "app-d-regret")
def test_continuous_averages_are_the_limit_of_many_points():
    finals = {}
    for S in (50, None):
        instance, search, rows = run(
            "gpoo", study.Params(), ("aggregated_regret",), 40, PublishedProblem(1, n_points=S)
        )
        finals[S] = (search.recommend().name, rows[-1]["aggregated_regret"])
    assert finals[50][0] == finals[None][0]
    assert finals[50][1] == pytest.approx(finals[None][1], abs=1e-4)
    box = instance.partition.cell(3, 2)
    x = (np.arange(100000) + 0.5)[:, None] / 100000 * 0.125 + 0.25
    assert instance.f.averages([box])[0] == pytest.approx(instance.f(x).mean(), abs=1e-9)
