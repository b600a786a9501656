"""EGP-TS as users and the paper know it: whole runs against a literal transcription."""

import copy

import numpy as np
import pytest

from fivebo.common.search.domains import Box
from fivebo.common.search.loop import optimize
from fivebo.common.search.rng import Streams
from fivebo.egpbo import (
    EGPEI,
    EGPTS,
    EXP3BO,
    GPEI,
    GPTS,
    BanditBO,
    FullyBayesianGPTS,
    Kernel,
    RandomSearch,
    Search,
    rbf_dictionary,
)
from fivebo.egpbo.bayes import BayesSettings
from fivebo.egpbo.evidence import FitSettings, fit
from fivebo.egpbo.features import draw_frequencies
from tests.egpbo.oracles import evidence, maximise_sample, phi, posterior, round_updates

BOX = [[-2.0, 2.0], [0.0, 1.0]]
DICTIONARY = [Kernel("rbf", length_scale=s) for s in (0.1, 0.3, 1.0)]
SEARCH = Search(n_screen=60, n_polish=1)
FITS = FitSettings(restarts=0)
TWO = [Kernel("rbf"), Kernel("matern-5/2")]
SMALL = {"n_init": 4, "n_features": 12, "search": SEARCH, "fits": FITS, "rng": 5}


def f(x):
    return float(np.sin(3 * x[0]) - (x[1] - 0.4) ** 2)


def drive(optimizer, rounds, seed=3):
    noise = np.random.default_rng(seed)
    for _ in range(rounds):
        x = optimizer.ask()
        optimizer.tell(x, f(x) + 0.1 * noise.standard_normal())
    return optimizer.result()


@pytest.mark.paper(
    "egpbo", "alg1-init", "alg1-fit", "alg1-batch", "alg1-weights", "alg1-component",
    "alg1-sample", "alg1-query", "alg1-update", "eq-10", "eq-12", "eq-8", "s3-refit", "s5-n-init",
)  # fmt: skip
@pytest.mark.parametrize("refit_every", [0, 5, 1])
def test_algorithm_1_line_by_line(refit_every):
    optimizer = EGPTS(BOX, DICTIONARY, refit_every=refit_every, noise_var=0.05, **SMALL)
    frame = drive(optimizer, 14)
    streams, noise = Streams.of(5), np.random.default_rng(3)
    box, X, y = Box(BOX), [], []
    for t in range(14):
        if t < 4:  # initial points, uniform
            x = box.from_unit(streams.initial.random(2))
        else:
            if t == 4 or (refit_every and (t - 4) % refit_every == 0):  # all pairs so far
                U, centre, scale = box.to_unit(np.array(X)), np.mean(y), np.std(y)
                z = (np.array(y) - centre) / scale
                hypers = [fit(k, U, z, 0.05, FITS) for k in DICTIONARY]
                models = []
                for k, h in zip(DICTIONARY, hypers, strict=True):
                    V = draw_frequencies(k, h.kernel.length_scale, 12, 2, streams.algorithm)
                    models.append((V, *posterior(U, z, V, h.kernel.variance, 0.05)))
                logs = np.array(
                    [
                        evidence(U, z, V, h.kernel.variance, 0.05)
                        for (V, _, _), h in zip(models, hypers, strict=True)
                    ]
                )
                weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
            u = streams.algorithm.random()
            m = int(np.flatnonzero(np.cumsum(weights) > u)[0])
            V, theta, Sigma = models[m]
            draw = theta + np.linalg.cholesky(Sigma) @ streams.algorithm.standard_normal(24)
            x = box.from_unit(maximise_sample(V, draw, streams.algorithm, 60, 1))
        np.testing.assert_allclose(frame.loc[t, ["x_1", "x_2"]].astype(float), x, atol=1e-5)
        x = frame.loc[t, ["x_1", "x_2"]].to_numpy(dtype=float)  # rounding does not add up
        value = f(x) + 0.1 * noise.standard_normal()
        assert frame["y"][t] == pytest.approx(value, abs=1e-9)
        if t >= 4:
            assert frame["component"][t] == m
            z_new = (value - centre) / scale
            models, weights = round_updates(models, weights, box.to_unit(x), z_new, 0.05)
        X.append(x)
        y.append(value)


