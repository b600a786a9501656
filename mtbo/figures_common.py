"""Panels that the paper's figures and ours share."""

from fivebo.common.page.plotting import mean_band

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


def regret_panel(ax, results, experiment, metric, label, without=()):
    """Draw mean and band of all methods but some; the first rounds may leave the axis."""
    trace = results.trace(experiment, metric)
    data = mean_band(ax, trace[~trace["method"].isin(without)], experiment)
    horizon = int(data["step"].max())
    late = data[data["step"] >= min(max(5, horizon // 20), horizon)]
    ax.set_ylim(0, 1.05 * late["high"].max() or 1)  # round 1 alone would flatten the rest
    ax.set_xlim(0, horizon)
    ax.set_xlabel("round $t$")
    ax.set_ylabel(label)
    return data


def similarity_panel(ax, results, experiment):
    """Draw mean and band of MT-KB for every similarity of the tasks."""
    trace = results.trace(experiment, "average_regret")
    trace = trace[trace["method"] == "mt-kb"]
    labels = {name: text for name, text in SIMILARITIES.items() if name in set(trace["variant"])}
    data = mean_band(ax, trace, experiment, by="variant", labels=labels)
    late = data[data["step"] >= min(10, data["step"].max())]
    ax.set(xlabel="round $t$", ylabel=REGRET, xlim=(0, data["step"].max()))
    ax.set_ylim(0, 1.05 * late["high"].max())
    return data
