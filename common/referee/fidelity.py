"""Fidelity tables: every statement of a paper bound to code, to a test and to the README.

A paper's fidelity.yaml lists rows with the keys

id
    Unique name; a test pins the row by ``@pytest.mark.paper("<paper>", "<id>", ...)``.
where, what
    Place in the paper and, in our words, what stands there.
code
    ``module:name`` or a list of such; its docstring cites the place. For a line of an algorithm
    the source carries the comment ``l. <line>``.
status
    exact, assumed (the paper leaves it open), deviates (done differently), omitted.
field, value, why
    The setting that holds the choice (``Class.name`` of the study or the problems, or
    ``experiment.name``), the value chosen and the reason.
"""

import inspect
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml

from fivebo.common.files import ROOT, atomic_path
from fivebo.common.lab.experiments import load_paper, load_study
from fivebo.common.names import check_name, load_module
from fivebo.common.referee.citations import algorithm_lines, cites, commented_lines, pinned_rows

STATUSES = ("exact", "assumed", "deviates", "omitted")
KEYS = ("id", "where", "what", "code", "status", "field", "value", "why")
BEGIN, END = "<!-- fidelity:begin -->", "<!-- fidelity:end -->"


@dataclass(frozen=True)
class Row:
    """One row of a fidelity table; the fields are the keys of the file."""

    id: str
    where: str
    what: str
    status: str
    code: tuple = ()
    field: str | None = None
    value: object = None
    why: str | None = None


def load(paper, root=ROOT):
    """Read and check the rows of `paper`/fidelity.yaml.

    Parameters
    ----------
    paper : str
    root : path-like, optional
        Repository root.

    Returns
    -------
    list of Row

    Raises
    ------
    ValueError
        One line with the row and the wrong key, status or missing reason.
    """
    place = f"{paper}/fidelity.yaml"
    source = yaml.safe_load((Path(root) / place).read_text(encoding="utf-8"))
    rows = [
        _row(given, f"{place}: {given.get('id', 'row without id')}") for given in source["rows"]
    ]
    for name, count in Counter(row.id for row in rows).items():
        if count > 1:
            raise ValueError(f"{place}: {name}: this id appears {count} times")
    return rows


def _row(given, where):
    for key in given:
        check_name("key", key, KEYS, where)
    for key in ("id", "where", "what", "status"):
        if not given.get(key):
            raise ValueError(f"{where}: {key!r} is missing")
    check_name("status", given["status"], STATUSES, where)
    needs = {"assumed": ("value", "why"), "deviates": ("value", "why"), "omitted": ("why",)}
    for key in needs.get(given["status"], ()):
        if given.get(key) is None:
            raise ValueError(f"{where}: status {given['status']!r} needs {key!r}")
    code = given.get("code", [])
    code = (code,) if isinstance(code, str) else tuple(code)
    if (given["status"] == "omitted") == bool(code):
        raise ValueError(f"{where}: give 'code' exactly if the status is not 'omitted'")
    return Row(**given | {"code": code})


def _resolve(name):
    module, _, attribute = name.partition(":")
    found = load_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found


def _ancestry(found):
    """Return the class with its bases of the same package, or the function itself."""
    if not inspect.isclass(found):
        return [found]
    package = found.__module__.split(".")[:2]
    return [c for c in found.__mro__ if c.__module__.split(".")[:2] == package]


def _documents(found):
    parts = _ancestry(found)
    methods = [m for c in parts if inspect.isclass(c) for m in vars(c).values()]
    return "\n".join(filter(None, (getattr(p, "__doc__", None) for p in [*parts, *methods])))


def _source(found):
    return "\n".join(inspect.getsource(part) for part in _ancestry(found))


def _binding_problems(row):
    try:
        found = [_resolve(name) for name in row.code]
    except (ImportError, AttributeError) as error:
        yield f"code cannot be imported: {error}"
        return
    if not any(cites(_documents(f), row.where) for f in found):
        yield f"no docstring of {', '.join(row.code)} cites {row.where}"
    if row.status != "deviates":
        written = set().union(*(commented_lines(_source(f)) for f in found))
        if missing := algorithm_lines(row.where) - written:
            yield f"no comment 'l. {min(missing)}' in the source of {', '.join(row.code)}"


