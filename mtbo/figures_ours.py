"""Figures of [MTBO] that are ours: certificates, budget, sensitivity, longer runs, cost."""

from dataclasses import replace

import numpy as np
import pandas as pd

from fivebo.common.page import plotting
from fivebo.common.page.plotting import Style, panels
from fivebo.common.page.styles import SEQUENCE
from fivebo.common.referee import stats
from fivebo.mtbo.figures_common import BAND, REGRET, regret_panel, similarity_panel


def sensors_long(results):
    """Draw the sensor experiment over a longer run than Fig. 1(f)."""
    fig, axes = panels(["sensors, average regret", "sensors, Bayes regret"])
    tables = [
        regret_panel(axes[0], results, "sensors-long", "average_regret", REGRET),
        regret_panel(axes[1], results, "sensors-long", "bayes_regret", "Bayes regret $R_B(t)$"),
    ]
    for table, metric in zip(tables, ("average_regret", "bayes_regret"), strict=True):
        table["panel"] = metric
    return plotting.finished(fig, axes, tables, BAND)


RATIOS = {
    ("certificates", "theorem1_ratio"): "Theorem 1, Eq. (23): error / width",
    ("certificates", "instant_regret_ratio"): "one round: regret / bound",
    ("certificates", "theorem2_ratio"): "Theorem 2: regret / bound",
    ("certificates", "theorem3_regret_ratio"): "Theorem 3: regret / bound",
    ("certificates-long", "theorem3_size_ratio"): "Theorem 3: dictionary / bound",
    ("certificates-long", "realised_epsilon"): r"Lemma 7: accuracy / $\varepsilon$",
}
CERTIFIED = {
    ("mt-kb", "icm-2"): "MT-KB, ICM, 2 tasks",
    ("mt-kb", "similarity-4"): r"MT-KB, $\Gamma_\omega$, 4 tasks",
    ("mt-bkb", "icm-2"): "MT-BKB, ICM, 2 tasks",
    ("mt-bkb", "similarity-4"): r"MT-BKB, $\Gamma_\omega$, 4 tasks",
    ("mt-kb", "icm-2-linear"): "MT-KB, ICM, 2 tasks, linear",
    ("mt-bkb", "icm-2-linear"): "MT-BKB, ICM, 2 tasks, linear",
    ("mt-bkb", "default"): "MT-BKB, long runs",
}
VARIANT_LINES = {"similarity-4": (0, (1, 1.2)), "icm-2-linear": (0, (8, 1.5, 1.2, 1.5))}
VARIANT_MARKERS = {
    ("mt-kb", "icm-2-linear"): "D",
    ("mt-bkb", "icm-2-linear"): "^",
    ("mt-bkb", "default"): "*",
}


def certificates(results):
    """Draw the theorems' ratios along the runs: the largest over the seeds at each round."""
    fig, axes = panels(list(RATIOS.values()))
    tables = []
    for ax, (experiment, metric) in zip(axes, RATIOS, strict=True):
        trace = results.trace(experiment, metric)
        if metric == "realised_epsilon":
            config = results.config(experiment)
            trace = trace.assign(value=trace["value"] / config.params("default")["epsilon"])
        tables += [_worst(ax, trace, metric, place, line) for place, line in enumerate(CERTIFIED)]
        ax.axhline(1, color="0.2", linewidth=1.2)
        ax.set(xlabel="round $t$", ylabel="ratio", yscale="log")
        ax.set_ylim(1e-6 if metric == "theorem3_size_ratio" else 1e-3, 3)
        if experiment == "certificates-long":
            # limits by hand: a panel whose ratios are all 0 has no data to take them from
            last = results.config(experiment).horizon
            ax.set(xscale="log", xlim=(1, last), xlabel="round $t$ (log scale)")
            ax.xaxis.set_minor_formatter("")
    note = "Largest over all seeds at each round; the line at 1 is the bound."
    return plotting.finished(fig, axes, tables, note)


