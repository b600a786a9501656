"""What a module defines, name by name: its definitions, imports and statements, as syntax trees.

Definitions are what stands at the top of a module: functions, classes, assignments. An entry of a
dict literal with constant keys is a definition of its own, such as ``METHODS[mt-kb]``. What else
stands there is done when the module is imported, whoever imports it: a statement.
"""

import ast
import functools
from dataclasses import dataclass, field
from pathlib import Path

from fivebo.common.names import PACKAGE

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
HARMLESS = ("functools", "dataclasses", "contextlib", "abc", "typing", "enum")
"""Libraries whose decorators register nothing: other decorated definitions are statements too."""

BY_NAME = {"import_module", "__import__", "load_module"}
"""Names of functions that import what a text names."""

NAMESPACE = {"globals", "eval", "exec"}
"""Names of functions that may use any name of the module they stand in."""

REGISTRY = {"__subclasses__", "__init_subclass__", "iter_modules", "walk_packages", "run_module"}
"""Names of what finds code that nobody names."""


@dataclass
class Module:
    """A module by its definitions.

    Parameters
    ----------
    name : str
        Dotted name.
    is_package : bool
    definitions : dict of str to list of ast.AST
        What gives each name its value; several if it is given anew or changed.
    statements : list of ast.AST
        What is done on import.
    bindings : dict of str to list of (str, str or None)
        Name to the modules that it is imported from and its name there; None if it is the module.
    executed : list of str
        Dotted names of the modules, and of what may be one, that its import runs.
    stars : list of str
        Modules of which all names are imported.
    dotted : list of str
        Modules imported by ``import a.b``, which binds only a.
    """

    name: str
    is_package: bool
    definitions: dict = field(default_factory=dict)
    statements: list = field(default_factory=list)
    bindings: dict = field(default_factory=dict)
    executed: list = field(default_factory=list)
    stars: list = field(default_factory=list)
    dotted: list = field(default_factory=list)

    @property
    def package(self):
        """Dotted name of the package that relative names start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]


@dataclass
class Uses:
    """What a piece of a module's code uses.

    Parameters
    ----------
    inner : Module
        Its bindings, executed and stars are those of the imports inside the code.
    chains : set of tuple of str
        Names with the attributes that follow: ``np.linalg.norm`` is ("np", "linalg", "norm").
    texts, heads : set of str
        Its text constants, and starts of its formatted texts.
    words : set of str
        Its identifiers, attributes and names of inner functions included.
    any_name : bool
        Whether it may use any name of its module, by `globals`, `eval` or such.
    text : str
        The code, without comments, layout and docstrings.
    """

    inner: Module
    chains: set = field(default_factory=set)
    texts: set = field(default_factory=set)
    heads: set = field(default_factory=set)
    words: set = field(default_factory=set)
    any_name: bool = False
    text: str = ""


def locate(name, root):
    """Return the file of a module of this repository, or None if it is not one."""
    package, *inner = name.split(".")
    if package != PACKAGE or not all(part.isidentifier() for part in inner):
        return None
    base = Path(root).joinpath(*(inner or [PACKAGE]))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def read_module(name, path):
    """Parse a module; the same file is parsed once a process."""
    stat = path.stat()
    return _read(name, path, stat.st_mtime_ns, stat.st_size)


@functools.cache
def _read(name, path, mtime_ns, size):
    tree = ast.parse(path.read_bytes(), filename=str(path))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
            _drop_docstrings(node)
    module = Module(name, path.name == "__init__.py")
    for node in tree.body:
        _file_away(node, module)
    _keep_unused_imports(module)
    return module


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


def _file_away(node, module):
    """Put a statement at the top of a module where it belongs."""
    if isinstance(node, ast.Pass) or _is_main_guard(node):
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        _import(node, module)
        return
    defines = _defined_names(node)
    for name in defines:
        module.definitions.setdefault(name, []).append(node)
    if not defines or not _only_defines(node, module):
        module.statements.append(node)
        for each in ast.walk(node):
            if isinstance(each, ast.Import | ast.ImportFrom):
                _import(each, module)
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
        _split_dict(node, defines, module)


def _defined_names(node):
    if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
        return [node.name]
    names = [
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.ctx.__class__ is ast.Store
    ]
    if not isinstance(node, ASSIGNMENTS):
        names += [n.name for n in ast.walk(node) if isinstance(n, (ast.ClassDef, *FUNCTIONS))]
    return list(dict.fromkeys(names))


def _only_defines(node, module):
    """Whether a statement does nothing but give a value to a name."""
    if isinstance(node, ASSIGNMENTS):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return all(isinstance(t, ast.Name | ast.Tuple | ast.List) for t in targets)
    if isinstance(node, ast.ClassDef) and node.keywords:
        return False
    if not isinstance(node, (ast.ClassDef, *FUNCTIONS)):
        return False
    return all(_is_harmless(decorator, module) for decorator in node.decorator_list)


def _is_harmless(decorator, module):
    name = next((n.id for n in ast.walk(decorator) if isinstance(n, ast.Name)), None)
    sources = [source for source, _ in module.bindings.get(name, [])]
    return bool(sources) and all(source.partition(".")[0] in HARMLESS for source in sources)


def _is_main_guard(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _split_dict(node, defines, module):
    """File the entries of a dict literal, unless one of its keys is no constant text."""
    keys = [key.value if isinstance(key, ast.Constant) else None for key in node.value.keys]
    if len(defines) == 1 and all(isinstance(key, str) for key in keys):
        for key, value in zip(keys, node.value.values, strict=True):
            module.definitions.setdefault(f"{defines[0]}[{key}]", []).append(value)


def _import(node, module):
    """File an import: what it binds, and what it runs."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            module.executed.append(alias.name)
            source = alias.name if alias.asname else alias.name.partition(".")[0]
            module.bindings.setdefault(alias.asname or source, []).append((source, None))
            module.dotted += [] if alias.asname else [alias.name]
        return
    base = absolute(node, module)
    module.executed.append(base)
    for alias in node.names:
        if alias.name == "*":
            module.stars.append(base)
        else:
            module.executed.append(f"{base}.{alias.name}")
            bound = module.bindings.setdefault(alias.asname or alias.name, [])
            bound.append((base, alias.name))