def field_problems(row, paper, config):
    """Yield what is wrong between a row's value and the default of its field.

    Parameters
    ----------
    row : Row
    paper : str
    config : PaperConfig
    """
    owner, _, name = row.field.partition(".")
    if owner in config.experiments:
        found = getattr(config.experiments[owner], name, None)
    else:
        study = load_study(paper)
        records = [study.Params, *study.PROBLEMS.values()]
        record = next((record for record in records if record.__name__ == owner), None)
        found = getattr(record, name, None)
    if found is None and row.value is not None:
        yield f"field {row.field} does not exist or has no default"
    elif (list(found) if isinstance(found, tuple) else found) != row.value:
        yield f"value {row.value!r} is not the default {found!r} of {row.field}"


def check(paper, root=ROOT):
    """List what is wrong with a paper's fidelity table, a line a problem: row and reason."""
    try:
        rows = load(paper, root)
    except ValueError as error:
        return [str(error)]
    config, pinned = load_paper(paper, "paper", root), pinned_rows(paper, root)
    problems = []
    for row in rows:
        if row.status == "omitted":
            continue
        found = list(_binding_problems(row))
        if row.field:
            found += field_problems(row, paper, config)
        if row.id not in pinned:
            found.append(f'no test is marked @pytest.mark.paper("{paper}", "{row.id}")')
        problems += [f"{row.id}: {problem}" for problem in found]
    for name in pinned.keys() - {row.id for row in rows}:
        problems.append(f"{name}: marked by {pinned[name][0]}, but fidelity.yaml has no such row")
    try:
        stale = fixed_readme(paper, root) is not None
    except ValueError as error:
        problems.append(str(error))
    else:
        if stale:
            problems.append(
                f"{paper}/README.md: table is not that of fidelity.yaml; rewrite with --fix"
            )
    return problems


def counts(rows):
    """Return the number of rows of each status, in the order of `STATUSES`."""
    found = Counter(row.status for row in rows)
    return {status: found[status] for status in STATUSES}


def render_table(paper, root=ROOT):
    """Return the rows as a Markdown table, with their counts and pinning tests."""
    rows, pinned = load(paper, root), pinned_rows(paper, root)
    totals = ", ".join(f"{n} {status}" for status, n in counts(rows).items())
    lines = [
        f"{len(rows)} rows: {totals}.",
        "",
        "| Place | What | Status | Code | Test | Value and reason |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        code = ", ".join(f"`{name}`" for name in row.code)
        tests = ", ".join(f"`{t.rpartition('/')[2]}`" for t in sorted(set(pinned.get(row.id, ()))))
        value = None if row.value is None else f"{row.field or ''} **{row.value}**".strip()
        reason = ": ".join(filter(None, (value, row.why)))
        cells = (f"{row.where} <a id={row.id!r}></a>", row.what, row.status, code, tests, reason)
        lines.append("| " + " | ".join(str(c).replace("|", "\\|") for c in cells) + " |")
    return "\n".join(lines)


def spliced(text, begin, end, table, place):
    """Return a text with a generated table between its two markers.

    Parameters
    ----------
    text, begin, end, table : str
        The markers stay, each on its own line.
    place : str
        What the text is, for the error.

    Raises
    ------
    ValueError
        The text lacks a marker.
    """
    head, first, rest = text.partition(begin)
    _, last, tail = rest.partition(end)
    if not (first and last):
        raise ValueError(f"{place}: add the lines {begin} and {end} where the table goes")
    return f"{head}{begin}\n{table}\n{end}{tail}"


def fixed_readme(paper, root=ROOT):
    """Return the paper's README with the rendered table, or None if it stands there already.

    Raises
    ------
    ValueError
        The README lacks the markers.
    """
    readme = Path(root, paper, "README.md")
    old = readme.read_text(encoding="utf-8") if readme.exists() else ""
    new = spliced(old, BEGIN, END, render_table(paper, root), f"{paper}/README.md")
    return None if new == old else new


def fix_readme(paper, root=ROOT):
    """Write the text of `fixed_readme`; return whether the file changed."""
    text = fixed_readme(paper, root)
    if text is None:
        return False
    with atomic_path(Path(root, paper, "README.md")) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return True
