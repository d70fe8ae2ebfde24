"""Training: labels against value iteration, the loss by hand, learning, checkpoints, files."""

from __future__ import annotations

import json
import math
import random
import re
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asnets.errors import ConfigError, LimitError, ModelFileError, TrainingError
from asnets.evaluation import trace
from asnets.grounding import GroundTask, ground
from asnets.network.model_file import load_model, save_model
from asnets.policies import RandomPolicy
from asnets.policies.networks import network_policy
from asnets.ppddl.model import Domain, Problem
from asnets.training import PRESETS, Preset, TrainingConfig
from asnets.training.checkpoint import read_checkpoint, save_checkpoint
from asnets.training.loss import best_actions, cross_entropy
from asnets.training.planner_teacher import PlannerTeacher
from asnets.training.progress import EpochRecord, is_as_good, is_better
from asnets.training.trainer import Trainer, train
from tests.oracles.explicit import explore
from tests.planning.test_heuristics import family_task
from tests.ssp_strategies import ssps
from tests.support import ground_text

QUICK = PRESETS["default"].changed(
    teacher_planner="lrtdp",
    features=["landmarks"],
    learn_steps=5,
    explore_rounds=4,
    judge_runs=3,
    batch_size=16,
    max_epochs=3,
)


def quick_tasks() -> list[GroundTask]:
    return [family_task("triangle-tireworld", 1), family_task("triangle-tireworld", 2)]


# --- The teacher ----------------------------------------------------------------------------------------------------


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=40)
@given(ssps(), st.sampled_from(["lmcut", "hmax"]), st.sampled_from([500.0, 10.0]), st.integers(0, 1000))
def test_labels_are_optimal_actions(ssp: tuple[Domain, Problem], heuristic: str, penalty: float, seed: int) -> None:
    task = ground(*ssp, costs="metric")
    explicit = explore(task, 30_000)
    assert explicit is not None
    optimal = explicit.optimal_values(penalty)
    config = TrainingConfig(teacher_heuristic=heuristic, penalty=penalty)
    teacher = PlannerTeacher(task, config, seed)
    numbers = {tuple(explicit.states.propositions(number)): i for i, number in enumerate(explicit.numbers)}
    states = [explicit.states.propositions(number) for number in explicit.numbers]
    random.Random(seed).shuffle(states)
    known = set()
    for labelled in [labelled for state in states for labelled in teacher.label([state])]:
        state = numbers[tuple(labelled.propositions)]
        assert state not in known
        known.add(state)
        expected = {
            action: explicit.costs[state][action] + sum(p * optimal[successor] for successor, p in outcomes)
            for action, outcomes in explicit.transitions[state]
        }
        assert labelled.enabled.tolist() == sorted(expected)
        least = min(expected.values())
        assert least < penalty
        labels = best_actions(labelled.q_values, config)
        for action, best in zip(labelled.enabled.tolist(), labels.tolist(), strict=True):
            gap = expected[action] - least
            assert best == (gap <= config.label_tolerance) or abs(gap - config.label_tolerance) < 0.009
    for state, actions in enumerate(explicit.transitions):
        if not explicit.goals[state] and len(actions) > 1 and optimal[state] < penalty - 0.02:
            assert state in known
    assert teacher.skipped == 0


def test_trajectories_are_labelled_up_to_dead_ends() -> None:
    """Triangle Tireworld 1: after a flat tire without a spare nothing can be done."""
    task = family_task("triangle-tireworld", 1)
    teacher = PlannerTeacher(task, TrainingConfig(), 0)
    runs = [trace(RandomPolicy(task), episode=i) for i in range(20)]
    sunk = next(run for run in runs if run.record.ending == "dead_end" and run.record.steps > 1)
    states = teacher.label(sunk.states)
    assert states
    assert all(len(state.q_values) == len(state.enabled) > 1 for state in states)
    assert teacher.label(sunk.states) == []


