"""Cholesky factor that grows by rows, and the jitter that keeps a new block positive definite."""

import numpy as np
from scipy.linalg import blas, lapack
from scipy.spatial.distance import pdist

JITTERS = np.sqrt(np.finfo(float).eps) * 10.0 ** np.arange(0, 6)
"""Jitter ladder, relative to the prior variance: 1.5e-8, 1.5e-7, ..., 1.5e-3."""

PACKED_COLUMNS = 8
"""Up to so many right-hand sides the packed factor is used as it lies, without a dense copy."""


class JitterWarning(UserWarning):
    """The Gram matrix was singular to working precision and jitter was added; names the value."""


class NotPositiveDefiniteError(np.linalg.LinAlgError):
    """No jitter on the ladder made the Gram matrix positive definite."""


def forward_solve(L, B):
    """Return L^{-1} B for a lower triangle L, straight from LAPACK: scipy's wrapper costs 30 us."""
    return lapack.dtrtrs(L, B, lower=1)[0]


def clip_variance(var, prior):
    """Return `var` with rounding below 0 removed.

    Parameters
    ----------
    var, prior : ndarray of shape (m,)
        Posterior and prior variances.

    Raises
    ------
    FloatingPointError
        A variance lies further below 0 than rounding explains (1.5e-8 of the prior variance).
    """
    tolerance = np.sqrt(np.finfo(float).eps) * prior.max()
    if (lowest := var.min()) < -tolerance:
        raise FloatingPointError(
            f"posterior variance {lowest:.3g} is below rounding (-{tolerance:.3g}): the kernel is "
            "not positive semi-definite, or noise_var is too small for the data"
        )
    return np.maximum(var, 0)


def factorise(schur, noise_var, scale):
    """Return the factor of ``schur + (noise_var + jitter) I`` and the smallest jitter that helps.

    Parameters
    ----------
    schur : ndarray of shape (n, n)
        Covariance of the new observations given the earlier ones, without noise.
    noise_var, scale : float
        Noise variance, and the prior variance that `JITTERS` are relative to.

    Returns
    -------
    L : ndarray of shape (n, n), or None
        None if no jitter on the ladder helps; `jitter` is then the largest.
    jitter : float
    """
    for jitter in (0.0, *(JITTERS * scale)):
        added = (noise_var + jitter) * np.eye(len(schur))
        L, info = lapack.dpotrf(schur + added, lower=1, clean=1)
        # a pivot below rounding of the prior variance carries no digits
        if info == 0 and L.diagonal().min() ** 2 > 10 * np.finfo(float).eps * scale:
            return L, jitter
    return None, jitter


def jitter_message(points, n, noise_var, jitter, failed=False):
    """Say that the Gram matrix of n observations at some points is singular, and what was done."""
    closest = pdist(points).min() if 1 < len(points) <= 5000 else np.nan
    outcome = "no jitter up to" if failed else "added jitter"
    return (
        f"Gram matrix of {n} observations is singular to working precision (smallest distance "
        f"{closest:.3g}, noise_var {noise_var:.3g}); {outcome} {jitter:.3g}"
        + (" helped; raise noise_var or rescale the inputs" if failed else "")
    )


def log_density(whitened, diagonal):
    r"""Return the log density of y under N(0, L L'), summed over outputs.

    .. math:: -\tfrac12 \|L^{-1} y\|^2 - \log\det L - \tfrac n2 \log 2\pi

    Parameters
    ----------
    whitened : ndarray of shape (n,) or (n, p)
        ``L^{-1} y``.
    diagonal : ndarray of shape (n,)
        Of L.
    """
    p = 1 if whitened.ndim == 1 else whitened.shape[1]
    log_det = np.log(diagonal).sum() + 0.5 * len(diagonal) * np.log(2 * np.pi)
    return float(-0.5 * (whitened**2).sum() - p * log_det)


class PackedFactor:
    """Lower triangle L of t rows, stored by rows: row i in entries i(i+1)/2 ... i(i+1)/2 + i.

    That is the packed upper triangle of L' by columns, as BLAS has it. Memory: 4 t^2 bytes, up to
    twice that while the buffer grows.
    """

    def __init__(self):
        self._entries, self._size = np.empty(0), 0

    def diagonal(self):
        """Return the diagonal of L, shape (t,)."""
        rows = np.arange(self._size)
        return self._entries[rows * (rows + 3) // 2]

    def dense(self):
        """Return L as a matrix of shape (t, t)."""
        t = self._size
        return lapack.dtpttr(t, self._entries[: t * (t + 1) // 2], uplo="U")[0].T

    def solve(self, B):
        """Return L^{-1} B for B of shape (t, n)."""
        t = self._size
        if B.shape[1] <= PACKED_COLUMNS:
            packed = self._entries[: t * (t + 1) // 2]
            return np.column_stack([blas.dtpsv(t, packed, b, lower=0, trans=1) for b in B.T])
        return forward_solve(self.dense(), B)

    def solve_transposed(self, b):
        """Return L^{-T} b for a vector b of shape (t,) or columns (t, p)."""
        t = self._size
        packed = self._entries[: t * (t + 1) // 2]
        columns = [blas.dtpsv(t, packed, column, lower=0, trans=0) for column in b.reshape(t, -1).T]
        return np.column_stack(columns).reshape(b.shape)

    def extend(self, B, L_new):
        """Append the rows [B', L_new], with B of shape (t, n) and L_new of shape (n, n)."""
        t, n = self._size, len(L_new)
        size = (t + n) * (t + n + 1) // 2
        if size > len(self._entries):
            grown = np.empty(max(size, 2 * len(self._entries)))
            grown[: t * (t + 1) // 2] = self._entries[: t * (t + 1) // 2]
            self._entries = grown
        for i in range(n):
            row = (t + i) * (t + i + 1) // 2
            self._entries[row : row + t] = B[:, i]
            self._entries[row + t : row + t + i + 1] = L_new[i, : i + 1]
        self._size = t + n
