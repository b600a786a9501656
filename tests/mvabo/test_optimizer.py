"""What mvabo adds to the contract: failures with and without w, fits, posteriors, a box."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from fivebo.common.gp.kernels import Matern, SquaredExponential
from fivebo.common.gp.posterior import GP
from fivebo.common.gp.product import Product
from fivebo.common.search.domains import Box
from fivebo.mvabo import (
    MOMVABO,
    MTMVABO,
    ContinuousMTMVABO,
    NoisyInputDomain,
    RandomSampling,
    TheoryBeta,
    UncertainDomain,
    squared_exponential,
)
from tests.mvabo.conftest import P, W, X

NOISE_VAR = 1e-2


def f(x, w):
    return float(np.sin(4 * x) * (1 + 0.5 * w) + 0.3 * w)


def settings(**more):
    return {"noise_var": NOISE_VAR, "beta_sqrt": 2.0, "rng": 5} | more


def drive(optimizer, rounds, y=f):
    draw = np.random.default_rng(3)
    for _ in range(rounds):
        query, j = optimizer.ask(), draw.choice(len(W), p=P)
        x, w = query if isinstance(query, tuple) else (query, W[[j]])
        optimizer.tell((x, w), y(x[0], w[0]))
    return optimizer


def on_box(**more):
    return ContinuousMTMVABO([[0, 1]], W, P, squared_exponential(1.0, 0.3, 0.6), **settings(**more))


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_designs_that_tie_but_for_rounding_tie_in_all_units(unit):
    """Once: values within 1e-12 of each other tied, whatever the unit of y."""
    domain = UncertainDomain(np.linspace(-1, 1, 7) / 3, W, P)
    kernel, asked = squared_exponential(unit**2, 0.1, 0.6), set()
    for seed in range(20):
        optimizer = MTMVABO(domain, kernel, **settings(noise_var=1e-2 * unit**2, rng=seed))
        for i in range(1, 6):
            optimizer.tell((domain.X.points[i], W[1]), -unit * 0.3)
        asked.add(float(optimizer.ask()[0]))
    assert asked == {-1 / 3, 1 / 3}


# failures


def test_a_failure_is_told_of_the_design_or_of_the_pair(domain, kernel):
    optimizer = MTMVABO(domain, kernel, **settings())
    for told in (lambda x: x, lambda x: (x, W[1]), lambda x: [x.tolist(), [W[1]]]):
        optimizer.tell(told(optimizer.ask()), None)
        assert optimizer.pending == []
    frame = optimizer.result()
    assert frame["x_1"].nunique() == 3
    assert frame["w_1"].isna().tolist() == [True, False, False]
    assert len(optimizer.own_bounds()) == len(optimizer.queried) == 0
    assert optimizer.gap() == np.inf


def test_a_failed_design_comes_back_once_it_has_a_value(domain, kernel):
    optimizer = MTMVABO(domain, kernel, **settings())
    failed = optimizer.ask()
    optimizer.tell((failed, W[0]), None)
    assert len(optimizer.failed) == 1
    optimizer.tell((failed, W[2]), 1.0)
    assert optimizer.failed == []


def test_in_the_simulator_setting_the_pair_is_passed_over_and_not_the_design(kernel):
    alone = UncertainDomain([[0.5]], W, P)
    optimizer, seen = MTMVABO(alone, kernel, **settings(w_rule="sd-p")), []
    for _ in range(4):
        query = optimizer.ask()
        seen.append(float(query[1][0]))
        optimizer.tell(query, None)
    assert sorted(seen) == sorted(W)
    optimizer.ask()  # all have failed: none is passed over


@pytest.mark.parametrize("cls", [MTMVABO, MOMVABO, RandomSampling])
def test_all_designs_are_tried_before_one_is_tried_again(domain, kernel, cls):
    optimizer, seen = cls(domain, kernel, **settings()), []
    for _ in X:
        seen.append(float(optimizer.ask()[0]))
        optimizer.tell(optimizer.ask(), None)
    assert sorted(seen) == X.tolist()
    assert optimizer.ask()[0] in X


def test_on_a_box_what_is_near_a_failure_is_passed_over():
    optimizer = drive(on_box(), 4)
    seen = []
    for _ in range(5):
        x = optimizer.ask()
        assert all(abs(x[0] - other) > 0.01 for other in seen)
        seen.append(x[0])
        optimizer.tell(x, None)


# fits


@pytest.mark.paper("mvabo", "s51-ml", "s51-ml-every", "s51-ml-start")
def test_the_kernel_is_fitted_every_so_many_steps_and_a_failed_fit_is_counted(
    domain, kernel, monkeypatch
):
    optimizer = MTMVABO(domain, kernel, refit_every=4, **settings())
    kernels = []
    for _ in range(9):
        drive(optimizer, 1)
        kernels.append(optimizer.model.kernel)
    assert [a is b for a, b in zip(kernels, [optimizer._first_kernel, *kernels], strict=False)] == [
        True, True, True, False, True, True, True, False, True
    ]  # fmt: skip

    def fails(*_):
        raise np.linalg.LinAlgError("no start gave a finite marginal likelihood")

    monkeypatch.setattr("fivebo.mvabo.optimizer.fit", fails)
    good = optimizer.model.kernel
    drive(optimizer, 3)
    assert optimizer.model.kernel is good
    assert optimizer.n_failed_fits == 1
    assert optimizer.result()["failed_fits"].tolist() == [0] * 11 + [1]


def test_a_fit_needs_a_kernel_that_knows_its_slopes(domain, kernel):
    for unfit in (RBF(0.3), Product(RBF(0.3), RBF(0.6))):
        with pytest.raises(ValueError, match="squared_exponential"):
            MTMVABO(domain, unfit, refit_every=5, **settings())
    plain = drive(MTMVABO(domain, RBF([0.3, 0.6]), **settings()), 9)
    assert plain.result().equals(drive(MTMVABO(domain, kernel, **settings()), 9).result())
    rough = Product(Matern(0.3, nu=2.5), Matern(0.6, nu=1.5))
    fitted = drive(MTMVABO(domain, rough, refit_every=5, **settings()), 10).model.kernel
    assert fitted.first.nu == 2.5
    assert fitted.first.length_scale != 0.3


@pytest.mark.paper("mvabo", "s51-ml-bounds")
@pytest.mark.parametrize(("x_unit", "y_unit"), [(1e6, 1.0), (1.0, 1e4), (1e-12, 1e12)])
def test_what_is_fitted_follows_the_units(x_unit, y_unit):
    """Once: lengthscale 20.1 on a domain of 10^6, variance 2981 of 10^8, in silence."""

    def fitted(x_unit, y_unit):
        designs, omega = x_unit * np.linspace(0, 1, 30), x_unit * np.array([-0.1, 0.0, 0.1])
        domain = UncertainDomain(designs, omega, [0.25, 0.5, 0.25])
        kernel = squared_exponential(y_unit**2, 0.2 * x_unit, 0.3 * x_unit)
        optimizer = MTMVABO(domain, kernel, noise_var=1e-4 * y_unit**2, refit_every=10, rng=0)
        for t in range(30):
            x, w = designs[7 * t % 30], omega[t % 3]
            optimizer.tell((x, w), y_unit * np.sin(8 * x / x_unit) * (1 + 5 * w / x_unit))
        found = optimizer.model.kernel
        scales = found.first.length_scale, found.second.length_scale
        return np.array([*scales, found.first.variance**0.5]), optimizer.n_fits_at_limit

    plain, at_limit = fitted(1.0, 1.0)
    assert 0.1 < plain[0] < 0.4  # a sine of wavelength 0.79
    assert 0.3 < plain[2] < 10
    found = fitted(x_unit, y_unit)
    np.testing.assert_allclose(found[0], plain * [x_unit, x_unit, y_unit], rtol=1e-3)
    assert found[1] == at_limit < 3


def test_a_fit_that_ends_at_a_limit_is_counted(domain, kernel):
    optimizer = MTMVABO(domain, kernel, refit_every=8, **settings(noise_var=1e-4))
    drive(optimizer, 8, y=lambda x, w: x)  # no w in it: its lengthscale has no end
    assert optimizer.n_fits_at_limit == 1
    assert optimizer.result()["fits_at_limit"].tolist() == [0] * 7 + [1]


@pytest.mark.parametrize("value", [0.0, 0.1, -1e12])
def test_equal_observations_and_a_single_one_are_not_fitted(domain, kernel, value):
    optimizer = drive(MTMVABO(domain, kernel, refit_every=1, **settings()), 6, lambda *_: value)
    assert optimizer.model.kernel is optimizer._first_kernel
    assert optimizer.n_failed_fits == optimizer.n_fits_at_limit == 0


def test_a_lengthscale_along_which_nothing_varies_is_held(kernel):
    alone = UncertainDomain(X, [[0.2]], [1.0])
    optimizer = MTMVABO(alone, kernel, refit_every=4, **settings())
    for _ in range(8):
        x = optimizer.ask()
        optimizer.tell((x, 0.2), f(x[0], 0.2))
    fitted = optimizer.model.kernel
    assert fitted.second.length_scale == pytest.approx(0.6)
    assert fitted.first.length_scale != 0.3


def test_noisy_inputs_are_fitted_too():
    axis = np.linspace(-1, 1, 21)
    domain = NoisyInputDomain(axis[2:-2], axis[9:12], [0.25, 0.5, 0.25])
    optimizer = MTMVABO(domain, SquaredExponential(0.05, 4.0), refit_every=8, **settings())
    draw = np.random.default_rng(0)
    for _ in range(16):
        x, xi = optimizer.ask(), domain.W.points[draw.choice(3)]
        optimizer.tell((x, xi), np.sin(5 * (x[0] + xi[0])))
    assert 0.1 < optimizer.model.kernel.length_scale < 1.0
    assert optimizer.n_failed_fits == 0


@pytest.mark.paper("mvabo", "s332-noisy-input")
@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_noisy_inputs_meet_in_all_units(unit):
    axis = unit * (np.arange(1025) / 1024)
    domain = NoisyInputDomain(axis[2:-2], axis[:5] - axis[2], np.full(5, 0.2))
    assert len(domain.inputs) == 1025
    shifted = NoisyInputDomain(axis[2:-2] + 7 * unit, axis[:5] - axis[2], np.full(5, 0.2))
    np.testing.assert_array_equal(domain.where, shifted.where)


# posterior and recommendations


def test_the_posterior_is_the_gps_at_all_or_some_designs(domain, kernel):
    for optimizer in (MTMVABO(domain, kernel, **settings()), on_box()):
        drive(optimizer, 6)
        Z = np.array([[x, w] for x in X[[4, 1]] for w in W])
        told = optimizer.result()
        gp = GP(kernel, NOISE_VAR).condition(told[["x_1", "w_1"]].to_numpy(), told["y"])
        mean, var = gp.predict(Z)
        found = optimizer.posterior(X[[4, 1], None])
        np.testing.assert_allclose(found[0].ravel(), mean, atol=1e-10)
        np.testing.assert_allclose(found[1].ravel(), np.sqrt(var), atol=1e-10)
    optimizer = drive(MTMVABO(domain, kernel, **settings()), 6)
    mean, std = optimizer.posterior()
    assert mean.shape == std.shape == domain.shape
    np.testing.assert_array_equal(mean[[4, 1]], optimizer.posterior(X[[4, 1]])[0])
    mean *= 0
    assert optimizer.model.mean.any()
    with pytest.raises(ValueError, match="not one of the 9 points"):
        optimizer.posterior([[0.03]])
    with pytest.raises(ValueError, match=r"name designs, as an array of shape \(k, 1\)"):
        on_box().posterior()


@pytest.mark.paper("mvabo", "alg1-out", "s5-rule")
def test_by_default_all_data_count(domain, kernel):
    optimizer = MTMVABO(domain, kernel, **settings())
    assert optimizer.recommendation == "final"
    optimizer.tell((X[2], W[1]), -3.0)
    optimizer.tell((X[7], W[1]), 3.0)
    assert optimizer.recommend()[0] == X[7]
    assert optimizer.recommended(rule="online") == 2  # rests on the first only


# a box


@pytest.mark.paper("mvabo", "app-d-mt")
def test_on_a_box_the_design_asked_for_counts_among_the_recommended():
    optimizer = on_box()
    first = optimizer.ask()
    assert optimizer.recommended() == tuple(first)
    for _ in range(3):
        optimizer.tell((optimizer.ask(), W[0]), 0.5)
        x = optimizer.ask()
        asked = [*optimizer.result().filter(like="x_").to_numpy(), x]
        lower = [optimizer.bounds_at(a[None]).scalarized(optimizer.alpha)[0][0] for a in asked]
        assert np.array_equal(optimizer.recommend(), asked[int(np.argmax(lower))])


def test_on_a_box_the_acquisition_is_maximised_beyond_any_grid():
    optimizer, fine = on_box(), np.linspace(0, 1, 2001)[:, None]
    draw = np.random.default_rng(3)
    for _ in range(7):
        x, j = optimizer.ask(), draw.choice(4)
        if optimizer.n_told:
            upper = optimizer.bounds_at(fine).scalarized(0.5)[1]
            here = optimizer.bounds_at(x[None]).scalarized(0.5)[1][0]
            assert here >= upper.max() - 1e-6
        optimizer.tell((x, W[[j]]), f(x[0], W[j]) + 0.1 * draw.standard_normal())
    told = optimizer.result()["x_1"].to_numpy()[:, None]
    low = optimizer.bounds_at(told).scalarized(0.5)[0]
    np.testing.assert_array_equal(optimizer.recommend(), told[low.argmax()])
    with pytest.raises(ValueError, match="lower < upper"):
        ContinuousMTMVABO([[1.0, 0.0]], W, P, squared_exponential(), noise_var=0.1)


def test_on_a_box_all_of_mt_mva_bo_is_there(kernel):
    """On the corners of a grid that holds all told designs, both are the same search."""
    more = settings(w_rule="sd", refit_every=5, beta_sqrt=TheoryBeta(2.0))
    box = drive(ContinuousMTMVABO(Box([[0, 1]]), W, None, kernel, **more), 9)
    told = box.result()
    grid = MTMVABO(UncertainDomain(np.unique(told["x_1"]), W), kernel, **more)
    for x, w, y in told[["x_1", "w_1", "y"]].to_numpy():
        grid.tell((x, w), y)
    np.testing.assert_allclose(grid.own_bounds(), box.own_bounds(), atol=1e-6)
    assert grid.gap() == pytest.approx(box.gap(), abs=1e-6)
    np.testing.assert_array_equal(box.weights, grid.weights)
    assert box.weights.tolist() == (told["w_1"].value_counts(normalize=True)[W]).tolist()
    for rule in box.RULES:
        assert box.recommended(rule=rule)[0] == grid.domain.point(grid.recommended(rule=rule))[0]
    for part in ("first", "second"):
        ours, theirs = (getattr(o.model.kernel, part).length_scale for o in (box, grid))
        assert ours == pytest.approx(theirs, rel=1e-4) or ours != pytest.approx(0.3)


def test_a_kernel_that_is_changed_later_changes_nothing():
    def walk(spoil):
        kernel = squared_exponential(1.0, 0.3, 0.5)
        domain = UncertainDomain(np.linspace(0, 1, 7), np.array([-0.5, 0.5]), np.array([0.5, 0.5]))
        optimizer, asked = MTMVABO(domain, kernel, noise_var=0.01, refit_every=4), []
        if spoil:
            kernel.first.length_scale = 5.0
            kernel.second.variance = 9.0
        for _ in range(9):
            x = optimizer.ask()
            optimizer.tell((x, [0.5]), float(np.sin(5 * x[0])))
            asked.append(float(x[0]))
        return asked

    assert walk(True) == walk(False)
