"""The workflow end to end: what runs, what runs again, and what survives a kill."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import psutil
import pytest

from tests.conftest import environment, plant

VOLATILE = ["started", "wall_s"]
TABLES = [
    f"results/smoke/toy/{experiment}/{table}.parquet"
    for experiment in ("search", "slow")
    for table in ("runs", "trace")
]
SLOW = TABLES[2:]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Two toy papers, built on two cores; tests copy it."""
    tree = plant(tmp_path_factory.mktemp("built") / "tree", ["toy", "toytwo"])
    tree.snakemake("--cores", "2", "--", "toy", "toytwo")
    return tree


@pytest.fixture
def copied(built, tmp_path):
    return built.copy(tmp_path / "tree")


def bits(tree, names=TABLES, dropped=VOLATILE):
    """Return tables without what two runs of a seed never share."""
    return [
        pd.read_parquet(tree.path / name).drop(columns=dropped, errors="ignore") for name in names
    ]


def assert_same_bits(left, right, **options):
    for one, other in zip(bits(left, **options), bits(right, **options), strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_build_makes_tables_figures_and_claims(built):
    for paper in ("toy", "toytwo"):
        folder = built.path / "figures/smoke" / paper
        assert {p.name for p in folder.iterdir()} == {
            "claims.csv",
            "fig1.csv",
            "fig1.pdf",
            "fig1.png",
        }
    runs = pd.read_parquet(built.path / TABLES[0])
    assert len(runs) == 16
    assert set(runs["status"]) == {"ok"}
    assert set(runs.groupby("method")["code"].nunique()) == {1}


def test_second_run_does_nothing(copied):
    done = copied.snakemake("--cores", "2", "--", "toy", "toytwo")
    assert "Nothing to be done" in done.stdout + done.stderr


def test_docstring_comment_and_layout_edits_rerun_nothing(copied):
    copied.edit("toy/algorithms.py", '"""Ask a uniformly', '"""Do ask a uniformly')
    copied.edit("toy/algorithms.py", "import numpy", "# a comment\n\n\nimport numpy")
    copied.edit("common/search/rng.py", '"""Named random', '"""Well named random')
    assert copied.outputs("toy", "toytwo") == []


def test_edit_of_a_method_reruns_its_runs_only(copied):
    copied.edit("toy/algorithms.py", "% 2", "% 3")
    before = bits(copied, dropped=[])
    blocks = [output for output in copied.outputs("toy", "toytwo") if "/blocks/" in output]
    assert len(blocks) == 2
    assert all("smoke/toy/search/" in block for block in blocks)
    copied.snakemake("--cores", "2", "--", "toy")
    log = next(copied.path.glob("results/smoke/toy/search/blocks/*.log")).read_text()
    assert "seed 0 done, 2 of 4 runs kept from an earlier one" in log
    for old, new in zip(before, bits(copied, dropped=[]), strict=True):
        uniform = [
            table[table["method"] == "uniform"].reset_index(drop=True) for table in (old, new)
        ]
        pd.testing.assert_frame_equal(*uniform, check_exact=True)
    assert copied.outputs("toy", "toytwo") == []


def test_a_new_method_or_variant_runs_only_itself(copied):
    copied.edit(
        "toy/study.py",
        '    "greedy": ',
        '    "twin": lambda *given: METHODS["greedy"](*given),\n    "greedy": ',
    )
    assert copied.outputs("toy", "toytwo") == []
    copied.edit("toy/experiments.yaml", "[uniform, greedy]", "[uniform, greedy, twin]")
    copied.edit(
        "toy/experiments.yaml",
        "      few: {}\n",
        "      few: {}\n      none: {methods: [uniform]}\n",
    )
    copied.snakemake("--cores", "2", "--", "toy")
    log = next(copied.path.glob("results/smoke/toy/search/blocks/*.log")).read_text()
    assert "seed 0 done, 4 of 7 runs kept from an earlier one" in log


def test_figure_edit_redraws_figures_only(copied):
    copied.edit("toy/figures.py", "axes.legend()", "axes.legend(loc=1)")
    outputs = copied.outputs("toy", "toytwo")
    assert len(outputs) == 1
    assert "figures/smoke/toy/fig1.png" in outputs[0]


def test_edit_of_shared_code_reruns_every_paper(copied):
    copied.edit("common/search/rng.py", "names = [paper, ", "names = [paper + '', ")
    outputs = copied.outputs("toy", "toytwo")
    assert sum("/blocks/" in output for output in outputs) == 6


def test_setting_edit_reruns_that_experiment_only(copied):
    copied.edit(
        "toy/experiments.yaml",
        "many: {problem_params: {n_points: 50",
        "many: {problem_params: {n_points: 60",
    )
    blocks = [output for output in copied.outputs("toy") if "/blocks/" in output]
    assert len(blocks) == 2
    assert all("/search/" in block for block in blocks)


def test_more_seeds_run_the_new_ones_only(copied):
    copied.edit(
        "toy/experiments.yaml", "smoke: {horizon: 3, seeds: 4", "smoke: {horizon: 3, seeds: 6"
    )
    blocks = [output for output in copied.outputs("toy") if "/blocks/" in output]
    assert len(blocks) == 1
    assert "seeds-004-005" in blocks[0]


def test_failed_rerun_does_not_leave_old_results_as_up_to_date(copied):
    copied.edit(
        "toy/algorithms.py", "return int(", "raise OSError(5, 'broken')\n        return int("
    )
    done = copied.snakemake("--cores", "2", "--", "toy", check=False)
    assert done.returncode == 1
    assert "python -m toy: broken" in done.stderr
    outputs = " ".join(copied.outputs("toy"))
    for part in ("/blocks/", "search/runs.parquet", "fig1.png", "claims.csv"):
        assert part in outputs


def test_one_core_gives_the_same_bits_as_two(built, tmp_path):
    tree = plant(tmp_path / "tree", ["toy"])
    tree.snakemake("--cores", "1", "--", *TABLES)
    assert_same_bits(built, tree)


def test_wrong_name_stops_before_anything_runs(toy_tree):
    toy_tree.edit("toy/experiments.yaml", "[uniform, greedy]", "[uniform, gredy]")
    done = toy_tree.snakemake("--dry-run", check=False)
    assert done.returncode == 1
    line = (
        "toy/experiments.yaml: experiments.search.methods: unknown method 'gredy'; "
        "did you mean 'greedy'? (valid: uniform, greedy)"
    )
    assert line in (done.stdout + done.stderr).splitlines()


def test_missing_bundled_file_stops_with_the_fix(toy_tree):
    name = "data/bundled/intel_lab/mote_locs.txt"
    toy_tree.edit("toy/study.py", "DATA = {}", f'DATA = {{"numbers": ["{name}"]}}')
    (toy_tree.path / name).unlink()
    done = toy_tree.snakemake("--dry-run", check=False)
    line = f"{name} is missing; restore it with: git checkout -- {name}"
    assert line in (done.stdout + done.stderr).splitlines()


def test_lint_finds_only_that_no_rule_names_a_conda_environment(toy_tree):
    done = toy_tree.snakemake("--lint", check=False)
    found = {line.strip() for line in done.stderr.splitlines() if line.strip().startswith("* ")}
    assert found <= {"* Specify a conda environment or container for each rule.:"}


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
def test_dry_run_of_every_scale(tmp_path, scale):
    tree = plant(tmp_path / "tree", ["mtbo"])
    done = tree.snakemake("--dry-run", scale=scale)
    assert "Job stats" in done.stdout + done.stderr


def start_and_kill_master(tree, part):
    """Start a run, wait for its first finished seed, kill Snakemake and leave its job alone."""
    words = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        "1",
        "--config",
        "scale=smoke",
        "--",
        "toy",
    ]
    with open(tree.path / "killed.log", "w") as log:
        master = subprocess.Popen(words, cwd=tree.path, env=environment(), stdout=log, stderr=log)
    while not list(tree.path.glob(part)):
        assert master.poll() is None, (tree.path / "killed.log").read_text()
        time.sleep(0.05)
    job = psutil.Process(master.pid).children(recursive=True)
    master.send_signal(signal.SIGKILL)
    master.wait()
    return job


