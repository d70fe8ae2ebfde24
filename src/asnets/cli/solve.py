"""`asnets solve`."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from asnets.cli.completion import offer_heuristics, offer_models, offer_planners
from asnets.cli.policies import load_trained
from asnets.cli.running import (
    CostsOption,
    DomainArgument,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    ObjectiveOption,
    ProblemArgument,
    SeedOption,
    bounded,
    load,
    parse_size,
    print_json,
    require,
)
from asnets.cli.tables import show_table
from asnets.deadline import Deadline
from asnets.errors import LimitError
from asnets.evaluation import Simulation, execute, simulate
from asnets.evaluation.rollouts import check_run
from asnets.files import check_replaceable, refuse_overwriting
from asnets.grounding import DEFAULT_LIMITS
from asnets.planning import (
    GIVE_UP,
    HEURISTICS,
    OBJECTIVES,
    PLANNERS,
    Solution,
    Solver,
)
from asnets.planning.objectives import expected_reward
from asnets.planning.solvers import check_options
from asnets.policies.table import SavedPolicy, extract_policy, giving_up, is_policy, save_policy
from asnets.solving import search, shown_search
from asnets.words import count

_LOGGER = logging.getLogger(__name__)
_LATE_BY = (
    0.4  # Seconds after the deadline for the policy of a search that was stopped; a command ends a second after it.
)
_PLANNER_HELP = "One of: " + "; ".join(f"{info.name} ({info.description})" for info in PLANNERS.values()) + "."
_HEURISTIC_HELP = (
    "One of: "
    + "; ".join(f"{info.name} ({info.description}{', admissible' * info.admissible})" for info in HEURISTICS.values())
    + "."
)


def solve(
    domain: DomainArgument,
    problem: ProblemArgument = None,
    planner: Annotated[
        str,
        typer.Option(
            "--planner", "--search", metavar="|".join(PLANNERS), help=_PLANNER_HELP, autocompletion=offer_planners
        ),
    ] = "lrtdp",
    heuristic: Annotated[
        str,
        typer.Option(
            "--heuristic", metavar="|".join(HEURISTICS), help=_HEURISTIC_HELP, autocompletion=offer_heuristics
        ),
    ] = "lmcut",
    depth: Annotated[
        int | None, typer.Option("--depth", min=1, help="Depth of the short-sighted SSPs of ssipp (3 if left out).")
    ] = None,
    objective: ObjectiveOption = "penalty",
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Start from the policy of a model file or of a name from `asnets models`: what it costs is an upper "
            "bound at once, and its choices come first among equal ones. For "
            + ", ".join(name for name, info in PLANNERS.items() if info.starts_from_policy)
            + ".",
            autocompletion=offer_models,
        ),
    ] = None,
    epsilon: Annotated[
        float,
        typer.Option(
            "--epsilon",
            help="How far apart bounds of the value may be, relative to max(1, |value|), and the largest residual of a "
            "solved state.",
        ),
    ] = 1e-4,
    penalty: Annotated[
        float | None,
        typer.Option(
            "--penalty",
            "--dead-end-penalty",
            help="Cost of a dead end, and of giving up anywhere; 500 if left out, or with --costs metric the problem's "
            ":goal-reward if it is positive.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", metavar="SECONDS", help="Of the whole command.")
    ] = None,
    memory_limit: Annotated[
        str | None, typer.Option("--memory-limit", metavar="SIZE", help="Of the process, e.g. 500MB or 10GiB.")
    ] = None,
    seed: SeedOption = 0,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs of the policy that is found.")] = 30,
    max_steps: Annotated[int, typer.Option("--max-steps", min=1, help="Step limit of a run.")] = 1000,
    policy_file: Annotated[
        Path | None,
        typer.Option(
            "--save-policy",
            metavar="FILE",
            help="Write the policy to a file; `asnets simulate --policy FILE` runs it. If the search reaches a limit, "
            "that is the best one that is known for certain, which gives up where nothing is.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the policy that is there.")] = False,
    costs: CostsOption = "unit",
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Search for an optimal policy, then run it.

    A search that reaches a limit reports that as its status, with the bounds it had and the best policy known for
    certain, which is run if there is time, and exits with 4. Where no policy reaches the goal for less than the
    penalty, giving up is optimal, and the output says so.

    The value is what the objective asks for: the least expected cost (penalty), the greatest probability of reaching
    the goal (maxprob), or the least expected cost among the policies that have it, until the goal is reached or out of
    reach (lexicographic). It lies between the bounds that are shown, rounding included; converged means that these
    differ by epsilon at most, unless the heuristic is not admissible.
    """
    if policy_file is not None:
        refuse_overwriting(policy_file, [domain, problem])
        check_replaceable(policy_file, "policy file", is_policy, force=force)
    check_options(planner, heuristic, epsilon=epsilon, penalty=penalty, seed=seed, depth=depth, objective=objective)
    check_run(max_steps, seed, runs)
    memory = None if memory_limit is None else parse_size(memory_limit)
    deadline = Deadline(time_limit)
    require(
        policy_file is None or planner not in PLANNERS or PLANNERS[planner].optimal,
        f"the planner {planner!r} decides as it goes and has no policy to save",
    )
    require(
        model is None or PLANNERS[planner].starts_from_policy,
        f"the planner {planner!r} does not start from a policy: --model is for "
        + ", ".join(name for name, info in PLANNERS.items() if info.starts_from_policy),
    )
    trained = None if model is None else load_trained(model)
    with bounded(deadline, f"solving {problem or domain}"):
        task = load(domain, problem, costs, max_actions, lenient, deadline).task
        solver = Solver(
            task,
            planner,
            heuristic,
            epsilon=epsilon,
            penalty=penalty,
            seed=seed,
            depth=depth,
            objective=objective,
            anytime=PLANNERS[planner].optimal,
            policy=None if trained is None else trained.of(task),
        )
        with shown_search(solver) as show:
            solution = search(solver, deadline, memory, show)
    found = _Found(solver, solution, model, seed)
    is_saved = False
    late: LimitError | None = None
    if solution.status != "converged":
        late = LimitError(f"{_stopped(solution)} before the search converged; the value is not final")
    try:
        with bounded(deadline, "running the policy"):
            if solution.status != "converged" and solver.anytime:
                found.best = _best_known(solver, deadline)
            if policy_file is not None and (solution.status == "converged" or found.best is not None):
                save_policy(policy_file, found.best or extract_policy(solver, deadline))
                is_saved = True
            elif policy_file is not None:
                _LOGGER.warning("%s is not written: the search has not converged", policy_file)
            found.run(runs, max_steps, deadline)
        stopped = 0 if found.evaluation is None else found.evaluation.count("stopped")
        if stopped and late is None:
            late = LimitError(f"the time limit of {deadline.seconds:g} s was reached: {stopped:,} runs did not end")
    except LimitError as error:
        late = late or error
        if policy_file is not None and not is_saved and found.best is not None:
            found.best = giving_up(solver)
            save_policy(policy_file, found.best)
            is_saved = True
    if json:
        print_json(_as_json(found))
    else:
        _show(found)
        if is_saved:
            print(f"policy: {policy_file}")
    if late is not None:
        raise late


