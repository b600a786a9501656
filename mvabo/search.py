"""What every method of [MVABO] shares: the model, its bounds, ask and tell, the history."""

import numpy as np

from fivebo.common.checks import as_finite_array, positive
from fivebo.common.search.rng import Streams
from fivebo.mvabo.bounds import objective_bounds
from fivebo.mvabo.fitting import fit_ard
from fivebo.mvabo.fronts import estimated_set

W_RULES = {
    None: "nature draws w",
    "sd": "argmax sigma",
    "sd-p": "argmax sigma p",
    "var-p": "argmax sigma^2 p",
}
"""Who chooses the environment w: nature, or the user by one of three rules."""

SMALL = 1000
"""Up to so many designs, the bounds of all are computed once rather than of some several times."""

TIE = 1e-12
"""Values this close to the maximum, relative to the largest magnitude, count as tied."""


def checked_observation(y, where):
    """Return y as a float, or raise with the place if it is missing or no finite real number."""
    if y is None:
        raise TypeError(
            f"{where}: y is None: a failed evaluation carries no information here; evaluate "
            "again, or do not tell it"
        )
    try:
        y = as_finite_array(y, "y")
        if y.size != 1:
            raise ValueError(f"y must be one number, got an array of shape {y.shape}")
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from None
    return float(y.ravel()[0])


