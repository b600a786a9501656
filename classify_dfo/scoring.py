"""Metrics and certificates of a run of [CDFO]: they know the truth, the searches do not."""

import numpy as np

from fivebo.classify_dfo.feedback import threshold
from fivebo.classify_dfo.selective import HalfSpaceCSS
from fivebo.classify_dfo.theory import (
    corollary1_bound,
    corollary1_least_share,
    optimal_eta,
    theorem1_bound,
)
from fivebo.common.lab import scoring

METRICS = (
    "gap", "best_value", "last_batch_gap", "rounds_to_optimum", "cut_coverage", "false_cut",
    "css_difference", "optimum_cuts", "optimum_mass", "label_error", "n_comparisons",
    "theorem1_mass_ratio", "corollary1_mass_ratio", "corollary1_share_ratio",
    "round_seconds",
)  # fmt: skip

OF_WEIGHTS = METRICS[4:9] + METRICS[11:14]
"""Metrics of p^(t) and h^(t) at all actions: of classification on a finite space only."""

ROUNDING = 1e-12
"""Relative size of a difference between values of f that counts as none."""


class Scorer(scoring.Scorer):
    """Scores of a run batch by batch; parameters are those of `fivebo.common.lab.scoring.Scorer`.

    Metrics of h^(t) and p^(t) stand at the step whose batch is drawn from p^(t); there is none at
    the first. Source: [CDFO] Sec. 1 (gap), Sec. 2.1 (coverage, M_T), Sec. 4 (best value found).
    """

    def __init__(self, instance, method, params, horizon, metrics):
        super().__init__(instance, method, params, horizon, metrics)
        self.best, self.found_at, self.logs = np.inf, None, None
        if instance.values is not None:
            self.minimisers = instance.values == instance.values.min()

    def _has(self, name):
        if name in OF_WEIGHTS and self.instance.values is None:
            return False
        classifies = self.method.startswith("classify-")
        return classifies or name not in ("label_error", "n_comparisons", *OF_WEIGHTS)

    def _after(self, step, optimizer, query, y):
        values = self.instance.evaluate(query)
        self.last = self._gap(values.min())
        if values.min() < self.best:
            self.best = float(values.min())
        if self.found_at is None and self._gap(self.best) == 0:
            self.found_at = step
        self.step, self.search = step, optimizer
        if set(self.names) & set(OF_WEIGHTS):
            self._take_weights(optimizer.sampler, values)

    def _score(self, name, step, optimizer):
        if name == "gap":
            return self._gap(self.best)
        return float(getattr(self, f"_{name}")())

    def _take_weights(self, sampler, values):
        """Take p^(t-1), p^(t), h^(t) and the threshold of the round; NaN before the first fit."""
        self.before, self.logs = self.logs, sampler.log_probabilities()
        if self.step > 1:
            self.h = self.search.decide(sampler.domain.unit)
            self.alpha = threshold(self.values, self.params.quantile)
        self.values, self.sampler = values, sampler

    def _gap(self, value):
        gap = value - self.instance.optimum
        scale = max(abs(self.instance.optimum), 1.0)
        return 0.0 if abs(gap) <= ROUNDING * scale else float(gap)

    def _best_value(self):
        return self.best

    def _last_batch_gap(self):
        return self.last

    def _rounds_to_optimum(self):
        if self.found_at is not None:
            return self.found_at
        return self.horizon + 1 if self.step == self.horizon else np.nan

    def _n_comparisons(self):
        return self.search.n_comparisons

    def _label_error(self):
        """Share of the labels of the fit that are not those of the values."""
        labels = self.search.labels
        if not len(labels):
            return np.nan
        batches = self.search.batches[: self.step - 1]
        values = [self.instance.evaluate(batch) for batch in batches]
        alpha = threshold(values[-1], self.params.quantile)
        return np.mean(labels != (np.concatenate(values) > alpha))

    def _cut_coverage(self):
        return self.sampler.coverage[-1] if self.step > 1 else np.nan

    def _false_cut(self):
        if self.step == 1:
            return np.nan
        low = self.instance.values <= self.alpha
        return (self.h * np.exp(self.before))[low].sum()

    def _css_difference(self):
        if self.step == 1:
            return np.nan
        search, rows = self.search, self.instance.domain.unit
        X = rows[np.concatenate(search.batches[:-1])]
        exact = HalfSpaceCSS().fit(X, search.labels, None)(rows)
        return np.mean(exact != self.h)

    def _optimum_cuts(self):
        return self.sampler.mistakes[self.minimisers].min()

    def _optimum_mass(self):
        return np.exp(self.logs[self.minimisers]).sum()

    def _theorem1_mass_ratio(self):
        gamma, eta = self._least_coverage(), self.sampler.eta
        if not gamma or eta > 0.5:
            return np.nan
        rounds, size = self.step - 1, self.sampler.domain.size
        bound = theorem1_bound(rounds, gamma, eta, self.sampler.mistakes, size)
        return np.exp((bound - self.logs).max())

    def _least_coverage(self):
        """gamma: the least coverage of the rounds so far; 0 before the first."""
        return min(self.sampler.coverage, default=0.0)

    def _chosen(self):
        """Return gamma, T and q of the actions whose eta by Corollary 1 is that of the run."""
        gamma, rounds = self._least_coverage(), self.step - 1
        if not gamma:
            return gamma, rounds, np.empty(0), np.zeros(self.sampler.domain.size, dtype=bool)
        q = self.sampler.mistakes / (gamma * rounds)
        fits = (q <= 0.25) & (np.abs(optimal_eta(np.minimum(q, 0.25)) - self.sampler.eta) < 1e-12)
        return gamma, rounds, q[fits], fits

    def _corollary1_mass_ratio(self):
        gamma, rounds, q, fits = self._chosen()
        if not fits.any():
            return np.nan
        bound = corollary1_bound(q, gamma, rounds, self.sampler.domain.size)
        return np.exp((bound - self.logs[fits]).max())

    def _corollary1_share_ratio(self):
        gamma, rounds, q, fits = self._chosen()
        if not fits.any():
            return np.nan
        least = corollary1_least_share(gamma, rounds, self.sampler.domain.size)
        return np.exp(least - q.min())
