"""The teachers by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asnets.planning import PLANNERS
from asnets.training.auto_teacher import AutoTeacher
from asnets.training.loss import LOSSES
from asnets.training.no_teacher import NoTeacher
from asnets.training.planner_teacher import PlannerTeacher
from asnets.training.teacher import TeacherFactory, TeacherInfo

if TYPE_CHECKING:
    from asnets.training.config import TrainingConfig

TEACHERS: dict[str, TeacherInfo] = {
    # The planners that solve to optimality teach.
    **{name: TeacherInfo(info.description, PlannerTeacher) for name, info in PLANNERS.items() if info.optimal},
    "auto": TeacherInfo(
        "several searches, the first that gets through in its budget: to optimality, with hadd, ssipp, ilao from the "
        "network",
        AutoTeacher,
    ),
}


def teacher_factory(config: TrainingConfig) -> TeacherFactory:
    """Makes the teachers of a training; of a loss that needs none, what stands in for them."""
    return NoTeacher if LOSSES[config.loss].is_of_runs else TEACHERS[config.teacher_planner].make
