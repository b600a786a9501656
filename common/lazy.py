"""Public names of a package, imported on first use: the command line starts without NumPy."""

import importlib


def public_names(package, home):
    """Return ``__all__`` and ``__getattr__`` of a package.

    Parameters
    ----------
    package : str
        Its name.
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
                f"module {package!r} has no name {name!r}; it has {', '.join(names)}"
            )
        return getattr(importlib.import_module(f"{package}.{home[name]}"), name)

    return names, find
