"""MT-KB and MT-BKB as users and papers know them: whole runs against literal transcriptions."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from fivebo.common.gp.kernels import Matern, SquaredExponential
from fivebo.common.search.rng import Streams
from fivebo.mtbo import (
    ICM,
    ITBKB,
    ITKB,
    MOBO,
    MTBKB,
    MTKB,
    ChebyshevScalarization,
    DiagonalKernel,
    LinearScalarization,
    SumKernel,
)
from fivebo.mtbo.scalarization import draw_weights
from fivebo.mtbo.theory import mt_bkb_radius, mt_kb_radius
from tests.mtbo.oracles import gamma_sum, log_det_gain, mt_bkb_posterior, mt_posterior

X = np.linspace(0, 1, 12)[:, None]
B = np.array([[1.0, 0.6], [0.6, 0.8]])
K = SquaredExponential(0.3)
KERNELS = [ICM(K, B), SumKernel([(K, B), (Matern(0.2, nu=1.5), np.diag([0.3, 0.0]))])]
SCALARIZATIONS = [ChebyshevScalarization([-1.0, -2.0]), LinearScalarization(2)]
ETA = 0.1


def f(x):
    return np.array([np.sin(5 * x[0]), np.cos(3 * x[0])])


def drive(optimizer, rounds, seed=3, seen=None):
    """Run the rounds; `seen` collects the acquisition that chose each query."""
    noise = np.random.default_rng(seed)
    for _ in range(rounds):
        x = optimizer.ask()
        if seen is not None:
            seen.append(optimizer.acquisition(optimizer.weights))
        optimizer.tell(x, f(x) + 0.1 * noise.standard_normal(2))
    return optimizer.result()


def choose(values, rng):
    best = np.flatnonzero(values == values.max())
    return int(best[int(rng.random() * len(best))])


@pytest.mark.paper(
    "mtbo",
    "alg1-l1",
    "alg1-l2",
    "alg1-l3",
    "alg1-l4",
    "alg1-l5",
    "alg1-l6",
    "alg1-l7",
    "alg1-l8",
    "s2-domain",
    "s3-oracle",
    "app-e-radii",
    "eq-2",
)
@pytest.mark.parametrize("kernel", KERNELS, ids=["icm", "sum"])
@pytest.mark.parametrize("s", SCALARIZATIONS, ids=["chebyshev", "linear"])
def test_algorithm_1_line_by_line(kernel, s):
    optimizer, seen = MTKB(X, kernel, s, b=2.0, noise_std=0.1, eta=ETA, delta=0.1, rng=5), []
    frame = drive(optimizer, 10, seen=seen)
    streams, noise = Streams.of(5), np.random.default_rng(3)
    Gamma, past, Y = gamma_sum(kernel.terms), [], []
    for t in range(10):
        lam = draw_weights(s.law, 2, streams.scalarization)
        gain = log_det_gain(Gamma, past, ETA) if past else 0.0
        beta = 2.0 + 0.1 / np.sqrt(ETA) * np.sqrt(2 * np.log(1 / 0.1) + gain)
        u = []
        for x in X:
            mean, block = mt_posterior(Gamma, past, Y, ETA, x)
            u.append(s(mean, lam) + s.lipschitz(lam) * beta * np.linalg.norm(block, 2) ** 0.5)
        np.testing.assert_allclose(seen[t], u, rtol=1e-7, atol=1e-8)
        u = np.full(12, u[0]) if t == 0 else np.array(u)  # the prior is flat to rounding
        x = X[choose(u, streams.initial)]
        past.append(x)
        Y.append(f(x) + 0.1 * noise.standard_normal(2))
        assert frame["x_1"][t] == x[0], f"round {t + 1}"
        np.testing.assert_array_equal(frame.loc[t, ["lambda_1", "lambda_2"]], lam)
    assert optimizer.radius == pytest.approx(
        mt_kb_radius(log_det_gain(Gamma, past, ETA), b=2.0, noise_std=0.1, eta=ETA, delta=0.1),
        rel=1e-9,
    )


@pytest.mark.paper(
    "mtbo",
    "alg2-l1",
    "alg2-l2",
    "alg2-l3",
    "alg2-l4",
    "alg2-l5",
    "alg2-l6",
    "alg2-l7",
    "alg2-l8",
    "alg2-l9",
    "alg2-l10",
    "alg2-l11",
    "alg2-l12",
    "alg2-l13",
    "alg2-l15",
    "alg2-l16",
    "alg2-l17",
    "s3-budgeted-acquisition",
    "app-e-radii",
)
@pytest.mark.parametrize("kernel", KERNELS, ids=["icm", "sum"])
@pytest.mark.parametrize(("q", "scale"), [(0.6, "paper"), (1.5, "eta"), (1e6, "paper")], ids=str)
def test_algorithm_2_line_by_line(kernel, q, scale):
    s, constants = SCALARIZATIONS[0], {"b": 2.0, "noise_std": 0.1, "eta": ETA, "delta": 0.1}
    optimizer = MTBKB(
        X, kernel, s, horizon=10, q=q, epsilon=0.3, inclusion_scale=scale, rng=5, **constants
    )
    seen = []
    frame = drive(optimizer, 10, seen=seen)
    streams, noise = Streams.of(5), np.random.default_rng(3)
    Gamma, past, Y, growth = gamma_sum(kernel.terms), [], [], 0.0
    chosen, p = [], []
    for t in range(10):
        lam = draw_weights(s.law, 2, streams.scalarization)
        beta = mt_bkb_radius(growth, epsilon=0.3, **constants)
        blocks = [mt_bkb_posterior(Gamma, past, Y, chosen, p, ETA, x) for x in X]
        u = [
            s(mean, lam) + s.lipschitz(lam) * beta * np.linalg.norm(block, 2) ** 0.5
            for mean, block in blocks
        ]
        np.testing.assert_allclose(seen[t], u, rtol=1e-6, atol=1e-7)
        u = np.full(12, u[0]) if t == 0 else np.array(u)
        i = choose(u, streams.initial)
        assert frame["x_1"][t] == X[i, 0], f"round {t + 1}"
        growth += np.linalg.slogdet(np.eye(2) + blocks[i][1] / ETA)[1]
        at = [np.linalg.norm(blocks[int(np.argmin(abs(X - x)))][1], 2) for x in [*past, X[i]]]
        past.append(X[i])
        Y.append(f(X[i]) + 0.1 * noise.standard_normal(2))
        p = [min(q * value / (ETA if scale == "eta" else 1), 1) for value in at]
        z = [u < prob for u, prob in zip(streams.algorithm.random(t + 1), p, strict=True)]
        chosen = [j for j in range(t + 1) if z[j]]
    np.testing.assert_array_equal(X[optimizer.dictionary, 0], [past[j][0] for j in chosen])
    np.testing.assert_allclose(optimizer.probabilities, [p[j] for j in chosen], rtol=1e-6)


@pytest.mark.paper("mtbo", "lemma-8", "thm-3-q")
def test_mt_bkb_with_a_full_dictionary_is_mt_kb_but_for_the_radius():
    args = (X, KERNELS[0], SCALARIZATIONS[0])
    constants = {"b": 2.0, "noise_std": 0.1, "rng": 0}
    exact, budgeted = MTKB(*args, **constants), MTBKB(*args, horizon=40, **constants)
    drive(budgeted, 40)
    for entry in budgeted.told:
        exact.tell(X[entry.query], entry.value)
    assert len(budgeted.dictionary) == 40  # the theory's q keeps every query
    np.testing.assert_allclose(exact.posterior(), budgeted.posterior(), atol=1e-8)
    np.testing.assert_allclose(exact.model.norm, budgeted.model.norm, atol=1e-9)
    assert budgeted.radius > exact.radius


@pytest.mark.paper("mtbo", "s2-icm", "s3-single-task")
def test_one_task_is_scalar_gp_ucb():
    """n = 1 against scikit-learn's regression and the same radius."""
    from sklearn.gaussian_process import GaussianProcessRegressor

    optimizer = MTKB(X, ICM(K, [[1.0]]), LinearScalarization(1), b=1.0, noise_std=0.1, rng=2)
    y = []
    for t in range(8):
        x = optimizer.ask()
        if t:
            model = GaussianProcessRegressor(RBF(0.3), alpha=ETA, optimizer=None)
            mean, std = model.fit(optimizer.result()[["x_1"]].to_numpy(), y).predict(
                X, return_std=True
            )
            np.testing.assert_allclose(optimizer.posterior(), [mean[:, None], std[:, None]])
            u = mean + optimizer.radius * std
            assert u[optimizer.domain.index(x)] == pytest.approx(u.max(), abs=1e-10)
        y.append(np.sin(5 * x[0]))
        optimizer.tell(x, y[-1:])