def _worst(ax, trace, metric, place, line):
    method, variant = line
    part = trace[(trace["method"] == method) & (trace["variant"] == variant)]
    worst = part.groupby("step", as_index=False)["value"].max()
    if len(worst):
        look_of, hollow = plotting.style(method), variant in VARIANT_LINES
        ax.plot(
            worst["step"],
            worst["value"].where(worst["value"] > 0),
            color=look_of.colour,
            linewidth=1.1,
            linestyle=VARIANT_LINES.get(variant, look_of.linestyle),
            marker=VARIANT_MARKERS.get(line, look_of.marker),
            markevery=(1 + place * max(1, len(worst) // 24), max(1, len(worst) // 6)),
            markerfacecolor="white" if hollow else look_of.colour,
            label=CERTIFIED[line],
        )
    columns = {"panel": metric, "method": method, "variant": variant}
    return worst.rename(columns={"value": "largest"}).assign(n=part["seed"].nunique(), **columns)


SCALES_OF_F = {"fig1a": "f as drawn (Fig. 1a)", "similarity": r"f divided by $\max|f|$"}


def similarity(results):
    """Draw MT-KB's regret against similarity, f as drawn and of equal scale, and over IT-KB's."""
    fig, axes = panels([*SCALES_OF_F.values(), "together / separately"])
    tables = [
        similarity_panel(ax, results, experiment)
        for ax, experiment in zip(axes[:2], SCALES_OF_F, strict=True)
    ]
    tables += [
        _together(axes[2], results, experiment, SEQUENCE[place])
        for place, experiment in enumerate(SCALES_OF_F)
    ]
    axes[2].axhline(1, color="0.35", linewidth=1, linestyle=(0, (4, 2)))
    axes[2].set(xlabel=r"$\omega$", ylabel="regret, MT-KB / IT-KB")
    axes[2].legend(frameon=False, fontsize=7.5)
    note = f"{BAND} (c) Point: ratio of the means at the last round. Bar: 95 % interval."
    return plotting.finished(fig, axes[:2], tables, note)


def _together(ax, results, experiment, looks):
    """Draw the ratio of MT-KB's final regret to IT-KB's against omega."""
    config, trace = results.config(experiment), results.trace(experiment, "average_regret")
    rows = []
    for variant in config.variants:
        found = stats.compare(*(_last(trace, variant, m) for m in ("mt-kb", "it-kb")))
        omega = config.problem_params(variant)["omega"]
        rows.append((variant, omega, found.n, found.effect, found.low, found.high))
    table = pd.DataFrame(rows, columns=["variant", "omega", "n", "effect", "low", "high"])
    _bars(ax, table, "omega", "effect", SCALES_OF_F[experiment], looks)
    return table.assign(panel=f"together {experiment}")


def _bars(ax, table, x, y, label, looks):
    """Draw a line of points with bars from `low` to `high`."""
    colour, linestyle, marker = looks
    bars = (table[y] - table["low"], table["high"] - table[y])
    ax.errorbar(
        table[x], table[y], bars, capsize=2.5, color=colour, linestyle=linestyle, marker=marker,
        label=label,
    )  # fmt: skip


BUDGET_METRICS = ("average_regret", "dictionary_size", "realised_epsilon")


def budget(results):
    """Draw regret, dictionary size and accuracy at the end of the run against q."""
    table = _budget_table(results)
    fig, axes = panels(
        ["average regret $R_C(T)/T$", "dictionary size $m_T$", "accuracy, void above 1"]
    )
    for ax, metric in zip(axes, BUDGET_METRICS, strict=True):
        part = table[(table["metric"] == metric) & (table["mean"] > 0)]
        _range_line(ax, part, "MT-BKB", ("#56B4E9", (0, (5, 1.5)), "s"))
    bound = table[table["metric"] == "bound"].sort_values("q")
    axes[1].plot(bound["q"], bound["mean"], color="0.25", linewidth=1.2, label="bound")
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
    _bars(ax, part.sort_values("q"), "q", "mean", label, looks)
    if part["metric"].iloc[0] != "average_regret":
        ax.set_yscale("log")


def _budget_table(results):
    """Collect the last round of every variant; Theorem 3's bound is the size over its ratio."""
    from fivebo.mtbo.study import Params

    config = results.config("budget")
    rows = []
    for variant in config.variants:
        q = Params(**config.params(variant)).oversampling(config.horizon)
        last = {
            metric: _last(results.trace("budget", metric), variant)
            for metric in (*BUDGET_METRICS, "theorem3_size_ratio")
        }
        ratio = last.pop("theorem3_size_ratio")
        last["bound"] = last["dictionary_size"][ratio > 0] / ratio[ratio > 0]
        rows += [
            (variant, q, metric, len(v), v.mean(), v.min(), v.max()) for metric, v in last.items()
        ]
    names = ["variant", "q", "metric", "n", "mean", "low", "high"]
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
    "omega-02": r"$\omega=0.2$",
    "omega-04": r"$\omega=0.4$",
    "omega-08": r"$\omega=0.8$",
    "first-axis": "shifts along the first axis alone",
    "mobo-dragonfly": r"MOBO radius $\sqrt{0.2\,d\,\log(2dt+1)}$",
}
CHOICE_EXPERIMENTS = ("sensitivity", "sine-choices", "branin-choices", "sensors-choices")
CHOICE_PANELS = {
    "n2": "RKHS, 2 tasks",
    "n20": "RKHS, 20 tasks",
    "sine": "perturbed sines",
    "branin": "shifted Branin",
    "sensors": "sensors",
}


def sensitivity(results):
    """Draw the ratio of MT-KB's final regret to its rivals' under each choice left open."""
    table = _sensitivity_table(results)
    present = [name for name in CHOICE_PANELS if name in set(table["panel"])]
    groups = {
        CHOICE_PANELS[name]: [
            (rows, plotting.style(rival))
            for rival, rows in table[table["panel"] == name].groupby("rival")
        ]
        for name in present
    }
    label = "regret of MT-KB / regret of the rival (below 1: MT-KB is ahead)"
    fig, axes = plotting.stacked_intervals(groups, 6.6, 0.62, label)
    plotting.legend(fig, axes, "Point: ratio of the means over seeds. Bar: 95 % interval.")
    return fig, table


def _sensitivity_table(results):
    rows = []
    for name in CHOICE_EXPERIMENTS:
        trace = results.trace(name, "average_regret")
        config = results.config(name)
        for variant in config.variants:
            ours = _last(trace, variant, "mt-kb")
            for rival in [m for m in config.methods(variant) if m != "mt-kb"]:
                other = _last(trace, variant, rival)
                both = ours.index.intersection(other.index)
                found = stats.compare(ours[both], other[both])
                group, _, choice = variant.partition("-")
                numbers = (found.n, ours.mean(), other.mean(), found.effect, found.low, found.high)
                rows.append((group, variant, rival, CHOICES.get(choice, choice), *numbers))
    columns = ["panel", "variant", "rival", "label", "n", "mt_kb", "other", "effect"]
    return pd.DataFrame(rows, columns=[*columns, "low", "high"])


COSTS = (
    ("refit_seconds", "mt-kb", Style("MT-KB, factorised anew", "#D55E00", "-", "^")),
    ("round_seconds", "mt-kb", Style("MT-KB, factor extended", "#0072B2", (0, (5, 1.5)), "o")),
    ("round_seconds", "mt-bkb", Style("MT-BKB", "#56B4E9", (0, (1.2, 1.2)), "s")),
)


def cost(results):
    """Draw the time of a round against the round, with the slopes of the later part."""
    fig, axes = panels(["time of a round", "dictionary of MT-BKB"], height=3.0)
    start = min(200, results.config("cost").horizon // 2)
    tables = []
    for metric, method, look_of in COSTS:
        trace = results.trace("cost", metric)
        trace = trace[trace["method"] == method].dropna()
        tables.append(plotting.growth(axes[0], trace, look_of, start, 3))
    sizes = results.trace("cost", "dictionary_size")
    tables.append(plotting.growth(axes[1], sizes, replace(COSTS[2][2], label="$m_t$"), start, 3))
    steps = np.array([1, sizes["step"].max()])
    axes[1].loglog(steps, steps, color="0.6", linestyle=(0, (2, 2)), label="all queries")
    for ax, unit in zip(axes, ("seconds", "points"), strict=True):
        ax.set(xlabel="round $t$", ylabel=unit)
        ax.set_ylim(top=10 * ax.get_ylim()[1])  # room for the legend
        ax.legend(frameon=False, fontsize=7.5, loc="upper left")
    note = f"Line: median over seeds. Slope: log-log fit from round {start} on, mean over seeds."
    return plotting.finished(fig, (), tables, note)
