"""The fidelity table of mvabo is bound to code, tests and README; settings have its values."""

import re
from pathlib import Path

import numpy as np
import pytest

from fivebo.common.files import ROOT
from fivebo.common.lab.experiments import load_paper
from fivebo.common.page import plotting
from fivebo.common.referee import fidelity
from fivebo.mvabo import study


def test_fidelity_table_has_no_problem():
    assert fidelity.check("mvabo") == []


def test_every_line_of_the_three_algorithms_has_a_row():
    lines = {1: set(), 2: set(), 3: set()}
    for row in fidelity.load("mvabo"):
        match = re.match(r"Alg\. (\d), l\. (\d+)$", row.where)
        if match:
            lines[int(match[1])].add(int(match[2]))
    assert lines == {1: set(range(1, 7)), 2: set(range(1, 12)), 3: set(range(1, 15))}


def test_every_numbered_statement_has_a_row():
    places = " ".join(row.where + " " for row in fidelity.load("mvabo"))
    numbers = {int(n) for n in re.findall(r"\((\d+)\)", places)}
    assert numbers == set(range(1, 46))
    theorems = ("4.1", "4.2", "B.1", "C.1", "C.2", "D.1")
    lemmas = ("2.1", *(f"A.{n}" for n in range(1, 7)), "D.1", "D.2", "D.3")
    for kind, names in (("Theorem", theorems), ("Lemma", lemmas), ("Fig.", "123")):
        for name in names:
            assert f"{kind} {name} " in places


SETTINGS = (
    "s5-rule", "s5-alpha", "s5-beta", "s5-beta-kind", "s5-delta", "s5-eps", "s51-oracle-nodes",
    "s51-oracle-jitter", "s51-paths", "s51-runs", "s51-scale", "s51-variance", "s51-sigma",
    "s51-grid", "s51-bird-horizon", "s51-gp-horizon", "s51-rosenbrock-horizon", "s51-bird-runs",
    "s51-rosenbrock-runs", "s51-rosenbrock-box", "s51-benchmark-sign", "s51-benchmark-scale",
    "s51-ml-every", "s51-ml-start", "s52-parameters", "s52-grid", "s52-model", "s52-runs",
    "s52-horizon", "app-b-h", "s332-problem", "app-d-problem", "s51-grid-w", "s51-bird-grid",
    "s51-bird-grid-w", "s51-bird-box", "s51-bird-sigma", "s51-rosenbrock-grid",
    "s51-rosenbrock-grid-w", "s51-rosenbrock-sigma", "s51-rosenbrock-low", "s51-rosenbrock-sign",
    "s51-rosenbrock-scale", "s51-rosenbrock-start", "s52-customers", "s52-costs", "s52-prices",
    "s52-quantile", "s52-grid-w", "s52-capacity", "s52-replications", "s52-scale", "s52-start",
    "s5-nature", "s5-known-p",
)  # fmt: skip


@pytest.mark.paper("mvabo", *SETTINGS)
def test_settings_are_the_rows_values():
    config = load_paper("mvabo", "paper")
    with_field = [row for row in fidelity.load("mvabo") if row.field]
    assert {row.id for row in with_field} == set(SETTINGS)
    assert [p for row in with_field for p in fidelity.field_problems(row, "mvabo", config)] == []


@pytest.mark.paper("mvabo", "s2-omega", "s52-w-rule", "s51-fig2", "s52-fig3", "s5-shared-beta")
def test_experiments_have_the_papers_methods_and_setting():
    config = load_paper("mvabo", "paper")
    everyone = set(study.METHODS) - {"mt-mva-bo-continuous", "constrained-mva-bo"}
    for name in ("gp-test", "bird", "rosenbrock", "newsvendor"):
        experiment = config.experiments[name]
        assert set(experiment.method_names) == everyone
        (variant,) = experiment.variants
        params = study.Params(**experiment.params(variant))  # one record for all methods
        assert params.w_rule == ("sd" if name == "newsvendor" else "nature")
        assert (params.alpha, params.beta_sqrt, params.eps) == (0.5, 3.0, (0.0, 0.0))
    assert config.experiments["rosenbrock"].problem_params("grid-100") == {"n_x": 100}
    assert config.figures["fig2"]["experiments"] == ["gp-test", "bird", "rosenbrock"]
    assert set(study.METHODS) <= set(plotting.METHODS)


@pytest.mark.paper("mvabo", "alg1-ties", "s5-initial")
def test_the_first_design_is_any_of_all():
    instance = study.PROBLEMS["gp-test"](n_x=6, n_w=4).draw(np.random.default_rng(0))
    firsts = {
        float(study.METHODS["mt-mva-bo"](instance, study.Params(), 1, seed).ask()[0])
        for seed in range(60)
    }
    assert len(firsts) == 6


def test_the_readmes_example_runs(capsys):
    text = Path(ROOT, "mvabo", "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "README", "exec"), {})
    best = float(capsys.readouterr().out.strip("[] \n"))
    assert best == pytest.approx(0.3, abs=0.1) or best == pytest.approx(0.0, abs=0.05)
