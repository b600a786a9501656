"""The tests a claim can name: each measures one comparison on collected results."""

import math
from dataclasses import replace

import numpy as np

from fivebo.common.referee import coverage, stats
from fivebo.common.referee.verdicts import ALPHA, Measured, UnavailableError

MIN_SLOPES = 3
"""Fewer runs give no useful t interval of a growth rate."""

CERTIFICATE_TOLERANCE = 1e-6
"""A ratio may exceed its limit by this much: the rounding of the bound's own evaluation."""


def less(claim, read):
    """Test that the mean of method `a` is below ``factor`` times that of `b`, paired by seed."""
    factor, relevant = claim.get("factor", 1.0), claim.get("relevant", 0.05)
    return _ratio(claim, read, factor, (1 - relevant) * factor)


def not_worse(claim, read):
    """Test that the mean of method `a` is below ``1 + margin`` times that of `b`."""
    bound = 1 + claim.get("margin", 0.05)
    return _ratio(claim, read, bound, bound)


def _ratio(claim, read, factor, relevant_below):
    a, b = _pair(claim, read)
    found = stats.compare(a, b, factor)
    return _measured(
        found,
        comparison=f"{claim['a']} / {claim['b']}",
        excluded=found.low > relevant_below,
        note=_means(claim["a"], a, claim["b"], b),
        needs=(
            (math.log(factor) - _log(found), found.log_std),
            (_log(found) - math.log(relevant_below), found.log_std),
        ),
    )


def _measured(found, **given):
    """Take n, effect, interval and p-values of what was found, those of "less" unless given."""
    taken = {name: getattr(found, name) for name in ("n", "effect", "low", "high")}
    return Measured(**taken | {"p_value": found.p_less, "p_against": found.p_greater} | given)


def _log(found):
    return math.log(found.effect) if 0 < found.effect < math.inf else math.nan


def close(claim, read):
    """Test that the ratio of `a` to `b` lies within ``[1 / factor, factor]``, from both sides."""
    factor = claim["factor"]
    a, b = _pair(claim, read)
    above, below = stats.compare(a, b, factor), stats.compare(a, b, 1 / factor)
    outside = above.low > factor or above.high < 1 / factor
    distance = math.log(factor) - abs(_log(above))
    return _measured(
        above,
        comparison=f"{claim['a']} / {claim['b']}",
        p_value=max(above.p_less, below.p_greater),
        p_against=min(1.0, 2 * min(above.p_greater, below.p_less)),
        excluded=outside,
        note=_means(claim["a"], a, claim["b"], b),
        needs=((distance, above.log_std), (-distance, above.log_std)),
        sound=above.low > 1 / factor and above.high < factor,
    )


def decreasing(claim, read):
    """Test that the metric falls along `variants`: Page's trend, and no significant step up."""
    columns = [
        read(claim["experiment"], claim["metric"], claim["method"], variant, claim.get("step"))
        for variant in claim["variants"]
    ]
    seeds = sorted(set.intersection(*(set(c.index) for c in columns)))
    table = np.column_stack([c.loc[seeds].to_numpy() for c in columns])
    p_falls, p_rises = stats.trend_test(table)
    ends = stats.compare(table[:, -1], table[:, 0])
    steps = [stats.compare(b, a) for a, b in zip(table.T[:-1], table.T[1:], strict=True)]
    up = stats.holm([s.p_greater for s in steps]) < ALPHA
    names = [f"{v} {m:.3g}" for v, m in zip(claim["variants"], table.mean(axis=0), strict=True)]
    note = "means " + ", ".join(names)
    if up.any():
        note += f"; rises significantly at {claim['variants'][int(np.argmax(up)) + 1]}"
    return _measured(
        ends,
        comparison=f"trend, {claim['variants'][-1]} / {claim['variants'][0]}",
        p_value=p_falls,
        p_against=p_rises,
        excluded=bool(up.any()) or ends.low > 1 - claim.get("relevant", 0.05),
        note=note,
        needs=((-_log(ends), ends.log_std),),
        sound=ends.effect < 1 and not up.any(),
    )


