"""The page of a report, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed (asnets[browser])")

from playwright.sync_api import expect

from asnets.experiments.definition import load_experiment
from asnets.experiments.executors import LocalExecutor
from asnets.experiments.report import write_report
from asnets.experiments.runner import Selection, run_experiments
from asnets.experiments.store import Store
from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    executor = LocalExecutor(2)
    try:
        with Store(folder, create=True) as store:
            run_experiments(
                store,
                [load_experiment("triangle-tireworld", "smoke")],
                executor,
                selection=Selection(systems=("asnet-paper-lmcut", "lrtdp-lmcut")),
            )
    finally:
        executor.close()
    return write_report(folder)


@pytest.mark.parametrize("width", [1400, 390])
def test_page(open_page: OpenPage, report: Path, width: int) -> None:
    page, requests, errors = open_page(report, width=width)
    expect(page).to_have_title("Action Schema Networks: results")
    for name in ("triangle-tire-3", "triangle-tire-4"):
        expect(page.get_by_role("row").filter(has_text=name).first).to_be_visible()
    figures = page.locator("figure")
    assert figures.count() >= 2
    for figure in figures.all():
        box = figure.bounding_box()
        assert box is not None
        assert box["width"] > 0
        assert box["height"] > 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert (requests[0], errors) == (report.resolve().as_uri(), [])
    assert all(address.startswith(("file:", "data:", "about:", "blob:")) for address in requests)
    assert [address for address in requests if address.startswith("file:")] == [report.resolve().as_uri()]


def test_links_lead_somewhere(open_page: OpenPage, report: Path) -> None:
    page, _, _ = open_page(report)
    targets = page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))")
    assert targets
    assert all(target.startswith("#") and page.locator(target).count() == 1 for target in targets)


def test_run_is_drawn(open_page: OpenPage, report: Path) -> None:
    page, _, _ = open_page(report)
    expect(page.locator("section.asnets.map")).to_be_visible()
    assert page.locator("section.asnets.map .card").count() > 1


# Whether all of an element is to be seen: no box around it cuts it off, apart from the list of steps, which scrolls.
IS_WHOLE = """element => {
  const box = element.getBoundingClientRect();
  for (let around = element.parentElement; around; around = around.parentElement) {
    const outer = around.getBoundingClientRect();
    const cuts = getComputedStyle(around).overflow !== 'visible';
    if (cuts && (box.bottom > outer.bottom + 1 || box.right > outer.right + 1)) { return false; }
  }
  return true;
}"""


@pytest.mark.parametrize("media", ["screen", "print"])
@pytest.mark.parametrize("width", [1032, 1366, 1920])
def test_pictures_are_whole(open_page: OpenPage, report: Path, width: int, media: Literal["screen", "print"]) -> None:
    page, _, _ = open_page(report, width=width)
    page.emulate_media(media=media)
    pictures = page.locator("figure.picture .overview svg, figure.chart svg, figure.picture .timeline svg")
    assert pictures.count() >= 3
    assert all(picture.evaluate(IS_WHOLE) for picture in pictures.all())
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("width", [390, 1366, 1920])
def test_results_come_first(open_page: OpenPage, report: Path, width: int) -> None:
    page, _, _ = open_page(report, width=width)
    first = page.get_by_role("heading", name="When is it worth using an ASNet?").bounding_box()
    contents = page.get_by_role("navigation").bounding_box()
    assert first is not None
    assert contents is not None
    assert first["y"] < 400
    assert contents["y"] > first["y"] or contents["x"] + contents["width"] < first["x"]
    main = page.get_by_role("main").bounding_box()
    assert main is not None
    assert main["width"] > 0.75 * width


def test_dark(open_page: OpenPage, report: Path) -> None:
    """Text is light on dark; figures keep their white ground."""
    page, _, _ = open_page(report)
    shade = "element => getComputedStyle(element).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number)"
    grounds = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        grounds[scheme] = page.locator("body").evaluate(shade)
        assert page.locator("figure > .wide").first.evaluate(shade) == [255, 255, 255]
    ink = page.locator("body").evaluate("element => getComputedStyle(element).color.match(/[0-9]+/g).map(Number)")
    assert min(grounds["light"]) > 240
    assert max(grounds["dark"]) < 50
    assert min(ink[:3]) > 200