@pytest.mark.paper("egpbo", "s5-gp-ts")
@pytest.mark.parametrize("kernel", [Kernel("rbf"), Kernel("matern-5/2"), Kernel("rbf", ard=True)])
def test_one_kernel_is_gp_ts(kernel):
    one = EGPTS(BOX, [kernel], refit_every=1, **SMALL)
    other = GPTS(BOX, kernel, **SMALL)
    assert drive(one, 12).equals(drive(other, 12))
    np.testing.assert_array_equal(one.ensemble.theta, other.ensemble.theta)


ALL = {
    "egp-ts": lambda: EGPTS(BOX, DICTIONARY, refit_every=4, **SMALL),
    "egp-ts-mixed": lambda: EGPTS(BOX, refit_every=6, weight_floor=1e-4, **SMALL),
    "gp-ts": lambda: GPTS(BOX, **SMALL),
    "gp-ts-bayes": lambda: FullyBayesianGPTS(
        BOX, bayes=BayesSettings(n_samples=8, warm_up=4), **SMALL
    ),
    "banditbo": lambda: BanditBO(BOX, DICTIONARY, **SMALL),
    "exp3bo": lambda: EXP3BO(BOX, DICTIONARY, horizon=12, **SMALL),
    "gp-ei": lambda: GPEI(BOX, n_init=4, search=SEARCH, fits=FITS, rng=5),
    "egp-ei": lambda: EGPEI(BOX, TWO, n_init=4, search=SEARCH, fits=FITS, rng=5),
    "egp-ei-mixture": lambda: EGPEI(
        BOX, TWO, form="mixture", n_init=4, search=SEARCH, fits=FITS, rng=5
    ),
    "random": lambda: RandomSearch(BOX, n_init=4, rng=5),
}


@pytest.fixture(params=ALL, ids=str)
def make(request):
    return ALL[request.param]


@pytest.mark.paper("egpbo", "s5-shared-initial")
def test_seeds_repeat_runs_and_methods_share_the_initial_points(make):
    state = np.random.get_state()  # noqa: NPY002
    frame = drive(make(), 9)
    assert frame.equals(drive(make(), 9))
    after = np.random.get_state()  # noqa: NPY002
    assert state[0] == after[0]
    np.testing.assert_array_equal(state[1], after[1])  # the global generator is not touched
    first = drive(RandomSearch(BOX, n_init=4, rng=5), 4)
    np.testing.assert_array_equal(frame[["x_1", "x_2"]][:4], first[["x_1", "x_2"]])
    assert list(frame["t"]) == list(range(1, 10))


def test_queries_are_pending_until_told(make):
    a = make()
    first = a.ask()
    if a.parallel:
        assert not np.array_equal(first, a.ask())
        assert len(a.pending) == 2
    else:
        np.testing.assert_array_equal(first, a.ask())
    a.tell(first, 0.0)
    assert len(a.pending) == (1 if a.parallel else 0)


def test_data_that_was_not_asked_for_is_used(make):
    a = make()
    for x in ([-1.0, 0.2], [0.0, 0.5], [1.0, 0.1], [0.5, 0.4]):
        a.tell(x, f(x))
    assert not a.in_initial_phase
    query = a.ask()
    assert Box(BOX).check(query).shape == (2,)
    assert a.result()["component"].isna().all()
    a.tell([1.9, 0.9], 50.0)
    np.testing.assert_allclose(a.recommend(), [1.9, 0.9])


BAD = [
    ([3.0, 0.5], 0.0, ValueError, r"input 1 is 3 and must lie in \[-2, 2\]"),
    ([0.0], 0.0, ValueError, r"shape \(2,\)"),
    ([0.0, np.nan], 0.0, ValueError, "finite"),
    (["a", "b"], 0.0, TypeError, "real numbers"),
    ([0.0, 0.5], np.nan, ValueError, r"evaluation 6 at \[0.0, 0.5\].*tell\(query, None\)"),
    ([0.0, 0.5], np.inf, ValueError, "finite"),
    ([0.0, 0.5], [1.0, 2.0], ValueError, "one number"),
    ([0.0, 0.5], 1j, TypeError, "real numbers"),
    ([0.0, 0.5], "good", TypeError, "real numbers"),
    ([0.0, 0.5], [], ValueError, "empty"),
]


