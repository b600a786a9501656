"""Synthetic functions, the robot, tuning tasks and the bundled data."""

import gzip

import numpy as np
import pytest

from fivebo.common.lab import datasets
from fivebo.common.search.rng import rng_for
from fivebo.egpbo import problems, robot, tuning
from tests.conftest import load_script


def draw(problem, seed=0):
    return problem.draw(rng_for("egpbo", "test", "problems", seed, "instance"))


MAXIMISERS = {
    "ackley": np.zeros(5),
    "zakharov": np.zeros(2),
    "drop-wave": np.zeros(2),
    "eggholder": np.array([512.0, 404.2319]),
}


@pytest.mark.paper(
    "egpbo", "tab3-ackley", "tab3-zakharov", "tab3-drop-wave", "tab3-eggholder", "s51-sign"
)
@pytest.mark.parametrize("name", MAXIMISERS)
def test_synthetic_functions_reach_their_optimum_and_no_more(name):
    instance = draw(problems.SyntheticProblem(name))
    assert instance.truth(MAXIMISERS[name]) == pytest.approx(instance.optimum, abs=1e-4)
    X = instance.box.from_unit(np.random.default_rng(0).random((200_000, instance.box.dim)))
    assert instance.truth(X).max() <= instance.optimum
    assert instance.direction == "max"


@pytest.mark.paper("egpbo", "tab3-ackley", "tab3-zakharov", "tab3-drop-wave", "tab3-eggholder")
def test_synthetic_functions_at_points_worked_by_hand():
    assert problems.ackley(np.ones(5)) == pytest.approx(20 * (np.exp(-0.2) - 1))  # cosines are 1
    root = np.sqrt((9 + 4 + 1 + 1 + 1) / 5)
    halves = np.array([3.0, 2.0, 1.0, 1.0, 1.0]) / 2  # cos(pi k) is -1 for odd k
    expected = 20 * np.exp(-0.2 * root / 2) + np.exp((4 * -1 + 1) / 5) - 20 - np.e
    assert problems.ackley(halves) == pytest.approx(expected)
    assert problems.zakharov([1.0, 1.0]) == pytest.approx(-(2 + 1.5**2 + 1.5**4))
    assert problems.zakharov([1.0, -1.0, 2.0]) == pytest.approx(-(6 + 2.5**2 + 2.5**4))
    assert problems.drop_wave([3.0, 4.0]) == pytest.approx((1 + np.cos(60)) / 14.5)
    assert problems.eggholder([0.0, 0.0]) == pytest.approx(47 * np.sin(np.sqrt(47)))
    expected = 53 * np.sin(np.sqrt(58)) + 10 * np.sin(np.sqrt(43))
    assert problems.eggholder([10.0, 6.0]) == pytest.approx(expected)


@pytest.mark.paper("egpbo", "tab3-ackley", "tab3-zakharov", "tab3-drop-wave", "tab3-eggholder")
def test_boxes_and_dimensions_of_the_synthetic_functions():
    boxes = {"ackley": (5, -32.768, 32.768), "zakharov": (2, -5, 10),
             "drop-wave": (2, -5.12, 5.12), "eggholder": (2, -512, 512)}  # fmt: skip
    for name, (dim, lower, upper) in boxes.items():
        box = draw(problems.SyntheticProblem(name)).box
        assert box.lower.tolist() == [lower] * dim
        assert box.upper.tolist() == [upper] * dim
    assert draw(problems.SyntheticProblem("drop-wave")).noise_std == 0.02


def test_settings_of_synthetic_functions():
    assert draw(problems.SyntheticProblem("zakharov", dim=4)).box.dim == 4
    assert draw(problems.SyntheticProblem("ackley", limits=(-5.0, 10.0))).box.upper[0] == 10
    with pytest.raises(ValueError, match="2 inputs"):
        draw(problems.SyntheticProblem("drop-wave", dim=3))


