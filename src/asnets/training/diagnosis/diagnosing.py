"""Diagnosing from problems: the teacher labels states, and colours tell what can be learnt of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.extras import require_torch
from asnets.grounding import GroundTask
from asnets.loading import load
from asnets.network.config import NetworkConfig
from asnets.network.model_file import check_fits
from asnets.network.signature import DomainSignature
from asnets.policies import RandomPolicy, TaskPolicy
from asnets.ppddl import log_warning
from asnets.progress import live_figures, show_progress
from asnets.training.config import Preset, TrainingConfig, named_preset
from asnets.training.diagnosis.judging import diagnose_states
from asnets.training.diagnosis.result import Diagnosis
from asnets.training.loss import LOSSES

if TYPE_CHECKING:
    from asnets.network.network import ASNet

DEFAULT_STATES = 1000
_SHARE_OF_ASKING = 0.7
"""Of the time; the rest is for telling actions apart, and for what would separate them."""


class TrainedPolicy(Protocol):
    """A trained policy of a domain, as `asnets.Policy` is."""

    training: dict[str, Any]

    @property
    def config(self) -> NetworkConfig:
        """The shape of its network."""
        ...

    @property
    def signature(self) -> DomainSignature:
        """Of its domain."""
        ...

    @property
    def network(self) -> ASNet:
        """The network in torch."""
        ...

    @property
    def costs(self) -> str:
        """The costs that it was trained with."""
        ...

    def of(self, task: GroundTask, *, sampled: bool = False) -> TaskPolicy:
        """What it does in a task."""
        ...


def diagnose(
    network: TrainedPolicy | NetworkConfig | str,
    domain: str | Path | None,
    problems: Sequence[str | Path | GroundTask],
    *,
    states: int = DEFAULT_STATES,
    seed: int = 0,
    costs: str | None = None,
    lenient: bool = False,
    time_limit: float = math.inf,
    deadline: Deadline = NO_DEADLINE,
    progress: bool | Callable[[str], None] = False,
    **options: Any,
) -> Diagnosis:
    """What a network cannot learn of some problems, whatever its weights are, and what would help.

    Args:
        network: A trained policy, the shape of a network, or the name of a preset.
        domain: The domain file; None where all problems are tasks.
        problems: Small ones, that the teacher can solve: files, or tasks.
        states: Of a problem at most so many states are looked at.
        seed: Of all random choices.
        costs: "unit" or "metric", which files are read with; those of the policy, else "unit", if left out.
        lenient: As for `load`.
        time_limit: Seconds for all of it. What there is then is told, with `limits`.
        deadline: When it has to end, beside the time limit.
        progress: True for a line on a terminal or in a notebook; or what is called with what is going on, in words.
        **options: Other values for options of `NetworkConfig` (not of a policy, which has its shape) and
            `TrainingConfig`, such as layers=3 or teacher_heuristic="hadd".

    Raises:
        ConfigError: If an option is unknown or cannot be used, or there is nothing to learn.
        LimitError: If a limit is reached before anything is known.
        MissingPackageError: If torch is not installed.

    Example:
        >>> ways = [asnets.generate("monster", length) for length in (1, 2, 3)]
        >>> diagnosis = asnets.diagnose("default", None, ways, features=["landmarks"])
        >>> print(diagnosis.conflicts[0].words(2))
        (drive start left-1) and (drive start right-1) look the same within 2 layers
        >>> [remedy.layers for remedy in diagnosis.remedies if remedy.separates_all]
        [3, 2, 2]
        >>> asnets.diagnose("default", None, ways, features=["landmarks"], layers=3).conflicts
        ()
    """
    require_torch("a diagnosis")
    config, training = chosen_options(network, options)
    if isinstance(problems, str | Path | GroundTask):
        raise ConfigError("problems must be a list; for one problem, a list of one")
    if not problems:
        raise ConfigError("there are no problems to look at")
    if states < 1:
        raise ConfigError(f"the number of states must be at least 1, not {states}")
    whole = Deadline(time_limit, within=deadline)
    policy = None if isinstance(network, NetworkConfig | str) else network
    costs = costs or (None if policy is None else policy.costs)
    once = cache(log_warning)

    def read(problem: str | Path | GroundTask, own: Deadline) -> GroundTask:
        if isinstance(problem, GroundTask):
            return problem
        if domain is None:
            raise ConfigError(f"the problem {str(problem)!r} is a file, and there is no domain")
        return load(domain, problem, costs=costs or "unit", lenient=lenient, on_warning=once, deadline=own)

    with show_progress(progress, _shown, lambda figures: None) as show:
        return diagnose_problems(
            policy, config, training, problems, read, states=states, seed=seed, deadline=whole, show=show
        )


def diagnose_problems(
    policy: TrainedPolicy | None,
    config: NetworkConfig,
    training: TrainingConfig,
    problems: Sequence[Any],
    read: Callable[[Any, Deadline], GroundTask],
    *,
    states: int,
    seed: int,
    deadline: Deadline,
    show: Callable[[str], None],
) -> Diagnosis:
    """As `diagnose`, of problems that are still to be read.

    Args:
        policy: A trained policy; None for a network without weights, in whose place chance runs.
        config: The shape of the network.
        training: Which teacher there is.
        problems: Their names.
        read: Reads one of them.
        states: As for `diagnose`.
        seed: As for `diagnose`.
        deadline: When it has to end.
        show: Is told what is going on.
    """
    from asnets.training.diagnosis.gathering import ask_teacher, examined_states, mean_loss

    examined = []
    limits: list[str] = []
    first: GroundTask | None = None
    share = deadline.part(_SHARE_OF_ASKING)
    for done, problem in enumerate(problems):
        own = share.part(1 / (len(problems) - done))
        show(f"reading {getattr(problem, 'problem', problem)}")
        try:
            task = read(problem, own)
        except LimitError as error:
            limits.append(f"{problem}: {error}")
            continue
        first = first or task
        signature = DomainSignature.of(first) if policy is None else policy.signature
        _check_domain(task, first, policy)
        show(f"asking the teacher about {task.problem} ({done + 1} of {len(problems)})")
        runner = RandomPolicy(task) if policy is None else policy.of(task, sampled=True)
        memory, was_cut = ask_teacher(task, training, runner, seed=seed, states=states, deadline=own)
        if was_cut:
            limits.append(f"{task.problem}: {own.words} was reached after {len(memory):,} labelled states")
        if len(memory):
            examined.append(examined_states(task, memory, config, signature, (), states))
    if not examined:
        if limits:
            raise LimitError("\n".join(["no state could be labelled", *(f"  {limit}" for limit in limits)]))
        raise ConfigError(
            "there is nothing to learn: no state has a label. States teach nothing that have one applicable action, or "
            "from which giving up is best (--penalty)"
        )
    loss = None if policy is None else mean_loss(policy.network, examined, training.loss)
    return diagnose_states(
        examined, config, training.loss, network_loss=loss, limits=limits, deadline=deadline, show=show
    )


def training_config(policy: TrainedPolicy) -> TrainingConfig:
    """How a policy was trained; options that it does not know of have the defaults of `asnets train`.

    So has the loss of one that had no teacher: what a network cannot learn is said of labels of a teacher.
    """
    remembered = policy.training.get("config")
    default = named_preset("default")
    if not isinstance(remembered, dict):
        return default.training
    known = {name: value for name, value in remembered.items() if name in default.training.to_dict()}
    loss = known.get("loss")
    if isinstance(loss, str) and loss in LOSSES and LOSSES[loss].is_of_runs:
        del known["loss"]
    return default.changed(**known).training


def chosen_options(
    network: TrainedPolicy | NetworkConfig | str, options: dict[str, Any]
) -> tuple[NetworkConfig, TrainingConfig]:
    if isinstance(network, str):
        chosen = named_preset(network).changed(**options)
        return chosen.network, chosen.training
    if isinstance(network, NetworkConfig):
        chosen = Preset(network, named_preset("default").training).changed(**options)
        return chosen.network, chosen.training
    chosen = Preset(network.config, training_config(network)).changed(**options)
    if chosen.network != network.config:
        raise ConfigError("a trained policy has the shape of its network; give the name of a preset for another")
    return chosen.network, chosen.training


def _check_domain(task: GroundTask, first: GroundTask, policy: TrainedPolicy | None) -> None:
    if policy is not None:
        check_fits(policy.signature, task)
        return
    differences = DomainSignature.of(first).differences(DomainSignature.of(task))
    if differences:
        raise ConfigError(
            f"the problems {first.problem!r} and {task.problem!r} are of different domains: {differences[0]}"
        )


@contextmanager
def _shown() -> Iterator[Callable[[str], None]]:
    with live_figures("reading") as show:
        yield lambda figures: show(figures)