@dataclass
class _Found:
    """What the command has come to.

    Attributes:
        model: The name of what the search started from.
        best: The best policy known, of a search that has not converged.
        evaluation: Runs of the policy.
    """

    solver: Solver
    solution: Solution
    model: str | None
    seed: int
    best: SavedPolicy | None = None
    evaluation: Simulation | None = None

    def run(self, runs: int, max_steps: int, deadline: Deadline) -> None:
        """Runs the policy; the best one known only if there is time left."""
        if self.solution.status == "converged":
            self.evaluation = execute(self.solver, runs=runs, max_steps=max_steps, seed=self.seed, deadline=deadline)
        elif self.best is not None and not deadline.has_passed():
            self.evaluation = simulate(
                self.best, episodes=runs, max_steps=max_steps, seed=self.seed, threads=1, deadline=deadline
            )

    @property
    def guarantee(self) -> float | None:
        """A cost that the policy is at most, or a probability that it reaches the goal with at least."""
        if self.best is not None:
            return self.best.origin.guarantee
        if self.solution.status != "converged" or not PLANNERS[self.solver.planner].optimal:
            return None
        return self.solution.lower if self.solver.objective == "maxprob" else self.solution.upper


def _best_known(solver: Solver, deadline: Deadline) -> SavedPolicy:
    """What is left of the time, and a little more, is enough for most; else there is the policy that gives up."""
    try:
        return extract_policy(solver, Deadline(deadline.left + _LATE_BY))
    except LimitError:
        return giving_up(solver)


