"""Figures of [CDFO], one function each: curves of the best value here, maps and studies beside."""

from fivebo.classify_dfo.curves import BAND, curves
from fivebo.classify_dfo.map_figures import certificates, fig1a, fig1b
from fivebo.classify_dfo.study_figures import assays, batches, samplers, sensitivity, speed, table
from fivebo.common.page import plotting

__all__ = [
    "assays", "batches", "certificates", "fig1a", "fig1b", "fig2", "fig3", "fig4", "fig5",
    "samplers", "sensitivity", "speed", "table",
]  # fmt: skip

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
    fig, axes, data = curves(results, shown, DISCRETE)
    plotting.legend(fig, axes, BAND + " Dashed: the optimum.")
    return fig, data


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
    fig, axes, data = curves(results, shown, CONTINUOUS, columns=2)
    plotting.legend(fig, axes, BAND)
    return fig, data


def fig4(results):
    """Draw Fig. 4: the Shekel and Hartmann functions."""
    shown = {("shekel", "default"): "Shekel (4d)", ("hartmann", "default"): "Hartmann (6d)"}
    fig, axes, data = curves(results, shown, CONTINUOUS, columns=2)
    plotting.legend(fig, axes, BAND)
    return fig, data


def fig5(results):
    """Draw Fig. 5: values against order and pairwise comparisons."""
    shown = {("pairwise", "literal"): "CRX, R1", ("pairwise", "majority"): "CRX, majority (R2)"}
    order = ["classify-rf", "classify-rf-c20", "classify-rf-c10", "classify-rf-c5"]
    order += ["classify-rf-order"]
    fig, axes, data = curves(results, shown, order, columns=2, labels={"classify-rf": "values"})
    plotting.legend(fig, axes, "Line: median over seeds. Band: quartiles. Dashed: the optimum.")
    return fig, data
