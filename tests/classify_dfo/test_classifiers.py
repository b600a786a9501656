"""Consensus rules, forests, logistic models, the multiplier bootstrap."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from fivebo.classify_dfo import ForestConsensus, Logistic, LogisticEnsemble, MultiplierBootstrap
from fivebo.classify_dfo.classifiers import (
    LARGEST_SEED,
    RULES,
    consensus,
    fit_logistic,
    margins,
)

RNG = np.random.default_rng(0)
X = RNG.random((120, 4))
Z = (X[:, 0] + 0.3 * RNG.standard_normal(120) > 0.5).astype(int)
NEW = RNG.random((300, 4))


@pytest.mark.paper("classify_dfo", "s4-rf", "s4-share", "s4-readings")
@pytest.mark.parametrize("n_trees", [4, 10, 100])
def test_consensus_by_counting_votes(n_trees):
    for n_high in range(n_trees + 1):
        votes = np.array([n_high / n_trees])
        sure_high, sure_low = 4 * n_high >= 3 * n_trees, 4 * n_high <= n_trees
        assert consensus(votes, "high") == sure_high
        assert consensus(votes, "low") == (not sure_low)
        assert consensus(votes, "majority") == (2 * n_high > n_trees)
        assert consensus(votes, "soft") == votes
    if n_trees == 10:
        assert consensus(np.array([0.7, 0.8]), "high").tolist() == [0, 1]  # 8 of 10 trees


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 1), st.floats(0.51, 1))
def test_rules_are_ordered(vote, share):
    high, majority, low = (consensus(np.array([vote]), r, share) for r in RULES[:3])
    assert high <= majority <= low


@pytest.mark.paper("classify_dfo", "s4-votes", "s4-sklearn")
@pytest.mark.parametrize("rule", RULES)
def test_forest_votes_are_the_hard_votes_of_scikit_learns_trees(rule):
    h = ForestConsensus(rule=rule, n_trees=15).fit(X, Z, np.random.default_rng(3))(NEW)
    seed = int(np.random.default_rng(3).integers(LARGEST_SEED))
    forest = RandomForestClassifier(n_estimators=15, random_state=seed).fit(X, Z)
    votes = np.mean([tree.predict(NEW) for tree in forest.estimators_], axis=0)
    np.testing.assert_array_equal(h, consensus(votes, rule))


@pytest.mark.paper("classify_dfo", "s4-votes")
def test_leaves_are_pure_so_hard_votes_are_the_averaged_probabilities():
    forest = RandomForestClassifier(n_estimators=10, random_state=1).fit(X, Z)
    votes = np.mean([tree.predict(NEW) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(NEW)[:, 1], votes, atol=1e-12)


@pytest.mark.paper("classify_dfo", "s4-single")
def test_single_logistic_is_scikit_learns_prediction():
    h = Logistic(C=2.0).fit(X, Z, None)(NEW)
    np.testing.assert_array_equal(h, LogisticRegression(C=2.0).fit(X, Z).predict(NEW))


@pytest.mark.paper("classify_dfo", "s4-tuned")
def test_ensemble_members_are_fits_to_resamples():
    h = LogisticEnsemble("soft", n_models=7, C=1.0).fit(X, Z, np.random.default_rng(2))(NEW)
    draws = np.random.default_rng(2).integers(120, size=(7, 120))
    votes = [LogisticRegression().fit(X[d], Z[d]).predict(NEW) for d in draws]
    assert np.abs(h - np.mean(votes, axis=0)).max() <= 1 / 7 + 1e-12  # a point on a boundary
    assert (h == np.mean(votes, axis=0)).mean() > 0.98


def test_labels_of_one_kind_give_the_constant_classifier():
    for z, expected in ((np.zeros(120), 0), (np.ones(120), 1)):
        assert (margins(fit_logistic(X, z, 1.0), NEW) > 0).all() == expected


@pytest.mark.paper("classify_dfo", "s3-likelihood", "s3-step2", "s3-step3")
def test_bootstrap_parameters_scale_about_the_fit_without_weights():
    u = np.random.default_rng(1).uniform(-1, 1, (5, 120))
    centre, one = MultiplierBootstrap(scale=1.0).thetas(X, Z, u)
    _, three = MultiplierBootstrap(scale=3.0).thetas(X, Z, u)
    np.testing.assert_allclose(three - centre, 3 * (one - centre), rtol=1e-9, atol=1e-12)
    same, nothing = MultiplierBootstrap().thetas(X, Z, np.zeros((1, 120)))
    np.testing.assert_allclose(nothing[0], same, rtol=1e-12)


@pytest.mark.paper("classify_dfo", "s3-likelihood")
def test_weighted_fit_minimises_the_weighted_loss():
    u = np.random.default_rng(4).uniform(-1, 1, 120)
    C = 5.0

    def loss(theta):
        signs = 2 * Z - 1
        losses = np.log1p(np.exp(-signs * margins(theta, X)))
        return C * ((1 + u) * losses).sum() + 0.5 * theta[:-1] @ theta[:-1]

    best = fit_logistic(X, Z, C, 1 + u)
    for direction in np.eye(5):
        slope = (loss(best + 1e-5 * direction) - loss(best - 1e-5 * direction)) / 2e-5
        assert abs(slope) < 1e-4 * C * 120  # the gradient that scikit-learn stops at


@pytest.mark.paper("classify_dfo", "s3-loss")
def test_the_loss_majorises_the_errors_in_base_2_and_not_in_natural_logs():
    margin = np.linspace(-5, 5, 101)
    loss = np.log1p(np.exp(-margin))
    assert (loss / np.log(2) >= (margin < 0)).all()
    assert loss[margin < 0].min() < 1


@pytest.mark.paper("classify_dfo", "s3-step4", "s22-abstain")
def test_bootstrap_decides_only_unanimously():
    classifier = MultiplierBootstrap(n_draws=9, scale=2.0, C=10.0)
    h = classifier.fit(X, Z, np.random.default_rng(5))(NEW)
    u = np.random.default_rng(5).uniform(-1, 1, (9, 120))
    _, theta = classifier.thetas(X, Z, u)
    expected = [all(x @ t[:-1] + t[-1] > 0 for t in theta) for x in NEW]
    np.testing.assert_array_equal(h, expected)


@pytest.mark.paper("classify_dfo", "s3-scale")
def test_points_decided_as_the_centre_says_only_shrink_with_the_scale():
    u = np.random.default_rng(6).uniform(-1, 1, (20, 120))
    decided = []
    for scale in (0.5, 1.0, 2.0):
        centre, theta = MultiplierBootstrap(scale=scale).thetas(X, Z, u)
        signs = np.sign(margins(theta, NEW))
        decided.append((signs == np.sign(margins(centre, NEW))[:, None]).all(axis=1))
    assert (decided[0] >= decided[1]).all()
    assert (decided[1] >= decided[2]).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ForestConsensus(rule="hgih"), "did you mean 'high'"),
        (lambda: ForestConsensus(share=0.5), r"share must lie in \(0.5, 1\]"),
        (lambda: ForestConsensus(n_trees=0), "n_trees must be an integer >= 1"),
        (lambda: LogisticEnsemble(C=0), "C must lie in"),
        (lambda: MultiplierBootstrap(scale=-1), "scale must lie in"),
    ],
)
def test_wrong_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize(
    "classifier", [ForestConsensus(), Logistic(), LogisticEnsemble(), MultiplierBootstrap(9)]
)
def test_every_classifier_is_constant_on_labels_of_one_kind(classifier, label):
    h = classifier.fit(X, np.full(120, label), np.random.default_rng(0))
    assert (h(NEW) == label).all()


@pytest.mark.paper("classify_dfo", "lem-a8", "lem-a9")
def test_perturbed_fits_approach_the_fit_and_faster_their_expansion():
    """From 50 to 800 points the first distance falls about 4 times, the second about 16 times."""
    rng, means = np.random.default_rng(8), []
    for n in (50, 800):
        distances = []
        for _ in range(12):
            rows = rng.uniform(-1, 1, (n, 2))
            z = (rng.random(n) < 1 / (1 + np.exp(-rows @ [1.0, -1.0]))).astype(int)
            u = rng.uniform(-1, 1, n)
            centre, (drawn,) = MultiplierBootstrap(C=1e3).thetas(rows, z, u[None])
            full = np.column_stack([rows, np.ones(n)])
            share = 1 / (1 + np.exp(-full @ centre))
            hessian = (full * (share * (1 - share))[:, None]).T @ full / n
            expansion = centre - np.linalg.solve(hessian, (u * (share - z)) @ full / n)
            distances.append([np.linalg.norm(drawn - x) for x in (centre, expansion)])
        means.append(np.median(distances, axis=0))
    to_centre, to_expansion = means[0] / means[1]
    assert 2 < to_centre < 7
    assert to_expansion > 8
    assert (means[1][1] < 0.1 * means[1][0]).all()
