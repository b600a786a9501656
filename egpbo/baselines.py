"""What [EGPBO] Sec. 5 compares with: GP-TS, fully Bayesian GP-TS, BanditBO, EXP3BO, random search.

GP-EI is in `egpbo.expected_improvement`. All maximise and share the initial points of a run.
"""

import numpy as np

from fivebo.common.checks import one_of
from fivebo.egpbo.acquisition import settings_of
from fivebo.egpbo.algorithms import EGPTS
from fivebo.egpbo.bayes import BayesSettings, HyperparameterSampler
from fivebo.egpbo.ensemble import Ensemble
from fivebo.egpbo.features import Kernel, features
from fivebo.egpbo.optimizer import BoxOptimizer
from fivebo.egpbo.theory import exp3_rate


class GPTS(EGPTS):
    """Thompson sampling with one GP on random features: EGP-TS with a dictionary of one kernel.

    Parameters
    ----------
    box : Box or array_like of shape (d, 2)
    kernel : Kernel, optional
    refit_every : int, optional
        1 in the paper: hyperparameters are fitted at every evaluation.
    **settings
        Of `EGPTS`.

    Notes
    -----
    Source: [EGPBO] Sec. 5.
    """

    def __init__(self, box, kernel=None, *, refit_every=1, **settings):
        super().__init__(box, [kernel or Kernel("rbf")], refit_every=refit_every, **settings)


class FullyBayesianGPTS(EGPTS):
    """GP-TS that samples its hyperparameters from their posterior at every evaluation.

    The samples make GPs of equal weight that is never updated; one is picked uniformly.

    Parameters
    ----------
    box : Box or array_like of shape (d, 2)
    bayes : BayesSettings, optional
    **settings
        Of `EGPTS`, without the dictionary.

    Notes
    -----
    Source: [EGPBO] Sec. 5, Fig. 2.
    """

    fits = False

    def __init__(self, box, *, bayes=None, refit_every=1, **settings):
        bayes = settings_of(BayesSettings, bayes, "bayes")
        kernels = [Kernel("rbf")] * bayes.n_samples
        super().__init__(box, kernels, refit_every=refit_every, **settings)
        self.sampler = HyperparameterSampler(bayes)

    def _build(self, X, y):
        """Sample hyperparameters, in sides of the box and units of the outputs."""
        side, square = self.scaling.domain.sides.max(), self.scaling.square
        samples = self.sampler.draw(
            X / side, y / np.sqrt(square), self.noise_var / square, self.streams.algorithm
        )
        V = self._frequencies(side * samples[:, 0])
        self.ensemble = Ensemble(V, square * samples[:, 1], square * samples[:, 2])
        self.ensemble.condition(X, y, np.zeros(len(samples)))

    def _learn(self, query, value, note):
        if self.ensemble is not None:
            x, y = self.scaling.x(query), float(self.scaling.y(value))
            for m in range(len(self.ensemble)):
                self.ensemble.update(x, y, only=m)


class _Bandit(EGPTS):
    """An ensemble whose arms are its kernels: only the arm that was played learns.

    Arms share the initial points and are fitted to them once.
    """

    parallel = False

    def __init__(self, box, kernels=None, **settings):
        super().__init__(box, kernels, refit_every=0, evidence="none", **settings)

    def _learn(self, query, value, note):
        if self.ensemble is None:
            return
        x, y = self.scaling.x(query), float(self.scaling.y(value))
        for m in range(len(self.ensemble)) if note is None else [note]:
            self.ensemble.update(x, y, only=m)  # what nobody played is data for all arms


class BanditBO(_Bandit):
    """Every arm proposes the maximiser of its own sample; the largest sampled maximum is played.

    Parameters
    ----------
    box : Box or array_like of shape (d, 2)
    kernels : sequence of Kernel, optional
        Arms; default: the mixed dictionary.
    **settings
        Of `EGPTS`.

    Notes
    -----
    Source: [EGPBO] Sec. 5, after Nguyen et al. (AAAI 2020), as adapted in the released code: no
    weights, no refit.
    """

    def _suggest(self):
        found = [self._sample_maximiser(m) for m in range(len(self.ensemble))]
        m = int(np.argmax([value for _, value in found]))
        return found[m][0], m


class EXP3BO(_Bandit):
    """EXP3 chooses the arm, Thompson sampling in that arm the query.

    Parameters
    ----------
    box : Box or array_like of shape (d, 2)
    kernels : sequence of Kernel, optional
    horizon : int
        T of the exploration rate, see `egpbo.theory.exp3_rate`: the arms to be played, the
        initial points not counted.
    rewards : {"normalised", "code"}, optional
        EXP3 needs rewards in [0, 1]: the arm's best posterior mean, scaled by the smallest and
        largest seen so far; "code" leaves it in units of y, as the released code does where the
        optimum is 0.
    **settings
        Of `EGPTS`.

    Notes
    -----
    Source: [EGPBO] Sec. 5, after Gopakumar et al. (NeurIPS 2018), as adapted in the released code.
    """

    def __init__(self, box, kernels=None, *, horizon, rewards="normalised", **settings):
        super().__init__(box, kernels, **settings)
        one_of(rewards, "rewards", ("normalised", "code"))
        self.rate = exp3_rate(len(self.kernels), horizon)
        self.rewards = rewards
        self.log_omega = np.zeros(len(self.kernels))
        self._seen = (np.inf, -np.inf)
        self._played = [[] for _ in self.kernels]

    @property
    def probabilities(self):
        """Probabilities of the arms: (1 - eta) omega / sum omega + eta / M."""
        omega = np.exp(self.log_omega - self.log_omega.max())
        return (1 - self.rate) * omega / omega.sum() + self.rate / len(omega)

    def _suggest(self):
        p = self.probabilities
        m = int(min(np.searchsorted(np.cumsum(p), self.streams.algorithm.random()), len(p) - 1))
        return self._sample_maximiser(m)[0], m

    def _learn(self, query, value, note):
        super()._learn(query, value, note)
        if note is None:
            return
        if not self._played[note]:
            self._played[note].append(self.scaling.x(self.data()[0][0]))
        self._played[note].append(self.scaling.x(query))
        reward = self._reward(note) / self.probabilities[note]  # still those it was drawn by
        self.log_omega[note] += self.rate * reward / len(self.kernels)

    def _reward(self, m):
        Phi = features(np.array(self._played[m]), self.ensemble.V[m])
        best = float((Phi @ self.ensemble.theta[m]).max())
        if self.rewards == "code":
            return self.scaling.centre + self.scaling.scale * best
        low, high = self._seen = (min(self._seen[0], best), max(self._seen[1], best))
        apart = high - low > 1e-12 * max(abs(high), abs(low))
        return (best - low) / (high - low) if apart else 0.5


class RandomSearch(BoxOptimizer):
    """Uniform queries, the floor that every method should be above (ours)."""

    def _suggest(self):
        return self.streams.algorithm.random(self.box.dim), None
