"""The fidelity checker, on a small paper that is right and then broken in one place at a time."""

import subprocess
import sys

import pytest
import yaml

import fivebo
from fivebo.common.referee import fidelity
from fivebo.common.referee.citations import algorithm_lines, cited_places, cites, commented_lines

STUDY = '''
from dataclasses import dataclass


@dataclass(frozen=True)
class Params:
    """Settings. Source: Sec. 5."""

    eta: float = 0.1


@dataclass(frozen=True)
class Problem:
    """A problem."""

    size: int = 3


PROBLEMS, METHODS, METRICS, DATA = {"p": Problem}, {"m": None}, ("average_regret",), {}


def width(t):
    """Half-width. Source: Theorem 2, Eqs. (3), (4)."""
    return t  # l. 2


class Base:
    def step(self):
        """One step."""
        return 1  # l. 4-5


class Search(Base):
    """Search. Source: Algorithm 1."""
'''

ROWS = [
    {
        "id": "eq-4",
        "where": "Eq. (4)",
        "what": "width",
        "code": "{p}.study:width",
        "status": "exact",
    },
    {
        "id": "l5",
        "where": "Alg. 1, l. 5",
        "what": "a step",
        "code": "{p}.study:Search",
        "status": "exact",
    },
    {
        "id": "eta",
        "where": "Sec. 5.2",
        "what": "regulariser",
        "code": "{p}.study:Params",
        "status": "assumed",
        "field": "Params.eta",
        "value": 0.1,
        "why": "not stated",
    },
    {
        "id": "horizon",
        "where": "Sec. 5",
        "what": "rounds",
        "code": ["{p}.study:Params"],
        "status": "assumed",
        "field": "fig1.horizon",
        "value": 7,
        "why": "not stated",
    },
    {"id": "lemma-9", "where": "Lemma 9", "what": "a step", "status": "omitted", "why": "proof"},
]

EXPERIMENTS = {
    "title": "Demo",
    "citation": "Demo 2026",
    "experiments": {
        "fig1": {
            "title": "One",
            "place": "Fig. 1",
            "problem": "p",
            "methods": ["m"],
            "metrics": ["average_regret"],
            "horizon": 7,
            "seeds": 2,
        }
    },
    "figures": {
        "fig1": {"experiments": ["fig1"], "place": "Fig. 1", "states": "s", "caption": "c"}
    },
}

TESTS = """
import pytest

SEVERAL = ("eta", "horizon")


@pytest.mark.paper("{p}", "eq-4")
@pytest.mark.paper("{p}", *SEVERAL)
def test_width():
    pass


def test_other():
    pytest.param(1, marks=pytest.mark.paper("{p}", "l5"))
"""


@pytest.fixture
def repository(tmp_path, monkeypatch, request):
    """Return (root, paper): a repository with a correct fidelity table."""
    paper = "demo_" + request.node.name.partition("[")[0].removeprefix("test_")[:30]
    folder = tmp_path / paper
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "study.py").write_text(STUDY)
    (folder / "problems.py").write_text("")
    (folder / "experiments.yaml").write_text(yaml.safe_dump({"paper": paper} | EXPERIMENTS))
    rows = yaml.safe_load(yaml.safe_dump(ROWS).replace("{p}", paper))
    (folder / "fidelity.yaml").write_text(yaml.safe_dump({"paper": paper, "rows": rows}))
    (folder / "README.md").write_text(f"# Demo\n{fidelity.BEGIN}\n{fidelity.END}\nend\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_demo.py").write_text(TESTS.replace("{p}", paper))
    monkeypatch.setattr(fivebo, "__path__", [str(tmp_path), *fivebo.__path__])
    return tmp_path, paper


def edit(root, paper, name, **changes):
    """Change one row of the file."""
    path = root / paper / "fidelity.yaml"
    source = yaml.safe_load(path.read_text())
    row = next(r for r in source["rows"] if r["id"] == name)
    row.update(changes)
    for key in [k for k, v in row.items() if v is None]:
        del row[key]
    path.write_text(yaml.safe_dump(source))


def test_right_table_has_no_problem_once_the_readme_is_written(repository):
    root, paper = repository
    assert fidelity.check(paper, root) == [
        f"{paper}/README.md: table is not that of fidelity.yaml; rewrite with --fix"
    ]
    assert fidelity.fix_readme(paper, root) is True
    assert fidelity.check(paper, root) == []
    assert fidelity.fix_readme(paper, root) is False
    text = (root / paper / "README.md").read_text()
    assert text.startswith("# Demo\n")
    assert text.endswith("end\n")
    assert "5 rows: 2 exact, 2 assumed, 0 deviates, 1 omitted." in text
    assert "`test_demo.py::test_width`" in text


