"""Algorithms 1, 2 and 3 of [MVABO]; ``l. 3`` in a comment is line 3. All maximise.

The loops themselves are the caller's: ``while ...: x = ask(); tell((x, w), y)``. Lines are counted
in the printed order, "Input" and "Output" aside.
"""

import numpy as np

from fivebo.common.checks import as_finite_array, number
from fivebo.common.search.ties import tied_with_max
from fivebo.mvabo.fronts import potential_set, uncertain_set
from fivebo.mvabo.multitask import MultiTaskSearch
from fivebo.mvabo.optimizer import MeanVarianceSearch


class MTMVABO(MultiTaskSearch):
    r"""Multi-task MVA-BO: maximise the upper confidence bound of ``alpha F_1 + (1 - alpha) F_2``.

    .. math:: x_t = \arg\max_x u^{(G)}_t(x)

    Parameters
    ----------
    domain, kernel, noise_var, beta_sqrt, alpha, recommendation, w_rule, refit_every, rng
        See `MultiTaskSearch` and `MeanVarianceSearch`.

    Examples
    --------
    >>> from fivebo.mvabo import UncertainDomain, squared_exponential
    >>> X, W = np.linspace(0, 1, 30), np.array([-0.1, 0.0, 0.1])
    >>> domain = UncertainDomain(X, W, [0.25, 0.5, 0.25])
    >>> optimizer = MTMVABO(domain, squared_exponential(1.0, 0.2, 0.3), noise_var=1e-4, rng=0)
    >>> for t in range(15):
    ...     x, w = optimizer.ask(), W[t % 3]
    ...     optimizer.tell((x, w), np.sin(5 * x[0]) * (1 + w))
    >>> optimizer.recommend().shape
    (1,)

    Notes
    -----
    Source: [MVABO] Algorithm 1, Sec. 3.2; ties, such as all of X before any data, are broken at
    random.
    """

    def _choose(self):
        upper = self.bounds.scalarized(self.alpha)[1]  # l. 2
        return self._best_design(upper)  # l. 3

    def _learn(self, query, value, note):
        super()._learn(query, value, note)  # l. 4-6


class MOMVABO(MeanVarianceSearch):
    r"""Multi-objective MVA-BO: find an eps-accurate Pareto set of (F_1, F_2).

    .. math:: x_t = \arg\max_{x \in M_t \cup \hat\Pi_t} \lambda_t(x)

    Parameters
    ----------
    domain, kernel, noise_var, beta_sqrt, w_rule, refit_every, rng
        See `MeanVarianceSearch`.
    eps : tuple of 2 float
        Accuracy (eps_1, eps_2) >= 0 in units of f; with zeros it need not stop.
    discretised : bool, optional
        X is a grid of a continuous set: M_t and U_t take eps/2 for eps. [MVABO] App. D.

    Attributes
    ----------
    done : bool
        The stopping rule holds: M_t and U_t of the present data are empty. `ask` may still be
        called and goes on as before.

    Notes
    -----
    Source: [MVABO] Algorithm 2, Sec. 3.2. Pi^_t, M_t and U_t are all taken at the same t, as the
    proof of Theorem 4.2 does; printed literally, U_t would belong to t + 1.
    """

    def __init__(self, domain, kernel, *, eps=(0.0, 0.0), discretised=False, **settings):
        super().__init__(domain, kernel, **settings)
        self.eps = _accuracies(eps)
        self.discretised = discretised
        self._sets = self._done = None  # of the present data, l. 1

    @property
    def slack(self):
        """The eps that M_t and U_t use."""
        return tuple(e / 2 for e in self.eps) if self.discretised else self.eps

    def sets(self):
        """Return the masks Pi^_t and M_t of the present data."""
        if self._sets is None:
            estimated = self.pareto_set()
            self._sets = estimated, potential_set(self.bounds, estimated, self.slack)
        return self._sets

    def undecided(self):
        """Return U_t of the present data as a mask."""
        return uncertain_set(self.bounds, self.sets()[0], self.slack)

    def _choose(self):
        estimated, potential = self.sets()  # l. 2-3
        diameter = self.bounds.diameter  # l. 4
        return self._best_design(diameter, among=estimated | potential)  # l. 5

    def _learn(self, query, value, note):
        super()._learn(query, value, note)  # l. 6-8
        self._sets = self._done = None  # l. 9

    @property
    def done(self):
        """Whether M_t and U_t of the present data are empty."""
        if self._done is None:
            empty = not self.sets()[1].any() and not self.undecided().any()  # l. 10
            self._done = bool(empty)  # l. 11
        return self._done

    def recommend(self):
        """Return the estimated Pareto set of the present data, shape (k, d1)."""
        self._needs_data()
        return self.domain.X.points[self.pareto_set()].copy()


