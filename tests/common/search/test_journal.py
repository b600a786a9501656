"""A journal resumes its own optimiser to the same state, and refuses everything else in a line."""

import json

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from fivebo.common.search.loop import optimize
from fivebo.mtbo import ICM, MOBO, MTKB, ChebyshevScalarization, DiagonalKernel

X = np.linspace(0, 1, 11)
S = ChebyshevScalarization([-2.0, -2.0])


def fresh(seed=0, points=X):
    kernel = ICM(RBF(0.2), [[1, 0.7], [0.7, 1]])
    return MTKB(points, kernel, S, b=2.0, noise_std=0.1, rng=seed)


def f(x):
    return np.array([np.sin(6 * x[0]), np.cos(4 * x[0])])


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "run.jsonl"
    optimize(fresh(), f, 4, path, progress=False)
    return path


def test_the_file_holds_a_header_and_two_lines_an_evaluation(journal):
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert lines[0] == {"optimizer": "MTKB", "told_before": 0}
    assert [set(line) for line in lines[1:]] == [{"step", "query"}, {"step", "y"}] * 4


def test_an_optimiser_that_has_lived_is_not_resumed_twice(journal):
    used = optimize(fresh(points=[[0.5]]), f, 3, journal.with_name("one.jsonl"), progress=False)
    with pytest.raises(ValueError, match="has been told 3: build a fresh one"):
        optimize(used, f, 5, journal.with_name("one.jsonl"), progress=False)
    assert len(used.result()) == 3


def test_data_told_before_do_not_count(tmp_path):
    def prepared():
        optimizer = fresh()
        optimizer.tell(0.3, [1.0, 1.0])
        return optimizer

    whole = optimize(prepared(), f, 5, progress=False).result()
    assert len(whole) == 6
    optimize(prepared(), f, 2, tmp_path / "j", progress=False)
    assert optimize(prepared(), f, 5, tmp_path / "j", progress=False).result().equals(whole)


def test_another_class_is_refused(journal):
    other = MOBO(X, DiagonalKernel([RBF(0.2)] * 2), S)
    with pytest.raises(ValueError, match="belongs to MTKB, not to MOBO"):
        optimize(other, f, 5, journal, progress=False)


def damaged(lines, how):
    if how == "an answer missing":
        return lines[:4] + lines[5:]
    if how == "a query missing":
        return lines[:3] + lines[4:]
    if how == "a number":
        return [*lines[:3], "5", *lines[3:]]
    if how == "no step":
        return [*lines[:3], '{"query": [0.1]}', *lines[4:]]
    if how == "step is text":
        return [*lines[:3], '{"step": "2", "query": [0.1]}', *lines[4:]]
    if how == "not JSON":
        return [*lines[:3], "{", *lines[4:]]
    if how == "no header":
        return lines[1:]
    raise AssertionError(how)


@pytest.mark.parametrize(
    "how",
    [
        "an answer missing",
        "a query missing",
        "a number",
        "no step",
        "step is text",
        "not JSON",
        "no header",
    ],
)
def test_damage_is_named(journal, how):
    lines = damaged(journal.read_text().splitlines(), how)
    journal.write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(ValueError, match=r"journal .*run.jsonl is damaged \(.*restore or remove"):
        optimize(fresh(), f, 6, journal, progress=False)


def test_a_binary_file_is_damage(journal):
    journal.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is damaged"):
        optimize(fresh(), f, 6, journal, progress=False)


@pytest.mark.parametrize("whole", [True, False])
def test_the_last_line_is_kept_if_it_is_whole(journal, whole):
    text = journal.read_text().rstrip("\n")
    journal.write_text(text if whole else text[:-3])
    calls = []
    again = optimize(fresh(), lambda x: calls.append(x) or f(x), 4, journal, progress=False)
    assert len(calls) == (0 if whole else 1)
    assert again.result().equals(optimize(fresh(), f, 4, progress=False).result())
    optimize(fresh(), f, 4, journal, progress=False)  # and the file is whole again


def test_budgets(journal):
    assert len(optimize(fresh(), f, np.int64(2), journal, progress=False).result()) == 2
    for budget in (-1, True, 2.5, "3", None):
        with pytest.raises(ValueError, match="budget must be an integer >= 0"):
            optimize(fresh(), f, budget, progress=False)


def test_a_journal_that_cannot_be_written_says_how_to_go_on(tmp_path):
    with pytest.raises(OSError, match=r"cannot write to journal .* append this line"):
        optimize(fresh(), f, 2, tmp_path / "none" / "j", progress=False)
