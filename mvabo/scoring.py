"""Metrics of a run of [MVABO]: they know the truth, the optimisers do not."""

import numpy as np

from fivebo.common.lab import scoring
from fivebo.common.search.pareto import hypervolume, nondominated
from fivebo.mvabo.certificates import CERTIFICATES, Certificates
from fivebo.mvabo.fronts import accuracy

MULTI_TASK = (
    "rs", "us", "bqoucb", "ada-bqoucb", "bo-vo", "ada-bo-vo", "mt-mva-bo", "mt-mva-bo-continuous",
)  # fmt: skip
MULTI_OBJECTIVE = ("rs", "us", "mo-mva-bo")
MT, MO, CONSTRAINED = "mt-mva-bo", "mo-mva-bo", "constrained-mva-bo"
OWN_TARGET = {"bqoucb": 1.0, "bo-vo": 0.0}
"""Weight of F_1 in what these methods recommend by; all others use alpha."""


class Scorer(scoring.Scorer):
    """Scores of a run step by step; parameters are those of `fivebo.common.lab.scoring.Scorer`.

    The values of step t rest on the bounds of step t, that is on t - 1 observations, as the
    paper's indices have it: [MVABO] Sec. 5, x^_t and Pi^_t. Several methods may be scored on one
    trajectory.
    """

    OF_SOME = (
        (MULTI_TASK, ("regret",)),
        (MULTI_OBJECTIVE, ("hv_gap",)),
        ((CONSTRAINED,), ("constrained_regret", "constraint_excess", "infeasible")),
        ((MO,), ("undecided", "pareto_error")),
        ((MO, CONSTRAINED), ("stopped", "accuracy_ratio")),
        ((MT,), ("gap_ratio",)),
        ((MT, MO, CONSTRAINED), ("width_ratio", "expectation_ratio", "variance_ratio")),
        ((MT, MO, CONSTRAINED), ("stopping_ratio",)),
    )

    def __init__(self, instance, method, params, horizon, metrics):
        super().__init__(instance, method, params, horizon, metrics)
        self.best = instance.best_value(params.alpha)
        self.target = OWN_TARGET.get(method, params.alpha)
        self.volume = None
        if "hv_gap" in self.names:
            self.volume = FrontVolume(instance.reference, params.hv_reference)
        self.stopped = False
        self.certificates = None
        if set(self.names) & set(CERTIFICATES):
            self.certificates = Certificates(instance, method, params)

    def _before(self, step, optimizer, query):
        """Score what step t recommends before its observation, query (x_t, w_t) pending."""
        self.scores = {}
        if "regret" in self.names and self.params.recommendation != "final":
            self.scores["regret"] = self._regret(optimizer)
        if self.volume:
            self.scores["hv_gap"] = self.volume.gap(
                self.instance.objectives, optimizer.pareto_set()
            )
        if self.certificates:
            self.certificates.asked(optimizer, query)

    def _regret(self, optimizer):
        design = optimizer.recommended(self.target, self.params.recommendation)
        on_grid = isinstance(design, int)  # else it is the point itself
        F = self.instance.objectives[design] if on_grid else self.instance.objectives_at(design)
        return self.best - float(self.params.alpha * F[0] + (1 - self.params.alpha) * F[1])

    def _after(self, step, optimizer, query, y):
        if "regret" in self.names and "regret" not in self.scores:
            self.scores["regret"] = self._regret(optimizer)
        self._score_stopping(optimizer)
        if self.method == CONSTRAINED:
            self._score_constrained(optimizer)
        if self.certificates:
            found = self.certificates.told(step, optimizer, query)
            self.scores |= {name: value for name, value in found.items() if name in self.names}

    def _score(self, name, step, optimizer):
        return self.scores[name]

    def _score_stopping(self, optimizer):
        """Score the stopping rule and the returned set, on all data so far."""
        if "stopped" in self.names:
            self.stopped = self.stopped or optimizer.done
            self.scores["stopped"] = float(self.stopped)
        if "undecided" in self.names:
            left = optimizer.sets()[1].sum() + optimizer.undecided().sum()
            self.scores["undecided"] = left / len(optimizer.domain.X)
        if "pareto_error" in self.names:
            self.scores["pareto_error"] = set_error(self.instance, optimizer)

    def _score_constrained(self, optimizer):
        F, h = self.instance.objectives, self.params.threshold(self.instance)
        output = optimizer.recommended()
        feasible = F[:, 1] >= h
        best = F[feasible, 0].max() if feasible.any() else F[:, 0].min()
        value = F[:, 0].min() if output is None else F[output, 0]
        self.scores |= {
            "constrained_regret": max(0.0, float(best - value)),
            "constraint_excess": 0.0 if output is None else max(0.0, float(h - F[output, 1])),
            "infeasible": float(optimizer.infeasible),
        }


def set_error(instance, optimizer):
    """Return the smallest s for which the estimated set is (s eps)-accurate on all of X."""
    members = instance.objectives[optimizer.pareto_set()]
    return accuracy(instance.reference, members, optimizer.eps)


class FrontVolume:
    """Hypervolumes of true objective values above one reference point.

    Source: [MVABO] Sec. 5, "hyper volume gap".

    Parameters
    ----------
    F : ndarray of shape (N, 2)
        True objectives on all of X.
    reference : tuple of 2 float, optional
        Default: the smallest value of each objective.
    """

    def __init__(self, F, reference=None):
        self.reference = F.min(axis=0) if reference is None else np.asarray(reference)
        self.whole = hypervolume(F[nondominated(F)], self.reference)

    def gap(self, F, chosen):
        """Return HV - HV^ for the designs in a mask."""
        members = F[chosen]
        return self.whole - hypervolume(members[nondominated(members)], self.reference)
