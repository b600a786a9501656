"""Bayesian optimisation with ensembles of Gaussian processes: EGP-TS and EGP-EI.

Reference: [EGPBO] Q. Lu, K. D. Polyzos, B. Li and G. B. Giannakis, "Surrogate modeling for
Bayesian optimization beyond a single Gaussian process", arXiv:2205.14090v1 (2022); IEEE TPAMI
45(9), 2023.
"""

from fivebo.common.names import public_names

__all__, __getattr__ = public_names(
    "egpbo",
    {
        "EGPTS": "algorithms",
        "EGPEI": "expected_improvement",
        "GPEI": "expected_improvement",
        "GPTS": "baselines",
        "FullyBayesianGPTS": "baselines",
        "BanditBO": "baselines",
        "EXP3BO": "baselines",
        "RandomSearch": "baselines",
        "Kernel": "features",
        "mixed_dictionary": "features",
        "rbf_dictionary": "features",
        "Search": "acquisition",
        "SimulatedWorkers": "parallel",
    },
)
