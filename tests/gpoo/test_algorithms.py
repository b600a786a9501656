"""GPOO and every other search as users and papers know them; GPOO against transcriptions."""

import numpy as np
import pytest

from fivebo.common.search.loop import optimize
from fivebo.gpoo import GPOO, Partition, SquaredExponential, StoOO, TwoStage
from fivebo.gpoo.theory import beta_scaled, beta_union, geometric_delta, lipschitz_delta
from tests.gpoo.conftest import (
    ALL,
    CODE,
    DELTA,
    average,
    drive,
    gpoo,
    pulled,
    rewards,
)
from tests.gpoo.oracles import algorithm_1, code_form

K_SE = SquaredExponential(0.1, 0.5)
BETAS = {"scaled": beta_scaled, "union": lambda t: beta_union(t, p=0.1, arity=2)}


def noisy(seed=4):
    noise = np.random.default_rng(seed)
    return lambda X: float(np.sin(5 * X).mean() + 0.1 * noise.standard_normal())


def run(search, rounds, recommended=None):
    reward = noisy()
    for _ in range(rounds):
        cell = search.ask()
        search.tell(cell, reward(cell.representatives))
        if recommended is not None:
            recommended.append(search.recommend().name)
    return pulled(search), search.recommend().name


@pytest.mark.paper(
    "gpoo", "alg1-l1", "alg1-l2", "alg1-l3", "alg1-l4", "alg1-l5", "alg1-l6", "alg1-l7", "alg1-l8",
    "eq-5", "s3-confidence", "s3-which-history", "s3-beta-time", "s2-reward",
)  # fmt: skip
@pytest.mark.parametrize(("K", "S"), [(2, 1), (2, 5), (3, 2), (5, 4)])
@pytest.mark.parametrize("beta", BETAS.values(), ids=BETAS)
def test_algorithm_1_line_by_line(K, S, beta):
    delta = geometric_delta(3.0, K)
    search = GPOO(Partition(1, K, S), K_SE, noise_var=0.01, delta=delta, beta=beta)
    expected, best, leaves = algorithm_1(
        K_SE, noisy(), K=K, S=S, N=30, noise_var=0.01, delta=delta, beta=beta
    )
    assert run(search, 30) == (expected, best)
    assert [search.nodes[i].name for i in search.leaves()] == [leaf[:2] for leaf in leaves]


@pytest.mark.paper("gpoo", "code-c1", "code-c2", "code-c3", "code-c6", "code-c7-cap")
@pytest.mark.parametrize(("K", "S"), [(2, 1), (2, 5), (3, 2)])
def test_authors_form_step_by_step(K, S):
    search = GPOO(Partition(1, K, S), K_SE, noise_var=0.01, delta=DELTA, beta=beta_scaled, **CODE)
    expected, best, leaves = code_form(
        K_SE, noisy(), K=K, S=S, N=30, noise_var=0.01, delta=DELTA, beta=beta_scaled
    )
    assert run(search, 30) == (expected, best)
    # the test of the last pull has not been made yet
    assert {search.nodes[i].name for i in search.leaves()} == {leaf[:2] for leaf in leaves}


@pytest.mark.paper("gpoo", "code-c7-cap", "code-c1")
def test_cap_on_the_depth_against_the_transcription():
    settings = CODE | {"max_depth": 2}
    search = GPOO(
        Partition(1, 2, 5), K_SE, noise_var=0.01, delta=DELTA, beta=beta_scaled, **settings
    )
    expected, best, _ = code_form(
        K_SE, noisy(), K=2, S=5, N=40, noise_var=0.01, delta=DELTA, beta=beta_scaled, cap=2
    )
    assert run(search, 40) == (expected, best)
    assert max(cell.depth for cell in search.nodes) == 3


@pytest.mark.paper("gpoo", "code-c7-cap")
@pytest.mark.parametrize("cap", [1, 2])
def test_the_cap_is_on_the_node_itself(cap):
    """Nothing to exploit and a delta that every width passes: all leaves end one below the cap."""
    search = gpoo(delta=lambda h: np.full(np.shape(h), 50.0), max_depth=cap)
    for _ in range(40):
        search.tell(search.ask(), 0.0)
    assert {search.nodes[i].depth for i in search.leaves()} == {cap + 1}


@pytest.mark.paper("gpoo", "eq-5", "s3-confidence")
def test_b_values_along_a_run_are_sums_of_their_three_terms():
    search = gpoo()
    drive(search, 12)
    spread = np.sqrt(beta_scaled(13) * search.model.var)
    depths = np.array([cell.depth for cell in search.nodes])
    expected = search.model.mean + spread + 3.0 * 2.0**-depths
    np.testing.assert_allclose(search.b_values(13), expected)
    np.testing.assert_allclose(search.model.std, np.sqrt(search.model.var))


