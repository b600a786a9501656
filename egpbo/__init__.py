"""Bayesian optimisation with ensembles of Gaussian processes: EGP-TS and EGP-EI.

Reference: [EGPBO] Q. Lu, K. D. Polyzos, B. Li and G. B. Giannakis, "Surrogate modeling for
Bayesian optimization beyond a single Gaussian process", arXiv:2205.14090v1 (2022); IEEE TPAMI
45(9), 2023.
"""

import importlib

_HOME = {
    "EGPTS": "algorithms",
    "EGPEI": "expected_improvement",
    "GPEI": "expected_improvement",
    "GPTS": "baselines",
    "FullyBayesianGPTS": "baselines",
    "BanditBO": "baselines",
    "EXP3BO": "baselines",
    "RandomSearch": "baselines",
    "Box": "box",
    "Kernel": "features",
    "mixed_dictionary": "features",
    "rbf_dictionary": "features",
    "Search": "acquisition",
    "run_workers": "parallel",
    "SimulatedWorkers": "parallel",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    """Import public names on first use: the command line starts without NumPy."""
    if name not in _HOME:
        raise AttributeError(f"module 'egpbo' has no name {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(f"egpbo.{_HOME[name]}"), name)
