"""Many environments at once: the same episodes as single ones, on any number of threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed (pip install 'asnets[gym]')")

from gymnasium.vector import AutoresetMode  # noqa: E402

from asnets.errors import ConfigError, LimitError  # noqa: E402
from asnets.grounding import ground  # noqa: E402
from asnets.gym import ENVIRONMENT_ID, PPDDLVectorEnv, vector  # noqa: E402
from asnets.ppddl.model import Domain, Problem  # noqa: E402
from asnets.simulator import Simulator  # noqa: E402
from tests.gym.test_environment import CLIFF, STATE_COSTS, TIRES  # noqa: E402
from tests.planning.test_heuristics import family_task  # noqa: E402
from tests.ssp_strategies import ssps  # noqa: E402
from tests.strategies import tasks  # noqa: E402

pytestmark = pytest.mark.native

Masks = npt.NDArray[np.int8]


def made(num_envs: int, mode: str = "vector_entry_point", **options: Any) -> Any:
    return gymnasium.make_vec(ENVIRONMENT_ID, num_envs=num_envs, vectorization_mode=mode, **options)


def named(envs: Any, *names: str) -> list[int]:
    """The numbers of actions."""
    simulator = Simulator(envs.task)
    return [simulator.action(name) for name in names]


def chosen(random: np.random.Generator, masks: Masks, applicable: float = 0.9) -> npt.NDArray[np.int64]:
    """For each row an applicable action, mostly; any action where there is none."""
    wanted = masks if random.random() < applicable else np.ones_like(masks)
    result: npt.NDArray[np.int64] = np.argmax(random.random(masks.shape) * (wanted + 1e-9), axis=1)
    return result


def assert_same(one: Any, other: Any) -> None:
    """That what two vector environments return is equal, with types and shapes."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key, value in one.items():
            assert_same(value, other[key])
    elif isinstance(one, tuple):
        for first, second in zip(one, other, strict=True):
            assert_same(first, second)
    else:
        assert (one.dtype, one.shape, one.tolist()) == (other.dtype, other.shape, other.tolist())


@pytest.mark.parametrize("observation", ["bits", "graph"])
@pytest.mark.parametrize(
    ("family", "size"), [("triangle-tireworld", 2), ("prob-blocksworld", 4), ("exploding-blocksworld", 4)]
)
def test_the_same_as_single_environments_side_by_side(family: str, size: int, observation: str) -> None:
    """Observations, rewards, endings and infos of Gymnasium's own vector of single ones, over many episodes."""
    options: dict[str, Any] = {
        "task": family_task(family, size), "observation": observation, "max_steps": 12, "goal_reward": 2.0,
        "dead_end_penalty": 11.0,
    }  # fmt: skip
    ours, theirs = made(7, **options), made(7, "sync", **options)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    random = np.random.default_rng(0)
    first = ours.reset(seed=40)
    assert_same(first, theirs.reset(seed=40))
    masks = first[1]["action_mask"]
    endings: set[str | None] = set()
    for _ in range(150):
        actions = chosen(random, masks)
        result = ours.step(actions)
        assert_same(result, theirs.step(actions))
        masks = result[4]["action_mask"]
        assert ours.action_masks().tolist() == masks.astype(bool).tolist()
        endings |= set(result[4].get("ending", ()))
    assert endings - {None}
    seeds = [3, None, 9, 3, None, None, 2**63]
    assert_same(ours.reset(seed=seeds), theirs.reset(seed=seeds))
    assert_same(ours.reset(), theirs.reset())


@settings(max_examples=30)
@given(st.one_of(tasks(), ssps()), st.integers(0, 2**63), st.integers(0, 2**32))
def test_any_task(lifted: tuple[Domain, Problem], seed: int, choices: int) -> None:
    task = ground(*lifted)
    state = Simulator(task).state
    assume(not (state.is_goal or state.is_dead_end or task.num_propositions == 0))
    ours, theirs = (made(3, mode, task=task, max_steps=5) for mode in ("vector_entry_point", "sync"))
    random = np.random.default_rng(choices)
    _, infos = ours.reset(seed=seed)
    theirs.reset(seed=seed)
    for _ in range(12):
        actions = chosen(random, infos["action_mask"])
        result = ours.step(actions)
        assert_same(result, theirs.step(actions))
        infos = result[4]


def test_threads_change_nothing() -> None:
    results = []
    for threads in (1, 2, 5, None):
        envs = made(33, task=family_task("triangle-tireworld", 3), threads=threads, max_steps=9)
        random = np.random.default_rng(1)
        _, infos = envs.reset(seed=1)
        steps = []
        for _ in range(60):
            steps.append(envs.step(chosen(random, infos["action_mask"])))
            infos = steps[-1][4]
        results.append(steps)
    for other in results[1:]:
        for one, step in zip(results[0], other, strict=True):
            assert_same(one, step)


