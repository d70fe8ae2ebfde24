"""The last state of a run as one picture, of the same size in all states of a task: a frame of a film.

A tireworld is drawn as its map with the path so far, a blocks world as its towers and the goal, anything else as all of
its propositions, each in its own place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from asnets.grounding import GroundTask
from asnets.pictures.blocks import find_blocks_world
from asnets.pictures.map_picture import MAX_LOCATIONS, draw_map, find_legs
from asnets.pictures.style import new_svg, standalone
from asnets.pictures.svg import add, add_text, num_cells, number_text, shortened
from asnets.pictures.tireworld import find_tireworld
from asnets.pictures.towers_picture import TowersPainter, find_scenes
from asnets.words import count

if TYPE_CHECKING:
    from asnets.evaluation.runs import Run

_MAX_BLOCKS = 60
_MAX_SHOWN = 240
_ROWS, _ROW, _EDGE = 30, 18.0, 14.0
_CELL = 7.1  # Width of a character of a name.
_WORDS = 22.0  # Height of the line below the headline.


class FramePainter:
    """Draws states of one task.

    Example:
        >>> policy = asnets.Policy.load("triangle-tireworld")
        >>> task = asnets.generate("triangle-tireworld", 2)
        >>> from asnets.pictures import FramePainter
        >>> FramePainter(task).svg(policy.run(task), "the last state")[:4]
        '<svg'
    """

    def __init__(self, task: GroundTask) -> None:
        self.task = task
        world = find_tireworld(task)
        self._world = world if world is not None and len(world.locations) <= MAX_LOCATIONS else None
        blocks = find_blocks_world(task)
        self._blocks = blocks if blocks is not None and len(blocks.blocks) <= _MAX_BLOCKS else None

    def svg(self, run: Run, title: str) -> str:
        """The last state of a run as an SVG document."""
        if self._world is not None:
            legs = find_legs(self._world, run)
            if legs is not None:
                return standalone(draw_map(self._world, run, legs, title))
        towers = self._towers(run, title)
        return standalone(self._propositions(run, title) if towers is None else towers)

    def _towers(self, run: Run, title: str) -> ElementTree.Element | None:
        scenes = None if self._blocks is None else find_scenes(self._blocks, run)
        if self._blocks is None or scenes is None:
            return None
        painter = TowersPainter(self._blocks, scenes, room=len(self._blocks.blocks))
        goal = painter.goal_svg()
        goal_height = 0.0 if goal is None else float(goal.get("height", "0")) + _WORDS
        goal_width = 0.0 if goal is None else float(goal.get("width", "0"))
        root = new_svg(
            max(painter.width, goal_width, 420.0) + 2 * _EDGE,
            painter.height + goal_height + _WORDS + _EDGE,
            title,
            painter.description(scenes[-1]),
        )
        add_text(root, _EDGE, 12, scenes[-1].note, "small warn")
        painter.draw(_shifted(root, _WORDS), scenes[-1])
        if goal is not None:
            top = _WORDS + painter.height
            add_text(root, _EDGE, top + 12, "Goal", "strong")
            _shifted(root, top + _WORDS).extend(child for child in goal if child.tag not in ("title", "desc"))
        return root

    def _propositions(self, run: Run, title: str) -> ElementTree.Element:
        task = self.task
        shown = min(task.num_propositions, _MAX_SHOWN)
        names = [shortened(task.atom_name(atom)) for atom in range(shown)]
        width = 24 + _CELL * max(map(num_cells, names)) + 18
        rows = min(_ROWS, shown)
        columns = -(-shown // rows)
        true = set(run.trace.states[-1].tolist())
        changed = {*run.trace.steps[-1].added, *run.trace.steps[-1].deleted} if run.trace.steps else set()
        description = f"True: {' '.join(task.atom_name(atom) for atom in sorted(true)) or 'nothing'}."
        root = new_svg(max(columns * width, 420.0) + 2 * _EDGE, _WORDS + _ROW * rows + 2 * _EDGE, title, description)
        left_out = task.num_propositions - shown
        words = "filled: true; ringed: the goal asks for it; bold: the last step changed it"
        add_text(root, _EDGE, 12, words + (f"; {count(left_out, 'proposition')} left out" if left_out else ""), "small")
        for atom, name in enumerate(names):
            x, y = _EDGE + (atom // rows) * width, _WORDS + _ROW * (atom % rows) + _EDGE
            item = add(root, "g", class_="true" if atom in true else "false")
            add(item, "rect", x=x + 3, y=y - 9, width=9, height=9, class_="level" if atom in true else "place")
            if task.in_goal[atom]:
                add(item, "circle", cx=x + 7.5, cy=y - 4.5, r=8, class_="goal")
            add_text(item, x + 22, y, name, "name strong" if atom in changed else "name")
        return root


def _shifted(root: ElementTree.Element, down: float) -> ElementTree.Element:
    return add(root, "g", transform=f"translate({number_text(_EDGE)} {number_text(down)})")
