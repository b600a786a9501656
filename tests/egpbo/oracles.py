"""Literal transcriptions of [EGPBO]'s formulas, slow and plain."""

import numpy as np
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm


def phi(x, V):
    """Random features of one point, Eq. (5)."""
    angles = [v @ x for v in V]
    return np.array([*map(np.sin, angles), *map(np.cos, angles)]) / np.sqrt(len(V))


def evidence(X, y, V, prior_var, noise_var):
    """Log marginal likelihood of the feature model, Eq. (9)."""
    Phi = np.array([phi(x, V) for x in X])
    return multivariate_normal.logpdf(
        y, np.zeros(len(y)), prior_var * Phi @ Phi.T + noise_var * np.eye(len(y))
    )


def posterior(X, y, V, prior_var, noise_var):
    """Batch posterior of the feature weights, Sec. 8."""
    Phi = np.array([phi(x, V) for x in X]).reshape(-1, 2 * len(V))
    Sigma = np.linalg.inv(Phi.T @ Phi / noise_var + np.eye(2 * len(V)) / prior_var)
    return Sigma @ Phi.T @ y / noise_var, Sigma


def round_updates(models, weights, x, y, noise_var):
    """The inner loop of Alg. 1 after an observation, component by component: Eqs. (13), (15)."""
    new = []
    for m, (V, theta, Sigma) in enumerate(models):
        p = phi(x, V)
        mean, var = p @ theta, p @ Sigma @ p + noise_var
        weights[m] *= norm.pdf(y, mean, np.sqrt(var))
        gain = Sigma @ p / var
        new.append((V, theta + gain * (y - mean), Sigma - var * np.outer(gain, gain)))
    return new, weights / weights.sum()


def maximise_sample(V, theta, rng, n_screen, n_polish):
    """Screen uniform points of the unit cube, polish the best: what Eq. (12) leaves open."""
    points = rng.random((n_screen, V.shape[1]))
    values = np.array([phi(x, V) @ theta for x in points])
    best = points[values.argmax()], values.max()
    for i in np.argsort(-values, kind="stable")[:n_polish]:
        found = minimize(
            lambda x: -phi(x, V) @ theta, points[i], jac=lambda x: -gradient(x, V, theta),
            method="L-BFGS-B", bounds=[(0, 1)] * V.shape[1],
        )  # fmt: skip
        if -found.fun > best[1]:
            best = found.x, -found.fun
    return best[0]


def gradient(x, V, theta):
    """Gradient of phi(x)' theta."""
    D = len(V)
    terms = [
        (theta[j] * np.cos(V[j] @ x) - theta[D + j] * np.sin(V[j] @ x)) * V[j] for j in range(D)
    ]
    return sum(terms) / np.sqrt(D)
