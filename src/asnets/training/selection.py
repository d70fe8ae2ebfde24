"""Selection by validation: the weights that are kept are those that do best on problems that nobody learns from.

After an epoch the greedy policy is run on the validation problems, which need no teacher; what comes of it decides
which weights are best, whether training has got better and whether all is solved (`asnets.training.progress`). Where a
supply of larger problems is given, one more is drawn whenever all are solved.

Running a network takes less time than learning, but policies that go round in circles on large problems can take any
time. So what validation looks at is counted, as states times their propositions and actions, and an epoch goes without
as long as that is more than three times what was learnt from: this depends on counts, not on the clock. And a run ends
after a few times the steps that the teacher's policy takes on training problems, by the length of a relaxed plan. The
clock decides where a limit cuts something: in the first epoch, where problems that take more than their part of a share
of the time are left out; and in runs on a problem that was drawn, after which no larger ones follow if they take too
long.
"""

from __future__ import annotations

import logging
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from asnets.deadline import Deadline
from asnets.errors import ConfigError
from asnets.evaluation import simulate
from asnets.grounding import GroundTask
from asnets.grounding.fingerprint import fingerprint
from asnets.network.network import ASNet
from asnets.planning.heuristics import initial_value
from asnets.policies.networks import NetworkPolicy, network_policy
from asnets.simulator import Simulator
from asnets.training.config import TrainingConfig
from asnets.training.problems import LeftOut, TrainingProblem, check_same_domain, task_size
from asnets.training.progress import ValidationRecord
from asnets.training.seeds import derived_seed
from asnets.training.supply import Draw, Supply, restore_draw
from asnets.words import count

logger = logging.getLogger("asnets.training")

_FIRST_EPOCH_SHARE = 0.1
"""In the first epoch, validation may take this share of the time left; what takes longer then is left out."""
_LOOKS = 3
"""Validation may look at so many times what is learnt from, which takes ten times as long or more."""
_LOST_AFTER = 5
"""A run is lost that takes so many times the steps of the teacher's policy."""
_LEAST_STEPS = 50
_MOST_STEPS = 10
"""Times `max_steps`."""


@dataclass
class ValidationProblem:
    """A problem that the policy is run on after epochs.

    Attributes:
        number: Its place among those given, or in the supply that it was drawn from.
        estimate: The cost of a relaxed plan; 1 where that is nothing to compare with.
        max_steps: Of a run.
        seed: Of the runs.
    """

    task: GroundTask
    number: int
    is_drawn: bool
    estimate: float
    max_steps: int
    seed: int
    policy: NetworkPolicy | None = None


