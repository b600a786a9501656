"""The fidelity table of gpoo is bound to code, tests and README; settings have its values."""

import re

import numpy as np
import pandas as pd
import pytest

from fivebo.common.lab.experiments import load_paper
from fivebo.common.lab.results import Results
from fivebo.common.referee import fidelity
from fivebo.gpoo import figures, study


def test_fidelity_table_has_no_problem():
    assert fidelity.check("gpoo") == []


def test_every_line_equation_and_statement_has_a_row():
    rows = fidelity.load("gpoo")
    lines = [m[1] for row in rows if (m := re.match(r"Alg\. 1, l\. (\d+)$", row.where))]
    assert lines == [str(n) for n in range(1, 9)]
    places = " ".join(row.where for row in rows)
    for kind, last in (
        ("Eq. ({})", 5),
        ("Definition {}", 3),
        ("Assumption {}", 4),
        ("Lemma {}", 1),
    ):
        for n in range(1, last + 1):
            assert kind.format(n) in places
    ids = {row.id for row in rows}
    for n in range(1, 10):
        assert any(i.startswith(f"code-c{n}") for i in ids)


SETTINGS = (
    "s2-higher-dim", "s2-two-stage", "alg1-l1", "alg1-l6", "alg1-l8", "app-a-quantile",
    "lemma-1-beta", "s5-kernel", "s5-noise", "s5-prior-variance", "s5-arity", "s5-points",
    "s5-budget", "s5-repeats",
    "s5-delta", "s5-beta", "s5-stooo", "s5-stooo-fresh", "s5-eta", "code-c3", "code-c5", "code-c6",
    "code-c7-base", "code-c9",
)  # fmt: skip


@pytest.mark.paper("gpoo", *SETTINGS)
def test_settings_have_the_values_of_the_table():
    rows = {row.id: row for row in fidelity.load("gpoo")}
    assert {name for name, row in rows.items() if row.field} == set(SETTINGS)
    config = load_paper("gpoo")
    for name in SETTINGS:
        assert list(fidelity.field_problems(rows[name], "gpoo", config)) == []


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Results of the experiment "illustration", shortened."""
    from fivebo.common.lab import jobs

    root = tmp_path_factory.mktemp("root")
    full = load_paper("gpoo", "smoke").experiments["illustration"]
    folder = root / "results/smoke/gpoo/illustration"
    tables = jobs.run_seeds(full, [0], jobs.kept_runs(folder), say=lambda line: None)
    jobs.write_tables(tables, folder)
    return Results("smoke", "gpoo", root)


@pytest.mark.paper("gpoo", "s5-trees", "s5-figures")
@pytest.mark.parametrize("name", ["fig1", "fig2", "fig3", "functions", "trees"])
def test_figures_of_recorded_runs(recorded, name):
    figure, data = getattr(figures, name)(recorded)
    assert isinstance(data, pd.DataFrame)
    assert len(data)
    assert figure.axes


@pytest.mark.paper("gpoo", "s5-figures")
def test_replayed_runs_are_the_recorded_ones(recorded):
    trace = recorded.trace("illustration", "reward")
    part = trace[(trace["variant"] == "f1-s10") & (trace["method"] == "gpoo")]
    _, search = figures.replay(recorded, "f1-s10", "gpoo")
    np.testing.assert_array_equal(search.result()["y"], part.sort_values("step")["value"])
    table = figures._leaf_table(search, search.n_told + 1)
    np.testing.assert_allclose(table["b"], table["mean"] + table["width"] + table["delta"])
    assert table["low"].iloc[0] == 0
    np.testing.assert_array_equal(table["high"][:-1], table["low"][1:])


class Stub:
    """Regrets of two seeds: 0.1 and 0.3 for every setting of an experiment."""

    def config(self, name):
        return load_paper("gpoo", "paper").experiments[name]

    def trace(self, name, metric="aggregated_regret"):
        config = self.config(name)
        rows = [
            (variant, method, seed, step, metric, value)
            for variant in config.variants
            for method in config.methods(variant)
            for seed, value in enumerate((0.1, 0.3))
            for step in (1, config.horizon)
        ]
        return pd.DataFrame(rows, columns=["variant", "method", "seed", "step", "metric", "value"])


@pytest.mark.paper("gpoo", "s5-sk-map")
def test_map_of_points_and_arity_shows_the_natural_log_of_the_mean():
    figure, data = figures.sk(Stub())
    assert set(zip(data["S"], data["K"], strict=True)) == {
        (S, K) for S in (1, 10, 20, 30, 40, 50) for K in (2, 3, 4, 5)
    }
    np.testing.assert_allclose(data["log_mean"], -1.6094379124)  # log 0.2, not the mean of logs
    assert figure.axes[0].get_xlabel().startswith("arity")


@pytest.mark.paper("gpoo", "s5-bands")
def test_regret_curves_are_means_with_one_standard_deviation():
    figure, data = figures.regret(Stub())
    np.testing.assert_allclose(data["mean"], 0.2)
    np.testing.assert_allclose(data["high"] - data["mean"], 0.1 * np.sqrt(2))
    published = data[data["panel"].str.endswith("authors' form")]
    curves = published.groupby("panel")["method"].unique().map(set)
    assert len(curves) == 3
    for shown in curves:
        assert shown == {"gpoo", "stooo", "gptree", "gpoo-s10", "stooo-s10"}


@pytest.mark.paper("gpoo", "s5-function-plots")
def test_plots_of_the_functions_mark_their_maximisers(recorded):
    figure, _ = figures.functions(recorded)
    for ax, x in zip(figure.axes, (0.8999, 0.973, 0.956), strict=False):
        marked = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 1]
        assert np.abs(marked[0][0] - x) < 1e-3
    assert study.Params().delta_scale == 14
