"""The example of the README does what it says."""

import re

import numpy as np
import pandas as pd
import pytest

from fivebo.common.files import ROOT


def readme_block():
    text = (ROOT / "classify_dfo/README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return block


def test_plates_of_96_come_and_go_as_csv_and_improve(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(readme_block(), "README", "exec"), {"__name__": "readme"})
    plates = [pd.read_csv(f"plate-{k}.csv") for k in range(1, 7)]
    assert [len(plate) for plate in plates] == [96] * 6
    assert pd.concat(plates)["row"].is_unique
    assert plates[-1]["signal"].mean() > 2 * plates[0]["signal"].mean()
    best = pd.concat(plates)["signal"].max()
    assert best >= 6**3
    assert f"{best:.1f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("plate-1.csv", lambda plate: plate.iloc[:90], "plate-1.csv lacks wells"),
        ("plate-1.csv", lambda plate: plate.assign(row=plate["row"] + 1), "plate-1.csv lacks"),
        ("library.csv", lambda words: words.iloc[::-1], "or is of another library"),
        ("plate-1.csv", lambda plate: pd.concat([plate, plate.iloc[:1]]), "duplicate"),
        ("plate-1.csv", lambda plate: plate.assign(signal=np.nan), "must be finite"),
        ("plate-1.csv", lambda plate: plate.iloc[::-1].assign(well="A1"), None),
    ],
)
def test_a_plate_that_is_not_the_one_asked_for_is_refused(
    tmp_path, monkeypatch, file, change, message
):
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "readme"}
    block = readme_block()
    exec(compile(block[: block.index("for measured in range(6)")], "README", "exec"), scope)
    scope["next_plate"](0)
    scope["read_plate"](1)
    change(pd.read_csv(file)).to_csv(file, index=False)
    if message is None:
        assert len(scope["next_plate"](1).batches) == 1
        return
    with pytest.raises(ValueError, match=message):
        scope["next_plate"](1)
