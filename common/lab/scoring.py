"""What the scorers of all papers share: which metrics a method has, and when they are taken."""


class Scorer:
    """Scores one run step by step; see `fivebo.common.lab.metrics.METRICS` for the definitions.

    The runner calls `asked` before and `told` after each observation. A subclass gives the value
    of a metric in `_score`, from the truth and what `_before` and `_after` kept.

    Parameters
    ----------
    instance : object
        The paper's drawn problem.
    method : str
        Slug of the method.
    params : object
        The paper's settings, `study.Params`.
    horizon : int
        Number of steps.
    metrics : iterable of str
        Names to score; those that a method does not have are left out.
    """

    OF_SOME = ()
    """Pairs of methods and of the metrics that only these have, each a tuple of str."""

    def __init__(self, instance, method, params, horizon, metrics):
        self.instance, self.method, self.params = instance, method, params
        self.horizon = horizon
        self.names = [name for name in metrics if name != "round_seconds" and self._has(name)]

    def _has(self, name):
        """Whether the method has a metric; the runner measures "round_seconds"."""
        return all(self.method in methods for methods, names in self.OF_SOME if name in names)

    def asked(self, step, optimizer, query):
        """Take the state before the observation."""
        self._before(step, optimizer, query)

    def told(self, step, optimizer, query, y):
        """Return the scores of the round as a dict of metric name to value."""
        self._after(step, optimizer, query, y)
        return {name: self._score(name, step, optimizer) for name in self.names}

    def _before(self, step, optimizer, query):
        """Keep what a metric needs of the state before the observation."""

    def _after(self, step, optimizer, query, y):
        """Keep what a metric needs of the state after the observation."""

    def _score(self, name, step, optimizer):
        raise NotImplementedError
