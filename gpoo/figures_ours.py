"""Our own figures: all methods, one difference at a time, draws, limits, sizes, the analysis."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from fivebo.common.page import plotting
from fivebo.common.page.plotting import panels
from fivebo.common.referee import stats
from fivebo.gpoo.figures_common import (
    BAND,
    FUNCTIONS,
    REGRET,
    final_values,
    regret_curves,
    regret_lines,
)


def regret_more(results):
    """Draw all methods with S = 1 in the paper's form, ours included."""
    order = ["gpoo", "stooo", "gptree", "random", "hoo", "gp-ucb"]
    fig, axes = panels(list(FUNCTIONS.values()))
    tables = [
        regret_curves(ax, regret_lines(results, [f"{f}-s1"], order), f, order)
        for ax, f in zip(axes, FUNCTIONS, strict=True)
    ]
    return plotting.finished(fig, axes, tables, BAND)


REFERENCE = plotting.Style("the paper's form", "#0072B2", "-", "o")

DIFFERENCES = {
    "c1": ("paper", "C1: starts from the children"),
    "c2": ("paper", "C2: tests before the next pull"),
    "c3": ("paper", "C3, C8: noise in the variance"),
    "c4": ("paper", "C4: half the noise variance"),
    "c5": ("paper", r"C5: proof's $\beta_t$ in its place"),
    "c6": ("paper", "C6: recommends the deepest"),
    "c7-cap": ("paper", "C7: depth at most 10"),
    "k3-c7": ("k3-paper", r"C7: $14\cdot 2^{-h}$ at $K = 3$"),
    "c9": ("paper", r"C9: jitter $10^{-8}$"),
    "code": ("paper", "all: the authors' form"),
}


def ablation(results):
    """Draw the ratio of the final regret with one difference to that of the paper's form."""
    table = pd.concat([_ablation_table(results, f) for f in FUNCTIONS], ignore_index=True)
    present = [f for f in FUNCTIONS if f in set(table["panel"])]
    groups = {FUNCTIONS[f]: [(table[table["panel"] == f], REFERENCE)] for f in present}
    label = "regret with the difference / regret of the paper's form"
    fig, axes = plotting.stacked_intervals(groups, 6.4, 0.75, label)
    note = "Point: ratio of the means over seeds at the end. Bar: 95 % interval."
    plotting.legend(fig, axes, note)
    return fig, table


