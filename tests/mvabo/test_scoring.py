"""Scores and certificates against their definitions, and runs that methods share."""

import numpy as np
import pytest

from fivebo.common.lab import runner
from fivebo.common.lab.experiments import load_paper
from fivebo.common.search.pareto import hypervolume
from fivebo.common.search.rng import Streams, rng_for
from fivebo.mvabo import study
from fivebo.mvabo.problems import ContinuousProblem, GPTestProblem, NoisyInputProblem
from tests.mvabo import oracles

KEY = ("mvabo", "test", "gp-test", 0)
SMALL = GPTestProblem(n_x=15, n_w=8, n_nodes=8, length_scale=0.6)


def run(method, params=None, metrics=("regret",), horizon=15, problem=SMALL, scored=None):
    params = params or study.Params()
    instance = problem.draw(rng_for(*KEY, "instance"))
    optimizer = study.METHODS[method](instance, params, horizon, Streams.named(*KEY, method))
    scorer = study.scorer(instance, scored or method, params, horizon, metrics)
    noise, environment, rows = rng_for(*KEY, "noise"), rng_for(*KEY, "environment"), []
    states = []
    for t in range(1, horizon + 1):
        query = instance.complete(optimizer.ask(), environment)
        scorer.asked(t, optimizer, query)
        states.append((optimizer.bounds, optimizer.queried.copy(), optimizer.pareto_set())
                      if np.isfinite(optimizer.domain.shape[0]) else None)  # fmt: skip
        y = instance.observe(query, noise)
        optimizer.tell(query, y)
        rows.append(scorer.told(t, optimizer, query, y))
    return instance, optimizer, rows, states


@pytest.mark.paper("mvabo", "s5-regret", "s5-xhat", "s5-alpha", "s5-ada", "s5-bqoucb", "s5-bovo")
@pytest.mark.parametrize(
    ("method", "scored", "weight"),
    [
        ("mt-mva-bo", "mt-mva-bo", 0.3), ("us", "us", 0.3), ("bqoucb", "bqoucb", 1.0),
        ("bqoucb", "ada-bqoucb", 0.3), ("bo-vo", "bo-vo", 0.0), ("bo-vo", "ada-bo-vo", 0.3),
    ],
)  # fmt: skip
def test_regret_is_that_of_the_best_lower_bound_of_step_t(method, scored, weight):
    params = study.Params(alpha=0.3)
    instance, _, rows, states = run(method, params, scored=scored)
    F = instance.objectives
    G = 0.3 * F[:, 0] + 0.7 * F[:, 1]
    for row, (bounds, queried, _) in zip(rows, states, strict=True):
        low = weight * bounds.l1 + (1 - weight) * bounds.l2
        best = max(queried, key=lambda i: low[i])
        assert row["regret"] == pytest.approx(max(G) - G[best], abs=1e-12)


@pytest.mark.paper("mvabo", "s5-hv", "s5-pareto-by-7", "s5-hv-reference")
@pytest.mark.parametrize("method", ["rs", "us", "mo-mva-bo"])
def test_hypervolume_gap_is_of_true_values(method):
    instance, _, rows, states = run(method, metrics=("hv_gap",))
    F = instance.objectives
    front = [x for x in range(len(F)) if not oracles.dominated(F, x)]
    whole = hypervolume(F[front], F.min(axis=0))
    for row, (_, _, chosen) in zip(rows, states, strict=True):
        assert row["hv_gap"] == pytest.approx(whole - hypervolume(F[chosen], F.min(axis=0)))
        assert row["hv_gap"] >= -1e-12
    assert rows[0]["hv_gap"] == 0  # before any data every design is in the estimated set
    _, _, other, _ = run(method, study.Params(hv_reference=(-3.0, -3.0)), metrics=("hv_gap",))
    assert other[-1]["hv_gap"] != rows[-1]["hv_gap"] or rows[-1]["hv_gap"] == 0


@pytest.mark.parametrize("rule", ["online", "own-step", "final"])
def test_every_rule_of_recommendation_can_be_scored(rule):
    instance, optimizer, rows, _ = run("mt-mva-bo", study.Params(recommendation=rule))
    index = optimizer.recommended()
    F = instance.objectives.mean(axis=1)
    assert rows[-1]["regret"] == pytest.approx(F.max() - F[index], abs=1e-12)