class MeanVarianceSearch:
    """Sequential choice of designs x under an environment w; subclasses say which x comes next.

    The rounds of Algorithms 1, 2 and 3 are the caller's loop over `ask` and `tell`.

    Parameters
    ----------
    domain : UncertainDomain
        X, Omega and p(w), or the noisy-input version.
    kernel : Kernel
        Prior covariance of f; a `ProductKernel` is much the faster.
    noise_var : float
        sigma^2 > 0, in squared units of y.
    beta_sqrt : float or callable
        beta_t^{1/2}: a constant > 0, or ``beta_sqrt(log_det)`` such as `TheoryBeta`.
    w_rule : {None, "sd", "sd-p", "var-p"}
        None: nature draws w, `ask` returns x. Else w is chosen too (simulator setting), by the
        largest sigma, sigma p or sigma^2 p, and `ask` returns (x, w). [MVABO] Sec. 3.3.3, App. C.2;
        in the experiment of Sec. 5.2 every method does so.
    refit_every : int or None
        Fit an ARD Gaussian kernel by marginal likelihood after every so many observations.
    rng : int, numpy.random.Generator or Streams
    """

    def __init__(
        self, domain, kernel, *, noise_var, beta_sqrt=3.0, w_rule=None, refit_every=None, rng=0
    ):
        if w_rule not in W_RULES:
            raise ValueError(f"w_rule must be None, 'sd', 'sd-p' or 'var-p', got {w_rule!r}")
        if refit_every is not None and (not isinstance(refit_every, int) or refit_every < 1):
            raise ValueError(f"refit_every must be None or an integer >= 1, got {refit_every!r}")
        if refit_every is not None and not hasattr(kernel, "dim_x"):
            raise ValueError(
                f"refit_every needs a kernel from squared_exponential, got {kernel!r:.80}"
            )
        self.domain, self.w_rule, self.refit_every = domain, w_rule, refit_every
        if not callable(beta_sqrt):
            beta_sqrt = positive(beta_sqrt, "beta_sqrt")
        self._beta_sqrt = beta_sqrt
        self.posterior = domain.posterior(kernel, noise_var)
        self.n_failed_fits = 0
        self.streams = Streams.of(rng)
        self._first_kernel = kernel
        self._counts = np.zeros(domain.shape[1])
        self._own = []  # (l1, u1, l2, u2) of each observed design at its own step
        self._pending = self._bounds = None

    @property
    def beta_sqrt(self):
        """beta_t^{1/2} of the coming round t, from the t - 1 data so far."""
        if callable(self._beta_sqrt):
            return float(self._beta_sqrt(self.posterior.log_det))
        return self._beta_sqrt

    @property
    def weights(self):
        """Return p(w), or its empirical estimate p_t of [MVABO] Sec. 3.3.1, shape (m,)."""
        if self.domain.p is not None:
            return self.domain.p
        total = self._counts.sum()
        return self._counts / total if total else np.full(len(self._counts), 1 / len(self._counts))

    @property
    def bounds(self):
        """Bounds of step t on all of X, from the data so far."""
        if self._bounds is None:
            self._bounds = self.bounds_at(slice(None))
        return self._bounds

    def bounds_at(self, rows):
        """Return the bounds of step t at some designs only, from those of all X if they exist."""
        if self._bounds is not None:
            return self._bounds.at(rows)
        mean, var = self.posterior.mean[rows], self.posterior.var[rows]
        return objective_bounds(mean, var, self.weights, self.beta_sqrt)

    def pareto_set(self):
        """Return Pi^_t by Eq. (7), as a mask of shape (n,)."""
        return estimated_set(self.bounds)

    def _choose(self):
        """Return the index of x_t."""
        raise NotImplementedError

    def _first_best(self, values, tie):
        """Return a maximiser, any of the tied ones by the uniform number `tie`."""
        highest = values.max()
        best = np.flatnonzero(values >= highest - TIE * max(1.0, abs(highest)))
        return int(best[int(tie * len(best))])

    def _best(self, values):
        """Return a maximiser; one draw a round breaks ties, so the methods share the stream."""
        return self._first_best(values, self.streams.initial.random())

    def _choose_environment(self, i):
        sd, p = np.sqrt(self.posterior.var[i]), self.weights
        score = {"sd": sd, "sd-p": sd * p, "var-p": sd**2 * p}[self.w_rule]
        return self._best(score)

    def ask(self):
        """Return the next query, the same one until it is told.

        Returns
        -------
        ndarray of shape (d1,), or tuple of two such
            x, or (x, w) in the simulator setting, in units of the domain.
        """
        if self._pending is None:
            i = self._choose()
            self._pending = (i, None if self.w_rule is None else self._choose_environment(i))
        i, j = self._pending
        x = self.domain.X.points[i].copy()
        return x if j is None else (x, self.domain.W.points[j].copy())

    def tell(self, query, y):
        """Take an observation at any point of the domain, asked for or not.

        Parameters
        ----------
        query : tuple (x, w)
            Design and environment (x and xi with noisy inputs).
        y : float
            ``f(x, w)`` plus noise.

        Raises
        ------
        ValueError, TypeError
            Not a pair, not points of the domain, y missing, not finite or not a number (a failed
            evaluation carries no information: ask again or leave it out); nothing is changed.
        """
        step = self.posterior.n_observations + 1
        i, j = self.domain.index(query)
        y = checked_observation(y, f"round {step}, x={np.ravel(query[0]).tolist()}")
        own = self.bounds_at([i])
        self.posterior.add(i, j, y)
        self._counts[j] += 1
        self._own.append((own.l1[0], own.u1[0], own.l2[0], own.u2[0]))
        if self._pending is not None and self._pending in ((i, j), (i, None)):
            self._pending = None
        if self.refit_every is not None and step % self.refit_every == 0:
            self._refit()
        self._bounds = None
        self._told()

    def _told(self):
        """Bring the state of the subclass up to date."""

    def _refit(self):
        """Fit the kernel anew; a fit that fails keeps the last good one and is counted."""
        i, j, y = self.posterior.data()
        Z, kernel = self.domain.points(i, j), self.posterior.kernel
        starts = (kernel, self._first_kernel)
        fitted = fit_ard(Z, y, kernel.dim_x, self.posterior.noise_var, starts)
        try:
            if fitted is None:
                raise np.linalg.LinAlgError
            self.posterior.set_kernel(fitted)
        except np.linalg.LinAlgError:
            self.n_failed_fits += 1

    @property
    def queried(self):
        """Indices of the designs observed so far, and of the one asked for."""
        i, _, _ = self.posterior.data()
        return i if self._pending is None else np.append(i, self._pending[0])

    def history(self):
        """Return indices i of x, j of w, and observations y of all rounds."""
        return self.posterior.data()

    def own_bounds(self):
        """Return the bounds each observed design had at its own step, columns l1, u1, l2, u2."""
        return np.array(self._own).reshape(-1, 4)

    def result(self):
        """Return the history as a tidy frame: t, x_1.., w_1.., y."""
        import pandas as pd

        i, j, y = self.history()
        X, W = self.domain.X.points[i], self.domain.W.points[j]
        columns = {"t": np.arange(1, len(y) + 1)}
        columns |= {f"x_{k}": values for k, values in enumerate(X.T, start=1)}
        columns |= {f"w_{k}": values for k, values in enumerate(W.T, start=1)}
        return pd.DataFrame(columns | {"y": y})