def _ablation_table(results, function):
    trace, rows = results.trace("ablation", "aggregated_regret"), []
    last = trace[trace["step"] == trace["step"].max()]
    values = {
        variant.removeprefix(f"{function}-"): part.set_index("seed")["value"]
        for variant, part in last.groupby("variant")
        if variant.startswith(function)
    }
    for variant, (reference, label) in DIFFERENCES.items():
        if variant not in values or reference not in values:
            continue
        a, b = values[variant], values[reference]
        found = stats.compare(a.to_numpy(), b.loc[a.index].to_numpy())
        numbers = (found.n, a.mean(), b.mean(), found.effect, found.low, found.high)
        rows.append((function, variant, label, *numbers))
    columns = ["panel", "variant", "label", "n", "mean", "reference", "effect", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def sampled(results):
    """Draw the regrets on functions drawn from the prior, on a line and on a square."""
    shown = {
        ("sampled-line", "s1"): "line, S = 1",
        ("sampled-line", "s10"): "line, S = 10",
        ("sampled-square", "s1"): "square, S = 1",
        ("sampled-square", "s9"): "square, S = 9",
    }
    order = ["gpoo", "gpoo-quad", "stooo", "gptree", "random", "hoo", "gp-ucb"]
    fig, axes = panels(list(shown.values()), columns=2)
    tables = []
    for ax, (experiment, variant) in zip(axes, shown, strict=True):
        trace = results.trace(experiment, "aggregated_regret")
        part = trace[trace["variant"] == variant]
        at_once = trace[trace["variant"] == f"{variant}-quad"]
        part = pd.concat([part, at_once.assign(method="gpoo-quad")])
        tables.append(regret_curves(ax, part, experiment, order))
        ax.set_xlabel("round $t$")
        start = max(5, int(part["step"].max()) // 15)
        late = tables[-1][tables[-1]["step"] >= min(start, part["step"].max())]
        ax.set_ylim(-0.02, 1.05 * late["high"].max())
    return plotting.finished(fig, axes, tables, BAND)


def limit(results):
    """Draw final regret and depth against S, the continuous average last."""
    metrics = {"aggregated_regret": REGRET, "recommended_depth": "recommended depth $h_N$"}
    fig, axes = panels(["regret", "depth"])
    tables = []
    for ax, metric, looks in zip(axes, metrics, plotting.SEQUENCE, strict=False):
        table = final_values(results, "limit", metric)
        names = [v.removeprefix("s").replace("continuous", r"$\infty$") for v in table.variant]
        ax.errorbar(
            range(len(table)), table["mean"], table["std"], capsize=2.5, color="#0072B2",
            linestyle="-", marker=looks[2],
        )  # fmt: skip
        ax.set_xticks(range(len(table)), names)
        ax.set(xlabel="points a cell $S$", ylabel=metrics[metric])
        tables.append(table.assign(metric=metric))
    note = "Point: mean over seeds at the end. Bar: one standard deviation either side."
    return plotting.finished(fig, (), tables, note)


def two_stage(results):
    """Draw the regret of the recommendation with and without the second stage."""
    fig, axes = panels(list(FUNCTIONS.values()))
    order = ["gpoo", "gpoo-two-stage"]
    trace = results.trace("two-stage", "aggregated_regret")
    tables = []
    for ax, f in zip(axes, FUNCTIONS, strict=True):
        part = trace[(trace["variant"] == f) & (trace["step"] >= 10)]
        part = trace[trace["variant"] == f] if part.empty else part
        tables.append(regret_curves(ax, part, f, order))
        ax.set(xlabel="round $t$", ylabel="regret of the recommendation")
    return plotting.finished(fig, axes, tables, BAND)


def scaling(results):
    """Draw regret and time of a round against rounds, with the slopes of the later part."""
    fig, axes = panels(["aggregated regret", "time of a round"], height=3.0)
    start = max(2, results.config("scaling").horizon // 50)
    tables = []
    for ax, metric in zip(axes, ("aggregated_regret", "round_seconds"), strict=True):
        trace = results.trace("scaling", metric)
        for method, S in product(("gpoo", "stooo"), (1, 10)):
            part = trace[(trace["method"] == method) & (trace["variant"] == f"s{S}")]
            label = f"{plotting.METHODS[method].label}, S = {S}"
            style = replace(plotting.METHODS[method if S == 1 else f"{method}-s10"], label=label)
            table = plotting.growth(ax, part, style, start, 4)
            tables.append(table.assign(variant=f"s{S}"))
        ax.set_xlabel("round $t$")
        ax.set_ylim(top=30 * ax.get_ylim()[1])  # room for the legend
        ax.legend(frameon=False, fontsize=7.5, loc="upper right")
    axes[0].set_ylabel(REGRET)
    axes[1].set_ylabel("seconds")
    note = f"Line: median over seeds. Slope: log-log fit from round {start} on, mean over seeds."
    return plotting.finished(fig, (), tables, note)


RATIOS = {
    "coverage_ratio": "Lemma 1: error / width",
    "selected_gap_ratio": "selected: loss / bound",
    "expanded_gap_ratio": r"expanded: loss / $3\delta(h)$",
    "pulls_ratio": "pulls / bound",
    "aggregated_regret_ratio": "regret / bound",
    "depth_ratio": "guaranteed / reached depth",
}
DRAWS = {"s1": "S = 1", "s10": "S = 10"}
PUBLISHED = {
    f"{f}-{s}": f"{name}, {size}" for f, name in FUNCTIONS.items() for s, size in DRAWS.items()
}


def certificates(results):
    """Draw the analysis' ratios along runs: the largest over the seeds at each round."""
    extra = {
        "smoothness_ratio": r"variation / $\delta(h)$, all settings",
        "coverage": "error / width, functions 1-3",
        "regret": "regret / bound, functions 1-3",
    }
    fig, axes = panels([*RATIOS.values(), *extra.values()])
    tables = []
    for ax, metric in zip(axes, RATIOS, strict=False):
        tables += _worst_lines(ax, results, "certificates", metric, DRAWS)
    axes[0].legend(frameon=False, fontsize=7.5, loc="lower right")
    tables.append(_smoothness(axes[6], results))
    for ax, metric in zip(axes[7:], ("coverage_ratio", "aggregated_regret_ratio"), strict=True):
        tables += _worst_lines(ax, results, "assumptions", metric, PUBLISHED)
    note = "Largest over all seeds at each round; the line at 1 is the bound."
    return plotting.finished(fig, axes[7:], tables, note)


def _worst_lines(ax, results, experiment, metric, variants):
    trace, tables = results.trace(experiment, metric), []
    for place, (variant, label) in enumerate(variants.items()):
        part = trace[trace["variant"] == variant].dropna()
        worst = part.groupby("step", as_index=False)["value"].max()
        colour, linestyle, marker = (*plotting.SEQUENCE, ("#CC79A7", "-", "P"))[place]
        every = max(1, len(worst) // 6)
        ax.plot(
            worst["step"], worst["value"], color=colour, linestyle=linestyle, marker=marker,
            markevery=(place % every, every), linewidth=1.2, label=label,
        )  # fmt: skip
        names = {"panel": f"{experiment}, {metric}", "variant": variant}
        n = part["seed"].nunique()
        tables.append(worst.rename(columns={"value": "largest"}).assign(n=n, **names))
    ax.axhline(1, color="0.2", linewidth=1.2)
    ax.set(xlabel="round $t$", ylabel="ratio", ylim=(0, max(1.15, 1.1 * ax.get_ylim()[1])))
    return tables


def _smoothness(ax, results):
    """Draw every seed's ratio of true variation to delta(h)."""
    groups = [("certificates", v, f"draws, {s}") for v, s in DRAWS.items()]
    groups += [("assumptions", v, label) for v, label in PUBLISHED.items()]
    tables = []
    for row, (experiment, variant, label) in enumerate(groups):
        trace = results.trace(experiment, "smoothness_ratio")
        values = trace[(trace["variant"] == variant) & (trace["step"] == 1)]["value"]
        broken = "#D55E00" if values.max() > 1 else "#0072B2"
        ax.plot(values, np.full(len(values), row), "o", color=broken, alpha=0.5, markersize=3.5)
        frame = values.to_frame("largest").assign(step=1, n=1, panel="smoothness", variant=label)
        tables.append(frame)
    ax.axvline(1, color="0.2", linewidth=1.2)
    ax.set_yticks(range(len(groups)), [g[2] for g in groups], fontsize=7)
    ax.set(xlabel="ratio (log)", xscale="log", ylim=(len(groups) - 0.5, -0.5))
    ax.set_xticks([0.25, 0.5, 1, 2, 4, 8], ["1/4", "1/2", "1", "2", "4", "8"])
    ax.minorticks_off()
    return pd.concat(tables)
