"""Maps between the units of the user and those of the models."""

import numpy as np

from fivebo.common.checks import one_of
from fivebo.common.search.domains import Box


class Scaling:
    """Maps queries and observations to the units of the model.

    Parameters
    ----------
    box : Box
    inputs : {"unit", "raw"}
        The model sees the unit cube, or the box itself.
    outputs : {"standardised", "centred", "raw"}
        What is done to y; mean and scale change at refits only, or the posterior between them
        would not be one posterior.

    Attributes
    ----------
    domain : Box
        Of the model's inputs.
    centre, scale : float
        What y is reduced by, and then divided by.
    square : float
        Mean square of the model's outputs at the last fit; 1 if they are standardised.
    informed : bool
        Whether the observations of the last fit had a scale: they differed, or are taken raw and
        were not all 0.
    """

    def __init__(self, box, inputs="unit", outputs="standardised"):
        one_of(inputs, "inputs", ("unit", "raw"))
        one_of(outputs, "outputs", ("standardised", "centred", "raw"))
        self.box, self.inputs, self.outputs = box, inputs, outputs
        self.domain = Box([[0.0, 1.0]] * box.dim) if inputs == "unit" else box
        self.centre, self.scale, self.square, self.informed = 0.0, 1.0, 1.0, False

    def fit(self, y):
        """Take centre and scale from all observations; constant ones keep their scale.

        Constant means up to rounding, relative to the observations: no unit of y is too small.
        """
        raw, size = self.outputs == "raw", float(np.abs(y).max())
        self.centre = 0.0 if raw else float(np.mean(y))
        self.scale = self.square = 1.0
        spread = size if raw else float(np.ptp(y))
        self.informed = spread > 1e-15 * size
        if self.outputs != "standardised":
            self.square = float(np.mean(self.y(y) ** 2)) or 1.0
        elif self.informed:
            self.scale = float(np.std(y)) or spread  # squares below 1e-324 are zero

    def x(self, X):
        """Map queries to model inputs."""
        return self.box.to_unit(X) if self.inputs == "unit" else np.asarray(X)

    def y(self, y):
        """Map observations to model outputs."""
        return (np.asarray(y) - self.centre) / self.scale

    def query(self, x):
        """Map a model input to a query."""
        return self.box.from_unit(x) if self.inputs == "unit" else np.array(x)
