"""Our own figures: open choices, weights of the members, workers, and the bounds of Sec. 4."""

import pandas as pd

from fivebo.common.page import plotting
from fivebo.common.page.plotting import mean_band, panels
from fivebo.common.referee import stats
from fivebo.egpbo.figures_common import REGRET, TITLES, ratios, tuning


def gb_sane(results):
    """Draw gradient boosting with learning rates from 0.001 to 1."""
    return tuning(results, "gb-sane")


MEMBERS = {
    "rbf-short": "RBF, $l=0.1$",
    "rbf-long": "RBF, $l=0.4$",
    "matern32": "Matérn-3/2, $l=0.2$",
    "matern52": "Matérn-5/2, $l=0.2$",
}
COMPONENTS = ("RBF-ARD", "RBF", "Matérn-3/2", "Matérn-5/2")
WEIGHTS_NOTE = "Line: mean over seeds. A refit every 50 evaluations. Below: kernels of (b) to (e)."


def weights(results):
    """Draw the true member's weight on draws of the prior, and all weights on Fig. 1's runs."""
    functions = results.config("fig1").variants
    fig, axes = panels(["prior, weight of f's member", *(TITLES[v] for v in functions)])
    own = results.trace("weights", "member_weight")
    tables = [mean_band(axes[0], own, "prior", by="variant", labels=MEMBERS, band=None)]
    for ax, variant in zip(axes[1:], functions, strict=True):
        parts = []
        for m, name in enumerate(COMPONENTS, 1):
            trace = results.trace("fig1", f"weight_{m}")
            parts.append(trace[trace["variant"] == variant].assign(component=name))
        labels = {name: name for name in COMPONENTS}
        joined = pd.concat(parts)
        tables.append(
            mean_band(ax, joined, variant, by="component", labels=labels, band=None).assign(
                variant=variant
            )
        )
    for ax in axes:
        ax.set(xlabel="evaluations", ylabel="weight", ylim=(0, 1.02))
    axes[0].set(ylim=(0, 1.4), yticks=[0, 0.5, 1])  # room for the legend
    axes[0].legend(frameon=False, fontsize=7, loc="upper center", ncols=2, handlelength=2.4)
    return plotting.finished(fig, axes[1:], tables, WEIGHTS_NOTE)