class ConstrainedMVABO(MeanVarianceSearch):
    r"""Constrained MVA-BO: maximise F_1 where ``F_2 >= h``.

    .. math::
        M^{(cons)}_t = \{u^{(F_2)}_t \ge h - \epsilon_2\},\;
        S_t = \{l^{(F_2)}_t \ge h - \epsilon_2\},\;
        M^{(obj)}_t = \{u^{(F_1)}_t \ge \max_{S_t} l^{(F_1)}_t - \epsilon_1\}

    and ``M_t`` is the intersection of the first and the last, which is X if S_t is empty.

    Parameters
    ----------
    domain, kernel, noise_var, beta_sqrt, w_rule, refit_every, rng
        See `MeanVarianceSearch`.
    h : float
        Smallest acceptable F_2, < 0, in units of f.
    eps : tuple of 2 float
        Accuracy (eps_1, eps_2) >= 0.

    Attributes
    ----------
    done : bool
        ``max_{M_t} lambda_t <= min eps``, or M_t is empty. `ask` may still be called; without
        any candidate left it takes the largest lambda_t on X.

    Notes
    -----
    Source: [MVABO] Algorithm 3, App. B, Eq. (33). An empty M_t, which needs an empty S_t, proves
    that no design is feasible; the text does not speak of it.
    """

    def __init__(self, domain, kernel, *, h, eps=(0.0, 0.0), **settings):
        super().__init__(domain, kernel, **settings)
        h = number(h, "h")
        if h >= 0:
            raise ValueError(f"h must be negative, as F_2 is at most 0, got {h:g}")
        self.h, self.eps = h, _accuracies(eps)
        self._sets = None

    def sets(self):
        """Return the masks S_t and M_t of the present data."""
        if self._sets is None:
            n = len(self.domain.X)
            if self.model.n_observations == 0:
                self._sets = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)  # l. 1
            else:
                self._sets = self._computed_sets()
        return self._sets

    def _computed_sets(self):
        b, (first, second) = self.bounds, self.eps
        safe = b.l2 >= self.h - second
        candidates = b.u2 >= self.h - second
        if safe.any():
            candidates &= b.u1 >= b.l1[safe].max() - first
        return safe, candidates  # l. 9

    def _choose(self):
        _, candidates = self.sets()
        diameter = self.bounds.diameter  # l. 2 and l. 10
        return self._best_design(diameter, among=candidates)  # l. 4

    def _learn(self, query, value, note):
        super()._learn(query, value, note)  # l. 5-7
        self._sets = None  # l. 8

    @property
    def done(self):
        """Whether the largest diameter in M_t is at most min eps, or M_t is empty."""
        _, candidates = self.sets()
        widest = self.bounds.diameter[candidates].max(initial=-np.inf)
        return bool(widest <= min(self.eps))  # l. 3 and l. 11

    @property
    def infeasible(self):
        """Whether the data prove, under event (2), that no design has F_2 >= h."""
        return not self.sets()[1].any()

    def recommended(self):
        """Return the index of x^, or None if no design is known to be feasible."""
        safe, _ = self.sets()
        if not safe.any():  # l. 12
            return None
        low = np.where(safe, self.bounds.l1, -np.inf)
        return int(tied_with_max(low)[0])  # l. 13-14

    def recommend(self):
        """Return x^ = argmax of the lower bound of F_1 over S_t, or None if S_t is empty."""
        self._needs_data()
        index = self.recommended()
        return None if index is None else self.domain.point(index)


def _accuracies(eps):
    eps = as_finite_array(eps, "eps")
    if eps.shape != (2,) or (eps < 0).any():
        raise ValueError(f"eps must be a pair (eps_1, eps_2) of numbers >= 0, got {eps.tolist()}")
    return tuple(float(e) for e in eps)
