"""The planners beside the numbers of other SSP planners: a page from the results of `asnets reproduce`.

    asnets reproduce benchmarks/experiments/planners-*.toml --jobs 1 -o results
    python -m benchmarks.planners results > page.md

The peers are C++ programs that were built by hand and measured once; peers.csv cites them.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from asnets.errors import AsnetsError
from asnets.experiments.results import ExperimentResults, Score, SystemInfo, collect
from asnets.experiments.store import CellResult, Store
from asnets.planning import HEURISTICS

PEERS = Path(__file__).with_name("peers.csv")
COUNTERPARTS = {"lrtdp": "LRTDP", "ilao": "ILAO*"}
SAME_VALUE = 0.01
"""Values that differ by less are the same: ε bounds the residual of a state, which adds up along a run."""
LEGEND = """\
- Our cells: CPU seconds of the cell, from the problem's text to a run of the policy (in brackets the search alone) /
  states expanded / peak MB of the process, with Python and torch. **V** where another search has led to a lower value,
  which h-add does not promise. `time`, `memory`: the cut-off was reached; `skipped`: a smaller size had reached it.
- V(s₀): the lowest value of all searches; ≤ where none of them has an admissible heuristic.
- Peers: user CPU seconds / states expanded / peak MB. `T/O`: no answer within 60–180 s; `refused`: conditional effects.
  They were measured once, on comparable two-core machines, not in this run.
- Ratio: the best peer's seconds over ours: above 1 we are faster. First for the same planner and heuristic, whatever
  value it led to; then overall, the fastest search that found the lowest value."""

Peer = dict[str, str]
Searches = dict[str, CellResult]
"""Converged searches on a problem, by system."""


def cited(problem: str) -> list[Peer]:
    """What is known of the peers on a problem."""
    with PEERS.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["problem"] == problem]


def page(experiments: list[ExperimentResults]) -> str:
    """The tables of experiments that have planners alone, as Markdown."""
    experiments = [each for each in experiments if {system.kind for system in each.systems} == {"planner"}]
    return "\n\n".join([LEGEND, *(f"## {each.title}\n\n{_table(each)}" for each in experiments)])


def _table(experiment: ExperimentResults) -> str:
    header = ["problem", "V(s₀)", *(system.name for system in experiment.systems), "peers", "ratio"]
    rows = [header, ["---"] * len(header)]
    for problem in experiment.problems:
        peers = cited(problem.name)
        scores = {system.name: experiment.scores[system.name, problem.name] for system in experiment.systems}
        results = {name: score.rows[0].result for name, score in scores.items() if score.rows}
        searches = {name: result for name, result in results.items() if result.metrics.get("status") == "converged"}
        value = min((result.metrics["value"] for result in searches.values()), default=math.inf)
        cells = [_cell(score, value) for score in scores.values()]
        texts = [f"{each['system']} {each['planner']} {each['heuristic']}: {each['cited']}" for each in peers]
        tried = [system for system in experiment.systems if scores[system.name].rows or scores[system.name].skipped]
        comparison = "<br>".join(texts), "<br>".join(ratios(tried, searches, peers, value))
        rows.append([problem.name, _value(experiment, searches, value), *cells, *comparison])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _value(experiment: ExperimentResults, searches: Searches, value: float) -> str:
    if not searches:
        return "–"
    configs = [system.config for system in experiment.systems if system.name in searches]
    is_proved = any(HEURISTICS[config["heuristic"]].admissible for config in configs)
    return f"{'' if is_proved else '≤ '}{value:.4f}"


def _cell(score: Score, value: float) -> str:
    if not score.rows:
        return "skipped" if score.skipped else "not run"
    result = score.rows[0].result
    metrics = result.metrics
    if metrics.get("status") != "converged":
        return result.outcome
    text = f"{result.cpu:.2f} ({metrics['seconds']['search']:.3f}) / {metrics['expanded']:,}"
    text += f" / {metrics['peak_memory'] / 1e6:.0f}"
    return text if metrics["value"] < value + SAME_VALUE else f"{text}, **V {metrics['value']:.3f}**"


def ratios(systems: Sequence[SystemInfo], searches: Searches, peers: list[Peer], value: float) -> list[str]:
    """The best peer's time over ours, for each planner that a peer has too, and of all."""
    lines = []
    for system in systems:
        kind = COUNTERPARTS.get(system.config["planner"]), system.config["heuristic"]
        same = [peer for peer in peers if (peer["planner"], peer["heuristic"]) == kind and peer["cited"] != "refused"]
        if same:
            ours = [searches[system.name].cpu] if system.name in searches else []
            lines.append(f"{system.name} {_ratio(ours, same)}")
    if any(peer["cited"] != "refused" for peer in peers):
        best = [each.cpu for each in searches.values() if each.metrics["value"] < value + SAME_VALUE]
        lines.append(f"overall {_ratio(best, [peer for peer in peers if peer['optimal'] == 'yes'])}")
    return lines


def _ratio(ours: list[float], peers: list[Peer]) -> str:
    theirs = [float(peer["seconds"]) for peer in peers if peer["seconds"]]
    if not ours or not theirs:
        return "only ours" if ours else "only the peer" if theirs else "neither"
    return f"{min(theirs) / max(min(ours), 1e-3):.2g}×"


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with Store(Path(sys.argv[1])) as store:
            print(page(collect(store)))
    except AsnetsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
