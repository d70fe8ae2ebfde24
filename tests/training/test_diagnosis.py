"""What networks cannot learn: bounds against minimisation, and domains of which it is known."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import asnets
from asnets.errors import ConfigError, LimitError
from asnets.grounding import GroundTask, ground
from asnets.network import NetworkConfig
from asnets.network.colours import refine
from asnets.network.network import ASNet, one_torch_thread
from asnets.network.signature import DomainSignature
from asnets.planning import ACTION_FEATURES, ActionFeature
from asnets.ppddl.model import Domain, Problem
from asnets.training import PRESETS
from asnets.training.advice import shortcomings
from asnets.training.diagnosis import Diagnosis, diagnose
from asnets.training.diagnosis.examined import ExaminedStates
from asnets.training.diagnosis.gathering import mean_loss
from asnets.training.diagnosis.judging import diagnose_states
from asnets.training.loss import LOSSES, Loss
from asnets.training.trainer import Trainer, train
from tests.network.building import LINE, inputs_of, line_problem, states_of
from tests.network.test_colours import random_weights
from tests.strategies import tasks
from tests.support import PUBLISHED, ground_text, needs_published
from tests.training.test_training import QUICK, line

CROSS_ENTROPY = LOSSES["cross-entropy"]


def loss_of(log_probabilities: npt.NDArray[np.float64], best: npt.NDArray[np.bool_]) -> float:
    with torch.no_grad():
        return float(CROSS_ENTROPY.terms(torch.from_numpy(log_probabilities), torch.from_numpy(best)).sum())


@st.composite
def views(draw: st.DrawFn) -> tuple[list[int], npt.NDArray[np.bool_]]:
    """The class of each action, and for each state of a view which of them are best."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    classes = [c for c, size in enumerate(sizes) for _ in range(size)]
    states = draw(st.integers(1, 3))
    rows = st.lists(st.booleans(), min_size=len(classes), max_size=len(classes)).filter(any)
    return classes, np.array(draw(st.lists(rows, min_size=states, max_size=states)))


def bounds_of(given_views: list[tuple[list[int], npt.NDArray[np.bool_]]]) -> npt.NDArray[np.float64]:
    labels, classes, starts = [], [], []
    first = 0
    for own, best in given_views:
        starts.append(first)
        for row in best:
            labels += row.tolist()
            classes += [first + c for c in own]
        first += max(own) + 1
    assert CROSS_ENTROPY.shared_bounds is not None
    numbers = (classes, starts, [len(best) for _, best in given_views])
    return CROSS_ENTROPY.shared_bounds(np.array(labels), *(np.array(each, np.int64) for each in numbers))


@settings(max_examples=30, deadline=None)
@given(st.lists(views(), min_size=1, max_size=3))
def test_bounds_are_what_minimisation_finds(given_views: list[tuple[list[int], npt.NDArray[np.bool_]]]) -> None:
    bounds = bounds_of(given_views)
    for bound, (classes, best) in zip(bounds, given_views, strict=True):

        def loss(logits: npt.NDArray[np.float64]) -> float:
            own = logits[classes]  # noqa: B023
            log_probabilities = own - np.logaddexp.reduce(own)
            return sum(loss_of(log_probabilities, row) for row in best)  # noqa: B023

        random = np.random.default_rng(0)
        for _ in range(20):
            assert loss(random.normal(scale=3, size=max(classes) + 1)) >= bound - 1e-9
        found = min(
            float(minimize(loss, start, method="Nelder-Mead", options={"maxiter": 2000, "fatol": 1e-9}).fun)
            for start in (np.zeros(max(classes) + 1), random.normal(size=max(classes) + 1))
        )
        assert found == pytest.approx(bound, abs=2e-3)


def test_bounds_by_hand() -> None:
    """One of two that look the same: -2 log ½. Both best: 2 log 2. One of three: q = ⅓."""
    one, both, three, apart = (
        ([0, 0], np.array([[True, False]])),
        ([0, 0], np.array([[True, True]])),
        ([0, 0, 0], np.array([[True, False, False]])),
        ([0, 1, 1], np.array([[True, False, False], [True, False, False]])),
    )
    expected = [2 * math.log(2), 2 * math.log(2), math.log(3) + 2 * math.log(1.5), 0]
    assert bounds_of([one, both, three, apart]) == pytest.approx(expected, abs=1e-9)


