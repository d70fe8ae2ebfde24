"""`asnets train`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from asnets.cli.completion import offer_families, offer_models
from asnets.cli.config_options import PresetOption, with_config_options
from asnets.cli.running import (
    CostsOption,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    ProblemsArgument,
    ProblemsDomainArgument,
    SeedOption,
    ThreadsOption,
    bounded,
    load,
    print_json,
    require,
    with_own_domains,
)
from asnets.deadline import Deadline
from asnets.extras import require_torch
from asnets.grounding import DEFAULT_LIMITS, GroundTask
from asnets.loading import LoadedTask
from asnets.models import find_model
from asnets.network import NetworkConfig
from asnets.network.model_file import load_model
from asnets.training import TrainingConfig
from asnets.training.config import named_preset
from asnets.training.loss import LOSSES
from asnets.training.showing import shown_training
from asnets.training.start import StartModel
from asnets.words import count

if TYPE_CHECKING:
    from asnets.training.progress import EpochRecord
    from asnets.training.session import SessionFiles
    from asnets.training.trainer import Trainer

_LOGGER = logging.getLogger(__name__)


@with_config_options(NetworkConfig, TrainingConfig)
def train(
    domain: ProblemsDomainArgument,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="MODEL", help="The model file to write.")],
    options: dict[str, Any],
    problems: ProblemsArgument = None,
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
    validate: Annotated[
        list[str] | None,
        typer.Option(
            "--validate",
            metavar="PROBLEM",
            help="A larger problem, which nothing is learnt from: the weights are kept that do best on those, and "
            "training ends and begins again by them. No teacher is needed. May be given several times.",
        ),
    ] = None,
    validate_from: Annotated[
        str | None,
        typer.Option(
            "--validate-from",
            metavar="FAMILY|DIR",
            help="Where larger validation problems come from, one whenever all are solved: a family of `asnets "
            "generate`, or a folder of problem files.",
            autocompletion=offer_families,
        ),
    ] = None,
    then: Annotated[
        str | None,
        typer.Option(
            "--then",
            metavar="FAMILY|DIR",
            help="Where larger training problems come from, once the others are solved or nothing gets better: those "
            "that the teacher can solve.",
            autocompletion=offer_families,
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="MODEL",
            help="Go on from a trained model: its weights, in a network of its shape. They are the first that are "
            "judged, so that what is kept is never worse on the problems that decide. With --loss policy-gradient, on "
            "problems that no teacher can solve.",
            autocompletion=offer_models,
        ),
    ] = None,
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

    With --validate, --validate-share or --validate-from, all of this goes by problems that nothing is learnt from.

    The time limit holds wherever training stands. Half of it at most goes to solving the problems, in equal parts:
    problems that take longer are left out. An epoch that is not finished in time does not count.
    """
    require(not (resume and force), "give either --resume or --force")
    file = None if start is None else find_model(start)
    model = None if file is None else StartModel(f"{start}", load_model(file).weights)
    chosen = named_preset(preset).changed(**options) if model is None else model.preset(named_preset(preset), options)
    require_torch("training")
    deadline = Deadline(chosen.training.time_limit)

    # Imported here, since it takes longer than finding mistakes in the options.
    with bounded(deadline, "torch was loaded"):
        from asnets.training.advice import shortcomings
        from asnets.training.figures import TensorBoard
        from asnets.training.session import Larger, SessionFiles, run_training
        from asnets.training.supply import open_supply

    of_all, problems = with_own_domains(domain, problems)
    board = TensorBoard(tensorboard) if tensorboard is not None else None

    def read(problem: str, deadline: Deadline) -> LoadedTask:
        return load(of_all, problem, costs, max_actions, lenient, deadline)

    def ground(problem: str, deadline: Deadline) -> GroundTask:
        return read(problem, deadline).task

    larger = Larger(
        lambda place, like, seed: open_supply(place, like, domain=domain, read=ground, seed=seed, lenient=lenient),
        validate or (),
        validate_from,
        then,
    )
    files = SessionFiles(output, [domain, *problems, *larger.files, *([] if file is None else [file])])

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
            larger=larger,
            start=model,
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
    is_of_runs = LOSSES[training.loss].is_of_runs
    for problem, goals in zip(trainer.judged, best.goals, strict=True):
        task, value = trainer.tasks[problem], trainer.teacher_values[problem]
        if is_of_runs:
            print(f"  {task.problem}: {goals} of {best.runs} runs reach the goal")
            continue
        teacher = "cost is not known" if value is None else f"cost is {value:.2f}"
        if is_maxprob and value is not None:  # Its values are probabilities of failing, times the penalty.
            teacher = f"probability of it is {1 - value / training.penalty:.4f}"
        print(f"  {task.problem}: {goals} of {best.runs} runs reach the goal; the teacher's {teacher}")
    for each in best.validation or ():
        print(f"  {each.problem}, for validation: {each.goals} of {best.runs} runs reach the goal")
    if trainer.progress.restart:
        which = "the first weights" if best.restart == 0 else f"those of restart {best.restart}"
        print(f"  training began again {count(trainer.progress.restart, 'time')}; {which} are kept")
    if best.cost is not None:
        over = "a relaxed plan's" if is_of_runs else "the teacher's"
        compared = "mean cost" if is_maxprob else f"mean cost over {over}"
        print(f"  {compared}: {best.cost:.3f}; loss {best.loss:.4f}; epoch {best.epoch}")
    if trainer.start is not None and best.epoch == 1:
        print(f"  nothing better was found than {trainer.start.name}, whose weights are kept")
    if files.checkpoint.exists():
        print(f"  {files.checkpoint}: --resume with a larger limit goes on")
