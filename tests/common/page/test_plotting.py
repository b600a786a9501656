"""Plotted numbers, looks that survive greyscale, deterministic files."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from fivebo.common.lab.experiments import load_study, papers
from fivebo.common.lab.records import KEYS
from fivebo.common.page import plotting


@pytest.fixture(autouse=True)
def _project_look():
    with plotting.look():
        yield


def trace(methods=("mt-kb", "it-kb"), seeds=4, steps=12):
    rng = np.random.default_rng(0)
    rows = [
        ("demo", "e", "p", method, "default", seed, step, step, "average_regret", value)
        for method in methods
        for seed in range(seeds)
        for step, value in enumerate(rng.gamma(2, 1, steps), start=1)
    ]
    return pd.DataFrame(rows, columns=[*KEYS, "step", "n_evals", "metric", "value"])


def draw():
    fig, axes = plotting.panels(["first", "second"])
    data = plotting.mean_band(axes[0], trace(), "first")
    plotting.legend(fig, axes, "a note")
    return fig, axes, data


def test_band_is_mean_and_one_standard_deviation():
    frame = trace()
    _, _, data = draw()
    part = frame[(frame["method"] == "it-kb") & (frame["step"] == 5)]["value"]
    row = data[(data["method"] == "it-kb") & (data["step"] == 5)].iloc[0]
    assert (row["n"], row["panel"], row["variant"]) == (4, "first", "default")
    assert row["mean"] == pytest.approx(part.mean())
    assert row["high"] - row["mean"] == pytest.approx(part.std(ddof=1))
    assert row["mean"] - row["low"] == pytest.approx(part.std(ddof=1))


def test_band_can_be_two_standard_errors():
    frame = trace()
    _, axes = plotting.panels(["one"])
    data = plotting.mean_band(axes[0], frame, "one", band="2se")
    part = frame[(frame["method"] == "it-kb") & (frame["step"] == 5)]["value"]
    row = data[(data["method"] == "it-kb") & (data["step"] == 5)].iloc[0]
    assert row["high"] - row["mean"] == pytest.approx(2 * part.std(ddof=1) / 2)  # sqrt(4) runs
    assert row["mean"] - row["low"] == pytest.approx(part.std(ddof=1))


def test_one_seed_has_a_band_of_no_width():
    _, axes = plotting.panels(["one"])
    data = plotting.mean_band(axes[0], trace(seeds=1), "one")
    assert (data["std"] == 0).all()


def test_an_empty_line_is_refused():
    _, axes = plotting.panels(["one"])
    with pytest.raises(ValueError, match="nothing to plot"):
        plotting.mean_band(axes[0], trace(), "one", labels={"mobo": "MOBO"})


def test_panels_are_lettered_and_one_alone_is_not():
    _, axes = plotting.panels(["x", "y", "z", "u"])
    assert [ax.get_title(loc="left") for ax in axes] == ["(a) x", "(b) y", "(c) z", "(d) u"]
    assert plotting.panels(["x"])[1][0].get_title(loc="left") == "x"


@pytest.mark.parametrize("paper", papers())
def test_methods_of_a_paper_differ_without_colour(paper):
    looks = [plotting.METHODS[method] for method in load_study(paper).METHODS]
    assert len({(look.marker, str(look.linestyle)) for look in looks}) == len(looks)
    assert len({look.label for look in looks}) == len(looks)


def test_ordered_variants_differ_without_colour():
    grey = sorted(float(np.dot(to_rgb(c), [0.299, 0.587, 0.114])) for c, _, _ in plotting.SEQUENCE)
    assert min(np.diff(grey)) > 0.08


def test_legend_lists_each_line_once():
    fig, axes, _ = draw()
    plotting.mean_band(axes[1], trace(), "second")
    plotting.legend(fig, axes)
    assert [t.get_text() for t in fig.legends[-1].get_texts()] == ["MT-KB", "IT-KB"]


def test_intervals_without_end_are_cut():
    _, axes = plotting.panels(["x"])
    table = pd.DataFrame({"label": ["a", "b"], "effect": [0.5, 2.0], "low": [0.0, 1.5]})
    plotting.interval_points(axes[0], table.assign(high=[np.inf, 3.0]), plotting.style("mt-kb"))
    assert np.isfinite(axes[0].get_xlim()).all()
    assert axes[0].get_xlim()[0] > 0


def test_growth_of_a_power_has_its_exponent_and_none_without_three_late_steps():
    _, axes = plotting.panels(["x"])
    power = trace(("mt-kb",)).assign(value=lambda t: 2 * t["step"] ** -0.5)
    look_of = plotting.style("mt-kb")
    table = plotting.growth(axes[0], power, look_of, 4, 3)
    assert table["slope"].unique() == pytest.approx([-0.5])
    assert table["median"].tolist() == pytest.approx([2 * t**-0.5 for t in range(1, 13)])
    assert axes[0].lines[0].get_label() == "MT-KB, slope -0.50"
    assert plotting.growth(axes[0], power, look_of, 11, 3)["slope"].isna().all()
    assert axes[0].lines[1].get_label() == "MT-KB"


def test_stacked_intervals_share_their_limits():
    table = pd.DataFrame({"label": ["a"], "effect": [0.5], "low": [0.4], "high": [0.6]})
    far, look_of = table.assign(effect=9.0, low=8.0, high=10.0), plotting.style("mt-kb")
    groups = {"one": [(table, look_of)], "two": [(far, look_of), (table, look_of)]}
    _, axes = plotting.stacked_intervals(groups, 6.0, 0.7, "ratio")
    assert axes[0].get_xlim() == axes[1].get_xlim()
    assert axes[0].get_xlim()[0] < 0.4 < 10.0 < axes[0].get_xlim()[1]


def test_files_have_the_same_bytes_every_time(tmp_path):
    for folder in ("one", "two"):
        fig, _, data = draw()
        paths = plotting.save(fig, data, tmp_path / folder, "fig1")
        assert [p.suffix for p in paths] == [".pdf", ".png", ".csv"]
    for path in paths:
        assert path.read_bytes() == (tmp_path / "one" / path.name).read_bytes()
        assert path.stat().st_size > 500
    assert not list(tmp_path.rglob("*.part"))
    pd.testing.assert_frame_equal(pd.read_csv(paths[2]), data, rtol=1e-6, check_dtype=False)


def test_drawing_leaves_the_global_settings_alone():
    before = dict(mpl.rcParams)
    draw()
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_a_long_note_stays_inside_its_figure(columns):
    fig, axes = plotting.panels(list("abc"[:columns]), columns=columns)
    axes[0].plot([0, 1], [0, 1], label="one line")
    plotting.legend(fig, axes, "Line: median over seeds. Band: quartiles. " * 4)
    fig.draw_without_rendering()
    box = fig.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= fig.bbox.x1
