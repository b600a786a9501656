"""Exact Gaussian process posterior that grows by one observation at a time.

An observation is a linear functional of f, ``y = a' f(X) + eps`` with ``eps ~ N(0, noise_var)``;
a plain point is the special case of one representative with weight 1.
"""

import copy
import warnings

import numpy as np

from fivebo.common.checks import as_finite_array, positive
from fivebo.common.gp.factor import (
    JitterWarning,
    NotPositiveDefiniteError,
    PackedFactor,
    factorise,
    forward_solve,
    jitter_message,
)
from fivebo.common.gp.functionals import as_functionals
from fivebo.common.gp.kernels import check_kernel, check_no_white_noise
from fivebo.common.gp.prediction import Predictions
from fivebo.common.gp.tracking import TrackedSet


class GP(Predictions):
    r"""Exact posterior of ``f ~ GP(mean, k)`` under Gaussian noise of variance ``noise_var``.

    .. math::
        \mu_t(x) = m + k_t(x)^\top (K_t + \sigma^2 I)^{-1} (y_t - m), \qquad
        \sigma_t^2(x) = k(x, x) - k_t(x)^\top (K_t + \sigma^2 I)^{-1} k_t(x)

    with :math:`\sigma^2` = `noise_var`. The variance is that of f, never that of y. The Cholesky
    factor is stored as a packed triangle and only ever extended: appending to t observations
    costs O(t^2), each tracked set of m candidates O(t m) more. Memory: 4 t^2 bytes for the
    factor (up to twice that while its buffer grows), and 8 m bytes a tracked row.

    Parameters
    ----------
    kernel : Kernel
        Any scikit-learn kernel object, or one with the same ``__call__`` and ``diag``.
    noise_var : float
        Variance of the observation noise, > 0, in squared units of y. Exact data need a small
        positive value, for example 1e-10 times the prior variance.
    mean : float, optional
        Constant prior mean, in units of y.

    Raises
    ------
    TypeError, ValueError
        `kernel` lacks the protocol, or `noise_var` is not a positive number.

    Notes
    -----
    Source: Rasmussen & Williams, "Gaussian Processes for Machine Learning" (2006), Alg. 2.1.
    """

    def __init__(self, kernel, noise_var, mean=0.0):
        self.kernel = copy.deepcopy(check_kernel(kernel))  # a later change would fit no data here
        self.noise_var = positive(noise_var, "noise_var")
        self.mean = float(as_finite_array(mean, "mean", ndim=0))
        self.jitter = 0.0  # largest jitter in use, in squared units of y
        self._data = None  # Functionals of all observations
        self._residual = None  # y - mean, shape (t,) or (t, p)
        self._whitened = None  # L^{-1} (y - mean)
        self._factor = PackedFactor()
        self._weights = None  # (K + noise_var I)^{-1} (y - mean) of the present data, once needed
        self._tracked = []

    @property
    def n_observations(self):
        """Number t of observations."""
        return 0 if self._data is None else len(self._data)

    def condition(self, X, y, weights=None):
        """Append observations; the factor of the earlier ones is kept.

        Parameters
        ----------
        X : array_like of shape (n, d) or (n, S, d), or functionals
            Points, the S representatives of each aggregated observation, or any batch with the
            methods of `Functionals`, for example exact averages over regions.
        y : array_like of shape (n,) or (n, p)
            Observed values; p outputs that share kernel and noise share the factor.
        weights : array_like of shape (n, S) or (S,), optional
            Weights a of the representatives; default 1/S.

        Returns
        -------
        GP
            self.

        Raises
        ------
        TypeError, ValueError
            Wrong shape or type, NaN or infinity; nothing is changed.
        NotPositiveDefiniteError
            The Gram matrix stays singular under all jitters; nothing is changed.
        """
        new = as_functionals(X, weights)
        if self._data is None:
            check_no_white_noise(self.kernel, new.points[:1])
        return self._absorb(new, self._check_targets(new, y), *self._extend(new))

    def condition_tracked(self, tracked, place, y):
        """Append one observation of a tracked candidate, whose row is known: O(t) plus `track`'s.

        Parameters
        ----------
        tracked : TrackedSet
            One of this GP's own.
        place : int
            Index of the candidate in the set, from 0.
        y : float
            Observed value.

        Returns
        -------
        GP
            self.

        Raises
        ------
        TypeError, ValueError
            A foreign set, an index outside it, or a value that is no finite number.
        """
        if not any(tracked is own for own in self._tracked):
            raise ValueError("the tracked set is not this GP's; use one returned by its track()")
        if not 0 <= place < len(tracked):
            raise ValueError(f"place must lie in 0..{len(tracked) - 1}, got {place}")
        new = tracked.candidates.part(place, place + 1)
        residual = self._check_targets(new, [y])
        return self._absorb(new, residual, *self._extend(new, tracked.column(place)))

    def extend_tracked(self, tracked, candidates):
        """Add candidates to a tracked set: O(t^2) each, the others are not touched.

        Parameters
        ----------
        tracked : TrackedSet
            One of this GP's own.
        candidates : array_like of shape (n, d) or (n, S, d), or functionals
            Appended after those of the set, of the same kind.

        Returns
        -------
        TrackedSet
            The same set.
        """
        new = as_functionals(candidates)
        fresh = TrackedSet(new, self.kernel, self.mean)
        if self.n_observations:
            V = self._factor.solve(self._data.cross(self.kernel, new))
            fresh.fill(V, self._whitened)
        tracked.absorb(fresh)
        return tracked

    def _absorb(self, new, residual, B, L_new, jitter):
        """Append observations whose Schur complement has been factorised."""
        known = B.T @ self._whitened if len(B) else 0.0
        z = forward_solve(L_new, residual - known)
        updates = [tracked.propose(self.kernel, new, B, L_new, z) for tracked in self._tracked]
        for tracked, update in zip(self._tracked, updates, strict=True):
            tracked.accept(update)
        self._append(new, residual, z, B, L_new)
        self.jitter = max(self.jitter, jitter)
        return self

    def track(self, candidates, rounds=0):
        """Keep posterior mean and variance on a fixed set of candidates up to date.

        Parameters
        ----------
        candidates : array_like of shape (m, d) or (m, S, d)
            Points, or representatives whose average is meant.
        rounds : int, optional
            Number of observations to come, if known: the memory they need is then checked now.

        Returns
        -------
        TrackedSet
            Its `mean` and `var` always belong to the current data.

        Raises
        ------
        MemoryError
            The rows of all data (and `rounds` more) do not fit: names bytes needed and available.
        """
        candidates = as_functionals(candidates)
        check_no_white_noise(self.kernel, candidates.points[:1])
        tracked = TrackedSet(candidates, self.kernel, self.mean)
        tracked.reserve(self.n_observations + rounds)
        if self.n_observations:
            L = self._factor.dense()
            tracked = tracked.rebuilt(self.kernel, self.mean, self._data, L, self._whitened)
        self._tracked.append(tracked)
        return tracked

    def set_hyperparameters(self, kernel=None, noise_var=None, mean=None):
        """Change kernel, noise or mean; factor and tracked sets are rebuilt once, in blocks.

        Parameters
        ----------
        kernel, noise_var, mean
            As in the constructor; None keeps the present value.

        Returns
        -------
        GP
            self. If the new values fail, they are not taken and nothing is changed.
        """
        fresh = GP(
            self.kernel if kernel is None else kernel,
            self.noise_var if noise_var is None else noise_var,
            self.mean if mean is None else mean,
        )
        known = [t.candidates for t in self._tracked] + [self._data] * (self._data is not None)
        if known:
            check_no_white_noise(fresh.kernel, known[0].points[:1])
        rebuilt = [TrackedSet(t.candidates, fresh.kernel, fresh.mean) for t in self._tracked]
        if self._data is not None:
            residual = self._residual + self.mean - fresh.mean
            B, L, fresh.jitter = fresh._extend(self._data)
            z = forward_solve(L, residual)
            rebuilt = [t.rebuilt(fresh.kernel, fresh.mean, self._data, L, z) for t in rebuilt]
            fresh._append(self._data, residual, z, B, L)
        for tracked, new in zip(self._tracked, rebuilt, strict=True):
            tracked.__dict__.update(new.__dict__)
        fresh._tracked = self._tracked
        self.__dict__.update(fresh.__dict__)
        return self

    def _extend(self, new, column=None):
        """Return (L^{-1} K_old,new, factor of the Schur complement, jitter used).

        `column` is L^{-1} K_old,new where it is known already.
        """
        single = len(new) == 1
        gram = new.diag(self.kernel)[:, None] if single else new.cross(self.kernel, new)
        if not np.isfinite(gram).all():
            raise ValueError(f"kernel {self.kernel} gave a non-finite covariance; check its scale")
        if self.n_observations:
            B = self._factor.solve(self._data.cross(self.kernel, new)) if column is None else column
            schur = gram - B.T @ B
        else:
            B, schur = np.empty((0, len(new))), gram
        L, jitter = factorise(schur, self.noise_var, float(np.diag(gram).max()))
        if L is None:
            raise NotPositiveDefiniteError(self._singular(new, jitter, failed=True))
        if jitter:
            warnings.warn(self._singular(new, jitter), JitterWarning, stacklevel=3)
        return B, L, jitter

    def _singular(self, new, jitter, failed=False):
        data = new if self._data is None else self._data.append(new)
        return jitter_message(data.points, len(data), self.noise_var, jitter, failed)

    def _check_targets(self, new, y):
        y = as_finite_array(y, "y")
        if y.ndim not in (1, 2) or len(y) != len(new):
            raise ValueError(
                f"y must have shape ({len(new)},) or ({len(new)}, p) to match X, got {y.shape}"
            )
        if self._data is not None:
            if new.points.shape[1] != self._data.points.shape[1]:
                raise ValueError(
                    f"X has {new.points.shape[1]} coordinate(s), earlier data have "
                    f"{self._data.points.shape[1]}"
                )
            if y.shape[1:] != self._residual.shape[1:]:
                raise ValueError(
                    f"y has outputs of shape {y.shape[1:]}, earlier data {self._residual.shape[1:]}"
                )
        return y - self.mean

    def _append(self, new, residual, whitened, B, L_new):
        self._factor.extend(B, L_new)
        self._weights = None
        if self._data is None:
            self._data, self._residual, self._whitened = new, residual, whitened
        else:
            self._data = self._data.append(new)
            self._residual = np.concatenate([self._residual, residual])
            self._whitened = np.concatenate([self._whitened, whitened])