def _as_json(found: _Found) -> dict[str, object]:
    solver, solution, evaluation = found.solver, found.solution, found.evaluation
    task = solver.task
    return {
        "domain": task.domain,
        "problem": task.problem,
        "planner": solver.planner,
        "heuristic": solver.heuristic,
        "model": found.model,
        "status": solution.status,
        "objective": solver.objective,
        "value": _number(solution.value),
        "lower": _number(solution.lower),
        "upper": _number(solution.upper),
        "goal_probability": None
        if solution.goal_probability is None
        else dict(zip(("lower", "upper"), solution.goal_probability, strict=True)),
        "guarantee": _guarantee(solver, solution),
        "policy_guarantee": _number(found.guarantee),
        "gives_up": _gives_up(solver, solution),
        "penalty": solver.penalty,
        "goal_reward": None if task.goal_reward is None else float(task.goal_reward),
        "expected_reward": _reward(solver, solution),
        "expanded": solution.expanded,
        "evaluated": solution.evaluated,
        "backups": solution.backups,
        "trials": solution.trials,
        "seconds": solution.seconds,
        "peak_memory_mb": solution.peak_memory / 1e6,
        "costs": task.cost_mode,
        "seed": found.seed,
        "evaluation": None
        if evaluation is None
        else {
            "runs": evaluation.episodes,
            "goals": evaluation.count("goal"),
            "dead_ends": evaluation.count("dead_end"),
            "step_limits": evaluation.count("step_limit"),
            "loops": evaluation.count("loop"),
            "gave_up": evaluation.count("gave_up"),
            "stopped": evaluation.count("stopped"),
            "mean_cost": evaluation.mean_cost,
            "ci95": evaluation.ci95,
            "max_steps": evaluation.max_steps,
            "converged": solution.status == "converged",
        },
    }


def _show(found: _Found) -> None:
    solver, solution, evaluation = found.solver, found.solution, found.evaluation
    task = solver.task
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("problem", f"{task.problem} of {task.domain}")
    table.add_row("planner", f"{solver.planner} with {solver.heuristic}")
    if found.model is not None:
        table.add_row("model", f"starts from {found.model}")
    table.add_row("costs", task.cost_mode)
    table.add_row("status", "converged" if solution.status == "converged" else _stopped(solution))
    if solver.objective != "penalty":
        table.add_row("objective", f"{solver.objective}: {OBJECTIVES[solver.objective].description}")
    value = f"{solution.value:.4f}" if math.isfinite(solution.value) else "unknown"
    table.add_row("value", value + ("" if solution.status == "converged" else " (not final)"))
    if solution.lower is not None and solution.upper is not None:
        table.add_row("bounds", f"{_bounds(solution.lower, solution.upper)}")
    if solver.objective == "lexicographic" and solution.goal_probability is not None:
        table.add_row("goal", f"reached with a probability of {_bounds(*solution.goal_probability)}")
    if not PLANNERS[solver.planner].optimal:
        table.add_row("", f"of the optimum; none of what it costs: {solver.planner} decides as it goes")
    elif _guarantee(solver, solution) == "policy":
        table.add_row("", f"of the policy found; others may cost less: {solver.heuristic} is not admissible")
    reward = _reward(solver, solution)
    if reward is not None:
        what = f"{reward:.4f} expected" if solution.status == "converged" else f"{reward:.4f} (not final)"
        table.add_row("reward", f"{what}: the goal's reward of {solver.penalty:g} less the value")
    if solver.objective == "penalty":
        table.add_row("penalty", f"{solver.penalty:g}")
    if _gives_up(solver, solution):
        table.add_row("policy", _giving_up(solver))
    if found.best is not None:
        table.add_row("policy", _known_for_certain(found.best))
    table.add_row("states", f"{solution.expanded:,} expanded, {solution.evaluated:,} evaluated")
    table.add_row("effort", f"{solution.backups:,} backups, {solution.trials:,} trials or passes")
    table.add_row("time", f"{solution.seconds:.2f} s, {solution.peak_memory / 1e6:,.0f} MB")
    if evaluation is not None:
        mean, interval = evaluation.mean_cost, evaluation.ci95
        shown = "" if mean is None else f", mean cost {mean:.2f}" + ("" if interval is None else f" ± {interval:.2f}")
        late = evaluation.count("step_limit") + evaluation.count("loop")
        left = f"; {late} not within {evaluation.max_steps:,} steps" if late else ""
        whose = "" if found.best is None else " (the policy is not final)"
        if stopped := evaluation.count("stopped"):
            whose = f"; {stopped} not in time{whose}"
        reached = f"{evaluation.count('goal')} of {evaluation.episodes} reach the goal"
        table.add_row("runs", f"{reached}{shown}{left}{whose}")
    table.add_row("seed", str(found.seed))
    show_table(table)


