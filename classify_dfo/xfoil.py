"""XFOIL, driven for real: one process an airfoil, every way to fail a clear result.

XFOIL (Drela, 1989; GPL) is a program of its own, for example Debian's package `xfoil`. Nothing else
needs it: the results of every airfoil are in the table of `classify_dfo.airfoil`. [CDFO] Sec. 4.
"""

import contextlib
import math
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fivebo.classify_dfo.airfoil import check_name
from fivebo.common.checks import as_finite_array, count, positive
from fivebo.common.files import SurroundingsError

PROGRAM = "FIVEBO_XFOIL"
"""Environment variable: the XFOIL to use, before the one on the PATH."""

PROBE = "0012"
"""An airfoil that converges wherever XFOIL works at all."""

HEADER_LINES = 12  # of a polar file, before its first row

TRAP_CODES = (-signal.SIGFPE, 128 + signal.SIGFPE)

NO_TRAPS = "void _gfortran_set_fpe(int options) { (void)options; }\n"
"""Source of the preloaded object: the Fortran runtime's switch for floating-point traps, empty.

Debian's XFOIL 6.99 is built with traps on and dies of SIGFPE at every viscous point, because the
program divides by zero in passing and goes on, as it was written to.
"""


class XfoilError(SurroundingsError):
    """XFOIL is missing or cannot work here; the message is one line with the fix."""


@dataclass(frozen=True)
class Conditions:
    """Flow of the one point that is computed. [CDFO] Sec. 4 does not state it: ASSUMED.

    Mach number 0 and Ncrit 9 are XFOIL's defaults, transition is free.

    Parameters
    ----------
    reynolds : float
        Reynolds number on the chord.
    alpha : float
        Angle of attack in degrees.
    max_iterations : int
        Of the viscous solution.
    """

    reynolds: float = 1e6
    alpha: float = 4.0
    max_iterations: int = 100

    def __post_init__(self):
        positive(self.reynolds, "reynolds")
        count(self.max_iterations, "max_iterations")
        if not -90 < float(as_finite_array(self.alpha, "alpha", ndim=0)) < 90:
            raise ValueError(f"alpha must lie in (-90, 90) degrees, got {self.alpha!r}")


@dataclass(frozen=True)
class Result:
    """What XFOIL said of one airfoil.

    Parameters
    ----------
    naca : str
    status : str
        "ok"; "noconv" (no converged point), "timeout", "crash" (the program died), "garbage" (it
        left no readable polar), or "missing" (there is no program).
    cl, cd, cdp, cm, top_xtr, bot_xtr : float
        Lift, drag, pressure drag, moment, transition on both sides (chords); NaN unless "ok".
    message : str
        What went wrong, one line.
    """

    naca: str
    status: str
    cl: float = math.nan
    cd: float = math.nan
    cdp: float = math.nan
    cm: float = math.nan
    top_xtr: float = math.nan
    bot_xtr: float = math.nan
    message: str = ""

    @property
    def objective(self):
        """Return -(CL / CD), or 0 where the simulator failed. [CDFO] Sec. 4."""
        return -self.cl / self.cd if self.status == "ok" else 0.0


