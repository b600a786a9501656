"""Literal transcriptions: the dense posterior with the matrix A, and both forms of Algorithm 1."""

import numpy as np


def dense_posterior(k, noise_var, history, query):
    """Eqs. (3), (4) with the printed matrices; `history` and `query` hold (S, d) point sets."""
    S = len(query)
    a = np.full(S, 1 / S)
    prior = a @ k(query, query) @ a
    if not history:
        return 0.0, prior
    X = np.concatenate([points for points, _ in history])
    Y = np.array([r for _, r in history])
    t = len(Y)
    A = np.zeros((t, t * S))
    for p in range(t):
        A[p, p * S : (p + 1) * S] = 1 / S
    C = A @ k(X, X) @ A.T + noise_var * np.eye(t)
    k_star = A @ k(X, query) @ a
    return k_star @ np.linalg.solve(C, Y), prior - k_star @ np.linalg.solve(C, k_star)


def oldest(values):
    """Index of the largest value, the first of those that differ from it by rounding only."""
    values = np.array(values)
    size = np.abs(values[np.isfinite(values)]).max(initial=0)
    return next(i for i, v in enumerate(values) if v >= values.max() - 1e-12 * size)


def points_of(low, high, S):
    return np.array([low + (high - low) * (2 * s - 1) / (2 * S) for s in range(1, S + 1)])[:, None]


def split(node, K):
    h, i, low, high = node
    edges = np.linspace(low, high, K + 1)
    return [(h + 1, K * i + j, edges[j], edges[j + 1]) for j in range(K)]


def algorithm_1(k, reward, *, K, S, N, noise_var, delta, beta):
    """The paper's form, line by line; returns the pulled nodes, the recommendation and the tree."""
    leaves, inner, history, pulled = [(0, 0, 0.0, 1.0)], [], [], []  # 1

    def moments(node):
        return dense_posterior(k, noise_var, history, points_of(node[2], node[3], S))

    def ci(node, t):
        return np.sqrt(beta(t)) * np.sqrt(moments(node)[1])

    for t in range(1, N + 1):  # 2
        b = [moments(n)[0] + ci(n, t) + delta(n[0]) for n in leaves]
        node = leaves[oldest(b)]  # 3
        r = reward(points_of(node[2], node[3], S))  # 4
        history.append((points_of(node[2], node[3], S), r))  # 5
        pulled.append(node[:2])
        if ci(node, t) <= delta(node[0]):  # 6
            leaves.remove(node)  # 7
            inner.append(node)
            leaves += split(node, K)
    means = [moments(n)[0] for n in inner]
    best = inner[oldest(means)] if inner else (0, 0, 0.0, 1.0)  # 8
    return pulled, best[:2], leaves


def code_form(k, reward, *, K, S, N, noise_var, delta, beta, cap=10):
    """The order of the authors' experiments: children first, test, expand, select, pull, rank."""
    leaves = split((0, 0, 0.0, 1.0), K)
    history, pulled, best = [], [], None

    def moments(node):
        mean, var = dense_posterior(k, noise_var, history, points_of(node[2], node[3], S))
        return mean, np.sqrt(beta(len(history)) * (var + noise_var))

    def pull(node):
        points = points_of(node[2], node[3], S)
        history.append((points, reward(points)))
        pulled.append(node[:2])

    for node in leaves:
        pull(node)
    best = leaves[-1]
    values = {n: sum(moments(n)) + delta(n[0]) for n in leaves}
    node = [*values][oldest([*values.values()])]
    while len(history) < N:
        if node[0] <= cap and delta(node[0]) >= moments(node)[1]:
            del values[node]
            higher = node[0] == best[0] and moments(node)[0] > moments(best)[0]
            if node[0] > best[0] or higher:
                best = node
            leaves.remove(node)
            leaves += split(node, K)
        node = [*values][oldest([*values.values()])]
        pull(node)
        values = {n: values.get(n) for n in [*values, *(m for m in leaves if m not in values)]}
        for n in values:
            values[n] = sum(moments(n)) + delta(n[0])
    return pulled, best[:2], leaves
