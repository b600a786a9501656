"""Our figures of [CDFO]: Theorem 1 along runs, other settings, all assays, speed."""

import numpy as np
import pandas as pd

from fivebo.classify_dfo.figures_common import (
    batch_axis,
    curves,
    last_values,
    medians,
    quartiles,
    relative,
)
from fivebo.common.page import plotting
from fivebo.common.page.plotting import panels

READINGS = ("classify-rf", "classify-rf-majority", "classify-rf-low", "classify-rf-soft")
SHORT = {
    "classify-rf": "R1", "classify-rf-majority": "R2", "classify-rf-low": "R3",
    "classify-rf-soft": "R4",
}  # fmt: skip


RATIOS = {
    "theorem1_mass_ratio": "Theorem 1",
    "corollary1_mass_ratio": "Corollary 1",
}


def certificates(results):
    """Draw the largest ratio of bound to mass over actions and seeds, along runs."""
    places = {"certificates": "DNA, CRX", "certificates-square": "unit square"}
    titles = [f"{name}, {where}" for where in places.values() for name in RATIOS.values()]
    fig, axes = panels(titles, columns=2, height=2.5)
    tables, axis = [], iter(axes)
    for experiment in places:
        variant = results.config(experiment).variants[0]
        for metric in RATIOS:
            ax, trace = next(axis), results.trace(experiment, metric).dropna()
            trace = trace[trace["variant"] == variant]
            for method, part in trace.groupby("method", sort=False):
                looks, largest = plotting.style(method), part.groupby("step")["value"].max()
                ax.plot(
                    largest.index, largest, color=looks.colour, linestyle=looks.linestyle,
                    label=looks.label,
                )  # fmt: skip
                named = {"panel": f"{experiment} {metric}", "method": method}
                tables.append(largest.reset_index(name="largest").assign(**named))
            ax.axhline(1, color="0.35", linewidth=1, linestyle=(0, (4, 2)))
            batch_axis(ax, trace, "bound / mass")
            ax.set_ylim(0, 1.08)
    return plotting.finished(fig, axes, tables, "Largest over actions and seeds; 1 is the bound.")


SETTINGS = {
    "default": r"$\eta$ = 1, 10 trees, no repeats",
    "eta-09": r"$\eta$ = 0.9",
    "eta-half": r"$\eta$ = 1/2",
    "trees-100": "100 trees",
    "trees-100-eta-half": r"100 trees, $\eta$ = 1/2",
    "repeats": "repeats",
    "repeats-eta-half": r"repeats, $\eta$ = 1/2",
    "quartile": "25% quantile",
    "quartile-eta-half": r"25% quantile, $\eta$ = 1/2",
}


def sensitivity(results):
    """Draw the median gap of each rule and setting over that of random-2x."""
    places = {"sensitivity": "CRX", "sensitivity-vsx1": "VSX1", "sensitivity-airfoil": "airfoils"}
    fig, axes = panels(list(places.values()), height=3.0)
    fig.set_figwidth(9.6)
    tables, rows = [], results.config("sensitivity").variants
    for ax, (experiment, name) in zip(axes, places.items(), strict=True):
        ratios = relative(medians(results, experiment))[list(READINGS)]
        ratios = ratios.reindex([v for v in SETTINGS if v in rows])
        image = ax.imshow(ratios, vmin=0, vmax=1.6, cmap="RdYlBu_r", aspect="auto")
        for (row, column), value in np.ndenumerate(ratios.to_numpy()):
            colour = "black" if 0.35 < value < 1.35 else "white"
            style = {"ha": "center", "va": "center", "fontsize": 8, "color": colour}
            ax.text(column, row, "" if np.isnan(value) else f"{value:.2f}", **style)
        ax.set_xticks(range(len(READINGS)), [SHORT[m] for m in READINGS])
        labels = [SETTINGS[v] if ax is axes[0] else "" for v in ratios.index]
        ax.set_yticks(range(len(ratios)), labels)
        ax.grid(visible=False)
        long = ratios.stack().rename("ratio").reset_index()
        tables.append(long.assign(panel=name, n=results.config(experiment).seeds))
    fig.colorbar(image, ax=axes, label="gap / gap of random-2x", shrink=0.8, extend="max")
    note = "Ratio of the medians over seeds at the end; 0: the optimum was found. R1 is literal."
    return plotting.finished(fig, (), tables, note)


