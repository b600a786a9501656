"""Random search, CMA-ES, GP-EI and box classification: special cases, formulas, laws."""

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from fivebo.classify_dfo import CMAES, GPEI, BoxClassifier, RandomSearch, problems
from fivebo.classify_dfo.baselines import start_cma
from fivebo.classify_dfo.box_classifier import shrink_box
from fivebo.classify_dfo.functions import hartmann6
from fivebo.classify_dfo.spaces import Catalogue, first_batch
from fivebo.classify_dfo.surrogate import ACQUISITIONS, BLOCK, START, Surrogate, best_candidate
from fivebo.common.search.domains import Box
from fivebo.common.search.rng import Streams

BOX = Box([[-2.0, 2.0], [0.0, 5.0], [1.0, 1.5]])
RNG = np.random.default_rng(7)
TABLE = Catalogue((RNG.random((400, 10)) < 0.5).astype(float))
VALUES = TABLE.features @ RNG.standard_normal(10)

ON_BOXES = {
    "random": lambda **k: RandomSearch(BOX, **k),
    "random-2x": lambda **k: RandomSearch(BOX, factor=2, **k),
    "cma": lambda **k: CMAES(BOX, **k),
    "gp": lambda **k: GPEI(BOX, n_fit=40, restarts=1, candidates=60, **k),
    "box": lambda **k: BoxClassifier(BOX, **k),
}
ON_TABLES = {
    "random": lambda **k: RandomSearch(TABLE, **k),
    "random-2x": lambda **k: RandomSearch(TABLE, factor=2, **k),
    "gp": lambda **k: GPEI(TABLE, n_fit=40, restarts=1, **k),
}
ALL = [(name, make, BOX) for name, make in ON_BOXES.items()]
ALL += [(f"{name} on a table", make, TABLE) for name, make in ON_TABLES.items()]
every_method = pytest.mark.parametrize(
    ("make", "domain"), [(m, d) for _, m, d in ALL], ids=[name for name, _, _ in ALL]
)


def sphere(X):
    return ((X - [0.5, 2.0, 1.2]) ** 2).sum(axis=1)


def values_of(domain, batch):
    return sphere(batch) if domain is BOX else VALUES[batch]


def drive(optimizer, rounds):
    for _ in range(rounds):
        batch = optimizer.ask()
        optimizer.tell(batch, values_of(optimizer.domain, batch))
    return optimizer


@every_method
def test_batches_have_their_size_lie_in_the_domain_and_repeat_with_the_seed(make, domain):
    a, b, c = (drive(make(batch=12, rng=seed), 4) for seed in (0, 0, 1))
    sizes = {len(batch) for batch in a.batches}
    assert sizes == ({24} if getattr(a, "factor", 1) == 2 else {12})
    for batch in a.batches:
        np.testing.assert_array_equal(domain.check_all(batch), batch)
    for one, two in zip(a.batches, b.batches, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(a.batches[0], c.batches[0])
    assert not np.array_equal(a.batches[-1], c.batches[-1])


@every_method
def test_pending_batch_stays_and_bad_answers_change_nothing(make, domain):
    optimizer = drive(make(batch=10, rng=0), 1)
    batch = optimizer.ask()
    np.testing.assert_array_equal(optimizer.ask(), batch)
    untouched = copy.deepcopy(optimizer)
    y = values_of(domain, batch)
    for wrong in (y[:-1], np.where(np.arange(len(y)) == 2, np.nan, y), y * 1j, "no"):
        with pytest.raises((ValueError, TypeError)):
            optimizer.tell(batch, wrong)
    with pytest.raises(ValueError, match="batch"):
        optimizer.tell(batch[:-1], y[:-1])
    optimizer.tell(batch, y)
    after = optimizer.ask()
    untouched.tell(batch, y)
    np.testing.assert_array_equal(untouched.ask(), after)


@every_method
def test_the_global_generator_is_left_alone(make, domain):
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()  # noqa: NPY002
    drive(make(batch=8, rng=0), 3)
    after = np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0]
    np.testing.assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]