CERTIFICATES = (
    "event2_ratio", "inclusion_ratio", "gap_ratio", "width_ratio", "expectation_ratio",
    "variance_ratio", "stopping_ratio", "accuracy_ratio",
)  # fmt: skip


@pytest.mark.paper(
    "mvabo", "eq-2", "eq-13", "thm-41", "thm-42-1", "thm-42-2", "thm-b1", "cor-a1", "eq-27",
    "eq-34", "lemma-a2", "lemma-a3", "eq-22-23", "eq-35-38",
)  # fmt: skip
@pytest.mark.parametrize("method", ["mt-mva-bo", "mo-mva-bo", "constrained-mva-bo"])
def test_certificates_hold_under_the_theory(method):
    params = study.Params(beta="theory", eps=(2.0, 2.0))
    _, _, rows, _ = run(method, params, CERTIFICATES, horizon=90)
    missing = {"mt-mva-bo": "accuracy_ratio"}.get(method, "gap_ratio")
    assert all(set(row) == set(CERTIFICATES) - {missing} for row in rows)
    for name in set(CERTIFICATES) - {missing}:
        values = np.array([row[name] for row in rows])
        assert np.nanmax(values) <= 1 + 1e-9, name
        assert np.nanmin(values) >= 0
    if method != "mt-mva-bo":
        assert np.isnan(rows[0]["accuracy_ratio"])
        assert np.isfinite(rows[-1]["accuracy_ratio"])


def literal_certificates(instance, optimizer, method, params):
    """Every ratio of every step from the data alone, each statement written out."""
    X, W = instance.domain.X.points[:, 0], instance.domain.W.points[:, 0]
    p, F, d, (e1, e2) = instance.domain.p, instance.objectives, params.delta, params.eps
    a1, a2 = (params.alpha, 1 - params.alpha) if method == "mt-mva-bo" else (1.0, 1.0)
    B, Bt, s2 = instance.true_norm, instance.b_tilde, 1e-4
    G = params.alpha * F[:, 0] + (1 - params.alpha) * F[:, 1]
    events = 3 if params.w_rule == "nature" else 1

    def k(x, w, x2, w2):
        if hasattr(instance.domain, "inputs"):  # f takes x + xi
            return oracles.gauss(x + w, 0, x2 + w2, 0, 1.0, 0.6, 1.0)
        return oracles.gauss(x, w, x2, w2, 1.0, 0.6, 0.6)

    data, found, own, sums, width = [], [], [], np.zeros(4), 0.0
    for t, (i, j, y) in enumerate(zip(*optimizer.model.data(), strict=True), start=1):
        mean, sd = oracles.posterior(k, data, X, W, s2)
        b = params.beta_sqrt
        if params.beta == "theory":
            b = np.sqrt(oracles.log_det(k, data, s2) + 2 * np.log(events / d)) + B
        R = oracles.intervals(mean, sd, p, b)
        sums += sd[i] @ p, sd[i] ** 2 @ p, sd[i, j], sd[i, j] ** 2
        low, high = a1 * R[:, 0] + a2 * R[:, 2], a1 * R[:, 1] + a2 * R[:, 3]
        width += high[i] - low[i] if method == "mt-mva-bo" else oracles.diameters(R)[i]
        own.append((low[i], high[i], i))
        data.append(((X[i], W[j]), y))
        gain, L = oracles.log_det(k, data, s2) / 2, np.log(1 + 1 / s2)
        left = literal_left_side(t, gain, b, Bt, (a1, a2), L, p, W[1] - W[0], params)
        lemma = 2 * a1 * b * sums[0] + a2 * np.sqrt(
            8 * t * Bt * b * sums[0] + 20 * t * b**2 * sums[1]
        )
        row = {
            "event2_ratio": (abs(instance.values - mean) / (b * sd)).max(),
            "inclusion_ratio": max(
                (abs(2 * F[:, c] - R[:, 2 * c] - R[:, 2 * c + 1])
                / (R[:, 2 * c + 1] - R[:, 2 * c])).max()
                for c in (0, 1)
            ),
            "width_ratio": width / lemma,
            "expectation_ratio": np.nan if events == 1 else max(
                sums[c] / (2 * sums[c + 2] + 8 * np.log(18 / d)) for c in (0, 1)
            ),
            "variance_ratio": sums[3] / (2 * gain / L),
            "stopping_ratio": width / left,
        }  # fmt: skip
        if method == "mt-mva-bo":
            best = max(own)
            row["gap_ratio"] = (G.max() - G[best[2]]) / (min(h for _, h, _ in own) - best[0])
        else:
            mean, sd = oracles.posterior(k, data, X, W, s2)
            b = np.sqrt(2 * gain + 2 * np.log(events / d)) + B if params.beta == "theory" else b
            row["accuracy_ratio"] = literal_accuracy(
                oracles.intervals(mean, sd, p, b), F, method, params.threshold(instance), (e1, e2)
            )
        found.append(row)
    return found


