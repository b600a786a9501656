"""Figures of [CDFO], one function each: Figs. 1 to 5 and the table; ours: figures_ours.py."""

import numpy as np
import pandas as pd

from fivebo.classify_dfo import study
from fivebo.classify_dfo.figures_common import (
    BAND,
    batch_axis,
    curves,
    median_band,
    medians,
    relative,
)
from fivebo.common.page import plotting
from fivebo.common.page.plotting import panels
from fivebo.common.search.rng import Streams, rng_for

SQUARE = ("classify-single", "classify-css", "classify-bootstrap", "classify-rf")
TITLES = {
    "classify-single": "linear", "classify-css": "exact CSS",
    "classify-bootstrap": "bootstrapped linear", "classify-rf": "random forest",
}  # fmt: skip


def replay(results, method, seed=0):
    """Run the two batches of experiment "fig1a" again; return instance and search after the fit.

    Raises
    ------
    ValueError
        The recorded coverage is another: the results are of other code.
    """
    config = results.config("fig1a")
    names, variant = ("classify_dfo", "fig1a", config.problem, seed), config.variants[0]
    problem = study.PROBLEMS[config.problem](**config.problem_params(variant))
    instance = problem.draw(rng_for(*names, "instance"))
    params = study.Params(**config.params(variant))
    search = study.METHODS[method](instance, params, 2, Streams.named(*names, method))
    batch = search.ask()
    search.tell(batch, instance.evaluate(batch))
    search.ask()
    trace = results.trace("fig1a", "cut_coverage")
    known = trace[(trace["method"] == method) & (trace["seed"] == seed) & (trace["step"] == 2)]
    if abs(search.sampler.coverage[0] - known["value"].iloc[0]) > 1e-12:
        raise ValueError("the recorded run is of other code; run the experiment fig1a again")
    return instance, search


