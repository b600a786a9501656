"""NACA 4-digit outlines and their table; XFOIL, a fake one for what goes wrong and the real one."""

import math
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fivebo.classify_dfo import airfoil, problems, xfoil
from fivebo.classify_dfo.xfoil import Conditions, Result, Xfoil, XfoilError
from tests.conftest import ROOT, load_script

needs_xfoil = pytest.mark.skipif(
    xfoil.find_program() is None, reason="XFOIL is not installed (apt-get install xfoil)"
)

FAKE = """#!{python}
import os, re, signal, sys
text = sys.stdin.read()
naca = re.search("naca ([0-9]+)", text)[1]
header = [" XFOIL  Version 6.99", *["-"] * 11]
mode = os.environ["FAKE_XFOIL"]
if os.path.exists("polar") or "DISPLAY" in os.environ:
    sys.exit(3)
if mode == "trap" and "LD_PRELOAD" not in os.environ or mode == "always-trap":
    os.kill(os.getpid(), signal.SIGFPE)
if mode == "slow" and naca != "0012":
    open(os.environ["FAKE_STARTED"], "w").write(str(os.getpid()))
    os.system("sleep 60")  # a child that holds the output open
if mode == "code":
    sys.exit("Fortran runtime error")
if naca == "0001":
    rows = []
else:
    rows = ["  4.000   0.{{}}   0.01000   0.00100  -0.0500   0.4000   1.0000".format(naca)]
if mode == "garbage" and naca != "0012":
    rows = ["  4.000   ******   0.01000   0.00100  -0.0500   0.4000   1.0000"]
if mode == "nan":
    rows = ["  4.000   NaN   0.01000   0.00100  -0.0500   0.4000   1.0000"]
if mode == "negative":
    rows = ["  4.000   0.5   -0.01000   0.00100  -0.0500   0.4000   1.0000"]
if mode == "short":
    rows = ["  4.000   0.5"]
if mode == "binary":
    open("polar", "wb").write(bytes(range(256)))
elif mode == "foreign":
    open("polar", "w").write("hello")
elif mode != "nothing":
    open("polar", "w").write("\\n".join(header + rows) + "\\n")
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a function that makes a fake XFOIL behave in one way, and its path."""
    path = tmp_path / "xfoil"
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setenv("FAKE_STARTED", str(tmp_path / "started"))

    def behave(mode, **settings):
        monkeypatch.setenv("FAKE_XFOIL", mode)
        return Xfoil(path, **settings)

    return behave


def compiler(folder, monkeypatch, script):
    """Make `CC` a shell script; the PATH has no other compiler."""
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))


def slow_outline(naca, n, last):
    """One station after the other, as the series is defined."""
    m, p, t = int(naca[0]) / 100, int(naca[1]) / 10, int(naca[2:]) / 100
    upper, lower = [], []
    for i in range(n):
        x = (1 - math.cos(math.pi * i / (n - 1))) / 2
        y = 5 * t * (
            0.2969 * math.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - last * x**4
        )  # fmt: skip
        if m == 0:
            c, slope = 0.0, 0.0
        elif x < p:
            c, slope = m / p**2 * (2 * p * x - x**2), 2 * m / p**2 * (p - x)
        else:
            c = m / (1 - p) ** 2 * (1 - 2 * p + 2 * p * x - x**2)
            slope = 2 * m / (1 - p) ** 2 * (p - x)
        theta = math.atan(slope)
        upper.append((x - y * math.sin(theta), c + y * math.cos(theta)))
        lower.append((x + y * math.sin(theta), c - y * math.cos(theta)))
    return np.array(upper[::-1] + lower[1:])


@pytest.mark.paper("classify_dfo", "s4-airfoil-features")
@pytest.mark.parametrize("naca", ["0012", "2412", "9609", "1140", "9101"])
@pytest.mark.parametrize(("edge", "last"), [("open", 0.1015), ("closed", 0.1036)])
def test_outline_is_the_definition_station_by_station(naca, edge, last):
    found = airfoil.outline(naca, 31, edge)
    np.testing.assert_allclose(found, slow_outline(naca, 31, last), atol=1e-13)


