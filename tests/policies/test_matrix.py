"""Every kind of policy behind the one protocol; a new entry of the registry joins by itself."""

from __future__ import annotations

import math
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from asnets import Policy
from asnets.deadline import Deadline
from asnets.errors import ConfigError
from asnets.evaluation import Simulation, simulate, trace
from asnets.evaluation.evaluate import evaluate
from asnets.evaluation.runs import run
from asnets.grounding import GroundTask, ground
from asnets.network import NetworkConfig
from asnets.network.network import ASNet
from asnets.pictures import picture_of
from asnets.planning import Solver
from asnets.policies import POLICIES, Distribution, FunctionPolicy, RandomPolicy, TaskPolicy
from asnets.policies.native_network import NativeNetworkPolicy
from asnets.policies.torch_network import TorchNetworkPolicy
from asnets.ppddl.model import Domain, Problem
from asnets.simulator import State
from tests.network.building import random_network
from tests.planning.test_heuristics import family_task
from tests.strategies import tasks

pytestmark = pytest.mark.native

TASKS = {"triangle-tireworld": 3, "prob-blocksworld": 4, "gripper": 2}


@cache
def source(kind: str, family: str) -> Any:
    """What a policy of this kind is made from."""
    task = family_task(family, TASKS[family])
    match POLICIES[kind].made_from:
        case "nothing":
            return None
        case "network":
            return random_network(task, NetworkConfig(layers=1, hidden=4), seed=3)
        case "solver":
            solver = Solver(task, "lrtdp", "hadd")
            assert solver.solve().status == "converged"
            return solver
        case "function":
            return first_two


def first_two(state: State) -> dict[str, float]:
    names = state.applicable_names[:2]
    return dict.fromkeys(names, 1 / len(names)) if names else {}


def made(kind: str, family: str) -> TaskPolicy:
    task = family_task(family, TASKS[family])
    given = source(kind, family)
    return POLICIES[kind].make(given.task if isinstance(given, Solver) else task, given)


def same(first: Simulation, second: Simulation) -> bool:
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in ("steps", "costs", "endings"))


every = pytest.mark.parametrize(("kind", "family"), [(kind, family) for kind in POLICIES for family in TASKS])


@every
def test_distributions(kind: str, family: str) -> None:
    policy = made(kind, family)
    assert isinstance(policy, TaskPolicy)
    states = list(trace(policy, seed=2, max_steps=20).states[:-1])
    distributions = policy.distributions(states)
    assert len(distributions) == len(states) > 0
    alone = [policy.distributions([state])[0] for state in states]
    for one, many in zip(alone, distributions, strict=True):
        assert one.actions.tolist() == many.actions.tolist()
        assert many.probabilities.sum() == pytest.approx(1)
        assert many.probabilities == pytest.approx(one.probabilities, abs=1e-6)


@every
def test_the_compiled_core_and_python_run_the_same_episodes(kind: str, family: str) -> None:
    """Whoever asks it, and however many episodes are run together."""
    policy = made(kind, family)

    class Asked:
        name, task, sampled = policy.name, policy.task, policy.sampled
        distributions = staticmethod(policy.distributions)

    result = simulate(policy, episodes=40, max_steps=60, seed=5, threads=2)
    assert same(result, simulate(Asked(), episodes=40, max_steps=60, seed=5))
    later = simulate(Asked(), episodes=10, max_steps=60, seed=5, first=30)
    assert later.steps.tolist() == result.steps[30:].tolist()
    for episode in (0, 7):
        runs = [trace(each, episode=episode, max_steps=60, seed=5) for each in (policy, Asked())]
        assert runs[0].record == runs[1].record == result.record(episode)
        assert runs[0].steps == runs[1].steps
        assert [state.tolist() for state in runs[0].states] == [state.tolist() for state in runs[1].states]


@every
def test_evaluate_and_pictures_take_each(kind: str, family: str) -> None:
    policy = made(kind, family)
    evaluation = evaluate(policy, runs=8, max_steps=40, seed=1)
    assert same(evaluation.finished, simulate(policy, episodes=8, max_steps=40, seed=1))
    assert sum(failure.count for failure in evaluation.failures) == 8 - evaluation.goals
    shown = run(policy, seed=1, max_steps=40)
    assert shown.record == trace(policy, seed=1, max_steps=40).record
    assert "<svg" in picture_of(shown, policy.task).svg


