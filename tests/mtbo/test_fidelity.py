"""The fidelity table of mtbo is bound to code, tests and README; settings have its values."""

import re

import numpy as np
import pytest

from fivebo.common.lab.experiments import load_paper
from fivebo.common.referee import fidelity
from fivebo.common.search.rng import rng_for
from fivebo.mtbo import problems


def test_fidelity_table_has_no_problem():
    assert fidelity.check("mtbo") == []


def test_every_line_of_both_algorithms_has_a_row():
    lines = {1: set(), 2: set()}
    for row in fidelity.load("mtbo"):
        match = re.match(r"Alg\. (\d), l\. (\d+)(?:-(\d+)| and (\d+))?$", row.where)
        if match:
            first, last, also = (int(g) if g else None for g in match.groups()[1:])
            lines[int(match[1])] |= set(range(first, (last or first) + 1)) | ({also} - {None})
    assert lines == {1: set(range(1, 10)), 2: set(range(1, 19))}


def test_every_numbered_statement_has_a_row():
    places = " ".join(row.where for row in fidelity.load("mtbo"))
    for kind, last in (("Eq. ({})", 23), ("Lemma {}", 10), ("Theorem {}", 3), ("Remark {}", 4)):
        for n in range(1, last + 1):
            assert kind.format(n) in places


SETTINGS = (
    "s2-reference", "s2-lipschitz", "alg2-l9", "thm-1", "thm-3-q", "s5-eta", "s5-delta", "s5-eps",
    "s5-scalarization", "s5-trials", "s5-horizon", "s5-rkhs-centres", "s5-rkhs-grid",
    "s5-rkhs-lengthscale", "s5-norm-bound", "s5-rkhs-noise", "s5-rkhs-scale", "s5-sine-noise",
    "s5-sine-omega", "s5-branin-tasks", "s5-branin-grid", "s5-branin-omega", "s5-branin-noise",
    "s5-sensors-split", "s5-sensors-jitter", "s5-sensors-units", "app-e-bayes-samples",
    "app-e-it-radius", "app-e-it-gain", "app-e-it-kernel", "app-e-it-bkb", "app-e-mobo",
    "s5-branin", "s5-branin-axes", "s5-branin-lengthscale", "s5-sine", "s5-sine-width",
    "s5-sine-centres", "s5-sine-grid", "s5-sine-lengthscale", "app-e-it-norm-bound",
    "app-e-it-regulariser",
)  # fmt: skip


@pytest.mark.paper("mtbo", *SETTINGS)
def test_settings_are_the_rows_values():
    config = load_paper("mtbo", "paper")
    with_field = [row for row in fidelity.load("mtbo") if row.field]
    assert {row.id for row in with_field} == set(SETTINGS)
    assert [p for row in with_field for p in fidelity.field_problems(row, "mtbo", config)] == []


@pytest.mark.paper("mtbo", "s5-fig1a-tasks", "s5-rkhs-tasks", "app-e-fig2-tasks", "s5-mobo-where")
def test_experiments_have_the_papers_tasks_and_methods():
    config = load_paper("mtbo", "paper")
    tasks = {
        n: e.problem_params(e.variants[0]).get("n_tasks") for n, e in config.experiments.items()
    }
    assert (tasks["fig1a"], tasks["fig1b"], tasks["fig1c"], tasks["fig2a"]) == (4, 2, 20, 2)
    fig1a = config.experiments["fig1a"]
    omegas = sorted(fig1a.problem_params(v)["omega"] for v in fig1a.variants)
    assert omegas == [0, 0.25, 0.5, 0.75, 1]
    assert "mobo" not in config.experiments["fig1c"].method_names
    for name in ("fig1d", "fig1e", "fig1f", "fig2b", "fig2c"):
        assert "mobo" in config.experiments[name].method_names


@pytest.mark.paper("mtbo", "app-e-no-tuning")
def test_settings_are_shared_by_all_methods():
    for experiment in load_paper("mtbo", "paper").experiments.values():
        for variant in experiment.variants:
            shared = {"eta", "delta", "epsilon"} & set(experiment.params(variant))
            assert shared == {"eta", "delta", "epsilon"}


def draw(problem):
    return problem.draw(rng_for("mtbo", "test", "fidelity", 0, "instance"))


@pytest.mark.paper("mtbo", "s5-sine", "s5-sine-weights")
def test_sine_tasks_are_a_sine_and_three_bumps():
    instance = draw(problems.SineProblem())
    x = instance.domain.points[:, 0]
    W = [[1, 0.5, -0.5], [-0.5, 1, 0.5], [0.5, -1, 1], [-1, -0.5, -1]]
    bumps = np.exp(-((x[:, None] - [0.05, 0.4, 0.7]) ** 2) / (2 * 0.1**2))
    expected = np.sin(2 * np.pi * x)[:, None] + 0.6 * bumps @ np.transpose(W)
    np.testing.assert_allclose(instance.values, expected, atol=1e-12)


@pytest.mark.paper("mtbo", "s5-branin", "s5-branin-scale")
def test_branin_tasks_are_shifted_negated_and_share_one_scale():
    instance = draw(problems.BraninProblem())
    assert instance.values.shape == (900, 10)
    assert instance.values.mean() == pytest.approx(0, abs=1e-12)
    assert instance.values.std() == pytest.approx(1)
    x1, x2 = (15 * instance.domain.points + [-5, 0]).T
    shifts = [0.15 * i for i in range(1, 11)]  # i % of a range of 15
    raw = np.column_stack([-problems.branin(x1 - s, x2 - s) for s in shifts])
    np.testing.assert_allclose(instance.values, (raw - raw.mean()) / raw.std(), atol=1e-12)


@pytest.mark.paper("mtbo", "s5-rkhs-function", "s5-rkhs-coefficients", "s5-rkhs-b", "s5-rkhs-kappa")
def test_rkhs_functions_have_the_stated_size():
    for seed in range(20):
        rng = rng_for("mtbo", "test", "fidelity", seed, "instance")
        instance = problems.RKHSProblem(n_tasks=3).draw(rng)
        B = instance.kernel.B
        assert 0 <= B.min() <= B.max() <= 3  # sums of 3 products of numbers in [0, 1]
        assert instance.kappa == pytest.approx(np.linalg.eigvalsh(B)[-1])
        # reproducing property: |f(x)| <= ||f|| sqrt(kappa)
        largest = np.linalg.norm(instance.values, axis=1).max()
        assert largest <= instance.true_norm * np.sqrt(instance.kappa) * (1 + 1e-12)
