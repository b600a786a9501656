"""Experiments as data: reads and checks a paper's experiments.yaml and resolves its scales."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from fivebo.common.files import ROOT
from fivebo.common.lab.records import METRICS
from fivebo.common.lab.schema import read_source, resolved
from fivebo.common.lab.settings import field_types, parse_setting, typed_settings
from fivebo.common.names import check_name, load_module

SCALES = ("smoke", "quick", "paper")
"""Seconds for tests; every figure in minutes (the default); the paper's own sizes."""


@dataclass(frozen=True)
class Variant:
    """One setting of an experiment, resolved: what `study` needs besides a seed.

    Parameters
    ----------
    problem_params, params : mapping
        Settings that differ from the defaults of the problem and of the paper's `Params`.
    methods : tuple of str
        Slugs of the methods to run.
    """

    problem_params: dict
    params: dict
    methods: tuple


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper at one scale.

    Parameters
    ----------
    paper, name, title, place : str
        Whose it is, its name, what it shows, and where in the paper it stands.
    ours : bool
        True if the paper has no such experiment.
    problem : str
        Key of the study's `PROBLEMS`.
    settings : mapping of str to Variant
        Variants by name.
    metrics : tuple of str
        Names from `records.METRICS`.
    horizon, seeds, seeds_per_job : int
        Steps of a run, number of seeds (0 to seeds - 1), and seeds that one job runs.
    record_steps : {"all", "log"}
        Which steps the trace keeps.
    mem_mb, runtime_min : int
        What a job may use, in MB and minutes.
    published : mapping
        The paper's own numbers.
    scale : str
        One of `SCALES`.
    """

    paper: str
    name: str
    title: str
    place: str
    ours: bool
    problem: str
    settings: dict
    metrics: tuple
    horizon: int
    seeds: int
    seeds_per_job: int
    record_steps: str
    mem_mb: int
    runtime_min: int
    published: dict
    scale: str

    @property
    def variants(self):
        """Names of the variants, as a tuple."""
        return tuple(self.settings)

    @property
    def method_names(self):
        """Slugs of all methods of all variants, in the order of the file."""
        return tuple(dict.fromkeys(m for v in self.settings.values() for m in v.methods))

    def methods(self, variant):
        """Return the slugs of the methods of one variant."""
        return self.settings[variant].methods

    def params(self, variant):
        """Return the settings of the paper's `Params` that one variant changes."""
        return self.settings[variant].params

    def problem_params(self, variant):
        """Return the settings of the problem that one variant changes."""
        return self.settings[variant].problem_params

    def blocks(self):
        """Return the seeds by job: a list of pairs such as ("seeds-000-009", range(0, 10))."""
        starts = range(0, self.seeds, self.seeds_per_job)
        ranges = [range(s, min(s + self.seeds_per_job, self.seeds)) for s in starts]
        return [(f"seeds-{r.start:03d}-{r.stop - 1:03d}", r) for r in ranges]

    def key(self):
        """Return what decides a seed's numbers (not how many seeds there are) as sorted JSON."""
        decides = {
            "paper": self.paper,
            "experiment": self.name,
            "problem": self.problem,
            "metrics": self.metrics,
            "horizon": self.horizon,
            "record_steps": self.record_steps,
            "variants": {name: vars(variant) for name, variant in self.settings.items()},
        }
        return json.dumps(decides, sort_keys=True)

    def expected_keys(self, seeds=None):
        """Return the keys of every run of the given seeds (all if None), as `records.KEYS`."""
        seeds = range(self.seeds) if seeds is None else seeds
        return [
            (self.paper, self.name, self.problem, method, variant, seed)
            for variant in self.variants
            for method in self.methods(variant)
            for seed in seeds
        ]

    def select(self, *, methods=None, variants=None, horizon=None, overrides=()):
        """Narrow or change the experiment for a run outside the workflow.

        Parameters
        ----------
        methods : sequence of str, optional
            Any methods of the study; all variants then run just these.
        variants : sequence of str, optional
            Variants to keep.
        horizon : int, optional
            Steps of a run.
        overrides : sequence of str
            "key=value" for fields of the study's `Params` or of the problem's dataclass.

        Returns
        -------
        Experiment

        Raises
        ------
        ValueError
            A name that does not exist, or a value that does not fit.
        """
        study = load_study(self.paper)
        for method in methods or ():
            check_name("method", method, study.METHODS, "--method")
        for variant in variants or ():
            check_name("variant", variant, self.variants, "--variant")
        if horizon is not None and horizon < 1:
            raise ValueError(f"--horizon must be at least 1, got {horizon}")
        params, problem_params = _parsed(overrides, study, self.problem)
        settings = {
            name: Variant(
                problem_params={**old.problem_params, **problem_params},
                params={**old.params, **params},
                methods=tuple(methods) if methods else old.methods,
            )
            for name, old in self.settings.items()
            if not variants or name in variants
        }
        for new in settings.values():
            _variant(vars(new), study, self.problem, self.name)
        return replace(self, settings=settings, horizon=horizon or self.horizon)


