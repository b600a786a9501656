"""Figures of [GPOO], one function each; those of our own stand beside, in `figures_ours`.

Figs. 1 to 3, trees and fits show single recorded runs: the tree and the posterior of a round are
those that the recorded rewards imply, told again to the same method.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from fivebo.common.page import plotting
from fivebo.common.page.plotting import panels
from fivebo.gpoo import study
from fivebo.gpoo.figures_common import BAND, FUNCTIONS, final_values, regret_curves, regret_lines
from fivebo.gpoo.functions import published_function
from fivebo.gpoo.tree import point_cell

DARK, LIGHT, TRUTH = "#0072B2", "#9ECAE1", "#D55E00"


def replay(results, variant, method, rounds=None):
    """Tell a run of "illustration" again; return its instance, and the search after some rounds.

    Default: all rounds. The search has asked nothing since. ValueError if it asks another cell than
    the recorded one: the results are of other code.
    """
    config = results.config("illustration")
    trace = results.trace("illustration")
    part = trace[(trace["variant"] == variant) & (trace["method"] == method) & (trace.seed == 0)]
    table = part.pivot(index="step", columns="metric", values="value").sort_index()
    problem = study.PROBLEMS[config.problem](**config.problem_params(variant))
    instance = problem.draw(np.random.default_rng(0))  # nothing of it but a seed is random
    params = replace(study.Params(), **config.params(variant))
    search = study.METHODS[method](instance, params, config.horizon, None)
    for step, row in table.iloc[:rounds].iterrows():
        cell = search.ask()
        if cell.name != (row["pulled_depth"], row["pulled_index"]):
            raise ValueError(
                f"round {step} of the recorded run pulled another cell than {cell.name}; run "
                "the experiment illustration again"
            )
        search.tell(cell, row["reward"])
    return instance, search


def _draw_tree(ax, search):
    """Draw the tree over the interval, one row a depth; the colour tells the pulls."""
    colours = np.array(["#BBBBBB", DARK, TRUTH])[np.minimum(search.pulls, 2)]
    x = [float((c.low[0] + c.high[0]) / 2) for c in search.nodes]
    y = [-c.depth for c in search.nodes]
    for place, parent in enumerate(search.parents):
        if parent >= 0:
            ax.plot([x[parent], x[place]], [y[parent], y[place]], color="0.8", linewidth=0.7)
    ax.scatter(x, y, c=list(colours), s=9, zorder=3)
    ax.set_ylabel("depth")
    depths = range(0, min(y) - 1, -2)
    ax.set_yticks(list(depths), [str(-d) for d in depths])


def _leaf_table(search, t):
    """Return cell, mean, CI, delta and b of the leaves before the selection of round t."""
    leaves = search.leaves()
    widths, b = search.widths(t), search.b_values(t)
    rows = [
        (*search.nodes[i].name, search.nodes[i].low[0], search.nodes[i].high[0],
         search.model.mean[i], widths[i], search.margins[i], b[i])
        for i in leaves
    ]  # fmt: skip
    names = ["depth", "index", "low", "high", "mean", "width", "delta", "b"]
    return pd.DataFrame(rows, columns=names).sort_values("low", ignore_index=True)


def _draw_leaves(ax, table):
    """Draw each leaf's mean with its bands: dark for CI, light for delta(h) beyond it."""
    for cell in table.itertuples():
        span, reach = [cell.low, cell.high], cell.width + cell.delta
        ax.fill_between(span, cell.mean - reach, cell.mean + reach, color=LIGHT, alpha=0.55)
        low, high = cell.mean - cell.width, cell.mean + cell.width
        ax.fill_between(span, low, high, color=DARK, alpha=0.45, linewidth=0)
        ax.hlines(cell.mean, *span, color="black", linewidth=1.5)


def _draw_truth(ax, f):
    x = np.linspace(0, 1, 600)
    y = f(x[:, None])
    ax.plot(x, y, color=TRUTH, linewidth=1.4, label="$f$")
    return pd.DataFrame({"panel": "f", "x": x, "value": y})