@pytest.mark.paper("classify_dfo", "s4-airfoil-features")
def test_selig_order_goes_from_the_trailing_edge_over_the_top_to_the_nose_and_back():
    points = airfoil.outline("0012")
    assert points.shape == (101, 2)
    assert (np.diff(points[:51, 0]) < 0).all()
    assert (np.diff(points[50:, 0]) > 0).all()
    assert points[50].tolist() == [0, 0]
    np.testing.assert_allclose(points[:51], points[:49:-1] * [1, -1], atol=1e-15)
    assert (points[1:50, 1] > 0).all()
    assert points[0, 1] == pytest.approx(0.00126)  # half of the open edge
    assert airfoil.outline("0012", trailing_edge="closed")[0, 1] == pytest.approx(0, abs=1e-15)
    assert 2 * points[:, 1].max() == pytest.approx(0.12, rel=2e-3)  # thickness
    cambered = airfoil.outline_features(["2412"])
    assert cambered.shape == (1, 202)
    np.testing.assert_array_equal(cambered[0, ::2], airfoil.outline("2412")[:, 0])


def test_mean_line_peaks_at_its_position_and_joins_smoothly():
    x = np.array([0.4 - 1e-9, 0.4, 0.4 + 1e-9])
    height, slope = airfoil.mean_line(x, 0.02, 0.4)
    np.testing.assert_allclose(height, 0.02, atol=1e-12)
    np.testing.assert_allclose(slope, 0, atol=1e-8)
    ends, _ = airfoil.mean_line(np.array([0.0, 1.0]), 0.02, 0.4)
    np.testing.assert_allclose(ends, 0, atol=1e-15)


@pytest.mark.parametrize(
    "naca", ["241", "24123", "2412a", "24-2", "2400", "2012", "0412", 2412, "٢412"]
)
def test_names_that_are_no_airfoil_are_refused(naca):
    with pytest.raises(ValueError, match="airfoil"):
        airfoil.check_name(naca)


def test_too_few_stations_are_refused():
    with pytest.raises(ValueError, match="at least 3"):
        airfoil.outline("2412", 2)


@pytest.mark.paper("classify_dfo", "s4-airfoil-space", "s4-airfoil-objective")
def test_the_table_holds_the_series_and_its_best():
    names, values = airfoil.load_objective()
    assert names == airfoil.series()
    assert len(set(names)) == 3_280
    assert (values < 0).sum() + (values > 0).sum() == 2_872
    ratios = {naca: -values[names.index(naca)] for naca in names}
    for naca, published in {
        **{"9609": 210.90, "9608": 208.47, "9610": 208.34, "8609": 206.99},
        **{"0012": 58.8, "2412": 103.1, "4412": 126.9},
    }.items():
        assert ratios[naca] == pytest.approx(published, abs=0.06)
    assert max(ratios, key=ratios.get) == "9609"
    table = airfoil.load_table().set_index("naca")
    failed = table[table["status"] != "ok"]
    assert set(failed["status"]) == {"noconv", "timeout"}
    assert all(ratios[naca] == 0 for naca in failed.index)
    assert failed["CL"].isna().all()
    assert (table.loc[table["status"] == "ok", "CD"] > 0).all()


def test_no_two_airfoils_have_the_same_features():
    X = problems.Airfoil().draw(np.random.default_rng(0)).domain.features
    assert X.shape == (3_280, 202)
    assert len(np.unique(X, axis=0)) == len(X)


@pytest.mark.paper("classify_dfo", "s4-airfoil-flow", "s4-airfoil-simulator")
def test_the_dialogue_switches_graphics_off_and_sets_the_flow():
    lines = xfoil.dialogue("2412", Conditions()).split("\n")
    assert lines[:3] == ["plop", "g f", ""]
    order = ["naca 2412", "oper", "visc 1000000", "iter 100", "pacc", "polar", "alfa 4", "quit"]
    assert [line for line in lines if line in order] == [*order[:-1], "pacc", "quit"]
    other = xfoil.dialogue("0009", Conditions(reynolds=3e5, alpha=-2.5, max_iterations=50))
    assert {"visc 300000", "alfa -2.5", "iter 50"} <= set(other.split("\n"))


@pytest.mark.parametrize(
    "settings", [{"reynolds": 0}, {"alpha": 90.0}, {"alpha": math.nan}, {"max_iterations": 0}]
)
def test_conditions_out_of_range_are_refused(settings):
    with pytest.raises(ValueError, match=r"must"):
        Conditions(**settings)


def test_a_word_for_the_angle_is_refused_and_a_small_reynolds_number_is_not_0():
    with pytest.raises(TypeError, match="alpha must hold real numbers"):
        Conditions(alpha="4")
    assert "visc 0.2" in xfoil.dialogue("2412", Conditions(reynolds=0.2)).split("\n")