def independent(cls, **more):
    kernel = DiagonalKernel([K] * 2)
    return cls(X, kernel, SCALARIZATIONS[0], rng=5, **more)


ALL = {
    "mt-kb": lambda: MTKB(X, KERNELS[0], SCALARIZATIONS[0], b=2.0, noise_std=0.1, rng=5),
    "mt-kb-block": lambda: MTKB(X, KERNELS[1], SCALARIZATIONS[1], b=2.0, noise_std=0.1, rng=5),
    "mt-bkb": lambda: MTBKB(
        X, KERNELS[0], SCALARIZATIONS[0], b=2.0, noise_std=0.1, horizon=9, q=1.0, rng=5
    ),
    "it-kb": lambda: independent(ITKB, b=2.0, noise_std=0.1),
    "it-kb-greedy": lambda: independent(ITKB, b=2.0, noise_std=0.1, gain="greedy", horizon=9),
    "it-bkb": lambda: independent(ITBKB, b=2.0, noise_std=0.1, horizon=9, q=0.5),
    "mobo": lambda: independent(MOBO),
}


@pytest.fixture(params=ALL, ids=str)
def make(request):
    return ALL[request.param]


def test_seeds_repeat_runs(make):
    frame = drive(make(), 9)
    assert frame.equals(drive(make(), 9))
    assert list(frame.columns) == ["t", "x_1", "y_1", "y_2", "lambda_1", "lambda_2", "status"]


