"""MT-KB (Algorithm 1) and MT-BKB (Algorithm 2) of [MTBO]; ``l. 3`` in a comment is line 3.

Reference: [MTBO] S. R. Chowdhury and A. Gopalan, "No-regret Algorithms for Multi-task Bayesian
Optimization", arXiv:2008.08885v1 (2020). Both maximise.
"""

import functools

import numpy as np

from fivebo.common.checks import count, number, one_of, positive
from fivebo.common.gp.acquisition import upper_bound
from fivebo.mtbo.nystrom import inclusion_probabilities, nystrom_posterior
from fivebo.mtbo.optimizer import ScalarizedUCB
from fivebo.mtbo.posteriors import exact_posterior
from fivebo.mtbo.theory import mt_bkb_radius, mt_kb_radius, nystrom_q


class MTKB(ScalarizedUCB):
    r"""Multi-task kernelized bandits.

    .. math::
        x_t \in \arg\max_x\; s_{\lambda_t}(\mu_{t-1}(x))
            + L_{\lambda_t} \beta_{t-1} \|\Gamma_{t-1}(x,x)\|^{1/2}

    Parameters
    ----------
    domain : FiniteSet or array_like of shape (m, d)
        Candidate queries X.
    kernel : SumKernel
        Multi-task kernel Gamma: `ICM`, `similarity_kernel`, `DiagonalKernel` or any `SumKernel`.
    scalarization : LinearScalarization or ChebyshevScalarization
        s_lambda with its law P_lambda.
    b : float
        Bound on the RKHS norm of f, > 0; it has no unit where the kernel has that of y, squared.
    noise_std : float
        Sub-Gaussian constant sigma of the noise, > 0, in units of y.
    eta : float, optional
        Regulariser, in squared units of y.
    delta : float, optional
        Failure probability in (0, 1].
    lipschitz : {"exact", "one"}, optional
        L_lambda in the acquisition: its exact value, or its upper bound 1.
    radius : callable, optional
        ``radius(log_det_sum) -> beta_t``; default: Theorem 2's.
    rng : int, numpy.random.Generator or Streams, optional

    Examples
    --------
    >>> from fivebo.common.gp.kernels import SquaredExponential
    >>> from fivebo.mtbo import ICM, ChebyshevScalarization
    >>> optimizer = MTKB(
    ...     np.linspace(0, 1, 50), ICM(SquaredExponential(0.2), [[1, 0.9], [0.9, 1]]),
    ...     ChebyshevScalarization([-1, -1]), b=2.0, noise_std=0.1, rng=0)
    >>> for _ in range(5):
    ...     x = optimizer.ask()
    ...     optimizer.tell(x, [np.sin(3 * x[0]), np.cos(3 * x[0])])
    >>> optimizer.recommend().shape[1]
    1

    Notes
    -----
    Source: [MTBO] Algorithm 1, Eq. (2), Theorem 2; App. E sets the radius so. Sec. 3.1 asks an
    oracle for the maximiser; here the domain is finite and searched in full.
    """

    def __init__(
        self, domain, kernel, scalarization, *, b, noise_std,
        eta=0.1, delta=0.1, lipschitz="exact", radius=None, rng=0,
    ):  # fmt: skip
        super().__init__(domain, kernel, scalarization, lipschitz, rng)
        if radius is not None and not callable(radius):
            raise TypeError(f"radius must be callable as radius(log_det), got {radius!r}")
        constants = {"b": b, "noise_std": noise_std, "eta": eta, "delta": delta}
        self._radius = radius or functools.partial(mt_kb_radius, **constants)
        self.model = exact_posterior(self.kernel, eta, self.domain.points)  # l. 1
        self.log_det = 0.0
        self.radius = number(self._radius(0.0), "radius(log_det)")  # beta_0

    def acquisition(self, weights):
        """Return u_t on the domain, shape (m,). [MTBO] Eq. (2)."""
        L = self.lipschitz(weights)
        mean, norm = self.model.mean, self.model.norm
        return upper_bound(
            self.scalarization(mean, weights), np.sqrt(norm), L * self.radius
        )  # l. 4

    def _learn(self, query, value, note):
        # of Gamma_{t-1}, before x_t is added
        log_det = self.log_det + self.model.log_det_term(query)
        radius = number(self._radius(log_det), "radius(log_det)")
        self.model.update(query, value)  # l. 7-8
        self.log_det, self.radius = log_det, radius


class MTBKB(ScalarizedUCB):
    r"""Multi-task budgeted kernelized bandits: MT-KB on a Nystrom dictionary of past queries.

    Parameters
    ----------
    domain, kernel, scalarization, b, noise_std, eta, delta, lipschitz, rng
        As in `MTKB`.
    horizon : int
        Number T of rounds that q is set for; longer runs are allowed, without the theorem.
    epsilon : float, optional
        Accuracy of the dictionary, in (0, 1).
    q : float, optional
        Oversampling; default: Theorem 3's ``6 rho log(4T/delta) / eps^2``. A smaller value saves
        computation and leaves the theory.
    inclusion_scale : {"eta", "paper"}, optional
        Inclusion probabilities divided by eta as the proof needs, or as printed. As printed they
        have the unit of the kernel: with y times u, q must be divided by u^2.

    Attributes
    ----------
    dictionary : ndarray of shape (m_t,)
        Domain indices of D_t, repeats counted.
    probabilities : ndarray of shape (m_t,)
        Their p_{t,i}.

    Notes
    -----
    Source: [MTBO] Sec. 3.2, Algorithm 2, Theorem 3; App. E sets the radius so.
    """

    def __init__(
        self, domain, kernel, scalarization, *, b, noise_std, horizon,
        eta=0.1, delta=0.1, epsilon=0.1, q=None, inclusion_scale="eta", lipschitz="exact", rng=0,
    ):  # fmt: skip
        super().__init__(domain, kernel, scalarization, lipschitz, rng)
        self._constants = {
            "b": b, "noise_std": noise_std, "eta": eta, "delta": delta, "epsilon": epsilon,
        }  # fmt: skip
        theory_q = nystrom_q(count(horizon, "horizon"), epsilon=epsilon, delta=delta)
        self.q = theory_q if q is None else positive(q, "q")
        self._scale = one_of(inclusion_scale, "inclusion_scale", ("eta", "paper"))
        self._eta = eta
        self.model = nystrom_posterior(self.kernel, eta, self.domain.points)  # l. 1
        self.dictionary = np.empty(0, dtype=int)
        self.probabilities = np.empty(0)
        self.log_det = 0.0
        self.radius = float(mt_bkb_radius(0.0, **self._constants))  # beta~_0

    def acquisition(self, weights):
        """Return u~_t on the domain, shape (m,)."""
        L = self.lipschitz(weights)
        mean, norm = self.model.mean, self.model.norm
        return upper_bound(
            self.scalarization(mean, weights), np.sqrt(norm), L * self.radius
        )  # l. 4

    def _learn(self, query, value, note):
        self.log_det += self.model.log_det_term(query)  # Gamma~_{t-1}, stored, never recomputed
        self.model.add(query, value)
        arms = self.model.queries.arms  # all rounds so far, the new one included
        p = inclusion_probabilities(
            self.model.norm[arms], self.q, eta=self._eta, scale=self._scale
        )  # l. 7-9
        z = self.streams.algorithm.random(len(arms)) < p  # l. 10
        self.dictionary, self.probabilities = arms[z], p[z]  # l. 11-15
        self.model.fit(np.unique(self.dictionary))  # l. 15-17
        self.radius = float(mt_bkb_radius(self.log_det, **self._constants))
