"""Figures of [EGPBO], one function each: Figs. 1 to 11 and Table 2; ours are in `figures_ours`."""

import pandas as pd

from fivebo.common.page import plotting
from fivebo.egpbo.figures_common import REGRET, grid, ratios, tuning


def fig1(results):
    """Draw Fig. 1: synthetic functions with the mixed dictionary."""
    return grid(results, ["fig1"], "simple_regret", REGRET, log=True)


def fig2(results):
    """Draw Fig. 2: synthetic functions with 11 RBF kernels."""
    return grid(results, ["fig2"], "simple_regret", REGRET, log=True)


def fig3(results):
    """Draw Fig. 3: robot pushing with both dictionaries."""
    titles = {"fig3a": "{}, mixed", "fig3b": "{}, 11 RBF"}
    label = "simple regret, m"
    return grid(results, ["fig3a", "fig3b"], "simple_regret", label, titles=titles, log=True)


def fig4(results):
    """Draw Fig. 4: two-layer network, mixed dictionary."""
    return tuning(results, "fig4")


def fig5(results):
    """Draw Fig. 5: support vector machine, mixed dictionary."""
    return tuning(results, "fig5")


def fig6(results):
    """Draw Fig. 6: gradient boosting, mixed dictionary."""
    return tuning(results, "fig6")


def fig7(results):
    """Draw Fig. 7: two-layer network, 11 RBF kernels."""
    return tuning(results, "fig7")


def fig8(results):
    """Draw Fig. 8: support vector machine, 11 RBF kernels."""
    return tuning(results, "fig8")


def fig9(results):
    """Draw Fig. 9: gradient boosting, 11 RBF kernels."""
    return tuning(results, "fig9")


def fig10(results):
    """Draw Fig. 10: EGP-EI on the synthetic functions."""
    return grid(results, ["fig10"], "simple_regret", REGRET, log=True)


def fig11(results):
    """Draw Fig. 11: EGP-EI on the robots."""
    return grid(results, ["fig11"], "simple_regret", "simple regret, m", log=True)


def tab2(results):
    """Draw Table 2: run times as ratios to GP-TS with an RBF kernel."""
    table = _run_times(results)
    note = "Point: ratio of the means. Bar: smallest to largest function."
    label = "run time / run time of GP-TS with an RBF kernel"
    return ratios(table, "run times on the four synthetic functions", label, note), table


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