def examined_of(task: GroundTask, config: NetworkConfig, count: int, seed: int) -> ExaminedStates:
    """Some states with two actions or more, with random labels."""
    inputs = inputs_of(task, states_of(task, count), ())
    rows = np.flatnonzero(inputs.enabled.sum(axis=1) > 1)
    random = np.random.default_rng(seed)
    labels = inputs.enabled[rows] & (random.random((len(rows), task.num_actions)) < 0.4)
    for row, enabled in zip(labels, inputs.enabled[rows], strict=True):
        if not row.any():
            row[random.choice(np.flatnonzero(enabled))] = True
    return ExaminedStates(task, inputs.truth[rows], inputs.enabled[rows], labels)


@pytest.mark.native
@settings(max_examples=30, deadline=None)
@given(tasks(), st.integers(1, 3), st.booleans(), st.integers(0, 2**32))
def test_no_weights_lose_less(task: tuple[Domain, Problem], layers: int, skip: bool, seed: int) -> None:
    """Neither random ones, nor any function of the colours that gradients find."""
    ground_task = ground(*task)
    config = NetworkConfig(layers=layers, hidden=8, skip=skip, features=())
    examined = examined_of(ground_task, config, 6, seed)
    if len(examined) == 0:
        return
    found = diagnose_states([examined], config)
    assert found.floor >= found.label_floor
    assert (found.unlearnable > 0) == bool(found.conflicts) == (found.floor > found.label_floor)
    for number in range(3):
        network = ASNet(DomainSignature.of(ground_task), config)
        random_weights(network, seed % 2**31 + number)
        assert mean_loss(network, [examined], "cross-entropy") >= found.floor - 1e-5
    seen = examined.seen(config, asnets.Deadline(1e9))
    (colours,) = next(each for each in refine([seen], config) if each.layers == layers).actions
    with one_torch_thread():
        lowest = least_found(torch.from_numpy(colours), examined)
    assert lowest >= found.floor - 1e-9


