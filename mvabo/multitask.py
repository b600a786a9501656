"""The multi-task scenario of [MVABO]: one design is recommended, by three rules, with a bound."""

import numpy as np

from fivebo.common.checks import number, one_of
from fivebo.common.search.ties import tied_with_max
from fivebo.mvabo.optimizer import MeanVarianceSearch

SMALL = 1000
"""Up to so many designs, the bounds of all are computed once rather than of some several times."""


class MultiTaskSearch(MeanVarianceSearch):
    r"""A search that recommends one design by the lower bound of ``G = alpha F_1 + (1-alpha) F_2``.

    Parameters
    ----------
    domain, kernel
        As in `MeanVarianceSearch`, like all further settings.
    alpha : float
        Weight of F_1 in [0, 1]. [MVABO] Sec. 2.
    recommendation : {"final", "online", "own-step"}
        "final": the bounds after all data (output of Algorithm 1). "online": ``argmax l_t(x_t')``
        with the bounds of step t, which rest on t - 1 data ([MVABO] Sec. 5). "own-step":
        ``argmax l_t'(x_t')``, each design by the bound of its own step (Theorem 4.1; the only rule
        the theorem speaks of).
    """

    RULES = ("final", "online", "own-step")

    def __init__(self, domain, kernel, *, alpha=0.5, recommendation="final", **settings):
        super().__init__(domain, kernel, **settings)
        alpha = number(alpha, "alpha")
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha must lie in [0, 1], got {alpha:g}")
        self.alpha = alpha
        self.recommendation = one_of(recommendation, "recommendation", self.RULES)
        self.target = alpha  # weight of F_1 in what is recommended
        self._last = None  # design recommended by the bounds of the last finished step

    def recommended(self, target=None, rule=None):
        """Return the recommended design, in the form of the domain, of those in `queried`.

        Parameters
        ----------
        target : float, optional
            Weight of F_1 in the lower bound; default `alpha`.
        rule : str, optional
            Default `recommendation`.

        Raises
        ------
        ValueError
            Nothing has been asked or told yet.
        """
        if not self.queried:
            self._needs_data()
        target = self.target if target is None else target
        rule = self.recommendation if rule is None else rule
        if rule == "own-step":
            own = self.own_bounds()
            low = target * own[:, 0] + (1 - target) * own[:, 2]
            if self.pending:
                low = np.append(low, self._lower(self.queried[-1:], target))
            return self.queried[tied_with_max(low)[0]]
        if rule == "online" and not self.pending and self._last is not None:
            return self._last
        return self._highest(self.queried, target)

    def _highest(self, designs, target):
        return designs[tied_with_max(self._lower(designs, target))[0]]

    def _lower(self, designs, target):
        few = self.bounds.at(designs) if self.domain.shape[0] <= SMALL else self.bounds_at(designs)
        return few.scalarized(target)[0]

    def _learn(self, query, value, note):
        last = self._highest([*self.queried, query[0]], self.target)
        super()._learn(query, value, note)
        self._last = last

    def recommend(self):
        """Return the recommended design x^, shape (d1,)."""
        self._needs_data()
        return self.domain.point(self.recommended())

    def gap(self):
        r"""Return a bound on ``G(x*) - G(x^)`` of the own-step recommendation.

        .. math:: \min_{t' \le t} u_{t'}(x_{t'}) - \max_{t' \le t} l_{t'}(x_{t'})

        Valid under event (2) if each x_t maximised the upper bound of G, as in MT-MVA-BO: then it
        may stop the search early, x^ being an eps-accurate solution ([MVABO] Sec. 2) once it is at
        most eps. Infinite before the first observation.
        Source: proof of [MVABO] Theorem 4.1, Eq. (27).
        """
        own, a = self.own_bounds(), self.alpha
        if not len(own):
            return np.inf
        low = a * own[:, 0] + (1 - a) * own[:, 2]
        high = a * own[:, 1] + (1 - a) * own[:, 3]
        return float(high.min() - low.max())
