"""The figure of the analysis checked along runs of [GPOO] Sec. 4."""

import numpy as np
import pandas as pd

from fivebo.common.page import plotting
from fivebo.common.page.plotting import look, panels

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
    "f1-s1": "function 1, S = 1",
    "f1-s10": "function 1, S = 10",
    "f2-s1": "function 2, S = 1",
    "f2-s10": "function 2, S = 10",
    "f3-s1": "function 3, S = 1",
    "f3-s10": "function 3, S = 10",
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
    with look():
        for ax, metric in zip(axes, RATIOS, strict=False):
            tables += _worst_lines(ax, results, "certificates", metric, DRAWS)
        axes[0].legend(frameon=False, fontsize=7.5, loc="lower right")
        tables.append(_smoothness(axes[6], results))
        for ax, metric in zip(axes[7:], ("coverage_ratio", "aggregated_regret_ratio"), strict=True):
            tables += _worst_lines(ax, results, "assumptions", metric, PUBLISHED)
    note = "Largest over all seeds at each round; the line at 1 is the bound."
    plotting.legend(fig, axes[7:], note)
    return fig, pd.concat(tables, ignore_index=True)


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
    groups = [("certificates", "draws", v, f"draws, {s}") for v, s in DRAWS.items()]
    groups += [("assumptions", "f", v, label) for v, label in PUBLISHED.items()]
    tables = []
    for row, (experiment, _, variant, label) in enumerate(groups):
        trace = results.trace(experiment, "smoothness_ratio")
        values = trace[(trace["variant"] == variant) & (trace["step"] == 1)]["value"]
        broken = "#D55E00" if values.max() > 1 else "#0072B2"
        ax.plot(values, np.full(len(values), row), "o", color=broken, alpha=0.5, markersize=3.5)
        frame = values.to_frame("largest").assign(step=1, n=1, panel="smoothness", variant=label)
        tables.append(frame)
    ax.axvline(1, color="0.2", linewidth=1.2)
    ax.set_yticks(range(len(groups)), [g[3] for g in groups], fontsize=7)
    ax.set(xlabel="ratio (log)", xscale="log", ylim=(len(groups) - 0.5, -0.5))
    ax.set_xticks([0.25, 0.5, 1, 2, 4, 8], ["1/4", "1/2", "1", "2", "4", "8"])
    ax.minorticks_off()
    return pd.concat(tables)