@every_method
def test_constant_and_huge_values_run(make, domain):
    for scale in (0.0, 1e9, 1e-9):
        optimizer = make(batch=8, rng=0)
        for _ in range(3):
            batch = optimizer.ask()
            optimizer.tell(batch, 1e6 * (scale > 1) + scale * values_of(domain, batch))
        assert len(optimizer.batches) == 3


@every_method
def test_recommendation_is_the_best_so_far(make, domain):
    optimizer = drive(make(batch=9, rng=2), 3)
    queries, y = np.concatenate(optimizer.batches), np.concatenate(optimizer.values)
    np.testing.assert_array_equal(optimizer.recommend(), queries[y.argmin()])
    assert len(optimizer.result()) == len(y)


@pytest.mark.paper("classify_dfo", "s4-random")
@pytest.mark.parametrize("domain", [BOX, TABLE], ids=["box", "table"])
def test_all_methods_of_a_seed_share_their_first_batch(domain):
    shared = first_batch(domain, 9, Streams.of(4).initial)
    makers = [RandomSearch, GPEI] + [BoxClassifier] * (domain is BOX)
    for make in makers:
        np.testing.assert_array_equal(make(domain, batch=9, rng=4).ask(), shared)
    twice = RandomSearch(domain, batch=9, factor=2, rng=4).ask()
    np.testing.assert_array_equal(twice[:9], shared)
    assert len(twice) == 18


@pytest.mark.paper("classify_dfo", "s4-random")
@pytest.mark.parametrize("make", ON_TABLES.values(), ids=ON_TABLES)
def test_no_action_of_a_table_is_asked_twice_and_all_are_in_the_end(make):
    optimizer = make(batch=90, rng=0)
    with pytest.raises(ValueError, match="all 400 actions"):
        drive(optimizer, 9)
    asked = np.concatenate(optimizer.batches)
    assert sorted(asked) == list(range(400))
    assert VALUES[optimizer.recommend()] == VALUES.min()


@pytest.mark.paper("classify_dfo", "s4-random")
def test_random_draws_are_uniform():
    counts = np.zeros(40)
    small = Catalogue(np.arange(40.0))
    for seed in range(600):
        optimizer = RandomSearch(small, batch=5, rng=seed)
        for _ in range(2):
            batch = optimizer.ask()
            optimizer.tell(batch, np.zeros(5))
        counts[optimizer.batches[1]] += 1
    # each action is in a second batch of 5 out of 40 with probability 1/8
    band = 4.5 * np.sqrt(600 / 8 * 7 / 8)
    assert np.abs(counts - 600 / 8).max() < band
    points = drive(RandomSearch(BOX, batch=500, rng=0), 4).batches[3]
    mean = points.mean(0)
    centre, spread = (BOX.lower + BOX.upper) / 2, BOX.sides / np.sqrt(12 * 500)
    assert (np.abs(mean - centre) < 4.5 * spread).all()


@pytest.mark.paper("classify_dfo", "s4-cma")
def test_cma_es_is_a_plain_use_of_the_library():
    optimizer = CMAES(BOX, batch=14, step_share=0.3, rng=5)
    streams = Streams.of(5)
    strategy = start_cma(streams.initial.random(3), 0.3, 14, streams.algorithm)
    assert strategy.sigma0 == 0.3
    assert strategy.popsize == 14
    for _ in range(25):
        batch, solutions = optimizer.ask(), strategy.ask()
        np.testing.assert_array_equal(batch, BOX.lower + BOX.sides * np.array(solutions))
        optimizer.tell(batch, sphere(batch))
        strategy.tell(solutions, list(sphere(BOX.lower + BOX.sides * np.array(solutions))))
    assert min(map(min, optimizer.values)) < 1e-3


