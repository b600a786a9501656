"""What the contract test (tests/test_contract.py) needs to know of an optimiser class.

Every paper lists its public optimiser classes in tests/<paper>/cases.py as ``CASES``, a dict of
class name to `Case`.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One optimiser class in use, small and quick.

    Parameters
    ----------
    make : callable
        ``make(x_unit=1.0, y_unit=1.0, x_shift=0.0, rng=0, **changes)`` builds it afresh, with
        domain, lengthscales, noise and all else in those units: inputs are `x_shift + x_unit * x`,
        observations `y_unit * y`. `changes` override constructor arguments.
    objective : callable
        ``objective(query, x_unit=1.0, y_unit=1.0, x_shift=0.0) -> y`` of the completed query, a
        deterministic function; y as `tell` takes it.
    inputs : callable
        ``inputs(query) -> ndarray``: all coordinates of a query as `ask` gives it, in its units.
    changes : dict
        Constructor arguments with other values, which a journal must tell apart.
    complete : callable, optional
        ``complete(query) -> done``: what is carried out, where nature adds to what was asked.
    other : callable, optional
        ``other(optimizer) -> done``: a valid query that is not the pending one; None where the
        protocol takes the pending query only.
    nearby : callable, optional
        ``nearby(query) -> done``: the query carried out slightly elsewhere; None where it must be
        one of a finite set of which no two are near.
    y_shifts : bool, optional
        Whether adding a constant to y leaves the queries the same.
    model : bool, optional
        Whether it has a `posterior`.
    rounds : int, optional
        Rounds that take it past its first phase.
    choices_from : int, optional
        Rounds after which there is more than one query to choose from (a tree starts at its root).
    """

    make: Callable
    objective: Callable
    inputs: Callable
    changes: dict
    complete: Callable = lambda query: query
    other: Callable | None = None
    nearby: Callable | None = None
    y_shifts: bool = False
    model: bool = True
    rounds: int = 8
    choices_from: int = 0