@dataclass(frozen=True)
class PaperConfig:
    """A paper's experiments, figures and claims at one scale.

    Parameters
    ----------
    paper, title, citation, scale : str
        Folder name, title and short citation of the paper, and the scale.
    experiments : mapping of str to Experiment
    figures : mapping of str to mapping
        By figure name: experiments, place, states, caption, whether it is ours.
    claims : list of mapping
        See `fivebo.common.referee.claims`.
    source : mapping
        The file as read.
    """

    paper: str
    title: str
    citation: str
    scale: str
    experiments: dict
    figures: dict
    claims: list
    source: dict

    def at(self, scale):
        """Return the same paper at another scale."""
        check_name("scale", scale, SCALES)
        return replace(self, scale=scale, experiments=_experiments(self.source, scale))

    def drawing(self, figure):
        """Return module and name of the function that draws a figure: ours have their module."""
        module = "figures_ours" if self.figures[figure].get("ours") else "figures"
        return f"{self.paper}.{module}", figure.replace("-", "_")


def papers(root=ROOT):
    """Return the names of the papers: the folders that hold an experiments.yaml, sorted."""
    return sorted(path.parent.name for path in Path(root).glob("*/experiments.yaml"))


def load_study(paper):
    """Import the module where a paper plugs in: `<paper>.study`."""
    return load_module(f"{paper}.study")


def load_paper(paper, scale="paper", root=ROOT):
    """Read and check a paper's experiments.yaml.

    Parameters
    ----------
    paper : str
        Folder name of the paper.
    scale : str
        One of `SCALES`.
    root : path
        Root of the repository.

    Returns
    -------
    PaperConfig

    Raises
    ------
    ValueError
        One line that names the place in the file, the wrong name or value, and the nearest valid
        one.
    """
    check_name("paper", paper, papers(root))
    check_name("scale", scale, SCALES)
    place = f"{paper}/experiments.yaml"
    source = read_source(Path(root) / place, place)
    check_name("paper", source["paper"], [paper], f"{place}: paper")
    for name, figure in source["figures"].items():
        for experiment in figure["experiments"]:
            where = f"{place}: figures.{name}.experiments"
            check_name("experiment", experiment, source["experiments"], where)
    return PaperConfig(
        paper=paper,
        title=source["title"],
        citation=source["citation"],
        scale=scale,
        experiments=_experiments(source, scale),
        figures=source["figures"],
        claims=source.get("claims", []),
        source=source,
    )


def as_run(experiment, runs):
    """Return an experiment as a table of runs has it: variants, methods, seeds, horizon, settings.

    Parameters
    ----------
    experiment : Experiment
    runs : DataFrame
        See `fivebo.common.lab.records`.

    Returns
    -------
    Experiment
    """
    study, settings = load_study(experiment.paper), {}
    for variant, part in runs.groupby("variant", sort=False):
        given = json.loads(part["params"].iloc[0])
        own = {"problem_params": given["problem"], "params": given["method"]}
        own["methods"] = part["method"].unique().tolist()
        settings[variant] = _variant(own, study, experiment.problem, f"runs of {experiment.name}")
    sizes = {"horizon": int(runs["horizon"].max()), "seeds": int(runs["seed"].nunique())}
    return replace(experiment, settings=settings, **sizes)


def _experiments(source, scale):
    """Build every experiment of the file at a scale, its names and settings checked."""
    study = load_study(source["paper"])
    experiments = {}
    for name in source["experiments"]:
        where = f"{source['paper']}/experiments.yaml: experiments.{name}"
        given = resolved(source, name, scale)
        check_name("problem", given["problem"], study.PROBLEMS, f"{where}.problem")
        for metric in given["metrics"]:
            check_name("metric", metric, study.METRICS, f"{where}.metrics")
            check_name("metric", metric, METRICS, f"{where}.metrics")
        written = source["experiments"][name].get("variants", {})
        settings = {
            variant: _variant(own, study, given["problem"], where, variant, written.get(variant))
            for variant, own in given.pop("variants").items()
        }
        given["metrics"] = tuple(given["metrics"])
        experiments[name] = Experiment(
            paper=source["paper"], name=name, scale=scale, settings=settings, **given
        )
    return experiments


def _variant(own, study, problem, where, name="", written=None):
    """Check names and types of one variant's settings; `written` is what the file says there."""
    places = {key: f"{where}.{key}" for key in own}
    places |= {key: f"{where}.variants.{name}.{key}" for key in written or ()}
    for method in own["methods"]:
        check_name("method", method, study.METHODS, places["methods"])
    record = study.PROBLEMS[problem]
    return Variant(
        problem_params=typed_settings(record, own["problem_params"], places["problem_params"]),
        params=typed_settings(study.Params, own["params"], places["params"]),
        methods=tuple(own["methods"]),
    )


def _parsed(overrides, study, problem):
    """Split "key=value" texts into settings of `Params` and of the problem."""
    record = study.PROBLEMS[problem]
    params, problem_params = {}, {}
    for text in overrides:
        name = text.partition("=")[0]
        if name in field_types(study.Params):
            params |= [parse_setting(text, (study.Params,))]
        else:
            problem_params |= [parse_setting(text, (record, study.Params))]
    return params, problem_params
