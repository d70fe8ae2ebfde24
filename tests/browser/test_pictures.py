"""Pages with pictures of runs, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed (asnets[browser])")

from playwright.sync_api import Locator, expect

import asnets
from asnets.pictures import RunPicture, draw_run, failure_page, page
from asnets.verification import explore_chain, find_counterexample, find_sealing, solve_chain
from tests.browser.conftest import OpenPage
from tests.pictures.runs import family_task, random_policy

FAMILIES = {"triangle-tireworld": "map", "prob-blocksworld": "towers", "monster": "steps"}


def picture_of(family: str, size: int = 3, title: str | None = None) -> RunPicture:
    task = family_task(family, size)
    # The first one that is long enough to go through.
    pictures = (draw_run(random_policy(task, seed), task, seed=seed, max_steps=20, title=title) for seed in range(30))
    return next(picture for picture in pictures if picture.run.record.steps >= 3)


def written(folder: Path, *pictures: RunPicture, title: str = "Runs") -> Path:
    path = folder / "run.html"
    path.write_text(page(title, [picture.html for picture in pictures]), encoding="utf-8")
    return path


def has_size(locator: Locator) -> bool:
    box = locator.bounding_box()
    return box is not None and box["width"] > 0 and box["height"] > 0


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("width", [1200, 360])
def test_what_is_to_be_seen(open_page: OpenPage, tmp_path: Path, family: str, width: int) -> None:
    picture = picture_of(family)
    path = written(tmp_path, picture)
    shown, requests, errors = open_page(path, width=width)
    expect(shown).to_have_title("Runs")
    expect(shown.locator(f"section.asnets.{FAMILIES[family]}")).to_be_visible()
    for part in ("h1", "h2", ".facts", ".stepper", ".timeline svg", "ol.steps"):
        expect(shown.locator(part)).to_be_visible()
        assert has_size(shown.locator(part)), part
    cards = shown.locator(".card").all()
    assert len(cards) == picture.run.record.steps + 1
    assert all(has_size(card) for card in cards)
    drawings = {"map": ".overview svg", "towers": ".card svg, .overview svg", "steps": ".bar"}[picture.kind]
    assert all(has_size(drawing) for drawing in shown.locator(drawings).all())
    if picture.kind == "map":
        assert all(has_size(circle) for circle in shown.locator(".location circle").all())
        assert shown.locator(".path .segment").count() > 0
    # Nothing sticks out to the side.
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert requests == [path.as_uri()]
    assert errors == []


@pytest.mark.parametrize("family", FAMILIES)
def test_stepping(open_page: OpenPage, tmp_path: Path, family: str) -> None:
    picture = picture_of(family)
    last = picture.run.record.steps
    shown, _, errors = open_page(written(tmp_path, picture))
    output, slider = shown.locator("output"), shown.get_by_role("slider", name="Step")
    expect(output).to_have_text(f"all {last} steps")
    shown.get_by_role("button", name="Step on").click()
    expect(output).to_have_text("start")
    expect(shown.locator(".card:visible")).to_have_count(1)
    expect(shown.locator(".card:visible h3")).to_have_text("Start")
    shown.get_by_role("button", name="Step on").click()
    expect(output).to_have_text(f"step 1 of {last}")
    expect(shown.locator(".card:visible h3")).to_have_text(f"1 {picture.run.steps[0].action}")
    shown.get_by_role("button", name="Step back").click()
    expect(output).to_have_text("start")
    slider.fill(str(last))
    expect(shown.locator(".card:visible h3")).to_have_text(f"{last} {picture.run.steps[-1].action}")
    shown.get_by_role("button", name="Step on").click()
    expect(output).to_have_text(f"step {last} of {last}")
    slider.press("ArrowLeft")
    expect(output).to_have_text(f"step {last - 1} of {last}")
    shown.get_by_role("button", name="All steps").click()
    expect(shown.locator(".card:visible")).to_have_count(last + 1)
    shown.get_by_role("button", name="Step back").click()
    expect(output).to_have_text(f"step {last} of {last}")
    assert errors == []


def test_arrow_keys(open_page: OpenPage, tmp_path: Path) -> None:
    """They go through the steps of the picture that is seen, wherever the focus is; inputs keep their own."""
    pictures = [picture_of("monster"), picture_of("triangle-tireworld")]
    shown, _, errors = open_page(written(tmp_path, *pictures))
    outputs = shown.locator("output")
    before = [outputs.nth(index).inner_text() for index in range(2)]
    shown.keyboard.press("ArrowRight")
    expect(outputs.nth(0)).to_have_text("start")
    shown.keyboard.press("ArrowRight")
    expect(outputs.nth(0)).to_have_text(f"step 1 of {pictures[0].run.record.steps}")
    shown.keyboard.press("ArrowLeft")
    expect(outputs.nth(0)).to_have_text("start")
    shown.keyboard.press("Control+ArrowRight")
    expect(outputs.nth(0)).to_have_text("start")
    shown.get_by_role("slider", name="Step").first.press("ArrowRight")  # Once, not twice.
    expect(outputs.nth(0)).to_have_text(f"step 1 of {pictures[0].run.record.steps}")
    assert outputs.nth(1).inner_text() == before[1]
    assert errors == []


def test_states(open_page: OpenPage, tmp_path: Path) -> None:
    """What is true can be read at each step, and stays open or closed from one step to the next."""
    picture = picture_of("monster")
    shown, _, _ = open_page(written(tmp_path, picture))
    names = shown.locator(".card:visible .state .name")
    expect(shown.locator(".state[open]")).to_have_count(1)
    shown.get_by_role("slider", name="Step").fill("2")
    expect(names).to_be_visible()
    shown.locator(".card:visible summary").click()
    shown.get_by_role("button", name="Step on").click()
    expect(names).to_be_hidden()
    shown.locator(".card:visible summary").click()
    shown.get_by_role("button", name="Step back").click()
    expect(names).to_be_visible()
    shown.get_by_role("button", name="All steps").click()
    expect(shown.locator(".state[open]")).to_have_count(1)


def test_headings_of_facts_are_whole(open_page: OpenPage, tmp_path: Path) -> None:
    """Also on a telephone: each stands on one line."""
    path = tmp_path / "view.html"
    task = family_task("triangle-tireworld", 3)
    path.write_text(f"<!DOCTYPE html><meta charset='utf-8'>{task._repr_html_()}", encoding="utf-8")
    shown, _, _ = open_page(path, width=390)
    lines = shown.locator("th[scope=row]").evaluate_all(
        "all => all.map(th => { const range = document.createRange(); range.selectNodeContents(th);"
        " return range.getClientRects().length; })"
    )
    assert lines == [1] * 5
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390


def test_dark_pages(open_page: OpenPage, tmp_path: Path) -> None:
    """The page around the picture is dark; the picture keeps its colours on white."""
    shown, _, _ = open_page(written(tmp_path, picture_of("monster")))
    background = "part => getComputedStyle(part).backgroundColor"
    assert shown.locator("body").evaluate(background) == "rgb(255, 255, 255)"
    shown.emulate_media(color_scheme="dark")
    assert shown.locator("body").evaluate(background) == "rgb(27, 30, 37)"
    assert shown.locator("section.asnets").evaluate(background) == "rgb(255, 255, 255)"


def test_the_map_follows_the_steps(open_page: OpenPage, tmp_path: Path) -> None:
    picture = picture_of("triangle-tireworld")
    shown, _, _ = open_page(written(tmp_path, picture))
    expect(shown.locator(".at-end")).to_be_visible()
    expect(shown.locator(".by-step:visible")).to_have_count(0)
    # The car stands where the first segment begins, and then where it ends.
    segment = shown.locator(".segment").first
    slider = shown.get_by_role("slider", name="Step")
    for step, end in ((0, "1"), (1, "2")):
        slider.fill(str(step))
        expect(shown.locator(".at-end")).to_be_hidden()
        car = shown.locator(".by-step:visible")
        expect(car).to_have_count(1)
        assert [car.get_attribute(name) for name in ("cx", "cy")] == [
            segment.get_attribute(f"{axis}{end}") for axis in ("x", "y")
        ]
    options = [name for name, chance in picture.run.steps[0].probabilities.items() if chance >= 0.01]
    expect(shown.locator(".chances .chance:visible")).to_have_count(len(options))
    faded = shown.locator(".step.ahead").evaluate_all("parts => parts.map(part => getComputedStyle(part).opacity)")
    assert set(faded) == {"0.12"}


def test_several_pictures_on_a_page(open_page: OpenPage, tmp_path: Path) -> None:
    pictures = [picture_of(family) for family in FAMILIES]
    shown, _, errors = open_page(written(tmp_path, *pictures))
    sections = shown.locator("section.asnets")
    expect(sections).to_have_count(3)
    sections.nth(1).get_by_role("slider", name="Step").fill("2")
    expect(sections.nth(1).locator(".card:visible")).to_have_count(1)
    for index in (0, 2):
        cards = sections.nth(index).locator(".card:visible")
        expect(cards).to_have_count(pictures[index].run.record.steps + 1)
    assert errors == []


@pytest.mark.parametrize("family", FAMILIES)
def test_without_scripts(open_page: OpenPage, tmp_path: Path, family: str) -> None:
    picture = picture_of(family)
    shown, requests, _ = open_page(written(tmp_path, picture), scripts=False)
    expect(shown.locator(".stepper")).to_be_hidden()
    expect(shown.locator(".card:visible")).to_have_count(picture.run.record.steps + 1)
    for step in picture.run.steps:
        expect(shown.locator("h3", has_text=step.action).first).to_be_visible()
    assert len(requests) == 1


def test_names_are_text(open_page: OpenPage, tmp_path: Path) -> None:
    evil = "<img src='https://example.invalid/x' onerror='document.title=1'>"
    path = written(tmp_path, picture_of("monster", title=evil), title=f"{evil}!")
    shown, requests, errors = open_page(path)
    expect(shown.locator("h1")).to_have_text(f"{evil}!")
    expect(shown.locator("h2")).to_have_text(evil)
    expect(shown).to_have_title(f"{evil}!")
    assert shown.locator("img").count() == 0
    assert requests == [path.as_uri()]
    assert errors == []


@pytest.mark.parametrize("family", FAMILIES)
def test_svg_documents(open_page: OpenPage, tmp_path: Path, family: str) -> None:
    picture = picture_of(family)
    path = tmp_path / "run.svg"
    path.write_text(picture.svg, encoding="utf-8")
    shown, requests, errors = open_page(path)
    texts = [text for text in shown.locator("text").all() if text.is_visible()]
    assert len(texts) > 5
    width, height = (float(shown.locator("svg").get_attribute(name) or 0) for name in ("width", "height"))
    for text in texts:
        box = text.bounding_box()
        assert box is not None
        assert box["x"] >= -1
        assert box["x"] + box["width"] <= width + 1, text.text_content()
        assert box["y"] + box["height"] <= height + 1
    assert requests == [path.as_uri()]
    assert errors == []


@pytest.mark.parametrize("width", [1200, 360])
def test_a_way_into_failure(open_page: OpenPage, tmp_path: Path, width: int) -> None:
    """The choice that sealed it stands out, with what other actions would have kept."""
    policy = asnets.RandomPolicy(family_task("triangle-tireworld", 2))
    model = explore_chain(policy)
    failure = find_counterexample(model, solve_chain(model), policy)
    assert failure is not None
    path = tmp_path / "failure.html"
    path.write_text(failure_page("Failure", [(failure, find_sealing(failure))]), encoding="utf-8")
    shown, requests, errors = open_page(path, width=width)
    expect(shown.locator(".remark")).to_contain_text("would have kept it sure")
    marked = shown.locator(".card.marked")
    assert marked.count() == 2
    expect(marked.nth(1).locator(".mark").first).to_contain_text("This choice sealed it")
    assert all(has_size(mark) for mark in shown.locator(".mark").all())
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    # In the stepper, marks are shown with their step.
    shown.locator(".stepper .on").click()
    expect(marked.nth(0)).to_be_visible()
    expect(marked.nth(1)).to_be_hidden()
    assert requests == [path.as_uri()]
    assert errors == []
