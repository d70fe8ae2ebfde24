"""Going on with larger problems: once training has mastered its problems, or gets no better, it gets more of them.

They come from a supply, a few at a time in the order of their sizes, and go the way of all training problems: the
teacher has to solve them in a share of the time (`asnets.training.problems`). Where it solves none of them, nothing
larger follows. Network, memory and teachers stay what they are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from asnets.deadline import Deadline
from asnets.errors import ConfigError, LimitError
from asnets.grounding import GroundTask
from asnets.grounding.fingerprint import fingerprint
from asnets.training.config import TrainingConfig
from asnets.training.problems import Choice, choose_problems, task_size
from asnets.training.supply import Draw, Supply, restore_draw
from asnets.training.teacher import TeacherFactory

logger = logging.getLogger("asnets.training")

_PROBLEMS = 3
"""Of a stage."""
_SHARE = 0.25
"""Of the time left, in which the teacher has to solve the problems of a stage."""


class Curriculum:
    """The stages of a training after the first one.

    Attributes:
        stages: For each, the problems drawn with their numbers, with those that are not used.
    """

    def __init__(
        self,
        supply: Supply,
        config: TrainingConfig,
        make_teacher: TeacherFactory,
        seed: int,
        show: Callable[[str], None],
    ) -> None:
        self.stages: list[list[tuple[int, GroundTask]]] = []
        self._draw = Draw(supply)
        self._config = config
        self._make_teacher = make_teacher
        self._seed = seed
        self._show = show

    @property
    def has_stages(self) -> bool:
        """Whether there may be another stage."""
        return self._draw.why_over is None

    def next_stage(
        self, given: Sequence[GroundTask], known: Collection[str], deadline: Deadline
    ) -> tuple[list[GroundTask], Choice] | None:
        """Larger training problems, and which of them can be used; None if there are none.

        Args:
            given: All training problems so far.
            known: Fingerprints of problems that are not to be drawn.
            deadline: Of the training.

        Raises:
            LimitError: If it passes.
        """
        known = {*known, *map(fingerprint, given)}
        least = max(map(task_size, given))
        stage: list[tuple[int, GroundTask]] = []
        while len(stage) < _PROBLEMS and (drawn := self._draw.larger(least, known, deadline)) is not None:
            stage.append(drawn)
            known.add(fingerprint(drawn[1]))
        if not stage:
            return None
        tasks = [task for _, task in stage]
        try:
            choice = self._choose(tasks, len(given), deadline)
        except (ConfigError, LimitError) as error:
            deadline.check("the teacher solved larger problems")
            self._draw.why_over = str(error)
            logger.info("no larger problems follow: %s", error)
            return None
        self.stages.append(stage)
        return tasks, choice

    def result(self) -> dict[str, Any]:
        """What goes into the model file."""
        return {
            "stages": [[task.problem for _, task in stage] for stage in self.stages],
            "drawn_from": self._draw.supply.identity,
            "why_none_is_larger": self._draw.why_over,
        }

    def state(self) -> dict[str, Any]:
        """What goes into checkpoints."""
        stages = [[[number, fingerprint(task)] for number, task in stage] for stage in self.stages]
        return {"draw": self._draw.state(), "stages": stages}

    def stages_again(
        self, state: Mapping[str, Any], first: int, left_out: Mapping[int, str], deadline: Deadline
    ) -> list[tuple[list[GroundTask], Choice]]:
        """The stages that an earlier session came to.

        Args:
            state: What it wrote.
            first: How many training problems were given.
            left_out: Problems that are not used and why, by position.
            deadline: Of the training.

        Raises:
            ValueError: If the problems are others.
            LimitError: If the deadline passes.
        """
        restore_draw(self._draw, state["draw"])
        result = []
        for drawn in state["stages"]:
            stage = [(number, self._draw.again(number, expected, deadline)) for number, expected in drawn]
            tasks = [task for _, task in stage]
            result.append((tasks, self._choose(tasks, first, deadline, left_out)))
            self.stages.append(stage)
            first += len(stage)
        return result

    def _choose(
        self, tasks: list[GroundTask], first: int, deadline: Deadline, left_out: Mapping[int, str] | None = None
    ) -> Choice:
        return choose_problems(
            tasks,
            self._config,
            self._make_teacher,
            seed=self._seed,
            deadline=deadline,
            share=_SHARE,
            first=first,
            left_out=left_out,
            show=self._show,
        )
