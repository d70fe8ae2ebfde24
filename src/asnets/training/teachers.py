"""The teachers by name."""

from __future__ import annotations

from asnets.planning import PLANNERS
from asnets.training.planner_teacher import PlannerTeacher
from asnets.training.teacher import TeacherInfo

TEACHERS: dict[str, TeacherInfo] = {
    # The planners that solve to optimality teach.
    **{name: TeacherInfo(info.description, PlannerTeacher) for name, info in PLANNERS.items() if info.optimal},
}