def absolute(node, module):
    """Return the dotted name of the module that a ``from ... import`` names."""
    if not node.level:
        return node.module
    parts = module.package.split(".")
    return ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])


def _keep_unused_imports(module):
    """Take ``import x`` of which nothing is used for what it is: x is run for what it does."""
    nodes = [node for given in module.definitions.values() for node in given] + module.statements
    chains = [chain for node in nodes for chain in uses(node, module).chains]
    used = {".".join(chain[:n]) for chain in chains for n in range(1, len(chain) + 1)}
    unused = [name for name in module.dotted if name not in used]
    for name, bound in module.bindings.items():
        if name not in used:
            unused += [source for source, inner in bound if inner is None]
    for name in dict.fromkeys(unused):
        module.statements.append(ast.parse(f"import {name} as __run__; __run__"))


def uses(node, module):
    """Return what a piece of a module's code uses, as `Uses`; it is found once a process."""
    found = node.__dict__.get("found_uses")
    if found is None:
        found = node.found_uses = _uses(node, module)
    return found


def _uses(node, module):
    found = Uses(Module(module.name, module.is_package))
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if chain := _chain(each):
            found.chains.add(chain)
            found.words.update(chain)
            continue
        if isinstance(each, ast.Import | ast.ImportFrom):
            _import(each, found.inner)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.texts.add(each.value)
        elif isinstance(each, ast.JoinedStr):
            found.heads |= {v.value for v in each.values[:1] if isinstance(v, ast.Constant)}
        elif isinstance(each, ast.Attribute):
            found.words.add(each.attr)
        elif isinstance(each, (ast.ClassDef, *FUNCTIONS)):
            found.words.add(each.name)
        elif isinstance(each, ast.Call) and not each.args and not each.keywords:
            found.any_name |= _chain(each.func) in (("vars",), ("dir",))
        waiting.extend(ast.iter_child_nodes(each))
    found.any_name |= bool(found.words & NAMESPACE) or ("sys", "modules") in {
        chain[:2] for chain in found.chains
    }
    return found


def text_of(node, module):
    """Return a piece of code as text, blind to comments, layout and docstrings."""
    found = uses(node, module)
    found.text = found.text or ast.unparse(node)
    return found.text


def _chain(node):
    """Return a name with its attributes, or None if the node is something else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else None
