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

__all__ = [
    "METHODS", "SEQUENCE", "Style", "interval_points", "legend", "look", "mean_band", "panels",
    "save", "stacked", "style",
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
    with look():
        size = (max(PANEL_WIDTH * columns, 4.2), height * rows + 0.6)
        fig = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(fig)
        axes = list(fig.subplots(rows, columns, squeeze=False).flat)
        for ax in axes[len(titles) :]:
            ax.remove()
        for letter, ax, title in zip("abcdefghijkl", axes, titles, strict=False):
            ax.set_title(f"({letter}) {title}" if len(titles) > 1 else title, loc="left")
    return fig, axes[: len(titles)]


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
    with look():
        fig = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(fig)
        grid = {"height_ratios": heights}
        axes = list(fig.subplots(len(titles), sharex=True, squeeze=False, gridspec_kw=grid).flat)
        for letter, ax, title in zip("abcdefghijkl", axes, titles, strict=False):
            ax.set_title(f"({letter}) {title}" if len(titles) > 1 else title, loc="left")
    return fig, axes


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
            color=look_of.colour,
            linestyle=look_of.linestyle,
            marker=look_of.marker,
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
    with look():
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
    with look():
        with atomic_path(paths[0]) as temporary:
            plain = {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None}
            fig.savefig(temporary, format="pdf", metadata=plain)
        with atomic_path(paths[1]) as temporary:
            fig.savefig(temporary, format="png", dpi=170, metadata={"Software": None})
    with atomic_path(paths[2]) as temporary:
        data.to_csv(temporary, index=False, float_format="%.8g", lineterminator="\n")
    return paths
