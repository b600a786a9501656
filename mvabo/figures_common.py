"""What the figures of [MVABO] and ours share: mean curves with their bands, and their names."""

from fivebo.common.page import plotting
from fivebo.common.page.plotting import mean_band, panels

BAND = "Line: mean over runs. Band: two standard errors either side. Lower is better."
REGRET = r"regret $G(x^*)-G(\hat x_t)$"
GAP = "hypervolume gap"
LABELS = {"regret": REGRET, "hv_gap": GAP}


def curves(ax, trace, panel, ylabel, late=0.05, **how):
    """Draw mean curves; the vertical axis fits what comes after the first `late` of the run."""
    data = mean_band(ax, trace, panel, **({"band": "2se"} | how))
    horizon = int(data["step"].max())
    shown = data[data["step"] >= max(1, late * horizon)]
    top = shown["high"].max()
    ax.set(xlabel="step $t$", ylabel=ylabel, xlim=(0, horizon), ylim=(0, 1.05 * top or 1))
    return data.assign(metric=trace["metric"].iloc[0])


def both_measures(results, experiment, title, height):
    """Draw the regret and the hypervolume gap of one experiment side by side."""
    fig, axes = panels([f"{title}, multi-task", f"{title}, multi-objective"], height=height)
    tables = []
    for ax, (metric, label) in zip(axes, LABELS.items(), strict=True):
        tables.append(curves(ax, results.trace(experiment, metric), metric, label))
    return plotting.finished(fig, axes, tables, BAND)
