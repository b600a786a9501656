"""Changes the formulas one spot at a time: would a test notice a wrong sign, factor or index.

``python -m fivebo.common.referee.mutate <paper>`` changes one spot at a time in a scratch copy of
the paper and runs the tests that pin the changed row, then those that name the changed module.
What no test notices is listed. Three kinds of code are changed:

theory
    every function of the modules whose name ends in `theory`;
algorithm
    every statement that carries the comment ``l. <line>`` of an algorithm;
formula
    every other function or class that an `exact` row of fidelity.yaml names.

A spot where the change makes no difference in exact arithmetic, or none that the paper speaks of,
carries the comment ``# mutants: <reason>`` and is left alone.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

KINDS = ("theory", "algorithm", "formula")
LINE = re.compile(r"#.*\bl\. \d")
SPARED = re.compile(r"#.*\bmutants: \S")
LOGS = {"log": "log2", "log2": "log", "log10": "log"}
OPPOSITE = {"argmax": "argmin", "maximum": "minimum", "max": "min"}
OPPOSITE |= {other: name for name, other in OPPOSITE.items()}
OPPOSITE |= {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
UNTOUCHED = (ast.Raise, ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """One change of one spot.

    Parameters
    ----------
    path : str
        File, relative to the repository root.
    line : int
        First line of the spot, from 1.
    change : str
        sign, factor 2, log base, square root, off by one or order (less for more, max for min).
    before, after : str
        The spot's source and what replaces it.
    kind : str
        One of `KINDS`.
    owner : str
        Function or class that holds it, such as ``mt_kb_radius`` or ``MTKB.ask``.
    source : str
        The whole changed file.
    """

    path: str
    line: int
    change: str
    before: str
    after: str
    kind: str
    owner: str
    source: str

    def __str__(self):
        spot = f"{' '.join(self.before.split())} -> {' '.join(self.after.split())}"
        return f"{self.path}:{self.line}: {self.owner}: {self.change}: {spot}"


def mutants_of(path, source, exact=()):
    """List the changes of one module.

    Parameters
    ----------
    path : str
        The module's file, relative to the repository root; its name tells a theory.
    source : str
        Its text.
    exact : iterable of str, optional
        Names in the module that `exact` rows bind, such as ``MTKB`` or ``MTKB.ask``.

    Returns
    -------
    list of Mutant
        In the order of the lines; no spot twice for the same change.
    """
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data, found = source.encode(), {}
    for owner, statement in _statements(ast.parse(source)):
        kind = _kind(path, owner, statement, lines, exact)
        if kind is None:
            continue
        for node, change, after in _changes(statement):
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            if any(SPARED.search(text) for text in lines[node.lineno - 1 : node.end_lineno]):
                continue
            before = data[begin:end].decode()
            changed = (data[:begin] + f"({after})".encode() + data[end:]).decode()
            key = (begin, end, change, after)
            found[key] = Mutant(path, node.lineno, change, before, after, kind, owner, changed)
    return [found[key] for key in sorted(found)]


def _statements(tree):
    """Yield (owner, simple statement or head of a compound one) of all functions."""
    stack = [("", node) for node in reversed(tree.body)]
    while stack:
        owner, node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{owner}.{node.name}" if owner else node.name
            stack += [(name, child) for child in reversed(node.body)]
        elif owner and not isinstance(node, UNTOUCHED) and not _is_docstring(node):
            yield owner, node
            for field in ("body", "orelse", "finalbody"):
                stack += [(owner, child) for child in reversed(getattr(node, field, []))]


def _is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _heads(statement):
    """Return the expressions of a statement, without the statements nested in it."""
    if isinstance(statement, ast.AnnAssign):
        return [statement.value] if statement.value else []
    return [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)]


def _kind(path, owner, statement, lines, exact):
    if Path(path).stem.endswith("theory"):
        return "theory"
    heads = _heads(statement) or [statement]
    if any(LINE.search(text) for h in heads for text in lines[h.lineno - 1 : h.end_lineno]):
        return "algorithm"
    if any(owner == name or owner.startswith(f"{name}.") for name in exact):
        return "formula"
    return None


def _changes(statement):
    """Yield (node, change, replacement) of a statement's expressions."""
    for head in _heads(statement):
        for node in _arithmetic(head):
            yield from _node_changes(node)
    if isinstance(statement, ast.Return) and _is_number(statement.value):
        yield statement.value, "factor 2", f"2 * ({ast.unparse(statement.value)})"


def _arithmetic(node):
    """Walk an expression, past texts, annotations and the flags of calls."""
    yield node
    for child in ast.iter_child_nodes(node):
        flag = isinstance(child, ast.keyword) and isinstance(child.value, ast.Constant)
        if not flag and not isinstance(child, UNTOUCHED):
            yield from _arithmetic(child)


def _is_number(node):
    """Whether an expression looks like a number: an operation, or a call of a function."""
    return isinstance(node, ast.BinOp | ast.Call) and not (
        isinstance(node, ast.Call) and ast.unparse(node.func)[0].isupper()
    )


def _node_changes(node):
    text = ast.unparse
    match node:
        case ast.BinOp(left, ast.Add(), right):
            yield node, "sign", f"({text(left)}) - ({text(right)})"
        case ast.BinOp(left, ast.Sub(), right):
            yield node, "sign", f"({text(left)}) + ({text(right)})"
        case ast.BinOp(left, ast.Pow(), ast.Constant(value=0.5)):
            yield node, "square root", text(left)
        case ast.UnaryOp(ast.USub(), operand):
            yield node, "sign", text(operand)
        case ast.Call(func) if (name := text(func).rpartition(".")[2]) in OPPOSITE:
            yield func, "order", text(func).removesuffix(name) + OPPOSITE[name]
        case ast.Call(func, [argument, *_]):
            name = text(func).rpartition(".")[2]
            if name == "sqrt":
                yield node, "square root", text(argument)
            elif name == "log1p":
                yield node, "log base", f"({text(node)}) / 0.6931471805599453"
            elif name in LOGS:
                yield func, "log base", text(func).removesuffix(name) + LOGS[name]
        case ast.Compare(left, [operator], [right]) if type(operator) in OPPOSITE:
            turned = ast.Compare(left, [OPPOSITE[type(operator)]()], [right])
            yield node, "order", text(turned)
        case ast.Constant(value=value) if type(value) in (int, float):
            if value:
                yield node, "factor 2", repr(2 * value)
            if type(value) is int:
                yield node, "off by one", repr(value + 1)
        case ast.Subscript(slice=ast.Name(name)):
            yield node.slice, "off by one", f"{name} - 1"
