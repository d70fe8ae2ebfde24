"""The first levels of the tree of a search, from left to right: actions, their outcomes, actions there.

Actions of the second level are the leaves of the drawing; what they may lead to stands beside them in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from asnets.pictures.deciding import value_text
from asnets.pictures.style import new_svg, percent
from asnets.pictures.svg import add, add_text, num_cells, number_text, shortened
from asnets.words import count

if TYPE_CHECKING:
    from asnets.evaluation.decisions import TreeAction, TreeOutcome
    from asnets.evaluation.runs import RunStep

_ROW, _BOX, _GAP, _EDGE = 40.0, 34.0, 34.0, 8.0
_CELL, _LETTER = 7.1, 6.2  # Widths of characters of names and of small text.
_MAX_CELLS = 32
_WIDEST = 6.0  # Of an edge.


@dataclass
class _Node:
    """A box with two lines.

    Attributes:
        share: How wide the line is that leads here: an action's part of the visits, the probability of an outcome.
        title: All that there is to say.
        column: Counted from the state of the step.
        row: Where its middle is, in rows.
    """

    name: str
    figures: str
    style: str
    share: float
    title: str
    column: int
    children: list[_Node] = field(default_factory=list)
    row: float = 0.0

    @property
    def width(self) -> float:
        return max(_CELL * num_cells(self.name), _LETTER * num_cells(self.figures)) + 14


def draw_tree(step: RunStep) -> ElementTree.Element | None:
    """The tree of a step as an SVG element; None where there is none."""
    decision = step.decision
    if decision is None or not decision.tree:
        return None
    total = sum(action.visits for action in decision.tree)
    others = decision.tree_actions - len(decision.tree)
    figures = f"{count(decision.simulations, 'simulation')}, value {value_text(decision.value)}"
    root = _Node("this state", figures, "node outcome", 1.0, "", 0)
    root.children = [_action_node(action, total, 1, step) for action in decision.tree]
    if others > 0:
        root.children.append(_Node(count(others, "more action"), "", "node", 0.0, "not drawn", 1))
    rows = _place(root, 0)
    nodes = _all_nodes(root)
    widths = [max(node.width for node in nodes if node.column == column) for column in _columns(nodes)]
    lefts = [_EDGE + sum(widths[:column]) + _GAP * column for column in range(len(widths))]
    words = [f"{action.action}: {_figures(action)}" for action in decision.tree]
    picture = new_svg(
        lefts[-1] + widths[-1] + _EDGE, rows * _ROW + 2 * _EDGE, "The first levels of the tree", "; ".join(words)
    )
    edges = add(picture, "g")
    for node in nodes:
        for child in node.children:
            _draw_edge(edges, node, child, lefts)
    for node in nodes:
        _draw_node(picture, node, lefts[node.column])
    return picture


def _figures(action: TreeAction) -> str:
    parts = [count(action.visits, "visit")] if action.visits else []
    parts += [f"value {value_text(action.value)}"]
    parts += [f"prior {percent(action.prior)}"] if action.prior is not None else []
    return ", ".join(parts)


def _action_node(action: TreeAction, total: int, column: int, step: RunStep) -> _Node:
    style = "node"
    if column == 1:
        policy = None if step.decision is None else step.decision.policy_action
        style += " taken" if action.action == step.action else " policy" if action.action == policy else ""
    name = shortened(action.action, _MAX_CELLS)
    node = _Node(name, _figures(action), style, action.visits / max(1, total), action.action, column)
    others = action.num_outcomes - len(action.outcomes)
    if column > 1:
        ends = [f"{percent(outcome.probability)} {_ending(outcome)}" for outcome in action.outcomes]
        ends += [count(others, "other")] if others else []
        title = "\n".join(f"{percent(outcome.probability)}: {_changes(outcome, action)}" for outcome in action.outcomes)
        node.children = [_Node("", shortened(" · ".join(ends), 2 * _MAX_CELLS), "text", 0.0, title, column + 1)]
        return node
    for outcome in action.outcomes:
        figures = f"{percent(outcome.probability)}: {_ending(outcome)}"
        changes = _changes(outcome, action)
        name = shortened(changes, _MAX_CELLS)
        child = _Node(name, figures, "node outcome", outcome.probability, changes, column + 1)
        child.children = [_action_node(inner, outcome.visits, column + 2, step) for inner in outcome.actions]
        node.children.append(child)
    if others:
        node.children.append(_Node(count(others, "more outcome"), "", "node outcome", 0.0, "not drawn", column + 1))
    return node


def _ending(outcome: TreeOutcome) -> str:
    if outcome.is_goal:
        return "goal"
    return "dead end" if outcome.is_dead_end else f"value {value_text(outcome.value)}"


def _changes(outcome: TreeOutcome, action: TreeAction) -> str:
    """What an outcome changes: first what others do not, which tells it from them."""
    signed = [_signed(each) for each in action.outcomes]
    changes = sorted(_signed(outcome), key=lambda change: all(change in each for each in signed))
    return " ".join(changes) or "nothing changes"


def _signed(outcome: TreeOutcome) -> list[str]:
    return [*(f"+{name}" for name in outcome.added), *(f"−{name}" for name in outcome.deleted)]


def _place(node: _Node, top: int) -> int:
    """Gives a node and all below it their rows; returns the first row that is free."""
    if not node.children:
        node.row = top
        return top + 1
    end = top
    for child in node.children:
        end = _place(child, end)
    node.row = (node.children[0].row + node.children[-1].row) / 2
    return end


def _all_nodes(node: _Node) -> list[_Node]:
    return [node, *(each for child in node.children for each in _all_nodes(child))]


def _columns(nodes: Sequence[_Node]) -> range:
    return range(1 + max(node.column for node in nodes))


def _draw_edge(group: ElementTree.Element, parent: _Node, child: _Node, lefts: Sequence[float]) -> None:
    if child.style == "text":
        return
    x1, x2 = lefts[parent.column] + parent.width, lefts[child.column]
    y1, y2 = (_EDGE + _ROW * (node.row + 0.5) for node in (parent, child))
    middle = number_text((x1 + x2) / 2)
    path = f"M{number_text(x1)} {number_text(y1)}C{middle} {number_text(y1)} {middle} {number_text(y2)} "
    style = "edge taken" if "taken" in child.style else "edge"
    add(group, "path", d=f"{path}{number_text(x2)} {number_text(y2)}", class_=style,
        stroke_width=1 + _WIDEST * min(1.0, child.share))  # fmt: skip


def _draw_node(picture: ElementTree.Element, node: _Node, left: float) -> None:
    group = add(picture, "g")
    if node.title:
        add(group, "title", text=node.title)
    middle = _EDGE + _ROW * (node.row + 0.5)
    if node.style == "text":
        add_text(group, left - _GAP + 8, middle + 4, node.figures, "small")
        return
    add(group, "rect", x=left, y=middle - _BOX / 2, width=node.width, height=_BOX, rx=4, class_=node.style)
    add_text(group, left + 7, middle - 3 if node.figures else middle + 4, node.name, "name")
    if node.figures:
        add_text(group, left + 7, middle + 12, node.figures, "small")
