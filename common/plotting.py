"""Figures: one look for all papers, and files with the same bytes for the same numbers.

Colours are Okabe and Ito's; each method also has its own line style and marker, so that figures
can be read without colour. Nothing here touches pyplot or its global state.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from common.files import atomic_path

PANEL_WIDTH, PANEL_HEIGHT = 2.9, 2.4
"""Size of a panel in inches."""

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


@dataclass(frozen=True)
class Style:
    """How a method looks.

    Parameters
    ----------
    label : str
        Display name.
    colour, linestyle, marker
        As matplotlib understands them.
    """

    label: str
    colour: str
    linestyle: object
    marker: str


METHODS = {
    "mt-kb": Style("MT-KB", "#0072B2", "-", "o"),
    "mt-bkb": Style("MT-BKB", "#56B4E9", (0, (5, 1.5)), "s"),
    "it-kb": Style("IT-KB", "#D55E00", (0, (1.2, 1.2)), "^"),
    "it-bkb": Style("IT-BKB", "#E69F00", (0, (5, 1.5, 1.2, 1.5)), "v"),
    "mobo": Style("MOBO", "#555555", (0, (3, 1.5, 1, 1.5, 1, 1.5)), "D"),
    "gpoo": Style("GPOO", "#0072B2", "-", "o"),
    "gpoo-s10": Style("GPOO, S = 10", "#56B4E9", (0, (5, 1.5)), "s"),
    "gpoo-quad": Style("GPOO, K = 4", "#56B4E9", (0, (5, 1.5)), "s"),
    "gpoo-two-stage": Style("GPOO, then its points", "#CC79A7", (0, (5, 1.5)), "s"),
    "stooo": Style("StoOO", "#D55E00", (0, (1.2, 1.2)), "^"),
    "stooo-s10": Style("StoOO, S = 10", "#E69F00", (0, (5, 1.5, 1.2, 1.5)), "v"),
    "gptree": Style("GPTree", "#009E73", (0, (3, 1.5, 1, 1.5, 1, 1.5)), "D"),
    "random": Style("uniform cells", "#999999", (0, (3, 1)), "X"),
    "hoo": Style("HOO (ours)", "#CC79A7", (0, (5, 1.5, 1.2, 1.5)), "P"),
    "gp-ucb": Style("GP-UCB (ours)", "#000000", (0, (1, 2)), "*"),
    "rs": Style("RS", "#999999", (0, (1.2, 1.2)), "X"),
    "us": Style("US", "#555555", (0, (3, 1.5, 1, 1.5, 1, 1.5)), "D"),
    "bqoucb": Style("BQOUCB", "#E69F00", (0, (5, 1.5, 1.2, 1.5)), "v"),
    "ada-bqoucb": Style("ADA-BQOUCB", "#B35900", (0, (2.5, 1.2)), "^"),
    "bo-vo": Style("BO-VO", "#CC79A7", (0, (7, 1.5, 1.2, 1.5)), "<"),
    "ada-bo-vo": Style("ADA-BO-VO", "#7A3B69", (0, (4, 1)), ">"),
    "mt-mva-bo": Style("MT-MVA-BO", "#0072B2", "-", "o"),
    "mt-mva-bo-continuous": Style("MT-MVA-BO, continuous X", "#56B4E9", (0, (5, 1.5)), "P"),
    "mo-mva-bo": Style("MO-MVA-BO", "#009E73", (0, (9, 1)), "s"),
    "constrained-mva-bo": Style("constrained MVA-BO", "#D55E00", (0, (7, 1, 1, 1, 1, 1)), "p"),
    "egp-ts": Style("EGP-TS", "#000000", "-", "o"),
    "gp-ts-rbf": Style("GP-TS, RBF", "#0072B2", (0, (5, 1.5)), "s"),
    "gp-ts-ard": Style("GP-TS, RBF-ARD", "#56B4E9", (0, (1.2, 1.2)), "^"),
    "gp-ts-m32": Style("GP-TS, Matérn-3/2", "#009E73", (0, (5, 1.5, 1.2, 1.5)), "v"),
    "gp-ts-m52": Style("GP-TS, Matérn-5/2", "#B7950B", (0, (3, 1.5, 1, 1.5, 1, 1.5)), "D"),
    "gp-ts-bayes": Style("GP-TS, fully Bayesian", "#56B4E9", (0, (2.5, 1.2)), "P"),
    "banditbo": Style("BanditBO", "#D55E00", (0, (8, 1.5)), "X"),
    "exp3bo": Style("EXP3BO", "#E69F00", (0, (1, 2)), "<"),
    "gp-ei": Style("GP-EI", "#CC79A7", (0, (8, 1.5, 1.2, 1.5)), ">"),
    "egp-ei": Style("EGP-EI, sampled", "#000000", (0, (4, 1)), "p"),
    "egp-ei-mixture": Style("EGP-EI, mixture", "#D55E00", (0, (1.5, 2.5)), "h"),
    "random-search": Style("random search", "#999999", (0, (3, 1)), "*"),
}

SEQUENCE = (
    ("#440154", "-", "o"),
    ("#31688E", (0, (5, 1.5)), "s"),
    ("#1F9E89", (0, (5, 1.5, 1.2, 1.5)), "^"),
    ("#7AB648", (0, (1.2, 1.2)), "D"),
    ("#DDB83A", (0, (3, 1.5, 1, 1.5, 1, 1.5)), "v"),
)
"""Looks of ordered variants, dark to light."""


def style(name, place=0):
    """Return the look of a method, or of the variant at a place of an ordered list."""
    if name in METHODS:
        return METHODS[name]
    return Style(name, *SEQUENCE[place % len(SEQUENCE)])


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
        For instance what the bands are.
    """
    entries = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    widest = max((0.5 + 0.068 * len(label) for label in entries), default=1)  # inches, roughly
    rows = -(-len(entries) // max(1, int(fig.get_figwidth() / widest)))
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
