"""Derive the table of NACA 4-digit airfoils by running XFOIL on each of them.

Run from the root of the repository: ``python data/derive_airfoil.py``. It needs the program XFOIL
(Debian: ``apt-get install xfoil``) and some minutes, writes
data/raw/airfoil/naca4_xfoil_re1e6_alpha4.tsv, and tells where it differs from the table that is
committed. Stop it at any time: rows that are there already are kept. ``--sample 60`` compares a
random sample only, and writes nothing.
"""

import argparse
import os
import sys

import numpy as np
from tqdm import tqdm

from fivebo.classify_dfo.airfoil import TABLE, load_table, series
from fivebo.classify_dfo.xfoil import Xfoil, XfoilError
from fivebo.common.files import atomic_path
from fivebo.common.lab.datasets import RAW

HEADER = ("naca", "status", "CL", "CD", "CDp", "CM", "top_xtr", "bot_xtr")
DIGITS = (4, 5, 5, 4, 4, 4)  # as XFOIL prints them
TARGET = RAW / TABLE.removeprefix("data/bundled/")
PART = TARGET.with_suffix(".part")


def row_of(found):
    """Return a result as a line of the table, without its end."""
    numbers = (found.cl, found.cd, found.cdp, found.cm, found.top_xtr, found.bot_xtr)
    pairs = zip(numbers, DIGITS, strict=True)
    texts = [f"{number:.{digits}f}" if found.status == "ok" else "" for number, digits in pairs]
    return "\t".join([found.naca, found.status, *texts])


def kept_rows(path):
    """Return the whole lines of an earlier, unfinished call, by airfoil."""
    if not path.exists():
        return {}
    lines = path.read_text("ascii").splitlines(keepends=True)
    whole = [line[:-1] for line in lines if line.endswith("\n") and line.count("\t") == 7]
    return {line.split("\t", 1)[0]: line for line in whole}


def build(xfoil, names, part, workers):
    """Return the lines of all airfoils, appending each new one to the file `part` as it comes."""
    rows = kept_rows(part)
    part.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(part) as temporary:  # drop a half line that a kill left
        temporary.write_text("".join(f"{row}\n" for row in rows.values()), encoding="ascii")
    missing = [naca for naca in names if naca not in rows]
    with open(part, "a", encoding="ascii") as file:
        done = xfoil.run_many(missing, workers) if missing else ()
        for found in tqdm(done, initial=len(rows), total=len(names), unit="airfoil"):
            rows[found.naca] = row_of(found)
            file.write(f"{rows[found.naca]}\n")
            file.flush()
    return [rows[naca] for naca in names]


def bundled_rows():
    """Return the lines of the bundled table, by airfoil."""
    table = load_table()
    rows = {}
    for record in table.itertuples(index=False):
        pairs = zip(record[2:], DIGITS, strict=True)
        texts = [f"{x:.{k}f}" if record.status == "ok" else "" for x, k in pairs]
        rows[record.naca] = "\t".join([record.naca, record.status, *texts])
    return rows


def compare(rows):
    """Print how lines compare with the bundled ones; return the number that differ.

    A failure has no numbers, so "timeout" and "noconv", which depend on the machine's speed, count
    as equal.
    """
    bundled, different = bundled_rows(), []
    for row in rows:
        naca, status, *numbers = row.split("\t")
        _, expected_status, *expected = bundled[naca].split("\t")
        if (status == "ok") != (expected_status == "ok") or numbers != expected:
            different.append(f"  here    {row}\n  bundled {bundled[naca]}")
    works = sum(row.split("\t")[1] == "ok" for row in rows)
    print(f"{len(rows)} airfoils, {works} with a polar; {len(different)} differ from {TABLE}")
    print("\n".join(different[:10]) or "the same numbers as the bundled table: yes")
    return len(different)


def main(argv=None):
    """Build the table, or compare a sample; return 0, or 1 if XFOIL is missing or rows differ."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--sample", type=int, help="compare so many random airfoils only")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    args = parser.parse_args(argv)
    names = list(series())
    try:
        if args.sample:
            chosen = np.random.default_rng(args.seed).choice(len(names), args.sample, replace=False)
            names = [names[i] for i in sorted(chosen)]
            rows = [row_of(found) for found in tqdm(Xfoil().run_many(names, args.workers))]
            return 1 if compare(rows) else 0
        rows = build(Xfoil(), names, PART, args.workers)
    except XfoilError as error:
        print(f"derive_airfoil: {error}", file=sys.stderr)
        return 1
    with atomic_path(TARGET) as temporary:
        temporary.write_text("\n".join(["\t".join(HEADER), *rows, ""]), encoding="ascii")
    PART.unlink(missing_ok=True)
    compare(rows)
    print(f"written: {TARGET}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
