"""experiments.yaml: what it resolves to, and how each mistake in it is answered."""

import json
import re
import shutil

import pytest

import fivebo
from fivebo.common.lab.experiments import SCALES, load_paper, load_study, papers
from fivebo.common.names import load_module
from tests.conftest import ROOT

TOY = ROOT / "tests"


@pytest.fixture(autouse=True)
def _toy_is_importable(monkeypatch):
    monkeypatch.setattr(fivebo, "__path__", [str(TOY), *fivebo.__path__])


@pytest.fixture
def search():
    return load_paper("toy", "smoke", TOY).experiments["search"]


@pytest.mark.parametrize("paper", papers())
@pytest.mark.parametrize("scale", SCALES)
def test_papers_of_the_repository_are_valid(paper, scale):
    config = load_paper(paper, scale)
    shown = {name for figure in config.figures.values() for name in figure["experiments"]}
    assert shown <= set(config.experiments)
    for module, function in map(config.drawing, config.figures):
        assert callable(getattr(load_module(module), function))
    for experiment in config.experiments.values():
        assert json.loads(experiment.key())["experiment"] == experiment.name
        assert sum(len(seeds) for _, seeds in experiment.blocks()) == experiment.seeds


def test_scales_override_sizes_only(search):
    paper = load_paper("toy", "paper", TOY)
    assert (search.horizon, search.seeds, search.scale) == (3, 4, "smoke")
    full = paper.experiments["search"]
    assert (full.horizon, full.seeds, full.scale) == (6, 6, "paper")
    assert paper.at("smoke").experiments["search"] == search
    assert full.settings == search.settings


def test_defaults_and_variants_are_merged(search):
    assert search.variants == ("few", "many")
    assert search.params("many") == {"eta": 0.1}
    assert search.problem_params("few") == {}
    assert search.problem_params("many") == {"n_points": 50}
    assert search.methods("few") == search.method_names == ("uniform", "greedy")
    assert load_paper("toy", "smoke", TOY).experiments["slow"].metrics == ("average_regret",)


def test_blocks_cover_the_seeds_once(search):
    assert search.blocks() == [("seeds-000-001", range(2)), ("seeds-002-003", range(2, 4))]


def test_expected_keys_name_every_run(search):
    keys = search.expected_keys()
    assert len(keys) == len(set(keys)) == 2 * 2 * 4
    assert keys[0] == ("toy", "search", "numbers", "uniform", "few", 0)
    assert search.expected_keys([7])[0][-1] == 7


def test_key_ignores_the_number_of_seeds_and_sees_all_else(search):
    full = load_paper("toy", "paper", TOY).experiments["search"]
    assert json.loads(full.key()).keys() == json.loads(search.key()).keys()
    assert full.select(horizon=3).key() == search.key()
    changed = search.select(overrides=["eta=0.2"])
    assert changed.key() != search.key()
    assert search.select(methods=["greedy"]).key() != search.key()


