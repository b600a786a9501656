"""The fidelity table of classify_dfo is bound to code, tests and README."""

import re

import numpy as np
import pytest

from fivebo.classify_dfo import problems, study
from fivebo.common.lab.experiments import load_paper
from fivebo.common.referee import fidelity


def test_fidelity_table_has_no_problem():
    assert fidelity.check("classify_dfo") == []


def test_every_numbered_statement_has_a_row():
    places = " ".join(row.where for row in fidelity.load("classify_dfo"))
    for line in (*range(1, 10), "11-12"):
        assert f"Algorithm 1, l. {line}" in places
    numbered = ("Eq. (1)", "Eq. (6)", "Corollary 1")
    theorems = [*range(1, 5), *(f"A.{n}" for n in range(1, 8))]
    lemmas = [f"A.{n}" for n in range(1, 11)]
    definitions = [1, 2, *(f"A.{n}" for n in range(1, 5))]
    for place in (*numbered, *(f"Theorem {n}" for n in theorems), *(f"Lemma {n}" for n in lemmas)):
        assert re.search(rf"{re.escape(place)}(?!\d)", places), place
    for n in definitions:
        assert re.search(rf"Definition {n}(?!\d)", places), n


@pytest.mark.paper(
    "classify_dfo", "alg1-eta", "alg1-batches", "alg1-repeats", "s3-penalty", "s3-draws",
    "s4-trees", "s4-perturbation", "s4-share", "fig5-objective",
)  # fmt: skip
def test_settings_have_the_values_of_the_table():
    config = load_paper("classify_dfo")
    records = {"Params": study.Params} | {r.__name__: r for r in study.PROBLEMS.values()}
    rows = [row for row in fidelity.load("classify_dfo") if row.field]
    assert len(rows) > 15
    for row in rows:
        owner, name = row.field.split(".")
        source = records[owner] if owner in records else config.experiments[owner]
        assert getattr(source, name) == row.value, row.id


@pytest.mark.paper("classify_dfo", "alg1-eta")
def test_expected_draws_of_the_best_sequence_by_a_perfect_classifier():
    """(n / |X|) times the sum of r^t, r = 1 / (1 - eta / 2), t = 1 to 9."""
    size = problems.DNA().draw(None).domain.size
    for eta, expected in ((0.5, 0.15), (1.0, 3.1)):
        draws = 100 / size * np.sum((1 / (1 - eta / 2)) ** np.arange(1, 10))
        assert draws == pytest.approx(expected, rel=0.03)


@pytest.mark.paper("classify_dfo", "thm-a4", "def-a3")
def test_the_default_bootstrap_has_the_draws_of_theorem_a4():
    from fivebo.classify_dfo.bootstrap_theory import bootstrap_draws

    assert study.Params().n_draws == bootstrap_draws(0.05)
