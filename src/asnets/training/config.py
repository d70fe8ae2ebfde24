"""Hyper-parameters of training and the presets.

From [toyer2018action], "Training with exploration and supervision" and "Experimental setup".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from asnets.errors import ConfigError
from asnets.network import NetworkConfig
from asnets.options import AUTO, check_names, check_options, option, options_of
from asnets.planning import HEURISTICS, OBJECTIVES, PLANNERS
from asnets.training.loss import LOSSES
from asnets.training.teachers import TEACHERS
from asnets.variants import KINDS

FEW = 16
"""Fewer training problems than these are made more by `more_problems="auto"`."""
FEW_FOR_VALIDATION = 4


@dataclass(frozen=True)
class TrainingConfig:
    """Hyper-parameters of training; the defaults are the paper's."""

    teacher_planner: str = option(
        "lrtdp",
        "The teacher, which labels states.",
        choices=TEACHERS,
        noun="teacher",
        flags=("--teacher-planner", "--teacher"),
    )
    teacher_heuristic: str = option(
        "lmcut", "Its heuristic; that of the first search of auto.", choices=HEURISTICS, noun="heuristic"
    )
    penalty: float = option(
        500.0,
        "The teacher's cost of a dead end, and of giving up anywhere, whatever a problem's :goal-reward is; problems "
        "that cost more are left out.",
        least=0,
        above_least=True,
        flags=("--penalty", "--dead-end-penalty"),
    )
    objective: str = option(
        "penalty",
        "What the teacher optimises. Under maxprob its labels go by the probability of failing, which counts as a cost "
        "of that times the penalty; under lexicographic (teacher vi), actions that lose probability are never best.",
        choices=OBJECTIVES,
        noun="objective",
    )
    query_limit: int = option(
        1_000_000,
        "States that one question to the teacher may expand; a state that takes more is skipped.",
        least=1,
    )
    teacher_budget: int = option(
        16_000,
        "What each search of the teacher auto may do to solve a problem, in millions of units of work of a few "
        "nanoseconds each: successors looked at, and 16 for each action and proposition where a state is evaluated. A "
        "question gets a 256th of that from each (a 64th from the network's), the questions of an epoch about a "
        "problem a 16th.",
        least=1,
    )
    label_tolerance: float = option(
        1e-2, "An action is labelled best if its Q value is within this of the least one.", least=0
    )
    loss: str = option("cross-entropy", "The kind of labels and the loss of a state.", choices=LOSSES, noun="loss")
    explore_rounds: int = option(
        25,
        "Trajectories in an epoch, shared equally among the training problems; of a loss without teacher, on each.",
        least=1,
    )
    max_steps: int = option(300, "Length L of a trajectory, in exploration and when judging the policy.", least=1)
    learn_steps: int = option(300, "Minibatches in an epoch.", least=1)
    batch_size: int = option(128, "States in a minibatch.", least=1)
    learning_rate: float = option(5e-4, "Of Adam.", least=0, above_least=True)
    l2: float = option(1e-3, "Coefficient of the squared weights in the loss.", least=0)
    reduction: str = option(
        "sum",
        "Whether the loss of a minibatch is the sum over its states, as in the paper's equation, or the mean.",
        choices=("sum", "mean"),
    )
    judge_runs: int = option(
        10, "Runs of the greedy policy on each training and validation problem after each epoch.", least=1
    )
    solved_epochs: int = option(
        10,
        "Stop when all problems, for validation too, were solved in all of these runs for so many epochs in a row.",
        least=1,
    )
    patience: int = option(30, "Stop when nothing got better for so many epochs in a row.", least=1)
    validate_share: float = option(
        0.0, "Share of the training problems that is held out for validation: the largest ones.", least=0, most=0.9
    )
    validate_run_seconds: float = option(
        10.0,
        "Seconds that a run on a problem of --validate-from may take: once one takes longer, no larger ones follow.",
        least=0,
        above_least=True,
    )
    restarts: int = option(
        0,
        "Begin again with other weights, so many times at most, when patience runs out before all is solved.",
        least=0,
    )
    max_epochs: int = option(1000, "Stop after so many epochs.", least=1)
    more_problems: int | str = option(
        0,
        "Make so many more training problems out of the given ones, by the seed, in a fifth of the time limit at most; "
        f"auto: where fewer than {FEW} are given, as many as are missing.",
        least=0,
        most=10_000,
        word=AUTO,
        metavar="N|auto",
    )
    validate_made: int | str = option(
        0,
        "Join given problems into so many larger ones for validation, likewise; auto: "
        f"{FEW_FOR_VALIDATION} where fewer than {FEW} training problems are given and none for validation.",
        least=0,
        most=100,
        word=AUTO,
        metavar="N|auto",
    )
    more_kinds: tuple[str, ...] = option(
        tuple(KINDS),
        "What to make, instead of all; may be given several times.",
        choices=KINDS,
        flags=("--more-kind",),
    )
    time_limit: float = option(
        7200.0,
        "Of the whole training, with reading and setting up, and with the sessions that it goes on from.",
        least=0,
        above_least=True,
        metavar="SECONDS",
    )

    def __post_init__(self) -> None:
        check_options(self, "the option ")
        if LOSSES[self.loss].is_of_runs:
            if self.objective == "lexicographic":
                raise ConfigError(
                    f"the loss {self.loss!r} is not for the objective 'lexicographic'; maxprob is one without costs"
                )
            return  # No teacher is asked.
        planner = PLANNERS.get(self.teacher_planner)  # There may be teachers of other kinds.
        if planner is not None and self.objective not in planner.objectives:
            able = ", ".join(name for name, info in PLANNERS.items() if self.objective in info.objectives)
            raise ConfigError(
                f"the teacher {self.teacher_planner!r} does not solve for the objective {self.objective!r}; "
                f"expected one of: {able}"
            )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"more_kinds": list(self.more_kinds)}


