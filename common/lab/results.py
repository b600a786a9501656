"""Collected results of a paper, as figures and claims read them."""

import errno
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fivebo.common.files import read_parquet


@dataclass(frozen=True)
class Results:
    """Collected tables of one paper at one scale, as figures and claims read them.

    Parameters
    ----------
    scale : str
    paper : str
    root : path-like, optional
        Repository root, or any folder that holds ``results/<scale>/<paper>``.
    """

    scale: str
    paper: str
    root: Path = Path()

    @cached_property
    def _config(self):
        from fivebo.common.lab.experiments import load_paper

        return load_paper(self.paper, self.scale)

    @cached_property
    def _tables(self):
        return {}

    def config(self, experiment):
        """Return the resolved `Experiment`."""
        return self._config.experiments[experiment]

    def runs(self, experiment):
        """Return the run table of an experiment."""
        return self._read(experiment, "runs")

    def trace(self, experiment, metric=None):
        """Return the trace of an experiment, of one metric if given."""
        trace = self._read(experiment, "trace")
        return trace if metric is None else trace[trace["metric"] == metric].reset_index(drop=True)

    def _read(self, experiment, table):
        if (experiment, table) not in self._tables:
            path = Path(
                self.root, "results", self.scale, self.paper, experiment, f"{table}.parquet"
            )
            if not path.exists():
                raise FileNotFoundError(
                    errno.ENOENT,
                    f"no collected results of {self.paper} {experiment} at scale {self.scale}; "
                    f"make them with: snakemake --config scale={self.scale} -- {path}",
                )
            self._tables[experiment, table] = read_parquet(path)
        return self._tables[experiment, table]
