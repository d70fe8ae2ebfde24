"""Our side of the front-end benchmark, in a process of its own like the peer's (see plado_peer.py).

    python -m benchmarks.our_side walk DOMAIN PROBLEM --seconds S --seed N
    python -m benchmarks.our_side ground DOMAIN PROBLEM

`walk` is a uniformly random walk on one thread, restarted at goals, dead ends and after 100 steps; set-up is not
timed. `ground` is the time from files to a native task ready to simulate; imports are not timed.
"""

from __future__ import annotations

import argparse
import json
import time

from asnets.evaluation import simulate
from asnets.grounding import ground
from asnets.policies import RandomPolicy
from asnets.ppddl import load_task

HORIZON = 100


def walk(domain: str, problem: str, seconds: float, seed: int) -> dict[str, float]:
    task = ground(*load_task(domain, problem))
    steps, elapsed, episodes = 0, 0.0, 1000
    while elapsed < seconds:
        result = simulate(RandomPolicy(task), episodes=episodes, max_steps=HORIZON, seed=seed, threads=1)
        steps, elapsed, episodes = int(result.steps.sum()), result.seconds, 2 * episodes
    return {"steps": steps, "seconds": elapsed, "steps_per_second": steps / elapsed}


def ground_once(domain: str, problem: str) -> dict[str, float]:
    start = time.perf_counter()
    task = ground(*load_task(domain, problem))
    _ = task.native
    return {"seconds": time.perf_counter() - start, "actions": task.num_actions}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["walk", "ground"])
    parser.add_argument("domain")
    parser.add_argument("problem")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.what == "walk":
        result = walk(arguments.domain, arguments.problem, arguments.seconds, arguments.seed)
    else:
        result = ground_once(arguments.domain, arguments.problem)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
