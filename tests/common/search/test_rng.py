"""Named streams: paired across methods, independent of order, safe for every seed."""

import numpy as np
import pytest

from fivebo.common.search.rng import SHARED_STREAMS, Streams, check_seed, rng_for

NAMES = ("mtbo", "fig1b", "rkhs")


def first(rng):
    return rng.integers(2**63)


def test_every_name_changes_the_stream_and_the_same_names_repeat_it():
    base = first(rng_for(*NAMES, 0, "noise"))
    assert base == first(rng_for(*NAMES, 0, "noise"))
    others = [
        first(rng_for("gpoo", "fig1b", "rkhs", 0, "noise")),
        first(rng_for("mtbo", "fig1c", "rkhs", 0, "noise")),
        first(rng_for("mtbo", "fig1b", "sine", 0, "noise")),
        first(rng_for(*NAMES, 1, "noise")),
        *(first(rng_for(*NAMES, 0, s)) for s in SHARED_STREAMS if s != "noise"),
        first(rng_for(*NAMES, 0, "algorithm", "mt-kb")),
        first(rng_for(*NAMES, 0, "algorithm", "mt-bkb")),
    ]
    assert len({base, *others}) == len(others) + 1


def test_methods_share_all_streams_but_their_own():
    a, b = (Streams.named(*NAMES, 3, method) for method in ("mt-kb", "it-kb"))
    for name in ("initial", "scalarization", "environment"):
        assert first(getattr(a, name)) == first(getattr(b, name))
    assert first(a.algorithm) != first(b.algorithm)


def test_streams_do_not_touch_the_global_generator():
    before = np.random.get_state()  # noqa: NPY002
    first(Streams.of(0).algorithm)
    first(rng_for(*NAMES, 0, "noise"))
    for old, new in zip(before, np.random.get_state(), strict=True):  # noqa: NPY002
        np.testing.assert_array_equal(old, new)


def test_streams_of_a_seed_a_generator_and_streams():
    assert first(Streams.of(0).initial) == first(Streams.of(np.random.default_rng(0)).initial)
    streams = Streams.of(0)
    assert Streams.of(streams) is streams
    assert first(Streams.of(0).initial) != first(Streams.of(1).initial)


@pytest.mark.parametrize("seed", [True, 1.0, "1", None])
def test_only_integers_are_seeds(seed):
    with pytest.raises(TypeError, match="integer >= 0"):
        check_seed(seed)


def test_zero_is_a_seed_and_negatives_are_not():
    assert check_seed(np.int64(0)) == 0
    with pytest.raises(ValueError, match="-1"):
        check_seed(-1)


def test_wrong_streams_are_refused():
    with pytest.raises(ValueError, match="unknown stream 'nose'"):
        rng_for(*NAMES, 0, "nose")
    with pytest.raises(ValueError, match="must not name a method"):
        rng_for(*NAMES, 0, "noise", "mt-kb")
    with pytest.raises(ValueError, match="needs the method"):
        rng_for(*NAMES, 0, "algorithm")
