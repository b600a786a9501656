"""Figures of our own: settings that [MVABO] leaves open, its extensions, its theory along runs."""

from dataclasses import replace

import pandas as pd

from fivebo.common.page import plotting
from fivebo.common.page.plotting import panels
from fivebo.mvabo.figures_common import BAND, GAP, REGRET, both_measures, curves


def _variants(results, experiment, shown, labels, note=BAND):
    """Draw one panel a (title, metric, method), a line a variant."""
    fig, axes = panels(
        [title for title, *_ in shown], columns=2 if len(shown) == 4 else 3, height=2.7
    )
    present = {name: label for name, label in labels.items()
               if name in results.config(experiment).variants}  # fmt: skip
    tables = []
    for ax, (title, metric, method, ylabel) in zip(axes, shown, strict=True):
        trace = results.trace(experiment, metric)
        trace = trace[trace["method"] == method]
        used = {n: label for n, label in present.items() if n in set(trace["variant"])}
        tables.append(curves(ax, trace, title, ylabel, by="variant", labels=used))
    return plotting.finished(fig, axes, tables, note)


MT_AND_MO = (
    ("MT-MVA-BO", "regret", "mt-mva-bo", REGRET),
    ("MO-MVA-BO", "hv_gap", "mo-mva-bo", GAP),
)


def theory_beta(results):
    """Draw both scenarios under the theory's beta_t and under the constant one."""
    labels = {"constant": r"$\beta_t^{1/2}=3$", "theory": r"Lemma 2.1, exact norm"}
    return _variants(results, "theory-beta", MT_AND_MO, labels)


def recommendation(results):
    """Draw the regret of MT-MVA-BO under the three rules of recommendation."""
    labels = {
        "online": r"Sec. 5: $l_t(x_{t'})$",
        "own-step": r"Theorem 4.1: $l_{t'}(x_{t'})$",
        "final": "Alg. 1: bound of all data",
    }
    note = "Mean over runs, two standard errors either side."
    return _variants(results, "recommendation", MT_AND_MO[:1], labels, note)


def stopping(results):
    """Draw how MO-MVA-BO stops, and the error of its set, for several accuracies."""
    labels = {
        "eps-03": r"$\epsilon=0.3$",
        "eps-01": r"$\epsilon=0.1$",
        "eps-005": r"$\epsilon=0.05$",
    }
    shown = (
        ("stopped", "stopped", "mo-mva-bo", "share of runs"),
        ("undecided designs", "undecided", "mo-mva-bo", r"$(|M_t|+|U_t|)/|X|$"),
        (
            "error of the set",
            "pareto_error",
            "mo-mva-bo",
            r"smallest $s$, error in units of $\epsilon$",
        ),
    )
    note = "Line: mean over runs. Band: two standard errors. Below the line at 1 a set is accurate."
    fig, data = _variants(results, "stopping", shown, labels, note)
    axes = fig.axes
    axes[0].set_ylim(0, 1.04)
    axes[2].axhline(1, color="0.3", linewidth=1, linestyle=(0, (4, 2)))
    axes[2].set_ylim(0, 3)
    return fig, data


def constrained(results):
    """Draw the constrained version on problems of different difficulty."""
    labels = {
        "half-feasible": "half of X feasible",
        "tenth-feasible": "a tenth feasible",
        "infeasible": "nothing feasible",
    }
    method = "constrained-mva-bo"
    shown = (
        ("shortfall of the objective", "constrained_regret", method, r"$F_1(x^*)-F_1(\hat x_t)$"),
        ("violation", "constraint_excess", method, r"$h-F_2(\hat x_t)$"),
        ("stopped", "stopped", method, "share of runs"),
        ("declared infeasible", "infeasible", method, "share of runs"),
    )
    fig, data = _variants(
        results, "constrained", shown, labels, BAND.removesuffix(" Lower is better.")
    )
    for ax in fig.axes[2:]:
        ax.set_ylim(0, 1.04)
    return fig, data


def unknown_p(results):
    """Draw both scenarios with p(w) known and estimated."""
    labels = {"known": "$p(w)$ known", "estimated": "$p(w)$ estimated"}
    return _variants(results, "unknown-p", MT_AND_MO, labels)


def simulator(results):
    """Draw both scenarios with w drawn by nature and chosen by its uncertainty."""
    labels = {"nature": "$w$ drawn", "chosen": r"$w = \arg\max\sigma_{t-1}(x_t, w)$"}
    return _variants(results, "simulator", MT_AND_MO, labels)


def noisy_input(results):
    """Draw both scenarios with disturbed inputs."""
    return both_measures(results, "noisy-input", "noisy inputs", height=2.7)


def noisy_simulator(results):
    """Draw the regret under the rules that choose xi."""
    labels = {
        "nature": r"$\xi$ drawn",
        "sd": r"$\arg\max\sigma$",
        "sd-p": r"$\arg\max\sigma p$",
        "var-p": r"$\arg\max\sigma^2 p$",
    }
    shown = (
        ("MT-MVA-BO", "regret", "mt-mva-bo", REGRET),
        ("uncertainty sampling", "regret", "us", REGRET),
    )
    fig, data = _variants(results, "noisy-simulator", shown, labels)
    top = max(ax.get_ylim()[1] for ax in fig.axes)
    for ax in fig.axes:
        ax.set_ylim(0, top)
    return fig, data


GRIDS = {
    "tau-theory": r"Theorem D.1's $\tau$",
    "tau-100": r"$\tau=100$",
    "tau-10": r"$\tau=10$",
}


