"""Figures of [CDFO] in the unit square, and of Theorem 1 along runs."""

import numpy as np
import pandas as pd

from fivebo.classify_dfo import study
from fivebo.classify_dfo.curves import batch_axis, median_band
from fivebo.common.page import plotting
from fivebo.common.page.plotting import look, panels
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
    with look():
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
    plotting.legend(fig, axes, "One set of eight observations (seed 0).")
    return fig, pd.concat(tables, ignore_index=True)


def fig1b(results):
    """Draw Fig. 1(b): how far from the minimum, and how often it was downweighted."""
    panels_of = {
        "gap": ("distance in f from the minimum", "$\\min f(X) - f(x^*)$"),
        "optimum_cuts": ("downweightings of the minimiser", "mean of $M_t(x^*)$"),
        "optimum_mass": ("mass of the minimiser", "$p^{(t)}(x^*)$"),
    }
    fig, axes = panels([title for title, _ in panels_of.values()], height=2.7)
    tables = []
    with look():
        for ax, (metric, (_, label)) in zip(axes, panels_of.items(), strict=True):
            trace = _with_library_penalty(results.trace("fig1b", metric))
            if metric == "optimum_cuts":
                tables.append(_means(ax, trace, metric))
                ax.set_ylim(bottom=-0.02, top=max(0.2, ax.get_ylim()[1]))
            else:
                order = (*SQUARE, C1)
                tables.append(median_band(ax, trace, metric, order, LINEAR))
            batch_axis(ax, trace, label)
    plotting.legend(fig, axes, "Line: median over starts (b: mean). Band: quartiles.")
    return fig, pd.concat(tables, ignore_index=True)


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
            numbers["step"], numbers["mean"], color=looks.colour, linestyle=looks.linestyle,
            marker=looks.marker, markevery=3, markeredgecolor="white",
            label=LINEAR.get(method, looks.label),
        )  # fmt: skip
        named = {"panel": panel, "method": method, "variant": part["variant"].iloc[0]}
        tables.append(numbers.rename(columns={"size": "n"}).assign(**named))
    return pd.concat(tables)


RATIOS = {
    "theorem1_mass_ratio": "Theorem 1",
    "corollary1_mass_ratio": "Corollary 1",
}


def certificates(results):
    """Draw the largest ratio of bound to mass over actions and seeds, along runs."""
    places = {"certificates": "DNA, CRX", "certificates-square": "unit square"}
    titles = [f"{name}, {where}" for where in places.values() for name in RATIOS.values()]
    fig, axes = panels(titles, columns=2, height=2.5)
    tables, axis = [], iter(axes)
    with look():
        for experiment in places:
            variant = results.config(experiment).variants[0]
            for metric in RATIOS:
                ax, trace = next(axis), results.trace(experiment, metric).dropna()
                trace = trace[trace["variant"] == variant]
                for method, part in trace.groupby("method", sort=False):
                    looks, largest = plotting.style(method), part.groupby("step")["value"].max()
                    ax.plot(
                        largest.index, largest, color=looks.colour, linestyle=looks.linestyle,
                        label=looks.label,
                    )  # fmt: skip
                    named = {"panel": f"{experiment} {metric}", "method": method}
                    tables.append(largest.reset_index(name="largest").assign(**named))
                ax.axhline(1, color="0.35", linewidth=1, linestyle=(0, (4, 2)))
                batch_axis(ax, trace, "bound / mass")
                ax.set_ylim(0, 1.08)
    plotting.legend(fig, axes, "Largest over actions and seeds; 1 is the bound.")
    return fig, pd.concat(tables, ignore_index=True)
