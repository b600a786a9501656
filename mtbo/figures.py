"""Figures of [MTBO], one function each: Figs. 1 to 3 as in the paper, the others are ours."""

import numpy as np
import pandas as pd

from common import plotting, stats
from common.plotting import look, mean_band, panels

BAND = (
    "Line: mean over seeds. Band: one standard deviation either side. Regret in units of f, "
    "lower is better."
)
REGRET = "average regret $R_C(t)/t$"
SIMILARITIES = {
    "omega-0": r"$\omega=0$ (identical)",
    "omega-025": r"$\omega=0.25$",
    "omega-05": r"$\omega=0.5$",
    "omega-075": r"$\omega=0.75$",
    "omega-1": r"$\omega=1$ (unrelated)",
}


def _regret_panel(ax, results, experiment, metric, label, without=()):
    trace = results.trace(experiment, metric)
    data = mean_band(ax, trace[~trace["method"].isin(without)], experiment)
    horizon = int(data["step"].max())
    late = data[data["step"] >= min(max(5, horizon // 20), horizon)]
    ax.set_ylim(0, 1.05 * late["high"].max() or 1)  # round 1 alone would flatten the rest
    ax.set_xlim(0, horizon)
    ax.set_xlabel("round $t$")
    ax.set_ylabel(label)
    return data


def _regret_figure(results, titles, metric, label):
    """Draw one panel an experiment, all with the same legend."""
    fig, axes = panels(list(titles.values()))
    with look():
        tables = [
            _regret_panel(ax, results, experiment, metric, label)
            for ax, experiment in zip(axes, titles, strict=True)
        ]
    return fig, axes, tables


def fig1(results):
    """Draw Fig. 1: regret against similarity (a), and of all methods on five problems (b)-(f)."""
    titles = {
        "fig1b": "RKHS functions, 2 tasks",
        "fig1c": "RKHS functions, 20 tasks",
        "fig1d": "perturbed sines, 4 tasks",
        "fig1e": "shifted Branin, 10 tasks",
        "fig1f": "sensors, 3 tasks",
    }
    fig, axes = panels(["MT-KB, 4 tasks", *titles.values()])
    trace = results.trace("fig1a", "average_regret")
    trace = trace[trace["method"] == "mt-kb"]
    labels = {name: text for name, text in SIMILARITIES.items() if name in set(trace["variant"])}
    with look():
        tables = [mean_band(axes[0], trace, "fig1a", by="variant", labels=labels)]
        axes[0].legend(frameon=False, fontsize=7.5, handlelength=2.6, labelspacing=0.25)
        axes[0].set(xlabel="round $t$", ylabel=REGRET, xlim=(0, trace["step"].max()))
        late = tables[0][tables[0]["step"] >= min(10, trace["step"].max())]
        axes[0].set_ylim(0, 1.05 * late["high"].max())
        for ax, experiment in zip(axes[1:], titles, strict=True):
            # MOBO is run on RKHS functions for Fig. 3 alone
            left_out = ["mobo"] if experiment in ("fig1b", "fig1c") else []
            tables.append(
                _regret_panel(ax, results, experiment, "average_regret", REGRET, left_out)
            )
    plotting.legend(fig, axes[1:], BAND)
    return fig, pd.concat(tables, ignore_index=True)


def fig2(results):
    """Draw Fig. 2: average regret under the linear scalarisation."""
    titles = {
        "fig2a": "RKHS functions, 2 tasks",
        "fig2b": "perturbed sines, 4 tasks",
        "fig2c": "sensors, 3 tasks",
    }
    fig, axes, tables = _regret_figure(results, titles, "average_regret", REGRET)
    plotting.legend(fig, axes, BAND)
    return fig, pd.concat(tables, ignore_index=True)


def fig3(results):
    """Draw Fig. 3: Bayes regret under the Chebyshev scalarisation."""
    titles = {
        "fig1b": "RKHS functions, 2 tasks",
        "fig1d": "perturbed sines, 4 tasks",
        "fig1f": "sensors, 3 tasks",
    }
    label = "Bayes regret $R_B(t)$"
    fig, axes, tables = _regret_figure(results, titles, "bayes_regret", label)
    for ax, table in zip(axes, tables, strict=True):  # most of the fall is in the first rounds
        ax.set(xscale="log", xlim=(1, table["step"].max()), xlabel="round $t$ (log scale)")
        ax.set_ylim(0, 1.05 * table.loc[table["step"] >= 5, "high"].max() or 1)
    plotting.legend(fig, axes, BAND)
    return fig, pd.concat(tables, ignore_index=True)


def sensors_long(results):
    """Draw the sensor experiment over a longer run than Fig. 1(f)."""
    fig, axes = panels(["sensors, average regret", "sensors, Bayes regret"])
    with look():
        tables = [
            _regret_panel(axes[0], results, "sensors-long", "average_regret", REGRET),
            _regret_panel(
                axes[1], results, "sensors-long", "bayes_regret", "Bayes regret $R_B(t)$"
            ),
        ]
    for table, metric in zip(tables, ("average_regret", "bayes_regret"), strict=True):
        table["panel"] = metric
    plotting.legend(fig, axes, BAND)
    return fig, pd.concat(tables, ignore_index=True)


RATIOS = {
    "theorem1_ratio": "Theorem 1, Lemma 9: error / width",
    "instant_regret_ratio": "one round: regret / bound",
    "theorem2_ratio": "Theorem 2: regret / bound",
    "theorem3_regret_ratio": "Theorem 3: regret / bound",
    "theorem3_size_ratio": "Theorem 3: dictionary / bound",
    "lemma5_ratio": "Lemma 5: variance ratio",
}
CERTIFIED = {
    ("mt-kb", "icm-2"): "MT-KB, ICM, 2 tasks",
    ("mt-kb", "similarity-4"): r"MT-KB, $\Gamma_\omega$, 4 tasks",
    ("mt-bkb", "icm-2"): "MT-BKB, ICM, 2 tasks",
    ("mt-bkb", "similarity-4"): r"MT-BKB, $\Gamma_\omega$, 4 tasks",
}


def certificates(results):
    """Draw the theorems' ratios along the runs: the largest over the seeds at each round."""
    fig, axes = panels(list(RATIOS.values()))
    tables = []
    with look():
        for ax, metric in zip(axes, RATIOS, strict=True):
            trace = results.trace("certificates", metric)
            tables += [
                _worst(ax, trace, metric, place, line) for place, line in enumerate(CERTIFIED)
            ]
            ax.axhline(1, color="0.2", linewidth=1.2)
            ax.set(xlabel="round $t$", ylabel="ratio", yscale="log", ylim=(3e-5, 3))
    note = "Largest over all seeds at each round; the line at 1 is the bound."
    plotting.legend(fig, axes, note)
    return fig, pd.concat(tables, ignore_index=True)


def _worst(ax, trace, metric, place, line):
    method, variant = line
    part = trace[(trace["method"] == method) & (trace["variant"] == variant)]
    worst = part.groupby("step", as_index=False)["value"].max()
    if len(worst):
        look_of = plotting.style(method)
        ax.plot(
            worst["step"],
            worst["value"],
            color=look_of.colour,
            linewidth=1.1,
            linestyle=look_of.linestyle if variant.startswith("icm") else (0, (1, 1.2)),
            marker=look_of.marker,
            markevery=(1 + place * max(1, len(worst) // 24), max(1, len(worst) // 6)),
            markerfacecolor=look_of.colour if variant.startswith("icm") else "white",
            label=CERTIFIED[line],
        )
    columns = {"panel": metric, "method": method, "variant": variant}
    return worst.rename(columns={"value": "largest"}).assign(n=part["seed"].nunique(), **columns)


RULES = {"proof": r"inclusion with $1/\eta$", "printed": "inclusion as printed"}
BUDGET_METRICS = ("average_regret", "dictionary_size", "realised_epsilon")


def budget(results):
    """Draw regret, dictionary size and accuracy at the end of the run against q."""
    table = _budget_table(results)
    fig, axes = panels(
        ["average regret $R_C(T)/T$", "dictionary size $m_T$", "accuracy, void above 1"]
    )
    with look():
        for (rule, label), looks in zip(RULES.items(), plotting.SEQUENCE[::2], strict=False):
            for ax, metric in zip(axes, BUDGET_METRICS, strict=True):
                part = table[(table["rule"] == rule) & (table["metric"] == metric)]
                _range_line(ax, part[part["mean"] > 0], label, looks)
        bound = table[table["metric"] == "bound"].groupby("q", as_index=False)["mean"].mean()
        axes[1].plot(bound["q"], bound["mean"], color="0.25", linewidth=1.2, label="Theorem 3")
        horizon = results.config("budget").horizon
        axes[1].axhline(horizon, color="0.6", linestyle=(0, (2, 2)), label="all queries kept")
        axes[2].axhline(1, color="0.2", linewidth=1.2)
        labels = ("regret", "points", r"realised $\varepsilon_T$")
        for ax, label in zip(axes, labels, strict=True):
            ax.set(xscale="log", xlabel="oversampling $q$", ylabel=label)
            ax.yaxis.set_minor_formatter("")
    note = "Point: mean over seeds at the last round. Bar: smallest to largest seed."
    plotting.legend(fig, axes, note)
    return fig, table


def _range_line(ax, part, label, looks):
    """Draw means with bars from the smallest to the largest seed; sizes on a log axis."""
    part, (colour, linestyle, marker) = part.sort_values("q"), looks
    bars = (part["mean"] - part["low"], part["high"] - part["mean"])
    ax.errorbar(
        part["q"], part["mean"], bars, capsize=2.5, color=colour, linestyle=linestyle,
        marker=marker, label=label,
    )  # fmt: skip
    if part["metric"].iloc[0] != "average_regret":
        ax.set_yscale("log")


def _budget_table(results):
    """Collect the last round of every variant; Theorem 3's bound is the size over its ratio."""
    from mtbo.study import Params

    config = results.config("budget")
    rows = []
    for variant in config.variants:
        q = Params(**config.params(variant)).oversampling(config.horizon)
        last = {
            metric: _last(results.trace("budget", metric), variant)
            for metric in (*BUDGET_METRICS, "theorem3_size_ratio")
        }
        last["bound"] = last["dictionary_size"] / last.pop("theorem3_size_ratio")
        rule = "printed" if variant.endswith("-printed") else "proof"
        rows += [
            (variant, rule, q, metric, len(v), v.mean(), v.min(), v.max())
            for metric, v in last.items()
        ]
    names = ["variant", "rule", "q", "metric", "n", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=names)


def _last(trace, variant, method=None):
    part = trace[(trace["variant"] == variant) & (trace["step"] == trace["step"].max())]
    if method is not None:
        part = part[part["method"] == method]
    return part.set_index("seed")["value"].sort_index()


CHOICES = {
    "default": "defaults",
    "z-zero": "reference point $z=0$",
    "z-minus-one": "reference point $z=-1$",
    "raw-units": "raw units",
    "normalised": r"$f$ divided by $\max|f|$",
    "normalised-z-zero": r"$f$ divided by $\max|f|$, $z=0$",
    "it-marginal": r"independent kernels $B_{ii}k$",
    "it-own-b": r"independent $b=\max|f_i|$",
    "it-self-normalised": r"IT-KB radius with $\sigma/\sqrt{\eta}$",
    "it-greedy-gain": "IT-KB with the greedy gain",
    "it-regulariser": "IT-KB with regulariser $1+2/T$",
    "true-norm": "$b=$ true norm",
    "lipschitz-one": r"$L_\lambda = 1$",
    "mt-radius-printed": "MT-KB radius as printed (Thm. 1)",
}


def sensitivity(results):
    """Draw the ratio of MT-KB's to IT-KB's final regret under each choice left open."""
    table = _sensitivity_table(results)
    groups = {"n2": "2 tasks", "n20": "20 tasks", "sensors": "sensors"}
    present = [name for name in groups if name in set(table["panel"])]
    heights = [sum(table["panel"] == name) for name in present]
    with look():
        size = (6.4, 0.24 * sum(heights) + 0.75 * len(heights) + 0.5)
        fig, axes = plotting.stacked([groups[name] for name in present], heights, size)
        for ax, name in zip(axes, present, strict=True):
            plotting.interval_points(ax, table[table["panel"] == name])
        low, high = np.transpose([ax.get_xlim() for ax in axes])
        axes[-1].set_xlim(low.min(), high.max())
        axes[-1].set_xlabel("regret of MT-KB / regret of IT-KB (below 1: MT-KB is ahead)")
    plotting.legend(fig, axes, "Point: ratio of the means over seeds. Bar: 95 % interval.")
    return fig, table


def _sensitivity_table(results):
    names, rows = ("sensitivity", "sensors-choices"), []
    trace = pd.concat([results.trace(name, "average_regret") for name in names])
    for variant in (v for name in names for v in results.config(name).variants):
        a, b = (_last(trace, variant, method) for method in ("mt-kb", "it-kb"))
        both = a.index.intersection(b.index)
        found = stats.compare(a[both], b[both])
        group, _, choice = variant.partition("-")
        numbers = (found.n, a.mean(), b.mean(), found.effect, found.low, found.high)
        rows.append((group, variant, CHOICES.get(choice, choice), *numbers))
    columns = ["panel", "variant", "label", "n", "mt_kb", "it_kb", "effect", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


COSTS = (
    ("refit_seconds", "mt-kb", "MT-KB, factorised anew", ("#D55E00", "-", "^")),
    ("round_seconds", "mt-kb", "MT-KB, factor extended", ("#0072B2", (0, (5, 1.5)), "o")),
    ("round_seconds", "mt-bkb", "MT-BKB", ("#56B4E9", (0, (1.2, 1.2)), "s")),
)


def cost(results):
    """Draw the time of a round against the round, with the slopes of the later part."""
    fig, axes = panels(["time of a round", "dictionary of MT-BKB"], height=3.0)
    start = max(10, results.config("cost").horizon // 10)
    tables = []
    with look():
        for metric, method, label, looks in COSTS:
            trace = results.trace("cost", metric)
            trace = trace[trace["method"] == method].dropna()
            tables.append(_loglog(axes[0], trace, f"{label}, slope", looks, start))
        sizes = results.trace("cost", "dictionary_size")
        tables.append(_loglog(axes[1], sizes, "$m_t$, slope", COSTS[2][3], start))
        steps = np.array([1, sizes["step"].max()])
        axes[1].loglog(steps, steps, color="0.6", linestyle=(0, (2, 2)), label="all queries")
        for ax, unit in zip(axes, ("seconds", "points"), strict=True):
            ax.set(xlabel="round $t$", ylabel=unit)
            ax.set_ylim(top=10 * ax.get_ylim()[1])  # room for the legend
            ax.legend(frameon=False, fontsize=7.5, loc="upper left")
    note = f"Line: median over seeds. Slope: log-log fit from round {start} on, mean over seeds."
    plotting.legend(fig, (), note)
    return fig, pd.concat(tables, ignore_index=True)


def _loglog(ax, trace, label, looks, start):
    """Draw the median over seeds on logarithmic axes, its late slope in the label."""
    colour, linestyle, marker = looks
    middle = trace.groupby("step", as_index=False)["value"].median()
    late = trace[(trace["step"] >= start) & (trace["value"] > 0)]
    slopes = [
        stats.loglog_slope(run["step"], run["value"])
        for _, run in late.groupby("seed")
        if len(run) >= 3
    ]
    slope = float(np.mean(slopes)) if slopes else np.nan
    text = f"{label} {slope:.2f}" if slopes else label.removesuffix(", slope")
    ax.loglog(
        middle["step"], middle["value"], color=colour, linestyle=linestyle, marker=marker,
        markevery=3, label=text,
    )  # fmt: skip
    first = {k: trace[k].iloc[0] for k in ("metric", "method")}
    return middle.rename(columns={"value": "median"}).assign(
        **first, n=trace["seed"].nunique(), slope=slope, slope_from=start
    )
