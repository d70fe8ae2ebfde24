"""Training recurrent networks: depths are drawn from the seed, and what was learnt holds beyond them."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from asnets.api import Policy, train
from asnets.errors import ConfigError
from asnets.network.network import ASNet
from asnets.training import PRESETS
from asnets.training.session import Session, SessionFiles
from asnets.training.trainer import Trainer
from asnets.training.trainer import train as train_all
from tests.planning.test_heuristics import family_task
from tests.training.test_training import QUICK, quick_tasks, weights_of

RECURRENT = QUICK.changed(recurrent=True, train_depth=5, hidden=4)


def depths_of(seed: int) -> list[int]:
    depths = []
    original = ASNet.log_probabilities

    def recording(self: ASNet, batch: object, dropout: object = None, depth: int | None = None) -> object:
        depths.append(depth)
        return original(self, batch, dropout, depth)  # type: ignore[arg-type]

    with mock.patch.object(ASNet, "log_probabilities", recording):
        train_all(Trainer(quick_tasks(), RECURRENT.changed(learn_steps=20, max_epochs=1), seed=seed))
    return [depth for depth in depths if depth is not None]


def test_depths_are_drawn_from_the_seed() -> None:
    first = depths_of(3)
    assert len(first) == 20
    assert set(first) == {2, 3, 4, 5}
    assert first == depths_of(3) != depths_of(4)


def test_going_on_comes_to_the_same(tmp_path: Path) -> None:
    whole = Trainer(quick_tasks(), RECURRENT, seed=3)
    train_all(whole)
    files = SessionFiles(tmp_path / "m")
    one = RECURRENT.changed(max_epochs=1)
    Session(Trainer(quick_tasks(), one, seed=3), files).train()
    resumed = files.resume(RECURRENT, 3).resume(quick_tasks(), RECURRENT, seed=3)
    train_all(resumed)
    assert weights_of(resumed) == weights_of(whole)


def test_a_model_keeps_its_depth() -> None:
    tasks = quick_tasks()
    policy = train(None, tasks[:1], recurrent=True, train_depth=4, hidden=4, max_epochs=1, learn_steps=2)
    assert "recurrent layers (depth auto) of hidden size 4" in repr(policy)
    deep = Policy.from_bytes(policy.at_depth(30).to_bytes())
    assert deep.config.depth == 30
    assert deep.evaluate(tasks[0], runs=2).depth is not None
    assert deep.at_depth("auto").logits(tasks[1]) == policy.logits(tasks[1])
    assert policy.verify(tasks[0]).method == "exact"
    with pytest.raises(ConfigError, match="depth must be a whole number from 2 to 100000, or 'auto', not 1"):
        policy.at_depth(1)
    with pytest.raises(ConfigError, match="the network is not recurrent: its depth is 2, as it was trained"):
        Policy.load("triangle-tireworld").at_depth(3)


@pytest.mark.parametrize("option", [{"depth": "auto"}, {"depth": 3}, {"train_depth": 9}])
def test_options_that_would_do_nothing(option: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"is for recurrent networks: --recurrent makes|only recurrent networks"):
        PRESETS["default"].changed(**option)


def test_what_is_learnt_on_short_paths_holds_on_longer_ones() -> None:
    """Monster: the choice at the start depends on the end of the path, further away than in any training problem."""
    options = {"recurrent": True, "train_depth": 8, "nonlinearity": "tanh", "features": (), "batch_size": 16}
    small = [family_task("monster", size) for size in (1, 2, 3)]
    policy = train(None, small, max_epochs=2, seed=0, **options)  # type: ignore[arg-type]
    assert policy.evaluate(family_task("monster", 6), runs=20).goals == 20
