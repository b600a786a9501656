"""What a job does: runs seeds and keeps each as a part, joins parts to blocks, blocks to tables."""

import errno
import functools
import hashlib
import json
import tempfile
from pathlib import Path

from fivebo.common.files import read_parquet, write_parquet
from fivebo.common.lab import datasets
from fivebo.common.lab.experiments import load_study
from fivebo.common.lab.fingerprint import fingerprint
from fivebo.common.lab.records import RUN_COLUMNS, TRACE_COLUMNS, check_laws

TABLES = ("runs", "trace")


@functools.cache
def code_of(paper):
    """Return the fingerprint of the code that a paper's runs depend on."""
    return fingerprint([f"fivebo.{paper}.study", "fivebo.common.lab.runner"])


def data_of(experiment):
    """Return the data files that an experiment reads, as paths relative to the repository.

    An entry of a study's `DATA` is a list, or a function of the experiment that returns one.
    """
    files = getattr(load_study(experiment.paper), "DATA", {}).get(experiment.problem, ())
    return list(files(experiment) if callable(files) else files)


def settings_of(experiment):
    """Return what decides a seed's numbers besides the code: settings and data, as sorted JSON."""
    names = data_of(experiment)
    data = {name: datasets.expected_sha256(name) for name in names}
    return json.dumps([experiment.key(), data], sort_keys=True)


def stamp_of(experiment):
    """Hash all that decides a seed's numbers: code, settings and data. 12 hexadecimal digits."""
    text = json.dumps([code_of(experiment.paper), settings_of(experiment)])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def run_seeds(experiment, seeds, parts, say=print, tick=lambda: None):
    """Run all methods and variants of an experiment for some seeds.

    A seed is written to the folder `parts` once all its runs are finished, and read from there
    by any later call with the same code, settings and data; so a killed job loses one seed at
    most. A seed with a failed run is not kept, so that a later call tries it again.

    Parameters
    ----------
    experiment : Experiment
    seeds : sequence of int
    parts : Path
        Folder of the parts.
    say : callable, optional
        Takes one line of progress.
    tick : callable, optional
        Called after each run, finished or found.

    Returns
    -------
    tuple of DataFrame
        The tables `runs` and `trace`.
    """
    _check_writable(Path(parts))
    for name in data_of(experiment):
        datasets.verify_file(name)
    code, stamp = code_of(experiment.paper), stamp_of(experiment)
    n_runs = len(experiment.expected_keys(seeds=[0]))
    pairs = []
    for count, seed in enumerate(seeds, start=1):
        pair = _read_part(parts, seed, stamp)
        if pair is None:
            pair = _run_seed(experiment, seed, code, tick)
            n_failed = int((pair[0]["status"] == "failed").sum())
            if n_failed == 0:
                _write_tables(parts, f"{seed}-{stamp}.", pair)
            state = f"{n_failed} of {n_runs} runs failed" if n_failed else "done"
        else:
            state = "kept from an earlier run"
            for _ in range(n_runs):
                tick()
        say(f"{experiment.name}: seed {seed} {state} ({count}/{len(seeds)})")
        pairs.append(pair)
    return _joined(pairs)


def write_block(tables, folder, block=None):
    """Write the tables of a job: as a block of the workflow, or as the only ones of a folder."""
    if block is None:
        _write_tables(folder, "", tables)
    else:
        _write_tables(Path(folder) / "blocks", f"{block}.", tables)


def collect(experiment, folder):
    """Join the blocks of an experiment, check the laws of the tables, and write them.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
        The experiment's folder of results; its blocks lie in `folder/blocks`.

    Returns
    -------
    tuple of DataFrame
        The tables `runs` and `trace`.

    Raises
    ------
    ValueError
        The tables break a law, or a configured run is missing.
    FileNotFoundError
        A block has not been run.
    """
    stems = [folder / "blocks" / name for name, _ in experiment.blocks()]
    paths = [[Path(f"{stem}.{table}.parquet") for table in TABLES] for stem in stems]
    for path in (path for pair in paths for path in pair if not path.exists()):
        advice = f"{path} is missing; make it with: snakemake {path}"
        raise FileNotFoundError(errno.ENOENT, advice)
    pairs = [tuple(read_parquet(path) for path in pair) for pair in paths]
    tables = _joined(pairs)
    check_laws(*tables, experiment.expected_keys())
    _write_tables(folder, "", tables)
    return tables


def final_values(trace):
    """Summarise a trace: mean and standard deviation over seeds of each metric's last value.

    Parameters
    ----------
    trace : DataFrame
        Rows with the columns `records.TRACE_COLUMNS`.

    Returns
    -------
    DataFrame
        Columns variant, method, metric, step, n, mean, std (ddof 1; NaN for one seed).
    """
    groups = ["variant", "method", "metric"]
    last = trace.sort_values("step").groupby([*groups, "seed"], sort=False).last()
    summary = last.groupby(groups, sort=False).agg(
        step=("step", "max"), n=("value", "size"), mean=("value", "mean"), std=("value", "std")
    )
    return summary.reset_index().sort_values(["metric", "variant", "method"], ignore_index=True)


def _check_writable(folder):
    """Refuse an unwritable folder before anything is computed, not after."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        advice = f"cannot write to {folder} ({error.strerror}): make it writable, or choose --out"
        raise OSError(error.errno, advice) from error


def _run_seed(experiment, seed, code, tick):
    import pandas as pd

    from fivebo.common.lab.runner import run_trajectory, trajectories

    study = load_study(experiment.paper)
    rows, traces = [], []
    for variant in experiment.variants:
        for methods in trajectories(study, experiment.methods(variant)):
            for row, trace in run_trajectory(
                study, experiment, methods=methods, variant=variant, seed=seed, code=code
            ):
                rows.append(row)
                traces.append(trace)
                tick()
    return pd.DataFrame(rows, columns=RUN_COLUMNS), _concat(traces, TRACE_COLUMNS)


def _joined(pairs):
    runs, traces = zip(*pairs, strict=True)
    return _concat(runs, RUN_COLUMNS), _concat(traces, TRACE_COLUMNS)


def _concat(frames, columns):
    """Join frames, leaving out the empty ones: their columns have no types to agree on."""
    import pandas as pd

    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=columns)


def _write_tables(folder, stem, tables):
    """Write `runs` and `trace`; `runs` comes last, so that its presence says both are whole."""
    for name, table in reversed(list(zip(TABLES, tables, strict=True))):
        write_parquet(table, Path(folder) / f"{stem}{name}.parquet")


def _read_part(parts, seed, stamp):
    """Return the tables of a kept seed, or None if there is no whole part."""
    import pandas as pd

    paths = [Path(parts) / f"{seed}-{stamp}.{table}.parquet" for table in TABLES]
    try:
        pair = tuple(pd.read_parquet(path) for path in paths)
    except (OSError, ValueError):  # absent, or damaged from outside: run the seed again
        return None
    return pair if all(set(table["seed"]) <= {seed} for table in pair) else None
