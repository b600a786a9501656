"""What every method of [MVABO] shares: the model, its bounds, the choice of w, the fits."""

import copy

import numpy as np

from fivebo.common.checks import count, one_of, positive
from fivebo.common.gp.evidence import fit, start_of
from fivebo.common.search.optimizer import Asked, Optimizer, numbered
from fivebo.common.search.ties import tied_with_max
from fivebo.mvabo.bounds import objective_bounds
from fivebo.mvabo.fronts import estimated_set
from fivebo.mvabo.kernels import MAX_ITERATIONS, fit_limits

W_RULES = (None, "sd", "sd-p", "var-p")
"""Who chooses the environment w: nature, or the user by one of three rules."""


class MeanVarianceSearch(Optimizer):
    """Sequential choice of designs x under an environment w; subclasses say which x comes next.

    The rounds of Algorithms 1, 2 and 3 are the caller's loop over `ask` and `tell`. What `ask`
    gives is x or, in the simulator setting, the pair (x, w), in units of the domain; what is told
    is ``tell((x, w), y)``, or ``tell(x, None)`` of a failure before w is known. Its own form of a
    query is (i, j): a design of the domain and the index of an environment, None if nature draws
    it.

    Parameters
    ----------
    domain : UncertainDomain
        X, Omega and p(w), or the noisy-input version.
    kernel : Kernel
        Prior covariance of f; a product such as `squared_exponential` is much the faster.
    noise_var : float
        sigma^2 > 0, in squared units of y.
    beta_sqrt : float or callable
        beta_t^{1/2}: a constant > 0, or ``beta_sqrt(log_det)`` such as `TheoryBeta`.
    w_rule : {None, "sd", "sd-p", "var-p"}
        None: nature draws w, `ask` returns x. Else w is chosen too (simulator setting), by the
        largest sigma, sigma p or sigma^2 p, and `ask` returns (x, w). [MVABO] Sec. 3.3.3, App. C.2;
        in the experiment of Sec. 5.2 every method does so.
    refit_every : int or None
        Fit the kernel, one of the core, by marginal likelihood after every so many observations
        that are not all equal; the noise variance is held. [MVABO] Sec. 5.1.
    rng : int, numpy.random.Generator or Streams
    """

    fits = True

    def __init__(
        self, domain, kernel, *, noise_var, beta_sqrt=3.0, w_rule=None, refit_every=None, rng=0
    ):
        super().__init__(rng)
        self.domain, self.w_rule = domain, one_of(w_rule, "w_rule", W_RULES)
        self.refit_every = None if refit_every is None else count(refit_every, "refit_every")
        if refit_every is not None and not hasattr(kernel, "axes"):
            raise ValueError(
                f"refit_every needs a kernel that knows its slopes, got {kernel!r:.80}: use "
                "squared_exponential, or one of fivebo.common.gp.kernels"
            )
        self._beta_sqrt = beta_sqrt if callable(beta_sqrt) else positive(beta_sqrt, "beta_sqrt")
        self.model = domain.model(copy.deepcopy(kernel), noise_var)
        self._first_kernel = self.model.kernel
        self._own_bounds = []  # (l1, u1, l2, u2) of each observed design at its own step
        self._bounds = None

    @property
    def beta_sqrt(self):
        """beta_t^{1/2} of the coming round t, from the t - 1 data so far."""
        if callable(self._beta_sqrt):
            return float(self._beta_sqrt(self.model.log_det))
        return self._beta_sqrt

    @property
    def weights(self):
        """Return p(w), or its empirical estimate p_t of [MVABO] Sec. 3.3.1, shape (m,)."""
        if self.domain.p is not None:
            return self.domain.p
        m = self.domain.shape[1]
        counts = np.bincount(self.model.data()[1], minlength=m)
        return counts / counts.sum() if counts.any() else np.full(m, 1 / m)

    @property
    def bounds(self):
        """Bounds of step t on all of a finite X, from the data so far."""
        if self._bounds is None:
            self._bounds = self.bounds_at(self.domain.designs())
        return self._bounds

    def bounds_at(self, designs):
        """Return the bounds of step t at some designs only, from those of all X if they exist."""
        if self._bounds is not None:
            return self._bounds.at(designs)
        return objective_bounds(*self.model.at(designs), self.weights, self.beta_sqrt)

    def posterior(self, X=None):
        """Return mean and standard deviation of f, in units of y, at all environments.

        Parameters
        ----------
        X : array_like of shape (k, d1), optional
            Designs of the domain; default, where it is finite: all.

        Returns
        -------
        mean, std : ndarray of shape (k, m)
        """
        mean, var = self.model.at(self.domain.designs(X))
        return mean.copy(), np.sqrt(var)

    def pareto_set(self):
        """Return Pi^_t by Eq. (7), as a mask of shape (n,)."""
        return estimated_set(self.bounds)

    @property
    def queried(self):
        """Designs observed so far, and the one asked for, as a list."""
        told = [entry.query[0] for entry in self.told if entry.value is not None]
        return told + [asked.query[0] for asked in self.pending]

    def own_bounds(self):
        """Return the bounds each observed design had at its own step, columns l1, u1, l2, u2."""
        return np.array(self._own_bounds).reshape(-1, 4)

    def _choose(self):
        """Return the design x_t."""
        raise NotImplementedError

    def _propose(self):
        i = self._choose()
        return Asked((i, None if self.w_rule is None else self._choose_environment(i)))

    def _best(self, values):
        """Return a maximiser; one draw a round breaks ties, so the methods share the stream."""
        best = tied_with_max(values)
        return int(best[int(self.streams.initial.random() * len(best))])

    def _open(self):
        """Return a mask of the designs of a finite X that have not failed; all if all have."""
        mask = np.ones(len(self.domain.X), dtype=bool)
        mask[[i for i, _ in self.failed if self._failed_at(i).all()]] = False
        return mask if mask.any() else ~mask

    def _best_design(self, values, among=None):
        """Return a maximiser among some designs that have not failed, or else among all such."""
        candidates = self._open()
        if among is not None and (candidates & among).any():
            candidates &= among
        return self._best(np.where(candidates, values, -np.inf))

    def _failed_at(self, i):
        """Return a mask of the environments that failed at a design, shape (m,)."""
        mask = np.zeros(self.domain.shape[1], dtype=bool)
        for other, j in self.failed:
            if self.domain.near(i, other):
                mask[slice(None) if j is None else j] = True
        return mask

    def _choose_environment(self, i):
        sd, p = np.sqrt(self.model.at([i])[1][0]), self.weights
        score = {"sd": sd, "sd-p": sd * p, "var-p": sd**2 * p}[self.w_rule]
        failed = self._failed_at(i)
        return self._best(score if failed.all() else np.where(failed, -np.inf, score))

    def _own(self, query):
        return self.domain.index(query)

    def _own_asked(self, query):
        pair = isinstance(query, tuple | list) and len(query) == 2
        if pair and np.size(query[0]) == self.domain.X.dim:
            return self.domain.index(query)
        return self.domain.design(query), None

    def _public(self, query):
        x, j = self.domain.point(query[0]), query[1]
        return x if j is None else (x, self.domain.W.points[j].copy())

    def _answers(self, query, asked):
        return query[0] == asked[0] and (None in (query[1], asked[1]) or query[1] == asked[1])

    def _pass_over(self, own, value):
        """Remember a failure: of the pair if w is chosen, else of the design."""
        super()._pass_over(own if self.w_rule else (own[0], None), value)

    def _learn(self, query, value, note):
        """Take an observation; the bounds that the design had before it are kept."""
        i, j = query
        own = self.bounds_at([i])
        self.model.add(i, j, value)
        self._own_bounds.append((own.l1[0], own.u1[0], own.l2[0], own.u2[0]))
        if self.refit_every is not None and self.model.n_observations % self.refit_every == 0:
            self._refit()
        self._bounds = None

    def _refit(self):
        """Fit the kernel anew; a fit that fails keeps the last good one and is counted."""
        i, j, y = self.model.data()
        if len(np.unique(y)) == 1:
            return
        kernel, noise_var = self.model.kernel, self.model.noise_var
        limits = fit_limits(kernel, y, noise_var, self.domain.extent)
        starts = [start_of(k, noise_var) for k in dict.fromkeys([kernel, self._first_kernel])]
        try:
            found = fit(kernel, self.domain.points(i, j), y, limits, starts, MAX_ITERATIONS)
            self.model.set_kernel(found.kernel)
        except np.linalg.LinAlgError:
            self.n_failed_fits += 1
        else:
            self.n_fits_at_limit += bool(found.at_limit)

    def _columns(self):
        return [*numbered("x", self.domain.X.dim), *numbered("w", self.domain.W.dim), "y"]

    def _row(self, entry):
        i, j = entry.query
        w = np.full(self.domain.W.dim, np.nan) if j is None else self.domain.W.points[j]
        return (*self.domain.point(i), *w, np.nan if entry.value is None else entry.value)