def test_questions_that_take_too_long_are_counted() -> None:
    task = family_task("triangle-tireworld", 2)
    teacher = PlannerTeacher(task, TrainingConfig(query_limit=3), 0)
    assert teacher.value() is None
    assert teacher.label(trace(RandomPolicy(task), seed=1).states[:1]) == []
    assert teacher.skipped == 1


# --- The loss -------------------------------------------------------------------------------------------------------


def test_loss_by_hand() -> None:
    """π = (0.5, 0.3, 0.2), and a disabled action; y = (1, 0, 0)."""
    log_probabilities = torch.tensor([0.5, 0.3, 0.2, 0.0]).log()
    best = torch.tensor([True, False, False, False])
    terms = cross_entropy(log_probabilities, best)
    expected = [-math.log(0.5), -math.log(0.7), -math.log(0.8), 0.0]
    assert terms.tolist() == pytest.approx(expected, rel=1e-5)


def test_loss_and_gradient_are_finite_at_the_ends() -> None:
    """Also for a policy that is certain and wrong, and in states without enabled actions."""
    logits = torch.tensor([[200.0, -200.0, 0.0], [-math.inf, -math.inf, -math.inf]], requires_grad=True)
    masked = torch.log_softmax(logits[0], dim=0)
    terms = torch.cat([masked, torch.full((3,), -math.inf)])
    best = torch.tensor([False, True, False, False, False, False])
    loss = cross_entropy(terms, best).sum()
    loss.backward()  # type: ignore[no-untyped-call]
    assert math.isfinite(loss.item())
    assert logits.grad is not None
    assert torch.isfinite(logits.grad[0]).all()


# --- Learning -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_the_first_step_is_adams_of_the_loss_with_the_squares_of_all_weights(preset: str) -> None:
    """By hand: m = (1 - β₁) g and v = (1 - β₂) g², so that what is left of both corrected is g / (|g| + ε)."""
    config = PRESETS[preset].changed(dropout=0.0, l2=0.05, learn_steps=1, batch_size=16, explore_rounds=4)
    config = config.changed(teacher_planner="lrtdp", features=["landmarks"], judge_runs=1)
    trainer, oracle = (Trainer(quick_tasks(), config, seed=3) for _ in range(2))
    trainer.run_epoch()
    batch, labels = trainer.memory.sample(16, oracle.sampling)
    loss = cross_entropy(oracle.network.log_probabilities(batch, None, None), labels).sum()
    loss = loss / 16 if config.training.reduction == "mean" else loss
    weights = oracle.network.weights()
    squares = torch.stack([weight.square().sum() for weight in weights.values()]).sum()
    gradients = torch.autograd.grad(loss + 0.05 * squares, list(weights.values()))
    rate = config.training.learning_rate
    for (name, before), gradient in zip(weights.items(), gradients, strict=True):
        expected = before - rate * gradient / (gradient.abs() + 1e-8)
        after = trainer.network.weights()[name]
        far = gradient.abs() > 1e-5  # Where rounding does not decide.
        assert torch.allclose(after[far], expected[far], atol=rate * 1e-3, rtol=0)
        assert bool(((after - before).abs() <= rate * 1.001).all())


LINE = """
  (:predicates (at ?l) (next ?a ?b))
  (:action go :parameters (?a ?b) :precondition (and (at ?a) (next ?a ?b)) :effect (and (not (at ?a)) (at ?b)))
  (:action stay :parameters (?a) :precondition (at ?a) :effect (at ?a))
"""


def line(length: int) -> GroundTask:
    objects = " ".join(f"l{i}" for i in range(length))
    steps = " ".join(f"(next l{i} l{i + 1})" for i in range(length - 1))
    return ground_text(LINE, f"(:objects {objects}) (:init (at l0) {steps}) (:goal (at l{length - 1}))")


