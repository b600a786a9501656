"""Derive data/bundled/transportation/tmd_sample.csv.gz from the raw five-second windows.

Run from the root of the repository: ``python data/derive_transportation.py``. It reads
data/raw/transportation/tmd_5s_set1.csv if that is there, else
data/raw/transportation/dataset_5secondWindow.csv
(`python -m fivebo.common.lab.datasets fetch transportation/dataset_5secondWindow.csv`),
and tells whether the result holds the rows that are committed.
"""

import csv
import gzip
import io

import numpy as np

from fivebo.common.lab.datasets import BUNDLED, RAW, verify_file

SENSORS = ("accelerometer", "gyroscope", "sound")
STATISTICS = ("mean", "min", "max", "std")
COLUMNS = [f"{sensor}#{statistic}" for sensor in SENSORS for statistic in STATISTICS]
ROWS_PER_CLASS = 200
SEED = 0


def raw_table():
    """Return header and rows of whichever raw file is there."""
    name = "transportation/tmd_5s_set1.csv"
    if not (RAW / name).exists():
        name = "transportation/dataset_5secondWindow.csv"
    with open(verify_file(f"data/raw/{name}"), encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    return header, rows


def position(header, column):
    """Return where a column stands; names may carry a prefix such as "android.sensor."."""
    return next(i for i, name in enumerate(header) if name.rpartition(".")[2] == column)


def derived():
    """Return the bytes of the sample: 200 rows of each class, in the order of the file."""
    header, rows = raw_table()
    kept = [position(header, column) for column in [*COLUMNS, "target"]]
    targets = np.array([row[kept[-1]] for row in rows])
    rng = np.random.default_rng(SEED)
    chosen = [
        rng.choice(np.flatnonzero(targets == name), ROWS_PER_CLASS, replace=False)
        for name in sorted(set(targets))
    ]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, "target"])
    writer.writerows([rows[i][k] for k in kept] for i in np.sort(np.concatenate(chosen)))
    return gzip.compress(text.getvalue().encode("utf-8"), compresslevel=9, mtime=0)


def main():
    """Write the sample beside the raw files and compare it with the bundled one."""
    content = derived()
    target = RAW / "transportation/tmd_sample.csv.gz"
    target.write_bytes(content)
    bundled = BUNDLED / "transportation/tmd_sample.csv.gz"
    same = bundled.exists() and gzip.decompress(bundled.read_bytes()) == gzip.decompress(content)
    print(f"{target}: the same rows as the bundled file: {'yes' if same else 'NO'}")


if __name__ == "__main__":
    main()