def larger_gain(claim, read):
    """Test that `a` gains more over `b` in experiment `larger` than in `smaller`."""
    pairs = [_pair(claim | {"experiment": claim[key]}, read) for key in ("smaller", "larger")]
    try:
        found = stats.compare_gains(*pairs)
    except ValueError as error:
        raise UnavailableError(str(error)) from error
    gains = [a.mean() / b.mean() for a, b in pairs]
    relevant_below = 1 - claim.get("relevant", 0.05)
    return _measured(
        found,
        comparison=f"({claim['a']} / {claim['b']}) in {claim['larger']} / in {claim['smaller']}",
        excluded=found.low > relevant_below,
        note=f"ratio {gains[0]:.3g} in {claim['smaller']}, {gains[1]:.3g} in {claim['larger']}",
        needs=(
            (-math.log(found.effect), found.log_std),
            (math.log(found.effect / relevant_below), found.log_std),
        ),
    )


def flat(claim, read):
    """Test that the metric falls by less than `margin` of itself from a share of the run on."""
    where = (claim["experiment"], claim["metric"], claim["method"], claim.get("variant"))
    table = read(*where, "all").pivot(index="seed", columns="step", values="value")
    last, share = table.columns.max(), claim.get("from_share", 0.5)
    start = table.columns[np.abs(table.columns - share * last).argmin()]
    bound = 1 - claim.get("margin", 0.1)
    found = stats.compare(table[last], table[start], bound)
    distance = _log(found) - math.log(bound)
    return _measured(
        found,
        comparison=f"step {last} / step {start}, {claim['method']}",
        p_value=found.p_greater,
        p_against=found.p_less,
        excluded=found.high < bound,
        note=_means(f"step {last}", table[last], f"step {start}", table[start]),
        needs=((distance, found.log_std), (-distance, found.log_std)),
    )


def slope(claim, read):
    """Test that the log-log slope of the metric against the step is `below` or `above` a limit."""
    where = (claim["experiment"], claim["metric"], claim["method"], claim.get("variant"))
    start = claim.get("from_step", 1)
    slopes = []
    for seed, run in read(*where, "all").groupby("seed"):
        run = run[run["step"] >= start]
        if len(run) < 3:
            raise UnavailableError(f"{len(run)} recorded steps from {start} on, a slope needs 3")
        try:
            slopes.append(stats.loglog_slope(run["step"], run["value"]))
        except ValueError as error:
            raise UnavailableError(f"seed {seed}: {error}") from error
    limit, wanted_below = (claim["below"], True) if "below" in claim else (claim["above"], False)
    p_below, p_above = stats.one_sided(slopes, limit)
    low, high = stats.mean_interval(slopes)
    mean, std = float(np.mean(slopes)), float(np.std(slopes, ddof=1)) if len(slopes) > 1 else 0.0
    distance = limit - mean if wanted_below else mean - limit
    return Measured(
        comparison=f"slope of {claim['metric']}, {claim['method']}",
        n=len(slopes),
        effect=mean,
        low=low,
        high=high,
        p_value=p_below if wanted_below else p_above,
        p_against=p_above if wanted_below else p_below,
        excluded=low > limit if wanted_below else high < limit,
        note=f"limit {limit:g}, steps from {start}",
        needs=((distance, std), (-distance, std)),
        at_least=MIN_SLOPES,
    )


def wins(claim, read):
    """Test that the median of `a` is below those of all `against` in most of `variants`."""
    medians = []
    for variant in claim["variants"]:
        where = (claim["experiment"], claim["metric"])
        try:
            rivals = (claim["a"], *claim["against"])
            values = [read(*where, m, variant, claim.get("step")) for m in rivals]
        except UnavailableError:
            continue
        medians.append([float(v.median()) for v in values])
    if not medians:
        raise UnavailableError(f"no variant of {claim['experiment']} has all methods")
    own, *others = np.transpose(medians)
    best = np.min(others, axis=0)
    won, tied, n, share = sum(own < best), sum(own == best), len(own), claim.get("share", 0.5)
    found = coverage.coverage(int(won), n, share)
    return _measured(
        found,
        comparison=f"share of variants won, {claim['a']}",
        p_value=found.p_greater,
        p_against=found.p_less,
        excluded=found.high < share,
        note=f"{won} won, {tied} tied, {n - won - tied} lost of {n}",
    )


