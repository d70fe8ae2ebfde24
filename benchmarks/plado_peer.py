"""Times ``plado`` 0.1.6 at the work our own simulator and grounder do.

Run by a Python that has ``plado``, in a process of its own; it imports nothing else outside the standard library::

    python plado_peer.py walk DOMAIN PROBLEM --seconds S --seed N
    python plado_peer.py ground DOMAIN PROBLEM

``walk`` is a random walk: an applicable action uniformly at random, then one of its successors by their probabilities,
from the initial state again at a goal, where no action applies, and after 100 steps. plado has no ground simulator: it
works on the lifted task, so its ``ApplicableActionsGenerator`` (a datalog query compiled to Python) and
``SuccessorGenerator`` are used, unchanged. A goal of plain literals is tested by plado's ``SimpleCondition.evaluate``,
which is much faster than its ``GoalChecker``, another datalog query; that one serves any other goal. Only the walk is
timed.

``ground`` times parsing, normal form, ``Task`` and ``Grounder``, down to the list of ground actions whose preconditions
are reachable when deletes and negative conditions are ignored. Imports are not timed.
"""

import argparse
import itertools
import json
import random
import time
from collections.abc import Callable

from plado.parser import parse_and_normalize
from plado.semantics.applicable_actions_generator import ApplicableActionsGenerator
from plado.semantics.goal_checker import GoalChecker
from plado.semantics.grounder import Grounder
from plado.semantics.successor_generator import SuccessorGenerator
from plado.semantics.task import State, Task

HORIZON = 100


def goal_test(task: Task) -> Callable[[State], bool]:
    """Gives the fastest of plado's tests of the goal that serves this task."""
    condition = task.goal.condition
    literals = itertools.chain(condition.atoms, condition.negated_atoms)
    if all(atom.predicate < task.num_fluent_predicates for atom in literals):
        return lambda state: condition.evaluate((), state)
    checker: Callable[[State], bool] = GoalChecker(task)
    return checker


def walk(domain: str, problem: str, seconds: float, seed: int) -> dict[str, float]:
    """Walks at random for a time and counts the steps taken."""
    task = Task(*parse_and_normalize(domain, problem))
    applicable = ApplicableActionsGenerator(task)
    successors = SuccessorGenerator(task)
    is_goal = goal_test(task)
    rng = random.Random(seed)
    initial = task.initial_state
    state, depth, steps = initial, 0, 0
    start = time.perf_counter()
    end = start + seconds
    while time.perf_counter() < end:
        actions = [] if depth == HORIZON or is_goal(state) else list(applicable(state))
        if not actions:
            if depth == 0:
                raise ValueError("no step can be taken from the initial state")
            state, depth = initial, 0
            continue
        outcomes = successors(state, rng.choice(actions))
        if len(outcomes) == 1:
            state = outcomes[0][0]
        elif outcomes:
            draw = rng.random()
            for successor, probability in outcomes:
                state = successor
                draw -= float(probability)
                if draw < 0:
                    break
        depth += 1
        steps += 1
    elapsed = time.perf_counter() - start
    return {"steps": steps, "seconds": elapsed, "steps_per_second": steps / elapsed}


def ground(domain: str, problem: str) -> dict[str, float]:
    """Grounds the task once and counts its actions."""
    start = time.perf_counter()
    actions = Grounder(Task(*parse_and_normalize(domain, problem))).get_ground_actions()
    return {"seconds": time.perf_counter() - start, "actions": len(actions)}


def main() -> None:
    """Runs one measurement and prints it as a line of JSON."""
    parser = argparse.ArgumentParser(description="Time plado on a problem.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("walk", "ground"):
        command = commands.add_parser(name)
        command.add_argument("domain")
        command.add_argument("problem")
        if name == "walk":
            command.add_argument("--seconds", type=float, default=5.0)
            command.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.command == "walk":
        result = walk(options.domain, options.problem, options.seconds, options.seed)
    else:
        result = ground(options.domain, options.problem)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