@pytest.mark.parametrize(("x", "y", "error", "match"), BAD)
def test_bad_input_is_refused_and_changes_nothing(make, x, y, error, match):
    a, b = make(), make()
    drive(a, 5)
    drive(b, 5)
    with pytest.raises(error, match=match):
        a.tell(x, y)
    assert len(a.result()) == 5
    assert drive(a, 3).equals(drive(b, 3))


def test_a_failed_evaluation_is_kept_and_teaches_nothing(make):
    a, b = make(), make()
    drive(a, 6)
    drive(b, 6)
    a.tell([0.1, 0.1], None)
    assert a.result()["status"].tolist() == ["ok"] * 6 + ["failed"]
    assert a.n_told == 6
    np.testing.assert_array_equal(a.recommend(), b.recommend())
    query = a.ask()
    a.tell(query, None)
    assert not a.pending


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"box": [[1.0, 0.0]]}, "lower < upper"),
        ({"box": [0.0, 1.0]}, "dimension"),
        ({"kernels": []}, "kernels"),
        ({"kernels": ["rbf"]}, "egpbo.Kernel"),
        ({"n_init": 0}, "n_init"),
        ({"n_features": 0}, "n_features"),
        ({"noise_var": 0.0}, "noise_var"),
        ({"refit_every": -1}, "refit_every"),
        ({"weight_floor": -0.1}, "weight_floor"),
        ({"evidence": "some"}, "evidence"),
        ({"frequencies": "some"}, "frequencies"),
        ({"inputs": "some"}, "inputs"),
        ({"outputs": "some"}, "outputs"),
        ({"prior_weights": [0.5, 0.6]}, "prior_weights"),
        ({"prior_weights": [0.5, 0.4, 0.3]}, "sum to 1"),
        ({"rng": -1}, "seed"),
    ],
)
def test_bad_settings_are_refused_at_construction(changes, match):
    settings = {"box": BOX, "kernels": DICTIONARY} | changes
    with pytest.raises(ValueError, match=match):
        EGPTS(settings.pop("box"), settings.pop("kernels"), **settings)


def test_settings_that_are_no_numbers_are_refused_by_name():
    with pytest.raises(TypeError, match="noise_var must hold real numbers"):
        EGPTS(BOX, noise_var="small")
    with pytest.raises(TypeError, match="weight_floor must hold real numbers"):
        EGPTS(BOX, weight_floor=1j)


def test_other_bad_settings_are_refused():
    for call, match in (
        (lambda: EGPEI(BOX, form="some"), "form"),
        (lambda: EXP3BO(BOX, horizon=0), "horizon"),
        (lambda: EXP3BO(BOX, horizon=5, rewards="some"), "rewards"),
        (lambda: Search(n_screen=0), "n_screen"),
        (lambda: Search(starts="some"), "starts"),
        (lambda: EGPTS(BOX).ask(0), "n must be"),
        (lambda: EGPTS(BOX).recommend(), "no observation"),
    ):
        with pytest.raises(ValueError, match=match):
            call()


def test_constant_and_repeated_observations_run(make):
    a = make()
    for _ in range(8):
        a.tell(a.ask(), 1.0)
    for _ in range(12):
        a.tell([0.3, 0.3], 1.0)
    a.tell(a.ask(), 1.0)
    if a.fits:
        assert np.isfinite(a.posterior([[0.3, 0.3]])).all()


def test_huge_and_tiny_scales_run():
    for scale in (1e-9, 1e9):
        a = EGPTS(BOX, DICTIONARY, refit_every=5, **SMALL)
        for _ in range(14):
            x = a.ask()
            a.tell(x, scale * f(x))
        assert np.isfinite(a.weights).all()


