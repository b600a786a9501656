"""Classifiers h of [CDFO]: forests and logistic ensembles with a consensus, one logistic model.

A classifier is a setting with ``fit(X, z, rng)``; label 1 is high, that is bad. It returns the
decision h, a function from features of shape (m, d) to [0, 1]: the share by which a point is
downweighted. No decision counts as 0 and keeps the weight ([CDFO] Sec. 2.2). A search gives them
features in [0, 1]; penalties, and the single precision of trees, are meant for that.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from fivebo.common.checks import count, one_of, positive

RULES = ("high", "majority", "low", "soft")
"""Readings R1 to R4 of the consensus rule, in this order."""

LARGEST_SEED = 2**31


def consensus(votes, rule="high", share=0.75):
    r"""Turn shares of votes for "high" into the decision h.

    .. math::
        h = 1[v \geq s] \text{ (high)}, \quad 1[v > 1/2] \text{ (majority)}, \quad
        1 - 1[v \leq 1 - s] \text{ (low)}, \quad v \text{ (soft)}

    Source: [CDFO] Sec. 4, "75% of trees agreeing on the label", with Sec. 2.2's rule that only
    points surely above the threshold lose weight: reading R1, "high". R2 "majority" and R4 "soft"
    have no consensus; R3 "low" keeps the weight only of points surely below it.

    Parameters
    ----------
    votes : ndarray of shape (m,)
        Share v of the members that vote 1, in [0, 1].
    rule : {"high", "majority", "low", "soft"}
    share : float
        s, in (1/2, 1].

    Examples
    --------
    >>> consensus(np.array([0.2, 0.5, 0.7, 0.8]), "high").tolist()
    [0.0, 0.0, 0.0, 1.0]
    >>> consensus(np.array([0.2, 0.5, 0.7, 0.8]), "low").tolist()
    [0.0, 1.0, 1.0, 1.0]
    """
    slack = 1e-12  # shares of ten members are not exact binary fractions
    if rule == "high":
        return (votes >= share - slack).astype(float)
    if rule == "majority":
        return (votes > 0.5 + slack).astype(float)
    if rule == "low":
        return (votes > 1 - share + slack).astype(float)
    return votes


@dataclass(frozen=True)
class _Vote:
    """The rule by which several members decide."""

    rule: str = "high"
    share: float = 0.75

    def __post_init__(self):
        one_of(self.rule, "rule", RULES)
        if positive(self.share, "share", upper=1.0, closed=True) <= 0.5:
            raise ValueError(f"share must lie in (0.5, 1], got {self.share:g}")

    def _decide(self, votes, rows):
        return consensus(votes(rows), self.rule, self.share)


@dataclass(frozen=True)
class ForestConsensus(_Vote):
    """classify-rf: the trees of a random forest vote, each by its leaf's label.

    The forest is scikit-learn's with its defaults, but for the number of trees.

    Parameters
    ----------
    rule, share
        See `consensus`.
    n_trees : int
        Of the forest; the default of the paper's time.

    Notes
    -----
    Source: [CDFO] Sec. 4.
    """

    n_trees: int = 10

    def __post_init__(self):
        """Refuse settings out of range."""
        super().__post_init__()
        count(self.n_trees, "n_trees")

    def fit(self, X, z, rng):
        """Fit the forest to labels z of shape (n,); return h."""
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(
            n_estimators=self.n_trees, random_state=int(rng.integers(LARGEST_SEED))
        ).fit(X, z)
        trees = [tree.tree_ for tree in forest.estimators_]
        high = [forest.classes_[t.value[:, 0].argmax(axis=1)] > 0 for t in trees]
        return partial(self._decide, partial(_tree_votes, trees, high))


def _tree_votes(trees, high, X):
    """Return the share of trees whose leaf is high: one pass down each tree for all rows."""
    rows = np.ascontiguousarray(X, dtype=np.float32)
    total = np.zeros(len(rows), dtype=np.int32)
    for tree, labels in zip(trees, high, strict=True):
        total += labels[tree.apply(rows)]
    return total / len(trees)


def fit_logistic(X, z, C, weights=None):
    """Fit one logistic regression; return its parameters (theta, b), shape (d + 1,).

    scikit-learn's, with an intercept and a penalty of half the squared norm against C times the
    weighted sum of losses. Labels of one kind give the constant classifier of that label.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    z : ndarray of shape (n,)
        Labels 0 and 1.
    C : float
    weights : ndarray of shape (n,), optional
    """
    from sklearn.linear_model import LogisticRegression

    kinds = np.unique(z if weights is None else z[weights > 0])
    if len(kinds) < 2:
        return np.append(np.zeros(X.shape[1]), 1.0 if kinds[0] else -1.0)
    model = LogisticRegression(C=C, max_iter=5000).fit(X, z, sample_weight=weights)
    return np.append(model.coef_[0], model.intercept_)


def margins(theta, X):
    """Return the margins x'theta + b of rows under parameters of shape (..., d + 1)."""
    return X @ theta[..., :-1].T + theta[..., -1]


