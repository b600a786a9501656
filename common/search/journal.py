"""Append-only journal of an optimisation, from which a killed one resumes to the same state."""

import errno
import json
from dataclasses import asdict
from pathlib import Path

from fivebo.common.files import atomic_path


class Journal:
    """Evaluations of one optimiser, one JSON line before and one after each.

    The first line names the optimiser's class and how many observations it had been told before.

    Parameters
    ----------
    path : path-like or None
        None keeps no file.
    optimizer : object
        Its class and the length of its `result()` must be those of the file's first line.

    Attributes
    ----------
    asked, told : list of dict
        Entries ``{"step", "query"}`` and ``{"step", "y"}``, the latter with ``"told"`` if the
        query was completed; entry i belongs to step i + 1.

    Raises
    ------
    ValueError
        The file is damaged, or belongs to another optimiser.
    """

    def __init__(self, path, optimizer):
        self.path = None if path is None else Path(path)
        self.asked, self.told = [], []
        kind, before = type(optimizer).__name__, len(optimizer.result())
        self._header = {"optimizer": kind, "told_before": before}
        if self.path is not None and self.path.exists() and self.path.stat().st_size:
            self._load()
        elif self.path is not None:
            self._write(self._header)

    def _load(self):
        lines = self._lines()
        header = lines.pop(0) if lines else None
        if not isinstance(header, dict) or set(header) != {"optimizer", "told_before"}:
            self._refuse("line 1 is no header")
        if header["optimizer"] != self._header["optimizer"]:
            raise ValueError(
                f"journal {self.path} belongs to {header['optimizer']}, not to "
                f"{self._header['optimizer']}; use another file"
            )
        if header["told_before"] != self._header["told_before"]:
            raise ValueError(
                f"journal {self.path} was begun after {header['told_before']} observation(s), this "
                f"optimiser has been told {self._header['told_before']}: build a fresh one to "
                "resume"
            )
        for number, entry in enumerate(lines, start=2):
            known = self.asked if isinstance(entry, dict) and "query" in entry else self.told
            key = "query" if known is self.asked else "y"
            wanted = len(self.told) + 1
            orderly = known is self.told or len(self.asked) in (wanted - 1, wanted)
            if not isinstance(entry, dict) or key not in entry or entry.get("step") != wanted:
                self._refuse(f"line {number} is not the entry of evaluation {wanted}")
            if known is self.asked and len(self.asked) == wanted:
                self.asked.pop()  # the evaluation was interrupted and begun again
            if not orderly or (known is self.told and len(self.asked) < wanted):
                self._refuse(f"line {number} has no query before it")
            known.append(entry)

    def _lines(self):
        """Return the parsed lines; a last one that a kill cut short is removed from the file."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            self._refuse("it is no text")
        raw = text.splitlines()
        try:
            parsed = [json.loads(line) for line in raw[:-1]]
        except json.JSONDecodeError as error:
            self._refuse(f"not JSON: {error}")
        whole = True
        try:
            parsed.append(json.loads(raw[-1]))
        except json.JSONDecodeError as error:
            whole = False
            if text.endswith("\n"):
                self._refuse(f"last line is not JSON: {error}")
        if not text.endswith("\n"):
            kept = raw if whole else raw[:-1]
            with atomic_path(self.path) as temporary:
                temporary.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
        return parsed

    def _refuse(self, reason):
        raise ValueError(f"journal {self.path} is damaged ({reason}); restore or remove it")

    def begin(self, step, query):
        """Write that an evaluation starts."""
        self._write({"step": step, "query": plain(query)})

    def end(self, step, y, completed=None):
        """Write its value, and the query as it was completed, if it was."""
        drawn = {} if completed is None else {"told": plain(completed)}
        self._write({"step": step, "y": plain(y), **drawn})

    def _write(self, entry):
        if self.path is None:
            return
        line = json.dumps(entry)
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line + "\n")
                file.flush()
        except OSError as error:
            cause = "disk full" if error.errno == errno.ENOSPC else error.strerror
            raise OSError(
                error.errno,
                f"cannot write to journal {self.path} ({cause}); make room, append this line by "
                f"hand and run again: {line}",
            ) from error


def plain(value):
    """Return arrays, tuples and dataclasses as JSON holds them; floats survive bit for bit."""
    if hasattr(value, "__dataclass_fields__"):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value
