"""Figures of training for TensorBoard, which is an extra."""

from __future__ import annotations

from pathlib import Path

from asnets.extras import require
from asnets.training.progress import EpochRecord


class TensorBoard:
    """Writes a point for each epoch."""

    def __init__(self, directory: Path) -> None:
        """Opens a folder.

        Raises:
            MissingPackageError: If TensorBoard is not installed.
        """
        require("tensorboard", extra="tensorboard", purpose="--tensorboard")
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(directory))

    def add(self, record: EpochRecord) -> None:
        figures = {"loss": record.loss, "coverage": record.coverage, "memory": record.memory, "skipped": record.skipped}
        figures |= {f"labels/{name}": count for name, count in record.labels.items()}
        if record.cost is not None:
            figures["cost over the teacher's"] = record.cost
        if record.validation_coverage is not None:
            figures["validation/coverage"] = record.validation_coverage
        if record.validation_cost is not None:
            figures["validation/cost over the estimate"] = record.validation_cost
        for each in record.validation or ():
            figures[f"validation/{each.problem} (size {each.size})"] = each.goals / record.runs
        for name, value in (figures | {f"seconds/{name}": value for name, value in record.seconds.items()}).items():
            self._writer.add_scalar(name, value, record.epoch)
        self._writer.flush()
