"""Data files: verified, fetched from a mirror or an address, and never left half-written."""

import gzip
import hashlib
import http.server
import threading

import numpy as np
import pytest

from fivebo.common.lab import datasets
from fivebo.common.lab.datasets import DataError
from tests.conftest import ROOT, load_script

GOOD = b"bin,mote\n0,1\n" * 500
NAME = "lab/readings.csv"


class Server(http.server.BaseHTTPRequestHandler):
    """Serve good.csv, wrong.csv, and half of half.csv."""

    def do_GET(self):
        name = self.path.rpartition("/")[2]
        if name not in ("readings.csv", "good.csv", "wrong.csv", "half.csv"):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(GOOD)))
        self.end_headers()
        body = {"wrong.csv": GOOD[::-1], "half.csv": GOOD[:100]}.get(name, GOOD)
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """An empty data/raw, and a table of sources that names one file."""
    monkeypatch.setattr(datasets, "RAW", tmp_path / "raw")
    monkeypatch.setattr(datasets, "DATA", tmp_path)
    monkeypatch.setattr(datasets, "ROOT", tmp_path)
    monkeypatch.delenv(datasets.MIRROR, raising=False)
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    set_source(tmp_path, "")
    return tmp_path / "raw"


def set_source(folder, url):
    digest = hashlib.sha256(GOOD).hexdigest()
    header = "name,url,sha256,bytes,licence,citation\n"
    (folder / "sources.csv").write_text(f"{header}{NAME},{url},{digest},{len(GOOD)},none,none\n")


def left_behind(raw):
    return [path for path in raw.rglob("*") if path.is_file()] if raw.exists() else []


def test_fetch_from_an_address(raw, address):
    set_source(raw.parent, f"{address}/good.csv")
    path = datasets.fetch(NAME, progress=False)
    assert path.read_bytes() == GOOD
    assert left_behind(raw) == [path]


def test_verified_file_is_not_fetched_again(raw):
    (raw / "lab").mkdir(parents=True)
    (raw / NAME).write_bytes(GOOD)
    assert datasets.fetch(NAME) == raw / NAME


def test_damaged_file_is_fetched_anew(raw, address):
    (raw / "lab").mkdir(parents=True)
    (raw / NAME).write_bytes(GOOD[:50])
    set_source(raw.parent, f"{address}/good.csv")
    assert datasets.fetch(NAME, progress=False).read_bytes() == GOOD


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("wrong.csv", "has the wrong checksum"),
        ("half.csv", "the connection to 127.0.0.1 broke off"),
        ("absent.csv", "answers 404"),
    ],
)
def test_bad_answer_is_one_line_with_the_fix_and_leaves_nothing(raw, address, file, message):
    set_source(raw.parent, f"{address}/{file}")
    with pytest.raises(DataError) as caught:
        datasets.fetch(NAME, progress=False)
    assert message in str(caught.value)
    assert datasets.MIRROR in str(caught.value)
    assert "\n" not in str(caught.value)
    assert left_behind(raw) == []


def test_missing_host_is_one_line_with_the_fix(raw):
    set_source(raw.parent, "http://127.0.0.1:9/good.csv")
    with pytest.raises(DataError, match=r"no connection to 127\.0\.0\.1.*Connect to the network"):
        datasets.fetch(NAME, progress=False)
    assert left_behind(raw) == []


def test_mirror_folder_comes_first(raw, tmp_path, monkeypatch):
    (tmp_path / "mirror/lab").mkdir(parents=True)
    (tmp_path / "mirror" / NAME).write_bytes(GOOD)
    monkeypatch.setenv(datasets.MIRROR, str(tmp_path / "mirror"))
    assert datasets.fetch(NAME).read_bytes() == GOOD


def test_mirror_address_comes_first(raw, address, monkeypatch):
    monkeypatch.setenv(datasets.MIRROR, f"{address}/data/")
    assert datasets.fetch(NAME, progress=False).read_bytes() == GOOD


def test_wrong_mirror_falls_back_to_the_address(raw, address, tmp_path, monkeypatch):
    (tmp_path / "mirror/lab").mkdir(parents=True)
    (tmp_path / "mirror" / NAME).write_bytes(b"other")
    monkeypatch.setenv(datasets.MIRROR, str(tmp_path / "mirror"))
    with pytest.raises(DataError, match="has the wrong checksum"):
        datasets.fetch(NAME)
    assert left_behind(raw) == []
    set_source(raw.parent, f"{address}/good.csv")
    assert datasets.fetch(NAME, progress=False).read_bytes() == GOOD


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("pass", "make.py did not make it (it gave no reason)"),
        ("import sys; sys.exit('the host is down')", "did not make it (the host is down)"),
        ("Path('raw/lab/readings.csv').write_bytes(b'other')", "did not make it"),
    ],
)
def test_a_script_that_does_not_make_the_file_is_one_line_and_leaves_nothing(raw, script, message):
    (raw / "lab").mkdir(parents=True)
    plant_script(raw, script)
    with pytest.raises(DataError) as caught:
        datasets.fetch(NAME)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert left_behind(raw) == []


def test_a_script_makes_the_file_if_the_mirror_has_none(raw, tmp_path, monkeypatch):
    (raw / "lab").mkdir(parents=True)
    plant_script(raw, f"Path('raw/lab/readings.csv').write_bytes({GOOD[:13]!r} * 500)")
    monkeypatch.setenv(datasets.MIRROR, str(tmp_path / "nowhere"))
    assert datasets.fetch(NAME).read_bytes() == GOOD


