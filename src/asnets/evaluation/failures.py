"""Why runs did not reach the goal, with an example of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.evaluation.rollouts import ENDINGS, Ending, Simulation, trace
from asnets.policies.protocol import TaskPolicy

_SHOWN_ACTIONS = 4
_FAILED: tuple[Ending, ...] = ("dead_end", "loop", "step_limit")


@dataclass(frozen=True)
class Failure:
    """Runs that failed in one way.

    Attributes:
        ending: In which way.
        count: How many.
        episode: The first of them: `asnets run --seed SEED --episode N` shows it.
        steps: Its length.
        actions: The last of its actions; of a loop, those of a round where one is found.
    """

    ending: Ending
    count: int
    episode: int
    steps: int
    actions: tuple[str, ...]

    @property
    def example(self) -> str:
        """In words."""
        actions = " ".join(self.actions) or "no action"
        match self.ending:
            case "dead_end":
                how = f"dead end after {self.steps} steps, the last of them {actions}"
            case "loop":
                how = f"went in circles: {actions}, over and over"
            case _:
                how = f"not at the goal after {self.steps} steps, the last of them {actions}"
        return f"run {self.episode}: {how}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"actions": list(self.actions)}


def find_failures(
    policy: TaskPolicy,
    runs: Simulation,
    *,
    detect_dead_ends: bool = True,
    deadline: Deadline = NO_DEADLINE,
) -> tuple[Failure, ...]:
    """The ways in which runs failed, the most frequent first.

    The first run of each kind is made again for its actions; where the deadline passes meanwhile, they are left out.

    Args:
        policy: The policy whose runs they are.
        runs: The runs.
        detect_dead_ends: As they were made.
        deadline: For running them again.
    """
    failures = []
    for ending in _FAILED:
        count = runs.count(ending)
        if not count:
            continue
        first = int((runs.endings == ENDINGS.index(ending)).argmax())
        episode = int(runs.numbers[first])
        run = trace(
            policy,
            episode=episode,
            max_steps=runs.max_steps,
            seed=runs.seed,
            detect_dead_ends=detect_dead_ends,
            deadline=deadline,
        )
        last = [step.action for step in run.steps] if run.record.ending == ending else []
        shown = _round(last) if ending == "loop" else last[-_SHOWN_ACTIONS:]
        names = tuple(policy.task.action_name(action) for action in shown)
        failures.append(Failure(ending, count, episode, int(runs.steps[first]), names))
    return tuple(sorted(failures, key=lambda failure: -failure.count))


def _round(actions: Sequence[int]) -> Sequence[int]:
    """The actions of the round that a run ends with; if it never does quite the same, the last few."""
    for length in range(1, 2 * _SHOWN_ACTIONS + 1):
        if actions[-length:] == actions[-2 * length : -length]:
            return actions[-length:]
    return actions[-_SHOWN_ACTIONS:]