@pytest.mark.parametrize("cut", [0, 1, 5, 9])
def test_a_killed_run_resumes_to_the_identical_state(make, tmp_path, cut):
    whole = optimize(make(), f, 9, progress=False).result()
    journal = tmp_path / "run.jsonl"
    optimize(make(), f, cut, journal=journal, progress=False)
    if cut:  # a kill during an evaluation, in the middle of a line
        with open(journal, "a") as file:
            file.write('{"ask": 99, "qu')
    assert optimize(make(), f, 9, journal=journal, progress=False).result().equals(whole)


@pytest.mark.paper(
    "egpbo", "code-first-query", "code-refit-data", "code-mixed-refit", "s3-refit-data"
)
@pytest.mark.parametrize("kernels", [DICTIONARY, None], ids=["rbf", "mixed"])
def test_refits_use_all_pairs_once(kernels):
    a = EGPTS(BOX, kernels, refit_every=3, **SMALL)
    drive(a, 5)
    before = a.ensemble.V
    drive(a, 2)
    a.ask()  # refits on 7 pairs
    X, y = a.data()
    U, z = a.scaling.x(X), a.scaling.y(y)
    assert len(np.unique(X, axis=0)) == len(y) == 7
    for m in range(len(a.kernels)):
        assert not np.isclose(before[m], a.ensemble.V[m]).any()  # new frequencies
        theta, Sigma = posterior(U, z, a.ensemble.V[m], a.ensemble.prior_vars[m], 0.01)
        np.testing.assert_allclose(a.ensemble.theta[m], theta, atol=1e-8)
        np.testing.assert_allclose(a.ensemble.Sigma[m], Sigma, atol=1e-8)


@pytest.mark.paper("egpbo", "code-matern-refit", "s5-gp-ts")
@pytest.mark.parametrize("family", ["matern-3/2", "matern-5/2"])
def test_frequencies_of_a_refit_are_those_of_the_fitted_kernel(family):
    kernel = Kernel(family)
    a = GPTS(BOX, kernel, noise_var=0.05, **SMALL)
    drive(a, 6)
    rng = copy.deepcopy(a.streams.algorithm)
    last = a.hyperparameters[0]
    a.ask()
    X, y = a.data()
    fitted = fit(kernel, a.scaling.x(X), a.scaling.y(y), 0.05, FITS, last).kernel.length_scale
    np.testing.assert_allclose(a.hyperparameters[0].kernel.length_scale, fitted)
    expected = draw_frequencies(kernel, fitted, 12, 2, rng)
    np.testing.assert_allclose(a.ensemble.V[0], expected)


@pytest.mark.paper("egpbo", "eq-8")
def test_the_posterior_is_that_of_the_mixture_of_the_components():
    a = EGPTS(BOX, DICTIONARY, noise_var=0.05, **SMALL)
    drive(a, 9)
    X = np.array([[0.3, 0.2], [-1.5, 0.9]])
    parts = zip(a.ensemble.V, a.ensemble.theta, a.ensemble.Sigma, strict=True)
    moments = [
        [(p @ theta, p @ Sigma @ p) for p in (phi(u, V) for u in a.scaling.x(X))]
        for V, theta, Sigma in parts
    ]
    rng = np.random.default_rng(0)
    m = rng.choice(3, 400_000, p=a.weights)
    y = a.data()[1][:4]  # the scaling is that of the last fit
    mean, std = a.posterior(X)
    for i in range(2):
        means, variances = np.transpose([component[i] for component in moments])
        assert mean[i] == pytest.approx(y.mean() + y.std() * (a.weights @ means))
        draws = rng.normal(means[m], np.sqrt(variances[m]))
        assert std[i] == pytest.approx(y.std() * draws.std(), rel=0.01)


@pytest.mark.paper("egpbo", "s3-refit", "code-refit")
@pytest.mark.parametrize(("every", "fitted_at"), [(3, [4, 7, 10]), (0, [4])])
def test_refits_come_after_so_many_evaluations_or_never(every, fitted_at):
    a, found = EGPTS(BOX, DICTIONARY, refit_every=every, **SMALL), []
    for _ in range(12):
        x = a.ask()
        if a.ensemble is not None and a.ensemble not in found:
            found.append(a.ensemble)
            assert a.n_told == fitted_at[len(found) - 1]
        a.tell(x, f(x))
    assert len(found) == len(fitted_at)


