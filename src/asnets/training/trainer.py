"""Training: [toyer2018action, Algorithm 1] until the training problems are mastered.

Each epoch explores with the sampled policy, asks the teacher about the states met and those of its own policy from
there, remembers what is new, takes steps of Adam on minibatches of the memory, and judges the greedy policy on the
training problems. The best weights are kept.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from torch import Tensor

from asnets.errors import ConfigError, TrainingError
from asnets.evaluation import simulate, trace
from asnets.evaluation.rollouts import MAX_SEED
from asnets.grounding import GroundTask
from asnets.network import DomainSignature, build_structure
from asnets.network.batch import DisjointUnion
from asnets.network.native_policy import NetworkPolicy
from asnets.network.network import ASNet
from asnets.training.config import Preset
from asnets.training.loss import cross_entropy, squared_norm
from asnets.training.memory import Memory
from asnets.training.teacher import Lesson, Teacher

SAME_COST = 0.01
"""Mean costs that differ by less than this share count as equal: they come from few runs."""


@dataclass(frozen=True)
class EpochRecord:
    """What an epoch came to.

    Attributes:
        goals: For each training problem, how many runs of the greedy policy reached the goal.
        cost: Mean over the training problems of the cost of runs that reached the goal, over the teacher's value.
        loss: Mean over the epoch's minibatches, for each state, without the term of the weights.
        memory: Labelled states so far.
        skipped: States so far about which the teacher took too long.
        seconds: Of this epoch, by what they went to.
        elapsed: Since training began, all sessions together.
        best: Whether the weights are the best so far.
    """

    epoch: int
    goals: tuple[int, ...]
    runs: int
    cost: float | None
    loss: float
    memory: int
    skipped: int
    seconds: dict[str, float]
    elapsed: float
    best: bool

    @property
    def coverage(self) -> float:
        return sum(self.goals) / (self.runs * len(self.goals))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Progress:
    """Where training stands; all of it goes into checkpoints."""

    history: list[EpochRecord] = field(default_factory=list)
    idle_epochs: int = 0

    @property
    def solved_epochs(self) -> int:
        """How many epochs in a row, up to now, have solved all training problems."""
        return sum(1 for _ in takewhile(lambda record: record.coverage == 1, reversed(self.history)))

    @property
    def best(self) -> EpochRecord | None:
        return next((record for record in reversed(self.history) if record.best), None)

    @property
    def elapsed(self) -> float:
        return self.history[-1].elapsed if self.history else 0.0


@dataclass(frozen=True)
class LeftOut:
    """A training problem that is not used, and why."""

    problem: str
    reason: str


class Trainer:
    """Training of one network on some problems of a domain.

    Attributes:
        tasks: The training problems that are used.
        left_out: Those that are not.
        teacher_values: The teacher's expected cost of each task.
    """

    def __init__(self, tasks: Sequence[GroundTask], preset: Preset, *, seed: int = 0, threads: int = 1) -> None:
        """Sets up training; the teacher solves the initial states.

        Args:
            tasks: Training problems, of one domain.
            preset: The network and how to train it.
            seed: Of all random choices.
            threads: How many problems to explore at once. Results are the same.

        Raises:
            ConfigError: If there is no problem to train on, or they are of several domains.
        """
        begin = time.perf_counter()
        if not tasks:
            raise ConfigError("there are no training problems")
        if not 0 <= seed <= MAX_SEED:
            raise ConfigError(f"the seed must be between 0 and 2^64 - 1, not {seed}")
        if threads < 1:
            raise ConfigError(f"the number of threads must be at least 1, not {threads}")
        signature = DomainSignature.of(tasks[0])
        for task in tasks[1:]:
            differences = signature.differences(DomainSignature.of(task))
            if differences:
                raise ConfigError(
                    f"the problems {tasks[0].problem!r} and {task.problem!r} are of different domains: {differences[0]}"
                )
        self.preset = preset
        self.seed = seed
        self._threads = threads
        self.tasks: list[GroundTask] = []
        self.left_out: list[LeftOut] = []
        self.teacher_values: list[float] = []
        self.teachers: list[Teacher] = []
        self._choose_tasks(tasks)
        self.network = ASNet(signature, preset.network, seed=seed)
        union = DisjointUnion([build_structure(task, preset.network.pooling) for task in self.tasks])
        self.memory = Memory(self.tasks, union, preset.network.features)
        self._explorers = [NetworkPolicy(self.network, task, sampled=True) for task in self.tasks]
        self._judged = [NetworkPolicy(self.network, task) for task in self.tasks]
        self.best_weights = self._copied_weights()
        self.progress = Progress()
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=preset.training.learning_rate)
        self.sampling = np.random.Generator(np.random.Philox(_derived_seed(seed, 1)))
        self.dropout = torch.Generator().manual_seed(_derived_seed(seed, 2) >> 1)
        self._set_up_seconds = time.perf_counter() - begin

    def run_epoch(self) -> EpochRecord:
        """One epoch of Algorithm 1, and the judgement."""
        before = self.progress.elapsed if self.progress.history else self._set_up_seconds
        begin = time.perf_counter() - before
        seconds: dict[str, float] = {}

        def is_late() -> bool:
            return time.perf_counter() - begin >= self.preset.training.time_limit

        self._explore(seconds, is_late)
        with _one_torch_thread():
            loss = self._learn(seconds, is_late)
        goals, cost = self._judge(seconds)
        history = self.progress.history
        record = EpochRecord(
            epoch=len(history) + 1,
            goals=goals,
            runs=self.preset.training.judge_runs,
            cost=cost,
            loss=loss,
            memory=len(self.memory),
            skipped=sum(teacher.skipped for teacher in self.teachers),
            seconds=seconds,
            elapsed=time.perf_counter() - begin,
            best=False,
        )
        best = self.progress.best
        improved = best is None or _is_better(record, best)
        if best is None or improved or (_is_as_good(record, best) and record.loss <= best.loss):
            record = replace(record, best=True)
            self.best_weights = self._copied_weights()
        history.append(record)
        self.progress.idle_epochs = 0 if improved else self.progress.idle_epochs + 1
        return record

    def why_stop(self) -> str | None:
        """Why training is over; None if it is not."""
        config = self.preset.training
        if self.progress.solved_epochs >= config.solved_epochs:
            return f"all training problems solved for {config.solved_epochs} epochs"
        if self.progress.idle_epochs >= config.patience:
            return f"nothing better for {config.patience} epochs"
        if len(self.progress.history) >= config.max_epochs:
            return f"the limit of {config.max_epochs} epochs"
        if self.progress.elapsed >= config.time_limit:
            return f"the time limit of {config.time_limit:g} s"
        return None

    def best_network(self) -> ASNet:
        """The network with the best weights so far."""
        network = ASNet(self.network.signature, self.network.config)
        with torch.no_grad():
            for name, weight in network.weights().items():
                weight.copy_(self.best_weights[name])
        return network

    def result(self) -> dict[str, Any]:
        """What goes into the model file about training."""
        best = self.progress.best
        return {
            "config": self.preset.training.to_dict(),
            "seed": self.seed,
            "problems": [
                {"domain": task.domain, "problem": task.problem, "teacher_value": value, "costs": task.cost_mode}
                for task, value in zip(self.tasks, self.teacher_values, strict=True)
            ],
            "left_out": [asdict(each) for each in self.left_out],
            "epochs": len(self.progress.history),
            "seconds": self.progress.elapsed,
            "best": None if best is None else best.to_dict(),
        }

    def _choose_tasks(self, tasks: Sequence[GroundTask]) -> None:
        config = self.preset.training
        for position, task in enumerate(tasks):
            seed = _derived_seed(self.seed, 3, position)
            teacher = Teacher(task, config, features=self.preset.network.features, seed=seed)
            value = teacher.solve_initial()
            if value is None:
                reason = f"the teacher did not solve it within {config.query_limit:,} expanded states"
            elif value == 0:
                reason = "its goal holds at once"
            elif value >= config.penalty:
                reason = "its goal cannot be reached for less than the dead-end penalty"
            else:
                self.tasks.append(task)
                self.teachers.append(teacher)
                self.teacher_values.append(value)
                continue
            self.left_out.append(LeftOut(task.problem, reason))
        if not self.tasks:
            raise ConfigError(
                "there is no problem to train on: "
                + "; ".join(f"{each.problem} is left out because {each.reason}" for each in self.left_out)
            )

    def _explore(self, seconds: dict[str, float], is_late: Callable[[], bool]) -> None:
        config = self.preset.training
        rounds = -(-config.explore_rounds // len(self.tasks))
        first = len(self.progress.history) * rounds
        interrupted = threading.Event()

        def should_stop() -> bool:
            return interrupted.is_set() or is_late()

        def explore(problem: int) -> tuple[list[Lesson], float, float]:
            begin = time.perf_counter()
            policy = self._explorers[problem]
            policy.set_weights(self.network)
            seed = _derived_seed(self.seed, 4, problem)
            trajectories = [
                trace(policy, episode=first + number, max_steps=config.max_steps, seed=seed).states
                for number in range(rounds)
            ]
            explored = time.perf_counter()
            teacher = self.teachers[problem]
            lessons = [lesson for states in trajectories for lesson in teacher.teach(states, should_stop)]
            return lessons, explored - begin, time.perf_counter() - explored

        if self._threads == 1:
            results = [explore(problem) for problem in range(len(self.tasks))]
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                try:
                    results = list(pool.map(explore, range(len(self.tasks))))
                except KeyboardInterrupt:
                    interrupted.set()  # Threads do not see signals.
                    pool.shutdown(cancel_futures=True)
                    raise
        for problem, (lessons, _, _) in enumerate(results):
            self.memory.problems[problem].add(lessons)
        seconds["explore"] = sum(explored for _, explored, _ in results)
        seconds["teacher"] = sum(taught for _, _, taught in results)

    def _learn(self, seconds: dict[str, float], is_late: Callable[[], bool]) -> float:
        """Takes the steps of an epoch; returns the mean loss of a state.

        Raises:
            TrainingError: If the loss is no longer a number.
        """
        config = self.preset.training
        begin = time.perf_counter()
        total, steps = 0.0, 0
        for _ in range(config.learn_steps if len(self.memory) else 0):
            batch, best = self.memory.sample(config.batch_size, self.sampling)
            loss = cross_entropy(self.network.log_probabilities(batch, self.dropout), best).sum()
            objective = loss if config.reduction == "sum" else loss / config.batch_size
            if config.l2 > 0:
                objective = objective + config.l2 * squared_norm(self.network.parameters())
            self.optimiser.zero_grad()
            objective.backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()
            total += loss.item() / config.batch_size
            if not math.isfinite(total):
                raise TrainingError(
                    f"the loss is no longer a number in epoch {len(self.progress.history) + 1}; "
                    "a smaller learning rate or ℓ2 coefficient may help"
                )
            steps += 1
            if is_late():
                break
        seconds["learn"] = time.perf_counter() - begin
        return total / max(1, steps)

    def _judge(self, seconds: dict[str, float]) -> tuple[tuple[int, ...], float | None]:
        config = self.preset.training
        begin = time.perf_counter()
        goals, costs = [], []
        for problem, (policy, value) in enumerate(zip(self._judged, self.teacher_values, strict=True)):
            policy.set_weights(self.network)
            result = simulate(
                policy,
                episodes=config.judge_runs,
                max_steps=config.max_steps,
                seed=_derived_seed(self.seed, 5, problem),
                threads=self._threads,
            )
            goals.append(result.count("goal"))
            if result.mean_cost is not None:
                costs.append(result.mean_cost / value)
        seconds["judge"] = time.perf_counter() - begin
        return tuple(goals), sum(costs) / len(costs) if costs else None

    def _copied_weights(self) -> dict[str, Tensor]:
        return {name: weight.detach().clone() for name, weight in self.network.weights().items()}


def train(trainer: Trainer, on_epoch: Callable[[EpochRecord], None] = lambda record: None) -> str:
    """Runs epochs until training is over; returns why it is."""
    while (reason := trainer.why_stop()) is None:
        on_epoch(trainer.run_epoch())
    return reason


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    """So that results do not depend on how torch splits its work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _is_better(record: EpochRecord, best: EpochRecord) -> bool:
    """By coverage, then by cost."""
    if record.coverage != best.coverage:
        return record.coverage > best.coverage
    return record.cost is not None and (best.cost is None or record.cost < best.cost * (1 - SAME_COST))


def _is_as_good(record: EpochRecord, best: EpochRecord) -> bool:
    if record.coverage != best.coverage:
        return False
    return best.cost is None or (record.cost is not None and record.cost <= best.cost * (1 + SAME_COST))


def _derived_seed(*path: int) -> int:
    """A seed of its own for each purpose: the first number is the user's, the others name the purpose."""
    return int(np.random.SeedSequence(path).generate_state(1, np.uint64)[0])
