"""Figures can be read, whatever the numbers are."""

import itertools

import pandas as pd

from fivebo.common.page.plotting import panels
from fivebo.egpbo import figures_common


class Trace:
    """Results of three methods that never differ."""

    def trace(self, experiment, metric):
        rows = [
            (method, "iris", seed, step, 0.95)
            for method in ("egp-ts", "gp-ei", "random-search")
            for seed in (0, 1)
            for step in range(1, 15)
        ]
        return pd.DataFrame(rows, columns=["method", "variant", "seed", "step", "value"])


def test_lines_that_coincide_are_drawn_ever_narrower():
    _, (ax,) = panels(["Iris"])
    data = figures_common.curves(ax, Trace(), "fig5", "iris", "best_accuracy", "accuracy", False)
    assert data["mean"].nunique() == 1
    widths = [line.get_linewidth() for line in ax.lines]
    assert len(widths) == 3
    assert all(wide > 1.2 * narrow for wide, narrow in itertools.pairwise(widths))
