"""The contract of the base class, on optimisers without a model; test_contract.py tries all."""

import copy
import json
import math
import pickle
import threading
from dataclasses import dataclass
from functools import cache, partial
from logging import getLogger

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process.kernels import RBF

from fivebo.common.search.plain import constructor_settings, described, plain
from tests.common.search.toys import Handful, Scatter, Walk

GRID = np.linspace(0, 1, 5)


def test_a_sequential_optimiser_asks_the_same_until_it_is_answered():
    walk = Walk(GRID)
    x = walk.ask()
    assert walk.ask() == x
    assert (walk.room(), len(walk.pending)) == (0, 1)
    walk.tell(x, 1.0)
    assert (walk.room(), walk.pending, walk.n_told) == (1, [], 1)
    assert walk.ask() != x
    with pytest.raises(ValueError, match="Walk hands out one query until it is told"):
        walk.ask(2)


def test_a_parallel_one_hands_out_new_ones_and_answers_come_in_any_order():
    scatter = Scatter([[0, 1]])
    first, second, third = scatter.ask(3)
    assert scatter.room() == math.inf
    scatter.tell(second, 2.0)
    scatter.tell(0.25, 7.0)  # not asked for, and more than one is out: all stay
    assert [a.query for a in scatter.pending] == [first, third]
    scatter.tell(third + 1e-3, 3.0, query=third)
    assert [a.query for a in scatter.pending] == [first]
    scatter.withdraw(first)
    assert scatter.pending == []
    assert scatter.result()["y"].tolist() == [2.0, 7.0, 3.0]


@pytest.mark.parametrize("kind", [Walk, Scatter])
def test_another_point_supersedes_the_only_query_that_is_out(kind):
    optimizer = kind(GRID if kind is Walk else [[0, 1]])
    for _ in range(4):
        asked = optimizer.ask()
        free = [x for x in GRID if x != asked[0] and x not in optimizer.result().get("x_1", [])]
        optimizer.tell(free[0], 1.0)
        assert optimizer.pending == []
    asked = optimizer.ask()
    optimizer.tell(asked + 1e-12, 1.0, query=asked)
    assert optimizer.pending == []


def test_an_answer_keeps_the_note_of_its_query():
    walk = Walk(GRID)
    x = walk.ask()
    walk.tell(x, 1.0)
    walk.tell(next(p for p in GRID if p != x), 1.0)
    assert [entry.note for entry in walk.told] == ["asked", None]


def test_failures_are_kept_and_passed_over_until_they_have_a_value():
    walk = Walk(GRID)
    x = walk.ask()
    walk.tell(x, None)
    assert (walk.n_told, len(walk.told), walk.pending) == (0, 1, [])
    asked = set()
    for _ in range(4):
        query = walk.ask()
        asked.add(float(query[0]))
        walk.tell(query, 0.0)
    assert asked == set(GRID) - set(x)
    walk.tell(x, 5.0)
    assert walk.failed == []
    assert walk.recommend() == x
    frame = walk.result()
    assert frame["status"].tolist() == ["failed", *["ok"] * 5]
    assert math.isnan(frame["y"][0])


def test_bad_answers_change_nothing():
    walk = Walk(GRID)
    x = walk.ask()
    before = pickle.dumps(walk)
    for y, error in (
        (np.nan, ValueError),
        ("1", TypeError),
        ([1, 2], ValueError),
        ([], ValueError),
    ):
        with pytest.raises(error, match=r"evaluation 1 at \[.*tell\(query, None\)"):
            walk.tell(x, y)
    with pytest.raises(ValueError, match="not one of"):
        walk.tell(0.3, 1.0)
    with pytest.raises(ValueError, match=r"query .* is not pending; pending are \["):
        walk.tell(x, 1.0, query=next(p for p in GRID if p != x))
    with pytest.raises(ValueError, match="not pending"):
        walk.withdraw(next(p for p in GRID if p != x))
    assert pickle.dumps(walk) == before
    with pytest.raises(ValueError, match="no observation yet"):
        walk.recommend()
    with pytest.raises(TypeError, match="Walk has no model"):
        walk.posterior()


