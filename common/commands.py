"""The commands of a paper; `fivebo.common.cli` parses their arguments and catches their errors."""

import contextlib
import dataclasses
import hashlib
import os
import re
import sys
from pathlib import Path

from fivebo.common.files import ROOT, read_parquet
from fivebo.common.lab.experiments import load_paper, load_study
from fivebo.common.lab.records import KEYS
from fivebo.common.lab.settings import field_types
from fivebo.common.names import UsageError, check_name, load_module


@contextlib.contextmanager
def _checking():
    """Turn a ValueError about the arguments into a refusal; elsewhere it is a fault of ours."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error


def list_command(args):
    """List the experiments of the paper, or everything about one of them."""
    from fivebo.common.referee import claims

    with _checking():
        config = load_paper(args.paper, args.scale)
        claims.validate(config.claims, config)
        if args.experiment is not None:
            check_name("experiment", args.experiment, config.experiments)
    if args.experiment is not None:
        _show(config.experiments[args.experiment])
        return
    print(f"{config.title} ({config.citation}), scale {config.scale}")
    for name, experiment in config.experiments.items():
        size = f"{experiment.seeds} seeds x {experiment.horizon} steps"
        mark = ", ours" if experiment.ours else ""
        print(f"  {name:<18} {experiment.title} ({experiment.place}{mark}): {size}")
        print(f"  {'':<18} methods {', '.join(experiment.method_names)}")
    print(f"figures: {', '.join(config.figures)}")


def _show(experiment):
    study = load_study(experiment.paper)
    print(f"{experiment.name}: {experiment.title} ({experiment.place}), scale {experiment.scale}")
    print(f"  {experiment.seeds} seeds, {experiment.horizon} steps")
    print(f"  metrics: {', '.join(experiment.metrics)}")
    print(f"  methods of the paper: {', '.join(study.METHODS)}")
    for variant in experiment.variants:
        print(f"  variant {variant}: {', '.join(experiment.methods(variant))}")
        records = (
            ("problem", study.PROBLEMS[experiment.problem], experiment.problem_params(variant)),
            ("method", study.Params, experiment.params(variant)),
        )
        for kind, record, changed in records:
            values = {name: getattr(record(**changed), name) for name in field_types(record)}
            print(f"    {kind} settings: {', '.join(f'{k}={v}' for k, v in values.items())}")


def run_command(args):
    """Run an experiment, or a part or an ablation of it, and keep every finished seed.

    --set changes one field of the paper's parameters or of the problem; `list E` shows them all.
    The tables runs.parquet and trace.parquet go to --out; running the same again after a kill
    goes on from the last finished run. `figure --results DIR` and `claims --results DIR` show and
    judge what --out DIR holds.
    """
    from fivebo.common.lab import jobs

    with _checking():
        full = _experiment(args)
        _check_methods(args)
        experiment = full.select(
            methods=args.method,
            variants=args.variant,
            horizon=args.horizon,
            overrides=args.overrides,
        )
        if args.block:
            check_name("block", args.block, dict(full.blocks()))
        seeds = dict(full.blocks())[args.block] if args.block else _seeds(args.seeds, full)
        folder = Path(args.out) if args.out else _default_folder(args, full, experiment)
        if not args.block:
            _check_no_loss(folder, experiment, seeds)
            jobs.check_settings(experiment, seeds)
    with _progress(len(experiment.expected_keys(seeds)), args) as (say, tick):
        if args.block:
            tables = jobs.run_block(experiment, args.block, folder, say, tick)
        else:
            tables = jobs.run_seeds(experiment, seeds, jobs.kept_runs(folder), say, tick)
            jobs.write_tables(tables, folder)
    _summarise(tables, jobs.final_values(tables[1]), folder)
    # for the workflow a failed run is a result, for a user it is a failure
    return int(not args.block and (tables[0]["status"] == "failed").any())


def _experiment(args):
    experiments = load_paper(args.paper, args.scale).experiments
    check_name("experiment", args.experiment, experiments)
    return experiments[args.experiment]


def _check_methods(args):
    """Answer a method in the paper's spelling, as figures label it, with the name it has here."""
    from fivebo.common.page.styles import style

    known = load_study(args.paper).METHODS
    for method in args.method:
        labels = [(style(name).label, name) for name in known]
        check_name("method", method, known, "--method", labels)


def _seeds(text, experiment):
    """Read seeds such as "0-9,12"; without a text, those of the scale."""
    if text is None:
        return list(range(experiment.seeds))
    seeds = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise ValueError(f"--seeds {text}: {part!r} is no seed >= 0 or range such as 0-9")
        if int(match[2] or match[1]) >= 2**31 or int(match[2] or match[1]) - int(match[1]) >= 10**6:
            raise ValueError(
                f"--seeds {text}: seeds must be below {2**31}, and a million at most at a time"
            )
        seeds += range(int(match[1]), int(match[2] or match[1]) + 1)
    return list(dict.fromkeys(seeds))


def _check_no_loss(folder, experiment, seeds):
    """Refuse to replace tables that hold runs which the new ones would not."""
    if not (folder / "runs.parquet").is_file():
        return
    there = read_parquet(folder / "runs.parquet")[KEYS].itertuples(index=False, name=None)
    lost = sorted(set(there).difference(experiment.expected_keys(seeds)))
    if lost:
        *_, method, variant, seed = lost[0]
        raise ValueError(
            f"{folder} holds {len(lost)} runs that this one would drop, first {method}, variant "
            f"{variant}, seed {seed}: ask for these too (finished runs are kept), or choose "
            "another folder with --out"
        )


