"""Derive the medians of the protein-binding microarrays: the bundled ones and the whole set.

Run from the root of the repository: ``python data/derive_pbm.py``. It fetches all 200 assays (from
a mirror the compact ``pbm/assays/*.npz``, from the public source ``pbm/text/*_8mers.txt``), writes
data/raw/pbm/medians.npy, and tells whether the bundled assays hold the same numbers.
"""

import os
import sys
from pathlib import Path

import numpy as np
from tqdm import tqdm

from fivebo.classify_dfo.dna import (
    BUNDLED,
    N_KMERS,
    PANELS,
    WHOLE,
    assay_names,
    draw_sample,
    kmers,
    load_index,
)
from fivebo.common.files import atomic_path
from fivebo.common.lab.datasets import MIRROR, RAW, DataError, fetch, sha256, sources, verify_file

REFERENCE = ("VSX1_REF_R1",)
"""Bundled besides the figures' assays: the reference allele of Fig. 2b's factor."""


def bundled_names():
    """Return the assays that are bundled: those of the figures, the sample, the reference."""
    return sorted({*PANELS, *REFERENCE, *draw_sample(assay_names())})


def read_text(path):
    """Return Median x 100 of a source file, int32, and check that its rows are `kmers`."""
    header, *lines = Path(path).read_text(encoding="ascii").splitlines()
    column = header.split("\t").index("Median")
    rows = [line.split("\t") for line in lines]
    if tuple(row[0] for row in rows) != kmers():
        raise DataError(f"{path} does not hold the {N_KMERS} 8-mers in alphabetical order")
    return np.array([round(100 * float(row[column])) for row in rows], dtype=np.int32)


def read_compact(path):
    """Return Median x 100 of a compact file of a mirror, int32."""
    with np.load(path) as arrays:
        return arrays["median_x100"]


def read_assay(name):
    """Fetch one assay, in whichever form is in reach, and return Median x 100."""
    failures = []
    for place, read in (
        (f"pbm/assays/{name}.npz", read_compact),
        (f"pbm/text/{name}_8mers.txt", read_text),
    ):
        if not sources()[place]["url"] and not os.environ.get(MIRROR):
            continue
        try:
            return read(fetch(place, progress=False))
        except DataError as error:
            failures.append(str(error))
    raise DataError("; ".join(failures))


def whole_set():
    """Return Median x 100 of all assays, shape (200, 32896), each checked by its extremes."""
    names = assay_names()
    table = np.empty((len(names), N_KMERS), dtype=np.int32)
    for row, name in enumerate(tqdm(names, unit="assay")):
        table[row] = read_assay(name)
        extremes = [table[row].min() / 100, table[row].max() / 100]
        expected = [float(load_index()[name][key]) for key in ("median_min", "median_max")]
        if extremes != expected:
            raise DataError(f"{name}: Median goes from {extremes[0]} to {extremes[1]}, not as said")
    return table


def main():
    """Write the whole set, and compare the bundled assays with it; return the exit code."""
    try:
        table = whole_set()
    except DataError as error:
        print(f"derive_pbm: {error}", file=sys.stderr)
        return 1
    place = WHOLE.removeprefix("data/raw/")
    with atomic_path(RAW / place) as temporary, open(temporary, "wb") as file:
        np.save(file, table)
    rows = dict(zip(assay_names(), table, strict=True))
    with np.load(verify_file(BUNDLED)) as bundled:
        same = sorted(bundled.files) == bundled_names() and all(
            np.array_equal(bundled[name], rows[name]) for name in bundled.files
        )
    right = sha256(RAW / place) == sources()[place]["sha256"]
    print(f"{WHOLE}: the expected checksum: {'yes' if right else 'NO'}")
    print(f"{BUNDLED}: the same numbers: {'yes' if same else 'NO'}")
    return 0 if right and same else 1


if __name__ == "__main__":
    raise SystemExit(main())
