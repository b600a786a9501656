"""Sets of the multi-objective scenario: estimated, potential and uncertain Pareto sets, accuracy.

Reference: [MVABO] Secs. 2 and 3.2; both objectives are maximised. All sets come back as boolean
masks of shape (n,), found by sorting in O(n log n).
"""

import numpy as np

from fivebo.common.search.pareto import nondominated


def estimated_set(bounds):
    """Return Pi^_t: designs whose pessimistic values no other design dominates.

    Designs with equal values are all kept, and it is never empty (Lemma A.4). Source: [MVABO]
    Eq. (7); dominance as in Sec. 2.
    """
    return nondominated(bounds.pessimistic)


def potential_set(bounds, estimated, eps):
    r"""Return M_t: designs outside Pi^_t that no member of it eps-dominates for sure.

    .. math::
        M_t = \{ x \notin \hat\Pi_t : \forall x' \in \hat\Pi_t,\;
            F^{(opt)}_t(x) \not\preceq_\epsilon F^{(pes)}_t(x') \}

    Source: [MVABO] Sec. 3.2, the relation of Sec. 2; each member lies pessimistically below one of
    Pi^_t (Lemma A.5).

    Parameters
    ----------
    bounds : Bounds
    estimated : ndarray of shape (n,) of bool
        Pi^_t.
    eps : tuple of 2 float
        (eps_1, eps_2) >= 0, in units of f.
    """
    first, second = bounds.l1[estimated] + eps[0], bounds.l2[estimated] + eps[1]
    order = np.argsort(first, kind="stable")
    best = np.append(np.maximum.accumulate(second[order][::-1])[::-1], -np.inf)
    # the highest l_2 + eps_2 among members with u_1(x) <= l_1 + eps_1
    above = best[np.searchsorted(first[order], bounds.u1, side="left")]
    return ~estimated & (bounds.u2 > above)


def uncertain_set(bounds, estimated, eps):
    r"""Return U_t: members of Pi^_t that another member may still beat by more than eps.

    .. math::
        U_t = \{ x \in \hat\Pi_t : \exists x' \in \hat\Pi_t \setminus \{x\},\;
            F^{(pes)}_t(x) + \epsilon \prec F^{(opt)}_t(x') \}

    Here ``a < b`` holds in both coordinates. The text says "either", but then the algorithm need
    not stop: the proof of Theorem 4.2 uses that one coordinate is fine if the relation fails.
    Source: [MVABO] Sec. 3.2; the relation is defined in Sec. 2.

    Parameters
    ----------
    bounds, estimated, eps
        As in `potential_set`.
    """
    members = np.flatnonzero(estimated)
    first, second = bounds.u1[members], bounds.u2[members]
    order = np.argsort(first, kind="stable")
    top, holder, runner_up = _suffix_top_two(second[order])
    place = np.searchsorted(first[order], bounds.l1[members] + eps[0], side="right")
    itself = np.append(order, -1)[holder[place]] == np.arange(len(members))
    rival = np.where(itself, runner_up[place], top[place])
    uncertain = np.zeros(len(estimated), dtype=bool)
    uncertain[members] = bounds.l2[members] + eps[1] < rival
    return uncertain


def _suffix_top_two(values):
    """Return of each suffix its largest value, where it stands, and the second largest."""
    n, backwards = len(values), values[::-1]
    top = np.maximum.accumulate(backwards)
    before = np.concatenate([[-np.inf], top[:-1]])
    runner_up = np.maximum.accumulate(np.minimum(backwards, before))
    holder = n - 1 - np.maximum.accumulate(np.where(backwards > before, np.arange(n), 0))
    return (
        np.append(top[::-1], -np.inf),
        np.append(holder[::-1], n),
        np.append(runner_up[::-1], -np.inf),
    )


def accuracy(F, members, eps):
    r"""Return the smallest s for which a set is an (s eps)-accurate Pareto set.

    A set is eps-accurate if (1) no member is beaten by more than eps in both objectives, and
    (2) every Pareto optimal design is below some member plus eps.

    Source: [MVABO] Sec. 2, with Z_eps in the form of Lemma A.6; by Lemma D.3 what lies below the
    front and outside of Z_eps is beaten by more than eps.

    Parameters
    ----------
    F : ndarray of shape (n, 2)
        True objectives of all designs.
    members : ndarray of shape (k, 2)
        True objectives of the set's.
    eps : tuple of 2 float
        Both > 0.

    Returns
    -------
    float
        At most 1 if the set is eps-accurate.
    """
    front, members = np.unique(F[nondominated(F)], axis=0), np.unique(members, axis=0)
    first, second = (np.subtract.outer(front[:, i], members[:, i]) / eps[i] for i in (0, 1))
    beaten = np.minimum(first, second).max()
    missed = np.maximum(first, second).min(axis=1).max()
    return float(max(beaten, missed, 0.0))
