"""Figures of [EGPBO], one function each: Figs. 1 to 11 and Table 2, the others are ours.

Those of the theorems are in `egpbo.bound_figures`.
"""

import numpy as np
import pandas as pd

from fivebo.common.page import plotting
from fivebo.common.page.plotting import look, mean_band, panels
from fivebo.common.referee import stats
from fivebo.egpbo.bound_figures import theory, theory_parallel

__all__ = [
    "differences", "features", "fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8",
    "fig9", "fig10", "fig11", "gb_sane", "parallel", "tab2", "theory", "theory_parallel",
    "weights",
]  # fmt: skip

REGRET = "simple regret"
ACCURACY = "best validation accuracy"
TAPER = "Lines narrow in the order of the legend, so that coinciding ones show."
BAND = (
    "Line: mean over seeds. The 10 initial evaluations count. Regret of the noise-free function.\n"
    + TAPER
)
TITLES = {
    "ackley-5d": "Ackley-5d",
    "zakharov": "Zakharov",
    "drop-wave": "drop-wave",
    "eggholder": "Eggholder",
    "robot-3d": "robot, 3 inputs",
    "robot-4d": "robot, 4 inputs",
    "breast-cancer": "Breast Cancer",
    "iris": "Iris",
    "transportation": "Transportation",
    "wine": "Wine",
}


def _curves(ax, results, experiment, variant, metric, label, log):
    """Draw one variant: a line a method, from the last initial evaluation on."""
    trace = results.trace(experiment, metric)
    trace = trace[trace["variant"] == variant]
    horizon = int(trace["step"].max())
    first = min(10, horizon)
    data = mean_band(ax, trace[trace["step"] >= first], f"{experiment} {variant}", band=None)
    _taper(ax)
    if log and 0 < 10 * data["mean"].min() < data["mean"].max():
        ax.set_yscale("log")
    ax.set(xlim=(first, horizon), xlabel="evaluations", ylabel=label)
    ax.xaxis.get_major_locator().set_params(integer=True)
    return data


def _taper(ax):
    """Narrow the lines in the order in which they are drawn: no line hides the ones before it."""
    for line, width in zip(ax.lines, np.linspace(3.2, 1.2, len(ax.lines)), strict=True):
        line.set_linewidth(width)


def _grid(results, experiments, metric, label, *, titles=None, columns=2, log=False, note=BAND):
    """Draw a panel for every variant of the experiments."""
    cells = [(e, v) for e in experiments for v in results.config(e).variants]
    names = [(titles or {}).get(e, "{}").format(TITLES[v]) for e, v in cells]
    fig, axes = panels(names, columns=columns)
    with look():
        tables = [
            _curves(ax, results, e, v, metric, label, log)
            for ax, (e, v) in zip(axes, cells, strict=True)
        ]
    plotting.legend(fig, axes, note)
    return fig, pd.concat(tables, ignore_index=True)


def fig1(results):
    """Draw Fig. 1: synthetic functions with the mixed dictionary."""
    return _grid(results, ["fig1"], "simple_regret", REGRET, log=True)


def fig2(results):
    """Draw Fig. 2: synthetic functions with 11 RBF kernels."""
    return _grid(results, ["fig2"], "simple_regret", REGRET, log=True)


def fig3(results):
    """Draw Fig. 3: robot pushing with both dictionaries."""
    titles = {"fig3a": "{}, mixed", "fig3b": "{}, 11 RBF"}
    label = "simple regret, m"
    return _grid(results, ["fig3a", "fig3b"], "simple_regret", label, titles=titles, log=True)


TUNING_NOTE = "Line: mean over seeds. The 10 initial evaluations count.\n" + TAPER


def _tuning(results, experiment):
    return _grid(results, [experiment], "best_accuracy", ACCURACY, note=TUNING_NOTE)


def fig4(results):
    """Draw Fig. 4: two-layer network, mixed dictionary."""
    return _tuning(results, "fig4")


def fig5(results):
    """Draw Fig. 5: support vector machine, mixed dictionary."""
    return _tuning(results, "fig5")


def fig6(results):
    """Draw Fig. 6: gradient boosting, mixed dictionary."""
    return _tuning(results, "fig6")


def fig7(results):
    """Draw Fig. 7: two-layer network, 11 RBF kernels."""
    return _tuning(results, "fig7")


def fig8(results):
    """Draw Fig. 8: support vector machine, 11 RBF kernels."""
    return _tuning(results, "fig8")