def literal_left_side(t, gain, b, Bt, weights, L, p, spacing, params):
    """T times the left side of Theorems 4.1, 4.2 and B.1, of C.1, or of C.2 in either form."""
    (a1, a2), S, V = weights, np.sqrt(2 * t * gain / L), 2 * gain / L
    if params.w_rule == "nature":
        q = 4 * np.log(18 / params.delta)
        root = 16 * t * Bt * b * (S + q) + 40 * t * b**2 * (V + q)
        return 4 * a1 * b * (S + q) + a2 * np.sqrt(root)
    R, m = max(p), len(p)
    D = R / spacing
    on_sd, on_var = {
        ("sd", "sound"): (1, 1),
        ("sd-p", "printed"): (D, D),
        ("var-p", "printed"): (D, D),
        ("sd-p", "printed-spacing"): (R, R),
        ("var-p", "printed-spacing"): (R, R),
        ("var-p", "sound"): (np.sqrt(m * R), m * R),
    }[params.w_rule, params.thm_c2]
    root = 8 * t * Bt * b * on_sd * S + 20 * t * b**2 * on_var * V
    return 2 * a1 * b * on_sd * S + a2 * np.sqrt(root)


def literal_accuracy(R, F, method, h, eps):
    """NaN before the stopping rule holds; else the error of the output in units of eps."""
    if method == "mo-mva-bo":
        members = oracles.estimated(R.tolist())
        if any(oracles.potential(R, members, eps)) or any(oracles.uncertain(R, members, eps)):
            return np.nan
        chosen = np.flatnonzero(members)
        fine = [
            s for s in np.linspace(0.001, 2, 2000)
            if oracles.pareto_accurate(F, chosen, (s * eps[0], s * eps[1]))
        ]  # fmt: skip
        return min(fine)
    safe, candidates = oracles.constrained_sets(R, h, eps)
    if max(d for d, c in zip(oracles.diameters(R), candidates, strict=True) if c) > min(eps):
        return np.nan
    output = max(np.flatnonzero(safe), key=lambda x: R[x, 0])
    best = max(F[x, 0] for x in range(len(F)) if F[x, 1] >= h)
    return max((best - F[output, 0]) / eps[0], (h - F[output, 1]) / eps[1], 0)


@pytest.mark.paper(
    "mvabo", "eq-2", "eq-13", "thm-41", "thm-42-2", "thm-b1", "eq-27", "eq-34", "lemma-a2",
    "lemma-a3", "eq-35-38",
)  # fmt: skip
@pytest.mark.parametrize(
    ("method", "beta", "horizon"),
    [
        ("mt-mva-bo", "theory", 12), ("mo-mva-bo", "theory", 8), ("mo-mva-bo", "constant", 12),
        ("constrained-mva-bo", "constant", 12),
    ],
)  # fmt: skip
def test_certificates_are_the_statements_written_out(method, beta, horizon):
    params = study.Params(alpha=0.3, beta=beta, beta_sqrt=0.1, eps=(0.3, 0.2), delta=0.1)
    instance, optimizer, rows, _ = run(method, params, CERTIFICATES, horizon=horizon)
    expected = literal_certificates(instance, optimizer, method, params)
    agree(rows, expected)
    if beta == "constant":  # a band so narrow that it stops soon and errs
        values = [row["accuracy_ratio"] for row in rows]
        assert np.isnan(values[0])
        assert np.nanmax(values) > 0