def fig1(results):
    """Draw Fig. 1: the tree over cells, and what GPOO believes of every leaf."""
    rounds = min(14, results.config("illustration").horizon)
    instance, search = replay(results, "f1-s10", "gpoo", rounds)
    table = _leaf_table(search, rounds + 1)
    fig, axes = plotting.stacked(
        ["tree", "leaves: mean, CI (dark), CI + δ(h) (light)"], [1, 2], (6.0, 4.8)
    )
    _draw_tree(axes[0], search)
    _draw_leaves(axes[1], table)
    truth = _draw_truth(axes[1], instance.f)
    axes[1].set(xlabel="arm $x$", ylabel="reward", xlim=(0, 1))
    axes[1].legend(frameon=False, loc="lower right")
    note = f"After {rounds} pulls. Tree: grey not pulled, blue pulled once, orange more often."
    plotting.legend(fig, (), note)
    return fig, pd.concat([table.assign(panel="leaves"), truth], ignore_index=True)


def fig2(results):
    """Draw Fig. 2: the leaves before two consecutive pulls, and after the second."""
    first = min(13, results.config("illustration").horizon - 1)
    titles = [f"before pull {first + k + 1}" for k in range(3)]
    fig, axes = panels(titles, height=3.0)
    tables = []
    for k, ax in enumerate(axes):
        instance, search = replay(results, "f1-s10", "gpoo", first + k)
        table = _leaf_table(search, first + k + 1).assign(panel=titles[k])
        chosen = search.ask()
        _draw_leaves(ax, table)
        middle = (table["low"] + table["high"]) / 2
        ax.plot(middle, table["b"], "_", color="black", markersize=7, label="$b$-value")
        x, b = float(chosen.low[0] + chosen.high[0]) / 2, table["b"].max()
        ax.plot(x, b, "*", color="#CC79A7", markersize=11, label="selected")
        _draw_truth(ax, instance.f)
        ax.set(xlabel="arm $x$", ylabel="reward", xlim=(0, 1))
        selected = (table["depth"] == chosen.depth) & (table["index"] == chosen.index)
        tables.append(table.assign(selected=selected))
    low, high = np.transpose([ax.get_ylim() for ax in axes])
    for ax in axes:
        ax.set_ylim(low.min(), high.max())
    note = r"Line: mean. Dark: $\pm$ CI. Light: $\pm$ (CI + $\delta(h)$). Units of f."
    return plotting.finished(fig, axes[:1], tables, note)


def fig3(results):
    """Draw Fig. 3: how L times the distance within a cell is linked to delta(h)."""
    instance, search = replay(results, "f1-s1", "gpoo")
    best = search.recommend()
    depths = [h for h in (2, 3, 4) if h <= max(2, best.depth)]
    fig, axes = panels([f"cell at depth {h}" for h in depths], height=2.8)
    L, tables = instance.f.largest_slope(), []
    for ax, h in zip(axes, depths, strict=True):
        cell = instance.partition.locate(best.representatives[0], h)
        centre, margin = cell.representatives[0], search.delta(h)
        grid = np.linspace(cell.low[0], cell.high[0], 201)
        f, middle = instance.f(grid[:, None]), float(instance.f(centre[None])[0])
        cone = L * np.abs(grid - centre[0])
        band = {"color": LIGHT, "alpha": 0.5, "label": r"$f(x_{h,i}) \pm \delta(h)$"}
        ax.fill_between(grid, middle - margin, middle + margin, **band)
        dashed, label = (0, (4, 2)), r"$f(x_{h,i}) \pm L\,\ell(x_{h,i}, x)$"
        ax.plot(grid, middle + cone, color=DARK, linestyle=dashed)
        ax.plot(grid, middle - cone, color=DARK, linestyle=dashed, label=label)
        ax.plot(grid, f, color=TRUTH, label="$f$")
        ax.plot(centre, middle, "o", color="black", label="representative point")
        ax.set(xlabel="arm $x$", ylabel="reward")
        ax.locator_params(axis="x", nbins=4)
        frame = pd.DataFrame({"x": grid, "f": f, "cone": cone})
        tables.append(frame.assign(panel=f"depth {h}", delta=margin, centre=middle))
    note = rf"$L = {L:.2f}$, the largest slope of f, and $\delta(h) = 14 \cdot 2^{{-h}}$."
    return plotting.finished(fig, axes[:1], tables, note)


def functions(results):
    """Draw the three reward functions of Sec. 5 with their maximisers."""
    fig, axes = panels([f"function {k}" for k in (1, 2, 3)])
    x, tables = np.linspace(0, 1, 1000), []
    for ax, number in zip(axes, (1, 2, 3), strict=True):
        y = published_function(number)(x[:, None])
        ax.plot(x, y, color="black", linewidth=1.2)
        ax.plot(x[y.argmax()], y.max(), "o", color=TRUTH)
        ax.set(xlabel="arm $x$", ylabel="reward function", ylim=(-0.05, 1.02))
        tables.append(pd.DataFrame({"panel": f"function {number}", "x": x, "f": y}))
    return fig, pd.concat(tables, ignore_index=True)