@pytest.mark.parametrize(
    "row",
    [
        "  4.000-10.7146   0.00693   0.00107  -0.0573   0.3980   1.0000  12.0  50.0",
        "  0.000   0.2146   0.00693   0.00107  -0.0573   0.3980   1.0000  12.0  50.0",
    ],
)
def test_a_row_whose_columns_have_run_together_or_of_another_angle_is_no_result(row, tmp_path):
    """Read by place, the first has a lift of 0.00693, and the second that of 0 degrees."""
    path = tmp_path / "polar"
    path.write_text(" XFOIL 6.99\n" + "\n" * 11 + row + "\n", encoding="ascii")
    found = xfoil.read_polar("2412", path, 4.0)
    assert (found.status, found.objective) == ("garbage", 0.0)
    assert found.message.startswith("unreadable row")


@pytest.mark.paper("classify_dfo", "s4-airfoil-objective")
def test_a_converged_point_is_read(fake):
    found = fake("good").run("2412")
    assert found == Result("2412", "ok", 0.2412, 0.01, 0.001, -0.05, 0.4, 1.0)
    assert found.objective == pytest.approx(-24.12)


@pytest.mark.paper("classify_dfo", "s4-airfoil-objective")
@pytest.mark.parametrize(
    ("mode", "naca", "status", "message"),
    [
        ("good", "0001", "noconv", "did not converge"),
        ("code", "2412", "crash", "Fortran runtime error"),
        ("garbage", "2412", "garbage", "unreadable row: 4.000 \\*"),
        ("nan", "2412", "garbage", "unreadable row"),
        ("negative", "2412", "garbage", "unreadable row"),
        ("short", "2412", "garbage", "unreadable row"),
        ("binary", "2412", "garbage", "no polar file"),
        ("foreign", "2412", "garbage", "no header"),
        ("nothing", "2412", "garbage", "no polar file"),
    ],
)
def test_every_failure_has_a_status_and_objective_0(fake, mode, naca, status, message):
    found = fake(mode).run(naca)
    assert (found.naca, found.status, found.objective) == (naca, status, 0.0)
    assert math.isnan(found.cl)
    assert math.isnan(found.cd)
    assert "\n" not in found.message
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(found.message)