def least_found(colours: torch.Tensor, examined: ExaminedStates) -> float:
    """The least mean loss that gradients find, with one logit for each colour."""
    table = torch.zeros(int(colours.max()) + 1, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([table], lr=0.3)
    enabled, labels = torch.from_numpy(examined.enabled), torch.from_numpy(examined.labels)
    lowest = math.inf
    for _ in range(30):
        log_probabilities = table[colours].masked_fill(~enabled, -math.inf).log_softmax(dim=1)
        terms = CROSS_ENTROPY.terms(log_probabilities, labels)
        loss = terms.masked_fill(~enabled, 0.0).sum() / len(examined)
        lowest = min(lowest, loss.item())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return lowest


def monster(*lengths: int) -> list[GroundTask]:
    return [asnets.generate("monster", length) for length in lengths]


def names_of(diagnosis: Diagnosis) -> set[str]:
    return {conflict.task.problem for conflict in diagnosis.conflicts}


@pytest.mark.native
@pytest.mark.parametrize("features", [(), ("landmarks",)])
@pytest.mark.parametrize("preset", list(PRESETS))
def test_monster_cannot_be_learnt_where_it_is_longer_than_the_layers(preset: str, features: tuple[str, ...]) -> None:
    for layers, length in itertools.product(range(1, 4), range(1, 5)):
        found = diagnose(preset, None, monster(length), layers=layers, features=features)
        assert bool(found.conflicts) == (length > layers)
        assert found.floor == pytest.approx(2 * math.log(2) if length > layers else 0)
        if found.conflicts:
            assert found.unlearnable == found.forced == found.states == 2
            (conflict,) = found.conflicts
            assert (conflict.schema, conflict.is_one_state, conflict.states) == ("drive", True, 2)
            depth, *others = found.remedies
            assert (depth.options, depth.layers, depth.separates_all) == ("", length, True)
            given_features = "".join(f"--feature {name} " for name in features)
            assert f"{given_features}--feature relaxed-plan" in [each.options for each in others if each.separates_all]


@needs_published
@pytest.mark.native
def test_the_papers_files_of_monster() -> None:
    folder = PUBLISHED / "monster"
    files = sorted(folder.glob("*n[1-5].pddl"))
    if len(files) < 5:
        pytest.skip("the files have other names")
    for length, file in enumerate(files, start=1):
        found = diagnose("default", folder / "domain.pddl", [file], layers=3, features=["landmarks"])
        assert bool(found.conflicts) == (length > 3)


def test_words() -> None:
    found = diagnose("default", None, monster(2, 3), features=["landmarks"])
    assert found.words == (
        "with 2 layers the loss is 0.693 at least, while the labels allow 0.000: (drive start left-1) and "
        "(drive start right-1) look the same within 2 layers; --layers 3 or --feature landmarks --feature relaxed-plan "
        "or --feature landmarks --feature risk would separate them"
    )
    assert (
        diagnose("default", None, monster(1, 2)).words == "with 2 layers, all that the teacher wants can be told apart"
    )
    assert repr(found).startswith("<Diagnosis of 4 states: with 2 layers the loss is")


QUICKLY: dict[str, Any] = {"teacher_heuristic": "hadd", "explore_rounds": 4, "states": 300}


@pytest.mark.native
def test_cosanostra_needs_landmarks_or_layers() -> None:
    """With one layer, a booth in the middle does not see which way the customer is."""
    task = asnets.generate("cosanostra", 5)
    found = diagnose("default", None, [task], layers=1, features=(), **QUICKLY)
    assert found.conflicts[0].schema == "leave-toll-booth"
    assert found.remedies[0].separates_all
    assert found.remedies[0].layers == 2
    gains = {remedy.options: remedy.share for remedy in found.remedies}
    assert gains["--feature landmarks"] > 0.5
    assert not diagnose("default", None, [task], layers=2, features=(), **QUICKLY).conflicts


@pytest.mark.native
@pytest.mark.parametrize(("family", "sizes"), [("triangle-tireworld", (1, 2)), ("prob-blocksworld", (4, 5))])
def test_what_can_be_learnt_is_not_complained_about(family: str, sizes: tuple[int, ...]) -> None:
    found = diagnose("default", None, [asnets.generate(family, size) for size in sizes], explore_rounds=4)
    assert found.states > 50
    assert (found.conflicts, found.unlearnable, found.remedies) == ((), 0, ())
    assert found.floor == found.label_floor


def ring(size: int, goal: int) -> GroundTask:
    """Places in a ring, with roads both ways."""
    names = [f"l{i}" for i in range(size)]
    roads = " ".join(f"(road {a} {b}) (road {b} {a})" for a, b in zip(names, names[1:] + names[:1], strict=True))
    return ground_text(LINE, f"(:objects {' '.join(names)} - loc) (:init (at l0) {roads}) (:goal (at l{goal}))")


class Distance:
    """How far a place is from l4, in quarters, in a ring of nine."""

    def __init__(self, task: GroundTask) -> None:
        places = [int(task.action_name(action).rstrip(")")[-1]) for action in range(task.num_actions)]
        self.values = np.array([[min(abs(place - 4), 9 - abs(place - 4)) / 4] for place in places], np.float32)

    def of(self, propositions: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        return self.values


def test_features_of_the_registry_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """From afar, both ways around a ring look the same, but to a feature that tells how far it is."""
    monkeypatch.setitem(ACTION_FEATURES, "far", ActionFeature("far", 1, "for tests", make=Distance))
    found = diagnose("default", None, [ring(9, 4)], layers=1, features=(), teacher_heuristic="zero")
    assert found.conflicts[0].is_one_state
    (remedy,) = [each for each in found.remedies if each.options == "--feature far"]
    assert (remedy.separates_all, remedy.layers) == (True, 1)
    assert remedy.words(1) == "--feature far: all of it, with 1 layer"


@pytest.mark.parametrize("skip", [False, True])
def test_that_no_depth_helps_is_proved(skip: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ways of the same length, of which the teacher takes one."""
    for name in set(ACTION_FEATURES) - {"landmarks", "landmark-share"}:  # Others may tell them apart by chance.
        monkeypatch.delitem(ACTION_FEATURES, name)
    task = ring(8, 4)
    inputs = inputs_of(task, states_of(task, 1), ())
    labels = np.zeros((1, task.num_actions), np.bool_)
    labels[0, np.flatnonzero(inputs.enabled[0])[0]] = True  # One way, although both are as long.
    config = NetworkConfig(layers=2, features=(), skip=skip)
    found = diagnose_states([ExaminedStates(task, inputs.truth, inputs.enabled, labels)], config)
    depth = found.remedies[0]
    assert (depth.share, depth.separates_all, depth.is_proved) == (0, False, True)
    assert found.words.endswith("no number of layers separates them, and no feature does")
    assert depth.words(2).endswith("(the colours repeat)")


def test_the_same_seed_gives_the_same() -> None:
    both = [diagnose("default", None, monster(3, 4), seed=3).to_dict() for _ in range(2)]
    assert both[0] == both[1]
    assert both[0]["share"] is None
    assert both[0]["loss"] is None


def test_a_trained_policy() -> None:
    """The shipped model, trained on lengths up to 5, loses what it cannot help losing."""
    policy = asnets.Policy.load("monster")
    found = diagnose(policy, None, monster(5, 7))
    assert found.loss == pytest.approx(found.floor, abs=1e-2)
    assert found.share == pytest.approx(1, abs=0.02)
    assert "% of the remaining loss cannot be learnt with 5 layers" in found.words
    assert names_of(found) == {"monster-n7"}
    with pytest.raises(ConfigError, match="has the shape of its network"):
        diagnose(policy, None, monster(5), layers=7)


@pytest.mark.native
def test_training_says_what_cannot_be_learnt() -> None:
    preset = PRESETS["default"].changed(layers=1, max_epochs=2, learn_steps=60, hidden=4, features=())
    trainer = Trainer(monster(1, 3), preset)
    reason = train(trainer)
    first, *_, last = shortcomings(trainer, reason)
    assert first.startswith("training has not succeeded")
    assert "of the remaining loss cannot be learnt with 1 layer: (drive start left-1) and (drive start right-1)" in last
    assert "--layers 3" in last
    assert "in 4 states that were looked at" in last


def test_training_says_when_nothing_stands_in_the_way() -> None:
    preset = PRESETS["default"].changed(max_epochs=1, learn_steps=1, features=())
    trainer = Trainer(monster(2, 1), preset)
    reason = train(trainer)
    words = shortcomings(trainer, reason)
    if words:  # By chance, random weights may go the right way.
        assert "neither --layers (2 now) nor --feature (none now) stands in the way" in words[-1]


def test_losses_without_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Loss("for tests", True, CROSS_ENTROPY.labels, CROSS_ENTROPY.terms, CROSS_ENTROPY.lower_bounds)
    monkeypatch.setitem(LOSSES, "plain", plain)
    with pytest.raises(ConfigError, match="there is no diagnosis for the loss 'plain'"):
        diagnose("default", None, monster(3), loss="plain")


def test_what_cannot_be_used() -> None:
    with pytest.raises(ConfigError, match="there are no problems"):
        diagnose("default", None, [])
    with pytest.raises(ConfigError, match="a list of one"):
        diagnose("default", None, "problem.pddl")
    with pytest.raises(ConfigError, match="there is no domain"):
        diagnose("default", None, ["problem.pddl"])
    with pytest.raises(ConfigError, match="at least 1"):
        diagnose("default", None, monster(1), states=0)
    with pytest.raises(ConfigError, match="of different domains"):
        diagnose("default", None, [*monster(1), line(3)])
    choiceless = ground_text(LINE, line_problem(3))
    with pytest.raises(ConfigError, match="there is nothing to learn: no state has a label"):
        diagnose("default", None, [choiceless])


def test_limits() -> None:
    with pytest.raises(LimitError, match="no state could be labelled"):
        diagnose("default", None, monster(3), time_limit=1e-9)
    assert QUICK.training.loss in LOSSES
