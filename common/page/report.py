"""The report: one self-contained page with the figures, claims and assumptions of a scale.

Command line: ``python -m fivebo.common.page.report --scale quick``.
"""

import argparse
import base64
import csv
import os
import platform
import re
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fivebo.common.files import ROOT, SurroundingsError, atomic_path, check_checkout
from fivebo.common.lab.experiments import SCALES, load_paper, load_study, papers
from fivebo.common.lab.stamps import outdated
from fivebo.common.referee import claims, fidelity
from fivebo.common.referee.citations import algorithm_lines, pinned_rows
from fivebo.common.referee.sources import locate, method_code, place_of, rows_about, settings_text

CHOICES = ("assumed", "deviates")
"""Statuses of the rows that a reader should judge for himself."""

MANY = 5
"""Files of one folder and origin from which on the page shows them as one line."""

METHOD_KEYS = ("a", "b", "against", "method")
"""Arguments of a claim that name methods."""

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib", "snakemake")


def build(scale, root=ROOT):
    """Write ``figures/<scale>/index.html`` and the joined ``claims.csv`` beside it.

    Parameters
    ----------
    scale : str
        One of `SCALES`.
    root : path-like, optional
        Repository root; papers without any table of claims at this scale are left out.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    FileNotFoundError
        No paper has been built at this scale.
    SurroundingsError
        `root` is an installed package.
    """
    check_checkout("figures", root)
    folder = Path(root, "figures", scale)
    table = claims.load(claims.join(folder))
    shown = [p for p in papers(root) if (folder / p / "claims.csv").exists()]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "p": p_text, "slug": slug}
    views = [_paper_view(paper, scale, Path(root), table) for paper in shown]
    old = [
        f"{v['name']} {r['name']} ({r['outdated']})"
        for v in views
        for r in v["runs"]
        if r["outdated"]
    ]
    if old:
        print(f"note: made by other code than the present: {'; '.join(old)}", file=sys.stderr)
    page = environment.get_template("report.html.j2").render(
        scale=scale,
        papers=views,
        sources=_sources(Path(root)),
        machine=_machine(),
        verdicts=claims.VERDICTS,
        statuses=fidelity.STATUSES,
    )
    path = folder / "index.html"
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def _paper_view(paper, scale, root, table):
    """Collect what the page shows of one paper."""
    config = load_paper(paper, scale, root)
    table = table[table["paper"] == paper]
    rows = fidelity.load(paper, root) if (root / paper / "fidelity.yaml").exists() else []
    pinned = pinned_rows(paper, root)
    bound = [(row, _code_links(row.code, algorithm_lines(row.where))) for row in rows]
    runs = _run_summaries(config, root)
    tried = {kind: _records(table[table["kind"] == kind]) for kind in claims.VERDICTS}
    for record in [record for records in tried.values() for record in records]:
        record["evidence"] = _evidence(record, config, rows, root)
        record["evidence"]["runs"] = [
            run for run in runs if run["name"] in (record["experiments"] or "").split(";")
        ]
    named = [name for row in rows for name in row.code]
    named += [name for slug in load_study(paper).METHODS for name in method_code(paper, slug)]
    return {
        "name": paper,
        "title": config.title,
        "citation": config.citation,
        "counts": {kind: _verdicts(table[table["kind"] == kind], kind) for kind in claims.VERDICTS},
        "fidelity": fidelity.counts(rows),
        "figures": [
            _figure_view(name, given, root / "figures" / scale / paper, table)
            for name, given in config.figures.items()
        ],
        "claims": tried,
        "choices": [(r, c, pinned.get(r.id, ())) for r, c in bound if r.status in CHOICES],
        "others": [(r, c, pinned.get(r.id, ())) for r, c in bound if r.status not in CHOICES],
        "runs": runs,
        "code": sorted({code for name in named if (code := locate(name))}, key=_position),
    }


def _position(code):
    return code.path, code.first


def _code_links(names, steps=()):
    """Return (label, anchor) of each name that has a source; of its step if it carries one."""
    links = {}
    for code in filter(None, map(locate, names)):
        at = min((code.steps[step] for step in steps if step in code.steps), default=None)
        label = f"{code.path}:{at or code.first} {code.name.partition(':')[2]}"
        links[label] = f"code-{code.name}" + (f"-{at}" if at else "")
    return list(links.items())


def _evidence(record, config, rows, root):
    """Collect what a claim rests on: its test, the code of its methods, its fidelity rows."""
    given = next((claim for claim in config.claims if claim["id"] == record["id"]), {})
    path, found = f"{config.paper}/experiments.yaml", rf"\bid: {re.escape(record['id'])}\s*(,|$)"
    slugs = {slug for key in METHOD_KEYS for slug in _listed(given.get(key))}
    about = rows_about(record["where"], rows)
    names = [name for slug in sorted(slugs) for name in method_code(config.paper, slug)]
    names += [name for row in about for name in row.code]
    return {
        "test": yaml.dump(given, sort_keys=False, allow_unicode=True, width=90),
        "place": place_of(path, found, root),
        "code": _code_links(names),
        "rows": about,
    }


