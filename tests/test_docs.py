"""The examples in the docstrings run and print what they say."""

import doctest

import pytest

from fivebo.common.files import ROOT
from fivebo.common.lab.experiments import papers
from fivebo.common.names import load_module

MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in ("common", *papers())
    for path in (ROOT / package).rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(load_module(name)).failed == 0


@pytest.mark.parametrize(("name", "least"), [("mvabo.theory", 2), ("classify_dfo.theory", 8)])
def test_the_examples_are_found(name, least):
    assert doctest.testmod(load_module(name)).attempted >= least
