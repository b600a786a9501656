"""Command line of every paper: list, run, collect, figure, claims, fidelity.

``fivebo <paper>``, ``python -m fivebo.<paper>`` and, in a checkout, ``python -m <paper>`` end here.
The workflow calls the same commands. Heavy imports stand inside the commands, after the threads of
the linear algebra are pinned to one.
"""

import argparse
import contextlib
import errno
import inspect
import os
import sys
import traceback
from pathlib import Path

from fivebo.common.names import PACKAGE, UsageError, load_module, unknown_name

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)

EXAMPLES = {
    "list": ["list", "list {experiment} --scale paper"],
    "run": [
        "run --experiment {experiment}",
        "run --experiment {experiment} --method {method} --seeds 0-9 --scale quick",
        "run --experiment {experiment} --set {setting} --horizon 50 --out my-ablation",
    ],
    "estimate": ["estimate --scale paper", "estimate --experiment {experiment} --cores 8"],
    "collect": ["collect --experiment {experiment} --scale quick"],
    "figure": ["figure", "figure {figure} --scale quick", "figure {figure} --results my-ablation"],
    "claims": ["claims --scale quick", "claims --results my-ablation"],
    "fidelity": ["fidelity", "fidelity --table", "fidelity --fix"],
}


def dispatch(argv=None):
    """Run the command line of the paper that the first argument names: ``fivebo mtbo list``.

    Parameters
    ----------
    argv : list of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        As `main`; 2 if there is no such paper.
    """
    from fivebo.common.lab.experiments import papers

    words = sys.argv[1:] if argv is None else argv
    says = {paper: load_module(paper).__doc__.splitlines()[0] for paper in papers()}
    width = max(map(len, says))
    parser = _Parser(
        prog=_called(),
        usage=f"{_called()} PAPER COMMAND ...",
        description="Experiments, figures and claims of the papers:\n"
        + "\n".join(f"  {paper:<{width}}  {line}" for paper, line in says.items()),
        epilog=_examples(papers()[0], ["list", "run", "figure"]),
    )
    parser.add_argument("paper", metavar="PAPER", help="one of them; PAPER --help says more")
    try:
        paper = parser.parse_args(words[:1]).paper
        if paper not in says:
            raise UsageError(unknown_name("paper", paper, says))
    except UsageError as error:
        _complain(f"{_called()}: {error}", None)
        return 2
    return main(paper, words[1:])


def main(paper, argv=None):
    """Run a command of a paper.

    Parameters
    ----------
    paper : str
        Folder name of the paper.
    argv : list of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        0 if all went well, 1 if it failed, 2 if the arguments were wrong, 130 if interrupted.
    """
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    os.environ.setdefault("MPLBACKEND", "Agg")
    args = None
    try:
        args = _parsed(paper, sys.argv[1:] if argv is None else argv)
        return _executed(args) or 0
    except KeyboardInterrupt:
        code, line = 130, "interrupted; finished seeds are kept, run the same again to continue"
    except UsageError as error:
        code, line = 2, str(error)
    except Exception as error:
        code, line = 1, _explained(error, args and args.log, paper)
    _complain(f"{_called(paper)}: {line}", args and args.log)
    return code


def _called(paper=""):
    """Return the words that lead here, such as ``python -m mtbo``, as the user wrote them."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    module = spec.parent if spec else None
    if module == f"{PACKAGE}.{paper}":
        return f"python -m {module}"
    if module == PACKAGE:
        return f"python -m {PACKAGE} {paper}".strip()
    if not paper or Path(sys.argv[0]).stem == PACKAGE:
        return f"{PACKAGE} {paper}".strip()
    return f"python -m {paper}"


def _executed(args):
    """Run the command; with --log, what it prints goes there."""
    if not args.log:
        return args.command(args)
    Path(args.log).parent.mkdir(parents=True, exist_ok=True)
    with open(args.log, "w", encoding="utf-8") as log, contextlib.redirect_stdout(log):
        return args.command(args)


def _complain(line, log):
    """Print the line where the user looks, and to the log: a cluster's node has no terminal."""
    print(line, file=sys.stderr)
    if log:
        with contextlib.suppress(OSError), open(log, "a", encoding="utf-8") as file:
            print(line, file=file)