def plant_script(raw, text):
    """Name a script as the source; the root of the repository is the folder of raw."""
    set_source(raw.parent, "make.py")
    (raw.parent / "make.py").write_text(f"from pathlib import Path\n{text}\n")


def test_unknown_name_is_answered_with_the_nearest(raw):
    with pytest.raises(DataError, match=r"unknown data file 'lab/reading.csv'; did you mean"):
        datasets.fetch("lab/reading.csv")


def test_verify_file_of_raw_data(raw):
    place = f"data/raw/{NAME}"
    with pytest.raises(
        DataError, match=r"is missing; fetch it with: python -m fivebo\.common\.lab\.datasets"
    ):
        datasets.verify_file(place)
    (raw / "lab").mkdir(parents=True)
    (raw / NAME).write_bytes(b"other")
    with pytest.raises(DataError, match="is damaged"):
        datasets.verify_file(place)
    (raw / NAME).write_bytes(GOOD)
    assert datasets.verify_file(place) == raw / NAME


def test_bundled_files_are_whole_and_listed():
    listed = datasets.bundled_sums()
    present = {
        str(path.relative_to(datasets.BUNDLED))
        for path in datasets.BUNDLED.rglob("*")
        if path.is_file() and path.suffix not in (".md",) and path.name != "SHA256SUMS"
    }
    assert set(listed) == present
    for name in listed:
        assert datasets.verify_file(f"data/bundled/{name}").is_file()


def test_missing_or_damaged_bundled_file_says_how_to_restore_it(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "BUNDLED", tmp_path)
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  lab/a.csv\n")
    fix = "restore it with: git checkout -- data/bundled/lab/a.csv"
    with pytest.raises(DataError, match=f"is missing; {fix}"):
        datasets.verify_file("data/bundled/lab/a.csv")
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/a.csv").write_text("x")
    with pytest.raises(DataError, match=f"is damaged .*; {fix}"):
        datasets.verify_file("data/bundled/lab/a.csv")
    with pytest.raises(DataError, match="not listed"):
        datasets.verify_file("data/bundled/lab/b.csv")


def test_command_line(raw, tmp_path, monkeypatch, capsys):
    assert datasets.main(["fetch", NAME]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    (tmp_path / "mirror/lab").mkdir(parents=True)
    (tmp_path / "mirror" / NAME).write_bytes(GOOD)
    monkeypatch.setenv(datasets.MIRROR, str(tmp_path / "mirror"))
    assert datasets.main(["fetch", NAME]) == 0
    assert datasets.main(["verify"]) == 0
    assert datasets.main(["list"]) == 0
    assert f"{NAME}  {len(GOOD)} bytes  here" in capsys.readouterr().out


def test_sources_are_complete():
    for name, row in datasets.sources().items():
        assert len(row["sha256"]) == 64
        if row["url"].endswith(".py"):
            assert (ROOT / row["url"]).is_file()
        else:
            assert row["url"].startswith("https://") or "mirrors only" in row["citation"]
        assert row["licence"], name


@pytest.fixture
def derive():
    return load_script("data/derive_intel_lab.py")


def test_derived_readings_are_cleaned_sorted_and_reproducible(derive):
    good = ("18.442", "43.119", "43.24", "2.6614")
    rows = [
        (3, 2, *good),
        (0, 15, *good),
        (720, 1, *good),
        (0, 7, "122.15", *good[1:]),
        (0, 8, *good[:3], "2.1"),
        (0, 9, *good),
    ]
    content = derive.derived(rows)
    assert gzip.decompress(content).decode().splitlines() == [
        "bin,mote,temperature_C,humidity_pct,light_lux",
        "0,9,18.442,43.119,43.24",
        "3,2,18.442,43.119,43.24",
    ]
    assert content == derive.derived(reversed(rows))


def test_tensor_and_table_give_the_same_rows(derive, tmp_path):
    from scipy.io import savemat

    tensor = np.zeros((52, 4, 2))
    tensor[0, :, 0] = (18.4421, 43.1188, 43.24, 2.66141)
    tensor[4, :, 1] = (19.1, 42.6, 97.52, 2.6)
    savemat(tmp_path / "sensor.mat", {"T": tensor})
    text = (
        "timestamp,mote,temperature_C,humidity_pct,light_lux,voltage_V\n"
        "2004-03-01 00:00,1,18.442,43.119,43.24,2.6614\n"
        "2004-03-01 00:10,6,19.1,42.6,97.52,2.6\n"
    )
    with gzip.open(tmp_path / "table.csv.gz", "wt") as file:
        file.write(text)
    assert list(derive.tensor_rows(tmp_path / "sensor.mat")) == list(
        derive.table_rows(tmp_path / "table.csv.gz")
    )


def test_bundled_readings_match_their_provenance():
    text = (datasets.BUNDLED / "intel_lab/PROVENANCE.md").read_text()
    for name, digest in datasets.bundled_sums().items():
        if name.startswith("intel_lab/"):
            assert digest in text
    lines = gzip.decompress(
        datasets.verify_file("data/bundled/intel_lab/readings.csv.gz").read_bytes()
    ).splitlines()
    assert len(lines) - 1 == 35_868
