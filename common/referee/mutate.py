"""Runs the tests against each mutant of `mutants` and lists the changes that none notices.

``python -m fivebo.common.referee.mutate --help``.
"""

import argparse
import contextlib
import io
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from tqdm import tqdm

from fivebo.common.files import ROOT, SurroundingsError
from fivebo.common.lab.experiments import papers
from fivebo.common.referee.citations import pinned_rows
from fivebo.common.referee.fidelity import load
from fivebo.common.referee.mutants import KINDS, Mutant, mutants_of

TIMEOUT_S = 180
SLOW_IMPORTS = ("numpy", "scipy.stats", "scipy.optimize", "pandas", "sklearn.gaussian_process")
SLOW_IMPORTS += ("hypothesis", "hypothesis.extra.numpy", "matplotlib", "yaml", "pytest")


@dataclass(frozen=True)
class Trial:
    """What became of a mutant.

    Parameters
    ----------
    mutant : Mutant
    rows : tuple of str
        Ids of the fidelity rows that bind the changed code.
    fate : {"killed", "survived", "untried"}
        Untried: no test names the code.
    """

    mutant: Mutant
    rows: tuple
    fate: str


def mutate(paper, root=ROOT, kinds=KINDS, only="", n_jobs=1, progress=True):
    """Try every mutant of a paper.

    Parameters
    ----------
    paper : str
    root : path-like, optional
        Repository root.
    kinds : iterable of str, optional
        Some of `fivebo.common.referee.mutants.KINDS`.
    only : str, optional
        Regular expression that file and owner must match, such as ``theory.py.*radius``.
    n_jobs : int, optional
        Processes at a time.
    progress : bool, optional

    Returns
    -------
    list of Trial

    Raises
    ------
    ValueError
        The tests of a module fail on the code as it is, so that they would kill every mutant.

    Notes
    -----
    Each mutant has a folder of links to the repository in which only the paper is a copy, and a
    process of its own, forked from one that has the libraries loaded. The tests that pin its rows
    come first; if they pass, all test files of the paper that name the module.
    """
    root = Path(root).resolve()
    jobs = [(root, m, rows, nodes) for m, rows, nodes in _plan(paper, root, kinds, only)]
    for name in SLOW_IMPORTS:
        __import__(name)
    with multiprocessing.get_context("fork").Pool(n_jobs, maxtasksperchild=1) as pool:
        for trial in pool.imap(_try, _unchanged(jobs)):
            if trial.fate == "killed":
                raise ValueError(
                    f"the tests of {trial.mutant.path} fail without any change: mend them first"
                )
        shown = tqdm(
            pool.imap(_try, jobs, chunksize=1), paper, len(jobs), disable=None if progress else True
        )
        return list(shown)


def _plan(paper, root, kinds, only):
    """Yield (mutant, rows that bind it, lists of tests to run in turn)."""
    rows, pinned = load(paper, root), pinned_rows(paper, root)
    texts = {p: p.read_text(encoding="utf-8") for p in root.glob(f"tests/{paper}/test_*.py")}
    for path in sorted((root / paper).glob("*.py")):
        module = f"{paper}.{path.stem}"
        named = re.compile(rf"\b{re.escape(path.stem)}\b")
        files = [p.relative_to(root).as_posix() for p, text in texts.items() if named.search(text)]
        bound = [
            (name.partition(":")[2], row)
            for row in rows
            for name in row.code
            if name.partition(":")[0] == module
        ]
        exact = {name for name, row in bound if row.status == "exact"}
        relative = path.relative_to(root).as_posix()
        for mutant in mutants_of(relative, path.read_text(encoding="utf-8"), exact):
            if mutant.kind in kinds and re.search(only, f"{mutant.path} {mutant.owner}"):
                ids = tuple(
                    row.id for name, row in bound if f"{mutant.owner}.".startswith(f"{name}.")
                )
                first = sorted({test for row in ids for test in pinned.get(row, ())})
                yield mutant, ids, [first, sorted(files)]


def _unchanged(jobs):
    """Return one job a module: its code as it is, with all tests that its mutants meet."""
    found = {}
    for root, mutant, _, stages in jobs:
        nodes = found.setdefault(mutant.path, (root, mutant, set()))[2]
        nodes.update(*stages)
    return [
        (root, replace(m, source=(root / m.path).read_text(encoding="utf-8")), (), [sorted(nodes)])
        for root, m, nodes in found.values()
    ]


def _try(job):
    """Run the tests on one mutant, in this process, which ends with it."""
    root, mutant, rows, stages = job
    fate = "survived" if any(stages) else "untried"
    with tempfile.TemporaryDirectory() as folder, _silence():
        _plant(root, Path(folder), mutant)
        os.chdir(folder)
        sys.dont_write_bytecode = True
        sys.path.insert(0, folder)
        signal.signal(signal.SIGALRM, _expire)
        signal.alarm(TIMEOUT_S)
        try:
            if any(nodes and _fails(nodes) for nodes in stages):
                fate = "killed"
        except TimeoutError:
            fate = "killed"
        finally:
            signal.alarm(0)
            os.chdir(root)
    return Trial(mutant, rows, fate)


def _expire(_signal, _frame):
    raise TimeoutError


def _plant(root, folder, mutant):
    """Make a folder of links to the repository, with a changed copy of the mutant's package."""
    package = Path(mutant.path).parts[0]
    for entry in root.iterdir():
        if entry.name == package:
            shutil.copytree(entry, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
        elif entry.name not in (".git", ".hypothesis", ".pytest_cache", ".snakemake"):
            (folder / entry.name).symlink_to(entry)
    (folder / mutant.path).write_text(mutant.source, encoding="utf-8")


def _fails(nodes):
    import pytest

    plugins = ["-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain"]
    code = pytest.main(["-x", "-q", *plugins, f"--rootdir={os.getcwd()}", *nodes])
    return code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


@contextlib.contextmanager
def _silence():
    """Send what the tests print, in Python or below it, nowhere."""
    kept = os.dup(1), os.dup(2)
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(io.StringIO()):
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)


def summary(trials):
    """Return the survivors, one a line, and the counts of each kind.

    Parameters
    ----------
    trials : list of Trial

    Returns
    -------
    str
    """
    lines = [
        f"{t.fate}: {t.mutant} [{', '.join(t.rows) or 'no row'}]"
        for t in trials
        if t.fate != "killed"
    ]
    for kind in KINDS:
        of_kind = [t.fate for t in trials if t.mutant.kind == kind]
        if of_kind:
            lines.append(f"{kind}: {of_kind.count('killed')} of {len(of_kind)} mutants killed")
    return "\n".join(lines)


def main(argv=None):
    """Run the command line; return the exit code: 1 if a mutant survived, 2 if none was tried."""
    parser = argparse.ArgumentParser(
        prog="python -m fivebo.common.referee.mutate",
        description="Try whether the tests notice changes of a paper's formulas.",
        epilog="examples:\n  python -m fivebo.common.referee.mutate mtbo\n"
        "  python -m fivebo.common.referee.mutate gpoo --kinds theory --only radius --jobs 2",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paper", choices=papers())
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--only", default="", help="regular expression on file and function")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (default 1)")
    given = parser.parse_args(argv)
    try:
        trials = mutate(given.paper, kinds=given.kinds, only=given.only, n_jobs=given.jobs)
    except (SurroundingsError, ValueError) as error:
        print(f"error: {error}")
        return 2
    print(summary(trials))
    return int(any(trial.fate != "killed" for trial in trials))


if __name__ == "__main__":
    raise SystemExit(main())
