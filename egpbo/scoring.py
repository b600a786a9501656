"""Metrics of a run of [EGPBO]: they know the truth, the optimisers do not."""

import numpy as np

from fivebo.egpbo.theory import gain_exponent, theorem1_bound

OPTIMUM_TOLERANCE = 1e-3
"""How far a query may exceed a numerically found optimum before the run is refused."""


class Scorer:
    """Scores one run step by step; see `fivebo.common.lab.records.METRICS` for the definitions.

    A step is one finished evaluation, the initial ones included. Regret is that of the noise-free
    function at the queried points ([EGPBO] Sec. 5, r_t = f* - max f(x_s)), whatever was observed;
    the cumulative one sums f* - f(x_t), and its mean over draws of f is that of [EGPBO] Sec. 4.

    Parameters
    ----------
    instance : egpbo.problems.Instance
    method : str
        Slug of the method.
    params : egpbo.study.Params
    horizon : int
    metrics : iterable of str
        Names to score; those that a method does not have are left out.
    """

    def __init__(self, instance, method, params, horizon, metrics):
        self.instance = instance
        self.names = [name for name in metrics if _applies(name, method)]
        self.best, self.cumulative = -np.inf, 0.0
        if "ensemble_regret_ratio" in self.names:
            self.bound = _bounds(instance, horizon)

    def asked(self, step, optimizer, query):
        """Take nothing: all metrics are of the state after the observation."""

    def told(self, step, optimizer, query, y):
        """Return the scores of the step as a dict of metric name to value."""
        value = float(self.instance.truth(query))
        self.best = max(self.best, value)
        self.cumulative += self._regret(value)
        return {name: self._score(name, step, optimizer) for name in self.names}

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


def _applies(name, method):
    if name.startswith("weight_") or name in ("member_weight", "simulated_time"):
        return method == "egp-ts"
    return name != "round_seconds"  # which the runner measures


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
