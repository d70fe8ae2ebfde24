"""The rows of an explicit model, piece by piece, as files for model checkers list them.

Model checkers want at least one choice in every state. A state without one (a goal, a state where the run has stopped
or the model ends) gets a choice without an action, which costs nothing and stays there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from asnets.verification.model import ExplicitModel

Numbers = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]

NO_ACTION = -1
"""Of a choice that stays for ever, and of one that draws among several actions."""
_PIECE = 1 << 16  # States; some MB of text.


@dataclass(frozen=True)
class Rows:
    """The choices and transitions of the states from `first_state` to `last_state`, which is not one of them.

    Attributes:
        choice_states: The state of each choice, ascending.
        choice_numbers: Its number among the choices of its state.
        choice_actions: Its action, or `NO_ACTION`.
        choice_costs: Its expected cost.
        sizes: How many transitions each choice has.
        successors: Of each transition, ascending within a choice.
        probabilities: Of each transition.
    """

    first_state: int
    last_state: int
    choice_states: Ints
    choice_numbers: Ints
    choice_actions: Ints
    choice_costs: Numbers
    sizes: Ints
    successors: Ints
    probabilities: Numbers

    def spread(self, column: Numbers) -> Numbers:
        """What is given for each choice, for each transition."""
        return np.repeat(column, self.sizes)


def is_chain(model: ExplicitModel) -> bool:
    """Whether it is the chain of a policy, not an MDP."""
    return model.policy is not None


def counts(model: ExplicitModel) -> tuple[int, int, int]:
    """How many states, choices and transitions there are, with those that stay."""
    staying = int(np.count_nonzero(np.diff(model.first_choice) == 0))
    return model.num_states, len(model.choice_action) + staying, len(model.successors) + staying


def pieces(model: ExplicitModel, size: int = _PIECE) -> Iterator[Rows]:
    """All rows, so many states at a time."""
    for first in range(0, model.num_states, size):
        yield _rows(model, first, min(first + size, model.num_states))


def _rows(model: ExplicitModel, first: int, last: int) -> Rows:
    first_choices = np.asarray(model.first_choice[first : last + 1]).astype(np.int64)
    begin, end = int(first_choices[0]), int(first_choices[-1])
    first_transitions = np.asarray(model.first_transition[begin : end + 1]).astype(np.int64)
    transitions = slice(int(first_transitions[0]), int(first_transitions[-1]))
    # Where states without a choice stand among the choices, and their transitions among the transitions.
    staying = np.flatnonzero(np.diff(first_choices) == 0)
    at_choice = first_choices[staying] - begin
    at_transition = first_transitions[at_choice] - first_transitions[0]
    sizes = np.insert(np.diff(first_transitions), at_choice, 1)
    successors = np.insert(model.successors[transitions].astype(np.int64), at_transition, first + staying)
    probabilities = np.insert(model.probabilities[transitions], at_transition, 1)
    per_state = np.maximum(np.diff(first_choices), 1)
    begins = np.cumsum(per_state) - per_state
    choice = np.repeat(np.arange(len(sizes)), sizes)
    backwards = (np.diff(successors) < 0) & (np.diff(choice) == 0)
    if np.any(backwards):
        order = np.lexsort((successors, choice))
        successors, probabilities = successors[order], probabilities[order]
    return Rows(
        first_state=first,
        last_state=last,
        choice_states=np.repeat(np.arange(first, last), per_state),
        choice_numbers=np.arange(len(sizes)) - np.repeat(begins, per_state),
        choice_actions=np.insert(model.choice_action[begin:end].astype(np.int64), at_choice, NO_ACTION),
        choice_costs=np.insert(model.choice_cost[begin:end], at_choice, 0),
        sizes=sizes,
        successors=successors,
        probabilities=probabilities,
    )


def lines(pattern: str, *columns: Numbers) -> bytes:
    """A text for each row of a table, by a pattern such as "%d %s"."""
    return "".join(map(pattern.__mod__, zip(*(column.tolist() for column in columns), strict=True))).encode()


def texts(numbers: Numbers) -> npt.NDArray[np.object_]:
    """Numbers as text that reads back as the same number: the shortest for doubles, 1/3 for fractions."""
    distinct, places = np.unique(numbers, return_inverse=True)
    found = [str(number) if numbers.dtype == object else repr(float(number)) for number in distinct]
    return np.array([text.removesuffix(".0") for text in found], np.object_)[places]
