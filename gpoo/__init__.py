"""Gaussian process bandits with aggregated feedback: GPOO on adaptive trees of cells.

Reference: [GPOO] M. Zhang, R. Tsuchida and C. S. Ong, "Gaussian Process Bandits with Aggregated
Feedback", AAAI 2022, 36(8), 9074-9081; arXiv:2112.13029.
"""

from fivebo.common.names import public_names

__all__, __getattr__ = public_names(
    "gpoo",
    {
        "GPOO": "algorithms",
        "TwoStage": "two_stage",
        "StoOO": "baselines",
        "HOO": "baselines",
        "RandomCells": "baselines",
        "GPTree": "gp_baselines",
        "GPUCB": "gp_baselines",
        "Cell": "tree",
        "Partition": "tree",
        "SquaredExponential": "regions",
        "BoxAverages": "regions",
    },
)