@pytest.mark.paper("gpoo", "s2-one-point")
def test_one_point_a_cell_is_point_feedback_at_the_centre():
    from fivebo.common.gp.posterior import GP

    search = gpoo(Partition(1, 2, 1))
    drive(search, 25)
    cells = [search.nodes[entry.query] for entry in search.told]
    centres = np.array([(cell.low + cell.high) / 2 for cell in cells])
    gp = GP(K_SE, 0.01).condition(centres, rewards(search))
    every = np.array([(c.low + c.high) / 2 for c in search.nodes])
    mean, var = gp.predict(every)
    np.testing.assert_allclose(search.model.mean, mean, atol=1e-9)
    np.testing.assert_allclose(search.model.var, var, atol=1e-10)


@pytest.mark.paper("gpoo", "s3-expansion-equality", "s3-no-discard")
def test_expansion_includes_equality_and_keeps_the_history():
    search = gpoo(Partition(1, 2, 1))
    cell = search.ask()
    width = np.sqrt(beta_scaled(1) * (0.5 - 0.5**2 / 0.51))
    for margin, leaves in ((width, 2), (np.nextafter(width, 0) - 1e-9, 1)):
        other = gpoo(Partition(1, 2, 1), delta=lambda h, m=margin: m * 2.0**-h)
        other.tell(other.ask(), 0.3)
        exact = other.widths(1)[0]
        again = gpoo(Partition(1, 2, 1), delta=lambda h, e=exact: e * 2.0**-h)
        again.tell(again.ask(), 0.3)
        assert len(again.leaves()) == 2  # CI equals delta(0) to the bit
        assert len(other.leaves()) in (leaves, 1)
    search.tell(cell, 0.7)
    children = search.leaves()
    assert (search.model.mean[children] > 0.01).all()  # informed by the parent's pull


@pytest.mark.paper("gpoo", "s3-ties", "s3-fallback")
def test_ties_go_to_the_oldest_leaf_and_an_unexpanded_root_is_recommended():
    search = gpoo(Partition(1, 2, 1), delta=lambda h: 1e-6 * 2.0**-h)
    drive(search, 3)
    assert search.recommend().name == (0, 0)
    fresh = gpoo(Partition(1, 2, 1))
    fresh.tell(fresh.ask(), 0.0)
    assert fresh.ask().name == (1, 0)  # both children are alike


@pytest.mark.paper("gpoo", "s3-non-leaf", "s3-final-posterior")
def test_recommendation_is_the_best_inner_node_under_the_final_posterior():
    search = gpoo()
    drive(search, 40)
    inner = [i for i, leaf in enumerate(search.is_leaf) if not leaf]
    best = max(inner, key=lambda i: search.model.mean[i])
    assert search.recommend().name == search.nodes[best].name
    deepest = gpoo(recommendation="deepest")
    drive(deepest, 40)
    depths = [deepest.nodes[i].depth for i, leaf in enumerate(deepest.is_leaf) if not leaf]
    assert deepest.recommend().depth == max(depths)


@pytest.mark.paper("gpoo", "s3-interval-shrinks", "s4-late-test", "s4-inner-width")
@pytest.mark.parametrize("name", ["gpoo", "gpoo-boxes", "gpoo-square"])
def test_intervals_shrink_with_every_pull_and_stay_within_delta_once_expanded(name):
    search, noise, expanded = ALL[name](), np.random.default_rng(0), {}
    for t in range(1, 41):
        cell = search.ask()
        place = search.pending[0].query
        before, widths = search.model.var.copy(), search.widths(t)
        search.tell(cell, average(cell) + 0.1 * noise.standard_normal())
        after, n = search.model.var, len(before)
        assert (after[:n] <= before + 1e-12).all()
        # the pulled node's falls by a known factor, so that its test comes with a narrower one
        factor = np.sqrt(1 + before[place] / search.noise_var)
        assert widths[place] == pytest.approx(factor * search.widths(t)[place])
        if not search.is_leaf[place]:
            expanded[place] = search.beta(t)
        for inner, beta in expanded.items():
            bound = np.sqrt(search.beta(t) / beta) * search.margins[inner]
            assert search.widths(t)[inner] <= bound * (1 + 1e-9)
    assert len(expanded) > 5


@pytest.mark.paper("gpoo", "s3-non-leaf-precise")
def test_inner_nodes_are_predicted_more_precisely_for_their_depth_than_leaves():
    """CI / delta(h) is at most about 1 for inner nodes and mostly above it for leaves."""
    search = gpoo()
    drive(search, 40)
    leaf = np.array(search.is_leaf)
    ratio = search.widths(40) / search.margins
    assert ratio[~leaf].max() < 1.2
    assert np.median(ratio[leaf]) > np.median(ratio[~leaf])