@pytest.mark.parametrize("renew", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_copies_go_on_alike(renew):
    optimizer = Scatter([[0, 1]], rng=3)
    optimizer.tell(optimizer.ask(), 1.0)
    optimizer.ask()
    twin = renew(optimizer)
    assert twin.settings() == optimizer.settings()
    for _ in range(3):
        query = optimizer.ask()
        assert np.array_equal(query, twin.ask())
        optimizer.tell(query, 1.0)
        twin.tell(query, 1.0)
    assert twin.result().equals(optimizer.result())


def test_settings_are_the_arguments_and_tell_differences():
    assert Scatter([[0, 1]]).settings() == {"domain": [[0, 1]], "rng": 0}
    assert Handful([[0, 1]], rng=2).settings() == {"domain": [[0, 1]], "batch": 3, "rng": 2}
    generators = [np.random.default_rng(s) for s in (0, 0, 1)]
    told = [Scatter([[0, 1]], rng=rng).settings() for rng in generators]
    assert told[0] == told[1] != told[2]
    with pytest.raises(TypeError, match="missing"):
        Scatter()


@dataclass
class Choice:
    size: int = 3


class Holder:
    def __init__(self, what=None, **options):
        self.what = what


def twice(x):
    return 2 * x


def settings_with(value):
    return constructor_settings(Holder, (value,), {})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, 2.0),
        (np.arange(100), np.arange(1, 101)),
        (np.arange(3), np.arange(4)),
        (Choice(), Choice(4)),
        (RBF(0.1), RBF(0.2)),
        (Holder(1), Holder(2)),
        ([1, (2, {"a": 3})], [1, (2, {"a": 4})]),
        (twice, len),
        (lambda h: 2.0**-h, lambda h: 3.0**-h),
        (lambda h: h + 2, lambda h: h * 2),
        ([lambda h, s=s: s * h for s in (1,)], [lambda h, s=s: s * h for s in (2,)]),
        (partial(twice, x=1), partial(twice, x=2)),
        (Holder(1).__init__, Holder(2).__init__),
        (Choice, Holder),
    ],
)
def test_settings_tell_values_apart_and_know_equal_ones(one, other):
    assert settings_with(one) != settings_with(other)
    assert settings_with(one) == settings_with(copy.deepcopy(one))
    assert settings_with(one).keys() == {"what"}


def test_closures_are_told_apart_by_what_they_enclose():
    def width(scale):
        return lambda h: scale * h

    assert settings_with(width(1.0)) != settings_with(width(2.0))
    assert settings_with(width(1.0)) == settings_with(width(1.0))


def test_plain_data_keep_every_bit():
    import json

    value = {"a": (np.float64(0.1) * 3, np.arange(2)), "b": Choice()}
    assert json.loads(json.dumps(plain(value))) == {"a": [0.1 * 3, [0, 1]], "b": {"size": 3}}


def test_a_shallow_copy_shares_nothing():
    walk = Walk(GRID)
    walk.tell(walk.ask(), 1.0)
    twin = copy.copy(walk)
    twin.tell(twin.ask(), 2.0)
    assert (len(walk.told), len(twin.told)) == (1, 2)


def test_settings_are_handed_out_as_a_copy():
    walk = Walk(GRID, rng=3)
    walk.settings()["rng"] = 4
    walk.settings()["domain"][0] = 7
    assert walk.settings() == Walk(GRID, rng=3).settings()


def test_a_shared_generator_is_told_from_a_fresh_one():
    rng = np.random.default_rng(0)
    first, second = Walk(GRID, rng=rng).settings(), Walk(GRID, rng=rng).settings()
    assert first != second
    assert first == Walk(GRID, rng=np.random.default_rng(0)).settings()


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class Logged:
    def __init__(self, a):
        self.a, self.log, self.lock, self.own = a, getLogger("x"), threading.Lock(), self.f

    def f(self, h):
        return self.a * h


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda h: sum(1 for _ in range(h)), lambda h: sum(2 for _ in range(h))),
        (lambda h: (lambda z: z + 1)(h), lambda h: (lambda z: z + 2)(h)),
        (cache(lambda h: 1), cache(lambda h: 2)),
        (Slotted(1), Slotted(2)),
        (Logged(1).f, Logged(2).f),
        (np.sin, np.cos),
        (np.random.RandomState(0), np.random.RandomState(1)),
        (pd.DataFrame({"x": [1.0, 2.0]}), pd.DataFrame({"x": [1.0, 3.0]})),
        (pd.Series(np.arange(90.0)), pd.Series(np.arange(90.0) + (np.arange(90) == 40))),
        (frozenset("abc"), frozenset("abd")),
        (list(range(100)), list(range(101))),
        (np.array(["a", "b"]), np.array(["a", "c"])),
    ],
)
def test_settings_tell_apart_what_no_repr_does(one, other):
    assert described(one) != described(other)
    assert "0x" not in json.dumps(described(one))
    assert described(one) == described(copy.deepcopy(one) if not callable(one) else one)


def test_a_table_is_described_by_its_numbers_and_a_module_by_its_name():
    table = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    assert described(table) == [[1.0, 3.0], [2.0, 4.0]]

    def made():
        import math as inner

        return lambda h: inner.sqrt(h)

    assert described(made())["with"] == ["math"]
    assert described(np.longdouble(0.5)) == 0.5
    assert described({3, 1, 2}) == [1, 2, 3]


@pytest.mark.parametrize(
    "value", [np.longdouble(0.5), pd.DataFrame([[0.5, 2.0]]), range(3), np.ones(2, np.longdouble)]
)
def test_whatever_holds_numbers_can_be_written(value):
    np.testing.assert_array_equal(json.loads(json.dumps(plain(value))), np.asarray(value))
