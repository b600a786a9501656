"""How long a paper's experiments will take: one seed of each is timed, the rest is extrapolated."""

import time
from collections import defaultdict

from fivebo.common.lab.experiments import load_study


def seed_seconds(experiment, seed=0):
    """Run all methods and variants of an experiment for one seed, and throw the results away.

    Parameters
    ----------
    experiment : Experiment
        At the scale in question.
    seed : int, optional

    Returns
    -------
    float
        Seconds of one core.
    dict
        Method to its mean seconds a run, over the variants.

    Raises
    ------
    RuntimeError
        A run failed, so that its time says nothing.
    """
    from fivebo.common.lab.runner import run_trajectory, trajectories

    study, start = load_study(experiment.paper), time.perf_counter()
    walls = defaultdict(list)
    for variant in experiment.variants:
        for methods in trajectories(study, experiment.methods(variant)):
            for row, _ in run_trajectory(
                study, experiment, methods=methods, variant=variant, seed=seed
            ):
                if row["status"] != "ok":
                    raise RuntimeError(
                        f"{experiment.name}, {row['method']}, variant {variant}: {row['error']}"
                    )
                walls[row["method"]].append(row["wall_s"])
    means = {method: sum(times) / len(times) for method, times in walls.items()}
    return time.perf_counter() - start, means


def estimate(experiments, cores, say=print):
    """Print the time of every experiment, of a run of each of its methods, and of all together.

    Parameters
    ----------
    experiments : sequence of Experiment
    cores : int
        Jobs at a time, for the time on the clock.
    say : callable, optional
        Takes one line.

    Returns
    -------
    float
        Hours of one core for all.
    """
    total = 0.0
    say(f"{'experiment':<20} {'seeds':>6} {'s/seed':>9} {'core hours':>11}")
    for experiment in experiments:
        seconds, methods = seed_seconds(experiment)
        hours = seconds * experiment.seeds / 3600
        total += hours
        say(f"{experiment.name:<20} {experiment.seeds:>6} {seconds:>9.1f} {hours:>11.3f}")
        say("  a run: " + ", ".join(f"{name} {wall:.2g} s" for name, wall in methods.items()))
    say(f"total {total:.2f} core hours, about {total / cores:.2f} hours on {cores} core(s)")
    return total
