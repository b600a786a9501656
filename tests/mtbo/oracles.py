"""Slow, literal transcriptions of [MTBO], sharing nothing with the package but NumPy.

Blocks are time-major as in the paper; `Gamma(x, z)` is a function that returns an n x n array.
"""

import numpy as np


def gamma_sum(terms):
    """Gamma(x, z) = sum_j k_j(x, z) B_j."""

    def Gamma(x, z):
        return sum(k(x[None], z[None])[0, 0] * np.asarray(B, dtype=float) for k, B in terms)

    return Gamma


def mt_posterior(Gamma, X, Y, eta, x, z=None):
    """Eq. (1) and the line before it: mu_t(x) and Gamma_t(x, z)."""
    z = x if z is None else z
    if len(X) == 0:
        return np.zeros(len(Gamma(x, x))), Gamma(x, z)
    G = np.block([[Gamma(a, b) for b in X] for a in X])
    Gx = np.vstack([Gamma(a, x) for a in X])
    Gz = np.vstack([Gamma(a, z) for a in X])
    inverse = np.linalg.inv(G + eta * np.eye(len(G)))
    return Gx.T @ inverse @ np.concatenate(Y), Gamma(x, z) - Gx.T @ inverse @ Gz


def pseudo_root(G):
    """(G^{1/2})^+ by eigen-decomposition."""
    values, vectors = np.linalg.eigh(G)
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    return (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T


def mt_bkb_posterior(Gamma, X, Y, chosen, p, eta, x):
    """Algorithm 2, l. 15-17, with the weights 1/sqrt(p): mu~_t(x) and Gamma~_t(x, x)."""
    if len(chosen) == 0:
        return np.zeros(len(Gamma(x, x))), Gamma(x, x)
    D = [X[i] for i in chosen]
    w = [1 / np.sqrt(p[i]) for i in chosen]
    G = np.block([[Gamma(a, b) * u * v for b, v in zip(D, w)] for a, u in zip(D, w)])  # noqa: B905
    root = pseudo_root(G)

    def Phi(point):
        return root @ np.vstack([Gamma(a, point) * u for a, u in zip(D, w, strict=True)])

    V = sum(Phi(s) @ Phi(s).T for s in X)
    inverse = np.linalg.inv(V + eta * np.eye(len(V)))
    moments = sum(Phi(s) @ y for s, y in zip(X, Y, strict=True))
    phi = Phi(x)
    return phi.T @ inverse @ moments, Gamma(x, x) - phi.T @ phi + eta * phi.T @ inverse @ phi


def log_det_gain(Gamma, X, eta):
    """log det(I + G_t / eta)."""
    G = np.block([[Gamma(a, b) for b in X] for a in X])
    return np.linalg.slogdet(np.eye(len(G)) + G / eta)[1]
