"""What the figures of [EGPBO] and our own share: panels of curves, and rows of ratios."""

import numpy as np

from fivebo.common.page import plotting
from fivebo.common.page.plotting import mean_band, panels

REGRET = "simple regret"
ACCURACY = "best validation accuracy"
TAPER = "Lines narrow in the order of the legend, so that coinciding ones show."
BAND = (
    "Line: mean over seeds. The 10 initial evaluations count. Regret of the noise-free function.\n"
    + TAPER
)
TITLES = {
    "ackley-5d": "Ackley-5d",
    "zakharov": "Zakharov",
    "drop-wave": "drop-wave",
    "eggholder": "Eggholder",
    "robot-3d": "robot, 3 inputs",
    "robot-4d": "robot, 4 inputs",
    "breast-cancer": "Breast Cancer",
    "iris": "Iris",
    "transportation": "Transportation",
    "wine": "Wine",
}


def curves(ax, results, experiment, variant, metric, label, log):
    """Draw one variant: a line a method, from the last initial evaluation on."""
    trace = results.trace(experiment, metric)
    trace = trace[trace["variant"] == variant]
    horizon = int(trace["step"].max())
    first = min(10, horizon)
    data = mean_band(ax, trace[trace["step"] >= first], f"{experiment} {variant}", band=None)
    _taper(ax)
    if log and 0 < 10 * data["mean"].min() < data["mean"].max():
        ax.set_yscale("log")
    ax.set(xlim=(first, horizon), xlabel="evaluations", ylabel=label)
    ax.xaxis.get_major_locator().set_params(integer=True)
    return data


def _taper(ax):
    """Narrow the lines in the order in which they are drawn: no line hides the ones before it."""
    for line, width in zip(ax.lines, np.linspace(3.2, 1.2, len(ax.lines)), strict=True):
        line.set_linewidth(width)


def grid(results, experiments, metric, label, *, titles=None, columns=2, log=False, note=BAND):
    """Draw a panel for every variant of the experiments."""
    cells = [(e, v) for e in experiments for v in results.config(e).variants]
    names = [(titles or {}).get(e, "{}").format(TITLES[v]) for e, v in cells]
    fig, axes = panels(names, columns=columns)
    tables = [
        curves(ax, results, e, v, metric, label, log)
        for ax, (e, v) in zip(axes, cells, strict=True)
    ]
    return plotting.finished(fig, axes, tables, note)


TUNING_NOTE = "Line: mean over seeds. The 10 initial evaluations count.\n" + TAPER


def tuning(results, experiment):
    """Draw the best accuracy of every data set of an experiment."""
    return grid(results, [experiment], "best_accuracy", ACCURACY, note=TUNING_NOTE)


def ratios(table, title, label, note):
    """Draw one row a ratio; ticks are powers of two, thinned where there are many."""
    fig, (ax,) = plotting.stacked([title], [1], (6.4, 0.24 * len(table) + 1.2))
    plotting.interval_points(ax, table, plotting.style("egp-ts"))
    ticks = ax.get_xticks()
    every = -(-len(ticks) // 8)
    start = int(np.argmin(np.abs(ticks - 1))) % every
    ax.set_xticks(ticks[start::every])
    ax.set_xlabel(label)
    plotting.legend(fig, (), note)
    return fig
