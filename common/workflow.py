"""What the Snakefile asks: which files belong to which rule, and what their contents depend on."""

import functools
import hashlib
import json
import os
import shlex
import socket
import sys
from pathlib import Path

from fivebo.common.files import ROOT
from fivebo.common.lab import stamps
from fivebo.common.lab.datasets import DataError
from fivebo.common.lab.experiments import SCALES, load_paper, papers
from fivebo.common.lab.fingerprint import fingerprint
from fivebo.common.lab.jobs import TABLES
from fivebo.common.names import check_name
from fivebo.common.referee import claims

NAME = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
"""Pattern of experiments' and figures' names; such a name never looks like a number."""

FIGURE = rf"(?!claims){NAME}"
"""Pattern of figures' names: the table of claims lies beside the figures."""

OWNER = Path(".snakemake/owner.json")
"""Who holds the directory's lock: host and process of the last Snakemake that started here."""


@functools.cache
def load(paper, scale):
    """Return a paper's checked configuration at a scale; ask again as often as you like."""
    config = load_paper(paper, scale)
    claims.validate(config.claims, config)
    return config


def check(scale):
    """Check the scale, every paper's experiments and the bundled data, or stop with one line.

    Raises
    ------
    snakemake.exceptions.WorkflowError
        What is wrong and the fix.
    """
    from snakemake.exceptions import WorkflowError

    try:
        check_name("scale", scale, SCALES, "--config scale")
        for paper in papers():
            for experiment in load(paper, scale).experiments.values():
                stamps.settings_of(experiment)
                _check_bundled(stamps.data_of(experiment))
    except (ValueError, DataError) as error:
        raise WorkflowError(str(error)) from None


def _check_bundled(names):
    for name in names:
        if not name.startswith("data/raw/") and not (ROOT / name).is_file():
            raise ValueError(f"{name} is missing; restore it with: git checkout -- {name}")


def shell_prefix():
    """Return the start of every job's command: this Python first on the path."""
    folder = shlex.quote(str(Path(sys.executable).parent))
    return f"set -euo pipefail; export PATH={folder}:$PATH; "


def record_owner():
    """Leave a note of who runs here; `fivebo.common.reproduce` reads it when it finds a lock."""
    owner = {"host": socket.gethostname(), "pid": os.getpid()}
    OWNER.write_text(json.dumps(owner), encoding="utf-8")


def check_target(target):
    """Raise ValueError with the nearest valid name unless Snakemake can be asked for a target.

    Parameters
    ----------
    target : str
        A paper, "all", or a file below figures/, results/ or data/.
    """
    top, *inner = target.removeprefix("./").split("/")
    if not inner:
        check_name("paper", target, [*papers(), "all"])
    if top not in ("figures", "results") or len(inner) < 3:
        return
    check_name("scale", inner[0], SCALES, target)
    check_name("paper", inner[1], papers(), target)
    config = load(inner[1], inner[0])
    if top == "results":
        check_name("experiment", inner[2], config.experiments, target)
    elif inner[2] != "claims.csv":
        check_name("figure", Path(inner[2]).stem, config.figures, target)


def _named(kind, name, found):
    """Return what a target names, or stop with the nearest valid name."""
    from snakemake.exceptions import WorkflowError

    try:
        check_name(kind, name, found)
    except ValueError as error:
        raise WorkflowError(str(error)) from None
    return found[name]


def experiment(wildcards):
    """Return the experiment that a job's wildcards name."""
    experiments = load(wildcards.paper, wildcards.scale).experiments
    return _named("experiment", wildcards.experiment, experiments)


def targets(paper, scale):
    """Return what a paper is built to: its figures and its table of claims."""
    folder = f"figures/{scale}/{paper}"
    figures = load(paper, scale).figures
    return [f"{folder}/claims.csv", *(f"{folder}/{figure}.png" for figure in figures)]


def report_inputs(wildcards):
    """Return what the report shows: every paper's figures, claims and fidelity rows."""
    rows = [f"{p}/fidelity.yaml" for p in papers() if (ROOT / p / "fidelity.yaml").is_file()]
    templates = [f"common/page/{path.name}" for path in sorted((ROOT / "common/page").glob("*.j2"))]
    return rows + templates + [t for p in papers() for t in targets(p, wildcards.scale)]


def data_files(wildcards):
    """Return the data files that a run reads."""
    return stamps.data_of(experiment(wildcards))


def blocks(wildcards):
    """Return the tables of all blocks of an experiment."""
    folder = f"results/{wildcards.scale}/{wildcards.paper}/{wildcards.experiment}/blocks"
    names = [name for name, _ in experiment(wildcards).blocks()]
    return [f"{folder}/{name}.{table}.parquet" for name in names for table in TABLES]


def shown(wildcards):
    """Return the experiments that a figure shows, or all of a paper for its claims."""
    config = load(wildcards.paper, wildcards.scale)
    figure = getattr(wildcards, "figure", None)
    figures = config.figures
    names = _named("figure", figure, figures)["experiments"] if figure else config.experiments
    return [config.experiments[name] for name in names]


def tables(wildcards):
    """Return the collected tables of the experiments that a figure or the claims show."""
    folder = f"results/{wildcards.scale}/{wildcards.paper}"
    names = [experiment.name for experiment in shown(wildcards)]
    return [f"{folder}/{name}/{table}.parquet" for name in names for table in TABLES]


def run_settings(wildcards):
    """Return the settings and data that a run depends on."""
    return stamps.settings_of(experiment(wildcards))


def origins(wildcards):
    """Return what the results behind a figure, a table or the report were made from.

    Every rule after `run` has this among its parameters: if a run fails after an edit, nothing
    that was made before the edit passes for up to date.
    """
    if hasattr(wildcards, "experiment"):
        experiments = [experiment(wildcards)]
    elif hasattr(wildcards, "paper"):
        experiments = shown(wildcards)
    else:
        configs = [load(paper, wildcards.scale) for paper in papers()]
        experiments = [e for config in configs for e in config.experiments.values()]
    return sorted(f"{e.paper} {e.name} {e.seeds} {_origin(e)}" for e in experiments)


def _origin(experiment):
    text = json.dumps([stamps.codes_of(experiment), stamps.settings_of(experiment)])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def run_code(wildcards):
    """Return the fingerprints that a job's runs depend on, of each method, as text."""
    return json.dumps(stamps.codes_of(experiment(wildcards)))


def figure_code(wildcards):
    """Return the fingerprint that a figure depends on."""
    module, function = load(wildcards.paper, wildcards.scale).drawing(wildcards.figure)
    page = "fivebo.common.page.plotting"
    return fingerprint([f"fivebo.{module}:{function}", f"{page}:look", f"{page}:save"])


def claims_code(_wildcards):
    """Return the fingerprint that a table of claims depends on."""
    return fingerprint(["fivebo.common.referee.claims"])


def report_code(_wildcards):
    """Return the fingerprint that the report depends on."""
    return fingerprint(["fivebo.common.page.report"])


def texts(wildcards):
    """Return what a figure, a table of claims or the report is told, as sorted JSON."""
    names = [wildcards.paper] if hasattr(wildcards, "paper") else papers()
    told = []
    for paper in names:
        config = load(paper, wildcards.scale)
        experiments = [
            [e.name, e.title, e.place, e.ours, e.published] for e in config.experiments.values()
        ]
        told.append([config.title, config.citation, experiments, config.figures, config.claims])
    return json.dumps(told, sort_keys=True)
