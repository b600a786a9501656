"""The command line: what it refuses, what it writes, and what a kill leaves."""

import json
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from fivebo.common import cli
from fivebo.common.lab.experiments import load_paper, load_study, papers
from fivebo.common.page.styles import style
from fivebo.common.referee import claims
from tests.conftest import environment, plant

COMMANDS = ("list", "run", "collect", "figure", "claims", "fidelity")
RUN = ["run", "--experiment", "search", "--scale", "smoke"]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("paper", papers())
@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_exist(paper, command, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(paper, [command, "--help"])
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert f"examples:\n  python -m {paper} {command}" in shown
    assert "KEY=VALUE --" not in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rum"], "unknown command 'rum'; did you mean 'run'?"),
        ([], "the following arguments are required: COMMAND; see python -m mtbo --help"),
        (["run"], "the following arguments are required: --experiment"),
        (["run", "--experiment", "fig1"], "unknown experiment 'fig1'; did you mean 'fig1f'?"),
        (["run", "--experiment", "fig1b", "--sed", "3"], "'--sed'; did you mean '--seeds'?"),
        (["run", "--experiment", "fig1b", "--seeds", "9-0"], "--seeds 9-0: '9-0' is no seed"),
        (["run", "--experiment", "fig1b", "--seeds", "-1"], "--seeds -1: '-1' is no seed"),
        (["run", "--experiment", "fig1b", "--method", "mt-kbb"], "did you mean 'mt-kb'?"),
        (["run", "--experiment", "fig1b", "--method", "MT-KB"], "'MT-KB'; did you mean 'mt-kb'?"),
        (["run", "--experiment", "Fig. 1b"], "unknown experiment 'Fig. 1b'; did you mean 'fig1b'?"),
        (["run", "--experiment", "fig1b", "--variant", "defalt"], "did you mean 'default'?"),
        (["run", "--experiment", "fig1b", "--set", "epsilom=1"], "did you mean 'epsilon'?"),
        (["run", "--experiment", "fig1b", "--horizon", "ten"], "invalid int value: 'ten'"),
        (["run", "--experiment", "fig1b", "--block", "seeds-1"], "unknown block 'seeds-1'"),
        (["list", "--scale", "quik"], "unknown scale 'quik'; did you mean 'quick'?"),
        (["figure", "figg1"], "unknown figure 'figg1'; did you mean 'fig1'?"),
        (["collect", "--experiment", "fig1bb"], "did you mean 'fig1b'?"),
    ],
)
def test_wrong_argument_is_one_line_and_exit_code_2(words, message, capsys):
    assert cli.main("mtbo", words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("python -m mtbo: ")
    assert message in said.err
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize("module", ["toy", "fivebo.toy"])
def test_a_checkout_has_two_names_and_answers_by_the_one_that_was_used(module, toy_tree):
    done = toy_tree.run("-m", module, "lst", check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"python -m {module}: unknown command 'lst'; did you mean 'list'")
    assert f"\n  python -m {module} list\n" in toy_tree.run("-m", module, "--help").stdout


def test_uncollected_results_are_one_line_with_the_fix(capsys):
    assert cli.main("mtbo", ["collect", "--experiment", "fig1b"]) == 1
    said = capsys.readouterr().err
    assert "is missing; make it with: snakemake results/quick/mtbo/fig1b/blocks/" in said
    assert len(said.splitlines()) == 1


def test_unforeseen_error_is_one_line_and_its_traceback_goes_to_a_file(
    monkeypatch, capsys, tmp_path
):
    def broken(args):
        """Break."""
        raise ArithmeticError("two\nlines")

    monkeypatch.setattr("fivebo.common.commands.list_command", broken)
    assert cli.main("mtbo", ["list"]) == 1
    line = "python -m mtbo: ArithmeticError: two lines (traceback in results/logs/mtbo-error.log)\n"
    assert capsys.readouterr().err == line
    assert "Traceback" in (tmp_path / "results/logs/mtbo-error.log").read_text()
    assert cli.main("mtbo", ["list", "--log", "own/run.log"]) == 1
    assert "Traceback" in (tmp_path / "own/run.log").read_text()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "no space left on the disk of x: free some"), "no space left on the disk"),
        (OSError(28, "No space left on device", "/x/y"), "/x/y; free space or change the rights"),
        (PermissionError(13, "Permission denied", "/x/y"), "Permission denied: /x/y"),
        (KeyboardInterrupt(), "finished seeds are kept"),
    ],
)
def test_expected_error_is_one_line(monkeypatch, capsys, error, message):
    def broken(args):
        """Break."""
        raise error

    monkeypatch.setattr("fivebo.common.commands.list_command", broken)
    assert cli.main("mtbo", ["list"]) in (1, 130)
    said = capsys.readouterr().err
    assert message in said
    assert "traceback" not in said
    assert len(said.splitlines()) == 1


