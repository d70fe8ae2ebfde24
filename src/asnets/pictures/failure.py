"""Pictures of counterexamples: ways into failure, drawn as runs are, with the choice that sealed them marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from asnets.pictures.draw import RunPicture, picture_of
from asnets.pictures.fragment import page
from asnets.pictures.notes import Mark, Notes
from asnets.words import count

if TYPE_CHECKING:
    from asnets.verification import Counterexample, Interval, Sealing

_MAX_BARS = 8


def picture_of_failure(
    counterexample: Counterexample, sealing: Sealing | None = None, *, title: str | None = None
) -> RunPicture:
    """Draws a way into failure.

    Args:
        counterexample: What `asnets.verification.find_counterexample` gives.
        sealing: Where it was sealed, to be marked.
        title: Over the picture; the problem and the way if left out.

    Example:
        >>> from asnets.verification import explore_chain, find_counterexample, find_sealing, solve_chain
        >>> policy = asnets.RandomPolicy(asnets.generate("triangle-tireworld", 2))
        >>> model = explore_chain(policy)
        >>> failure = find_counterexample(model, solve_chain(model), policy)
        >>> asnets.pictures.picture_of_failure(failure, find_sealing(failure)).kind
        'map'
    """
    task = counterexample.run.policy.task
    if title is None:
        title = f"{task.problem} of {task.domain}: the {counterexample.path.way} way into failure"
    return picture_of(counterexample.run, task, title=title, notes=_notes(counterexample, sealing))


def failure_page(title: str, failures: Sequence[tuple[Counterexample, Sealing | None]]) -> str:
    """A page of ways into failure; those that are the same way are drawn once.

    Args:
        title: Of the page.
        failures: Ways, each with where it was sealed.

    Example:
        >>> from asnets.verification import explore_chain, find_counterexample, solve_chain
        >>> policy = asnets.RandomPolicy(asnets.generate("triangle-tireworld", 1))
        >>> model = explore_chain(policy)
        >>> failure = find_counterexample(model, solve_chain(model), policy)
        >>> asnets.pictures.failure_page("What goes wrong", [(failure, None)]).splitlines()[0]
        '<!DOCTYPE html>'
    """
    drawn: dict[tuple[int, ...], tuple[Counterexample, Sealing | None]] = {}
    ways: dict[tuple[int, ...], list[str]] = {}
    for counterexample, sealing in failures:
        states = (*counterexample.path.states, *counterexample.path.cycle)
        drawn.setdefault(states, (counterexample, sealing))
        ways.setdefault(states, []).append(counterexample.path.way)
    return page(
        title,
        [
            picture_of_failure(*failure, title=f"The {' and '.join(ways[states])} way into failure").html
            for states, failure in drawn.items()
        ],
    )


def _notes(counterexample: Counterexample, sealing: Sealing | None) -> Notes:
    path, run = counterexample.path, counterexample.run
    marks: dict[int, list[Mark]] = {}
    sealed_by = None
    if sealing is not None and sealing.kind not in ("lost", "unknown"):
        # The card of a step has the choice; where the policy does nothing any more, there is only that of the state.
        is_choice = sealing.chosen is not None and sealing.step < len(run.steps)
        at = sealing.step + 1 if is_choice else sealing.step
        sealed_by = at if is_choice else None
        marks.setdefault(at, []).append(_sealing_mark(sealing, is_choice))
        if is_choice and sealing.kind == "sure":
            marks.setdefault(sealing.step, []).append(
                Mark("Here the goal is still sure", "under another policy, for the last time.")
            )
    marks.setdefault(path.sink, []).append(Mark("Failed", "From here on the policy never reaches the goal."))
    if path.cycle:
        again = len(path.states) - 1
        words = f"{count(len(path.cycle), 'step')} after it was first met; so it goes on."
        place = "the start" if again == 0 else f"the state after step {again}"
        marks.setdefault(len(run.steps), []).append(Mark(f"Again {place}", words))
    remark = "" if sealing is None else sealing.words
    caption = "" if sealed_by is None else f"Orange: step {sealed_by}, the choice that sealed it."
    return Notes(remark, marks, caption)


def _sealing_mark(sealing: Sealing, is_choice: bool) -> Mark:
    titles = {
        "sure": "This choice sealed it",
        "kept": "This choice goes round" if is_choice else "The policy stops here",
        "choice": "This choice gave most away",
        "chance": "Here chance decided",
    }
    shown = list(sealing.prospects)
    if len(shown) > _MAX_BARS:
        chosen = [prospect for prospect in shown[_MAX_BARS:] if prospect.chosen]
        shown = shown[: _MAX_BARS - len(chosen)] + chosen
    bars = [
        (prospect.name, prospect.goal_probability.lower, _bounds(prospect.goal_probability), prospect.chosen)
        for prospect in shown
    ]
    words = "The greatest probability of the goal after each action that was applicable"
    left_out = len(sealing.prospects) - len(shown)
    words += f" ({left_out:,} more are left out):" if left_out else ":"
    return Mark(titles[sealing.kind], words, bars, is_choice)


def _bounds(bounds: Interval) -> str:
    if bounds.width <= 1e-6:
        return f"{bounds.middle:.4g}"
    return f"{bounds.lower:.4g} … {bounds.upper:.4g}"