@pytest.mark.paper("egpbo", "s2-observations", "s5-noise", "code-noise-shared")
def test_noise_has_the_stated_standard_deviation_and_is_independent():
    instance = draw(problems.SyntheticProblem("ackley"))
    rng = np.random.default_rng(0)
    y = np.array([instance.observe(np.zeros(5), rng) for _ in range(20_000)])
    assert y.std() == pytest.approx(0.2, rel=0.03)
    assert abs(np.corrcoef(y[:-1], y[1:])[0, 1]) < 0.03


def arctan(rx, ry):
    return float(np.arctan(ry / rx))


PUSHES = [
    ((-3, 2, 10), (1.22654, -0.81769)),
    ((-3, 2, 30), (6.3114, -4.2076)),
    ((4, 0.5, 5), (0, 0)),
    ((1.2, 0.2, 20), (-6.0312, -1.0052)),
    ((-3, 2, 10, arctan(-3, 2)), (5.67306, -3.78204)),
    ((-4, -1, 22.2, arctan(-4, -1)), (15.70075, 3.92519)),
    ((-3, 2, 12, 0), (3.97123, -0.63019)),
    ((-3, 2, 12, np.pi / 4), (5.44626, -5.13175)),
    ((-3, 2, 12, 3 * np.pi / 4), (6.150, -5.382)),
    ((4, 1, 15, 2.0), (-7.45915, -3.1277)),
]


@pytest.mark.paper(
    "egpbo", "s52-world", "s52-3d", "s52-4d", "s52-angle", "s52-speed", "s52-coasting"
)
@pytest.mark.parametrize(("x", "end"), PUSHES, ids=str)
def test_pushes_end_where_the_public_simulator_ends_them(x, end):
    np.testing.assert_allclose(robot.push(x), end, atol=1e-3)
    np.testing.assert_array_equal(robot.push(x), robot.push(x))


@pytest.mark.paper("egpbo", "s52-control")
def test_speeds_of_the_hand():
    _, speeds = robot.push((-5, 0, 6), trace=True)
    assert speeds[0] == pytest.approx(4 / 3, abs=1e-4)  # first step from rest
    assert speeds[50] == pytest.approx(5 - 0.02 / (0.3 * 0.12), abs=1e-3)  # free
    _, speeds = robot.push((-3, 0, 30), trace=True)
    assert speeds[250] == pytest.approx(5 - 0.07 / 0.036, abs=1e-2)  # pushing the object
    coasting = np.diff(robot.push((5, 0, 5), trace=True)[1][52:70])
    assert coasting[coasting < 0].max() == pytest.approx(-0.1667, abs=1e-3)


@pytest.mark.paper("egpbo", "s52-control", "s52-coasting")
@pytest.mark.parametrize(("duration", "steps"), [(1.0, 10), (2.39, 23), (30, 300)])
def test_a_push_has_whole_steps_and_one_second_of_coasting(duration, steps):
    _, speeds = robot.push((5, 5, duration), trace=True)
    assert len(speeds) == steps + 100
    assert speeds.argmax() == pytest.approx(steps - 1, abs=steps - 10)  # it slows down after them


@pytest.mark.paper("egpbo", "s52-inputs", "s52-3d", "s52-4d")
def test_inputs_of_the_robot():
    boxes = [draw(problems.RobotProblem(n_inputs=n)).box for n in (3, 4)]
    assert [box.lower.tolist() for box in boxes] == [[-5, -5, 1], [-5, -5, 1, 0]]
    assert [box.upper.tolist() for box in boxes] == [[5, 5, 30], [5, 5, 30, 2 * np.pi]]


def test_a_hand_on_an_axis_or_at_the_origin_is_no_fault():
    for x in ((0, 3, 5), (0, 0, 5), (0.0, 0.0, 5, 1.0)):
        assert np.isfinite(robot.push(x)).all()