@every
def test_deadlines_hold(kind: str, family: str) -> None:
    deadline = Deadline(3600)
    deadline.cancel()
    result = simulate(made(kind, family), episodes=1000, deadline=deadline)
    assert result.count("stopped") >= 1000 - 16  # Episodes of the first lot may end before anyone looks.


@settings(max_examples=30)
@given(tasks())
def test_native_and_torch_networks_agree(lifted: tuple[Domain, Problem]) -> None:
    task = ground(*lifted)
    for config in (NetworkConfig(layers=2, hidden=4), NetworkConfig(layers=1, hidden=3, pooling="slot", skip=True)):
        check_agreement(random_network(task, config, seed=1), task)


def check_agreement(network: ASNet, task: GroundTask) -> None:
    for sampled in (False, True):
        native = NativeNetworkPolicy(network, task, sampled=sampled)
        torch = TorchNetworkPolicy(network, task, sampled=sampled)
        for state in trace(RandomPolicy(task), seed=1, max_steps=5).states:
            actions, probabilities = native.probabilities(state)
            assert torch.probabilities(state)[0].tolist() == actions.tolist()
            logits = native.logits(state)
            # Random weights may give logits of hundreds, of which single precision has fewer digits behind the point.
            error = 1e-5 * max(1.0, float(np.abs(logits).max(initial=0)) / 10)
            assert torch.probabilities(state)[1] == pytest.approx(probabilities, abs=error)
            assert torch.logits(state) == pytest.approx(logits, abs=10 * error)
        arguments = {"episodes": 5, "max_steps": 20, "seed": 4}
        assert same(simulate(native, **arguments), simulate(torch, **arguments))  # type: ignore[arg-type]


@pytest.mark.parametrize(("model", "size"), [("triangle-tireworld", 4), ("cosanostra", 3), ("prob-blocksworld", 6)])
def test_shipped_models_run_the_same_in_torch(model: str, size: int) -> None:
    task = family_task(model, size)
    network = Policy.load(model).network
    native, torch = NativeNetworkPolicy(network, task), TorchNetworkPolicy(network, task)
    assert same(simulate(native, episodes=10, seed=1), simulate(torch, episodes=10, seed=1))


# --- Functions ------------------------------------------------------------------------------------------------------


def test_functions_choose_by_name_number_and_probability() -> None:
    task = family_task("gripper", 1)
    choices = {
        "name": lambda state: state.applicable_names[0],
        "number": lambda state: state.applicable[0],
        "names": lambda state: {state.applicable_names[0]: 1.0},
        "numbers": lambda state: {state.applicable[0]: 1.0},
        "distribution": lambda state: Distribution(np.array(state.applicable[:1], np.int32), np.ones(1)),
    }
    results = [simulate(FunctionPolicy(task, choose), episodes=3, seed=1) for choose in choices.values()]
    assert all(same(results[0], result) for result in results)
    assert results[0].policy == "<lambda>"
    assert simulate(FunctionPolicy(task, lambda state: None), episodes=3).count("gave_up") == 3


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("(fly)", "the task has no action '(fly)'"),
        (10**6, "the task has no action of the number 1000000"),
        (0.5, "the policy 'mine' has to give an action, several with their probabilities, or None"),
        ({0: 0.5}, "the policy 'mine' cannot be run: "),
        ({0: -0.5, 1: 1.5}, "the policy 'mine' cannot be run: "),
        ({0: float("nan")}, "the policy 'mine' cannot be run: "),
    ],
)
def test_functions_that_make_no_sense(choice: object, message: str) -> None:
    task = family_task("gripper", 1)
    policy = FunctionPolicy(task, lambda state: choice, name="mine")  # type: ignore[arg-type,return-value]
    for function in (simulate, trace, run):
        with pytest.raises(ConfigError) as caught:
            function(policy)
        assert message in str(caught.value)


