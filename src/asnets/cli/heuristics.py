"""`asnets heuristics`."""

from __future__ import annotations

import math
import time

from rich.table import Table

from asnets.cli.running import (
    CostsOption,
    DomainArgument,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    ProblemArgument,
    load,
    print_json,
)
from asnets.cli.tables import show_table
from asnets.grounding import DEFAULT_LIMITS
from asnets.planning import HEURISTICS, initial_landmarks, initial_value

_MAX_SHOWN = 8


def heuristics(
    domain: DomainArgument,
    problem: ProblemArgument = None,
    costs: CostsOption = "unit",
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Show values of heuristics at the initial state.

    Of each heuristic also the time it takes; of LM-cut its landmarks.
    """
    task = load(domain, problem, costs, max_actions, lenient).task
    rows: list[tuple[str, float, float]] = []
    for name in HEURISTICS:
        start = time.perf_counter()
        value = initial_value(task, name)
        rows.append((name, value, time.perf_counter() - start))
    landmarks = initial_landmarks(task)
    cuts = [[task.action_name(action) for action in cut] for cut in landmarks.cuts]
    if json:
        print_json(
            {
                "domain": task.domain,
                "problem": task.problem,
                "costs": task.cost_mode,
                "heuristics": [
                    {
                        "name": name,
                        "value": value if math.isfinite(value) else None,
                        "dead_end": math.isinf(value),
                        "admissible": HEURISTICS[name].admissible,
                        "safe": HEURISTICS[name].safe,
                        "seconds": seconds,
                    }
                    for name, value, seconds in rows
                ],
                "landmarks": [{"cost": cost, "actions": cut} for cut, cost in zip(cuts, landmarks.costs, strict=True)],
            }
        )
        return
    table = Table("heuristic", "value", "time", "admissible", "what it is")
    for name, value, seconds in rows:
        info = HEURISTICS[name]
        shown = "dead end" if math.isinf(value) else f"{value:g}"
        table.add_row(name, shown, f"{seconds * 1000:.2f} ms", "yes" if info.admissible else "no", info.description)
    show_table(table)
    word = "landmark" if len(cuts) == 1 else "landmarks"
    print(f"{len(cuts)} {word}: of each, one action must be applied on any way to the goal")
    for cut, cost in zip(cuts, landmarks.costs, strict=True):
        more = f" … and {len(cut) - _MAX_SHOWN} more" if len(cut) > _MAX_SHOWN else ""
        print(f"  cost {cost:g}: {' '.join(cut[:_MAX_SHOWN])}{more}")
