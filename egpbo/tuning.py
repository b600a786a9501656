"""Tuning tasks of [EGPBO] Sec. 5.3: validation accuracy of three classifiers on four data sets."""

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from fivebo.common.search.domains import Box
from fivebo.egpbo.problems import Instance

SAMPLE = "data/bundled/transportation/tmd_sample.csv.gz"

SPACES = {
    # limits of each input, logarithms to base 10 where the scale is "log"
    "fnn": (
        ("units_1", "int", 2, 100),
        ("units_2", "int", 2, 100),
        ("learning_rate", "log", -4, -1),
        ("l2", "log", -6, -1),
    ),
    "svm": (("C", "log", -2, 3), ("gamma", "log", -4, 1)),
    "gb": (
        ("learning_rate", "float", 0.1, 10.0),
        ("trees", "int", 10, 100),
        ("depth", "int", 1, 10),
    ),
    "gb-sane": (
        ("learning_rate", "log", -3, 0),
        ("trees", "int", 10, 100),
        ("depth", "int", 1, 10),
    ),
}
"""Search spaces: name, scale, lower and upper limit of every hyperparameter."""


@lru_cache
def load(dataset):
    """Return features (n, d), missing ones NaN, and classes (n,) of a data set.

    Parameters
    ----------
    dataset : {"breast-cancer", "iris", "wine", "transportation"}

    Notes
    -----
    Source: [EGPBO] Sec. 5.3.
    """
    if dataset == "transportation":
        import pandas as pd

        from fivebo.common.lab.datasets import verify_file

        table = pd.read_csv(verify_file(SAMPLE))
        return table.drop(columns="target").to_numpy(dtype=float), table["target"].to_numpy()
    from sklearn import datasets

    loaders = {
        "breast-cancer": datasets.load_breast_cancer,
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
    }
    return loaders[dataset](return_X_y=True)


def split(dataset, seed, validation_share):
    """Split at random and stratified; impute and standardise on the training part.

    Parameters
    ----------
    dataset : str
    seed : int
    validation_share : float

    Returns
    -------
    X_train, X_validation, y_train, y_validation : ndarray
    """
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = load(dataset)
    parts = train_test_split(X, y, test_size=validation_share, stratify=y, random_state=seed)
    prepare = make_pipeline(SimpleImputer(), StandardScaler()).fit(parts[0])
    return prepare.transform(parts[0]), prepare.transform(parts[1]), *parts[2:]


def hyperparameters(model, x):
    """Map a query to hyperparameter values: powers of ten and rounded integers.

    Parameters
    ----------
    model : str
        Key of `SPACES`.
    x : array_like of shape (d,)

    Returns
    -------
    dict
    """
    found = {}
    for (name, scale, _, _), value in zip(SPACES[model], x, strict=True):
        number = float(value)
        found[name] = {"int": round(number), "log": 10.0**number, "float": number}[scale]
    return found


def classifier(model, values, seed, max_epochs):
    """Return a scikit-learn classifier: two-layer network, RBF-SVM or boosted trees.

    Source: [EGPBO] Sec. 5.3, Table 1.
    """
    if model == "fnn":
        from sklearn.neural_network import MLPClassifier

        return MLPClassifier(
            (values["units_1"], values["units_2"]), alpha=values["l2"],
            learning_rate_init=values["learning_rate"], max_iter=max_epochs, random_state=seed,
        )  # fmt: skip
    if model == "svm":
        from sklearn.svm import SVC

        return SVC(C=values["C"], gamma=values["gamma"], random_state=seed)
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        learning_rate=values["learning_rate"], max_iter=values["trees"],
        max_depth=values["depth"], min_samples_leaf=5, early_stopping=False, random_state=seed,
    )  # fmt: skip


@lru_cache(maxsize=100_000)
def accuracy(model, dataset, values, seed, validation_share, max_epochs):
    """Return the validation accuracy; remembered, because a repetition's seed makes it a function.

    Parameters
    ----------
    values : tuple of (str, float)
        Hyperparameters.
    """
    X_train, X_validation, y_train, y_validation = _cached_split(dataset, seed, validation_share)
    fitted = classifier(model, dict(values), seed, max_epochs)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # a network that has not converged is a bad setting
        fitted.fit(X_train, y_train)
        return float(fitted.score(X_validation, y_validation))


_cached_split = lru_cache(maxsize=8)(split)


@dataclass(frozen=True)
class TuningProblem:
    """Tune a classifier: f is its validation accuracy, a function once the seed is fixed.

    Source: [EGPBO] Sec. 5.3, Figs. 4, 5, 6, 7, 8, 9, Table 1 (of which our copy has one range).

    Parameters
    ----------
    model : {"fnn", "svm", "gb", "gb-sane"}
        "gb" has the printed learning rates 0.1 to 10, "gb-sane" 0.001 to 1.
    dataset : {"breast-cancer", "iris", "transportation", "wine"}
    validation_share : float
    max_epochs : int
        Of the network.
    n_init : int
    """

    model: Literal["fnn", "svm", "gb", "gb-sane"] = "svm"
    dataset: Literal["breast-cancer", "iris", "transportation", "wine"] = "iris"
    validation_share: float = 0.3
    max_epochs: int = 60
    n_init: int = 10

    def draw(self, rng):
        """Draw the seed of split and classifier."""
        seed = int(rng.integers(2**31))
        box = Box([(lower, upper) for _, _, lower, upper in SPACES[self.model]])

        def truth(x):
            values = tuple(hyperparameters(self.model, x).items())
            return accuracy(
                self.model, self.dataset, values, seed, self.validation_share, self.max_epochs
            )

        return Instance(box, truth, np.nan, 0.0, self.n_init)
