"""Where [MTBO] plugs into the workflow: its problems, methods, settings and metrics by name.

Every paper has this module; the command line and the runner know nothing else of a paper.
"""

import functools
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fivebo.common.checks import count, positive
from fivebo.mtbo import problems, sensors
from fivebo.mtbo.algorithms import MTBKB, MTKB
from fivebo.mtbo.baseline_theory import igp_ucb_regulariser
from fivebo.mtbo.baselines import ITBKB, ITKB, MOBO
from fivebo.mtbo.multitask import DiagonalKernel
from fivebo.mtbo.scalarization import ChebyshevScalarization, LinearScalarization
from fivebo.mtbo.scoring import Scorer
from fivebo.mtbo.theory import mt_kb_radius_as_printed, nystrom_q

PROBLEMS = {
    "rkhs": problems.RKHSProblem,
    "sine": problems.SineProblem,
    "branin": problems.BraninProblem,
    "sensors": sensors.SensorProblem,
}

DATA = {"sensors": [sensors.READINGS, sensors.PLACES]}

METRICS = (
    "instant_regret", "cumulative_regret", "average_regret", "bayes_regret", "own_bayes_ratio",
    "bayes_ratio", "dictionary_size", "dictionary_share", "theorem1_ratio", "instant_regret_ratio",
    "theorem2_ratio", "theorem3_regret_ratio", "theorem3_size_ratio", "lemma5_ratio",
    "lemma10_ratio", "realised_epsilon", "round_seconds", "refit_seconds",
)  # fmt: skip

scorer = Scorer


@dataclass(frozen=True)
class Params:
    """Settings of all methods; every assumption about the paper is one of them.

    Values of [MTBO] Sec. 5 and App. E, which tunes nothing and gives all methods the same; trials
    and rounds of Fig. 1 are in experiments.yaml.

    Parameters
    ----------
    eta : float
        Regulariser.
    delta : float
        Failure probability.
    epsilon : float
        Accuracy of the dictionaries.
    scalarization : {"chebyshev", "linear"}
        s_lambda with its law of weights.
    reference : {"min", "zero", "minus-one"}
        Chebyshev reference point z: the minimum of each task, 0, or -1.
    lipschitz : {"exact", "one"}
        L_lambda in the acquisitions.
    norm_bound : {"paper", "true"}
        b: ``max_x ||f(x)|| / kappa`` as printed, or the exact RKHS norm.
    mt_radius : {"theorem-2", "theorem-1-printed"}
        MT-KB's radius; the second has the misprinted factor of Theorem 1.
    q_rule : {"theorem-3", "lemma-7", "order-wise"}
        Oversampling of the dictionaries.
    q : float or None
        Oversampling as a number, off the theory; None takes `q_rule`.
    inclusion_scale : {"paper", "eta"}
        MT-BKB's inclusion probabilities.
    it_kernel : {"unit", "marginal"}
        Kernels of the independent tasks: k, or B_ii k.
    it_norm_bound : {"shared", "per-task"}
        b of the independent tasks: the same, or ``max_i max_x |f_i(x)|``.
    it_radius : {"printed", "self-normalised"}
        IT-KB's radius.
    it_gain : {"realised", "greedy"}
        Its information gain.
    it_regulariser : {"shared", "igp-ucb"}
        IT-KB's regulariser: eta, or 1 + 2/T.
    it_bkb_radius : {"bkb", "bkb-code"}
        IT-BKB's radius.
    mobo_radius : {"hypermapper", "dragonfly"}
        MOBO's multiplier.
    bayes_weights : int
        Number of weights in the Bayes regret.
    """

    eta: float = 0.1
    delta: float = 0.1
    epsilon: float = 0.1
    scalarization: Literal["chebyshev", "linear"] = "chebyshev"
    reference: Literal["min", "zero", "minus-one"] = "min"
    lipschitz: Literal["exact", "one"] = "exact"
    norm_bound: Literal["paper", "true"] = "paper"
    mt_radius: Literal["theorem-2", "theorem-1-printed"] = "theorem-2"
    q_rule: Literal["theorem-3", "lemma-7", "order-wise"] = "theorem-3"
    q: float | None = None
    inclusion_scale: Literal["paper", "eta"] = "paper"
    it_kernel: Literal["unit", "marginal"] = "unit"
    it_norm_bound: Literal["shared", "per-task"] = "shared"
    it_radius: Literal["printed", "self-normalised"] = "printed"
    it_gain: Literal["realised", "greedy"] = "realised"
    it_regulariser: Literal["shared", "igp-ucb"] = "shared"
    it_bkb_radius: Literal["bkb", "bkb-code"] = "bkb"
    mobo_radius: Literal["hypermapper", "dragonfly"] = "hypermapper"
    bayes_weights: int = 1000

    def __post_init__(self):
        positive(self.eta, "eta")
        positive(self.delta, "delta", upper=1.0, closed=True)
        positive(self.epsilon, "epsilon", upper=1.0)
        count(self.bayes_weights, "bayes_weights")
        if self.q is not None:
            positive(self.q, "q")

    def make_scalarization(self, instance):
        """Return s_lambda for an instance."""
        F = instance.values
        if self.scalarization == "linear":
            return LinearScalarization(F.shape[1])
        z = {"min": F.min(0), "zero": np.zeros(F.shape[1]), "minus-one": -np.ones(F.shape[1])}
        return ChebyshevScalarization(z[self.reference])

    def norm_bound_of(self, instance):
        """Return b for an instance."""
        if self.norm_bound == "paper":
            return instance.printed_norm_bound
        if np.isnan(instance.true_norm):
            raise ValueError(
                "norm_bound='true' needs a function drawn from an RKHS: use problem rkhs, or "
                "norm_bound='paper'"
            )
        return instance.true_norm

    def oversampling(self, horizon):
        """Return q."""
        if self.q is not None:
            return self.q
        return nystrom_q(horizon, epsilon=self.epsilon, delta=self.delta, rule=self.q_rule)