def test_python_threads_may_share_one() -> None:
    """They wait for each other, without the interpreter's lock: no step is lost."""
    envs = made(64, task=family_task("triangle-tireworld", 3), threads=2, detect_dead_ends=False, max_steps=10**6)
    envs.reset(seed=0)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(50):
                envs.step(np.zeros(64, np.int64))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_episodes_begin_again_in_the_next_step() -> None:
    envs = made(2, **CLIFF, max_steps=3)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    walk, climb, wait = named(envs, "(walk)", "(climb)", "(wait)")
    begin, _ = envs.reset(seed=0)
    envs.step(np.array([walk, wait]))
    _, rewards, terminated, truncated, infos = envs.step(np.array([climb, wait]))
    assert (rewards.tolist(), terminated.tolist(), truncated.tolist()) == ([-1, -1], [True, False], [False, False])
    assert (infos["ending"].tolist(), infos["_ending"].tolist()) == (["goal", None], [True, False])
    seen, rewards, terminated, truncated, infos = envs.step(np.array([-5, wait]))
    assert seen[0].tolist() == begin[0].tolist()
    assert (rewards.tolist(), terminated.tolist(), truncated.tolist()) == ([0, -1], [False, False], [False, True])
    assert infos["stream"][0].tolist() == [0, 1]
    assert infos["ending"].tolist() == [None, "step_limit"]
    assert envs.step(np.array([walk, wait]))[1].tolist() == [-1, 0]


def test_some_are_reset() -> None:
    envs = made(3, **CLIFF)
    walk = named(envs, "(walk)")[0]
    begin, _ = envs.reset(seed=5)
    envs.step(np.full(3, walk))
    seen, infos = envs.reset(options={"reset_mask": np.array([False, True, False])})
    assert [row.tolist() == begin[0].tolist() for row in seen] == [False, True, False]
    assert infos["_stream"].tolist() == [False, True, False]
    assert infos["stream"][1].tolist() == [6, 1]


def test_what_was_returned_stays_as_it_was() -> None:
    envs = made(4, **TIRES)
    random = np.random.default_rng(0)
    seen, infos = envs.reset(seed=0)
    kept = [(seen, infos["action_mask"], seen.copy(), infos["action_mask"].copy())]
    for _ in range(10):
        seen, _, _, _, infos = envs.step(chosen(random, infos["action_mask"]))
        kept.append((seen, infos["action_mask"], seen.copy(), infos["action_mask"].copy()))
    for seen, masks, seen_then, masks_then in kept:
        assert (seen.tolist(), masks.tolist()) == (seen_then.tolist(), masks_then.tolist())
    envs.reset()[1]["action_mask"][:] = 0
    assert envs.action_masks().any()


def test_seeds() -> None:
    drawn = [made(2, **TIRES).reset()[1]["stream"][:, 0].tolist() for _ in range(3)]
    assert len({tuple(seeds) for seeds in drawn}) == 3
    assert all(second == first + 1 for first, second in drawn)
    assert made(2, **TIRES).reset(seed=2**64 - 2)[1]["stream"][:, 0].tolist() == [2**64 - 2, 2**64 - 1]


@pytest.mark.parametrize(
    ("seed", "streams"),
    [
        (np.array([5, 6]), [5, 6]),
        (np.int64(3), [3, 4]),
        (np.int8(127), [127, 128]),
        ([np.uint64(2**64 - 1), np.int8(1)], [2**64 - 1, 1]),
        ((8, 2), [8, 2]),
    ],
)
def test_seeds_of_numpy(seed: Any, streams: list[int]) -> None:
    envs = made(2, **TIRES)
    assert envs.reset(seed=seed)[1]["stream"].tolist() == [[number, 0] for number in streams]
    assert envs.np_random_seed == streams[0]


def test_a_seed_is_drawn_for_each_copy_that_never_had_one() -> None:
    drawn = [made(3, **TIRES).reset(seed=[None, 0, None])[1]["stream"].tolist() for _ in range(3)]
    assert all(streams[1] == [0, 0] and {episode for _, episode in streams} == {0} for streams in drawn)
    assert len({streams[copy][0] for streams in drawn for copy in (0, 2)}) == 6
    envs = made(2, **TIRES)
    first = envs.reset(seed=[None, None])[1]["stream"].tolist()
    assert envs.reset(seed=[None, 4])[1]["stream"].tolist() == [[first[0][0], 1], [4, 0]]
    assert envs.np_random_seed == first[0][0]