def slowed(tree):
    """Let the slow experiment take its time, and run it first."""
    tree.edit("toy/experiments.yaml", "{pause: 0.0}", "{pause: 0.5}")
    return tree


def test_killed_snakemake_is_resumed_and_its_orphan_waited_for(built, toy_tree):
    orphans = start_and_kill_master(slowed(toy_tree), "results/smoke/toy/slow/parts/*.kept")
    for process in orphans:
        process.suspend()
    words = [sys.executable, "-m", "fivebo.common.reproduce", "smoke", "--cores", "2", *SLOW]
    log = toy_tree.path / "resumed.log"
    with open(log, "w") as file:
        resumed = subprocess.Popen(
            words, cwd=toy_tree.path, env=environment(), stdout=file, stderr=file
        )
    while "jobs of a killed run are still at work" not in log.read_text():
        assert resumed.poll() is None, log.read_text()
        time.sleep(0.05)
    assert "removing the lock" not in log.read_text()
    for process in orphans:
        process.resume()
    assert resumed.wait() == 0, log.read_text()
    assert "removing the lock" in log.read_text()
    assert_same_bits(built, toy_tree, names=SLOW, dropped=[*VOLATILE, "params", "code"])


def test_kill_of_everything_loses_no_finished_seed(built, toy_tree):
    orphans = start_and_kill_master(slowed(toy_tree), "results/smoke/toy/slow/parts/*.kept")
    for process in orphans:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    kept = {path: path.read_bytes() for path in toy_tree.path.glob("results/**/parts/*.kept")}
    done = toy_tree.run("-m", "fivebo.common.reproduce", "smoke", "--cores", "2", *SLOW)
    assert "still at work" not in done.stderr
    assert all(path.read_bytes().startswith(before) for path, before in kept.items())
    log = next(toy_tree.path.glob("results/smoke/toy/slow/blocks/*.log")).read_text()
    assert "kept from an earlier run" in log
    assert_same_bits(built, toy_tree, names=SLOW, dropped=[*VOLATILE, "params", "code"])


