"""`asnets train`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asnets.cli.running import (
    CostsOption,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    ProblemsArgument,
    SeedOption,
    ThreadsOption,
    live_figures,
    load,
    print_json,
    require,
)
from asnets.grounding import DEFAULT_LIMITS
from asnets.planning import ACTION_FEATURES, HEURISTICS, PLANNERS
from asnets.training.config import PRESETS

if TYPE_CHECKING:
    from asnets.training.trainer import EpochRecord, Trainer

_FEATURES_HELP = (
    "What the network reads of heuristics instead of landmarks alone; may be given several times. "
    + "; ".join(f"{info.name}: {info.description}" for info in ACTION_FEATURES.values())
    + "."
)
_TEACHERS = [name for name, info in PLANNERS.items() if info.optimal]


def train(
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="Domain file.")],
    problems: ProblemsArgument,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="MODEL", help="The model file to write.")],
    preset: Annotated[
        str,
        typer.Option(
            "--preset", metavar="|".join(PRESETS), help="Where options start from: ours, or those of the paper."
        ),
    ] = "default",
    teacher_planner: Annotated[
        str | None, typer.Option("--teacher-planner", metavar="|".join(_TEACHERS), help="What labels states.")
    ] = None,
    teacher_heuristic: Annotated[
        str | None, typer.Option("--teacher-heuristic", metavar="|".join(HEURISTICS), help="Its heuristic.")
    ] = None,
    no_landmarks: Annotated[
        bool, typer.Option("--no-landmarks", help="The network does not read the landmarks of LM-cut.")
    ] = False,
    features: Annotated[
        list[str] | None, typer.Option("--feature", metavar="|".join(ACTION_FEATURES), help=_FEATURES_HELP)
    ] = None,
    layers: Annotated[int | None, typer.Option("--layers", min=1, help="Proposition layers.")] = None,
    hidden: Annotated[int | None, typer.Option("--hidden", min=1, help="Size of hidden vectors.")] = None,
    pooling: Annotated[str | None, typer.Option("--pooling", metavar="schema|slot", help="What is pooled.")] = None,
    skip: Annotated[bool | None, typer.Option("--skip/--no-skip", help="Skip connections.")] = None,
    dropout: Annotated[float | None, typer.Option("--dropout", help="Probability of dropping an output.")] = None,
    learning_rate: Annotated[float | None, typer.Option("--learning-rate", help="Of Adam.")] = None,
    l2: Annotated[float | None, typer.Option("--l2", help="Coefficient of the squared weights in the loss.")] = None,
    batch_size: Annotated[int | None, typer.Option("--batch-size", min=1, help="States in a minibatch.")] = None,
    learn_steps: Annotated[int | None, typer.Option("--learn-steps", min=1, help="Minibatches in an epoch.")] = None,
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
    time_limit: Annotated[float | None, typer.Option("--time-limit", metavar="SECONDS", help="Of training.")] = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = 1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint of a training that was stopped.")
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
    better, or at a limit; MODEL holds the best weights.
    """
    require(preset in PRESETS, f"unknown preset {preset!r}; expected one of {', '.join(PRESETS)}")
    require(not (no_landmarks and features), "give either --no-landmarks or --feature")
    chosen = PRESETS[preset].changed(
        teacher_planner=teacher_planner,
        teacher_heuristic=teacher_heuristic,
        features=() if no_landmarks else tuple(features) if features else None,
        layers=layers,
        hidden=hidden,
        pooling=pooling,
        skip=skip,
        dropout=dropout,
        learning_rate=learning_rate,
        l2=l2,
        batch_size=batch_size,
        learn_steps=learn_steps,
        query_limit=query_limit,
        solved_epochs=solved_epochs,
        patience=patience,
        max_epochs=max_epochs,
        time_limit=time_limit,
    )
    tasks = [load(domain, problem, costs, max_actions, lenient).task for problem in problems]

    # Imported here, since it takes longer than finding mistakes in the options.
    from asnets.training.figures import TensorBoard
    from asnets.training.session import Session, SessionFiles
    from asnets.training.trainer import Trainer

    files = SessionFiles(output, resume=resume)
    board = TensorBoard(tensorboard) if tensorboard is not None else None
    with live_figures("the teacher solves the training problems") as show:
        trainer = Trainer(tasks, chosen, seed=seed, threads=threads)
        for each in trainer.left_out:
            print(f"warning: {each.problem} is left out: {each.reason}", file=sys.stderr)
        session = Session(trainer, files, resume=resume)

        def report(record: EpochRecord) -> None:
            if board is not None:
                board.add(record)
            show(_figures(trainer, record))

        try:
            reason = session.run(report)
        except KeyboardInterrupt:
            print(
                f"stopped after {session.saved_epochs} epochs, kept in {files.checkpoint}; "
                "the same command with --resume goes on",
                file=sys.stderr,
            )
            raise
    if json:
        print_json({"model": str(output)} | trainer.result() | {"ended": reason})
    else:
        _show(trainer, output, reason)


def _figures(trainer: Trainer, record: EpochRecord) -> str:
    rate = record.elapsed / record.epoch
    config = trainer.preset.training
    left = min(config.time_limit - record.elapsed, (config.max_epochs - record.epoch) * rate)
    times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in record.seconds.items())
    skipped = f", {record.skipped} skipped" if record.skipped else ""
    return (
        f"epoch {record.epoch}: solved {' '.join(map(str, record.goals))} of {record.runs} each, "
        f"loss {record.loss:.4f}, memory {record.memory:,}{skipped}; {times}; at most {left:.0f} s left"
    )


def _show(trainer: Trainer, output: Path, reason: str) -> None:
    best = trainer.progress.best
    print(f"{output}: {len(trainer.progress.history)} epochs in {trainer.progress.elapsed:.1f} s; ended by {reason}")
    if best is None:
        return
    for task, goals, value in zip(trainer.tasks, best.goals, trainer.teacher_values, strict=True):
        print(f"  {task.problem}: {goals} of {best.runs} runs reach the goal; the teacher's cost is {value:.2f}")
    if best.cost is not None:
        print(f"  mean cost over the teacher's: {best.cost:.3f}; loss {best.loss:.4f}; epoch {best.epoch}")