def continuous(results):
    """Draw accuracy, stopping and regret on grids of a continuous X, and without a grid."""
    shown = (
        (
            "error of the set",
            "pareto_error",
            "mo-mva-bo",
            r"smallest $s$, error in units of $\epsilon$",
        ),
        ("MO-MVA-BO stopped", "stopped", "mo-mva-bo", "share of runs"),
        ("MT-MVA-BO", "regret", "mt-mva-bo", REGRET),
    )
    note = "Line: mean over runs. Band: two standard errors. Truth on all of X."
    fig, data = _variants(results, "continuous", shown, GRIDS, "")
    axes = fig.axes
    axes[1].set_ylim(0, 1.04)
    trace = results.trace("continuous", "regret")
    free = trace[trace["method"] == "mt-mva-bo-continuous"]
    axes[0].axhline(1, color="0.3", linewidth=1, linestyle=(0, (4, 2)))
    axes[0].set_ylim(0, max(1.1, axes[0].get_ylim()[1]))
    top = axes[2].get_ylim()[1]
    more = curves(axes[2], free, "MT-MVA-BO", REGRET)
    axes[2].set_ylim(0, max(top, axes[2].get_ylim()[1]))
    fig.legends.clear()
    plotting.legend(fig, axes, note)
    return fig, pd.concat([data, more], ignore_index=True)


RATIOS = {
    "event2_ratio": "Eq. (2): error / width",
    "inclusion_ratio": "Sec. 3.1: $F_i$ in its interval",
    "gap_ratio": "Eq. (27): regret / certificate",
    "width_ratio": "Lemma A.1: widths / bound",
    "expectation_ratio": "Lemma A.2: expectations / bound",
    "variance_ratio": "Lemma A.3: variances / bound",
    "stopping_ratio": "Eqs. (11), (12): width / bound",
    "accuracy_ratio": r"Theorems 4.2, B.1: error / $\epsilon$",
}


def certificates(results):
    """Draw the theory's ratios along the runs: the largest over the runs at each step."""
    fig, axes = panels(list(RATIOS.values()))
    tables = []
    for ax, metric in zip(axes, RATIOS, strict=True):
        trace = results.trace("certificates", metric).dropna(subset=["value"])
        tables += [_worst(ax, run, metric) for _, run in trace.groupby("method", sort=False)]
        ax.axhline(1, color="0.2", linewidth=1.2)
        ax.set(xlabel="step $t$", ylabel="ratio", ylim=(0, 1.08))
        ax.set_xlim(0, results.config("certificates").horizon)
    return plotting.finished(
        fig, axes, tables, "Largest over all runs at each step; the line at 1 is the bound."
    )


def _worst(ax, trace, panel, look_of=None):
    """Draw the largest value over runs at each step, in the look of the method or a given one."""
    worst = trace.groupby("step", as_index=False)["value"].max()
    method = trace["method"].iloc[0]
    look_of = look_of or plotting.style(method)
    ax.plot(
        worst["step"], worst["value"], **look_of.line, markevery=max(1, len(worst) // 6),
        label=look_of.label,
    )  # fmt: skip
    return worst.assign(panel=panel, method=method, n=trace["seed"].nunique())


EXTENSIONS = {
    "Theorem C.1: width / bound": ("certificates-simulator", "stopping_ratio"),
    "Theorem C.1: regret / certificate": ("certificates-simulator", "gap_ratio"),
    r"Theorem C.1: error / $\epsilon$": ("certificates-simulator", "accuracy_ratio"),
    "Theorem C.2: width / bound": ("certificates-noisy", "stopping_ratio"),
    r"Theorem D.1: error on X / $\epsilon$": ("certificates-continuous", "accuracy_ratio"),
    "Theorem D.1: width / bound": ("certificates-continuous", "stopping_ratio"),
}

FORMS = {
    "sd": r"$\arg\max\sigma$, Theorem C.1's bound",
    "var-p": r"$\arg\max\sigma^2 p$, sound bound",
    "var-p-printed": r"$\arg\max\sigma^2 p$, as printed",
    "sd-p-printed": r"$\arg\max\sigma p$, as printed",
    "sd-p-spacing": r"$\arg\max\sigma p$, unit the spacing",
}


def certificates_extensions(results):
    """Draw the ratios of App. C and D: the largest over the runs at each step."""
    fig, axes = panels(list(EXTENSIONS))
    tables = []
    for ax, (panel, (experiment, metric)) in zip(axes, EXTENSIONS.items(), strict=True):
        trace = results.trace(experiment, metric).dropna(subset=["value"])
        for (variant, _), run in trace.groupby(["variant", "method"], sort=False):
            look_of = _look_of_form(variant)
            tables.append(_worst(ax, run, panel, look_of).assign(variant=variant))
        ax.axhline(1, color="0.2", linewidth=1.2)
        top = 1.08 * max(1.0, trace["value"].max())
        ax.set(xlabel="step $t$", ylabel="ratio", ylim=(0, top))
        ax.set_xlim(0, results.config(experiment).horizon)
    tables.append(_share_stopped(axes[4], results.trace("certificates-continuous", "stopped")))
    return plotting.finished(
        fig, axes, tables, "Largest over all runs at each step; the line at 1 is the bound."
    )


def _look_of_form(variant):
    """Return the look of a rule and a form of Theorem C.2; None: that of the method."""
    if variant not in FORMS:
        return None
    return replace(plotting.style(variant, list(FORMS).index(variant)), label=FORMS[variant])


def _share_stopped(ax, trace):
    """Draw the share of the runs in which the stopping rule has held."""
    share = trace.groupby("step", as_index=False)["value"].mean()
    ax.plot(
        share["step"], share["value"], color="0.55", linestyle=(0, (1.2, 1.2)),
        label="share of runs stopped",
    )  # fmt: skip
    first = {"panel": "share of runs stopped", "method": trace["method"].iloc[0]}
    return share.assign(**first, n=trace["seed"].nunique(), variant=trace["variant"].iloc[0])
