"""Verdicts on what a claim's test measured.

A claim is `reproduced` if its test is significant at 5% after Holm's adjustment within the figure,
`not reproduced` if the opposite is, or if the 95% interval leaves no relevant effect of the claimed
sign, else `inconclusive` with the number of seeds that would settle it. A certificate is `held` if
the rate of violating runs is significantly below the permitted one (or the statement is
deterministic and no run violates it), `violated` if it is significantly above.
"""

from common import coverage, stats
from common.measures import ALPHA


def decide(found, p_adjusted, against_adjusted, family):
    """Give the verdict on a measured claim.

    Parameters
    ----------
    found : Measured
    p_adjusted, against_adjusted : float
        Holm-adjusted p-values for the claim and its opposite.
    family : int
        Tests in the family, for the power calculation.

    Returns
    -------
    verdict : {"reproduced", "not reproduced", "inconclusive"}
    seeds_needed : int or None
    why : str
    """
    if found.n >= found.at_least:
        if p_adjusted < ALPHA and found.sound:
            return "reproduced", None, found.note
        if against_adjusted < ALPHA:
            return "not reproduced", None, f"{found.note}; the opposite is significant"
        if found.excluded:
            return "not reproduced", None, f"{found.note}; the interval leaves no relevant effect"
    counts = [stats.seeds_needed(d, s, ALPHA / family) for d, s in found.needs]
    known = [c for c in counts if c is not None]
    if not known:
        return "inconclusive", None, f"{found.note}; no number of seeds would settle this effect"
    needed = max(min(known), found.at_least, found.n + 1)
    return "inconclusive", needed, f"{found.note}; about {needed} seeds would settle it"


def decide_certificate(found):
    """Give the verdict on a measured certificate.

    Parameters
    ----------
    found : Measured

    Returns
    -------
    verdict : {"held", "violated", "inconclusive"}
    seeds_needed : int or None
    why : str
    """
    if found.p_value < ALPHA or (found.permitted == 0 and found.rate == 0):
        return "held", None, found.note
    if found.p_against < ALPHA:
        return "violated", None, found.note
    needed = coverage.runs_to_certify(found.rate, found.permitted)
    advice = f"{needed} runs at this rate" if needed else "a lower rate"
    return "inconclusive", needed, f"{found.note}; {advice} would put it below the permitted one"
