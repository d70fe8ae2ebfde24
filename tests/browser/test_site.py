"""The site in a browser: at two widths and in both modes, nothing sticks out, fails or is asked for elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from tests.support import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = (
    "index",
    "getting-started",
    "own-domain",
    "cli",
    "api",
    "paper",
    "reproduce",
    "planners",
    "notebooks/first-policy",
)


@pytest.mark.parametrize("width", [390, 1366])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_pages(browser: Browser, site: Path, width: int, mode: Literal["light", "dark"]) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=mode)
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    requests: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("requestfailed", lambda request: errors.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    for name in PAGES:
        page.goto((site / f"{name}.html").as_uri())
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, name
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        red = int(background.partition("(")[2].partition(",")[0])
        assert (red < 128) == (mode == "dark"), background
    context.close()
    assert not errors
    assert requests
    assert all(address.startswith((site.as_uri(), "data:")) for address in requests)
