"""The whole contract, over every public optimiser class of every paper.

The classes are found here; what their problems are stands in tests/<paper>/cases.py.
"""

import copy
import importlib
import inspect
import json
import os
import pickle

import numpy as np
import pytest

from fivebo.common.lab.experiments import papers
from fivebo.common.names import load_module
from fivebo.common.search.journal import Journal
from fivebo.common.search.loop import optimize
from fivebo.common.search.optimizer import Optimizer

BAD_VALUES = (np.nan, np.inf, "high", 1j, [], None.__class__)
POWERS = (2.0**-40, 2.0**40)
"""Units near 1e-12 and 1e12 in which floats keep their bits: trajectories must be the same."""
TENS = (1e-12, 1e12)
"""Units in which rounding differs: trajectories must be the same to some digits."""


def classes():
    for paper in papers():
        module = load_module(paper)
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found) and issubclass(found, Optimizer):
                yield paper, name


CLASSES = list(classes())


def case_of(paper, name):
    return importlib.import_module(f"tests.{paper}.cases").CASES[name]


def every(wanted=lambda case: True):
    chosen = [c for c in CLASSES if wanted(case_of(*c))]
    return pytest.mark.parametrize(("paper", "name"), chosen, ids=[".".join(c) for c in chosen])


ALL = every()


def step(case, optimizer, **units):
    """One round of ask, evaluate and tell; return the query as asked."""
    query = optimizer.ask()
    kept = copy.deepcopy(query)
    done = case.complete(query)
    optimizer.tell(done, case.objective(copy.deepcopy(done), **units), query=kept)
    return kept


def walk(case, rounds=None, y_shift=0.0, make=None, **units):
    """Run some rounds; return the optimiser and the inputs asked for, in standard units."""
    optimizer = case.make(**units) if make is None else make
    asked = []
    for _ in range(case.rounds if rounds is None else rounds):
        query = optimizer.ask()
        done = case.complete(query)
        y = case.objective(copy.deepcopy(done), **units)
        optimizer.tell(done, y if not y_shift else np.asarray(y) + y_shift, query=query)
        x = np.asarray(case.inputs(query), dtype=float)
        asked.append((x - units.get("x_shift", 0.0)) / units.get("x_unit", 1.0))
    return optimizer, asked


def same(one, other, tolerance=0.0):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


@pytest.mark.parametrize("paper", papers())
def test_every_public_class_has_a_case(paper):
    cases = importlib.import_module(f"tests.{paper}.cases").CASES
    assert sorted(cases) == sorted(name for own, name in CLASSES if own == paper)


@pytest.mark.parametrize("paper", papers())
def test_whatever_asks_and_tells_keeps_the_contract(paper):
    module = load_module(paper)
    public = [getattr(module, name) for name in module.__all__]
    for found in public:
        if inspect.isclass(found) and hasattr(found, "ask") and hasattr(found, "tell"):
            assert issubclass(found, Optimizer), found


@ALL
def test_asking_twice_tells_nothing_new(paper, name):
    case = case_of(paper, name)
    optimizer = case.make()
    first = optimizer.ask()
    if not optimizer.parallel:
        same([case.inputs(first)], [case.inputs(optimizer.ask())])
        assert optimizer.room() == 0
    assert len(optimizer.pending) == 1
    step(case, optimizer)
    assert len(optimizer.told) == 1


@ALL
def test_the_same_seed_gives_the_same_search(paper, name):
    case = case_of(paper, name)
    np.random.seed(1)  # noqa: NPY002 (the global generator must stay as it is)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    one, asked = walk(case)
    other, again = walk(case)
    same(asked, again)
    assert one.result().equals(other.result())
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize("unit", POWERS)
@ALL
def test_units_of_y_and_of_x_do_not_matter(paper, name, unit):
    case = case_of(paper, name)
    _, plain = walk(case)
    for units in ({"y_unit": unit}, {"x_unit": unit}, {"x_unit": unit, "y_unit": 1 / unit}):
        _, asked = walk(case, **units)
        same(asked, plain, 1e-9)


@pytest.mark.parametrize("unit", TENS)
@ALL
def test_units_that_round_do_not_matter(paper, name, unit):
    case = case_of(paper, name)
    _, plain = walk(case)
    for units in ({"y_unit": unit}, {"x_unit": unit}):
        _, asked = walk(case, **units)
        same(asked, plain, 1e-3)


@ALL
def test_a_shift_of_x_does_not_matter(paper, name):
    case = case_of(paper, name)
    _, plain = walk(case)
    _, asked = walk(case, x_shift=8.0)
    same(asked, plain, 1e-3)


@every(lambda case: case.y_shifts)
def test_a_shift_of_y_does_not_matter_where_it_is_standardised(paper, name):
    case = case_of(paper, name)
    _, plain = walk(case)
    _, asked = walk(case, y_shift=1024.0)
    same(asked, plain, 1e-3)


