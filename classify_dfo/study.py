"""Where [CDFO] plugs into the workflow: its problems, methods, settings and metrics by name.

Every paper has this module; the command line and the runner know nothing else of a paper.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from fivebo.classify_dfo import airfoil, dna, problems
from fivebo.classify_dfo.algorithms import Judge, RepeatedClassification
from fivebo.classify_dfo.baselines import CMAES, GPEI, RandomSearch
from fivebo.classify_dfo.box_classifier import BoxClassifier
from fivebo.classify_dfo.classifiers import (
    ForestConsensus,
    Logistic,
    LogisticEnsemble,
    MultiplierBootstrap,
)
from fivebo.classify_dfo.feedback import Comparisons, Order, Values
from fivebo.classify_dfo.samplers import Enumeration, ImportanceSampling, Perturbation
from fivebo.classify_dfo.scoring import METRICS, Scorer
from fivebo.classify_dfo.selective import HalfSpaceCSS
from fivebo.classify_dfo.spaces import Catalogue

__all__ = ["DATA", "METHODS", "METRICS", "PROBLEMS", "Params", "query_size", "scorer"]

PROBLEMS = {
    "dna": problems.DNA,
    "airfoil": problems.Airfoil,
    "shekel": problems.Shekel,
    "hartmann": problems.Hartmann,
    "linear": problems.Linear,
    "linear-quadratic": problems.LinearQuadratic,
    "unit-square": problems.UnitSquare,
}


def _assay_files(experiment):
    """Return the bundled assays' files, and that of all if the experiment needs another one."""
    bundled = {*dna.PANELS, *dna.draw_sample(dna.assay_names())}
    asked = {experiment.problem_params(v).get("assay", dna.PANELS[0]) for v in experiment.variants}
    return [dna.INDEX, dna.BUNDLED, *([] if asked <= bundled else [dna.WHOLE])]


DATA = {"dna": _assay_files, "airfoil": [airfoil.TABLE]}

scorer = Scorer
query_size = len  # a query is a batch: evaluations are counted, not rounds


@dataclass(frozen=True)
class Params:
    """Settings of all methods; every assumption about the paper is one of them.

    [CDFO] Sec. 4 uses the same constants in every experiment; so do we, but for the size of the
    batch, what a figure varies (Fig. 5 the feedback), and Fig. 1.

    Parameters
    ----------
    batch : int
        n.
    eta : float
        Multiplicative weight in (0, 1].
    rule : {"high", "majority", "low", "soft"}
        Readings R1 to R4 of the consensus; "high" is the literal one.
    share : float
        Share of the votes that makes a consensus, in (1/2, 1].
    n_trees : int
        Of the forest.
    quantile : float
        Of the last batch, the threshold alpha.
    repeats : bool
        Whether an action of a finite space may be measured again.
    n_models, ensemble_c : int, float
        Members of classify-tuned and their inverse penalty.
    single_c : float
        Inverse penalty of the single logistic regression.
    n_draws, scale, bootstrap_c : int, float, float
        B and sigma of the multiplier bootstrap, and its inverse penalty.
    sampler : {"perturbation", "importance"}
        S2 or S1, on boxes.
    width, candidates : float, int
        Factor of the perturbation's scale, and candidates for each draw.
    feedback : {"values", "order", "comparisons"}
    c : int
        Comparisons of a point.
    cma_step : float
        Initial step size of CMA-ES as a share of the sides.
    gp_jitter : float
        xi of the expected improvement, in standardised units.
    gp_fit_points, gp_points : int
        Data that hyperparameters and posterior of the GP use at most, a random subset beyond.
    gp_search : {"plain", "log"}
        Whether the improvement or its logarithm is climbed.
    """

    batch: int = 100
    eta: float = 1.0
    rule: Literal["high", "majority", "low", "soft"] = "high"
    share: float = 0.75
    n_trees: int = 10
    quantile: float = 0.5
    repeats: bool = False
    n_models: int = 10
    ensemble_c: float = 1.0
    single_c: float = 1.0
    n_draws: int = 62
    scale: float = 1.0
    bootstrap_c: float = 1.0
    sampler: Literal["perturbation", "importance"] = "perturbation"
    width: float = 1.0
    candidates: int = 20
    feedback: Literal["values", "order", "comparisons"] = "values"
    c: int = 10
    cma_step: float = 0.25
    gp_jitter: float = 0.01
    gp_fit_points: int = 200
    gp_points: int = 1000
    gp_search: Literal["plain", "log"] = "plain"

    def sampler_on(self, domain):
        """Return a sampler of p^(t) on a domain."""
        if isinstance(domain, Catalogue):
            return Enumeration(domain, eta=self.eta, repeats=self.repeats)
        kind = {"perturbation": Perturbation, "importance": ImportanceSampling}[self.sampler]
        return kind(domain, eta=self.eta, width=self.width, candidates=self.candidates)

    def classifier(self, name):
        """Return the classifier of a name."""
        vote = {"rule": self.rule, "share": self.share}
        return {
            "forest": ForestConsensus(**vote, n_trees=self.n_trees),
            "ensemble": LogisticEnsemble(**vote, n_models=self.n_models, C=self.ensemble_c),
            "single": Logistic(C=self.single_c),
            "bootstrap": MultiplierBootstrap(self.n_draws, self.scale, self.bootstrap_c),
            "css": HalfSpaceCSS(),
        }[name]

    def answers(self):
        """Return the kind of feedback."""
        if self.feedback == "comparisons":
            return Comparisons(self.c, self.quantile)
        return {"values": Values, "order": Order}[self.feedback](self.quantile)


