"""Posterior of f on a grid X x Omega, kept up to date for all points at once.

`ProductPosterior` uses the structure of a product kernel; `DensePosterior` takes any kernel and
stands on `fivebo.common.gp.posterior`, as does `BoxPosterior` for designs off any grid.
"""

import warnings

import numpy as np
import psutil

from fivebo.common.checks import positive
from fivebo.common.gp.factor import (
    JitterWarning,
    NotPositiveDefiniteError,
    factorise,
    forward_solve,
    jitter_message,
)
from fivebo.common.gp.kernels import check_no_white_noise
from fivebo.common.gp.posterior import GP

RANK_TOLERANCE = 1e-14
"""Eigenvalues of the w-kernel below this share of the largest are dropped."""

CHUNK_ROWS = 32
"""Rows of one storage chunk; chunks are never copied."""

BLOCK_ELEMENTS = 2**16
"""Elements of one working block, small enough for the processor's cache."""


class Observed:
    """The observations of f at pairs of a design and an environment.

    Parameters
    ----------
    domain : UncertainDomain
    """

    def __init__(self, domain):
        self.domain = domain
        self._i, self._j, self._y = [], [], []

    def _keep(self, i, j, y):
        self._i.append(i)
        self._j.append(j)
        self._y.append(y)

    @property
    def n_observations(self):
        """Number t of observations."""
        return len(self._y)

    def data(self):
        """Return designs i, indices j of environments, and observations y of all rounds."""
        return np.array(self._i), np.array(self._j, dtype=int), np.array(self._y)

    def at(self, designs):
        """Return mean and variance at some designs and all environments, shape (k, m)."""
        return self.mean[designs], self.var[designs]


