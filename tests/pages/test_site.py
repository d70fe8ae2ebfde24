"""The site, as it is built: all pages are there, all links within it lead somewhere, nothing comes from elsewhere."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from typer.main import get_command

import asnets
from asnets.cli.app import app
from asnets.cli.topics import topic_names, topic_text
from tests.support import REPOSITORY


class Contents(HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and "href" in given:
            self.loads.append(given["href"])
        elif tag in ("script", "img", "iframe", "source", "video") and "src" in given:
            self.loads.append(given["src"])


def words(page: Path) -> str:
    """The text of a page, without what stands only for looks."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.read_text(encoding="utf-8"))).split())


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Contents]:
    return {path: Contents(path) for path in sorted(site.rglob("*.html"))}


def test_every_page_is_there(site: Path) -> None:
    sources = [path for ending in ("*.md", "notebooks/*.ipynb") for path in (REPOSITORY / "docs").glob(ending)]
    assert len(sources) >= 18
    for source in sources:
        assert (site / source.relative_to(REPOSITORY / "docs")).with_suffix(".html").exists(), source


def test_links_within_the_site_lead_somewhere(site: Path, pages: dict[Path, Contents]) -> None:
    count = 0
    for page, contents in pages.items():
        for link in contents.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue  # Elsewhere: not fetched.
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_relative_to(site.resolve()), f"{page.name}: {link}"
            assert target.exists(), f"{page.name}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{page.name}: {link}"
            count += 1
    assert count > 500


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Contents]) -> None:
    for page, contents in pages.items():
        for address in contents.loads:
            parts = urlsplit(address)
            assert not parts.netloc, f"{page.name}: {address}"
            if parts.scheme != "data" and parts.path:
                assert (page.parent / unquote(parts.path)).exists(), f"{page.name}: {address}"


def test_the_references_have_all_commands_and_names(site: Path, pages: dict[Path, Contents]) -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert {f"asnets-{name}" for name in commands} <= pages[site / "cli.html"].anchors
    text = (site / "cli.html").read_text(encoding="utf-8")
    for command in commands.values():
        for part in command.params:
            assert part.param_type_name == "argument" or part.hidden or part.opts[0] in text, part.opts
    names = {anchor.rpartition(".")[2] for anchor in pages[site / "api.html"].anchors}
    assert set(asnets.__all__) <= names
    assert {"is_goal", "goals", "coverage", "count", "episodes"} <= names


def test_links_are_to_pages_or_to_the_web(pages: dict[Path, Contents]) -> None:
    for page, contents in pages.items():
        assert {urlsplit(link).scheme for link in contents.links} <= {"", "http", "https"}, page


def test_options_have_the_values_of_both_presets(site: Path) -> None:
    text = words(site / "api.html")
    assert "dropout – 0.1 (preset default), 0.25 (preset paper) Probability" in text
    assert "layers – 2 Proposition layers" in text


def test_tables_of_names_are_in_words(site: Path) -> None:
    text = words(site / "api.html")
    for table in (asnets.HEURISTICS, asnets.PLANNERS, asnets.POLICIES):
        for name, entry in table.items():
            assert f"{name} {entry.description}" in text
    assert "HeuristicInfo(" not in text


def test_topics_are_among_the_commands(site: Path) -> None:
    text = words(site / "cli.html")
    squeezed = re.sub(r"[ `]", "", text)
    for name in topic_names():
        for line in topic_text(name).splitlines():
            assert re.sub(r"^(- |# )|[\s`]", "", line) in squeezed, line
    for option in ("--version", "--install-completion", "--show-completion"):
        assert option in text
