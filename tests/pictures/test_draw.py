"""What the pictures show, read back from the documents, against the run by name."""

from __future__ import annotations

import dataclasses
import itertools
import re
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import asnets
from asnets.api import Policy
from asnets.evaluation.runs import Run
from asnets.grounding import GroundTask
from asnets.pictures import RunPicture, draw_run, page, picture_of
from asnets.pictures.fragment import MAX_CHANGES, MAX_OPTIONS, MAX_TRUE
from asnets.pictures.map_picture import MAX_LOCATIONS
from asnets.pictures.style import percent
from tests.pictures.runs import ODD_TIRES, ODD_TIRES_PROBLEM, family_task, published_task, random_policy
from tests.support import REPOSITORY, ground_text, needs_published, state_names

SVG = "{http://www.w3.org/2000/svg}"


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in (element.get("class") or "").split()]


def at(element: ElementTree.Element) -> int:
    return int(element.get("data-at", "-1"))


class Tree(HTMLParser):
    """Reads HTML into elements, as a browser would: what is not closed or closed twice is an error."""

    VOID = ("meta", "link", "input", "br", "img")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = ElementTree.Element("root")
        self.open = [self.root]
        self.feed(text)
        self.close()
        assert self.open == [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = ElementTree.SubElement(self.open[-1], tag, {name: value or "" for name, value in attrs})
        if tag not in self.VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        top = self.open[-1]
        if len(top):
            top[-1].tail = (top[-1].tail or "") + data
        else:
            top.text = (top.text or "") + data


def parsed(picture: RunPicture) -> tuple[ElementTree.Element, ElementTree.Element]:
    """The SVG document and the HTML fragment, after what holds for all of them."""
    svg = ElementTree.fromstring(picture.svg)
    assert svg.find(f"{SVG}title") is not None
    assert svg.find(f"{SVG}desc") is not None
    html = Tree(picture.html).root
    cards = with_class(html, "card")
    assert [at(card) for card in cards] == list(range(len(picture.run.steps) + 1))
    for card, step in zip(cards[1:], picture.run.steps, strict=True):
        check_options(card, step.action, step.probabilities)
    for text in (picture.svg, picture.html, page("t", [picture.html])):
        assert set(re.findall(r"https?:[^\"' ]*", text)) <= {"http://www.w3.org/2000/svg"}
        assert not re.search(r"url\(|@import|\bsrc=", text)
    assert not [element for element in html.iter() if element.get("id")]
    return svg, html


def check_options(card: ElementTree.Element, action: str, probabilities: dict[str, float]) -> None:
    (options,) = with_class(card, "options")
    names = ["".join(part.itertext()) for part in with_class(options, "name")]
    values = [part.text for part in with_class(options, "value")]
    shown = list(probabilities.items())
    if len(shown) > MAX_OPTIONS + 1:
        rest = [option for option in shown[MAX_OPTIONS:] if option[0] != action]
        taken = [option for option in shown[MAX_OPTIONS:] if option[0] == action]
        words = "1 other action" if len(rest) == 1 else f"{len(rest)} other actions"
        shown = [*shown[:MAX_OPTIONS], *taken, (words, sum(chance for _, chance in rest))]
    assert names == [name for name, _ in shown]
    assert values == [percent(chance) for _, chance in shown]
    assert [part.text for part in with_class(options, "chosen") if "name" in part.get("class", "")] == [action]


def words(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


# --- Maps -----------------------------------------------------------------------------------------------------------


def check_map(picture: RunPicture, burst: str) -> None:
    """Of a tireworld in which this change says that the tire has gone flat."""
    assert picture.kind == "map"
    svg, html = parsed(picture)
    steps = list(enumerate(picture.run.steps, 1))
    moves = [number for number, step in steps if len(step.action.split()) == 3]
    changes = {number: [*(f"+{n}" for n in step.added), *(f"-{n}" for n in step.deleted)] for number, step in steps}
    flats = [number for number in moves if burst in changes[number]]
    for root in (svg, html):
        (path,) = with_class(root, "path")
        assert len(with_class(path, "segment")) == len(moves)
        assert [at(part) for part in with_class(path, "step")] == moves
        assert [at(mark) for mark in with_class(root, "burst")] == flats
        assert [at(mark) for mark in with_class(root, "changed")] == [n for n in changes if n not in moves]
        chances = with_class(with_class(root, "chances")[0], "chance")
        expected = [
            (number, percent(chance))
            for number, step in steps
            for name, chance in step.probabilities.items()
            if len(name.split()) == 3 and chance >= 0.01
        ]
        assert sorted((at(part), part.text or "") for part in chances) == sorted(expected)
        segments = with_class(path, "segment")
        for before, after in itertools.pairwise(segments):
            gap = [float(before.get(a, "0")) - float(after.get(b, "0")) for a, b in (("x2", "x1"), ("y2", "y1"))]
            assert max(map(abs, gap)) < 12


@pytest.mark.parametrize("size", [1, 3, 8])
def test_triangle_tireworld(size: int) -> None:
    task = family_task("triangle-tireworld", size)
    longest = 0
    for seed in range(6):
        picture = draw_run(random_policy(task, seed), task, seed=seed)
        check_map(picture, "-(not-flattire)")
        longest = max(longest, picture.run.record.steps)
        locations = with_class(ElementTree.fromstring(picture.svg), "location")
        assert len(locations) == (size + 1) * (2 * size + 1)
        titles = [location.findtext(f"{SVG}title", "") for location in locations]
        assert [title for title in titles if "start" in title] == ["l-1-1, start"]
        assert [title for title in titles if "goal" in title] == [f"l-1-{2 * size + 1}, goal"]
        spares = [name for name in state_names(task, picture.run.trace.states[0]) if name.startswith("(spare-in")]
        assert sum("spare" in title for title in titles) == len(spares)
    assert longest >= 2


def test_tireworld_with_other_names() -> None:
    task = ground_text(ODD_TIRES, ODD_TIRES_PROBLEM)
    for seed in range(6):
        check_map(draw_run(random_policy(task, seed), task, seed=seed, max_steps=9), "+(flat)")


def test_a_map_that_is_too_large() -> None:
    count = MAX_LOCATIONS + 1
    names = [f"l{index}" for index in range(count)]
    roads = " ".join(f"(lane {b} {a})" for a, b in itertools.pairwise(names))
    task = ground_text(
        ODD_TIRES, f"(:objects {' '.join(names)}) (:init (car l0) (kit l1) {roads}) (:goal (car {names[-1]}))"
    )
    picture = draw_run(random_policy(task), task, max_steps=3)
    assert picture.kind == "steps"
    assert f"The map is not drawn: it has {count:,} locations." in words(parsed(picture)[1])


# --- Towers ---------------------------------------------------------------------------------------------------------


def read_towers(picture: ElementTree.Element) -> dict[str, str]:
    """Where each block is drawn: on which block, on the table, or in the hand, from the coordinates alone."""
    table = next(element for element in picture.iter() if "table" in (element.get("class") or "").split())
    floor = float(table.get("y1", "0")) - 1
    blocks: dict[tuple[float, float], str] = {}
    for group in with_class(picture, "block"):
        x, y = re.findall(r"[-\d.]+", group.get("transform", ""))
        rect = next(element for element in group if element.tag.endswith("rect"))
        label = next(element for element in group if element.tag.endswith("text"))
        blocks[float(x), float(y) + float(rect.get("height", "0"))] = label.text or ""
    height = 18.0
    lower = {place: blocks.get((place[0], place[1] + height)) for place in blocks}
    return {
        name: "table" if place[1] == pytest.approx(floor) else lower[place] or "hand" for place, name in blocks.items()
    }


def expected_towers(task: GroundTask, state: object) -> dict[str, str]:
    found = {}
    for name in state_names(task, state):  # type: ignore[arg-type]
        predicate, *terms = name.strip("()").split()
        if predicate == "on":
            found[terms[0]] = terms[1]
        elif predicate in ("on-table", "ontable"):
            found[terms[0]] = "table"
        elif predicate == "holding":
            found[terms[0]] = "hand"
    return found


@pytest.mark.parametrize("family", ["prob-blocksworld", "exploding-blocksworld", "blocksworld"])
@pytest.mark.parametrize("size", [2, 5])
def test_towers(family: str, size: int) -> None:
    task = family_task(family, size)
    drops, failures = 0, 0
    for seed in range(3):
        picture = draw_run(random_policy(task, seed), task, seed=seed, max_steps=25)
        assert picture.kind == "towers"
        svg, html = parsed(picture)
        cards = with_class(html, "card")
        before: dict[str, str] = {}
        for number, (card, state) in enumerate(zip(cards, picture.run.trace.states, strict=True)):
            towers = read_towers(card)
            assert towers == expected_towers(task, state)
            marked = {words(block) for style in ("moved", "dropped") for block in with_class(card, style)}
            changed = {block for block in towers if number and before[block] != towers[block]}
            assert marked == changed
            dropped = [words(block) for block in with_class(card, "dropped")]
            action = picture.run.steps[number - 1].action if number else ""
            slipped = [b for b in changed if towers[b] == "table" and not action.startswith("(put-down")]
            assert dropped == slipped
            drops += len(dropped)
            if dropped:
                assert f"{dropped[0]} was dropped on the table" in words(card)
            if number and not picture.run.steps[number - 1].added and not picture.run.steps[number - 1].deleted:
                assert "failed: nothing changed" in words(card)
                failures += 1
            before = towers
        scenes = with_class(svg, "scene")
        for scene in scenes:
            assert read_towers(scene) == expected_towers(task, picture.run.trace.states[at(scene)])
        if len(scenes) == len(cards):
            assert "left out" not in words(svg)
        goal = {task.atom_name(atom) for atom in range(task.num_atoms) if task.in_goal[atom]}
        (overview,) = with_class(html, "overview")
        drawn = read_towers(overview)
        wanted = {name for name in goal if name.split()[0] in ("(on", "(on-table", "(ontable")}
        on = {f"(on {block} {place})" for block, place in drawn.items() if place not in ("table", "hand")}
        assert on == {name for name in wanted if name.startswith("(on ")}
        assert {block for block, place in drawn.items() if place == "table"} == {
            name.split()[1].strip(")") for name in wanted if not name.startswith("(on ")
        }
    if family == "prob-blocksworld" and size == 5:
        assert drops
        assert failures


@needs_published
def test_towers_in_the_hand() -> None:
    """The competition's blocks world has a hand that can hold a tower."""
    task = published_task("ippc08/blocksworld", "p01-c0-C0-g1-n5.pddl")
    held = 0
    for seed in range(8):
        picture = draw_run(random_policy(task, seed), task, seed=seed, max_steps=40)
        _, html = parsed(picture)
        for card, state in zip(with_class(html, "card"), picture.run.trace.states, strict=True):
            towers = read_towers(card)
            assert towers == expected_towers(task, state)
            in_hand = [block for block, place in towers.items() if place == "hand"]
            held += any(place in in_hand for place in towers.values())
    assert held


def test_long_runs_say_what_is_left_out() -> None:
    task = family_task("prob-blocksworld", 12)
    picture = draw_run(random_policy(task, 2), task, max_steps=150)
    svg, html = parsed(picture)
    states = len(picture.run.trace.states)
    shown = [at(scene) for scene in with_class(svg, "scene")]
    assert shown == sorted(set(shown))
    assert (shown[0], shown[-1]) == (0, states - 1)
    assert len(shown) < states
    assert f"{len(shown)} states of the run are shown; {states - len(shown)} between them are left out." in words(svg)
    assert len(with_class(html, "card")) == states
    task = family_task("gripper", 8)
    picture = draw_run(random_policy(task), task, max_steps=60)
    svg, _ = parsed(picture)
    assert len(with_class(svg, "row")) == 40
    assert "The first 40 steps are shown; 20 steps after them are left out." in words(svg)


def test_towers_of_too_many_blocks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asnets.pictures.draw._MAX_DRAWN_BLOCKS", 20)
    task = family_task("prob-blocksworld", 5)
    picture = draw_run(random_policy(task), task, max_steps=10)
    _, html = parsed(picture)
    assert [bool(with_class(card, "block")) for card in with_class(html, "card")] == [True] * 4 + [False] * 7
    assert "Towers are drawn for the first 3 steps only." in words(html)


# --- Any domain -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("family", "size"), [("cosanostra", 3), ("monster", 2), ("gripper", 2)])
def test_steps(family: str, size: int) -> None:
    task = family_task(family, size)
    run = random_policy(task).run(task, max_steps=30, on_loop="none")
    picture = picture_of(run, task)
    assert picture.kind == "steps"
    svg, html = parsed(picture)
    rows = with_class(svg, "row")
    assert len(rows) == len(picture.run.steps)
    for card, state in zip(with_class(html, "card"), picture.run.trace.states, strict=True):
        (true,) = with_class(card, "state")
        assert sorted(name.text or "" for name in true.iter("span")) == sorted(state_names(task, state))
        assert words(true).startswith(f"{len(state)} proposition")
        assert ("open" in true.attrib) == (at(card) == 0)
    for row, card, step in zip(rows, with_class(html, "card")[1:], picture.run.steps, strict=True):
        texts = [text.text or "" for text in row.iter(f"{SVG}text")]
        assert texts[1:3] == [step.action, percent(step.probability)]
        signed = [*(f"+{name}" for name in step.added), *(f"−{name}" for name in step.deleted)]
        assert "  ".join(texts[3:]).split("  ") == (signed or ["nothing changed"])
        assert [part.text for part in card.iter("ins")] == [f"+{name}" for name in step.added]
        assert [part.text for part in card.iter("del")] == [f"−{name}" for name in step.deleted]
        shares = {
            share.findtext(f"{SVG}title", ""): float(share.get("width", "0")) for share in with_class(row, "share")
        }
        assert sum(shares.values()) == pytest.approx(180, abs=0.1 * len(shares) + 0.5)
        assert shares[f"{step.action}: {percent(step.probability)}"] == pytest.approx(180 * step.probability, abs=0.06)


def test_many_changes() -> None:
    predicates = " ".join(f"(a-proposition-{n})" for n in range(MAX_CHANGES + 9))
    task = ground_text(
        f"(:predicates {predicates}) (:action all :effect (and {predicates}))", "(:goal (a-proposition-0))"
    )
    picture = draw_run(random_policy(task), task)
    svg, html = parsed(picture)
    assert "… and 9 more changes" in words(html)
    assert f"… {MAX_CHANGES + 9} changes in all" in words(svg)


def test_states_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it in short runs, and less of each state in long ones."""
    names = [f"(a-proposition-{number})" for number in range(MAX_TRUE + 9)]
    task = ground_text(
        f"(:predicates (p) {' '.join(names)}) (:action all :effect (and (p) {' '.join(names)}))", "(:goal (p))"
    )
    _, html = parsed(draw_run(random_policy(task), task))
    first, last = with_class(html, "state")
    assert words(first) == "0 propositions true"
    assert len(list(last.iter("span"))) == MAX_TRUE + 1
    assert words(last).startswith(f"{MAX_TRUE + 10} propositions true")
    assert words(last).endswith("… and 10 more")
    monkeypatch.setattr("asnets.pictures.draw._MAX_ATOMS", 100)
    _, html = parsed(draw_run(random_policy(task), task))
    assert words(with_class(html, "state")[1]).endswith(f"… and {MAX_TRUE + 10 - 50} more")


def test_atoms_are_not_broken() -> None:
    objects = [f"a-rather-long-name-of-{number}" for number in range(4)] + ["x" * 90]
    task = ground_text(
        "(:predicates (joined ?a ?b) (p)) (:action go :parameters (?a) :effect (and (p) (forall (?b) (joined ?a ?b))))",
        f"(:objects {' '.join(objects)}) (:goal (and (p) (joined {objects[0]} {objects[0]})))",
    )
    picture = draw_run(random_policy(task), task, max_steps=3)
    svg, _ = parsed(picture)
    lines = [text.text or "" for text in svg.iter(f"{SVG}text") if "plus" in text.get("class", "").split()]
    assert lines
    assert all(part.startswith("+(") and part.endswith((")", "…")) for line in lines for part in line.split("  "))


def test_what_amber_means() -> None:
    task = family_task("gripper", 2)
    _, html = parsed(draw_run(asnets.RandomPolicy(task), task, max_steps=20))
    assert with_class(html, "unsure")
    assert "Amber: less than 50%." in words(html)
    _, html = parsed(draw_run(asnets.solve(task).policy, task))
    assert not with_class(html, "unsure")
    assert "Amber" not in words(html)


def test_a_title_is_said_once() -> None:
    task = family_task("monster", 2)
    title = "<A> & 'run'"
    html = draw_run(random_policy(task), task, title=title).html
    root = Tree(page(title, [html])).root
    assert [heading.text for tag in ("h1", "h2") for heading in root.iter(tag)] == [title]
    root = Tree(page(title, [html, html])).root
    assert len(list(root.iter("h2"))) == 2
    root = Tree(page("Another", [html])).root
    assert [heading.text for tag in ("h1", "h2") for heading in root.iter(tag)] == ["Another", title]


# --- All of them ----------------------------------------------------------------------------------------------------


def test_the_run_is_that_of_the_policy() -> None:
    task = family_task("triangle-tireworld", 3)
    policy = random_policy(task)
    picture = draw_run(policy, task, seed=5)
    same: Run = policy.run(task, seed=5)
    assert picture.run.steps == same.steps
    assert picture.run.record == same.record
    assert "· seed 5, episode 0" in words(parsed(picture)[1])
    later = picture_of(policy.run(task, seed=5, episode=7), task)
    assert "· seed 5, episode 7" in words(parsed(later)[1])


@pytest.mark.parametrize("family", ["triangle-tireworld", "prob-blocksworld", "monster"])
def test_no_steps(family: str) -> None:
    task = family_task(family, 2)
    picture = draw_run(random_policy(task), task, max_steps=0)
    _, html = parsed(picture)
    assert "step limit reached after 0 steps, cost 0" in words(html)
    assert not with_class(html, "stepper")
    assert not list(html.iter("script"))


EVIL = ("</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;\x00]]>\ud800", "x" * 5000)


@pytest.mark.parametrize("family", ["triangle-tireworld", "prob-blocksworld", "monster"])
def test_odd_names(family: str) -> None:
    task = family_task(family, 2)
    policy = random_policy(task)
    plain = draw_run(policy, task)
    objects = tuple(EVIL[index % 4] + str(index) for index in range(len(task.objects)))
    odd = dataclasses.replace(task, objects=objects, problem="</style><h1>", domain="<svg onload=alert(1)>")
    picture = draw_run(policy, odd)
    assert picture.kind == plain.kind
    root = ElementTree.fromstring(picture.svg.encode())
    assert {element.tag for element in root.iter()} <= {
        f"{SVG}{tag}"
        for tag in ("svg", "g", "title", "desc", "style", "rect", "circle", "line", "path", "polygon", "text")
    }
    html = Tree(page(EVIL[0], [picture.html])).root
    assert not list(html.iter("img"))
    assert not list(html.iter("h1"))[1:]
    assert len(list(html.iter("script"))) == 1
    assert not [name for element in html.iter() for name in element.attrib if name.startswith("on")]
    assert html.findtext(".//h1") == EVIL[0]
    assert html.findtext(".//h2") == f"{odd.problem} of {odd.domain}"
    assert draw_run(policy, task, title=EVIL[1]).html.count("<img") == 0


def test_percent() -> None:
    expected = {1.0: "100%", 0.9994: "99.9%", 0.99: "99%", 0.5: "50%", 0.01: "1%", 0.004: "0.4%", 0.0001: "0%"}
    assert {chance: percent(chance) for chance in expected} == expected


def test_page_with_several_pictures() -> None:
    tasks = [family_task(family, 2) for family in ("triangle-tireworld", "prob-blocksworld", "monster")]
    text = page("Three runs", [draw_run(random_policy(task), task).html for task in tasks])
    html = Tree(text).root
    assert [section.get("class") for section in html.iter("section")] == [
        "asnets run map",
        "asnets run towers",
        "asnets run steps",
    ]
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    styles = "".join(element.text or "" for section in html.iter("section") for element in section.iter("style"))
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", re.sub(r"@media[^{]*", "", styles))
    assert all(part.strip(" {\n").startswith(".asnets") for rule in rules for part in rule.strip().split(",")), rules


def test_same_bytes() -> None:
    """Also in another process, where hashes of strings differ."""
    code = (
        "import sys\nfrom tests.pictures.test_draw import everything\nsys.stdout.buffer.write(everything().encode())\n"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, check=True)
    assert result.stdout.decode() == everything()


def everything() -> str:
    parts = []
    for family in ("triangle-tireworld", "exploding-blocksworld", "cosanostra"):
        task = family_task(family, 3)
        policy: Policy = random_policy(task)
        picture = draw_run(policy, task, max_steps=20)
        parts += [picture.svg, picture.html]
    return "".join(parts)
