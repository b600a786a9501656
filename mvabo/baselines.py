"""Methods that [MVABO] compares with: RS, US, BQOUCB, BO-VO and the two adaptive versions.

Reference: [MVABO] Sec. 5. All share the model, beta_t and the rule that chooses w.
"""

import numpy as np

from fivebo.mvabo.algorithms import MTMVABO
from fivebo.mvabo.multitask import MultiTaskSearch


class RandomSampling(MultiTaskSearch):
    """RS: x_t uniform on X; recommends by the lower bound of G. Source: [MVABO] Sec. 5."""

    def _choose(self):
        designs = np.flatnonzero(self._open())
        return int(designs[self.streams.algorithm.integers(len(designs))])


class UncertaintySampling(MultiTaskSearch):
    r"""US: the largest average posterior variance; recommends by the lower bound of G.

    .. math:: x_t = \arg\max_x \int \sigma_{t-1}^2(x, w) p(w) dw

    Source: [MVABO] Sec. 5.
    """

    def _choose(self):
        return self._best_design(self.model.var @ self.weights)


class BQOUCB(MTMVABO):
    """BQOUCB: maximises the upper bound of F_1 and recommends by its lower bound.

    It is MT-MVA-BO with alpha = 1. Source: [MVABO] Sec. 5.

    Parameters
    ----------
    domain, kernel
        As in `MTMVABO`, like all further settings but alpha.
    """

    def __init__(self, domain, kernel, **settings):
        super().__init__(domain, kernel, alpha=1.0, **settings)


class BOVO(MTMVABO):
    """BO-VO: MT-MVA-BO with alpha = 0, for F_2 alone. Source: [MVABO] Sec. 5.

    Parameters
    ----------
    domain, kernel
        As in `MTMVABO`, like all further settings but alpha.
    """

    def __init__(self, domain, kernel, **settings):
        super().__init__(domain, kernel, alpha=0.0, **settings)


class _Adaptive(MTMVABO):
    """The queries of a method, recommendations by the lower bound of G."""

    def __init__(self, domain, kernel, *, alpha=0.5, **settings):
        super().__init__(domain, kernel, **settings)
        self.target = alpha


class AdaBQOUCB(_Adaptive, BQOUCB):
    """ADA-BQOUCB: the queries of BQOUCB, recommendations by the lower bound of G.

    Parameters
    ----------
    domain, kernel
        As in `MTMVABO`, like all further settings.
    alpha : float
        Weight of F_1 in G, for the recommendation only. Source: [MVABO] Sec. 5.
    """


class AdaBOVO(_Adaptive, BOVO):
    """ADA-BO-VO: the queries of BO-VO, recommendations by the lower bound of G.

    Parameters
    ----------
    domain, kernel, alpha
        As in `AdaBQOUCB`. Source: [MVABO] Sec. 5.
    """
