"""Fingerprints: an edit changes those who reach it by name, and nobody else."""

import ast
import functools
import inspect
import sys
from pathlib import Path

import pytest

from fivebo.common.files import ROOT
from fivebo.common.lab import runner, stamps
from fivebo.common.lab.experiments import load_paper, load_study, papers
from fivebo.common.lab.fingerprint import fingerprint, reached
from tests.conftest import plant

STUDY = "fivebo.alpha.study:"
FILES = {
    "fivebo/__init__.py": "",
    "common/__init__.py": "",
    "common/base.py": (
        '"""Base."""\nimport math\nfrom functools import cache\n\nLIMIT = 1\n\n\n'
        'def one():\n    """Return 1."""\n    return 1\n\n\n'
        "@cache\ndef two():\n    return 2 * one()\n\n\n"
        "def three():\n    return LIMIT + math.pi\n"
    ),
    "common/late.py": "VALUE = 2\nOTHER = 4\n",
    "common/loner.py": "VALUE = 3\n",
    "common/starred.py": "from fivebo.common.late import *\nOWN = 5\n",
    "common/plugins.py": (
        "from fivebo.common.book import register\n\n\n@register\ndef f():\n    return 1\n"
    ),
    "common/aside.py": "def g():\n    return 1\n",
    "common/book.py": "BOOK = {}\n\n\ndef register(f):\n    BOOK[f.__name__] = f\n    return f\n",
    "common/open.py": (
        "def __getattr__(name):\n    return hidden\n\n\ndef hidden():\n    return 0\n\n\n"
        "def pick(name):\n    return globals()[name]\n\n\ndef picked():\n    return 6\n"
    ),
    "common/family.py": (
        "class Base:\n    def __init_subclass__(cls):\n        ALL.append(cls)\n\n\nALL = []\n"
    ),
    "common/children.py": (
        "from fivebo.common.family import Base\n\n\nclass Child(Base):\n    size = 1\n"
    ),
    "alpha/__init__.py": (
        '"""Alpha."""\nimport importlib\n_HOME = {"Thing": "things"}\n\n\n'
        "def __getattr__(name):\n"
        '    return getattr(importlib.import_module("." + _HOME[name], __package__), name)\n'
    ),
    "alpha/things.py": "Thing = 1\n",
    "alpha/rivals.py": (
        "from fivebo.common import base\n\n\nclass Plain:\n    size = 1\n\n\n"
        "class Grown(Plain):\n    size = base.two()\n\n\n"
        "class Loner:\n    def ask(self):\n        from ..common.late import VALUE\n"
        "        return VALUE\n"
    ),
    "alpha/study.py": (
        "import fivebo.common.aside\nfrom fivebo.common.children import Child\n"
        "from fivebo.common.plugins import f\n"
        "from functools import partial\nimport fivebo.alpha\n"
        "from fivebo.alpha.rivals import Grown, Loner, Plain as P\n"
        "from fivebo.common import base, family, loner, open as opened\n"
        "from fivebo.common.book import BOOK\n"
        "from fivebo.common.starred import *\n\n\n"
        "def build(cls, size=1):\n    return cls(size)\n\n\n"
        "METHODS = {\n"
        '    "plain": partial(build, P),\n'
        '    "grown": lambda: Grown(),\n'
        '    "loner": partial(build, Loner, size=2),\n'
        '    "book": lambda: BOOK["f"],\n'
        '    "star": lambda: VALUE,\n'
        '    "handed": lambda: build(loner),\n'
        '    "opened": lambda: opened.anything,\n'
        '    "picked": lambda: opened.pick("picked"),\n'
        '    "lazy": lambda: fivebo.alpha.Thing,\n'
        '    "family": lambda: family.ALL,\n'
        '    "classes": lambda: family.Base.__subclasses__(),\n'
        "}\n"
    ),
}
METHODS = (
    *("plain", "grown", "loner", "book", "star", "handed"),
    *("opened", "picked", "lazy", "family", "classes"),
)
EVERY = set(METHODS)


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def prints(root):
    return {name: fingerprint([f"{STUDY}METHODS[{name}]"], root) for name in METHODS}


