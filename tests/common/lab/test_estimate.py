"""The estimate of a scale's running time."""

from types import SimpleNamespace

import pytest

from fivebo.common import cli
from fivebo.common.lab import estimate
from fivebo.common.lab.experiments import load_paper


def test_one_seed_is_timed_and_extrapolated(monkeypatch):
    monkeypatch.setattr(
        estimate, "seed_seconds", lambda e: ({"a": 36.0, "b": 1.8}[e.name], {"m": 1.25})
    )
    lines = []
    experiments = [SimpleNamespace(name=n, seeds=s) for n, s in (("a", 100), ("b", 1000))]
    total = estimate.estimate(experiments, 2, lines.append)
    assert total == pytest.approx(1.5)
    assert "total 1.50 core hours, about 0.75 hours on 2 core(s)" in lines[-1]
    assert lines[2] == "  a run: m 1.2 s"
    assert len(lines) == 6


def test_a_seed_is_really_run():
    experiment = load_paper("mvabo", "smoke").experiments["noisy-simulator"]
    seconds, methods = estimate.seed_seconds(experiment)
    assert methods.keys() == set(experiment.method_names)
    assert 0 < sum(methods.values()) * len(experiment.variants) <= seconds < 60


def test_a_failed_run_is_no_time(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("by design")

    from fivebo.mvabo import study

    monkeypatch.setitem(study.METHODS, "us", broken)
    experiment = load_paper("mvabo", "smoke").experiments["noisy-simulator"]
    with pytest.raises(RuntimeError, match="noisy-simulator, us, variant nature: Zero"):
        estimate.seed_seconds(experiment)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--experiment", "brid"], "did you mean 'bird'"),
        (["--cores", "0"], "--cores must be an integer >= 1, got 0"),
    ],
)
def test_wrong_arguments_are_answered(argv, message, capsys):
    assert cli.main("mvabo", ["estimate", "--scale", "smoke", *argv]) == 2
    assert message in capsys.readouterr().err


def test_the_command_prints_the_table(capsys):
    argv = ["estimate", "--scale", "smoke", "--experiment", "noisy-input", "--cores", "1"]
    assert cli.main("mvabo", argv) == 0
    out = capsys.readouterr().out
    assert "noisy-input" in out
    assert "core hours, about" in out
