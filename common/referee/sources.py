"""The code behind a claim: which lines of which file, for the report page."""

import functools
import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import yaml

from fivebo.common.lab.experiments import load_study
from fivebo.common.names import PACKAGE, load_module
from fivebo.common.referee.citations import LINES, cited_places


@dataclass(frozen=True)
class Code:
    """A function or class as it stands in its file.

    Parameters
    ----------
    name : str
        ``module:name``.
    path : str
        File, relative to the repository root.
    first : int
        Line of the file at which it starts, from 1.
    lines : tuple of str
        Its source.
    """

    name: str
    path: str
    first: int
    lines: tuple

    @property
    def last(self):
        """Line at which it ends."""
        return self.first + len(self.lines) - 1

    @property
    def steps(self):
        """Number of an algorithm's line to the line of the file that carries its comment."""
        found = {}
        for number, line in enumerate(self.lines, self.first):
            for begin, end in re.findall(LINES, line.partition("#")[2]):
                for step in range(int(begin), int(end or begin) + 1):
                    found.setdefault(step, number)
        return found


@functools.cache
def locate(name):
    """Find the outermost function or class of ``module:name``; None if it has no source.

    Parameters
    ----------
    name : str
        Such as ``mtbo.algorithms:MTKB`` or ``mtbo.algorithms:MTKB.ask``.

    Returns
    -------
    Code or None
    """
    module, _, attribute = name.partition(":")
    outer = attribute.partition(".")[0]
    try:
        found = inspect.unwrap(getattr(load_module(module), outer))
        lines, first = inspect.getsourcelines(found)
    except (ImportError, AttributeError, TypeError, OSError):
        return None
    home = _home(found)
    path = f"{home.replace('.', '/')}{'/__init__' if _is_package(home) else ''}.py"
    return Code(f"{home}:{outer}", path, first, tuple(line.rstrip("\n") for line in lines))


def _home(found):
    """Return the module that defines a class or function, as its place in the repository."""
    return found.__module__.removeprefix(f"{PACKAGE}.")


def _is_package(module):
    return hasattr(load_module(module), "__path__")


def method_code(paper, slug):
    """Return the names of the classes and functions that make up a method.

    Parameters
    ----------
    paper, slug : str
        The method is an entry of METHODS in the paper's study.

    Returns
    -------
    list of str
        First the builder, then what the builder names and the paper defines elsewhere.
    """
    study = load_study(paper)
    builder = study.METHODS[slug]
    while isinstance(builder, functools.partial):
        builder = builder.func
    if not inspect.isfunction(builder):
        return []
    names, space = set(builder.__code__.co_names), builder.__globals__
    values = [space[name] for name in names if name in space]
    for module in (v for v in values if isinstance(v, ModuleType)):
        values = [*values, *(getattr(module, n) for n in names if hasattr(module, n))]
    values += [cell.cell_contents for cell in builder.__closure__ or ()]
    home = [
        f"{_home(v)}:{v.__name__}"
        for v in values
        if (inspect.isclass(v) or inspect.isfunction(v))
        and v.__module__.startswith(f"{PACKAGE}.{paper}.")
        and v.__module__ != study.__name__
    ]
    outer = builder.__qualname__.partition(".")[0]
    return [f"{_home(builder)}:{outer}", *sorted(set(home))]


def rows_about(where, rows):
    """Return the fidelity rows that name an equation, theorem, figure ... of a claim's place.

    Parameters
    ----------
    where : str
        Such as ``Theorem 3, Sec. 4.1``; sections are too wide to count.
    rows : sequence of fivebo.common.referee.fidelity.Row

    Returns
    -------
    list of fivebo.common.referee.fidelity.Row
    """
    places = {place for place in cited_places(where) if place[0] not in ("section", "appendix")}
    return [row for row in rows if places & cited_places(row.where)]


def settings_text(experiment):
    """Render what decides an experiment's numbers as YAML: problem, methods, settings, seeds."""
    variants = {
        name: {
            "problem": experiment.problem_params(name),
            "params": experiment.params(name),
            "methods": list(experiment.methods(name)),
        }
        for name in experiment.variants
    }
    settings = {
        "problem": experiment.problem,
        "horizon": experiment.horizon,
        "seeds": experiment.seeds,
        "metrics": list(experiment.metrics),
        "variants": variants,
        "published": dict(experiment.published),
    }
    return yaml.dump(settings, sort_keys=False, allow_unicode=True, default_flow_style=None)


def place_of(path, pattern, root):
    """Return ``path:line`` of the first line that a pattern matches, or the path alone."""
    for number, line in enumerate(Path(root, path).read_text(encoding="utf-8").splitlines(), 1):
        if re.search(pattern, line):
            return f"{path}:{number}"
    return path
