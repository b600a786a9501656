"""Objectives of Sec. 4: their formulas, minima and features."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fivebo.classify_dfo import dna, functions, problems
from fivebo.classify_dfo.spaces import Catalogue
from fivebo.common.search.domains import Box

BOXES = {
    "shekel": problems.Shekel(),
    "hartmann": problems.Hartmann(),
    "linear": problems.Linear(dim=7),
    "linear-quadratic": problems.LinearQuadratic(dim=7),
}
FINITE = {
    "dna": problems.DNA(),
    "airfoil": problems.Airfoil(),
    "unit-square": problems.UnitSquare(side=11),
}


def slow_shekel(x, m):
    total = 0.0
    for i in range(m):
        square = sum((x[j] - functions.SHEKEL_CENTRES[i][j]) ** 2 for j in range(4))
        total -= 1 / (square + functions.SHEKEL_WIDTHS[i])
    return total


def slow_hartmann(x):
    A, P = functions.HARTMANN_A, functions.HARTMANN_P
    return -sum(
        functions.HARTMANN_WEIGHTS[i]
        * math.exp(-sum(A[i, j] * (x[j] - P[i, j]) ** 2 for j in range(6)))
        for i in range(4)
    )


@pytest.mark.paper("classify_dfo", "s4-shekel", "s4-hartmann")
def test_standard_functions_are_their_formulas():
    rng = np.random.default_rng(0)
    X, U = 10 * rng.random((20, 4)), rng.random((20, 6))
    for m in (5, 7, 10):
        slow = [slow_shekel(x, m) for x in X]
        np.testing.assert_allclose(functions.shekel(X, m), slow, rtol=1e-12)
    slow = [slow_hartmann(u) for u in U]
    np.testing.assert_allclose(functions.hartmann6(U), slow, rtol=1e-12)


@pytest.mark.paper("classify_dfo", "s4-shekel", "s4-hartmann")
@pytest.mark.parametrize(
    ("problem", "start", "published"),
    [
        (problems.Shekel(terms=5), [4, 4, 4, 4], -10.1532),
        (problems.Shekel(terms=7), [4, 4, 4, 4], -10.4029),
        (problems.Shekel(terms=10), [4, 4, 4, 4], -10.5364),
        (
            problems.Hartmann(),
            [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573],
            -3.32237,
        ),
    ],
)
def test_minimum_is_the_published_one_and_no_descent_goes_below(problem, start, published):
    from scipy.optimize import minimize

    instance = problem.draw(np.random.default_rng(0))
    assert instance.optimum == pytest.approx(published, abs=6e-5)
    found = minimize(
        lambda x: instance.function(x[None])[0],
        start,
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-15, "maxiter": 5000, "maxfev": 10000},
    ).fun
    assert found == pytest.approx(instance.optimum, abs=1e-9)
    assert found >= instance.optimum - 1e-12


@pytest.mark.paper("classify_dfo", "s4-linear")
def test_linear_is_minimal_at_the_corner_against_its_weights():
    instance = problems.Linear(dim=6).draw(np.random.default_rng(3))
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=6)))
    values = instance.evaluate(corners)
    assert values.min() == pytest.approx(instance.optimum, abs=1e-12)
    assert values[0] == pytest.approx(-values[-1])  # linear and odd
    weights = np.random.default_rng(3).standard_normal(6)
    assert instance.optimum == pytest.approx(-np.abs(weights).sum())
    assert problems.Linear().dim == 300


@pytest.mark.paper("classify_dfo", "s4-linear-quadratic")
@pytest.mark.parametrize("ratio", [0.3, 1.0, 5.0])
def test_quadratic_part_has_the_stated_range_and_the_minimum_is_exact(ratio):
    problem = problems.LinearQuadratic(dim=5, range_ratio=ratio)
    instance = problem.draw(np.random.default_rng(1))
    f = instance.function
    quadratic_range = 0.0
    for c, D in zip(f.c, f.D, strict=True):
        line = 0.5 * D * (np.linspace(-1, 1, 20001) - c) ** 2
        quadratic_range += line.max() - line.min()
    assert quadratic_range == pytest.approx(ratio * 2 * np.abs(f.w).sum(), rel=1e-3)
    best = f.minimiser()
    assert f(best[None])[0] == instance.optimum
    rng = np.random.default_rng(2)
    near = np.clip(best + 0.05 * rng.standard_normal((4000, 5)), -1, 1)
    far = instance.domain.uniform(4000, rng)
    assert min(f(near).min(), f(far).min()) >= instance.optimum - 1e-12
    # along each axis on its own, the minimum of a fine line is the minimiser
    for i in range(5):
        line = np.repeat(best[None], 4001, axis=0)
        line[:, i] = np.linspace(-1, 1, 4001)
        assert abs(line[f(line).argmin(), i] - best[i]) <= 1 / 2000


@pytest.mark.paper("classify_dfo", "s3-unit-square")
def test_unit_square_is_linear_on_the_whole_grid():
    instance = problems.UnitSquare(side=11).draw(np.random.default_rng(0))
    X = instance.domain.features
    assert X.shape == (121, 2)
    assert len(np.unique(X, axis=0)) == 121
    w = np.linalg.lstsq(X, instance.values, rcond=None)[0]
    np.testing.assert_allclose(X @ w, instance.values, atol=1e-12)
    assert np.linalg.norm(w) == pytest.approx(1.0)
    equal = problems.UnitSquare(side=3, weights="equal").draw(np.random.default_rng(0))
    assert equal.values.tolist() == [0, 0.5, 1, 0.5, 1, 1.5, 1, 1.5, 2]
    assert problems.UnitSquare().side == 101


def test_directions_of_the_unit_square_are_spread_evenly():
    angles = []
    for seed in range(400):
        f = problems.UnitSquare(side=2).draw(np.random.default_rng(seed)).values
        angles.append(np.arctan2(f[1], f[2]) % (2 * np.pi))  # f at (0, 1) and (1, 0)
    counts = np.histogram(angles, bins=4, range=(0, 2 * np.pi))[0]
    assert np.abs(counts - 100).max() <= 4 * np.sqrt(400 * 0.25 * 0.75)


@pytest.mark.paper("classify_dfo", "s4-dna-features")
def test_one_hot_says_which_base_stands_where():
    found = dna.one_hot(["GATTACAA", "acgtACGT"])
    for word, row in zip(["GATTACAA", "ACGTACGT"], found, strict=True):
        slow = [int(base == letter) for letter in word for base in "ACGT"]
        assert row.tolist() == slow
    assert found.dtype == np.uint8


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ACGT", min_size=8, max_size=8), min_size=2, max_size=6))
def test_squared_distance_is_twice_the_number_of_differing_positions(words):
    X = dna.one_hot(words).astype(float)
    for i, j in itertools.combinations(range(len(words)), 2):
        differing = sum(a != b for a, b in zip(words[i], words[j], strict=True))
        assert ((X[i] - X[j]) ** 2).sum() == 2 * differing
    assert (X.sum(axis=1) == 8).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [([], "not be empty"), ([""], "not be empty"), (["ACG", "AC"], "one length"), (["AXG"], "AXG")],
)
def test_bad_sequences_are_refused(words, message):
    with pytest.raises(ValueError, match=message):
        dna.one_hot(words)


@pytest.mark.paper("classify_dfo", "s4-dna-space")
def test_the_space_has_one_word_of_every_pair_of_strands():
    pairs = str.maketrans("ACGT", "TGCA")
    every = {"".join(w) for w in itertools.product("ACGT", repeat=8)}
    words = dna.kmers()
    assert list(words) == sorted(words)
    assert len(words) == len(set(words)) == dna.N_KMERS == 32_896
    others = {word.translate(pairs)[::-1] for word in words}
    assert set(words) | others == every
    assert len(set(words) & others) == 4**4  # the palindromes


@pytest.mark.paper("classify_dfo", "s4-dna-objective", "s4-dna-panels")
@pytest.mark.parametrize(
    ("assay", "best", "word", "middle"),
    [
        ("CRX_REF_R1", -366_908.38, "GGGGATTA", -86_520.54),
        ("VSX1_G160D_R1", -169_413.84, "CTAATTAG", -21_241.0),
        ("VSX1_REF_R1", -160_461.93, "CTAATTAG", -25_904.0),
    ],
)
def test_dna_minimises_minus_the_median_fluorescence(assay, best, word, middle):
    instance = problems.DNA(assay=assay).draw(np.random.default_rng(0))
    assert instance.direction == "min"
    assert instance.optimum == best
    assert instance.names[instance.values.argmin()] == word
    assert (instance.values == best).sum() == 1
    assert np.median(instance.values) == pytest.approx(middle, abs=1)
    assert instance.domain.features.shape == (32_896, 32)
    row = instance.names.index("GGGGATTA")
    assert instance.domain.features[row].tolist() == dna.one_hot(["GGGGATTA"])[0].tolist()


def test_unknown_assay_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'CRX_REF_R1'"):
        problems.DNA(assay="CRX_REF_1").draw(np.random.default_rng(0))


@pytest.mark.parametrize("name", [*BOXES, *FINITE])
def test_every_instance_answers_a_batch_and_knows_its_optimum(name):
    problem = {**BOXES, **FINITE}[name]
    instance = problem.draw(np.random.default_rng(0))
    again = problem.draw(np.random.default_rng(0))
    rng = np.random.default_rng(5)
    batch = instance.domain.uniform(50, rng)
    before = rng.bit_generator.state
    y = instance.observe(batch, rng)
    assert rng.bit_generator.state == before  # no noise is drawn
    assert y.shape == (50,)
    assert np.isfinite(y).all()
    assert y.min() >= instance.optimum - 1e-9
    np.testing.assert_array_equal(y, again.evaluate(batch))
    assert (instance.noise_std, instance.n_init, instance.direction) == (0.0, 0, "min")
    assert isinstance(instance.domain, Box if name in BOXES else Catalogue)
    if name in FINITE:
        assert instance.optimum == instance.values.min()
        assert len(instance.values) == instance.domain.size


@pytest.mark.parametrize("name", [*BOXES, *FINITE])
def test_wrong_queries_are_refused(name):
    instance = {**BOXES, **FINITE}[name].draw(np.random.default_rng(0))
    wrong = [[-1], [0.5], [10**6]] if name in FINITE else [[[99.0] * instance.domain.dim], [[0.0]]]
    for query in wrong:
        with pytest.raises(ValueError, match=r"row numbers|outside|shape"):
            instance.evaluate(query)


@pytest.mark.parametrize(
    "make",
    [
        lambda: problems.Shekel(terms=6),
        lambda: problems.Linear(dim=0),
        lambda: problems.LinearQuadratic(dim=3, range_ratio=0.0),
        lambda: problems.UnitSquare(side=0),
        lambda: problems.UnitSquare(weights="unit"),
        lambda: problems.Airfoil(trailing_edge="blunt"),
    ],
)
def test_settings_out_of_range_are_refused(make):
    with pytest.raises(ValueError, match=r"got|unknown"):
        make()


def test_one_word_in_place_of_a_list_is_refused():
    with pytest.raises(TypeError, match="sequences must be a list of DNA words, got the one word"):
        dna.one_hot("ACGTACGT")