@ALL
def test_pickles_and_copies_at_any_moment_go_on_alike(paper, name):
    case = case_of(paper, name)
    optimizer = case.make()
    for t in range(case.rounds):
        for pending in (False, True):
            if pending:
                optimizer.ask()
            for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
                original = copy.deepcopy(optimizer)
                same([case.inputs(step(case, twin))], [case.inputs(step(case, original))])
                same([case.inputs(twin.ask())], [case.inputs(original.ask())])
                assert twin.settings() == optimizer.settings()
        query = optimizer.pending[0].query if optimizer.pending else None
        assert query is not None, t
        asked = optimizer._public(query)
        done = case.complete(asked)
        optimizer.tell(done, case.objective(copy.deepcopy(done)), query=asked)


def spoil(value):
    """Change every array of a query in place, as far as it lets itself be changed."""
    if isinstance(value, tuple | list):
        for item in value:
            spoil(item)
    elif isinstance(value, np.ndarray):
        if value.flags.writeable:
            value *= 0
    elif hasattr(value, "__dict__"):
        for item in vars(value).values():
            spoil(item)


@ALL
def test_what_is_handed_out_and_taken_is_the_users_own(paper, name):
    case = case_of(paper, name)
    _, plain = walk(case)
    optimizer, asked = case.make(), []
    for _ in range(case.rounds):
        spoil(optimizer.ask()) if not optimizer.parallel else None
        query = optimizer.ask()
        asked.append(np.array(case.inputs(query), dtype=float))
        done = case.complete(copy.deepcopy(query))
        y = case.objective(copy.deepcopy(done))
        optimizer.tell(done, y, query=query)
        spoil(query), spoil(done), spoil(y)
    same(asked, plain)
    fresh, _ = walk(case)
    assert optimizer.result().equals(fresh.result())


@ALL
def test_an_objective_that_changes_its_argument_changes_nothing(paper, name):
    case = case_of(paper, name)

    def changing(done):
        y = case.objective(copy.deepcopy(done))
        spoil(done)
        return y

    options = {"progress": False, "environment": case.complete}
    found = optimize(case.make(), changing, case.rounds, **options)
    assert found.result().equals(walk(case)[0].result())


@ALL
def test_a_failure_is_kept_and_another_query_follows(paper, name):
    case = case_of(paper, name)
    optimizer, _ = walk(case, case.choices_from)
    for t in range(4):
        query = optimizer.ask()
        optimizer.tell(query, None)
        assert optimizer.n_told == case.choices_from + t
        assert not np.array_equal(case.inputs(optimizer.ask()), case.inputs(query))
        step(case, optimizer)
    status = optimizer.result()["status"]
    assert {"ok", "failed"} == set(status)
    assert len(optimizer.told) == case.choices_from + 8
    assert not optimizer.result().isna().all(axis=1).any()


@ALL
def test_a_search_that_only_fails_goes_on(paper, name):
    case = case_of(paper, name)
    optimizer = case.make()
    for _ in range(5):
        optimizer.tell(optimizer.ask(), None)
    with pytest.raises(ValueError, match=r"tell at least one"):
        optimizer.recommend()
    step(case, optimizer)
    optimizer.recommend()


@ALL
def test_a_query_taken_back_is_out_no_more(paper, name):
    case = case_of(paper, name)
    optimizer, _ = walk(case, 3)
    query = optimizer.ask()
    optimizer.withdraw(query)
    assert optimizer.pending == []
    with pytest.raises(ValueError, match="not pending"):
        optimizer.withdraw(query)
    step(case, optimizer)
    assert len(optimizer.told) == 4


@every(lambda case: case.other)
def test_a_point_told_beside_leaves_no_query_hanging(paper, name):
    case = case_of(paper, name)
    optimizer = case.make()
    for _ in range(4):
        optimizer.ask()
        done = case.other(optimizer)
        optimizer.tell(done, case.objective(copy.deepcopy(done)))
        assert optimizer.pending == []
    assert optimizer.n_told == 4


@every(lambda case: case.nearby)
def test_a_query_carried_out_nearby_is_answered(paper, name):
    case = case_of(paper, name)
    optimizer = case.make()
    asked = []
    for _ in range(case.rounds):
        query = optimizer.ask()
        done = case.complete(case.nearby(query))
        optimizer.tell(done, case.objective(copy.deepcopy(done)), query=query)
        assert optimizer.pending == []
        asked.append(np.asarray(case.inputs(query)).tobytes())
    assert len(set(asked)) > len(asked) / 2


@ALL
def test_bad_values_are_refused_and_change_nothing(paper, name):
    case = case_of(paper, name)
    optimizer, _ = walk(case, 2)
    query = optimizer.ask()
    done = case.complete(query)
    y = np.asarray(case.objective(copy.deepcopy(done)), dtype=float)
    before = pickle.dumps(optimizer)
    wrong = [*BAD_VALUES, np.ones((3, 3)), np.append(y.ravel(), 1.0), np.full(y.shape, np.nan)]
    for value in wrong:
        with pytest.raises((TypeError, ValueError)) as refused:
            optimizer.tell(done, value, query=query)
        assert len(str(refused.value)) < 400
        assert "\n" not in str(refused.value)
    for value in ("here", np.nan, 1j, object(), [], None, np.ones((2, 2, 2))):
        with pytest.raises((TypeError, ValueError)) as refused:
            optimizer.tell(value, y)
        assert "\n" not in str(refused.value)
    assert pickle.dumps(optimizer) == before


