"""Cutting planes using classifiers, Algorithm 1 of [CDFO]; ``l. 7`` in a comment is line 7.

Reference: [CDFO] T. B. Hashimoto, S. Yadlowsky and J. C. Duchi, AISTATS 2018. Values are minimised.
Lines are counted as the listing does: 1-3 the first batch, 4 the loop, 5 the threshold, 6 the
classifier, 7 the weights, 8-9 the next batch, 11-12 the best of the last batch.
"""

import numpy as np

from fivebo.classify_dfo.classifiers import ForestConsensus
from fivebo.classify_dfo.feedback import Values
from fivebo.classify_dfo.optimizer import BatchOptimizer
from fivebo.classify_dfo.spaces import first_batch


class RepeatedClassification(BatchOptimizer):
    r"""Repeated classification: cut away what a classifier is sure to be high.

    .. math::
        h^{(t)} \text{ fitted to } \{(X_i, 1\{Y_i > \alpha^{(t)}\})\}, \qquad
        p^{(t)}(x) \propto p^{(t-1)}(x) (1 - \eta h^{(t)}(x)), \qquad X^{(t)} \sim p^{(t)}

    Parameters
    ----------
    sampler : Enumeration, Perturbation or ImportanceSampling
        Action space, eta and the distribution p^(t); one of its own for each search.
    classifier : object with fit(X, z, rng), optional
        Returns h, a function from features (m, d) to [0, 1]; default: `ForestConsensus`.
    batch : int
        n.
    feedback : Values, Order or Comparisons, optional
        What `tell` is told; default: values and their median.
    rng : int, numpy.random.Generator or Streams

    Attributes
    ----------
    labels : ndarray
        Present labels of all points but those of the last batch, which are labelled when the
        next batch is asked for.
    n_comparisons : int
        Answers of comparisons told so far.

    Examples
    --------
    >>> from fivebo.classify_dfo import Catalogue, Enumeration
    >>> x = np.linspace(0, 1, 500)
    >>> search = RepeatedClassification(Enumeration(Catalogue(x), repeats=False), batch=30, rng=0)
    >>> for _ in range(4):
    ...     rows = search.ask()
    ...     search.tell(rows, (x[rows] - 0.3) ** 2)
    >>> bool(abs(x[search.recommend()] - 0.3) < 0.01)
    True

    Notes
    -----
    Source: [CDFO] Algorithm 1, Sec. 1, Sec. 4. Labels of one kind skip the update, as would
    any constant h.
    """

    def __init__(self, sampler, classifier=None, *, batch, feedback=None, rng=0):
        classifier = ForestConsensus() if classifier is None else classifier
        feedback = Values() if feedback is None else feedback
        _check_part(sampler, "sampler", "Enumeration(Catalogue(features))", "update", "draw")
        _check_part(classifier, "classifier", "ForestConsensus()", "fit")
        _check_part(feedback, "feedback", "Order()", "pairs", "relabel")
        super().__init__(sampler.domain, batch=batch, rng=rng)
        if self.batch < feedback.least_batch:
            raise ValueError(f"a batch must hold at least 2 actions to compare, got {self.batch}")
        self.sampler, self.classifier, self.feedback = sampler, classifier, feedback
        self._n_cuts = 0
        self._check_own()
        self.labels, self.n_comparisons = np.empty(0, dtype=int), 0
        self._pairs = self._answers = None

    def _propose(self):
        rng = self.streams.algorithm
        if not self.batches:
            batch = first_batch(self.domain, self.batch, self.streams.initial)  # l. 1-2
        else:
            if self._n_cuts < len(self.batches):  # and not cut by an ask() that was refused
                self._cut(rng)  # l. 4
            batch = self.sampler.draw(self.batch, rng, self.batches)  # l. 8
        self._pairs = self.feedback.pairs(self.labels, self.batch, rng)
        return batch

    def _cut(self, rng):
        """Label all points, fit the classifier, downweight; nothing is kept if one of it fails."""
        self._check_own()
        labels = self.feedback.relabel(self.values, self.labels, self._answers, self._pairs)  # l. 5
        X = np.concatenate([self.domain.rows(batch) for batch in self.batches])
        decide = _nothing
        if 0 < labels.mean() < 1:
            decide = self.classifier.fit(X, labels, rng)  # l. 6
        self.sampler.update(decide)  # l. 7
        self.labels, self.decide = labels, decide
        self._n_cuts += 1

    def _check_own(self):
        if self.sampler.rounds != self._n_cuts:
            raise ValueError(
                f"sampler has {self.sampler.rounds} updates and this search has made "
                f"{self._n_cuts}: give each search a sampler of its own"
            )

    def pairs(self):
        """Return the pairs to compare for the pending batch, positions in the history (m, 2).

        The history is all queries asked so far, in order, the pending batch at its end. `tell`
        takes g of shape (m,): 1 where the first of a pair is lower. None unless feedback is
        `Comparisons`.
        """
        self.ask()
        return None if self._pairs is None else self._pairs.copy()

    def _n_answers(self, batch):
        return len(batch) if self._pairs is None else len(self._pairs)

    def _keep(self, batch, y):
        if self._pairs is not None:
            if not np.isin(y, (0, 1)).all():
                raise ValueError(f"comparisons must be 0 or 1, got {y[~np.isin(y, (0, 1))][0]:g}")
            self.n_comparisons += len(y)
        self._answers = y  # l. 3, l. 9
        super()._keep(batch, self.feedback.scores(y, self._pairs, len(self.labels), len(batch)))

    def recommend(self):
        """Return the best query of the last batch: a row number, or a point of shape (d,).

        This is the paper's output; `result()` holds all queries with their values.

        Raises
        ------
        ValueError
            Nothing has been told yet.
        """
        if not self.values:
            raise ValueError("no batch told yet: tell at least one before recommend()")
        return self.batches[-1][self.values[-1].argmin()]  # l. 11-12


def _check_part(part, name, example, *methods):
    """Raise TypeError unless a part of the search has its methods."""
    lacking = [method for method in methods if not callable(getattr(part, method, None))]
    if lacking or isinstance(part, type):
        raise TypeError(
            f"{name} must be an object with {' and '.join(f'{m}()' for m in methods)} such as "
            f"{example}, got {part!r:.80}"
        )


def _nothing(rows):
    """Downweight no row."""
    return np.zeros(len(rows))
