"""The towers of a blocks world, one picture a state: what was moved or dropped, what is where the goal wants it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from asnets.pictures.blocks import BlocksWorld, Goal, Situation, Tower
from asnets.pictures.deciding import LEFT_WORDS, decided_words, draw_sign
from asnets.pictures.style import new_svg, percent
from asnets.pictures.svg import add, add_text, num_cells, number_text, shortened
from asnets.words import count

if TYPE_CHECKING:
    from asnets.evaluation.runs import Run

_ROW, _GAP, _EDGE = 18.0, 6.0, 8.0
_MAX_LABEL_CELLS = 9
_LEAST_SCALE = 0.75  # On narrow screens; what is wider is scrolled.


@dataclass(frozen=True)
class Scene:
    """A state of the run, ready to be drawn.

    Attributes:
        number: Of the step that led here; 0 for the first state.
        columns: The tower at each place of the table; () where there is none.
        hand_column: The place over which the hand is.
        moved: Blocks whose place the step changed.
        dropped: Those of them that fell on the table.
        note: What came of the step, if it is worth saying.
    """

    number: int
    situation: Situation
    columns: tuple[Tower, ...]
    hand_column: int
    moved: frozenset[int]
    dropped: frozenset[int]
    note: str


def find_scenes(world: BlocksWorld, run: Run) -> list[Scene] | None:
    """The states of the run; None if they are not always towers."""
    names = world.task.objects
    scenes: list[Scene] = []
    places: list[int | None] = []  # For each place of the table, the lowest block there.
    hand_column = 0
    before: Situation | None = None
    for number, state in enumerate(run.trace.states):
        situation = world.situation(state)
        if situation is None:
            return None
        towers = {tower[0]: tower for tower in situation.towers}
        moved: set[int] = set()
        dropped: set[int] = set()
        note = ""
        if before is not None:
            schema = world.task.schema_of(run.trace.steps[number - 1].action).name
            moved = {block for block, place in situation.places.items() if before.places[block] != place}
            if schema in world.dropping_schemas:
                dropped = {block for block in moved if situation.places[block] == "table"}
            note = _note(before, situation, dropped, names)
            for block in moved:
                if situation.places[block] == "hand":
                    last = scenes[-1].columns
                    hand_column = next((i for i, tower in enumerate(last) if block in tower), hand_column)
        places = [block if block in towers else None for block in places]
        for block in towers:
            if block not in places:
                free = next((place for place, other in enumerate(places) if other is None), len(places))
                places[free : free + 1] = [block]
        columns = tuple(towers[block] if block is not None else () for block in places)
        scenes.append(Scene(number, situation, columns, hand_column, frozenset(moved), frozenset(dropped), note))
        before = situation
    return scenes


def _note(before: Situation, after: Situation, dropped: set[int], names: tuple[str, ...]) -> str:
    parts = [f"{names[block]} was dropped on the table" for block in sorted(dropped)]
    parts += [f"{names[block]} was destroyed" for block in sorted(after.destroyed - before.destroyed)]
    parts += ["the table was destroyed"] if after.table_destroyed and not before.table_destroyed else []
    return ", ".join(parts) or ("failed: nothing changed" if after == before else "")


def block_keys(world: BlocksWorld) -> list[tuple[str, str]]:
    """The looks of blocks, by class, and what they mean."""
    keys = [("block moved", "moved by the step")]
    if world.dropping_schemas:
        keys.append(("block dropped", "dropped on the table"))
    keys.append(("block right", "where the goal wants it, and so is all below"))
    if world.roles.intact:
        keys.append(("block destroyed", "destroyed; a dot is a charge that has not gone off"))
    return keys


class TowersPainter:
    """Draws scenes of one run in one size."""

    def __init__(self, world: BlocksWorld, scenes: list[Scene], *, room: int = 0) -> None:
        """Finds the size of the pictures: that of the largest scene, with room for so many towers as high as that."""
        self.world = world
        self.goal = world.goal
        self.names = {block: world.task.objects[block] for block in world.blocks}
        cells = max(num_cells(name) for name in self.names.values())
        self.block_width = max(26.0, 6.6 * min(cells, _MAX_LABEL_CELLS) + 8)
        columns = max(room, *(len(scene.columns) for scene in scenes))
        height = max(room, *(max(map(len, scene.columns), default=0) for scene in scenes))
        held = max(1, *(len(scene.situation.held) for scene in scenes))
        self.width = self._width(columns)
        self.height = 2 * _EDGE + _ROW * (height + held + 1.2)

    def _width(self, columns: int) -> float:
        return 2 * _EDGE + max(2, columns) * (self.block_width + _GAP) - _GAP

    def description(self, scene: Scene) -> str:
        """The towers in words."""
        towers = "; ".join(" on ".join(self.names[block] for block in tower[::-1]) for tower in scene.situation.towers)
        held = " under ".join(self.names[block] for block in scene.situation.held)
        return f"On the table: {towers or 'nothing'}. In the hand: {held or 'nothing'}."

    def svg(self, scene: Scene) -> ElementTree.Element:
        """One scene as a picture of its own."""
        name = f"State after {count(scene.number, 'step')}" if scene.number else "Initial state"
        root = new_svg(self.width, self.height, name, self.description(scene))
        root.set("style", f"min-width: {number_text(_LEAST_SCALE * self.width)}px")
        self.draw(root, scene)
        return root

    def draw(self, parent: ElementTree.Element, scene: Scene) -> None:
        """Draws a scene at the origin of an element."""
        situation = scene.situation
        floor = self.height - _EDGE
        right = self.goal.in_place(situation) if self.goal else set()
        table = "table gone" if situation.table_destroyed else "table"
        add(parent, "line", x1=2, y1=floor + 1, x2=self.width - 2, y2=floor + 1, class_=table)
        for column, tower in enumerate(scene.columns):
            self._draw_tower(parent, self._left(column), floor, tower, scene, right)
        if situation.held:
            left = self._left(scene.hand_column)
            bottom = _EDGE + _ROW * (len(situation.held) + 0.5)
            self._draw_hand(parent, left, bottom - _ROW * len(situation.held))
            self._draw_tower(parent, left, bottom, situation.held, scene, right)

    def goal_svg(self) -> ElementTree.Element | None:
        """The goal as a picture; None if it is not about towers."""
        goal = self.goal
        if goal is None or not (goal.towers or goal.floating):
            return None
        towers = [*goal.towers, *goal.floating]
        height = 2 * _EDGE + _ROW * (max(map(len, towers)) + 0.4)
        words = "; ".join(" on ".join(self.names[block] for block in tower[::-1]) for tower in towers)
        root = new_svg(self._width(len(towers)), height, "Goal", f"Towers of the goal: {words}.")
        self.draw_goal(root, goal, height)
        return root

    @property
    def goal_words(self) -> str:
        """What the picture of the goal shows."""
        floating = self.goal is not None and self.goal.floating
        return "The goal. Towers in the air may stand on anything." if floating else "The goal."

    def draw_goal(self, parent: ElementTree.Element, goal: Goal, height: float) -> None:
        """Draws the goal's towers; those that may stand on anything hang over the table."""
        floor = height - _EDGE
        add(parent, "line", x1=2, y1=floor + 1, x2=self._width(len((*goal.towers, *goal.floating))) - 2, y2=floor + 1,
            class_="table")  # fmt: skip
        for column, tower in enumerate((*goal.towers, *goal.floating)):
            lift = 0.0 if tower in goal.towers else 0.4 * _ROW
            for level, block in enumerate(tower):
                self._draw_block(parent, self._left(column), floor - lift - _ROW * (level + 1), block, "block right")

    def _left(self, column: int) -> float:
        return _EDGE + column * (self.block_width + _GAP)

    def _draw_tower(
        self, parent: ElementTree.Element, left: float, bottom: float, tower: Tower, scene: Scene, right: set[int]
    ) -> None:
        for level, block in enumerate(tower):
            style = "block"
            if block in scene.dropped:
                style += " dropped"
            elif block in scene.moved:
                style += " moved"
            elif block in right:
                style += " right"
            if block in scene.situation.destroyed:
                style += " destroyed"
            charged = self.world.roles.charged is not None and block not in scene.situation.detonated
            self._draw_block(parent, left, bottom - _ROW * (level + 1), block, style, charged)

    def _draw_block(
        self, parent: ElementTree.Element, x: float, y: float, block: int, style: str, charged: bool = False
    ) -> None:
        name = self.names[block]
        place = f"translate({number_text(x)} {number_text(y)})"
        group = add(parent, "g", class_=style, transform=place)
        add(group, "rect", width=self.block_width, height=_ROW, rx=2)
        label = shortened(name, _MAX_LABEL_CELLS)
        if label != name:
            add(group, "title", text=name)
        add_text(group, self.block_width / 2, 13, label)
        if charged:
            add(group, "circle", cx=self.block_width - 4, cy=4, r=2, class_="fuse")

    def _draw_hand(self, parent: ElementTree.Element, left: float, top: float) -> None:
        middle = left + self.block_width / 2
        jaws = f"M{left - 2:.1f} {top + 8:.1f}V{top - 3:.1f}H{left + self.block_width + 2:.1f}v11"
        add(parent, "path", d=f"{jaws}M{middle:.1f} {top - 3:.1f}V1", class_="hand")