class Xfoil:
    """Runs XFOIL, one process in a fresh directory for every airfoil.

    If the program dies at a floating-point trap, traps are switched off for this and all later
    airfoils by a preloaded object of one function, made by the C compiler (`CC`, else cc, gcc or
    clang); the crashed airfoil is then run again. The instance may be used by several threads.

    Parameters
    ----------
    program : str or path-like, optional
        Default: what FIVEBO_XFOIL names, else `xfoil` on the PATH.
    conditions : Conditions, optional
    timeout : float, optional
        Seconds for one airfoil; its process is then killed.
    """

    def __init__(self, program=None, conditions=None, timeout=10.0):
        self.program = find_program(program)
        self.conditions = conditions or Conditions()
        self.timeout = positive(timeout, "timeout")
        self._preload, self._no_preload = None, ""
        self._lock = threading.Lock()

    def run(self, naca):
        """Return the `Result` for an airfoil of four digits; only a bad name raises."""
        check_name(naca)
        if self.program is None:
            return Result(naca, "missing", message=_missing())
        preload = self._preload
        found, code = self._run_once(naca, preload)
        if found.status == "crash" and code in TRAP_CODES and preload is None:
            preload = self._switch_traps_off()
            if preload is None:
                return Result(naca, "crash", message=self._no_preload)
            found, code = self._run_once(naca, preload)
        return found

    def check(self):
        """Raise XfoilError unless XFOIL is there and the probe airfoil converges."""
        found = self.run(PROBE)
        if found.status != "ok":
            raise XfoilError(
                f"XFOIL does not work here: airfoil {PROBE} gave {found.status} ({found.message})"
            )

    def run_many(self, names, workers=1):
        """Yield the results of many airfoils in their order, several processes at a time.

        Parameters
        ----------
        names : iterable of str
        workers : int, optional
            Processes at a time.

        Raises
        ------
        XfoilError
            XFOIL is missing or does not work: nothing of that would be a result of an airfoil.
        """
        names = list(names)
        for naca in names:
            check_name(naca)
        self.check()
        with ThreadPoolExecutor(count(workers, "workers")) as pool:  # threads wait for processes
            yield from pool.map(self.run, names)

    def _run_once(self, naca, preload):
        with tempfile.TemporaryDirectory(prefix="xfoil-") as folder:
            code, output = self._converse(dialogue(naca, self.conditions), folder, preload)
            if code is None:
                return Result(naca, "timeout", message=f"no answer in {self.timeout:g} s"), code
            if code != 0:
                return Result(naca, "crash", message=f"exit code {code}: {_tail(output)}"), code
            return read_polar(naca, Path(folder) / "polar", self.conditions.alpha), code

    def _converse(self, text, folder, preload):
        """Run the program on some input; return its code (None if it was killed) and output."""
        environment = {k: v for k, v in os.environ.items() if k != "DISPLAY"}
        if preload is not None:
            environment["LD_PRELOAD"] = str(preload)
        try:
            process = subprocess.Popen(
                [self.program], cwd=folder, env=environment, text=True, errors="replace",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return 127, f"cannot start {self.program}: {error.strerror}"
        try:
            return_text, _ = process.communicate(text, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            _kill(process)
            return None, ""
        return process.returncode, return_text

    def _switch_traps_off(self):
        """Return the object that switches traps off, made once; None if that cannot be done."""
        with self._lock:
            if self._preload is None and not self._no_preload:
                folder = tempfile.mkdtemp(prefix="xfoil-preload-")
                weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
                self._preload, self._no_preload = compile_no_traps(folder)
            return self._preload


def find_program(program=None):
    """Return the absolute path of XFOIL, or None: the given one, FIVEBO_XFOIL's, or the PATH's."""
    found = shutil.which(program or os.environ.get(PROGRAM) or "xfoil")
    return os.path.abspath(found) if found else None  # it is run in another directory


def _missing():
    return f"XFOIL is not installed: apt-get install xfoil, or set {PROGRAM} to its path"


def compile_no_traps(folder):
    """Compile the preloaded object in a folder.

    Returns
    -------
    path : Path or None
    message : str
        Why there is none, with the fix; empty if there is one.
    """
    compilers = (os.environ.get("CC"), "cc", "gcc", "clang")
    compiler = next(filter(None, (shutil.which(name) for name in compilers if name)), None)
    reason = "XFOIL died at a floating-point trap, and switching traps off needs a C compiler: "
    if compiler is None:
        return None, reason + "install gcc, or set CC"
    source, target = Path(folder) / "no_traps.c", Path(folder) / "no_traps.so"
    source.write_text(NO_TRAPS, encoding="ascii")
    words = [compiler, "-shared", "-fPIC", "-o", str(target), str(source)]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if done.returncode:
        return None, f"{reason}{compiler} failed ({_tail(done.stderr)}); set CC to one that works"
    return target, ""


def dialogue(naca, conditions):
    """Return what is typed into XFOIL: graphics off, airfoil, one viscous point, polar file.

    Source: [CDFO] Sec. 4 names the simulator; the commands are in XFOIL's own guide.
    """
    lines = [
        "plop", "g f", "",
        f"naca {naca}",
        "oper", f"visc {conditions.reynolds:.10g}", f"iter {conditions.max_iterations}",
        "pacc", "polar", "",
        f"alfa {conditions.alpha:g}",
        "pacc", "", "quit",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def read_polar(naca, path, alpha):
    """Return the result that a polar file holds: its row at that angle, or why there is none."""
    try:
        lines = Path(path).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError) as error:
        return Result(naca, "garbage", message=f"no polar file: {error}"[:200])
    if len(lines) < HEADER_LINES or "XFOIL" not in "".join(lines[:3]):
        return Result(naca, "garbage", message="the polar file has no header of XFOIL")
    rows = [line.split() for line in lines[HEADER_LINES:] if line.strip()]
    if not rows:
        return Result(naca, "noconv", message="the viscous solution did not converge")
    try:
        angle, *numbers = [float(word) for word in rows[-1][:7]]
    except ValueError:
        angle, numbers = math.nan, []
    sound = len(numbers) == 6 and all(map(math.isfinite, numbers)) and numbers[1] > 0
    if not sound or abs(angle - alpha) > 0.001:  # it has three decimals
        return Result(naca, "garbage", message=f"unreadable row: {' '.join(rows[-1])[:100]}")
    return Result(naca, "ok", *numbers)


def _kill(process):
    """Kill a process with all that it started, and wait for it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _tail(text):
    """Return the last line of an output that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:120] if lines else "no output"
