"""Verdicts on results of known truth, error rates, missing results, and the parse-time checks."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fivebo.common.lab.records import KEYS
from fivebo.common.referee import claims, measures, verdicts

STEPS = np.array([1, 2, 4, 8, 16])


class FakeResults:
    """Results in memory: `values[experiment][method, variant]` has shape (seeds, steps)."""

    def __init__(self, values, failed=(), metric="average_regret"):
        self.values, self.failed, self.metric = values, set(failed), metric

    def runs(self, experiment):
        rows = [
            ("demo", experiment, "p", method, variant, seed, self._status(method, seed))
            for (method, variant), table in self._tables(experiment)
            for seed in range(len(table))
        ]
        return pd.DataFrame(rows, columns=[*KEYS, "status"])

    def trace(self, experiment, metric):
        assert metric == self.metric
        rows = [
            ("demo", experiment, "p", method, variant, seed, step, step, metric, value)
            for (method, variant), table in self._tables(experiment)
            for seed, run in enumerate(table)
            if self._status(method, seed) == "ok"
            for step, value in zip(STEPS, run, strict=True)
        ]
        return pd.DataFrame(rows, columns=[*KEYS, "step", "n_evals", "metric", "value"])

    def _tables(self, experiment):
        if experiment not in self.values:
            raise FileNotFoundError(experiment)
        return self.values[experiment].items()

    def _status(self, method, seed):
        return "failed" if (method, seed) in self.failed else "ok"


def experiment(seeds, variants=("default",), methods=("new", "old")):
    return SimpleNamespace(
        seeds=seeds,
        variants=tuple(variants),
        metrics=("average_regret", "theorem1_ratio"),
        methods=lambda variant: methods,
    )


def paper(listed, scale="quick", **experiments):
    config = SimpleNamespace(
        paper="demo",
        scale=scale,
        experiments=experiments or {"main": experiment(10), "other": experiment(10)},
        figures={"fig1": {}, "fig2": {}},
        claims=[claim(**c) for c in listed],
    )
    config.at = lambda scale: config
    return config


def claim(**changes):
    base = {"id": "faster", "where": "Sec. 5", "says": "new is faster", "figure": "fig1"}
    base |= {"test": "less", "metric": "average_regret"}
    if changes.get("test", "less") in ("less", "close", "not_worse"):
        base |= {"experiment": "main", "a": "new", "b": "old"}
    return base | changes


def planted(rng, seeds, ratio, spread=0.3):
    """Two methods whose mean values differ by `ratio`, paired through a common difficulty."""
    difficulty = rng.gamma(4, 1, (seeds, 1))
    noise = np.exp(rng.normal(0, spread, (2, seeds, 1)))
    new, old = difficulty * noise * np.ones((1, 1, len(STEPS)))
    return {("new", "default"): ratio * new, ("old", "default"): old}


def verdict(results, seeds=10, **changes):
    config = paper([changes], main=experiment(seeds), other=experiment(seeds))
    return claims.evaluate(config, results).iloc[0]


@pytest.mark.parametrize(
    ("ratio", "expected"), [(0.4, "reproduced"), (2.5, "not reproduced"), (1.0, "inconclusive")]
)
def test_planted_ratio_gets_the_verdict(ratio, expected):
    rng = np.random.default_rng(1)
    row = verdict(FakeResults({"main": planted(rng, 10, ratio)}))
    assert row["verdict"] == expected
    assert row["low"] < row["effect"] < row["high"]
    assert row["n"] == 10
    assert pd.notna(row["seeds_needed"]) == (expected == "inconclusive")


@pytest.mark.parametrize(
    ("ratio", "wrong", "rate"),
    [(1.0, "reproduced", 0.05), (0.7, "not reproduced", 0.05), (1.5, "reproduced", 0.01)],
)
def test_wrong_verdicts_are_rare(ratio, wrong, rate):
    rng = np.random.default_rng(2)
    runs = 80
    wrongs = sum(
        verdict(FakeResults({"main": planted(rng, 8, ratio)}), seeds=8)["verdict"] == wrong
        for _ in range(runs)
    )
    assert wrongs <= runs * rate + 2 * np.sqrt(runs * rate * (1 - rate)) + 1


def test_holm_runs_over_the_figure_and_no_further():
    rng = np.random.default_rng(3)
    results = FakeResults({"main": planted(rng, 10, 0.55)})
    alone = claims.evaluate(paper([{}]), results).iloc[0]
    many = [{"id": f"c{i}"} for i in range(4)] + [{"id": "elsewhere", "figure": "fig2"}]
    table = claims.evaluate(paper(many), results).set_index("id")
    assert alone["p_adjusted"] == alone["p_value"] == table.loc["elsewhere", "p_adjusted"]
    assert table.loc["c0", "p_adjusted"] == pytest.approx(min(1, 4 * alone["p_value"]))


def test_all_of_a_list_must_hold():
    rng = np.random.default_rng(4)
    values = planted(rng, 10, 0.4)
    values["better", "default"] = values["new", "default"] * 0.2
    config = paper([{"b": ["old", "better"]}], main=experiment(10))
    row = claims.evaluate(config, FakeResults({"main": values})).iloc[0]
    assert row["verdict"] == "not reproduced"
    assert row["comparison"] == "new / better"
    assert row["why"].startswith("all must hold: old 0.")
    assert "weakest better: means" in row["why"]


def test_of_a_list_the_part_that_excludes_the_claim_is_shown():
    rng = np.random.default_rng(5)
    values = planted(rng, 10, 1.0)
    values["new", "default"] = values["old", "default"] * 0.99
    values["wild", "default"] = values["new", "default"] * np.exp(rng.normal(-0.3, 2, (10, 1)))
    config = paper([{"b": ["wild", "old"]}], main=experiment(10))
    row = claims.evaluate(config, FakeResults({"main": values})).iloc[0]
    assert row["verdict"] == "not reproduced"
    assert row["comparison"] == "new / old"
    assert row["low"] == pytest.approx(0.99)
    assert row["high"] == pytest.approx(0.99)


@pytest.mark.parametrize(
    ("ratio", "expected"), [(1.0, "reproduced"), (1.9, "not reproduced"), (1.3, "inconclusive")]
)
def test_closeness_is_shown_not_assumed(ratio, expected):
    rng = np.random.default_rng(5)
    values = planted(rng, 10, ratio, spread=0.15)
    assert verdict(FakeResults({"main": values}), test="close", factor=1.3)["verdict"] == expected


@pytest.mark.parametrize(("ratio", "expected"), [(0.9, "reproduced"), (1.4, "not reproduced")])
def test_not_worse_allows_the_margin(ratio, expected):
    rng = np.random.default_rng(6)
    values = planted(rng, 12, ratio, spread=0.1)
    assert (
        verdict(FakeResults({"main": values}), 12, test="not_worse", margin=0.2)["verdict"]
        == expected
    )


def test_factor_asks_for_more_than_an_advantage():
    rng = np.random.default_rng(7)
    results = FakeResults({"main": planted(rng, 12, 0.9, spread=0.02)})
    assert verdict(results, 12)["verdict"] == "reproduced"
    assert verdict(results, 12, factor=0.7)["verdict"] == "not reproduced"


def trend(levels, seeds=10, noise=0.2):
    rng = np.random.default_rng(8)
    names = [f"v{i}" for i in range(len(levels))]
    values = {
        ("new", name): level * np.exp(rng.normal(0, noise, (seeds, 1))) * np.ones(len(STEPS))
        for name, level in zip(names, levels, strict=True)
    }
    listed = [{"test": "decreasing", "experiment": "main", "method": "new", "variants": names}]
    config = paper(listed, main=experiment(seeds, names))
    return claims.evaluate(config, FakeResults({"main": values})).iloc[0]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((8, 4, 2, 1), "reproduced"),
        ((1, 2, 4, 8), "not reproduced"),
        ((8, 1, 6, 2), "not reproduced"),
        ((1.1, 1.05, 1.1, 1.04), "inconclusive"),
    ],
)
def test_trend_along_variants(levels, expected):
    assert trend(levels)["verdict"] == expected


@pytest.mark.parametrize(
    ("ratios", "expected"), [((0.9, 0.4), "reproduced"), ((0.4, 0.9), "not reproduced")]
)
def test_larger_gain(ratios, expected):
    rng = np.random.default_rng(9)
    values = {
        name: planted(rng, 12, ratio) for name, ratio in zip(("main", "other"), ratios, strict=True)
    }
    row = verdict(
        FakeResults(values),
        12,
        test="larger_gain",
        smaller="main",
        larger="other",
        a="new",
        b="old",
    )
    assert row["verdict"] == expected
    assert row["experiments"] == "main;other"


@pytest.mark.parametrize(
    ("power", "expected"), [(1.0, "reproduced"), (2.0, "not reproduced"), (1.5, "inconclusive")]
)
def test_slope_against_its_limit(power, expected):
    rng = np.random.default_rng(10)
    values = STEPS**power * np.exp(rng.normal(0, 0.1, (4, len(STEPS))))
    row = verdict(
        FakeResults({"main": {("new", "default"): values}}),
        4,
        test="slope",
        experiment="main",
        method="new",
        below=1.5,
    )
    assert row["verdict"] == expected
    assert row["effect"] == pytest.approx(power, abs=0.15)


@pytest.mark.parametrize(
    ("kept", "expected"), [(1.0, "reproduced"), (0.3, "not reproduced"), (0.88, "inconclusive")]
)
def test_flat_from_half_of_the_run(kept, expected):
    rng = np.random.default_rng(0)
    level = rng.lognormal(0, 0.3, size=(20, 1))
    runs = np.hstack([level * 5, level * 3, level * 2, level, level * kept])
    runs[:, 4] *= rng.lognormal(0, 0.1, size=20)
    results = FakeResults({"main": {("old", "default"): runs}})
    row = verdict(results, 20, test="flat", experiment="main", method="old")
    assert row["comparison"] == "step 16 / step 8, old"
    assert row["verdict"] == expected


def test_slope_without_steps_says_so():
    results = FakeResults({"main": {("new", "default"): np.ones((4, len(STEPS)))}})
    given = {"test": "slope", "experiment": "main", "method": "new", "below": 1}
    row = verdict(results, 4, **given, from_step=9)
    assert row["why"] == "1 recorded steps from 9 on, a slope needs 3"


def test_mean_over_the_steps_can_be_compared():
    values = planted(np.random.default_rng(16), 10, 0.3)
    for table in values.values():
        table[:, -1] = 0.0
    results = FakeResults({"main": values})
    assert verdict(results)["verdict"] == "inconclusive"
    assert verdict(results, step="mean")["verdict"] == "reproduced"


def certificate(violating, n, **changes):
    worst = np.full((n, len(STEPS)), 0.8)
    worst[:violating, 2] = 1.2
    given = {"test": "certificate", "metric": "theorem1_ratio", "experiment": "main"}
    values = {"main": {("new", "default"): worst}}
    results = FakeResults(values, metric="theorem1_ratio")
    return verdict(results, n, **given, method="new", **changes)


@pytest.mark.parametrize(
    ("violating", "n", "delta", "expected"),
    [
        (0, 29, 0.1, "held"),
        (0, 28, 0.1, "inconclusive"),
        (12, 30, 0.1, "violated"),
        (3, 30, 0.1, "inconclusive"),
        (0, 2, 0.0, "held"),
        (1, 40, 0.0, "violated"),
    ],
)
def test_certificate(violating, n, delta, expected):
    row = certificate(violating, n, delta=delta)
    assert (row["kind"], row["verdict"]) == ("certificate", expected)
    assert row["low"] <= row["effect"] == violating / n <= row["high"]
    assert f"{violating} of {n} runs above 1" in row["why"]


def test_certificate_needs_29_runs_without_a_violation():
    assert certificate(0, 10, delta=0.1)["seeds_needed"] == 29


def test_steps_that_a_certificate_leaves_out_are_no_violation():
    values = np.full((6, len(STEPS)), np.nan)
    given = {"test": "certificate", "metric": "theorem1_ratio", "experiment": "main"}
    given |= {"method": "new"}
    results = FakeResults({"main": {("new", "default"): values}}, metric="theorem1_ratio")
    assert verdict(results, 6, **given)["why"] == "theorem1_ratio applies to no step of main"
    values[:4, 1] = 0.5
    results = FakeResults({"main": {("new", "default"): values}}, metric="theorem1_ratio")
    row = verdict(results, 6, **given)
    assert (row["verdict"], row["n"]) == ("held", 4)


def test_limit_of_a_certificate_is_inclusive():
    assert certificate(0, 5, limit=0.8)["verdict"] == "held"
    assert certificate(0, 5, limit=0.79)["verdict"] == "violated"


@pytest.mark.parametrize("seeds", [1, 2, 4])
def test_few_seeds_are_inconclusive_with_the_number_needed(seeds):
    rng = np.random.default_rng(11)
    row = verdict(FakeResults({"main": planted(rng, seeds, 0.3)}), seeds)
    assert row["verdict"] == "inconclusive"
    assert "at least" in row["why"] or "settle" in row["why"]


def test_failed_and_missing_runs_are_inconclusive_with_the_reason():
    values = {"main": planted(np.random.default_rng(12), 10, 0.3)}
    failed = verdict(FakeResults(values, failed={("old", 3)}))
    assert failed["verdict"] == "inconclusive"
    assert failed["why"] == "1 failed run(s) of main old default, first seed 3"
    assert verdict(FakeResults(values), seeds=12)["why"].startswith("2 missing run(s) of main new")
    assert verdict(FakeResults({}))["why"] == "no results of main at scale quick"
    step = verdict(FakeResults(values), step=3)
    assert step["why"] == "step 3 of main is not recorded at scale quick"


def test_values_that_are_not_numbers_are_no_verdict():
    values = planted(np.random.default_rng(13), 10, 0.3)
    values["new", "default"][4, -1] = np.nan
    assert (
        verdict(FakeResults({"main": values}))["why"]
        == "values of main new default are not numbers"
    )


def test_zero_regret_gives_a_verdict():
    values = planted(np.random.default_rng(14), 10, 0.3)
    values["new", "default"][:] = 0.0
    row = verdict(FakeResults({"main": values}))
    assert (row["verdict"], row["effect"]) == ("reproduced", 0.0)
    values["old", "default"][:] = 0.0
    assert verdict(FakeResults({"main": values}))["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": "lesss"}, "unknown test 'lesss'; did you mean 'less'"),
        ({"a": "nwe"}, "claims.faster.a: unknown method 'nwe'; did you mean 'new'"),
        ({"experiment": "mian"}, "unknown experiment 'mian'; did you mean 'main'"),
        ({"metric": "averge_regret"}, "did you mean 'average_regret'"),
        ({"figure": "fig3"}, "unknown figure 'fig3'"),
        ({"variant": "defautl"}, "did you mean 'default'"),
        ({"factr": 0.5}, "unknown key 'factr'; did you mean 'factor'"),
        ({"factor": "half"}, "expected a number from 0.01 to 100, got 'half'"),
        ({"relevant": True}, "expected a number"),
        ({"step": "men"}, "expected a step from 1 on, or 'mean', got 'men'"),
        ({"test": "close"}, "'factor' is missing, test 'close' needs it"),
    ],
)
def test_wrong_names_fail_with_the_nearest(changes, message):
    with pytest.raises(ValueError, match=r"^demo/experiments.yaml: claims.faster") as caught:
        claims.validate([claim(**changes)], paper([]))
    assert message in str(caught.value)


def test_more_parse_time_checks():
    config = paper([])
    claims.validate([claim(), claim(id="again", b=["old", "new"])], config)
    with pytest.raises(ValueError, match="appears 2 times"):
        claims.validate([claim(), claim()], config)
    slope = {"test": "slope", "experiment": "main", "method": "new"}
    with pytest.raises(ValueError, match="exactly one of below, above"):
        claims.validate([claim(**slope)], config)
    short = {"test": "decreasing", "experiment": "main", "method": "new", "variants": ["default"]}
    with pytest.raises(ValueError, match="at least 3 variants"):
        claims.validate([claim(**short)], config)


def test_tables_round_trip_and_join(tmp_path):
    results = FakeResults({"main": planted(np.random.default_rng(15), 10, 0.4)})
    config = paper([{}, {"id": "second", "test": "not_worse"}])
    frame = claims.evaluate(config, results)
    first = claims.write(frame, tmp_path / "demo").read_bytes()
    assert claims.write(claims.evaluate(config, results), tmp_path / "demo").read_bytes() == first
    claims.write(frame.assign(paper="other"), tmp_path / "other")
    joined = claims.load(claims.join(tmp_path))
    assert list(joined.columns) == claims.COLUMNS
    assert list(joined["paper"]) == ["demo", "demo", "other", "other"]
    assert set(joined["verdict"]) <= set(sum(claims.VERDICTS.values(), ()))
    with pytest.raises(FileNotFoundError, match=r"no claims\.csv"):
        claims.join(tmp_path / "demo")


def wins(tables, **changes):
    """Evaluate a claim of wins over ten variants; `tables` has one entry a variant that was run."""
    variants = [f"v{k}" for k in range(10)]
    kept = experiment(3, variants[: len(tables)], ("new", "old", "older"))
    settings = {"id": "wins", "test": "wins", "experiment": "main", "a": "new"}
    settings |= {"against": ["old", "older"], "variants": variants} | changes
    config = paper([settings], main=kept)
    values = {
        (method, variant): np.tile(np.array(column)[:, None], len(STEPS))
        for variant, table in zip(variants, tables, strict=False)
        for method, column in zip(("new", "old", "older"), table, strict=True)
    }
    return claims.evaluate(config, FakeResults({"main": values})).iloc[0]


BETTER = ([1.0, 2.0, 9.0], [3.0, 3.0, 3.0], [4.0, 2.5, 2.5])
TIED = ([1.0, 2.5, 9.0], [3.0, 3.0, 3.0], [4.0, 2.5, 2.5])
WORSE = ([1.0, 2.6, 9.0], [3.0, 3.0, 3.0], [4.0, 2.5, 2.5])


@pytest.mark.parametrize(
    ("tables", "expected", "counts"),
    [
        ([BETTER] * 9 + [TIED], "reproduced", "9 won, 1 tied, 0 lost of 10"),
        ([WORSE] * 9 + [BETTER], "not reproduced", "1 won, 0 tied, 9 lost of 10"),
        ([BETTER] * 6 + [WORSE] * 2, "inconclusive", "6 won, 0 tied, 2 lost of 8"),
    ],
)
def test_wins_count_strictly_best_medians_over_the_variants_that_are_run(tables, expected, counts):
    row = wins(tables)
    assert row["verdict"] == expected
    assert counts in row["why"]
    assert row["n"] == len(tables)


def test_wins_take_a_share_and_known_methods_only():
    assert wins([BETTER] * 10, share=0.9)["verdict"] == "inconclusive"
    assert wins([BETTER] * 10, share=0.7)["verdict"] == "reproduced"
    config = paper(
        [{"id": "w", "test": "wins", "experiment": "main", "a": "new", "against": ["odl"],
          "variants": ["a", "b", "c"]}],
        main=experiment(3, ("a", "b", "c")),
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"claims\.w\.against: unknown method 'odl'"):
        claims.validate(config.claims, config)


def in_most(signs, **changes):
    """Evaluate a claim on variants, six seeds each, where `new` is lower (-1) or higher (1)."""
    variants = [f"v{k}" for k in range(len(signs))]
    settings = {"id": "most", "test": "in_most", "experiment": "main", "a": "new", "count": 3}
    settings |= {"against": ["old", "older"], "variants": variants} | changes
    config = paper([settings], main=experiment(6, variants, ("new", "old", "older")))
    claims.validate(config.claims, config)
    values = {
        (method, variant): np.full((6, len(STEPS)), 2.0 + (sign if method == "new" else 0))
        for variant, sign in zip(variants, signs, strict=True)
        for method in ("new", "old", "older")
    }
    return claims.evaluate(config, FakeResults({"main": values})).iloc[0]


@pytest.mark.parametrize(
    ("signs", "count", "p_value", "expected"),
    [
        ([-1, -1, -1, -1], 4, 1 / 64, "reproduced"),
        ([-1, 1, -1, -1], 3, 2 / 64, "reproduced"),
        ([-1, 1, -1, -1], 4, 1, "not reproduced"),
        ([-1, 1, -1, 1], 3, 1, "not reproduced"),
        ([-1, 1, -1, 1], 2, 3 / 64, "reproduced"),
    ],
)
def test_in_most_is_a_partial_conjunction(signs, count, p_value, expected):
    row = in_most(signs, count=count)
    assert row["p_value"] == pytest.approx(p_value)
    assert row["verdict"] == expected
    assert f"{count} of 4 must hold" in row["why"]
    assert row["effect"] == pytest.approx(0.5 if signs.count(-1) >= count else 1.5)


def test_in_most_asks_for_the_seeds_of_the_variant_that_is_missing():
    """Two of four hold and one ties for good: a second one must fail, and that is the noisy one."""
    rng = np.random.default_rng(5)
    new = {"v0": 1.0, "v1": 1.0, "v2": 2.0, "v3": 2.1 * np.exp(0.2 * rng.standard_normal(8))}

    def read(experiment, metric, method, variant, step):
        return pd.Series(np.full(8, 2.0) if method == "old" else np.full(8, new[variant]))

    claim = {"experiment": "main", "metric": "m", "a": "new", "against": ["old"], "count": 3}
    found = measures.in_most(claim | {"variants": list(new)}, read)
    noisy = measures.less(claim | {"b": "old", "variant": "v3"}, read)
    assert found.needs[1] == noisy.needs[1]
    assert found.needs[0][0] <= 0  # no number of seeds makes a third one hold
    assert found.needs[0][2] == 2
    assert verdicts.decide(found, 1.0, 1.0, 1)[1] > 8


def test_in_most_needs_a_count_of_the_variants():
    told = "count: expected 1 to 4 of the variants, got"
    for count in (0, 5, 2.5):
        with pytest.raises(ValueError, match=f"{told} {count}"):
            in_most([-1, 1, -1, -1], count=count)
    with pytest.raises(ValueError, match=r"at least 3 variants, got 2"):
        in_most([-1, -1], count=2)


@pytest.mark.parametrize(("ratio", "told"), [(2.5, True), (0.4, False)])
def test_why_a_claim_may_differ_is_told_with_an_adverse_verdict_only(ratio, told):
    results = FakeResults({"main": planted(np.random.default_rng(1), 10, ratio)})
    row = verdict(results, differs="z is not stated", shown_by="fig2")
    assert (row["differs"] == "z is not stated") == told
    assert (row["shown_by"] == "fig2") == told


def test_the_figure_that_shows_why_must_exist():
    config = paper([{"shown_by": "fig3"}])
    with pytest.raises(ValueError, match=r"shown_by: unknown figure 'fig3'"):
        claims.validate(config.claims, config)
