"""Where [EGPBO] plugs into the workflow: its problems, methods, settings and metrics by name.

Every paper has this module; the command line and the runner know nothing else of a paper.
"""

from dataclasses import dataclass, replace
from typing import Literal

from fivebo.egpbo import problems, tuning
from fivebo.egpbo.acquisition import Search
from fivebo.egpbo.algorithms import EGPTS
from fivebo.egpbo.baselines import EXP3BO, GPTS, BanditBO, FullyBayesianGPTS, RandomSearch
from fivebo.egpbo.bayes import BayesSettings
from fivebo.egpbo.evidence import FitSettings
from fivebo.egpbo.expected_improvement import EGPEI, GPEI
from fivebo.egpbo.features import Kernel, mixed_dictionary, rbf_dictionary
from fivebo.egpbo.parallel import SimulatedWorkers
from fivebo.egpbo.scoring import WEIGHTS, Scorer

PROBLEMS = {
    "synthetic": problems.SyntheticProblem,
    "robot": problems.RobotProblem,
    "tuning": tuning.TuningProblem,
    "prior": problems.PriorProblem,
}

DATA = {"tuning": [tuning.SAMPLE]}

METRICS = (
    "simple_regret", "best_accuracy", "best_error", "cumulative_regret", "member_weight",
    "simulated_time", "ensemble_regret_ratio", "round_seconds",
    *WEIGHTS,
)  # fmt: skip

scorer = Scorer


@dataclass(frozen=True)
class Params:
    """Settings of all methods; every assumption about the paper is one of them.

    Values of [EGPBO] Sec. 3.1 and Sec. 5 where they state them; horizons and seeds are in
    experiments.yaml.

    Parameters
    ----------
    dictionary : {"mixed", "rbf", "rbf-variance", "prior", "prior-known"}
        Kernels of EGP-TS, BanditBO and EXP3BO: four kinds, 11 RBF lengthscales, the 11 values read
        as squared lengthscales, or the kernels that the problem draws from, with a magnitude that
        is fitted or that of the problem.
    n_features : int
        D.
    noise_var : float
        sigma_n^2, in squared units of the scaled observations.
    refit_every : int
        Evaluations between refits of EGP-TS; 0: never.
    gp_refit_every : int
        The same for single-GP methods.
    weight_floor : float
        Floor b of the weights.
    evidence : {"features", "exact", "none"}
        What weighs the components at a refit.
    frequencies : {"spectral", "notebook"}
        Scaling of the frequencies.
    inputs : {"unit", "raw"}
        Whether models see the unit cube.
    outputs : {"standardised", "centred", "raw"}
        What models see of y.
    starts : {"fresh", "fixed"}
        Starts of the acquisition's maximiser.
    n_screen, n_polish : int
        Its points and its gradient runs.
    restarts, full_every : int
        Random restarts of a full fit of hyperparameters, and how often a fit is full.
    magnitude_bounds, length_bounds : tuple of float
        Limits of hyperparameters, see `egpbo.evidence.FitSettings`.
    bayes_samples, bayes_warm_up : int
        Samples and sampler steps of fully Bayesian GP-TS.
    bayes_length_prior, bayes_magnitude_prior, bayes_noise_prior : tuple of float
        Limits of its uniform priors, the noise's in units of noise_var.
    exp3_rewards : {"normalised", "code"}
        Rewards of EXP3BO.
    ei_kernel : {"matern-5/2", "rbf"}
        Kernel of GP-EI, with one lengthscale an input.
    workers : int
        K simulated workers of EGP-TS.
    mode : {"async", "sync"}
        How they get their queries.
    durations : {"uniform", "half-normal", "exponential"}
        Law of their evaluation times.
    """

    dictionary: Literal["mixed", "rbf", "rbf-variance", "prior", "prior-known"] = "mixed"
    n_features: int = 50
    noise_var: float = 0.01
    refit_every: int = 50
    gp_refit_every: int = 1
    weight_floor: float = 0.0
    evidence: Literal["features", "exact", "none"] = "features"
    frequencies: Literal["spectral", "notebook"] = "spectral"
    inputs: Literal["unit", "raw"] = "unit"
    outputs: Literal["standardised", "centred", "raw"] = "standardised"
    starts: Literal["fresh", "fixed"] = "fresh"
    n_screen: int = 512
    n_polish: int = 2
    restarts: int = 2
    full_every: int = 25
    magnitude_bounds: tuple[float, float] = (1e-5, 1e5)
    length_bounds: tuple[float, float] = (0.05, 20.0)
    bayes_samples: int = 11
    bayes_warm_up: int = 30
    bayes_length_prior: tuple[float, float] = (1e-3, 1e3)
    bayes_magnitude_prior: tuple[float, float] = (1.0, 100.0)
    bayes_noise_prior: tuple[float, float] = (0.5, 1.5)
    exp3_rewards: Literal["normalised", "code"] = "normalised"
    ei_kernel: Literal["matern-5/2", "rbf"] = "matern-5/2"
    workers: int = 1
    mode: Literal["async", "sync"] = "async"
    durations: Literal["uniform", "half-normal", "exponential"] = "exponential"

    def kernels(self, instance):
        """Return the dictionary for an instance."""
        if self.dictionary in ("prior", "prior-known"):
            if not hasattr(instance, "kernels"):
                raise ValueError(
                    f"dictionary={self.dictionary!r} needs problem prior, whose kernels it takes"
                )
            known = instance.prior_var if self.dictionary == "prior-known" else None
            return tuple(replace(kernel, variance=known) for kernel in instance.kernels)
        if self.dictionary == "mixed":
            return mixed_dictionary()
        return rbf_dictionary(as_variance=self.dictionary == "rbf-variance")

    @property
    def search(self):
        """Settings of the acquisition's maximiser."""
        return Search(self.starts, self.n_screen, self.n_polish)

    @property
    def fits(self):
        """Settings of the hyperparameter fits."""
        return FitSettings(
            self.restarts, self.full_every, self.magnitude_bounds, self.length_bounds
        )

    @property
    def bayes(self):
        """Settings of the fully Bayesian baseline."""
        return BayesSettings(
            self.bayes_samples, self.bayes_warm_up, self.bayes_length_prior,
            self.bayes_magnitude_prior, self.bayes_noise_prior,
        )  # fmt: skip