def test_lock_of_another_machine_or_a_living_run_is_respected(copied, tmp_path):
    locks = copied.path / ".snakemake/locks"
    locks.mkdir(exist_ok=True)
    (locks / "0.output.lock").write_text(str(copied.path / "x"))
    owner = copied.path / ".snakemake/owner.json"
    here = owner.read_text()
    owner.write_text('{"host": "elsewhere", "pid": 1}')
    done = copied.run("-m", "fivebo.common.reproduce", "smoke", "toy", check=False)
    assert done.returncode == 2
    assert "the machine elsewhere holds the lock" in done.stderr
    owner.write_text(here)
    (tmp_path / "snakemake").write_text("import time; time.sleep(60)")
    living = subprocess.Popen([sys.executable, tmp_path / "snakemake"], cwd=copied.path)
    try:
        done = copied.run("-m", "fivebo.common.reproduce", "smoke", "toy", check=False)
    finally:
        living.kill()
        living.wait()
    assert done.returncode == 2
    assert f"another run is at work in this folder (process {living.pid})" in done.stderr


def test_reproduce_refuses_what_cannot_work(toy_tree):
    done = toy_tree.run("-m", "fivebo.common.reproduce", "smok", check=False)
    assert done.returncode == 2
    assert "unknown scale or paper 'smok'; did you mean 'smoke'?" in done.stderr
    (toy_tree.path / "results").write_text("in the way")
    done = toy_tree.run("-m", "fivebo.common.reproduce", "smoke", check=False)
    assert done.returncode == 2
    assert "cannot write to" in done.stderr
    assert "chmod" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["figures/smoke/toy/fig9.png"], "unknown figure 'fig9'; did you mean 'fig1'?"),
        (["results/smoke/toy/serch/runs.parquet"], "unknown experiment 'serch'; did you mean"),
    ],
)
def test_an_unknown_file_as_target_is_one_line(toy_tree, words, message):
    done = toy_tree.run("-m", "fivebo.common.reproduce", "smoke", *words, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = toy_tree.snakemake("--cores", "1", "--", *words, check=False)
    assert done.returncode == 1
    assert message in done.stdout + done.stderr
    assert "KeyError" not in done.stderr


def test_one_paper_has_a_report_page_too(copied):
    done = copied.run("-m", "fivebo.common.reproduce", "smoke", "--cores", "2", "toy")
    assert done.stdout.splitlines()[-4:] == [
        "Report:  figures/smoke/index.html",
        "Claims:  figures/smoke/claims.csv",
        "Figures: figures/smoke/toy",
        "Figures: figures/smoke/toytwo",
    ]
    assert (
        "Looking for the largest number" in (copied.path / "figures/smoke/index.html").read_text()
    )


def test_interrupted_run_says_so_and_leaves_no_lock(toy_tree):
    slowed(toy_tree)
    words = [sys.executable, "-m", "fivebo.common.reproduce", "smoke", "--cores", "1", *SLOW]
    with open(toy_tree.path / "log", "w") as log:
        run = subprocess.Popen(
            words, cwd=toy_tree.path, env=environment(), stdout=log, stderr=log, process_group=0
        )
    while not list(toy_tree.path.glob("results/smoke/toy/slow/parts/*.kept")):
        assert run.poll() is None, (toy_tree.path / "log").read_text()
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait() != 0
    assert "finished seeds are kept" in (toy_tree.path / "log").read_text()
    assert not any((toy_tree.path / ".snakemake/locks").glob("*"))


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The real papers at the smallest scale, by the command that users type."""
    tree = plant(tmp_path_factory.mktemp("smoke") / "tree", ["mtbo"])
    tree.said = tree.run("-m", "fivebo.common.reproduce", "smoke", "--cores", "2").stdout
    return tree


def test_smoke_run_ends_by_saying_where_the_results_are(smoke):
    assert smoke.said.splitlines()[-3:] == [
        "Report:  figures/smoke/index.html",
        "Claims:  figures/smoke/claims.csv",
        "Figures: figures/smoke/mtbo",
    ]
    assert (smoke.path / "figures/smoke/index.html").stat().st_size > 10_000


def test_smoke_run_is_complete_and_stays_so(smoke):
    for path in smoke.path.glob("results/smoke/mtbo/*/runs.parquet"):
        assert set(pd.read_parquet(path)["status"]) == {"ok"}, path
    assert smoke.outputs() == []


def test_edit_of_a_real_baseline_reruns_the_experiments_that_have_it(smoke, tmp_path):
    tree = smoke.copy(tmp_path / "tree")
    tree.edit(
        "mtbo/baselines.py", "class MOBO(ScalarizedUCB):", "class MOBO(ScalarizedUCB, object):"
    )
    blocks = {output.split("/")[3] for output in tree.outputs() if "/blocks/" in output}
    tables = tree.path.glob("results/smoke/mtbo/*/runs.parquet")
    methods = {path.parent.name: set(pd.read_parquet(path)["method"]) for path in tables}
    assert blocks == {name for name, found in methods.items() if "mobo" in found}
