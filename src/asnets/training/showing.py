"""How far a training has come, for those who watch it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from asnets.notebook import in_notebook
from asnets.progress import live_figures, show_progress
from asnets.training.config import TrainingConfig
from asnets.training.progress import EpochRecord


@dataclass(frozen=True)
class TrainingDisplay:
    """What a training calls.

    Attributes:
        progress: With what is going on, in words.
        on_epoch: With the record of each epoch.
    """

    progress: Callable[[str], None]
    on_epoch: Callable[[EpochRecord], None]


_SILENT = TrainingDisplay(lambda doing: None, lambda record: None)


def training_display(
    progress: bool | Callable[[str], None], config: TrainingConfig
) -> AbstractContextManager[TrainingDisplay]:
    """What a training calls, as a user has asked for it.

    Args:
        progress: True for what `shown_training` shows, False for nothing, or what to call with words.
        config: Of the training.

    Raises:
        ConfigError: If it is something else.
    """
    if callable(progress):
        tell = progress
        return nullcontext(TrainingDisplay(tell, lambda record: tell(str(record))))
    return show_progress(progress, lambda: shown_training(config), _SILENT)


@contextmanager
def shown_training(config: TrainingConfig) -> Iterator[TrainingDisplay]:
    """A line on a terminal, a bar in a notebook; elsewhere the log has a line for each epoch anyway."""
    with live_figures("reading") as show:

        def on_epoch(record: EpochRecord) -> None:
            if in_notebook() or sys.stderr.isatty():
                spent = max(record.elapsed / config.time_limit, record.epoch / config.max_epochs)
                show(f"{record}; at most {_seconds_left(config, record):.0f} s left", spent)

        yield TrainingDisplay(show, on_epoch)


def _seconds_left(config: TrainingConfig, record: EpochRecord) -> float:
    """Until a limit ends the training, at the pace so far."""
    rate = record.elapsed / record.epoch
    return min(config.time_limit - record.elapsed, (config.max_epochs - record.epoch) * rate)
