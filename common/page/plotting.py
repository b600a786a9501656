"""Figures: one look for all papers, and files with the same bytes for the same numbers.

Nothing here touches pyplot or its global state.
"""

import textwrap
from contextlib import contextmanager
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fivebo.common.files import atomic_path
from fivebo.common.page.styles import METHODS, SEQUENCE, Style, style
from fivebo.common.referee.stats import loglog_slope

__all__ = [
    "METHODS", "SEQUENCE", "Style", "finished", "growth", "interval_points", "legend", "look",
    "mean_band", "panels", "save", "stacked", "stacked_intervals", "style",
]  # fmt: skip

PANEL_WIDTH, PANEL_HEIGHT = 2.9, 2.4
"""Size of a panel in inches."""

NOTE_INCHES = 0.069
"""Mean width of a letter of a note, in inches."""

STYLE = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "legend.fontsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5),
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "pdf.fonttype": 42,
}


@contextmanager
def look():
    """Apply the project's matplotlib settings within a block."""
    with matplotlib.rc_context(STYLE):
        yield


def panels(titles, columns=3, height=PANEL_HEIGHT):
    """Make a figure with one titled panel for each title.

    Parameters
    ----------
    titles : sequence of str
        Panels are lettered (a), (b), ... if there are several.
    columns : int, optional
        Panels in a row.
    height : float, optional
        Of a panel, in inches.

    Returns
    -------
    fig : Figure
    axes : list of Axes
    """
    columns = min(columns, len(titles))
    rows = -(-len(titles) // columns)
    size = (max(PANEL_WIDTH * columns, 4.2), height * rows + 0.6)
    return _titled(titles, size, rows, columns)


def stacked(titles, heights, size):
    """Make titled panels below each other with a common horizontal axis.

    Parameters
    ----------
    titles : sequence of str
    heights : sequence of float
        Relative heights.
    size : tuple of float
        Of the figure, in inches.

    Returns
    -------
    fig : Figure
    axes : list of Axes
    """
    grid = {"height_ratios": heights}
    return _titled(titles, size, len(titles), 1, sharex=True, gridspec_kw=grid)


def _titled(titles, size, rows, columns, **how):
    fig = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(fig)
    axes = list(fig.subplots(rows, columns, squeeze=False, **how).flat)
    for ax in axes[len(titles) :]:
        ax.remove()
    for letter, ax, title in zip("abcdefghijkl", axes, titles, strict=False):
        ax.set_title(f"({letter}) {title}" if len(titles) > 1 else title, loc="left")
    return fig, axes[: len(titles)]


def mean_band(ax, frame, panel, by="method", labels=None, band="std"):
    """Draw the mean over seeds of each method or variant, with a band around it.

    Parameters
    ----------
    ax : Axes
    frame : DataFrame
        A trace of one metric.
    panel : str
        Name of the panel in the returned numbers.
    by : {"method", "variant"}, optional
        What a line is.
    labels : mapping, optional
        Display names; its order is that of the lines.
    band : {"std", "2se", None}, optional
        One standard deviation over seeds either side, or two standard errors of the mean.

    Returns
    -------
    DataFrame
        Columns panel, method, variant, step, n, mean, std, low, high.
    """
    order = list(labels) if labels else list(dict.fromkeys(frame[by]))
    tables = []
    for place, name in enumerate(order):
        part = frame[frame[by] == name]
        numbers = _by_step(part, band)
        look_of = style(name, place)
        label = labels[name] if labels else look_of.label
        every = max(1, len(numbers) // 7)
        ax.plot(
            numbers["step"],
            numbers["mean"],
            **look_of.line,
            markevery=(place * every // max(len(order), 1), every),
            markeredgecolor="white",
            markeredgewidth=0.5,
            label=label,
        )
        if band is not None:
            ax.fill_between(
                numbers["step"],
                numbers["low"],
                numbers["high"],
                color=look_of.colour,
                alpha=0.16,
                linewidth=0,
            )
        first = {"panel": panel, "method": part["method"].iloc[0]}
        tables.append(numbers.assign(**first, variant=part["variant"].iloc[0]))
    columns = ["panel", "method", "variant", "step", "n", "mean", "std", "low", "high"]
    return pd.concat(tables, ignore_index=True)[columns]


def _by_step(part, band):
    if part.empty:
        raise ValueError("nothing to plot: the trace holds no value of this line")
    numbers = part.groupby("step")["value"].agg(["size", "mean", "std"]).reset_index()
    numbers = numbers.rename(columns={"size": "n"}).fillna({"std": 0.0})
    half = numbers["std"] * (2 / numbers["n"] ** 0.5 if band == "2se" else 1)
    return numbers.assign(low=numbers["mean"] - half, high=numbers["mean"] + half)


def interval_points(ax, table, look_of, reference=1.0):
    """Draw ratios with their intervals on a logarithmic axis, one row each from top to bottom.

    Parameters
    ----------
    ax : Axes
    table : DataFrame
        Columns label, effect, low, high; unbounded intervals are cut.
    look_of : Style
        Colour, marker and legend entry; a further call adds a series to the same rows.
    reference : float, optional
        Marked by a line.
    """
    rows = range(len(table))
    starts = table["low"].clip(lower=table["effect"].min() / 8)
    ends = table["high"].clip(upper=table["effect"].max() * 8)
    limits = ax.get_xlim() if ax.get_xscale() == "log" else (1.0, 1.0)
    ax.hlines(rows, starts, ends, color=look_of.colour, linewidth=1.6)
    looks = {"color": look_of.colour, "marker": look_of.marker, "markeredgecolor": "white"}
    ax.plot(table["effect"], rows, linestyle="none", label=f"against {look_of.label}", **looks)
    ax.axvline(reference, color="0.35", linewidth=1, linestyle=(0, (4, 2)))
    ax.set_xscale("log")
    powers = [2.0**k for k in range(-10, 11)]
    low = min(limits[0], min(0.9, starts.min()) / 1.08)
    high = max(limits[1], max(1.1, ends.max()) * 1.08)
    ax.set_xlim(low, high)
    ax.set_xticks([p for p in powers if low <= p <= high])
    ax.xaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    ax.set_yticks(list(rows), list(table["label"]))
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)


def stacked_intervals(groups, width, space, xlabel):
    """Draw panels of `interval_points` below each other, all with the same horizontal limits.

    Parameters
    ----------
    groups : mapping of str to list
        Title of a panel to its series, each a table and a look; the first has all rows.
    width, space : float
        Of the figure, and what a panel needs beside its rows, in inches.
    xlabel : str

    Returns
    -------
    fig : Figure
    axes : list of Axes
    """
    heights = [len(series[0][0]) for series in groups.values()]
    size = (width, 0.24 * sum(heights) + space * len(heights) + 0.5)
    fig, axes = stacked(list(groups), heights, size)
    for ax, series in zip(axes, groups.values(), strict=True):
        for table, look_of in series:
            interval_points(ax, table, look_of)
    limits = [ax.get_xlim() for ax in axes]
    axes[-1].set_xlim(min(low for low, _ in limits), max(high for _, high in limits))
    axes[-1].set_xlabel(xlabel)
    return fig, axes


def growth(ax, trace, look_of, start, every):
    """Draw the median over seeds on logarithmic axes, with its late slope in the label.

    Parameters
    ----------
    ax : Axes
    trace : DataFrame
        Of one metric and method.
    look_of : Style
    start : int
        First step of the late part; a slope needs three recorded steps there.
    every : int
        Recorded steps between markers.

    Returns
    -------
    DataFrame
        Columns step, median, metric, method, n, slope (mean over seeds; NaN without any),
        slope_from.
    """
    middle = trace.groupby("step", as_index=False)["value"].median()
    late = trace[(trace["step"] >= start) & (trace["value"] > 0)]
    runs = [run for _, run in late.groupby("seed") if len(run) >= 3]
    slopes = [loglog_slope(run["step"], run["value"]) for run in runs]
    slope = sum(slopes) / len(slopes) if slopes else float("nan")
    label = f"{look_of.label}, slope {slope:.2f}" if slopes else look_of.label
    ax.loglog(middle["step"], middle["value"], **look_of.line, markevery=every, label=label)
    names = {key: trace[key].iloc[0] for key in ("metric", "method")}
    table = middle.rename(columns={"value": "median"})
    return table.assign(**names, n=trace["seed"].nunique(), slope=slope, slope_from=start)


def legend(fig, axes, note=None):
    """Put one legend for all panels below them, with a line on how to read the figure.

    Parameters
    ----------
    fig : Figure
    axes : sequence of Axes
        Their labelled lines are listed once each; none means the note alone.
    note : str, optional
        For instance what the bands are; broken into lines that the figure has room for.
    """
    entries = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    widest = max((0.5 + 0.068 * len(label) for label in entries), default=1)  # inches, roughly
    rows = -(-len(entries) // max(1, int(fig.get_figwidth() / widest)))
    if note:
        width = int(fig.get_figwidth() / NOTE_INCHES)
        note = "\n".join(part for line in note.splitlines() for part in textwrap.wrap(line, width))
    if entries:
        fig.legend(
            list(entries.values()),
            list(entries),
            loc="outside lower center",
            ncols=-(-len(entries) // rows),
            frameon=False,
            handlelength=3,
            columnspacing=1.4,
            title=note,
            title_fontproperties={"size": 8, "style": "italic"},
        )
    elif note:
        fig.supxlabel(note, fontsize=8, style="italic")


def finished(fig, axes, tables, note=None):
    """Add the `legend`; return the figure and its tables joined, as the function of a figure does.

    Parameters
    ----------
    fig, axes, note
        As in `legend`.
    tables : sequence of DataFrame
        What is plotted, below each other.

    Returns
    -------
    fig : Figure
    data : DataFrame
    """
    legend(fig, axes, note)
    return fig, pd.concat(tables, ignore_index=True)


def save(fig, data, folder, name):
    """Write a figure as `name`.pdf, .png and its numbers as `name`.csv.

    The same figure gives the same bytes: no dates, no version names.

    Parameters
    ----------
    fig : Figure
    data : DataFrame
        The plotted numbers.
    folder : path-like
    name : str

    Returns
    -------
    list of Path
    """
    paths = [Path(folder, f"{name}.{kind}") for kind in ("pdf", "png", "csv")]
    with atomic_path(paths[0]) as temporary:
        plain = {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None}
        fig.savefig(temporary, format="pdf", metadata=plain)
    with atomic_path(paths[1]) as temporary:
        fig.savefig(temporary, format="png", dpi=170, metadata={"Software": None})
    with atomic_path(paths[2]) as temporary:
        data.to_csv(temporary, index=False, float_format="%.8g", lineterminator="\n")
    return paths