@pytest.mark.paper("egpbo", "s52-goals", "s52-noise", "s52-score", "s52-optimum")
def test_robot_regret_is_that_of_a_push_without_noise():
    instance = draw(problems.RobotProblem(n_inputs=3))
    x = np.array([-3.0, 2.0, 10.0])
    truth = -np.linalg.norm(robot.push(x) - instance.goal)
    assert instance.truth(x) == truth == instance.truth(x)
    rng = np.random.default_rng(0)
    observed = [instance.observe(x, rng) for _ in range(60)]
    assert np.std(observed) > 0.15
    quiet = draw(problems.RobotProblem(n_inputs=3, push_noise=0.0, noise_std=0.0))
    assert quiet.observe(x, rng) == truth
    goals = np.array([draw(problems.RobotProblem(), seed).goal for seed in range(300)])
    assert -5 <= goals.min() < -4.5
    assert 4.5 < goals.max() <= 5


@pytest.mark.paper("egpbo", "eq-7")
def test_functions_of_the_prior_come_from_their_member():
    problem = problems.PriorProblem(member=1, sup_samples=4)
    values = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        path = problem.path(problem.kernels()[1], rng)
        values.append(path(np.array([[0.2, 0.2], [0.6, 0.2]])))
    covariance = np.cov(np.transpose(values))
    assert covariance[0, 0] == pytest.approx(1, abs=0.3)
    assert covariance[0, 1] == pytest.approx(np.exp(-0.5), abs=0.3)
    instance = draw(problem)
    X = np.random.default_rng(9).random((3000, 2))
    assert max(instance.truth(x) for x in X) <= instance.optimum + 1e-6
    assert {draw(problems.PriorProblem(sup_samples=2), s).member for s in range(12)} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"families": ("rbf",)}, "same length"),
        ({"families": ("cosine",), "length_scales": (1.0,)}, "family"),
        ({"member": 4}, "member"),
    ],
)
def test_bad_dictionaries_of_the_prior_are_refused(settings, match):
    with pytest.raises(ValueError, match=match):
        problems.PriorProblem(**settings)


SIZES = {
    "iris": (150, 4, 3), "wine": (178, 13, 3), "breast-cancer": (569, 30, 2),
    "transportation": (1000, 12, 5),
}  # fmt: skip


@pytest.mark.paper("egpbo", "s53-data", "s53-transportation", "s53-split")
@pytest.mark.parametrize("name", SIZES)
def test_data_sets_and_their_splits(name):
    X, y = tuning.load(name)
    assert (*X.shape, len(set(y))) == SIZES[name]
    parts = tuning.split(name, 3, 0.3)
    assert len(parts[1]) == pytest.approx(0.3 * len(X), abs=1)
    assert np.isfinite(parts[0]).all()
    assert np.isfinite(parts[1]).all()
    np.testing.assert_allclose(parts[0].mean(0), 0, atol=1e-9)
    shares = [np.unique(part, return_counts=True)[1] / len(part) for part in parts[2:]]
    np.testing.assert_allclose(*shares, atol=0.02)


@pytest.mark.paper("egpbo", "tab1-fnn", "tab1-svm", "tab1-gb", "s53-score", "s53-repetition")
@pytest.mark.parametrize("model", tuning.SPACES)
def test_tuning_tasks_are_functions_of_the_hyperparameters(model):
    instance = draw(tuning.TuningProblem(model, "wine", max_epochs=20))
    middle = instance.box.from_unit(np.full(instance.box.dim, 0.5))
    first = instance.truth(middle)
    assert 0.2 < first <= 1
    tuning.accuracy.cache_clear()
    assert instance.truth(middle) == first
    assert instance.observe(middle, np.random.default_rng(0)) == first
    assert np.isnan(instance.optimum)
    for corner in (np.zeros(instance.box.dim), np.ones(instance.box.dim)):
        assert 0 <= instance.truth(instance.box.from_unit(corner)) <= 1


