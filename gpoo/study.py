"""Where [GPOO] plugs into the workflow: its problems, methods, settings and metrics by name.

Every paper has this module; the command line and the runner know nothing else of a paper.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from fivebo.gpoo import problems, theory
from fivebo.gpoo.algorithms import GPOO
from fivebo.gpoo.baselines import HOO, RandomCells, StoOO
from fivebo.gpoo.functions import lipschitz_quantile
from fivebo.gpoo.gp_baselines import GPUCB, GPTree
from fivebo.gpoo.scoring import METRICS, Scorer
from fivebo.gpoo.tree import product_points
from fivebo.gpoo.two_stage import TwoStage

__all__ = ["METHODS", "METRICS", "PROBLEMS", "Params", "scorer"]

PROBLEMS = {"published": problems.PublishedProblem, "sampled": problems.SampledProblem}

scorer = Scorer


@dataclass(frozen=True)
class Params:
    """Settings of all methods; every assumption about the paper is one of them.

    The defaults are the paper form: [GPOO] Algorithm 1 as the text has it, with the numbers of the
    authors' experiments (Sec. 5). The differences C1 to C9 of their code are the fields from
    `start` to `jitter`.

    Parameters
    ----------
    start : {"root", "children"}
        C1: where GPOO starts.
    round_order : {"pull-test", "test-pull"}
        C2: when the pulled node is tested and its children get b-values.
    variance : {"latent", "predictive"}
        C3: variance in intervals of GPOO and GPTree. C8, that no node below depth 7 is expanded,
        follows from "predictive".
    model_noise_var : float or None
        C4: noise variance of the model; None takes the true one.
    beta : {"scaled", "srinivas", "union"}
        C5: ``0.1 log(pi^2 t^2 / 0.6)`` of the experiments, the proof's form, or its union bound.
    recommendation : {"highest-mean", "deepest"}
        C6: what GPOO recommends.
    delta : {"geometric", "base-2", "lipschitz"}
        C7: delta(h) = 14 K^-h, 14 2^-h whatever K is, or ``L * diameter(h)``.
    max_depth : int or None
        C7: nodes below it are not expanded.
    jitter : float
        C9: added to the noise variance in inference.
    delta_scale : float
        Scale of "geometric" and "base-2".
    lipschitz_p : float
        Failure probability at which "lipschitz" takes L.
    p : float
        Failure probability in beta_t.
    stooo : {"gaussian", "hoeffding", "code"}
        Form of StoOO.
    eta : float
        Its failure probability.
    curve : {"fresh", "single"}
        Regret of StoOO and of uniform cells at step t: of a fresh run with budget t, as in the
        paper's plots, or of the one run with budget N.
    point_share : float
        Share of the rounds that the two-stage method keeps for the points, in (0, 1).
    ucb_points : int
        Candidates of GP-UCB along each axis.
    """

    start: Literal["root", "children"] = "root"
    round_order: Literal["pull-test", "test-pull"] = "pull-test"
    variance: Literal["latent", "predictive"] = "latent"
    model_noise_var: float | None = None
    beta: Literal["scaled", "srinivas", "union"] = "scaled"
    recommendation: Literal["highest-mean", "deepest"] = "highest-mean"
    delta: Literal["geometric", "base-2", "lipschitz"] = "geometric"
    max_depth: int | None = None
    jitter: float = 0.0
    delta_scale: float = 14.0
    lipschitz_p: float = 0.1
    p: float = 0.1
    stooo: Literal["gaussian", "hoeffding", "code"] = "gaussian"
    eta: float = 0.1
    curve: Literal["fresh", "single"] = "fresh"
    point_share: float = 0.25
    ucb_points: int = 512

    def delta_of(self, instance):
        """Return delta(h) for an instance."""
        if self.delta == "lipschitz":
            k, d = instance.kernel, instance.partition.dim
            L = lipschitz_quantile(k.length_scale, k.variance, d, self.lipschitz_p)
            return theory.lipschitz_delta(instance.partition, L)
        base = 2 if self.delta == "base-2" else instance.partition.arity
        return theory.geometric_delta(self.delta_scale, base)

    def beta_of(self, arity):
        """Return beta_t."""
        if self.beta == "union":
            return partial(theory.beta_union, p=self.p, arity=arity)
        return partial(
            {"scaled": theory.beta_scaled, "srinivas": theory.beta_srinivas}[self.beta], p=self.p
        )

    def noise_var_of(self, instance):
        """Return the model's noise variance."""
        return instance.noise_std**2 if self.model_noise_var is None else self.model_noise_var


def _gpoo(instance, params, horizon, streams):
    own = ("start", "round_order", "variance", "recommendation", "max_depth", "jitter")
    return GPOO(
        instance.partition, instance.kernel, noise_var=params.noise_var_of(instance),
        delta=params.delta_of(instance), beta=params.beta_of(instance.partition.arity),
        **{name: getattr(params, name) for name in own},
    )  # fmt: skip


def _two_stage(instance, params, horizon, streams):
    points = min(max(1, round(params.point_share * horizon)), horizon - 1)
    search = _gpoo(instance, params, horizon, streams)
    return TwoStage(search, cell_rounds=horizon - points, point_rounds=points)


def _stooo(instance, params, horizon, streams):
    return StoOO(
        instance.partition, budget=horizon, delta=params.delta_of(instance),
        noise_std=instance.noise_std, eta=params.eta, form=params.stooo,
    )  # fmt: skip


def _random(instance, params, horizon, streams):
    return RandomCells(instance.partition, budget=horizon)


def _hoo(instance, params, horizon, streams):
    delta = params.delta_of(instance)
    return HOO(instance.partition, budget=horizon, delta=delta, noise_std=instance.noise_std)


def _gptree(instance, params, horizon, streams):
    return GPTree(
        instance.partition, instance.kernel, noise_var=params.noise_var_of(instance),
        budget=horizon, variance=params.variance, jitter=params.jitter,
    )  # fmt: skip


def _gp_ucb(instance, params, horizon, streams):
    axis = (np.arange(params.ucb_points) + 0.5) / params.ucb_points
    return GPUCB(
        instance.partition, instance.kernel, noise_var=params.noise_var_of(instance),
        points=product_points([axis] * instance.partition.dim),
        beta=params.beta_of(instance.partition.arity),
    )  # fmt: skip


METHODS = {
    "gpoo": _gpoo,
    "gpoo-two-stage": _two_stage,
    "stooo": _stooo,
    "gptree": _gptree,
    "random": _random,
    "hoo": _hoo,
    "gp-ucb": _gp_ucb,
}