def agree(rows, expected):
    for row, wanted in zip(rows, expected, strict=True):
        assert set(row) == set(wanted)
        for name in set(row) - {"accuracy_ratio"}:
            assert row[name] == pytest.approx(wanted[name], rel=1e-5, abs=1e-8, nan_ok=True), name
        if "accuracy_ratio" in row:
            assert row["accuracy_ratio"] == pytest.approx(
                wanted["accuracy_ratio"], abs=1.1e-3, nan_ok=True
            )


NOISY = NoisyInputProblem(n_x=11, n_w=5, n_nodes=8, length_scale=0.6)


@pytest.mark.paper(
    "mvabo", "thm-c1", "thm-c1-beta", "app-c2-others", "app-c2-naive", "thm-c2", "thm-c2-sound",
    "app-c2-bounded",
)  # fmt: skip
@pytest.mark.parametrize(
    ("method", "problem", "rule", "form", "beta"),
    [
        ("mt-mva-bo", SMALL, "sd", "sound", "theory"),
        ("mo-mva-bo", SMALL, "sd", "sound", "constant"),
        ("constrained-mva-bo", SMALL, "sd", "sound", "theory"),
        ("mt-mva-bo", NOISY, "sd", "sound", "theory"),
        ("mt-mva-bo", NOISY, "var-p", "sound", "theory"),
        ("mo-mva-bo", NOISY, "var-p", "sound", "theory"),
        ("mt-mva-bo", NOISY, "var-p", "printed", "theory"),
        ("mt-mva-bo", NOISY, "sd-p", "printed", "theory"),
        ("mt-mva-bo", NOISY, "sd-p", "printed-spacing", "theory"),
    ],
)  # fmt: skip
def test_certificates_of_chosen_environments_are_the_statements_written_out(
    method, problem, rule, form, beta
):
    params = study.Params(
        alpha=0.3, beta=beta, beta_sqrt=0.1, eps=(0.3, 0.2), delta=0.1, w_rule=rule, thm_c2=form
    )
    instance, optimizer, rows, _ = run(method, params, CERTIFICATES, horizon=8, problem=problem)
    agree(rows, literal_certificates(instance, optimizer, method, params))


@pytest.mark.paper("mvabo", "thm-c1", "thm-c2", "thm-c2-sound")
def test_the_first_step_shows_what_each_bound_of_a_chosen_environment_allows():
    """Prior sigma = 1 everywhere and alpha = 1: the width is 2 b, C.1's bound is 2 b 1, C.2's 2 b R
    as printed and 2 b sqrt(m R) in the sound form; p = (1, 2, 1) / 4 has R = 1/2, m R = 3/2, and
    13 inputs on [-1, 1] have spacing 1/6, with which the density is 3.
    """
    problem = NoisyInputProblem(n_x=11, n_w=3, n_nodes=8, spread=1 / np.sqrt(2 * np.log(2)))
    expected = {
        ("sd", "sound"): 1,
        ("sd-p", "printed"): 1 / 3,
        ("var-p", "printed"): 1 / 3,
        ("sd-p", "printed-spacing"): 2,
        ("var-p", "printed-spacing"): 2,
        ("var-p", "sound"): 1 / np.sqrt(1.5),
    }
    for (rule, form), ratio in expected.items():
        params = study.Params(alpha=1.0, beta="theory", w_rule=rule, thm_c2=form)
        instance, _, rows, _ = run("mt-mva-bo", params, CERTIFICATES, 1, problem)
        np.testing.assert_allclose(instance.domain.p, [0.25, 0.5, 0.25])
        assert rows[0]["stopping_ratio"] == pytest.approx(ratio), (rule, form)
        assert np.isnan(rows[0]["expectation_ratio"])
    params = study.Params(w_rule="sd-p")  # no sound form for this rule
    assert np.isnan(run("mt-mva-bo", params, CERTIFICATES, 1, problem)[2][0]["stopping_ratio"])


@pytest.mark.paper("mvabo", "thm-c2", "thm-c2-sound")
def test_theorem_c2_as_printed_calls_the_first_random_design_accurate():
    """alpha = 1, T = 1, R about 1/60: a design at random, and 2 b R far below the range."""
    problem = NoisyInputProblem(n_x=41, n_w=101, n_nodes=15, length_scale=0.4)
    params = study.Params(alpha=1.0, beta="theory", delta=0.1, w_rule="sd-p")
    wrong = {"printed": 0, "sound": 0}
    for seed in range(40):
        instance = problem.draw(np.random.default_rng(seed))
        optimizer = study.METHODS["mt-mva-bo"](instance, params, 1, seed)
        i, _ = instance.domain.index(optimizer.ask())
        F1, p = instance.objectives[:, 0], instance.domain.p
        b = params.confidence(instance)(0.0)
        assert max(p) == pytest.approx(1 / 60, rel=0.1)
        wrong["printed"] += F1.max() - F1[i] > 2 * b * max(p)
        wrong["sound"] += F1.max() - F1[i] > 2 * b * np.sqrt(len(p) * max(p))
    assert wrong["sound"] == 0
    assert wrong["printed"] > 0.1 * 40  # more than delta


