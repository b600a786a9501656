"""Figures of [GPOO], one function each: regrets and maps here, single runs and bounds beside."""

import numpy as np
import pandas as pd

from fivebo.common.page import plotting
from fivebo.common.page.plotting import look, mean_band, panels
from fivebo.common.referee import stats
from fivebo.gpoo.bound_figures import certificates
from fivebo.gpoo.run_figures import fig1, fig2, fig3, functions, trees

__all__ = [
    "ablation", "certificates", "fig1", "fig2", "fig3", "functions", "limit", "regret",
    "regret_more", "sampled", "scaling", "sk", "trees", "two_stage",
]  # fmt: skip

BAND = (
    "Line: mean over seeds. Band: one standard deviation either side. Regret in units of f, "
    "lower is better."
)
REGRET = "aggregated regret $R_N$"
FUNCTIONS = {"f1": "function 1", "f2": "function 2", "f3": "function 3"}


def _lines(results, variants, methods):
    """Return the regrets of some variants; S = 10 makes a line of its own beside S = 1."""
    trace = results.trace("regret", "aggregated_regret")
    parts = []
    for variant in variants:
        part = trace[(trace["variant"] == variant) & trace["method"].isin(methods)]
        many = "-s10" in variant
        parts.append(part.assign(method=part["method"] + ("-s10" if many else "")))
    return pd.concat(parts)


def _curves(ax, frame, panel, order, suffix=""):
    """Draw mean regrets; the names of S = 1 carry it where both are drawn."""
    present = [m for m in order if m in set(frame["method"])]
    labels = {m: plotting.METHODS[m].label for m in present}
    if suffix:
        labels = {m: label if m.endswith("-s10") else label + suffix for m, label in labels.items()}
    data = mean_band(ax, frame, panel, labels=labels)
    ax.set(xlim=(0, data["step"].max()), xlabel="budget $N$", ylabel=REGRET)
    ax.set_ylim(-0.02, min(1.05, 1.05 * data["high"].max()))
    return data


def regret(results):
    """Draw the regret curves of Sec. 5: the authors' form above, the paper's below."""
    order = ["gpoo", "stooo", "gptree", "gpoo-s10", "stooo-s10"]
    forms = {"-code": "authors' form", "": "paper's form"}
    titles = [f"{name}, {form}" for form in forms.values() for name in FUNCTIONS.values()]
    fig, axes = panels(titles)
    tables = []
    with look():
        for place, (ending, form) in enumerate(forms.items()):
            for ax, f in zip(axes[3 * place :], FUNCTIONS, strict=False):
                variants = [f"{f}-s1{ending}", f"{f}-s10{ending}"]
                frame = _lines(results, variants, ["gpoo", "stooo", "gptree"])
                tables.append(_curves(ax, frame, f"{f}, {form}", order, ", S = 1"))
    plotting.legend(fig, axes, BAND)
    return fig, pd.concat(tables, ignore_index=True)


def regret_more(results):
    """Draw all methods with S = 1 in the paper's form, ours included."""
    order = ["gpoo", "stooo", "gptree", "random", "hoo", "gp-ucb"]
    fig, axes = panels(list(FUNCTIONS.values()))
    with look():
        tables = [
            _curves(ax, _lines(results, [f"{f}-s1"], order), f, order)
            for ax, f in zip(axes, FUNCTIONS, strict=True)
        ]
    plotting.legend(fig, axes, BAND)
    return fig, pd.concat(tables, ignore_index=True)


MAPS = {
    "f1": "function 1, authors' form",
    "f2": "function 2, authors' form",
    "f3": "function 3, authors' form",
    "f3-paper": "function 3, paper's form",
}


def sk(results):
    """Draw the natural logarithm of the mean final regret over S and K. [GPOO] Sec. 5."""
    table = _final(results, "sk")
    places = table["variant"].str.extract(r"^(.*)-k(\d+)-s(\d+)$")
    table["panel"], table["K"], table["S"] = places[0], places[1].astype(int), places[2].astype(int)
    table["log_mean"] = np.log(table["mean"])
    fig, axes = panels(list(MAPS.values()), columns=2)
    low, high = table["log_mean"].min(), table["log_mean"].max()
    with look():
        for ax, name in zip(axes, MAPS, strict=True):
            part = table[table["panel"] == name]
            grid = part.pivot(index="S", columns="K", values="log_mean")
            image = ax.imshow(grid, origin="lower", aspect="auto", vmin=low, vmax=high)
            ax.set_xticks(range(grid.shape[1]), grid.columns)
            ax.set_yticks(range(grid.shape[0]), grid.index)
            ax.set(xlabel="arity $K$", ylabel="points a cell $S$")
            ax.grid(visible=False)
            for (row, column), value in np.ndenumerate(grid.to_numpy()):
                dark = value < (low + high) / 2
                style = {"ha": "center", "va": "center", "fontsize": 7.5}
                ax.text(column, row, f"{value:.1f}", color="white" if dark else "black", **style)
        fig.colorbar(image, ax=axes, label="log of mean regret", shrink=0.7)
    steps = results.config("sk").horizon
    plotting.legend(fig, (), f"Natural logarithm of the mean over seeds at N = {steps}.")
    return fig, table[["panel", "variant", "K", "S", "n", "mean", "log_mean"]]


