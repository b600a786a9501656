"""Derivative-free optimisation by repeated classification of batches of measurements.

Reference: [CDFO] T. B. Hashimoto, S. Yadlowsky and J. C. Duchi, "Derivative free optimization via
repeated classification", AISTATS 2018, PMLR 84; arXiv:1804.03761.
"""

from fivebo.common.names import public_names

__all__, __getattr__ = public_names(
    "classify_dfo",
    {
        "RepeatedClassification": "algorithms",
        "Judge": "algorithms",
        "Values": "feedback",
        "Order": "feedback",
        "Comparisons": "feedback",
        "Catalogue": "spaces",
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
        "BoxClassifier": "box_classifier",
    },
)