def _explained(error, log, paper):
    """Say in one line what went wrong; the traceback of what nobody foresaw goes to a file."""
    from fivebo.common.files import SurroundingsError

    if isinstance(error, SurroundingsError):
        return str(error)
    missing = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
    if missing and missing.partition(".")[0] != PACKAGE:
        return f"{missing} is not installed: pip install '{PACKAGE}[reproduce]' brings it"
    if isinstance(error, OSError) and error.strerror and error.filename is None:
        return error.strerror
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EACCES, errno.EROFS):
        return (
            f"{error.strerror}: {error.filename}; free space or change the rights, then run again"
        )
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    try:
        path = Path(log) if log else Path("results", "logs", f"{paper}-error.log")
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        traceback.print_exception(error)
        return text
    return f"{text} (traceback in {path})"


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, and which never guesses abbreviations."""

    def __init__(self, **options):
        super().__init__(
            allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options
        )

    def error(self, message):
        raise UsageError(f"{message}; see {self.prog} --help")


def _parsed(paper, argv):
    """Parse the arguments; unknown commands and options come back with the nearest valid one."""
    parser, commands = _parser(paper)
    given = next((word for word in argv if not word.startswith("-")), None)
    if given is not None and given not in commands:
        raise UsageError(unknown_name("command", given, commands))
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        options = [o for a in commands[given]._actions for o in a.option_strings if o[1] == "-"]
        kind = "option" if unknown[0].startswith("-") else "argument"
        raise UsageError(unknown_name(kind, unknown[0].partition("=")[0], options))
    return args


def _parser(paper):
    from fivebo.common import commands

    parser = _Parser(
        prog=_called(paper),
        description=f"Experiments, figures and claims of the paper {paper}.",
        epilog=_examples(paper, ["list", "run", "figure"]),
    )
    parser.add_argument("--log", help=argparse.SUPPRESS)
    subparsers = parser.add_subparsers(dest="name", metavar="COMMAND", required=True)
    made = {}
    for name in EXAMPLES:
        command = getattr(commands, f"{name}_command")
        made[name] = subparsers.add_parser(
            name,
            help=command.__doc__.splitlines()[0],
            description=inspect.cleandoc(command.__doc__),
            epilog=_examples(paper, [name]),
        )
        made[name].set_defaults(command=command, paper=paper)
        _add_options(name, made[name])
    return parser, made


def _add_options(name, parser):
    scale = {"default": "quick", "metavar": "SCALE", "help": "smoke, quick (default) or paper"}
    if name != "fidelity":
        parser.add_argument("--scale", **scale)
    parser.add_argument("--log", metavar="FILE", help="write output and tracebacks to FILE")
    if name in ("run", "collect"):
        parser.add_argument("--experiment", required=True, metavar="E", help="its name: see list")
    if name == "run":
        add = parser.add_argument
        many = {"action": "extend", "nargs": "+", "default": []}
        add("--method", metavar="M", **many, help="methods to run (default: the experiment's)")
        add("--variant", metavar="V", **many, help="variants to run (default: all)")
        add("--seeds", metavar="S", help="such as 0-9,12 (default: the scale's)")
        setting = {"action": "append", "default": [], "dest": "overrides"}
        add("--set", metavar="KEY=VALUE", **setting, help="change a setting; may be repeated")
        add("--horizon", type=int, metavar="N", help="steps of a run (default: the scale's)")
        add("--out", metavar="DIR", help="folder of the tables (default: below results/)")
        add("--block", metavar="B", help="one job of the workflow, such as seeds-000-009")
    if name == "estimate":
        many = {"action": "extend", "nargs": "+", "default": []}
        parser.add_argument("--experiment", metavar="E", **many, help="default: all")
        parser.add_argument("--cores", type=int, default=2, metavar="N", help="default: 2")
    if name == "list":
        parser.add_argument("experiment", nargs="?", help="show this one with all its settings")
    if name == "figure":
        parser.add_argument("figures", nargs="*", metavar="FIGURE", help="default: all")
    if name in ("figure", "claims"):
        read = "read what `run --out DIR` made, and write to DIR/figures"
        parser.add_argument("--results", metavar="DIR", help=read)
    if name == "fidelity":
        parser.add_argument("--table", action="store_true", help="print the table of the README")
        parser.add_argument("--fix", action="store_true", help="write it into the README")


def _examples(paper, names):
    """Return the examples of some commands, with names that exist in this paper."""
    words = _example_words(paper)
    lines = [line.format(**words) for name in names for line in EXAMPLES[name]]
    return "\n".join(["examples:", *(f"  {_called(paper)} {line}" for line in lines)])


def _example_words(paper):
    """Return an experiment, method, setting and figure of the paper; placeholders if unreadable."""
    words = {"experiment": "E", "method": "M", "setting": "KEY=VALUE", "figure": "FIGURE"}
    try:
        import yaml

        text = Path(__file__).parents[1].joinpath(paper, "experiments.yaml").read_text("utf-8")
        source = yaml.load(text, yaml.CSafeLoader)
        shared = source.get("defaults", {})
        experiment, own = next(iter(source["experiments"].items()))
        settings = {**shared.get("params", {}), **own.get("params", {})}
        words["experiment"] = experiment
        words["method"] = own.get("methods", shared.get("methods", ["M"]))[0]
        words["figure"] = next(iter(source["figures"]))
        words["setting"] = next((f"{k}={v}" for k, v in settings.items()), words["setting"])
    except (OSError, KeyError, TypeError, AttributeError, StopIteration, yaml.YAMLError):
        pass
    return words