def parallel(results):
    """Draw regret against evaluations and against simulated time, by number of workers."""
    regret = results.trace("parallel", "simple_regret")
    clock = results.trace("parallel", "simulated_time")
    fig, axes = panels(["asynchronous", "synchronous", "asynchronous", "synchronous"], columns=2)
    tables = []
    for column, mode in enumerate(("async", "sync")):
        for place, k in enumerate((1, 2, 4, 8)):
            variant = "k1" if k == 1 else f"k{k}-{mode}"
            parts = [t[t["variant"] == variant] for t in (regret, clock)]
            if any(part.empty for part in parts):
                continue
            data = _regret_in_time(*parts)
            looks = plotting.style(variant, place)
            label = f"{k} worker{'s' if k > 1 else ''}"
            for ax, x in ((axes[column], "step"), (axes[2 + column], "time")):
                ax.plot(
                    data[x], data["regret"], **looks.line, markevery=max(1, len(data) // 6),
                    label=label, markeredgecolor="white", markeredgewidth=0.5,
                )  # fmt: skip
            tables.append(data.assign(mode=mode, workers=k))
    for ax, name in zip(axes, ["evaluations"] * 2 + ["simulated time"] * 2, strict=True):
        ax.set(xlabel=name, ylabel=REGRET)
    return plotting.finished(
        fig, axes, tables, "Line: mean over seeds. Time in mean evaluation times."
    )


def _regret_in_time(regret, clock):
    """Return mean regret and mean time of the t-th finished evaluation."""
    means = [t.groupby("step")["value"].mean() for t in (regret, clock)]
    table = pd.DataFrame({"regret": means[0], "time": means[1]}).reset_index()
    return table[table["step"] >= min(10, table["step"].max())]


CHOICES = {
    "squared-lengthscales": "11 values are squared lengthscales",
    "code-frequencies": r"frequencies $z/\sqrt{l}$",
    "uniform-weights": "no evidence at a refit",
    "exact-evidence": "evidence of the exact GP",
    "no-refit": "no refit",
    "refit-10": "refit every 10",
    "fixed-starts": "40 fixed starts",
    "weight-floor": "weight floor $10^{-4}$",
    "raw-scaling": r"raw inputs and outputs, $\sigma_n^2=0.2$",
    "code": "all of the code's but its starts",
    "mixed": "mixed dictionary",
    "mixed-wide-bounds": "mixed, lengthscales $10^{-5}$ to $10^5$",
}


def differences(results):
    """Draw the final regret under each choice over that of the defaults."""
    trace = results.trace("differences", "simple_regret")
    last = trace[trace["step"] == trace["step"].max()]
    finals = {
        v: part.set_index("seed")["value"].sort_index() for v, part in last.groupby("variant")
    }
    rows = []
    for variant, label in CHOICES.items():
        if variant in finals:
            found = stats.compare(finals[variant], finals["default"])
            numbers = (finals[variant].mean(), found.effect, found.low, found.high)
            rows.append((variant, label, found.n, finals["default"].mean(), *numbers))
    columns = ["variant", "label", "n", "default", "regret", "effect", "low", "high"]
    table = pd.DataFrame(rows, columns=columns)
    label = "regret / regret with the defaults (below 1: the choice is better)"
    note = "Point: ratio of the means over seeds. Bar: 95 % interval."
    return ratios(table, "EGP-TS, robot with 3 inputs, 11 RBF kernels", label, note), table


def features(results):
    """Draw final regret and time of a round against the number of features."""
    config = results.config("features")
    sizes = {v: config.params(v)["n_features"] for v in config.variants}
    regret = results.trace("features", "simple_regret")
    last = regret[regret["step"] == regret["step"].max()]
    seconds = results.trace("features", "round_seconds")
    later = seconds[seconds["step"] > min(10, seconds["step"].max() - 1)]
    fig, axes = panels(["final simple regret", "time of a round"], columns=2)
    tables = []
    for ax, part, name in ((axes[0], last, "regret"), (axes[1], later, "seconds")):
        by_seed = part.groupby(["variant", "seed"])["value"].mean().groupby("variant")
        table = by_seed.agg(["size", "mean", "min", "max"]).reset_index()
        table["D"] = table["variant"].map(sizes)
        table = table.sort_values("D")
        bars = (table["mean"] - table["min"], table["max"] - table["mean"])
        ax.errorbar(table["D"], table["mean"], bars, marker="o", capsize=2.5, color="#0072B2")
        ax.set(xscale="log", xlabel="frequencies $D$", ylabel=name)
        ax.set_xticks(table["D"], [f"{d:g}" for d in table["D"]])
        ax.minorticks_off()
        tables.append(table.assign(panel=name))
    note = "Point: mean over seeds. Bar: smallest to largest seed."
    return plotting.finished(fig, (), tables, note)


def theory(results):
    """Draw cumulative regret and Theorem 1's bound, which is regret over their ratio."""
    regret = results.trace("theory", "cumulative_regret")
    ratio = results.trace("theory", "ensemble_regret_ratio")
    variants = results.config("theory").variants
    titles = {"rbf": "RBF members, $c=0$", "mixed": "mixed members, $c=0.4$"}
    fig, axes = panels([titles[v] for v in variants], columns=2)
    tables = []
    for ax, variant in zip(axes, variants, strict=True):
        ours, bound = (t[t["variant"] == variant] for t in (regret, ratio))
        tables.append(mean_band(ax, ours, variant, band=None))
        tables.append(_bound(ax, ours, bound, variant))
        _frame(ax, ours["step"].max())
    note = "Line: mean over seeds. The constant in the O~ of the bound is set to 1."
    return plotting.finished(fig, axes, tables, note)


KINDS = {"rbf": "RBF members", "mixed": "mixed members"}
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
    fig, axes = panels([f"{KINDS[a]}, {MODES[b]}" for a, b in groups], columns=2)
    tables = []
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
    return plotting.finished(fig, axes, tables, note)


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
