"""Nystrom posteriors on a sampled dictionary of queries ([MTBO] Sec. 3.2 and App. A).

The weights 1/sqrt(p) of the paper's embedding cancel in every product of embeddings (they only
change the basis of the same span), and are left out.
"""

import numpy as np

from fivebo.common.checks import positive
from fivebo.mtbo.blocks import Blocks
from fivebo.mtbo.posteriors import (
    Decoupled,
    Queries,
    diagonalise,
    spectral_features,
    weight_space,
)


def inclusion_probabilities(norms, q, *, eta, scale="paper"):
    r"""Probabilities with which past queries enter the dictionary.

    .. math:: p_{t,i} = \min\{ q\, \|\tilde\Gamma_{t-1}(x_i, x_i)\|, 1 \}

    Parameters
    ----------
    norms : ndarray of shape (t,)
        Spectral norms at the past queries, in squared units of y.
    q : float
        Oversampling, > 0.
    eta : float
        Regulariser.
    scale : {"paper", "eta"}
        "paper": as printed. "eta": ``q ||Gamma~|| / eta``, the leverage scores that the accuracy
        proof needs.

    Returns
    -------
    ndarray of shape (t,)

    Notes
    -----
    Source: [MTBO] Sec. 3.2 and Alg. 2, l. 9; the missing 1/eta is a flaw of the printed algorithm.
    """
    divisor = {"paper": 1.0, "eta": eta}[scale]
    return np.minimum(positive(q, "q") / divisor * np.asarray(norms), 1.0)


class _OnDictionary:
    """What Nystrom posteriors share: observations are recorded, and count from the next `fit`."""

    def __init__(self, kernel, eta, candidates):
        super().__init__(kernel, eta, candidates)
        self.queries = Queries(len(candidates), self.n_tasks)

    def add(self, index, y):
        """Record the observation y (n,) at a candidate; `fit` makes it count."""
        self.queries.add(index, y)


class DecoupledNystrom(_OnDictionary, Decoupled):
    r"""Nystrom posterior in the eigenbasis of the tasks.

    .. math::
        \tilde\mu_t(x) = \sum_i \xi_i \tilde\varphi_t(x)^\top (\xi_i \tilde v_t + \eta I)^{-1}
            \Bigl( \sum_s (y_s^\top u_i) \tilde\varphi_t(x_s) \Bigr) u_i

    .. math::
        \|\tilde\Gamma_t(x,x)\| = \max_i \xi_i \bigl( k(x,x) - \tilde\varphi_t(x)^\top
            \tilde\varphi_t(x) + \eta\, \tilde\varphi_t(x)^\top (\xi_i \tilde v_t + \eta I)^{-1}
            \tilde\varphi_t(x) \bigr)

    Cost of a round with r features, m candidates and c components: O(r^3 + r m (r + c)), whatever
    the number of rounds (their repeats are counted). Parameters are those of `Decoupled`.

    Notes
    -----
    Source: [MTBO] App. A, Eqs. (7), (8).
    """

    def fit(self, dictionary):
        """Recompute mean and variances on a dictionary of candidate indices, without repeats."""
        mean, unscaled = np.zeros_like(self.mean), self._prior.copy()
        for kernel, columns in self._by_kernel() if len(dictionary) else ():
            cross = kernel(self._candidates[dictionary], self._candidates)
            features = spectral_features(cross[:, dictionary], cross)  # l. 15-16
            components = [self._components[column] for column in columns]
            part, explained = weight_space(features, self.queries, components, self.eta)
            mean += part
            # k - phi'phi + alpha phi'(v + alpha)^{-1} phi = k - phi'[v / (v + alpha)] phi
            unscaled[:, columns] -= explained
        self._set(mean, unscaled)

    def _by_kernel(self):
        groups = {}
        for column, part in enumerate(self._components):
            groups.setdefault(id(part.kernel), (part.kernel, []))[1].append(column)
        return groups.values()


class BlockNystrom(_OnDictionary, Blocks):
    r"""Nystrom posterior for any multi-task kernel, on blocks of n rows a dictionary point.

    .. math::
        \tilde\mu_t(x) = \tilde\Phi_t(x)^\top (\tilde V_t + \eta I)^{-1}
            \sum_s \tilde\Phi_t(x_s) y_s

    .. math::
        \tilde\Gamma_t(x,x') = \Gamma(x,x') - \tilde\Phi_t(x)^\top \tilde\Phi_t(x')
            + \eta\, \tilde\Phi_t(x)^\top (\tilde V_t + \eta I)^{-1} \tilde\Phi_t(x')

    The residual ``Gamma - Phi~' Phi~`` is what prevents variance starvation.

    Parameters are those of `DecoupledNystrom`.

    Notes
    -----
    Source: [MTBO] Sec. 3.2 and Alg. 2, l. 15-17; by Lemma 8 the posterior of the features projected
    on the dictionary's span, Eq. (17).
    """

    def fit(self, dictionary):
        """Recompute mean and blocks on a dictionary of candidate indices, without repeats."""
        n = self.n_tasks
        if not len(dictionary):
            self._set(np.zeros_like(self.mean), self._prior)
            return
        rows = (np.asarray(dictionary)[:, None] * n + np.arange(n)).ravel()
        cross = self._kernel(self._candidates[rows], self._candidates)
        features = spectral_features(cross[:, rows], cross)  # l. 15-16
        counts = np.repeat(self.queries.counts, n)
        features, shrink, inverse = diagonalise(features, counts, [self.eta])
        mean = features.T @ (inverse[:, 0] * (features @ self.queries.sums.ravel()))
        phi = features.reshape(len(features), -1, n)
        explained = np.einsum("rmi,r,rmj->mij", phi, shrink[:, 0], phi)
        self._set(mean.reshape(-1, n), self._prior - explained)


def nystrom_posterior(kernel, eta, candidates):
    """Return the decoupled form where the kernel allows it, else the block form."""
    form = BlockNystrom if kernel.components() is None else DecoupledNystrom
    return form(kernel, eta, candidates)


def dictionary_accuracy(features, counts, weights, alpha):
    r"""Return the smallest eps for which a weighted dictionary is accurate.

    .. math::
        (1-\varepsilon) V - \varepsilon\alpha I \preceq V_D \preceq
        (1+\varepsilon) V + \varepsilon\alpha I, \qquad V = \sum_s \phi_s \phi_s^\top,\
        V_D = \sum_{i \in D} \phi_i \phi_i^\top / p_i

    that is, the norm of ``(V + alpha I)^{-1/2} (V_D - V) (V + alpha I)^{-1/2}``.

    Parameters
    ----------
    features : ndarray of shape (r, m)
        Exact features of the candidates: ``features.T @ features`` is their kernel matrix.
    counts : ndarray of shape (m,)
        Visits of each candidate.
    weights : ndarray of shape (m,)
        Sum of 1/p over the dictionary's entries at each candidate.
    alpha : float
        Regulariser of the component, eta / xi.

    Notes
    -----
    Source: [MTBO] Lemma 7 in its finite form, V_D as in Eq. (16); Eq. (22) makes it the hypothesis
    of Lemma 9 and Lemma 10.
    """
    V = (features * counts) @ features.T
    D = (features * (weights - counts)) @ features.T
    values, Q = np.linalg.eigh(V)
    root = Q / np.sqrt(np.maximum(values, 0) + alpha)
    return float(np.abs(np.linalg.eigvalsh(root.T @ D @ root)).max())
