"""Explicit models in DRN, the text format of the model checker Storm: `storm --explicit-drn FILE`.

    @type: DTMC                       or MDP
    @parameters
    <empty>
    @reward_models
    cost
    @nr_states
    <number>
    @nr_choices
    <number>
    @model
    state 0 init
    // (vehicle-at l-1-1) …           if states are described
        action move-car(l-1-1,l-2-1) [1]
                1 : 0.5
                2 : 0.5

The cost of a choice is its reward in the reward model "cost". Numbers are doubles written so that they read back as
the same double; rows are not normalised, and Storm does not ask for it. The choice of a policy that draws among
several actions, and that of a state without one, has Storm's name for none, `__NOLABEL__`. `storm --buildchoicelab`
reads names.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from asnets.files import FilesTogether
from asnets.grounding.task import Bools
from asnets.verification.model import ExplicitModel
from asnets.verification.names import action_names, drn_names, proposition_names, title
from asnets.verification.rows import Rows, counts, is_chain, pieces, texts
from asnets.words import one_line

SUFFIXES = (".drn",)
_NO_NAME = "__NOLABEL__"

Texts = npt.NDArray[np.object_]


def write_drn(
    files: FilesTogether,
    path: Path,
    model: ExplicitModel,
    labels: dict[str, Bools],
    *,
    states: bool,
    check: Callable[[int], None],
) -> list[Path]:
    """Writes the file; the arguments are those of `write_prism`."""
    num_states, num_choices, _ = counts(model)
    header = (
        f"// {one_line(title(model))}\n"
        f"@type: {'DTMC' if is_chain(model) else 'MDP'}\n@parameters\n\n"
        f"@reward_models\ncost\n@nr_states\n{num_states}\n@nr_choices\n{num_choices}\n@model\n"
    )
    names = np.array([*drn_names(action_names(model)), _NO_NAME], np.object_)  # The last one is that of NO_ACTION.
    names_of_labels = _label_texts(labels)
    with files.writing(path) as stream:
        stream.write(header.encode())
        for rows in pieces(model):
            check(rows.first_state)
            heads = _state_lines(rows, names_of_labels)
            if states:
                heads = _described(heads, rows, model)
            stream.write(_joined(rows, heads, names).encode())
    return [path]


def _label_texts(labels: dict[str, Bools]) -> tuple[npt.NDArray[np.uint8], Texts]:
    """For each state the number of its set of labels, and the text of each set."""
    number = np.zeros(len(next(iter(labels.values()))), np.uint8)
    for place, holds in enumerate(labels.values()):
        number |= holds.astype(np.uint8) << place
    sets = [
        "".join(f" {name}" for place, name in enumerate(labels) if code >> place & 1)
        for code in range(1 << len(labels))
    ]
    return number, np.array(sets, np.object_)


def _state_lines(rows: Rows, names: tuple[npt.NDArray[np.uint8], Texts]) -> list[str]:
    numbers, sets = names
    states = range(rows.first_state, rows.last_state)
    of_states = sets[numbers[rows.first_state : rows.last_state]].tolist()
    return list(map("state %d%s\n".__mod__, zip(states, of_states, strict=True)))


def _described(heads: list[str], rows: Rows, model: ExplicitModel) -> list[str]:
    names = proposition_names(model)
    return [
        f"{head}// {' '.join(names[proposition] for proposition in model.propositions(state))}\n"
        for state, head in zip(range(rows.first_state, rows.last_state), heads, strict=True)
    ]


def _joined(rows: Rows, heads: list[str], names: Texts) -> str:
    """The lines of states, choices and transitions in their order: each choice below its state, and so on."""
    costs = texts(rows.choice_costs).tolist()
    choices = map("\taction %s [%s]\n".__mod__, zip(names[rows.choice_actions].tolist(), costs, strict=True))
    probabilities = texts(rows.probabilities).tolist()
    transitions = map("\t\t%d : %s\n".__mod__, zip(rows.successors.tolist(), probabilities, strict=True))
    # The place of a line is the number of lines before it.
    choice_of_transition = rows.spread(np.arange(len(rows.sizes)))
    states_before_choice = rows.choice_states - rows.first_state + 1
    first_choices = np.flatnonzero(rows.choice_numbers == 0)
    before = np.cumsum(rows.sizes) - rows.sizes
    ordered = np.empty(len(heads) + len(rows.sizes) + len(rows.successors), np.object_)
    ordered[np.arange(len(heads)) + first_choices + before[first_choices]] = heads
    ordered[np.arange(len(rows.sizes)) + states_before_choice + before] = list(choices)
    ordered[np.arange(len(rows.successors)) + choice_of_transition + 1 + states_before_choice[choice_of_transition]] = (
        list(transitions)
    )
    return "".join(ordered.tolist())