@pytest.mark.paper("classify_dfo", "s4-cma")
def test_cma_es_draws_what_a_seeded_library_draws():
    """With the library's own seeding and generator in place of ours, every query is the same."""
    import cma

    class Legacy:
        """A generator whose draws are those of NumPy's global one, seeded with 11."""

        def __init__(self):
            self.state = np.random.RandomState(11)

        def standard_normal(self, shape):
            return self.state.randn(*shape)

    x0 = np.full(3, 0.4)
    ours = start_cma(x0, 0.25, 10, Legacy())
    kept = np.random.get_state()  # noqa: NPY002
    try:
        options = {"popsize": 10, "bounds": [0, 1], "seed": 11, "verbose": -9}
        plain = cma.CMAEvolutionStrategy(x0, 0.25, options)
        for _ in range(6):
            a, b = ours.ask(), plain.ask()
            np.testing.assert_array_equal(a, b)
            ours.tell(a, list(sphere(np.array(a))))
            plain.tell(b, list(sphere(np.array(b))))
    finally:
        np.random.set_state(kept)  # noqa: NPY002


def conditioned(n=60, d=6, seed=0, theta=(1.3, 0.4, 0.05)):
    """Return a surrogate on binary features with fixed hyperparameters, and its data."""
    rng = np.random.default_rng(seed)
    X, z = (rng.random((n, d)) < 0.5).astype(float) + 5, rng.standard_normal(n)
    surrogate = Surrogate()
    surrogate.theta = np.log(theta)
    surrogate._middle, surrogate._spread = X.mean(0), float(np.sqrt(2 * X.var(0).sum()))
    return surrogate.condition(surrogate._standard(X), z), X, z, rng


@pytest.mark.paper("classify_dfo", "s4-gp", "s4-gp-batch", "s4-gp-search")
def test_the_acquisition_is_the_expectation_of_falling_below_by_more_than_the_jitter():
    surrogate = Surrogate()
    rng = np.random.default_rng(0)
    for mean, std, best, jitter in rng.uniform([-1, 0.1, -1, 0], [1, 2, 1, 0.3], (12, 4)):
        f = np.linspace(mean - 12 * std, mean + 12 * std, 400_001)
        gain = np.maximum(best - jitter - f, 0)
        slow = np.trapezoid(gain * norm.pdf(f, mean, std), f)
        surrogate.f_min = best
        assert surrogate.acquisition(mean, std, jitter, "plain") == pytest.approx(slow, abs=1e-7)
        log = surrogate.acquisition(mean, std, jitter, "log")
        assert log == pytest.approx(np.log(slow), abs=1e-5)


