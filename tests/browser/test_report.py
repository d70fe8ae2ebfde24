"""The page of a report, in a real browser."""

from __future__ import annotations

from pathlib import Path

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
                selection=Selection(systems=("asnet-lmcut", "lrtdp-lmcut")),
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
