"""Training: [toyer2018action, Algorithm 1] until the training problems are mastered.

Each epoch is the paper's ASNet-Train-Epoch, and then judges the greedy policy on the training problems:

     2, 3  for each of T_explore rounds, for each training problem ζ:
     4         s_0, …, s_N ← Run-Pol(s_0(ζ), π^θ), with the sampled policy
     5         M ← M ∪ {s_0, …, s_N}
     6         for j = 0, …, N:
     7, 8          M ← M ∪ Pol-Envelope(s_j, π*), the states of the teacher's policy π* from there
     9     for each of T_train steps:
    10         B ← Sample-Minibatch(M)
    11         update θ by the gradient of the loss of B (equation 1), with Adam

The memory M keeps each state once, with its labels. The best weights are kept.

A deadline ends all of it, wherever it stands. An epoch that has not been finished then does not count. The first epoch
is the exception that it can be: labelling and learning leave each other time, so that there is something to keep.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from asnets.deadline import Deadline
from asnets.errors import ConfigError, LimitError, TrainingError
from asnets.evaluation import simulate, trace
from asnets.evaluation.rollouts import MAX_SEED
from asnets.grounding import GroundTask
from asnets.grounding.fingerprint import fingerprint
from asnets.network import DomainSignature, build_structure
from asnets.network.batch import DisjointUnion
from asnets.network.network import ASNet, one_torch_thread
from asnets.policies.networks import network_policy
from asnets.training.config import Preset
from asnets.training.loss import LOSSES
from asnets.training.memory import Memory
from asnets.training.problems import MORE_TIME, choose_problems
from asnets.training.progress import EpochRecord, Progress, is_as_good, is_better, most_time
from asnets.training.seeds import derived_seed
from asnets.training.teacher import TeacherFactory
from asnets.training.teachers import TEACHERS

logger = logging.getLogger("asnets.training")

_FIRST_EPOCH_SHARE = 0.5
"""In the first epoch, labelling and learning may each take this share of the time left, so that it is finished."""


def train(trainer: Trainer, on_epoch: Callable[[EpochRecord], None] = lambda record: None) -> str:
    """Runs epochs until training is over; returns why it is.

    Raises:
        LimitError: If time runs out before an epoch is finished.
        TrainingError: If training cannot go on.
    """
    while (reason := trainer.why_over()) is None:
        try:
            record = trainer.run_epoch()
        except LimitError:
            return trainer.time_is_up()
        logger.info("%s", record)
        on_epoch(record)
    return reason


class Trainer:
    """Training of one network on some problems of a domain.

    Attributes:
        given: All training problems.
        tasks: Those that are used.
        left_out: Those that are not.
        teacher_values: The teacher's expected cost of each task (under maxprob, penalty times probability of failing).
    """

    def __init__(
        self,
        tasks: Sequence[GroundTask],
        preset: Preset,
        *,
        seed: int = 0,
        threads: int = 1,
        deadline: Deadline | None = None,
        left_out: Mapping[int, str] | None = None,
        teacher: TeacherFactory | None = None,
        show: Callable[[str], None] = lambda doing: None,
    ) -> None:
        """Sets up training; the teacher solves the initial states.

        Args:
            tasks: Training problems, of one domain and with one kind of costs.
            preset: The network and how to train it.
            seed: Of all random choices.
            threads: How many problems to explore at once. Results are the same.
            deadline: When training has to end, with what earlier sessions have used of it; by default the time limit of
                the preset, from now on.
            left_out: Problems that an earlier session left out and why, by position.
            teacher: Makes the teachers; by default, those of the preset (`asnets.training.teachers`).
            show: Is told what is going on.

        Raises:
            ConfigError: If there is no problem to train on, or they are of several domains.
            LimitError: If the deadline passes first.
        """
        self.deadline = Deadline(preset.training.time_limit) if deadline is None else deadline
        if not tasks:
            raise ConfigError("there are no training problems")
        if not 0 <= seed <= MAX_SEED:
            raise ConfigError(f"the seed must be between 0 and 2^64 - 1, not {seed}")
        if threads < 1:
            raise ConfigError(f"the number of threads must be at least 1, not {threads}")
        signature = DomainSignature.of(tasks[0])
        for task in tasks[1:]:
            differences = signature.differences(DomainSignature.of(task))
            pair = f"the problems {tasks[0].problem!r} and {task.problem!r}"
            if differences:
                raise ConfigError(f"{pair} are of different domains: {differences[0]}")
            if task.cost_mode != tasks[0].cost_mode:
                raise ConfigError(f"{pair} have {tasks[0].cost_mode} and {task.cost_mode} costs; they must be the same")
        self.preset = preset
        self.seed = seed
        self.given = tuple(tasks)
        self._threads = threads
        config = preset.training
        make_teacher = teacher or TEACHERS[config.teacher_planner].make
        choice = choose_problems(
            tasks, config, make_teacher, seed=seed, deadline=self.deadline, left_out=left_out, show=show
        )
        self.tasks = [problem.task for problem in choice.used]
        self.teachers = [problem.teacher for problem in choice.used]
        self.teacher_values = [problem.value for problem in choice.used]
        self.left_out = choice.left_out
        self._problem_seconds = choice.seconds
        show("setting up the network")
        self.network = ASNet(signature, preset.network, seed=seed, deadline=self.deadline)
        structures = []
        for task in self.tasks:
            self.deadline.check(f"the network of {task.problem} was set up")
            structures.append(build_structure(task, preset.network.pooling))
        self.memory = Memory(self.tasks, DisjointUnion(structures), preset.network.features, config)
        self._explorers = [network_policy(self.network, task, sampled=True) for task in self.tasks]
        self._judged = [network_policy(self.network, task) for task in self.tasks]
        self.best_weights = self._copied_weights()
        self.progress = Progress()
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=config.learning_rate)
        self.sampling = np.random.Generator(np.random.Philox(derived_seed(seed, 1)))
        self.dropout = torch.Generator().manual_seed(derived_seed(seed, 2) >> 1)

    @cached_property
    def fingerprints(self) -> tuple[str | None, ...]:
        """Of all given problems; None for those that are left out."""
        left_out = {problem.position for problem in self.left_out}
        return tuple(None if i in left_out else fingerprint(task) for i, task in enumerate(self.given))

    def run_epoch(self) -> EpochRecord:
        """One epoch: Algorithm 1, and the judgement.

        Raises:
            LimitError: If the deadline passes before it is finished. The epoch does not count: the records and the best
                weights are those before it, but nothing else is, so that no other epoch can follow.
            TrainingError: If the loss or the weights are no longer numbers.
        """
        seconds: dict[str, float] = {}
        self._explore(seconds)
        with one_torch_thread():
            loss = self._learn(seconds)
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
            elapsed=self.deadline.elapsed,
            best=False,
        )
        best = self.progress.best
        improved = best is None or is_better(record, best)
        if best is None or improved or (is_as_good(record, best) and record.loss <= best.loss):
            record = replace(record, best=True)
            self.best_weights = self._copied_weights()
        history.append(record)
        self.progress.idle_epochs = 0 if improved else self.progress.idle_epochs + 1
        return record

    def _explore(self, seconds: dict[str, float]) -> None:
        """Algorithm 1, lines 2 to 8; the training problems may be explored at the same time."""
        config = self.preset.training
        rounds = -(-config.explore_rounds // len(self.tasks))
        first = len(self.progress.history) * rounds
        is_first = not self.progress.history
        share = self._share()

        def explore(problem: int) -> tuple[float, float]:
            begin = time.perf_counter()
            own = share.part(min(1.0, self._threads / (len(self.tasks) - problem))) if is_first else share
            policy = self._explorers[problem]
            policy.set_weights(self.network)
            seed = derived_seed(self.seed, 4, problem)
            trajectories = []
            for number in range(rounds):  # Line 4: Run-Pol.
                if own.has_passed():
                    break
                run = trace(policy, episode=first + number, max_steps=config.max_steps, seed=seed, deadline=own)
                trajectories.append(run.states)
            explored = time.perf_counter()
            for states in trajectories:  # Lines 5 to 8: M ← M ∪ {s_0, …, s_N} ∪ Pol-Envelope(s_j, π*).
                self.memory.problems[problem].add(self.teachers[problem].label(states, own))
            return explored - begin, time.perf_counter() - explored

        if self._threads == 1:
            times = [explore(problem) for problem in range(len(self.tasks))]
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                try:
                    times = list(pool.map(explore, range(len(self.tasks))))
                except KeyboardInterrupt:
                    self.deadline.cancel()  # Threads do not see signals.
                    pool.shutdown(cancel_futures=True)
                    raise
        for task, (explored, labelled) in zip(self.tasks, times, strict=True):
            self._problem_seconds[task.problem] += explored + labelled
        seconds["explore"] = sum(explored for explored, _ in times)
        seconds["teacher"] = sum(labelled for _, labelled in times)
        self.deadline.check("the policy explored")

    def _learn(self, seconds: dict[str, float]) -> float:
        """Algorithm 1, lines 9 to 11; returns the mean loss of a state."""
        config = self.preset.training
        begin = time.perf_counter()
        share = self._share()
        loss_terms = LOSSES[config.loss].terms
        total, steps = 0.0, 0
        for _ in range(config.learn_steps if len(self.memory) else 0):
            batch, labels = self.memory.sample(config.batch_size, self.sampling)  # Line 10: Sample-Minibatch.
            depth = self._training_depth()
            loss = loss_terms(self.network.log_probabilities(batch, self.dropout, depth), labels).sum()
            objective = loss if config.reduction == "sum" else loss / config.batch_size
            if config.l2 > 0:
                objective = objective + config.l2 * squared_norm(self.network.parameters())
            self.optimiser.zero_grad()
            objective.backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()  # Line 11: update θ.
            total += loss.item() / config.batch_size
            if not math.isfinite(total):
                raise self._diverged("loss is no longer a number")
            steps += 1
            if share.has_passed():
                break
        seconds["learn"] = time.perf_counter() - begin
        self.deadline.check("the network learnt")
        if not all(bool(weight.isfinite().all()) for weight in self.network.parameters()):
            raise self._diverged("weights are no longer numbers")
        return total / max(1, steps)

    def _training_depth(self) -> int | None:
        """The depth of a minibatch, drawn anew for each; None for networks that have one depth."""
        config = self.preset.network
        return int(self.sampling.integers(config.layers, config.train_depth + 1)) if config.recurrent else None

    def _judge(self, seconds: dict[str, float]) -> tuple[tuple[int, ...], float | None]:
        """Runs the greedy policy; returns how often each goal was reached, and the mean cost over the teacher's."""
        config = self.preset.training
        begin = time.perf_counter()
        goals, costs = [], []
        for problem, (task, policy, value) in enumerate(
            zip(self.tasks, self._judged, self.teacher_values, strict=True)
        ):
            doing = f"the policy was judged on {task.problem}"
            self.deadline.check(doing)
            policy.set_weights(self.network)
            result = simulate(
                policy,
                episodes=config.judge_runs,
                max_steps=config.max_steps,
                seed=derived_seed(self.seed, 5, problem),
                threads=self._threads,
                deadline=self.deadline,
            )
            if result.count("stopped"):
                raise LimitError(f"the time limit was reached while {doing}")
            goals.append(result.count("goal"))
            if result.mean_cost is not None:
                # A probability of failing is nothing to compare costs with.
                costs.append(result.mean_cost / (value if value > 0 and config.objective != "maxprob" else 1.0))
        seconds["judge"] = time.perf_counter() - begin
        return tuple(goals), sum(costs) / len(costs) if costs else None

    def why_over(self) -> str | None:
        """Why training is over; None if it is not.

        Raises:
            LimitError: If the deadline has passed before an epoch was finished.
        """
        reason = self.progress.why_over(self.preset.training)
        return self.time_is_up() if reason is None and self.deadline.has_passed() else reason

    def time_is_up(self) -> str:
        """Why training is over once the deadline has passed.

        Raises:
            LimitError: If no epoch has been finished, with what the time went to.
        """
        if not self.progress.history:
            raise LimitError(
                f"the time limit of {self.deadline.seconds:g} s was reached before the first epoch was finished, so "
                f"that there is no model. Most of the time went to {most_time(self._problem_seconds)}. {MORE_TIME}"
            )
        return self.deadline.words

    def best_network(self) -> ASNet:
        """The network with the best weights so far."""
        network = ASNet(self.network.signature, self.network.config)
        network.set_weights(self.best_weights)
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
            "left_out": [asdict(problem) for problem in self.left_out],
            "epochs": len(self.progress.history),
            "seconds": self.progress.elapsed,
            "loss_floor": self.memory.loss_floor(),
            "best": None if best is None else best.to_dict(),
        }

    def _share(self) -> Deadline:
        """How long a part of an epoch may take: in the first one, not so long that it is not finished."""
        return self.deadline if self.progress.history else self.deadline.part(_FIRST_EPOCH_SHARE)

    def _diverged(self, what: str) -> TrainingError:
        return TrainingError(
            f"the {what} in epoch {len(self.progress.history) + 1}; "
            "a smaller learning rate (--learning-rate) or ℓ2 coefficient (--l2) may help"
        )

    def _copied_weights(self) -> dict[str, Tensor]:
        return {name: weight.detach().clone() for name, weight in self.network.weights().items()}


def squared_norm(weights: Iterable[Tensor]) -> Tensor:
    """The sum of the squares of all weights."""
    return torch.stack([weight.square().sum() for weight in weights]).sum()