def fig9(results):
    """Draw Fig. 9: gradient boosting, 11 RBF kernels."""
    return _tuning(results, "fig9")


def gb_sane(results):
    """Draw gradient boosting with learning rates from 0.001 to 1."""
    return _tuning(results, "gb-sane")


def fig10(results):
    """Draw Fig. 10: EGP-EI on the synthetic functions."""
    return _grid(results, ["fig10"], "simple_regret", REGRET, log=True)


def fig11(results):
    """Draw Fig. 11: EGP-EI on the robots."""
    return _grid(results, ["fig11"], "simple_regret", "simple regret, m", log=True)


def tab2(results):
    """Draw Table 2: run times as ratios to GP-TS with an RBF kernel."""
    table = _run_times(results)
    note = "Point: ratio of the means. Bar: smallest to largest function."
    label = "run time / run time of GP-TS with an RBF kernel"
    return _ratios(table, "run times on the four synthetic functions", label, note), table


def _run_times(results):
    """Collect mean times of a run by method; a function's ratio is to GP-TS on that function."""
    experiments = {"fig1": "mixed", "fig2": "11 RBF", "fig10": "mixed"}
    times = pd.concat(
        [results.trace(e, "round_seconds").assign(dictionary=d) for e, d in experiments.items()]
    )
    totals = times.groupby(["experiment", "dictionary", "method", "variant", "seed"])["value"].sum()
    means = totals.groupby(["experiment", "dictionary", "method", "variant"]).mean()
    base = means.xs(("fig1", "mixed", "gp-ts-rbf"))
    rows = []
    for (experiment, dictionary, method), part in means.groupby(level=[0, 1, 2]):
        if method in ("random-search", "gp-ts-rbf") or (experiment, method) == ("fig10", "gp-ei"):
            continue
        part = part.droplevel([0, 1, 2])
        ratios = part / base[part.index]
        label = plotting.style(method).label
        if method in ("egp-ts", "banditbo", "exp3bo"):
            label += f", {dictionary}"
        rows.append((method, dictionary, label, part.mean() / base.mean(), ratios.min(),
                     ratios.max(), part.mean(), base.mean()))  # fmt: skip
    names = ["method", "dictionary", "label", "effect", "low", "high", "seconds", "gp_ts_seconds"]
    return pd.DataFrame(rows, columns=names).sort_values("effect", ignore_index=True)


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
    with look():
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
    plotting.legend(fig, axes[1:], WEIGHTS_NOTE)
    return fig, pd.concat(tables, ignore_index=True)


def parallel(results):
    """Draw regret against evaluations and against simulated time, by number of workers."""
    regret = results.trace("parallel", "simple_regret")
    clock = results.trace("parallel", "simulated_time")
    fig, axes = panels(["asynchronous", "synchronous", "asynchronous", "synchronous"], columns=2)
    tables = []
    with look():
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
                        data[x], data["regret"], color=looks.colour, linestyle=looks.linestyle,
                        marker=looks.marker, markevery=max(1, len(data) // 6), label=label,
                        markeredgecolor="white", markeredgewidth=0.5,
                    )  # fmt: skip
                tables.append(data.assign(mode=mode, workers=k))
        for ax, name in zip(axes, ["evaluations"] * 2 + ["simulated time"] * 2, strict=True):
            ax.set(xlabel=name, ylabel=REGRET)
    plotting.legend(fig, axes, "Line: mean over seeds. Time in mean evaluation times.")
    return fig, pd.concat(tables, ignore_index=True)


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
    return _ratios(table, "EGP-TS, robot with 3 inputs, 11 RBF kernels", label, note), table


def _ratios(table, title, label, note):
    """Draw one row a ratio; ticks are powers of two, thinned where there are many."""
    fig, (ax,) = plotting.stacked([title], [1], (6.4, 0.24 * len(table) + 1.2))
    with look():
        plotting.interval_points(ax, table, plotting.style("egp-ts"))
        ticks = ax.get_xticks()
        every = -(-len(ticks) // 8)
        start = int(np.argmin(np.abs(ticks - 1))) % every
        ax.set_xticks(ticks[start::every])
        ax.set_xlabel(label)
    plotting.legend(fig, (), note)
    return fig


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
    with look():
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
    plotting.legend(fig, (), note)
    return fig, pd.concat(tables, ignore_index=True)