_KEY_ROW = 18.0
_CELL_GAP = 18.0
_CAPTION = 46.0
_MAX_WIDTH, _MAX_HEIGHT = 1120.0, 2200.0
_LEAST_CELLS = 6


def draw_towers(painter: TowersPainter, scenes: list[Scene], run: Run, title: str) -> ElementTree.Element:
    """The goal and the states of a run side by side; of a long run some from first to last, and how many are left out.

    What belongs to a step has its number in `data-at`.
    """
    cell_width = max(painter.width, 190.0) + _CELL_GAP
    cell_height = painter.height + _CAPTION
    across = min(len(scenes), max(2, int(_MAX_WIDTH / cell_width)))
    room = min(len(scenes), max(_LEAST_CELLS, across * int(_MAX_HEIGHT / cell_height)))
    left_out = len(scenes) - room
    shown = [scenes[round(index * (len(scenes) - 1) / max(1, room - 1))] for index in range(room)]
    goal = painter.goal_svg()
    goal_height = 0.0 if goal is None else float(goal.get("height", "0")) + 30
    goal_width = 0.0 if goal is None else float(goal.get("width", "0"))
    note = 24.0 if left_out else 0.0
    keys = block_keys(painter.world)
    left = any(step.leaves_policy for step in run.steps)
    rows = -(-len(shown) // across)
    width = max(across * cell_width, goal_width + 2 * _CELL_GAP, 560.0) + _CELL_GAP
    record = run.record
    description = (
        f"The towers after each of {count(record.steps, 'step')}, and the goal. {painter.description(scenes[-1])}"
    )
    height = 12 + goal_height + note + rows * cell_height + _KEY_ROW * (len(keys) + left) + 14
    root = new_svg(width, height, title, description)
    top = 12.0
    if goal is not None:
        part = add(root, "g", class_="goal-towers", transform=f"translate({number_text(_CELL_GAP)} {number_text(top)})")
        add_text(part, 0, 12, "Goal", "strong")
        towers = add(part, "g", transform="translate(0 18)")
        towers.extend(child for child in goal if child.tag not in ("title", "desc"))
        top += goal_height
    if left_out:
        words = f"{count(room, 'state')} of the run are shown; {left_out:,} between them are left out."
        add_text(root, _CELL_GAP, top + 14, words, "small")
        top += note
    for index, scene in enumerate(shown):
        x, y = _CELL_GAP + (index % across) * cell_width, top + (index // across) * cell_height
        cell = add(root, "g", class_="scene", transform=f"translate({number_text(x)} {number_text(y)})")
        cell.set("data-at", str(scene.number))
        add(cell, "title", text=painter.description(scene))
        _draw_caption(cell, scene, run, cell_width - _CELL_GAP)
        painter.draw(add(cell, "g", transform=f"translate(0 {number_text(_CAPTION - 6)})"), scene)
    top += rows * cell_height + 14
    for row, (style, words) in enumerate(keys):
        key = add(
            root,
            "g",
            class_=style,
            transform=f"translate({number_text(_CELL_GAP)} {number_text(top + _KEY_ROW * row)})",
        )
        add(key, "rect", width=16, height=12, rx=2)
        add_text(root, _CELL_GAP + 24, top + _KEY_ROW * row + 10, words, "small")
    if left:
        add_text(root, _CELL_GAP, top + _KEY_ROW * len(keys) + 10, LEFT_WORDS, "small")
    return root


def _draw_caption(cell: ElementTree.Element, scene: Scene, run: Run, width: float) -> None:
    if scene.number == 0:
        add_text(cell, 0, 14, "Start", "strong")
        return
    step = run.steps[scene.number - 1]
    add_text(cell, 0, 14, f"{scene.number} · {percent(step.probability)}", "strong")
    if step.leaves_policy:
        draw_sign(cell, min(width - 8, 90), 10, 6, decided_words(step))
    add_text(cell, 0, 30, shortened(step.action, int(width / 7)), "name")
    if scene.note:
        note = add_text(cell, 0, 44, shortened(scene.note, int(width / 6)), "small warn")
        add(note, "title", text=scene.note)
