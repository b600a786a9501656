"""The fidelity table of egpbo is bound to code, tests and README; settings have its values."""

import numpy as np
import pytest

from fivebo.common.lab.experiments import load_paper
from fivebo.common.referee import fidelity
from fivebo.egpbo import EGPTS
from fivebo.egpbo.tuning import TuningProblem


def test_fidelity_table_has_no_problem():
    assert fidelity.check("egpbo") == []


def test_every_numbered_statement_has_a_row():
    places = " ".join(row.where for row in fidelity.load("egpbo"))
    for n in (5, 7, 8, 9, 10, 12, 13, 14, 15):  # the numbered equations that our text has
        assert f"Eq. ({n})" in places
    for place in ("Theorem 1", "Theorem 2", "Theorem 3", "Lemma 1", "Lemma 2", "Lemma 3",
                  "Alg. 1", "Alg. 2", "Table 1", "Table 2", "Table 3"):  # fmt: skip
        assert place in places


SETTINGS = (
    "s2-spectral", "s3-evidence", "s3-restarts", "s3-full-fit", "s3-solver", "s3-durations",
    "s5-n-init", "s5-d", "s5-refit", "s5-gp-refit", "s5-floor", "s5-rbf-meaning", "s5-noise-var",
    "s5-inputs", "s5-outputs", "s5-length-bounds", "s5-horizon", "s5-repetitions", "s5-gp-ei",
    "s5-bayes", "s5-bayes-priors", "s5-bayes-sampler", "s5-exp3-rewards", "s52-goals",
    "s52-noise", "s52-noise-obs", "s5-bayes-length", "s5-bayes-magnitude", "s5-magnitude-bounds",
)  # fmt: skip


@pytest.mark.paper(
    "egpbo",
    "s3-restarts", "s3-full-fit", "s5-d", "s5-refit", "s5-gp-refit", "s5-noise-var", "s5-inputs",
    "s5-outputs", "s5-length-bounds", "s5-horizon", "s5-repetitions", "s52-noise-obs",
    "s5-bayes-length", "s5-bayes-magnitude", "s5-magnitude-bounds",
)  # fmt: skip
def test_settings_are_the_rows_values():
    config = load_paper("egpbo", "paper")
    with_field = [row for row in fidelity.load("egpbo") if row.field]
    assert {row.id for row in with_field} == set(SETTINGS)
    assert [p for row in with_field for p in fidelity.field_problems(row, "egpbo", config)] == []


@pytest.mark.paper("egpbo", "s53-epochs", "s53-split")
def test_settings_of_the_tuning_tasks():
    assert (TuningProblem().max_epochs, TuningProblem().validation_share) == (60, 0.3)


@pytest.mark.paper("egpbo", "s5-w0")
def test_prior_weights_are_equal():
    np.testing.assert_array_equal(EGPTS([[0, 1]]).weights, np.full(4, 0.25))


@pytest.mark.paper("egpbo", "s5-mixed", "s5-rbf")
def test_experiments_have_the_papers_methods():
    config = load_paper("egpbo", "paper")
    single = {"gp-ts-rbf", "gp-ts-ard", "gp-ts-m32", "gp-ts-m52", "gp-ei"}
    for name in ("fig1", "fig3a"):
        assert {"egp-ts", "banditbo", "exp3bo", *single} <= set(
            config.experiments[name].method_names
        )
    for name in ("fig2", "fig3b"):
        experiment = config.experiments[name]
        assert "gp-ts-bayes" in experiment.method_names
        assert experiment.params(experiment.variants[0])["dictionary"] == "rbf"
    datasets = {"breast-cancer", "iris", "transportation", "wine"}
    for n in range(4, 10):
        assert set(config.experiments[f"fig{n}"].variants) == datasets
