"""The library example of gpoo/README.md runs and finds the bright spot."""

import re
from pathlib import Path

import numpy as np


def test_own_measurement_in_the_readme(capsys):
    text = Path(__file__).parents[2].joinpath("gpoo", "README.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    names = {}
    exec(compile(block, "gpoo/README.md", "exec"), names)
    best = names["best"]
    assert (best.low <= [31.0, 10.0]).all()
    assert (best.high >= [27.0, 6.0]).all()
    centre = (best.low + best.high) / 2
    assert np.linalg.norm(centre - [29.0, 8.0]) < 3.0
    assert len(names["search"].result()) == 120
    assert capsys.readouterr().out.startswith("[")
