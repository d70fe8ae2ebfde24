"""The files about the project agree with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.support import REPOSITORY


def text_of(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def test_the_citation_is_of_this_version_and_of_the_paper() -> None:
    citation = text_of("CITATION.cff")
    software, _, paper = citation.partition("preferred-citation:\n")
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    assert re.findall(r"^version: (.+)$", software, re.MULTILINE) == [project["version"]]
    assert re.findall(r"^license: (.+)$", software, re.MULTILINE) == [project["license"]]
    entry = text_of("docs/references.bib").split("@inproceedings{toyer2018action,")[1].split("\n}")[0]
    title = re.search(r"title\s*= \{(.+)\}", entry)
    assert title is not None
    assert f'title: "{title[1]}"' in paper
    names = re.search(r"author\s*= \{(.+)\}", entry)
    assert names is not None
    families = [name.split(",")[0] for name in names[1].replace(r"{\'e}", "é").split(" and ")]
    assert re.findall(r"family-names: (.+)", paper) == families
    assert "year: 2018" in paper


@pytest.mark.parametrize(
    "name", ["CONTRIBUTING.md", "SECURITY.md", "examples/README.md", "examples/own_domain/README.md"]
)
def test_links_lead_somewhere(name: str) -> None:
    folder = (REPOSITORY / name).parent
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text_of(name)):
        assert (folder / link).exists(), link


def test_what_contributors_are_told_to_run_is_there() -> None:
    page = text_of("CONTRIBUTING.md")
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", page)) <= targets
    for module in re.findall(r"python -m (tests\.[\w.]+)", page):
        path = REPOSITORY / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
    for path_name in re.findall(r"`((?:src|tests|native|examples)/[\w/.]+)`", page):
        assert (REPOSITORY / path_name).exists(), path_name


def test_issue_forms_ask_for_versions() -> None:
    forms = {
        path.stem: path.read_text(encoding="utf-8")
        for path in Path(REPOSITORY / ".github/ISSUE_TEMPLATE").glob("*.yml")
    }
    assert {"bug", "feature", "wrong-result"} <= set(forms)
    assert all("label: asnets --version" in forms[name] for name in ("bug", "wrong-result"))


def test_all_extras_are_explained() -> None:
    extras = tomllib.loads(text_of("pyproject.toml"))["project"]["optional-dependencies"]
    page = text_of("docs/install.md")
    assert all(f"`{extra}`" in page for extra in extras)
