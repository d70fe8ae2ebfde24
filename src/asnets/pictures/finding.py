"""Pictures of findings: the state of a small problem, with the policy's choice and with the better action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from asnets.evaluation.runs import named_probabilities
from asnets.pictures.draw import RunPicture, picture_of
from asnets.pictures.fragment import page
from asnets.pictures.notes import Mark, Notes
from asnets.pictures.one_step import one_step
from asnets.pictures.svg import add
from asnets.pictures.table import TABLE_STYLE, draw_table

if TYPE_CHECKING:
    from asnets.testing import FindingGroup, PolicyTest, SmallProblem
    from asnets.verification import Interval


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
    before = policy.task.propositions_of()
    compared = small.comparison
    bars = [
        (compared.chosen, compared.goal_probability.upper, _bounds(compared.goal_probability), is_choice),
        (compared.better, compared.better_goal_probability.lower, _bounds(compared.better_goal_probability), False),
    ]
    origin = "the choice of the policy" if is_choice else "what would be better"
    run, outcome = one_step(policy, before, action, named_probabilities(policy, before), origin)
    mark = Mark(
        "Worse" if is_choice else "Better",
        f"{compared.reason}; the greatest probability of the goal after each:",
        bars,
        is_choice,
    )
    caption = "Orange: the choice that is worse." if is_choice else ""
    notes = Notes(f"{remark} {outcome}".strip(), {len(run.steps): [mark]}, caption)
    return picture_of(run, policy.task, title=title, notes=notes)


def _value(small: SmallProblem, value: Interval, goal: Interval) -> str:
    cost = "" if value == goal else f"value {_bounds(value)}, "
    return f"{cost}goal {_bounds(goal)}"


def _bounds(bounds: Interval) -> str:
    return f"{bounds.middle:.6g}" if bounds.is_narrow(1e-4) else f"{bounds.lower:.6g} … {bounds.upper:.6g}"


def _summary(tests: Sequence[PolicyTest], groups: Sequence[FindingGroup]) -> str:
    root = ElementTree.Element("section", {"class": "summary"})
    add(root, "style", TABLE_STYLE)
    draw_table(
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
        draw_table(root, ("reason", "choice", "better", "findings", "smallest", "confirmed by"), rows)
    else:
        add(root, "p", "No choice was proved worse.")
    return ElementTree.tostring(root, encoding="unicode", method="html") + "\n"
