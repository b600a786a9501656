"""The examples in the docstrings run and print what they say."""

import doctest
import importlib

import pytest

from common.experiments import ROOT, papers

MODULES = sorted(
    f"{path.parent.name}.{path.stem}"
    for package in ("common", *papers())
    for path in (ROOT / package).glob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize(("name", "least"), [("mvabo.theory", 2), ("classify_dfo.theory", 8)])
def test_the_examples_are_found(name, least):
    assert doctest.testmod(importlib.import_module(name)).attempted >= least