@pytest.mark.paper("egpbo", "s3-full-fit")
def test_fits_are_started_at_random_again_every_so_often(monkeypatch):
    restarts = []

    def spy(kernel, X, y, noise_var, settings, last, n, rng, **units):
        restarts.append(n)
        return fit(kernel, X, y, noise_var, settings, last, n, rng, **units)

    monkeypatch.setattr("fivebo.egpbo.optimizer.fit", spy)
    settings = SMALL | {"fits": FitSettings(restarts=2, full_every=5)}
    drive(EGPTS(BOX, [Kernel("rbf")], refit_every=1, **settings), 16)
    assert restarts == [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0]  # at 4, 9 and 14 observations


@pytest.mark.paper("egpbo", "s3-evidence", "code-initial-weights")
def test_what_weighs_the_components_at_a_refit():
    runs = {e: EGPTS(BOX, DICTIONARY, evidence=e, **SMALL) for e in ("features", "exact", "none")}
    for optimizer in runs.values():
        drive(optimizer, 4)
        optimizer.ask()
    np.testing.assert_allclose(runs["none"].weights, 1 / 3)
    exact = np.array([h.evidence for h in runs["exact"].hyperparameters])
    expected = np.exp(exact - exact.max()) / np.exp(exact - exact.max()).sum()
    np.testing.assert_allclose(runs["exact"].weights, expected)
    assert not np.allclose(runs["features"].weights, expected)


@pytest.mark.paper("egpbo", "s3-solver", "code-starts")
def test_fixed_starts_are_drawn_once():
    a = EGPTS(BOX, DICTIONARY, **SMALL | {"search": Search("fixed", n_fixed=7)})
    drive(a, 5)
    starts = a.maximiser._fixed
    drive(a, 3)
    assert a.maximiser._fixed is starts
    assert starts.shape == (7, 2)


@pytest.mark.paper("egpbo", "code-scaling")
def test_raw_scaling_hands_the_model_what_the_user_sees():
    a = EGPTS(BOX, rbf_dictionary(), inputs="raw", outputs="raw", noise_var=0.2, **SMALL)
    drive(a, 6)
    assert (a.scaling.centre, a.scaling.scale) == (0.0, 1.0)
    np.testing.assert_array_equal(a.maximiser.domain.lower, [-2.0, 0.0])


def test_a_fit_that_fails_keeps_the_last_values(monkeypatch):
    a = EGPTS(BOX, DICTIONARY, refit_every=2, **SMALL)
    drive(a, 5)

    def broken(*args, **units):
        raise np.linalg.LinAlgError("no")

    monkeypatch.setattr("fivebo.egpbo.optimizer.fit", broken)
    before = list(a.hyperparameters)
    drive(a, 3)
    assert a.n_failed_fits == 3
    assert a.result()["failed_fits"].tolist()[-1] == 3
    assert all(one is other for one, other in zip(a.hyperparameters, before, strict=True))


@pytest.mark.parametrize("scale", [2.0**-43, 2.0**-200, 2.0**299])  # powers of 2 round nothing
def test_the_unit_of_y_is_of_no_consequence(make, scale):
    runs = []
    for unit in (1.0, scale):
        a = make()
        for _ in range(9):
            x = a.ask()
            a.tell(x, unit * f(x))
        runs.append(a.result().drop(columns="y"))
    assert runs[0].equals(runs[1])


def test_small_changes_of_large_observations_are_seen():
    scaling = EGPTS(BOX, DICTIONARY, **SMALL).scaling
    y = np.array([0.1, 0.7, 0.4])
    scaling.fit(1e6 + 1e-7 * y)
    assert scaling.scale == pytest.approx(1e-7 * np.std(y), rel=0.01)
    assert scaling.y(1e6 + 1e-7 * y).std() == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("y", [0.0, 0.1, 1e12, 5e-324, 1e-200])
