"""Going on from a model, and learning without a teacher: the gradient against the exact one, and the same again."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from asnets.deadline import Deadline
from asnets.errors import ConfigError, LimitError, ModelFileError, TrainingError
from asnets.evaluation import trace
from asnets.evaluation.evaluate import evaluate
from asnets.evaluation.rollouts import EpisodeRecord
from asnets.grounding import GroundTask
from asnets.network import build_structure
from asnets.network.batch import DisjointUnion, StateInputs, make_batch
from asnets.network.network import ASNet
from asnets.network.signature import DomainSignature
from asnets.network.weights import Weights
from asnets.planning import initial_value
from asnets.policies.networks import network_policy
from asnets.training import PRESETS, TrainingConfig
from asnets.training.advice import shortcomings
from asnets.training.checkpoint import read_checkpoint, save_checkpoint
from asnets.training.loss import LOSSES
from asnets.training.memory import Memory
from asnets.training.policy_gradient import advantages, cost_of_run, labels_of_runs
from asnets.training.start import StartModel
from asnets.training.teacher import TeacherInfo
from asnets.training.teachers import TEACHERS
from asnets.training.trainer import Trainer, train
from tests.oracles.explicit import explore
from tests.planning.test_heuristics import family_task
from tests.support import ground_text
from tests.training.test_session import diverging
from tests.training.test_training import LINE, line, quick_tasks, weights_of, without_clocks

LEARNING = PRESETS["default"].changed(
    loss="policy-gradient", learning_rate=1e-2, l2=0.0, batch_size=32, explore_rounds=8, judge_runs=3, max_epochs=3
)
SMALL = PRESETS["default"].changed(hidden=2, layers=1, dropout=0.0, features=()).network


def start_of(tasks: list[GroundTask], seed: int = 7, network: Any = PRESETS["default"].network) -> StartModel:
    """Random weights as a model."""
    made = ASNet(DomainSignature.of(tasks[0]), network, seed=seed)
    return StartModel("m.asnet", Weights(made.signature, made.config, made.arrays()))


# --- The gradient ---------------------------------------------------------------------------------------------------


def test_advantages_by_hand() -> None:
    costs = np.array([1.0, 2.0, 6.0])
    expected = np.array([1 - 4, 2 - 3.5, 6 - 1.5]) / costs.std()
    assert advantages(costs).tolist() == pytest.approx(expected.tolist())
    assert advantages(1000 * costs).tolist() == pytest.approx(expected.tolist())
    for alike in ([], [3.0], [3.0, 3.0]):
        assert advantages(np.array(alike)).tolist() == [0] * len(alike)


@pytest.mark.parametrize(
    ("objective", "expected"), [("penalty", [7.0, 50.0, 50.0, 50.0]), ("maxprob", [0.0, 0.0, 50.0, 50.0])]
)
def test_what_a_run_costs(objective: str, expected: list[float]) -> None:
    config = TrainingConfig(loss="policy-gradient", objective=objective, penalty=50.0)
    ends: list[tuple[float, Any]] = [(7.0, "goal"), (70.0, "goal"), (7.0, "dead_end"), (300.0, "loop")]
    assert [cost_of_run(EpisodeRecord(0, 0, 1, cost, end), config) for cost, end in ends] == expected


def exact_cost(network: ASNet, task: GroundTask, penalty: float) -> torch.Tensor:
    """E[C] of the sampled policy, as a function of the weights, by the linear equations of its chain.

    G(s) is the probability of reaching the goal, and W(s) the expectation of the cost where it is reached.
    """
    explicit = explore(task, 1000)
    assert explicit is not None
    states = [explicit.states.propositions(number) for number in explicit.numbers]
    truth = np.zeros((len(states), task.num_propositions), np.bool_)
    enabled = np.zeros((len(states), task.num_actions), np.bool_)
    for row, (state, transitions) in enumerate(zip(states, explicit.transitions, strict=True)):
        truth[row, state] = True
        enabled[row, [action for action, _ in transitions]] = True
    union = DisjointUnion([build_structure(task, network.config.pooling, network.signature)])
    policy = network.probabilities(make_batch(union, [StateInputs(truth, enabled)])).double().view(len(states), -1)
    chain = [[torch.zeros((), dtype=torch.float64)] * len(states) for _ in states]
    one_step = [torch.zeros((), dtype=torch.float64)] * len(states)
    for here, transitions in enumerate(explicit.transitions):
        if explicit.goals[here]:
            continue
        for action, outcomes in transitions:
            one_step[here] = one_step[here] + policy[here, action] * explicit.costs[here][action]
            for successor, probability in outcomes:
                chain[here][successor] = chain[here][successor] + policy[here, action] * probability
    matrix = torch.eye(len(states), dtype=torch.float64) - torch.stack([torch.stack(row) for row in chain])
    goals = torch.tensor(explicit.goals, dtype=torch.float64)
    reached = torch.linalg.solve(matrix, goals)
    # All actions cost 1 here, so that a step costs as much as it is likely to end in the goal.
    costs = torch.linalg.solve(matrix, torch.where(goals > 0, 0.0, reached))
    assert all(cost.item() in (0, pytest.approx(1)) for cost in one_step)
    expected: torch.Tensor = costs[0] + penalty * (1 - reached[0])
    return expected


def flat_gradient(network: ASNet) -> torch.Tensor:
    return torch.cat([weight.grad.double().flatten() for weight in network.parameters() if weight.grad is not None])


def test_the_gradient_is_that_of_the_expected_cost() -> None:
    """On Triangle Tireworld 1, where runs may reach the goal or a dead end, on ways of two lengths."""
    task, groups, runs = family_task("triangle-tireworld", 1), 800, 8
    config = TrainingConfig(loss="policy-gradient", penalty=10.0)
    network = ASNet(DomainSignature.of(task), SMALL, seed=4)
    exact_cost(network, task, config.penalty).backward()  # type: ignore[no-untyped-call]
    exact = flat_gradient(network)
    policy = network_policy(network, task, sampled=True)
    union = DisjointUnion([build_structure(task, network.config.pooling, network.signature)])
    memory = Memory([task], union, (), config)
    estimates = []
    for group in range(groups):
        made = [trace(policy, episode=group * runs + run, seed=1) for run in range(runs)]
        costs = np.array([cost_of_run(run.record, config) for run in made])
        weights = advantages(costs) * costs.std()  # Each problem has a scale of its own; here there is one.
        memory.problems[0].replace(labels_of_runs(policy, made, weights))
        network.zero_grad()
        if len(memory):
            inputs, labels = memory.problems[0].rows(np.arange(len(memory)))
            log_probabilities = network.log_probabilities(make_batch(union, [inputs]))
            terms = LOSSES["policy-gradient"].terms(log_probabilities, torch.from_numpy(labels.ravel()))
            (terms.sum() / runs).backward()  # type: ignore[no-untyped-call]
            estimates.append(flat_gradient(network))
        else:
            estimates.append(torch.zeros_like(exact))
    samples = torch.stack(estimates)
    error = samples.std(dim=0) / math.sqrt(groups)
    assert exact.norm() > 0.1
    assert ((samples.mean(dim=0) - exact).abs() <= 5 * error + 1e-4).all()
    along = samples @ exact / torch.dot(exact, exact)
    spread = along.std().item() / math.sqrt(groups)
    assert spread < 0.1
    assert along.mean().item() == pytest.approx(1, abs=4 * spread)


# --- Learning -------------------------------------------------------------------------------------------------------


def test_the_optimum_is_learnt_without_a_teacher(monkeypatch: pytest.MonkeyPatch) -> None:
    """From random weights, which reach few goals: Triangle Tireworld costs 6n - 0.5. No teacher is made."""

    def refuse(*arguments: Any) -> Any:
        raise AssertionError("a teacher is made")

    for name in list(TEACHERS):
        monkeypatch.setitem(TEACHERS, name, TeacherInfo("none", refuse))
    tasks = quick_tasks()
    trainer = Trainer(tasks, LEARNING.changed(explore_rounds=16, max_epochs=12, query_limit=1))
    assert trainer.teacher_values == [None, None]
    train(trainer)
    costs = [record.loss for record in trainer.progress.history]
    assert costs[0] > 200
    assert costs[-1] < 12
    for size, task in enumerate(tasks, 1):
        result = evaluate(network_policy(trainer.best_network(), task), runs=200)
        assert result.goals == 200
        assert result.finished.mean_cost == pytest.approx(6 * size - 0.5, abs=0.3)
    best = trainer.progress.best
    assert best is not None
    assert best.cost is not None
    assert 0.5 < best.cost < 4  # Over relaxed plans.
    assert initial_value(tasks[0], "hff") > 0
    assert shortcomings(trainer, "") == []
    result_of_training = trainer.result()
    assert result_of_training["loss_floor"] is None
    assert [each["teacher_value"] for each in result_of_training["problems"]] == [None, None]


@pytest.mark.parametrize("preset", PRESETS)
def test_defaults_of_the_loss(preset: str) -> None:
    """Smaller steps than with a teacher, weights that are not drawn to 0, no problems made, unless it is asked for."""
    plain = PRESETS[preset]
    chosen = plain.changed(loss="policy-gradient")
    assert chosen.training == replace(
        plain.training, loss="policy-gradient", learning_rate=3e-4, l2=0.0, more_problems=0, validate_made=0
    )
    assert plain.changed(loss="policy-gradient", learning_rate=0.1).training.learning_rate == 0.1
    assert plain.changed(loss="cross-entropy") == plain
    assert chosen.changed(max_epochs=2).training.learning_rate == 3e-4
    with pytest.raises(ConfigError, match="unknown loss"):
        plain.changed(loss=["policy-gradient"])


def test_trivial_problems_are_left_out() -> None:
    solved = ground_text(LINE, "(:objects l0 l1) (:init (at l0)) (:goal (at l0))")
    stuck = ground_text(LINE, "(:objects l0 l1) (:init (at l0) (next l1 l0)) (:goal (at l1))")
    trainer = Trainer([solved, line(3), stuck], LEARNING)
    assert [each.reason for each in trainer.left_out] == ["its goal holds at once", "its goal cannot be reached"]


def test_where_all_runs_come_to_the_same_nothing_is_learnt() -> None:
    """On a line that is so long that no run gets to its end."""
    trainer = Trainer([line(40)], LEARNING.changed(max_steps=20, max_epochs=2))
    before = weights_of(trainer)
    train(trainer)
    assert weights_of(trainer) == before
    assert [record.memory for record in trainer.progress.history] == [0, 0]
    assert shortcomings(trainer, "")[0].startswith("nothing could be learnt in the last epoch: on each problem, all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "lexicographic"}, "the loss 'policy-gradient' is not for the objective 'lexicographic'"),
        ({"recurrent": True}, "the loss 'policy-gradient' needs a network of one depth: give --depth with a number"),
    ],
)
def test_what_it_cannot_do(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Trainer([line(3)], LEARNING.changed(**options))


def test_recurrent_networks_learn_at_the_depth_of_their_runs() -> None:
    trainer = Trainer([line(3)], LEARNING.changed(recurrent=True, depth=3, max_epochs=1))
    trainer.run_epoch()
    assert trainer.labelling.depth(trainer.sampling) == 3


def test_divergence_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(quick_tasks(), LEARNING, seed=3)
    diverging(trainer, 2, monkeypatch)
    with pytest.raises(TrainingError, match="the loss is no longer a number in epoch 2"):
        train(trainer)


def test_an_epoch_that_the_deadline_cuts_does_not_count() -> None:
    deadline = Deadline(1e6)
    start = start_of(quick_tasks())
    trainer = Trainer(quick_tasks(), LEARNING, start=start, deadline=deadline)
    trainer.run_epoch()
    deadline.cancel()
    with pytest.raises(LimitError):
        trainer.run_epoch()
    assert len(trainer.progress.history) == 1
    kept = trainer.best_network().arrays()
    assert all((kept[name] == array).all() for name, array in start.network.arrays().items())


# --- The same again -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("begins_from_model", [False, True])
def test_same_seed_same_result_on_any_number_of_threads(begins_from_model: bool) -> None:
    start = start_of(quick_tasks()) if begins_from_model else None
    first, second, other = (
        Trainer(quick_tasks(), LEARNING, seed=seed, threads=threads, start=start)
        for seed, threads in ((1, 1), (1, 2), (2, 1))
    )
    for trainer in (first, second, other):
        train(trainer)
    assert weights_of(first) == weights_of(second)
    assert without_clocks(first.progress.history) == without_clocks(second.progress.history)
    assert weights_of(first) != weights_of(other)


@pytest.mark.parametrize("loss", ["policy-gradient", "cross-entropy"])
@pytest.mark.parametrize("stop", [1, 2])
def test_resumed_is_uninterrupted(tmp_path: Path, loss: str, stop: int) -> None:
    preset, start = LEARNING.changed(loss=loss, learn_steps=5, max_epochs=4), start_of(quick_tasks())
    whole = Trainer(quick_tasks(), preset, seed=3, start=start)
    train(whole)
    part = Trainer(quick_tasks(), preset.changed(max_epochs=stop), seed=3, start=start)
    train(part)
    save_checkpoint(tmp_path / "c", part)
    resumed = read_checkpoint(tmp_path / "c").resume(quick_tasks(), preset, seed=3, start=start)
    assert resumed.result()["problems"] == part.result()["problems"]
    train(resumed)
    assert weights_of(resumed) == weights_of(whole)
    assert without_clocks(resumed.progress.history) == without_clocks(whole.progress.history)
    for name, weight in whole.best_weights.items():
        assert torch.equal(weight, resumed.best_weights[name])


def test_checkpoints_of_other_models_are_refused(tmp_path: Path) -> None:
    tasks = quick_tasks()
    for begun, here, message in (
        (start_of(tasks), None, "it began with the model m.asnet there, with random weights here"),
        (None, start_of(tasks), "it began with random weights there, with the model m.asnet here"),
        (start_of(tasks), start_of(tasks, 8), "it began with other weights there"),
    ):
        trainer = Trainer(tasks, LEARNING, start=begun)
        trainer.run_epoch()
        save_checkpoint(tmp_path / "c", trainer)
        with pytest.raises(ModelFileError, match=f"the checkpoint is of another training: {message}"):
            read_checkpoint(tmp_path / "c").resume(tasks, LEARNING, seed=0, start=here)


# --- Going on from a model ------------------------------------------------------------------------------------------


def test_the_model_is_the_first_candidate() -> None:
    """What is kept is the model where nothing better comes: here, no step is a good one."""
    good = Trainer([line(3), line(4)], PRESETS["default"].changed(solved_epochs=2, learn_steps=60))
    train(good)
    best = good.best_network()
    start = StartModel("good", Weights(best.signature, best.config, best.arrays()))
    for loss in LOSSES:
        trainer = Trainer([line(5)], LEARNING.changed(loss=loss, learning_rate=1.0), start=start)
        first = trainer.run_epoch()
        assert (first.coverage, first.best) == (1, True)
        assert weights_of(trainer) == weights_of_model(start)
        train(trainer)
        kept = trainer.progress.best
        assert kept is not None
        assert kept.coverage == 1
        assert trainer.result()["from"] == start.identity()


def weights_of_model(start: StartModel) -> dict[str, list[float]]:
    return {name: array.flatten().tolist() for name, array in start.network.arrays().items()}


def test_the_network_is_that_of_the_model() -> None:
    start = start_of([line(3)], network=SMALL)
    chosen = start.preset(PRESETS["default"], {"loss": "policy-gradient", "dropout": 0.2, "hidden": 2})
    assert (chosen.network.hidden, chosen.network.layers, chosen.network.dropout) == (2, 1, 0.2)
    assert chosen.training.loss == "policy-gradient"
    with pytest.raises(
        ConfigError, match=r"--layers makes another network than that of the model m\.asnet: layers is 1"
    ):
        start.preset(PRESETS["default"], {"layers": 3})
    with pytest.raises(
        ConfigError, match=r"training cannot go on from m\.asnet with triangle-tire-1: the model is for"
    ):
        Trainer(quick_tasks(), start.preset(LEARNING, {}), start=start)
