"""Figures of cumulative regret against the bounds of [EGPBO] Sec. 4: one worker, and several."""

import pandas as pd

from fivebo.common.page import plotting
from fivebo.common.page.plotting import look, mean_band, panels


def theory(results):
    """Draw cumulative regret and Theorem 1's bound, which is regret over their ratio."""
    regret = results.trace("theory", "cumulative_regret")
    ratio = results.trace("theory", "ensemble_regret_ratio")
    variants = results.config("theory").variants
    titles = {"rbf": "RBF members, $c=0$", "mixed": "mixed members, $c=0.4$"}
    fig, axes = panels([titles[v] for v in variants], columns=2)
    tables = []
    with look():
        for ax, variant in zip(axes, variants, strict=True):
            ours, bound = (t[t["variant"] == variant] for t in (regret, ratio))
            tables.append(mean_band(ax, ours, variant, band=None))
            tables.append(_bound(ax, ours, bound, variant))
            _frame(ax, ours["step"].max())
    note = "Line: mean over seeds. The constant in the O~ of the bound is set to 1."
    plotting.legend(fig, axes, note)
    return fig, pd.concat(tables, ignore_index=True)


MEMBERS = {"rbf": "RBF members", "mixed": "mixed members"}
MODES = {"async": "asynchronous", "sync": "synchronous"}


def theory_parallel(results):
    """Draw cumulative regret by number of workers K, with the bound of Theorem 1."""
    regret = results.trace("theory-parallel", "cumulative_regret")
    ratio = results.trace("theory-parallel", "ensemble_regret_ratio")
    groups = {}
    for variant in results.config("theory-parallel").variants:
        members, workers, *mode = variant.split("-")
        if mode:
            labels = groups.setdefault((members, *mode), {f"{members}-k1": "$K=1$"})
            labels[variant] = f"$K={workers.removeprefix('k')}$"
    fig, axes = panels([f"{MEMBERS[a]}, {MODES[b]}" for a, b in groups], columns=2)
    tables = []
    with look():
        for ax, ((members, mode), labels) in zip(axes, groups.items(), strict=True):
            panel = f"{members} {mode}"
            tables.append(mean_band(ax, regret, panel, by="variant", labels=labels, band=None))
            single = (t[t["variant"] == f"{members}-k1"] for t in (regret, ratio))
            tables.append(_bound(ax, *single, panel))
            _frame(ax, regret["step"].max())
    note = (
        "Line: mean over seeds. Theorem 2 has the bound of Theorem 1 for its smallest rho, 1.\n"
        "The constant in the O~ is set to 1; the terms in K of Theorem 3 are left out."
    )
    plotting.legend(fig, axes, note)
    return fig, pd.concat(tables, ignore_index=True)


def _frame(ax, last):
    """Add linear growth for comparison, log axes and their labels."""
    ax.plot([1, last], [1, last], color="0.1", linestyle=":", linewidth=1, label="slope 1")
    ax.set(xscale="log", yscale="log", xlabel="evaluations", ylabel="cumulative regret")


def _bound(ax, regret, ratio, variant):
    keys = ["method", "seed", "step"]
    both = regret.merge(ratio, on=keys, suffixes=("", "_ratio"))
    both = both[both["value_ratio"] > 0]
    both["bound"] = both["value"] / both["value_ratio"]
    mean = both.groupby("step", as_index=False)["bound"].mean()
    ax.plot(mean["step"], mean["bound"], color="#D55E00", linewidth=1.2, label="Theorem 1")
    return mean.rename(columns={"bound": "mean"}).assign(panel=variant, method="bound")
