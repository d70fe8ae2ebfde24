"""A real browser for tests of pages: the system's chromium, driven by playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.support import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

_NAMES = ("chromium", "chromium-browser", "google-chrome")


class OpenPage(Protocol):
    """Opens a file; the addresses of everything that the page asked for, and its errors, are added as they happen.

    Everything but the file itself is refused, after it was written down.
    """

    def __call__(self, path: Path, *, width: int = 1200, scripts: bool = True) -> tuple[Page, list[str], list[str]]: ...


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    chromium = next((found for found in map(shutil.which, _NAMES) if found), None)
    if chromium is None:
        pytest.skip("no chromium on PATH")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (asnets[browser])")
    with sync_api.sync_playwright() as playwright:
        # Chromium's own sandbox does not work as root, nor in most containers; the pages are our own.
        started = playwright.chromium.launch(executable_path=chromium, chromium_sandbox=False, timeout=1000 * PATIENCE)
        sync_api.expect.set_options(timeout=1000 * PATIENCE)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    contexts: list[BrowserContext] = []

    def opened(path: Path, *, width: int = 1200, scripts: bool = True) -> tuple[Page, list[str], list[str]]:
        address = path.resolve().as_uri()
        requests: list[str] = []
        errors: list[str] = []
        context = browser.new_context(viewport={"width": width, "height": 800}, java_script_enabled=scripts)
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        page = context.new_page()

        def decide(route: Route) -> None:
            if route.request.url == address:
                route.continue_()
            else:
                route.abort()

        context.route("**/*", decide)
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None
        )
        page.goto(address)
        return page, requests, errors

    yield opened
    for context in contexts:
        context.close()