def changed_by(root, name, old, new):
    before = prints(root)
    text = (root / name).read_text()
    assert text.count(old) == 1
    (root / name).write_text(text.replace(old, new))
    after = prints(root)
    return {key for key in before if before[key] != after[key]}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("common/base.py", "Return 1.", "Return one."),
        ("common/base.py", '    """Return 1."""\n', ""),
        ("common/base.py", "return 1\n", "return  1  # one\n"),
        ("common/base.py", "def one", "\n\n# one\ndef one"),
        ("common/late.py", "VALUE = 2\n", 'VALUE = 2\n"""The value."""\n'),
        ("common/base.py", "LIMIT + math", "LIMIT - math"),
        ("common/base.py", "import math", "import numpy as math"),
        ("common/book.py", "BOOK = {}", "BOOK = {}\nif __name__ == '__main__':\n    print(BOOK)"),
        ("alpha/study.py", '    "plain"', '    "new": lambda: Grown(2),\n    "plain"'),
        ("alpha/study.py", "METHODS = {", "def unused():\n    return 1\n\n\nMETHODS = {"),
    ],
)  # fmt: skip
def test_edits_that_no_method_meets_change_nothing(root, name, old, new):
    assert changed_by(root, name, old, new) - {"classes"} == set()


@pytest.mark.parametrize(
    ("name", "old", "new", "changed"),
    [
        ("common/base.py", "return 1\n", "return 7\n", {"grown"}),
        (
            "common/base.py",
            "from functools import cache",
            "from functools import lru_cache as cache",
            {"grown"},
        ),
        ("alpha/rivals.py", "    size = 1\n", "    size = 7\n", {"plain", "grown"}),
        ("alpha/rivals.py", "size = base.two()", "size = base.one()", {"grown"}),
        ("alpha/rivals.py", "return VALUE", "return -VALUE", {"loner"}),
        ("common/late.py", "VALUE = 2", "VALUE = 7", {"loner", "star"}),
        ("common/late.py", "OTHER = 4", "OTHER = 4\nOTHER += 1", set()),
        ("common/late.py", "VALUE = 2", "VALUE = 2\nVALUE += 1", {"loner", "star"}),
        ("common/loner.py", "3", "7", {"handed"}),
        ("alpha/study.py", "size=2", "size=3", {"loner"}),
        ("alpha/study.py", "cls(size)", "cls(size + 1)", {"plain", "loner", "handed"}),
        ("common/open.py", "return hidden", "return hidden()", {"opened", "picked"}),
        ("common/open.py", "return 6", "return 7", {"opened", "picked"}),
        ("alpha/things.py", "1", "7", {"lazy"}),
        # what is done on import counts for all who import it
        ("common/loner.py", "VALUE = 3", "VALUE = 3\nprint(VALUE)", EVERY),
        ("common/plugins.py", "return 1", "return 7", EVERY),
        ("common/aside.py", "return 1", "return 7", EVERY),  # imported, but not used
    ],
)
def test_edits_change_the_methods_that_meet_them(root, name, old, new, changed):
    assert changed_by(root, name, old, new) - {"classes"} == changed - {"classes"}


def test_what_a_registry_finds_is_all_that_is_imported(root):
    assert "classes" in changed_by(root, "common/children.py", "size = 1", "size = 7")


@pytest.mark.parametrize("opening", ["METHODS = {} | {", "METHODS = {**{},"])
def test_a_dict_that_is_no_plain_literal_counts_as_a_whole(root, opening):
    path = root / "alpha/study.py"
    path.write_text(path.read_text().replace("METHODS = {", opening))
    assert changed_by(root, "alpha/study.py", "size=2", "size=3") == EVERY


def test_a_fingerprint_does_not_depend_on_the_place_or_the_order_of_roots(root, tmp_path):
    names = [f"{STUDY}METHODS[plain]", f"{STUDY}METHODS[book]"]
    both = fingerprint(names, root)
    assert both == fingerprint(names[::-1], root)
    assert both == fingerprint(names, root.rename(tmp_path.with_name(tmp_path.name + "-moved")))
    assert len(both) == 16


