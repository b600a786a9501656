"""Protein-DNA binding: 8-mers as 32 binary features, and the median fluorescences of assays.

Data: protein-binding microarrays of Barrera et al. (Science 351, 2016); see
data/bundled/pbm/PROVENANCE.md. [CDFO] Sec. 4.
"""

import csv
from functools import lru_cache
from itertools import product

import numpy as np

from fivebo.common.lab.datasets import verify_file
from fivebo.common.names import unknown_name

BUNDLED = "data/bundled/pbm/medians.npz"
"""The assays of the quick figures: name to Median x 100, int32."""

WHOLE = "data/raw/pbm/medians.npy"
"""Median x 100 of all assays of `INDEX`, int32, shape (200, 32896)."""

INDEX = "data/bundled/pbm/index.tsv"
"""One line an assay: name, transcription factor, allele, replicate, extremes, source's sums."""

LENGTH = 8
N_KMERS = (4**LENGTH + 4 ** (LENGTH // 2)) // 2  # a palindrome is its own reverse complement

PANELS = ("CRX_REF_R1", "VSX1_G160D_R1")
"""Assays of Figs. 2a and 2b; that the second is this allele is ASSUMED."""

SAMPLE_SEED, SAMPLE_SIZE = 2018, 20
"""Rule of the table of 20 problems, see `draw_sample`."""


@lru_cache(maxsize=1)
def kmers():
    """Return the 32,896 8-mers: of each one and its reverse complement, the first by alphabet.

    Source: [CDFO] Sec. 4 ("all 8-base DNA sequences"); one row for both strands is the assays'.

    Returns
    -------
    tuple of str
        In the order of the measurements, which is alphabetical.
    """
    complement = str.maketrans("ACGT", "TGCA")
    words = map("".join, product("ACGT", repeat=LENGTH))
    return tuple(word for word in words if word <= word.translate(complement)[::-1])


def one_hot(sequences):
    """Return binary features of DNA words: column 4 j + b says that base b stands at place j.

    Source: [CDFO] Sec. 4 (32 binary features, base by position).

    Parameters
    ----------
    sequences : sequence of str
        Of equal length L, letters A, C, G, T in either case.

    Returns
    -------
    ndarray of uint8, shape (n, 4 L)

    Raises
    ------
    ValueError, TypeError
        No sequences, other letters, different lengths, or one word in place of a list.

    >>> one_hot(["AT"]).tolist()
    [[1, 0, 0, 0, 0, 0, 0, 1]]
    """
    if isinstance(sequences, str):
        raise TypeError(f"sequences must be a list of DNA words, got the one word {sequences!r}")
    words = [str(word).upper() for word in sequences]
    if not words or not words[0]:
        raise ValueError("sequences must not be empty: give at least one DNA word")
    for word in words:
        if len(word) != len(words[0]):
            raise ValueError(f"sequences must have one length, got {words[0]!r} and {word!r}")
        if set(word) - set("ACGT"):
            raise ValueError(f"sequence {word!r} has letters other than A, C, G, T; drop it")
    letters = np.frombuffer("".join(words).encode(), dtype=np.uint8).reshape(len(words), -1)
    bases = np.frombuffer(b"ACGT", dtype=np.uint8)
    return (letters[:, :, None] == bases).astype(np.uint8).reshape(len(words), -1)


@lru_cache(maxsize=1)
def kmer_features():
    """Return the features of `kmers`, uint8, shape (32896, 32); made once a process."""
    features = one_hot(kmers())
    features.setflags(write=False)
    return features


@lru_cache(maxsize=1)
def load_index():
    """Return the facts of every assay (a dict of column to text), by its name."""
    with open(verify_file(INDEX), encoding="ascii") as file:
        return {row["assay"]: row for row in csv.DictReader(file, delimiter="\t")}


@lru_cache(maxsize=1)
def assay_names():
    """Return the names of all 200 assays, sorted."""
    return tuple(sorted(load_index()))


def draw_sample(names, seed=SAMPLE_SEED, size=SAMPLE_SIZE):
    """Draw the problems of the table: without repeats from the sorted names, both panels' left out.

    Source: [CDFO] Sec. 4 samples 20 of 201 problems and does not say which; the rule is ASSUMED.

    Parameters
    ----------
    names : sequence of str
    seed, size : int, optional

    Returns
    -------
    tuple of str
        Sorted.
    """
    panels = {panel.split("_")[0] for panel in PANELS}
    others = [name for name in sorted(names) if name.split("_")[0] not in panels]
    chosen = np.random.default_rng(seed).choice(len(others), size, replace=False)
    return tuple(others[i] for i in sorted(chosen))


@lru_cache(maxsize=8)
def load_medians(assay):
    """Return the median fluorescence of every 8-mer in one assay.

    Parameters
    ----------
    assay : str
        Such as "CRX_REF_R1": transcription factor, allele (REF is the reference), replicate.

    Returns
    -------
    ndarray of shape (32896,)
        In the order of `kmers`, in the source's units of fluorescence, read-only.

    Raises
    ------
    ValueError
        There is no such assay; names the nearest.
    DataError
        The assay is not bundled and the whole set is not there; says how to get it.
    """
    if assay not in assay_names():
        raise ValueError(unknown_name("assay", assay, assay_names()))
    with np.load(verify_file(BUNDLED)) as bundled:
        hundredths = bundled[assay] if assay in bundled.files else None
    if hundredths is None:
        hundredths = _whole_set()[assay_names().index(assay)]
    medians = hundredths / 100.0
    medians.setflags(write=False)
    return medians


@lru_cache(maxsize=1)
def _whole_set():
    return np.load(verify_file(WHOLE), mmap_mode="r")
