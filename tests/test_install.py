"""The installed library: the wheel beside a user's project that has a `common` of its own."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile

import pytest

from fivebo.common.lab.experiments import papers
from tests.conftest import ROOT, environment, plant

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
READMES = ["README.md", *(f"{p}/README.md" for p in papers())]
SNIPPETS = [
    pytest.param(code, id=f"{name}-{i}")
    for name in READMES
    for i, code in enumerate(BLOCK.findall((ROOT / name).read_text(encoding="utf-8")))
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(requirements):
    return {re.match(r"[\w-]+", each)[0] for each in requirements}


EXTRA = names(PROJECT["optional-dependencies"]["reproduce"])
HEAVY = {name.replace("box2d", "Box2D") for name in EXTRA - {"threadpoolctl"}}
"""Modules that a library alone does without; threadpoolctl comes with scikit-learn in any case."""

BLOCKER = f"""
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""


def pip(*words):
    words = [sys.executable, "-m", "pip", *words, "--no-deps", "--no-index", "--quiet"]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a clean copy: a build folder of the checkout would leak into it."""
    folder = tmp_path_factory.mktemp("wheel")
    tree = plant(folder / "tree", papers())
    for name in ("README.md", "LICENSE"):
        (tree.path / name).write_bytes((ROOT / name).read_bytes())
    pip("wheel", "--no-build-isolation", "--wheel-dir", str(folder), str(tree.path))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder that holds the installed wheel, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    pip("install", "--target", str(folder), str(wheel))
    return folder


@pytest.fixture
def project(installed, tmp_path):
    """Run Python in a user's project: the wheel is found first, the checkout nowhere."""
    (tmp_path / "common").mkdir()
    (tmp_path / "common/__init__.py").write_text('OWNER = "the user"\n')
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent/sitecustomize.py").write_text(BLOCKER)

    def run(*words, without_extras=True):
        paths = [tmp_path / "absent"] * without_extras + [installed, tmp_path]
        env = environment(PYTHONPATH=os.pathsep.join(map(str, paths)))
        words = [sys.executable, "-W", "error", *words]
        return subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True)

    return run


def test_wheel_holds_every_module_and_table_and_one_package(wheel):
    present = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    wanted = {f"fivebo/{name}" for name in ("__init__.py", "__main__.py")}
    for folder in ("common", *papers()):
        files = [p for p in (ROOT / folder).rglob("*") if p.suffix in (".py", ".yaml", ".j2")]
        wanted |= {f"fivebo/{path.relative_to(ROOT).as_posix()}" for path in files}
    assert present == wanted


def test_what_is_imported_is_the_wheel_beside_the_users_own_common(project, installed):
    seen = "[fivebo.__file__, fivebo.common.cli.__file__, fivebo.__path__, common.OWNER]"
    done = project("-c", f"import json, common, fivebo.common.cli; print(json.dumps({seen}))")
    assert done.returncode == 0, done.stderr
    package = installed / "fivebo"
    files = [str(package / name) for name in ("__init__.py", "common/cli.py")]
    assert json.loads(done.stdout) == [*files, [str(package)], "the user"]


def test_the_library_imports_no_extra(project):
    code = f"from fivebo.mtbo import MTKB; import sys; print({HEAVY} & {{*sys.modules}})"
    assert project("-c", code, without_extras=False).stdout == "set()\n"


def test_there_is_a_snippet_of_every_paper():
    told = "".join(snippet.values[0] for snippet in SNIPPETS)
    assert {p for p in papers() if f"from fivebo.{p} import" in told} == set(papers())


@pytest.mark.parametrize("code", SNIPPETS)
def test_snippets_run_on_the_library_alone(code, project, tmp_path):
    (tmp_path / "snippet.py").write_text(f"{code}\nimport fivebo\nprint(fivebo.__file__)\n")
    done = project("snippet.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith("fivebo/__init__.py")
    assert str(ROOT) not in done.stdout


def test_missing_extra_is_one_line_with_the_fix(project):
    done = project("-m", "fivebo.mtbo", "list")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "python -m fivebo.mtbo: jsonschema is not installed: "
        "pip install 'fivebo[reproduce]' brings it\n"
    )


@pytest.mark.parametrize(
    ("words", "called"),
    [(["-m", "fivebo"], "python -m fivebo"), (["bin/fivebo"], "fivebo")],
)
def test_command_of_all_papers(project, installed, words, called):
    words = [str(installed / word) if "/" in word else word for word in words]
    shown = project(*words, "--help")
    assert shown.returncode == 0
    for paper in papers():
        assert f"\n  {paper} " in shown.stdout
    assert f"examples:\n  {called} {papers()[0]} list\n" in shown.stdout
    wrong = project(*words, "mtboo", "list")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith(f"{called}: unknown paper 'mtboo'; did you mean 'mtbo'?")
    assert project(*words).stderr == (
        f"{called}: the following arguments are required: PAPER; see {called} --help\n"
    )
    listed = project(*words, "mtbo", "list", without_extras=False)
    assert "figures: fig1" in listed.stdout
    refused = project(*words, "mtbo", "rum")
    assert refused.stderr.startswith(f"{called} mtbo: unknown command 'rum'")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["fivebo", "mtbo", "fidelity"], "python -m fivebo mtbo: tests is"),
        (
            ["fivebo", "mtbo", "run", "--experiment", "sensors-choices"],
            "python -m fivebo mtbo: data/bundled is",
        ),
        (["fivebo.common.lab.datasets", "list"], "fivebo.common.lab.datasets: data/sources.csv is"),
        (["fivebo.common.page.report"], "error: figures is"),
        (["fivebo.common.page.summary", "--check"], "figures/summary.json is"),
        (["fivebo.common.referee.mutate", "mtbo"], "error: tests is"),
    ],
)
def test_what_only_a_checkout_has_is_one_line(project, words, what):
    done = project("-m", *words, without_extras=False)
    assert done.returncode in (1, 2)
    fix = "run this in a clone of the repository"
    assert done.stdout + done.stderr == f"{what} no part of the installed package: {fix}\n"


def test_the_library_asks_for_nothing_of_the_extra():
    assert not names(PROJECT["dependencies"]) & EXTRA
