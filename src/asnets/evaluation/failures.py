"""Why runs did not reach the goal, with an example of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.evaluation.rollouts import ENDINGS, Ending, Simulation, trace
from asnets.policies.protocol import TaskPolicy

_SHOWN_ACTIONS = 4
_LONGEST_ROUND = 8
_ROUNDS = 4
"""So many equal rounds, and the run may be said to go on like that."""
_FAILED: tuple[Ending, ...] = ("dead_end", "loop", "step_limit", "gave_up")


@dataclass(frozen=True)
class Failure:
    """Runs that failed in one way.

    Attributes:
        ending: In which way.
        count: How many.
        episode: The first of them: `asnets run --seed SEED --episode N` shows it.
        steps: Its length.
        actions: The last of its actions; of a loop that repeats itself, those of a round.
        is_round: Whether it does.
    """

    ending: Ending
    count: int
    episode: int
    steps: int
    actions: tuple[str, ...]
    is_round: bool = False

    @property
    def example(self) -> str:
        """In words."""
        actions = " ".join(self.actions) or "no action"
        match self.ending:
            case "dead_end":
                how = f"dead end after {self.steps} steps, the last of them {actions}"
            case "loop" if self.is_round:
                how = f"went in circles: {actions}, over and over"
            case "loop":
                how = f"went round in few states until {self.steps} steps were made, the last of them {actions}"
            case "gave_up":
                how = f"the policy gave up after {self.steps} steps, the last of them {actions}"
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
        of_round = _round(last) if ending == "loop" else ()
        names = tuple(policy.task.action_name(action) for action in of_round or last[-_SHOWN_ACTIONS:])
        failures.append(Failure(ending, count, episode, int(runs.steps[first]), names, bool(of_round)))
    return tuple(sorted(failures, key=lambda failure: -failure.count))


def _round(actions: Sequence[int]) -> Sequence[int]:
    """The actions of the round that a run ends with; none if it does not do the same again and again."""
    for length in range(1, _LONGEST_ROUND + 1):
        last = actions[-_ROUNDS * length :]
        if len(last) == _ROUNDS * length and last == list(last[:length]) * _ROUNDS:
            return last[:length]
    return ()
