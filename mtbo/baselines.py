"""Baselines that learn each task on its own: IT-KB, IT-BKB and MOBO ([MTBO] Sec. 5, App. E).

IT-KB and IT-BKB are IGP-UCB [IGP] and BKB [BKB] with the radius blown up by sqrt(n); MOBO [MOBO]
is the UCB of Paria et al. (2019). All share domain, weights and observations with MT-KB.
"""

import functools

import numpy as np

from fivebo.common.checks import count, one_of, positive
from fivebo.common.gp.acquisition import upper_bound
from fivebo.mtbo.baseline_theory import bkb_code_radius, bkb_radius, igp_ucb_radius, mobo_radius
from fivebo.mtbo.gains import greedy_gain
from fivebo.mtbo.multitask import DiagonalKernel
from fivebo.mtbo.nystrom import inclusion_probabilities, nystrom_posterior
from fivebo.mtbo.optimizer import ScalarizedUCB
from fivebo.mtbo.posteriors import exact_posterior
from fivebo.mtbo.scalarization import LinearScalarization
from fivebo.mtbo.theory import nystrom_q


def _diagonal(kernel):
    if not isinstance(kernel, DiagonalKernel):
        raise TypeError(f"independent tasks need a DiagonalKernel, got {kernel!r:.80}")
    return kernel


class _Independent(ScalarizedUCB):
    """What IT-KB and IT-BKB share: their bound; `radius` is one for all tasks, or one a task."""

    def acquisition(self, weights):
        """Return the upper confidence bound on the domain, shape (m,)."""
        mean, std = self.posterior()
        width = np.sqrt(self.n_tasks) * (self.radius * std).max(1)
        return self.scalarization(mean, weights) + self.lipschitz(weights) * width


class ITKB(_Independent):
    r"""Independent-task kernelized bandits.

    .. math::
        s_\lambda(\mu_t(x)) + L_\lambda \sqrt{n}\, \max_i \beta_{t,i} \sigma_{t,i}(x)

    Parameters
    ----------
    domain : FiniteSet or array_like of shape (m, d)
    kernel : DiagonalKernel
        One scalar kernel a task.
    scalarization : LinearScalarization or ChebyshevScalarization
    b : float
        Bound on the RKHS norm of each task.
    noise_std : float
        Sub-Gaussian constant, in units of y.
    eta, delta, lipschitz, rng
        As in `mtbo.MTKB`.
    radius : {"self-normalised", "printed"}, optional
        The form of IGP-UCB's radius that is valid for the regulariser eta, or the radius as
        printed, for kernels and an eta without unit: with y times u, `b` and `noise_std` are
        multiplied by u, and the kernel stays.
    gain : {"realised", "greedy"}, optional
        gamma_{t-1} as the realised 1/2 log det, or as that of the greedy design on the domain.
    horizon : int, optional
        Number of rounds; the greedy design needs it.

    Notes
    -----
    Source: [MTBO] Sec. 5 and App. E ("blow those up by a sqrt(n) factor"); [IGP] Theorem 2. It is
    what learning the tasks together is held against (Sec. 4.1).
    """

    def __init__(
        self, domain, kernel, scalarization, *, b, noise_std, eta=0.1, delta=0.1,
        radius="self-normalised", gain="realised", horizon=None, lipschitz="exact", rng=0,
    ):  # fmt: skip
        super().__init__(domain, _diagonal(kernel), scalarization, lipschitz, rng)
        one_of(radius, "radius", ("self-normalised", "printed"))
        one_of(gain, "gain", ("realised", "greedy"))
        self._constants = {"b": b, "noise_std": noise_std, "delta": delta}
        self._constants["eta"] = eta if radius == "self-normalised" else None
        self._eta = eta
        self.model = exact_posterior(self.kernel, eta, self.domain.points)
        self._gains = None
        if gain == "greedy":
            rounds = count(horizon, "horizon (which gain='greedy' needs)")
            designs = [
                greedy_gain(k, self.domain.points, eta / scale, rounds)
                for (k, _), scale in zip(self.kernel.terms, self.kernel.scales, strict=True)
            ]
            self._gains = 0.5 * np.column_stack([np.zeros(self.n_tasks), np.array(designs)])
        self.gain = np.zeros(self.n_tasks)  # 1/2 log det of each task
        self.radius = igp_ucb_radius(self.gain, **self._constants)

    def _learn(self, query, value, note):
        term = 0.5 * np.log1p(self.model.task_variances()[query] / self._eta)
        self.model.update(query, value)
        self.gain = gain = self.gain + term
        if self._gains is not None:
            gain = self._gains[:, min(self.n_told + 1, self._gains.shape[1] - 1)]
        self.radius = igp_ucb_radius(gain, **self._constants)


