"""`asnets train`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asnets.cli.network_options import (
    FeaturesOption,
    HiddenOption,
    LayersOption,
    NoLandmarksOption,
    PoolingOption,
    PresetOption,
    SkipOption,
    chosen_features,
    chosen_preset,
)
from asnets.cli.running import (
    CostsOption,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    ProblemsArgument,
    SeedOption,
    ThreadsOption,
    bounded,
    live_figures,
    load,
    print_json,
    require,
)
from asnets.deadline import Deadline
from asnets.errors import LimitError
from asnets.grounding import DEFAULT_LIMITS, GroundTask
from asnets.planning import HEURISTICS, PLANNERS

if TYPE_CHECKING:
    from asnets.training.progress import EpochRecord
    from asnets.training.session import Session, SessionFiles
    from asnets.training.trainer import Trainer

_LOGGER = logging.getLogger(__name__)
_TEACHERS = [name for name, info in PLANNERS.items() if info.optimal]


def train(
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="Domain file.")],
    problems: ProblemsArgument,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="MODEL", help="The model file to write.")],
    preset: PresetOption = "default",
    teacher_planner: Annotated[
        str | None, typer.Option("--teacher-planner", metavar="|".join(_TEACHERS), help="What labels states.")
    ] = None,
    teacher_heuristic: Annotated[
        str | None, typer.Option("--teacher-heuristic", metavar="|".join(HEURISTICS), help="Its heuristic.")
    ] = None,
    no_landmarks: NoLandmarksOption = False,
    features: FeaturesOption = None,
    layers: LayersOption = None,
    hidden: HiddenOption = None,
    pooling: PoolingOption = None,
    skip: SkipOption = None,
    dropout: Annotated[float | None, typer.Option("--dropout", help="Probability of dropping an output.")] = None,
    learning_rate: Annotated[float | None, typer.Option("--learning-rate", help="Of Adam.")] = None,
    l2: Annotated[float | None, typer.Option("--l2", help="Coefficient of the squared weights in the loss.")] = None,
    batch_size: Annotated[int | None, typer.Option("--batch-size", min=1, help="States in a minibatch.")] = None,
    learn_steps: Annotated[int | None, typer.Option("--learn-steps", min=1, help="Minibatches in an epoch.")] = None,
    penalty: Annotated[
        float | None,
        typer.Option(
            "--penalty",
            "--dead-end-penalty",
            help="The teacher's cost of a dead end, and of giving up anywhere; problems that cost more are left out.",
        ),
    ] = None,
    query_limit: Annotated[
        int | None, typer.Option("--query-limit", min=1, help="States that one question to the teacher may expand.")
    ] = None,
    solved_epochs: Annotated[
        int | None,
        typer.Option("--solved-epochs", min=1, help="Stop when all training problems were solved for so many epochs."),
    ] = None,
    patience: Annotated[
        int | None, typer.Option("--patience", min=1, help="Stop when nothing got better for so many epochs.")
    ] = None,
    max_epochs: Annotated[int | None, typer.Option("--max-epochs", min=1, help="Stop after so many epochs.")] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            help="Of the whole training, with reading and setting up, and with the sessions that it goes on from.",
        ),
    ] = None,
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
    chosen = chosen_preset(preset).changed(
        teacher_planner=teacher_planner,
        teacher_heuristic=teacher_heuristic,
        features=chosen_features(no_landmarks, features),
        layers=layers,
        hidden=hidden,
        pooling=pooling,
        skip=skip,
        dropout=dropout,
        learning_rate=learning_rate,
        l2=l2,
        batch_size=batch_size,
        learn_steps=learn_steps,
        penalty=penalty,
        query_limit=query_limit,
        solved_epochs=solved_epochs,
        patience=patience,
        max_epochs=max_epochs,
        time_limit=time_limit,
    )
    deadline = Deadline(chosen.training.time_limit)

    # Imported here, since it takes longer than finding mistakes in the options.
    with bounded(deadline, "torch was loaded"):
        from asnets.training.advice import shortcomings
        from asnets.training.figures import TensorBoard
        from asnets.training.session import Session, SessionFiles
        from asnets.training.trainer import Trainer

    files = SessionFiles(output, [domain, *problems])
    with files.lock():
        checkpoint = files.resume(chosen, seed) if resume else None
        if checkpoint is None:
            files.begin(force=force)
        else:
            deadline = checkpoint.deadline(chosen.training.time_limit, deadline.elapsed)
        board = TensorBoard(tensorboard) if tensorboard is not None else None
        session: Session | None = None
        try:
            with live_figures("reading") as show:
                tasks = [_read(domain, problem, costs, max_actions, lenient, deadline, show) for problem in problems]
                start: Callable[..., Trainer] = Trainer if checkpoint is None else checkpoint.resume
                with bounded(deadline, "training was set up"):
                    trainer = start(tasks, chosen, seed=seed, threads=threads, deadline=deadline, show=show)
                session = Session(trainer, files)

                def report(record: EpochRecord) -> None:
                    if board is not None:
                        board.add(record)
                    if sys.stderr.isatty():  # Elsewhere there is a line of the log for each epoch.
                        show(_figures(trainer, record))

                try:
                    with bounded(deadline, "training"):
                        reason = session.train(report)
                except LimitError:
                    reason = session.time_is_up()
                session.finish(reason)
                advice = shortcomings(trainer, reason)
        except KeyboardInterrupt:
            _LOGGER.warning("%s", _interrupted(session, files, resume))
            raise
    for sentence in advice:
        _LOGGER.warning("%s", sentence)
    if json:
        kept = str(files.checkpoint) if files.checkpoint.exists() else None
        ending = {"ended": reason, "warnings": advice}
        print_json({"model": str(output), "checkpoint": kept} | trainer.result() | ending)
    else:
        _show(trainer, files, reason)


def _read(
    domain: str,
    problem: str,
    costs: str,
    max_actions: int,
    lenient: bool,
    deadline: Deadline,
    show: Callable[[str], None],
) -> GroundTask:
    show(f"reading {problem}")
    deadline.check(f"reading {problem}")
    with bounded(deadline, f"reading {problem}"):
        return load(domain, problem, costs, max_actions, lenient, deadline).task


def _interrupted(session: Session | None, files: SessionFiles, resume: bool) -> str:
    if session is None and not resume:
        return "stopped before the first epoch; nothing was written"
    where = "" if session is None else f" after {session.saved_epochs} epoch{'s' * (session.saved_epochs != 1)}"
    return f"stopped{where}, kept in {files.checkpoint}; the same command with --resume goes on"


def _figures(trainer: Trainer, record: EpochRecord) -> str:
    rate = record.elapsed / record.epoch
    config = trainer.preset.training
    left = min(config.time_limit - record.elapsed, (config.max_epochs - record.epoch) * rate)
    return f"{record}; at most {left:.0f} s left"


def _show(trainer: Trainer, files: SessionFiles, reason: str) -> None:
    best = trainer.progress.best
    epochs, seconds = len(trainer.progress.history), trainer.progress.elapsed
    print(f"{files.model}: {epochs} epoch{'s' * (epochs != 1)} in {seconds:.1f} s; ended by {reason}")
    if best is None:
        return
    for task, goals, value in zip(trainer.tasks, best.goals, trainer.teacher_values, strict=True):
        print(f"  {task.problem}: {goals} of {best.runs} runs reach the goal; the teacher's cost is {value:.2f}")
    if best.cost is not None:
        print(f"  mean cost over the teacher's: {best.cost:.3f}; loss {best.loss:.4f}; epoch {best.epoch}")
    if files.checkpoint.exists():
        print(f"  {files.checkpoint}: --resume with a larger limit goes on")
