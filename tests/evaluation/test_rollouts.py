"""Episodes: what they depend on, how they end, and what is counted."""

from __future__ import annotations

import functools
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asnets import _native, evaluation
from asnets.errors import ConfigError
from asnets.evaluation import EpisodeRecord, Simulation, Trace
from asnets.grounding import GroundTask
from asnets.policies import RandomPolicy
from tests.cli.running import COMMAND
from tests.support import PATIENCE, REPOSITORY, check_frequencies, ground_text, state_names, wait_for

pytestmark = pytest.mark.native


def simulate(task: GroundTask, **arguments: Any) -> Simulation:
    return evaluation.simulate(RandomPolicy(task), **arguments)


def trace(task: GroundTask, **arguments: Any) -> Trace:
    return evaluation.trace(RandomPolicy(task), **arguments)


WANDER = """
  (:predicates (at ?x) (next ?x ?y) (trap ?x) (stuck))
  (:functions (total-cost) (length ?x ?y) - number)
  (:action go :parameters (?x ?y)
    :precondition (and (at ?x) (next ?x ?y) (not (stuck)))
    :effect (and
      (not (at ?x)) (at ?y)
      (increase (total-cost) (length ?x ?y))
      (when (trap ?y) (probabilistic 1/4 (stuck)))))
"""


def wander(costs: str = "unit") -> GroundTask:
    """A walk on a line of seven places: the goal at one end, a trap near the other; going left costs more."""
    links = " ".join(
        f"(next p{a} p{b}) (= (length p{a} p{b}) {1 if a < b else 2.5})"
        for a in range(7)
        for b in range(7)
        if abs(a - b) == 1
    )
    names = " ".join(f"p{number}" for number in range(7))
    problem = f"(:objects {names}) (:init (at p3) (trap p1) {links}) (:goal (at p6)) (:metric minimize (total-cost))"
    return ground_text(WANDER, problem, costs=costs)


def coin(probability: str) -> GroundTask:
    return ground_text(
        f"(:predicates (heads)) (:action flip :effect (probabilistic {probability} (heads)))", "(:goal (heads))"
    )


ENDLESS = "(:predicates (p) (q)) (:action wait :effect (probabilistic 1/2 (p) 1/2 (not (p))))"


def same(first: Simulation, second: Simulation) -> bool:
    return (
        np.array_equal(first.steps, second.steps)
        and np.array_equal(first.costs, second.costs)
        and np.array_equal(first.endings, second.endings)
    )


# --- What results depend on ---------------------------------------------------------------------------------------


def test_same_seed_same_result() -> None:
    first, second = (simulate(wander(), episodes=200, max_steps=40, seed=5) for _ in range(2))
    assert same(first, second)
    assert not same(first, simulate(wander(), episodes=200, max_steps=40, seed=6))


@pytest.mark.parametrize("threads", [2, 5, None])
def test_result_does_not_depend_on_the_number_of_threads(threads: int | None) -> None:
    task = wander()
    expected = simulate(task, episodes=500, max_steps=40, seed=1, threads=1)
    assert same(simulate(task, episodes=500, max_steps=40, seed=1, threads=threads), expected)


@pytest.mark.parametrize("episodes", [1, 2, 15, 16, 17, 48, 49, 333])
def test_shorter_runs_are_the_beginning_of_longer_ones(episodes: int) -> None:
    """However the episodes are cut into pieces."""
    task = wander()
    longer = simulate(task, episodes=400, max_steps=40, seed=2)
    shorter = simulate(task, episodes=episodes, max_steps=40, seed=2)
    assert shorter.episodes == episodes
    assert np.array_equal(shorter.steps, longer.steps[:episodes])
    assert np.array_equal(shorter.costs, longer.costs[:episodes])
    assert np.array_equal(shorter.endings, longer.endings[:episodes])


def test_episodes_may_be_run_from_any_number_on() -> None:
    task = wander().native
    whole = _native.run_episodes(_native.RandomPolicy(task), 9, 0, 100, 40, 2)
    for first, count in ((0, 1), (37, 63), (99, 1)):
        part = _native.run_episodes(_native.RandomPolicy(task), 9, first, count, 40, 3)
        for index in range(3):
            assert np.array_equal(whole[index][first : first + count], part[index])


