"""Metrics from their definitions, and settings that reach the methods they belong to."""

import numpy as np
import pytest

from fivebo.common.lab.experiments import load_paper
from fivebo.common.lab.runner import run_seed
from fivebo.common.search.rng import Streams
from fivebo.egpbo import study
from fivebo.egpbo.problems import Instance, PriorProblem, SyntheticProblem, expected_sup
from fivebo.egpbo.scoring import Scorer
from fivebo.egpbo.theory import theorem1_bound, theorem2_bound


def small(problem):
    return problem.draw(np.random.default_rng(0))


@pytest.mark.paper("egpbo", "s4-regret", "s5-regret", "code-regret")
def test_regret_is_of_the_noise_free_function_at_the_queries():
    instance = small(SyntheticProblem("zakharov"))
    scorer = Scorer(
        instance, "random-search", study.Params(), 5, ["simple_regret", "cumulative_regret"]
    )
    X = np.array([[3.0, 1.0], [1.0, 1.0], [2.0, 2.0]])
    regrets = [-instance.truth(x) for x in X]
    for t, x in enumerate(X):
        scorer.asked(t + 1, None, x)
        found = scorer.told(t + 1, None, x, 1e9)  # what was observed is of no consequence
        assert found["simple_regret"] == min(regrets[: t + 1])
        assert found["cumulative_regret"] == pytest.approx(sum(regrets[: t + 1]))


def test_a_value_above_the_optimum_is_refused():
    instance = Instance(small(SyntheticProblem("zakharov")).box, lambda x: 1.0, 0.0)
    with pytest.raises(ValueError, match="exceeds the optimum"):
        Scorer(instance, "random-search", study.Params(), 5, ["simple_regret"]).told(
            1, None, [0, 0], 0
        )


@pytest.mark.paper("egpbo", "s53-accuracy")
def test_accuracy_is_the_best_so_far():
    values = iter([0.8, 0.9, 0.7])
    instance = Instance(None, lambda x: next(values), np.nan)
    scorer = Scorer(instance, "random-search", study.Params(), 5, ["best_accuracy", "best_error"])
    found = [scorer.told(t, None, None, 0.0) for t in (1, 2, 3)]
    assert [s["best_accuracy"] for s in found] == [0.8, 0.9, 0.9]
    assert [s["best_error"] for s in found] == pytest.approx([0.2, 0.1, 0.1])


@pytest.mark.paper("egpbo", "thm-1-check", "s4-evaluations")
def test_ratio_to_theorem_1():
    instance = small(PriorProblem(sup_samples=8))
    scorer = Scorer(instance, "random-search", study.Params(), 6, ["ensemble_regret_ratio"])
    x = np.array([0.3, 0.3])
    for t in range(1, 7):
        found = scorer.told(t, None, x, 0.0)["ensemble_regret_ratio"]
    bound = theorem1_bound(
        6, n_models=4, dim=2, noise_var=0.01, growth=0.4, expected_sup=instance.expected_sup
    )
    assert found == pytest.approx(6 * (instance.optimum - instance.truth(x)) / bound)


@pytest.mark.paper("egpbo", "thm-2-check", "thm-3-check")
@pytest.mark.parametrize("variant", ["rbf-k4-async", "mixed-k8-async", "mixed-k4-sync"])
def test_regret_of_workers_is_compared_with_the_smallest_bound_for_workers(variant):
    """The ratio is to Theorem 2 with rho_K = 1, whose bound no larger rho_K falls below."""
    experiment = load_paper("egpbo", "quick").experiments["theory-parallel"]
    members, workers, mode = variant.split("-")
    settings = experiment.params(variant)
    assert (settings["workers"], settings["mode"]) == (int(workers[1:]), mode)
    short = experiment.select(variants=[variant], horizon=14)
    record, trace = run_seed(study, short, method="egp-ts", variant=variant, seed=0)
    assert record["status"] == "ok", record["error"]
    found = trace.pivot(index="step", columns="metric", values="value")
    problem = PriorProblem(**experiment.problem_params(variant))
    assert settings["noise_var"] == pytest.approx(problem.noise_std**2)
    constants = {
        "n_models": 4, "dim": 2, "noise_var": 0.01, "growth": {"rbf": 0.0, "mixed": 0.4}[members],
        "expected_sup": expected_sup(problem),
    }  # fmt: skip
    smallest, larger = (theorem2_bound(found.index, rho=rho, **constants) for rho in (1.0, 1.5))
    regret = found["cumulative_regret"]
    np.testing.assert_allclose(found["ensemble_regret_ratio"], regret / smallest)
    assert (larger >= smallest).all()