@dataclass(frozen=True)
class Preset:
    """A network and how to train it."""

    network: NetworkConfig
    training: TrainingConfig

    def changed(self, **options: Any) -> Preset:
        """The preset with other values for some options of the network or of training; None leaves one as it is.

        Raises:
            ConfigError: If an option is unknown, or a value cannot be used.
        """
        check_names(options, NetworkConfig, TrainingConfig)
        given = {name: value for name, value in options.items() if value is not None}
        loss = given.get("loss")
        if isinstance(loss, str) and loss in LOSSES:
            given = {**LOSSES[loss].defaults, **given}
        of_network = options_of(NetworkConfig)
        network = replace(self.network, **{name: value for name, value in given.items() if name in of_network})
        if not network.recurrent:
            for name in ("depth", "train_depth"):
                if name in given:
                    raise ConfigError(f"{name} is for recurrent networks: {of_network['recurrent'].flag} makes one")
        return Preset(
            network,
            replace(self.training, **{name: value for name, value in given.items() if name not in of_network}),
        )


PRESETS: dict[str, Preset] = {
    "default": Preset(
        NetworkConfig(dropout=0.1, pooling="slot", skip=True, features=("landmarks", "distance", "risk")),
        TrainingConfig(
            teacher_planner="auto",
            learning_rate=2e-3,
            reduction="mean",
            l2=1e-4,
            learn_steps=100,
            solved_epochs=10,
            patience=20,
            more_problems=AUTO,
            validate_made=AUTO,
            time_limit=1800.0,
        ),
    ),
    "paper": Preset(NetworkConfig(), TrainingConfig()),
}


def named_preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        ConfigError: If there is none.
    """
    if name not in PRESETS:
        raise ConfigError(f"unknown preset {name!r}; expected one of {', '.join(PRESETS)}")
    return PRESETS[name]
