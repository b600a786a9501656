"""Figures of [MTBO], one function each: Figs. 1 to 3 as in the paper; ours: figures_ours.py."""

from fivebo.common.page import plotting
from fivebo.common.page.plotting import panels
from fivebo.mtbo.figures_common import BAND, REGRET, regret_panel, similarity_panel


def _regret_figure(results, titles, metric, label):
    """Draw one panel an experiment, all with the same legend."""
    fig, axes = panels(list(titles.values()))
    tables = [
        regret_panel(ax, results, experiment, metric, label)
        for ax, experiment in zip(axes, titles, strict=True)
    ]
    return fig, axes, tables


def fig1(results):
    """Draw Fig. 1: regret against similarity (a), and of all methods on five problems (b)-(f)."""
    titles = {
        "fig1b": "RKHS functions, 2 tasks",
        "fig1c": "RKHS functions, 20 tasks",
        "fig1d": "perturbed sines, 4 tasks",
        "fig1e": "shifted Branin, 10 tasks",
        "fig1f": "sensors, 3 tasks",
    }
    fig, axes = panels(["MT-KB, 4 tasks", *titles.values()])
    tables = [similarity_panel(axes[0], results, "fig1a")]
    axes[0].legend(frameon=False, fontsize=7.5, handlelength=2.6, labelspacing=0.25)
    for ax, experiment in zip(axes[1:], titles, strict=True):
        # MOBO is run on RKHS functions for Fig. 3 alone
        left_out = ["mobo"] if experiment in ("fig1b", "fig1c") else []
        tables.append(regret_panel(ax, results, experiment, "average_regret", REGRET, left_out))
    return plotting.finished(fig, axes[1:], tables, BAND)


def fig2(results):
    """Draw Fig. 2: average regret under the linear scalarisation."""
    titles = {
        "fig2a": "RKHS functions, 2 tasks",
        "fig2b": "perturbed sines, 4 tasks",
        "fig2c": "sensors, 3 tasks",
    }
    fig, axes, tables = _regret_figure(results, titles, "average_regret", REGRET)
    return plotting.finished(fig, axes, tables, BAND)


def fig3(results):
    """Draw Fig. 3: Bayes regret under the Chebyshev scalarisation."""
    titles = {
        "fig1b": "RKHS functions, 2 tasks",
        "fig1d": "perturbed sines, 4 tasks",
        "fig1f": "sensors, 3 tasks",
    }
    label = "Bayes regret $R_B(t)$"
    fig, axes, tables = _regret_figure(results, titles, "bayes_regret", label)
    for ax, table in zip(axes, tables, strict=True):  # most of the fall is in the first rounds
        ax.set(xscale="log", xlim=(1, table["step"].max()), xlabel="round $t$ (log scale)")
        ax.xaxis.set_minor_formatter("")
        ax.set_ylim(0, 1.05 * table.loc[table["step"] >= 5, "high"].max() or 1)
    return plotting.finished(fig, axes, tables, BAND)
