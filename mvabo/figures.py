"""Figures of [MVABO], one function each: Figs. 2, 3 as in the paper; ours: figures_ours.py."""

from fivebo.common.page import plotting
from fivebo.common.page.plotting import panels
from fivebo.mvabo.figures_common import BAND, LABELS, both_measures, curves


def fig2(results):
    """Draw Fig. 2: regret (top) and hypervolume gap (bottom) on three problems."""
    grid = results.config("rosenbrock").variants[0].removeprefix("grid-")
    rosenbrock = "Rosenbrock" if grid == "100" else f"Rosenbrock ({grid}$^2$ designs)"
    titles = {"gp-test": "GP test", "bird": "Bird", "rosenbrock": rosenbrock}
    fig, axes = panels(2 * list(titles.values()), columns=len(titles))
    shown, tables = [(metric, experiment) for metric in LABELS for experiment in titles], []
    for ax, (metric, experiment) in zip(axes, shown, strict=True):
        trace = results.trace(experiment, metric)
        trace = trace[trace["variant"] == results.config(experiment).variants[0]]
        tables.append(curves(ax, trace, f"{experiment} {metric}", LABELS[metric]))
    return plotting.finished(fig, axes, tables, BAND)


def fig3(results):
    """Draw Fig. 3: regret and hypervolume gap on the newsvendor problem."""
    return both_measures(results, "newsvendor", "newsvendor", height=2.8)
