"""Fingerprints of the code that a result depends on, blind to comments, layout and docstrings.

A fingerprint hashes the definitions (see `definitions`) that some roots reach by name, across all
modules of this repository, and the statements of every module whose import that runs. What cannot
be resolved, such as a module handed on as a value, is counted as a whole: never too little.
"""

import hashlib
from pathlib import Path

from fivebo.common.files import ROOT
from fivebo.common.lab.definitions import (
    BY_NAME,
    REGISTRY,
    Module,
    locate,
    read_module,
    text_of,
    uses,
)
from fivebo.common.names import PACKAGE


def fingerprint(roots, root=ROOT):
    """Hash the code that some roots reach.

    Parameters
    ----------
    roots : sequence of str
        Where to start: a whole module such as "fivebo.mtbo.figures", one of its definitions
        ("fivebo.mtbo.study:Params"), or an entry of a dict ("fivebo.mtbo.study:METHODS[mobo]").
    root : path, optional
        Root of the repository; modules outside it are not followed.

    Returns
    -------
    str
        16 hexadecimal digits.

    Raises
    ------
    ValueError
        A root's module or name does not exist.
    """
    digest = hashlib.sha256()
    for name, text in reached(roots, root).items():
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()[:16]


def reached(roots, root=ROOT):
    """Return the code that some roots reach: a sorted dict of "module:name" to code.

    The statements of a module stand under "module:", an import that is used under
    "module:import name". Parameters and errors are those of `fingerprint`.
    """
    search = _Search(Path(root))
    for name in roots:
        search.start(name)
    search.finish()
    return dict(sorted(search.found.items()))


class _Search:
    """Follows names from definition to definition."""

    def __init__(self, root):
        self.root, self.modules = root, {}
        self.found, self.texts, self.heads = {}, [], []
        self.run, self.wholes, self.seen, self.waiting = set(), set(), set(), []
        self.by_name = self.by_registry = False

    def start(self, name):
        """Take a root."""
        source, _, inner = name.partition(":")
        module = self.module(source)
        outer = inner.partition("[")[0]
        if module is None or (outer and outer not in {**module.definitions, **module.bindings}):
            raise ValueError(f"fingerprint: {name!r} is no module or name below {self.root}")
        if inner in module.definitions and len(module.definitions[outer]) == 1:
            self.execute(source)
            self.define(module, inner)
        else:
            self.attribute(source, [outer] if outer else [])
        self.drain()

    def finish(self):
        """Follow what is imported by name or found by a registry, until nothing is new."""
        before = None
        while before != (before := (len(self.found), len(self.run))):
            if self.by_registry:
                for name in sorted(self.run):
                    self.whole_package(self.module(name).package)
            if self.by_name:
                for module, text in list(self.texts):
                    for name in (text, f"{PACKAGE}.{text}", f"{module.package}.{text}"):
                        if self.module(name) is not None:
                            self.attribute(name, [])
                for text in list(self.heads):
                    for name in (text.rstrip("."), f"{PACKAGE}.{text.rstrip('.')}"):
                        self.whole_package(name)
            self.drain()

    def drain(self):
        """Follow what the definitions found so far use."""
        while self.waiting:
            module, node = self.waiting.pop()
            used = uses(node, module)
            for name in used.inner.executed:
                self.execute(name)
            for chain in used.chains:
                self.name(module, chain, used.inner)
            if used.any_name:
                self.whole(module)
            self.by_name |= bool(used.words & BY_NAME)
            self.by_registry |= bool(used.words & REGISTRY)
            self.texts += [(module, text.lstrip(".")) for text in used.texts]
            self.heads += [text for text in used.heads if text.endswith(".")]

    def module(self, name):
        """Return a module of the repository, or None."""
        if name not in self.modules:
            path = locate(name, self.root)
            self.modules[name] = path and read_module(name, path)
        return self.modules[name]

    def execute(self, name):
        """Count the statements that the import of a module does, with all that it imports."""
        waiting = [name]
        while waiting:
            name = waiting.pop()
            module = name and name not in self.run and self.module(name)
            if not module:
                continue
            self.run.add(name)
            self.take(module, "", module.statements)
            waiting += [name.rpartition(".")[0], *module.executed, *module.stars]

    def take(self, module, name, nodes):
        """Count pieces of code, and what they use."""
        if nodes and f"{module.name}:{name}" not in self.found:
            self.found[f"{module.name}:{name}"] = "\n".join(text_of(n, module) for n in nodes)
            self.waiting += [(module, node) for node in nodes]

    def define(self, module, name):
        """Count what gives a name of a module its value."""
        self.take(module, name, module.definitions[name])

    def name(self, module, chain, inner):
        """Follow a name that some code of a module uses; `inner` holds imports inside the code."""
        head, *rest = chain
        if head in module.definitions:
            self.define(module, head)
        bound = [*module.bindings.get(head, ()), *inner.bindings.get(head, ())]
        for source, name in bound:
            self.found[f"{module.name}:import {head} {source}"] = f"{name}"
            self.attribute(source, [name, *rest] if name else rest)
        if not bound and head not in module.definitions:
            for star in (*module.stars, *inner.stars):
                self.provided(star, chain)

    def provided(self, star, chain):
        """Follow a name if a module of which all names are imported has it."""
        module = self.module(star)
        if module and (chain[0] in {**module.definitions, **module.bindings} or module.stars):
            self.attribute(star, list(chain))

    def attribute(self, source, rest):
        """Follow a module's attribute; without one, or if it is not found, the whole module."""
        module = self.module(source)
        if module is None or (source, *rest) in self.seen:
            return
        self.seen.add((source, *rest))
        self.execute(source)
        if not rest:
            self.whole(module)
            if module.is_package:
                self.whole_package(source)
            return
        inside = self.module(f"{source}.{rest[0]}")
        if inside is not None:
            self.attribute(f"{source}.{rest[0]}", rest[1:])
        if rest[0] in module.definitions or rest[0] in module.bindings or module.stars:
            self.name(module, tuple(rest), Module(source, module.is_package))
        elif inside is None:
            self.whole(module)

    def whole(self, module):
        """Count all that a module defines and imports."""
        if module.name in self.wholes:
            return
        self.wholes.add(module.name)
        for name in module.definitions:
            self.define(module, name)
        for name in module.bindings:
            self.name(module, (name,), Module(module.name, module.is_package))
        for star in module.stars:
            self.attribute(star, [])

    def whole_package(self, name):
        """Count all modules of a package."""
        module = self.module(name)
        if module is not None and module.is_package:
            for path in sorted(locate(name, self.root).parent.glob("*.py")):
                inner = name if path.stem == "__init__" else f"{name}.{path.stem}"
                self.attribute(inner, [])
