"""One environment: Gymnasium's own checks, rewards and endings, seeds, masks, snapshots and what is refused."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed (pip install 'asnets[gym]')")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import asnets  # noqa: E402
from asnets.domains import domain_text, generate  # noqa: E402
from asnets.errors import AsnetsError, ConfigError, FileError, InputError  # noqa: E402
from asnets.grounding import ground  # noqa: E402
from asnets.gym import ENVIRONMENT_ID, PPDDLEnv  # noqa: E402
from asnets.ppddl import write_problem  # noqa: E402
from asnets.ppddl.model import Domain, Problem  # noqa: E402
from asnets.simulator import Simulator  # noqa: E402
from tests.planning.test_heuristics import family_task  # noqa: E402
from tests.ssp_strategies import ssps  # noqa: E402
from tests.strategies import tasks  # noqa: E402

pytestmark = pytest.mark.native

TIRES: dict[str, Any] = {"family": "triangle-tireworld", "size": 2}
BLOCKS: dict[str, Any] = {"family": "prob-blocksworld", "size": 4}
CLIFF: dict[str, Any] = {
    "domain": """(define (domain d) (:predicates (start) (edge) (top) (bottom))
        (:action walk :precondition (start) :effect (and (not (start)) (edge)))
        (:action jump :precondition (edge) :effect (and (not (edge)) (bottom)))
        (:action climb :precondition (edge) :effect (and (not (edge)) (top)))
        (:action wait :precondition (not (bottom)))
        (:action lie :precondition (bottom)))""",
    "problem": "(define (problem cliff) (:domain d) (:init (start)) (:goal (top)))",
}
"""Walk to the edge, then climb to the goal or jump to the bottom, where one can only lie."""


def made(**options: Any) -> PPDDLEnv:
    env = gymnasium.make(ENVIRONMENT_ID, **options).unwrapped
    assert isinstance(env, PPDDLEnv)
    return env


def played(env: PPDDLEnv, *actions: str) -> list[tuple[Any, float, bool, bool, dict[str, Any]]]:
    return [env.step(action) for action in actions]


@pytest.mark.parametrize("observation", ["bits", "graph"])
@pytest.mark.parametrize(
    ("family", "size"),
    [("triangle-tireworld", 2), ("prob-blocksworld", 4), ("exploding-blocksworld", 4), ("gripper", 2)],
)
def test_the_checker_of_gymnasium_is_content(family: str, size: int, observation: str) -> None:
    """It warns where it is not, and warnings are errors here."""
    pytest.importorskip("resvg_py", reason="resvg_py is not installed (pip install 'asnets[gym]')")
    check_env(made(family=family, size=size, observation=observation))


def test_files_text_tasks_and_families_are_the_same_environment(tmp_path: Path) -> None:
    domain, problem = domain_text("triangle-tireworld"), write_problem(generate("triangle-tireworld", 2))
    (tmp_path / "domain.pddl").write_text(domain)
    (tmp_path / "problem.pddl").write_text(problem)
    sources: list[dict[str, Any]] = [
        TIRES,
        {"task": family_task("triangle-tireworld", 2)},
        {"domain": domain, "problem": problem},
        {"domain": f"{domain}\n{problem}"},
        {"domain": tmp_path / "domain.pddl", "problem": str(tmp_path / "problem.pddl")},
    ]
    episodes = []
    for source in sources:
        env = made(**source)
        observation, info = env.reset(seed=4)
        steps = [observation.tolist()]
        while "ending" not in info:
            observation, *_, info = env.step(int(info["action_mask"].nonzero()[0][-1]))
            steps.append(observation.tolist())
        episodes.append((steps, info["ending"]))
    assert all(episode == episodes[0] for episode in episodes)
    assert (
        made(family="prob-blocksworld", size=4, problem_seed=1).task.problem
        != made(family="prob-blocksworld", size=4, problem_seed=2).task.problem
    )


def test_the_module_in_the_id_registers_it() -> None:
    assert gymnasium.make(f"asnets.gym:{ENVIRONMENT_ID}", **TIRES).unwrapped.spec.id == ENVIRONMENT_ID


def test_goal_and_costs() -> None:
    env = made(**CLIFF, goal_reward=3.0)
    _, info = env.reset(seed=0)
    assert "ending" not in info
    first, last = played(env, "(walk)", "(climb)")
    assert first[1:4] == (-1.0, False, False)
    assert last[1:4] == (2.0, True, False)
    assert (last[4]["ending"], last[4]["is_success"], last[4]["cost"]) == ("goal", True, 1.0)


def test_dead_ends_end_with_a_penalty() -> None:
    env = made(**CLIFF, dead_end_penalty=7.5)
    env.reset(seed=0)
    *_, last = played(env, "(walk)", "(jump)")
    assert last[1:4] == (-8.5, True, False)
    assert (last[4]["ending"], last[4]["is_success"]) == ("dead_end", False)


def test_dead_ends_that_are_not_looked_for_go_on_to_the_limit() -> None:
    env = made(**CLIFF, detect_dead_ends=False, max_steps=4)
    env.reset(seed=0)
    *_, before, last = played(env, "(walk)", "(jump)", "(lie)", "(lie)")
    assert before[1:4] == (-1.0, False, False)
    assert last[1:4] == (-1.0, False, True)
    assert (last[4]["ending"], last[4]["is_success"]) == ("step_limit", False)


def test_the_goal_at_the_limit_terminates() -> None:
    env = made(**CLIFF, max_steps=2)
    env.reset(seed=0)
    assert played(env, "(walk)", "(climb)")[-1][2:4] == (True, False)


def test_the_limit_of_gymnasium_works_as_well() -> None:
    env = gymnasium.make(ENVIRONMENT_ID, **CLIFF, max_episode_steps=2)
    env.reset(seed=0)
    assert env.step("(wait)")[2:4] == (False, False)
    _, _, terminated, truncated, info = env.step("(wait)")
    assert (terminated, truncated, "ending" in info) == (False, True, False)


def test_costs_of_the_metric() -> None:
    domain = """(define (domain d) (:requirements :action-costs) (:predicates (p) (q)) (:functions (total-cost))
        (:action a :effect (and (p) (increase (total-cost) 3)))
        (:action b :precondition (p) :effect (and (q) (increase (total-cost) 0.5))))"""
    problem = "(define (problem x) (:domain d) (:init (= (total-cost) 0)) (:goal (q)) (:metric minimize (total-cost)))"
    env = made(domain=domain, problem=problem, costs="metric")
    env.reset(seed=0)
    assert [step[1] for step in played(env, "(a)", "(b)")] == [-3.0, -0.5]


STATE_COSTS = {
    "domain": """(define (domain d) (:requirements :rewards) (:predicates (p) (q))
        (:action a :effect (and (p) (when (p) (decrease (reward) 3)) (probabilistic 1/2 (increase (reward) 1))))
        (:action b :precondition (p) :effect (and (q) (when (not (p)) (decrease (reward) 9)))))""",
    "problem": "(define (problem x) (:domain d) (:goal (q)) (:metric maximize (reward)))",
    "costs": "metric",
}


def test_costs_that_depend_on_the_state() -> None:
    env = made(**STATE_COSTS, observation="graph")
    observation, _ = env.reset(seed=0)
    assert observation["actions"][:, 1].tolist() == [-0.5, 9.0]
    assert env.observation_space.contains(observation)
    observation, reward, _, _, info = env.step("(a)")
    assert (reward, info["cost"]) == (0.5, -0.5)
    assert observation["actions"][:, 1].tolist() == [2.5, 0.0]
    assert env.observation_space.contains(observation)
    assert [step[1] for step in played(env, "(a)", "(b)")] == [-2.5, 0.0]
    assert env.simulator.cost == 2.0


def test_inapplicable_actions_change_nothing_and_cost() -> None:
    env = made(**CLIFF, max_steps=2)
    before, _ = env.reset(seed=0)
    after, reward, terminated, truncated, info = env.step("(climb)")
    assert (reward, terminated, truncated, info["inapplicable"]) == (-1.0, False, False, True)
    assert after.tolist() == before.tolist()
    assert "inapplicable" not in env.step("(walk)")[4]


def test_inapplicable_actions_may_be_errors() -> None:
    env = made(**CLIFF, invalid_action="error")
    env.reset(seed=0)
    with pytest.raises(ConfigError, match=r"the action \(climb\) is not applicable in the state"):
        env.step("(climb)")
    assert env.simulator.steps == 0
    assert env.step("(walk)")[1] == -1.0


def test_steps_outside_episodes_are_refused() -> None:
    env = made(**CLIFF, render_mode="ansi")
    for call in (lambda: env.step(0), env.render, env.clone_state):
        with pytest.raises(ConfigError, match="no episode has begun: call reset first"):
            call()
    env.reset()
    played(env, "(walk)", "(climb)")
    with pytest.raises(ConfigError, match=r"the episode has ended \(goal\): call reset to begin the next one"):
        env.step("(wait)")
    env.reset()
    env.step("(walk)")


def test_seeds_name_episodes() -> None:
    """The same seed gives the same episodes, those of the simulator; without one, the next episode comes."""
    env = made(**TIRES)

    def episode(seed: int | None) -> list[list[int]]:
        observation, info = env.reset(seed=seed)
        states = [observation.nonzero()[0].tolist()]
        simulator = Simulator(env.task, seed=int(info["stream"][0]), episode=int(info["stream"][1]))
        while "ending" not in info:
            action = int(info["action_mask"].nonzero()[0][-1])
            observation, *_, info = env.step(action)
            states.append(observation.nonzero()[0].tolist())
            assert simulator.step(action).propositions.tolist() == states[-1]
        return states

    first = [episode(seed) for seed in (7, None, None, 8)]
    assert [episode(seed) for seed in (7, None, None, 8)] == first
    assert len({str(states) for states in first}) > 1
    drawn = [int(made(**TIRES).reset()[1]["stream"][0]) for _ in range(4)]
    assert len(set(drawn)) == 4
    numbers: tuple[Any, ...] = (np.int64(3), np.int8(3), np.array(3))
    for seed in numbers:
        assert made(**TIRES).reset(seed=seed)[1]["stream"].tolist() == [3, 0]


def test_seeds_are_drawn_also_where_snapshots_came_first() -> None:
    begun = made(**TIRES)
    begun.reset(seed=3)
    streams = []
    for _ in range(3):
        env = made(**TIRES)
        env.restore_state(begun.clone_state(), random=False)
        streams.append((env.simulator.seed, int(env.reset()[1]["stream"][0])))
    assert len(set(streams)) == 3
    assert all(first == second for first, second in streams)
    env.restore_state(begun.clone_state())
    assert env.reset()[1]["stream"].tolist() == [3, 1]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_snapshots_and_environments_are_copied(copied: Any) -> None:
    env = made(**BLOCKS, render_mode="ansi")
    env.reset(seed=2)
    env.step(env.simulator.state.applicable[0])
    snapshot, other, text = copied(env.clone_state()), copied(env), env.render()
    action = env.simulator.state.applicable[0]
    env.step(action)
    after = env.simulator.state.names
    for each in (env, other, made(**BLOCKS, render_mode="ansi")):
        each.restore_state(snapshot)
        assert each.render() == text
        each.step(action)
        assert each.simulator.state.names == after
    assert other.simulator.task is other.task
    assert (copy.deepcopy(env).task, env.reset()[1]["stream"].tolist()) == (env.task, [2, 1])


@pytest.mark.parametrize("observation", ["bits", "graph"])
def test_clone_and_restore(observation: str) -> None:
    env = made(observation=observation, **TIRES)
    env.reset(seed=2)
    action = env.simulator.state.applicable[0]
    begin, before = env.clone_state(), env.simulator.state

    def outcomes(*, random: bool) -> set[tuple[str, ...]]:
        result = set()
        for _ in range(30):
            seen, info = env.restore_state(begin, random=random)
            assert env.observation_space.contains(seen)
            assert info["action_mask"].nonzero()[0].tolist() == list(before.applicable)
            env.step(action)
            result.add(env.simulator.state.names)
        return result

    assert len(outcomes(random=True)) == 1
    assert outcomes(random=False) == {state.names for _, state in before.successors(action)}
    other = made(**TIRES)
    other.restore_state(begin)
    assert (other.simulator.steps, other.simulator.seed) == (0, 2)
    other.step(action)
    with pytest.raises(ConfigError, match="that is of another task"):
        made(**CLIFF).restore_state(begin)


def test_snapshots_know_that_an_episode_has_ended() -> None:
    env = made(**CLIFF)
    env.reset(seed=0)
    middle = env.clone_state()
    played(env, "(walk)", "(climb)")
    end = env.clone_state()
    env.restore_state(middle)
    env.step("(walk)")
    env.restore_state(end)
    with pytest.raises(ConfigError, match="the episode has ended"):
        env.step("(wait)")


def test_the_best_return_is_the_value_of_the_planner() -> None:
    """With the planner's penalty for dead ends; over 3,000 episodes of its policy."""
    task = family_task("triangle-tireworld", 2)
    solved = asnets.solve(task)
    env = made(task=task)
    returns = []
    for episode in range(3000):
        _, info = env.reset(seed=5 if episode == 0 else None)
        total = 0.0
        while "ending" not in info:
            (actions, _) = solved.policy.distributions([env.simulator.state.propositions])[0]
            _, reward, _, _, info = env.step(int(actions[0]))
            total += reward
        returns.append(total)
    error = np.std(returns) / len(returns) ** 0.5
    assert abs(np.mean(returns) + solved.value) < 5 * error


