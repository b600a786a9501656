"""The shape of the repository: who may import whom, which files a paper has, how long they are."""

import ast
import csv
import graphlib
import re
import subprocess
import sys

import pytest

from fivebo.common.lab.experiments import papers
from fivebo.common.names import load_module
from tests.conftest import ROOT

PAPER_FILES = {
    *("README.md", "__init__.py", "__main__.py", "algorithms.py", "theory.py", "baselines.py"),
    *("problems.py", "optimizer.py", "study.py", "scoring.py", "experiments.yaml", "fidelity.yaml"),
    *("figures.py", "figures_ours.py", "figures_common.py"),
}
MAX_LINES = 350
ROOMS = ("gp", "search", "lab", "referee", "page")
"""The rooms of common/, lowest first: imports run only from later to earlier ones."""
SHARED = {"names", "checks", "files"}
"""Modules at the top of common/ that any room may use."""
HOUSE = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()} - {"tests"}
MODULES = sorted(path for name in HOUSE for path in (ROOT / name).rglob("*.py"))


def imported(path):
    """Return the modules of this repository that a module imports, wherever the import stands."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports name their module in full"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {
        tuple(name.split(".")) for name in names if name.partition(".")[0] in ("fivebo", *HOUSE)
    }


def named(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_papers_import_common_and_libraries_only_and_common_no_paper(path):
    own = path.relative_to(ROOT).parts[0]
    allowed = {"common", own} if own in papers() else {"common"}
    assert {name[0] for name in imported(path)} <= {"fivebo"}, "import from fivebo, not the folder"
    assert {name[1] for name in imported(path)} <= allowed


@pytest.mark.parametrize("path", sorted((ROOT / "common").rglob("*.py")), ids=named)
def test_imports_in_common_run_only_downward(path):
    place = path.relative_to(ROOT / "common").parts
    if len(place) == 1 and path.stem not in SHARED:
        return  # the top: commands and workflow use all rooms
    below = ROOMS[: ROOMS.index(place[0]) + 1] if len(place) > 1 else ()
    assert {name[2] for name in imported(path)} <= SHARED | set(below)


def modules_imported():
    """Return the graph of modules of this repository, by dotted name without the package's."""
    paths = {path.relative_to(ROOT).with_suffix("").parts: path for path in MODULES}
    graph = {}
    for module, path in paths.items():
        found = {name[1:] for name in imported(path)} | {name[1:-1] for name in imported(path)}
        graph[module] = found & set(paths) - {module}
    return graph


def test_no_module_imports_itself_by_a_circle():
    graphlib.TopologicalSorter(modules_imported()).prepare()


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_says_its_purpose_in_a_sentence(room):
    purpose = ast.get_docstring(ast.parse((ROOT / "common" / room / "__init__.py").read_text()))
    assert purpose.endswith(".")
    assert "\n" not in purpose


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
    assert main == [
        *f'import sys from fivebo.common.cli import main sys.exit(main("{paper}"))'.split()
    ]


@pytest.mark.parametrize("paper", papers())
def test_public_names_of_a_paper_exist(paper):
    module = load_module(paper)
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name).__doc__, name


def test_command_line_starts_without_heavy_imports():
    code = (
        "import sys, fivebo.common.cli; from fivebo.common.names import load_module\n"
        f"[load_module(paper) for paper in {papers()}]\n"
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
    wanted = [*project["dependencies"]]
    wanted += (each for extra in ("reproduce", "dev", "slurm") for each in extras[extra])
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
