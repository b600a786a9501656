"""Small copies of the repository in which tests may run, edit and break things."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HOUSE = ("Snakefile", "fivebo", "common", "profiles", "data", "reproduce", "check", ".ci")
HOUSE += ("pyproject.toml", "requirements.lock")
SKIPPED = shutil.ignore_patterns("__pycache__", "raw")


class Tree:
    """A copy of the house with some papers in it."""

    def __init__(self, path):
        self.path = path

    def run(self, *words, check=True, **options):
        """Run this Python with some arguments in the tree."""
        options.setdefault("env", environment())
        done = subprocess.run(
            [sys.executable, *words], cwd=self.path, capture_output=True, text=True, **options
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def snakemake(self, *words, scale="smoke", **options):
        """Run Snakemake in the tree."""
        words = ["-m", "snakemake", "--config", f"scale={scale}", *words]
        return self.run(*words, **options)

    def outputs(self, *targets):
        """Return the outputs of the jobs that Snakemake would run."""
        done = self.snakemake("--dry-run", "--quiet", "host", "--", *targets)
        lines = [line.strip() for line in done.stdout.splitlines() + done.stderr.splitlines()]
        return [line.split(": ", 1)[1] for line in lines if line.startswith("output: ")]

    def edit(self, name, old, new):
        """Replace some text of a file."""
        text = (self.path / name).read_text(encoding="utf-8")
        assert old in text
        (self.path / name).write_text(text.replace(old, new), encoding="utf-8")

    def copy(self, path):
        """Copy the tree with its results and times."""
        shutil.copytree(self.path, path, symlinks=True)
        return Tree(path)


def environment(**changes):
    """Return the environment without what would lead Python or the data astray."""
    dropped = ("PYTHONPATH", "FIVEBO_DATA_MIRROR", "SNAKEMAKE_PROFILE")
    return {k: v for k, v in os.environ.items() if k not in dropped} | changes


def load_script(name):
    """Import a script of the repository that is no part of a package, such as data/derive_x.py."""
    path = ROOT / name
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plant(path, papers=()):
    """Make a tree with papers of the repository; "toy" and "toytwo" come from tests/toy."""
    path.mkdir(parents=True)
    for name in HOUSE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, path / name, symlinks=True, ignore=SKIPPED)
        else:
            shutil.copy2(source, path / name)
    for paper in papers:
        source = ROOT / "tests" / "toy" if paper.startswith("toy") else ROOT / paper
        shutil.copytree(source, path / paper, ignore=SKIPPED)
    if "toytwo" in papers:
        for file in (path / "toytwo").iterdir():
            file.write_text(file.read_text().replace("toy", "toytwo"))
    return Tree(path)


@pytest.fixture
def toy_tree(tmp_path):
    """A tree with the toy paper, nothing run yet."""
    return plant(tmp_path / "tree", ["toy"])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Name the fidelity rows that a failed test pins, below its traceback."""
    report = yield
    rows = [f"{m.args[0]}: {row}" for m in item.iter_markers("paper") for row in m.args[1:]]
    if report.failed and rows:
        report.sections.append(("fidelity rows", "\n".join(rows)))
    return report
