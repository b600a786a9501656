"""Claims of the papers as data: checked when the workflow is parsed, tried on the results.

A claim is a mapping in the list `claims` of a paper's experiments.yaml::

    - id: fig1b-faster            # unique
      where: Sec. 5, Fig. 1(b)    # place in the paper
      says: multi-task learning is faster than independent learning
      figure: fig1                # its family for Holm's adjustment
      test: less                  # a key of TESTS, with that test's own arguments:
      experiment: fig1b
      metric: average_regret
      a: mt-kb
      b: [it-kb, it-bkb]          # a list: all must hold, the weakest is shown
      differs: z is not stated    # optional: why it might differ, told if it is not reproduced
      shown_by: sensitivity       # and the figure whose runs show it
"""

import itertools
from dataclasses import dataclass
from pathlib import Path

from fivebo.common.files import atomic_path
from fivebo.common.names import check_name

COLUMNS = [
    *("paper", "id", "kind", "where", "says", "figure", "experiments", "metric", "comparison"),
    *("n", "effect", "low", "high", "p_value", "p_adjusted", "verdict", "seeds_needed", "why"),
    *("differs", "shown_by"),
]

VERDICTS = {
    "claim": ("reproduced", "not reproduced", "inconclusive"),
    "certificate": ("held", "violated", "inconclusive"),
}

COMMON_KEYS = ("id", "where", "says", "figure", "test", "metric")

REMARKS = ("differs", "shown_by")
"""Optional keys: why a claim may not be found here, and the figure that shows it."""

ADVERSE = ("not reproduced", "violated")
"""Verdicts that call for these remarks."""

SEVERAL = ("experiment", "a", "b", "method", "variant")
"""Arguments that may be lists: the claim holds if it does for every combination."""


@dataclass(frozen=True)
class Test:
    """Arguments of a test; `fivebo.common.referee.measures` holds the function of the same name.

    Parameters
    ----------
    needs : tuple of str
        Required arguments.
    takes : tuple of str
        Optional ones.
    one_of : tuple of str
        Exactly one of these is required.
    kind : {"claim", "certificate"}
    """

    needs: tuple
    takes: tuple = ()
    one_of: tuple = ()
    kind: str = "claim"


TESTS = {
    "less": Test(("experiment", "a", "b"), ("variant", "step", "factor", "relevant")),
    "not_worse": Test(("experiment", "a", "b"), ("variant", "step", "margin")),
    "close": Test(("experiment", "a", "b", "factor"), ("variant", "step")),
    "decreasing": Test(("experiment", "method", "variants"), ("step", "relevant")),
    "larger_gain": Test(("smaller", "larger", "a", "b"), ("variant", "step", "relevant")),
    "flat": Test(("experiment", "method"), ("variant", "from_share", "margin")),
    "slope": Test(("experiment", "method"), ("variant", "from_step"), ("below", "above")),
    "wins": Test(("experiment", "a", "against", "variants"), ("step", "share")),
    "in_most": Test(("experiment", "a", "against", "variants", "count"), ("step", "relevant")),
    "certificate": Test(
        ("experiment", "method"), ("variant", "delta", "limit"), kind="certificate"
    ),
}

RANGES = {
    "factor": (0.01, 100),
    "relevant": (0, 0.99),
    "margin": (0, 1),
    "delta": (0, 0.5),
    "limit": (0, float("inf")),
    "below": (-10, 10),
    "above": (-10, 10),
    "from_step": (1, float("inf")),
    "from_share": (0.01, 0.99),
    "share": (0.01, 0.99),
}


def validate(claims, config):
    """Check the claims of a paper against its experiments.

    Parameters
    ----------
    claims : list of mapping
    config : PaperConfig
        Names of experiments, variants and methods are those of its full scale.

    Raises
    ------
    ValueError
        One line with the place in the file and the nearest valid name.
    """
    config = config.at("paper")
    ids = [claim["id"] for claim in claims]
    for claim in claims:
        where = f"{config.paper}/experiments.yaml: claims.{claim['id']}"
        if ids.count(claim["id"]) > 1:
            raise ValueError(f"{where}: this id appears {ids.count(claim['id'])} times")
        check_name("test", claim["test"], TESTS, f"{where}.test")
        _check_keys(claim, TESTS[claim["test"]], where)
        for key in ("figure", "shown_by"):
            if key in claim:
                check_name("figure", claim[key], config.figures, f"{where}.{key}")
        for part in _parts(claim):
            _check_part(part, config, where)