@pytest.mark.paper("mvabo", "thm-41-beta", "thm-c1-beta")
def test_the_events_that_share_delta_are_those_of_the_setting():
    instance = SMALL.draw(rng_for(*KEY, "instance"))
    for rule, events in (("nature", 3), ("sd", 1), ("sd-p", 1), ("var-p", 1)):
        beta = study.Params(beta="theory", delta=0.1, w_rule=rule).confidence(instance)
        expected = instance.true_norm + np.sqrt(2.0 + 2 * np.log(events / 0.1))
        assert beta(2.0) == pytest.approx(expected)


@pytest.mark.paper("mvabo", "thm-d1", "app-d-half")
@pytest.mark.parametrize("width", [0.3, 0.05])
def test_accuracy_on_a_continuous_set_is_that_of_all_of_it_once_half_of_eps_is_reached(width):
    """Against the literal sets on the grid with eps / 2, and Sec. 2's definition on the fine X."""
    problem = ContinuousProblem(n_segments=6, n_w=5, n_nodes=8, n_fine=60)
    params = study.Params(beta_sqrt=width, eps=(0.4, 0.3))
    instance, optimizer, rows, states = run(
        "mo-mva-bo", params, ("accuracy_ratio",), horizon=25, problem=problem
    )
    final = [bounds for bounds, _, _ in states[1:]] + [optimizer.bounds]
    found = []
    for row, b in zip(rows, final, strict=True):
        R = np.column_stack([b.l1, b.u1, b.l2, b.u2])
        members = oracles.estimated(R.tolist())
        open_sets = (*oracles.potential(R, members, (0.2, 0.15)),
                     *oracles.uncertain(R, members, (0.2, 0.15)))  # fmt: skip
        assert np.isnan(row["accuracy_ratio"]) == any(open_sets)
        if any(open_sets):
            continue
        found.append(row["accuracy_ratio"])
        chosen, s = np.flatnonzero(members), row["accuracy_ratio"]
        assert len(instance.reference) == 7 + 60
        for factor, accurate in ((1.001, True), (0.999, False)):
            eps = (factor * s * 0.4 + 1e-9, factor * s * 0.3 + 1e-9)
            assert oracles.pareto_accurate(instance.reference, chosen, eps) == accurate or s == 0
    if width == 0.3:  # stops late; what the grid lacks is within eps of X
        assert 0 < len(found) < 25
        assert max(found) <= 1
    else:  # a band so narrow that it stops at once and errs
        assert len(found) == 25
        assert max(found) > 1


@pytest.mark.paper("mvabo", "thm-c1-beta", "thm-c2", "thm-c2-sound", "thm-d1", "app-d-half")
def test_the_experiments_of_the_extensions_have_their_theorems_settings():
    config = load_paper("mvabo", "paper")
    for name, rules in {
        "certificates": {"default": ("nature", "sound")},
        "certificates-simulator": {"default": ("sd", "sound")},
        "certificates-noisy": {
            "sd": ("sd", "sound"),
            "var-p": ("var-p", "sound"),
            "var-p-printed": ("var-p", "printed"),
            "sd-p-printed": ("sd-p", "printed"),
            "sd-p-spacing": ("sd-p", "printed-spacing"),
        },
        "certificates-continuous": {"default": ("nature", "sound")},
    }.items():
        experiment = config.experiments[name]
        settings = {v: study.Params(**experiment.params(v)) for v in experiment.variants}
        assert {v: (s.w_rule, s.thm_c2) for v, s in settings.items()} == rules
        assert all(s.beta == "theory" for s in settings.values())
    problem = ContinuousProblem(**experiment.problem_params("default"))
    assert problem.n_segments is None  # Theorem D.1's tau
    assert problem.grid_eps == settings["default"].eps  # and it is that of this eps
    sizes = [len(problem.draw(np.random.default_rng(s)).domain.X) for s in range(30)]
    assert 2 * np.median(sizes) < problem.n_fine  # X itself is finer than its grid
    assert max(sizes) < problem.n_fine


