"""The loop around a function of the user's own, with a journal from which a killed run resumes."""

import operator

import numpy as np


def optimize(optimizer, objective, budget, journal=None, progress=True, environment=None):
    """Optimise a function of your own, with a journal from which a killed run resumes.

    Parameters
    ----------
    optimizer : object with ask, tell, recommend, result
        Any optimiser of this package, freshly built with the same settings and seed as before.
    objective : callable
        ``objective(query) -> y``; evaluated once a round.
    budget : int
        Number of evaluations, those in the journal counted: a larger budget than last time
        extends the run, an equal one evaluates nothing. Without a journal, every call makes
        `budget` of them; what the optimiser was told before does not count.
    journal : path-like, optional
        Append-only file of JSON lines, written before and after each evaluation. An evaluation
        that was started and not finished is made again.
    progress : bool, optional
        Show a bar on standard error.
    environment : callable, optional
        ``environment(query) -> query`` completes a query by what nature draws, for instance x to
        (x, w), before it is evaluated and told.

    Returns
    -------
    object
        `optimizer`, after `budget` evaluations; call its `recommend()` and `result()`.

    Raises
    ------
    ValueError
        The journal belongs to another optimiser, seed or setting, or is damaged.
    """
    from tqdm import trange

    from fivebo.common.search.journal import Journal

    try:
        budget = operator.index(budget) if not isinstance(budget, bool) else -1
    except TypeError:
        raise ValueError(f"budget must be an integer >= 0, got {budget!r}") from None
    if budget < 0:
        raise ValueError(f"budget must be an integer >= 0, got {budget!r}")
    log = Journal(journal, optimizer)
    done = min(len(log.told), budget)
    _replay(optimizer, log, done)
    for step in trange(
        done + 1, budget + 1, initial=done, total=budget, disable=not progress, desc="evaluations"
    ):
        query = optimizer.ask()
        log.begin(step, query)
        completed = query if environment is None else environment(query)
        y = objective(completed)
        optimizer.tell(completed, y)
        log.end(step, y, None if environment is None else completed)
    return optimizer


def _replay(optimizer, log, steps):
    """Bring `optimizer` to the state after some evaluations of the journal."""
    from fivebo.common.search.journal import plain

    for asked, told in zip(log.asked[:steps], log.told[:steps], strict=True):
        query = optimizer.ask()
        if plain(query) != asked["query"]:
            raise ValueError(
                f"journal {log.path} holds query {asked['query']} at evaluation {asked['step']}, "
                f"this optimiser asks {plain(query)}: use the settings and seed it was written "
                "with, or a new file"
            )
        y = told["y"]
        optimizer.tell(told.get("told", query), np.asarray(y) if isinstance(y, list) else y)