@ALL
def test_before_any_observation_nothing_is_recommended(paper, name):
    optimizer = case_of(paper, name).make()
    with pytest.raises(ValueError, match="tell"):
        optimizer.recommend()


@ALL
def test_looking_changes_nothing(paper, name):
    case = case_of(paper, name)
    _, plain = walk(case)
    optimizer, asked = case.make(), []
    for t in range(case.rounds):
        asked.append(np.array(case.inputs(step(case, optimizer)), dtype=float))
        optimizer.recommend(), optimizer.result(), optimizer.settings()
        if case.model and t + 1 == case.rounds // 2:
            copy.deepcopy(optimizer).ask()
    same(asked, plain)


@ALL
def test_the_posterior_is_a_mean_and_a_deviation(paper, name):
    case = case_of(paper, name)
    optimizer, _ = walk(case)
    query = optimizer.ask()
    if not case.model:
        with pytest.raises(TypeError, match="has no model"):
            optimizer.posterior()
        return
    points = query if hasattr(query, "representatives") else None
    try:
        mean, std = optimizer.posterior() if points is None else optimizer.posterior([points])
    except (TypeError, ValueError):  # a domain that is not finite
        mean, std = optimizer.posterior(np.atleast_2d(case.inputs(query)))
    assert mean.shape == std.shape
    assert np.isfinite(mean).all()
    assert (std >= 0).all()


@ALL
def test_settings_are_plain_and_tell_searches_apart(paper, name, tmp_path):
    case = case_of(paper, name)
    optimizer = case.make()
    told = optimizer.settings()
    assert json.loads(json.dumps(told)) == json.loads(json.dumps(case.make().settings()))
    assert len(json.dumps(told)) < 20_000
    changed = sorted(case.changes)
    other = case.make(**case.changes)
    assert sorted(key for key in told if told[key] != other.settings()[key]) == changed
    walk(case, make=optimizer)
    assert optimizer.settings() == told
    path, options = tmp_path / "run.jsonl", {"progress": False, "environment": case.complete}
    optimize(case.make(), case.objective, 2, path, **options)
    with pytest.raises(ValueError, match=f"other settings: {changed[0]} was"):
        optimize(other, case.objective, 4, path, **options)


@ALL
def test_a_journal_cut_anywhere_resumes_to_the_same_bits(paper, name, tmp_path):
    case = case_of(paper, name)
    path, options = tmp_path / "run.jsonl", {"progress": False, "environment": case.complete}
    failing = {3, 4}

    def objective(done):
        calls.append(1)
        if len(calls) + offset in failing:
            raise RuntimeError("failed")
        return case.objective(done)

    calls, offset = [], 0
    whole = optimize(case.make(), objective, case.rounds, path, **options)
    lines = path.read_text().splitlines(keepends=True)
    for cut in range(len(lines) + 1):
        half = lines[cut][: len(lines[cut]) // 2] if cut < len(lines) and cut % 2 else ""
        path.write_text("".join(lines[:cut]) + half)
        calls, offset = [], sum('"tell"' in line for line in lines[:cut])
        again = optimize(case.make(), objective, case.rounds, path, **options)
        assert again.result().equals(whole.result())
        assert len(calls) + offset == case.rounds
    same([case.inputs(again.ask())], [case.inputs(whole.ask())])


@ALL
def test_a_second_writer_is_refused(paper, name, tmp_path):
    case = case_of(paper, name)
    path, options = tmp_path / "run.jsonl", {"progress": False, "environment": case.complete}
    with Journal(path, case.make()) as log:
        log.begin_session()
        text = path.read_text()
        with pytest.raises(RuntimeError, match=f"being written by process {os.getpid()} on"):
            optimize(case.make(), case.objective, 2, path, **options)
        assert path.read_text() == text
    assert len(optimize(case.make(), case.objective, 2, path, **options).told) == 2


@ALL
def test_a_larger_budget_extends_and_a_smaller_number_of_rounds_is_a_part(paper, name, tmp_path):
    case = case_of(paper, name)
    options = {"progress": False, "environment": case.complete}
    longer = optimize(case.make(), case.objective, case.rounds, tmp_path / "a", **options)
    optimize(case.make(), case.objective, 3, tmp_path / "b", **options)
    extended = optimize(case.make(), case.objective, case.rounds, tmp_path / "b", **options)
    assert extended.result().equals(longer.result())


@ALL
def test_the_history_is_a_row_an_evaluation_in_order(paper, name):
    case = case_of(paper, name)
    optimizer, _ = walk(case)
    frame = optimizer.result()
    assert set(frame["status"]) == {"ok"}
    first = frame.columns[0]
    assert frame[first].is_monotonic_increasing
    assert frame[first].nunique() == case.rounds
    assert optimizer.fits == ("failed_fits" in frame)
    assert optimizer.fits == ("fits_at_limit" in frame)
    assert case.make().result().columns.equals(frame.columns)
