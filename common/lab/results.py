"""Collected results of a paper, as figures and claims read them."""

import errno
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from fivebo.common.files import read_parquet
from fivebo.common.lab.records import KEYS


@dataclass(frozen=True)
class Results:
    """Collected tables of one paper at one scale, as figures and claims read them.

    Parameters
    ----------
    scale : str
    paper : str
    root : path-like, optional
        Repository root, or any folder that holds ``results/<scale>/<paper>``.
    folder : path-like, optional
        A folder that ``run --out`` wrote, or one of such folders: read in place of the results of
        the workflow. Experiments are then as they were run: with their variants, methods, seeds,
        horizon and settings.
    """

    scale: str
    paper: str
    root: Path = Path()
    folder: Path | None = None

    @cached_property
    def paper_config(self):
        """The `PaperConfig`; of a folder, with the experiments that it holds, as they were run."""
        from fivebo.common.lab.experiments import as_run, load_paper

        config = load_paper(self.paper, self.scale)
        if self.folder is None:
            return config
        found = {n: as_run(config.experiments[n], self.runs(n)) for n in self._places}
        return replace(config, experiments=found)

    @cached_property
    def _tables(self):
        return {}

    @cached_property
    def _places(self):
        """Folder of each experiment in `folder`, by what its runs say they are."""
        from fivebo.common.names import check_name

        places = {}
        for place in (Path(self.folder), *sorted(Path(self.folder).glob("*/"))):
            if (place / "runs.parquet").is_file():
                runs = read_parquet(place / "runs.parquet")
                for paper, name in set(zip(runs["paper"], runs["experiment"], strict=True)):
                    check_name("paper", paper, [self.paper], f"{place}")
                    if name in places:
                        raise ValueError(f"{places[name]} and {place} both hold runs of {name}")
                    places[name] = place
        if not places:
            raise ValueError(
                f"--results {self.folder}: no runs.parquet in it or in a folder of it; make one "
                f"with: python -m {self.paper} run --experiment E --out {self.folder}"
            )
        return places

    def config(self, experiment):
        """Return the resolved `Experiment`."""
        return self.paper_config.experiments[experiment]

    def runs(self, experiment):
        """Return the run table of an experiment."""
        return self._read(experiment, "runs")

    def trace(self, experiment, metric=None):
        """Return the trace of an experiment, of one metric if given."""
        trace = self._read(experiment, "trace")
        return trace if metric is None else trace[trace["metric"] == metric].reset_index(drop=True)

    def require(self, experiments, targets):
        """Refuse to go on unless all runs of some experiments are there.

        Parameters
        ----------
        experiments : iterable of str
        targets : sequence of path
            The files that they are for.

        Raises
        ------
        FileNotFoundError
            The experiments that lack runs, all in one line, and how to make them.
        """
        lacking = list(filter(None, map(self._lack, dict.fromkeys(experiments))))
        if not lacking:
            return
        if self.folder is not None:
            where, first = f"{self.folder}", lacking[0]
            fix = f"python -m {self.paper} run --experiment {first} --out {self.folder}/{first}"
        else:
            where = f"{self.paper} at scale {self.scale}"
            fix = f"./reproduce {self.scale} {self.paper}"
            if len(targets) == 1:
                fix = f"snakemake --config scale={self.scale} -- {targets[0]}"
        raise FileNotFoundError(
            errno.ENOENT,
            f"{where}: no collected results of {', '.join(lacking)}; make them with: {fix}",
        )

    def _lack(self, experiment):
        """Return an experiment's name if its results are not whole, with the number of runs."""
        if not self._has(experiment):
            return experiment
        if self.folder is None:
            expected = set(self.config(experiment).expected_keys())
            there = self.runs(experiment)[KEYS].itertuples(index=False, name=None)
            if n_missing := len(expected.difference(there)):
                return f"{experiment} ({n_missing} of {len(expected)} runs)"
        return None

    def outdated(self, experiments):
        """Return the methods whose runs were made by other code than the present.

        Parameters
        ----------
        experiments : iterable of str
            Those without results are passed over.

        Returns
        -------
        dict of str to list of str
            Experiment to methods; without the experiments that are up to date.
        """
        from fivebo.common.lab.stamps import outdated

        found = {n: outdated(self.config(n), self.runs(n)) for n in experiments if self._has(n)}
        return {name: methods for name, methods in found.items() if methods}

    def _has(self, experiment):
        return all(self._path(experiment, table).is_file() for table in ("runs", "trace"))

    def _path(self, experiment, table):
        if self.folder is None:
            place = Path(self.root, "results", self.scale, self.paper, experiment)
        else:
            place = self._places.get(experiment, Path(self.folder, experiment))
        return place / f"{table}.parquet"

    def _read(self, experiment, table):
        if (experiment, table) not in self._tables:
            path = self._path(experiment, table)
            if not path.exists():
                raise FileNotFoundError(
                    errno.ENOENT,
                    f"no collected results of {self.paper} {experiment} at scale {self.scale}; "
                    f"make them with: snakemake --config scale={self.scale} -- {path}",
                )
            self._tables[experiment, table] = read_parquet(path)
        return self._tables[experiment, table]
