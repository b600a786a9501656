"""Data files: bundled ones are verified, raw ones are fetched; either is whole or refused.

Command line: ``python -m fivebo.common.lab.datasets list | fetch NAME ... | verify``.
"""

import argparse
import csv
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from fivebo.common.files import ROOT, SurroundingsError, atomic_path, check_checkout

DATA = ROOT / "data"
BUNDLED = DATA / "bundled"
RAW = DATA / "raw"
MIRROR = "FIVEBO_DATA_MIRROR"
"""Environment variable: a folder or an address that is tried before a file's own source."""


class DataError(SurroundingsError):
    """A data file is missing, damaged or out of reach; the message is one line with the fix."""


def sources():
    """Return data/sources.csv as a dict of name to row (a dict of column to text)."""
    check_checkout("data/sources.csv")
    with open(DATA / "sources.csv", encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def bundled_sums():
    """Return the sha256 of every bundled file, by its name below data/bundled."""
    check_checkout("data/bundled")
    try:
        lines = (BUNDLED / "SHA256SUMS").read_text(encoding="ascii").splitlines()
        return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except (OSError, ValueError) as error:
        raise DataError(
            f"data/bundled/SHA256SUMS is missing or damaged ({error}); restore it with: "
            "git checkout -- data/bundled/SHA256SUMS"
        ) from None


def verify_file(place):
    """Return the path of a data file of the repository, verified.

    Parameters
    ----------
    place : str
        Path below the root of the repository: "data/bundled/..." or "data/raw/...".

    Returns
    -------
    Path

    Raises
    ------
    DataError
        The file is missing or damaged; the message says how to get it.
    """
    _, kind, name = place.split("/", 2)
    if kind == "bundled":
        path, told, fix = BUNDLED / name, "SHA256SUMS", f"restore it with: git checkout -- {place}"
    else:
        path, told = RAW / name, "data/sources.csv"
        fix = f"fetch it with: python -m fivebo.common.lab.datasets fetch {name}"
    expected = expected_sha256(place)
    if not path.is_file():
        raise DataError(f"{place} is missing; {fix}")
    if sha256(path) != expected:
        raise DataError(f"{place} is damaged (its sha256 differs from {told}); {fix}")
    return path


def expected_sha256(place):
    """Return the sha256 that a data file of the repository must have, named as in `verify_file`."""
    _, kind, name = place.split("/", 2)
    if kind == "raw":
        return _row(name)["sha256"]
    sums = bundled_sums()
    if name not in sums:
        raise DataError(f"{place} is not listed in data/bundled/SHA256SUMS; add it")
    return sums[name]


def sha256(path):
    """Return the sha256 of a file as hexadecimal text."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(name, progress=True):
    """Bring a raw file to data/raw, unless a verified one is there already.

    The mirror that FIVEBO_DATA_MIRROR names comes first, then the file's own address; the address
    may be a script of the repository that makes the file from others. What arrives takes its
    place only after its sha256 is verified.

    Parameters
    ----------
    name : str
        Name in data/sources.csv.
    progress : bool, optional
        Show a bar on standard error.

    Returns
    -------
    Path

    Raises
    ------
    DataError
        No source gave the right file; nothing is left behind.
    """
    row = _row(name)
    target = RAW / name
    if target.is_file() and sha256(target) == row["sha256"]:
        return target
    mirror, failures = os.environ.get(MIRROR), []
    for source in filter(None, (mirror and f"{mirror.rstrip('/')}/{name}", row["url"])):
        try:
            if source.startswith(("https://", "http://")):
                _download(source, row["sha256"], target, progress)
            elif source.endswith(".py"):
                _make(source, row["sha256"], target)
            else:
                _copy(source, row["sha256"], target)
        except DataError as error:
            failures.append(str(error))
        else:
            return target
    reasons = "; ".join(failures) or "it has no public address"
    raise DataError(
        f"cannot fetch {name}: {reasons}. Connect to the network and run again, or set {MIRROR} "
        f"to a folder or address that holds {name}"
    )


def _row(name):
    from fivebo.common.names import unknown_name

    rows = sources()
    if name not in rows:
        raise DataError(f"{unknown_name('data file', name, rows)}")
    return rows[name]


def _copy(source, digest, target):
    """Copy a file of the mirror; a wrong one never takes the name of the target."""
    if not Path(source).is_file():
        raise DataError(f"{source} does not exist")
    with atomic_path(target) as temporary:
        shutil.copyfile(source, temporary)
        if sha256(temporary) != digest:
            raise DataError(f"{source} has the wrong checksum")


def _make(script, digest, target):
    """Let a script of the repository make a file; a wrong one is removed."""
    done = subprocess.run(
        [sys.executable, script],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    if not target.is_file() or sha256(target) != digest:
        target.unlink(missing_ok=True)
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise DataError(f"{script} did not make it ({said[-1] if said else 'it gave no reason'})")


def _download(url, digest, target, progress):
    """Download by pooch, which retries, verifies, and only then gives the file its name."""
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    store = pooch.create(
        path=target.parent,
        base_url="",
        registry={target.name: f"sha256:{digest}"},
        urls={target.name: url},
        retry_if_failed=2,
    )
    try:
        store.fetch(target.name, downloader=pooch.HTTPDownloader(progressbar=progress, timeout=30))
    except requests.HTTPError as error:
        raise DataError(f"{url} answers {error.response.status_code}") from error
    except requests.ConnectionError as error:
        raise DataError(f"no connection to {urlsplit(url).hostname}") from error
    except requests.RequestException as error:
        raise DataError(f"the connection to {urlsplit(url).hostname} broke off") from error
    except ValueError as error:
        raise DataError(f"{url} has the wrong checksum") from error


def verify_all():
    """Verify the bundled files and the raw ones that are there; return the number of files.

    Raises
    ------
    DataError
        The first file that is missing or damaged.
    """
    present = [name for name in sources() if (RAW / name).exists()]
    for name in bundled_sums():
        verify_file(f"data/bundled/{name}")
    for name in present:
        verify_file(f"data/raw/{name}")
    return len(bundled_sums()) + len(present)


def main(argv=None):
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m fivebo.common.lab.datasets",
        description="List, fetch and verify the data files.",
        epilog="Examples:\n  python -m fivebo.common.lab.datasets fetch intel_lab/sensor.mat\n"
        f"  {MIRROR}=/mnt/data python -m fivebo.common.lab.datasets fetch intel_lab/mote_locs.txt",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="show every raw file, its size, licence and source")
    fetcher = commands.add_parser("fetch", help="bring raw files to data/raw")
    fetcher.add_argument("names", nargs="+", metavar="NAME", help="name in data/sources.csv")
    commands.add_parser("verify", help="check the sha256 of all files that are here")
    args = parser.parse_args(argv)
    try:
        _execute(args)
    except (SurroundingsError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        print(f"fivebo.common.lab.datasets: {reason or error}", file=sys.stderr)
        return 1
    return 0


def _execute(args):
    if args.command == "fetch":
        for name in args.names:
            print(f"{fetch(name, progress=sys.stderr.isatty())}")
    elif args.command == "verify":
        print(f"{verify_all()} files verified")
    else:
        for name, row in sources().items():
            here = "here" if (RAW / name).exists() else "not here"
            print(f"{name}  {row['bytes'] or '?'} bytes  {here}  licence: {row['licence']}")
            print(f"    {row['url'] or 'mirror only'}\n    {row['citation']}")


if __name__ == "__main__":
    sys.exit(main())