def test_masks_are_what_samples_and_models_take() -> None:
    env = made(state_names=True, **TIRES)
    _, info = env.reset(seed=1)
    assert info["action_mask"].dtype == np.int8
    assert env.action_masks().dtype == np.bool_
    assert env.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
    for _ in range(20):
        assert env.action_space.sample(info["action_mask"]) in env.simulator.state.applicable
    assert info["state"] == env.simulator.state.names


def test_the_graph_relates_actions_to_what_their_schemas_name() -> None:
    env = made(observation="graph", family="gripper", size=2)
    seen, _ = env.reset(seed=0)
    task = env.task
    graph = env._observation.graph  # type: ignore[attr-defined]
    names = [task.atom_name(int(atom)) for atom in graph.atoms]
    actions, nodes = seen["edges"]
    move = task_action(env, "(move rooma roomb)")
    related = [names[node] for node in nodes[actions == move]]
    assert set(related) == {"(at-robby rooma)", "(at-robby roomb)", "(room rooma)", "(room roomb)"}
    schemas = [schema.name for schema in graph.signature.schemas]
    assert schemas[seen["action_schema"][move]] == "move"
    predicates = [name for name, _ in graph.signature.predicates]
    assert [predicates[number] for number in seen["node_predicate"]] == [name.strip("()").split()[0] for name in names]
    truth, goal = seen["nodes"].T
    true = {name for name, value in zip(names, truth, strict=True) if value}
    assert {"(at-robby rooma)", "(room rooma)"} <= true
    assert "(at-robby roomb)" not in true
    assert {name for name, value in zip(names, goal, strict=True) if value} == {"(at ball1 roomb)", "(at ball2 roomb)"}
    assert seen["actions"][move].tolist() == [1.0, 1.0]
    slots = {(int(slot), names[node]) for slot, node in zip(seen["edge_slot"], nodes, strict=True)}
    for slot in set(seen["edge_slot"].tolist()):
        assert len({name.split()[0] for number, name in slots if number == slot}) == 1


