"""Newsvendor under dynamic consumer substitution: a simulator of our own, and the problem on it.

The paper names the problem, cites Mahajan & van Ryzin (2001), and prints no number. The numbers
here are those of the public code of Toscano-Palmerin & Frazier ("Bayesian optimization with
expensive integrands"), the one study we know whose w is Gamma distributed as the paper says:
they are not the paper's own.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fivebo.mvabo.instances import axis, benchmark


def preferences(w, shares, utility):
    r"""Return which of two products each customer takes first, and which it takes at all.

    Customer c values product j at ``u_j + G_cj`` and no purchase at 0, where

    .. math:: G_{cj} = -\gamma - \ln( -\ln( 1 - e^{-w_j s_{cj}} ) )

    and s_.j are Dirichlet shares: given their sum w_j, independent Exp(1) variables are w_j times
    such shares, so with w_j ~ Gamma(customers, 1) the G are independent centred Gumbel variables.

    Parameters
    ----------
    w : array_like of shape (2,)
        Purchasing behaviour.
    shares : ndarray of shape (R, C, 2)
        Of R replications and C customers, summing to 1 over customers.
    utility : float
        u_j of both products.

    Returns
    -------
    first, second : ndarray of shape (R, C) of bool
        The customer's first choice is product 1 (or 2).
    takes_1, takes_2 : ndarray of shape (R, C) of bool
        The customer prefers the product to nothing.

    Notes
    -----
    Source: [MVABO] Sec. 5.2; Mahajan & van Ryzin (2001).
    """
    U = utility - np.euler_gamma - np.log(-np.log(-np.expm1(-shares * np.asarray(w))))
    takes_1, takes_2 = U[..., 0] > 0, U[..., 1] > 0
    prefers_1 = U[..., 0] >= U[..., 1]
    return takes_1 & prefers_1, takes_2 & ~prefers_1, takes_1, takes_2


def sales(stock, choices):
    r"""Return the units sold of both products for every pair of initial stocks at once.

    Customers come one after the other and take the better product that is in stock, if it is
    better than nothing. While both are in stock, sales follow the first choices; once the one
    product is gone after k customers, every later customer who takes the other at all buys it. So
    counts up to k decide everything.

    Parameters
    ----------
    stock : ndarray of shape (s,) of int
        Levels of each product.
    choices : tuple of 4 ndarray of shape (R, C)
        From `preferences`.

    Returns
    -------
    sold_1, sold_2 : ndarray of shape (R, s, s)
        By level of product 1 and of product 2.
    """
    first, second, any_1, any_2 = (
        np.concatenate([np.zeros((len(c), 1), dtype=int), c.cumsum(axis=1)], axis=1)
        for c in choices
    )
    last = first.shape[1] - 1
    # customers served when a stock is gone, if the other lasts; last + 1 if it never is
    gone_1, gone_2 = ((c[:, :, None] < stock).sum(axis=1) for c in (first, second))

    def rest(gone, own, substitutes):
        """Demand for a product whose rival is gone: (R, s)."""
        k = np.minimum(gone, last)
        before = np.take_along_axis(own, k, axis=1)
        return before + substitutes[:, -1:] - np.take_along_axis(substitutes, k, axis=1)

    x1, x2 = stock[None, :, None], stock[None, None, :]
    one_first = gone_1[:, :, None] < gone_2[:, None, :]
    two_first = gone_1[:, :, None] > gone_2[:, None, :]
    demand_1 = np.where(two_first, rest(gone_2, first, any_1)[:, None, :], first[:, -1, None, None])
    demand_2 = np.where(
        one_first, rest(gone_1, second, any_2)[:, :, None], second[:, -1, None, None]
    )
    return np.minimum(x1, demand_1), np.minimum(x2, demand_2)


@lru_cache(maxsize=4)
def profit_table(problem):
    """Return the mean profit on the grid, common random numbers for all (x, w).

    Parameters
    ----------
    problem : NewsvendorProblem

    Returns
    -------
    ndarray of shape (s^2, q^2)
        By stocks (product 1 major) and by w (component 1 major), in units of money.
    """
    rng = np.random.default_rng(problem.table_seed)
    shares = rng.standard_exponential((problem.replications, problem.customers, 2))
    shares /= shares.sum(axis=1, keepdims=True)
    stock, levels = problem.stock(), problem.levels()
    spent = problem.costs[0] * stock[:, None] + problem.costs[1] * stock[None, :]
    columns = []
    for w_1 in levels:
        for w_2 in levels:
            sold_1, sold_2 = sales(stock, preferences((w_1, w_2), shares, problem.utility))
            income = problem.prices[0] * sold_1.mean(axis=0) + problem.prices[1] * sold_2.mean(0)
            columns.append((income - spent).ravel())
    table = np.column_stack(columns)
    table.setflags(write=False)
    return table


@dataclass(frozen=True)
class NewsvendorProblem:
    """Two products, x their initial stocks, w the customers' behaviour; f is the mean profit.

    Source: [MVABO] Sec. 5.2; every number is that of the code named above, or ours.

    Parameters
    ----------
    n_x, n_w : int
        Grid points along each axis of x and of w.
    customers : int
    capacity : float
        Largest stock of a product, in units.
    costs, prices : tuple of 2 float
        Per unit.
    utility : float
        u_j of both products.
    quantile : float
        w_j runs between this quantile and its complement of Gamma(customers, 1).
    replications : int
        Simulations averaged at each (x, w).
    table_seed : int
        Of the common random numbers; all runs share the table.
    standardised, length_scale, noise_var
        As in `mvabo.problems.BirdProblem`. The table has no noise; noise_var is the model's floor
        and is added to the observations.
    """

    n_x: int = 20
    n_w: int = 10
    customers: int = 1000
    capacity: float = 1000.0
    costs: tuple[float, float] = (5.0, 10.0)
    prices: tuple[float, float] = (8.0, 18.0)
    utility: float = 0.5
    quantile: float = 0.001
    replications: int = 50
    table_seed: int = 0
    standardised: bool = True
    length_scale: float = 0.25
    noise_var: float = 1e-4

    def stock(self):
        """Return the levels of stock, rounded down to units."""
        return np.linspace(0, self.capacity, self.n_x).astype(int)

    def levels(self):
        """Return the levels of each w_j."""
        from scipy.special import gammaincinv

        ends = gammaincinv(self.customers, [self.quantile, 1 - self.quantile])
        return np.linspace(*ends, self.n_w)

    def weights(self):
        """Return the product Gamma density on the grid of w, normalised, shape (n_w^2,)."""
        w = self.levels()
        log_density = (self.customers - 1) * np.log(w) - w
        density = np.exp(log_density - log_density.max())
        p = np.outer(density, density).ravel()
        return p / p.sum()

    def draw(self, rng):
        """Return the one function: the table is fixed by its own seed."""
        stock = 2 * self.stock() / self.capacity - 1
        X, W = (
            np.stack(np.meshgrid(v, v, indexing="ij"), axis=-1).reshape(-1, 2)
            for v in (stock, axis(self.n_w))
        )
        return benchmark(self, profit_table(self), X, W, self.weights())