def test_select_types_the_overrides(search):
    texts = ["eta=1e-2", "rule=fancy", "weights=[1, 2, 3]", "limit=4", "n_points=9", "pause=1"]
    chosen = search.select(overrides=texts, variants=["many"], methods=["greedy"])
    assert chosen.variants == ("many",)
    assert chosen.methods("many") == ("greedy",)
    assert chosen.params("many") == {
        "eta": 0.01,
        "rule": "fancy",
        "weights": (1.0, 2.0, 3.0),
        "limit": 4,
    }
    assert chosen.problem_params("many") == {"n_points": 9, "pause": 1.0}
    assert search.select(overrides=["limit=null"]).params("few")["limit"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("eta", "expected key=value"),
        ("etta=1", "unknown setting 'etta'; did you mean 'eta'?"),
        ("n_point=3", "did you mean 'n_points'?"),
        ("eta=small", "--set eta: expected a number, got 'small'"),
        ("eta=-1", "eta must be > 0, got -1.0"),
        ("eta=nan", "expected a number"),
        ("eta=true", "expected a number, got True"),
        ("rounds=1.5", "--set rounds: expected an integer, got 1.5"),
        ("rule=plan", "unknown value 'plan'; did you mean 'plain'?"),
        ("weights=3", "expected a list such as [1, 2], got 3"),
        ("faulty=maybe", "expected true or false, got 'maybe'"),
        ("weights=[1", "not a valid value"),
    ],
)
def test_wrong_override_is_answered(search, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        search.select(overrides=[text])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["gredy"]}, "unknown method 'gredy'; did you mean 'greedy'?"),
        ({"variants": ["fev"]}, "unknown variant 'fev'; did you mean 'few'?"),
        ({"horizon": 0}, "--horizon must be at least 1, got 0"),
    ],
)
def test_wrong_selection_is_answered(search, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        search.select(**options)


SEARCH = "experiments.search"

MISTAKES = [
    ("horizon: 6", "horizn: 6", SEARCH, "unknown key 'horizn'; did you mean 'horizon'?"),
    ("horizon: 6", "horizon: 0", f"{SEARCH}.horizon", "0 is less than the minimum of 1"),
    ("horizon: 6", "horizon: six", f"{SEARCH}.horizon", "'six' is not of type 'integer'"),
    ("    seeds: 6\n", "", SEARCH, "missing seeds"),
    ("{smoke: ", "{smok: ", f"{SEARCH}.scales", "unknown key 'smok'; did you mean 'smoke'?"),
    (
        *("problem: numbers", "problem: number", f"{SEARCH}.problem"),
        "unknown problem 'number'; did you mean 'numbers'?",
    ),
    (
        *("[uniform, greedy]", "[uniform, gredy]", f"{SEARCH}.methods"),
        "unknown method 'gredy'; did you mean 'greedy'?",
    ),
    (
        *("[instant_regret,", "[instant_regre,", f"{SEARCH}.metrics"),
        "unknown metric 'instant_regre'; did you mean 'instant_regret'?",
    ),
    (
        *("n_points: 50", "n_point: 50", f"{SEARCH}.variants.many.problem_params"),
        "unknown setting 'n_point'; did you mean 'n_points'?",
    ),
    (
        *("n_points: 50", "n_points: 1.5", f"{SEARCH}.variants.many.problem_params.n_points"),
        "expected an integer, got 1.5",
    ),
    (
        *("eta: 0.1", "eta: 1e-3", f"{SEARCH}.params.eta"),
        "YAML reads 1e-3 as text; write 0.001 or 1.0e-3",
    ),
    ("eta: 0.1", "eta: -1", f"{SEARCH}.params", "eta must be > 0, got -1.0"),
    ("eta: 0.1", "eta: 0.1, eta: 0.2", "not valid YAML", "key 'eta' stands twice"),
    (
        *("experiments: [search]", "experiments: [serch]", "figures.fig1.experiments"),
        "unknown experiment 'serch'; did you mean 'search'?",
    ),
    ("fig1: {", "claims: {", "figures", "'claims' should not be valid"),
    (
        *("seeds: 4, ", "variants: [fev], ", f"{SEARCH}.scales.smoke.variants"),
        "unknown variant 'fev'; did you mean 'few'?",
    ),
    ("paper: toy", "paper: toi", "paper", "unknown paper 'toi'; did you mean 'toy'?"),
    ("paper: toy", "paper: [toy", "not valid YAML", "expected"),
]


@pytest.mark.parametrize(("old", "new", "place", "message"), MISTAKES)
def test_mistake_in_the_file_is_answered_in_one_line(tmp_path, old, new, place, message):
    text = (TOY / "toy/experiments.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/experiments.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        load_paper("toy", "smoke", tmp_path)
    assert str(caught.value).startswith(f"toy/experiments.yaml: {place}: ")
    assert "\n" not in str(caught.value)


def test_unknown_paper_and_scale_are_answered(tmp_path):
    shutil.copytree(TOY / "toy", tmp_path / "toy")
    with pytest.raises(ValueError, match="unknown paper 'toi'; did you mean 'toy'"):
        load_paper("toi", "smoke", tmp_path)
    with pytest.raises(ValueError, match="unknown scale 'quik'; did you mean 'quick'"):
        load_paper("toy", "quik", tmp_path)
    with pytest.raises(ValueError, match="unknown scale 'quik'"):
        load_paper("toy", "quick", tmp_path).at("quik")


@pytest.mark.parametrize("paper", papers())
def test_no_setting_of_a_problem_hides_one_of_the_methods(paper):
    study = load_study(paper)
    from fivebo.common.lab.settings import field_types

    for problem in study.PROBLEMS.values():
        assert not set(field_types(problem)) & set(field_types(study.Params))
