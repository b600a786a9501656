"""Slow, literal transcriptions of [CDFO] that the fast code must match."""

import numpy as np
from scipy.optimize import linprog


def multiplicative_weights(rounds, eta):
    """p^(t)(x) proportional to p^(t-1)(x) (1 - eta h^(t)(x)), step by step; all p^(t), M_T."""
    size = len(rounds[0])
    p, cuts, history = [1 / size] * size, [0.0] * size, []
    for h in rounds:
        p = [p[x] * (1 - eta * h[x]) for x in range(size)]
        total = sum(p)
        p = [weight / total for weight in p]
        cuts = [cuts[x] + h[x] for x in range(size)]
        history.append(np.array(p))
    return history, np.array(cuts)


def algorithm_1(values, features, first, rounds, eta, classify, draw):
    """Algorithm 1 on a catalogue, with a classifier and a sampler that are told what to do."""
    size = len(values)
    p = np.full(size, 1 / size)
    X, Y = [first], [values[first]]
    for t in range(1, rounds + 1):
        alpha = np.median(Y[t - 1])
        points = np.concatenate(X)
        labels = np.array([1 if y > alpha else 0 for y in np.concatenate(Y)])
        h = classify(features[points], labels, features)
        p = p * (1 - eta * h)
        p = p / p.sum()
        X.append(draw(p))
        Y.append(values[X[-1]])
    best = int(np.argmin(Y[-1]))
    return X, Y, p, X[-1][best]


def separable(X, z):
    """Whether a half-space labels all points right, as a feasibility problem with margin 1."""
    signs = np.where(np.asarray(z) > 0, 1.0, -1.0)[:, None]
    rows = signs * np.column_stack([X, np.ones(len(X))])
    bounds = [(None, None)] * rows.shape[1]
    found = linprog(np.zeros(rows.shape[1]), -rows, -np.ones(len(rows)), bounds=bounds)
    return found.status == 0


def css_by_retraining(X, z, x):
    """CSS by two retrainings: 1 surely high, 0 surely low, None no decision."""
    with_low = separable(np.vstack([X, x]), np.append(z, 0))
    with_high = separable(np.vstack([X, x]), np.append(z, 1))
    if with_low and with_high:
        return None
    return 1 if with_high else 0


def hulls_meet(A, B):
    """Whether the convex hulls of two sets of points share a point, by a feasibility problem."""
    n, m = len(A), len(B)
    equal = np.vstack([np.hstack([A.T, -B.T]), [[1.0] * n + [0.0] * m], [[0.0] * n + [1.0] * m]])
    right = np.append(np.zeros(A.shape[1]), [1.0, 1.0])
    return linprog(np.zeros(n + m), A_eq=equal, b_eq=right).status == 0


def css_by_hulls(X, z, x):
    """1 exactly if the hull of the low points and x meets that of the high points."""
    return int(hulls_meet(np.vstack([X[z == 0], x]), X[z == 1]))


def pairwise_label(wins):
    """Eq. (1) of [CDFO] for one action: high if it beats fewer than half of its opponents."""
    return 1 if sum(wins) / len(wins) < 1 / 2 else 0
