"""What a diagnosis comes to, and how it is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from asnets.grounding import GroundTask
from asnets.grounding.task import Ints
from asnets.network.config import NetworkConfig
from asnets.words import count

_WORTH_SAYING = 0.005
"""A share of the loss that is not rounded to 0%."""

_MOST_NAMED = 3


@dataclass(frozen=True)
class Conflict:
    """Actions of one schema that no weights tell apart, and of which the teacher wants different things.

    Attributes:
        schema: Of all of them.
        task: The problem of the example, the smallest one.
        state: In which `best` is one of the best actions.
        best: An action, by number.
        other_task: The problem of the other state.
        other_state: In which `other` is none of the best.
        other: An action, by number.
        is_one_state: Whether both actions are in one state; else in two that look the same.
        states: How many states of this kind there are.
        loss: How much of the mean loss of a state comes of them.
    """

    schema: str
    task: GroundTask
    state: Ints
    best: int
    other_task: GroundTask
    other_state: Ints
    other: int
    is_one_state: bool
    states: int
    loss: float

    @property
    def best_name(self) -> str:
        return self.task.action_name(self.best)

    @property
    def other_name(self) -> str:
        return self.other_task.action_name(self.other)

    def words(self, layers: int) -> str:
        """What looks the same to a network of so many layers."""
        within = f"within {count(layers, 'layer')}"
        if self.is_one_state:
            return f"{self.best_name} and {self.other_name} look the same {within}"
        return (
            f"{self.best_name} is best in a state that looks the same {within} as one in which {self.other_name}, "
            "in its place, is not"
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "schema": self.schema,
            "one_state": self.is_one_state,
            "states": self.states,
            "loss": self.loss,
            "best": {"problem": self.task.problem, "action": self.best_name, "state": _names(self.task, self.state)},
            "other": {
                "problem": self.other_task.problem,
                "action": self.other_name,
                "state": _names(self.other_task, self.other_state),
            },
        }


@dataclass(frozen=True)
class Remedy:
    """Another shape of the network, and what it would separate.

    Attributes:
        options: What changes beside the number of layers, as on the command line; "" if nothing does.
        layers: With how many layers it separates most; of several numbers, the least.
        share: How much of the loss that cannot be learnt could be learnt then.
        looked_up_to: The number of layers up to which it was looked.
        is_proved: Whether the colours repeat, so that no number of layers separates more.
    """

    options: str
    layers: int
    share: float
    looked_up_to: int
    is_proved: bool

    @property
    def separates_all(self) -> bool:
        return self.share == 1

    def flags(self, config: NetworkConfig) -> str:
        """What to give to `asnets train` in place of a shape."""
        depth = f"{'--train-depth' if config.recurrent else '--layers'} {self.layers}"
        return " ".join(
            [*([self.options] if self.options else []), *([depth] if self.layers != config.deepest else [])]
        )

    def words(self, layers: int) -> str:
        """What it does, in a line, for a network of so many layers."""
        name = self.options or "more layers"
        if self.separates_all:
            return f"{name}: all of it, with {count(self.layers, 'layer')}"
        proof = "the colours repeat" if self.is_proved else "not looked further"
        some = (
            f"{percent(self.share)} of it, with {count(self.layers, 'layer')}"
            if self.share >= _WORTH_SAYING
            else "none of it"
        )
        return f"{name}: {some}; looked up to {count(self.looked_up_to, 'layer')} ({proof})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "options": self.options,
            "layers": self.layers,
            "share": self.share,
            "looked_up_to": self.looked_up_to,
            "proved": self.is_proved,
        }


@dataclass(frozen=True)
class Diagnosis:
    """What a network of some shape cannot learn of some labelled states.

    Attributes:
        config: The shape.
        problems: For each problem, its name and how many of its states were looked at.
        label_floor: The lowest mean loss of a state that labels allow.
        floor: The lowest that the network allows, whatever its weights are.
        loss: What the weights at hand lose; None if there are none.
        unlearnable: How many states have a share in the difference of the two floors.
        forced: In how many of these no weights take a best action for certain; None where labels are not "best or not".
        conflicts: Kinds of them, those that cost most first, each with an example.
        remedies: What was tried.
        limits: What was not looked at, in words.
    """

    config: NetworkConfig
    problems: tuple[tuple[str, int], ...]
    label_floor: float
    floor: float
    loss: float | None
    unlearnable: int
    forced: int | None
    conflicts: tuple[Conflict, ...]
    remedies: tuple[Remedy, ...]
    limits: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Diagnosis of {count(self.states, 'state')}: {self.words}>"

    @property
    def states(self) -> int:
        return sum(states for _, states in self.problems)

    @property
    def share(self) -> float | None:
        """The share of the remaining loss, that above what labels allow, which cannot be learnt."""
        if self.loss is None or self.loss <= self.label_floor:
            return None
        return min(1.0, (self.floor - self.label_floor) / (self.loss - self.label_floor))

    @property
    def words(self) -> str:
        """What cannot be learnt, why, and what would help."""
        layers = count(self.config.deepest, "layer")
        if not self.conflicts:
            return f"with {layers}, all that the teacher wants can be told apart"
        conflict = self.conflicts[0].words(self.config.deepest)
        if self.share is None:
            floors = f"{self.floor:.3f} at least, while the labels allow {self.label_floor:.3f}"
            return f"with {layers} the loss is {floors}: {conflict}; {self.advice}"
        return f"{percent(self.share)} of the remaining loss cannot be learnt with {layers}: {conflict}; {self.advice}"

    @property
    def advice(self) -> str:
        """What would separate the actions."""
        whole = [remedy.flags(self.config) for remedy in self.remedies if remedy.separates_all]
        if whole:
            return f"{' or '.join(whole[:_MOST_NAMED])} would separate them"
        best = max(self.remedies, key=lambda remedy: remedy.share, default=None)
        if best is None:
            return "what would separate them was not looked for"
        if best.share >= _WORTH_SAYING:
            return (
                f"{best.flags(self.config)} would separate {percent(best.share)} of it, and nothing that was tried all"
            )
        is_proved = any(remedy.is_proved and not remedy.options for remedy in self.remedies)
        depth = "no number of layers separates them" if is_proved else "no number of layers that was tried does"
        return f"{depth}, and no feature does"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "network": self.config.to_dict(),
            "problems": [{"problem": problem, "states": states} for problem, states in self.problems],
            "states": self.states,
            "label_floor": self.label_floor,
            "floor": self.floor,
            "loss": self.loss,
            "share": self.share,
            "unlearnable_states": self.unlearnable,
            "forced_states": self.forced,
            "conflicts": [conflict.to_dict() for conflict in self.conflicts],
            "remedies": [remedy.to_dict() for remedy in self.remedies],
            "words": self.words,
            "limits": list(self.limits),
        }


def percent(share: float) -> str:
    """A share in words; only what is exactly all of it is 100%."""
    return f"{min(99, round(100 * share)) if share < 1 else 100}%"


def _names(task: GroundTask, state: Ints) -> list[str]:
    return [task.atom_name(int(atom)) for atom in state]
