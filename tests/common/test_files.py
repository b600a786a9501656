"""Atomic writes: whole or not at all, and one line with the fix."""

import errno
import os

import pandas as pd
import pytest

from fivebo.common.files import SurroundingsError, atomic_path, read_parquet, write_parquet


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_file_appears_whole_and_alone(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]})
    write_parquet(frame, tmp_path / "new" / "t.parquet")
    assert leftovers(tmp_path / "new") == ["t.parquet"]
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "new" / "t.parquet"), frame)


def test_an_error_keeps_the_old_file_and_leaves_nothing(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("old")

    def half_way():
        with atomic_path(path) as temporary:
            temporary.write_text("new, but")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        half_way()
    assert path.read_text() == "old"
    assert leftovers(tmp_path) == ["t.txt"]


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "no space left on the disk of .* free some"),
        (errno.EACCES, "cannot write to .* make it writable"),
        (errno.EIO, "cannot write .*t.txt"),
    ],
)
def test_the_disks_errors_say_what_to_do(tmp_path, number, advice):
    with pytest.raises(OSError, match=advice) as caught, atomic_path(tmp_path / "t.txt"):
        raise OSError(number, os.strerror(number))
    assert caught.value.errno == number
    assert "\n" not in str(caught.value)
    assert leftovers(tmp_path) == []


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "results").write_text("")
    with pytest.raises(OSError, match="results"), atomic_path(tmp_path / "results" / "t.txt"):
        pass


def test_a_damaged_table_is_named_with_the_way_back(tmp_path):
    path = tmp_path / "t.parquet"
    write_parquet(pd.DataFrame({"a": range(1000)}), path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(SurroundingsError, match=r"t.parquet is damaged .* remove it and run"):
        read_parquet(path)
    with pytest.raises(FileNotFoundError):
        read_parquet(tmp_path / "none.parquet")
