"""Explicit models as the plain-text files of PRISM, which `prism -importmodel FILE.tra,lab,srew` reads.

| file | what | lines |
|---|---|---|
| `.lab` | labels | `0="init" 1="deadlock" …`, then `state: label …` |
| `.srew` | costs of a chain, as rewards of states | `state cost` |
| `.trew` | costs of an MDP, as rewards of transitions | `state choice successor cost` |
| `.sta` | the true propositions, if asked for | `(p, q, …)`, then `state:(true,false,…)` |
| `.tra` | transitions | `state successor probability action`, for MDPs `state choice successor probability action` |

The format is that of the appendix "Explicit Model Files" of PRISM's manual. Numbers are doubles written so that they
read back as the same double; rows are not normalised (PRISM accepts sums that are off by 1e-5; ours are off by some
1e-16). In a chain the cost of a step depends on the state alone, so that it is a reward of the state: `R{"cost"}=? [F
"goal"]` counts it when the state is left. Actions go by identifiers of PRISM (`names.py`); the choice of a policy that
draws among several actions, and that of a state without one, has none.

Storm has a dialect of these files with other headers, and reads DRN and UMB, which say more.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np

from asnets.files import FilesTogether
from asnets.grounding.task import Bools
from asnets.verification.model import ExplicitModel
from asnets.verification.names import action_names, prism_names, proposition_names
from asnets.verification.rows import NO_ACTION, counts, is_chain, lines, pieces, texts

SUFFIXES = (".lab", ".srew", ".trew", ".sta", ".tra")


def write_prism(
    files: FilesTogether,
    path: Path,
    model: ExplicitModel,
    labels: dict[str, Bools],
    *,
    states: bool,
    check: Callable[[int], None],
) -> list[Path]:
    """Writes the files, and says which; the one with the transitions is the last.

    Args:
        files: What they are written by.
        path: The one with the transitions; the others stand beside it.
        model: The model.
        labels: The labels of its states.
        states: Whether to describe states.
        check: Called now and then with the number of states that are written; may raise an error.
    """
    chain = is_chain(model)
    rewards = path.with_suffix(".srew" if chain else ".trew")
    written = [path.with_suffix(".lab"), rewards]
    with files.writing(written[0]) as stream:
        _write_labels(stream, model, labels)
    with files.writing(rewards) as stream:
        _write_rewards(stream, model, check)
    if states:
        written.append(path.with_suffix(".sta"))
        with files.writing(written[-1]) as stream:
            _write_states(stream, model, check)
    written.append(path)
    with files.writing(path) as stream:
        _write_transitions(stream, model, check)
    return written


def _write_labels(stream: IO[bytes], model: ExplicitModel, labels: dict[str, Bools]) -> None:
    # PRISM has the label "deadlock" itself: no state is one, since all have a transition.
    names = ["init", "deadlock", *(name for name in labels if name != "init")]
    stream.write((" ".join(f'{number}="{name}"' for number, name in enumerate(names)) + "\n").encode())
    sets = [labels.get(name, np.zeros(model.num_states, np.bool_)) for name in names]
    labelled = np.flatnonzero(np.logical_or.reduce(sets))
    for state, row in zip(labelled.tolist(), np.stack(sets, axis=1)[labelled].tolist(), strict=True):
        stream.write(f"{state}: {' '.join(str(number) for number, holds in enumerate(row) if holds)}\n".encode())


def _write_rewards(stream: IO[bytes], model: ExplicitModel, check: Callable[[int], None]) -> None:
    num_states, num_choices, num_transitions = counts(model)
    chain = is_chain(model)
    kind = "State" if chain else "Transition"
    # Zeros are listed too, so that this is how many there are.
    sizes = f"{num_states} {num_states}" if chain else f"{num_states} {num_choices} {num_transitions}"
    stream.write(f'# Reward structure "cost"\n# {kind} rewards\n{sizes}\n'.encode())
    for rows in pieces(model):
        check(rows.first_state)
        costs = texts(rows.choice_costs)
        if chain:
            stream.write(lines("%d %s\n", rows.choice_states, costs))
        else:
            choices = map(rows.spread, (rows.choice_states, rows.choice_numbers))
            stream.write(lines("%d %d %d %s\n", *choices, rows.successors, rows.spread(costs)))


def _write_states(stream: IO[bytes], model: ExplicitModel, check: Callable[[int], None]) -> None:
    names = prism_names(proposition_names(model))
    stream.write(f"({','.join(names)})\n".encode())
    for rows in pieces(model):
        check(rows.first_state)
        for state in range(rows.first_state, rows.last_state):
            values = ["false"] * len(names)
            for proposition in model.propositions(state):
                values[proposition] = "true"
            stream.write(f"{state}:({','.join(values)})\n".encode())


def _write_transitions(stream: IO[bytes], model: ExplicitModel, check: Callable[[int], None]) -> None:
    chain = is_chain(model)
    num_states, num_choices, num_transitions = counts(model)
    sizes = (num_states, num_transitions) if chain else (num_states, num_choices, num_transitions)
    stream.write((" ".join(map(str, sizes)) + "\n").encode())
    names = prism_names(action_names(model))
    ends = np.array([*(f" {name}\n" for name in names), "\n"], np.object_)
    assert NO_ACTION == -1  # The last of the ends.
    for rows in pieces(model):
        check(rows.first_state)
        states, numbers, actions = map(
            rows.spread, (rows.choice_states, rows.choice_numbers, ends[rows.choice_actions])
        )
        probabilities = texts(rows.probabilities)
        if chain:
            stream.write(lines("%d %d %s%s", states, rows.successors, probabilities, actions))
        else:
            stream.write(lines("%d %d %d %s%s", states, numbers, rows.successors, probabilities, actions))
