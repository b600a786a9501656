"""What the READMEs say of the results: tables and a gallery, generated from the newest scale.

``python -m fivebo.common.page.summary`` reads the claims and runs on disk, keeps their counts in
figures/summary.json (committed, so that anyone can check the tables without running anything) and
writes the tables between the markers of the READMEs and the gallery figures/README.md.
``--check`` writes nothing and lists what does not fit.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import pandas as pd

from fivebo.common.files import ROOT, SurroundingsError, atomic_path, check_checkout
from fivebo.common.lab.experiments import load_paper, papers
from fivebo.common.referee import fidelity
from fivebo.common.referee.claims import ADVERSE, TESTS, VERDICTS

COMMAND = "fivebo.common.page.summary"
BEGIN, END = "<!-- verdicts:begin -->", "<!-- verdicts:end -->"
RANKED = ("paper", "quick")
"""Scales whose verdicts count, the better first."""
KINDS = ("pdf", "png", "csv")


def collect(paper, root=ROOT):
    """Count the verdicts and runs of a paper's best scale that has been built.

    Parameters
    ----------
    paper : str
    root : path-like, optional

    Returns
    -------
    dict or None
        `scale`, `runs`, `failed`, `core_minutes`, `code`, `figures` (figure to verdict to count)
        and `unexplained` (adverse verdicts without a word why). None if no scale of `RANKED` has
        both a table of claims and the runs of every experiment on this disk.
    """
    root = Path(root)
    for scale in RANKED:
        table = root / "figures" / scale / paper / "claims.csv"
        folder = root / "results" / scale / paper
        names = sorted(load_paper(paper, scale, root).experiments)
        parts = [folder / name / "runs.parquet" for name in names]
        if all(path.exists() for path in (table, *parts)):
            break
    else:
        return None
    claims = pd.read_csv(table)
    columns = ["status", "wall_s", "code"]
    runs = pd.concat(pd.read_parquet(path, columns=columns) for path in parts)
    figures = {
        figure: {
            f"{kind} {verdict}": int(n)
            for (kind, verdict), n in about[["kind", "verdict"]].value_counts(sort=False).items()
        }
        for figure, about in claims.groupby("figure", sort=False)
    }
    adverse = claims[claims["verdict"].isin(ADVERSE)]
    return {
        "scale": scale,
        "runs": len(runs),
        "failed": int((runs["status"] != "ok").sum()),
        "core_minutes": round(float(runs["wall_s"].sum()) / 60, 1),
        "code": sorted(runs["code"].unique()),
        "figures": figures,
        "unexplained": sorted(adverse.loc[adverse["differs"].isna(), "id"]),
    }


def load(root=ROOT):
    """Read figures/summary.json: paper to what `collect` found."""
    check_checkout("figures/summary.json", root)
    path = Path(root, "figures", "summary.json")
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _counts(found, kind):
    totals = sum((Counter(counts) for counts in found["figures"].values()), Counter())
    return ", ".join(f"{totals[f'{kind} {verdict}']} {verdict}" for verdict in VERDICTS[kind])


def overview(summary, root=ROOT):
    """Render the table of the five papers as Markdown.

    Parameters
    ----------
    summary : dict
        See `load`.
    root : path-like, optional

    Returns
    -------
    str
    """
    lines = [
        "| paper | claims | certificates | fidelity rows | runs, minutes of one core |",
        "|---|---|---|---|---|",
    ]
    for paper in papers(root):
        config = load_paper(paper, "quick", root)
        rows = fidelity.counts(fidelity.load(paper, root))
        cells = [f"[`{paper}/`]({paper}/README.md) {config.title}"]
        if found := summary.get(paper):
            cells += [_counts(found, "claim"), _counts(found, "certificate")]
            runs = f"**{found['scale']}** scale: {found['runs']}, {found['core_minutes']:g} min"
        else:
            cells, runs = [*cells, "not run yet", "not run yet"], "–"
        cells += [", ".join(f"{n} {status}" for status, n in rows.items()), runs]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def verdicts(paper, summary, root=ROOT):
    """Render the verdicts of a paper, figure by figure, as Markdown."""
    found = summary.get(paper)
    if found is None:
        return f"Not run yet: `./reproduce quick {paper}`."
    config = load_paper(paper, found["scale"], root)
    names = [f"{kind} {verdict}" for kind, all_ in VERDICTS.items() for verdict in all_]
    heads = [name if name.endswith("inconclusive") else name.partition(" ")[2] for name in names]
    lines = [
        f"Computed at the **{found['scale']}** scale from {found['runs']} runs "
        f"({found['core_minutes']:g} minutes of one core): {_counts(found, 'claim')} claims; "
        f"{_counts(found, 'certificate')} certificates.",
        "",
        f"| figure | place | {' | '.join(heads)} |",
        f"|---|---|{'---:|' * len(heads)}",
    ]
    for figure, given in config.figures.items():
        if counts := found["figures"].get(figure):
            cells = " | ".join(str(counts.get(name, "")) for name in names)
            lines.append(f"| {figure} | {given['place']} | {cells} |")
    return "\n".join(lines)


def gallery(summary, root=ROOT):
    """Render figures/README.md: every committed figure beside what the paper says it shows."""
    lines = [
        "# Figures at the papers' own scale",
        "",
        "Made by `./reproduce paper` and `python -m fivebo.common.page.summary`. Each figure is",
        "there as PDF, as PNG and as the CSV of its plotted numbers; verdicts:",
        "`paper/<paper>/claims.csv`.",
    ]
    for paper in papers(root):
        config = load_paper(paper, "paper", root)
        lines += ["", f"## {config.title} ({config.citation})"]
        if summary.get(paper, {}).get("scale") != "paper":
            lines += ["", f"Not run at this scale yet: `./reproduce paper {paper}`."]
            continue
        for figure, given in config.figures.items():
            place = f"paper/{paper}/{figure}"
            whose = "ours, on " if given.get("ours") else ""
            lines += [
                *(
                    "",
                    f"### {figure}: {given.get('title', given['place'])} ({whose}{given['place']})",
                ),
                *("", f"![{figure} of {paper}]({place}.png)", ""),
                f"{given['caption']} The paper: {given['states']} "
                f"[PDF]({place}.pdf) [CSV]({place}.csv)",
            ]
    return "\n".join(lines) + "\n"


def expected(summary, root=ROOT):
    """Return the generated texts: file, relative to the root, to its whole new content."""
    root, texts = Path(root), {"figures/README.md": gallery(summary, root)}
    tables = {"README.md": overview(summary, root)}
    tables |= {f"{paper}/README.md": verdicts(paper, summary, root) for paper in papers(root)}
    for name, table in tables.items():
        text = (root / name).read_text(encoding="utf-8")
        texts[name] = fidelity.spliced(text, BEGIN, END, table, name)
    return texts


def check(root=ROOT):
    """List what does not fit together; empty if nothing is wrong.

    Parameters
    ----------
    root : path-like, optional

    Returns
    -------
    list of str
        Tables that are not those of figures/summary.json, claims without a verdict, committed
        figures that are missing or that no experiment names.
    """
    root, summary = Path(root), load(root)
    problems = [
        f"{name}: its table is not that of figures/summary.json; rewrite: python -m {COMMAND}"
        for name, text in expected(summary, root).items()
        if not (root / name).exists() or (root / name).read_text(encoding="utf-8") != text
    ]
    for paper, found in summary.items():
        config = load_paper(paper, found["scale"], root)
        for kind in VERDICTS:
            stated = Counter(c["figure"] for c in config.claims if TESTS[c["test"]].kind == kind)
            for figure in stated.keys() | found["figures"].keys():
                counts = found["figures"].get(figure, {})
                tried = sum(n for name, n in counts.items() if name.startswith(kind))
                if tried != stated[figure]:
                    problems.append(
                        f"figures/summary.json: {paper} {figure}: {tried} {kind}s have a verdict, "
                        f"experiments.yaml has {stated[figure]}; build {found['scale']} again"
                    )
        problems += [
            f"{paper}/experiments.yaml: claims.{name}: say in 'differs' why it was not found"
            for name in found["unexplained"]
        ]
        if found["scale"] == "paper":
            problems += _figure_problems(config, root / "figures/paper" / paper)
    return problems


def _figure_problems(config, folder):
    wanted = {f"{figure}.{kind}" for figure in config.figures for kind in KINDS} | {"claims.csv"}
    present = {path.name for path in folder.glob("*")}
    for name in sorted(wanted - present):
        yield f"figures/paper/{config.paper}/{name} is missing: ./reproduce paper {config.paper}"
    for name in sorted(present - wanted):
        yield f"figures/paper/{config.paper}/{name} belongs to no figure: remove it"


def write(root=ROOT):
    """Count anew what is on disk, and write figures/summary.json, the tables and the gallery.

    What was counted at the paper scale is not replaced by what a quicker scale says.
    """
    root, summary = Path(root), load(root)
    for paper in papers(root):
        found, old = collect(paper, root), summary.get(paper)
        if found and (old is None or RANKED.index(found["scale"]) <= RANKED.index(old["scale"])):
            summary[paper] = found
    texts = {"figures/summary.json": json.dumps(summary, indent=1, sort_keys=True) + "\n"}
    for name, text in (texts | expected(summary, root)).items():
        with atomic_path(root / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def main(argv=None):
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {COMMAND}",
        description="Write the tables of results into the READMEs, and the gallery of figures.",
        epilog=f"examples:\n  python -m {COMMAND}\n  python -m {COMMAND} --check",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="write nothing, list what is wrong")
    try:
        if not parser.parse_args(argv).check:
            write()
        problems = check()
    except (SurroundingsError, ValueError, OSError) as error:
        problems = [str(error)]
    print("\n".join(problems) or "READMEs, gallery and figures fit figures/summary.json")
    return int(bool(problems))


if __name__ == "__main__":
    raise SystemExit(main())