def test_list_shows_experiments_and_settings(capsys):
    assert cli.main("mtbo", ["list"]) == 0
    shown = capsys.readouterr().out
    assert "fig1b" in shown
    assert "figures: fig1" in shown
    assert cli.main("mtbo", ["list", "fig1b", "--scale", "paper"]) == 0
    assert "eta=0.1" in capsys.readouterr().out


def tables(folder):
    return tuple(pd.read_parquet(folder / f"{name}.parquet") for name in ("runs", "trace"))


def test_run_writes_tables_and_a_summary(toy_tree):
    words = ["--method", "greedy", "--variant", "many", "--set", "eta=0.5", "--horizon", "4"]
    done = toy_tree.run("-m", "toy", *RUN, *words, "--seeds", "0-1,5", "--out", "mine")
    runs, trace = tables(toy_tree.path / "mine")
    assert sorted(runs["seed"]) == [0, 1, 5]
    assert set(runs["method"]) == {"greedy"}
    assert set(runs["variant"]) == {"many"}
    assert json.loads(runs["params"][0])["method"] == {"eta": 0.5}
    assert set(trace["step"]) == {1, 2, 3, 4}
    assert "average_regret" in done.stdout
    assert "tables: mine" in done.stdout
    assert done.stderr.splitlines()[0] == "search: seed 0 done (1/3)"


def test_run_pins_the_threads_and_leaves_them_pinned(toy_tree):
    code = "import toy.__main__"
    env = environment(OMP_NUM_THREADS="8", OPENBLAS_NUM_THREADS="8")
    words = ["-c", f"import sys; sys.argv[1:] = {[*RUN, '--seeds', '0', '--out', 'mine']}; {code}"]
    toy_tree.run(*words, env=env)
    assert set(tables(toy_tree.path / "mine")[0]["blas_threads"]) == {1}


def test_runs_of_other_settings_get_other_folders_and_the_workflow_is_left_alone(toy_tree):
    toy_tree.run("-m", "toy", *RUN, "--seeds", "0")
    toy_tree.run("-m", "toy", *RUN, "--seeds", "0", "--set", "eta=0.2")
    folders = list((toy_tree.path / "results/smoke/toy/adhoc").iterdir())
    assert len(folders) == 2
    assert [path.name for path in (toy_tree.path / "results/smoke/toy").iterdir()] == ["adhoc"]


def test_failed_run_is_a_row_and_is_tried_again(toy_tree):
    words = ["-m", "toy", *RUN, "--set", "faulty=true", "--seeds", "0", "--out", "mine"]
    done = toy_tree.run(*words, check=False)
    assert done.returncode == 1
    runs, trace = tables(toy_tree.path / "mine")
    assert set(runs["status"]) == {"failed"}
    assert set(runs["error"]) == {"ArithmeticError: the toy broke"}
    assert len(trace) == 0
    assert "4 of 4 runs failed" in done.stdout
    assert "kept" not in toy_tree.run(*words, check=False).stderr


def kept_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_killed_run_goes_on_from_its_finished_runs(toy_tree):
    words = ["-m", "toy", *RUN, "--seeds", "0-2", "--set", "pause=0.1"]
    whole = toy_tree.run(*words, "--out", "whole")
    assert "kept" not in whole.stderr
    process = subprocess.Popen(
        [sys.executable, *words, "--out", "cut"], cwd=toy_tree.path, stderr=subprocess.DEVNULL
    )
    while kept_lines(toy_tree.path / "cut/parts/runs.kept") < 5:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (toy_tree.path / "cut/runs.parquet").exists()
    resumed = toy_tree.run(*words, "--out", "cut")
    assert "seed 0 kept from an earlier run" in resumed.stderr
    assert re.search(r"seed 1 (done, \d of 4 runs )?kept from an earlier", resumed.stderr)
    pairs = zip(tables(toy_tree.path / "whole"), tables(toy_tree.path / "cut"), strict=True)
    for left, right in pairs:
        volatile = [name for name in ("started", "wall_s") if name in left]
        pd.testing.assert_frame_equal(
            left.drop(columns=volatile), right.drop(columns=volatile), check_exact=True
        )


