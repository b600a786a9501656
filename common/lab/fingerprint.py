"""Fingerprints of the code that a result depends on, blind to comments, layout and docstrings.

A fingerprint hashes the syntax trees of every module of this repository that the given roots
reach by import, wherever in the module the import stands. An edit that changes no behaviour
reruns nothing; an edit of one paper leaves the others alone.
"""

import ast
import functools
import hashlib
from pathlib import Path

from fivebo.common.files import ROOT
from fivebo.common.names import PACKAGE

DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def fingerprint(roots, root=ROOT):
    """Hash the code that some modules reach.

    Parameters
    ----------
    roots : sequence of str
        Dotted names of the modules to start from.
    root : path
        Root of the repository; modules outside it are not followed.

    Returns
    -------
    str
        16 hexadecimal digits.

    Raises
    ------
    ValueError
        A root is no module of the repository.
    """
    digest = hashlib.sha256()
    for name, path in reached_modules(roots, root).items():
        digest.update(f"{name}\0{_module(path).text}\0".encode())
    return digest.hexdigest()[:16]


def reached_modules(roots, root=ROOT):
    """Return the modules that some modules reach, as a sorted dict of dotted name to path.

    A module reaches the packages it lies in and what it imports. In a module that imports by
    name (`importlib.import_module`) or defines `__getattr__`, every string constant that is the
    name of a module counts as an import.
    """
    root = Path(root)
    waiting, found = list(roots), {}
    for name in roots:
        if _locate(name, root) is None:
            raise ValueError(f"fingerprint: {name!r} is no module below {root}")
    while waiting:
        name = waiting.pop()
        path = _locate(name, root)
        if path is None or name in found:
            continue
        found[name] = path
        waiting.append(name.rpartition(".")[0])
        waiting += _imports(name, path)
    return dict(sorted(found.items()))


def _locate(name, root):
    package, *inner = name.split(".")
    if package != PACKAGE or not all(part.isidentifier() for part in inner):
        return None
    base = root.joinpath(*(inner or [PACKAGE]))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def _imports(name, path):
    """Dotted names that a module may import: more than it does, never fewer."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for level, module, names in _module(path).imports:
        base = module
        if level:
            above = package.split(".")[: len(package.split(".")) - level + 1]
            base = ".".join([*above, *([module] if module else [])])
        yield base
        yield from (f"{base}.{each}" for each in names)
        if not level and not names:
            yield f"{package}.{module}"


class _Module:
    """What the fingerprint keeps of a file: its code as text, and its imports."""

    def __init__(self, source, name):
        tree = ast.parse(source, filename=name)
        imports, constants, by_name = [], [], False
        for node in ast.walk(tree):
            if isinstance(node, DEFINITIONS):
                _drop_docstrings(node)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imports += [(0, alias.name, ()) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = tuple(alias.name for alias in node.names)
                imports.append((node.level, node.module or "", names))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                constants.append(node.value.lstrip("."))
            by_name |= _imports_by_name(node)
        self.imports = imports + [(0, text, ()) for text in constants if by_name]
        self.text = ast.unparse(tree)


def _imports_by_name(node):
    names = ("import_module", "__import__", "__getattr__")
    return any(getattr(node, field, None) in names for field in ("id", "attr", "name"))


def _drop_docstrings(node):
    """Remove bare strings from a body: docstrings, and those that document an attribute."""
    body = [
        each
        for each in node.body
        if not (
            isinstance(each, ast.Expr)
            and isinstance(each.value, ast.Constant)
            and isinstance(each.value.value, str)
        )
    ]
    node.body = body or [ast.Pass()]


@functools.cache
def _parsed(path, mtime_ns, size):
    return _Module(path.read_bytes(), str(path))


def _module(path):
    stat = path.stat()
    return _parsed(path, stat.st_mtime_ns, stat.st_size)