def test_a_hanging_process_is_killed_after_the_timeout(fake, tmp_path):
    start = time.monotonic()
    found = fake("slow", timeout=1.0).run("2412")
    assert (found.status, found.objective) == ("timeout", 0.0)
    assert time.monotonic() - start < 30  # not the minute it would have slept
    pid = int((tmp_path / "started").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_missing_program_is_a_result_and_stops_a_batch(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(xfoil.PROGRAM, raising=False)
    found = Xfoil().run("2412")
    assert (found.status, found.objective) == ("missing", 0.0)
    assert "apt-get install xfoil" in found.message
    with pytest.raises(XfoilError, match="apt-get install xfoil"):
        list(Xfoil().run_many(["2412"]))


def test_the_program_is_taken_from_argument_environment_path_in_this_order(
    fake, tmp_path, monkeypatch
):
    fake("good")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(xfoil.PROGRAM, raising=False)
    assert xfoil.find_program() == str(tmp_path / "xfoil")
    for name in ("one", "two"):
        shutil.copy(tmp_path / "xfoil", tmp_path / name)
    monkeypatch.setenv(xfoil.PROGRAM, str(tmp_path / "one"))
    assert xfoil.find_program() == str(tmp_path / "one")
    assert xfoil.find_program(tmp_path / "two") == str(tmp_path / "two")
    monkeypatch.chdir(tmp_path)
    assert Xfoil("./two").run("2412").status == "ok"


@pytest.mark.paper("classify_dfo", "s4-airfoil-simulator")
def test_a_program_that_dies_at_traps_is_run_again_with_traps_off(fake, tmp_path, monkeypatch):
    compiler(tmp_path, monkeypatch, f'echo run >> {tmp_path}/log; while [ "$1" != -o ]; do shift; done; cp /dev/null "$2"')  # fmt: skip # noqa: E501
    runner = fake("trap")
    found = [result.status for result in runner.run_many(["2412", "4412", "0001"], workers=2)]
    assert found == ["ok", "ok", "noconv"]
    assert (tmp_path / "log").read_text() == "run\n"  # compiled once
    (tmp_path / "log").unlink()
    with ThreadPoolExecutor(4) as pool:  # all crash before the first has the object
        found = list(pool.map(fake("trap").run, ["2412", "4412", "2410", "4410"]))
    assert [result.status for result in found] == ["ok"] * 4
    assert (tmp_path / "log").read_text() == "run\n"
    assert fake("always-trap").run("2412").status == "crash"


def test_traps_without_a_compiler_are_a_crash_that_says_so(fake, tmp_path, monkeypatch):
    compiler(tmp_path, monkeypatch, "echo no such header >&2; exit 1")
    found = fake("trap").run("2412")
    assert found.status == "crash"
    assert "no such header" in found.message
    monkeypatch.setenv("CC", "")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    found = fake("trap").run("2412")
    assert (found.status, found.objective) == ("crash", 0.0)
    assert "install gcc, or set CC" in found.message
    with pytest.raises(XfoilError, match="install gcc, or set CC"):
        list(fake("trap").run_many(["2412"]))


def test_the_preloaded_object_compiles(tmp_path):
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("no C compiler is installed")
    path, message = xfoil.compile_no_traps(tmp_path)
    assert message == ""
    assert b"_gfortran_set_fpe" in path.read_bytes()


def test_results_keep_their_order_whatever_the_workers(fake):
    names = ["4412", "0001", "2412", "1108", "9640"]
    alone = list(fake("good").run_many(names))
    assert [found.naca for found in alone] == names
    assert list(map(repr, alone)) == list(map(repr, fake("good").run_many(names, workers=3)))
    with pytest.raises(ValueError, match="airfoil"):
        list(fake("good").run_many(["2412", "2400"]))


@pytest.fixture
def derive(tmp_path, monkeypatch):
    module = load_script("data/derive_airfoil.py")
    monkeypatch.setattr(module, "TARGET", tmp_path / "raw/table.tsv")
    monkeypatch.setattr(module, "PART", tmp_path / "raw/table.part")
    return module


def test_the_table_is_rebuilt_and_goes_on_where_it_was_stopped(fake, derive, monkeypatch, capsys):
    fake("good")
    monkeypatch.setenv(xfoil.PROGRAM, str(fake("good").program))
    monkeypatch.setattr(derive, "series", lambda: ("0001", "2412", "4412"))
    derive.PART.parent.mkdir()
    kept = "2412\tok\t0.7146\t0.00693\t0.00107\t-0.0573\t0.3980\t1.0000"
    derive.PART.write_text(f"{kept}\n4412\tok\t0.9")  # a kill left half a line
    assert derive.main(["--workers", "2"]) == 0
    header, *rows = derive.TARGET.read_text().splitlines()
    assert header.split("\t") == list(derive.HEADER)
    assert rows[0] == "0001\tnoconv" + "\t" * 6
    assert rows[1] == kept
    assert rows[2] == "4412\tok\t0.4412\t0.01000\t0.00100\t-0.0500\t0.4000\t1.0000"
    assert not derive.PART.exists()
    told = capsys.readouterr().out
    assert "3 airfoils, 2 with a polar; 1 differ" in told
    assert "here    4412" in told


def test_a_sample_is_compared_and_nothing_written(fake, derive, monkeypatch, capsys):
    monkeypatch.setenv(xfoil.PROGRAM, str(fake("good").program))
    assert derive.main(["--sample", "4", "--seed", "1"]) == 1
    assert "4 airfoils" in capsys.readouterr().out
    assert not derive.TARGET.parent.exists()


def test_the_rebuild_without_xfoil_is_one_line(derive, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(xfoil.PROGRAM, raising=False)
    assert derive.main([]) == 1
    assert "derive_airfoil: XFOIL does not work here" in capsys.readouterr().err
    assert not derive.TARGET.exists()


def test_lines_of_the_bundled_table_are_those_of_the_file(derive):
    lines = (ROOT / airfoil.TABLE).read_text().splitlines()
    assert lines[0].split("\t") == list(derive.HEADER)
    assert list(derive.bundled_rows().values()) == lines[1:]


@needs_xfoil
@pytest.mark.paper("classify_dfo", "s4-airfoil-simulator", "s4-airfoil-flow")
def test_real_xfoil_returns_the_known_polar_of_naca_2412():
    found = Xfoil(timeout=60).run("2412")
    assert found.status == "ok", found.message
    assert found.cl == pytest.approx(0.7146, abs=2e-3)
    assert found.cd == pytest.approx(0.00693, abs=5e-5)
    assert found.cm == pytest.approx(-0.0573, abs=1e-3)


@needs_xfoil
def test_real_xfoil_agrees_with_the_table_on_a_sample():
    table = airfoil.load_table().set_index("naca")
    works = table.index[table["status"] == "ok"]
    names = list(np.random.default_rng(0).choice(works, 12, replace=False))
    for found in Xfoil(timeout=60).run_many(names, workers=2):
        assert found.status == "ok", found
        assert found.cl == pytest.approx(table.loc[found.naca, "CL"], abs=2e-3)
        assert found.cd == pytest.approx(table.loc[found.naca, "CD"], rel=0.01)
