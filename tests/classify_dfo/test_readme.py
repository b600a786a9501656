"""The example of the README does what it says, and the docstrings' examples hold."""

import doctest
import importlib
import re

import pandas as pd
import pytest

from common.experiments import ROOT

MODULES = sorted(
    {path.stem for path in (ROOT / "classify_dfo").glob("*.py")} - {"__main__", "__init__"}
)


def test_plates_of_96_come_and_go_as_csv_and_improve(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "classify_dfo/README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    scope = {"__name__": "readme"}
    exec(compile(block, "README", "exec"), scope)
    plates = [pd.read_csv(f"plate-{k}.csv") for k in range(1, 7)]
    assert [len(plate) for plate in plates] == [96] * 6
    assert pd.concat(plates)["row"].is_unique
    assert plates[-1]["signal"].mean() > 2 * plates[0]["signal"].mean()
    best = pd.concat(plates)["signal"].max()
    assert best >= 6**3
    assert f"{best:.1f}" in capsys.readouterr().out


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(f"classify_dfo.{name}"))
    assert failed == 0


def test_the_examples_are_found():
    module = importlib.import_module("classify_dfo.theory")
    assert doctest.testmod(module).attempted >= 8
