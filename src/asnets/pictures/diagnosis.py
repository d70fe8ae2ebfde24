"""Pictures of diagnoses: the states in which a network cannot tell actions apart, with what the teacher wants there."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from asnets.grounding import GroundTask
from asnets.grounding.task import Ints
from asnets.pictures.draw import RunPicture, picture_of
from asnets.pictures.fragment import page
from asnets.pictures.notes import Mark, Notes
from asnets.pictures.one_step import one_step
from asnets.pictures.svg import add
from asnets.pictures.table import TABLE_STYLE, draw_table
from asnets.policies import FunctionPolicy
from asnets.words import count

if TYPE_CHECKING:
    from asnets.training.diagnosis import Conflict, Diagnosis

_MOST_DRAWN = 8


def pictures_of_conflict(conflict: Conflict, layers: int) -> tuple[RunPicture, RunPicture]:
    """Draws two actions that look the same: one that is best, and one that is not, each with its likeliest outcome.

    Args:
        conflict: Of a diagnosis.
        layers: Of the network.

    Example:
        >>> diagnosis = asnets.diagnose("default", None, [asnets.generate("monster", 3)], features=["landmarks"])
        >>> [picture.kind for picture in asnets.pictures.pictures_of_conflict(diagnosis.conflicts[0], 2)]
        ['steps', 'steps']
    """
    words = f"{conflict.words(layers)}."
    return (
        _picture(conflict.task, conflict.state, conflict.best, words, is_best=True),
        _picture(conflict.other_task, conflict.other_state, conflict.other, "", is_best=False),
    )


def diagnosis_page(title: str, diagnosis: Diagnosis) -> str:
    """A page with what a network cannot learn, examples, and what would help.

    Example:
        >>> diagnosis = asnets.diagnose("default", None, [asnets.generate("monster", 3)], features=["landmarks"])
        >>> asnets.pictures.diagnosis_page("Monster", diagnosis).splitlines()[0]
        '<!DOCTYPE html>'
    """
    layers = diagnosis.config.deepest
    parts = [_summary(diagnosis)]
    for conflict in diagnosis.conflicts[:_MOST_DRAWN]:
        parts += [picture.html for picture in pictures_of_conflict(conflict, layers)]
    return page(title, parts)


def _picture(task: GroundTask, state: Ints, action: int, remark: str, *, is_best: bool) -> RunPicture:
    name = task.action_name(action)
    teacher = FunctionPolicy(task, lambda state: {}, name="teacher", sampled=False)
    wish = "what the teacher wants" if is_best else "what the teacher does not want"
    run, outcome = one_step(teacher, state, action, {}, wish)
    mark = Mark("Best" if is_best else "Not best", f"{name}, which looks the same to the network", (), not is_best)
    caption = "" if is_best else "Orange: what is not best."
    notes = Notes(f"{remark} {outcome}".strip(), {len(run.steps): [mark]}, caption)
    return picture_of(run, task, title=f"{task.problem}: {name}, {wish}", notes=notes)


def _summary(diagnosis: Diagnosis) -> str:
    layers = diagnosis.config.deepest
    root = ElementTree.Element("section", {"class": "summary"})
    add(root, "style", TABLE_STYLE)
    add(root, "p", f"{diagnosis.words}.")
    draw_table(root, ("problem", "states"), diagnosis.problems)
    rows = [
        ("allowed by the labels", f"{diagnosis.label_floor:.4f}"),
        ("allowed by the network", f"{diagnosis.floor:.4f}"),
    ]
    rows += [("now", f"{diagnosis.loss:.4f}")] if diagnosis.loss is not None else []
    draw_table(root, ("loss of a state", "mean"), rows)
    if diagnosis.conflicts:
        kinds = [
            (
                conflict.schema,
                "one" if conflict.is_one_state else "two that look the same",
                conflict.states,
                f"{conflict.loss:.4f}",
            )
            for conflict in diagnosis.conflicts
        ]
        draw_table(root, ("schema", "in states", "how many", "loss"), kinds)
        tried = add(root, "ul")
        for remedy in diagnosis.remedies:
            add(tried, "li", remedy.words(layers))
        left_out = len(diagnosis.conflicts) - _MOST_DRAWN
        if left_out > 0:
            add(root, "p", f"{count(left_out, 'further kind')} of conflicts: without a picture.")
    for limit in diagnosis.limits:
        add(root, "p", f"Limit: {limit}.")
    return ElementTree.tostring(root, encoding="unicode", method="html") + "\n"
