"""What would separate actions that a network cannot tell apart: more layers, features, other options of its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from asnets.deadline import Deadline
from asnets.errors import LimitError
from asnets.network.colours import Colouring, refine
from asnets.network.config import POOLINGS, NetworkConfig
from asnets.network.pooling import POOLING_OPERATORS
from asnets.options import options_of
from asnets.planning import ACTION_FEATURES
from asnets.training.diagnosis.examined import ExaminedStates
from asnets.training.diagnosis.result import Remedy
from asnets.training.diagnosis.views import Views
from asnets.training.loss import Loss

_NOTHING = 1e-6
"""A share of the loss that counts as none of it."""


def find_remedies(
    examined: Sequence[ExaminedStates],
    config: NetworkConfig,
    loss: Loss,
    before: float,
    *,
    deadline: Deadline,
    show: Callable[[str], None] = lambda doing: None,
) -> list[Remedy]:
    """Tries more layers, and then each other option by itself, with fewer layers than are enough without it.

    Args:
        examined: States that lose more than their labels allow.
        config: The shape of the network.
        loss: The kind of their labels.
        before: How much more the states lose than their labels allow, all together.
        deadline: When to end; an option for which there is no time is not among the results.
        show: Is told what is going on.
    """
    most = int(options_of(NetworkConfig)["train_depth" if config.recurrent else "layers"].most or config.deepest)
    remedies: list[Remedy] = []
    for options, other in _others(config):
        show(f"trying {options or 'more layers'}")
        try:
            remedy = _tried(examined, options, other, loss, before, most, deadline)
        except LimitError:
            break
        if not options and remedy.separates_all:
            most = remedy.layers - 1
        remedies.append(remedy)
    return remedies


def _others(config: NetworkConfig) -> Iterator[tuple[str, NetworkConfig]]:
    """Other shapes, and the options that they take."""
    yield "", config
    given = "".join(f"--feature {name} " for name in config.features)
    for name in ACTION_FEATURES:
        if name not in config.features:
            yield f"{given}--feature {name}", replace(config, features=(*config.features, name))
    for pooling in POOLINGS:
        if pooling != config.pooling:
            yield f"--pooling {pooling}", replace(config, pooling=pooling)
    if not config.skip:
        yield "--skip", replace(config, skip=True)
    for name in POOLING_OPERATORS:
        if name != config.pooling_operator:
            yield f"--pooling-operator {name}", replace(config, pooling_operator=name)


def _tried(
    examined: Sequence[ExaminedStates],
    options: str,
    config: NetworkConfig,
    loss: Loss,
    before: float,
    most: int,
    deadline: Deadline,
) -> Remedy:
    """What a shape separates with its number of layers, and with more, up to a number.

    Raises:
        LimitError: If the deadline passes before there is an answer.
    """
    share, layers = 0.0, config.deepest
    for colouring in refine([each.seen(config, deadline) for each in examined], config):
        deadline.check("what would separate actions was looked for")
        if colouring.layers < config.deepest:
            continue
        gained = 1 - _excess(examined, colouring, loss) / before
        if gained > share + _NOTHING:
            share, layers = min(1.0, gained), colouring.layers
        is_done = share > 1 - _NOTHING
        period = None if colouring.repeats is None else colouring.layers - colouring.repeats
        is_proved = not is_done and period is not None and colouring.layers - config.deepest + 1 >= period
        if is_done or is_proved or colouring.layers >= max(most, config.deepest):
            return Remedy(options, layers, 1.0 if is_done else share, colouring.layers, is_proved)
    raise AssertionError  # The refinement goes on for ever.


def _excess(examined: Sequence[ExaminedStates], colouring: Colouring, loss: Loss) -> float:
    return float(Views(examined, colouring, loss).excess.sum())
