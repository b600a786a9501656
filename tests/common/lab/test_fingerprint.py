"""Fingerprints: blind to what changes no behaviour, and to code that is not reached."""

import pytest

from fivebo.common.lab.experiments import papers
from fivebo.common.lab.fingerprint import fingerprint, reached_modules
from fivebo.common.lab.jobs import code_of

FILES = {
    "shared/__init__.py": '"""Shared."""',
    "shared/base.py": '"""Base."""\n\n\ndef one():\n    """Return 1."""\n    return 1\n',
    "shared/late.py": "VALUE = 2\n",
    "shared/loner.py": "VALUE = 3\n",
    "alpha/__init__.py": (
        '"""Alpha."""\nimport importlib\n_HOME = {"Thing": "things"}\n\n\n'
        "def __getattr__(name):\n"
        '    return getattr(importlib.import_module(f"alpha.{_HOME[name]}"), name)\n'
    ),
    "alpha/things.py": "Thing = 1\n",
    "alpha/study.py": (
        "import os\nfrom shared.base import one\n\n\n"
        "def draw():\n    from shared import late\n    return late.VALUE + one()\n"
    ),
    "alpha/figures.py": "from .study import draw\n",
    "beta/__init__.py": "",
    "beta/study.py": 'import importlib\nMODULE = importlib.import_module("shared.late")\n',
}


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def all_prints(root):
    roots = ("alpha.study", "alpha.figures", "beta.study")
    return {name: fingerprint([name], root) for name in roots}


def changed_by(root, name, old, new):
    before = all_prints(root)
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))
    after = all_prints(root)
    return {key for key in before if before[key] != after[key]}


def test_imports_are_followed_wherever_they_stand(root):
    assert set(reached_modules(["alpha.study"], root)) == {
        *("alpha", "alpha.study", "alpha.things"),
        *("shared", "shared.base", "shared.late"),
    }
    assert "shared.late" in reached_modules(["beta.study"], root)
    assert "alpha.study" in reached_modules(["alpha.figures"], root)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("shared/base.py", "Return 1.", "Return one."),
        ("shared/base.py", '    """Return 1."""\n', ""),
        ("shared/base.py", "return 1", "return  1  # one"),
        ("shared/base.py", "def one", "\n\n# one\ndef one"),
        ("shared/late.py", "VALUE = 2\n", 'VALUE = 2\n"""The value."""\n'),
        ("shared/loner.py", "3", "4"),
    ],
)
def test_edits_without_effect_change_nothing(root, name, old, new):
    assert changed_by(root, name, old, new) == set()


@pytest.mark.parametrize(
    ("name", "old", "new", "changed"),
    [
        ("shared/base.py", "return 1", "return 2", {"alpha.study", "alpha.figures"}),
        ("shared/late.py", "2", "3", {"alpha.study", "alpha.figures", "beta.study"}),
        ("alpha/figures.py", "draw", "draw as d", {"alpha.figures"}),
        ("alpha/things.py", "1", "2", {"alpha.study", "alpha.figures"}),
        ("beta/__init__.py", "", "x = 1", {"beta.study"}),
    ],
)
def test_edits_with_effect_change_those_who_reach_them(root, name, old, new, changed):
    assert changed_by(root, name, old, new) == changed


def test_fingerprint_does_not_depend_on_place_or_order(root, tmp_path):
    both = fingerprint(["alpha.study", "beta.study"], root)
    assert both == fingerprint(["beta.study", "alpha.study"], root)
    moved = root.rename(tmp_path.with_name(tmp_path.name + "-moved"))
    assert both == fingerprint(["alpha.study", "beta.study"], moved)
    assert len(both) == 16


def test_unknown_root_is_refused(root):
    with pytest.raises(ValueError, match=r"'alpha\.nothing' is no module"):
        fingerprint(["alpha.nothing"], root)


@pytest.mark.parametrize("paper", papers())
def test_runs_do_not_depend_on_figures_claims_or_the_workflow(paper):
    reached = reached_modules([f"{paper}.study", "fivebo.common.lab.runner"])
    never = ("claims", "stats", "plotting", "report", "fidelity", "workflow", "cli", "commands")
    assert not {f"common.{name}" for name in (*never, "experiments", "results")} & set(reached)
    assert f"{paper}.figures" not in reached
    assert {f"{paper}.algorithms", f"{paper}.problems", "fivebo.common.search.rng"} <= set(reached)
    assert len(code_of(paper)) == 16