@pytest.mark.paper("egpbo", "tab1-fnn", "tab1-svm", "tab1-gb", "s53-models")
def test_classifiers_and_the_ranges_of_their_hyperparameters():
    ranges = {
        "fnn": [(2, 100), (2, 100), (-4, -1), (-6, -1)],
        "svm": [(-2, 3), (-4, 1)],
        "gb": [(0.1, 10), (10, 100), (1, 10)],
        "gb-sane": [(-3, 0), (10, 100), (1, 10)],
    }
    names = {"fnn": "MLPClassifier", "svm": "SVC"}
    for model, limits in ranges.items():
        box = draw(tuning.TuningProblem(model)).box
        assert list(zip(box.lower, box.upper, strict=True)) == limits
        made = tuning.classifier(model, tuning.hyperparameters(model, box.lower), 0, 60)
        assert type(made).__name__ == names.get(model, "HistGradientBoostingClassifier")
    network = tuning.classifier("fnn", tuning.hyperparameters("fnn", [5, 7, -2, -3]), 0, 60)
    assert network.hidden_layer_sizes == (5, 7)
    assert (network.learning_rate_init, network.alpha, network.max_iter) == (0.01, 0.001, 60)


def test_hyperparameters_are_rounded_or_powers_of_ten():
    assert tuning.hyperparameters("gb", [0.1, 99.6, 1.2]) == {
        "learning_rate": 0.1, "trees": 100, "depth": 1,
    }  # fmt: skip
    assert tuning.hyperparameters("svm", [2.0, -1.0]) == {"C": 100.0, "gamma": 0.1}


def test_bundled_sample_matches_its_provenance_and_names_nobody():
    name = "transportation/tmd_sample.csv.gz"
    text = (datasets.BUNDLED / "transportation/PROVENANCE.md").read_text()
    assert datasets.bundled_sums()[name] in text
    lines = (
        gzip.decompress(datasets.verify_file(f"data/bundled/{name}").read_bytes())
        .decode()
        .splitlines()
    )
    assert "user" not in lines[0]
    classes = [line.rpartition(",")[2] for line in lines[1:]]
    assert {c: classes.count(c) for c in set(classes)} == dict.fromkeys(
        ("Bus", "Car", "Still", "Train", "Walking"), 200
    )


def test_the_sample_is_derived_from_either_raw_layout(tmp_path, monkeypatch):
    derive = load_script("data/derive_transportation.py")
    rows = [[f"{i}.{k}" for k in range(12)] + [f"C{i % 2}"] for i in range(900)]
    prefixed = [c if c.startswith("sound") else f"android.sensor.{c}" for c in derive.COLUMNS]
    layouts = [
        (["time", *prefixed, "target"], [["0", *row] for row in rows]),
        (["id", "user", *prefixed, "target"], [["1", "name", *row] for row in rows]),
    ]
    found = []
    for layout in layouts:
        monkeypatch.setattr(derive, "raw_table", lambda layout=layout: layout)
        found.append(gzip.decompress(derive.derived()).decode())
    assert found[0] == found[1]
    assert "name" not in found[1]
    assert len(found[0].splitlines()) == 401


@pytest.mark.paper("egpbo", "thm-1-check")
def test_optimum_of_a_draw_of_the_prior_is_its_maximum_even_below_zero():
    problem = problems.PriorProblem(member=1, length_scales=(0.1, 0.8, 0.2, 0.2), sup_samples=2)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 20)] * 2), -1).reshape(-1, 2)
    below = 0
    for seed in range(25):
        instance = draw(problem, seed)
        largest = max(instance.truth(x) for x in grid)
        assert largest - 1e-9 <= instance.optimum < largest + 0.01
        below += instance.optimum < 0
    assert below


def test_noise_is_a_standard_deviation():
    for problem in (problems.SyntheticProblem(noise_std=-1.0), problems.RobotProblem(noise_std=-1)):
        with pytest.raises(ValueError, match="noise_std must be at least 0"):
            draw(problem)
    with pytest.raises(ValueError, match="sup_samples"):
        problems.PriorProblem(sup_samples=0)