def _guarantee(solver: Solver, solution: Solution) -> str:
    """What the value is: "optimal" up to ε, that of the "policy" found, "bounds" only, or "none"."""
    if not PLANNERS[solver.planner].optimal:
        return "none"
    if solution.status != "converged":
        return "bounds"
    needs_admissible = solver.objective == "penalty" and solver.planner != "vi"
    return "policy" if needs_admissible and not HEURISTICS[solver.heuristic].admissible else "optimal"


def _reward(solver: Solver, solution: Solution) -> float | None:
    return expected_reward(solver.task, solver.penalty, solution.value) if solver.objective == "penalty" else None


def _number(value: float | None) -> float | None:
    """For JSON, which has no infinities."""
    return value if value is not None and math.isfinite(value) else None


def _bounds(lower: float, upper: float) -> str:
    """Both, rounded outward to six digits."""
    low = f"{math.floor(lower * 1e6) / 1e6:.6f}" if math.isfinite(lower) else "-∞"
    high = f"{math.ceil(upper * 1e6) / 1e6:.6f}" if math.isfinite(upper) else "∞"
    return f"{low} to {high}"


def _stopped(solution: Solution) -> str:
    return f"stopped by the limit on {solution.status}"


def _gives_up(solver: Solver, solution: Solution) -> bool:
    """Whether giving up at once is optimal."""
    if solution.status != "converged" or solver.greedy_action(solver.initial) != GIVE_UP:
        return False
    return solver.is_dead_end(solver.initial) or (solver.objective == "penalty" and solution.value > 0)


def _known_for_certain(policy: SavedPolicy) -> str:
    """How good the policy of a search that was stopped is at least."""
    size = f"the best known: {count(len(policy.actions), 'state')}"
    guarantee, penalty = policy.origin.guarantee, policy.origin.penalty
    if policy.origin.objective == "maxprob":
        if guarantee:
            return f"{size}, reaches the goal with a probability of {math.floor(guarantee * 1e6) / 1e6:.6f} or more"
    elif guarantee is not None and guarantee < penalty:
        return f"{size}, costs {math.ceil(guarantee * 1e6) / 1e6:.6f} at most, failing included"
    return f"{size}, nothing is certain that is better than giving up"


def _giving_up(solver: Solver) -> str:
    if solver.is_dead_end(solver.initial) and solver.objective != "penalty":
        return "gives up: the goal cannot be reached"
    if solver.is_dead_end(solver.initial):
        return f"gives up (cost {solver.penalty:g}): the goal cannot be reached"
    return (
        f"giving up (cost {solver.penalty:g}) is better than trying: no policy reaches the goal for less. "
        "A larger --penalty makes trying pay"
    )