@pytest.mark.parametrize("seed", [[5, -1], [5, True], [5, 1.5], np.array([5.0, 6.0]), [5, "x"], 1.5, True, "ab", b"ab"])
def test_a_refused_reset_changes_nothing(seed: Any) -> None:
    envs = made(2, **TIRES)
    envs.reset(seed=8)
    with pytest.raises(ConfigError, match="whole number"):
        envs.reset(seed=seed)
    assert envs.reset()[1]["stream"].tolist() == [[8, 1], [9, 1]]
    assert envs.np_random_seed == 8


def test_more_copies_than_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Petabytes, so that no machine has them."""
    monkeypatch.setattr(vector, "MAX_COPIES", 10**15)
    with pytest.raises(LimitError, match="num_envs: there is not enough memory for 10000000000000 environments of tri"):
        PPDDLVectorEnv(10**13, **TIRES)


def test_a_wrong_action_changes_nothing() -> None:
    envs = made(3, **CLIFF, invalid_action="error")
    walk, climb = named(envs, "(walk)", "(climb)")
    envs.reset(seed=0)
    before = envs.action_masks().tolist()
    with pytest.raises(ConfigError, match=r"environment 2: the action \(climb\) is not applicable in the state"):
        envs.step(np.array([walk, walk, climb]))
    assert envs.action_masks().tolist() == before
    assert envs.step(np.array([walk, walk, walk]))[1].tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda envs: envs.step(np.array([0, 99])), "environment 1: there is no such action; they are numbered from 0"),
        (lambda envs: envs.step(np.array([0, 2**40])), "environment 1: there is no such action"),
        (lambda envs: envs.step(np.array([0])), "expected 2 whole numbers of actions"),
        (lambda envs: envs.step(np.array([0.0, 0.0])), "expected 2 whole numbers of actions"),
        (lambda envs: envs.step([[0], [0, 1]]), "expected 2 whole numbers of actions, not [[0], [0, 1]]"),
        (lambda envs: envs.step(np.array([0, 0], "m8[s]")), "expected 2 whole numbers of actions"),
        (lambda envs: envs.reset(options=5), "options of reset must be a dict or None, not 5"),
        (lambda envs: envs.render(), "a vector environment does not render; make one environment with a render_mode"),
        (lambda envs: envs.reset(seed=-1), "seeds must be whole numbers from 0 to 2^64 - 1, not -1"),
        (lambda envs: envs.reset(seed=2**64 - 1), "seeds must be whole numbers from 0 to 2^64 - 1"),
        (lambda envs: envs.reset(seed=[1]), "expected a seed for each of 2 environments, not 1 seeds"),
        (lambda envs: envs.reset(options={"mask": 1}), "unknown option of reset 'mask'; expected reset_mask"),
        (lambda envs: envs.reset(options={"reset_mask": [True, True]}), "reset_mask must be an array of 2 bool"),
    ],
)
def test_refused_calls(call: Any, message: str) -> None:
    envs = made(2, **TIRES)
    with pytest.raises(ConfigError, match="no episode has begun: call reset first"):
        envs.step(np.array([0, 0]))
    with pytest.raises(ConfigError, match="the first reset is of all environments"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(seed=0)
    with pytest.raises(ConfigError) as caught:
        call(envs)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs must be a whole number from 1 to 1000000, not 0"),
        ({"num_envs": True}, "num_envs must be a whole number from 1 to 1000000, not True"),
        ({"num_envs": None}, "num_envs must be a whole number from 1 to 1000000, not None"),
        ({"threads": -1}, "threads must be a whole number from 1"),
        ({"threads": 0}, "threads must be a whole number from 1"),
        ({"max_episode_steps": 0}, "max_episode_steps must be a whole number from 1"),
        ({"render_mode": "svg"}, "a vector environment does not render"),
        ({"state_names": True}, "state_names is for single environments"),
        ({"speed": 3}, "unknown option of the environment 'speed'"),
    ],
)
def test_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        PPDDLVectorEnv(**{**TIRES, **options})
    assert message in str(caught.value)


def test_the_name_that_gymnasium_has_for_the_step_limit() -> None:
    envs = made(1, **CLIFF, max_episode_steps=2)
    envs.reset(seed=0)
    wait = np.array(named(envs, "(wait)"))
    assert [bool(envs.step(wait)[3][0]) for _ in range(2)] == [False, True]


def test_costs_that_depend_on_the_state() -> None:
    envs = made(2, **STATE_COSTS, observation="graph")
    observations, _ = envs.reset(seed=0)
    assert observations["actions"][:, :, 1].tolist() == [[-0.5, 9.0]] * 2
    first, inapplicable = named(envs, "(a)", "(b)")
    observations, rewards, _, _, infos = envs.step(np.array([first, inapplicable]))
    assert (rewards.tolist(), infos["cost"].tolist()) == ([0.5, -9.0], [-0.5, 9.0])
    assert observations["actions"][:, :, 1].tolist() == [[2.5, 0.0], [-0.5, 9.0]]
