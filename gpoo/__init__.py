"""Gaussian process bandits with aggregated feedback: GPOO on adaptive trees of cells.

Reference: [GPOO] M. Zhang, R. Tsuchida and C. S. Ong, "Gaussian Process Bandits with Aggregated
Feedback", AAAI 2022, 36(8), 9074-9081; arXiv:2112.13029.
"""

import importlib

_HOME = {
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
}

__all__ = sorted(_HOME)


def __getattr__(name):
    """Import public names on first use: the command line starts without NumPy."""
    if name not in _HOME:
        raise AttributeError(f"module 'gpoo' has no name {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(f"gpoo.{_HOME[name]}"), name)
