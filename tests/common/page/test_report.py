"""The report page: complete, self-contained and valid, on a small built paper."""

import re
import shutil
import subprocess
from html import escape as html_escape
from html.parser import HTMLParser
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
import yaml

from fivebo.common.lab.experiments import load_paper
from fivebo.common.lab.stamps import code_of
from fivebo.common.page import report
from fivebo.common.referee import claims

VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """Checks nesting and collects ids, links, images and text."""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.links, self.images, self.text = [], [], [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len(attrs) == len(dict(attrs))
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        self.links += [attrs[k] for k in ("href", "src") if k in attrs]
        if tag == "img":
            self.images.append(attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data)


def read(root):
    html = report.build("quick", root).read_text(encoding="utf-8")
    page = Page(html)
    return html, page, re.sub(r"\s+", " ", " ".join(page.text))


def test_page_is_well_formed_and_every_link_leads_somewhere(repository):
    html, page, _ = read(repository)
    assert html.startswith("<!DOCTYPE html>")
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        if link.startswith("#"):
            assert unquote(link[1:]) in page.ids
        elif not link.startswith("data:"):
            assert (repository / "figures" / "quick" / link).is_file()
    assert all(image["alt"] and int(image["width"]) > 100 for image in page.images)


def test_page_needs_no_network(repository):
    html, page, _ = read(repository)
    assert not re.search(r"https?://|@import|<script src|url\(|fetch\(|XMLHttp", html)
    assert page.images[0]["src"].startswith("data:image/png;base64,")


def test_page_shows_verdicts_counts_reasons_and_provenance(repository):
    _, _, text = read(repository)
    for expected in (
        "Learning <fast> & well", "1 reproduced , 0 not reproduced , 1 inconclusive",
        "0 held , 1 violated , 0 inconclusive", "1 exact, 1 assumed, 0 deviates, 0 omitted",
        "m wins", "0.4 to 0.6", "< 0.001", "no results of main", "Not built at this scale.",
        "not <stated>", "Params.eta", "file.csv", "2026-01-01T10:00 to 2026-01-01T10:05",
        "numpy", "m < n", "It may differ because the step is short (see fig2 )",
    ):  # fmt: skip
        assert expected in text, expected
    assert "nan" not in text.lower().split()
    assert "None" not in text


def test_many_files_of_one_origin_are_one_line(repository):
    with open(repository / "data/sources.csv", "a") as file:
        file.writelines(f"many/{i}.npz,,{i:064x},1,CC0,Someone else\n" for i in range(200))
        file.writelines(f"few/{i}.npz,,{i:064x},1,CC0,Another\n" for i in range(4))
    _, _, text = read(repository)
    assert "many/ (200 files)" in text
    assert "many/7.npz" not in text
    assert all(f"few/{i}.npz" in text for i in range(4))


def test_page_is_the_same_twice_and_joins_the_claims(repository):
    first = report.build("quick", repository).read_bytes()
    assert report.build("quick", repository).read_bytes() == first
    assert len(claims.load(repository / "figures" / "quick" / "claims.csv")) == 3


def test_nothing_built_is_one_clear_line(repository, capsys):
    assert report.main(["--scale", "smoke", "--root", str(repository)]) == 1
    assert capsys.readouterr().out.startswith("error: no claims.csv of any paper under")
    assert report.main(["--scale", "quick", "--root", str(repository)]) == 0
    assert capsys.readouterr().out.strip().endswith("index.html")


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (np.nan, "–"), (np.inf, "∞"), (-0.5, "−0.5"), (0.012345, "0.0123")],
)
def test_numbers_are_short(value, text):
    assert report.number(value) == text


