"""Posterior mean and variance on a fixed candidate set, updated row by row."""

import numpy as np
import psutil
from scipy.linalg import blas

from fivebo.common.gp.factor import clip_variance, forward_solve

CHUNK_ROWS = 64
"""Rows of one storage chunk: chunks are never copied, so memory is what is stored."""

BLOCK_BYTES = 2**26
"""Working memory of one block of a rebuild."""


def _subtract_product(rows, B, old):
    """Subtract B' old from `rows` in place, the one pass over V that an observation costs."""
    if len(rows) == 1 and old.flags.c_contiguous:  # dgemv would copy the rows of a grown set
        blas.dgemv(-1.0, old.T, B[:, 0], beta=1.0, y=rows[0], overwrite_y=1)
    else:
        rows -= B.T @ old


class TrackedSet:
    """Posterior of a `GP` on m candidates, owned by the GP that made it (`GP.track`).

    With ``V = L^{-1} k(X_t, C)``, each observation appends one row to V and costs O(t m). Memory:
    8 m bytes a row, in chunks of `CHUNK_ROWS` rows that are copied only if candidates are added
    (`GP.extend_tracked`): their columns then double when they are full, so up to 16 m bytes a row.

    Attributes
    ----------
    mean : ndarray of shape (m,) or (m, p)
        Posterior mean, in units of y.
    var : ndarray of shape (m,)
        Posterior variance of f, in squared units of y, >= 0.
    """

    def __init__(self, candidates, kernel, mean):
        self.candidates = candidates
        self.prior = candidates.diag(kernel)
        self.mean = np.full(len(candidates), float(mean))
        self.var = self.prior.copy()
        self._raw = self.prior.copy()  # before clipping, so that rounding does not accumulate
        self._chunks, self._used = [], 0
        self._width = len(candidates)  # columns of a chunk; more than candidates after growth

    def __len__(self):
        return len(self.candidates)

    def column(self, place):
        """Return ``L^{-1} k(X_t, c)`` of one candidate c, shape (t, 1)."""
        parts = [rows[:, place] for _, rows in self.rows()]
        return np.concatenate(parts)[:, None] if parts else np.empty((0, 1))

    def reserve(self, rows):
        """Raise MemoryError now if `rows` rows in all will not fit."""
        needed = 8 * self._width * max(0, rows - CHUNK_ROWS * len(self._chunks))
        available = psutil.virtual_memory().available
        if needed > available:
            raise MemoryError(
                f"tracking {len(self)} candidates over {rows} observations needs "
                f"{needed / 1e9:.2f} GB, available are {available / 1e9:.2f} GB; use fewer "
                "candidates or rounds"
            )

    def rows(self, start=0):
        """Yield (index of the first row, view of the rows) from row `start` on, by chunks."""
        for i in range(start // CHUNK_ROWS, len(self._chunks)):
            first, last = i * CHUNK_ROWS, min((i + 1) * CHUNK_ROWS, self._used)
            skip = max(0, start - first)
            if first + skip < last:
                yield first + skip, self._chunks[i][skip : last - first, : len(self)]

    def fill(self, V, whitened):
        """Take the rows ``V = L^{-1} k(X_t, C)`` of all data at once, where there were none."""
        raw, shift = self._raw - np.einsum("tm,tm->m", V, V), V.T @ whitened
        mean = (self.mean if self.mean.ndim == shift.ndim else self.mean[:, None]) + shift
        self.accept((V, raw, clip_variance(raw, self.prior), mean))

    def absorb(self, other):
        """Append the candidates of another set that holds the same observations."""
        n_old, n_new = len(self), len(self) + len(other)
        if n_new > self._width:
            self._widen(2 * n_new)
        for chunk, (_, rows) in zip(self._chunks, other.rows(), strict=True):
            chunk[: len(rows), n_old:n_new] = rows
        self.candidates = self.candidates.append(other.candidates)
        for name in ("prior", "mean", "var", "_raw"):
            setattr(self, name, np.concatenate([getattr(self, name), getattr(other, name)]))

    def _widen(self, width):
        """Make room for `width` candidates, chunk by chunk."""
        extra = 8 * CHUNK_ROWS * len(self._chunks) * (width - self._width)
        available = psutil.virtual_memory().available
        if extra > available:
            raise MemoryError(
                f"tracking {width} candidates over {self._used} observations needs "
                f"{extra / 1e9:.2f} GB more, available are {available / 1e9:.2f} GB; use fewer "
                "candidates or rounds"
            )
        for i, chunk in enumerate(self._chunks):
            self._chunks[i] = np.empty((CHUNK_ROWS, width))
            self._chunks[i][:, : chunk.shape[1]] = chunk
        self._width = width

    def propose(self, kernel, new, B, L_new, z):
        """Return the update for the observations `new`, to be handed to `accept`.

        Parameters
        ----------
        kernel : Kernel
        new : Functionals of length n
        B : ndarray of shape (t, n)
            ``L^{-1} k(X_t, new)``.
        L_new : ndarray of shape (n, n)
            Factor of the Schur complement.
        z : ndarray of shape (n,) or (n, p)
            New entries of ``L^{-1} (y - mean)``.
        """
        if self._used + len(new) > CHUNK_ROWS * len(self._chunks):
            self.reserve(self._used + max(len(new), CHUNK_ROWS))
        rows = np.ascontiguousarray(new.cross(kernel, self.candidates))
        for first, old in self.rows():
            _subtract_product(rows, B[first : first + len(old)], old)
        if len(new) == 1:
            rows /= L_new[0, 0]
        else:
            rows = forward_solve(L_new, rows)
        raw = self._raw - np.einsum("nm,nm->m", rows, rows)
        shift = rows.T @ z
        mean = (self.mean if self.mean.ndim == shift.ndim else self.mean[:, None]) + shift
        return rows, raw, clip_variance(raw, self.prior), mean

    def accept(self, update):
        """Make a proposed update the present state."""
        rows, self._raw, self.var, self.mean = update
        while self._used + len(rows) > CHUNK_ROWS * len(self._chunks):
            self._chunks.append(np.empty((CHUNK_ROWS, self._width)))
        stop = self._used + len(rows)
        for i in range(self._used // CHUNK_ROWS, len(self._chunks)):
            first = max(i * CHUNK_ROWS, self._used)
            last = min((i + 1) * CHUNK_ROWS, stop)
            if first < last:
                chunk = self._chunks[i][first - i * CHUNK_ROWS : last - i * CHUNK_ROWS]
                chunk[:, : len(self)] = rows[first - self._used : last - self._used]
        self._used = stop

    def rebuilt(self, kernel, mean, data, L, whitened):
        """Return a new set for other hyperparameters or data, by blocks of candidates.

        Parameters
        ----------
        kernel : Kernel
        mean : float
            Prior mean.
        data : Functionals of length t
        L : ndarray of shape (t, t)
            Factor of their Gram matrix.
        whitened : ndarray of shape (t,) or (t, p)
            ``L^{-1} (y - mean)``.
        """
        fresh = TrackedSet(self.candidates, kernel, mean)
        fresh.reserve(len(data))
        fresh._used = len(data)
        fresh._chunks = [
            np.empty((CHUNK_ROWS, len(self))) for _ in range(-(-len(data) // CHUNK_ROWS))
        ]
        fresh.mean = np.full((len(self), *whitened.shape[1:]), float(mean))
        step = max(1, BLOCK_BYTES // (8 * len(data)))
        for i in range(0, len(self), step):
            block = slice(i, i + step)
            cov = data.cross(kernel, self.candidates.part(i, i + step))
            V = forward_solve(L, cov)
            for first, rows in fresh.rows():
                rows[:, block] = V[first : first + len(rows)]
            fresh._raw[block] -= np.einsum("tm,tm->m", V, V)
            fresh.mean[block] += V.T @ whitened
        fresh.var = clip_variance(fresh._raw, fresh.prior)
        return fresh
