"""The READMEs keep their promises: code runs, commands parse, links and files exist."""

import contextlib
import io
import re
import shlex

import pytest

from fivebo.common.cli import _parsed
from fivebo.common.files import ROOT
from fivebo.common.lab.experiments import load_paper, papers
from fivebo.common.names import UsageError
from fivebo.common.page import summary

READMES = sorted([*ROOT.glob("*.md"), *ROOT.glob("*/README.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language):
    return [
        pytest.param(text, id=f"{path.relative_to(ROOT)}-{i}")
        for path in READMES
        for i, (kind, text) in enumerate(BLOCK.findall(path.read_text(encoding="utf-8")))
        if kind == language
    ]


@pytest.mark.parametrize("code", blocks("python"))
def test_python_blocks_run(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "README", "exec"), {"__name__": "readme"})
    assert "nan" not in printed.getvalue().lower()


def commands():
    for block in blocks("bash"):
        for line in block.values[0].splitlines():
            for command in line.split("#")[0].split("&&"):
                if words := shlex.split(command):
                    yield pytest.param(words, id=f"{block.id}: {command.strip()}")


@pytest.mark.parametrize("words", list(commands()))
def test_commands_exist_and_their_arguments_are_valid(words):
    if words[:2] == ["python", "-m"] and words[2] in papers():
        args = _parsed(words[2], words[3:])
        if args.name in ("run", "collect"):
            experiment = load_paper(words[2], args.scale).experiments[args.experiment]
            if args.name == "run":
                experiment.select(
                    methods=args.method, variants=args.variant, overrides=args.overrides
                )
    elif words[0].startswith("./"):
        assert (ROOT / words[0]).stat().st_mode & 0o100, f"{words[0]} is not executable"
    elif words[0] == "python" and words[1] != "-m":
        assert (ROOT / words[1]).is_file()


def test_the_command_check_can_fail():
    with pytest.raises((UsageError, KeyError)):
        test_commands_exist_and_their_arguments_are_valid(
            ["python", "-m", "mtbo", "run", "--experiment", "fig9z"]
        )


@pytest.mark.parametrize("path", READMES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_tables_of_results_and_gallery_fit_the_counted_verdicts():
    assert summary.check() == []
