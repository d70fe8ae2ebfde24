"""Pictures of environments: as text, as SVG, as pixels."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed (pip install 'asnets[gym]')")

from asnets.errors import ConfigError, MissingPackageError  # noqa: E402
from asnets.gym import ENVIRONMENT_ID, PPDDLEnv, rendering  # noqa: E402
from tests.gym.test_environment import CLIFF, TIRES  # noqa: E402

pytestmark = pytest.mark.native


def made(mode: str, **options: Any) -> PPDDLEnv:
    env = gymnasium.make(ENVIRONMENT_ID, render_mode=mode, **options).unwrapped
    assert isinstance(env, PPDDLEnv)
    env.reset(seed=0)
    return env


def test_text() -> None:
    env = made("ansi", **CLIFF)
    assert env.render() == "cliff: start\n  true: (start)\n  cost so far: 0\n"
    env.step("(jump)")
    assert "step 1, (jump)\n  changed: nothing\n" in env.render()
    env.step("(walk)")
    env.step("(climb)")
    assert env.render() == (
        "cliff: step 3, (climb), goal reached\n  changed: +(top) -(edge)\n  true: (top)\n  cost so far: 3\n"
    )


def test_the_map_shows_the_way_so_far() -> None:
    env = made("svg", **TIRES)
    before = ElementTree.fromstring(env.render())
    move = next(name for name in env.simulator.state.applicable_names if name.startswith("(move-car"))
    env.step(move)
    after = ElementTree.fromstring(env.render())

    def segments(root: ElementTree.Element) -> int:
        return sum("data-at" in part.attrib and part.get("class") == "step" for part in root.iter())

    assert (segments(before), segments(after)) == (0, 1)
    words = " ".join(part.text or "" for part in after.iter())
    assert f"step 1, {move}" in words
    assert "%" not in words  # Nobody knows how probable it was.


def test_towers_and_their_goal() -> None:
    env = made("svg", family="prob-blocksworld", size=4)
    words = " ".join(part.text or "" for part in ElementTree.fromstring(env.render()).iter())
    assert "On the table: " in words
    assert "Goal" in words


def test_propositions_of_anything_else() -> None:
    env = made("svg", **CLIFF)
    env.step("(walk)")
    root = ElementTree.fromstring(env.render())
    namespace = "{http://www.w3.org/2000/svg}"
    truth = {
        str(item.findtext(f"{namespace}text")): item.get("class")
        for item in root.iter(f"{namespace}g")
        if item.get("class") in ("true", "false")
    }
    assert truth == {"(start)": "false", "(edge)": "true", "(top)": "false", "(bottom)": "false"}


@pytest.mark.parametrize("options", [TIRES, {"family": "exploding-blocksworld", "size": 4}, CLIFF])
def test_pixels_are_frames_of_one_film(options: dict[str, Any]) -> None:
    """The same size in all states, other pixels in other states, the same in the same."""
    pytest.importorskip("resvg_py", reason="resvg_py is not installed (pip install 'asnets[gym]')")
    env = made("rgb_array", **options)
    frames = [env.render()]
    while env.ending is None and len(frames) < 8:
        env.step(env.simulator.state.applicable[0])
        frames.append(env.render())
    assert {frame.shape for frame in frames} == {frames[0].shape}
    assert frames[0].dtype == np.uint8
    assert len(np.unique(frames[0])) > 10
    assert (frames[0] != frames[1]).any()
    env.reset(seed=0)
    assert (env.render() == frames[0]).all()


def test_snapshots_hold_the_way() -> None:
    env = made("ansi", **CLIFF)
    env.step("(walk)")
    text, snapshot = env.render(), env.clone_state()
    env.reset(seed=3)
    env.restore_state(snapshot)
    assert env.render() == text


def test_a_snapshot_without_pictures_can_be_drawn() -> None:
    env = gymnasium.make(ENVIRONMENT_ID, **CLIFF).unwrapped
    env.reset(seed=0)
    env.step("(walk)")
    other = made("ansi", **CLIFF)
    other.restore_state(env.clone_state())
    assert other.render() == "cliff: step 1\n  true: (edge)\n  cost so far: 1\n"


def test_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="render_mode must be None or one of ansi, rgb_array, svg, not 'human'"):
        PPDDLEnv(render_mode="human", **TIRES)
    env = made("ansi", **CLIFF)
    policy = rendering.OutsidePolicy(env.task)
    with pytest.raises(ConfigError, match="the actions came from outside"):
        policy.distributions([])
    for missing in ("resvg_py", "PIL", "matplotlib"):
        monkeypatch.setattr("asnets.extras.is_installed", lambda package, missing=missing: package != missing)
        with pytest.raises(MissingPackageError, match=rf"needs {missing}, .*pip install 'asnets\[gym\]'"):
            PPDDLEnv(render_mode="rgb_array", **TIRES)
