"""Pictures of findings: the state of a small problem, with the policy's choice and with the better action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from asnets.evaluation.rollouts import EpisodeRecord, Trace
from asnets.evaluation.runs import Run, RunStep, named_probabilities
from asnets.pictures.draw import RunPicture, picture_of
from asnets.pictures.fragment import page
from asnets.pictures.notes import Mark, Notes
from asnets.pictures.svg import add
from asnets.simulator import Simulator
from asnets.words import count

if TYPE_CHECKING:
    from asnets.testing import FindingGroup, PolicyTest, SmallProblem
    from asnets.verification import Interval

_STYLE = """
table.test { border-collapse: collapse; margin: .6rem 0 1.4rem; font-size: 15px }
table.test th, table.test td { text-align: left; padding: .15rem .9rem .15rem 0; vertical-align: top }
table.test td.number { text-align: right; font-variant-numeric: tabular-nums }
"""


@dataclass(frozen=True)
class _OneStep(EpisodeRecord):
    """One step from the state of a finding, and its likeliest outcome."""

    words: str = ""

    def __str__(self) -> str:
        return self.words


def pictures_of_finding(small: SmallProblem) -> tuple[RunPicture, RunPicture]:
    """Draws the policy's choice, and the better action, with the likeliest outcome of each.

    Example:
        >>> from asnets.domains import domain_text, generate
        >>> from asnets.ppddl import parse_text
        >>> domain = parse_text(domain_text("monster")).domains[0]
        >>> test = asnets.probe(asnets.Policy.load("monster"), domain, generate("monster", 8))
        >>> [picture.kind for picture in asnets.pictures.pictures_of_finding(test.small_problems[0])]
        ['steps', 'steps']
    """
    compared = small.comparison
    words = (
        f"{compared.chosen}: {_value(small, compared.value, compared.goal_probability)}. {compared.better}: "
        f"{_value(small, compared.better_value, compared.better_goal_probability)}. "
        f"Confirmed by {small.confirmation.by}."
    )
    return (
        _one_step(small, small.chosen, f"{small.name}: the policy's choice", words, is_choice=True),
        _one_step(small, small.better, f"{small.name}: better", "", is_choice=False),
    )


def findings_page(title: str, tests: Sequence[PolicyTest], groups: Sequence[FindingGroup]) -> str:
    """A page with the counts of tests, the groups of findings, and a picture of each small problem.

    Example:
        >>> from asnets.domains import domain_text, generate
        >>> from asnets.ppddl import parse_text
        >>> domain = parse_text(domain_text("monster")).domains[0]
        >>> test = asnets.probe(asnets.Policy.load("monster"), domain, generate("monster", 8))
        >>> asnets.pictures.findings_page("A test", [test], test.groups).splitlines()[0]
        '<!DOCTYPE html>'
    """
    drawn: dict[str, SmallProblem] = {}
    for group in groups:
        drawn |= {finding.small.name: finding.small for finding in group.findings if finding.small is not None}
    parts = [_summary(tests, groups)]
    for small in drawn.values():
        parts += [picture.html for picture in pictures_of_finding(small)]
    return page(title, parts)


def _one_step(small: SmallProblem, action: int, title: str, remark: str, *, is_choice: bool) -> RunPicture:
    policy = small.policy
    task = policy.task
    before = task.propositions_of()
    probabilities = named_probabilities(policy, before)
    compared = small.comparison
    bars = [
        (compared.chosen, compared.goal_probability.upper, _bounds(compared.goal_probability), is_choice),
        (compared.better, compared.better_goal_probability.lower, _bounds(compared.better_goal_probability), False),
    ]
    if action < 0:  # The policy gives up.
        states, actions = [before], []
    else:
        outcomes = Simulator(task).state_of(before).successors(action)
        chance, after = max(outcomes, key=lambda outcome: outcome[0])
        states, actions = [before, after.propositions], [action]
        remark += f" The likeliest outcome is shown, of probability {chance:.4g}." if len(outcomes) > 1 else ""
    record = _OneStep(0, 0, len(actions), 0.0, "stopped", words=count(len(actions), "step"))
    trace = Trace.of(record, states, actions)
    steps = tuple(RunStep.of(task, step, probabilities) for step in trace.steps)
    mark = Mark(
        "Worse" if is_choice else "Better",
        f"{compared.reason}; the greatest probability of the goal after each:",
        bars,
        is_choice,
    )
    notes = Notes(remark.strip(), {len(actions): [mark]}, "Orange: the choice that is worse." if is_choice else "")
    origin = "the choice of the policy" if is_choice else "what would be better"
    return picture_of(Run(steps, trace, policy, origin), task, title=title, notes=notes)


def _value(small: SmallProblem, value: Interval, goal: Interval) -> str:
    cost = "" if value == goal else f"value {_bounds(value)}, "
    return f"{cost}goal {_bounds(goal)}"


def _bounds(bounds: Interval) -> str:
    return f"{bounds.middle:.6g}" if bounds.is_narrow(1e-4) else f"{bounds.lower:.6g} … {bounds.upper:.6g}"


def _summary(tests: Sequence[PolicyTest], groups: Sequence[FindingGroup]) -> str:
    root = ElementTree.Element("section", {"class": "summary"})
    add(root, "style", _STYLE)
    _table(
        root,
        ("problem", "states", "decided", "as good", "worse", "hopeless", "undecided"),
        [
            (
                test.task.problem,
                test.states,
                test.decided,
                test.as_good,
                len(test.findings),
                test.hopeless,
                test.undecided,
            )
            for test in tests
        ],
    )
    rows: list[tuple[str | int, ...]] = []
    for group in groups:
        smallest = group.smallest
        small = None if smallest is None else smallest.small
        name, by = ("–", "–") if small is None else (small.name, small.confirmation.by)
        rows.append((group.reason, group.chosen, group.better, len(group.findings), name, by))
    if rows:
        _table(root, ("reason", "choice", "better", "findings", "smallest", "confirmed by"), rows)
    else:
        add(root, "p", "No choice was proved worse.")
    return ElementTree.tostring(root, encoding="unicode", method="html") + "\n"


def _table(root: ElementTree.Element, headings: Sequence[str], rows: Sequence[Sequence[str | int]]) -> None:
    table = add(root, "table", class_="test")
    line = add(table, "tr")
    for heading in headings:
        add(line, "th", heading)
    for row in rows:
        line = add(table, "tr")
        for cell in row:
            if isinstance(cell, int):
                add(line, "td", f"{cell:,}", class_="number")
            else:
                add(line, "td", cell)