def test_actions_that_are_not_applicable_are_refused() -> None:
    task = family_task("gripper", 1)

    def other(state: State) -> int:
        return next(action for action in range(task.num_actions) if action not in state.applicable)

    with pytest.raises(ConfigError, match=r"'other' cannot be run: the action \(.*\) is not applicable in the s"):
        simulate(FunctionPolicy(task, other))


def test_a_function_that_is_not_sampled_takes_the_most_probable_action() -> None:
    task = family_task("gripper", 1)

    def unequal(state: State) -> dict[int, float]:
        first, second, *_ = state.applicable
        return {first: 0.3, second: 0.7}

    states = [trace(RandomPolicy(task)).states[0]]
    (sampled,) = FunctionPolicy(task, unequal).distributions(states)
    (greedy,) = FunctionPolicy(task, unequal, sampled=False).distributions(states)
    assert sampled.probabilities.tolist() == [0.3, 0.7]
    assert (greedy.actions.tolist(), greedy.probabilities.tolist()) == (sampled.actions.tolist()[1:], [1.0])


class Own:
    """A policy whose answers are given."""

    name, sampled = "own", True

    def __init__(self, *answers: object) -> None:
        self.task = family_task("gripper", 1)
        self.answers = answers

    def distributions(self, states: object) -> Any:
        return self.answers


@pytest.mark.parametrize(
    "answers",
    [
        (),
        (None,),
        (1,),
        (([0.5], [1.0]),),
        (([2**32], [1.0]),),
        (([-1], [1.0]),),
        (([0, 1], [1.0]),),
        (([[0]], [[1.0]]),),
        ((["(move rooma roomb)"], [1.0]),),
        (([0], ["one"]),),
        (([0], [1.0]), ([0], [1.0])),
    ],
)
def test_answers_that_are_no_distributions(answers: tuple[object, ...]) -> None:
    with pytest.raises(ConfigError, match=r"the policy 'own' cannot be run: .* expected, for each state, app"):
        simulate(Own(*answers), episodes=1)


def test_lists_are_distributions_too() -> None:
    policy = Own()
    action = int(RandomPolicy(policy.task).distributions([policy.task.propositions_of()])[0].actions[0])
    policy.answers = (([action], [1.0]),)
    assert trace(policy, max_steps=1).steps[0].action == action


def test_states_cannot_be_changed_by_a_policy() -> None:
    class Changing(Own):
        def distributions(self, states: Any) -> Any:
            states[0][0] = 0

    with pytest.raises(ValueError, match="read-only"):
        simulate(Changing(), episodes=1)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (Policy.load("triangle-tireworld"), "`of\\(task\\)` of a trained policy gives one"),
        (first_two, "FunctionPolicy\\(task, function\\) makes one of a function"),
        (family_task("gripper", 1), "it has no name, no task, no sampled, no distributions"),
    ],
)
def test_what_is_no_policy(policy: Any, message: str) -> None:
    for function in (simulate, trace, run, evaluate):
        with pytest.raises(ConfigError, match=message):
            function(policy)


def test_what_each_step_was_drawn_from_is_shown() -> None:
    """Also of a policy that would answer otherwise the next time."""
    random = Random(1)
    policy = FunctionPolicy(family_task("triangle-tireworld", 2), lambda state: random.choice(state.applicable))
    for seed in range(5):
        assert all(step.probabilities == {step.action: 1.0} for step in run(policy, seed=seed).steps)


@pytest.mark.parametrize("kind", POLICIES)
def test_a_run_ends_with_its_deadline(kind: str) -> None:
    """Asking for the probabilities of its steps as well."""
    policy = made(kind, "prob-blocksworld")
    deadline = Deadline(math.inf)
    asked = 0

    class Cancelling:
        name, task, sampled = policy.name, policy.task, policy.sampled

        def distributions(self, states: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked == 3:
                deadline.cancel()
            return policy.distributions(states)

    shown = run(Cancelling(), max_steps=10**9, deadline=deadline)
    assert (shown.record.ending, asked, len(shown.steps)) == ("stopped", 3, 3)


def test_errors_of_a_function_are_its_own() -> None:
    def broken(state: State) -> str:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        simulate(FunctionPolicy(family_task("gripper", 1), broken))