def _check_keys(claim, test, where):
    for key in claim:
        valid = (*COMMON_KEYS, *REMARKS, *test.needs, *test.takes, *test.one_of)
        check_name("key", key, valid, where)
    for key in (*COMMON_KEYS, *test.needs):
        if key not in claim:
            raise ValueError(f"{where}: {key!r} is missing, test {claim['test']!r} needs it")
    if test.one_of and sum(key in claim for key in test.one_of) != 1:
        raise ValueError(f"{where}: give exactly one of {', '.join(test.one_of)}")
    for key, (low, high) in RANGES.items():
        if key in claim and not (_is_number(claim[key]) and low <= claim[key] <= high):
            raise ValueError(
                f"{where}.{key}: expected a number from {low} to {high}, got {claim[key]!r}"
            )
    step = claim.get("step", 1)
    if step != "mean" and not (_is_number(step) and step >= 1):
        raise ValueError(f"{where}.step: expected a step from 1 on, or 'mean', got {step!r}")


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_part(part, config, where):
    """Check the names that one comparison of a claim uses."""
    for experiment in _experiments(part):
        check_name("experiment", experiment, config.experiments, where)
        known = config.experiments[experiment]
        check_name("metric", part["metric"], known.metrics, f"{where}.metric")
        for variant in part.get("variants", [part.get("variant", known.variants[0])]):
            check_name("variant", variant, known.variants, f"{where}.variant")
            for key in ("a", "b", "method"):
                if key in part:
                    check_name("method", part[key], known.methods(variant), f"{where}.{key}")
            for method in part.get("against", ()):
                check_name("method", method, known.methods(variant), f"{where}.against")
    n = len(part.get("variants", (1, 2, 3)))
    if n < 3:
        raise ValueError(f"{where}.variants: a trend or a count needs at least 3 variants, got {n}")
    if part.get("count", 1) not in range(1, n + 1):
        raise ValueError(f"{where}.count: expected 1 to {n} of the variants, got {part['count']!r}")


def _experiments(part):
    return [part[key] for key in ("experiment", "smaller", "larger") if key in part]


def _parts(claim):
    """Expand the lists of a claim into one mapping a comparison."""
    several = [key for key in SEVERAL if isinstance(claim.get(key), list)]
    for values in itertools.product(*(claim[key] for key in several)):
        yield claim | dict(zip(several, values, strict=True))


def evaluate(config, results):
    """Try every claim of a paper on its results.

    Parameters
    ----------
    config : PaperConfig
        At the scale of the results.
    results : Results

    Returns
    -------
    DataFrame
        Columns `COLUMNS`, one row a claim; p-values are adjusted within each figure.
    """
    import pandas as pd

    found = [_measure(claim, config, results) for claim in config.claims]
    records = [
        {"paper": config.paper, "kind": TESTS[claim["test"]].kind}
        | {key: claim[key] for key in ("id", "where", "says", "figure", "metric")}
        | {"experiments": ";".join(experiments_of(claim))}
        | judged
        for claim, judged in zip(config.claims, _judge(config.claims, found), strict=True)
    ]
    for claim, record in zip(config.claims, records, strict=True):
        if record["verdict"] in ADVERSE:
            record |= {key: claim.get(key) for key in REMARKS}
    frame = pd.DataFrame(records, columns=COLUMNS)
    return frame.astype({"n": "Int64", "seeds_needed": "Int64"})


def experiments_of(claim):
    """Return the names of the experiments that a claim speaks of, as keys of a dict."""
    return dict.fromkeys(name for part in _parts(claim) for name in _experiments(part))


def _measure(claim, config, results):
    """Run a claim's test; the reason, as text, if the results cannot answer."""
    from fivebo.common.referee import measures
    from fivebo.common.referee.verdicts import UnavailableError

    def read(experiment, metric, method, variant=None, step=None):
        return _values(config, results, experiment, metric, method, variant, step)

    test = getattr(measures, claim["test"])
    try:
        parts = list(_parts(claim))
        labels = [
            " ".join(p[key] for key in SEVERAL if isinstance(claim.get(key), list)) for p in parts
        ]
        return measures.weakest([test(part, read) for part in parts], labels)
    except UnavailableError as reason:
        return str(reason)


