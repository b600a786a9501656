"""Mean-variance Bayesian optimisation under uncertainty: multi-task, multi-objective, constrained.

Reference: [MVABO] S. Iwazaki, Y. Inatsu and I. Takeuchi, "Mean-Variance Analysis in Bayesian
Optimization under Uncertainty", arXiv:2009.08166v1 (2020); AISTATS 2021.
"""

import importlib

_HOME = {
    "MTMVABO": "algorithms",
    "MOMVABO": "algorithms",
    "ConstrainedMVABO": "algorithms",
    "ContinuousMTMVABO": "continuous",
    "tau_grid": "continuous",
    "RandomSampling": "baselines",
    "UncertaintySampling": "baselines",
    "BQOUCB": "baselines",
    "BOVO": "baselines",
    "AdaBQOUCB": "baselines",
    "AdaBOVO": "baselines",
    "UncertainDomain": "domain",
    "NoisyInputDomain": "domain",
    "ProductKernel": "kernels",
    "SquaredExponential": "kernels",
    "squared_exponential": "kernels",
    "TheoryBeta": "theory",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    """Import public names on first use: the command line starts without NumPy."""
    if name not in _HOME:
        raise AttributeError(f"module 'mvabo' has no name {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(f"mvabo.{_HOME[name]}"), name)
