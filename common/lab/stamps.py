"""What a run's numbers depend on: the code of its method, its settings, its data."""

import functools
import hashlib
import json
from dataclasses import replace

from fivebo.common.files import ROOT
from fivebo.common.lab import datasets
from fivebo.common.lab.experiments import load_study
from fivebo.common.lab.fingerprint import fingerprint

RUNNER = "fivebo.common.lab.runner:run_trajectory"
SHARED = ("Params", "scorer", "query_size")
"""What the runner takes from a study for every method, besides the problem and the builder."""


def code_of(experiment, method, root=ROOT):
    """Return the fingerprint of the code that a method's runs of an experiment depend on.

    Parameters
    ----------
    experiment : Experiment
    method : str
    root : path, optional
        Root of the repository.

    Returns
    -------
    str
    """
    return _code(experiment.paper, experiment.problem, method, root)


@functools.cache
def _code(paper, problem, method, root):
    return fingerprint(roots_of(paper, problem, method), root)


def roots_of(paper, problem, method):
    """Return where the code of a method's runs on a problem starts; see `fingerprint`.

    A method that shares the queries of another depends on the code of both.
    """
    study, module = load_study(paper), f"fivebo.{paper}.study"
    names = [f"PROBLEMS[{problem}]", f"METHODS[{method}]"]
    walker = getattr(study, "TRAJECTORIES", {}).get(method)
    if walker is not None:
        names += [f"TRAJECTORIES[{method}]", f"METHODS[{walker}]"]
    names += [name for name in SHARED if hasattr(study, name)]
    return [RUNNER, *(f"{module}:{name}" for name in names)]


def codes_of(experiment):
    """Return the fingerprint of each method of an experiment, as a dict."""
    return {method: code_of(experiment, method) for method in experiment.method_names}


def outdated(experiment, runs, root=ROOT):
    """Return the methods in a table of runs that were made by other code than the present."""
    known, found = load_study(experiment.paper).METHODS, runs.groupby("method", sort=False)["code"]
    return [
        method
        for method, codes in found.unique().items()
        if method not in known or set(codes) != {code_of(experiment, method, root)}
    ]


def data_of(experiment):
    """Return the data files that an experiment reads, as paths relative to the repository.

    An entry of a study's `DATA` is a list, or a function of the experiment that returns one.
    """
    files = getattr(load_study(experiment.paper), "DATA", {}).get(experiment.problem, ())
    return list(files(experiment) if callable(files) else files)


def settings_of(experiment):
    """Return what decides a run's numbers besides the code: settings and data, as sorted JSON."""
    data = {name: datasets.expected_sha256(name) for name in data_of(experiment)}
    return json.dumps([experiment.key(), data], sort_keys=True)


def stamps_of(experiment, root=ROOT):
    """Return a function of a run's key that hashes all that decides the run.

    Keys are those of `Experiment.expected_keys`. The stamp, 16 hexadecimal digits, depends on the
    code of that method and the settings and data of that variant alone: other methods, variants
    and seeds may come and go.
    """
    settings = {}
    for variant, own in experiment.settings.items():
        alone = {variant: replace(own, methods=())}
        settings[variant] = settings_of(replace(experiment, settings=alone))

    def stamp(key):
        *_, method, variant, seed = key
        text = json.dumps([code_of(experiment, method, root), settings[variant], method, seed])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    return stamp
