"""How docstrings, comments and tests refer to a paper: places, lines of algorithms, markers."""

import ast
import re
from pathlib import Path

from fivebo.common.files import check_checkout

PLACES = {
    "equation": r"Eqs?\.|Equations?",
    "algorithm": r"Algs?\.|Algorithms?",
    "theorem": r"Theorems?|Thms?\.?",
    "lemma": r"Lemmas?",
    "corollary": r"Corollary|Corollaries",
    "remark": r"Remarks?",
    "section": r"Secs?\.|Sections?",
    "appendix": r"Apps?\.|Appendix|Appendices",
    "figure": r"Figs?\.|Figures?",
    "table": r"Tabs?\.|Tables?",
    "definition": r"Defs?\.|Definitions?",
    "assumption": r"Assumptions?",
}
NUMBER = r"\(?([A-Z]\b|\d+)(?:\.(\d+))?\)?(?:\s?\([a-z]\))?"
LIST = rf"{NUMBER}(?:(?:,\s+|,?\s+and\s+|-){NUMBER})*"
LINES = r"\bl\. (\d+)(?:-(\d+))?"


def cited_places(text):
    """Find the places that a text cites, such as ("equation", "5") or ("section", "4.1").

    Parameters
    ----------
    text : str

    Returns
    -------
    set of (str, str)
    """
    found = set()
    for kind, words in PLACES.items():
        for match in re.finditer(rf"\b(?:{words})[\s~]+({LIST})", text):
            for number in re.finditer(NUMBER, match.group(1)):
                found.add((kind, ".".join(filter(None, number.groups()))))
    return found


def cites(text, where):
    """Whether a text cites one of the places; a section covers its subsections."""
    cited = cited_places(text)
    return any(
        kind == other and f"{place}.".startswith(f"{given}.")
        for kind, place in cited_places(where)
        for other, given in cited
    )


def algorithm_lines(where):
    """Return the line numbers of an algorithm that a place names, such as {7, 8} of "l. 7-8"."""
    return {n for a, b in re.findall(LINES, where) for n in range(int(a), int(b or a) + 1)}


def commented_lines(source):
    """Return the line numbers of an algorithm that comments in Python source name."""
    return set().union(*(algorithm_lines(c) for c in re.findall(r"#.*", source)))


def pinned_rows(paper, root):
    """Find which tests pin which rows, by reading the tests' syntax trees.

    Parameters
    ----------
    paper : str
    root : path-like
        Repository root.

    Returns
    -------
    dict of str to list of str
        Row id to the pytest nodes, or files for module-wide markers.

    Raises
    ------
    SurroundingsError
        `root` is an installed package, which has no tests.
    """
    check_checkout("tests", root)
    pinned = {}
    for path in sorted(Path(root, "tests").rglob("test_*.py")):
        for node, names in _markers(ast.parse(path.read_text(encoding="utf-8"))):
            if names and names[0] == paper:
                place = path.relative_to(root).as_posix() + (f"::{node}" if node else "")
                for row in names[1:]:
                    pinned.setdefault(row, []).append(place)
    return pinned


def _markers(tree):
    """Yield (test name or None, names) of every ``pytest.mark.paper(...)``.

    Arguments are literals, or ``*NAMES`` with a tuple of literals assigned in the module.
    """
    within = {
        child: function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for child in ast.walk(function)
    }
    constants = {
        target.id: _literals(node.value.elts)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.paper"):
            names = [
                name
                for argument in node.args
                for name in (
                    constants.get(ast.unparse(argument.value), [])
                    if isinstance(argument, ast.Starred)
                    else _literals([argument])
                )
            ]
            yield within.get(node), names


def _literals(nodes):
    return [node.value for node in nodes if isinstance(node, ast.Constant)]
