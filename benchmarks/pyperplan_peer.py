"""Times the heuristics of ``pyperplan`` 2.1 on states that it is given.

Run by a Python that has ``pyperplan`` (GPL-3.0 or later), in a process of its own; it imports nothing else outside the
standard library::

    python pyperplan_peer.py DOMAIN PROBLEM STATES --heuristic hadd --seconds S

STATES is a JSON file: a list of states, each a list of true atoms such as ``(on a b)``. They are evaluated in turn,
again from the first after the last, until so many seconds of CPU time have passed. Parsing, grounding (with pyperplan's
analysis of relevance) and setting up the heuristic are not timed. The values of the first round are printed as well,
null where infinite.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from typing import Any

from pyperplan import grounding
from pyperplan.heuristics.lm_cut import LmCutHeuristic
from pyperplan.heuristics.relaxation import hAddHeuristic, hFFHeuristic, hMaxHeuristic
from pyperplan.pddl.parser import Parser
from pyperplan.search.searchspace import make_root_node

HEURISTICS = {"hmax": hMaxHeuristic, "hadd": hAddHeuristic, "hff": hFFHeuristic, "lmcut": LmCutHeuristic}


def evaluate(domain: str, problem: str, states: list[list[str]], heuristic: str, seconds: float) -> dict[str, Any]:
    parser = Parser(domain, problem)
    task = grounding.ground(parser.parse_problem(parser.parse_domain()))
    evaluator = HEURISTICS[heuristic](task)
    nodes = [make_root_node(task.facts & frozenset(state)) for state in states]
    values = []
    elapsed, start = 0.0, time.process_time()
    for node in itertools.cycle(nodes):
        values.append(float(evaluator(node)))
        elapsed = time.process_time() - start
        if elapsed >= seconds:
            break
    first = [value if math.isfinite(value) else None for value in values[: len(nodes)]]
    return {"evaluations_per_second": len(values) / elapsed, "values": first}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("domain")
    parser.add_argument("problem")
    parser.add_argument("states")
    parser.add_argument("--heuristic", choices=sorted(HEURISTICS), required=True)
    parser.add_argument("--seconds", type=float, default=1.0)
    arguments = parser.parse_args()
    with open(arguments.states, encoding="utf-8") as file:
        states = json.load(file)
    result = evaluate(arguments.domain, arguments.problem, states, arguments.heuristic, arguments.seconds)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