SHOWN = {
    ("gpoo", "f1-s1"): "GPOO, S = 1",
    ("gpoo", "f1-s10"): "GPOO, S = 10",
    ("gptree", "f1-s1"): "GPTree, S = 1",
    ("stooo", "f1-s1"): "StoOO, S = 1",
    ("stooo", "f1-s10"): "StoOO, S = 10",
    ("random", "f1-s10"): "uniform cells, S = 10",
}


def trees(results):
    """Draw tree and fit of every method after its last round, function 1. [GPOO] Sec. 5."""
    titles = [f"{label}: {part}" for label in SHOWN.values() for part in ("tree", "fit")]
    fig, axes = panels(titles, columns=4, height=2.2)
    tables = []
    for place, (method, variant) in enumerate(SHOWN):
        instance, search = replay(results, variant, method)
        _draw_tree(axes[2 * place], search)
        fit = _draw_fit(axes[2 * place + 1], instance, search)
        tables.append(fit.assign(panel=SHOWN[method, variant]))
        for ax in axes[2 * place : 2 * place + 2]:
            ax.set_xlim(0, 1)
            ax.set_xlabel("arm $x$")
            ax.title.set_fontsize(8.5)
    note = (
        r"Tree: grey not pulled, blue pulled once, orange more often. Fit: orange f, dots rewards, "
        r"blue posterior mean $\pm \sqrt{\beta_N}$ standard deviations."
    )
    return plotting.finished(fig, (), tables, note)


def _draw_fit(ax, instance, search):
    """Draw f, the rewards at the cells' centres, and the posterior of f where there is one."""
    _draw_truth(ax, instance.f)
    told = search.result()
    centres, rewards = (told["low_1"] + told["high_1"]) / 2, told["y"]
    ax.plot(centres, rewards, "o", color="0.35", markersize=2.2, alpha=0.7)
    tables = [pd.DataFrame({"what": "reward", "x": centres, "value": rewards})]
    if search.model is not None:
        x = np.linspace(0, 1, 301)
        mean, std = search.posterior([point_cell(point) for point in x[:, None]])
        wide = np.sqrt(search.beta(search.n_told)) if hasattr(search, "beta") else search.multiplier
        reach = wide * std
        ax.plot(x, mean, color=DARK, linewidth=1.2)
        ax.fill_between(x, mean - reach, mean + reach, color=DARK, alpha=0.25, linewidth=0)
        tables.append(pd.DataFrame({"what": "mean", "x": x, "value": mean, "reach": reach}))
    ax.set(ylabel="reward", ylim=(-0.5, 1.5))
    return pd.concat(tables)


def regret(results):
    """Draw the regret curves of Sec. 5: the authors' form above, the paper's below."""
    order = ["gpoo", "stooo", "gptree", "gpoo-s10", "stooo-s10"]
    forms = {"-code": "authors' form", "": "paper's form"}
    titles = [f"{name}, {form}" for form in forms.values() for name in FUNCTIONS.values()]
    fig, axes = panels(titles)
    tables = []
    for place, (ending, form) in enumerate(forms.items()):
        for ax, f in zip(axes[3 * place :], FUNCTIONS, strict=False):
            variants = [f"{f}-s1{ending}", f"{f}-s10{ending}"]
            frame = regret_lines(results, variants, ["gpoo", "stooo", "gptree"])
            tables.append(regret_curves(ax, frame, f"{f}, {form}", order, ", S = 1"))
    return plotting.finished(fig, axes, tables, BAND)


MAPS = {
    "f1": "function 1, authors' form",
    "f2": "function 2, authors' form",
    "f3": "function 3, authors' form",
    "f3-paper": "function 3, paper's form",
}


def sk(results):
    """Draw the natural logarithm of the mean final regret over S and K. [GPOO] Sec. 5."""
    table = final_values(results, "sk")
    places = table["variant"].str.extract(r"^(.*)-k(\d+)-s(\d+)$")
    table["panel"], table["K"], table["S"] = places[0], places[1].astype(int), places[2].astype(int)
    table["log_mean"] = np.log(table["mean"])
    fig, axes = panels(list(MAPS.values()), columns=2)
    low, high = table["log_mean"].min(), table["log_mean"].max()
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
