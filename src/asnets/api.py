"""The package from Python: load a task, train or load a policy, ask it, run it, judge it.

import asnets

task = asnets.load("domain.pddl", "problem.pddl")
policy = asnets.train("domain.pddl", ["small-1.pddl", "small-2.pddl"], time_limit=60)
policy.probabilities(task)             # {"(move-car l-1-1 l-1-2)": 0.98, …}
policy.evaluate(task, runs=30).coverage
policy.save("tires.asnet")
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, Diagnostic
from asnets.evaluation import Trace, trace
from asnets.evaluation.evaluate import Evaluation, evaluate
from asnets.evaluation.rollouts import EpisodeRecord
from asnets.grounding import DEFAULT_LIMITS, GroundTask, Limits, ground
from asnets.grounding.costs import COST_MODES
from asnets.models import find_model
from asnets.network.model_file import Model, load_model, save_model
from asnets.network.network import ASNet
from asnets.planning import ActionFeatures
from asnets.policies import TaskPolicy
from asnets.policies.networks import NetworkPolicy, network_policy
from asnets.ppddl import load_task, log_warning
from asnets.training.advice import shortcomings
from asnets.training.config import named_preset
from asnets.training.progress import EpochRecord
from asnets.training.session import SessionFiles, run_training

logger = logging.getLogger("asnets")

State = Sequence[str] | npt.NDArray[np.int32]
"""The true propositions of a state, by name as in "(at l-1-1)" or by number."""


def load(
    domain: str | Path,
    problem: str | Path | None = None,
    *,
    costs: str = "unit",
    limits: Limits = DEFAULT_LIMITS,
    lenient: bool = False,
    on_warning: Callable[[Diagnostic], None] = log_warning,
    deadline: Deadline = NO_DEADLINE,
) -> GroundTask:
    """Reads and grounds a problem.

    Args:
        domain: The domain file, or a file that holds both.
        problem: The problem file, or FILE:NAME if it holds several.
        costs: "unit", or "metric" for costs from the problem's :metric. For a policy, its `costs`.
        limits: Size limits of grounding.
        lenient: Whether to forgive what the competition's simulator forgives, with warnings.
        on_warning: Called with each warning; without it they go to the logger `asnets.ppddl`.
        deadline: When reading and grounding have to end.
    """
    lifted = load_task(domain, problem, lenient=lenient, on_warning=on_warning, deadline=deadline)
    return ground(*lifted, costs=costs, limits=limits, deadline=deadline)


@dataclass(frozen=True)
class RunStep:
    """One step of a run.

    Attributes:
        action: What was done.
        probabilities: What the policy gave each applicable action; the likeliest first.
        added: Propositions that became true.
        deleted: Propositions that became false.
    """

    action: str
    probabilities: dict[str, float]
    added: tuple[str, ...]
    deleted: tuple[str, ...]

    @property
    def probability(self) -> float:
        """What the policy gave the action."""
        return self.probabilities[self.action]

    @property
    def runner_up(self) -> tuple[str, float] | None:
        """The second choice and its probability; None where there was no other."""
        return next((item for item in self.probabilities.items() if item[0] != self.action), None)


@dataclass(frozen=True)
class Run:
    """One run of a policy, step by step.

    Attributes:
        steps: By name.
        trace: By number, with the states.
    """

    steps: tuple[RunStep, ...]
    trace: Trace

    @property
    def record(self) -> EpisodeRecord:
        """How long it was, what it cost and how it ended."""
        return self.trace.record


def run_policy(
    policy: TaskPolicy,
    *,
    seed: int = 0,
    episode: int = 0,
    max_steps: int = 300,
    detect_dead_ends: bool = True,
    deadline: Deadline = NO_DEADLINE,
) -> Run:
    """One run of any policy of a task, step by step: the one that `simulate` makes for this seed and number."""
    task = policy.task
    run = trace(
        policy,
        seed=seed,
        episode=episode,
        max_steps=max_steps,
        detect_dead_ends=detect_dead_ends,
        deadline=deadline,
    )
    steps = tuple(
        RunStep(
            task.action_name(step.action),
            _named(policy, state),
            tuple(task.atom_name(atom) for atom in step.added),
            tuple(task.atom_name(atom) for atom in step.deleted),
        )
        for step, state in zip(run.steps, run.states, strict=False)
    )
    return Run(steps, run)


class Policy:
    """A trained policy of a domain.

    Attributes:
        network: The network.
        training: How it was trained, as in the model file.
    """

    def __init__(self, network: ASNet, training: dict[str, Any]) -> None:
        self.network = network
        self.training = training
        self._has_warned = False

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Reads a model file; where there is none of that name, the model of that name that the package ships."""
        model: Model = load_model(find_model(path))
        return cls(model.network, dict(model.training))

    def save(self, path: str | Path) -> None:
        """Writes a model file."""
        save_model(Path(path), self.network, self.training)

    @property
    def costs(self) -> str:
        """The costs that it was trained with, "unit" or "metric": those to load a task with."""
        return self._known_costs() or "unit"

    def probabilities(self, task: GroundTask, state: State | None = None) -> dict[str, float]:
        """The probability of each applicable action in a state, the initial one by default; the likeliest first."""
        return _named(self.of(task), _state(task, state))

    def logits(self, task: GroundTask, state: State | None = None) -> dict[str, float]:
        """The outputs of the network, before the softmax, for all actions, applicable or not."""
        logits = self.of(task).logits(_state(task, state))
        return {task.action_name(action): float(logit) for action, logit in enumerate(logits)}

    def features(self, task: GroundTask, state: State | None = None) -> dict[str, tuple[float, ...]]:
        """What the network reads of heuristics about each action; empty tuples if it reads none."""
        names = self.network.config.features
        if not names:
            return {task.action_name(action): () for action in range(task.num_actions)}
        rows = ActionFeatures(task, names).of(_state(task, state))
        return {task.action_name(action): tuple(map(float, row)) for action, row in enumerate(rows)}

    def run(
        self,
        task: GroundTask,
        *,
        seed: int = 0,
        episode: int = 0,
        max_steps: int = 300,
        sampled: bool = False,
        detect_dead_ends: bool = True,
        deadline: Deadline = NO_DEADLINE,
    ) -> Run:
        """One run of the policy: of those that `evaluate` makes with the same seed, the one of this number."""
        return run_policy(
            self.of(task, sampled=sampled),
            seed=seed,
            episode=episode,
            max_steps=max_steps,
            detect_dead_ends=detect_dead_ends,
            deadline=deadline,
        )

    def evaluate(
        self,
        task: GroundTask,
        *,
        runs: int = 30,
        max_steps: int = 300,
        seed: int = 0,
        time_limit: float = 9000.0,
        memory_limit: int = 10 * 10**9,
        threads: int = 1,
        sampled: bool = False,
        detect_dead_ends: bool = True,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Evaluation:
        """Many runs of the policy, greedy or sampled; see `asnets.evaluation.evaluate.evaluate`."""
        return evaluate(
            self.of(task, sampled=sampled),
            runs=runs,
            max_steps=max_steps,
            seed=seed,
            time_limit=time_limit,
            memory_limit=memory_limit,
            threads=threads,
            detect_dead_ends=detect_dead_ends,
            progress=progress,
        )

    def of(self, task: GroundTask, *, sampled: bool = False) -> NetworkPolicy:
        """What it does in a task: greedy, or drawing actions by their probabilities.

        Raises:
            ConfigError: If the task is of another domain; the message names what differs.
        """
        self._check_costs(task)
        return network_policy(self.network, task, sampled=sampled)

    def _check_costs(self, task: GroundTask) -> None:
        """Says once where costs are others than in training: they are counted, and the landmarks depend on them."""
        known = self._known_costs()
        if known not in (None, task.cost_mode) and not self._has_warned:
            self._has_warned = True
            logger.warning("the policy was trained with %s costs; this is a task with %s costs", known, task.cost_mode)

    def _known_costs(self) -> str | None:
        problems = self.training.get("problems")
        modes = {each.get("costs") for each in problems if isinstance(each, dict)} if isinstance(problems, list) else ()
        return next((mode for mode in COST_MODES if mode in modes), None)


def train(
    domain: str | Path,
    problems: Sequence[str | Path],
    *,
    preset: str = "default",
    seed: int = 0,
    threads: int = 1,
    costs: str = "unit",
    lenient: bool = False,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    force: bool = False,
    deadline: Deadline | None = None,
    progress: Callable[[str], None] = lambda doing: None,
    on_epoch: Callable[[EpochRecord], None] = lambda record: None,
    **options: Any,
) -> Policy:
    """Trains a policy on some problems of a domain.

    Args:
        domain: The domain file.
        problems: The training problems; small ones, that the teacher can solve.
        preset: "default" or "paper".
        seed: Of all random choices.
        threads: How many problems to explore at once. Results are the same.
        costs: "unit" or "metric".
        lenient: As for `load`.
        checkpoint: MODEL.checkpoint, to be written after each epoch; with it come MODEL.jsonl and, in the end, MODEL,
            as the command `asnets train -o MODEL` writes them.
        resume: Whether to go on from the checkpoint, to the same result as if training had not stopped.
        force: Whether to begin anew in place of a checkpoint and a model that are there.
        deadline: When training has to end, beside its time limit.
        progress: Called with what is going on, in words, and with a line for each epoch.
        on_epoch: Called with the record of each epoch.
        **options: Other values for options of `NetworkConfig` and `TrainingConfig`, such as time_limit=60.

    Raises:
        ConfigError: If an option is unknown or cannot be used.
        FileError: If a file cannot be read or written.
        LimitError: If the time limit, which holds for all of it, is reached before an epoch is finished.
        TrainingError: If the loss is no longer a number.
    """
    if isinstance(problems, str | Path):
        raise ConfigError(f"problems must be a list of files, not {str(problems)!r}; for one problem, a list of one")
    if (resume or force) and checkpoint is None:
        raise ConfigError("resume and force need a checkpoint")
    if resume and force:
        raise ConfigError("give either resume or force")
    chosen = named_preset(preset).changed(**options)
    limit = chosen.training.time_limit
    own = Deadline(limit) if deadline is None else Deadline(min(limit, deadline.limit or limit), within=deadline)
    once = cache(log_warning)  # The domain is read once for each problem.

    def read(problem: str | Path, deadline: Deadline) -> GroundTask:
        return load(domain, problem, costs=costs, lenient=lenient, on_warning=once, deadline=deadline)

    def report(record: EpochRecord) -> None:
        progress(str(record))
        on_epoch(record)

    trainer, reason = run_training(
        problems,
        read,
        chosen,
        seed=seed,
        threads=threads,
        deadline=own,
        files=None if checkpoint is None else SessionFiles.of_checkpoint(Path(checkpoint), [domain, *problems]),
        resume=resume,
        force=force,
        progress=progress,
        on_epoch=report,
    )
    for sentence in shortcomings(trainer, reason):
        logger.warning("%s", sentence)
    return Policy(trainer.best_network(), trainer.result() | {"ended": reason})


def _state(task: GroundTask, state: State | None) -> npt.NDArray[np.int32]:
    if state is None:
        return np.flatnonzero(task.initially_true[: task.num_propositions]).astype(np.int32)
    if isinstance(state, np.ndarray):
        return state
    numbers = {task.atom_name(atom): atom for atom in range(task.num_atoms)}
    unknown = [name for name in state if name not in numbers]
    if unknown:
        raise ConfigError(f"the task has no proposition {unknown[0]!r}")
    true = {numbers[name] for name in state}
    return np.array(sorted(atom for atom in true if atom < task.num_propositions), np.int32)


def _named(policy: TaskPolicy, state: npt.NDArray[np.int32]) -> dict[str, float]:
    """The probability of each action, the likeliest first; of a network, also where it is greedy, its softmax."""
    if isinstance(policy, NetworkPolicy):
        actions, probabilities = policy.probabilities(state)
    else:
        actions, probabilities = policy.distributions([state])[0]
    order = np.argsort(-probabilities, kind="stable")
    return {policy.task.action_name(int(actions[i])): float(probabilities[i]) for i in order}
