"""SSiPP, the planner that replans and therefore is not part of the matrix of optimal planners."""

from __future__ import annotations

import pytest

from asnets.errors import ConfigError
from asnets.planning import Solver
from tests.planning.test_heuristics import family_task

pytestmark = pytest.mark.native


def test_ssipp_reaches_the_goal_where_there_are_no_dead_ends() -> None:
    solver = Solver(family_task("prob-blocksworld", 5), "ssipp", "lmcut", depth=2)
    assert solver.solve().status == "converged"
    _, _, endings = solver.run_episodes(0, 0, 200, 10_000)
    assert (endings == 0).all()
    with pytest.raises(ConfigError, match="has no Q values"):
        solver.q_values(solver.initial)