def test_weights_and_clock_are_those_of_egp_ts():
    instance = small(PriorProblem(sup_samples=2))
    params = study.Params(dictionary="prior", workers=2, n_screen=30)
    optimizer = study.METHODS["egp-ts"](instance, params, 14, Streams.of(0))
    names = ["member_weight", "weight_1", "weight_2", "weight_5", "simulated_time"]
    scorer = Scorer(instance, "egp-ts", params, 14, names)
    for t in range(1, 15):
        x = optimizer.ask()
        y = instance.observe(x, np.random.default_rng(t))
        optimizer.tell(x, y)
        found = scorer.told(t, optimizer, x, y)
    weights = optimizer.optimizer.weights
    assert found["member_weight"] == weights[instance.member]
    assert found["weight_2"] == weights[1]
    assert np.isnan(found["weight_5"])
    assert found["simulated_time"] == optimizer.clock > 0
    assert Scorer(instance, "gp-ei", params, 14, names).names == []


CHANGES = {
    "n_features": 20, "noise_var": 0.5, "evidence": "none", "frequencies": "notebook",
    "inputs": "raw", "outputs": "raw", "starts": "fixed", "n_screen": 50, "n_polish": 4,
    "restarts": 0, "magnitude_bounds": (1.0, 1.5), "length_bounds": (0.4, 0.5),
    "refit_every": 3, "weight_floor": 0.3, "dictionary": "rbf", "workers": 3,
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_every_setting_of_egp_ts_changes_its_run(name):
    instance = small(SyntheticProblem("zakharov", n_init=4))

    def run(params):
        optimizer = study.METHODS["egp-ts"](instance, params, 12, Streams.of(0))
        for t in range(12):
            x = optimizer.ask()
            optimizer.tell(x, instance.observe(x, np.random.default_rng(t)))
        return optimizer.result()

    assert not run(study.Params()).equals(run(study.Params(**{name: CHANGES[name]})))


def test_the_prior_dictionary_needs_a_prior():
    with pytest.raises(ValueError, match="needs problem prior"):
        study.Params(dictionary="prior").kernels(small(SyntheticProblem()))


@pytest.mark.parametrize(
    "name", ["fig1", "fig3b", "fig5", "fig10", "parallel", "theory", "theory-parallel"]
)
def test_a_seed_of_an_experiment_runs_and_repeats(name):
    experiment = load_paper("egpbo", "smoke").experiments[name]
    variant = experiment.variants[0]
    method = experiment.methods(variant)[0]
    pair = [run_seed(study, experiment, method=method, variant=variant, seed=0) for _ in range(2)]
    assert pair[0][0]["status"] == "ok", pair[0][0]["error"]
    traces = [t[t["metric"] != "round_seconds"].reset_index(drop=True) for _, t in pair]
    assert traces[0].equals(traces[1])
    assert set(traces[0]["step"]) == set(range(1, experiment.horizon + 1))


@pytest.mark.paper("egpbo", "s5-exp3-rate")
def test_exp3bo_counts_the_arms_that_it_plays():
    """The rate is that of 200 plays, not of 10 initial points and 200 plays."""
    instance = small(SyntheticProblem("zakharov"))
    for dictionary, rate in (("rbf", 0.2770), ("mixed", 0.1270)):
        params = study.Params(dictionary=dictionary)
        optimizer = study.METHODS["exp3bo"](instance, params, 210, Streams.of(0))
        assert optimizer.rate == pytest.approx(rate, abs=5e-5)
    assert study.METHODS["exp3bo"](instance, params, 8, Streams.of(0)).rate == 1
