"""./reproduce and ./check before anything is installed: what they say when they cannot start."""

import os
import shutil
import stat
import subprocess

import pytest

from tests.conftest import environment

TOOLS = ("bash", "cat", "cmp", "dirname", "env", "grep", "rm", "tail")

GOOD_PYTHON = """#!/usr/bin/env bash
case "$*" in
*"-m venv .venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
*"-m pip install"*) echo "{pip_says}"; exit 1 ;;
*--version*) echo "Python 3.12.0" ;;
*) [ -e "$0" ] ;;
esac
"""


@pytest.fixture
def tools(tmp_path):
    """A folder that holds the few tools that the scripts need, and no Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for tool in (*TOOLS, "mkdir", "cp"):
        (folder / tool).symlink_to(shutil.which(tool))
    return folder


def call(tree, tools, *words):
    env = environment(PATH=str(tools))
    env.pop("PYTHON", None)
    return subprocess.run(words, cwd=tree.path, env=env, capture_output=True, text=True)


def put_python(tools, pip_says):
    path = tools / "python3.12"
    path.write_text(GOOD_PYTHON.format(pip_says=pip_says))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_help_needs_no_set_up(toy_tree, tools):
    done = call(toy_tree, tools, "./reproduce", "--help")
    assert done.returncode == 0
    assert "usage: ./reproduce [smoke|quick|paper]" in done.stdout
    assert not (toy_tree.path / ".venv").exists()


@pytest.mark.parametrize("script", ["reproduce", "check"])
def test_no_suitable_python_is_one_line_with_the_fix(toy_tree, tools, script):
    done = call(toy_tree, tools, f"./{script}")
    assert done.returncode == 1
    assert done.stderr.startswith(f"{script}: no Python >= 3.11 with venv found: install one")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("pip_says", "message"),
    [
        (
            "Failed to establish a new connection",
            "cannot download packages: connect to the network",
        ),
        ("OSError: [Errno 28] No space left on device", "is full: free 2 GB"),
        ("No matching distribution", "pip could not install requirements.lock; the reason is"),
    ],
)
def test_failed_set_up_is_one_line_with_the_fix(toy_tree, tools, pip_says, message):
    put_python(tools, pip_says)
    done = call(toy_tree, tools, "./reproduce", "smoke")
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (toy_tree.path / ".venv/fivebo-stamp").exists()


def test_scripts_are_executable_and_valid():
    from tests.conftest import ROOT

    for name in ("reproduce", "check", ".ci/run", ".ci/setup.sh"):
        assert subprocess.run(["bash", "-n", ROOT / name]).returncode == 0
    for name in ("reproduce", "check", ".ci/run"):
        assert os.access(ROOT / name, os.X_OK)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cores", "0"], "--cores must be an integer >= 1 or all, got '0'"),
        (["--cores=x", "smoke"], "--cores must be an integer >= 1 or all, got 'x'"),
        (["-j", "-3"], "-j must be an integer >= 1 or all, got '-3'"),
        (["smok"], "did you mean 'smoke'"),
        (["smoke", "mtbo", "mtob"], "unknown scale or paper 'mtob'; did you mean 'mtbo'?"),
        (["--cores", "2", "mtbo", "-n", "mtob"], "did you mean 'mtbo'?"),
        (["--", "mtob"], "did you mean 'mtbo'?"),
        (["smoke", "quick"], "two scales, smoke and quick: give one"),
        (["smoke", "--config", "scale=quick"], "two scales, smoke and quick: give one"),
        (["--config", "scale=smok", "mtbo"], "unknown scale 'smok'; did you mean 'smoke'?"),
        (["figures/quick/mtbo/fig9.png"], "unknown figure 'fig9'; did you mean 'fig"),
        (["figures/quick/mtob/fig1.png"], "unknown paper 'mtob'; did you mean 'mtbo'?"),
        (["results/quik/mtbo/fig1b/runs.parquet"], "unknown scale 'quik'; did you mean 'quick'?"),
    ],
)
def test_wrong_words_are_one_line(words, message, capsys):
    from fivebo.common import reproduce

    assert reproduce.main(words) == 2
    assert message in capsys.readouterr().err


def test_a_folder_without_a_workflow_is_one_line(tmp_path, monkeypatch, capsys):
    from fivebo.common import reproduce

    monkeypatch.chdir(tmp_path)
    assert reproduce.main(["smoke"]) == 2
    assert capsys.readouterr().err == (
        f"reproduce: no Snakefile in {tmp_path}: run ./reproduce in a clone of the repository\n"
    )
    assert not list(tmp_path.iterdir())


def test_the_scale_may_stand_anywhere(monkeypatch, capsys):
    from fivebo.common import reproduce

    seen = []
    monkeypatch.setattr(reproduce, "_snakemake", lambda args: seen.append(args) or 0)
    monkeypatch.setattr(reproduce, "settle_lock", lambda: None)
    for words, handed in [
        ("--cores 1 smoke -n", "--cores 1 -n --config scale=smoke"),
        ("--config scale=smoke mtbo -n", "mtbo -n --config scale=smoke"),
        ("-C scale=smoke x=1 -n --config y=2 -- mtbo", "-n --config scale=smoke x=1 y=2 -- mtbo"),
        ("-n", "-n --config scale=quick"),
    ]:
        assert reproduce.main(words.split()) == 0
        assert seen.pop() == handed.split()