def test_code_edit_runs_the_method_again_that_it_touches(toy_tree):
    words = ["-m", "toy", *RUN, "--seeds", "0", "--out", "mine"]
    toy_tree.run(*words)
    before = tables(toy_tree.path / "mine")[0].groupby("method")["code"].first()
    toy_tree.edit("toy/algorithms.py", "% 2", "% 3")
    assert "seed 0 done, 2 of 4 runs kept from an earlier one" in toy_tree.run(*words).stderr
    after = tables(toy_tree.path / "mine")[0].groupby("method")["code"].first()
    assert (before == after).to_dict() == {"greedy": False, "uniform": True}


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        (["--seeds", "0-2"], ["seed 0 kept", "seed 1 kept", "seed 2 done ("]),
        (["--seeds", "0-1", "--set", "n_points=30"], ["seed 0 done (", "seed 1 done ("]),
    ],
)
def test_what_is_new_is_all_that_runs(toy_tree, more, kept):
    words = ["-m", "toy", *RUN, "--out", "mine"]
    toy_tree.run(*words, "--seeds", "0-1")
    said = toy_tree.run(*words, *more).stderr
    assert all(f"search: {line}" in said for line in kept)


def test_a_new_method_or_variant_runs_only_itself(toy_tree):
    words = ["-m", "toy", *RUN, "--seeds", "0", "--out", "mine"]
    toy_tree.run(*words, "--method", "greedy", "--variant", "few")
    assert "done, 1 of 2 runs kept" in toy_tree.run(*words, "--variant", "few").stderr
    assert "done, 2 of 4 runs kept" in toy_tree.run(*words).stderr