@pytest.mark.parametrize("name", ["fivebo.alpha.nothing", f"{STUDY}nothing", "numpy"])
def test_unknown_root_is_refused(root, name):
    with pytest.raises(ValueError, match="no module or name"):
        fingerprint([name], root)


def test_the_runner_takes_of_a_study_what_the_stamp_counts():
    tree = ast.parse(inspect.getsource(runner))
    taken = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "study"
    }
    taken |= {
        node.args[1].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node).startswith("getattr(study, ")
        and ast.unparse(node.func) == "getattr"
    }
    assert taken == {"PROBLEMS", "METHODS", "TRAJECTORIES", *stamps.SHARED}


@pytest.mark.parametrize("paper", papers())
def test_runs_do_not_depend_on_figures_claims_or_the_workflow(paper):
    for experiment in load_paper(paper, "smoke").experiments.values():
        for method in experiment.method_names:
            names = reached(stamps.roots_of(paper, experiment.problem, method))
            modules = {name.partition(":")[0] for name in names}
            rooms = ("fivebo.common.referee", "fivebo.common.page")
            assert not [name for name in modules if name.startswith(rooms)]
            assert not {"fivebo.common.workflow", f"fivebo.{paper}.figures"} & modules
            assert f"fivebo.{paper}.study:METHODS[{method}]" in names
            assert f"fivebo.{paper}.study:METHODS" not in names


GIVEN = {"fivebo.common.lab.runner:run_seed", "fivebo.common.lab.experiments:Experiment"}
"""What starts a run, and what holds its settings, which the stamp counts by their values."""


def called_by(function):
    """Return what a call runs in this repository, as "module:name" of top-level definitions."""
    called = set()

    def note(frame, event, _):
        code = frame.f_code
        inside = code.co_filename.startswith(f"{ROOT}/")
        if event == "call" and inside and not code.co_filename.startswith(f"{ROOT}/."):  # no .venv
            called.add((code.co_filename, code.co_qualname.partition(".")[0]))

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    modules = {file: Path(file).relative_to(ROOT).with_suffix("").parts for file, _ in called}
    return {f"fivebo.{'.'.join(modules[file])}:{name}" for file, name in called if name[0] != "<"}


@pytest.mark.parametrize("paper", papers())
def test_what_a_run_calls_is_counted(paper):
    """Trace real runs: no function of the repository is called that the fingerprint misses."""
    study = load_study(paper)
    for experiment in load_paper(paper, "smoke").experiments.values():
        variant = experiment.variants[-1]
        short = experiment.select(variants=[variant], horizon=min(3, experiment.horizon))
        for method in experiment.methods(variant):
            run = {"method": method, "variant": variant, "seed": 0}
            called = called_by(functools.partial(runner.run_seed, study, short, **run))
            counted = reached(stamps.roots_of(paper, experiment.problem, method))
            assert called - set(counted) <= GIVEN


@pytest.mark.parametrize(
    ("paper", "name", "methods"),
    [
        ("gpoo", "GPTree", {"gptree"}),
        ("gpoo", "HOO", {"hoo"}),
        ("gpoo", "GPOO", {"gpoo", "gpoo-two-stage"}),
        ("mtbo", "MOBO", {"mobo"}),
        ("egpbo", "EXP3BO", {"exp3bo"}),
        ("mvabo", "BOVO", {"bo-vo", "ada-bo-vo"}),
        ("mvabo", "AdaBOVO", {"ada-bo-vo"}),
        ("classify_dfo", "CMAES", {"cma-es"}),
    ],
)
def test_an_edit_of_a_baseline_changes_its_methods_only(tmp_path, paper, name, methods):
    """An edit of the walker changes the methods that share its trajectory."""
    tree = plant(tmp_path / "tree", [paper])
    for path in (tree.path / paper).glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                lines = path.read_text().splitlines()
                lines.insert(node.body[0].lineno - 1, "    planted = 1\n")
                path.write_text("\n".join(lines))
    changed = set()
    for problem in load_study(paper).PROBLEMS:
        for method in load_study(paper).METHODS:
            roots = stamps.roots_of(paper, problem, method)
            changed |= {method} if fingerprint(roots) != fingerprint(roots, tree.path) else set()
    assert changed == methods
