"""Multi-task Bayesian optimisation with no-regret guarantees: MT-KB and MT-BKB.

Reference: [MTBO] S. R. Chowdhury and A. Gopalan, "No-regret Algorithms for Multi-task Bayesian
Optimization", arXiv:2008.08885v1 (2020); AISTATS 2021.
"""

from fivebo.common.names import public_names

__all__, __getattr__ = public_names(
    "mtbo",
    {
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
    },
)