def test_a_lower_step_limit_cuts_episodes_short() -> None:
    task = wander()
    long = simulate(task, episodes=200, max_steps=60, seed=3)
    short = simulate(task, episodes=200, max_steps=9, seed=3)
    over = long.steps > 9
    assert over.any()
    assert (short.steps == np.minimum(long.steps, 9)).all()
    assert (short.endings[over] == 2).all()
    assert (short.endings[~over] == long.endings[~over]).all()


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**64 - 1])
def test_seeds_of_up_to_64_bits(seed: int) -> None:
    result = simulate(wander(), episodes=5, seed=seed)
    assert result.seed == seed
    assert result.record(4).seed == seed


# --- Traces -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("costs", ["unit", "metric"])
def test_trace_is_the_simulated_episode(costs: str) -> None:
    task = wander(costs)
    result = simulate(task, episodes=60, max_steps=25, seed=4)
    states = _native.States(task.native)
    for episode in range(60):
        found = trace(task, episode=episode, max_steps=25, seed=4)
        assert found.record == result.record(episode)
        assert len(found.steps) == found.record.steps
        state = states.initial()
        cost = 0.0
        for step in found.steps:
            assert not states.is_goal(state)
            assert step.action in states.applicable(state)
            before = set(states.propositions(state).tolist())
            assert set(step.added).isdisjoint(before)
            assert before >= set(step.deleted)
            after = before - set(step.deleted) | set(step.added)
            state = states.intern(np.array(sorted(after), np.int32))
            possible, _ = states.successors(states.intern(np.array(sorted(before), np.int32)), step.action)
            assert state in possible
            cost += float(task.costs[step.action])
        assert cost == found.record.cost
        ending = found.record.ending
        assert (ending == "goal") == states.is_goal(state)
        assert (ending == "dead_end") == (not states.is_goal(state) and len(states.applicable(state)) == 0)
        assert (ending == "step_limit") == (ending not in ("goal", "dead_end"))


def test_trace_of_a_single_step() -> None:
    task = coin("1")
    found = trace(task)
    assert found.record == EpisodeRecord(seed=0, episode=0, steps=1, cost=1.0, ending="goal")
    (step,) = found.steps
    assert (task.action_name(step.action), step.deleted) == ("(flip)", ())
    assert state_names(task, step.added) == {"(heads)"}


def test_trace_of_no_steps() -> None:
    task = ground_text("(:predicates (p))", "(:init (p)) (:goal (p))")
    assert trace(task, episode=7, seed=3).record == EpisodeRecord(3, 7, 0, 0.0, "goal")
    assert trace(task).steps == ()


# --- Endings and costs --------------------------------------------------------------------------------------------


def test_goal_at_once() -> None:
    task = ground_text("(:predicates (p) (q)) (:action a :effect (q))", "(:init (p)) (:goal (p))")
    for max_steps in (0, 1, 100):
        result = simulate(task, episodes=7, max_steps=max_steps)
        assert (result.count("goal"), result.count("dead_end"), result.count("step_limit")) == (7, 0, 0)
        assert result.steps.tolist() == [0] * 7
        assert result.mean_cost == 0.0


def test_dead_end() -> None:
    task = ground_text(
        """
        (:predicates (p) (q) (r))
        (:action a :precondition (not (p)) :effect (p))
        (:action b :precondition (r) :effect (q))
        """,
        "(:goal (q))",
    )
    result = simulate(task, episodes=5)
    assert (result.count("goal"), result.count("dead_end"), result.count("step_limit")) == (0, 5, 0)
    assert result.steps.tolist() == [1] * 5
    assert result.costs.tolist() == [1.0] * 5
    assert result.mean_cost is None
    assert result.record(3) == EpisodeRecord(seed=0, episode=3, steps=1, cost=1.0, ending="dead_end")


def test_dead_end_at_once() -> None:
    task = ground_text("(:predicates (p))", "(:goal (p))")
    assert simulate(task, episodes=2).endings.tolist() == [1, 1]
    assert simulate(task, episodes=2, max_steps=0).endings.tolist() == [1, 1]
    # Where dead ends are not looked for, the limit comes first, since the state is left as it is either way.
    assert simulate(task, episodes=2, detect_dead_ends=False).endings.tolist() == [1, 1]
    assert simulate(task, episodes=2, max_steps=0, detect_dead_ends=False).endings.tolist() == [2, 2]


