"""Run times of the methods of egpbo at the paper's setting, and the limit that EGP-TS keeps.

    python benchmarks/ensembles.py [method ...]

One BLAS thread, CPU seconds of asking and telling alone: 10 + 200 evaluations of the 3-d robot's
box with D = 50 features; the function costs nothing. The table goes to benchmarks/ensembles.csv.
"""

import csv
import os
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import scipy.optimize
import scipy.stats  # noqa: F401  imports are not what is measured

from fivebo.common.search.domains import Box
from fivebo.common.search.rng import Streams
from fivebo.egpbo import study
from fivebo.egpbo.problems import Instance
from fivebo.egpbo.robot import BOUNDS

EVALUATIONS = 210
CASES = {
    "egp-ts": ("rbf", "mixed"),
    "gp-ts-rbf": ("rbf",),
    "gp-ts-ard": ("rbf",),
    "banditbo": ("rbf", "mixed"),
    "exp3bo": ("rbf", "mixed"),
    "gp-ts-bayes": ("rbf",),
    "gp-ei": ("mixed",),
    "egp-ei": ("mixed",),
}
"""Methods and the dictionaries with which they are measured."""


def truth(x):
    """Return a smooth function with several maxima, negative like the robot's."""
    return float(np.cos(x[0]) + np.sin(x[1]) - 0.05 * (x[2] - 12) ** 2 - 3)


def measure(method, dictionary):
    """Return one row of the table."""
    instance = Instance(Box(BOUNDS[3]), truth, np.nan, 0.2)
    params = study.Params(dictionary=dictionary)
    optimizer = study.METHODS[method](instance, params, EVALUATIONS, Streams.of(0))
    noise, seconds = np.random.default_rng(0), 0.0
    for _ in range(EVALUATIONS):
        start = time.process_time()
        x = optimizer.ask()
        seconds += time.process_time() - start
        y = instance.observe(x, noise)
        start = time.process_time()
        optimizer.tell(x, y)
        seconds += time.process_time() - start
    return {
        "method": method,
        "dictionary": dictionary,
        "components": len(params.kernels(instance))
        if method.startswith(("egp", "b", "exp"))
        else 1,
        "cpu_s": round(seconds, 2),
    }


def main():
    """Measure and write the table."""
    chosen = sys.argv[1:] or list(CASES)
    rows = []
    for method in chosen:
        for dictionary in CASES[method]:
            rows.append(measure(method, dictionary))
            print(rows[-1], flush=True)
    with open(Path(__file__).with_suffix(".csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
