"""Pictures of runs in HTML: a part of a page that needs nothing from elsewhere, and whole pages of such parts.

Without scripts, all steps stand in one list. A short script adds controls that go through them one by one: what has a
number in `data-at` belongs to the step of that number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from asnets.pictures.deciding import (
    DECIDING_STYLE,
    decided_words,
    draw_decision,
    draw_sign,
    has_decisions,
    left_caption,
)
from asnets.pictures.notes import NO_NOTES, NOTES_STYLE, Mark, Notes, draw_mark
from asnets.pictures.search_tree import draw_tree
from asnets.pictures.style import STYLE, new_svg, percent
from asnets.pictures.svg import add, clean
from asnets.words import count

if TYPE_CHECKING:
    from asnets.evaluation.runs import Run, RunStep

MAX_OPTIONS, MAX_CHANGES, MAX_TRUE = 5, 24, 200
MAX_TREES = 40
_UNSURE = 0.5

_FRAGMENT_STYLE = """
.asnets.run { margin: 1rem 0 2.5rem; line-height: 1.45; font-size: 15px; background: #fff; color-scheme: light }
.asnets.run h2 { font-size: 1.25rem; margin: 0 0 .2rem; overflow-wrap: anywhere }
.asnets.run p { margin: .2rem 0 }
.asnets.run .facts, .asnets.run .note { color: #545c6a }
.asnets.run .words { overflow-wrap: anywhere }
.asnets.run .note.warn { color: #a33c00; font-weight: bold }
.asnets.run figure { margin: .8rem 0; overflow-x: auto }
.asnets.run figcaption { color: #545c6a; font-size: .87em }
.asnets.run svg { display: block; max-width: 100%; height: auto }
.asnets.run .body { display: flex; flex-wrap: wrap; gap: 0 1.2rem; align-items: flex-start }
.asnets.run .overview { flex: 0 1 auto; max-width: 100% }
.asnets.run .wide svg { min-width: 32rem }
.asnets.run .timeline svg { width: 100%; height: 42px }
.asnets.run .keys { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; color: #545c6a; font-size: .87em }
.asnets.run .keys svg { display: inline-block; vertical-align: -2px }
.asnets.run .stepper { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .3rem 0;
  padding: .3rem 0; position: sticky; top: 0; z-index: 1; background: #fff }
.asnets.run .stepper[hidden] { display: none }
.asnets.run .stepper input { flex: 1 1 12rem; min-width: 8rem; accent-color: #0072b2 }
.asnets.run .stepper output { min-width: 8.5em }
.asnets.run .stepper button { font: inherit; padding: .25rem .7rem; border: 1px solid #8a93a3; border-radius: 4px;
  background: #f4f6f9; color: #1f2430; cursor: pointer }
.asnets.run .stepper button:hover { background: #e4e8ef }
.asnets.run .stepper :focus-visible { outline: 2px solid #0072b2; outline-offset: 2px }
.asnets.run .stepper button[aria-pressed=true] { background: #0072b2; border-color: #0072b2; color: #fff }
.asnets.run .steps { list-style: none; margin: 0; padding: 2px; display: grid; gap: .7rem; flex: 1 1 20rem;
  min-width: 0; max-height: max(26rem, 80vh); overflow: auto }
.asnets.run .steps > li { border: 1px solid #d5dae3; border-radius: 6px; padding: .5rem .7rem; min-width: 0 }
.asnets.run h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere }
.asnets.run h3 .name { font-weight: normal; font-size: .87em }
.asnets.run .options { display: grid; grid-template-columns: auto minmax(3rem, 1fr) auto; gap: .1rem .6rem;
  max-width: 34rem; align-items: center; margin: .35rem 0; font-size: .93em }
.asnets.run .options > .name { overflow-wrap: anywhere; line-height: 1.25 }
.asnets.run .options > .value { text-align: right; font-variant-numeric: tabular-nums }
.asnets.run .bar { background: #eef0f4; height: .7em; border-radius: 2px; overflow: hidden }
.asnets.run .bar i { display: block; height: 100%; background: #8a93a3 }
.asnets.run .chosen { font-weight: bold }
.asnets.run .bar.chosen i { background: #0072b2 }
.asnets.run .changes, .asnets.run .state { font-size: .93em; overflow-wrap: anywhere }
.asnets.run .changes > *, .asnets.run .state .name > * { display: inline-block; max-width: 100%; margin-right: .8em }
.asnets.run .changes ins { color: #00634a; text-decoration: none }
.asnets.run .changes del { color: #a33c00; text-decoration: none }
.asnets.run .state .name { font-size: inherit }
.asnets.run .state summary { color: #545c6a; cursor: pointer }
.asnets.run h3 .name { display: inline-block; max-width: 100% }
.asnets.run.single .steps { display: block; max-height: none; overflow: visible }
.asnets.run.single .steps > li:not(.now) { display: none }
.asnets.run.single .step.ahead { opacity: .12 }
.asnets.run.single .changed.ahead, .asnets.run.single .burst.ahead { display: none }
.asnets.run.single .step.now .segment { stroke: #00507e; stroke-opacity: 1 }
.asnets.run.single .step:not(.now) .segment { stroke-opacity: .45 }
.asnets.run.single .chances :not(.now), .asnets.run.single .choices :not(.now),
.asnets.run.single .at-end { display: none }
.asnets.run.single .chance.now, .asnets.run.single .by-step.now { display: inline }
.asnets.run.single .level:not(.now) { opacity: .35 }
@media (min-width: 60rem) {
  .asnets.run.map .body { flex-wrap: nowrap }
  .asnets.run.map .steps { flex-shrink: 0 }
}
@media print { .asnets.run .steps { max-height: none; overflow: visible } .asnets.run .stepper { display: none } }
"""

_SCRIPT = """
(function (root) {
  var stepper = root.querySelector('.stepper'), range = stepper.querySelector('input');
  var output = stepper.querySelector('output'), all = stepper.querySelector('.all');
  var marks = root.querySelectorAll('[data-at]'), last = Number(range.max), words = output.textContent;
  var states = root.querySelectorAll('.state'), open = true;
  var trees = root.querySelectorAll('.tree'), openTrees = true;
  function show(step) {
    var before = root.querySelector('.card.now .state');
    if (before) { open = before.open; }
    var seen = root.querySelector('.card.now .tree');
    if (seen) { openTrees = seen.open; }
    root.classList.toggle('single', step !== null);
    all.setAttribute('aria-pressed', String(step === null));
    marks.forEach(function (mark) {
      var at = Number(mark.getAttribute('data-at'));
      mark.classList.toggle('now', at === step);
      mark.classList.toggle('ahead', step !== null && at > step);
    });
    states.forEach(function (state, at) { state.open = step === null ? at === 0 : at === step && open; });
    trees.forEach(function (tree) { tree.open = step !== null && openTrees; });
    if (step !== null) { range.value = step; }
    output.textContent = step === null ? words : step === 0 ? 'start' : 'step ' + step + ' of ' + last;
  }
  function go(change) {
    var from = root.classList.contains('single') ? Number(range.value) : change > 0 ? -1 : last + 1;
    show(Math.min(last, Math.max(0, from + change)));
  }
  stepper.querySelector('.back').addEventListener('click', function () { go(-1); });
  stepper.querySelector('.on').addEventListener('click', function () { go(1); });
  all.addEventListener('click', function () { show(null); });
  range.addEventListener('input', function () { show(Number(range.value)); });
  if (root.parentElement === document.body) {
    document.addEventListener('keydown', function (event) {
      var change = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!change || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented ||
          event.target.closest('input, textarea, select, [contenteditable]')) { return; }
      var all = Array.from(document.querySelectorAll('body > .asnets.run'));
      var seen = all.filter(function (each) { return each.getBoundingClientRect().bottom > 0; });
      if (seen[0] === root) { event.preventDefault(); go(change); }
    });
  }
  stepper.hidden = false;
})(document.currentScript.parentElement);
"""

_PAGE_STYLE = """
body { margin: 0 auto; padding: 1rem clamp(.6rem, 3vw, 2rem) 3rem; max-width: 72rem; color: #1f2430; background: #fff;
  font-family: "Helvetica Neue", Arial, "DejaVu Sans", sans-serif }
h1 { font-size: 1.6rem; overflow-wrap: anywhere }
@media (prefers-color-scheme: dark) {
  :root { color-scheme: dark }
  body { color: #e4e7ed; background: #1b1e25 }
  body > .asnets.run { padding: 1rem; border-radius: 8px }
}
"""


@dataclass
class Card:
    """What is said about one state, beside the step that led there.

    Attributes:
        picture: Of the state, if there is one.
        words: What else there is to say about the state.
        note: What came of the step, if it is worth saying.
        added: Propositions that became true and are not to be seen in the picture.
        deleted: The same for those that became false.
        true: What is true in the state, of which some may be left out.
        num_true: How many propositions are true; None where that is not shown.
    """

    picture: ElementTree.Element | None = None
    words: str = ""
    note: str = ""
    added: Sequence[str] = ()
    deleted: Sequence[str] = ()
    true: Sequence[str] = ()
    num_true: int | None = None


@dataclass
class Contents:
    """What a fragment shows beside the run itself.

    Attributes:
        overview: A figure above the steps, and what it shows in words.
        card_width: In pixels, how wide a card should be.
        cards: One for each state: the first one, and one for each step.
        left_out: Something about the run that is not shown, in words.
        legend: Looks of blocks by class, and what they mean.
    """

    cards: list[Card]
    overview: tuple[ElementTree.Element, str] | None = None
    card_width: float = 300.0
    left_out: str = ""
    legend: Sequence[tuple[str, str]] = ()


def draw_fragment(run: Run, kind: str, title: str, contents: Contents, notes: Notes = NO_NOTES) -> str:
    """The part of a page."""
    root = ElementTree.Element("section", {"class": f"asnets run {kind}"})
    decided = has_decisions(run)
    more_style = NOTES_STYLE * (notes is not NO_NOTES) + DECIDING_STYLE * decided
    add(root, "style", STYLE + _FRAGMENT_STYLE + more_style)
    add(root, "h2", title)
    record, kind_of_policy = run.record, "sampled" if run.policy.sampled else "greedy"
    facts = (
        str(record),
        f"{kind_of_policy} policy ({run.policy.name})",
        run.origin or f"seed {record.seed}, episode {record.episode}",
    )
    add(root, "p", " · ".join(facts), class_="facts")
    if notes.remark:
        add(root, "p", notes.remark, class_="remark")
    if contents.left_out:
        add(root, "p", contents.left_out, class_="note")
    trees = _steps_with_trees(run)
    has_trees = sum(step.decision is not None and bool(step.decision.tree) for step in run.steps)
    if len(trees) < has_trees:
        words = f"Trees of the search are drawn for {count(len(trees), 'step')} of {has_trees:,}."
        add(root, "p", words, class_="note")
    if run.steps:
        _draw_timeline(root, run, notes)
        _draw_stepper(root, len(run.steps))
    if contents.legend:
        _draw_keys(root, contents.legend)
    body = add(root, "div", class_="body")
    if contents.overview is not None:
        picture, words = contents.overview
        wide = " wide" if float(picture.get("width", "0")) > 700 else ""
        figure = add(body, "figure", class_=f"overview{wide}")
        figure.append(picture)
        add(figure, "figcaption", words)
    width = f"min(100%, {contents.card_width:.0f}px)"
    style = f"grid-template-columns: repeat(auto-fill, minmax({width}, 1fr)); flex-basis: {width}"
    steps = add(body, "ol", class_="steps", style=style, tabindex="0", aria_label="Steps")
    for number, card in enumerate(contents.cards):
        step = run.steps[number - 1] if number else None
        _draw_card(steps, number, card, step, notes.marks.get(number, ()), number in trees)
    if run.steps:
        add(root, "script", _SCRIPT)
    return ElementTree.tostring(root, encoding="unicode", method="html") + "\n"


def page(title: str, fragments: Sequence[str]) -> str:
    """A whole page of fragments, which loads nothing from anywhere.

    A single fragment of the same title says it once.

    Example:
        >>> policy = asnets.Policy.load("prob-blocksworld")
        >>> drawing = asnets.pictures.draw_run(policy, asnets.generate("prob-blocksworld", 4))
        >>> asnets.pictures.page("Four blocks", [drawing.html]).splitlines()[0]
        '<!DOCTYPE html>'
    """
    root = ElementTree.Element("html", {"lang": "en"})
    head = add(root, "head")
    add(head, "meta", charset="utf-8")
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    add(head, "meta", http_equiv="Content-Security-Policy", content=policy)
    add(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    add(head, "title", title)
    add(head, "link", rel="icon", href="data:,")
    add(head, "style", _PAGE_STYLE)
    body = add(root, "body")
    add(body, "h1", title)
    if len(fragments) == 1:
        heading = ElementTree.Element("h2")
        heading.text = clean(title)
        fragments = [fragments[0].replace(ElementTree.tostring(heading, encoding="unicode", method="html"), "", 1)]
    text = ElementTree.tostring(root, encoding="unicode", method="html")
    before, after = text.rsplit("</body>", 1)
    return "<!DOCTYPE html>\n" + before + "\n" + "".join(fragments) + "</body>" + after + "\n"


def _draw_keys(root: ElementTree.Element, legend: Sequence[tuple[str, str]]) -> None:
    keys = add(root, "p", class_="keys")
    for style, words in legend:
        key = add(keys, "span")
        swatch = add(key, "svg", width=20, height=14, viewBox="0 0 20 14", aria_hidden="true")
        add(add(swatch, "g", class_=style), "rect", x=2, y=1, width=16, height=12, rx=2)
        swatch.tail = f" {words}"


def _draw_timeline(root: ElementTree.Element, run: Run, notes: Notes) -> None:
    """A bar for each step, as high as its action was likely."""
    chances = [step.probability for step in run.steps]
    figure = add(root, "figure", class_="timeline")
    least = min((chance for chance in chances if not math.isnan(chance)), default=math.nan)
    words = f"Probability of the chosen action at each of {count(len(chances), 'step')}; the least is {percent(least)}."
    if least < _UNSURE:
        words += f" Amber: less than {percent(_UNSURE)}."
    if notes.caption:
        words += f" {notes.caption}"
    words += left_caption(run)
    width = 8.0 * len(chances)
    picture = new_svg(width, 42, "Probability of each step", words)
    picture.set("preserveAspectRatio", "none")
    picture.set("style", f"max-width: {2 * width:.0f}px")
    for number, chance in enumerate(chances, 1):
        style = "level unsure" if chance < _UNSURE else "level"
        style += " marked" if notes.is_marked_choice(number) else ""
        step = run.steps[number - 1]
        style += " left" if step.leaves_policy else ""
        height = 0.0 if math.isnan(chance) else 40 * chance
        bar = add(picture, "rect", x=8 * number - 7, y=41 - height, width=6, height=height + 1, class_=style)
        bar.set("data-at", str(number))
        decided = decided_words(step)
        add(bar, "title", text=f"step {number}: {percent(chance)}" + (f"; {decided}" if decided else ""))
        if step.leaves_policy:
            draw_sign(picture, 8 * number - 4, 6, 4, f"step {number}: {decided}")
    figure.append(picture)
    add(figure, "figcaption", words)


def _draw_stepper(root: ElementTree.Element, last: int) -> None:
    bar = add(root, "div", class_="stepper", role="group", aria_label="Go through the steps", hidden="hidden")
    add(bar, "button", "◀", type="button", class_="back", aria_label="Step back")
    add(bar, "input", type="range", min=0, max=last, value=0, step=1, aria_label="Step")
    add(bar, "button", "▶", type="button", class_="on", aria_label="Step on")
    add(bar, "output", f"all {count(last, 'step')}" if last > 1 else "1 step")
    add(bar, "button", "All steps", type="button", class_="all", aria_pressed="true")


def _draw_card(
    parent: ElementTree.Element,
    number: int,
    card: Card,
    step: RunStep | None,
    marks: Sequence[Mark],
    with_tree: bool,
) -> None:
    style = "card" + " marked" * bool(marks) + " left" * (step is not None and step.leaves_policy)
    item = add(parent, "li", class_=style, data_at=str(number))
    heading = add(item, "h3", f"{number} " if step else "Start")
    if step is not None:
        add(heading, "span", step.action, class_="name")
    for mark in marks:
        draw_mark(item, mark)
    if card.note:
        add(item, "p", card.note, class_="note warn")
    if card.words:
        add(item, "p", card.words, class_="note words")
    if card.picture is not None:
        figure = add(item, "figure")
        figure.append(card.picture)
    if step is not None:
        _draw_options(item, step)
        draw_decision(item, step)
        if with_tree:
            _draw_tree(item, step)
    if card.added or card.deleted:
        _draw_changes(item, card)
    if card.num_true is not None:
        _draw_state(item, card.true, card.num_true, is_open=step is None)


def _steps_with_trees(run: Run) -> set[int]:
    """The steps whose trees are drawn: so many that the page stays small, those that left the policy first."""
    has_tree = [n for n, step in enumerate(run.steps, 1) if step.decision is not None and step.decision.tree]
    return set(sorted(has_tree, key=lambda number: not run.steps[number - 1].leaves_policy)[:MAX_TREES])


def _draw_tree(item: ElementTree.Element, step: RunStep) -> None:
    picture = draw_tree(step)
    if picture is None:
        return
    details = add(item, "details", class_="tree")
    add(details, "summary", "The tree of the search")
    picture.set("style", f"min-width: {0.8 * float(picture.get('width', '0')):.0f}px")
    figure = add(details, "figure")
    figure.append(picture)
    words = "Actions, what they may lead to, actions there. Value: expected cost. Visits: in all steps so far."
    words += " Thick frame: taken."
    if step.leaves_policy:
        words += " Dashed frame: what the policy alone does."
    add(figure, "figcaption", words)


def _draw_options(item: ElementTree.Element, step: RunStep) -> None:
    """The likeliest actions and the one taken, with bars; how many others there are, and what they have together."""
    shown = list(step.probabilities.items())
    if len(shown) > MAX_OPTIONS + 1:
        likeliest, others = shown[:MAX_OPTIONS], shown[MAX_OPTIONS:]
        taken = [option for option in others if option[0] == step.action]
        others = [option for option in others if option not in taken]
        rest = (count(len(others), "other action"), sum(chance for _, chance in others))
        shown = [*likeliest, *taken, rest]
    options = add(item, "div", class_="options")
    for name, chance in shown:
        chosen = " chosen" if name == step.action else ""
        add(options, "span", name, class_=f"name{chosen}")
        add(add(options, "span", class_=f"bar{chosen}"), "i", style=f"width: {100 * chance:.1f}%")
        add(options, "span", percent(chance), class_=f"value{chosen}")


def _draw_changes(item: ElementTree.Element, card: Card) -> None:
    changes = add(item, "p", class_="changes name")
    parts = [("ins", f"+{name}") for name in card.added] + [("del", f"−{name}") for name in card.deleted]
    for tag, words in parts[:MAX_CHANGES]:
        add(changes, tag, words)
    if len(parts) > MAX_CHANGES:
        add(changes, "span", f"… and {count(len(parts) - MAX_CHANGES, 'more change')}")


def _draw_state(item: ElementTree.Element, true: Sequence[str], num_true: int, *, is_open: bool) -> None:
    state = add(item, "details", class_="state", **({"open": "open"} if is_open else {}))
    add(state, "summary", f"{count(num_true, 'proposition')} true")
    names = add(state, "p", class_="name")
    for name in true:
        add(names, "span", name)
    if num_true > len(true):
        add(names, "span", f"… and {num_true - len(true):,} more")
