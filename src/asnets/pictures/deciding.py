"""Who decided the steps of a run, and why: a sign where a search or a guard left the policy, a table of the actions."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from asnets.pictures.style import percent
from asnets.pictures.svg import add, number_text
from asnets.words import count

if TYPE_CHECKING:
    from asnets.evaluation.decisions import ActionReport, StepDecision
    from asnets.evaluation.runs import Run, RunStep

LEFT_COLOUR = "#9c3d7a"
LEFT_WORDS = "◆ not what the policy alone does"
MAX_REPORTS = 6

DECIDING_STYLE = f"""
.asnets.run .level.left {{ fill: {LEFT_COLOUR} }}
.asnets.run .steps > li.left {{ border-left: 4px solid {LEFT_COLOUR} }}
.asnets.run .decided {{ overflow-wrap: anywhere }}
.asnets.run .decided .sign {{ color: {LEFT_COLOUR}; font-weight: bold }}
.asnets.run table.reports {{ border-collapse: collapse; font-size: .87em; margin: .3rem 0 }}
.asnets.run table.reports caption {{ text-align: left; color: #545c6a }}
.asnets.run table.reports th {{ font-weight: normal; color: #545c6a; text-align: right; padding: 0 .6rem 0 0 }}
.asnets.run table.reports td {{ text-align: right; padding: 0 .6rem 0 0; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere }}
.asnets.run table.reports th:first-child, .asnets.run table.reports td:first-child {{ text-align: left }}
.asnets.run .tree summary {{ color: #545c6a; cursor: pointer }}
.asnets.run .tree .edge {{ fill: none; stroke: #c5cbd6 }}
.asnets.run .tree .edge.taken {{ stroke: #0072b2 }}
.asnets.run .tree .node {{ fill: #fff; stroke: #8a93a3 }}
.asnets.run .tree .node.outcome {{ fill: #f4f6f9; stroke: #c5cbd6 }}
.asnets.run .tree .node.taken {{ stroke: #0072b2; stroke-width: 3 }}
.asnets.run .tree .node.policy {{ stroke: {LEFT_COLOUR}; stroke-width: 2; stroke-dasharray: 5 3 }}
"""


def has_decisions(run: Run) -> bool:
    """Whether somebody else than the policy alone had a say in a run."""
    return any(step.decision is not None and step.decision.words(step.action) for step in run.steps)


def decided_words(step: RunStep) -> str:
    """Who decided a step and why; "" where the policy did, and nobody else was asked."""
    return "" if step.decision is None else step.decision.words(step.action)


def left_caption(run: Run) -> str:
    """What is said below a row of steps, some of which the policy alone would not have taken; "" if there are none."""
    left = sum(step.leaves_policy for step in run.steps)
    return f" {LEFT_WORDS}: {count(left, 'step')}." if left else ""


def draw_sign(parent: ElementTree.Element, x: float, y: float, size: float, words: str) -> ElementTree.Element:
    """The sign of a step that the policy alone would not have taken, around a point."""
    corners = ((x, y - size), (x + size, y), (x, y + size), (x - size, y))
    points = " ".join(f"{number_text(a)},{number_text(b)}" for a, b in corners)
    sign = add(parent, "polygon", points=points, fill=LEFT_COLOUR, stroke="#fff", stroke_width=1, class_="sign")
    add(sign, "title", text=words)
    return sign


def draw_decision(item: ElementTree.Element, step: RunStep) -> None:
    """Words and a table beside a state; nothing where nobody but the policy was asked."""
    decision, words = step.decision, decided_words(step)
    if decision is None or not words:
        return
    line = add(item, "p", class_="decided")
    if step.leaves_policy:
        add(line, "span", "◆ ", class_="sign").tail = words
    else:
        line.text = words
    if decision.actions:
        _draw_reports(item, decision, step.action)


def _draw_reports(item: ElementTree.Element, decision: StepDecision, taken: str) -> None:
    shown = [
        report
        for number, report in enumerate(decision.actions)
        if number < MAX_REPORTS or report.action in (taken, decision.policy_action)
    ]
    table = add(item, "table", class_="reports")
    work = [
        count(number, what)
        for number, what in ((decision.rollouts, "rollout"), (decision.simulations, "simulation"))
        if number
    ]
    left_out = len(decision.actions) - len(shown)
    more = [f"{count(left_out, 'other action')} left out"] if left_out else []
    add(table, "caption", "; ".join([*work, *more]))
    head = add(add(table, "thead"), "tr")
    for heading in ("action", "prior", "visits", "value", ""):
        add(head, "th", heading, scope="col")
    body = add(table, "tbody")
    for report in shown:
        chosen = {"class_": "chosen"} if report.action == taken else {}
        row = add(body, "tr", **chosen)
        add(row, "td", report.action, class_="name")
        for cell in _cells(report):
            add(row, "td", cell)
        add(row, "td", _remark(report, decision, taken))


def _cells(report: ActionReport) -> tuple[str, str, str]:
    if report.is_excluded:
        return "–", "–", "–"
    prior = "–" if report.prior is None else percent(report.prior)
    return prior, f"{report.visits:,}", value_text(report.value)


def _remark(report: ActionReport, decision: StepDecision, taken: str) -> str:
    parts = ["taken"] if report.action == taken else []
    parts += ["the policy's"] if report.action == decision.policy_action else []
    parts += ["excluded by the shield"] if report.is_excluded else []
    return ", ".join(parts)


def value_text(value: float | None) -> str:
    """An expected cost in few digits; a dash where it is not known."""
    return "–" if value is None else f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"
