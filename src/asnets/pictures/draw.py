"""From a policy and a task to the picture of a run, in the view that suits the task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from asnets.evaluation.runs import Run
from asnets.evaluation.runs import run as run_once
from asnets.grounding import GroundTask
from asnets.notebook import NotebookView
from asnets.pictures.blocks import BlocksWorld, find_blocks_world
from asnets.pictures.fragment import MAX_CHANGES, MAX_TRUE, Card, Contents, draw_fragment
from asnets.pictures.map_picture import MAX_LOCATIONS, draw_map, find_legs, leg_note
from asnets.pictures.notes import NO_NOTES, Notes
from asnets.pictures.steps_picture import draw_steps
from asnets.pictures.style import standalone
from asnets.pictures.tireworld import Tireworld, find_tireworld
from asnets.pictures.towers_picture import TowersPainter, block_keys, draw_towers, find_scenes
from asnets.policies.protocol import TaskPolicy
from asnets.words import count, one_line

if TYPE_CHECKING:
    from asnets.api import Policy

Kind = Literal["map", "towers", "steps"]

_MAX_DRAWN_BLOCKS = 20_000
_MAX_ATOMS = 12_000


@dataclass(frozen=True)
class RunPicture(NotebookView):
    """A run in pictures.

    Attributes:
        kind: "map" (of a tireworld), "towers" (of a blocks world) or "steps" (of anything else).
        run: What is shown.
        svg: An overview as an SVG document.
        html: All of it as a part of an HTML page, complete in itself: see `asnets.pictures.page`.

    Example:
        >>> policy = asnets.Policy.load("cosanostra")
        >>> asnets.pictures.draw_run(policy, asnets.generate("cosanostra", 2)).kind
        'steps'
    """

    kind: Kind
    run: Run
    svg: str
    html: str

    def __repr__(self) -> str:
        task = self.run.policy.task
        return f"<RunPicture, {self.kind} of {one_line(f'{task.problem} of {task.domain}')}: {self.run.record}>"


def draw_run(
    policy: Policy | TaskPolicy, task: GroundTask, *, seed: int = 0, max_steps: int = 300, title: str | None = None
) -> RunPicture:
    """Runs a policy once, the run that `asnets.run` makes, or `run` of a trained policy, and draws it.

    Args:
        policy: A trained policy of the domain of the task, or any policy of the task.
        task: The problem.
        seed: Of all random choices.
        max_steps: Step limit.
        title: Over the picture; the name of the problem if left out.

    Example:
        >>> policy = asnets.Policy.load("triangle-tireworld")
        >>> drawing = asnets.pictures.draw_run(policy, asnets.generate("triangle-tireworld", 3), seed=1)
        >>> drawing.kind, drawing.run.record.ending
        ('map', 'goal')
    """
    if isinstance(policy, TaskPolicy):
        return picture_of(run_once(policy, seed=seed, max_steps=max_steps), task, title=title)
    return picture_of(policy.run(task, seed=seed, max_steps=max_steps), task, title=title)


def picture_of(run: Run, task: GroundTask, *, title: str | None = None, notes: Notes = NO_NOTES) -> RunPicture:
    """Draws a run on a problem.

    Args:
        run: The run.
        task: The problem.
        title: Over the picture; the name of the problem if left out.
        notes: What is remarked about the run and its states.

    Raises:
        ConfigError: If the run is of another task.

    Example:
        >>> task = asnets.generate("blocksworld", 4)
        >>> run = asnets.run(asnets.solve(task).policy)
        >>> asnets.pictures.picture_of(run, task).kind
        'towers'
    """
    task.check_same(run.policy.task)
    title = f"{task.problem} of {task.domain}" if title is None else title
    left_out = ""
    world = find_tireworld(task)
    if world is not None:
        if len(world.locations) <= MAX_LOCATIONS:
            picture = _draw_tireworld(world, run, title, notes)
            if picture is not None:
                return picture
        left_out = f"The map is not drawn: it has {count(len(world.locations), 'location')}."
    blocks = find_blocks_world(task)
    if blocks is not None:
        picture = _draw_blocks_world(blocks, run, title, notes)
        if picture is not None:
            return picture
    return _draw_any(task, run, title, left_out, notes)


def _draw_tireworld(world: Tireworld, run: Run, title: str, notes: Notes) -> RunPicture | None:
    legs = find_legs(world, run)
    if legs is None:
        return None
    words = f"{title}: {run.record}"
    picture = draw_map(world, run, legs, words)
    names = world.task.objects
    cards = [Card(words=f"at {names[world.start]}")]
    cards += [Card(words=f"now at {names[leg.there]}", note=leg_note(leg)) for leg in legs]
    overview = (picture, "The map, with the path of the run. Point at a road or a location to read more.")
    contents = Contents(cards, overview)
    return RunPicture("map", run, standalone(picture), draw_fragment(run, "map", title, contents, notes))


def _draw_blocks_world(world: BlocksWorld, run: Run, title: str, notes: Notes) -> RunPicture | None:
    scenes = find_scenes(world, run)
    if scenes is None:
        return None
    painter = TowersPainter(world, scenes)
    drawn = max(1, _MAX_DRAWN_BLOCKS // max(1, len(world.blocks)))
    cards = [Card(painter.svg(scene) if scene.number < drawn else None, note=scene.note) for scene in scenes]
    for card, step, named in zip(cards[1:], run.trace.steps, run.steps, strict=True):
        card.added = [name for atom, name in zip(step.added, named.added, strict=True) if not world.is_drawn(atom)]
        card.deleted = [
            name for atom, name in zip(step.deleted, named.deleted, strict=True) if not world.is_drawn(atom)
        ]
    goal = painter.goal_svg()
    contents = Contents(
        cards,
        None if goal is None else (goal, painter.goal_words),
        card_width=min(900.0, max(300.0, painter.width + 30)),
        left_out="" if len(scenes) <= drawn else f"Towers are drawn for the first {count(drawn - 1, 'step')} only.",
        legend=block_keys(world),
    )
    svg = standalone(draw_towers(painter, scenes, run, f"{title}: {run.record}"))
    return RunPicture("towers", run, svg, draw_fragment(run, "towers", title, contents, notes))


def _draw_any(task: GroundTask, run: Run, title: str, left_out: str, notes: Notes) -> RunPicture:
    states = run.trace.states
    # All that is true in each state of a short run; of a long one less, so that its page stays small.
    most = max(MAX_CHANGES, min(MAX_TRUE, _MAX_ATOMS // len(states)))
    cards = [Card(true=[task.atom_name(int(atom)) for atom in true[:most]], num_true=len(true)) for true in states]
    for card, step in zip(cards[1:], run.steps, strict=True):
        card.note = "" if step.added or step.deleted else "nothing changed"
        card.added, card.deleted = step.added, step.deleted
    svg = standalone(draw_steps(run, f"{title}: {run.record}"))
    contents = Contents(cards, left_out=left_out)
    return RunPicture("steps", run, svg, draw_fragment(run, "steps", title, contents, notes))
