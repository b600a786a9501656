"""Certificates of [MVABO]: left side over right side of its statements, along real runs."""

import numpy as np

from fivebo.mvabo.fronts import accuracy
from fivebo.mvabo.theory import (
    expectation_slack,
    noisy_simulator_bound,
    stopping_bound,
    sum_of_variances,
    width_bound,
)

CERTIFICATES = (
    "event2_ratio", "inclusion_ratio", "gap_ratio", "width_ratio", "expectation_ratio",
    "variance_ratio", "stopping_ratio", "accuracy_ratio",
)  # fmt: skip


class Certificates:
    """Ratios of one run; each is at most 1 where its statement holds.

    [MVABO] Eqs. (2), (6), (11), (12), (13), (22), (23), (24), (26), (27), (34), (35), (36), (37),
    (38), Lemmas A.1, A.2, A.3, Theorems 4.1, 4.2, B.1, C.1, C.2 and D.1. NaN where the statement
    does not speak of the run: Lemma A.2 needs w from nature.

    Parameters
    ----------
    instance : mvabo.instances.Instance
    method : str
    params : mvabo.study.Params
    """

    def __init__(self, instance, method, params):
        self.instance, self.method, self.params = instance, method, params
        self.multi_task = method == "mt-mva-bo"
        a = params.alpha
        self.weights = (a, 1 - a) if self.multi_task else (1.0, 1.0)
        self.width_sum = 0.0
        self.integrals = np.zeros(2)  # sums over t of int sigma p and int sigma^2 p at x_t
        self.realised = np.zeros(2)  # sums of sigma and sigma^2 at (x_t, w_t)

    def asked(self, optimizer, query):
        """Take the state before the observation of (x_t, w_t)."""
        i, j = optimizer.domain.index(query)
        self.beta_sqrt, bounds = optimizer.beta_sqrt, optimizer.bounds
        var, p = optimizer.model.var[i], optimizer.weights
        self.integrals += np.sqrt(var) @ p, var @ p
        self.realised += np.sqrt(var[j]), var[j]
        if self.multi_task:
            low, high = bounds.scalarized(self.params.alpha)
            self.width_sum += high[i] - low[i]
        else:
            self.width_sum += bounds.diameter[i]
        self.event = self._event(optimizer)
        self.inclusion = self._inclusion(bounds)

    def _event(self, optimizer):
        """Eq. (2), the same as Eq. (13): the largest error over the confidence width."""
        error = np.abs(self.instance.values - optimizer.model.mean)
        width = self.beta_sqrt * np.sqrt(optimizer.model.var)
        return float((error / np.maximum(width, np.finfo(float).tiny)).max())

    def _inclusion(self, bounds):
        F = self.instance.objectives
        ratios = [
            np.abs(values - (low + high) / 2).max() if (low == high).all() else
            (np.abs(values - (low + high) / 2) / ((high - low) / 2)).max()
            for values, low, high in (
                (F[:, 0], bounds.l1, bounds.u1),
                (F[:, 1], bounds.l2, bounds.u2),
            )
        ]  # fmt: skip
        return float(max(ratios))

    def told(self, step, optimizer, query):
        """Return all ratios after the observation, as a dict."""
        ratios = {"event2_ratio": self.event, "inclusion_ratio": self.inclusion}
        constants = {
            "beta_sqrt": self.beta_sqrt,
            "b_tilde": self.instance.b_tilde,
            "weights": self.weights,
        }
        ratios["width_ratio"] = self.width_sum / width_bound(step, *self.integrals, **constants)
        ratios["expectation_ratio"] = np.nan
        if self.params.w_rule == "nature":
            slack = expectation_slack(self.params.delta)
            ratios["expectation_ratio"] = float(
                (self.integrals / (2 * self.realised + slack)).max()
            )
        noise_var, gain = self.instance.noise_std**2, optimizer.model.log_det / 2
        ratios["variance_ratio"] = self.realised[1] / sum_of_variances(gain, noise_var)
        bound = self._stopping_bound(step, gain, optimizer.weights, noise_var, constants)
        ratios["stopping_ratio"] = self.width_sum / step / bound
        if self.multi_task:
            ratios["gap_ratio"] = self._gap_ratio(optimizer)
        else:
            ratios["accuracy_ratio"] = self._accuracy_ratio(optimizer)
        return ratios

    def _stopping_bound(self, step, gain, p, noise_var, constants):
        """Left side of the stopping condition of the setting; NaN for rules that have none.

        Theorems 4.1, 4.2, B.1 and D.1 where nature draws w, C.1 where sigma alone chooses it, C.2
        where its density takes part. The sound form of C.2 has R = max p_j and |Delta| = m, of
        which only the product counts; R alone depends on the unit of xi.
        """
        rule, constants = self.params.w_rule, constants | {"noise_var": noise_var}
        if rule in ("nature", "sd"):
            return stopping_bound(
                step, gain, delta=self.params.delta, simulator=rule == "sd", **constants
            )
        form, density = self.params.thm_c2, p.max()
        if rule == "sd-p" and form == "sound":
            return np.nan
        if form == "printed":
            xi = self.instance.domain.W.points
            density /= np.ptp(xi) / (len(xi) - 1)  # one dimension, equally spaced
        volume = len(p) if form == "sound" else None
        return noisy_simulator_bound(step, gain, density=density, volume=volume, **constants)

    def _gap_ratio(self, optimizer):
        F, a = self.instance.objectives, self.params.alpha
        G = a * F[:, 0] + (1 - a) * F[:, 1]
        regret = G.max() - G[optimizer.recommended(rule="own-step")]
        gap = optimizer.gap()
        if gap <= 0:  # says that the regret is negative, or 0
            return float("inf") if max(regret, -gap) > 0 else 0.0
        return float(regret / gap)

    def _accuracy_ratio(self, optimizer):
        """Return the error of the output in units of eps; NaN before the stopping rule holds."""
        if not optimizer.done:
            return np.nan
        if self.method == "mo-mva-bo":
            members = self.instance.objectives[optimizer.pareto_set()]
            return accuracy(self.instance.reference, members, optimizer.eps)
        F, h = self.instance.objectives, optimizer.h
        feasible, output = F[:, 1] >= h, optimizer.recommended()
        if output is None:  # right if and only if nothing is feasible
            return float("inf") if feasible.any() else 0.0
        short = F[feasible, 0].max() - F[output, 0] if feasible.any() else 0.0
        return float(max(short / optimizer.eps[0], (h - F[output, 1]) / optimizer.eps[1], 0.0))
