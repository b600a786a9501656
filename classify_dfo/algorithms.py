"""Cutting planes using classifiers, Algorithm 1 of [CDFO]; ``l. 7`` in a comment is line 7.

Reference: [CDFO] T. B. Hashimoto, S. Yadlowsky and J. C. Duchi, AISTATS 2018. Values are minimised.
Lines are counted as the listing does: 1-3 the first batch, 4 the loop, 5 the threshold, 6 the
classifier, 7 the weights, 8-9 the next batch, 11-12 the best of the last batch.
"""

import copy

import numpy as np

from fivebo.classify_dfo.classifiers import ForestConsensus
from fivebo.classify_dfo.feedback import Values
from fivebo.classify_dfo.optimizer import BatchOptimizer
from fivebo.classify_dfo.spaces import first_batch, scaled
from fivebo.common.search.optimizer import Asked


class RepeatedClassification(BatchOptimizer):
    r"""Repeated classification: cut away what a classifier is sure to be high.

    .. math::
        h^{(t)} \text{ fitted to } \{(X_i, 1\{Y_i > \alpha^{(t)}\})\}, \qquad
        p^{(t)}(x) \propto p^{(t-1)}(x) (1 - \eta h^{(t)}(x)), \qquad X^{(t)} \sim p^{(t)}

    Parameters
    ----------
    sampler : Enumeration, Perturbation or ImportanceSampling
        Action space, eta and the distribution p^(t), of which the search keeps a copy.
    classifier : object with fit(X, z, rng), optional
        Returns h, a function from features (m, d) to [0, 1]; default: `ForestConsensus`. The
        features of both are in [0, 1], whatever their units: each input of a box over its side,
        each feature of a catalogue over its range.
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
        if sampler.rounds:
            raise ValueError(
                f"sampler has {sampler.rounds} updates already: give each search a new one"
            )
        self.sampler = copy.deepcopy(sampler)
        super().__init__(self.sampler.domain, batch=batch, rng=rng)
        if feedback.pairwise and self.batch < 2:
            raise ValueError(f"a batch must hold at least 2 actions to compare, got {self.batch}")
        self.classifier, self.feedback = classifier, feedback
        self.divisible = not feedback.pairwise
        self.labels, self.n_comparisons = np.empty(0, dtype=int), 0
        self._pairs = self._answers = None

    def _propose(self):
        rng = self.streams.algorithm
        if not self.batches:
            batch = first_batch(self.domain, self.batch, self.streams.initial)  # l. 1-2
        else:
            if self.sampler.rounds < len(self.batches):  # and not cut by an ask() that was refused
                self._cut(rng)  # l. 4
            batch = self.sampler.draw(self.batch, rng, self.batches, self.failed)  # l. 8
        return Asked(batch, self.feedback.pairs(self.labels, self.batch, rng))

    def _cut(self, rng):
        """Label all points, fit the classifier, downweight; nothing is kept if one of it fails."""
        labels = self.feedback.relabel(self.values, self.labels, self._answers, self._pairs)  # l. 5
        X = np.concatenate([scaled(self.domain, batch) for batch in self.batches])
        decide = _nothing
        if 0 < labels.mean() < 1:
            decide = self.classifier.fit(X, labels, rng)  # l. 6
        self.sampler.update(decide)  # l. 7
        self.labels, self.decide = labels, decide

    def pairs(self):
        """Return the pairs to compare for the pending batch, positions in the history (m, 2).

        The history is all queries measured so far, in order, the pending batch at its end. `tell`
        takes g of shape (m,): 1 where the first of a pair is lower. None unless feedback is
        `Comparisons`.
        """
        self.ask()
        pairs = self.pending[0].note
        return None if pairs is None else pairs.copy()

    def _n_answers(self):
        pairs = self.pending[0].note
        return super()._n_answers() if pairs is None else len(pairs)

    def _value(self, y):
        y = super()._value(y)
        if y is not None and self.feedback.pairwise and not np.isin(y, (0, 1)).all():
            raise ValueError(f"comparisons must be 0 or 1, got {y[~np.isin(y, (0, 1))][0]:g}")
        return y

    def _measured(self, query, value):
        if self.feedback.pairwise:
            return np.full(len(query), value is not None)
        return super()._measured(query, value)

    def _learn(self, query, value, note):
        self._pairs, self._answers = note, value  # l. 3, l. 9
        if note is None:
            super()._learn(query, value, note)
            return
        self.n_comparisons += len(value)
        self._take(query, self.feedback.scores(value, note, len(self.labels), len(query)))

    def recommend(self):
        """Return the best query of the last batch: a row number, or a point of shape (d,).

        This is the paper's output; `result()` holds all queries with their values.

        Raises
        ------
        ValueError
            Nothing has been told yet.
        """
        self._needs_data()
        return self.batches[-1][self.values[-1].argmin()].copy()  # l. 11-12


class Judge(RepeatedClassification):
    """A search by comparisons that is told values: it answers the pairs from them.

    For experiments, where the values are known; the search uses the outcomes g only.

    Parameters
    ----------
    sampler, classifier, batch, rng
        As in `RepeatedClassification`.
    feedback : Comparisons

    Notes
    -----
    Source: [CDFO] Sec. 4.4, Fig. 5.
    """

    def __init__(self, sampler, classifier=None, *, batch, feedback, rng=0):
        if not getattr(feedback, "pairwise", False):
            raise TypeError(f"a judge needs feedback=Comparisons(), got {feedback!r}")
        super().__init__(sampler, classifier, batch=batch, feedback=feedback, rng=rng)
        self._judged = np.empty(0)

    def _n_answers(self):
        return BatchOptimizer._n_answers(self)

    def _value(self, y):
        return BatchOptimizer._value(self, y)

    def _learn(self, query, value, note):
        values = np.append(self._judged, value)
        first, second = note.T
        super()._learn(query, (values[first] < values[second]).astype(float), note)
        self._judged = values


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
