"""Runs that are kept: a file to which a job adds each finished run, whole or not at all."""

import base64
import json
import zlib

from fivebo.common.files import append_bytes, atomic_path


class KeptRuns:
    """Finished runs of a job, by the stamp of what they depend on.

    Each run is one line, its stamp and its tables, compressed. A line that a kill cut short, or
    that is damaged, is passed over: that run is done again.

    Parameters
    ----------
    path : Path
        The file; it is made with the first run.
    """

    def __init__(self, path):
        self.path, self._lines, self._torn = path, {}, False
        if path.is_file():
            text = path.read_bytes()
            self._torn = not text.endswith(b"\n")
            for line in text.splitlines():
                stamp, _, tables = line.partition(b" ")
                self._lines[stamp.decode("ascii", "replace")] = tables

    def get(self, stamp):
        """Return the kept (row, columns of the trace) of a stamp; None if there are none."""
        try:
            return json.loads(zlib.decompress(base64.b64decode(self._lines[stamp])))
        except (KeyError, ValueError, zlib.error):  # absent, cut short or damaged
            return None

    def add(self, stamp, row, columns):
        """Keep a run: its row, a dict, and its trace, a dict of column to list."""
        text = json.dumps([row, columns], default=lambda number: number.item())
        line = base64.b64encode(zlib.compress(text.encode(), 1))
        append_bytes(self.path, b"\n" * self._torn + stamp.encode() + b" " + line + b"\n")
        self._torn, self._lines[stamp] = False, line

    def drop_others(self, stamps):
        """Forget all runs but those of some stamps, if there are others."""
        if set(self._lines) <= set(stamps):
            return
        self._lines = {stamp: self._lines[stamp] for stamp in stamps if stamp in self._lines}
        with atomic_path(self.path) as temporary:
            lines = (s.encode() + b" " + line + b"\n" for s, line in self._lines.items())
            temporary.write_bytes(b"".join(lines))