class MultiTaskSearch(MeanVarianceSearch):
    r"""A search that recommends one design by the lower bound of ``G = alpha F_1 + (1-alpha) F_2``.

    Parameters
    ----------
    domain, kernel
        As in `MeanVarianceSearch`, like all further settings.
    alpha : float
        Weight of F_1 in [0, 1]. [MVABO] Sec. 2.
    recommendation : {"online", "own-step", "final"}
        "online": ``argmax l_t(x_t')`` with the bounds of step t, which rest on t - 1 data
        ([MVABO] Sec. 5). "own-step": ``argmax l_t'(x_t')``, each design by the bound of its own
        step (Theorem 4.1; the only rule the theorem speaks of). "final": the bounds after all
        data (output of Algorithm 1).
    """

    RULES = ("online", "own-step", "final")

    def __init__(self, domain, kernel, *, alpha=0.5, recommendation="online", **settings):
        super().__init__(domain, kernel, **settings)
        alpha = float(as_finite_array(alpha, "alpha", ndim=0))
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha must lie in [0, 1], got {alpha:g}")
        if recommendation not in self.RULES:
            raise ValueError(
                f"recommendation must be one of {', '.join(self.RULES)}, got {recommendation!r}"
            )
        self.alpha, self.recommendation = alpha, recommendation
        self.target = alpha  # weight of F_1 in what is recommended
        self._last = None  # index recommended by the bounds of the last finished step

    def recommend_index(self, target=None, rule=None):
        """Return the index of the recommended design, or None before the first query.

        Parameters
        ----------
        target : float, optional
            Weight of F_1 in the lower bound; default `alpha`.
        rule : str, optional
            Default `recommendation`.
        """
        target = self.target if target is None else target
        rule = self.recommendation if rule is None else rule
        queried = self.queried
        if not len(queried):
            return None
        if rule == "own-step":
            own = self.own_bounds()
            low = target * own[:, 0] + (1 - target) * own[:, 2]
            if self._pending is not None:
                low = np.append(low, self._lower(self._pending[:1], target))
            return int(queried[low.argmax()])
        if rule == "online" and self._pending is None and self._last is not None:
            return self._last
        return int(queried[self._lower(queried, target).argmax()])

    def _lower(self, rows, target):
        rows = np.asarray(rows)
        few = self.bounds.at(rows) if len(self.domain.X) <= SMALL else self.bounds_at(rows)
        return few.scalarized(target)[0]

    def tell(self, query, y):
        """Take an observation; see `MeanVarianceSearch.tell`."""
        i, _ = self.domain.index(query)
        queried = np.append(self.queried, i)
        last = int(queried[self._lower(queried, self.target).argmax()])
        super().tell(query, y)
        self._last = last

    def recommend(self):
        """Return the recommended design x^, shape (d1,); None before the first query."""
        index = self.recommend_index()
        return None if index is None else self.domain.X.points[index].copy()

    def gap(self):
        r"""Return a bound on ``G(x*) - G(x^)`` of the own-step recommendation.

        .. math:: \min_{t' \le t} u_{t'}(x_{t'}) - \max_{t' \le t} l_{t'}(x_{t'})

        Valid under event (2) if each x_t maximised the upper bound of G, as in MT-MVA-BO: then it
        may stop the search early, x^ being an eps-accurate solution ([MVABO] Sec. 2) once it is at
        most eps. Infinite before the first observation.
        Source: proof of [MVABO] Theorem 4.1, Eq. (27).
        """
        if not self._own:
            return np.inf
        own, a = self.own_bounds(), self.alpha
        low = a * own[:, 0] + (1 - a) * own[:, 2]
        high = a * own[:, 1] + (1 - a) * own[:, 3]
        return float(high.min() - low.max())
