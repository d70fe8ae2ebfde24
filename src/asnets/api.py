"""Policies from Python: train or load one, ask it, run it, judge it; `help(asnets)` shows how."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError
from asnets.evaluation.evaluate import Evaluation, evaluate
from asnets.evaluation.runs import Run, named_probabilities, run
from asnets.extras import require_torch
from asnets.grounding import GroundTask
from asnets.grounding.costs import COST_MODES
from asnets.grounding.task import StateLike
from asnets.loading import LoadedTask, load_stages
from asnets.models import find_model
from asnets.network.config import NetworkConfig
from asnets.network.model_file import Model, check_fits, load_model, model_bytes, read_model, save_model
from asnets.network.signature import DomainSignature
from asnets.network.weights import Network, Weights, num_parameters
from asnets.notebook import NotebookView
from asnets.planning import ActionFeatures
from asnets.policies.guarded import DEFAULT_SHIELD_EXPANSIONS, guarded
from asnets.policies.networks import NetworkPolicy, network_policy
from asnets.policies.online_search import OnlineSearch
from asnets.ppddl import log_warning
from asnets.training.config import named_preset
from asnets.training.history import History, read_history
from asnets.training.progress import EpochRecord
from asnets.training.showing import training_display
from asnets.training.start import StartModel
from asnets.words import one_line

if TYPE_CHECKING:
    from asnets.network.network import ASNet
    from asnets.verification.result import Verification

logger = logging.getLogger("asnets")
_MAX_DOMAINS = 3


class Policy(NotebookView):
    """A trained policy of a domain.

    Attributes:
        training: How it was trained, as in the model file.
        history: What each epoch of its training came to. Of a policy from a file, that of MODEL.jsonl,
            which training writes beside it; else empty.

    Example:
        >>> policy = asnets.Policy.load("triangle-tireworld")  # A model of the package, or a file.
        >>> task = asnets.generate("triangle-tireworld", 2)
        >>> for action, probability in policy.probabilities(task).items():
        ...     print(action, round(probability, 3))
        (move-car l-1-1 l-2-1) 1.0
        (move-car l-1-1 l-1-2) 0.0
        >>> policy.evaluate(task, runs=30).goals
        30
        >>> policy.run(task, seed=1).record.ending
        'goal'
    """

    def __init__(self, network: Network, training: dict[str, Any], history: History | None = None) -> None:
        self._network = network
        self.training = training
        self.history = History() if history is None else history
        self._has_warned = False

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Reads a model file; where there is none of that name, the model of that name that the package ships."""
        found = find_model(path)
        policy = cls._of(load_model(found))
        policy.history = read_history(found.with_name(found.name + ".jsonl"), policy.training)
        return policy

    def save(self, path: str | Path) -> None:
        """Writes a model file."""
        save_model(Path(path), self._network, self.training)

    @classmethod
    def from_bytes(cls, data: bytes) -> Policy:
        """Reads the contents of a model file."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise ConfigError(f"expected the bytes of a model file, not {type(data).__name__}")
        return cls._of(read_model(bytes(data)))

    def to_bytes(self) -> bytes:
        """The contents of a model file."""
        return model_bytes(self._network, self.training)

    @classmethod
    def _of(cls, model: Model) -> Policy:
        return cls(model.weights, dict(model.training))

    @property
    def network(self) -> ASNet:
        """The network in torch. A change of its weights is one of the policy.

        Raises:
            MissingPackageError: If torch is not installed.
        """
        require_torch("a network as a module of torch")
        from asnets.network.network import ASNet

        if not isinstance(self._network, ASNet):
            self._network = ASNet.of(self._network)
        return self._network

    @property
    def signature(self) -> DomainSignature:
        """What the network knows of its domain: schemas, predicates and how they are related."""
        return self._network.signature

    @property
    def config(self) -> NetworkConfig:
        """The shape of the network."""
        return self._network.config

    def at_depth(self, depth: int | str) -> Policy:
        """The same policy with another depth of its recurrent network: a number of layers, or "auto".

        Raises:
            ConfigError: If the network is not recurrent, or cannot have that depth.
        """
        if not self.config.recurrent:
            raise ConfigError(f"the network is not recurrent: its depth is {self.config.layers}, as it was trained")
        weights = Weights(self.signature, replace(self.config, depth=depth), self._network.arrays())
        return Policy(weights, self.training, self.history)

    @property
    def costs(self) -> str:
        """The costs that it was trained with, "unit" or "metric": those to load a task with."""
        return self._known_costs() or "unit"

    def probabilities(self, task: GroundTask, state: StateLike | None = None) -> dict[str, float]:
        """The probability of each applicable action in a state, the initial one by default; the likeliest first."""
        return named_probabilities(self.of(task), task.propositions_of(state))

    def logits(self, task: GroundTask, state: StateLike | None = None) -> dict[str, float]:
        """The outputs of the network, before the softmax, for all actions, applicable or not."""
        logits = self.of(task).logits(task.propositions_of(state))
        return {task.action_name(action): float(logit) for action, logit in enumerate(logits)}

    def features(self, task: GroundTask, state: StateLike | None = None) -> dict[str, tuple[float, ...]]:
        """The action features that the network reads, for each action; empty tuples if it reads none."""
        check_fits(self.signature, task)
        names = self.config.features
        if not names:
            return {task.action_name(action): () for action in range(task.num_actions)}
        rows = ActionFeatures(task, names).of(task.propositions_of(state))
        return {task.action_name(action): tuple(map(float, row)) for action, row in enumerate(rows)}

    def run(
        self,
        task: GroundTask,
        *,
        seed: int = 0,
        episode: int = 0,
        max_steps: int = 300,
        sampled: bool = False,
        on_loop: str | None = None,
        shield: bool = False,
        shield_expansions: int = DEFAULT_SHIELD_EXPANSIONS,
        search: OnlineSearch | None = None,
        detect_dead_ends: bool = True,
        deadline: Deadline = NO_DEADLINE,
    ) -> Run:
        """One run of the policy: of those that `evaluate` makes with the same seed, the one of this number.

        For a way out of loops, a shield and a search, see `asnets.GuardedPolicy`; by default, loops are left ("next")
        by policies in the compiled core.
        """
        policy = self.of(task, sampled=sampled)
        return run(
            guarded(policy, on_loop=on_loop, shield=shield, shield_expansions=shield_expansions, search=search),
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
        on_loop: str | None = None,
        shield: bool = False,
        shield_expansions: int = DEFAULT_SHIELD_EXPANSIONS,
        search: OnlineSearch | None = None,
        detect_dead_ends: bool = True,
        progress: bool | Callable[[int], None] = False,
    ) -> Evaluation:
        """Many runs of the policy, greedy or sampled; see `asnets.evaluation.evaluate.evaluate`.

        For a way out of loops, a shield and a search, see `asnets.GuardedPolicy`; by default, loops are left ("next")
        by policies in the compiled core.
        """
        policy = self.of(task, sampled=sampled)
        return evaluate(
            guarded(policy, on_loop=on_loop, shield=shield, shield_expansions=shield_expansions, search=search),
            runs=runs,
            max_steps=max_steps,
            seed=seed,
            time_limit=time_limit,
            memory_limit=memory_limit,
            threads=threads,
            detect_dead_ends=detect_dead_ends,
            progress=progress,
        )

    def verify(
        self,
        task: GroundTask,
        *,
        sampled: bool = False,
        shield: bool = False,
        shield_expansions: int = DEFAULT_SHIELD_EXPANSIONS,
        **options: Any,
    ) -> Verification:
        """What the policy guarantees, greedy or sampled, also with a shield; see `asnets.verify` for the options."""
        from asnets.verification.verify import verify

        policy = self.of(task, sampled=sampled)
        return verify(guarded(policy, on_loop="none", shield=shield, shield_expansions=shield_expansions), **options)

    def __repr__(self) -> str:
        signature, config = self.signature, self.config
        domains = sorted({name for name in self._of_problems("domain") if isinstance(name, str)})
        of = f" of {one_line(' of '.join(domains[:_MAX_DOMAINS]))}" if domains else ""
        more = f" and {len(domains) - _MAX_DOMAINS:,} more" if len(domains) > _MAX_DOMAINS else ""
        return (
            f"<Policy{of}{more}: {len(signature.schemas)} schemas, {len(signature.predicates)} predicates, "
            f"{config.layers_in_words} of hidden size {config.hidden}, "
            f"{num_parameters(signature, config):,} parameters>"
        )

    def of(self, task: GroundTask, *, sampled: bool = False) -> NetworkPolicy:
        """What it does in a task: greedy, or drawing actions by their probabilities.

        Raises:
            ConfigError: If the task is of another domain; the message names what differs.
        """
        self._check_costs(task)
        return network_policy(self._network, task, sampled=sampled)

    def _check_costs(self, task: GroundTask) -> None:
        """Says once where costs are others than in training: they are counted, and the landmarks depend on them."""
        known = self._known_costs()
        if known not in (None, task.cost_mode) and not self._has_warned:
            self._has_warned = True
            logger.warning("the policy was trained with %s costs; this is a task with %s costs", known, task.cost_mode)

    def _known_costs(self) -> str | None:
        modes = self._of_problems("costs")
        return next((mode for mode in COST_MODES if mode in modes), None)

    def _of_problems(self, key: str) -> list[Any]:
        """What is remembered of the training problems, which a file may give in any shape."""
        problems = self.training.get("problems")
        return [each.get(key) for each in problems if isinstance(each, dict)] if isinstance(problems, list) else []


def train(
    domain: str | Path | None,
    problems: Sequence[str | Path | GroundTask],
    *,
    preset: str = "default",
    seed: int = 0,
    threads: int = 1,
    costs: str | None = None,
    lenient: bool = False,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    force: bool = False,
    validate: Sequence[str | Path | GroundTask] = (),
    validate_from: str | Path | None = None,
    then: str | Path | None = None,
    start: str | Path | Policy | None = None,
    deadline: Deadline | None = None,
    progress: bool | Callable[[str], None] = False,
    on_epoch: Callable[[EpochRecord], None] = lambda record: None,
    **options: Any,
) -> Policy:
    """Trains a policy on some problems of a domain.

    Args:
        domain: The domain file; None where all problems are tasks, or files that hold their domain.
        problems: The training problems, small ones that the teacher can solve: files, or tasks.
        preset: "default" or "paper".
        seed: Of all random choices.
        threads: How many problems to explore at once. Results are the same.
        costs: "unit" or "metric", which files are read with: "unit" if left out. Tasks have theirs already.
        lenient: As for `load`.
        checkpoint: MODEL.checkpoint, to be written after each epoch; with it come MODEL.jsonl and, in the end, MODEL,
            as the command `asnets train -o MODEL` writes them.
        resume: Whether to go on from the checkpoint, to the same result as if training had not stopped.
        force: Whether to begin anew in place of a checkpoint and a model that are there.
        validate: Larger problems, files or tasks, which nothing is learnt from: the weights are kept that do best on
            them, and training ends and begins again (restarts=…) by them. validate_share=… takes some of the problems.
        validate_from: Where larger ones come from whenever all are solved: a family of `FAMILIES`, or a folder of
            problem files.
        then: Likewise larger training problems, once the others are solved or nothing gets better.
        start: A trained policy, or its file, to go on from: with its weights, in a network of its shape. They are the
            first that are judged. loss="policy-gradient" goes on without a teacher.
        deadline: When training has to end, beside its time limit.
        progress: True for a line on a terminal or a bar in a notebook; or what is called with what is going on, in
            words, and with a line for each epoch.
        on_epoch: Called with the record of each epoch.
        **options: Other values for options of `NetworkConfig` and `TrainingConfig`, such as time_limit=60.

    Raises:
        ConfigError: If an option is unknown or cannot be used.
        FileError: If a file cannot be read or written.
        LimitError: If the time limit, which holds for all of it, is reached before an epoch is finished.
        TrainingError: If the loss is no longer a number.
        MissingPackageError: If torch is not installed.

    Example:
        >>> small = [asnets.generate("triangle-tireworld", size) for size in (1, 2)]
        >>> policy = asnets.train(None, small, seed=0, max_epochs=1, learn_steps=100)
        >>> policy.evaluate(asnets.generate("triangle-tireworld", 4), runs=30).runs
        30
    """
    require_torch("training")
    from asnets.training.advice import shortcomings
    from asnets.training.session import Larger, SessionFiles, run_training
    from asnets.training.supply import open_supply

    if deadline is not None and not isinstance(deadline, Deadline):
        raise ConfigError(f"deadline must be a Deadline, such as asnets.Deadline(60), not {deadline!r}")
    if isinstance(problems, str | Path):
        raise ConfigError(f"problems must be a list of files, not {str(problems)!r}; for one problem, a list of one")
    if isinstance(validate, str | Path):
        raise ConfigError(f"validate must be a list of files, not {str(validate)!r}; for one problem, a list of one")
    if (resume or force) and checkpoint is None:
        raise ConfigError("resume and force need a checkpoint")
    if resume and force:
        raise ConfigError("give either resume or force")
    file = find_model(start) if start is not None and not isinstance(start, Policy) else None
    model = _start_model(start, file)
    chosen = named_preset(preset).changed(**options) if model is None else model.preset(named_preset(preset), options)
    limit = chosen.training.time_limit
    own = Deadline(limit) if deadline is None else Deadline(min(limit, deadline.limit or limit), within=deadline)
    once = cache(log_warning)  # The domain is read once for each problem.

    def read(problem: str | Path | GroundTask, deadline: Deadline) -> LoadedTask | GroundTask:
        if isinstance(problem, GroundTask):
            if costs not in (None, problem.cost_mode):
                have = f"the task {problem.problem} has {problem.cost_mode} costs, not {costs}"
                raise ConfigError(f"{have}: load it with costs={costs!r}")
            return problem
        of_all, one = (problem, None) if domain is None else (domain, problem)
        return load_stages(of_all, one, costs=costs or "unit", lenient=lenient, on_warning=once, deadline=deadline)

    def ground(problem: str, deadline: Deadline) -> GroundTask:
        loaded = read(problem, deadline)
        return loaded.task if isinstance(loaded, LoadedTask) else loaded

    larger = Larger(
        lambda place, like, seed: open_supply(place, like, domain=domain, read=ground, seed=seed, lenient=lenient),
        validate,
        validate_from,
        then,
    )
    inputs = [*(given for given in (domain, file, *problems) if isinstance(given, str | Path)), *larger.files]

    with training_display(progress, chosen.training) as display:

        def report(record: EpochRecord) -> None:
            display.on_epoch(record)
            on_epoch(record)

        trainer, reason = run_training(
            problems,
            read,
            chosen,
            seed=seed,
            threads=threads,
            deadline=own,
            files=None if checkpoint is None else SessionFiles.of_checkpoint(Path(checkpoint), inputs),
            resume=resume,
            force=force,
            larger=larger,
            start=model,
            progress=display.progress,
            on_epoch=report,
        )
    for sentence in shortcomings(trainer, reason):
        logger.warning("%s", sentence)
    return Policy(trainer.best_network(), trainer.result() | {"ended": reason}, History(trainer.progress.history))


def _start_model(start: str | Path | Policy | None, file: Path | None) -> StartModel | None:
    """What a training goes on from: a policy, or a model file."""
    if isinstance(start, Policy):
        weights = {name: array.copy() for name, array in start._network.arrays().items()}
        return StartModel(repr(start), Weights(start.signature, start.config, weights))
    return None if file is None else StartModel(str(start), load_model(file).weights)
