"""`asnets train`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from asnets.cli.config_options import PresetOption, with_config_options
from asnets.cli.running import (
    CostsOption,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    ProblemsArgument,
    SeedOption,
    ThreadsOption,
    bounded,
    load,
    print_json,
    require,
)
from asnets.deadline import Deadline
from asnets.extras import require_torch
from asnets.grounding import DEFAULT_LIMITS, GroundTask
from asnets.network import NetworkConfig
from asnets.training import TrainingConfig
from asnets.training.config import named_preset
from asnets.training.showing import shown_training
from asnets.words import count

if TYPE_CHECKING:
    from asnets.training.progress import EpochRecord
    from asnets.training.session import SessionFiles
    from asnets.training.trainer import Trainer

_LOGGER = logging.getLogger(__name__)


@with_config_options(NetworkConfig, TrainingConfig)
def train(
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="Domain file.")],
    problems: ProblemsArgument,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="MODEL", help="The model file to write.")],
    options: dict[str, Any],
    preset: PresetOption = "default",
    seed: SeedOption = 0,
    threads: ThreadsOption = 1,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the checkpoint of a training that was stopped, or that a limit ended: with a larger one.",
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Begin anew, in place of the model and the checkpoint that are there.")
    ] = False,
    tensorboard: Annotated[
        Path | None,
        typer.Option("--tensorboard", metavar="DIR", help="Also write figures for TensorBoard, if it is installed."),
    ] = None,
    costs: CostsOption = "unit",
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Train a network on small problems of a domain.

    Beside MODEL are written MODEL.checkpoint after every epoch, which --resume goes on from, and MODEL.jsonl with the
    figures of every epoch. Training ends when all training problems have been solved for some epochs, when nothing gets
    better, or at a limit; MODEL holds the best weights. Unless all training problems were solved, the checkpoint stays,
    and --resume goes on with larger limits (--time-limit, --max-epochs, --patience).

    The time limit holds wherever training stands. Half of it at most goes to solving the problems, in equal parts:
    problems that take longer are left out. An epoch that is not finished in time does not count.
    """
    require(not (resume and force), "give either --resume or --force")
    chosen = named_preset(preset).changed(**options)
    require_torch("training")
    deadline = Deadline(chosen.training.time_limit)

    # Imported here, since it takes longer than finding mistakes in the options.
    with bounded(deadline, "torch was loaded"):
        from asnets.training.advice import shortcomings
        from asnets.training.figures import TensorBoard
        from asnets.training.session import SessionFiles, run_training

    files = SessionFiles(output, [domain, *problems])
    board = TensorBoard(tensorboard) if tensorboard is not None else None

    def read(problem: str, deadline: Deadline) -> GroundTask:
        return load(domain, problem, costs, max_actions, lenient, deadline).task

    with shown_training(chosen.training) as display:

        def report(record: EpochRecord) -> None:
            if board is not None:
                board.add(record)
            display.on_epoch(record)

        trainer, reason = run_training(
            problems,
            read,
            chosen,
            seed=seed,
            threads=threads,
            deadline=deadline,
            files=files,
            resume=resume,
            force=force,
            progress=display.progress,
            on_epoch=report,
            bounded=bounded,
        )
        advice = shortcomings(trainer, reason)
    for sentence in advice:
        _LOGGER.warning("%s", sentence)
    if json:
        checkpoint = str(files.checkpoint) if files.checkpoint.exists() else None
        ending = {"ended": reason, "warnings": advice}
        print_json({"model": str(output), "checkpoint": checkpoint} | trainer.result() | ending)
    else:
        _show(trainer, files, reason)


def _show(trainer: Trainer, files: SessionFiles, reason: str) -> None:
    best = trainer.progress.best
    epochs = count(len(trainer.progress.history), "epoch")
    print(f"{files.model}: {epochs} in {trainer.progress.elapsed:.1f} s; ended by {reason}")
    if best is None:
        return
    training = trainer.preset.training
    is_maxprob = training.objective == "maxprob"
    for task, goals, value in zip(trainer.tasks, best.goals, trainer.teacher_values, strict=True):
        teacher = "cost is not known" if value is None else f"cost is {value:.2f}"
        if is_maxprob and value is not None:  # Its values are probabilities of failing, times the penalty.
            teacher = f"probability of it is {1 - value / training.penalty:.4f}"
        print(f"  {task.problem}: {goals} of {best.runs} runs reach the goal; the teacher's {teacher}")
    if best.cost is not None:
        compared = "mean cost" if is_maxprob else "mean cost over the teacher's"
        print(f"  {compared}: {best.cost:.3f}; loss {best.loss:.4f}; epoch {best.epoch}")
    if files.checkpoint.exists():
        print(f"  {files.checkpoint}: --resume with a larger limit goes on")