@pytest.mark.paper("gpoo", "s5-hyperparameters")
@pytest.mark.parametrize("changes", [{}, CODE], ids=["paper", "code"])
def test_hyperparameters_stay_as_given(changes):
    search = gpoo(**changes)
    drive(search, 30)
    gp = search.model.gp
    assert (gp.kernel.length_scale, gp.kernel.variance, gp.noise_var) == (0.1, 0.5, 0.01)


@pytest.mark.paper("gpoo", "s2-tree", "alg1-l2")
def test_one_pull_a_round_and_at_most_one_expansion():
    search = gpoo(Partition(1, 3, 4))
    sizes = []
    for _ in range(30):
        drive(search, 1)
        sizes.append(len(search.leaves()))
    assert set(np.diff(sizes)) <= {0, 2}
    assert sizes[-1] <= 1 + 2 * 30


@pytest.mark.paper("gpoo", "code-c4", "code-c5", "code-c7-base", "code-c9")
@pytest.mark.parametrize(
    "change",
    [
        {"start": "children"},
        {"round_order": "test-pull"},
        {"variance": "predictive"},
        {"noise_var": 0.05},
        {"beta": None},
        {"recommendation": "deepest"},
        {"max_depth": 2},
        {"delta": geometric_delta(3.0, 3)},
    ],
    ids=lambda c: next(iter(c)),
)
def test_every_difference_acts_alone(change):
    plain, changed = gpoo(), gpoo(**change)
    a, b = [], []
    a.append(run(plain, 40, a))
    b.append(run(changed, 40, b))
    assert a != b


@pytest.mark.paper("gpoo", "code-c9")
def test_jitter_changes_the_posterior_a_little_and_nothing_else():
    plain, changed = gpoo(), gpoo(jitter=1e-8)
    assert run(plain, 40) == run(changed, 40)
    difference = np.abs(plain.model.mean - changed.model.mean).max()
    assert 0 < difference < 1e-6
    # it is added to the noise variance of inference
    more, noisier = gpoo(jitter=0.01), gpoo(noise_var=0.02)
    for search in (more, noisier):
        search.tell(search.ask(), 0.3)
    np.testing.assert_array_equal(more.model.mean, noisier.model.mean)
    np.testing.assert_array_equal(more.model.var, noisier.model.var)
    assert gpoo(variance="predictive", jitter=0.01).width_var[0] == pytest.approx(
        gpoo().width_var[0] + 0.01
    )


def test_root_start_with_late_tests_can_go_on():
    """The one combination without an eligible leaf: the children of the only leaf."""
    search = gpoo(round_order="test-pull")
    drive(search, 10)
    assert len(search.result()) == 10


# Laws of every search


def test_ask_repeats_itself_until_told_and_runs_repeat(make):
    a, b = make(), make()
    assert a.ask().name == a.ask().name
    b.ask()
    frame = drive(a, 20)
    assert frame.equals(drive(b, 20))
    assert list(frame["t"]) == list(range(1, 21))
    assert a.recommend().name == b.recommend().name


def test_runs_leave_the_global_generator_alone(make):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    drive(make(), 5)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


BAD = [
    (np.nan, ValueError, r"evaluation 1 at Cell .* y must be finite"),
    (np.inf, ValueError, "finite"),
    ("a", TypeError, "real numbers"),
    (1j, TypeError, "real numbers"),
    ([0.1, 0.2], ValueError, "one number"),
    ([], ValueError, "empty|real"),
]


@pytest.mark.parametrize(("y", "error", "match"), BAD, ids=str)
def test_bad_rewards_are_refused_and_change_nothing(make, y, error, match):
    a, b = make(), make()
    cell = a.ask()
    with pytest.raises((error, TypeError), match=match):
        a.tell(cell, y)
    assert len(a.result()) == 0
    assert drive(a, 6).equals(drive(b, 6))