def in_most(claim, read):
    """Test that `a` is below all of `against` in at least `count` of `variants`.

    A partial conjunction: the `count`-th smallest p-value of the variants, times one more than the
    number of variants that may fail, whatever their dependence (Benjamini and Heller 2008).
    """
    parts = {}
    for variant in claim["variants"]:
        place = claim | {"variant": variant}
        rivals = [less(place | {"b": rival}, read) for rival in claim["against"]]
        parts[variant] = weakest(rivals, claim["against"])
    n, count = len(parts), int(claim["count"])
    spare = n - count + 1
    ranked = sorted(parts, key=lambda v: (parts[v].p_value, parts[v].effect))
    decisive = parts[ranked[count - 1]]
    against = sorted(part.p_against for part in parts.values())[spare - 1]
    effects = ", ".join(f"{v} {p.effect:.3g} [{p.low:.3g}, {p.high:.3g}]" for v, p in parts.items())
    nearest = [sorted((p.needs[side] for p in parts.values()), key=_effort) for side in (0, 1)]
    return replace(
        decisive,
        needs=((*nearest[0][count - 1], spare), nearest[1][spare - 1]),
        comparison=f"{decisive.comparison}, {ranked[count - 1]}",
        n=min(part.n for part in parts.values()),
        p_value=min(1.0, spare * decisive.p_value),
        p_against=min(1.0, count * against),
        excluded=sum(part.excluded for part in parts.values()) >= spare,
        note=f"{count} of {n} must hold: {effects}; the one that decides: {decisive.note}",
    )


def _effort(need):
    """Order needs by the seeds they take."""
    distance, std = need
    return std / distance if distance > 0 else math.inf


def certificate(claim, read):
    """Test that the metric is at most `limit` at every step, but for a rate `delta` of runs."""
    where = (claim["experiment"], claim["metric"], claim["method"], claim.get("variant"))
    trace = read(*where, "all").dropna()  # a step without a value is one the statement leaves out
    if trace.empty:
        raise UnavailableError(f"{claim['metric']} applies to no step of {claim['experiment']}")
    worst = trace.groupby("seed")["value"].max()
    permitted, limit = claim.get("delta", 0.0), claim.get("limit", 1.0)
    violations = int((worst > limit + CERTIFICATE_TOLERANCE).sum())
    found = coverage.coverage(violations, len(worst), permitted)
    top = trace.loc[trace["value"].idxmax()]
    return _measured(
        found,
        comparison=f"rate of runs above {limit:g}, {claim['method']}",
        excluded=False,
        note=(
            f"{violations} of {found.n} runs above {limit:g}, largest value {top['value']:.3g} at "
            f"step {int(top['step'])}; permitted rate {permitted:g}"
        ),
        rate=found.effect,
        permitted=permitted,
    )


def _pair(claim, read):
    """Return the values of `a` and `b` of the seeds, in the same order."""
    where = (claim.get("variant"), claim.get("step"))
    a, b = (read(claim["experiment"], claim["metric"], claim[k], *where) for k in ("a", "b"))
    return a.to_numpy(), b.loc[a.index].to_numpy()


def _means(name_a, a, name_b, b):
    return f"means {a.mean():.3g} ({name_a}) and {b.mean():.3g} ({name_b})"


def weakest(found, labels):
    """Combine comparisons that must all hold: an intersection-union test.

    The largest p-value of the parts is a p-value of their conjunction, without adjustment; the
    smallest one against is multiplied by the number of parts.

    Parameters
    ----------
    found : sequence of Measured
    labels : sequence of str
        What tells the parts apart.

    Returns
    -------
    Measured
        The part with the weakest evidence, one whose interval excludes the claim before others;
        its note lists the effects of all.
    """
    if len(found) == 1:
        return found[0]
    last = max(found, key=lambda part: (part.rate or 0, part.excluded, part.p_value, part.effect))
    effects = ", ".join(
        f"{label} {p.effect:.3g} [{p.low:.3g}, {p.high:.3g}]"
        for label, p in zip(labels, found, strict=True)
    )
    return replace(
        last,
        n=min(part.n for part in found),
        p_value=max(part.p_value for part in found),
        p_against=min(1.0, len(found) * min(part.p_against for part in found)),
        excluded=any(part.excluded for part in found),
        sound=all(part.sound for part in found),
        note=f"all must hold: {effects}; weakest {labels[found.index(last)]}: {last.note}",
    )