def test_unwritable_folder_is_refused_before_anything_runs(toy_tree):
    (toy_tree.path / "mine").write_text("in the way")
    done = toy_tree.run("-m", "toy", *RUN, "--out", "mine", check=False)
    assert done.returncode == 1
    assert "cannot write to mine/parts" in done.stderr
    assert "choose --out" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_full_disk_is_one_line_and_keeps_finished_runs(toy_tree):
    full = (
        "            if path.read_bytes().count(b'\\n') == 5:\n"
        "                file.write(data[:20])\n"
        "                raise OSError(errno.ENOSPC, 'No space left on device')\n"
    )
    toy_tree.edit("common/files.py", "size = file.tell()\n", f"size = file.tell()\n{full}")
    words = ["-m", "toy", *RUN, "--seeds", "0-1", "--out", "mine"]
    done = toy_tree.run(*words, check=False)
    assert done.returncode == 1
    assert "no space left on the disk of mine/parts" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    kept = (toy_tree.path / "mine/parts/runs.kept").read_bytes()
    assert (kept.count(b"\n"), kept[-1:]) == (5, b"\n")
    toy_tree.edit("common/files.py", full, "")
    assert "seed 1 done, 1 of 4 runs kept" in toy_tree.run(*words).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "eta=2"], "greedy, variant few: eta 2.0 is too large"),
        (["--set", "eta=-1"], "eta must be > 0, got -1.0"),
    ],
)
def test_a_setting_that_every_seed_refuses_is_one_line_at_once(toy_tree, words, message):
    toy_tree.edit(
        "toy/study.py",
        '"greedy": lambda instance, params, horizon, streams: Greedy(',
        '"greedy": lambda instance, params, horizon, streams: _checked(params) and Greedy(',
    )
    toy_tree.edit(
        "toy/study.py",
        "METHODS = {",
        "def _checked(params):\n    if params.eta > 1:\n"
        "        raise ValueError(f'eta {params.eta} is too large')\n    return True\n\n\n"
        "METHODS = {",
    )
    done = toy_tree.run("-m", "toy", *RUN, *words, "--out", "mine", check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (toy_tree.path / "mine").exists()


def test_a_run_that_would_drop_runs_of_its_folder_is_refused(toy_tree):
    words = ["-m", "toy", *RUN, "--out", "mine"]
    toy_tree.run(*words, "--seeds", "0-2", "--method", "greedy")
    before = (toy_tree.path / "mine/runs.parquet").read_bytes()
    for fewer in (["--seeds", "0-1"], ["--seeds", "0-2", "--method", "uniform"]):
        done = toy_tree.run(*words, *fewer, check=False)
        assert done.returncode == 2
        assert "mine holds " in done.stderr
        assert "another folder with --out" in done.stderr
    assert (toy_tree.path / "mine/runs.parquet").read_bytes() == before


def test_damaged_data_stops_the_run_and_makes_no_row(toy_tree):
    name = "data/bundled/intel_lab/mote_locs.txt"
    toy_tree.edit("toy/study.py", "DATA = {}", f'DATA = {{"numbers": ["{name}"]}}')
    toy_tree.edit(name, "21.5", "21.6")
    done = toy_tree.run("-m", "toy", *RUN, "--out", "mine", check=False)
    assert done.returncode == 1
    assert f"restore it with: git checkout -- {name}" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (toy_tree.path / "mine/runs.parquet").exists()


@pytest.mark.parametrize("paper", papers())
def test_a_method_as_the_paper_spells_it_is_answered_with_its_name(paper, capsys):
    experiment = next(iter(load_paper(paper).experiments))
    for method in load_study(paper).METHODS:
        label = style(method).label
        if label != method:
            words = ["run", "--experiment", experiment, "--method", label]
            assert cli.main(paper, words) == 2
            assert f"did you mean {method!r}?" in capsys.readouterr().err


@pytest.mark.parametrize("paper", papers())
@pytest.mark.parametrize("command", ["figure", "claims"])
def test_without_results_every_missing_experiment_is_named_and_nothing_replaced(
    tmp_path, paper, command, capsys
):
    """In a fresh clone the committed figures and verdicts stay."""
    table = tmp_path / "figures/paper" / paper / "claims.csv"
    table.parent.mkdir(parents=True)
    table.write_text("committed")
    assert cli.main(paper, [command, "--scale", "paper"]) == 1
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "make them with: " in said
    config = load_paper(paper)
    shown = {name for figure in config.figures.values() for name in figure["experiments"]}
    claimed = {name for claim in config.claims for name in claims.experiments_of(claim)}
    for name in shown if command == "figure" else claimed:
        assert re.search(rf"[ ,]{name}[,;]", said)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [table]
    assert table.read_text() == "committed"


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """A tree with the collected results of the toy's experiment at the smoke scale."""
    tree = plant(tmp_path_factory.mktemp("collected") / "tree", ["toy"])
    for block in ("seeds-000-001", "seeds-002-003"):
        tree.run("-m", "toy", *RUN, "--block", block)
    tree.run("-m", "toy", "collect", "--experiment", "search", "--scale", "smoke")
    return tree


@pytest.mark.parametrize("command", [["figure", "fig1"], ["claims"]])
def test_results_with_fewer_runs_than_configured_are_refused(collected, tmp_path, command):
    tree = collected.copy(tmp_path / "tree")
    tree.run("-m", "toy", *command, "--scale", "smoke")
    files = {path: path.read_bytes() for path in tree.path.glob("figures/smoke/toy/*")}
    path = tree.path / "results/smoke/toy/search/runs.parquet"
    pd.read_parquet(path)[:-3].to_parquet(path)
    done = tree.run("-m", "toy", *command, "--scale", "smoke", check=False)
    assert done.returncode == 1
    assert "search (3 of 16 runs); make them with: snakemake --config scale=smoke" in done.stderr
    assert all(path.read_bytes() == old for path, old in files.items())


@pytest.mark.parametrize("command", [["figure", "fig1"], ["claims"]])
def test_runs_of_other_code_are_said(collected, tmp_path, command):
    tree = collected.copy(tmp_path / "tree")
    assert "other code" not in tree.run("-m", "toy", *command, "--scale", "smoke").stderr
    tree.edit("toy/algorithms.py", "% 2", "% 3")
    said = tree.run("-m", "toy", *command, "--scale", "smoke").stderr
    assert said == "note: made by other code than the present: search (greedy)\n"


def test_an_ablation_is_drawn_and_judged_beside_its_runs(collected, tmp_path):
    tree = collected.copy(tmp_path / "tree")
    words = ["--set", "n_points=9", "--seeds", "3-9", "--horizon", "5", "--variant", "few"]
    tree.run("-m", "toy", *RUN, *words, "--out", "mine")
    before = {path: path.read_bytes() for path in tree.path.glob("figures/**/*")}
    tree.run("-m", "toy", "figure", "--results", "mine", "--scale", "smoke")
    done = tree.run("-m", "toy", "claims", "--results", "mine", "--scale", "smoke")
    drawn = pd.read_csv(tree.path / "mine/figures/fig1.csv")
    assert sorted(set(drawn["step"])) == [1, 2, 3, 4, 5]
    verdicts = pd.read_csv(tree.path / "mine/figures/claims.csv")
    assert verdicts["n"].tolist() == [7]
    assert "1 of 1 claims are about mine" in done.stdout
    assert {path: path.read_bytes() for path in tree.path.glob("figures/**/*")} == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["figure", "fig1", "--results", "none"], "none: no runs.parquet in it"),
        (["figure", "fig1", "--results", "slow"], "no collected results of search; make them with:"
         " python -m toy run --experiment search --out slow/search"),
        (["figure", "--results", "twice"], "twice/a and twice/b both hold runs of slow"),
    ],
)  # fmt: skip
def test_results_that_cannot_be_read_are_one_line(toy_tree, words, message):
    run = ["-m", "toy", "run", "--experiment", "slow", "--seeds", "0", "--scale", "smoke"]
    for out in ("slow", "twice/a", "twice/b") if words[-1] != "none" else ():
        toy_tree.run(*run, "--out", out)
    done = toy_tree.run("-m", "toy", *words, "--scale", "smoke", check=False)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