@pytest.mark.parametrize("preset", PRESETS)
def test_a_trivial_domain_is_learnt(preset: str) -> None:
    """Go on rather than stay; on a line of any length."""
    trainer = Trainer([line(3), line(4)], PRESETS[preset].changed(solved_epochs=2, learn_steps=60, max_epochs=40))
    assert train(trainer) == "all training problems solved for 2 epochs"
    from asnets.evaluation.evaluate import evaluate

    result = evaluate(network_policy(trainer.best_network(), line(60)), runs=5)
    assert (result.goals, result.finished.mean_cost) == (5, 59)
    assert trainer.progress.best is not None
    assert trainer.progress.best.cost == pytest.approx(1)


def test_problems_that_cannot_be_used_are_left_out() -> None:
    solved = ground_text(LINE, "(:objects l0 l1) (:init (at l0)) (:goal (at l0))")
    stuck = ground_text(LINE, "(:objects l0 l1) (:init (at l0) (next l1 l0)) (:goal (at l1))")
    trainer = Trainer([solved, line(3), stuck], QUICK)
    assert [each.reason for each in trainer.left_out] == [
        "its goal holds at once",
        "its goal cannot be reached",
    ]
    assert len(trainer.tasks) == 1
    with pytest.raises(ConfigError, match="there is no problem to train on: p is left out because its goal holds at"):
        Trainer([solved], QUICK)
    with pytest.raises(ConfigError, match="there are no training problems"):
        Trainer([], QUICK)
    with pytest.raises(LimitError, match="the teacher did not solve it within 3 expanded states"):
        Trainer([family_task("triangle-tireworld", 2)], QUICK.changed(query_limit=3))
    with pytest.raises(ConfigError, match="are of different domains"):
        Trainer([line(3), family_task("gripper", 1)], QUICK)


def test_arguments() -> None:
    for seed in (-1, 2**64):
        with pytest.raises(ConfigError, match="the seed must be between 0 and"):
            Trainer([line(3)], QUICK, seed=seed)
    with pytest.raises(ConfigError, match="the number of threads must be at least 1, not 0"):
        Trainer([line(3)], QUICK, threads=0)


def test_divergence_is_an_error(tmp_path: Path) -> None:
    trainer = Trainer(quick_tasks(), QUICK.changed(learning_rate=1e9, learn_steps=50), seed=3)
    with pytest.raises(TrainingError, match="the loss is no longer a number in epoch 1"):
        train(trainer)


def record(goals: int, cost: float | None, loss: float) -> EpochRecord:
    return EpochRecord(1, (goals,), 10, cost, loss, 0, 0, {}, 0.0, True)


def test_whatis_better() -> None:
    assert is_better(record(9, 2.0, 1.0), record(8, 1.0, 0.1))
    assert not is_better(record(8, 1.0, 1.0), record(9, 1.0, 1.0))
    assert is_better(record(9, 1.5, 1.0), record(9, 2.0, 0.1))
    assert not is_better(record(9, 1.99, 1.0), record(9, 2.0, 0.1))
    assert is_as_good(record(9, 2.01, 1.0), record(9, 2.0, 0.1))
    assert not is_as_good(record(9, 2.1, 1.0), record(9, 2.0, 0.1))
    assert is_as_good(record(0, None, 1.0), record(0, None, 0.1))
    assert not is_as_good(record(9, None, 1.0), record(9, 2.0, 0.1))


# --- The same again -------------------------------------------------------------------------------------------------


def weights_of(trainer: Trainer) -> dict[str, list[float]]:
    return {name: weight.detach().flatten().tolist() for name, weight in trainer.network.weights().items()}


def without_clocks(history: list[EpochRecord]) -> list[EpochRecord]:
    return [replace(each, seconds={}, elapsed=0.0) for each in history]


