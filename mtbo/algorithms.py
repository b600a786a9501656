"""MT-KB (Algorithm 1) and MT-BKB (Algorithm 2) of [MTBO]; ``l. 3`` in a comment is line 3.

Reference: [MTBO] S. R. Chowdhury and A. Gopalan, "No-regret Algorithms for Multi-task Bayesian
Optimization", arXiv:2008.08885v1 (2020). Both maximise.
"""

import numpy as np

from fivebo.common.checks import count, one_of, positive
from fivebo.mtbo.nystrom import inclusion_probabilities, nystrom_posterior
from fivebo.mtbo.posteriors import exact_posterior
from fivebo.mtbo.theory import mt_bkb_radius, mt_kb_radius, nystrom_q
from fivebo.mtbo.ucb import ScalarizedUCB


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
        Bound on the RKHS norm of f, > 0.
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
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from fivebo.mtbo import ICM, ChebyshevScalarization
    >>> optimizer = MTKB(
    ...     np.linspace(0, 1, 50), ICM(RBF(0.2), [[1, 0.9], [0.9, 1]]),
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
        self._radius = radius or (
            lambda log_det: mt_kb_radius(log_det, b=b, noise_std=noise_std, eta=eta, delta=delta)
        )
        self.posterior = exact_posterior(kernel, eta, self.domain.points)  # l. 1
        self.log_det = 0.0
        self.radius = float(self._radius(0.0))  # beta_0

    def acquisition(self, weights):
        """Return u_t on the domain, shape (m,). [MTBO] Eq. (2)."""
        L = self.lipschitz(weights)
        mean, norm = self.posterior.mean, self.posterior.norm
        return self.scalarization(mean, weights) + L * self.radius * np.sqrt(norm)  # l. 4

    def _update(self, index, y):
        # of Gamma_{t-1}, before x_t is added
        log_det = self.log_det + self.posterior.log_det_term(index)
        radius = float(self._radius(log_det))
        self.posterior.update(index, y)  # l. 7-8
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
    inclusion_scale : {"paper", "eta"}, optional
        Inclusion probabilities as printed, or divided by eta as the proof needs.

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
        eta=0.1, delta=0.1, epsilon=0.1, q=None, inclusion_scale="paper", lipschitz="exact", rng=0,
    ):  # fmt: skip
        super().__init__(domain, kernel, scalarization, lipschitz, rng)
        self._constants = {
            "b": b, "noise_std": noise_std, "eta": eta, "delta": delta, "epsilon": epsilon,
        }  # fmt: skip
        theory_q = nystrom_q(count(horizon, "horizon"), epsilon=epsilon, delta=delta)
        self.q = theory_q if q is None else positive(q, "q")
        self._scale = one_of(inclusion_scale, "inclusion_scale", ("paper", "eta"))
        self._eta = eta
        self.posterior = nystrom_posterior(kernel, eta, self.domain.points)  # l. 1
        self.dictionary = np.empty(0, dtype=int)
        self.probabilities = np.empty(0)
        self.log_det = 0.0
        self.radius = float(mt_bkb_radius(0.0, **self._constants))  # beta~_0

    def acquisition(self, weights):
        """Return u~_t on the domain, shape (m,)."""
        L = self.lipschitz(weights)
        mean, norm = self.posterior.mean, self.posterior.norm
        return self.scalarization(mean, weights) + L * self.radius * np.sqrt(norm)  # l. 4

    def _update(self, index, y):
        self.log_det += self.posterior.log_det_term(index)  # Gamma~_{t-1}, stored, never recomputed
        self.posterior.add(index, y)
        arms = self.posterior.queries.arms  # all rounds so far, the new one included
        p = inclusion_probabilities(
            self.posterior.norm[arms], self.q, eta=self._eta, scale=self._scale
        )  # l. 7-9
        z = self.streams.algorithm.random(len(arms)) < p  # l. 10
        self.dictionary, self.probabilities = arms[z], p[z]  # l. 11-15
        self.posterior.fit(np.unique(self.dictionary))  # l. 15-17
        self.radius = float(mt_bkb_radius(self.log_det, **self._constants))