def test_a_claim_leads_to_its_code_settings_test_and_data(repository):
    (repository / "reported/search.py").write_text(
        '"""Search."""\n\n\nclass Search:\n    """Algorithm 1."""\n\n    best = max  # l. 3\n'
    )
    study = (repository / "reported/study.py").read_text()
    study = study.replace('{"m": None}', '{"m": _m}')
    study = f"from fivebo.reported.search import Search\n{study}"
    builder = "def _m(instance, params, horizon, streams):\n    return Search()\n\n\nPROBLEMS"
    (repository / "reported/study.py").write_text(study.replace("PROBLEMS", builder, 1))
    claim = {"id": "faster", "where": "Sec. 5", "says": "so", "figure": "fig1", "test": "flat"}
    claim |= {"metric": "average_regret", "experiment": "main", "method": "m"}
    longer = claim | {"id": "faster-still"}
    with open(repository / "reported/experiments.yaml", "a") as file:
        file.write("\n" + yaml.safe_dump({"claims": [longer, claim]}, sort_keys=False))
    lines = (repository / "reported/experiments.yaml").read_text().splitlines()
    html, page, text = read(repository)
    assert {"reported-run-main", "code-reported.search:Search", "code-reported.study:_m"} <= {
        *page.ids
    }
    for link in ("#code-reported.search:Search", "#code-reported.study:_m", "#reported-run-main"):
        assert link in page.links
    assert "../../results/quick/reported/main/runs.parquet" in page.links
    assert "reported/search.py:4 Search" in text
    assert "code-reported.search:Search-7" in page.ids  # the line that carries "l. 3"
    assert "horizon: 7" in text
    assert "test: flat" in text
    assert f"reported/experiments.yaml:{lines.index('- id: faster') + 1}" in text


def in_browser(page, width, script, folder):
    """Open a page in Chromium with a script after it; return what it leaves as title."""
    html = page.read_text(encoding="utf-8")
    probe = page.with_name(f"probe{width}.html")
    after = f"<script>setTimeout(() => {{ {script} }}, 100)</script></body>"
    probe.write_text(html.replace("</body>", after), encoding="utf-8")
    options = (
        "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --enable-logging=stderr "
        f"--virtual-time-budget=3000 --window-size={width},1000 --dump-dom"
    )
    done = subprocess.run(
        ["chromium", *options.split(), f"--user-data-dir={folder / 'profile'}", probe.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert ":CONSOLE" not in done.stderr, done.stderr
    return re.search(r"<title>(.*?)</title>", done.stdout)[1]


CLICKS = """
const rows = () => [...document.querySelectorAll("table.claims tbody tr")].map((r) => r.id);
const head = document.querySelectorAll("table.claims th button")[6];
const found = [rows().length];
head.click(); found.push(rows()[0]);
head.click(); found.push(rows()[0]);
document.querySelector(".enlarge").click();
found.push(document.querySelector("dialog").open, document.querySelector("dialog img").width);
document.querySelector("dialog").click();
found.push(document.querySelector("dialog").open);
location.hash = "reported-fidelity-eq-1";
setTimeout(() => {
  const target = document.getElementById("reported-fidelity-eq-1");
  document.title = [...found, target.closest("details").open].join(" ");
}, 500);
"""


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
def test_page_sorts_enlarges_and_unfolds_in_a_browser(repository, tmp_path):
    html, _, _ = read(repository)
    pixels = re.search(r'src="data:image/png[^"]*" width="(\d+)"', html)[1]
    told = in_browser(repository / "figures/quick/index.html", 1440, CLICKS, tmp_path)
    inconclusive, reproduced = "reported-row-missing", "reported-row-faster"
    assert told == f"3 {inconclusive} {reproduced} true {pixels} false true"


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
@pytest.mark.parametrize("width", [390, 1440])
def test_page_does_not_scroll_sideways_in_a_browser(repository, width, tmp_path):
    html, _, _ = read(repository)
    frame = f"<iframe srcdoc='{html_escape(html)}' width={width} height=900></iframe>"
    script = (
        "<script>onload = () => { document.title = document.querySelector('iframe')"
        ".contentDocument.documentElement.scrollWidth }</script>"
    )
    probe = tmp_path / "probe.html"
    probe.write_text(f"<meta charset=utf-8><title></title>{frame}{script}", encoding="utf-8")
    options = (
        "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --window-size=1600,1000 --dump-dom"
    )
    command = ["chromium", *options.split(), f"--user-data-dir={tmp_path / 'profile'}"]
    dom = subprocess.run(
        [*command, probe.as_uri()], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert int(re.search(r"<title>(\d+)</title>", dom)[1]) <= width


def test_runs_of_other_code_are_said_on_the_page_and_in_one_line(repository, capsys):
    path = repository / "results/quick/reported/main/runs.parquet"
    experiment = load_paper("reported", "quick", repository).experiments["main"]
    runs = pd.read_parquet(path).assign(method="m")
    for code, said in ((code_of(experiment, "m", repository), ""), ("older", "m")):
        runs.assign(code=code).to_parquet(path)
        text = report.build("quick", repository).read_text(encoding="utf-8")
        assert ("other code than the present: m" in text) == bool(said)
        note = "note: made by other code than the present: reported main (m)\n"
        assert capsys.readouterr().err == (note if said else "")
