"""The generated tables: right when written, red after any change by hand."""

import json
import shutil

import pytest
import yaml

from fivebo.common.page import summary

PLACE = {"where": "Sec. 5", "says": "so", "metric": "average_regret"}
MARKED = f"# Title\n\n{summary.BEGIN}\n{summary.END}\n\nEnd.\n"


@pytest.fixture
def written(repository):
    """The small repository, with one claim a stated figure, its tables written."""
    claims = [
        {"id": i, "test": test, "figure": figure, **PLACE}
        for i, test, figure in (
            ("faster", "less", "fig1"),
            ("missing", "less", "fig2"),
            ("bound", "certificate", "fig1"),
        )
    ]
    path = repository / "reported/experiments.yaml"
    path.write_text(path.read_text() + f"claims: {json.dumps(claims)}\n")
    (repository / "README.md").write_text(MARKED)
    (repository / "reported/README.md").write_text(MARKED)
    summary.write(repository)
    return repository


def test_tables_count_verdicts_runs_and_rows(written):
    assert summary.check(written) == []
    table = (written / "README.md").read_text()
    assert "Learning <fast> & well | 1 reproduced, 0 not reproduced, 1 inconclusive" in table
    assert "0 held, 1 violated, 0 inconclusive | 1 exact, 1 assumed" in table
    assert "**quick** scale: 2, 0.1 min" in table
    assert table.startswith("# Title")
    assert table.endswith("End.\n")
    rows = (written / "reported/README.md").read_text().splitlines()
    assert "| fig1 | Fig. 1 | 1 |  |  |  | 1 |  |" in rows
    assert "| fig2 | Fig. 2 |  |  | 1 |  |  |  |" in rows
    assert "./reproduce paper reported" in (written / "figures/README.md").read_text()


@pytest.mark.parametrize("name", ["README.md", "reported/README.md", "figures/README.md"])
def test_a_changed_number_is_found(written, name):
    path = written / name
    path.write_text(path.read_text().replace("1", "7").replace("paper reported", "paper x"))
    (problem,) = summary.check(written)
    assert problem.startswith(f"{name}: its table is not that of figures/summary.json")


def test_a_claim_without_verdict_is_found(written):
    path = written / "reported/experiments.yaml"
    text = path.read_text().replace('"id": "faster"', '"id": "x"').rstrip()
    claim = text[text.index('[{"id": "x"') + 1 : text.index("}") + 1]
    path.write_text(text.replace("[{", f"[{claim.replace('x', 'y', 1)}, {{"))
    (problem,) = summary.check(written)
    assert "fig1: 1 claims have a verdict, experiments.yaml has 2" in problem


def test_paper_scale_wins_and_a_deleted_figure_is_found(written):
    for folder in ("figures", "results"):
        (written / folder / "quick").rename(written / folder / "paper")
    built = written / "figures/paper/reported"
    for kind in summary.KINDS:
        (built / f"fig2.{kind}").write_bytes((built / f"fig1.{kind}").read_bytes())
    summary.write(written)
    assert summary.check(written) == []
    assert "**paper** scale" in (written / "README.md").read_text()
    assert (
        "![fig1 of reported](paper/reported/fig1.png)"
        in (written / "figures/README.md").read_text()
    )
    (built / "fig2.png").unlink()
    (built / "stray.png").write_bytes(b"")
    missing, stray = summary.check(written)
    assert missing == "figures/paper/reported/fig2.png is missing: ./reproduce paper reported"
    assert "stray.png belongs to no figure" in stray


def test_a_quicker_scale_does_not_replace_the_papers_own(written):
    for folder in ("figures", "results"):
        shutil.copytree(written / folder / "quick", written / folder / "paper")
    summary.write(written)
    (written / "results/paper/reported/main/runs.parquet").unlink()  # as in a fresh clone
    before = (written / "README.md").read_text()
    assert "**paper** scale" in before
    summary.write(written)
    assert (written / "README.md").read_text() == before


def test_a_part_of_the_experiments_is_not_counted(written):
    before = (written / "figures/summary.json").read_text()
    path = written / "reported/experiments.yaml"
    text = path.read_text()
    given = yaml.safe_load(text)
    given["experiments"]["other"] = given["experiments"]["main"]
    path.write_text(yaml.safe_dump(given))
    summary.write(written)
    assert (written / "figures/summary.json").read_text() == before
    assert summary.collect("reported", written) is None


def test_tables_stay_where_nothing_is_on_disk(written):
    before = (written / "README.md").read_text()
    (written / "results/quick/reported/main/runs.parquet").unlink()
    summary.write(written)
    assert (written / "README.md").read_text() == before


def test_missing_markers_are_one_clear_line(written):
    (written / "README.md").write_text("# Title\n")
    with pytest.raises(ValueError, match=r"README.md: add the lines <!-- verdicts:begin"):
        summary.check(written)


def test_an_adverse_verdict_needs_a_word_why(written):
    table = written / "figures/quick/reported/claims.csv"
    table.write_text(table.read_text().replace("the step is short", ""))
    summary.write(written)
    (problem,) = summary.check(written)
    assert "claims.bound: say in 'differs' why" in problem