def _settings(instance, params, streams):
    """Return what all methods are given."""
    scalarization = params.make_scalarization(instance)
    return {
        "domain": instance.domain, "scalarization": scalarization, "eta": params.eta,
        "rng": streams,
    }  # fmt: skip


def _confident(instance, params, streams):
    """Return what methods with a confidence radius are given."""
    return _settings(instance, params, streams) | {
        "b": params.norm_bound_of(instance), "noise_std": instance.noise_std,
        "delta": params.delta, "lipschitz": params.lipschitz,
    }  # fmt: skip


def _budgeted(instance, params, horizon, streams):
    """Return what methods with dictionaries are given."""
    q = params.oversampling(horizon)
    own = {"horizon": horizon, "epsilon": params.epsilon, "q": q}
    return _confident(instance, params, streams) | own


def _mt_kb(instance, params, horizon, streams):
    settings = _confident(instance, params, streams)
    if params.mt_radius == "theorem-1-printed":
        constants = {name: settings[name] for name in ("b", "noise_std", "delta")}
        n = instance.kernel.n_tasks
        settings["radius"] = functools.partial(mt_kb_radius_as_printed, n_tasks=n, **constants)
    return MTKB(kernel=instance.kernel, **settings)


def _mt_bkb(instance, params, horizon, streams):
    settings = _budgeted(instance, params, horizon, streams)
    return MTBKB(kernel=instance.kernel, inclusion_scale=params.inclusion_scale, **settings)


def independent_kernel(instance, params):
    """Return the diagonal kernel of the independent-task methods: k, or B_ii k, a task."""
    n = instance.kernel.n_tasks
    scales = np.diag(instance.kernel.B) if params.it_kernel == "marginal" else np.ones(n)
    return DiagonalKernel([instance.kernel.kernel] * n, scales)


def _independent(settings, instance, params):
    """Return settings with the kernel and the norm bound of the independent tasks."""
    own = {"kernel": independent_kernel(instance, params)}
    if params.it_norm_bound == "per-task":
        own["b"] = float(np.abs(instance.values).max())
    return settings | own


def _it_kb(instance, params, horizon, streams):
    settings = _independent(_confident(instance, params, streams), instance, params)
    if params.it_regulariser == "igp-ucb":
        settings["eta"] = igp_ucb_regulariser(horizon)
    return ITKB(radius=params.it_radius, gain=params.it_gain, horizon=horizon, **settings)


def _it_bkb(instance, params, horizon, streams):
    settings = _independent(_budgeted(instance, params, horizon, streams), instance, params)
    return ITBKB(radius=params.it_bkb_radius, **settings)


def _mobo(instance, params, horizon, streams):
    kernel = independent_kernel(instance, params)
    return MOBO(kernel=kernel, radius=params.mobo_radius, **_settings(instance, params, streams))


METHODS = {
    "mt-kb": _mt_kb,
    "mt-bkb": _mt_bkb,
    "it-kb": _it_kb,
    "it-bkb": _it_bkb,
    "mobo": _mobo,
}
