"""What a claim's test measured, and the verdict on it.

A claim is `reproduced` if its test is significant at 5% after Holm's adjustment within the figure,
`not reproduced` if the opposite is, or if the 95% interval leaves no relevant effect of the claimed
sign, else `inconclusive` with the number of seeds that would settle it. A certificate is `held` if
the rate of violating runs is significantly below the permitted one (or the statement is
deterministic and no run violates it), `violated` if it is significantly above.
"""

from dataclasses import dataclass

from fivebo.common.referee import coverage, stats

MIN_PAIRS = 5
"""Fewer pairs cannot reach 5% in a sign-flip test, so no verdict is given."""

ALPHA = 0.05
"""Level of every verdict."""


class UnavailableError(Exception):
    """The results cannot answer the claim; the message says why."""


@dataclass(frozen=True)
class Measured:
    """What a test found, before adjustment for the other tests of its figure.

    Parameters
    ----------
    comparison : str
        What `effect` is.
    n : int
        Seeds.
    effect, low, high : float
        Effect and its 95% interval.
    p_value, p_against : float
        One-sided p-values for the claim and for its opposite.
    excluded : bool
        The interval leaves no relevant effect of the claimed sign.
    note : str
        The numbers behind the effect, for the reader.
    needs : tuple of (float, float) or (float, float, int), optional
        Distance from each limit that would settle the claim, with the standard deviation a seed;
        and a factor of that p-value, if it has one.
    sound : bool, optional
        False if a side condition of the claim fails although the test may be significant.
    at_least : int, optional
        Seeds without which there is no verdict.
    rate, permitted : float, optional
        Of a certificate: observed and permitted rate of violating runs.
    """

    comparison: str
    n: int
    effect: float
    low: float
    high: float
    p_value: float
    p_against: float
    excluded: bool
    note: str
    needs: tuple = ()
    sound: bool = True
    at_least: int = MIN_PAIRS
    rate: float | None = None
    permitted: float | None = None


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
    counts = [
        stats.seeds_needed(distance, std, ALPHA / family / (factor[0] if factor else 1))
        for distance, std, *factor in found.needs
    ]
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