def test_numbers_of_the_graph_mean_the_same_in_all_problems_of_a_domain() -> None:
    small, large = (made(observation="graph", family="gripper", size=size) for size in (1, 3))
    first, second = (env._observation.graph for env in (small, large))  # type: ignore[attr-defined]
    assert first.signature == second.signature
    assert set(first.slot.tolist()) == set(second.slot.tolist())
    assert small.observation_space != large.observation_space


def task_action(env: PPDDLEnv, name: str) -> int:
    return env.simulator.action(name)


@settings(max_examples=40)
@given(st.one_of(tasks(), ssps()), st.sampled_from(["bits", "graph"]), st.integers(0, 2**64 - 1), st.data())
def test_any_task(lifted: tuple[Domain, Problem], observation: str, seed: int, data: st.DataObject) -> None:
    """Masks, observations and endings are those of the simulator."""
    task = ground(*lifted)
    state = Simulator(task).state
    if state.is_goal or state.is_dead_end or task.num_propositions == 0:
        with pytest.raises(ConfigError, match=task.problem):
            PPDDLEnv(task=task)
        assume(False)
    env = PPDDLEnv(task=task, observation=observation, max_steps=6)
    seen, info = env.reset(seed=seed)
    total = 0.0
    while True:
        state = env.simulator.state
        assert env.observation_space.contains(seen)
        assert info["action_mask"].nonzero()[0].tolist() == list(state.applicable)
        if observation == "bits":
            assert seen.nonzero()[0].tolist() == state.propositions.tolist()
        if "ending" in info:
            break
        action = data.draw(st.integers(0, task.num_actions - 1))
        successors = {after for _, after in state.successors(action)} if action in state.applicable else {state}
        seen, reward, terminated, truncated, info = env.step(action)
        now = env.simulator.state
        total += reward
        assert now in successors
        assert terminated == (now.is_goal or now.is_dead_end)
        assert truncated == (not terminated and env.simulator.steps == 6)
        expected = "goal" if now.is_goal else "dead_end" if terminated else "step_limit" if truncated else None
        assert info.get("ending") == expected
    penalty = 500.0 if info["ending"] == "dead_end" else 0.0
    assert total == pytest.approx(-env.simulator.cost - penalty)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "an environment needs one of domain (with problem), family (with size) or task, not nothing"),
        ({**TIRES, "task": "gripper"}, "not task and family"),
        ({"family": "triangle-tireworld"}, "triangle-tireworld: size must be a whole number, not None"),
        (TIRES | {"problem_seed": -1}, "triangle-tireworld: seed must not be negative, as -1 is"),
        (TIRES | {"problem_index": None}, "triangle-tireworld: index must be a whole number, not None"),
        (TIRES | {"problem_seed": "\udc80"}, "triangle-tireworld: seed must be a whole number, not '\\udc80'"),
        ({"family": [], "size": 1}, "unknown family []; known families: triangle-tireworld"),
        (TIRES | {"problem": np.array([1, 2])}, "problem goes with domain, not with family"),
        (TIRES | {"render_mode": np.array(["svg", "ansi"])}, "render_mode must be None or one of ansi, rgb_array, svg"),
        (TIRES | {"dead_end_penalty": 10**400}, "dead_end_penalty and goal_reward must be numbers up to 1e+09"),
        (TIRES | {"problem_seed": "x"}, "triangle-tireworld: seed must be a whole number, not 'x'"),
        ({"family": "moon", "size": 1}, "moon"),
        ({**TIRES, "problem": "p.pddl"}, "problem goes with domain, not with family"),
        ({"task": "gripper", "size": 3}, "size goes with family, not with task"),
        ({"task": "cliff"}, "task must be a GroundTask, such as asnets.load gives, not 'cliff'"),
        ({"task": "gripper", "costs": "metric"}, "the task has unit costs; load it with costs='metric'"),
        ({"task": "gripper", "lenient": True}, "lenient is for domains and problems in files or text"),
        ({"domain": 3, "problem": "p.pddl"}, "domain must be a file or PPDDL text, not 3"),
        ({"domain": "(define (domain d))", "problem": "p.pddl"}, "both as files or both as text"),
        ({"domain": domain_text("gripper")}, "problem"),
        ({"domain": "(define (domain d) (:predicates (p)", "problem": "(define"}, "<domain>:1"),
        ({"domain": "nowhere.pddl", "problem": "p.pddl"}, "nowhere.pddl"),
        ({**TIRES, "speed": 3}, "unknown option of the environment 'speed'; known are domain, problem, task"),
        ({**TIRES, "max_steps": 0}, "max_steps must be a whole number from 1 to"),
        ({**TIRES, "dead_end_penalty": -1}, "dead_end_penalty must be a number of at least 0"),
        ({**TIRES, "observation": "pixels"}, "observation must be one of bits, graph, not 'pixels'"),
        ({**TIRES, "invalid_action": "shrug"}, "invalid_action must be one of noop, error, not 'shrug'"),
        (
            {
                "domain": "(define (domain d) (:predicates (p)) (:action a :effect (p)))",
                "problem": "(define (problem x) (:domain d) (:init (p)) (:goal (p)))",
            },
            "x: the initial state is a goal, so there is nothing to do",
        ),
        (
            {
                "domain": "(define (domain d) (:predicates (p) (q)) (:action a :effect (p)))",
                "problem": "(define (problem x) (:domain d) (:goal (q)))",
            },
            "x: the goal cannot be reached from the initial state; detect_dead_ends=False lets it be",
        ),
    ],
)
def test_refused(options: dict[str, Any], message: str) -> None:
    if options.get("task") == "gripper":
        options = options | {"task": family_task("gripper", 1)}
    with pytest.raises(AsnetsError) as caught:
        PPDDLEnv(**options)
    assert isinstance(caught.value, ConfigError | FileError | InputError)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda env: env.step(99), "the task has no action of the number 99"),
        (lambda env: env.step(np.array([1, 2])), "expected one action, not array"),
        (lambda env: env.step(0.5), "expected an action by name or by number"),
        (lambda env: env.reset(seed=-1), "must be whole numbers from 0 to 2^64 - 1, not -1"),
        (lambda env: env.step(np.timedelta64(1)), "expected an action by name or by number"),
        (lambda env: env.step(np.array(1, "m8[ns]")), "expected an action by name or by number"),
        (lambda env: env.reset(seed=True), "must be whole numbers from 0 to 2^64 - 1, not True"),
        (lambda env: env.reset(options=5), "options of reset must be a dict or None, not 5"),
        (lambda env: env.reset(seed=1, options=[]), "options of reset must be a dict or None, not []"),
        (lambda env: env.restore_state(None), "expected a snapshot, such as clone_state gives, not None"),
        (lambda env: env.reset(options={"state": 1}), "unknown option of reset 'state'; there are none"),
        (lambda env: env.render(), "made without a render mode; expected one of ansi, rgb_array, svg"),
    ],
)
def test_refused_calls(call: Any, message: str) -> None:
    env = made(**TIRES)
    env.reset(seed=0)
    with pytest.raises(ConfigError) as caught:
        call(env)
    assert message in str(caught.value)
