"""Figures as tables of pandas."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import asnets
from asnets.errors import MissingPackageError
from asnets.evaluation import Simulation
from asnets.training.history import History
from tests.experiments.report_support import Results, goals, problem, system
from tests.notebook.test_views import record

pytestmark = pytest.mark.native


def test_simulations_and_evaluations() -> None:
    pytest.importorskip("pandas")
    task = asnets.generate("triangle-tireworld", 1)
    policy = asnets.RandomPolicy(task)
    simulation = asnets.simulate(policy, episodes=50, seed=3, first=10)
    frame = simulation.to_frame()
    assert list(frame.columns) == ["policy", "seed", "episode", "steps", "cost", "ending"]
    assert frame["episode"].tolist() == list(range(10, 60))
    assert (frame["ending"] == "goal").sum() == simulation.count("goal")
    assert frame.query("ending == 'goal'")["cost"].mean() == pytest.approx(simulation.mean_cost)
    row = frame.iloc[7]
    again = asnets.run(policy, seed=int(row["seed"]), episode=int(row["episode"])).record
    assert (again.steps, again.cost, again.ending) == (row["steps"], row["cost"], row["ending"])
    assert simulation.record(7) == again

    evaluation = asnets.evaluate(policy, runs=20)
    frame = evaluation.to_frame()
    assert list(frame.columns)[:2] == ["problem", "policy"]
    assert set(frame["problem"]) == {"triangle-tire-1"}
    assert len(frame) == 20


def test_the_largest_numbers_of_episodes() -> None:
    policy = asnets.RandomPolicy(asnets.generate("gripper", 1))
    first = 2**64 - 20
    assert asnets.simulate(policy, episodes=3, first=first, max_steps=2).record(2).episode == first + 2


def test_runs_that_were_stopped_keep_their_numbers() -> None:
    runs = Simulation(
        "p", 0, 5, np.array([1, 2]), np.array([1.0, 2.0]), np.zeros(2, np.int8), 0.1, numbers=np.array([0, 4])
    )
    assert [runs.record(index).episode for index in range(2)] == [0, 4]


def test_histories() -> None:
    pytest.importorskip("pandas")
    frame = History([record(1), record(2, 2, best=True)]).to_frame()
    assert frame["epoch"].tolist() == [1, 2]
    assert frame["coverage"].tolist() == [0.75, 1.0]
    assert frame["seconds_learn"].tolist() == [1.0, 1.0]
    assert len(History().to_frame()) == 0


def test_results(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    folder = Results(tmp_path)
    cells = {("plan", "p1"): [goals(12, 2.0, 1.0), goals(18, 4.0)]}
    folder.add("own", [system("plan")], [problem("p1", 1), problem("p2", 2)], cells)
    frame = asnets.results(tmp_path).to_frame().set_index("problem")
    assert frame.loc["p1", ["runs", "goals", "coverage"]].tolist() == [60, 30, 0.5]
    assert frame.loc["p1", "mean_cost"] == pytest.approx((12 * 2 + 18 * 4) / 30)
    assert frame.loc["p2", ["cells", "missing", "runs"]].tolist() == [0, 1, 0]
    assert np.isnan(frame.loc["p2", "coverage"])
    by_seed = asnets.results(tmp_path).to_frame(by_seed=True)
    assert by_seed.query("problem == 'p1'")[["seed", "goals"]].to_numpy().tolist() == [[0, 12], [1, 18]]


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asnets.extras.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=r"a table of epochs needs pandas.*pip install 'asnets\[pandas\]'"):
        History().to_frame()
