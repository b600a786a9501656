"""A continuous X: MT-MVA-BO with a continuous optimiser, and the grid that MO-MVA-BO runs on.

Reference: [MVABO] App. D. For the grid, `tau_grid` with `mvabo.theory.tau` and
``MOMVABO(..., discretised=True)``.
"""

import numpy as np

from fivebo.common.checks import count
from fivebo.common.search.ties import tied_with_max
from fivebo.mvabo.algorithms import MTMVABO
from fivebo.mvabo.domain import UncertainBox

N_STARTS, N_REFINED = 64, 3
"""Random designs at which the acquisition is evaluated, and the best of them that are refined."""

DIFFERENCE = 1e-6
"""Step of the forward differences, relative to the width of X."""


def tau_grid(tau, dim):
    """Return the grid X~ that divides each axis of [0, 1]^dim into tau segments.

    Source: [MVABO] App. D; every x is within ``dim / tau`` of a grid point in the l1 norm, Eq.
    (41) (within half of it, in fact).

    Parameters
    ----------
    tau : int
        Segments an axis, >= 1.
    dim : int

    Returns
    -------
    ndarray of shape ((tau + 1)^dim, dim)
    """
    axis = np.linspace(0, 1, count(tau, "tau") + 1)
    return np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)


class ContinuousMTMVABO(MTMVABO):
    r"""MT-MVA-BO on a box: the acquisition is maximised by L-BFGS-B from several starts.

    A failed design is passed over with all within 0.01 of it along every axis, relative to the
    side (`mvabo.domain.NEAR`).

    Parameters
    ----------
    X : Box or array_like of shape (d1, 2)
        The box, or its limits.
    W, p
        Environments and their probabilities, as in `UncertainDomain`.
    kernel : Kernel
        On joined points (x, w).
    settings
        As in `MTMVABO`.

    Notes
    -----
    Source: [MVABO] App. D, first paragraph.
    """

    def __init__(self, X, W, p, kernel, **settings):
        super().__init__(UncertainBox(X, W, p), kernel, **settings)

    def _upper(self, X):
        return self.bounds_at(X).scalarized(self.alpha)[1]

    def _choose(self):
        box = self.domain.X
        starts = box.uniform(N_STARTS, self.streams.initial)
        if self.queried:
            starts = np.vstack([starts, self.queried])
        values = self._upper(starts)
        values[tied_with_max(values)] = values.max()  # the first of those that rounding parts
        prior = self.model.kernel.diag(self.domain.points(starts, np.zeros(len(starts), dtype=int)))
        best = np.argsort(-values, kind="stable")[:N_REFINED]
        refined = [self._refined(starts[k], values[k], np.sqrt(prior.max())) for k in best]
        designs = [tuple(x.tolist()) for x in (*(x for _, x in refined), *starts)]
        values = np.append([value for value, _ in refined], values)
        failed = np.array([self._failed_at(x).all() for x in designs])
        if not failed.all():
            values[failed] = -np.inf
        return designs[tied_with_max(values)[0]]

    def _refined(self, x, value, scale):
        """Return the value and the place of a local maximum; `scale` takes the unit of y away."""
        from scipy.optimize import minimize

        box = self.domain.X

        def objective(u):
            inward = np.where(u + DIFFERENCE > 1, -DIFFERENCE, DIFFERENCE)
            values = self._upper(box.from_unit(np.vstack([u, u + np.diag(inward)]))) / scale
            return -values[0], -(values[1:] - values[0]) / inward

        found = minimize(
            objective, box.to_unit(x), jac=True, method="L-BFGS-B", bounds=[(0, 1)] * box.dim
        )
        better = np.isfinite(found.fun) and -found.fun * scale > value
        return (-found.fun * scale, box.from_unit(found.x)) if better else (value, x)
