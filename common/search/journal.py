"""Append-only journal of a search, from which a killed one resumes to the same state."""

import errno
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

from fivebo.common.checks import shown
from fivebo.common.files import atomic_path
from fivebo.common.search.plain import described, plain

VERSION = 2
BEGINNING = '{"journal": '
"""What every journal begins with: no other file is taken for one, and overwritten."""


class Journal:
    """Evaluations of one search, one JSON line before and one after each.

    The first line names the optimiser's class, its settings and what it had been told before. A
    line ``{"ask": 3, "query": ...}`` starts evaluation 3; ``{"tell": 3, "y": ...}`` ends it, with
    "done" if it was carried out elsewhere, or "failed" and the reason in place of y;
    ``{"part": [3, 0], "y": ...}`` is the value of one member of a batch.

    Parameters
    ----------
    path : path-like or None
        None keeps no file. ``~`` is the home folder.
    optimizer : Optimizer
        Its class, settings and data must be those of the file's first line.

    Attributes
    ----------
    entries : list of dict
        The lines after the first one that belong to evaluations.

    Raises
    ------
    ValueError
        The file is damaged, or belongs to another search; the folder does not exist.
    RuntimeError
        Another process is writing to it.
    """

    def __init__(self, path, optimizer):
        self.path = None if path is None else _place(path)
        self.entries, self._lock = [], None
        if self.path is None:
            return
        if not self.path.parent.is_dir():
            raise ValueError(
                f"journal {self.path}: there is no folder {self.path.parent}; create it first"
            )
        self._header = {
            "journal": VERSION,
            "optimizer": type(optimizer).__name__,
            "settings": optimizer.settings(),
            "told_before": len(optimizer.told),
            "data_before": described([[plain(e.query), plain(e.value)] for e in optimizer.told]),
        }
        self._open()

    def _open(self):
        from filelock import FileLock, Timeout

        self._lock = FileLock(self.path.with_name(f".{self.path.name}.lock"))
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            self._lock = None
            raise RuntimeError(
                f"journal {self.path} is being written by {self._writer()}: wait for it, stop it, "
                "or use another file"
            ) from None
        except OSError as error:
            raise _unwritable(self.path, error) from error
        try:
            lines = self._lines() if self.path.exists() else []
            if lines:
                self._take(lines[1:])
            else:
                self._write(self._header)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        """Give the journal; it is closed at the end of the block."""
        return self

    def __exit__(self, *error):
        """Close the journal."""
        self.close()

    def close(self):
        """Let other processes write."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _writer(self):
        """Return who opened the journal last, as its last session line says."""
        sessions = []
        for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith('{"session"'):
                sessions.append(json.loads(line)["session"])
        if not sessions:
            return "another process"
        return "process {pid} on {host}, since {started}".format(**sessions[-1])

    def _check_header(self, found):
        if not isinstance(found, dict) or not {"optimizer", "told_before"} <= set(found):
            self.refuse("line 1 is no header")
        if found.get("journal") != VERSION:
            raise ValueError(
                f"journal {self.path} was written by another version of this package: tell its "
                "observations to a fresh optimiser, and use a new file"
            )
        own = json.loads(json.dumps(self._header))
        if set(found) != set(own) or not isinstance(found["settings"], dict):
            self.refuse("line 1 is no header")
        if found["optimizer"] != own["optimizer"]:
            raise ValueError(
                f"journal {self.path} belongs to {found['optimizer']}, not to {own['optimizer']}; "
                "use another file"
            )
        names = sorted({*found["settings"], *own["settings"]})
        if other := [n for n in names if found["settings"].get(n) != own["settings"].get(n)]:
            said = "; ".join(
                f"{n} was {shown(found['settings'].get(n))}, is {shown(own['settings'].get(n))}"
                for n in other
            )
            raise ValueError(
                f"journal {self.path} was written with other settings: {said}. Use those, or "
                "another file"
            )
        if found["told_before"] != own["told_before"]:
            raise ValueError(
                f"journal {self.path} was begun after {found['told_before']} observation(s) had "
                f"been told, this optimiser has been told {own['told_before']}: build it anew and "
                "tell it the same observations first, in the same order"
            )
        if found["data_before"] != own["data_before"]:
            raise ValueError(
                f"journal {self.path} was begun with other observations told before: tell the same "
                "ones first, in the same order"
            )

    def _take(self, lines):
        asked, told = 0, set()
        for number, entry in enumerate(lines, start=2):
            match entry:
                case {"session": _}:
                    continue
                case {"ask": int(step), "query": _}:
                    asked += 1
                    good = step == asked
                case {"part": [int(step), int(member)], "y": _}:
                    good = step not in told and 0 < step <= asked and member >= 0
                case {"tell": int(step)}:
                    good = step not in told and 0 < step <= asked
                    good = good and ("failed" in entry or entry.get("y") is not None)
                    told.add(step)
                case _:
                    good = False
            if not good:
                self.refuse(f"line {number} does not follow from those before it")
            self.entries.append(entry)

    def _lines(self):
        """Return the parsed lines; a last one that a kill cut short is removed from the file."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            self.refuse("it is no text")
        whole, _, rest = text.rpartition("\n")
        raw = [line for line in whole.split("\n") if line.strip()]
        parsed = []
        for number, line in enumerate(raw, start=1):
            try:
                parsed.append(json.loads(line))
            except json.JSONDecodeError as error:
                self.refuse(f"entry {number} is not JSON: {error}")
        if rest:
            try:
                parsed.append(json.loads(rest))
                raw.append(rest)
            except json.JSONDecodeError:  # what the kill cut short says nothing
                if not raw and not rest.startswith(BEGINNING[: len(rest)]):
                    self.refuse("line 1 is no header")
        if parsed:
            self._check_header(parsed[0])
        if rest:
            with atomic_path(self.path) as temporary:
                temporary.write_text("".join(f"{line}\n" for line in raw), encoding="utf-8")
        return parsed

    def refuse(self, reason):
        """Raise ValueError: the file cannot be what a search wrote."""
        raise ValueError(f"journal {self.path} is damaged ({reason}); restore or remove it")

    def begin_session(self):
        """Write who is at work."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        self._write(
            {"session": {"pid": os.getpid(), "host": socket.gethostname(), "started": started}}
        )

    def begin(self, step, query):
        """Write that an evaluation starts."""
        self._write({"ask": step, "query": plain(query)})

    def part(self, step, member, y):
        """Write the value of one member of a batch."""
        self._write({"part": [step, member], "y": plain(y)})

    def end(self, step, y, done=None, error=None):
        """Write its value, or why it failed, and where it was carried out if not as asked."""
        elsewhere = {} if done is None else {"done": plain(done)}
        self._write({"tell": step, **({"y": plain(y)} if error is None else {"failed": error}),
                     **elsewhere})  # fmt: skip

    def _write(self, entry):
        if self.path is None:
            return
        line = json.dumps(entry)
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line + "\n")
                file.flush()
        except OSError as error:
            raise _unwritable(self.path, error, line) from error


def _place(path):
    """Return where a journal really is, links followed: one file has one lock."""
    try:
        place = Path(path).expanduser()
    except TypeError:
        raise TypeError(
            f"journal must be the path of a file, got {shown(path)}; use for example 'run.jsonl'"
        ) from None
    if "\0" in str(place) or not place.name or place.is_dir():
        raise ValueError(
            f"journal must be the path of a file, got {shown(str(path))}; use for example "
            "'run.jsonl'"
        )
    return place.resolve() if place.is_symlink() else place


def _unwritable(path, error, line=None):
    cause = "disk full" if error.errno == errno.ENOSPC else error.strerror
    keep = "" if line is None or line.startswith('{"j') else f"; append this line by hand: {line}"
    return OSError(
        error.errno,
        f"cannot write to journal {path} ({cause}): make room, or choose another place{keep}",
    )