@pytest.mark.parametrize("heuristic", ["lmcut", "hadd"])
def test_same_seed_same_result_on_any_number_of_threads(heuristic: str) -> None:
    preset = QUICK.changed(teacher_heuristic=heuristic)
    first, second, other = (
        Trainer(quick_tasks(), preset, seed=seed, threads=threads) for seed, threads in ((1, 1), (1, 2), (2, 1))
    )
    for trainer in (first, second, other):
        train(trainer)
    assert weights_of(first) == weights_of(second)
    assert without_clocks(first.progress.history) == without_clocks(second.progress.history)
    assert weights_of(first) != weights_of(other)


@pytest.mark.parametrize("heuristic", ["lmcut", "hadd"])
@pytest.mark.parametrize("stops", [[1], [2], [1, 2]])
def test_resumed_is_uninterrupted(tmp_path: Path, heuristic: str, stops: list[int]) -> None:
    preset = QUICK.changed(teacher_heuristic=heuristic, max_epochs=4)
    whole = Trainer(quick_tasks(), preset, seed=3)
    train(whole)
    for stop in stops:
        shorter = preset.changed(max_epochs=stop)
        if stop == stops[0]:
            part = Trainer(quick_tasks(), shorter, seed=3)
        else:
            part = read_checkpoint(tmp_path / "c").resume(quick_tasks(), shorter, seed=3)
        train(part)
        save_checkpoint(tmp_path / "c", part)
    resumed = read_checkpoint(tmp_path / "c").resume(quick_tasks(), preset, seed=3)
    train(resumed)
    assert weights_of(resumed) == weights_of(whole)
    assert without_clocks(resumed.progress.history) == without_clocks(whole.progress.history)
    for name, weight in whole.best_weights.items():
        assert torch.equal(weight, resumed.best_weights[name])
    assert [len(memory) for memory in resumed.memory.problems] == [len(memory) for memory in whole.memory.problems]


def test_checkpoints_of_other_trainings_are_refused(tmp_path: Path) -> None:
    trainer = Trainer(quick_tasks(), QUICK, seed=3)
    trainer.run_epoch()
    save_checkpoint(tmp_path / "c", trainer)
    checkpoint = read_checkpoint(tmp_path / "c")
    others: list[tuple[list[GroundTask], Preset, int, str]] = [
        (quick_tasks(), QUICK, 4, "seed is 3 there, 4 here"),
        (quick_tasks(), QUICK.changed(hidden=8), 3, "hidden is 16 there, 8 here"),
        (quick_tasks(), QUICK.changed(l2=0.5), 3, "l2 is 0.0001 there, 0.5 here"),
        (quick_tasks()[:1], QUICK, 3, "the problems differ: triangle-tire-1, triangle-tire-2 there, triangle-tire-1 "),
        ([replace(task, cost_mode="metric") for task in quick_tasks()], QUICK, 3, "costs are unit there, metric here"),
        (
            [replace(task, factor_probability=task.factor_probability * 0.9) for task in quick_tasks()],
            QUICK,
            3,
            "the problems differ: triangle-tire-1 is not what it was",
        ),
    ]
    for tasks, preset, seed, message in others:
        with pytest.raises(ModelFileError, match=f"c: the checkpoint is of another training: {message}") as caught:
            checkpoint.resume(tasks, preset, seed=seed)
        assert str(caught.value).endswith("The same command with --force instead of --resume begins anew")
    checkpoint.resume(quick_tasks(), QUICK.changed(time_limit=500.0, max_epochs=99, patience=7), seed=3)


@settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6), st.integers(0, 255), st.booleans())
def test_damaged_checkpoints(tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, cut: bool) -> None:
    """They are refused with a message that says what to do; what says the same in other bytes is not damaged."""
    path = tmp_path_factory.mktemp("c") / "c"
    data = bytearray(saved_checkpoint())
    path.write_bytes(data)
    whole = read_checkpoint(path)
    place %= len(data)
    if cut:
        del data[place:]
    else:
        data[place] = byte
    path.write_bytes(data)
    try:
        read = read_checkpoint(path)
    except ModelFileError as error:
        assert re.fullmatch(  # noqa: PT017
            f"{re.escape(str(path))}: (not a checkpoint, or cut off or damaged|damaged: its checksum is wrong|"
            r"the checkpoint has version .*; version 2 is needed)\. "
            "The same command with --force instead of --resume begins anew",
            str(error),
        )
    else:
        assert not cut
        assert read.header == whole.header
        assert read.tensors.keys() == whole.tensors.keys()
        assert all(np.array_equal(array, whole.tensors[name]) for name, array in read.tensors.items())


@cache
def saved_checkpoint() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer([line(3)], QUICK, seed=3)
        trainer.run_epoch()
        save_checkpoint(Path(folder) / "c", trainer)
        return (Path(folder) / "c").read_bytes()


def test_every_byte_of_a_checkpoint_counts(tmp_path: Path) -> None:
    """One bit in the arrays is enough."""
    data = bytearray(saved_checkpoint())
    first = 8 + int.from_bytes(data[:8], "little")
    for place in (first, (first + len(data)) // 2, len(data) - 1):
        damaged = data.copy()
        damaged[place] ^= 1
        (tmp_path / "c").write_bytes(damaged)
        with pytest.raises(ModelFileError, match=r"c: damaged: its checksum is wrong\. The same command with --force"):
            read_checkpoint(tmp_path / "c")


def test_the_model_file_tells_how_it_was_made(tmp_path: Path) -> None:
    trainer = Trainer(quick_tasks(), QUICK, seed=3)
    train(trainer)
    save_model(tmp_path / "m", trainer.best_network(), trainer.result())
    model = load_model(tmp_path / "m")
    assert model.training == json.loads(json.dumps(trainer.result()))
    assert model.training["seed"] == 3
    assert [each["problem"] for each in model.training["problems"]] == ["triangle-tire-1", "triangle-tire-2"]
    assert TrainingConfig(**model.training["config"]) == QUICK.training
    for name, values in model.weights.arrays().items():
        assert np.array_equal(values, trainer.best_weights[name].numpy())


# --- Options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"teacher_planner": "ssipp"}, "unknown teacher 'ssipp'; expected one of vi, lrtdp, ilao, cgilao"),
        ({"teacher_heuristic": "best"}, "unknown heuristic 'best'"),
        ({"batch_size": 0}, "the option batch size must be a whole number of at least 1, not 0"),
        ({"learning_rate": -1.0}, "the option learning rate must be a number above 0 and up to 1e.09, not -1.0"),
        ({"time_limit": math.nan}, "the option time limit must be a number above 0 and up to 1e.09, not nan"),
        ({"l2": -1.0}, "the option l2 must be a number of at least 0 and up to 1e.09, not -1.0"),
        ({"learning_rate": 1e38}, "the option learning rate must be a number above 0 and up to 1e.09, not 1e.38"),
        ({"reduction": "max"}, "the option reduction must be one of sum, mean, not 'max'"),
    ],
)
def test_refused_options(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainingConfig(**values)


def test_the_papers_preset() -> None:
    """As in "Experimental setup"."""
    preset: Preset = PRESETS["paper"]
    network, training = preset.network, preset.training
    assert (network.layers, network.hidden, network.nonlinearity) == (2, 16, "elu")
    assert (network.dropout, network.pooling, network.skip, network.features) == (0.25, "schema", False, ("landmarks",))
    assert (training.learning_rate, training.batch_size, training.time_limit) == (5e-4, 128, 7200)
    assert (training.l2, training.explore_rounds, training.learn_steps, training.max_steps) == (1e-3, 25, 300, 300)
    assert (training.teacher_planner, training.teacher_heuristic, training.penalty) == ("lrtdp", "lmcut", 500)
    assert training.reduction == "sum"