def test_other_queries_are_refused_and_change_nothing(make):
    a, b = make(), make()
    cell = a.ask()
    with pytest.raises(TypeError, match="must be the cell that ask"):
        a.tell(0.3, 1.0)
    foreign = Partition(1, 2, 4).cell(6, 63)
    if foreign.name != cell.name:
        with pytest.raises(ValueError, match="Tell that one, or withdraw it and ask again"):
            a.tell(foreign, 1.0)
    a.tell(cell, average(cell))
    with pytest.raises(ValueError, match="call ask"):
        a.tell(cell, 1.0)
    c = b.ask()
    b.tell(c, average(c))
    assert drive(a, 6).equals(drive(b, 6))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"noise_var": 0.0}, "noise_var must lie in"),
        ({"noise_var": -1.0}, "noise_var must lie in"),
        ({"start": "leaves"}, "start"),
        ({"round_order": "pull-tests"}, "did you mean 'pull-test'"),
        ({"variance": "both"}, "variance"),
        ({"recommendation": "best"}, "recommendation"),
        ({"delta": lambda h: 0.0}, r"delta\(0\) must lie in"),
        ({"delta": lambda h: np.nan}, r"delta\(0\) must be finite"),
        ({"beta": lambda t: -1.0}, r"beta\(1\) must lie in"),
    ],
)
def test_bad_settings_are_refused_at_construction(changes, match):
    with pytest.raises(ValueError, match=match):
        gpoo(**changes)


def test_boxes_need_a_kernel_with_integrals():
    from sklearn.gaussian_process.kernels import Matern

    with pytest.raises(TypeError, match="closed integrals"):
        GPOO(Partition(1, 2, None), Matern(0.2), noise_var=0.01, delta=DELTA)


def test_any_kernel_of_scikit_learn_does_for_points():
    from sklearn.gaussian_process.kernels import Matern

    partition = Partition(2, 2, 4)
    search = GPOO(
        partition, Matern(0.2, nu=2.5), noise_var=0.01, delta=lipschitz_delta(partition, 5.0)
    )
    drive(search, 12)
    assert len(search.result()) == 12


def test_constant_rewards_and_repeats_run(make):
    a = make()
    for _ in range(20):
        a.tell(a.ask(), 1.0)
    assert len(a.result()) == 20
    if getattr(a, "model", None) is not None:
        mean, std = a.posterior()
        assert np.isfinite(mean).all()
        assert (std >= 0).all()


@pytest.mark.parametrize("cut", [0, 1, 11, 20])
def test_a_killed_run_resumes_to_the_identical_state(make, tmp_path, cut):
    whole = optimize(make(), average, 20, progress=False)
    journal = tmp_path / "run.jsonl"
    optimize(make(), average, cut, journal=journal, progress=False)
    if cut:  # a kill during an evaluation, in the middle of a line
        with open(journal, "a") as file:
            file.write('{"step": 99, "qu')
    resumed = optimize(make(), average, 20, journal=journal, progress=False)
    assert resumed.result().equals(whole.result())
    assert resumed.recommend().name == whole.recommend().name


def test_an_equal_budget_evaluates_nothing_and_a_foreign_journal_is_refused(make, tmp_path):
    journal = tmp_path / "run.jsonl"
    optimize(make(), average, 6, journal=journal, progress=False)

    def forbidden(cell):
        raise AssertionError("evaluated again")

    again = optimize(make(), forbidden, 6, journal=journal, progress=False)
    assert len(again.result()) == 6
    other = gpoo(Partition(1, 5, 9), start="children")
    with pytest.raises(ValueError, match=r"other settings|belongs to"):
        optimize(other, average, 7, journal=journal, progress=False)


@pytest.mark.paper("gpoo", "s2-two-stage")
def test_second_stage_pulls_points_of_the_recommended_cell():
    search = ALL["two-stage"]()
    drive(search, 12)
    cell = search.recommend()
    frame = drive(search, 8)
    points = frame[frame["stage"] == "points"]
    assert len(points) == 8
    assert set(points["low_1"]) <= set(cell.representatives[:, 0])
    assert (points["low_1"] == points["high_1"]).all()
    best = search.recommend().representatives
    assert best[0, 0] in cell.representatives[:, 0]
    counts = points.groupby("low_1").size()
    assert counts[best[0, 0]] == counts.max()  # the half of higher mean is pulled on


@pytest.mark.paper("gpoo", "s2-two-stage")
def test_second_stage_finds_the_best_point_without_noise():
    partition = Partition(1, 2, 8)
    search = TwoStage(gpoo(partition), cell_rounds=5, point_rounds=24)
    for _ in range(29):
        cell = search.ask()
        search.tell(cell, average(cell))
    arms = search.stages[1].nodes
    assert search.recommend().name == max(arms, key=average).name
    with pytest.raises(ValueError, match="representative points"):
        TwoStage(gpoo(Partition(1, 2, None)), cell_rounds=2, point_rounds=2)
    with pytest.raises(ValueError, match="point_rounds must be an integer >= 1"):
        TwoStage(gpoo(), cell_rounds=2, point_rounds=0)


def test_budgets_below_one_are_refused():
    with pytest.raises(ValueError, match="budget must be an integer >= 1"):
        StoOO(Partition(), budget=0, delta=DELTA, noise_std=0.1)
