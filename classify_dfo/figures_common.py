"""What figures of [CDFO] and ours share: curves of medians with quartiles, ratios of medians."""

import pandas as pd

from fivebo.common.page import plotting
from fivebo.common.page.plotting import panels

BAND = "Line: median over seeds. Band: quartiles. random-2x: two batches a round."

COLUMNS = ["panel", "method", "variant", "step", "n", "median", "low", "high"]


def quartiles(groups):
    """Return n, low, median and high of grouped values, one row a group."""
    names = ["low", "median", "high"]
    numbers = groups.quantile([0.25, 0.5, 0.75]).unstack().set_axis(names, axis=1)
    return numbers.assign(n=groups.size()).reset_index()


def median_band(ax, trace, panel, order, labels=None):
    """Draw the median over seeds of each method with its quartiles. [CDFO] Fig. 2, Sec. 4.

    Parameters
    ----------
    ax : Axes
    trace : DataFrame
        Of one metric.
    panel : str
        Name of the panel in the returned numbers.
    order : sequence of str
        Methods, the first drawn on top; those without values are left out.
    labels : mapping, optional
        Display names that differ from the usual ones.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`.
    """
    tables, labels = [], labels or {}
    for place, method in enumerate(m for m in order if m in set(trace["method"])):
        part = trace[(trace["method"] == method) & trace["value"].notna()]
        if part.empty:
            continue
        numbers, looks = quartiles(part.groupby("step")["value"]), plotting.style(method)
        ax.fill_between(
            numbers["step"], numbers["low"], numbers["high"], color=looks.colour, alpha=0.13,
            linewidth=0, zorder=2,
        )  # fmt: skip
        ax.plot(
            numbers["step"], numbers["median"], **looks.line, markevery=(place % 3, 3),
            markeredgecolor="white", markeredgewidth=0.5, label=labels.get(method, looks.label),
            zorder=20 - place,
        )  # fmt: skip
        tables.append(numbers.assign(panel=panel, method=method, variant=part["variant"].iloc[0]))
    return pd.concat(tables, ignore_index=True)[COLUMNS]


def batch_axis(ax, trace, ylabel):
    """Label the axes of a curve against batches."""
    last = max(trace["step"].max(), 2)
    ax.set(xlabel="batch $t$", ylabel=ylabel, xlim=(1, last))
    step = 1 if last <= 5 else 2 if last <= 12 else 10
    ax.set_xticks([1, *range(2 if step == 1 else step, last + 1, step)])


def curves(
    results, shown, order, note, metric="best_value", *, columns=3, labels=None, ylabel=None
):
    """Draw one metric of several experiments, one panel each.

    Parameters
    ----------
    results : fivebo.common.lab.results.Results
    shown : mapping
        (experiment, variant) to title; variants that a scale leaves out are skipped.
    order, labels
        As in `median_band`.
    note : str
        How to read the figure.
    metric : str
        With "best_value" a dashed line marks the optimum where all seeds share it.
    columns : int, optional
    ylabel : str, optional

    Returns
    -------
    fig, DataFrame
    """
    shown = {k: title for k, title in shown.items() if k[1] in results.config(k[0]).variants}
    fig, axes = panels(list(shown.values()), columns=columns, height=2.7)
    tables = []
    for ax, ((experiment, variant), title) in zip(axes, shown.items(), strict=True):
        trace, runs = results.trace(experiment, metric), results.runs(experiment)
        trace = trace[trace["variant"] == variant]
        tables.append(median_band(ax, trace, title, order, labels))
        optima = runs.loc[runs["variant"] == variant, "optimum"].unique()
        if metric == "best_value" and len(optima) == 1:
            ax.axhline(optima[0], color="0.35", linewidth=1, linestyle=(0, (4, 2)), zorder=1)
        batch_axis(ax, trace, ylabel or "best value found")
    return plotting.finished(fig, axes, tables, note)


def last_values(results, experiment, metric="gap"):
    """Return the last value of a metric of every run, with the run's key."""
    trace = results.trace(experiment, metric)
    return trace[trace["step"] == trace["step"].max()]


def medians(results, experiment):
    """Return the median last gap of each variant (rows, in order) and method (columns)."""
    last = last_values(results, experiment)
    table = last.pivot_table(index="variant", columns="method", values="value", aggfunc="median")
    return table.loc[list(results.config(experiment).variants)]


def relative(found):
    """Return the medians over that of random-2x: 1 where both found the optimum."""
    return found.div(found["random-2x"], axis=0).fillna(1.0).where(found.notna())
