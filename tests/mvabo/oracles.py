"""Slow, literal transcriptions of [MVABO], sharing nothing with the package but NumPy.

Dictionaries and loops over x, w and pairs of x, in the order of the paper's formulas.
"""

import numpy as np


def gauss(x, w, x2, w2, variance, lx, lw):
    """k((x, w), (x', w')) for one-dimensional x and w."""
    return variance * np.exp(-((x - x2) ** 2) / (2 * lx**2) - (w - w2) ** 2 / (2 * lw**2))


def posterior(k, data, X, W, noise_var):
    """mu_t and sigma_t (n, m) by the formulas of Sec. 2, a direct solve a point."""
    mean, sd = np.zeros((len(X), len(W))), np.zeros((len(X), len(W)))
    K = np.array([[k(*a, *b) for (b, _) in data] for (a, _) in data])
    y = np.array([y for _, y in data])
    for i, x in enumerate(X):
        for j, w in enumerate(W):
            var = k(x, w, x, w)
            if data:
                kt = np.array([k(x, w, *a) for (a, _) in data])
                inverse = np.linalg.inv(K + noise_var * np.eye(len(K)))
                mean[i, j] = kt @ inverse @ y
                var -= kt @ inverse @ kt
            sd[i, j] = np.sqrt(max(var, 0))
    return mean, sd


def log_det(k, data, noise_var):
    """ln det(R + K_t / sigma^2)."""
    if not data:
        return 0.0
    K = np.array([[k(*a, *b) for (b, _) in data] for (a, _) in data])
    return np.linalg.slogdet(np.eye(len(K)) + K / noise_var)[1]


def intervals(mean, sd, p, b):
    """(l1, u1, l2, u2) for each x by Sec. 3.1, case by case."""
    found = []
    for mu, s in zip(mean, sd, strict=True):
        low, high = mu - b * s, mu + b * s
        E_l, E_u = sum(low * p), sum(high * p)
        low_sq, high_sq = [], []
        for l_w, u_w in zip(low - E_u, high - E_l, strict=True):  # Eq. (6)
            inside = l_w <= 0 <= u_w
            low_sq.append(0.0 if inside else min(l_w**2, u_w**2))
            high_sq.append(max(l_w**2, u_w**2))
        found.append((E_l, E_u, -np.sqrt(sum(high_sq * p)), -np.sqrt(sum(low_sq * p))))
    return np.array(found)


def below(a, b, eps=(0.0, 0.0)):
    """A preceq_eps b."""
    return a[0] <= b[0] + eps[0] and a[1] <= b[1] + eps[1]


def strictly_below(a, b):
    """The relation of U_t as the proofs need it."""
    return a[0] < b[0] and a[1] < b[1]


def either_below(a, b):
    """The relation of U_t as it is printed."""
    return a[0] < b[0] or a[1] < b[1]


def estimated(R):
    """Eq. (7)."""
    pes = [(r[0], r[2]) for r in R]
    return [
        all(not below(pes[x], pes[x2]) for x2 in range(len(R)) if pes[x2] != pes[x])
        for x in range(len(R))
    ]


def potential(R, members, eps):
    """M_t."""
    pes, opt = [(r[0], r[2]) for r in R], [(r[1], r[3]) for r in R]
    return [
        not members[x] and all(not below(opt[x], pes[m], eps) for m in np.flatnonzero(members))
        for x in range(len(R))
    ]


def uncertain(R, members, eps, relation=strictly_below):
    """U_t."""
    pes, opt = [(r[0] + eps[0], r[2] + eps[1]) for r in R], [(r[1], r[3]) for r in R]
    return [
        bool(members[x])
        and any(relation(pes[x], opt[m]) for m in np.flatnonzero(members) if m != x)
        for x in range(len(R))
    ]


def diameters(R):
    """Eq. (8): the largest distance between corners of each rectangle."""
    found = []
    for l1, u1, l2, u2 in R:
        corners = [(a, b) for a in (l1, u1) for b in (l2, u2)]
        found.append(max(np.hypot(a[0] - b[0], a[1] - b[1]) for a in corners for b in corners))
    return np.array(found)


def pareto_accurate(F, members, eps):
    """Both conditions of Sec. 2, the first as Z_eps itself (Lemma A.6's case distinction)."""
    front = [x for x in range(len(F)) if not dominated(F, x)]
    second = all(any(below(F[x], F[m], eps) for m in members) for x in front)
    first = all(in_band(F, F[m], eps) for m in members)
    return first and second


def dominated(F, x):
    return any(below(F[x], F[y]) and tuple(F[x]) != tuple(F[y]) for y in range(len(F)))


def in_region(F, y):
    """Y in Z+: below some F(x)."""
    return any(below(y, f) for f in F)


def in_band(F, y, eps):
    """Y in Z_eps: below the boundary Z, and some point of Z below y + eps.

    Z is the boundary of {y : y <= some F(x)}; a point y + eps has a point of Z below it exactly
    if it is not in the interior of that region.
    """
    interior = any(y[0] + eps[0] < f[0] and y[1] + eps[1] < f[1] for f in F)
    return in_region(F, y) and not interior


def constrained_sets(R, h, eps):
    """S_t and M_t of App. B."""
    n = len(R)
    S = [R[x][2] >= h - eps[1] for x in range(n)]
    cons = [R[x][3] >= h - eps[1] for x in range(n)]
    best = max((R[x][0] for x in range(n) if S[x]), default=None)
    obj = [best is None or R[x][1] >= best - eps[0] for x in range(n)]
    return S, [a and b for a, b in zip(cons, obj, strict=True)]