def _default_folder(args, full, experiment):
    """Return the workflow's folder for its own jobs, and one a setting for all other runs."""
    base = Path("results", experiment.scale, experiment.paper)
    if args.block and experiment.key() == full.key():
        return base / experiment.name
    mark = hashlib.sha256(experiment.key().encode()).hexdigest()[:8]
    return base / "adhoc" / f"{experiment.name}-{mark}"


@contextlib.contextmanager
def _progress(total, args):
    """Give `say` and `tick`: a bar on a terminal, plain lines elsewhere."""
    if args.log or not sys.stderr.isatty():
        stream = sys.stdout if args.log else sys.stderr
        yield lambda line: print(line, file=stream, flush=True), lambda: None
        return
    from tqdm import tqdm

    with tqdm(total=total, unit="run", desc=args.experiment) as bar:
        yield bar.set_postfix_str, bar.update


def _summarise(tables, summary, folder):
    runs, _ = tables
    failed = runs[runs["status"] == "failed"]
    if len(summary):
        print("last value of each metric, mean and standard deviation over seeds:")
        print(summary.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    if len(failed):
        first = failed.iloc[0]
        key = f"{first['method']}, variant {first['variant']}, seed {first['seed']}"
        print(f"{len(failed)} of {len(runs)} runs failed, first {key}: {first['error']}")
    print(f"tables: {os.path.relpath(folder)}")


def estimate_command(args):
    """Time one seed of each experiment and say how long a scale will take."""
    from fivebo.common.lab.estimate import estimate

    with _checking():
        experiments = load_paper(args.paper, args.scale).experiments
        for name in args.experiment:
            check_name("experiment", name, experiments, "--experiment")
        if args.cores < 1:
            raise ValueError(f"--cores must be an integer >= 1, got {args.cores}")
    chosen = [experiments[name] for name in args.experiment or experiments]
    estimate(chosen, args.cores, lambda line: print(line, flush=True))


def collect_command(args):
    """Join the blocks of an experiment to its tables and check the laws that they obey."""
    from fivebo.common.lab import jobs

    with _checking():
        experiment = _experiment(args)
    folder = Path("results", experiment.scale, experiment.paper, experiment.name)
    runs, trace = jobs.collect(experiment, folder)
    print(f"{experiment.name}: {len(runs)} runs, {len(trace)} rows of trace")


def figure_command(args):
    """Draw figures of the paper from collected results: pdf, png, and csv of what is plotted.

    With --results DIR, the runs that `run --out DIR` made (or DIR/E of each experiment E) are drawn
    to DIR/figures, and the committed figures stay as they are.
    """
    from fivebo.common.page import plotting

    results, config, folder = _read_results(args)
    with _checking():
        for name in args.figures:
            check_name("figure", name, config.figures)
    shown = {name: config.figures[name]["experiments"] for name in config.figures}
    if args.results and not args.figures:  # those for which DIR has runs
        shown = {f: names for f, names in shown.items() if set(names) <= set(config.experiments)}
    chosen = args.figures or list(shown)
    needed = [name for figure in chosen for name in shown[figure]]
    results.require(needed, [folder / f"{name}.png" for name in chosen])
    _say_outdated(results, needed)
    for name in chosen:
        module, function = config.drawing(name)
        with plotting.look():
            figure, data = getattr(load_module(module), function)(results)
            paths = plotting.save(figure, data, folder, name)
        print(f"{name}: {', '.join(str(path) for path in paths)}")


def _read_results(args):
    """Return the results that a command reads, their configuration, and where its output goes."""
    from fivebo.common.lab.results import Results

    with _checking():
        results = Results(args.scale, args.paper, Path(), args.results and Path(args.results))
        config = results.paper_config
    folder = Path("figures", args.scale, args.paper)
    return results, config, Path(args.results, "figures") if args.results else folder


def _say_outdated(results, experiments):
    """Say which methods' runs were made by other code than the present."""
    found = results.outdated(dict.fromkeys(experiments))
    if found:
        named = "; ".join(f"{name} ({', '.join(methods)})" for name, methods in found.items())
        print(f"note: made by other code than the present: {named}", file=sys.stderr)


def claims_command(args):
    """Test the claims of the paper on collected results and write the table of verdicts.

    With --results DIR, the claims about the experiments that `run --out DIR` made (or DIR/E of
    each experiment E) are tested, and the verdicts go to DIR/figures/claims.csv.
    """
    from fivebo.common.referee import claims

    results, config, folder = _read_results(args)
    with _checking():
        claims.validate(config.claims, load_paper(args.paper, args.scale))
    tried = config.claims
    if args.results:
        tried = [c for c in tried if set(claims.experiments_of(c)) <= set(config.experiments)]
        print(f"{len(tried)} of {len(config.claims)} claims are about {args.results}")
    needed = dict.fromkeys(name for claim in tried for name in claims.experiments_of(claim))
    results.require(needed, [folder / "claims.csv"])
    _say_outdated(results, needed)
    frame = claims.evaluate(dataclasses.replace(config, claims=tried), results)
    path = claims.write(frame, folder)
    shown = frame[["id", "comparison", "n", "effect", "low", "high", "verdict"]]
    print(shown.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    print(f"table: {path}")


def fidelity_command(args):
    """Check the paper's fidelity rows against its code, or show or write their table."""
    from fivebo.common.referee import fidelity

    if args.table:
        print(fidelity.render_table(args.paper, ROOT))
        return 0
    if args.fix:
        changed = fidelity.fix_readme(args.paper, ROOT)
        print(f"{args.paper}/README.md {'written anew' if changed else 'is up to date'}")
    problems = fidelity.check(args.paper, ROOT)
    for problem in problems:
        print(problem)
    print(f"{len(fidelity.load(args.paper, ROOT))} rows, {len(problems)} problems")
    return 1 if problems else 0