def _improvement(instance, params, streams):
    """Return the settings that all methods with models share."""
    own = {"search": params.search, "fits": params.fits}
    return {"box": instance.box, "n_init": instance.n_init, "rng": streams} | own


def _thompson(instance, params, streams):
    """Return the settings that all Thompson sampling methods share."""
    names = ("n_features", "noise_var", "frequencies", "inputs", "outputs")
    own = {name: getattr(params, name) for name in names}
    return _improvement(instance, params, streams) | own


def _egp_ts(instance, params, horizon, streams):
    names = ("refit_every", "weight_floor", "evidence")
    optimizer = EGPTS(
        kernels=params.kernels(instance),
        **{name: getattr(params, name) for name in names},
        **_thompson(instance, params, streams),
    )
    return SimulatedWorkers(
        optimizer, params.workers, params.mode, params.durations, rng=streams.environment
    )


def _gp_ts(kernel):
    def build(instance, params, horizon, streams):
        common = _thompson(instance, params, streams)
        return GPTS(kernel=kernel, refit_every=params.gp_refit_every, **common)

    return build


def _gp_ts_bayes(instance, params, horizon, streams):
    common = _thompson(instance, params, streams)
    return FullyBayesianGPTS(bayes=params.bayes, refit_every=params.gp_refit_every, **common)


def _banditbo(instance, params, horizon, streams):
    return BanditBO(kernels=params.kernels(instance), **_thompson(instance, params, streams))


def _exp3bo(instance, params, horizon, streams):
    return EXP3BO(
        kernels=params.kernels(instance),
        horizon=max(1, horizon - instance.n_init),  # arms are played after the initial points
        rewards=params.exp3_rewards,
        **_thompson(instance, params, streams),
    )


def _gp_ei(instance, params, horizon, streams):
    kernel = Kernel(params.ei_kernel, ard=True)
    return GPEI(kernel=kernel, **_improvement(instance, params, streams))


def _egp_ei(form):
    def build(instance, params, horizon, streams):
        common = _improvement(instance, params, streams)
        return EGPEI(kernels=params.kernels(instance), form=form, **common)

    return build


def _random(instance, params, horizon, streams):
    return RandomSearch(instance.box, n_init=instance.n_init, rng=streams)


METHODS = {
    "egp-ts": _egp_ts,
    "gp-ts-rbf": _gp_ts(Kernel("rbf")),
    "gp-ts-ard": _gp_ts(Kernel("rbf", ard=True)),
    "gp-ts-m32": _gp_ts(Kernel("matern-3/2")),
    "gp-ts-m52": _gp_ts(Kernel("matern-5/2")),
    "gp-ts-bayes": _gp_ts_bayes,
    "banditbo": _banditbo,
    "exp3bo": _exp3bo,
    "gp-ei": _gp_ei,
    "egp-ei": _egp_ei("sampled"),
    "egp-ei-mixture": _egp_ei("mixture"),
    "random-search": _random,
}