@pytest.mark.paper("classify_dfo", "s4-gp", "s4-gp-kernel")
def test_surrogate_has_the_posterior_of_the_dense_formula():
    surrogate, X, z, rng = conditioned()
    C = rng.uniform(5, 6, (3 * BLOCK + 17, 6))

    def kernel(A, B):
        squares = ((A[:, None] - B) ** 2).sum(-1) / (0.4 * surrogate._spread) ** 2
        return 1.3 * np.exp(-0.5 * squares)

    inverse = np.linalg.inv(kernel(X, X) + 0.05 * np.eye(60))
    mean = kernel(C, X) @ inverse @ z
    var = 1.3 - np.einsum("mi,ij,mj->m", kernel(C, X), inverse, kernel(C, X))
    np.testing.assert_allclose(surrogate.mean(C), mean, rtol=1e-10, atol=1e-11)
    found, std = surrogate.mean_std(C)
    np.testing.assert_allclose(found, mean, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(std**2, var, rtol=1e-9, atol=1e-11)
    assert surrogate.f_min == pytest.approx((kernel(X, X) @ inverse @ z).min(), abs=1e-10)


@pytest.mark.paper("classify_dfo", "s4-gp-fit")
def test_hyperparameters_maximise_the_marginal_likelihood():
    from scipy.optimize import minimize
    from scipy.stats import multivariate_normal

    rng = np.random.default_rng(1)
    X = rng.random((50, 2))
    y = 40 + 7 * np.sin(5 * X[:, 0]) + rng.standard_normal(50)
    surrogate = Surrogate(n_fit=50, restarts=3)
    assert not surrogate.fit(X, y, rng).at_limit
    z = (y - y.mean()) / y.std()
    squares = ((X[:, None] - X) ** 2).sum(-1) / surrogate._spread**2

    def negative(theta):
        v, length, noise = np.exp(theta)
        K = v * np.exp(-0.5 * squares / length**2) + noise * np.eye(50)
        return -multivariate_normal.logpdf(z, np.zeros(50), K)

    at = negative(surrogate.theta)
    for start in (surrogate.theta, np.log([1.0, 0.3, 0.1]), np.log([2.0, 1.0, 0.01])):
        assert at <= minimize(negative, start, method="Nelder-Mead").fun + 1e-3
    np.testing.assert_allclose(
        np.exp(surrogate.theta),
        [*np.exp(surrogate.model.kernel.theta), surrogate.model.noise_var],
    )


@pytest.mark.paper("classify_dfo", "s4-gp-fit")
def test_a_fit_uses_a_random_subset_and_starts_from_the_last_values_too(monkeypatch):
    from fivebo.classify_dfo import surrogate as module

    seen, original = [], module.fit

    def fit(kernel, X, y, limits, starts):
        seen.append((len(X), np.array(starts), limits))
        return original(kernel, X, y, limits, starts)

    monkeypatch.setattr(module, "fit", fit)
    surrogate, rng = Surrogate(n_fit=30, restarts=4), np.random.default_rng(0)
    X = rng.random((80, 3))
    surrogate.fit(X, X.sum(1), rng)
    first = surrogate.theta
    assert surrogate.model.n_observations == 80  # the posterior has all
    surrogate.fit(X[:20], X[:20].sum(1), rng)
    (n, starts, limits), (n_later, later, _) = seen
    assert (n, n_later, starts.shape) == (30, 20, (5, 3))
    np.testing.assert_array_equal(starts[0], START)
    np.testing.assert_array_equal(later, [first, START])
    np.testing.assert_allclose(np.exp(limits), [(1e-2, 1e2), (1e-2, 1e2), (1e-6, 1e1)])
    drawn = np.random.default_rng(0)
    drawn.random((80, 3)), drawn.choice(80, 30, replace=False)
    np.testing.assert_array_equal(starts[1:], drawn.uniform(*limits.T, (4, 3)))


@pytest.mark.paper("classify_dfo", "s4-gp-fit")
@pytest.mark.parametrize("last", [(1.0, 0.01, 0.01), (100.0, 100.0, 1e-6)])
def test_bad_last_values_do_not_trap_the_fit(last):
    rng = np.random.default_rng(0)
    X = rng.random((120, 8))
    trapped, fresh = Surrogate(), Surrogate()
    trapped.theta = np.log(last)
    trapped.fit(X, X.sum(1), rng)
    fresh.fit(X, X.sum(1), rng)
    np.testing.assert_allclose(trapped.mean(X), fresh.mean(X), atol=0.02)


def test_a_failed_fit_keeps_the_last_hyperparameters_and_is_counted(monkeypatch):
    from fivebo.classify_dfo import surrogate as module

    run = drive(GPEI(TABLE, batch=9, rng=0), 2)
    before, limits = run.surrogate.theta, run.n_fits_at_limit

    def fit(*args):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(module, "fit", fit)
    drive(run, 1)
    np.testing.assert_array_equal(run.surrogate.theta, before)
    assert (run.n_failed_fits, run.n_fits_at_limit) == (1, limits)
    assert run.result()["failed_fits"].tolist() == [0] * 18 + [1] * 9
    assert np.isfinite(drive(GPEI(TABLE, batch=9, rng=0), 2).surrogate.mean(TABLE.features)).all()


def test_a_parameter_at_its_limit_is_counted():
    run = GPEI(TABLE, batch=9, rng=0)
    for _ in range(3):
        batch = run.ask()
        run.tell(batch, TABLE.features[batch, 0])  # no noise
    assert run.n_fits_at_limit == run.result()["fits_at_limit"].iloc[-1] == 2


@pytest.mark.paper("classify_dfo", "s4-gp", "s4-gp-batch")
@pytest.mark.parametrize("search", ACQUISITIONS)
@pytest.mark.parametrize("seed", range(5))
def test_the_greedy_action_is_the_best_of_an_enumeration(seed, search):
    surrogate, X, _, rng = conditioned(n=40, d=9, seed=seed, theta=(0.8, 0.3 + 0.1 * seed, 0.01))
    C = (rng.random((5 * BLOCK + 3, 9)) < 0.5) + 5.0
    allowed = rng.random(len(C)) < 0.7
    mean, std = surrogate.mean_std(C)
    slow = surrogate.acquisition(mean, std, 0.01, search)
    index, value = best_candidate(surrogate, C, 0.01, search=search)
    assert value == pytest.approx(slow.max(), rel=1e-12)
    assert slow[index] == pytest.approx(slow.max(), rel=1e-12)
    index, value = best_candidate(surrogate, C, 0.01, allowed, search)
    assert allowed[index]
    assert value == pytest.approx(slow[allowed].max(), rel=1e-12)


@pytest.mark.paper("classify_dfo", "s4-gp-batch")
def test_a_far_candidate_is_found_behind_blocks_of_known_good_ones():
    """Many candidates with the smallest mean are almost known; the best one is far from data."""
    surrogate = Surrogate()
    surrogate._middle, surrogate._spread, surrogate.theta = np.zeros(2), 1.0, np.log([1, 1, 0.05])
    surrogate.condition(np.zeros((10, 2)), np.full(10, -1.0))
    C = np.vstack([np.zeros((2 * BLOCK, 2)), np.full((2 * BLOCK, 2), 9.0)])
    improvement = surrogate.acquisition(*surrogate.mean_std(C), 0.01, "plain")
    index, value = best_candidate(surrogate, C, 0.01, search="plain")
    assert index >= 2 * BLOCK
    assert value == improvement[-1] > 3 * improvement[0] > 0


@pytest.mark.paper("classify_dfo", "s4-gp-batch")
def test_a_batch_is_one_greedy_action_and_uniform_others():
    optimizer = drive(GPEI(TABLE, batch=20, rng=0), 3)
    other = copy.deepcopy(optimizer)
    batch = optimizer.ask()
    unseen = np.ones(400, dtype=bool)
    unseen[np.concatenate(other.batches)] = False
    queries, y = np.concatenate(other.batches), np.concatenate(other.values)
    surrogate, rng = other.surrogate, other.streams.algorithm
    surrogate.fit(TABLE.features[queries], y, rng)  # draws what the optimiser drew
    z = (y - y.mean()) / y.std()
    assert surrogate.f_min == pytest.approx(surrogate.mean(TABLE.features[queries]).min(), abs=1e-9)
    assert surrogate.f_min != z.min()
    improvement = surrogate.acquisition(*surrogate.mean_std(TABLE.features), 0.01, "plain")
    assert improvement[batch[0]] == pytest.approx(improvement[unseen].max(), rel=1e-9)
    unseen[batch[0]] = False
    np.testing.assert_array_equal(batch[1:], rng.choice(np.flatnonzero(unseen), 19, replace=False))


@pytest.mark.paper("classify_dfo", "s4-gp", "s4-gp-search")
@pytest.mark.parametrize("search", ACQUISITIONS)
def test_gradient_of_the_acquisition_is_its_slope(search):
    surrogate, X, _, rng = conditioned(n=30, d=4, theta=(1.1, 0.6, 0.02))

    def plain(x):
        return surrogate.acquisition(*surrogate.mean_std(x[None]), 0.01, search)[0]

    for x in rng.uniform(5, 6, (8, 4)):
        value, gradient = surrogate.slopes(x, 0.01, search)
        assert value == pytest.approx(plain(x), rel=1e-8)
        for i in range(4):
            step = np.eye(4)[i] * 1e-5
            slope = (plain(x + step) - plain(x - step)) / 2e-5
            assert gradient[i] == pytest.approx(slope, rel=1e-4, abs=1e-7)


@pytest.mark.paper("classify_dfo", "s4-gp-search")
def test_a_sure_gp_follows_a_linear_function_to_its_corner():
    instance = problems.Linear(dim=12).draw(np.random.default_rng(0))
    optimizer = GPEI(instance.domain, batch=150, rng=0)
    optimizer.tell(batch := optimizer.ask(), instance.evaluate(batch))
    assert instance.evaluate(optimizer.ask())[0] == pytest.approx(instance.optimum, rel=1e-6)
    # the plain improvement is 0 at every candidate: there is nothing to climb
    U = np.random.default_rng(1).random((1000, 12))
    surrogate = optimizer.surrogate
    values = surrogate.acquisition(*surrogate.mean_std(U), 0.01, "plain")
    assert (values == 0).mean() > 0.9


@pytest.mark.paper("classify_dfo", "s4-gp", "s4-gp-points")
def test_on_a_box_the_first_point_is_better_than_any_candidate_and_data_are_capped():
    optimizer = drive(GPEI(BOX, batch=15, max_points=20, rng=1), 4)
    y = np.concatenate(optimizer.values)
    for _ in range(12):
        kept, values = optimizer._data()
        assert kept.shape == (20, 3)
        assert len(np.unique(kept, axis=0)) == 20
        assert values.min() == y.min()
        np.testing.assert_array_equal(values, sphere(kept))
    batch = optimizer.ask()
    surrogate = optimizer.surrogate
    unit = (batch - BOX.lower) / BOX.sides
    U = np.vstack([unit, np.random.default_rng(0).random((3000, 3))])
    improvement = surrogate.acquisition(*surrogate.mean_std(U), 0.01, "plain")
    assert improvement[0] >= improvement.max() * (1 - 1e-6)
    uncapped = drive(GPEI(BOX, batch=15, max_points=60, rng=1), 4)
    np.testing.assert_array_equal(uncapped._data()[0], np.concatenate(uncapped.batches))


@pytest.mark.paper("classify_dfo", "s4-gp-batch")
def test_a_batch_of_one_is_the_greedy_point_alone():
    optimizer = GPEI(TABLE, batch=1, rng=0)
    drive(optimizer, 6)
    assert {len(batch) for batch in optimizer.batches} == {1}


def test_many_near_duplicates_with_little_noise_are_survived():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((5, 3)), 12, axis=0) + 1e-9 * rng.standard_normal((60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        surrogate = Surrogate(restarts=1)
        surrogate.fit(X, X.sum(1), rng)
        assert np.isfinite(np.concatenate(surrogate.mean_std(X))).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(0, 60), st.booleans())
def test_a_learnt_box_holds_its_centre_and_no_other_point(seed, d, n, rounded):
    rng = np.random.default_rng(seed)
    box = Box([[-1, 2]] * d)
    centre, others = box.uniform(1, rng)[0], box.uniform(n, rng) if n else np.empty((0, d))
    if rounded:  # many points share coordinates with the centre
        centre, others = np.round(centre), np.round(others)
    others = np.vstack([others, centre, centre])  # copies cannot be excluded
    lower, upper = shrink_box(centre, others, box, rng)
    assert (lower <= centre).all()
    assert (centre <= upper).all()
    assert (box.lower <= lower).all()
    assert (upper <= box.upper).all()
    held = ((others >= lower) & (others <= upper)).all(axis=1)
    assert (others[held] == centre).all()
    if n == 0:
        np.testing.assert_array_equal([lower, upper], [box.lower, box.upper])


@pytest.mark.paper("classify_dfo", "ours-box-classifier")
def test_box_queries_exclude_the_bad_points_of_the_last_batch(monkeypatch):
    optimizer = drive(BoxClassifier(BOX, batch=30, positives=4, trust=1.0, rng=0), 3)
    y, queries = np.concatenate(optimizer.values), np.concatenate(optimizer.batches)
    good = queries[np.argsort(y)[:4]]
    last = optimizer.batches[-1]
    calls = []
    from fivebo.classify_dfo import box_classifier

    original = box_classifier.shrink_box
    monkeypatch.setattr(
        box_classifier,
        "shrink_box",
        lambda *a: calls.append((a[0], a[1], original(*a))) or calls[-1][2],
    )
    batch = optimizer.ask()
    assert len(calls) == 30
    for x, (centre, others, (lower, upper)) in zip(batch, calls, strict=True):
        assert (centre == good).all(axis=1).any()
        for other in others:
            assert (other == last).all(axis=1).any()
            assert not (other == good).all(axis=1).any()
        assert ((lower <= x) & (x <= upper)).all()
    assert len(calls[0][1]) == sum(not (point == good).all(axis=1).any() for point in last)


@pytest.mark.paper("classify_dfo", "ours-box-classifier")
def test_box_classification_and_cma_es_beat_random_search_on_a_smooth_function():
    cube = Box([[0, 1]] * 6)
    found = {}
    for make in (RandomSearch, CMAES, BoxClassifier):
        best = []
        for seed in range(5):
            optimizer = make(cube, batch=60, rng=seed)
            for _ in range(10):
                batch = optimizer.ask()
                optimizer.tell(batch, hartmann6(batch))
            best.append(min(map(min, optimizer.values)))
        found[make] = np.median(best)
    assert found[CMAES] < found[RandomSearch]
    assert found[BoxClassifier] < found[RandomSearch]


@pytest.mark.parametrize("method", [CMAES, BoxClassifier])
def test_methods_for_boxes_refuse_a_catalogue(method):
    with pytest.raises(TypeError, match="needs a Box, got Catalogue"):
        method(TABLE, batch=10)


@pytest.mark.parametrize(
    "make",
    [
        lambda: RandomSearch(BOX, batch=0),
        lambda: RandomSearch(BOX, batch=5, factor=0),
        lambda: CMAES(BOX, batch=1),
        lambda: CMAES(BOX, batch=5, step_share=0.0),
        lambda: CMAES(BOX, batch=5, step_share=1.5),
        lambda: GPEI(BOX, batch=5, jitter=-0.1),
        lambda: GPEI(BOX, batch=5, max_points=0),
        lambda: GPEI(BOX, batch=5, n_fit=0),
        lambda: GPEI(BOX, batch=5, search="exact"),
        lambda: BoxClassifier(BOX, batch=5, positives=0),
        lambda: BoxClassifier(BOX, batch=5, trust=0.0),
        lambda: RandomSearch(TABLE, batch=401).ask(),
    ],
)
def test_settings_out_of_range_are_refused(make):
    with pytest.raises(ValueError, match=r"got|smaller|unknown"):
        make()


@pytest.mark.paper("classify_dfo", "s4-gp")
def test_gp_finds_more_than_random_on_airfoils():
    instance = problems.Airfoil().draw(np.random.default_rng(0))
    best = {}
    for make in (RandomSearch, GPEI):
        found = []
        for seed in range(3):
            optimizer = make(instance.domain, batch=15, rng=seed)
            for _ in range(6):
                batch = optimizer.ask()
                optimizer.tell(batch, instance.evaluate(batch))
            found.append(min(map(min, optimizer.values)))
        best[make] = np.median(found)
    assert best[GPEI] < best[RandomSearch]


@pytest.mark.parametrize("scale", [1e-90, 1e-12, 1e12])
def test_gp_ei_does_not_depend_on_the_unit_of_the_values(scale):
    table = Catalogue(np.random.default_rng(0).random((80, 2)))
    values = ((table.features - 0.3) ** 2).sum(axis=1)
    runs = [GPEI(table, batch=8, restarts=1, rng=1) for _ in range(2)]
    for run, unit in zip(runs, (1.0, scale), strict=True):
        for _ in range(3):
            batch = run.ask()
            run.tell(batch, unit * values[batch])
    assert runs[0].batches[1][0] == runs[1].batches[1][0]
    assert runs[0].batches[2][0] == runs[1].batches[2][0]


@pytest.mark.parametrize(("unit", "shift"), [(1e-12, 0), (1e12, 0), (1e-50, 0), (1.0, 1e3)])
def test_gp_ei_does_not_depend_on_the_unit_of_the_features(unit, shift):
    features = np.random.default_rng(0).random((80, 2))
    values = ((features - 0.3) ** 2).sum(axis=1)
    runs = [GPEI(Catalogue(f), batch=8, rng=1) for f in (features, shift + unit * features)]
    for run in runs:
        for _ in range(4):
            batch = run.ask()
            run.tell(batch, values[batch])
    np.testing.assert_array_equal(runs[0].batches, runs[1].batches)


def test_cma_es_says_that_it_needs_two_inputs():
    with pytest.raises(ValueError, match="CMAES needs a box of at least 2 inputs"):
        CMAES(Box([[0, 1]]), batch=5)


@every_method
def test_failed_members_and_batches_are_passed_over(make, domain):
    optimizer = drive(make(batch=10, rng=0), 2)
    batch = optimizer.ask()
    optimizer.tell(batch, None)
    again = optimizer.ask()
    assert not np.array_equal(batch[0], again[0])
    y = values_of(domain, again).tolist()
    optimizer.tell(again, [None, *y[1:]])
    after = drive(optimizer, 1).ask()
    table = optimizer.result()
    assert (table["status"] == "failed").sum() == len(batch) + 1
    assert len(np.concatenate(optimizer.values)) == (table["status"] == "ok").sum()
    if domain is TABLE:
        assert not set(after) & {*batch, again[0]}


@pytest.mark.parametrize("measured", [0, 2, 5, 6, 12])
def test_cma_es_takes_what_makes_a_generation(measured):
    optimizer = drive(CMAES(BOX, batch=12, rng=0), 2)
    batch, iteration = optimizer.ask(), optimizer._strategy.countiter
    optimizer.tell(batch, [*sphere(batch[:measured]), *[None] * (12 - measured)])
    assert optimizer._strategy.countiter - iteration == (measured >= 6)
    drive(optimizer, 2)


def test_cma_es_learns_its_own_points_wherever_they_were_carried_out():
    one, two = (drive(CMAES(BOX, batch=12, rng=0), 2) for _ in range(2))
    batch = one.ask()
    one.tell(batch.round(3), sphere(batch.round(3)), query=batch)
    two.tell(two.ask(), sphere(batch.round(3)))
    np.testing.assert_array_equal(one.ask(), two.ask())
    np.testing.assert_array_equal(one.batches[-1], batch.round(3))


@pytest.mark.parametrize("domain", [BOX, TABLE], ids=["box", "table"])
def test_the_posterior_is_that_of_the_next_ask_in_units_of_y(domain):
    one, two = (drive(GPEI(domain, batch=15, rng=0), 3) for _ in range(2))
    where = one.batches[0]
    mean, std = one.posterior(where)
    y = one.values[0]
    assert (np.abs(mean - y) < 4 * std + 0.3 * np.ptp(y)).all()
    np.testing.assert_array_equal(one.ask(), two.ask())  # to look changes nothing
    np.testing.assert_array_equal(two.posterior(where), [mean, std])
    scaled = GPEI(domain, batch=15, rng=0)
    for _ in range(3):
        batch = scaled.ask()
        scaled.tell(batch, 7 + 1e-6 * values_of(domain, batch))
    np.testing.assert_allclose(scaled.posterior(where)[0], 7 + 1e-6 * mean, rtol=1e-9)
    np.testing.assert_allclose(scaled.posterior(where)[1], 1e-6 * std, rtol=1e-3)
    if domain is TABLE:
        assert one.posterior()[0].shape == (400,)
    else:
        with pytest.raises(TypeError, match="needs the points X"):
            one.posterior()
    with pytest.raises(ValueError, match="no observation yet"):
        GPEI(domain, batch=15).posterior(where)
    with pytest.raises(TypeError, match="no model of f"):
        RandomSearch(domain, batch=5).posterior()


def test_actions_that_tie_up_to_rounding_tie():
    surrogate, X, _, rng = conditioned(n=20, d=2, theta=(1.0, 0.5, 0.1))
    C = np.repeat(rng.uniform(5, 6, (40, 2)), 3, axis=0)
    C[::3] += 1e-15 * rng.standard_normal((40, 2))
    assert best_candidate(surrogate, C, 0.01)[0] % 3 == 0
