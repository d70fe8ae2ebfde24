"""What a worker does in a cell.

Metrics of a training: `epochs`, `ended`, `cpu`, `left_out` and `curve`, an object for each epoch with `elapsed`,
`seconds` by what they went to, `memory` (labelled states), `coverage`, `cost`, `loss` and, in a training with
validation problems, `validation`: the coverage on those.

Metrics of the others: `runs` asked for, `endings` and `costs` of those that ended, and CPU seconds in `seconds`: `load`
for reading, grounding and setting up, `search` of a planner, `execute` for all runs; of an ASNet also `features` and
`network`, which are parts of `execute`, and `exact`, what holds for all runs where the chain of the policy is small and
it depends on the state alone: `states`, `goal_probability` and `cost_given_goal`. Of a planner also `status`, `value`,
`expanded` and `peak_memory`.

Time limits are CPU seconds. Between runs a cell looks at them itself, and has handed over the metrics so far in case it
is stopped within one. A cell neither reads nor writes files, so that a full disk is never its result.

The protocols are the paper's: LRTDP and ILAO* run to convergence and have failed where they do not converge; SSiPP
trains until 100 trajectories in a row have reached the goal or the margin before the time limit, and is then run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from asnets.deadline import Deadline
from asnets.evaluation.blocks_strategies import run_strategy
from asnets.evaluation.evaluate import network_seconds
from asnets.evaluation.rollouts import ENDINGS, simulate
from asnets.experiments.definition import guard_options, preset_of
from asnets.extras import require_torch
from asnets.grounding import GroundTask
from asnets.loading import LoadedTask, load_text_stages
from asnets.network.model_file import model_bytes, read_model
from asnets.planning import SearchLimits, Solver
from asnets.policies.guarded import GuardedPolicy, guarded
from asnets.policies.networks import network_policy
from asnets.policies.protocol import TaskPolicy
from asnets.verification.verify import verify

_EXACT_STATES = 2_000
"""Of the largest chain that is solved beside the runs, so that it takes little of the time."""
_EXACT_SECONDS = 10.0

Metrics = dict[str, Any]
Keep = Callable[[Metrics], None]
"""Takes the metrics so far, in case the cell is stopped."""


def do_cell(payload: dict[str, Any], model: bytes | None, keep: Keep) -> tuple[str, Metrics, bytes | None]:
    """Does a cell; returns its outcome, its metrics and, of a training, the model file."""
    match payload["kind"]:
        case "train":
            return _train(payload)
        case "asnet":
            assert model is not None
            return *_run_network(payload, model, keep), None
        case "planner":
            return *_plan(payload, keep), None
        case "search":
            return *_search(payload, keep), None
        case _:
            return *_follow_strategy(payload), None


def _train(payload: dict[str, Any]) -> tuple[str, Metrics, bytes]:
    require_torch("training")
    from asnets.training.session import run_training

    preset = preset_of(payload["settings"])
    deadline = Deadline(preset.training.time_limit)
    loaded = [_load(each) for each in payload["problems"]]
    begin = time.process_time()
    trainer, reason = run_training(
        range(len(loaded)),
        lambda number, deadline: loaded[number],
        preset,
        seed=payload["seed"],
        deadline=deadline,
    )
    cpu = time.process_time() - begin
    result = trainer.result() | {"ended": reason}
    curve = [
        {
            "elapsed": epoch.elapsed,
            "seconds": epoch.seconds,
            "memory": epoch.memory,
            "coverage": epoch.coverage,
            "cost": epoch.cost,
            "loss": epoch.loss,
        }
        | ({} if epoch.validation is None else {"validation": epoch.validation_coverage})
        for epoch in trainer.progress.history
    ]
    metrics = {"epochs": len(curve), "ended": reason, "cpu": cpu, "left_out": result["left_out"], "curve": curve}
    return "finished", metrics, model_bytes(trainer.best_network(), result)


def _run_network(payload: dict[str, Any], model: bytes, keep: Keep) -> tuple[str, Metrics]:
    network = read_model(model).weights
    start = time.process_time()
    task = read_task(payload["problem"])
    policy = guarded(network_policy(network, task), **guard_options(payload.get("guard", {})))
    loaded = time.process_time()

    def more() -> Metrics:
        features, in_network = network_seconds(policy)
        seconds = {"load": loaded - start, "execute": time.process_time() - loaded}
        return {"seconds": seconds | {"features": features, "network": in_network}}

    outcome, metrics = _execute(payload, start, _runs_of(policy, payload), more, keep)
    left = payload["cut_offs"]["time_limit"] - (time.process_time() - start)
    if outcome == "finished" and left > 0 and not getattr(policy, "has_memory", False):
        metrics |= {"exact": _exact(policy, min(left, _EXACT_SECONDS))}
    return outcome, metrics


def _search(payload: dict[str, Any], keep: Keep) -> tuple[str, Metrics]:
    """An online search without a network."""
    start = time.process_time()
    policy = GuardedPolicy(None, read_task(payload["problem"]), **guard_options(payload["settings"]))
    loaded = time.process_time()

    def more() -> Metrics:
        return {"seconds": {"load": loaded - start, "execute": time.process_time() - loaded}}

    return _execute(payload, start, _runs_of(policy, payload), more, keep)


def _runs_of(policy: TaskPolicy, payload: dict[str, Any]) -> Callable[[int], tuple[int, float]]:
    """What makes the run of a number; it returns how it ended and its cost."""

    def run(number: int) -> tuple[int, float]:
        found = simulate(
            policy, episodes=1, max_steps=payload["max_steps"], seed=payload["seed"], threads=1, first=number
        )
        return int(found.endings[0]), float(found.costs[0])

    return run


def _exact(policy: TaskPolicy, seconds: float) -> Metrics | None:
    """What holds for all runs; None where the chain is too large."""
    result = verify(
        policy, method="exact", max_states=_EXACT_STATES, time_limit=seconds, threads=1, optimal=False, explain=False
    )
    if result.method != "exact" or result.chain is None:
        return None
    cost = result.cost_given_goal
    return {
        "states": result.chain.states,
        "goal_probability": result.goal_probability.interval.middle,
        "cost_given_goal": None if cost is None else cost.interval.middle,
    }


def _plan(payload: dict[str, Any], keep: Keep) -> tuple[str, Metrics]:
    config, cut_offs, seed = payload["settings"], payload["cut_offs"], payload["seed"]
    is_replanner = config["planner"] == "ssipp"
    start = time.process_time()
    task = read_task(payload["problem"])
    solver = Solver(task, config["planner"], config["heuristic"], seed=seed, depth=config["depth"])
    loaded = time.process_time()
    seconds = max(1e-3, cut_offs["time_limit"] - (loaded - start) - (cut_offs["margin"] if is_replanner else 0))
    limits = SearchLimits(cpu_seconds=seconds, memory=cut_offs["memory_limit"])
    solution = solver.solve(limits=limits, bounds=False)  # As in the paper: ε-consistency is what is measured.
    searched = time.process_time()

    def run(number: int) -> tuple[int, float]:
        _, costs, endings = solver.run_episodes(seed, number, 1, payload["max_steps"])
        return int(endings[0]), float(costs[0])

    def more() -> Metrics:
        return {
            "seconds": {"load": loaded - start, "search": searched - loaded, "execute": time.process_time() - searched},
            "status": solution.status,
            "value": solution.value,
            "expanded": solution.expanded,
            "peak_memory": solution.peak_memory,
        }

    if solution.status != "converged" and not (is_replanner and solution.status == "time"):
        return solution.status, _metrics(payload, [], []) | more()
    return _execute(payload, start, run, more, keep)


def _execute(
    payload: dict[str, Any],
    start: float,
    run: Callable[[int], tuple[int, float]],
    more: Callable[[], Metrics],
    keep: Keep,
) -> tuple[str, Metrics]:
    """Makes the runs of a cell one by one, until its time limit; returns its outcome and metrics.

    Args:
        payload: The cell's.
        start: The CPU time at which it began.
        run: Makes the run of a number; returns how it ended and its cost.
        more: The metrics beside those of runs.
        keep: Called with all metrics before the first run and after each.
    """
    endings: list[int] = []
    costs: list[float] = []

    def metrics() -> Metrics:
        return _metrics(payload, endings, costs) | more()

    keep(metrics())
    for number in range(payload["runs"]):
        if time.process_time() - start >= payload["cut_offs"]["time_limit"]:
            return "time", metrics()
        ending, cost = run(number)
        endings.append(ending)
        costs.append(cost)
        keep(metrics())
    return "finished", metrics()


def _follow_strategy(payload: dict[str, Any]) -> tuple[str, Metrics]:
    start = time.process_time()
    task = read_task(payload["problem"])
    loaded = time.process_time()
    runs = run_strategy(
        task,
        payload["settings"]["strategy"],
        runs=payload["runs"],
        max_steps=payload["max_steps"],
        seed=payload["seed"],
    )
    seconds = {"load": loaded - start, "execute": time.process_time() - loaded}
    return "finished", _metrics(payload, runs.endings.tolist(), runs.costs.tolist()) | {"seconds": seconds}


def _metrics(payload: dict[str, Any], endings: list[int], costs: list[float]) -> Metrics:
    return {"runs": payload["runs"], "endings": [ENDINGS[ending] for ending in endings], "costs": list(costs)}


def read_task(text: dict[str, str]) -> GroundTask:
    """The ground task of a problem in a payload."""
    return _load(text).task


def _load(text: dict[str, str]) -> LoadedTask:
    return load_text_stages(text["domain"], text["problem"], costs=text.get("costs", "unit"))