def test_constant_observations_keep_their_scale(y):
    scaling = EGPTS(BOX, DICTIONARY, **SMALL).scaling
    scaling.fit([y] * 7)
    assert scaling.scale == 1.0
    scaling.fit([y] * 7 + [3 * y + 1e-200])
    assert scaling.scale > 0


@pytest.mark.parametrize(
    ("X", "error", "match"),
    [
        ([[1.0, 0.2, 0.3]], ValueError, r"shape \(n, 2\), got \(1, 3\)"),
        ([[np.nan, 0.2]], ValueError, "finite"),
        ([[50.0, 0.2]], ValueError, "outside the box"),
        ("ab", TypeError, "real numbers"),
    ],
)
def test_posteriors_are_of_points_of_the_box(make, X, error, match):
    a = make()
    drive(a, 6)
    if isinstance(a, RandomSearch):
        error, match = TypeError, "no model of f"
    else:
        np.testing.assert_array_equal(a.posterior([1.0, 0.5]), a.posterior([[1.0, 0.5]]))
    with pytest.raises(error, match=match):
        a.posterior(X)


def test_there_is_no_posterior_before_there_is_a_model(make):
    with pytest.raises((ValueError, TypeError), match="no model"):
        make().posterior([[0.0, 0.5]])


def test_a_recommendation_does_not_change_the_run(make):
    a, b = make(), make()
    for t in range(9):
        for optimizer in (a, b):
            x = optimizer.ask()
            optimizer.tell(x, f(x))
            if optimizer is a:
                a.recommend()
            optimizer.tell([0.1 * t, 0.2], f([0.1 * t, 0.2]))  # of a point nobody asked for
            if optimizer is a:
                a.recommend()
    assert a.result().equals(b.result())


@pytest.mark.parametrize("method", [EGPTS, BanditBO, EGPEI])
@pytest.mark.parametrize("kernels", ["rbf", [], ["rbf"], Kernel("rbf"), 3])
def test_dictionaries_are_of_kernels(method, kernels):
    with pytest.raises(ValueError, match=r"kernels must be one or more egpbo.Kernel"):
        method(BOX, kernels)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: EGPTS(BOX, search="fresh"), "search must be a Search"),
        (lambda: GPEI(BOX, fits={"restarts": 1}), "fits must be a FitSettings"),
        (lambda: FullyBayesianGPTS(BOX, bayes=11), "bayes must be a BayesSettings"),
        (lambda: EGPTS(BOX, prior_weights="abcd"), "prior_weights must hold real numbers"),
        (lambda: EXP3BO(BOX, horizon="long"), "horizon must hold real numbers"),
        (lambda: Kernel("rbf", length_scale="long"), "length_scale must hold real numbers"),
    ],
)
def test_settings_of_another_kind_are_refused_by_name(call, match):
    with pytest.raises(TypeError, match=match):
        call()


@pytest.mark.parametrize(
    ("record", "settings"),
    [
        (FitSettings, {"restarts": -1}),
        (FitSettings, {"full_every": 0}),
        (FitSettings, {"length_bounds": (2.0, 1.0)}),
        (FitSettings, {"magnitude_bounds": (0.0, 1.0)}),
        (FitSettings, {"length_bounds": (1.0, 2.0, 3.0)}),
        (BayesSettings, {"n_samples": 0}),
        (BayesSettings, {"warm_up": 0}),
        (BayesSettings, {"noise_prior": (1.0, 0.5)}),
        (Search, {"n_screen": 10.5}),
        (Search, {"n_polish": True}),
    ],
)
def test_numbers_with_which_nothing_runs_are_refused(record, settings):
    with pytest.raises((ValueError, TypeError), match=next(iter(settings))):
        record(**settings)


def in_place(x):
    """Return the value at 10^x_2, having overwritten x: what users' own functions do."""
    x[1] = 10 ** x[1]
    return -float((x[0] - 0.3) ** 2 + (x[1] - 3) ** 2)