@pytest.mark.parametrize(
    ("name", "changes", "problem"),
    [
        ("eq-4", {"where": "Eq. (5)"}, "no docstring of"),
        ("eq-4", {"code": "fivebo.common.referee.stats:nothing"}, "code cannot be imported"),
        ("l5", {"where": "Alg. 1, l. 6"}, "no comment 'l. 6'"),
        ("eta", {"value": 0.2}, "value 0.2 is not the default 0.1 of Params.eta"),
        ("eta", {"field": "Params.etta"}, "field Params.etta does not exist"),
        ("horizon", {"value": 8}, "value 8 is not the default 7 of fig1.horizon"),
        ("eta", {"id": "etaa"}, 'no test is marked @pytest.mark.paper("'),
    ],
)
def test_each_broken_binding_is_named(repository, name, changes, problem):
    root, paper = repository
    edit(root, paper, name, **changes)
    fidelity.fix_readme(paper, root)
    problems = fidelity.check(paper, root)
    assert len(problems) >= 1
    assert problems[0].startswith(changes.get("id", name) + ": ")
    assert problem in problems[0]
    if "id" in changes:
        assert f"{name}: marked by tests/test_demo.py::test_width" in problems[1]


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("eq-4", {"status": "exakt"}, "unknown status 'exakt'; did you mean 'exact'"),
        ("eq-4", {"vallue": 1}, "unknown key 'vallue'; did you mean 'value'"),
        ("eta", {"why": None}, "status 'assumed' needs 'why'"),
        ("eta", {"value": None}, "status 'assumed' needs 'value'"),
        ("lemma-9", {"why": None}, "status 'omitted' needs 'why'"),
        ("lemma-9", {"status": "exact"}, "give 'code' exactly if"),
        ("l5", {"id": "eq-4"}, "this id appears 2 times"),
    ],
)
def test_wrong_rows_are_refused(repository, name, changes, message):
    root, paper = repository
    edit(root, paper, name, **changes)
    with pytest.raises(ValueError, match=rf"^{paper}/fidelity.yaml: ") as caught:
        fidelity.load(paper, root)
    assert message in str(caught.value)
    assert fidelity.check(paper, root) == [str(caught.value)]


def test_a_changed_table_shows_as_drift(repository):
    root, paper = repository
    fidelity.fix_readme(paper, root)
    readme = root / paper / "README.md"
    readme.write_text(readme.read_text().replace("0.1", "0.3"))
    assert "table is not that of fidelity.yaml" in fidelity.check(paper, root)[0]
    readme.write_text("# no markers\n")
    with pytest.raises(ValueError, match="add the lines"):
        fidelity.fix_readme(paper, root)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Source: [X] Sec. 3.1, Eq. (1).", {("section", "3.1"), ("equation", "1")}),
        ("App. A, Eqs. (5), (6)", {("appendix", "A"), ("equation", "5"), ("equation", "6")}),
        ("Lemmas 9, 10 and 11", {("lemma", "9"), ("lemma", "10"), ("lemma", "11")}),
        ("Algorithm 2, Theorem 3", {("algorithm", "2"), ("theorem", "3")}),
        ("Fig. 1 (a)-(c)", {("figure", "1")}),
        ("App. D.1", {("appendix", "D.1")}),
        ("equal to 5", set()),
    ],
)
def test_places_are_read_from_prose(text, places):
    assert cited_places(text) == places


def test_a_section_covers_its_subsections_only():
    assert cites("Sec. 4", "Sec. 4.1")
    assert not cites("Sec. 4.1", "Sec. 4")
    assert not cites("Sec. 1", "Sec. 10")
    assert not cites("Eq. (1)", "Theorem 1")


def test_lines_of_algorithms():
    assert algorithm_lines("Alg. 1, l. 7-9") == {7, 8, 9}
    assert commented_lines("x = 1  # l. 3\ny = 'l. 5'\nz  # [X] l. 6-7, Eq. (2)") == {3, 6, 7}


def test_a_failed_test_names_the_rows_it_pins(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n\n@pytest.mark.paper('mtbo', 'thm-2-radius', 'eq-3')\n"
        "def test_radius():\n    assert 1 + 1 == 3\n"
    )
    options = ["-p", "tests.conftest", "-c", "pyproject.toml", f"--rootdir={tmp_path}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=fidelity.ROOT,
    )
    assert done.returncode == 1
    assert "mtbo: thm-2-radius\nmtbo: eq-3" in done.stdout
