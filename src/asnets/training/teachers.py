"""The teachers by name."""

from __future__ import annotations

from asnets.planning import PLANNERS
from asnets.training.auto_teacher import AutoTeacher
from asnets.training.planner_teacher import PlannerTeacher
from asnets.training.teacher import TeacherInfo

TEACHERS: dict[str, TeacherInfo] = {
    # The planners that solve to optimality teach.
    **{name: TeacherInfo(info.description, PlannerTeacher) for name, info in PLANNERS.items() if info.optimal},
    "auto": TeacherInfo(
        "several searches, the first that gets through in its budget: to optimality, with hadd, ssipp, ilao from the "
        "network",
        AutoTeacher,
    ),
}
