"""Findings against the model checker Storm, which computes with rational numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import asnets
from asnets.grounding import GroundTask
from asnets.ppddl import write_domain
from asnets.testing import DomainPolicy, ProbeOptions, probe
from asnets.verification import explore_mdp
from asnets.verification.export import write_model
from asnets.verification.labels import state_labels
from tests.oracles.rational_models import rational_model
from tests.oracles.storm import Storm, why_missing
from tests.storm_comparison import with_giving_up
from tests.testing.policies import arbitrary, family, shortest_way

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(why_missing() is not None, reason=str(why_missing())),
]

PENALTY = 500


def storm_values(storm: Storm, folder: Path, task: GroundTask) -> dict[str, Fraction]:
    """Q* of the actions of the initial state: what Storm says of all states of the MDP, one step further back."""
    model = rational_model(explore_mdp(task))
    assert model.is_complete
    labels = {name: np.append(holds, False) for name, holds in state_labels(model).items() if holds.any()}
    end = np.zeros(model.num_states + 1, np.bool_)
    end[-1] = True
    path = folder / "mdp.drn"
    write_model(path, with_giving_up(model, PENALTY), labels | {"end": end}, "drn")
    targets = '("goal" | "end")' if "goal" in labels else '"end"'
    (values,) = storm.check(path, [f"Rmin=? [F {targets}]"], exact=True, all_states=True).values
    found = {}
    for choice in range(int(model.first_choice[0]), int(model.first_choice[1])):
        span = slice(int(model.first_transition[choice]), int(model.first_transition[choice + 1]))
        after = zip(model.probabilities[span], model.successors[span].tolist(), strict=True)
        value = Fraction(model.choice_cost[choice]) + sum(p * Fraction(values[successor]) for p, successor in after)
        found[task.action_name(int(model.choice_action[choice]))] = value
    return found


@pytest.mark.parametrize(
    ("name", "size", "policy"),
    [
        ("monster", 8, asnets.Policy.load("monster")),
        ("triangle-tireworld", 3, shortest_way()),
        ("exploding-blocksworld", 4, arbitrary(3, costs="unit")),
        ("cosanostra", 3, arbitrary(1, costs="unit")),
    ],
)
def test_small_problems(name: str, size: int, policy: DomainPolicy, tmp_path: Path) -> None:
    domain, problem = family(name, size, seed=1)
    test = probe(policy, domain, problem, ProbeOptions(states=25, budget=1e6, per_group=1))
    with Storm() as storm:
        checked = 0
        for small in test.small_problems:
            if small.confirmation.exact is None:
                continue
            task = asnets.load_text(write_domain(domain), small.text)
            values = storm_values(storm, tmp_path, task)
            actions, _ = policy.of(task).distributions([task.propositions_of()])[0]
            mean = sum(values[task.action_name(int(action))] for action in actions) / len(actions)
            assert (mean, values[small.comparison.better]) == small.confirmation.exact
            assert mean > values[small.comparison.better]
            checked += 1
    assert checked > 0