class Validation:
    """The validation problems of a training.

    Attributes:
        given: All that were given, with those that are not used.
        problems: Those that are used, with those that were drawn.
        left_out: Those that were given and are not used.
        looked_at: States that runs came through, times propositions and actions of their problem.
        learnt: The same of states that were learnt from.
    """

    def __init__(
        self,
        tasks: Sequence[GroundTask],
        supply: Supply | None,
        trained: Sequence[TrainingProblem],
        config: TrainingConfig,
        *,
        seed: int,
        threads: int,
        deadline: Deadline,
    ) -> None:
        """Takes over the problems; where none are given, the first one is drawn.

        Args:
            tasks: The validation problems.
            supply: Of larger ones.
            trained: The training problems, of the same domain, which are others.
            config: Of the training.
            seed: Of the training.
            threads: How many to use for runs.
            deadline: Of the training.

        Raises:
            ConfigError: If nothing can be drawn.
            LimitError: If the deadline passes.
        """
        self.given = tuple(tasks)
        self.problems: list[ValidationProblem] = []
        self.left_out: list[LeftOut] = []
        self.looked_at = 0
        self.learnt = 0
        self._draw = None if supply is None else Draw(supply)
        self._config = config
        self._seed = seed
        self._threads = threads
        self._steps_of_plan = _steps_of_plan(trained, config)
        for number, task in enumerate(tasks):
            reason = self._add(task, number, is_drawn=False)
            if reason is not None:
                self._leave_out(task, number, reason)
        if self._draw is not None and not self.problems:
            self._draw_larger(self._draw, [problem.task for problem in trained], deadline)
            if not self.problems:
                raise ConfigError(
                    f"no problem for validation comes from {self._draw.supply.identity}: {self._draw.why_over}"
                )

    @property
    def drawn(self) -> list[GroundTask]:
        """Those that come from the supply."""
        return [problem.task for problem in self.problems if problem.is_drawn]

    @property
    def can_grow(self) -> bool:
        """Whether there may be larger problems."""
        return self._draw is not None and self._draw.why_over is None

    def run(self, network: ASNet, deadline: Deadline, *, is_first: bool) -> tuple[ValidationRecord, ...] | None:
        """Runs the greedy policy on the validation problems.

        Returns:
            What it came to on each; none where too much was looked at already. None if there are no problems.

        Raises:
            LimitError: If the deadline passes.
        """
        if not self.problems:
            return None
        if self.looked_at > _LOOKS * self.learnt:
            return ()
        records = []
        share = deadline.part(_FIRST_EPOCH_SHARE) if is_first else deadline
        problems = list(self.problems)
        for done, problem in enumerate(problems):
            own = share.part(1 / (len(problems) - done)) if is_first else deadline
            record = self._run(network, problem, own, deadline)
            if record is not None:
                records.append(record)
                continue
            part = f"in {own.elapsed:.2g} s, its share of the time limit of {deadline.seconds:g} s"
            reason = f"{count(self._config.judge_runs, 'run')} did not end {part}"
            self.problems.remove(problem)
            if problem.is_drawn and self._draw is not None:
                self._draw.why_over = f"on {problem.task.problem}, {reason}"
            else:
                self._leave_out(problem.task, problem.number, reason)
        return tuple(records) or None

    def grow(self, network: ASNet, deadline: Deadline, trained: Sequence[GroundTask]) -> ValidationRecord | None:
        """Draws a larger problem and runs the greedy policy on it; None if there is none.

        Args:
            network: What chooses actions: the best weights.
            deadline: Of the training.
            trained: The training problems.

        Raises:
            LimitError: If the deadline passes.
        """
        assert self._draw is not None
        if not self._draw_larger(self._draw, trained, deadline):
            return None
        seconds = self._config.validate_run_seconds
        own = Deadline(seconds * self._config.judge_runs, within=deadline)
        record = self._run(network, self.problems[-1], own, deadline)
        if record is None or own.has_passed():
            self._draw.why_over = f"a run on {self.problems.pop().task.problem} takes more than {seconds:g} s"
            return None
        return record

    def result(self) -> dict[str, Any]:
        """What goes into the model file."""
        return {
            "problems": [
                {"domain": each.task.domain, "problem": each.task.problem, "drawn": each.is_drawn, "seed": each.seed}
                for each in self.problems
            ],
            "left_out": [{"problem": each.problem, "reason": each.reason} for each in self.left_out],
            "drawn_from": None if self._draw is None else self._draw.supply.identity,
            "why_none_is_larger": None if self._draw is None else self._draw.why_over,
        }

    def state(self) -> dict[str, Any]:
        """What goes into checkpoints."""
        return {
            "given": [fingerprint(task) for task in self.given],
            "left_out": [[each.position, each.reason] for each in self.left_out],
            "drawn": [[each.number, fingerprint(each.task)] for each in self.problems if each.is_drawn],
            "draw": None if self._draw is None else self._draw.state(),
            "work": [self.looked_at, self.learnt],
        }

    def restore(self, state: dict[str, Any], deadline: Deadline) -> None:
        """Comes to where a validation was that had this state.

        Raises:
            ValueError: If it was one of other problems.
        """
        if state["given"] != [fingerprint(task) for task in self.given]:
            raise ValueError("the validation problems are not what they were")
        self.problems = [each for each in self.problems if not each.is_drawn]
        left_out = {each.position for each in self.left_out}
        for position, reason in state["left_out"]:
            if position not in left_out:
                self.problems = [each for each in self.problems if each.number != position]
                self._leave_out(self.given[position], position, reason)
        restore_draw(self._draw, state["draw"])
        for number, expected in state["drawn"]:
            assert self._draw is not None
            self._add(self._draw.again(number, expected, deadline), number, is_drawn=True)
        self.looked_at, self.learnt = state["work"]

    def _run(
        self, network: ASNet, problem: ValidationProblem, deadline: Deadline, of_training: Deadline
    ) -> ValidationRecord | None:
        """What the policy comes to on a problem; None if it takes too long.

        Raises:
            LimitError: If it is the deadline of the training that passes.
        """
        doing = f"the policy was validated on {problem.task.problem}"
        of_training.check(doing)
        if problem.policy is None:
            problem.policy = network_policy(network, problem.task)
        problem.policy.set_weights(network)
        result = simulate(
            problem.policy,
            episodes=self._config.judge_runs,
            max_steps=problem.max_steps,
            seed=problem.seed,
            threads=self._threads,
            deadline=deadline,
        )
        if result.count("stopped"):
            of_training.check(doing)
            return None
        size = task_size(problem.task)
        self.looked_at += int(result.steps.sum()) * size
        return ValidationRecord(problem.task.problem, size, result.count("goal"), result.mean_cost, problem.estimate)

    def _add(self, task: GroundTask, number: int, *, is_drawn: bool) -> str | None:
        """Takes a problem over; returns why it cannot be used, if so."""
        plan = initial_value(task, "hff")
        if Simulator(task).is_goal():
            return "its goal holds at once"
        if math.isinf(plan):
            return "its goal cannot be reached"
        steps = self._config.max_steps
        if self._steps_of_plan is not None:
            steps = min(_MOST_STEPS * steps, max(_LEAST_STEPS, math.ceil(_LOST_AFTER * self._steps_of_plan * plan)))
        seed = derived_seed(self._seed, 7 if is_drawn else 6, number)
        self.problems.append(ValidationProblem(task, number, is_drawn, plan if plan > 0 else 1.0, steps, seed))
        return None

    def _draw_larger(self, draw: Draw, trained: Sequence[GroundTask], deadline: Deadline) -> bool:
        """Draws a larger problem; returns whether there was one."""
        others = [*trained, *self.given, *(problem.task for problem in self.problems)]
        known, least = {fingerprint(task) for task in others}, max(map(task_size, others))
        while (drawn := draw.larger(least, known, deadline)) is not None:
            number, task = drawn
            check_same_domain(task, trained[0])
            if self._add(task, number, is_drawn=True) is None:
                return True
        return False

    def _leave_out(self, task: GroundTask, position: int, reason: str) -> None:
        self.left_out.append(LeftOut(task.problem, reason, position))
        logger.warning("%s is left out of validation: %s", task.problem, reason)


def _steps_of_plan(trained: Sequence[TrainingProblem], config: TrainingConfig) -> float | None:
    """Steps of the teacher's policy over those of a relaxed plan: the median over the training problems.

    None where the teacher's values are no numbers of steps, or are not known.
    """
    if config.objective == "maxprob" or trained[0].task.cost_mode != "unit":
        return None
    ratios = [
        problem.value / max(1.0, initial_value(problem.task, "hff")) for problem in trained if problem.value is not None
    ]
    return statistics.median(ratios) if ratios else None
