"""What a network cannot learn: where a teacher wants different things of actions that no weights can tell apart.

Computes, for labelled states of problems of one domain, the colours of their actions (`asnets.network.colours`) and
from these the least loss that a network of some shape can have on them, whatever its weights are. The logit of an
action is a function of its colour; the policy is the softmax over the applicable actions. So in states whose
applicable actions have the same colours, each as often, actions of one colour have one probability. Such states make a
*view*; `Loss.shared_bounds` says how low the loss of a view can be.

Guarantees: no weights lose less on these states than `Diagnosis.floor`. It is a proof for the states that were looked
at, about what their labels say. Where nothing is found, weights may still not be found: the bound counts each view by
itself, and colours do not know of the hidden size.

What would separate actions is found by refining once more with other options, on the states in question alone: more
layers, until the colours separate them or repeat, which proves that no depth does; each action feature that there is;
the other ways of pooling; skip connections.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError
from asnets.network.colours import Colouring, refine
from asnets.network.config import NetworkConfig
from asnets.training.diagnosis.examined import ExaminedStates
from asnets.training.diagnosis.remedies import find_remedies
from asnets.training.diagnosis.result import Diagnosis
from asnets.training.diagnosis.views import Views
from asnets.training.loss import LOSSES

_MOST_IN_QUESTION = 200
"""What would separate actions is looked for in so many states, or a few more, so that views are whole."""


def diagnose_states(
    examined: Sequence[ExaminedStates],
    config: NetworkConfig,
    loss: str = "cross-entropy",
    *,
    network_loss: float | None = None,
    limits: Sequence[str] = (),
    deadline: Deadline = NO_DEADLINE,
    show: Callable[[str], None] = lambda doing: None,
) -> Diagnosis:
    """What networks of a shape cannot learn of labelled states.

    Args:
        examined: Of problems of one domain.
        config: The shape.
        loss: What made the labels, of `LOSSES`.
        network_loss: The mean loss of the weights at hand on these states.
        limits: What was not looked at, in words.
        deadline: When to end with what there is, once it is known what cannot be learnt.
        show: Is told what is going on.

    Raises:
        ConfigError: If there are no states, or it is not known how low the loss can be.
        LimitError: If the deadline passes before it is known what cannot be learnt.
    """
    kind = LOSSES[loss]
    if kind.shared_bounds is None:
        raise ConfigError(f"there is no diagnosis for the loss {loss!r}: it has no `shared_bounds`")
    examined = [each for each in examined if len(each)]
    if not examined:
        raise ConfigError("there is nothing to learn, and so nothing to diagnose: no state has a label")
    show("telling actions apart")
    views = Views(examined, _coloured(examined, config, deadline), kind)
    floors = np.concatenate([kind.lower_bounds(each.labels, each.enabled) for each in examined])
    conflicts = views.conflicts()
    remedies, notes = [], list(limits)
    if conflicts:
        in_question = views.states_in_question(_MOST_IN_QUESTION)
        excess = float(Views(in_question, _coloured(in_question, config, NO_DEADLINE), kind).excess.sum())
        remedies = find_remedies(in_question, config, kind, excess, deadline=deadline, show=show)
        if deadline.has_passed():
            notes.append(f"{deadline.words} was reached before all was tried that may separate actions")
    return Diagnosis(
        config,
        tuple((each.task.problem, len(each)) for each in examined),
        label_floor=float(floors.mean()),
        floor=float(floors.mean() + views.excess.mean()),
        loss=network_loss,
        unlearnable=int(np.count_nonzero(views.excess)),
        forced=views.forced if kind.has_binary_labels else None,
        conflicts=tuple(conflicts),
        remedies=tuple(remedies),
        limits=tuple(notes),
    )


def _coloured(examined: Sequence[ExaminedStates], config: NetworkConfig, deadline: Deadline) -> Colouring:
    """The colours of the last layer of a network."""
    for colouring in refine([each.seen(config, deadline) for each in examined], config):
        if colouring.layers == config.deepest:
            return colouring
        deadline.check("telling actions apart")
    raise AssertionError  # The refinement goes on for ever.