def test_certificates_can_fail():
    """A band far too narrow must show in the event, the intervals and what is returned."""
    params = study.Params(beta="constant", beta_sqrt=0.02, eps=(0.02, 0.02))
    _, _, rows, _ = run("mo-mva-bo", params, CERTIFICATES, horizon=15)
    for name in ("event2_ratio", "inclusion_ratio", "accuracy_ratio"):
        assert np.nanmax([row[name] for row in rows]) > 1, name
    _, _, rows, _ = run("mt-mva-bo", params, CERTIFICATES, horizon=30)
    assert max(row["gap_ratio"] for row in rows) > 1


def test_the_theorys_beta_needs_a_known_norm():
    instance = study.PROBLEMS["bird"]().draw(None)
    with pytest.raises(ValueError, match="beta='constant'"):
        study.Params(beta="theory").confidence(instance)


@pytest.mark.paper("mvabo", "app-b-problem", "thm-b1", "app-b-h")
@pytest.mark.parametrize("quantile", [0.5, 0.9])
def test_constrained_scores(quantile):
    params = study.Params(eps=(0.3, 0.3), h_quantile=quantile)
    metrics = ("constrained_regret", "constraint_excess", "stopped", "infeasible")
    instance, optimizer, rows, _ = run("constrained-mva-bo", params, metrics, horizon=60)
    F, h = instance.objectives, params.threshold(instance)
    assert np.mean(F[:, 1] >= h) == pytest.approx(1 - quantile, abs=0.1)
    best, index = F[F[:, 1] >= h, 0].max(), optimizer.recommended()
    assert rows[-1]["constrained_regret"] == pytest.approx(max(0, best - F[index, 0]))
    assert rows[-1]["constraint_excess"] == pytest.approx(max(0, h - F[index, 1]))
    assert rows[0]["constrained_regret"] == pytest.approx(best - F[:, 0].min())
    assert [row["stopped"] for row in rows] == sorted(row["stopped"] for row in rows)
    assert rows[-1]["stopped"] == 1
    assert not any(row["infeasible"] for row in rows)
    assert study.Params(h=-0.2).threshold(instance) == -0.2


@pytest.mark.parametrize("method", ["mo-mva-bo"])
def test_stopping_scores(method):
    params = study.Params(eps=(0.5, 0.5))
    metrics = ("stopped", "undecided", "pareto_error")
    instance, optimizer, rows, _ = run(method, params, metrics, horizon=80)
    assert rows[-1]["stopped"] == 1
    assert rows[-1]["undecided"] == 0
    members = np.flatnonzero(optimizer.pareto_set())
    F = instance.objectives
    for factor, expected in ((1 + 1e-6, True), (1 - 1e-3, False)):
        eps = np.array([0.5, 0.5]) * rows[-1]["pareto_error"] * factor
        if eps[0] > 0:
            assert oracles.pareto_accurate(F, members, eps) == expected


@pytest.mark.paper("mvabo", "s331-empirical")
def test_unknown_probabilities_reach_every_method():
    for method in set(study.METHODS) - {"mt-mva-bo-continuous"}:
        _, optimizer, _, _ = run(
            method, study.Params(known_p=False), ("stopped", "regret"), horizon=4
        )
        assert optimizer.domain.p is None
        assert optimizer.weights.sum() == pytest.approx(1)
        assert set(optimizer.weights) <= {0, 0.25, 0.5, 0.75, 1}


@pytest.mark.parametrize("rule", ["sd", "sd-p", "var-p"])
def test_noisy_inputs_run_with_every_method_and_rule(rule):
    problem = NoisyInputProblem(n_x=11, n_w=5)
    for method in ("rs", "us", "mt-mva-bo", "mo-mva-bo"):
        _, _, rows, _ = run(
            method, study.Params(w_rule=rule), ("regret", "hv_gap"), horizon=4, problem=problem
        )
        assert all(np.isfinite(list(row.values())).all() for row in rows)