def _listed(value):
    return value if isinstance(value, list) else [value] if value else []


def _verdicts(table, kind):
    found = table["verdict"].value_counts()
    return [(verdict, int(found.get(verdict, 0))) for verdict in claims.VERDICTS[kind]]


def _records(table):
    return table.astype(object).where(table.notna(), None).to_dict("records")


def _figure_view(name, given, folder, table):
    """Collect what the page shows of one figure; the first of the claims about it has an anchor."""
    about = table[table["figure"] == name]
    found = Counter()
    for kind in claims.VERDICTS:
        found.update(dict(_verdicts(about[about["kind"] == kind], kind)))
    files = [folder / f"{name}.{kind}" for kind in ("pdf", "csv")]
    return {
        **{key: given[key] for key in ("place", "states", "caption")},
        "name": name,
        "title": given.get("title", given["caption"]),
        "ours": given.get("ours", False),
        "image": _image(folder / f"{name}.png"),
        "files": [(f.suffix[1:].upper(), f"{folder.name}/{f.name}") for f in files if f.exists()],
        "verdicts": [(v, n) for v, n in found.items() if n],
        "first": about["id"].iloc[0] if len(about) else None,
    }


def _image(png):
    """Return a PNG as a data URI with its size, which stands in its header; None if missing."""
    if not png.exists():
        return None
    data = png.read_bytes()
    width, height = (int.from_bytes(data[i : i + 4], "big") for i in (16, 20))
    address = "data:image/png;base64," + base64.b64encode(data).decode()
    return {"address": address, "width": width, "height": height}


def _run_summaries(config, root):
    """Return one mapping an experiment that has collected runs."""
    summaries = []
    path = f"{config.paper}/experiments.yaml"
    for name, experiment in config.experiments.items():
        folder = root / "results" / config.scale / config.paper / name
        if not (folder / "runs.parquet").exists():
            continue
        runs = pd.read_parquet(folder / "runs.parquet")
        summaries.append(
            {
                "name": name,
                "experiment": experiment,
                "settings": settings_text(experiment),
                "place": place_of(path, rf"^  {re.escape(name)}:", root),
                "data": [f for f in ("runs", "trace") if (folder / f"{f}.parquet").exists()],
                "seeds": int(runs["seed"].nunique()),
                "runs": len(runs),
                "failed": int((runs["status"] != "ok").sum()),
                "seconds": float(runs["wall_s"].sum()),
                "threads": int(runs["blas_threads"].max()),
                "code": ", ".join(sorted(runs["code"].unique())),
                "outdated": ", ".join(outdated(experiment, runs, root)),
                "first": runs["started"].min(),
                "last": runs["started"].max(),
            }
        )
    return summaries


def _sources(root):
    """Return one mapping a file of data/sources.csv, or a folder whose files share their origin."""
    path = root / "data" / "sources.csv"
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    groups = {}
    for row in rows:
        key = row["name"].rpartition("/")[0], row["licence"], row["citation"]
        groups.setdefault(key, []).append(row)
    shown = []
    for (folder, *_), files in groups.items():
        if len(files) < MANY:
            shown += [file | {"sum": f"{file['sha256'][:16]}…"} for file in files]
        else:
            name = f"{folder}/ ({len(files)} files)"
            shown.append(files[0] | {"name": name, "sum": "in data/sources.csv"})
    return shown


def _machine():
    return {
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "packages": [(name, version(name)) for name in PACKAGES],
    }


def number(value):
    """Return a number with three significant digits, or a dash if there is none."""
    if value is None or value != value:
        return "–"
    if abs(value) == float("inf"):
        return "∞" if value > 0 else "−∞"
    return f"{value:.3g}".replace("-", "−")


def p_text(value):
    """Return a p-value as text, or a dash if there is none."""
    if value is None or value != value:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def slug(text):
    """Return a text as a name for anchors and classes."""
    return "".join(c if c.isalnum() else "-" for c in str(text).lower())


def main(argv=None):
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m fivebo.common.page.report",
        description="Write figures/<scale>/index.html from the figures and claims of all papers.",
        epilog="example: python -m fivebo.common.page.report --scale quick",
    )
    parser.add_argument("--scale", choices=SCALES, default="quick")
    parser.add_argument("--root", type=Path, default=ROOT, help="repository (default: this one)")
    arguments = parser.parse_args(argv)
    try:
        page = build(arguments.scale, arguments.root)
    except (SurroundingsError, ValueError, OSError) as error:
        print(f"error: {error}")
        return 1
    print(f"report: {page}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
