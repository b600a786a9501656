"""Names: public ones imported on first use, and unknown ones answered with the nearest valid one.

Imports neither NumPy nor anything of this repository: the command line starts with it.
"""

import difflib
import importlib

PACKAGE = "fivebo"
"""The import name; folders of the repository are its subpackages."""


class UsageError(Exception):
    """The user asked for something that does not exist or does not fit; one line, exit code 2."""


def load_module(name):
    """Import a module by its place in the repository, such as "mtbo.theory"."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def public_names(package, home):
    """Return ``__all__`` and ``__getattr__`` of a package.

    Parameters
    ----------
    package : str
        Its folder, such as "mtbo": its classes are those of `fivebo.mtbo`, whichever way it was
        imported.
    home : dict of str to str
        Public name to the module of the package that defines it.

    Returns
    -------
    list of str
        The names, sorted.
    callable
        What Python asks for a name that the package has not got yet; it raises AttributeError
        with the valid names for one that it never will.
    """
    names = sorted(home)

    def find(name):
        if name not in home:
            raise AttributeError(
                f"module {PACKAGE}.{package} has no name {name!r}; it has {', '.join(names)}"
            )
        return getattr(load_module(f"{package}.{home[name]}"), name)

    return names, find


def unknown_name(kind, name, valid, spellings=()):
    """Say that a name is unknown, with the nearest valid one.

    Parameters
    ----------
    kind : str
        What the name should be, such as "method".
    name : object
        The name given; capitals and punctuation do not count for nearness.
    valid : iterable of str
        The names that exist.
    spellings : iterable of (str, str), optional
        Other spellings, each with the valid name that it stands for.

    Returns
    -------
    str
        One line: the name, the nearest valid one if any is near, and all valid ones.
    """
    valid = [str(v) for v in valid]
    known = {_plain(spelling): meant for spelling, meant in spellings}
    known |= {_plain(v): v for v in reversed(valid)}
    near = difflib.get_close_matches(_plain(str(name)), known, n=1, cutoff=0.5)
    hint = f"; did you mean {known[near[0]]!r}?" if near else ""
    return f"unknown {kind} {name!r}{hint} (valid: {', '.join(valid) or 'none'})"


def _plain(name):
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def check_name(kind, name, valid, where="", spellings=()):
    """Raise ValueError with the nearest valid name unless `name` is one of `valid`."""
    if name not in valid:
        said = unknown_name(kind, name, valid, spellings)
        raise ValueError(f"{where + ': ' if where else ''}{said}")
