"""Speed of the core GP against peers: a GP-UCB loop with mean and deviation on all candidates.

    python benchmarks/core_gp.py                  # this package and scikit-learn
    python benchmarks/core_gp.py --peers all      # and BoTorch, if installed (extra "bench")

Every peer runs in a process of its own, on one BLAS thread, over the same queries, and must give
the same posterior; memory is the peak above what the imports take. The table goes to
benchmarks/core_gp.csv.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
LENGTH_SCALE, NOISE_VAR = 0.2, 0.01


def problem(m, rounds):
    """Return candidates (m, 2), the queries of one GP-UCB run and their observations."""
    import numpy as np

    rng = np.random.default_rng(0)
    candidates = rng.random((m, 2))
    noise = rng.standard_normal(rounds)
    return candidates, lambda x, t: float(np.sin(6 * x).sum() + 0.1 * noise[t])


def incremental(m, rounds):
    """Run this package: extend the factor, keep the candidates tracked."""
    import numpy as np
    from sklearn.gaussian_process.kernels import RBF

    from fivebo.common.gp.posterior import GP

    def run():
        candidates, observe = problem(m, rounds)
        gp = GP(RBF(LENGTH_SCALE), NOISE_VAR)
        tracked = gp.track(candidates, rounds)
        for t in range(rounds):
            i = int(np.argmax(tracked.mean + 2 * np.sqrt(tracked.var)))
            gp.condition(candidates[i : i + 1], [observe(candidates[i], t)])
        return tracked.mean, np.sqrt(tracked.var)

    return run


def scikit_learn(m, rounds):
    """Refit scikit-learn's regressor on all data in every round."""
    import numpy as np
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    def run():
        candidates, observe = problem(m, rounds)
        X, y = [], []
        mean, std = np.zeros(m), np.ones(m)
        for t in range(rounds):
            i = int(np.argmax(mean + 2 * std))
            X.append(candidates[i])
            y.append(observe(candidates[i], t))
            model = GaussianProcessRegressor(RBF(LENGTH_SCALE), alpha=NOISE_VAR, optimizer=None)
            mean, std = model.fit(np.array(X), y).predict(candidates, return_std=True)
        return mean, std

    return run


def botorch(m, rounds):
    """Build a SingleTaskGP in every round, posterior in batches of 2,048 candidates."""
    import numpy as np
    import torch
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import RBFKernel
    from gpytorch.means import ZeroMean

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)

    def posterior(X, y, candidates):
        kernel = RBFKernel()
        kernel.lengthscale = LENGTH_SCALE
        model = SingleTaskGP(
            torch.tensor(np.array(X)), torch.tensor(y)[:, None],
            train_Yvar=torch.full((len(y), 1), NOISE_VAR), covar_module=kernel,
            mean_module=ZeroMean(), outcome_transform=None,
        ).eval()  # fmt: skip
        with torch.no_grad():
            # a batch dimension keeps the posterior from building the m x m covariance
            parts = [model.posterior(c[:, None, :]) for c in candidates.split(2048)]
            mean = torch.cat([p.mean.ravel() for p in parts]).numpy()
            return mean, torch.cat([p.variance.ravel() for p in parts]).sqrt().numpy()

    def run():
        candidates, observe = problem(m, rounds)
        tensor = torch.tensor(candidates)
        X, y = [], []
        mean, std = np.zeros(m), np.ones(m)
        for t in range(rounds):
            i = int(np.argmax(mean + 2 * std))
            X.append(candidates[i])
            y.append(observe(candidates[i], t))
            mean, std = posterior(X, y, tensor)
        return mean, std

    return run


PEERS = {"incremental": incremental, "scikit-learn": scikit_learn, "botorch": botorch}


def child(peer, m, rounds, target):
    """Measure one peer in this process and save its posterior."""
    import numpy as np

    run = PEERS[peer](m, rounds)
    PEERS[peer](50, 3)()  # loads whatever is loaded late
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    mean, std = run()
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    np.savez(target, mean=mean, std=std)
    print(json.dumps({"peer": peer, "seconds": seconds, "megabytes": (after - before) / 1024}))


def measure(peers, m, rounds, repeats, folder):
    """Return one row a peer: best time of `repeats`, memory, and ratio to this package."""
    import numpy as np

    rows, reference = [], None
    for peer in peers:
        target = folder / f"{peer}.npz"
        command = [sys.executable, __file__, "--child", peer, str(m), str(rounds), str(target)]
        runs = []
        for _ in range(repeats):
            done = subprocess.run(
                command, env=os.environ | THREADS | {"PYTHONPATH": str(Path(__file__).parents[1])},
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                print(f"{peer}: not measured ({done.stderr.strip().splitlines()[-1]})")
                break
            runs.append(json.loads(done.stdout.splitlines()[-1]))
        if not runs:
            continue
        answer = dict(np.load(target))
        reference = reference or answer
        error = max(float(abs(answer[key] - reference[key]).max()) for key in ("mean", "std"))
        best = min(runs, key=lambda r: r["seconds"])
        row = {"peer": peer, "candidates": m, "rounds": rounds}
        row |= {"seconds": round(best["seconds"], 3), "megabytes": round(best["megabytes"])}
        row |= {"largest_difference": f"{error:.1e}"}
        rows.append(row | {"times_slower": round(best["seconds"] / rows[0]["seconds"], 1)
                           if rows else 1.0})  # fmt: skip
    return rows


def main():
    """Measure, print and save the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", choices=["scikit-learn", "all"], default="scikit-learn")
    parser.add_argument("--candidates", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3, help="best of (default 3)")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        peer, m, rounds, target = options.child
        child(peer, int(m), int(rounds), target)
        return
    import tempfile

    peers = list(PEERS) if options.peers == "all" else list(PEERS)[:2]
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(peers, options.candidates, options.rounds, options.repeats, Path(folder))
    with open(Path(__file__).with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print("  ".join(f"{key}={value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
