"""Mutants: what is changed, what is spared, and that a weak test lets one through."""

import subprocess
import sys
from pathlib import Path

import pytest

from fivebo.common.referee.mutants import mutants_of

THEORY = '''"""Theory with 2 in its docstring."""

import math


def radius(t, delta=0.1):
    """Radius. Source: Theorem 1."""
    if t < 1:
        raise ValueError(f"t must be at least {1}")
    return 3 + math.sqrt(math.log(t / delta))


def spared(t):
    """Twice. Source: Theorem 2."""
    return t + 0.25  # mutants: a guard against rounding
'''

ALGORITHM = """
class Search:
    def ask(self):
        untouched = 5 * self.width
        return self.values[self.scores.argmax() - 1]  # l. 4

    def width(self):
        return 7 * self.scale
"""


def spots(mutants):
    return {(m.change, m.before, m.after) for m in mutants}


def test_each_kind_of_slip_in_a_theory_is_made_once():
    found = mutants_of("p/theory.py", THEORY)
    root = "math.sqrt(math.log(t / delta))"
    assert spots(found) == {
        ("order", "t < 1", "t >= 1"),
        ("factor 2", "1", "2"),
        ("off by one", "1", "2"),
        ("factor 2", "3", "6"),
        ("off by one", "3", "4"),
        ("sign", f"3 + {root}", f"(3) - ({root})"),
        ("factor 2", f"3 + {root}", f"2 * (3 + {root})"),
        ("square root", root, "math.log(t / delta)"),
        ("log base", "math.log", "math.log2"),
    }
    assert {m.owner for m in found} == {"radius"}
    assert {m.line for m in found} == {8, 10}


def test_a_mutant_differs_from_its_source_in_its_spot_only():
    for mutant in mutants_of("p/theory.py", THEORY):
        changed = mutant.source.splitlines()
        differing = [
            i
            for i, (a, b) in enumerate(zip(THEORY.splitlines(), changed, strict=True), 1)
            if a != b
        ]
        assert differing == [mutant.line]
        compile(mutant.source, "theory.py", "exec")


def test_outside_theories_only_algorithm_lines_and_exact_code_are_changed():
    assert {m.kind for m in mutants_of("p/algorithms.py", ALGORITHM)} == {"algorithm"}
    bound = mutants_of("p/algorithms.py", ALGORITHM, ["Search.width"])
    assert {m.before for m in bound if m.kind == "formula"} == {"7", "7 * self.scale"}
    assert {m.before for m in bound if m.kind == "algorithm"} >= {"self.scores.argmax"}


@pytest.fixture
def mini(tmp_path):
    """A paper with one theorem, whose test is strong or weak."""
    (tmp_path / "mini").mkdir()
    (tmp_path / "tests/mini").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npythonpath = ["."]\naddopts = ["--import-mode=importlib"]\n'
        'markers = ["paper(paper, *rows): rows"]\n'
    )
    (tmp_path / "mini/__init__.py").write_text("")
    (tmp_path / "mini/theory.py").write_text(
        '"""T."""\nimport math\n\n\ndef radius(t):\n    """Theorem 1."""\n'
        "    return 1 + math.sqrt(t)\n"
    )
    (tmp_path / "mini/fidelity.yaml").write_text(
        "rows:\n- {id: thm-1, where: Theorem 1, what: radius, code: 'mini.theory:radius', "
        "status: exact}\n"
    )
    return tmp_path


def survivors(root, statement):
    (root / "tests/mini/test_theory.py").write_text(
        "import pytest\nfrom mini.theory import radius\n\n\n@pytest.mark.paper('mini', 'thm-1')\n"
        f"def test_radius():\n    assert {statement}\n"
    )
    script = (
        "import sys; from fivebo.common.referee.mutate import mutate, summary\n"
        "print(summary(mutate('mini', sys.argv[1], progress=False)))"
    )
    repository = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script, str(root)], capture_output=True, text=True, cwd=repository
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_strong_test_kills_all_and_a_weak_one_lets_survivors_through(mini):
    assert survivors(mini, "radius(4) == 3") == ["theory: 5 of 5 mutants killed"]
    assert (mini / "mini/theory.py").read_text().endswith("return 1 + math.sqrt(t)\n")
    lines = survivors(mini, "radius(1) == 2")
    assert lines[-1] == "theory: 4 of 5 mutants killed"
    assert lines[0].startswith("survived: mini/theory.py:7: radius: square root: math.sqrt(t) -> t")
    assert lines[0].endswith("[thm-1]")


def test_tests_that_fail_without_a_change_are_no_judges(mini):
    (mini / "tests/mini/test_theory.py").write_text(
        "import pytest\nfrom mini.theory import radius\n\n\n@pytest.mark.paper('mini', 'thm-1')\n"
        "def test_radius():\n    assert radius(4) == 7\n"
    )
    script = (
        "import sys; from fivebo.common.referee.mutate import mutate; mutate('mini', sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(mini)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[3],
    )
    assert "ValueError: the tests of mini/theory.py fail without any change" in done.stderr
