"""Files that are either the old or the whole new one, whatever happens while they are written."""

import contextlib
import errno
import os
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""Root of the repository, or of the installed package."""


class SurroundingsError(RuntimeError):
    """Base of errors of the surroundings (data, disk): they stop a job and are never a result."""


def check_checkout(what, root=ROOT):
    """Raise SurroundingsError if `root` is an installed package: it has no data, figures or tests.

    Parameters
    ----------
    what : str
        What is asked for, such as "data/bundled"; it opens the message.
    root : path-like, optional
        Where it is looked for; only the installed package itself is refused.
    """
    if Path(root) == ROOT and not (ROOT / "Snakefile").is_file():
        raise SurroundingsError(
            f"{what} is no part of the installed package: run this in a clone of the repository"
        )


@contextlib.contextmanager
def atomic_path(path):
    """Give a temporary path beside `path`; it takes the name only when the block succeeds.

    A full disk, an unwritable folder or any other error removes the temporary file and leaves
    what stood at `path` untouched.

    Parameters
    ----------
    path : path-like

    Yields
    ------
    Path

    Raises
    ------
    OSError
        With the folder and the fix in one line.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(handle)
        temporary = Path(name)
        yield temporary
        with open(temporary, "rb+") as written:
            os.fsync(written.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise OSError(error.errno, _write_advice(error, path)) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def append_bytes(path, data):
    """Add to the end of a file, all or nothing; errors are those of `atomic_path`."""
    path, size = Path(path), None
    try:
        with open(path, "ab", buffering=0) as file:
            size = file.tell()
            if file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        if size is not None:
            os.truncate(path, size)
        raise OSError(error.errno, _write_advice(error, path)) from error


def _write_advice(error, path):
    if error.errno == errno.ENOSPC:
        return (
            f"no space left on the disk of {path.parent}: free some, then run again "
            "(finished runs are kept)"
        )
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return f"cannot write to {path.parent}: make it writable with: chmod -R u+w {path.parent}"
    return f"cannot write {path}: {error.strerror or error}"


def write_parquet(frame, path):
    """Write a table so that `path` holds either the old or the whole new one."""
    with atomic_path(path) as temporary:
        frame.to_parquet(temporary, index=False)


def read_parquet(path):
    """Read a table, or say in one line that the file is damaged and how to get it back.

    Raises
    ------
    SurroundingsError
        The file is no whole table.
    FileNotFoundError
        There is no such file.
    """
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # Arrow's own errors are ValueErrors
        raise SurroundingsError(
            f"{path} is damaged ({' '.join(str(error).split())[:80]}); remove it and run the same "
            "again: it is rebuilt from the seeds that are kept"
        ) from None
