"""What the figures of [GPOO] and our own share: regret curves and their tables."""

import pandas as pd

from fivebo.common.page import plotting
from fivebo.common.page.plotting import mean_band

BAND = (
    "Line: mean over seeds. Band: one standard deviation either side. Regret in units of f, "
    "lower is better."
)
REGRET = "aggregated regret $R_N$"
FUNCTIONS = {"f1": "function 1", "f2": "function 2", "f3": "function 3"}


def regret_lines(results, variants, methods):
    """Return the regrets of some variants; S = 10 makes a line of its own beside S = 1."""
    trace = results.trace("regret", "aggregated_regret")
    parts = []
    for variant in variants:
        part = trace[(trace["variant"] == variant) & trace["method"].isin(methods)]
        many = "-s10" in variant
        parts.append(part.assign(method=part["method"] + ("-s10" if many else "")))
    return pd.concat(parts)


def regret_curves(ax, frame, panel, order, suffix=""):
    """Draw mean regrets; the names of S = 1 carry it where both are drawn."""
    present = [m for m in order if m in set(frame["method"])]
    labels = {m: plotting.METHODS[m].label for m in present}
    if suffix:
        labels = {m: label if m.endswith("-s10") else label + suffix for m, label in labels.items()}
    data = mean_band(ax, frame, panel, labels=labels)
    ax.set(xlim=(0, data["step"].max()), xlabel="budget $N$", ylabel=REGRET)
    ax.set_ylim(-0.02, min(1.05, 1.05 * data["high"].max()))
    return data


def final_values(results, experiment, metric="aggregated_regret"):
    """Return mean and spread over seeds of a metric's last value, one row a variant and method."""
    trace = results.trace(experiment, metric)
    last = trace[trace["step"] == trace["step"].max()]
    groups = last.groupby(["variant", "method"], sort=False)["value"]
    return groups.agg(n="size", mean="mean", std="std").fillna({"std": 0.0}).reset_index()
