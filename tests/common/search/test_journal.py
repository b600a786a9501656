"""A journal resumes its own search to the same state, and refuses everything else in a line."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from fivebo.common.search.journal import Journal
from fivebo.common.search.loop import optimize
from tests.common.search.toys import Handful, Scatter, Walk
from tests.conftest import ROOT

GRID = np.linspace(0, 1, 11)


def f(x):
    return float(x.sum()) / 3


def fresh(seed=0, points=GRID):
    return Walk(points, rng=seed)


def resume(optimizer, budget, journal, objective=f, **options):
    return optimize(optimizer, objective, budget, journal, progress=False, **options)


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "run.jsonl"
    resume(fresh(), 4, path)
    return path


def test_the_file_holds_settings_who_was_at_work_and_two_lines_an_evaluation(journal):
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert lines[0] == {
        "journal": 2,
        "optimizer": "Walk",
        "settings": {"domain": GRID.tolist(), "rng": 0},
        "told_before": 0,
        "data_before": [],
    }
    assert lines[1]["session"]["pid"] == os.getpid()
    assert [set(line) for line in lines[2:]] == [{"ask", "query"}, {"tell", "y"}] * 4


@pytest.mark.parametrize("options", [{}, {"n_workers": 2}])
@pytest.mark.parametrize("kind", [Scatter, Handful])
def test_a_search_cut_at_any_byte_resumes_to_the_same_state(tmp_path, kind, options):
    path = tmp_path / "run.jsonl"

    def objective(x):
        if 0.4 < x[0, ...].max() < 0.5:
            raise ValueError("hot")
        return f(x) if kind is Scatter else x[:, 0]

    whole = resume(kind([[0.0, 1.0]]), 6, path, objective, **options)
    text = path.read_text()
    for cut in range(0, len(text) + 1, 3):
        path.write_text(text[:cut])
        again = resume(kind([[0.0, 1.0]]), 6, path, objective)
        asked = {e.query.tobytes() for e in again.told}
        assert asked == {e.query.tobytes() for e in whole.told}
        assert again.pending == []
        resume(kind([[0.0, 1.0]]), 6, path, lambda x: pytest.fail("evaluated again"))


def test_nothing_that_was_measured_of_a_batch_is_measured_again(tmp_path):
    path, seen = tmp_path / "run.jsonl", []

    def measure(batch):
        seen.extend(batch[:, 0])
        if len(seen) == 5:
            raise KeyboardInterrupt
        return batch[:, 0]

    with pytest.raises(KeyboardInterrupt):
        resume(Handful([[0.0, 1.0]]), 3, path, measure, n_workers=2)
    found = resume(Handful([[0.0, 1.0]]), 3, path, measure)
    assert len(found.told) == 3
    assert len(set(seen)) == 9
    assert len(seen) <= 11  # what was out when it was stopped is measured again, no more


def test_other_settings_are_refused_by_name_at_once(journal):
    with pytest.raises(ValueError, match=r"written with other settings: rng was 0, is 1\. Use"):
        resume(fresh(seed=1), 5, journal)
    with pytest.raises(ValueError, match=r"other settings: domain was .* is "):
        resume(fresh(points=GRID[:5]), 5, journal)


def test_another_class_or_version_is_refused(journal):
    with pytest.raises(ValueError, match="belongs to Walk, not to Scatter"):
        resume(Scatter([[0.0, 1.0]]), 5, journal)
    journal.write_text('{"optimizer": "Walk", "told_before": 0}\n')
    with pytest.raises(ValueError, match=r"another version .* to a fresh optimiser, and use a new"):
        resume(fresh(), 5, journal)


def test_data_told_before_must_be_told_first(tmp_path):
    def prepared(y=1.0):
        optimizer = fresh()
        optimizer.tell(0.3, y)
        return optimizer

    whole = resume(prepared(), 5, None).result()
    assert len(whole) == 6
    resume(prepared(), 2, tmp_path / "j")
    with pytest.raises(ValueError, match=r"begun after 1 observation.*build it anew and tell it"):
        resume(fresh(), 5, tmp_path / "j")
    with pytest.raises(ValueError, match="other observations told before: tell the same ones"):
        resume(prepared(2.0), 5, tmp_path / "j")
    assert resume(prepared(), 5, tmp_path / "j").result().equals(whole)


def test_an_optimiser_that_has_lived_is_not_resumed_twice(journal):
    used = resume(fresh(), 4, None)
    with pytest.raises(ValueError, match="has been told 4: build it anew"):
        resume(used, 5, journal)
    assert len(used.result()) == 4


def damaged(lines, how):
    return {
        "an answer missing": lambda: [*lines[:3], *lines[3:4] * 2, *lines[4:]],
        "a query missing": lambda: [*lines[:4], *lines[5:]],
        "a number": lambda: [*lines[:4], "5", *lines[4:]],
        "no step": lambda: [*lines[:4], '{"query": [0.1]}', *lines[5:]],
        "step of another": lambda: [*lines[:4], '{"ask": 7, "query": [0.1]}', *lines[5:]],
        "told twice": lambda: [*lines[:4], lines[3], *lines[4:]],
        "not JSON": lambda: [*lines[:4], "{", *lines[5:]],
        "no header": lambda: lines[1:],
    }[how]()


@pytest.mark.parametrize(
    "how",
    [
        *("an answer missing", "a query missing", "a number", "no step", "step of another"),
        *("told twice", "not JSON", "no header"),
    ],
)
def test_damage_is_named(journal, how):
    lines = damaged(journal.read_text().splitlines(), how)
    journal.write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(ValueError, match=r"journal .*run.jsonl is damaged \(.*restore or remove"):
        resume(fresh(), 6, journal)


def test_a_binary_file_is_damage(journal):
    journal.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is damaged"):
        resume(fresh(), 6, journal)


def test_a_query_that_is_asked_no_more_is_said(journal):
    text = journal.read_text()
    first = json.loads(text.splitlines()[2])["query"]
    other = next(x for x in GRID if x != first[0])
    journal.write_text(text.replace(json.dumps(first), json.dumps([float(other)]), 1))
    with pytest.raises(ValueError, match=r"holds query \[.*at evaluation 1, this optimiser asks"):
        resume(fresh(), 6, journal)


@pytest.mark.parametrize("whole", [True, False])
def test_the_last_line_is_kept_if_it_is_whole(journal, whole):
    text = journal.read_text().rstrip("\n")
    journal.write_text(text if whole else text[:-3])
    calls = []
    again = resume(fresh(), 4, journal, lambda x: calls.append(x) or f(x))
    assert len(calls) == (0 if whole else 1)
    assert again.result().equals(resume(fresh(), 4, None).result())


def test_an_equal_budget_adds_nothing_and_a_larger_one_extends(journal):
    text = journal.read_text()
    resume(fresh(), 4, journal)
    assert journal.read_text() == text
    assert len(resume(fresh(), 2, journal).result()) == 2
    longer = resume(fresh(), 6, journal).result()
    assert longer.equals(resume(fresh(), 6, None).result())


def hold(path, entered, leave):
    with Journal(path, fresh()) as log:
        log.begin_session()
        entered.set()
        leave.wait()


def test_a_second_writer_is_told_who_is_at_work(tmp_path):
    path, (entered, leave) = tmp_path / "run.jsonl", (multiprocessing.Event() for _ in range(2))
    first = multiprocessing.Process(target=hold, args=(path, entered, leave))
    first.start()
    try:
        assert entered.wait(20)
        with pytest.raises(RuntimeError, match=rf"is being written by process {first.pid} on "):
            resume(fresh(), 3, path)
    finally:
        leave.set()
        first.join()
    assert len(resume(fresh(), 3, path).told) == 3


def test_a_killed_writer_leaves_no_lock(tmp_path):
    script = (
        "import sys, time; from tests.common.search.test_journal import *\n"
        "resume(fresh(), 5, sys.argv[1], lambda x: time.sleep(0.2) or f(x))"
    )
    path = tmp_path / "run.jsonl"
    child = subprocess.Popen([sys.executable, "-c", script, str(path)], cwd=ROOT)
    while not path.exists() or path.read_text().count("tell") < 2:
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert resume(fresh(), 5, path).result().equals(resume(fresh(), 5, None).result())


def test_a_folder_that_is_not_there_is_said_and_the_home_folder_is_known(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"there is no folder .*none; create it first"):
        resume(fresh(), 2, tmp_path / "none" / "j")
    monkeypatch.setenv("HOME", str(tmp_path))
    resume(fresh(), 2, "~/run.jsonl")
    assert (tmp_path / "run.jsonl").exists()


def test_a_disk_that_fills_up_says_what_to_keep(journal, monkeypatch):
    optimizer = fresh()
    with Journal(journal, optimizer) as log:
        monkeypatch.setattr("builtins.open", _full)
        with pytest.raises(
            OSError, match=r"disk full.*make room.*by hand: \{\"tell\": 5, \"y\": 2"
        ):
            log.end(5, 2.5)


def _full(*args, **options):
    raise OSError(28, "No space left on device")


def edited(lines, n, **changes):
    return [*lines[:n], json.dumps(json.loads(lines[n]) | changes), *lines[n + 1 :]]


@pytest.mark.parametrize(
    "change",
    [
        *({"y": float("nan")}, {"y": "x"}, {"y": [1, 2]}, {"y": None}, {"tell": "1"}),
        *({"tell": [1]}, {"done": [5.0]}, {"done": "x"}),
    ],
)
def test_an_edit_that_no_search_wrote_is_damage(journal, change):
    journal.write_text("\n".join(edited(journal.read_text().splitlines(), 3, **change)) + "\n")
    text = journal.read_text()
    with pytest.raises(ValueError, match=r"run.jsonl is damaged \(.*restore or remove"):
        resume(fresh(), 6, journal)
    assert journal.read_text() == text


@pytest.mark.parametrize("part", [3, None, [], [1], [1, 0, 0], ["1", 0], [1, -1], [1, 7], [1, 0.5]])
def test_a_member_that_no_batch_has_is_damage(tmp_path, part):
    path = tmp_path / "run.jsonl"
    resume(Handful([[0.0, 1.0]]), 2, path, lambda x: x[:, 0], n_workers=2)
    lines = edited(path.read_text().splitlines(), 3, part=part)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match="is damaged"):
        resume(Handful([[0.0, 1.0]]), 3, path, lambda x: x[:, 0])


@pytest.mark.parametrize("change", [{"settings": []}, {"settings": None}, {"more": 1}])
def test_a_header_that_no_search_wrote_is_damage(journal, change):
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join(edited(lines, 0, **change)) + "\n")
    with pytest.raises(ValueError, match="line 1 is no header"):
        resume(fresh(), 6, journal)


@pytest.mark.parametrize("text", ["a note of mine", "\x00\x01", '{"x": 1}', "[1]"])
def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match="is damaged"):
        resume(fresh(), 2, path)
    assert path.read_text() == text


def test_an_editor_may_leave_blank_lines(journal):
    journal.write_text(journal.read_text().replace("\n", "\r\n\r\n"))
    assert len(resume(fresh(), 6, journal).told) == 6


@pytest.mark.parametrize("path", ["", True, 3, b"j", ".", "a\0b"])
def test_what_is_no_path_of_a_file_is_refused(path):
    with pytest.raises((TypeError, ValueError), match=r"journal must be the path of a file, got"):
        resume(fresh(), 2, path)


def test_a_link_has_the_lock_of_the_file_it_leads_to(journal):
    link = journal.with_name("link")
    link.symlink_to(journal)
    with Journal(journal, fresh()), pytest.raises(RuntimeError, match="is being written"):
        resume(fresh(), 6, link)
    assert len(resume(fresh(), 6, link).told) == 6
    assert link.is_symlink()
