"""How methods look: one label, colour, line style and marker each, in all papers.

Colours are Okabe and Ito's; each method also has its own line style and marker, so that figures
can be read without colour.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """How a method looks.

    Parameters
    ----------
    label : str
        Display name.
    colour, linestyle, marker
        As matplotlib understands them.
    """

    label: str
    colour: str
    linestyle: object
    marker: str

    @property
    def line(self):
        """What draws a line of this look: keywords of ``Axes.plot``."""
        return {"color": self.colour, "linestyle": self.linestyle, "marker": self.marker}


METHODS = {
    "mt-kb": Style("MT-KB", "#0072B2", "-", "o"),
    "mt-bkb": Style("MT-BKB", "#56B4E9", (0, (5, 1.5)), "s"),
    "it-kb": Style("IT-KB", "#D55E00", (0, (1.2, 1.2)), "^"),
    "it-bkb": Style("IT-BKB", "#E69F00", (0, (5, 1.5, 1.2, 1.5)), "v"),
    "mobo": Style("MOBO", "#555555", (0, (3, 1.5, 1, 1.5, 1, 1.5)), "D"),
    "gpoo": Style("GPOO", "#0072B2", "-", "o"),
    "gpoo-s10": Style("GPOO, S = 10", "#56B4E9", (0, (5, 1.5)), "s"),
    "gpoo-quad": Style("GPOO, K = 4", "#56B4E9", (0, (5, 1.5)), "s"),
    "gpoo-two-stage": Style("GPOO, then its points", "#CC79A7", (0, (5, 1.5)), "s"),
    "stooo": Style("StoOO", "#D55E00", (0, (1.2, 1.2)), "^"),
    "stooo-s10": Style("StoOO, S = 10", "#E69F00", (0, (5, 1.5, 1.2, 1.5)), "v"),
    "gptree": Style("GPTree", "#009E73", (0, (3, 1.5, 1, 1.5, 1, 1.5)), "D"),
    "random": Style("uniform cells", "#999999", (0, (3, 1)), "X"),
    "hoo": Style("HOO (ours)", "#CC79A7", (0, (5, 1.5, 1.2, 1.5)), "P"),
    "gp-ucb": Style("GP-UCB (ours)", "#000000", (0, (1, 2)), "*"),
    "rs": Style("RS", "#999999", (0, (1.2, 1.2)), "X"),
    "us": Style("US", "#555555", (0, (3, 1.5, 1, 1.5, 1, 1.5)), "D"),
    "bqoucb": Style("BQOUCB", "#E69F00", (0, (5, 1.5, 1.2, 1.5)), "v"),
    "ada-bqoucb": Style("ADA-BQOUCB", "#B35900", (0, (2.5, 1.2)), "^"),
    "bo-vo": Style("BO-VO", "#CC79A7", (0, (7, 1.5, 1.2, 1.5)), "<"),
    "ada-bo-vo": Style("ADA-BO-VO", "#7A3B69", (0, (4, 1)), ">"),
    "mt-mva-bo": Style("MT-MVA-BO", "#0072B2", "-", "o"),
    "mt-mva-bo-continuous": Style("MT-MVA-BO, continuous X", "#56B4E9", (0, (5, 1.5)), "P"),
    "mo-mva-bo": Style("MO-MVA-BO", "#009E73", (0, (9, 1)), "s"),
    "constrained-mva-bo": Style("constrained MVA-BO", "#D55E00", (0, (7, 1, 1, 1, 1, 1)), "p"),
    "egp-ts": Style("EGP-TS", "#000000", "-", "o"),
    "gp-ts-rbf": Style("GP-TS, RBF", "#0072B2", (0, (5, 1.5)), "s"),
    "gp-ts-ard": Style("GP-TS, RBF-ARD", "#56B4E9", (0, (1.2, 1.2)), "^"),
    "gp-ts-m32": Style("GP-TS, Matérn-3/2", "#009E73", (0, (5, 1.5, 1.2, 1.5)), "v"),
    "gp-ts-m52": Style("GP-TS, Matérn-5/2", "#B7950B", (0, (3, 1.5, 1, 1.5, 1, 1.5)), "D"),
    "gp-ts-bayes": Style("GP-TS, fully Bayesian", "#56B4E9", (0, (2.5, 1.2)), "P"),
    "banditbo": Style("BanditBO", "#D55E00", (0, (8, 1.5)), "X"),
    "exp3bo": Style("EXP3BO", "#E69F00", (0, (1, 2)), "<"),
    "gp-ei": Style("GP-EI", "#CC79A7", (0, (8, 1.5, 1.2, 1.5)), ">"),
    "egp-ei": Style("EGP-EI, sampled", "#000000", (0, (4, 1)), "p"),
    "egp-ei-mixture": Style("EGP-EI, mixture", "#D55E00", (0, (1.5, 2.5)), "h"),
    "random-search": Style("random search", "#999999", (0, (3, 1)), "*"),
    "classify-rf": Style("classify-rf", "#000000", "-", "o"),
    "classify-rf-majority": Style("classify-rf, majority (R2)", "#0072B2", (0, (5, 1.5)), "s"),
    "classify-rf-low": Style("classify-rf, keep the low (R3)", "#56B4E9", (0, (1.2, 1.2)), "^"),
    "classify-rf-soft": Style("classify-rf, vote share (R4)", "#009E73", (0, (2.5, 1.2)), "v"),
    "classify-tuned": Style("classify-tuned", "#009E73", (0, (9, 1)), "P"),
    "classify-single": Style("single logistic", "#D55E00", (0, (1.2, 1.2)), "X"),
    "classify-bootstrap": Style("multiplier bootstrap", "#CC79A7", (0, (5, 1.5)), "D"),
    "classify-css": Style("exact CSS", "#0072B2", (0, (5, 1.5, 1.2, 1.5)), "s"),
    "classify-rf-order": Style("order within a batch", "#009E73", (0, (2.5, 1.2)), "D"),
    "classify-rf-c5": Style("5 comparisons", "#E69F00", (0, (1.2, 1.2)), "v"),
    "classify-rf-c10": Style("10 comparisons", "#56B4E9", (0, (7, 2)), "h"),
    "classify-rf-c20": Style("20 comparisons", "#0072B2", (0, (5, 1.5, 1.2, 1.5)), "^"),
    "classify-rf-s1": Style("classify-rf, sampler S1", "#D55E00", (0, (4, 1)), "p"),
    "random-2x": Style("random-2x", "#555555", (0, (1.2, 1.2)), "D"),
    "cma-es": Style("CMA-ES", "#E69F00", (0, (5, 1.5, 1.2, 1.5)), "v"),
    "gp-ei-log": Style("GP-EI, log search (ours)", "#7A3B69", (0, (4, 1)), "h"),
    "box-classifier": Style("box classification (ours)", "#B7950B", (0, (1, 2)), "p"),
}

SEQUENCE = (
    ("#440154", "-", "o"),
    ("#31688E", (0, (5, 1.5)), "s"),
    ("#1F9E89", (0, (5, 1.5, 1.2, 1.5)), "^"),
    ("#7AB648", (0, (1.2, 1.2)), "D"),
    ("#DDB83A", (0, (3, 1.5, 1, 1.5, 1, 1.5)), "v"),
)
"""Looks of ordered variants, dark to light."""


def style(name, place=0):
    """Return the look of a method, or of the variant at a place of an ordered list."""
    if name in METHODS:
        return METHODS[name]
    return Style(name, *SEQUENCE[place % len(SEQUENCE)])
