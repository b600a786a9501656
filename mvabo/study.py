"""Where [MVABO] plugs into the workflow: its problems, methods, settings and metrics by name.

Every paper has this module; the command line and the runner know nothing else of a paper.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fivebo.mvabo import newsvendor, problems
from fivebo.mvabo.algorithms import MOMVABO, MTMVABO, ConstrainedMVABO
from fivebo.mvabo.baselines import (
    BOVO,
    BQOUCB,
    AdaBOVO,
    AdaBQOUCB,
    RandomSampling,
    UncertaintySampling,
)
from fivebo.mvabo.continuous import ContinuousMTMVABO
from fivebo.mvabo.scoring import Scorer
from fivebo.mvabo.theory import TheoryBeta

PROBLEMS = {
    "gp-test": problems.GPTestProblem,
    "bird": problems.BirdProblem,
    "rosenbrock": problems.RosenbrockProblem,
    "newsvendor": newsvendor.NewsvendorProblem,
    "noisy-input": problems.NoisyInputProblem,
    "continuous": problems.ContinuousProblem,
}

DATA = {}

METRICS = (
    "regret", "hv_gap", "stopped", "undecided", "pareto_error", "constrained_regret",
    "constraint_excess", "infeasible", "event2_ratio", "inclusion_ratio", "gap_ratio",
    "width_ratio", "expectation_ratio", "variance_ratio", "stopping_ratio", "accuracy_ratio",
    "round_seconds",
)  # fmt: skip

TRAJECTORIES = {"ada-bqoucb": "bqoucb", "ada-bo-vo": "bo-vo"}
"""Methods that make the queries of another and only recommend differently."""

scorer = Scorer


@dataclass(frozen=True)
class Params:
    """Settings of all methods; every assumption about the paper is one of them.

    Values of [MVABO] Sec. 5; those of Sec. 5.1 that belong to a problem are in its record, numbers
    of runs and steps of Figs. 2 and 3 in experiments.yaml. App. B's threshold is ours.

    Parameters
    ----------
    alpha : float
        Weight of F_1 in G.
    beta : {"constant", "theory"}
        beta_t^{1/2}: `beta_sqrt`, or Lemma 2.1 with the exact norm of f; three events share delta
        where nature draws w, and where w is chosen there is only one (Theorems C.1, C.2).
    beta_sqrt : float
        The constant; it multiplies the standard deviation.
    delta : float
        Failure probability of the theory.
    recommendation : {"online", "own-step", "final"}
        Rule of the recommended design: Sec. 5, Theorem 4.1, or the output of Algorithm 1.
    eps : tuple of 2 float
        Accuracy of MO-MVA-BO and of the constrained version.
    h : float or None
        Threshold of the constrained version; None takes `h_quantile`.
    h_quantile : float
        Quantile of the true F_2 over X that serves as threshold.
    known_p : bool
        Whether the methods know p(w), or estimate it from the environments seen.
    w_rule : {"nature", "sd", "sd-p", "var-p"}
        Who chooses w: nature, or all methods by the largest sigma, sigma p or sigma^2 p.
    refit_every : int
        Steps between fits of the kernel, on problems where it is fitted.
    hv_reference : tuple of 2 float, or None
        Reference point of the hypervolumes; None takes the smallest true F_1 and F_2.
    thm_c2 : {"sound", "printed", "printed-spacing"}
        Form of Theorem C.2 that the certificates take under "sd-p" and "var-p"; the sound one is
        for "var-p" alone. R of the printed one is the density in the units of x, or of the grid's
        spacing, max p.
    """

    alpha: float = 0.5
    beta: Literal["constant", "theory"] = "constant"
    beta_sqrt: float = 3.0
    delta: float = 0.05
    recommendation: Literal["online", "own-step", "final"] = "online"
    eps: tuple[float, float] = (0.0, 0.0)
    h: float | None = None
    h_quantile: float = 0.5
    known_p: bool = True
    w_rule: Literal["nature", "sd", "sd-p", "var-p"] = "nature"
    refit_every: int = 10
    hv_reference: tuple[float, float] | None = None
    thm_c2: Literal["sound", "printed", "printed-spacing"] = "sound"

    def confidence(self, instance):
        """Return beta_t^{1/2}: a number, or a function of the log determinant."""
        if self.beta == "constant":
            return self.beta_sqrt
        if np.isnan(instance.true_norm):
            raise ValueError(
                "beta='theory' needs the RKHS norm of f: use problem gp-test, noisy-input or "
                "continuous, or beta='constant'"
            )
        return TheoryBeta(instance.true_norm, self.delta, 3 if self.w_rule == "nature" else 1)

    def threshold(self, instance):
        """Return h for an instance."""
        if self.h is not None:
            return self.h
        return float(np.quantile(instance.objectives[:, 1], self.h_quantile))


def _domain(instance, params):
    """Return the domain as the methods see it: without p(w) if they do not know it."""
    if params.known_p:
        return instance.domain
    return type(instance.domain)(instance.domain.X, instance.domain.W)


def _settings(instance, params, streams):
    """Return what all methods are given."""
    return {
        "domain": _domain(instance, params),
        "kernel": instance.kernel,
        "noise_var": instance.noise_std**2,
        "beta_sqrt": params.confidence(instance),
        "w_rule": None if params.w_rule == "nature" else params.w_rule,
        "refit_every": params.refit_every if instance.fitted else None,
        "rng": streams,
    }


def _multi_task(cls, weighted=True):
    def build(instance, params, horizon, streams):
        weight = {"alpha": params.alpha} if weighted else {}
        settings = _settings(instance, params, streams) | weight
        return cls(recommendation=params.recommendation, **settings)

    return build


def _mo_mva_bo(instance, params, horizon, streams):
    discretised = instance.fine is not None
    settings = _settings(instance, params, streams)
    return MOMVABO(eps=params.eps, discretised=discretised, **settings)


def _constrained(instance, params, horizon, streams):
    settings = _settings(instance, params, streams)
    return ConstrainedMVABO(h=params.threshold(instance), eps=params.eps, **settings)


def _continuous(instance, params, horizon, streams):
    if instance.fine is None:
        raise ValueError("mt-mva-bo-continuous needs a continuous X: use problem continuous")
    limits = np.column_stack([instance.fine.min(axis=0), instance.fine.max(axis=0)])

    def on_box(domain, **settings):
        return ContinuousMTMVABO(limits, domain.W, domain.p, **settings)

    return _multi_task(on_box)(instance, params, horizon, streams)


METHODS = {
    "rs": _multi_task(RandomSampling),
    "us": _multi_task(UncertaintySampling),
    "bqoucb": _multi_task(BQOUCB, weighted=False),
    "ada-bqoucb": _multi_task(AdaBQOUCB),
    "bo-vo": _multi_task(BOVO, weighted=False),
    "ada-bo-vo": _multi_task(AdaBOVO),
    "mt-mva-bo": _multi_task(MTMVABO),
    "mt-mva-bo-continuous": _continuous,
    "mo-mva-bo": _mo_mva_bo,
    "constrained-mva-bo": _constrained,
}
