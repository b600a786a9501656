"""A small repository with one built paper, for what reads results and writes pages."""

import sys

import pandas as pd
import pytest
import yaml

import fivebo
from fivebo.common.files import ROOT
from fivebo.common.lab.records import KEYS, RUN_COLUMNS
from fivebo.common.page import plotting
from fivebo.common.referee import claims, sources

STUDY = """
from dataclasses import dataclass


@dataclass(frozen=True)
class Params:
    eta: float = 0.1


@dataclass(frozen=True)
class Problem:
    size: int = 3


PROBLEMS, METHODS, METRICS, DATA = {"p": Problem}, {"m": None}, ("average_regret",), {}
"""

EXPERIMENTS = {
    "title": "Learning <fast> & well",
    "citation": "A. Author 2026",
    "experiments": {
        "main": {
            "title": "Main",
            "place": "Fig. 1",
            "problem": "p",
            "methods": ["m"],
            "metrics": ["average_regret"],
            "horizon": 7,
            "seeds": 2,
        }
    },
    "figures": {
        "fig1": {"experiments": ["main"], "place": "Fig. 1", "states": "m wins", "caption": "cap"},
        "fig2": {"experiments": ["main"], "place": "Fig. 2", "states": "m < n", "caption": "two"},
    },
}

FIDELITY = [
    {
        "id": "eta",
        "where": "Sec. 5",
        "what": "regulariser",
        "code": "x:y",
        "status": "assumed",
        "field": "Params.eta",
        "value": 0.1,
        "why": "not <stated>",
    },
    {"id": "eq-1", "where": "Eq. (1)", "what": "mean", "code": "x:y", "status": "exact"},
]


def claim_row(**changes):
    base = dict.fromkeys(claims.COLUMNS)
    base |= {"paper": "reported", "id": "faster", "kind": "claim", "where": "Sec. 5"}
    base |= {"says": "m is faster", "figure": "fig1", "experiments": "main", "n": 10}
    base |= {"metric": "average_regret", "comparison": "m / n", "effect": 0.5, "low": 0.4}
    base |= {"high": 0.6, "p_value": 0.0001, "p_adjusted": 0.0002, "verdict": "reproduced"}
    return base | {"why": "means 1 and 2"} | changes


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Return the root of a repository with one built paper."""
    for name in ("common", "fivebo"):
        (tmp_path / name).symlink_to(ROOT / name)
    folder = tmp_path / "reported"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "study.py").write_text(STUDY)
    (folder / "experiments.yaml").write_text(yaml.safe_dump({"paper": "reported"} | EXPERIMENTS))
    (folder / "fidelity.yaml").write_text(yaml.safe_dump({"rows": FIDELITY}))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sources.csv").write_text(
        "name,url,sha256,bytes,licence,citation\nfile.csv,,abcdef0123456789abcdef,1,CC0,Someone\n"
    )
    built = tmp_path / "figures" / "quick" / "reported"
    rows = [
        claim_row(),
        claim_row(id="missing", figure="fig2", verdict="inconclusive", n=None, effect=None,
                  low=None, high=None, p_value=None, p_adjusted=None, why="no results of main"),
        claim_row(id="bound", kind="certificate", verdict="violated", effect=0.2, p_adjusted=0.01,
                  differs="the step is short", shown_by="fig2"),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=claims.COLUMNS).astype({"n": "Int64"})
    claims.write(frame, built)
    fig, axes = plotting.panels(["x"])
    axes[0].plot([1, 2], [1, 2])
    plotting.save(fig, pd.DataFrame({"x": [1]}), built, "fig1")
    runs = pd.DataFrame([dict.fromkeys(RUN_COLUMNS, "x") | dict.fromkeys(KEYS, "k")] * 2)
    runs = runs.assign(seed=[0, 1], status=["ok", "failed"], wall_s=[1.5, 2.0], blas_threads=1)
    runs["started"] = ["2026-01-01T10:00:00+00:00", "2026-01-01T10:05:00+00:00"]
    results = tmp_path / "results" / "quick" / "reported" / "main"
    results.mkdir(parents=True)
    runs.to_parquet(results / "runs.parquet")
    monkeypatch.setattr(fivebo, "__path__", [str(tmp_path), *fivebo.__path__])
    for name in [name for name in sys.modules if name.startswith("fivebo.reported")]:
        monkeypatch.delitem(sys.modules, name)
    sources.locate.cache_clear()
    return tmp_path
