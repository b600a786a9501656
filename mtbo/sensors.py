"""The sensor network of [MTBO] Sec. 5: real readings of the Intel Berkeley lab."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fivebo.common.checks import positive
from fivebo.common.gp.evidence import fit, start_of
from fivebo.common.gp.kernels import SquaredExponential
from fivebo.common.search.domains import FiniteSet
from fivebo.mtbo.multitask import ICM
from fivebo.mtbo.problems import Instance

READINGS = "data/bundled/intel_lab/readings.csv.gz"
PLACES = "data/bundled/intel_lab/mote_locs.txt"

TASKS = ("temperature_C", "light_lux", "humidity_pct")
"""Columns of the sensor data, in the order of the tasks."""


@lru_cache(maxsize=1)
def load_sensors():
    """Read the bundled readings of the Intel Berkeley lab.

    Returns
    -------
    locations : ndarray of shape (51, 2)
        Metres.
    readings : list of ndarray of shape (count, 3)
        Ten-minute means of one mote a row, columns as in `TASKS`.
    """
    import pandas as pd

    from fivebo.common.lab.datasets import verify_file

    table = pd.read_csv(verify_file(READINGS))
    places = pd.read_csv(verify_file(PLACES), sep=r"\s+").set_index("mote")
    motes = sorted(table["mote"].unique())
    groups = table.groupby("mote")
    readings = [groups.get_group(mote)[list(TASKS)].to_numpy(dtype=float) for mote in motes]
    return places.loc[motes].to_numpy(dtype=float), readings


@dataclass
class SensorInstance(Instance):
    """Sensor network: an observation is one of the readings whose mean is f."""

    readings: list = None

    def observe(self, query, rng):
        """Return one reading of the mote at the query, drawn at random, shape (3,)."""
        held = self.readings[self.domain.index(query)]
        return held[int(rng.random() * len(held))]


@dataclass(frozen=True)
class SensorProblem:
    r"""Temperature, light and humidity of the Intel Berkeley lab, all maximised.

    f is the mean of a random third of each mote's readings. The rest gives the kernel: a squared
    exponential on the mote locations, fitted by marginal likelihood, and

    .. math:: B = \frac{1}{m} R^\top K^{-1} R

    with R the per-mote means (m = 51), standardised a task; sigma^2 is the largest within-mote
    variance among the tasks. Source: [MTBO] Sec. 5, "Sensor measurements",
    Fig. 1 (f); App. E on the data.

    Parameters
    ----------
    objective_share : float
        Share of the readings that define f, in (0, 1).
    jitter : float
        Added to the diagonal of K, relative to its unit variance.
    standardised : bool
        Scale each centred task by its across-mote standard deviation (of the kernel's part);
        otherwise raw units, where light dominates.
    length_scale : float or None
        In metres; None fits it.
    """

    objective_share: float = 1 / 3
    jitter: float = 1e-2
    standardised: bool = True
    length_scale: float | None = None

    def __post_init__(self):
        positive(self.objective_share, "objective_share", upper=1.0)
        positive(self.jitter, "jitter")
        if self.length_scale is not None:
            positive(self.length_scale, "length_scale")

    def draw(self, rng):
        """Split the readings at random and estimate the kernel from the larger part."""
        locations, readings = load_sensors()
        parts = [self._split(rows, rng) for rows in readings]
        rest_mean = np.array([rest.mean(0) for _, rest in parts])
        centre, spread = rest_mean.mean(0), rest_mean.std(0)
        scale = spread if self.standardised else np.ones(3)
        R = (rest_mean - centre) / scale
        k = SquaredExponential(
            self.length_scale
            or _fitted_length_scale(locations, (rest_mean - centre) / spread, self.jitter)
        )
        gram = k(locations) + self.jitter * np.eye(len(R))
        B = R.T @ np.linalg.solve(gram, R) / len(R)
        within = np.mean([rest.var(0, ddof=1) for _, rest in parts], axis=0) / scale**2
        held = [(part - centre) / scale for part, _ in parts]
        values = np.array([part.mean(0) for part in held])
        return SensorInstance(
            FiniteSet(locations),
            values,
            ICM(k, (B + B.T) / 2),
            float(np.sqrt(within.max())),
            readings=held,
        )

    def _split(self, rows, rng):
        order = rng.permutation(len(rows))
        cut = round(self.objective_share * len(rows))
        return rows[order[:cut]], rows[order[cut:]]


def _fitted_length_scale(X, Y, noise_var):
    """Return the lengthscale of the largest marginal likelihood of all columns of Y together."""
    kernel = SquaredExponential(5.0)  # metres, of unit variance
    limits = np.log([[1.0, 1.0], [0.5, 50.0], [noise_var, noise_var]])
    return fit(kernel, X, Y, limits, [start_of(kernel, noise_var)]).kernel.length_scale