def batches(results):
    """Draw the gap up to an eleventh batch."""
    shown = {("batches", "crx"): "CRX", ("batches", "vsx1"): "VSX1"}
    order = ["classify-rf", "classify-rf-majority", "random-search"]
    note = "Line: median over seeds. Band: quartiles. Dashed: ten batches."
    fig, data = curves(results, shown, order, note, "gap", columns=2, ylabel="gap")
    for ax in fig.axes:
        ax.axvline(10, color="0.35", linewidth=1, linestyle=(0, (4, 2)))
        ax.set_ylim(bottom=0)
    return fig, data


SAMPLERS = {
    "default": "width 1", "half-width": "width 1/2", "double-width": "width 2",
    "cma-narrow": "step 0.15", "cma-wide": "step 0.25",
}  # fmt: skip


def samplers(results):
    """Draw the gap at the end for both samplers and several widths."""
    places = {"samplers": "Hartmann", "samplers-shekel": "Shekel"}
    fig, axes = panels(list(places.values()), columns=2)
    tables = []
    for ax, (experiment, name) in zip(axes, places.items(), strict=True):
        last = last_values(results, experiment)
        numbers = quartiles(last.groupby(["method", "variant"])["value"])
        present = [v for v in SAMPLERS if v in set(numbers["variant"])]
        for place, method in enumerate(("classify-rf", "classify-rf-s1", "cma-es")):
            part = numbers[numbers["method"] == method]
            if part.empty:
                continue
            rows = [present.index(v) + 0.15 * (place - 0.5) for v in part["variant"]]
            looks = plotting.style(method)
            label = "classify-rf, sampler S2" if method == "classify-rf" else looks.label
            ax.hlines(rows, part["low"], part["high"], color=looks.colour)
            ax.plot(
                part["median"], rows, linestyle="none", marker=looks.marker,
                color=looks.colour, markeredgecolor="white", label=label,
            )  # fmt: skip
        ax.set_yticks(range(len(present)), [SAMPLERS[v] for v in present])
        ax.set(ylim=(len(present) - 0.5, -0.5), xlabel="gap at the end", xlim=(0, None))
        tables.append(numbers.assign(panel=name))
    return plotting.finished(fig, axes, tables, "Point: median over seeds. Bar: quartiles.")


def assays(results):
    """Draw over all assays the distribution of the gap relative to that of random-2x."""
    ratios = relative(medians(results, "assays"))
    fig, (ax,) = panels([f"{len(ratios)} assays"], height=3.0)
    tables = []
    for method in [*READINGS[:3], "random-search"]:
        values, looks = np.sort(ratios[method]), plotting.style(method)
        share = np.arange(1, len(values) + 1) / len(values)
        ax.step(
            values, share, where="post", color=looks.colour, linestyle=looks.linestyle,
            label=looks.label,
        )  # fmt: skip
        tables.append(pd.DataFrame({"method": method, "ratio": values, "share": share}))
    ax.axvline(1, color="0.35", linewidth=1, linestyle=(0, (4, 2)))
    finite = ratios.replace(np.inf, np.nan)
    top = max(2.0, float(np.nanquantile(finite, 0.98)))
    ax.set(xlim=(-0.02, top), ylim=(0, 1.02), xlabel="gap at the end / gap of random-2x")
    ax.set_ylabel("share of assays")
    return plotting.finished(
        fig, [ax], tables, "Ratio of the medians over seeds. Left of 1: better than random-2x."
    )


def speed(results):
    """Draw the time of a round of every method."""
    places = {"dna": "DNA, 32,896 actions", "airfoil": "airfoils, 3,280 actions"}
    fig, axes = panels(list(places.values()), columns=2)
    fig.set_figwidth(7.4)
    tables = []
    for ax, (experiment, name) in zip(axes, places.items(), strict=True):
        trace = results.trace(experiment, "round_seconds")
        late = trace[trace["step"] > 1]
        numbers = quartiles(late.groupby("method", sort=False)["value"])
        ax.hlines(range(len(numbers)), numbers["low"], numbers["high"], color="#0072B2")
        ax.plot(numbers["median"], range(len(numbers)), "o", color="#0072B2")
        labels = [plotting.style(m).label if ax is axes[0] else "" for m in numbers["method"]]
        ax.set_yticks(range(len(numbers)), labels)
        ax.set(xscale="log", xlabel="seconds a round", ylim=(len(numbers) - 0.5, -0.5))
        ax.minorticks_off()
        tables.append(numbers.assign(panel=name))
    note = "Point: median over rounds from the second on and seeds. Bar: quartiles. One thread."
    return plotting.finished(fig, (), tables, note)
