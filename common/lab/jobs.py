"""What a job does: runs methods on seeds and keeps each run, joins runs to blocks and tables."""

import errno
import tempfile
from pathlib import Path

from fivebo.common.files import read_parquet, write_parquet
from fivebo.common.lab import datasets
from fivebo.common.lab.experiments import load_study
from fivebo.common.lab.kept import KeptRuns
from fivebo.common.lab.records import KEYS, RUN_COLUMNS, TRACE_COLUMNS, check_laws
from fivebo.common.lab.stamps import code_of, data_of, stamps_of

TABLES = ("runs", "trace")
MEASURED = TRACE_COLUMNS[len(KEYS) :]
"""Columns of a trace that differ within a run."""


def run_seeds(experiment, seeds, store, say=print, tick=lambda: None):
    """Run all methods and variants of an experiment for some seeds.

    A run is kept once it is finished, and taken from there by any later call with the same code
    of its method, settings and data; so a killed job loses one run at most. A failed run is not
    kept, so that a later call tries it again.

    Parameters
    ----------
    experiment : Experiment
    seeds : sequence of int
    store : KeptRuns
    say : callable, optional
        Takes one line of progress.
    tick : callable, optional
        Called after each run, finished or found.

    Returns
    -------
    tuple of DataFrame
        The tables `runs` and `trace`.
    """
    _check_writable(store.path.parent)
    for name in data_of(experiment):
        datasets.verify_file(name)
    stamp_of, found = stamps_of(experiment), {}
    for count, seed in enumerate(seeds, start=1):
        stamps = {key: stamp_of(key) for key in experiment.expected_keys(seeds=[seed])}
        runs = {key: store.get(stamp) for key, stamp in stamps.items()}
        missing = [key for key, run in runs.items() if run is None]
        for _ in range(len(runs) - len(missing)):
            tick()
        for key, run in _run_missing(experiment, seed, missing):
            if run[0]["status"] == "ok":
                store.add(stamps[key], *run)
            runs[key] = run
            tick()
        found |= runs
        say(f"{experiment.name}: seed {seed} {_state(runs, missing)} ({count}/{len(seeds)})")
    return _tables(found)


def check_settings(experiment, seeds):
    """Build what each method needs, as its runs will, and refuse settings that no seed takes.

    Parameters
    ----------
    experiment : Experiment
    seeds : sequence of int
        The first two are tried: what one alone refuses is a failed run.

    Raises
    ------
    ValueError
        Method, variant and what the method says.
    """
    from fivebo.common.lab.runner import prepare, trajectories

    study = load_study(experiment.paper)
    for variant in experiment.variants:
        for methods in trajectories(study, experiment.methods(variant)):
            for seed in seeds[:2]:
                try:
                    prepare(study, experiment, methods, variant, seed)
                except (TypeError, ValueError) as error:
                    reason = f"{methods[0]}, variant {variant}: {error}"
                else:
                    break
            else:
                raise ValueError(reason)


def run_block(experiment, block, folder, say=print, tick=lambda: None):
    """Run a job of the workflow and write its tables to `folder`/blocks.

    What no longer fits is dropped from the kept runs once the block is written. Parameters and
    results are those of `run_seeds`.
    """
    store = kept_runs(folder, block)
    seeds = dict(experiment.blocks())[block]
    tables = run_seeds(experiment, seeds, store, say, tick)
    write_tables(tables, Path(folder) / "blocks", f"{block}.")
    stamp_of = stamps_of(experiment)
    store.drop_others([stamp_of(key) for key in experiment.expected_keys(seeds)])
    return tables


def kept_runs(folder, block="runs"):
    """Return the runs that are kept in a folder of results, those of a block or all others."""
    return KeptRuns(Path(folder, "parts", f"{block}.kept"))


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
    columns = (RUN_COLUMNS, TRACE_COLUMNS)
    tables = tuple(map(_concat, zip(*pairs, strict=True), columns))
    check_laws(*tables, experiment.expected_keys())
    write_tables(tables, folder)
    return tables


def write_tables(tables, folder, stem=""):
    """Write `runs` and `trace`; `runs` comes last, so that its presence says both are whole."""
    for name, table in reversed(list(zip(TABLES, tables, strict=True))):
        write_parquet(table, Path(folder) / f"{stem}{name}.parquet")


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


def _run_missing(experiment, seed, missing):
    """Run what is missing of a seed; yield the key of each run, and its row and columns."""
    from fivebo.common.lab.runner import run_trajectory, trajectories

    study, names = load_study(experiment.paper), {}
    for *_, method, variant, _ in missing:
        names.setdefault(variant, []).append(method)
    for variant, methods in names.items():
        for group in trajectories(study, methods):
            for row, trace in run_trajectory(
                study, experiment, methods=group, variant=variant, seed=seed
            ):
                row["code"] = code_of(experiment, row["method"])
                yield tuple(row[name] for name in KEYS), (row, trace[MEASURED].to_dict("list"))


def _state(runs, missing):
    if not missing:
        return "kept from an earlier run"
    n_failed = sum(row["status"] == "failed" for row, _ in runs.values())
    text = f"{n_failed} of {len(runs)} runs failed" if n_failed else "done"
    n_kept = len(runs) - len(missing)
    return f"{text}, {n_kept} of {len(runs)} runs kept from an earlier one" if n_kept else text


def _tables(found):
    """Return the tables of some runs, a dict of key to row and columns of the trace."""
    import pandas as pd

    runs = pd.DataFrame([row for row, _ in found.values()], columns=RUN_COLUMNS)
    lengths = [len(columns["step"]) for _, columns in found.values()]
    keys = pd.DataFrame(list(found), columns=KEYS)
    trace = keys.loc[keys.index.repeat(lengths)].reset_index(drop=True)
    for name in MEASURED:
        trace[name] = [value for _, columns in found.values() for value in columns[name]]
    return runs, trace


def _concat(frames, columns):
    """Join frames, leaving out the empty ones: their columns have no types to agree on."""
    import pandas as pd

    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=columns)