@pytest.mark.paper("mvabo", "thm-d1", "app-d-half", "app-d-mt")
def test_continuous_problems_are_scored_on_all_of_x():
    problem = ContinuousProblem(n_segments=20, n_w=6, n_fine=301)
    params = study.Params(eps=(0.5, 0.5))
    instance, optimizer, rows, _ = run(
        "mo-mva-bo", params, ("pareto_error", "stopped"), horizon=20, problem=problem
    )
    assert optimizer.slack == (0.25, 0.25)
    G = instance.reference.mean(axis=1)
    _, optimizer, rows, _ = run("mt-mva-bo-continuous", params, horizon=30, problem=problem)
    assert all(row["regret"] >= -1e-9 for row in rows)
    assert rows[-1]["regret"] < 0.2 * (G.max() - G.min())
    with pytest.raises(ValueError, match="continuous X"):
        run("mt-mva-bo-continuous")


def select(name, **changes):
    return load_paper("mvabo", "smoke").experiments[name].select(**changes)


def test_methods_that_share_their_queries_are_run_once(monkeypatch):
    experiment = select("gp-test", horizon=4)
    groups = runner.trajectories(study, experiment.methods("default"))
    assert ["bqoucb", "ada-bqoucb"] in groups
    assert ["bo-vo", "ada-bo-vo"] in groups
    assert len(groups) == 6
    counted, build = [], study.METHODS["bqoucb"]
    monkeypatch.setitem(study.METHODS, "bqoucb", lambda *a: counted.append(1) or build(*a))
    found = runner.run_trajectory(study, experiment, methods=groups[2], variant="default", seed=3)
    assert len(counted) == 1
    assert [row["method"] for row, _ in found] == ["bqoucb", "ada-bqoucb"]


@pytest.mark.parametrize("method", ["ada-bqoucb", "ada-bo-vo"])
def test_a_shared_run_gives_what_the_methods_own_class_does(method):
    """One by one through the runner, in a group, and by the class that makes its own queries."""
    experiment = select("gp-test", horizon=8)
    alone = runner.run_seed(study, experiment, method=method, variant="default", seed=1)[1]
    parent = study.TRAJECTORIES[method]
    both = runner.run_trajectory(
        study, experiment, methods=[parent, method], variant="default", seed=1
    )[1][1]
    assert alone.equals(both)
    names = ("mvabo", "gp-test", "gp-test", 1)
    instance = GPTestProblem().draw(rng_for(*names, "instance"))
    own = study.METHODS[method](instance, study.Params(), 8, Streams.named(*names, method))
    noise, environment = rng_for(*names, "noise"), rng_for(*names, "environment")
    G, found = instance.objectives.mean(axis=1), []
    for _ in range(8):
        query = instance.complete(own.ask(), environment)
        own.tell(query, instance.observe(query, noise))
        found.append(G.max() - G[own.recommended()])
    np.testing.assert_allclose(alone["value"], found, atol=1e-12)


def test_a_run_that_fails_is_a_failed_row_of_each_method(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("by design")

    monkeypatch.setitem(study.METHODS, "bo-vo", broken)
    found = runner.run_trajectory(
        study, select("bird", horizon=3), methods=["bo-vo", "ada-bo-vo"], variant="default", seed=0,
    )  # fmt: skip
    assert [row["status"] for row, _ in found] == ["failed", "failed"]
    assert all(len(trace) == 0 for _, trace in found)


def test_all_methods_of_a_seed_see_the_same_environments():
    seen = []
    for method in ("rs", "us", "mt-mva-bo", "mo-mva-bo"):
        _, optimizer, _, _ = run(method, metrics=("hv_gap",), horizon=6)
        seen.append(optimizer.model.data()[1].tolist())
    assert all(w == seen[0] for w in seen)


def test_seeds_of_one_path_share_the_function_and_differ_in_the_noise():
    experiment = select("gp-test", horizon=5, methods=["mt-mva-bo"])
    run_of = {
        seed: runner.run_seed(study, experiment, method="mt-mva-bo", variant="default", seed=seed)[
            1
        ]["value"].to_numpy()
        for seed in (2, 52, 3)
    }
    assert not np.array_equal(run_of[2], run_of[52])
    names = [("mvabo", "gp-test", "gp-test", seed) for seed in (2, 52, 3)]
    a, b, c = (runner._instance(GPTestProblem(), each).values for each in names)
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
