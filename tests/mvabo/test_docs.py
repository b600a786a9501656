"""The examples in the docstrings of mvabo run and print what they say."""

import doctest
import importlib

import pytest

from common.experiments import ROOT

MODULES = sorted({path.stem for path in (ROOT / "mvabo").glob("*.py")} - {"__main__", "__init__"})


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(f"mvabo.{name}"))
    assert failed == 0


def test_the_examples_are_found():
    module = importlib.import_module("mvabo.theory")
    assert doctest.testmod(module).attempted >= 2


def test_public_names_resolve_and_wrong_ones_say_so():
    import mvabo

    for name in mvabo.__all__:
        assert getattr(mvabo, name).__name__ == name
    with pytest.raises(AttributeError, match="has no name 'MTMVA'"):
        mvabo.MTMVA  # noqa: B018