def test_step_limit() -> None:
    task = ground_text(ENDLESS, "(:goal (q))")
    result = simulate(task, episodes=3, max_steps=15, detect_dead_ends=False)
    assert result.count("step_limit") == 3
    result = simulate(task, episodes=3, max_steps=15)
    assert (result.count("dead_end"), result.steps.tolist()) == (3, [7] * 3)
    # A ring of 64 places whose goal no walk of 17 steps reaches, and which no relaxation rules out.
    task = ground_text(
        "(:predicates (at ?a) (next ?a ?b))"
        "(:action go :parameters (?a ?b) :precondition (and (at ?a) (next ?a ?b)) :effect (and (at ?b) (not (at ?a))))",
        "(:objects "
        + " ".join(f"l{i}" for i in range(64))
        + ") (:init (at l0) "
        + " ".join(f"(next l{i} l{(i + 1) % 64})" for i in range(64))
        + ") (:goal (at l40))",
    )
    result = simulate(task, episodes=3, max_steps=17)
    assert (result.count("goal"), result.count("dead_end"), result.count("step_limit")) == (0, 0, 3)
    assert result.steps.tolist() == [17] * 3
    assert result.mean_cost is None


def test_no_steps_allowed() -> None:
    result = simulate(coin("1"), episodes=4, max_steps=0)
    assert result.steps.tolist() == [0] * 4
    assert result.endings.tolist() == [2] * 4
    assert result.costs.tolist() == [0.0] * 4


def test_goal_reached_by_the_last_step_counts() -> None:
    assert simulate(coin("1"), episodes=3, max_steps=1).endings.tolist() == [0] * 3


def test_mean_cost_is_over_goals_only() -> None:
    result = simulate(wander("metric"), episodes=300, max_steps=40, seed=7)
    counts = [result.count(ending) for ending in ("goal", "dead_end", "step_limit")]
    assert sum(counts) == 300
    assert min(counts) > 0
    reached = [result.record(episode).cost for episode in range(300) if result.record(episode).ending == "goal"]
    assert len(reached) == counts[0]
    assert result.mean_cost == pytest.approx(sum(reached) / len(reached), abs=1e-9)
    # With k steps back there are three more steps than that ahead; those cost 1, these 2.5.
    for episode in range(300):
        record = result.record(episode)
        if record.ending == "goal":
            back = (record.steps - 3) // 2
            assert record.cost == 2.5 * back + back + 3


def test_summary_of_a_simulation() -> None:
    result = simulate(coin("1/2"), episodes=50, max_steps=100, seed=1)
    assert (result.policy, result.seed, result.max_steps, result.episodes) == ("random", 1, 100, 50)
    assert result.seconds > 0
    assert result.steps_per_second == pytest.approx(result.steps.sum() / result.seconds)
    assert (result.steps.dtype.name, result.costs.dtype.name, result.endings.dtype.name) == ("int64", "float64", "int8")


# --- Against closed forms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "probability"), [("1/2", 0.5), ("0.1", 0.1), ("9/10", 0.9), ("1/3", 1 / 3)])
def test_flips_until_heads_are_geometric(text: str, probability: float) -> None:
    episodes = 20_000
    result = simulate(coin(text), episodes=episodes, max_steps=10_000, seed=12)
    assert result.count("goal") == episodes
    mean, deviation = 1 / probability, (1 - probability) ** 0.5 / probability
    assert result.steps.mean() == pytest.approx(mean, abs=4 * deviation / episodes**0.5)
    observed = [int((result.steps == steps).sum()) for steps in (1, 2, 3)]
    chances = [probability * (1 - probability) ** step for step in range(3)]
    check_frequencies([*observed, episodes - sum(observed)], [*chances, 1 - sum(chances)])


def test_all_applicable_actions_are_equally_likely() -> None:
    """Applicable for different reasons: without a condition, by a literal, by its negation, by a clause."""
    task = ground_text(
        """
        (:predicates (p) (q) (chosen ?n) (over))
        (:constants n1 n2 n3 n4 n5)
        (:action free :precondition (and) :effect (and (chosen n1) (over)))
        (:action positive :precondition (p) :effect (and (chosen n2) (over) (not (p))))
        (:action negative :precondition (not (q)) :effect (and (chosen n3) (over)))
        (:action either-way :precondition (or (q) (p)) :effect (and (chosen n4) (over)))
        (:action joint :precondition (and (p) (not (q))) :effect (and (chosen n5) (over)))
        (:action not-now :precondition (q) :effect (over))
        (:action make-q :precondition (over) :effect (q))
        """,
        "(:init (p)) (:goal (over))",
    )
    chosen = [trace(task, episode=episode, seed=6).steps[0].action for episode in range(10_000)]
    assert set(chosen) == set(range(5))
    check_frequencies([chosen.count(action) for action in range(5)], [1 / 5] * 5)


