"""Regrets and certificates against their definitions."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from fivebo.common.lab.experiments import load_paper
from fivebo.common.referee.coverage import runs_to_certify
from fivebo.common.search.rng import Streams, rng_for
from fivebo.mtbo import study
from fivebo.mtbo.gains import lemma1_gain, log_det_gain
from fivebo.mtbo.problems import RKHSProblem
from fivebo.mtbo.scalarization import draw_weights
from fivebo.mtbo.scoring import BayesBound, BayesRegret, monotone_coupling
from fivebo.mtbo.theory import nystrom_rho

KEY = ("mtbo", "test", "rkhs", 0)


def run(method, params, metrics, horizon=30, problem=None):
    instance = (problem or RKHSProblem(n_points=25)).draw(rng_for(*KEY, "instance"))
    optimizer = study.METHODS[method](instance, params, horizon, Streams.named(*KEY, method))
    scorer = study.scorer(instance, method, params, horizon, metrics)
    noise, rows = rng_for(*KEY, "noise"), []
    for t in range(1, horizon + 1):
        query = optimizer.ask()
        scorer.asked(t, optimizer, query)
        y = instance.observe(query, noise)
        optimizer.tell(query, y)
        rows.append(scorer.told(t, optimizer, query, y))
    return instance, optimizer, rows


@pytest.mark.paper(
    "mtbo", "s2-cumulative-regret", "s5-average-regret", "s2-bayes-regret", "app-e-bayes-samples"
)
@pytest.mark.parametrize("name", ["chebyshev", "linear"])
def test_regrets_from_their_definitions(name):
    params = study.Params(scalarization=name, bayes_weights=50)
    metrics = ("instant_regret", "cumulative_regret", "average_regret", "bayes_regret")
    instance, optimizer, rows = run("mt-kb", params, metrics)
    s = params.make_scalarization(instance)
    frame, F = optimizer.result(), instance.values
    total, best = 0.0, np.full(50, -np.inf)
    law = {"chebyshev": "reciprocal", "linear": "uniform"}[name]
    rng = rng_for("mtbo", "bayes-regret", f"{law}-2", 0, "environment")
    weights = draw_weights(law, 2, rng, 50)
    for t, row in enumerate(rows, start=1):
        lam = frame.loc[t - 1, ["lambda_1", "lambda_2"]].to_numpy(dtype=float)
        x = instance.domain.index(frame["x_1"][t - 1])
        instant = max(s(v, lam) for v in F) - s(F[x], lam)
        total += instant
        best = np.maximum(best, [s(F[x], w) for w in weights])
        bayes = np.mean([max(s(v, w) for v in F) for w in weights] - best)
        assert row["instant_regret"] == pytest.approx(instant, abs=1e-12)
        assert row["cumulative_regret"] == pytest.approx(total)
        assert row["average_regret"] == pytest.approx(total / t)
        assert row["bayes_regret"] == pytest.approx(bayes, abs=1e-12)


@pytest.mark.paper("mtbo", "s2-reference")
def test_reference_points():
    instance = RKHSProblem().draw(rng_for(*KEY, "instance"))
    F = instance.values
    for name, z in (("min", F.min(0)), ("zero", [0, 0]), ("minus-one", [-1, -1])):
        s = study.Params(reference=name).make_scalarization(instance)
        np.testing.assert_array_equal(s.reference, z)


CERTIFICATES = (
    "theorem1_ratio", "instant_regret_ratio", "theorem2_ratio", "theorem3_regret_ratio",
    "theorem3_size_ratio", "lemma5_ratio", "lemma10_ratio", "realised_epsilon",
)  # fmt: skip


@pytest.mark.parametrize("name", ["chebyshev", "linear"])
def test_certificates_hold_with_the_true_norm_and_each_method_has_its_own(name):
    params = study.Params(norm_bound="true", scalarization=name)
    for method, names in (
        ("mt-kb", {"theorem1_ratio", "instant_regret_ratio", "theorem2_ratio", "lemma5_ratio"}),
        ("mt-bkb", set(CERTIFICATES) - {"theorem2_ratio", "lemma5_ratio"}),
        ("it-kb", set()),
    ):
        _, _, rows = run(method, params, CERTIFICATES)
        assert all(set(row) == names for row in rows)
        for row, name in itertools.product(rows, names - {"realised_epsilon"}):
            assert 0 <= row[name] <= 1 + 1e-9, name


def test_certificates_can_fail():
    """A norm bound far too small, or a dictionary far too coarse, must show."""

    class Tight(study.Params):
        def norm_bound_of(self, instance):
            return 1e-3

    _, _, rows = run("mt-kb", Tight(delta=1.0), CERTIFICATES)
    assert max(row["theorem1_ratio"] for row in rows) > 1
    _, _, rows = run("mt-bkb", study.Params(norm_bound="true", q=0.2), CERTIFICATES)
    assert max(row["realised_epsilon"] for row in rows) > 1
    assert any(np.isnan(row["lemma10_ratio"]) for row in rows)


def test_the_true_norm_needs_an_rkhs_function():
    instance = study.PROBLEMS["sine"]().draw(None)
    with pytest.raises(ValueError, match="norm_bound='paper'"):
        study.Params(norm_bound="true").norm_bound_of(instance)


@pytest.mark.parametrize("method", study.METHODS)
@pytest.mark.parametrize(
    "params",
    [
        {"scalarization": "linear", "lipschitz": "one"},
        {"mt_radius": "theorem-1-printed", "it_radius": "self-normalised"},
        {"q_rule": "order-wise", "it_gain": "greedy", "it_regulariser": "igp-ucb"},
        {"q": 3.0, "inclusion_scale": "eta", "it_bkb_radius": "bkb-code"},
        {"it_kernel": "marginal", "it_norm_bound": "per-task", "mobo_radius": "dragonfly"},
    ],
    ids=lambda p: "-".join(p),
)
def test_every_setting_runs_with_every_method(method, params):
    _, _, rows = run(method, study.Params(**params), ("average_regret",), horizon=5)
    assert all(np.isfinite(row["average_regret"]) for row in rows)


@pytest.mark.parametrize(
    ("field", "method", "values"),
    [
        ("lipschitz", "mt-kb", ("exact", "one")),
        ("mt_radius", "mt-kb", ("theorem-2", "theorem-1-printed")),
        ("it_kernel", "it-kb", ("unit", "marginal")),
        ("it_norm_bound", "it-kb", ("shared", "per-task")),
        ("it_radius", "it-kb", ("printed", "self-normalised")),
        ("it_gain", "it-kb", ("realised", "greedy")),
        ("it_regulariser", "it-kb", ("shared", "igp-ucb")),
        ("it_bkb_radius", "it-bkb", ("bkb", "bkb-code")),
        ("mobo_radius", "mobo", ("hypermapper", "dragonfly")),
        ("norm_bound", "mt-kb", ("paper", "true")),
    ],
)
def test_every_setting_reaches_the_acquisition(field, method, values):
    lam = np.array([0.4, 0.6])
    acquisitions = []
    for value in values:
        fresh = study.METHODS[method](
            RKHSProblem(n_points=25).draw(rng_for(*KEY, "instance")),
            study.Params(**{field: value}),
            10,
            Streams.named(*KEY, method),
        )
        for x in (0.2, 0.6, 1.0):
            fresh.tell([x], [1.0, -1.0])
        acquisitions.append(fresh.acquisition(lam))
    assert not np.allclose(*acquisitions)


@pytest.mark.paper("mtbo", "s5-eta", "s5-delta", "s5-eps", "s5-scalarization", "app-e-no-tuning")
def test_settings_of_the_experiments_are_shared_by_all_methods():
    for experiment in load_paper("mtbo", "paper").experiments.values():
        for variant in experiment.variants:
            params = study.Params(**experiment.params(variant))
            epsilon = 0.5 if experiment.name == "certificates-long" else 0.1
            assert (params.eta, params.delta, params.epsilon) == (0.1, 0.1, epsilon)
            if not experiment.ours and experiment.name.startswith("fig"):
                linear = experiment.name.startswith("fig2")
                assert params.scalarization == ("linear" if linear else "chebyshev")


@pytest.mark.paper("mtbo", "s4-together")
def test_learning_together_meets_learning_alone_at_every_similarity():
    """At omega = 1, where the posteriors are one, the radii alone tell the methods apart."""
    experiments = load_paper("mtbo", "paper").experiments
    for name in ("fig1a", "similarity", "unrelated"):
        for variant in experiments[name].variants:
            assert experiments[name].methods(variant) == ("mt-kb", "it-kb")
    # larger_gain compares the first variants
    ends = [experiments[name] for name in ("fig1a", "unrelated")]
    assert [e.problem_params(e.variants[0])["omega"] for e in ends] == [0, 1]
    problem = RKHSProblem(n_tasks=3, n_points=25, task_kernel="similarity", omega=1.0)
    instance, lam = problem.draw(rng_for(*KEY, "instance")), np.array([0.2, 0.3, 0.5])
    widths = {}
    for method, root_n in (("mt-kb", 1.0), ("it-kb", np.sqrt(3))):
        optimizer = study.METHODS[method](instance, study.Params(), 10, Streams.named(*KEY, method))
        for x in (0.2, 0.6, 1.0):
            optimizer.tell([x], [1.0, -1.0, 0.5])
        above = optimizer.acquisition(lam) - optimizer.scalarization(optimizer.posterior()[0], lam)
        widths[method] = above / (root_n * np.max(optimizer.radius))
    np.testing.assert_allclose(widths["mt-kb"], widths["it-kb"])


def test_certificates_are_tried_under_both_scalarisations():
    certificates = load_paper("mtbo", "paper").experiments["certificates"]
    tried = {
        (certificates.params(v)["scalarization"], certificates.params(v)["norm_bound"])
        for v in certificates.variants
    }
    assert tried == {("chebyshev", "true"), ("linear", "true")}


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_certificates_and_costs_have_the_seeds_for_a_verdict(scale):
    config = load_paper("mtbo", scale)
    for claim in config.claims:
        if claim["test"] == "certificate" and claim.get("delta"):
            seeds = config.experiments[claim["experiment"]].seeds
            assert seeds >= runs_to_certify(0, claim["delta"]), claim["id"]
    # the smallest p-value of n sign flips, adjusted for all claims of the figure
    family = sum(claim["figure"] == "cost" for claim in config.claims)
    assert family * 2.0 ** -config.experiments["cost"].seeds < 0.05


@pytest.mark.paper(
    "mtbo", "s5-trials", "s5-horizon", "s5-fig1a-tasks", "s5-rkhs-tasks", "app-e-fig2-tasks",
    "s5-mobo-where", "s5-branin-tasks", "s5-branin-omega", "s5-branin-noise",
)  # fmt: skip
def test_settings_of_the_figures():
    experiments = load_paper("mtbo", "paper").experiments
    for name in ("fig1a", "fig1b", "fig1c", "fig1d", "fig1e", "fig1f", "fig2a", "fig2b", "fig2c"):
        assert (experiments[name].seeds, experiments[name].horizon) == (20, 200), name
    tasks = {
        name: experiments[name].problem_params(experiments[name].variants[0])["n_tasks"]
        for name in ("fig1a", "fig1b", "fig1c", "fig2a")
    }
    assert tasks == {"fig1a": 4, "fig1b": 2, "fig1c": 20, "fig2a": 2}
    omegas = [
        experiments["fig1a"].problem_params(v)["omega"] for v in experiments["fig1a"].variants
    ]
    assert omegas == [0, 0.25, 0.5, 0.75, 1]
    assert "mobo" not in experiments["fig1c"].method_names
    assert all("mobo" in experiments[name].method_names for name in ("fig1d", "fig1e", "fig1f"))
    branin = study.PROBLEMS["branin"]()
    assert (branin.n_tasks, branin.omega, branin.noise_std) == (10, 0.5, 0.1)
    assert branin.draw(None).kernel.B[0, 1] == pytest.approx(0.05)  # (1 - omega) / n


@pytest.mark.paper("mtbo", "s2-bayes-below-cumulative")
def test_bayes_regret_falls_below_the_average_regret():
    """R_B(T) <= R_C(T)/T + o(1): at the end of a run, with the Monte Carlo error of the weights."""
    params = study.Params()
    metrics = ("average_regret", "bayes_regret")
    last = [run("mt-kb", params, metrics, 80, RKHSProblem(n_points=25))[2][-1]]
    assert all(row["bayes_regret"] <= row["average_regret"] + 1e-3 for row in last)


@pytest.mark.paper("mtbo", "s2-bayes-below-cumulative")
def test_bayes_regret_and_its_bound_by_hand():
    """Linear weights on f = (2, 0), (0, 1), (0.8, 0.8), queried at the third and the second."""
    instance = SimpleNamespace(values=np.array([[2.0, 0.0], [0.0, 1.0], [0.8, 0.8]]))
    bayes = BayesRegret(instance, study.Params(scalarization="linear", bayes_weights=2))
    bayes.weights = np.array([[1.0, 0.0], [0.5, 0.5]])
    bayes.values = instance.values @ bayes.weights.T
    bound = BayesBound(instance, bayes)
    for weights, index in (([0.75, 0.25], 2), ([0.25, 0.75], 1)):
        bound.add(np.array(weights), index)
        bayes.add(index)
    # regrets 1.5 - 0.8 and 0.8 - 0.75, of which the run's own weights keep 0.7 and 0
    assert bound.own == pytest.approx((0.7 + 0.0) / 2)
    assert bayes.value == pytest.approx((1.2 + 0.2) / 2)
    # 0.25 moves to 0.5 and 0.75 to 1: the first candidate's value changes by 0.5 each time
    assert bound.slack == pytest.approx(2 * (0.5 + 0.5) / 2)


@pytest.mark.parametrize("sizes", [(7, 5), (4, 10), (6, 6), (1, 3)])
def test_the_coupling_is_the_cheapest_on_the_line(sizes):
    rng = rng_for(*KEY, "environment")
    a, b = (rng.random(size) for size in sizes)
    i, j, mass = monotone_coupling(a, b)
    np.testing.assert_allclose(np.bincount(i, mass), 1 / len(a))
    np.testing.assert_allclose(np.bincount(j, mass), 1 / len(b))
    assert mass @ abs(a[i] - b[j]) == pytest.approx(wasserstein_distance(a, b))


@pytest.mark.paper("mtbo", "s2-bayes-below-cumulative")
@pytest.mark.parametrize("name", ["chebyshev", "linear"])
@pytest.mark.parametrize("n_tasks", [2, 3])
def test_bayes_regret_against_its_bound_along_a_run(name, n_tasks):
    params = study.Params(scalarization=name, bayes_weights=100)
    metrics = ("average_regret", "bayes_regret", "own_bayes_ratio", "bayes_ratio")
    problem = RKHSProblem(n_tasks=n_tasks, n_points=25)
    instance, optimizer, rows = run("mt-kb", params, metrics, 40, problem)
    s, frame, F = params.make_scalarization(instance), optimizer.result(), instance.values
    lam = frame[[f"lambda_{i}" for i in range(1, n_tasks + 1)]].to_numpy(dtype=float)
    arms = [instance.domain.index(x) for x in frame["x_1"]]
    first = np.argsort(lam[:, 0])
    others = BayesRegret(instance, params).weights
    values = [np.column_stack([s(F, w) for w in ws]) for ws in (lam, others)]  # (m, weights)
    for t, row in enumerate(rows, start=1):
        own = np.mean([s(F, w).max() - max(s(F[x], w) for x in arms[:t]) for w in lam[:t]])
        assert row["own_bayes_ratio"] * row["average_regret"] == pytest.approx(own, abs=1e-12)
        assert 0 <= row["own_bayes_ratio"] <= 1 + 1e-12
        # both samples in the order of the first weight, each repeated to a common length
        here = np.repeat(values[0][:, first[first < t]], 100, axis=1)
        there = np.repeat(values[1][:, np.argsort(others[:, 0])], t, axis=1)
        moved = abs(here - there).max(0).mean()
        bound = row["average_regret"] + 2 * moved
        assert row["bayes_ratio"] * bound == pytest.approx(row["bayes_regret"], abs=1e-12)
        assert 0 <= row["bayes_ratio"] <= 1
    assert rows[0]["own_bayes_ratio"] == pytest.approx(1)  # one weight, one query


@pytest.mark.paper("mtbo", "s2-bayes-below-cumulative")
@pytest.mark.parametrize("name", ["chebyshev", "linear"])
def test_the_price_of_other_weights_vanishes_with_two_tasks(name):
    params = study.Params(scalarization=name)
    instance = RKHSProblem(n_points=25).draw(rng_for(*KEY, "instance"))
    bayes, slack = BayesRegret(instance, params), {}
    for size in (10, 1000):
        bound = BayesBound(instance, bayes)
        rng = rng_for(*KEY, "scalarization")
        for weights in draw_weights(bayes.scalarization.law, 2, rng, size):
            bound.add(weights, 0)
        slack[size] = bound.slack
    assert slack[1000] < 0.25 * slack[10]


@pytest.mark.paper("mtbo", "eq-14", "app-c-instant", "app-d-instant", "lemma-9", "eq-21", "eq-23")
@pytest.mark.parametrize(("method", "q"), [("mt-kb", None), ("mt-bkb", None), ("mt-bkb", 2000.0)])
def test_confidence_band_of_the_scalarised_objective(method, q):
    """|s(f) - s(mu_{t-1})| <= L beta_{t-1} ||Gamma_{t-1}||^{1/2}, and the regret it bounds."""
    params = study.Params(norm_bound="true", q=q)
    instance = RKHSProblem(n_points=25).draw(rng_for(*KEY, "instance"))
    optimizer = study.METHODS[method](instance, params, 40, Streams.named(*KEY, method))
    noise, F, s = rng_for(*KEY, "noise"), instance.values, params.make_scalarization(instance)
    arms = []
    for _ in range(40):
        query = optimizer.ask()
        lam, norm = optimizer.weights, optimizer.model.norm
        width = s.lipschitz(lam) * optimizer.radius * np.sqrt(norm)
        assert (abs(s(F, lam) - s(optimizer.posterior()[0], lam)) <= width + 1e-12).all()
        arm = instance.domain.index(query)
        assert s(F, lam).max() - s(F[arm], lam) <= 2 * width[arm] + 1e-12
        optimizer.tell(query, instance.observe(query, noise))
        arms.append(arm)
    if method == "mt-bkb":  # the radius' growth dominates the exact log determinant
        gram = instance.kernel.kernel(instance.domain.points[arms])
        xi = np.linalg.eigvalsh(instance.kernel.B)
        exact = lemma1_gain(xi, lambda alpha: log_det_gain(gram, alpha), eta=params.eta)
        assert exact <= nystrom_rho(params.epsilon) * optimizer.log_det


def test_the_size_bound_speaks_of_the_probabilities_not_of_q():
    """q with 1/eta and q / eta as printed are one algorithm, so they have one ratio."""
    rows = [
        run("mt-bkb", study.Params(norm_bound="true", q=q, inclusion_scale=scale), CERTIFICATES)[2]
        for q, scale in ((2.0, "eta"), (20.0, "paper"))
    ]
    for one, other in zip(*rows, strict=True):
        assert one["theorem3_size_ratio"] == pytest.approx(other["theorem3_size_ratio"])
