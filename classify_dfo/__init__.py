"""Derivative-free optimisation by repeated classification of batches of measurements.

Reference: [CDFO] T. B. Hashimoto, S. Yadlowsky and J. C. Duchi, "Derivative free optimization via
repeated classification", AISTATS 2018, PMLR 84; arXiv:1804.03761.
"""

import importlib

_HOME = {
    "RepeatedClassification": "algorithms",
    "Judge": "feedback",
    "Values": "feedback",
    "Order": "feedback",
    "Comparisons": "feedback",
    "Catalogue": "spaces",
    "Box": "spaces",
    "Enumeration": "samplers",
    "Perturbation": "samplers",
    "ImportanceSampling": "samplers",
    "ForestConsensus": "classifiers",
    "Logistic": "classifiers",
    "LogisticEnsemble": "classifiers",
    "MultiplierBootstrap": "classifiers",
    "HalfSpaceCSS": "selective",
    "AgnosticSelective": "selective",
    "RandomSearch": "baselines",
    "CMAES": "baselines",
    "GPEI": "baselines",
    "BoxClassifier": "baselines",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    """Import public names on first use: the command line starts without NumPy."""
    if name not in _HOME:
        raise AttributeError(
            f"module 'classify_dfo' has no name {name!r}; it has {', '.join(__all__)}"
        )
    return getattr(importlib.import_module(f"classify_dfo.{_HOME[name]}"), name)
