"""Public names on first use."""

import subprocess
import sys

import pytest

from fivebo.common.files import ROOT
from fivebo.common.lab.experiments import papers
from fivebo.common.names import public_names


def test_names_are_found_where_they_live_and_unknown_ones_are_answered():
    names, find = public_names("common", {"Streams": "search.rng", "count": "checks"})
    assert names == ["Streams", "count"]
    assert find("Streams").__module__ == "fivebo.common.search.rng"
    with pytest.raises(
        AttributeError, match=r"fivebo\.common has no name 'Stream'; it has Streams, count"
    ):
        find("Stream")


@pytest.mark.parametrize("paper", papers())
def test_a_paper_starts_without_numpy_and_has_all_its_names(paper):
    script = (
        f"import sys; from fivebo import {paper}; assert 'numpy' not in sys.modules; "
        f"[getattr({paper}, name) for name in {paper}.__all__]; from fivebo.{paper} import *"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