def _final(results, experiment, metric="aggregated_regret"):
    """Return mean and spread over seeds of a metric's last value, one row a variant and method."""
    trace = results.trace(experiment, metric)
    last = trace[trace["step"] == trace["step"].max()]
    groups = last.groupby(["variant", "method"], sort=False)["value"]
    return groups.agg(n="size", mean="mean", std="std").fillna({"std": 0.0}).reset_index()


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
    heights = [sum(table["panel"] == f) for f in present]
    with look():
        size = (6.4, 0.24 * sum(heights) + 0.75 * len(heights) + 0.5)
        fig, axes = plotting.stacked([FUNCTIONS[f] for f in present], heights, size)
        for ax, f in zip(axes, present, strict=True):
            plotting.interval_points(ax, table[table["panel"] == f], REFERENCE)
        low, high = np.transpose([ax.get_xlim() for ax in axes])
        axes[-1].set_xlim(low.min(), high.max())
        axes[-1].set_xlabel("regret with the difference / regret of the paper's form")
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
    with look():
        for ax, (experiment, variant) in zip(axes, shown, strict=True):
            trace = results.trace(experiment, "aggregated_regret")
            part = trace[trace["variant"] == variant]
            at_once = trace[trace["variant"] == f"{variant}-quad"]
            part = pd.concat([part, at_once.assign(method="gpoo-quad")])
            tables.append(_curves(ax, part, experiment, order))
            ax.set_xlabel("round $t$")
            start = max(5, int(part["step"].max()) // 15)
            late = tables[-1][tables[-1]["step"] >= min(start, part["step"].max())]
            ax.set_ylim(-0.02, 1.05 * late["high"].max())
    plotting.legend(fig, axes, BAND)
    return fig, pd.concat(tables, ignore_index=True)


def limit(results):
    """Draw final regret and depth against S, the continuous average last."""
    metrics = {"aggregated_regret": REGRET, "recommended_depth": "recommended depth $h_N$"}
    fig, axes = panels(["regret", "depth"])
    tables = []
    with look():
        for ax, (metric, label), looks in zip(
            axes, metrics.items(), plotting.SEQUENCE, strict=False
        ):
            table = _final(results, "limit", metric)
            names = [v.removeprefix("s").replace("continuous", r"$\infty$") for v in table.variant]
            ax.errorbar(
                range(len(table)), table["mean"], table["std"], capsize=2.5, color="#0072B2",
                linestyle="-", marker=looks[2],
            )  # fmt: skip
            ax.set_xticks(range(len(table)), names)
            ax.set(xlabel="points a cell $S$", ylabel=label)
            tables.append(table.assign(metric=metric))
    note = "Point: mean over seeds at the end. Bar: one standard deviation either side."
    plotting.legend(fig, (), note)
    return fig, pd.concat(tables, ignore_index=True)


def two_stage(results):
    """Draw the regret of the recommendation with and without the second stage."""
    fig, axes = panels(list(FUNCTIONS.values()))
    order = ["gpoo", "gpoo-two-stage"]
    trace = results.trace("two-stage", "aggregated_regret")
    tables = []
    with look():
        for ax, f in zip(axes, FUNCTIONS, strict=True):
            part = trace[(trace["variant"] == f) & (trace["step"] >= 10)]
            part = trace[trace["variant"] == f] if part.empty else part
            tables.append(_curves(ax, part, f, order))
            ax.set(xlabel="round $t$", ylabel="regret of the recommendation")
    plotting.legend(fig, axes, BAND)
    return fig, pd.concat(tables, ignore_index=True)


SIZES = {
    ("gpoo", "s1"): "GPOO, S = 1",
    ("gpoo", "s10"): "GPOO, S = 10",
    ("stooo", "s1"): "StoOO, S = 1",
    ("stooo", "s10"): "StoOO, S = 10",
}


def scaling(results):
    """Draw regret and time of a round against rounds, with the slopes of the later part."""
    fig, axes = panels(["aggregated regret", "time of a round"], height=3.0)
    start = max(2, results.config("scaling").horizon // 50)
    tables = []
    with look():
        for ax, metric in zip(axes, ("aggregated_regret", "round_seconds"), strict=True):
            trace = results.trace("scaling", metric)
            for method, variant in SIZES:
                part = trace[(trace["method"] == method) & (trace["variant"] == variant)]
                name = f"{method}-s10" if variant == "s10" else method
                label = SIZES[method, variant]
                tables.append(_loglog(ax, part, label, plotting.METHODS[name], start))
            ax.set_xlabel("round $t$")
            ax.set_ylim(top=30 * ax.get_ylim()[1])  # room for the legend
            ax.legend(frameon=False, fontsize=7.5, loc="upper right")
        axes[0].set_ylabel(REGRET)
        axes[1].set_ylabel("seconds")
    note = f"Line: median over seeds. Slope: log-log fit from round {start} on, mean over seeds."
    plotting.legend(fig, (), note)
    return fig, pd.concat(tables, ignore_index=True)


def _loglog(ax, trace, label, style, start):
    middle = trace.groupby("step", as_index=False)["value"].median()
    late = trace[(trace["step"] >= start) & (trace["value"] > 0)]
    slopes = [
        stats.loglog_slope(run["step"], run["value"])
        for _, run in late.groupby("seed")
        if len(run) >= 3
    ]
    slope = float(np.mean(slopes)) if slopes else np.nan
    ax.loglog(
        middle["step"], middle["value"], color=style.colour, linestyle=style.linestyle,
        marker=style.marker, markevery=4, label=f"{label}, slope {slope:.2f}",
    )  # fmt: skip
    names = {key: trace[key].iloc[0] for key in ("metric", "method", "variant")}
    count = trace["seed"].nunique()
    return middle.rename(columns={"value": "median"}).assign(n=count, slope=slope, **names)
