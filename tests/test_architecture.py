"""The shape of the repository: who may import whom, which files a paper has, how long they are."""

import ast
import csv
import re
import subprocess
import sys

import pytest

from common.experiments import papers
from tests.conftest import ROOT

PAPER_FILES = {
    *("README.md", "__init__.py", "__main__.py", "algorithms.py", "theory.py", "baselines.py"),
    *("problems.py", "study.py", "figures.py", "experiments.yaml", "fidelity.yaml"),
}
MAX_LINES = 350
HOUSE = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()} - {"tests"}
MODULES = sorted(path for name in HOUSE for path in (ROOT / name).rglob("*.py"))


def imported(path):
    """Return the top packages that a module imports, wherever the import stands."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(path.parent.name if node.level else node.module.partition(".")[0])
    return names


def named(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_papers_import_common_and_libraries_only_and_common_no_paper(path):
    own = path.relative_to(ROOT).parts[0]
    allowed = {"common", own} if own in papers() else {"common"}
    assert imported(path) & HOUSE <= allowed


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_modules_are_short_and_say_what_they_are(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_LINES, "split it by idea"
    assert ast.get_docstring(ast.parse(text)), "a module starts with what it is"


@pytest.mark.parametrize("paper", papers())
def test_every_paper_has_the_same_files(paper):
    present = {path.name for path in (ROOT / paper).iterdir()}
    assert present >= PAPER_FILES
    main = (ROOT / paper / "__main__.py").read_text().split('"""')[2].split()
    assert main == f'import sys from common.cli import main sys.exit(main("{paper}"))'.split()


@pytest.mark.parametrize("paper", papers())
def test_public_names_of_a_paper_exist(paper):
    module = __import__(paper)
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name).__doc__, name


def test_command_line_starts_without_heavy_imports():
    code = (
        "import sys, common.cli; from importlib import import_module\n"
        f"[import_module(paper) for paper in {papers()}]\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'sklearn', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_lock_pins_every_package_with_hashes_and_names_no_registry():
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert not re.search(r"://|--(extra-)?index|--find-links", text)
    pins = [line for line in lines if not line.startswith(" ")]
    assert all(re.match(r"[a-z0-9._-]+==[^ ]+", pin) for pin in pins)
    hashes = [line for line in lines if line.startswith("    --hash=sha256:")]
    assert len(hashes) >= len(pins)
    assert len(hashes) + len(pins) == len(lines)
    for tool in ("setuptools", "pytest", "pytest-xdist", "hypothesis", "ruff", "snakemake", "pulp"):
        assert any(pin.startswith(f"{tool}==") for pin in pins), tool


def test_lock_holds_what_the_project_asks_for():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["dev"], *extras["slurm"]]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for requirement in wanted:
        name = re.match(r"[A-Za-z0-9_.-]+", requirement)[0].lower()
        assert re.search(rf"^{re.escape(name)}==", lock, re.MULTILINE), name


def test_sources_have_the_agreed_columns():
    with open(ROOT / "data/sources.csv", encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    assert header == ["name", "url", "sha256", "bytes", "licence", "citation"]


def test_default_profile_is_the_local_one():
    assert (ROOT / "profiles/default").resolve() == (ROOT / "profiles/local").resolve()