class ProductPosterior(Observed):
    r"""Exact posterior for ``k = k_x k_w``, with the w-factor in its numerical rank r.

    With ``K_w = Phi Phi'`` (Phi of shape (m, r)) each row ``v_t = L^{-1} k(z_1..t, .)`` of the
    incremental posterior is ``v_t(x, w) = A_t(x) Phi(w)'``, so that

    .. math::
        A_t(x) = \bigl( k_x(x, x_t) \Phi(w_t) - \sum_{s<t} v_s(z_t) A_s(x) \bigr) / d_t, \quad
        d_t^2 = \sigma_{t-1}^2(z_t) + \sigma^2

    and mean and variance follow by ``mu += v_t (y_t - mu(z_t)) / d_t``, ``var -= v_t^2``. A round
    costs O(t n r + n m r) instead of O(t n m), memory is 8 n r bytes a row. For the Gaussian
    kernel on 100 points of [-1, 1], r is about 15 to 30.

    Parameters
    ----------
    domain : UncertainDomain
    kernel : Product
        Of a kernel of x and one of w.
    noise_var : float
        sigma^2, > 0.

    Attributes
    ----------
    mean, var : ndarray of shape (n, m)
        mu_t and sigma_t^2 of f (never of y); [MVABO] Sec. 2.
    log_det : float
        ln det(I + K_t / sigma^2).
    """

    def __init__(self, domain, kernel, noise_var):
        super().__init__(domain)
        self.noise_var = positive(noise_var, "noise_var")
        self._take(kernel)

    def _take(self, kernel):
        """Start from the prior of a kernel."""
        X, W = self.domain.X.points, self.domain.W.points
        check_no_white_noise(kernel.first, X[:1])
        check_no_white_noise(kernel.second, W[:1])
        values, vectors = np.linalg.eigh(kernel.second(W))
        if not np.isfinite(values).all():
            raise ValueError(f"kernel {kernel!r} gave a non-finite covariance; check its scales")
        kept = values > values[-1] * RANK_TOLERANCE
        self.kernel = kernel
        self.phi = vectors[:, kept] * np.sqrt(values[kept])
        self.var = np.outer(kernel.first.diag(X), kernel.second.diag(W))
        self.mean = np.zeros(self.domain.shape)
        self.log_det = 0.0
        self._chunks, self._used = [], 0

    @property
    def rank(self):
        """Numerical rank r of the w-factor."""
        return self.phi.shape[1]

    def add(self, i, j, y):
        """Condition on ``y = f(x_i, w_j) + noise``."""
        before = self.var[i, j]
        d = self._pivot(before, i, j)
        row = self._next_row()
        np.multiply(
            self.kernel.first(self.domain.X.points, self.domain.X.points[[i]]), self.phi[j], out=row
        )
        flat = row.ravel()
        for rows in self._rows():
            v = rows[:, i, :] @ self.phi[j]  # v_s(z_t)
            flat -= v @ rows.reshape(len(rows), -1)
        row /= d
        self._used += 1
        self._update(row, (y - self.mean[i, j]) / d)
        self.log_det += float(np.log1p(before / self.noise_var))
        self._keep(i, j, y)

    def _pivot(self, before, i, j):
        """Return d_t; where noise_var is below rounding of the prior, jitter is added, with a word.

        Without it, rounding divided by d_t would grow at every observation of the same point.
        """
        point = self.domain.points([i], [j])
        prior = float(self.kernel.diag(point)[0])
        L, jitter = factorise(np.array([[before]]), self.noise_var, prior)
        if jitter:
            n = self.n_observations + 1
            message = jitter_message(point, n, self.noise_var, jitter)
            warnings.warn(message, JitterWarning, stacklevel=4)
        return L[0, 0]

    def _update(self, row, z):
        n, m = self.domain.shape
        step = max(1, BLOCK_ELEMENTS // m)
        for start in range(0, n, step):
            v = row[start : start + step] @ self.phi.T
            mean, var = (a[start : start + step] for a in (self.mean, self.var))
            var -= v * v
            np.maximum(var, 0, out=var)  # rounding and truncation only: v is exact to 1e-9
            v *= z
            mean += v

    def _rows(self):
        """Yield the stored rows A_s by chunks, shape (c, n, r)."""
        for first, chunk in zip(range(0, self._used, CHUNK_ROWS), self._chunks, strict=False):
            yield chunk[: self._used - first]

    def _next_row(self):
        if self._used == CHUNK_ROWS * len(self._chunks):
            self._chunks.append(self._chunk())
        return self._chunks[-1][self._used % CHUNK_ROWS]

    def _chunk(self):
        shape = (CHUNK_ROWS, len(self.domain.X), self.rank)
        needed, available = 8 * np.prod(shape), psutil.virtual_memory().available
        if needed > available:
            raise MemoryError(
                f"{self._used} observations of {shape[1]} designs at rank {shape[2]}: "
                f"{CHUNK_ROWS} more need {needed / 1e9:.2f} GB, available are "
                f"{available / 1e9:.2f} GB; use fewer designs or rounds"
            )
        return np.empty(shape)

    def set_kernel(self, kernel):
        """Change the kernel and recompute everything by one triangular solve, in blocks.

        Raises
        ------
        NotPositiveDefiniteError
            The new Gram matrix is singular to working precision; nothing is changed.
        """
        i, j, y = self.data()
        if not len(y):
            self._take(kernel)
            return
        X, W = self.domain.X.points[i], self.domain.W.points[j]
        gram = kernel.first(X) * kernel.second(W)
        L, jitter = factorise(gram, self.noise_var, gram.diagonal().max())
        if L is None or jitter or not np.isfinite(L).all():
            raise NotPositiveDefiniteError(
                f"Gram matrix of {len(y)} observations under {kernel!r} is singular to working "
                f"precision at noise_var {self.noise_var:g}; raise noise_var"
            )
        self._take(kernel)  # drops the old rows first: both sets need not fit at once
        while CHUNK_ROWS * len(self._chunks) < len(y):
            self._chunks.append(self._chunk())
        self._used = len(y)
        z = forward_solve(L, y)
        step = max(1, 16 * BLOCK_ELEMENTS // (len(y) * self.domain.shape[1]))
        for start in range(0, len(self.domain.X), step):
            self._rebuild(slice(start, start + step), X, self.phi[j], L, z)
        self.log_det = float(2 * np.log(L.diagonal()).sum() - len(y) * np.log(self.noise_var))

    def _rebuild(self, block, X, phi, L, z):
        t, r = phi.shape
        K = self.kernel.first(X, self.domain.X.points[block])
        A = forward_solve(L, (K[:, :, None] * phi[:, None, :]).reshape(t, -1))
        A = np.ascontiguousarray(A).reshape(t, -1, r)
        for first, rows in zip(range(0, t, CHUNK_ROWS), self._rows(), strict=True):
            rows[:, block] = A[first : first + CHUNK_ROWS]
        v = (A.reshape(-1, r) @ self.phi.T).reshape(t, A.shape[1], -1)
        self.var[block] -= np.einsum("tnm,tnm->nm", v, v)
        np.maximum(self.var[block], 0, out=self.var[block])
        self.mean[block] = np.tensordot(z, A, axes=1) @ self.phi.T


class BoxPosterior(Observed):
    """Exact posterior under any kernel, asked at any design.

    Parameters
    ----------
    domain : UncertainBox
    kernel : Kernel
        On joined points (x, w).
    noise_var : float

    Attributes
    ----------
    log_det : float
        As in `ProductPosterior`.
    """

    def __init__(self, domain, kernel, noise_var):
        super().__init__(domain)
        self._gp = GP(kernel, noise_var)

    @property
    def kernel(self):
        """The kernel."""
        return self._gp.kernel

    @property
    def noise_var(self):
        """Noise variance sigma^2."""
        return self._gp.noise_var

    @property
    def log_det(self):
        """Return ln det(I + K_t / sigma^2)."""
        return self._gp.log_det if self._y else 0.0

    def at(self, designs):
        """Return mean and variance at designs of shape (k, d1) and all environments, (k, m)."""
        k, m = len(designs), self.domain.shape[1]
        i, j = np.repeat(designs, m, axis=0), np.tile(np.arange(m), k)
        mean, var = self._gp.predict(self.domain.points(i, j))
        return mean.reshape(k, m), var.reshape(k, m)

    def add(self, i, j, y):
        """Condition on ``y = f(x, w_j) + noise`` at a design i, which is its x."""
        self._gp.condition(self.domain.points([i], [j]), [y])
        self._keep(i, j, y)

    def set_kernel(self, kernel):
        """Change the kernel; everything is recomputed once, and nothing is changed if it fails."""
        self._gp.set_hyperparameters(kernel=kernel)


class DensePosterior(BoxPosterior):
    """Exact posterior under any kernel, on inputs that several pairs (x, w) may share.

    Parameters
    ----------
    inputs : ndarray of shape (N, d)
        Points that f takes.
    where : ndarray of shape (n, m) of int, or None
        Which input belongs to the pair (x_i, w_j); None: inputs are the pairs in row order.
    domain : UncertainDomain
    kernel : Kernel
    noise_var : float

    Attributes
    ----------
    mean, var : ndarray of shape (n, m)
    log_det : float
        As in `ProductPosterior`.
    """

    at = Observed.at

    def __init__(self, inputs, where, domain, kernel, noise_var):
        super().__init__(domain, kernel, noise_var)
        n, m = domain.shape
        self._where = np.arange(n * m).reshape(n, m) if where is None else where
        self._tracked = self._gp.track(inputs)
        self._refresh()

    def _refresh(self):
        self.mean = self._tracked.mean[self._where]
        self.var = self._tracked.var[self._where]

    def add(self, i, j, y):
        """Condition on ``y = f(x_i, w_j) + noise``."""
        super().add(i, j, y)
        self._refresh()

    def set_kernel(self, kernel):
        """Change the kernel; everything is recomputed once, and nothing is changed if it fails."""
        super().set_kernel(kernel)
        self._refresh()
