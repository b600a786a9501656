"""Multi-task Bayesian optimisation with no-regret guarantees: MT-KB and MT-BKB.

Reference: [MTBO] S. R. Chowdhury and A. Gopalan, "No-regret Algorithms for Multi-task Bayesian
Optimization", arXiv:2008.08885v1 (2020); AISTATS 2021.
"""

import importlib

_HOME = {
    "MTKB": "algorithms",
    "MTBKB": "algorithms",
    "ITKB": "baselines",
    "ITBKB": "baselines",
    "MOBO": "baselines",
    "ICM": "multitask",
    "DiagonalKernel": "multitask",
    "SumKernel": "multitask",
    "similarity_kernel": "multitask",
    "ChebyshevScalarization": "scalarization",
    "LinearScalarization": "scalarization",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    """Import public names on first use: the command line starts without NumPy."""
    if name not in _HOME:
        raise AttributeError(f"module 'mtbo' has no name {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(f"mtbo.{_HOME[name]}"), name)
