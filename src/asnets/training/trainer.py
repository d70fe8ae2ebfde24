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

The memory M keeps each state once, with its labels. The best weights are kept; where there are validation problems,
those that are best there (`asnets.training.selection`). A training can begin again with other weights, and go on with
larger problems (`asnets.training.phases`). One that goes on from a model judges its weights in the first epoch, in
which no step is taken, so that what is kept is never worse on what it is judged by. Where the loss is of runs, lines 5
to 8 make labels of what the runs of this epoch came to (`asnets.training.policy_gradient`): no teacher is asked.

A deadline ends all of it, wherever it stands. An epoch that has not been finished then does not count. The first epoch
is the exception that it can be: labelling and learning leave each other time, so that there is something to keep.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
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
from asnets.network import build_structure
from asnets.network.batch import DisjointUnion
from asnets.network.network import ASNet, one_torch_thread
from asnets.network.structure import Structure
from asnets.policies.networks import NetworkPolicy, network_policy
from asnets.training.config import Preset
from asnets.training.curriculum import Curriculum
from asnets.training.labelling import Labelling, RunLabelling, TeacherLabelling
from asnets.training.loss import LOSSES
from asnets.training.memory import Memory
from asnets.training.more_problems import MoreProblem
from asnets.training.phases import begin_phase
from asnets.training.problems import (
    MORE_TIME,
    Choice,
    check_apart,
    check_same_domain,
    choose_problems,
    held_out,
    joined_signature,
    mean_size,
)
from asnets.training.progress import EpochRecord, Progress, ValidationRecord, most_time
from asnets.training.seeds import derived_seed
from asnets.training.selection import Validation
from asnets.training.start import StartModel
from asnets.training.supply import Supply
from asnets.training.teacher import TeacherFactory
from asnets.training.teachers import teacher_factory
from asnets.words import count

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
            if begin_phase(trainer):
                continue
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
        more_problems: Which of the given ones were made of others, and how; for files.
        validation: What selects the weights beside the training problems, if anything does.
        curriculum: What the training goes on with, if anything.
        start: The model that it goes on from, if any.
        show: Is told what is going on.
        teacher_values: The teacher's expected cost of each task (under maxprob, penalty times probability of failing);
            None where it is not known.
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
        made: Sequence[GroundTask] = (),
        validate: Sequence[GroundTask] = (),
        validate_from: Supply | None = None,
        then: Supply | None = None,
        start: StartModel | None = None,
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
            made: More training problems, which were made of others; none of them is held out.
            validate: Validation problems, beside those that the preset holds out of the tasks.
            validate_from: Where larger validation problems come from, once all are solved.
            then: Where larger training problems come from, once training is done with the others.
            start: A model to go on from, whose network the preset has.
            show: Is told what is going on.

        Raises:
            ConfigError: If there is no problem to train on, or they are of several domains or none of the model's.
            LimitError: If the deadline passes first.
        """
        self.deadline = Deadline(preset.training.time_limit) if deadline is None else deadline
        if not tasks:
            raise ConfigError("there are no training problems")
        if not 0 <= seed <= MAX_SEED:
            raise ConfigError(f"the seed must be between 0 and 2^64 - 1, not {seed}")
        if threads < 1:
            raise ConfigError(f"the number of threads must be at least 1, not {threads}")
        signature = joined_signature([*tasks, *made])
        if start is not None:
            start.check_problems([*tasks, *made])
            signature = start.network.signature
        for task in validate:
            check_same_domain(task, tasks[0], signature)
        self.preset = preset
        self.seed = seed
        self.start = start
        self.show = show
        self.more_problems: Sequence[MoreProblem] = ()
        self._threads = threads
        config = preset.training
        kept, apart = held_out(tasks, config.validate_share)
        if config.validate_share > 0 and not apart:
            logger.warning("no problem is held out for validation: %s are too few", count(len(tasks), "problem"))
        for_validation = [*(tasks[position] for position in apart), *validate]
        tasks = [*(tasks[position] for position in kept), *made]
        check_apart(for_validation, tasks)
        self.given = tuple(tasks)
        loss = LOSSES[config.loss]
        make_teacher = teacher or teacher_factory(config)
        show_teacher = (lambda doing: None) if loss.is_of_runs else show
        choice = choose_problems(
            tasks, config, make_teacher, seed=seed, deadline=self.deadline, left_out=left_out, show=show_teacher
        )
        self.tasks = [problem.task for problem in choice.used]
        self.teachers = [problem.teacher for problem in choice.used]
        self.teacher_values = [problem.value for problem in choice.used]
        self.left_out = choice.left_out
        left_out_of_given = sum(problem.position < len(tasks) - len(made) for problem in self.left_out)
        # What was made of a problem may have worse prospects than it. If nothing else can be used, it has to do.
        num_given = len(tasks) - len(made) - left_out_of_given
        self._only_learnt = range(num_given, len(self.tasks)) if num_given else range(0)
        self._problem_seconds = choice.seconds
        self.validation: Validation | None = None
        if for_validation or validate_from is not None:
            self.validation = Validation(
                for_validation, validate_from, choice.used, config, seed=seed, threads=threads, deadline=self.deadline
            )
        self.curriculum = None if then is None else Curriculum(then, config, make_teacher, seed, show_teacher)
        show("setting up the network")
        self.network = ASNet(signature, preset.network, seed=seed, deadline=self.deadline)
        if start is not None:
            self.network.set_weights({name: torch.from_numpy(part) for name, part in start.network.arrays().items()})
        self.memory = Memory(self.tasks, DisjointUnion(self._structures(self.tasks)), preset.network.features, config)
        self._loss_terms = loss.terms
        self.labelling: Labelling = (
            RunLabelling(preset, self.memory)
            if loss.is_of_runs
            else TeacherLabelling(preset, self.memory, self.teachers)
        )
        self._explorers = [network_policy(self.network, task, sampled=True) for task in self.tasks]
        self._policies = [network_policy(self.network, task) for task in self.tasks]
        self.best_weights = self._copied_weights()
        self.progress = Progress(
            can_grow=self.validation is not None and self.validation.can_grow,
            has_stages=self.curriculum is not None,
        )
        self.optimiser = self._new_optimiser()
        self._fingerprints: list[str | None] = []
        self.sampling = np.random.Generator(np.random.Philox(derived_seed(seed, 1)))
        self.dropout = torch.Generator().manual_seed(derived_seed(seed, 2) >> 1)

    @property
    def fingerprints(self) -> tuple[str | None, ...]:
        """Of all training problems; None for those that are left out."""
        left_out = {problem.position for problem in self.left_out}
        for position in range(len(self._fingerprints), len(self.given)):
            self._fingerprints.append(None if position in left_out else fingerprint(self.given[position]))
        return tuple(self._fingerprints)

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
        validation = self._validate(seconds)
        record = self.progress.add(
            EpochRecord(
                epoch=len(self.progress.history) + 1,
                goals=goals,
                runs=self.preset.training.judge_runs,
                cost=cost,
                loss=loss,
                memory=len(self.memory),
                skipped=sum(teacher.skipped for teacher in self.teachers),
                seconds=seconds,
                elapsed=self.deadline.elapsed,
                best=False,
                validation=validation,
                restart=self.progress.restart,
                labels=self.memory.guarantees(),
            )
        )
        if record.best:
            self.best_weights = self._copied_weights()
        return record

    def _explore(self, seconds: dict[str, float]) -> None:
        """Algorithm 1, lines 2 to 8; the training problems may be explored at the same time."""
        config = self.preset.training
        rounds = self.labelling.rounds(len(self.tasks))
        first = len(self.progress.history) * rounds
        is_first = not self.progress.history
        share = self._share()

        def explore(problem: int) -> tuple[float, float]:
            begin = time.perf_counter()
            own = share.part(min(1.0, self._threads / (len(self.tasks) - problem))) if is_first else share
            policy = self._explorers[problem]
            policy.set_weights(self.network)
            seed = derived_seed(self.seed, 4, problem)
            runs = []
            for number in range(rounds):  # Line 4: Run-Pol.
                if own.has_passed():
                    break
                run = trace(policy, episode=first + number, max_steps=config.max_steps, seed=seed, deadline=own)
                runs.append(run)
            explored = time.perf_counter()
            self.labelling.label(problem, policy, runs, len(self.progress.history) + 1, own)  # Lines 5 to 8.
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
        seconds[self.labelling.name] = sum(labelled for _, labelled in times)
        self.deadline.check("the policy explored")

    def _learn(self, seconds: dict[str, float]) -> float:
        """Algorithm 1, lines 9 to 11; returns the loss for the record."""
        config = self.preset.training
        begin = time.perf_counter()
        share = self._share()
        dropout = self.dropout if self.labelling.has_dropout else None
        only_judged = self.start is not None and not self.progress.history
        total, steps = 0.0, 0
        for _ in range(self.labelling.minibatches(len(self.memory))):
            batch, labels = self.memory.sample(config.batch_size, self.sampling)  # Line 10: Sample-Minibatch.
            depth = self.labelling.depth(self.sampling)
            loss = self._loss_terms(self.network.log_probabilities(batch, dropout, depth), labels).sum()
            objective = loss if config.reduction == "sum" else loss / config.batch_size
            if not only_judged:
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
        return self.labelling.loss(total / max(1, steps))

    @property
    def judged(self) -> list[int]:
        """The problems that the policy is judged on, by position in the list: all but those made of given ones."""
        return [problem for problem in range(len(self.tasks)) if problem not in self._only_learnt]

    def _judge(self, seconds: dict[str, float]) -> tuple[tuple[int, ...], float | None]:
        """Runs the greedy policy; returns how often each goal was reached, and the mean cost over the teacher's.

        The latter is over problems whose cost the teacher knows.
        """
        begin = time.perf_counter()
        results = [
            self.judge_on(
                self.network, problem, self.tasks[problem], self._policies[problem], self.teacher_values[problem]
            )
            for problem in self.judged
        ]
        seconds["judge"] = time.perf_counter() - begin
        costs = [cost for _, cost in results if cost is not None]
        return tuple(goals for goals, _ in results), sum(costs) / len(costs) if costs else None

    def judge_on(
        self, network: ASNet, problem: int, task: GroundTask, policy: NetworkPolicy, value: float | None
    ) -> tuple[int, float | None]:
        """How often the greedy policy reaches the goal of a problem, and the mean cost over the teacher's.

        Where no teacher is asked, the latter is over the cost of a relaxed plan.
        """
        config = self.preset.training
        doing = f"the policy was judged on {task.problem}"
        self.deadline.check(doing)
        policy.set_weights(network)
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
        value = self.labelling.compared_cost(task, value)
        if result.mean_cost is None or value is None:
            return result.count("goal"), None
        # A probability of failing is nothing to compare costs with.
        compared = value if value > 0 and config.objective != "maxprob" else 1.0
        return result.count("goal"), result.mean_cost / compared

    def _validate(self, seconds: dict[str, float]) -> tuple[ValidationRecord, ...] | None:
        """Runs the greedy policy on the validation problems."""
        if self.validation is None:
            return None
        begin = time.perf_counter()
        config = self.preset.training
        self.validation.learnt += config.learn_steps * config.batch_size * mean_size(self.tasks)
        records = self.validation.run(self.network, self.deadline, is_first=not self.progress.history)
        seconds["validate"] = time.perf_counter() - begin
        return records

    def begin_from(self, weights: Mapping[str, Tensor]) -> None:
        """Goes on with other weights, as if nothing had been learnt since."""
        self.network.set_weights(weights)
        self.optimiser = self._new_optimiser()

    def add_problems(self, tasks: Sequence[GroundTask], choice: Choice) -> None:
        """Adds training problems.

        Args:
            tasks: All of them.
            choice: Which of them are used.

        Raises:
            LimitError: If the deadline passes.
        """
        used = [problem.task for problem in choice.used]
        structures = self._structures(used)
        self.memory.extend(used, structures)
        self.given += tuple(tasks)
        self.tasks += used
        self.teachers += [problem.teacher for problem in choice.used]
        self.teacher_values += [problem.value for problem in choice.used]
        self.left_out += choice.left_out
        for name, seconds in choice.seconds.items():
            self._problem_seconds[name] = self._problem_seconds.get(name, 0.0) + seconds
        self._explorers += [network_policy(self.network, task, sampled=True) for task in used]
        self._policies += [network_policy(self.network, task) for task in used]

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
        more: dict[str, Any] = {}
        if self.start is not None:
            more["from"] = self.start.identity()
        if self.validation is not None:
            more["validation"] = self.validation.result()
        if self.curriculum is not None:
            more["then"] = self.curriculum.result()
        if self.progress.restart:
            more["restarts"] = self.progress.restart
        return more | {
            "config": self.preset.training.to_dict(),
            "seed": self.seed,
            "problems": [
                {
                    "domain": task.domain,
                    "problem": task.problem,
                    "teacher_value": value,
                    "costs": task.cost_mode,
                    "labels": memory.guarantees() if self.labelling.keeps_labels else {},
                }
                for task, value, memory in zip(self.tasks, self.teacher_values, self.memory.problems, strict=True)
            ],
            "left_out": [asdict(problem) for problem in self.left_out],
            "more_problems": [{"problem": each.problem, "how": each.how} for each in self.more_problems],
            "epochs": len(self.progress.history),
            "seconds": self.progress.elapsed,
            "loss_floor": self.memory.loss_floor() if self.labelling.keeps_labels else None,
            "best": None if best is None else best.to_dict(),
        }

    def _structures(self, tasks: Sequence[GroundTask]) -> list[Structure]:
        structures = []
        for task in tasks:
            self.deadline.check(f"the network of {task.problem} was set up")
            structures.append(build_structure(task, self.preset.network.pooling, self.network.signature))
        return structures

    def _new_optimiser(self) -> torch.optim.Adam:
        """Adam, of the loss with l2 times the squares of all weights: the gradient of that is 2 l2 θ."""
        config = self.preset.training
        return torch.optim.Adam(
            self.network.parameters(), lr=config.learning_rate, weight_decay=2 * config.l2, fused=True
        )

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