def test_an_objective_that_changes_its_query_changes_nothing_else(tmp_path):
    def make():
        return EGPTS([[0.0, 1.0], [0.0, 1.0]], n_init=5, search=SEARCH, rng=0)

    expected = optimize(make(), lambda x: in_place(x.copy()), 40, progress=False)
    found = optimize(make(), in_place, 25, journal=tmp_path / "run.jsonl", progress=False)
    found = optimize(make(), in_place, 40, journal=tmp_path / "run.jsonl", progress=False)
    assert found.result().equals(expected.result())
    np.testing.assert_array_equal(found.recommend(), expected.recommend())


def test_rounded_points_take_the_place_of_the_query_that_is_out(make):
    a, asked = make(), []
    for _ in range(9):
        x = a.ask()
        asked.append(x)
        a.tell(x.round(2), f(x.round(2)), query=x if a.parallel else None)
        assert not a.pending
    assert len(np.unique(asked, axis=0)) == 9


def test_pending_does_not_grow_if_points_are_rounded_and_told_alone():
    a = EGPTS(BOX, DICTIONARY, **SMALL)
    for _ in range(6):
        a.tell(a.ask().round(2), 0.0)
    assert not a.pending


def test_queries_keep_away_from_those_that_failed(make):
    a, b = make(), make()
    drive(a, 6)
    drive(b, 6)
    x = a.ask()
    np.testing.assert_array_equal(x, b.ask())
    a.tell(x, None)
    for _ in range(4):
        query = a.ask()
        assert (np.abs(query - x) / [4.0, 1.0] > 0.01).any()
        a.tell(query, f(query))
    b.failed.append(b.pending.pop().query)
    b._suggest = lambda: (b.scaling.x(x + np.array([0.03, -0.009])), None)  # near in both inputs
    place = copy.deepcopy(b.streams.initial)
    np.testing.assert_array_equal(b.ask(), Box(BOX).uniform(100, place)[0])


def test_where_all_has_failed_queries_are_no_longer_passed_over():
    a = RandomSearch([[0.0, 1.0]], n_init=1, rng=0)
    a.tell([0.5], 0.0)
    for x in np.linspace(0, 1, 101):
        a.tell([x], None)
    assert Box([[0.0, 1.0]]).inside(a.ask()[None]).all()


@pytest.mark.parametrize("settings", [{}, {"outputs": "raw"}, {"inputs": "raw"}])
@pytest.mark.parametrize(("x_unit", "y_unit"), [(1e-12, 1e12), (1e12, 1e-12), (37.0, 1.0)])
def test_units_are_of_no_consequence_whatever_models_see(settings, x_unit, y_unit):
    box, found = np.array([[-2.0, 2.0], [0.0, 1.0]]), []
    for x, y in ((1.0, 1.0), (x_unit, y_unit)):
        scale = x if "inputs" in settings else 1.0
        noise = 0.01 * y**2 if "outputs" in settings else 0.01
        kernels = [Kernel("rbf", length_scale=0.4 * scale), Kernel("matern-5/2")]
        a = EGPTS(x * box, kernels, noise_var=noise, refit_every=3, **settings, **SMALL)
        for _ in range(9):
            query = a.ask()
            a.tell(query, y * f(query / x))
        found.append(a.data()[0] / x)
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_observations_that_were_all_alike_are_fitted_anew_once_they_differ():
    a = EGPTS(BOX, DICTIONARY, refit_every=0, **SMALL)
    for _ in range(4):
        a.tell(a.ask(), 0.0)
    a.ask()
    assert not a.scaling.informed
    a.tell([0.1, 0.1], 1e-12)
    a.ask()
    assert a.scaling.scale == pytest.approx(0.4e-12)
    model = a.ensemble
    a.tell([0.2, 0.2], 2e-12)
    a.ask()
    assert a.ensemble is model


def test_one_observation_is_scale_enough_where_models_see_it_raw():
    a = EGPTS(BOX, DICTIONARY, refit_every=0, outputs="raw", **SMALL | {"n_init": 1})
    a.tell([0.1, 0.1], 2.0)
    a.ask()
    model = a.ensemble
    a.tell([0.2, 0.2], 1.0)
    a.ask()
    assert a.ensemble is model