def test_gambler() -> None:
    """Left or right with equal chance from 3, without the trap: the far end is reached before 0 half of the time."""
    links = " ".join(f"(next p{a} p{b})" for a in range(1, 6) for b in (a - 1, a + 1))
    names = " ".join(f"p{number}" for number in range(7))
    task = ground_text(
        """
        (:predicates (at ?x) (next ?x ?y))
        (:action go :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y)) :effect (and (not (at ?x)) (at ?y)))
        """,
        f"(:objects {names}) (:init (at p2) {links}) (:goal (at p6))",
    )
    result = simulate(task, episodes=20_000, max_steps=100_000, seed=3)
    # From 2 of 6: a third of the runs win; a run lasts 2 · (6 - 2) steps on average.
    check_frequencies([result.count("goal"), result.count("dead_end")], [1 / 3, 2 / 3])
    assert result.steps.mean() == pytest.approx(8, abs=4 * result.steps.std() / 20_000**0.5)


# --- Arguments ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_steps": -1}, "the step limit must not be negative, not -1"),
        ({"seed": -1}, "the seed must be between 0 and 2^64 - 1, not -1"),
        ({"seed": 2**64}, "the seed must be between 0 and 2^64 - 1, not 18446744073709551616"),
        ({"episodes": 0}, "the number of runs must be between 1 and 100,000,000, not 0"),
        ({"episodes": 2**63}, "the number of runs must be between 1 and 100,000,000, not 9223372036854775808"),
        ({"first": 2**64 - 100}, "the number of an episode must be between 0 and 2^64 - 2, not 18446744073709551516"),
        ({"threads": -1}, "the number of threads must be at least 1, not -1"),
        ({"threads": 0}, "the number of threads must be at least 1, not 0"),
    ],
)
def test_refused_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        simulate(coin("1/2"), **arguments)
    assert str(caught.value) == message


def test_step_limit_larger_than_any_machine_number() -> None:
    assert simulate(coin("1/2"), episodes=3, max_steps=10**30).count("goal") == 3
    assert trace(coin("1/2"), max_steps=10**30).record.ending == "goal"


def test_progress_is_reported() -> None:
    calls: list[tuple[int, int]] = []
    result = simulate(coin("1/2"), episodes=100, seed=1, progress=lambda done, steps: calls.append((done, steps)))
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})
    assert calls[-1] == (100, int(result.steps.sum()))
    for done, steps in calls:
        assert steps == result.steps[:done].sum()


# --- Interruption -------------------------------------------------------------------------------------------------


def interrupted(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Starts a command that goes on for ever and sends it SIGINT when it has been busy for a while."""
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            busy = 3 * start_up_seconds()
            wait_for(lambda: process.poll() is not None or processor_seconds(process.pid) >= busy, "it is not busy")
            assert process.poll() is None, "it ended by itself"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@functools.cache
def start_up_seconds() -> float:
    """The processor time that a command takes to start; much more on a sanitizer build."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([COMMAND, "--version"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return max(0.3, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def processor_seconds(process: int) -> float:
    """The processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see when it is at work")
@pytest.mark.parametrize("options", [[], ["--threads", "1"]], ids=["all-threads", "one-thread"])
def test_endless_episode_can_be_interrupted(tmp_path: Path, options: list[str]) -> None:
    path = tmp_path / "endless.pddl"
    path.write_text(f"(define (domain d) {ENDLESS}) (define (problem p) (:domain d) (:goal (q)))")
    arguments = ["--episodes", "1", "--max-steps", str(10**15), "--no-dead-end-detection", *options]
    result = interrupted([COMMAND, "simulate", str(path), *arguments])
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "interrupted\n")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see when it is at work")
def test_endless_trace_can_be_interrupted() -> None:
    program = f"""
from asnets.evaluation import trace
from asnets.policies import RandomPolicy
from tests.support import ground_text
try:
    trace(RandomPolicy(ground_text({ENDLESS!r}, "(:goal (q))")), max_steps=10**15, detect_dead_ends=False)
except KeyboardInterrupt:
    print("interrupted")
"""
    result = interrupted([sys.executable, "-c", program])
    assert (result.returncode, result.stdout, result.stderr) == (0, "interrupted\n", "")


def test_simulation_in_another_thread() -> None:
    """Signals are for the main thread; elsewhere episodes just run."""
    expected = simulate(wander(), episodes=100, max_steps=30, seed=8)
    results: list[Simulation] = []
    thread = threading.Thread(target=lambda: results.append(simulate(wander(), episodes=100, max_steps=30, seed=8)))
    thread.start()
    thread.join()
    assert same(results[0], expected)
