"""A picture of the network of a problem as SVG: layers, modules, connections, and which modules share weights.

[toyer2018action], Figure 1 and "Network structure". A column is a layer, a box a module: square for actions, round for
propositions. Boxes of one colour belong to one schema or predicate, and in a column they share weights. A line joins
two related modules, whatever the number of slots that relate them. Of a large layer the first modules of each group are
shown.

The same task and configuration give the same text.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from asnets.grounding import GroundTask
from asnets.network.config import NetworkConfig
from asnets.network.structure import build_structure
from asnets.network.weights import num_parameters, weight_shapes
from asnets.options import AUTO
from asnets.pictures.network_contents import MIN_HEIGHT, PITCH, Group, find_groups, find_relations
from asnets.pictures.svg import add, add_text, clean, num_cells, number_text, shortened, tint

_INK, _FAINT_INK, _LINE = "#1f2430", "#5a6270", "#8a93a3"
_MARGIN = 28.0
_MIN_WIDTH = 900.0
_BOX_HEIGHT = 20.0
_CELL = 7.0  # Width of a character of a module's name.
_LETTER = 6.9  # About the width of a letter of running text.
_PADDING = 9.0
_END_WIDTH = 112.0
_STYLE = f"""
text {{ fill: {_INK}; stroke: none; font: 13px "Helvetica Neue", Arial, "DejaVu Sans", sans-serif }}
.name {{ font: 11px "DejaVu Sans Mono", Menlo, Consolas, monospace }}
.small {{ fill: {_FAINT_INK}; font-size: 11.5px }}
.strong {{ font-weight: bold }}
.headline {{ font-size: 20px; font-weight: bold }}
.middle {{ text-anchor: middle }}
.end {{ text-anchor: end }}
.edge {{ fill: none; stroke-opacity: 0.5 }}
.edge:hover {{ stroke-opacity: 1; stroke-width: 3 }}
.module:hover rect {{ stroke-width: 3 }}
"""


class _Column(NamedTuple):
    """A layer ("action", "proposition") or one of the ends of the network ("input", "output")."""

    kind: str
    layer: int
    left: float
    width: float

    @property
    def right(self) -> float:
        return self.left + self.width


def draw_network(task: GroundTask, config: NetworkConfig) -> str:
    """The network of a task as an SVG document.

    Example:
        >>> from asnets.network.config import NetworkConfig
        >>> drawing = asnets.pictures.draw_network(asnets.generate("triangle-tireworld", 1), NetworkConfig())
        >>> drawing.startswith("<svg")
        True
    """
    return _Picture(task, config).draw()


class _Picture:
    def __init__(self, task: GroundTask, config: NetworkConfig) -> None:
        self.task = task
        self.config = config
        # Pools by schema hold each related pair once; how the network pools shows in the shapes of the weights only.
        self.structure = build_structure(task)
        self.shapes = weight_shapes(self.structure.signature, config)
        self.actions, self.propositions = find_groups(task, self.structure)
        self.relations = find_relations(self.structure, self.actions, self.propositions)
        self.height = max([MIN_HEIGHT, *(row + PITCH / 2 for group in self.groups for row in group.rows)])
        self.columns = self._columns()
        self.legend_widths = [_legend_widths(groups, self._weights) for groups in (self.actions, self.propositions)]
        both = sum(map(sum, self.legend_widths)) + 2 * _MARGIN
        self.legend_is_wide = both <= max(_MIN_WIDTH, self.columns[-1].right)
        legend = both if self.legend_is_wide else max(map(sum, self.legend_widths))
        self.width = 2 * _MARGIN + max(_MIN_WIDTH, self.columns[-1].right, legend)

    @property
    def groups(self) -> list[Group]:
        return self.actions + self.propositions

    def draw(self) -> str:
        root = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
        add(root, "title", text=_headline(self.task.problem, self.task.domain))
        add(root, "style", text=_STYLE)
        add(root, "rect", width="100%", height="100%", fill="#ffffff")
        top = self._draw_header(root, _MARGIN)
        top = self._draw_legend(root, top + 14) + 26
        left = _MARGIN + max(0.0, (self.width - 2 * _MARGIN - self.columns[-1].right) / 2)
        network = add(root, "g", transform=f"translate({number_text(left)} {number_text(top)})")
        for column in self.columns:
            self._draw_column_header(network, column)
        body = add(network, "g", transform="translate(0 58)")
        self._draw_edges(body)
        for column in self.columns:
            self._draw_column(body, column)
        size = (self.width, top + 58 + self.height + _MARGIN)
        root.set("width", number_text(size[0]))
        root.set("height", number_text(size[1]))
        root.set("viewBox", f"0 0 {number_text(size[0])} {number_text(size[1])}")
        ElementTree.indent(root, "")
        return ElementTree.tostring(root, encoding="unicode") + "\n"

    # --- Words ----------------------------------------------------------------------------------------------------

    def _facts(self) -> list[str]:
        config = self.config
        total = num_parameters(self.structure.signature, config)
        nodes = np.concatenate([np.empty(0, np.int32), *(part.atoms for part in self.structure.predicates)])
        constant = np.count_nonzero(nodes >= self.task.num_propositions)
        facts = [
            f"{_count(self.task.num_actions, 'action')} of {_count(len(self.actions), 'schema')}, "
            f"{_count(len(nodes), 'proposition')} of {_count(len(self.propositions), 'predicate')}"
            f"{f' ({constant:,} of them never change)' if constant else ''}, "
            f"{_count(self._num_relations(), 'related pair')}. "
            f"{_count(config.weight_layers + 1, 'action layer')} and "
            f"{_count(config.weight_layers, 'proposition layer')} of hidden "
            f"size {config.hidden}, pooling by {config.pooling}, {'with' if config.skip else 'without'} skip "
            f"connections, action features: {', '.join(config.features) or 'none'}.",
            f"{_count(total, 'parameter')} in total, whatever the size of the problem: in a column, boxes of one "
            "colour share their weights and biases; each column has its own.",
        ]
        if config.recurrent:
            depth = "until the choice has settled" if config.depth == AUTO else f"until there are {config.depth}"
            facts.append(
                f"The network is recurrent: action and proposition layer 2 are repeated {depth}, with the same "
                "weights, and each time they also read what the input gives the first layers."
            )
        keys = []
        if any(any(group.constant) for group in self.propositions):
            keys.append("A dashed box is a proposition that never changes.")
        if config.skip:
            keys.append("A dashed line is a skip connection.")
        left_out = [
            f"{sum(group.left_out for group in groups):,} of {_count(sum(group.size for group in groups), what)}"
            for groups, what in ((self.actions, "action"), (self.propositions, "proposition"))
            if any(group.left_out for group in groups)
        ]
        if left_out:
            keys.append(
                f"Left out of this picture: {' and '.join(left_out)}; lines join only modules that are shown "
                f"({len(self.relations):,} of {_count(self._num_relations(), 'related pair')})."
            )
        return [*facts, " ".join(keys)] if keys else facts

    def _num_relations(self) -> int:
        return sum(len(pool.values) for part in self.structure.predicates for pool in part.pools)

    def _weights(self, group: Group) -> str:
        """The shapes of a group's weights; layers of the same shape together."""
        layers = range(1, self.config.weight_layers + 1 + (group.kind == "action"))
        found = [(self.shapes[f"{group.kind}.{layer}.{group.name}.weight"], layer) for layer in layers]
        parts = []
        for (outputs, inputs), same in itertools.groupby(found, key=lambda each: each[0]):
            numbers = [layer for _, layer in same]
            where = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"
            parts.append(f"{where}: {outputs}×{inputs}")
        return ", ".join(parts)

    # --- Places ---------------------------------------------------------------------------------------------------

    def _columns(self) -> list[_Column]:
        widths = {"output": _END_WIDTH}
        for kind, groups in (("action", self.actions), ("proposition", self.propositions)):
            labels = [shortened(text) for group in groups for text in (*group.labels, _more(group))]
            widths[kind] = max([130.0, *(2 * _PADDING + _CELL * num_cells(label) for label in labels)])
        layers = itertools.islice(itertools.cycle(["action", "proposition"]), 2 * self.config.weight_layers + 1)
        gap = min(200.0, max(90.0, self.height * 0.2))
        columns = [_Column("input", 0, 0.0, _END_WIDTH)]
        for position, kind in enumerate([*layers, "output"]):
            before = columns[-1]
            left = before.right + (0.7 * gap if before.kind == "input" or kind == "output" else gap)
            columns.append(_Column(kind, position // 2 + 1, left, widths[kind]))
        return columns

    # --- Drawing --------------------------------------------------------------------------------------------------

    def _draw_header(self, root: ElementTree.Element, top: float) -> float:
        """Draws from a height on and returns the height below."""
        letters = int((self.width - 2 * _MARGIN) / _LETTER)
        headline = _headline(shortened(self.task.problem), shortened(self.task.domain))
        for line in textwrap.wrap(headline, int(letters * 0.6)):
            top += 22
            add_text(root, _MARGIN, top, line, "headline")
        top += 6
        for fact in self._facts():
            for line in textwrap.wrap(fact, letters):
                top += 19
                add_text(root, _MARGIN, top, line)
        return top

    def _draw_legend(self, root: ElementTree.Element, top: float) -> float:
        left, bottom, start = _MARGIN, top, top
        tables = (("schema", self.actions), ("predicate", self.propositions))
        for (what, groups), widths in zip(tables, self.legend_widths, strict=True):
            table = add(root, "g", class_="legend")
            places = [left + sum(widths[:column]) for column in range(len(widths))]
            line = start + 16
            add_text(table, places[1], line, what, "small")
            add_text(table, places[3] - 18, line, "modules", "small end")
            add_text(table, places[3], line, "layer: outputs × inputs of the weights", "small")
            for group in groups:
                line += 20
                row = add(table, "g", fill=tint(group.colour), stroke=group.colour, class_="group")
                _box(row, group.kind, left, line - 11, 22, 14)
                label = add_text(row, places[1], line, shortened(group.name), "name")
                label.set("data-name", clean(group.name))
                add_text(row, places[3] - 18, line, f"{group.size:,}", "name end")
                add_text(row, places[3], line, self._weights(group), "name")
            bottom = max(bottom, line)
            if self.legend_is_wide:
                left += sum(widths) + 2 * _MARGIN
            else:
                start = line + 10
        return bottom

    def _draw_column_header(self, network: ElementTree.Element, column: _Column) -> None:
        if column.kind in ("input", "output"):
            return
        groups = self._groups_of(column)
        middle = column.left + column.width / 2
        size, shown = sum(group.size for group in groups), sum(len(group.labels) for group in groups)
        count = _count(size, "module") if size == shown else f"{shown:,} of {_count(size, 'module')}"
        last = column.kind == "action" and column.layer > self.config.weight_layers
        outputs = 1 if last else self.config.hidden
        add_text(network, middle, 14, f"{column.kind.capitalize()} layer {column.layer}", "strong middle")
        add_text(network, middle, 30, count, "small middle")
        add_text(network, middle, 45, f"{_count(outputs, 'number')} each", "small middle")

    def _draw_column(self, body: ElementTree.Element, column: _Column) -> None:
        if column.kind in ("input", "output"):
            self._draw_end(body, column)
            return
        layer = add(body, "g", id=f"{column.kind}-{column.layer}", class_="layer")
        if not any(group.size for group in self._groups_of(column)):
            add_text(layer, column.left + column.width / 2, self.height / 2, "no modules", "small middle")
        for group in self._groups_of(column):
            if not group.size:
                continue
            weights = f"{group.kind}.{column.layer}.{group.name}"
            shared = add(layer, "g", fill=tint(group.colour), stroke=group.colour, class_="group")
            shared.set("data-weights", clean(weights))
            for label, constant, row in zip(group.labels, group.constant, group.rows, strict=False):
                box = add(shared, "g", class_="module")
                note = ", never changes" if constant else ""
                weight_shape = "×".join(map(str, self.shapes[f"{weights}.weight"]))
                share = f"{_count(group.size, 'module')} of {group.name} share weights {weight_shape}"
                add(box, "title", text=f"{label}{note}\n{share}")
                rect = _box(box, group.kind, column.left, row - _BOX_HEIGHT / 2, column.width, _BOX_HEIGHT)
                if constant:
                    rect.set("stroke-dasharray", "4 3")
                add_text(box, column.left + _PADDING, row + 4, shortened(label), "name")
            if group.left_out:
                more = add(shared, "g", fill="#ffffff", stroke_opacity=0.4, class_="more")
                row = group.rows[-1]
                _box(more, group.kind, column.left, row - _BOX_HEIGHT / 2, column.width, _BOX_HEIGHT)
                add_text(more, column.left + _PADDING, row + 4, _more(group), "name")

    def _draw_end(self, body: ElementTree.Element, column: _Column) -> None:
        end = add(body, "g", fill="#f2f4f7", stroke=_LINE, id=column.kind)
        top, bottom = self._span()
        add(end, "rect", x=column.left, y=top, width=column.width, height=bottom - top, rx=4)
        if column.kind == "input":
            lines = ["state s", "of the related", "propositions:", "truth, in goal"]
            lines += ["of the action:", *self.config.features] if self.config.features else []
        else:
            lines = ["softmax", "over the", "enabled actions:", "π(a | s)"]
        height = (top + bottom) / 2 - 8.5 * (len(lines) - 1) + 4
        for number, line in enumerate(lines):
            style = "strong middle" if number == 0 else "small middle"
            add_text(end, column.left + column.width / 2, height + 17 * number, line, style)

    def _span(self) -> tuple[float, float]:
        """From where to where the ends reach: as the action layers, but with room for their text."""
        rows = [row for group in self.actions for row in group.rows] or [self.height / 2]
        middle, half = (min(rows) + max(rows)) / 2, max((max(rows) - min(rows)) / 2 + _BOX_HEIGHT / 2, MIN_HEIGHT / 2)
        return middle - half, middle + half

    def _draw_edges(self, body: ElementTree.Element) -> None:
        for before, after in itertools.pairwise(self.columns):
            edges = add(body, "g", id=f"{_place(before)}-to-{_place(after)}", class_="edges")
            if before.kind == "input" or after.kind == "output":
                self._draw_end_edges(edges, before, after)
                continue
            for relation in self.relations:
                action, node = self.actions[relation.schema], self.propositions[relation.predicate]
                ends = [(action, relation.action), (node, relation.node)]
                (source, i), (target, j) = ends if before.kind == "action" else ends[::-1]
                heights = (source.rows[i], target.rows[j])
                path = _edge(edges, before.right, heights[0], after.left, heights[1], source.colour)
                add(path, "title", text=f"{source.labels[i]} → {target.labels[j]}\n{' '.join(relation.slots)}")
        if self.config.skip:
            for number, before in enumerate(self.columns[1:-3], 1):
                self._draw_skips(body, before, self.columns[number + 2])

    def _draw_end_edges(self, edges: ElementTree.Element, before: _Column, after: _Column) -> None:
        for group in self.actions:
            for row in group.rows[: len(group.labels)]:
                _edge(edges, before.right, row, after.left, row, _LINE)

    def _draw_skips(self, body: ElementTree.Element, before: _Column, after: _Column) -> None:
        edges = add(body, "g", id=f"{_place(before)}-to-{_place(after)}", class_="skips")
        for group in self._groups_of(before):
            for label, row in zip(group.labels, group.rows, strict=False):
                path = _edge(edges, before.right, row, after.left, row, group.colour)
                path.set("stroke-dasharray", "2 4")
                add(path, "title", text=f"{label}: skip connection")

    def _groups_of(self, column: _Column) -> list[Group]:
        return [group for group in self.groups if group.kind == column.kind]


def _legend_widths(groups: Sequence[Group], weights: Callable[[Group], str]) -> list[float]:
    """Widths of the columns: colour, name, number of modules, weights."""

    def width(texts: Iterable[str], least: float) -> float:
        return max([least, *(_CELL * num_cells(text) for text in texts)])

    return [
        30.0,
        width((shortened(group.name) for group in groups), 60.0) + 12,
        width((f"{group.size:,}" for group in groups), 48.0) + 18,
        width((weights(group) for group in groups), 220.0),
    ]


def _headline(problem: str, domain: str) -> str:
    return f"Action Schema Network for {problem} of the domain {domain}"


def _place(column: _Column) -> str:
    return column.kind if column.kind in ("input", "output") else f"{column.kind}-{column.layer}"


def _more(group: Group) -> str:
    return f"… and {group.left_out:,} more"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _box(
    parent: ElementTree.Element, kind: str, x: float, y: float, width: float, height: float
) -> ElementTree.Element:
    rounding = 2 if kind == "action" else height / 2
    return add(parent, "rect", x=x, y=y, width=width, height=height, rx=rounding, stroke_width=1.5)


def _edge(parent: ElementTree.Element, x1: float, y1: float, x2: float, y2: float, colour: str) -> ElementTree.Element:
    middle = (x1 + x2) / 2
    start, *others = (f"{number_text(x)} {number_text(y)}" for x, y in ((x1, y1), (middle, y1), (middle, y2), (x2, y2)))
    return add(parent, "path", d=f"M{start} C{' '.join(others)}", stroke=colour, class_="edge")
