"""Mean-variance Bayesian optimisation under uncertainty: multi-task, multi-objective, constrained.

Reference: [MVABO] S. Iwazaki, Y. Inatsu and I. Takeuchi, "Mean-Variance Analysis in Bayesian
Optimization under Uncertainty", arXiv:2009.08166v1 (2020); AISTATS 2021.
"""

from fivebo.common.names import public_names

__all__, __getattr__ = public_names(
    "mvabo",
    {
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
        "squared_exponential": "kernels",
        "TheoryBeta": "theory",
    },
)