def test_the_first_query_is_random_and_shared_by_all_methods():
    first = {make().ask()[0] for make in ALL.values()}
    assert len(first) == 1
    other = {
        MTKB(X, KERNELS[0], SCALARIZATIONS[0], b=1, noise_std=0.1, rng=seed).ask()[0]
        for seed in range(30)
    }
    assert len(other) > 5


def test_data_that_was_not_asked_for_is_used(make):
    a = make()
    other = X[(a.domain.index(a.ask()) + 3) % 12]
    a.tell(other, [5.0, 5.0])
    assert a.result()["lambda_1"].isna().tolist() == [True]
    assert a.posterior(other[None])[0].min() > 0.5


BAD = [
    (0.55, [0.0, 0.0], ValueError, "not one of the 12 points"),
    (0.0, [0.0], ValueError, r"shape \(2,\), one value a task"),
    (0.0, [0.0, np.nan], ValueError, r"evaluation 1 at 0.0: y must be finite"),
    (0.0, ["a", "b"], TypeError, "real numbers"),
    (0.0, [1j, 0], TypeError, "real numbers"),
    (np.nan, [0.0, 0.0], ValueError, "finite"),
    ([0.0, 0.0], [0.0, 0.0], ValueError, r"shape \(1,\)"),
]


@pytest.mark.parametrize(("x", "y", "error", "match"), BAD)
def test_bad_input_is_refused_and_changes_nothing(make, x, y, error, match):
    a, b = make(), make()
    a.ask()
    with pytest.raises(error, match=match):
        a.tell(x, y)
    assert len(a.result()) == 0
    assert drive(a, 4).equals(drive(b, 4))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"eta": 0.0}, "eta"),
        ({"delta": 2.0}, "delta"),
        ({"lipschitz": "two"}, "lipschitz"),
        ({"scalarization": LinearScalarization(3)}, "3 task"),
        ({"rng": -1}, "seed"),
        ({"domain": [[0.0], [0.0]]}, "distinct"),
        ({"b": -1.0}, "b must"),
        ({"noise_std": 0.0}, "noise_std"),
    ],
)
def test_bad_settings_are_refused_at_construction(changes, match):
    settings = {
        "domain": X, "kernel": KERNELS[0], "scalarization": SCALARIZATIONS[0], "b": 1.0,
        "noise_std": 0.1,
    } | changes  # fmt: skip
    with pytest.raises(ValueError, match=match):
        MTKB(
            settings.pop("domain"),
            settings.pop("kernel"),
            settings.pop("scalarization"),
            **settings,
        )


@pytest.mark.paper("mtbo", "s2-pareto")
def test_recommendations(make):
    a = make()
    drive(a, 9)
    front = a.recommend()
    mean, _ = a.posterior()
    queried = np.unique([entry.query for entry in a.told])
    for i in queried:
        better = (mean[queried] >= mean[i]).all(1) & (mean[queried] > mean[i]).any(1)
        assert (X[i] in front) == (not better.any())
    best = a.recommend(weights=[0.5, 0.5])
    assert a.scalarization(mean, [0.5, 0.5]).max() == pytest.approx(
        a.scalarization(mean[a.domain.index(best)], np.array([0.5, 0.5]))
    )


