"""Runs the workflow for ./reproduce: looks before it starts, cleans up after a kill, says where.

``python -m fivebo.common.reproduce [smoke|quick|paper] [snakemake options and targets]``
"""

import contextlib
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import psutil

from fivebo.common.lab.experiments import SCALES, papers
from fivebo.common.names import UsageError, unknown_name
from fivebo.common.workflow import OWNER, check_target

NEEDED_MB = 200
LOOKS = {"-n", "--dry-run", "--dryrun", "--lint", "--list", "-l", "--list-rules", "--unlock"}
"""Options with which Snakemake builds nothing, so that there is no result to point to."""


def main(argv=None):
    """Run the workflow; return the exit code of Snakemake, 2 if it could not start."""
    try:
        _check_place()
        scale, args = _split(list(sys.argv[1:] if argv is None else argv))
        _check_cores(args)
        targets = _checked_targets(args)
        _check_disk()
        settle_lock()
    except UsageError as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    code = _snakemake(args)
    if not LOOKS.intersection(args):
        if code == 0 and targets and "all" not in targets:
            _write_report(scale)
        print(_ending(code, scale), file=sys.stderr if code else sys.stdout)
    return code


def _check_place():
    """Refuse a folder without a workflow, such as any but the checkout when FiveBO is installed."""
    if not Path("Snakefile").is_file():
        raise UsageError(
            f"no Snakefile in {Path.cwd()}: run ./reproduce in a clone of the repository"
        )


def _split(args):
    """Return the scale, and the arguments for Snakemake with one --config that holds it.

    Snakemake takes the last --config alone, and any word after it for a setting.
    """
    config, rest, inside = {}, [], False
    for word in args:
        name, equals, value = word.partition("=")
        if word in ("--config", "-C"):
            inside = True
        elif inside and equals and not word.startswith("-"):
            config[name] = value
        else:
            inside = False
            rest.append(word)
    scales = [*(word for word in rest if word in SCALES), *filter(None, [config.get("scale")])]
    if len(set(scales)) > 1:
        raise UsageError(f"two scales, {scales[0]} and {scales[1]}: give one")
    config["scale"] = scale = scales[0] if scales else "quick"
    if scale not in SCALES:
        raise UsageError(unknown_name("scale", scale, SCALES))
    rest = [word for word in rest if word not in SCALES]
    end = rest.index("--") if "--" in rest else len(rest)
    settings = [f"{name}={value}" for name, value in config.items()]
    return scale, [*rest[:end], "--config", *settings, *rest[end:]]


def _check_cores(args):
    """Refuse a number of cores with which Snakemake would wait for ever or stop half-way."""
    for option, value in pairwise([*args, ""]):
        option, _, given = option.partition("=")
        value = given or value
        counts = option in ("--cores", "-c", "--jobs", "-j") and value not in ("all", "unlimited")
        if counts and not (value.isdigit() and int(value) >= 1):
            raise UsageError(f"{option} must be an integer >= 1 or all, got {value!r}")


def _checked_targets(args):
    """Return the targets; refuse one that does not exist, a slip such as `smok`."""
    from snakemake.cli import get_argument_parser

    end = args.index("--") if "--" in args else len(args)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            given, unknown = get_argument_parser().parse_known_args(args[:end])
    except SystemExit:  # Snakemake says itself what is wrong with an option
        return []
    targets = [*given.targets, *(w for w in unknown if not w.startswith("-")), *args[end + 1 :]]
    for target in targets:
        try:
            check_target(target)
        except ValueError as error:
            if "/" in target:
                raise UsageError(str(error)) from error
            valid = [*SCALES, *papers(), "all"]
            raise UsageError(unknown_name("scale or paper", target, valid)) from error
    return targets


def _check_disk():
    free_mb = shutil.disk_usage(".").free // 2**20
    if free_mb < NEEDED_MB:
        raise UsageError(
            f"only {free_mb} MB are free on the disk of {Path.cwd()}: free {NEEDED_MB} MB or more"
        )
    for folder in ("results", "figures", ".snakemake"):
        try:
            Path(folder).mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise UsageError(
                f"cannot write to {Path(folder).resolve()} ({error.strerror}): give yourself the "
                f"right with chmod -R u+w {folder}, or move the repository to a folder of your own"
            ) from error


def settle_lock():
    """Remove the lock of a run that was killed, once nothing of it is at work any more.

    Raises
    ------
    UsageError
        Another run holds the lock, here or on another machine.
    """
    if not any(Path(".snakemake/locks").glob("*")):
        return
    host = _owner_host()
    if host != socket.gethostname():
        raise UsageError(
            f"a run on the machine {host} holds the lock of this folder; if it is dead, remove the "
            f"lock with: {sys.executable} -m snakemake --unlock"
        )
    masters, jobs = processes_here()
    if masters:
        raise UsageError(
            f"another run is at work in this folder (process {masters[0]}); wait for it, or stop "
            f"it with: kill -INT {masters[0]}"
        )
    if jobs:
        numbers = " ".join(str(pid) for pid in jobs)
        print(
            f"reproduce: jobs of a killed run are still at work (processes {numbers}); waiting for "
            f"them, so that nothing is lost. To stop them instead: kill {numbers}",
            file=sys.stderr,
        )
    while any(psutil.pid_exists(pid) for pid in jobs):
        time.sleep(0.5)
    print("reproduce: removing the lock that a killed run left behind", file=sys.stderr)
    subprocess.run(
        [sys.executable, "-m", "snakemake", "--unlock"], check=True, stderr=subprocess.DEVNULL
    )


def _owner_host():
    """Return the host of the run that took the lock; this one if no note says otherwise."""
    try:
        return json.loads(OWNER.read_text(encoding="utf-8"))["host"]
    except (OSError, ValueError, KeyError):
        return socket.gethostname()


def processes_here():
    """Find what works in this folder: process ids of Snakemakes, and of jobs without one."""
    masters, jobs = [], []
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    names = {*papers(), "fivebo.common.lab.datasets", "fivebo.common.page.report"}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid in own or process.cwd() != str(Path.cwd()):
                continue
            words = process.cmdline()
            if any(Path(word).name == "snakemake" for word in words[:3]):
                masters.append(process.pid)
            elif words[1:2] == ["-m"] and words[2] in names:
                jobs.append(process.pid)
    return masters, jobs


def _snakemake(args):
    """Run Snakemake to its end, whatever signal comes; Ctrl-C reaches it by the terminal."""
    child = subprocess.Popen([sys.executable, "-m", "snakemake", *args])
    old = signal.signal(signal.SIGTERM, lambda number, frame: child.send_signal(number))
    try:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:
                print("\nreproduce: stopping; finished seeds are kept", file=sys.stderr)
    finally:
        signal.signal(signal.SIGTERM, old)


def _write_report(scale):
    """Write the page of what is built: the workflow makes it for all papers together only."""
    if any(Path("figures", scale).glob("*/claims.csv")):
        words = [sys.executable, "-m", "fivebo.common.page.report", "--scale", scale]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def _ending(code, scale):
    """Say where the results are, or how to go on."""
    if code:
        if shutil.disk_usage(".").free < 2**24:
            return "reproduce: the disk is full; free some space and run the same again"
        return "reproduce: not finished (see above); what is done is kept, run the same to go on"
    folder = Path("figures", scale)
    shown = [
        ("Report", folder / "index.html"),
        ("Claims", folder / "claims.csv"),
        *(("Figures", folder / paper) for paper in papers()),
    ]
    return "\n".join(f"{label + ':':<9}{path}" for label, path in shown if path.exists())


if __name__ == "__main__":
    sys.exit(main())
