"""What a worker does in a cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from asnets.errors import ConfigError
from asnets.experiments.cells import grid
from asnets.experiments.definition import load_experiment
from asnets.experiments.work import do_cell

pytestmark = pytest.mark.native

DOMAIN = """
(define (domain toll)
  (:requirements :strips :action-costs)
  (:predicates (here) (there))
  (:functions (total-cost))
  (:action go :parameters () :precondition (here) :effect (and (there) (increase (total-cost) 3))))
"""
PROBLEM = "(define (problem toll-1) (:domain toll) (:init (here) (= (total-cost) 0)) (:goal (there)) {metric})"


@pytest.mark.parametrize(("line", "cost"), [("", 1.0), ('costs = "unit"', 1.0), ('costs = "metric"', 3.0)])
def test_costs(tmp_path: Path, line: str, cost: float) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "problem.pddl").write_text(PROBLEM.format(metric="(:metric minimize (total-cost))"))
    path = tmp_path / "toll.toml"
    path.write_text(
        f'domain = "domain.pddl"\nsystems = ["lrtdp-hadd"]\n{line}\ntest = {{ problems = ["problem.pddl"] }}'
    )
    ((_, cell),) = grid(load_experiment(str(path), "smoke"))
    kept: list[object] = []
    outcome, figures, model = do_cell(cell.payload, None, kept.append)
    assert (outcome, figures["value"], model) == ("finished", cost, None)
    assert figures["costs"] == [cost] * 3
    assert len(kept) == 4


def test_unknown_costs(tmp_path: Path) -> None:
    path = tmp_path / "toll.toml"
    path.write_text('family = "monster"\nsystems = ["lrtdp-hadd"]\ncosts = "money"\ntest = { sizes = [1] }')
    with pytest.raises(ConfigError) as caught:
        load_experiment(str(path), "smoke")
    assert str(caught.value) == f"{path}: costs must be one of unit, metric, not 'money'"