def fig1a(results):
    """Draw Fig. 1(a): the points that each classifier downweights after eight observations."""
    fig, axes = panels([TITLES[m] for m in SQUARE], columns=4, height=2.6)
    tables = []
    for ax, method in zip(axes, SQUARE, strict=True):
        instance, search = replay(results, method)
        X, f = instance.domain.features, instance.values
        rows, h = search.batches[0], search.sampler.mistakes
        high = search.labels > 0
        shown = np.zeros(len(X), dtype=bool)
        side = round(len(X) ** 0.5)
        shown.reshape(side, side)[:: max(1, side // 25), :: max(1, side // 25)] = True
        true = f > np.median(f[rows])
        for kept, colour, name in (
            (true, "#0072B2", "downweighted, truly high"),
            (~true, "#D55E00", "downweighted, truly low"),
        ):
            at = shown & (h > 0) & kept
            ax.scatter(*X[at].T, marker="x", s=10, linewidths=0.8, color=colour, label=name)
        ax.scatter(*X[rows[high]].T, s=26, color="black", label="observed high")
        ax.scatter(
            *X[rows[~high]].T, s=26, facecolor="white", edgecolor="black", label="observed low"
        )
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", xticks=[0, 1])
        ax.set_yticks([0, 1])
        table = pd.DataFrame(X, columns=["x_1", "x_2"]).assign(f=f, h=h, method=method)
        table["observed"] = np.isin(np.arange(len(X)), rows)
        tables.append(table[(h > 0) | table["observed"]])
    return plotting.finished(fig, axes, tables, "One set of eight observations (seed 0).")


def fig1b(results):
    """Draw Fig. 1(b): how far from the minimum, and how often it was downweighted."""
    panels_of = {
        "gap": ("distance in f from the minimum", "$\\min f(X) - f(x^*)$"),
        "optimum_cuts": ("downweightings of the minimiser", "mean of $M_t(x^*)$"),
        "optimum_mass": ("mass of the minimiser", "$p^{(t)}(x^*)$"),
    }
    fig, axes = panels([title for title, _ in panels_of.values()], height=2.7)
    tables = []
    for ax, (metric, (_, label)) in zip(axes, panels_of.items(), strict=True):
        trace = _with_library_penalty(results.trace("fig1b", metric))
        if metric == "optimum_cuts":
            tables.append(_means(ax, trace, metric))
            ax.set_ylim(bottom=-0.02, top=max(0.2, ax.get_ylim()[1]))
        else:
            order = (*SQUARE, C1)
            tables.append(median_band(ax, trace, metric, order, LINEAR))
        batch_axis(ax, trace, label)
    return plotting.finished(
        fig, axes, tables, "Line: median over starts (b: mean). Band: quartiles."
    )


LINEAR = {"classify-single": "linear, C = 100"}
C1 = "linear, C = 1"


def _with_library_penalty(trace):
    """Return the default runs, and the linear classifier with the library's penalty beside."""
    other = (trace["variant"] == "library-penalty") & (trace["method"] == "classify-single")
    return pd.concat([trace[trace["variant"] == "default"], trace[other].assign(method=C1)])


def _means(ax, trace, panel):
    """Draw means: the median of a rare count is 0."""
    tables = []
    for method in (*SQUARE, C1):
        part, looks = trace[trace["method"] == method], plotting.style(method)
        numbers = part.groupby("step")["value"].agg(["size", "mean"]).reset_index()
        ax.plot(
            numbers["step"], numbers["mean"], **looks.line, markevery=3, markeredgecolor="white",
            label=LINEAR.get(method, looks.label),
        )  # fmt: skip
        named = {"panel": panel, "method": method, "variant": part["variant"].iloc[0]}
        tables.append(numbers.rename(columns={"size": "n"}).assign(**named))
    return pd.concat(tables)


DISCRETE = (
    "classify-rf", "classify-rf-majority", "classify-rf-low", "gp-ei", "random-2x", "random-search",
)  # fmt: skip
CONTINUOUS = (
    "classify-tuned", "classify-rf", "classify-rf-majority", "classify-rf-low", "cma-es",
    "gp-ei", "gp-ei-log", "random-2x", "random-search", "box-classifier", "classify-single",
)  # fmt: skip


def fig2(results):
    """Draw Fig. 2: DNA binding to CRX and VSX1, and airfoils."""
    shown = {
        ("dna", "crx"): "binding to CRX",
        ("dna", "vsx1"): "binding to VSX1",
        ("airfoil", "default"): "airfoils",
    }
    return curves(results, shown, DISCRETE, BAND + " Dashed: the optimum.")


def fig3(results):
    """Draw Fig. 3: linear functions, with a quadratic, and an ensemble against one model."""
    names = {"linear": "linear", "linear-quadratic": "lin. + quadratic"}
    shown = {
        (experiment, f"d{d}"): f"{name}, d = {d}"
        for d in (20, 50, 300)
        for experiment, name in names.items()
    }
    shown |= {
        ("ensemble", "literal"): "CRX, consensus (R1)",
        ("ensemble", "majority"): "CRX, majority (R2)",
    }
    return curves(results, shown, CONTINUOUS, BAND, columns=2)


def fig4(results):
    """Draw Fig. 4: the Shekel and Hartmann functions."""
    shown = {("shekel", "default"): "Shekel (4d)", ("hartmann", "default"): "Hartmann (6d)"}
    return curves(results, shown, CONTINUOUS, BAND, columns=2)


def fig5(results):
    """Draw Fig. 5: values against order and pairwise comparisons."""
    shown = {("pairwise", "literal"): "CRX, R1", ("pairwise", "majority"): "CRX, majority (R2)"}
    order = ["classify-rf", "classify-rf-c20", "classify-rf-c10", "classify-rf-c5"]
    order += ["classify-rf-order"]
    return curves(
        results,
        shown,
        order,
        "Line: median over seeds. Band: quartiles. Dashed: the optimum.",
        columns=2,
        labels={"classify-rf": "values"},
    )


def table(results):
    """Draw the median gap of every method on the further assays, over that of random-2x."""
    middle = medians(results, "table")
    ratios = relative(middle)
    ratios = ratios.loc[ratios["classify-rf-majority"].sort_values().index]
    order = ["random-search", "gp-ei", "classify-rf-low", "classify-rf-majority", "classify-rf"]
    fig, (ax,) = panels(["gap at the end over that of random-2x"], height=0.8 + 0.22 * len(ratios))
    fig.set_figwidth(6.6)
    for place, method in enumerate(order):
        looks = plotting.style(method)
        rows = np.arange(len(ratios)) + 0.13 * (place - 2)
        ax.plot(
            ratios[method], rows, linestyle="none", marker=looks.marker, color=looks.colour,
            markeredgecolor="white", markeredgewidth=0.4, label=looks.label, clip_on=False,
        )  # fmt: skip
    ax.axvline(1, color="0.35", linewidth=1, linestyle=(0, (4, 2)))
    ax.set_yticks(range(len(ratios)), [v.upper().replace("-", " ") for v in ratios.index])
    ax.set(ylim=(len(ratios) - 0.5, -0.5), xlim=(0, None), xlabel="0: the optimum was found")
    ax.grid(axis="x", visible=False)
    plotting.legend(fig, [ax], "Point: ratio of the medians over seeds.")
    found = middle.stack().rename("median_gap").reset_index()
    found["ratio"] = (
        ratios.stack().reindex(pd.MultiIndex.from_frame(found[["variant", "method"]])).to_numpy()
    )
    return fig, found.assign(n=results.config("table").seeds)