class ITBKB(_Independent):
    r"""Independent-task budgeted kernelized bandits.

    Tasks with equal kernels share one dictionary, as their variances are equal; other tasks have
    one each. Inclusion probabilities are BKB's own, ``min{q Gamma~ / eta, 1}``.

    Parameters
    ----------
    domain, kernel, scalarization, b, noise_std, eta, delta, lipschitz, rng
        As in `ITKB`.
    horizon : int
        Number T of rounds that q is set for.
    epsilon : float, optional
        Accuracy of the dictionary, in (0, 1).
    q : float, optional
        Oversampling; default: ``6 rho log(4T/delta) / eps^2``.
    radius : {"bkb", "bkb-code"}, optional
        The theorem's radius, or the simplified one of the authors' code.

    Notes
    -----
    Source: [MTBO] Sec. 5 and App. E; [BKB] Theorem 2.
    """

    def __init__(
        self, domain, kernel, scalarization, *, b, noise_std, horizon, eta=0.1, delta=0.1,
        epsilon=0.1, q=None, radius="bkb", lipschitz="exact", rng=0,
    ):  # fmt: skip
        super().__init__(domain, _diagonal(kernel), scalarization, lipschitz, rng)
        one_of(radius, "radius", ("bkb", "bkb-code"))
        self._eta = eta
        theory_q = nystrom_q(count(horizon, "horizon"), epsilon=epsilon, delta=delta)
        self.q = theory_q if q is None else positive(q, "q")
        constants = {"b": b, "noise_std": noise_std, "eta": eta, "delta": delta}
        if radius == "bkb":
            self._radius = functools.partial(bkb_radius, epsilon=epsilon, **constants)
        else:
            self._radius = functools.partial(bkb_code_radius, **constants)
        parts = self.kernel.components()
        self._tasks = [np.flatnonzero(part.directions.any(1)) for part in parts]
        self._models = [
            nystrom_posterior(
                DiagonalKernel([part.kernel] * len(tasks), [part.scale] * len(tasks)),
                eta,
                self.domain.points,
            )
            for part, tasks in zip(parts, self._tasks, strict=True)
        ]
        self._dictionaries = [np.empty(0, dtype=int) for _ in self._models]
        self.radius = np.full(self.n_tasks, float(self._radius(0, 0.0)))

    @property
    def dictionary(self):
        """Domain indices of all dictionaries, repeats counted."""
        return np.concatenate(self._dictionaries)

    def _marginals(self):
        mean, var = np.empty((2, len(self.domain), self.n_tasks))
        for tasks, model in zip(self._tasks, self._models, strict=True):
            mean[:, tasks], var[:, tasks] = model.mean, model.task_variances()
        return mean, var

    def _learn(self, query, value, note):
        for i, (tasks, model) in enumerate(zip(self._tasks, self._models, strict=True)):
            model.add(query, value[tasks])
            arms = model.queries.arms
            p = inclusion_probabilities(model.norm[arms], self.q, eta=self._eta, scale="eta")
            self._dictionaries[i] = arms[self.streams.algorithm.random(len(arms)) < p]
            model.fit(np.unique(self._dictionaries[i]))
            total = float(model.norm[arms].sum() / self._eta)
            self.radius[tasks] = self._radius(len(arms), total)


class MOBO(ScalarizedUCB):
    r"""Multi-objective BO with random scalarisations and the UCB acquisition.

    .. math::
        \min_i \lambda_i \bigl( \mu_i(x) + B_t \sigma_i(x) - z_i \bigr) \quad\text{(Chebyshev)},
        \qquad \sum_i \lambda_i \mu_i(x) + B_t \sqrt{\textstyle\sum_i \lambda_i^2 \sigma_i^2(x)}
        \quad\text{(linear)}

    Parameters
    ----------
    domain, kernel, scalarization, eta, rng
        As in `ITKB`.
    radius : {"hypermapper", "dragonfly"}, optional
        B_t; see `mtbo.baseline_theory.mobo_radius`.

    Notes
    -----
    Source: [MTBO] App. E; [MOBO] Secs. 3.3, 5. No sqrt(n), no L_lambda; hyperparameters are not
    refitted, as in all methods here.
    """

    def __init__(self, domain, kernel, scalarization, *, eta=0.1, radius="hypermapper", rng=0):
        super().__init__(domain, _diagonal(kernel), scalarization, "exact", rng)
        self.model = exact_posterior(self.kernel, eta, self.domain.points)
        self._rule = one_of(radius, "radius", ("hypermapper", "dragonfly"))

    @property
    def radius(self):
        """B_t of the coming round."""
        return float(mobo_radius(self.n_told + 1, dim=self.domain.dim, rule=self._rule))

    def acquisition(self, weights):
        """Return the acquisition on the domain, shape (m,)."""
        mean, var = self._marginals()
        if isinstance(self.scalarization, LinearScalarization):
            return upper_bound(mean @ weights, np.sqrt(var @ weights**2), self.radius)
        return self.scalarization(upper_bound(mean, np.sqrt(var), self.radius), weights)

    def _learn(self, query, value, note):
        self.model.update(query, value)
