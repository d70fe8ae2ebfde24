"""Labels of the states of an explicit model, as model checkers know them: sets of states by name.

| label | states |
|---|---|
| `init` | the initial one |
| `goal` | the goal is true |
| `dead_end` | the goal is proved out of reach, for every policy |
| `gives_up` | the policy of a chain gives up, though some action is applicable |
| `unexplored` | the model ends there, because of a limit |

A dead end of an MDP that is complete is a state from which no path of the model leads to a goal, which is all of them.
A chain does not show where other actions lead. There, a state from which the policy may still reach the goal is none;
of the others, those where no action is applicable or the goal is out of reach in the relaxation, and whatever follows
them. A chain may have further states that are dead ends and are not proved to be.
"""

from __future__ import annotations

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.grounding.task import Bools
from asnets.simulator import Simulator
from asnets.verification.graphs import can_reach
from asnets.verification.model import ExplicitModel, StateKind

LABELS = ("init", "goal", "dead_end", "gives_up", "unexplored")
_DOING = "looking for dead ends"


def state_labels(model: ExplicitModel, deadline: Deadline = NO_DEADLINE) -> dict[str, Bools]:
    """For each label, in the order of `LABELS`, which states have it.

    Raises:
        LimitError: If the deadline passes.
    """
    kinds = np.asarray(model.kinds)
    init = np.zeros(model.num_states, np.bool_)
    init[0] = True
    goal = kinds == StateKind.GOAL
    unexplored = kinds == StateKind.UNEXPLORED
    hopeless = ~can_reach(model, goal | unexplored)
    if model.policy is None:
        dead_end, gives_up = hopeless, np.zeros(model.num_states, np.bool_)
    else:
        dead_end, gives_up = _of_chain(model, kinds == StateKind.STOPPED, hopeless, deadline)
    return dict(zip(LABELS, (init, goal, dead_end, gives_up, unexplored), strict=True))


def _of_chain(model: ExplicitModel, stopped: Bools, hopeless: Bools, deadline: Deadline) -> tuple[Bools, Bools]:
    dead_end = np.zeros(model.num_states, np.bool_)
    gives_up = np.zeros(model.num_states, np.bool_)
    if model.task is None:
        return dead_end, gives_up
    simulator = Simulator(model.task)
    first = model.first_transition[model.first_choice.astype(np.int64)].astype(np.int64)
    for state in np.flatnonzero(hopeless | stopped).tolist():
        deadline.check(_DOING)
        if dead_end[state] and not stopped[state]:
            continue
        described = simulator.state_of(model.propositions(state))
        gives_up[state] = stopped[state] and bool(described.applicable)
        if not dead_end[state] and described.is_dead_end:
            dead_end[state] = True
            pending = [state]  # Whatever follows a dead end is one.
            while pending:
                after = pending.pop()
                for successor in model.successors[first[after] : first[after + 1]].tolist():
                    if not dead_end[successor]:
                        dead_end[successor] = True
                        pending.append(successor)
    return dead_end, gives_up