def test_constant_observations_and_one_candidate_run(make):
    a = make()
    for _ in range(15):
        a.tell(a.ask(), [1.0, 1.0])
    alone = MTKB([[0.5]], KERNELS[0], SCALARIZATIONS[0], b=1.0, noise_std=0.1)
    drive(alone, 5)
    assert len(alone.result()) == 5


WRONG = [
    (lambda: independent(MOBO, radius="foo"), ValueError, "unknown radius 'foo'"),
    (lambda: independent(ITBKB, b=1, noise_std=1, horizon=5, radius=None), ValueError, "radius"),
    (lambda: independent(ITKB, b=1, noise_std=1, gain="realized"), ValueError, "'realised'"),
    (lambda: independent(ITKB, b=1, noise_std=1, gain="greedy"), TypeError, "gain='greedy' needs"),
    (lambda: independent(ITBKB, b=1, noise_std=1, horizon=0), ValueError, "horizon must be"),
    (lambda: MOBO(X, KERNELS[0], SCALARIZATIONS[0]), TypeError, "DiagonalKernel"),
    (lambda: MTKB(X, RBF(1), SCALARIZATIONS[0], b=1, noise_std=1), TypeError, "ICM"),
    (lambda: MTKB(X, KERNELS[0], 5, b=1, noise_std=1), TypeError, "LinearScalarization"),
    (
        lambda: MTKB(X, KERNELS[0], SCALARIZATIONS[0], b=1, noise_std=1, radius=3.0),
        TypeError,
        "callable",
    ),
    (
        lambda: MTBKB(
            X, KERNELS[0], SCALARIZATIONS[0], b=1, noise_std=1, horizon=5, inclusion_scale="foo"
        ),
        ValueError,
        "inclusion_scale",
    ),
]


@pytest.mark.parametrize(("build", "error", "match"), WRONG)
def test_wrong_options_are_refused_by_name(build, error, match):
    with pytest.raises(error, match=match):
        build()


@pytest.mark.parametrize("weights", [[1.0], [-1.0, 2.0], [0.0, 0.0], [1.0, 1.0, 1.0]])
def test_recommendation_weights_are_checked(make, weights):
    a = make()
    drive(a, 1)
    with pytest.raises(ValueError, match="weights must be 2 numbers"):
        a.recommend(weights=weights)


class Cosine:
    """Indefinite: cos(9 |x - x'|) - exp(-|x - x'|) / 2."""

    def __call__(self, X, Y=None):
        distance = abs(X - (X if Y is None else Y).T)
        return np.cos(9 * distance) - 0.5 * np.exp(-distance)

    def diag(self, X):
        return np.full(len(X), 0.5)


def test_kernels_that_are_none_are_refused():
    for points in (X, np.linspace(0, 1, 500)[:, None]):
        with pytest.raises(ValueError, match="leave white noise out"):
            MTKB(points, ICM(RBF(0.2) + WhiteKernel(0.5), B), SCALARIZATIONS[0], b=1, noise_std=1)
    with pytest.raises(ValueError, match="positive semi-definite"):
        MTKB(X, ICM(Cosine(), B), SCALARIZATIONS[0], b=1, noise_std=1)
    budgeted = MTBKB(X, ICM(Cosine(), B), SCALARIZATIONS[0], b=1, noise_std=1, horizon=9)
    with pytest.raises((ValueError, FloatingPointError), match="positive semi-definite"):
        drive(budgeted, 9)


def test_huge_observations_are_refused_and_change_nothing(make):
    a, b = make(), make()
    a.ask()
    with pytest.raises(ValueError, match=r"at most 1e\+100"):
        a.tell(X[0], [1e308, 1.0])
    assert drive(a, 4).equals(drive(b, 4))


def test_a_radius_that_fails_leaves_the_model_alone():
    def broken(log_det):
        return 1 / 0 if log_det > 0 else 1.0

    optimizer = MTKB(X, KERNELS[0], SCALARIZATIONS[0], b=1, noise_std=1, radius=broken)
    before = optimizer.posterior()
    with pytest.raises(ZeroDivisionError):
        optimizer.tell(X[0], [1.0, 1.0])
    np.testing.assert_array_equal(optimizer.posterior(), before)
    with pytest.raises(ValueError, match=r"radius\(log_det\) must be finite, got nan"):
        MTKB(X, KERNELS[0], SCALARIZATIONS[0], b=1, noise_std=1, radius=lambda log_det: np.nan)