def _classify(instance, params, horizon, streams, classifier="forest", **changes):
    import sklearn.ensemble
    import sklearn.linear_model  # noqa: F401  (before the clock of a round starts)

    params = replace(params, **changes)
    kind = Judge if params.feedback == "comparisons" else RepeatedClassification
    return kind(
        params.sampler_on(instance.domain),
        params.classifier(classifier),
        batch=params.batch,
        feedback=params.answers(),
        rng=streams,
    )


def _random(instance, params, horizon, streams, factor=1):
    return RandomSearch(instance.domain, batch=params.batch, factor=factor, rng=streams)


def _cma_es(instance, params, horizon, streams):
    return CMAES(instance.domain, batch=params.batch, step_share=params.cma_step, rng=streams)


def _gp_ei(instance, params, horizon, streams, search=None):
    return GPEI(
        instance.domain,
        batch=params.batch,
        jitter=params.gp_jitter,
        n_fit=params.gp_fit_points,
        max_points=params.gp_points,
        search=search or params.gp_search,
        rng=streams,
    )


def _box_classifier(instance, params, horizon, streams):
    return BoxClassifier(instance.domain, batch=params.batch, rng=streams)


METHODS = {
    "classify-rf": _classify,
    "classify-rf-majority": partial(_classify, rule="majority"),
    "classify-rf-low": partial(_classify, rule="low"),
    "classify-rf-soft": partial(_classify, rule="soft"),
    "classify-rf-order": partial(_classify, feedback="order"),
    "classify-rf-c5": partial(_classify, feedback="comparisons", c=5),
    "classify-rf-c10": partial(_classify, feedback="comparisons", c=10),
    "classify-rf-c20": partial(_classify, feedback="comparisons", c=20),
    "classify-rf-s1": partial(_classify, sampler="importance"),
    "classify-tuned": partial(_classify, classifier="ensemble"),
    "classify-single": partial(_classify, classifier="single"),
    "classify-bootstrap": partial(_classify, classifier="bootstrap"),
    "classify-css": partial(_classify, classifier="css"),
    "random-search": _random,
    "random-2x": partial(_random, factor=2),
    "cma-es": _cma_es,
    "gp-ei": _gp_ei,
    "gp-ei-log": partial(_gp_ei, search="log"),
    "box-classifier": _box_classifier,
}