@dataclass(frozen=True)
class Logistic:
    """One logistic regression without abstention: the direct minimiser of a convex loss.

    Parameters
    ----------
    C : float
        Inverse penalty.

    Notes
    -----
    Source: [CDFO] Fig. 1 ("linear") and Fig. 3 (c), Sec. 4.
    """

    C: float = 1.0

    def __post_init__(self):
        """Refuse settings out of range."""
        positive(self.C, "C")

    def fit(self, X, z, rng):
        """Fit to labels z of shape (n,); return h."""
        theta = fit_logistic(X, z, self.C)
        return partial(_above, theta)


@dataclass(frozen=True)
class LogisticEnsemble(_Vote):
    """classify-tuned: logistic regressions on bootstrap resamples of all pairs, with a consensus.

    Parameters
    ----------
    rule, share
        See `consensus`.
    n_models : int
        Members of the ensemble.
    C : float
        Inverse penalty of each.

    Notes
    -----
    Source: [CDFO] Sec. 4, Fig. 3.
    """

    n_models: int = 10
    C: float = 1.0

    def __post_init__(self):
        """Refuse settings out of range."""
        super().__post_init__()
        count(self.n_models, "n_models")
        positive(self.C, "C")

    def fit(self, X, z, rng):
        """Fit to labels z of shape (n,); return h."""
        draws = rng.integers(len(z), size=(self.n_models, len(z)))
        weights = [np.bincount(draw, minlength=len(z)).astype(float) for draw in draws]
        theta = np.array([fit_logistic(X, z, self.C, w) for w in weights])

        return partial(self._decide, partial(_margin_votes, theta))


@dataclass(frozen=True)
class MultiplierBootstrap:
    r"""Selective classifier by weights 1 + u: it decides where all perturbed models agree.

    .. math::
        \theta_b^\circ = \sigma (\arg\min_\theta L_n(\theta, u_b) - \theta_n) + \theta_n, \quad
        L_n(\theta, u) = \frac1n \sum_i (1 + u_i) \ell_\theta(X_i, Z_i), \quad
        u_b \sim \mathrm{Uni}[-1, 1]^n

    h is 1 where x'theta > 0 for every b, and else 0: low everywhere, or no decision. The loss is
    logistic with scikit-learn's penalty, because separable data have no finite minimiser.

    Parameters
    ----------
    n_draws : int
        B.
    scale : float
        sigma.
    C : float
        Inverse penalty.

    Notes
    -----
    Source: [CDFO] Sec. 3, Definition A.3. Without penalty and scale, theta_b is of order n^(-1/2)
    from theta_n (Lemma A.8) and 1/n from its first-order expansion (Lemma A.9).
    """

    n_draws: int = 62
    scale: float = 1.0
    C: float = 1.0

    def __post_init__(self):
        """Refuse settings out of range."""
        count(self.n_draws, "n_draws")
        positive(self.scale, "scale")
        positive(self.C, "C")

    def thetas(self, X, z, u):
        """Return theta_n, shape (d + 1,), and theta_b of every row of u, shape (B, d + 1)."""
        centre = fit_logistic(X, z, self.C)
        drawn = np.array([fit_logistic(X, z, self.C, 1 + row) for row in u])
        return centre, self.scale * (drawn - centre) + centre

    def fit(self, X, z, rng):
        """Fit to labels z of shape (n,); return h."""
        u = rng.uniform(-1, 1, size=(self.n_draws, len(z)))
        _, theta = self.thetas(X, z, u)
        return partial(_unanimous, theta)


def _above(theta, X):
    return (margins(theta, X) > 0).astype(float)


def _margin_votes(theta, X):
    return (margins(theta, X) > 0).mean(axis=-1)


def _unanimous(theta, X):
    return (margins(theta, X) > 0).all(axis=-1).astype(float)
