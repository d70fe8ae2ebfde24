"""Steps per second of ``pddlgym`` 0.0.7 under random actions.

Run by a Python that has ``pddlgym``, in a process of its own; it imports nothing else outside the standard library::

    python pddlgym_peer.py DOMAIN PROBLEM --seconds S --seed N

pddlgym stands on the old ``gym`` and on packages of its age, so it needs an environment of its own:
``python -m venv FOLDER && FOLDER/bin/pip install pddlgym``. It takes a folder of problems, so the problem has to be
alone in its folder. Operators are actions. Its space of applicable actions cannot be had for probabilistic domains, so
actions are drawn from all ground ones, of which most change nothing; that is less work than to find the applicable
ones, as our side does. An episode ends at the goal and after 100 steps. Only the walk is timed.
"""

import argparse
import contextlib
import json
import os
import random
import time
import warnings

warnings.simplefilter("ignore")
with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):  # gym says that nobody maintains it.
    from pddlgym.core import PDDLEnv

HORIZON = 100


def walk(domain: str, problem: str, seconds: float, seed: int) -> dict[str, float]:
    """Walks at random for a time and counts the steps taken."""
    env = PDDLEnv(domain, os.path.dirname(problem), seed=seed, operators_as_actions=True)
    env.fix_problem_index(0)
    rng = random.Random(seed)
    state, _ = env.reset()
    actions = sorted(env.action_space.all_ground_literals(state))
    depth, steps, done = 0, 0, False
    start = time.perf_counter()
    end = start + seconds
    while time.perf_counter() < end:
        if done or depth == HORIZON:
            env.reset()
            depth = 0
        _, _, done, _, _ = env.step(rng.choice(actions))
        depth += 1
        steps += 1
    elapsed = time.perf_counter() - start
    return {"steps": steps, "seconds": elapsed, "steps_per_second": steps / elapsed}


def main() -> None:
    """Runs the measurement and prints it as a line of JSON."""
    parser = argparse.ArgumentParser(description="Time pddlgym on a problem.")
    parser.add_argument("domain")
    parser.add_argument("problem")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(json.dumps(walk(options.domain, options.problem, options.seconds, options.seed)))


if __name__ == "__main__":
    main()
