"""Derive data/bundled/intel_lab/readings.csv.gz from the raw sensor readings in data/raw.

Run from the root of the repository: ``python data/derive_intel_lab.py``. It reads
data/raw/intel_lab/readings_10min.csv.gz if that is there, else data/raw/intel_lab/sensor.mat
(`python -m fivebo.common.lab.datasets fetch intel_lab/sensor.mat`),
and tells whether the result holds the
readings that are committed.
"""

import csv
import gzip
import io
from datetime import datetime, timedelta
from pathlib import Path

from fivebo.common.lab.datasets import RAW, verify_file

ORIGIN = datetime(2004, 3, 1)
BIN = timedelta(minutes=10)
N_BINS = 5 * 24 * 6
DROPPED_MOTES = {15}
ABSENT_MOTES = {5, 28}
HEADER = ("bin", "mote", "temperature_C", "humidity_pct", "light_lux")


def raw_rows():
    """Yield (bin, mote, temperature, humidity, light, voltage), values as text of 5 digits."""
    table = "intel_lab/readings_10min.csv.gz"
    if (RAW / table).exists():
        yield from table_rows(verify_file(f"data/raw/{table}"))
    else:
        yield from tensor_rows(verify_file("data/raw/intel_lab/sensor.mat"))


def table_rows(path):
    """Yield the rows of the labelled table."""
    with gzip.open(path, "rt", encoding="ascii", newline="") as file:
        for stamp, mote, *values in list(csv.reader(file))[1:]:
            yield (datetime.fromisoformat(stamp) - ORIGIN) // BIN, int(mote), *values


def tensor_rows(path):
    """Yield the rows of the published tensor T (52 motes x 4 quantities x time), its gaps left out.

    The tensor has no labels: its motes are 1 to 54 without 5 and 28, and its time starts at
    2004-03-01 00:00 (see PROVENANCE.md for the evidence).
    """
    from scipy.io import loadmat

    tensor = loadmat(path)["T"]
    motes = [mote for mote in range(1, 55) if mote not in ABSENT_MOTES]
    for number in range(tensor.shape[2]):
        for row, mote in enumerate(motes):
            values = tensor[row, :, number]
            if values.any():
                yield number, mote, *(f"{value:.5g}" for value in values)


def kept(row):
    """Say whether a row is of the first five days and physically possible."""
    number, mote, *texts = row
    temperature, humidity, light, voltage = map(float, texts)
    return (
        0 <= number < N_BINS
        and mote not in DROPPED_MOTES
        and 0 < temperature < 40
        and 0 < humidity <= 100
        and light >= 0
        and voltage >= 2.3
    )


def derived(rows):
    """Return the bytes of the derived file: gzip without name or time of a CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(row[:5] for row in sorted(filter(kept, rows), key=lambda row: row[:2]))
    return gzip.compress(text.getvalue().encode("ascii"), compresslevel=9, mtime=0)


def main():
    """Write the derived file beside the raw ones and compare it with the bundled one."""
    content = derived(raw_rows())
    target = RAW / "intel_lab/readings.csv.gz"
    Path(target).write_bytes(content)
    same = gzip.decompress(content) == gzip.decompress(
        verify_file("data/bundled/intel_lab/readings.csv.gz").read_bytes()
    )
    print(f"{target}: the same readings as the bundled file: {'yes' if same else 'NO'}")


if __name__ == "__main__":
    main()