def _values(config, results, experiment, metric, method, variant, step):
    """Return one metric of a method: its trace if `step` is "all", else a Series by seed.

    The Series holds the value at a step, at the last one (None), or the mean over the recorded
    steps ("mean").
    """
    from fivebo.common.referee.verdicts import UnavailableError

    settings = config.experiments[experiment]
    variant = settings.variants[0] if variant is None else variant
    if variant not in settings.variants:
        raise UnavailableError(
            f"variant {variant} of {experiment} is not run at scale {config.scale}"
        )
    try:
        runs, trace = results.runs(experiment), results.trace(experiment, metric)
    except FileNotFoundError as error:
        raise UnavailableError(f"no results of {experiment} at scale {config.scale}") from error
    runs, trace = (t[(t["method"] == method) & (t["variant"] == variant)] for t in (runs, trace))
    _check_complete(runs, trace, settings.seeds, f"{experiment} {method} {variant}")
    if step == "all":
        return trace[["seed", "step", "value"]]
    last = trace["step"].max() if step is None else step
    chosen = trace if step == "mean" else trace[trace["step"] == last]
    values = chosen.groupby("seed")["value"].mean()
    if len(values) != settings.seeds:
        raise UnavailableError(
            f"step {last} of {experiment} is not recorded at scale {config.scale}"
        )
    if chosen["value"].isna().any():
        raise UnavailableError(f"values of {experiment} {method} {variant} are not numbers")
    return values


def _check_complete(runs, trace, seeds, what):
    """Refuse failed or missing runs."""
    from fivebo.common.referee.verdicts import UnavailableError

    if failed := sorted(runs.loc[runs["status"] != "ok", "seed"]):
        raise UnavailableError(f"{len(failed)} failed run(s) of {what}, first seed {failed[0]}")
    if (n_missing := seeds - trace["seed"].nunique()) > 0:
        raise UnavailableError(f"{n_missing} missing run(s) of {what}, {seeds} are configured")


def _judge(claims, found):
    """Return for every claim the columns that its outcome and its figure's other tests decide."""
    from fivebo.common.referee import stats, verdicts

    families = {}
    for place, (claim, outcome) in enumerate(zip(claims, found, strict=True)):
        if isinstance(outcome, verdicts.Measured) and TESTS[claim["test"]].kind == "claim":
            families.setdefault(claim["figure"], []).append(place)
    adjusted = {}
    for places in families.values():
        claimed, against = (
            stats.holm([getattr(found[i], side) for i in places])
            for side in ("p_value", "p_against")
        )
        adjusted |= {i: (*p, len(places)) for i, *p in zip(places, claimed, against, strict=True)}
    for place, (claim, outcome) in enumerate(zip(claims, found, strict=True)):
        if not isinstance(outcome, verdicts.Measured):
            yield {"comparison": claim["test"], "verdict": "inconclusive", "why": outcome}
        elif place in adjusted:
            verdict = verdicts.decide(outcome, *adjusted[place])
            yield _columns(outcome, adjusted[place][0], *verdict)
        else:
            yield _columns(outcome, outcome.p_value, *verdicts.decide_certificate(outcome))


def _columns(outcome, p_adjusted, verdict, seeds_needed, why):
    names = ("comparison", "n", "effect", "low", "high", "p_value")
    return {name: getattr(outcome, name) for name in names} | {
        "p_adjusted": p_adjusted,
        "verdict": verdict,
        "seeds_needed": seeds_needed,
        "why": why,
    }


def write(frame, folder):
    """Write the table as `folder`/claims.csv; return its path."""
    path = Path(folder, "claims.csv")
    with atomic_path(path) as temporary:
        frame.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")
    return path


def load(path):
    """Read a claims.csv, its columns checked."""
    import pandas as pd

    frame = pd.read_csv(path, dtype={"n": "Int64", "seeds_needed": "Int64"})
    if list(frame.columns) != COLUMNS:
        raise ValueError(f"{path}: its columns are not claims.COLUMNS; write it again")
    return frame


def join(folder):
    """Join the papers' tables under a scale's folder into `folder`/claims.csv.

    Parameters
    ----------
    folder : path-like
        ``figures/<scale>``; its subfolders hold the papers' tables.

    Returns
    -------
    Path
    """
    import pandas as pd

    tables = [load(path) for path in sorted(Path(folder).glob("*/claims.csv"))]
    if not tables:
        raise FileNotFoundError(f"no claims.csv of any paper under {folder}; make one with: claims")
    return write(pd.concat(tables), folder)
