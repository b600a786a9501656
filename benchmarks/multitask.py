"""Speed of the multi-task posteriors: eigenbasis of the tasks against the n t x n t block form.

    python benchmarks/multitask.py

One BLAS thread. The table goes to benchmarks/multitask.csv: the time of one posterior (mean and
spectral norm on all candidates) of t rounds computed anew, and of one round more.
"""

import csv
import os
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np

from fivebo.common.gp.kernels import SquaredExponential
from fivebo.mtbo.blocks import BlockPosterior
from fivebo.mtbo.multitask import ICM
from fivebo.mtbo.posteriors import exact_posterior

CASES = [(2, 200, 100), (5, 200, 100), (20, 50, 100), (20, 200, 100)]
"""Tasks n, rounds t, candidates m."""


def best_of(repeats, make, run):
    """Return the shortest time of run(make()) in milliseconds."""
    times = []
    for _ in range(repeats):
        subject = make()
        start = time.perf_counter()
        run(subject)
        times.append(1000 * (time.perf_counter() - start))
    return min(times)


def measure(n, t, m):
    """Return one row of the table."""
    rng = np.random.default_rng(0)
    A, X = rng.random((n, n)), np.arange(1, m + 1)[:, None] / m
    kernel, arms = ICM(SquaredExponential(0.2), A.T @ A), rng.integers(m, size=t + 1)
    Y = rng.standard_normal((t + 1, n))

    def filled(form):
        posterior = form(kernel, 0.1, X)
        posterior.update(arms[:t], Y[:t])
        return posterior

    row, answers = {"tasks": n, "rounds": t, "candidates": m}, []
    for label, form, repeats in (
        ("eigenbasis", exact_posterior, 5),
        ("block", BlockPosterior, 2),
    ):
        anew = best_of(repeats, lambda form=form: form, filled)
        more = best_of(repeats, lambda form=form: filled(form), lambda p: p.update(arms[t], Y[t]))
        answers.append(filled(form))
        row |= {f"{label}_anew_ms": round(anew, 2), f"{label}_round_ms": round(more, 2)}
    row["times_slower_anew"] = round(row["block_anew_ms"] / row["eigenbasis_anew_ms"], 1)
    row["times_slower_round"] = round(row["block_round_ms"] / row["eigenbasis_round_ms"], 1)
    fast, block = answers
    difference = max(abs(fast.mean - block.mean).max(), abs(fast.norm - block.norm).max())
    return row | {"largest_difference": f"{difference:.1e}"}


def main():
    """Measure, print and save the table."""
    rows = [measure(*case) for case in CASES]
    with open(Path(__file__).with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print("  ".join(f"{key}={value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
