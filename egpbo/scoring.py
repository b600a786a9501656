"""Metrics of a run of [EGPBO]: they know the truth, the optimisers do not."""

import numpy as np

from fivebo.common.lab import scoring
from fivebo.egpbo.theory import gain_exponent, theorem1_bound

WEIGHTS = tuple(f"weight_{m}" for m in range(1, 12))
"""Metrics: posterior weights of the components of a dictionary, of which the largest has 11."""

OPTIMUM_TOLERANCE = 1e-3
"""How far a query may exceed a numerically found optimum before the run is refused."""


class Scorer(scoring.Scorer):
    """Scores of a run step by step; parameters are those of `fivebo.common.lab.scoring.Scorer`.

    A step is one finished evaluation, the initial ones included. Regret is that of the noise-free
    function at the queried points ([EGPBO] Sec. 5, r_t = f* - max f(x_s)), whatever was observed;
    the cumulative one sums f* - f(x_t), and its mean over draws of f is that of [EGPBO] Sec. 4.
    """

    OF_SOME = ((("egp-ts",), ("member_weight", "simulated_time", *WEIGHTS)),)

    def __init__(self, instance, method, params, horizon, metrics):
        super().__init__(instance, method, params, horizon, metrics)
        self.best, self.cumulative = -np.inf, 0.0
        if "ensemble_regret_ratio" in self.names:
            self.bound = _bounds(instance, horizon)

    def _after(self, step, optimizer, query, y):
        value = float(self.instance.truth(query))
        self.best = max(self.best, value)
        self.cumulative += self._regret(value)

    def _regret(self, value):
        if np.isnan(self.instance.optimum):
            return np.nan
        regret = self.instance.optimum - value
        if regret < -OPTIMUM_TOLERANCE:
            raise ValueError(
                f"f(x) = {value:g} exceeds the optimum {self.instance.optimum:g} of the problem"
            )
        return max(regret, 0.0)

    def _score(self, name, step, optimizer):
        if name == "simple_regret":
            return self._regret(self.best)
        if name == "best_accuracy":
            return self.best
        if name == "best_error":
            return 1 - self.best
        if name == "cumulative_regret":
            return self.cumulative
        if name == "simulated_time":
            return optimizer.clock
        if name == "ensemble_regret_ratio":
            return self.cumulative / self.bound[step - 1]
        weights = optimizer.optimizer.weights
        if name == "member_weight":
            return weights[self.instance.member]
        m = int(name.removeprefix("weight_"))
        return weights[m - 1] if m <= len(weights) else np.nan


def _bounds(instance, horizon):
    """Return Theorem 1's bound for 1, ..., T evaluations of a function of the prior.

    c is the largest exponent of the dictionary's kernels, T counts evaluations. For several workers
    this is the bound of Theorem 2 with its smallest rho_K, 1; the terms in K of Theorem 3 are not
    in it. [EGPBO] Sec. 4, Theorem 1, Lemma 1.
    """
    return theorem1_bound(
        np.arange(1, horizon + 1),
        n_models=len(instance.kernels),
        dim=instance.box.dim,
        noise_var=instance.noise_std**2,
        growth=max(gain_exponent(kernel.family, instance.box.dim) for kernel in instance.kernels),
        expected_sup=instance.expected_sup,
    )
