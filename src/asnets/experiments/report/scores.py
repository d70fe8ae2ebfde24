"""Scores as cells of tables and as records of CSV files."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable

from asnets.experiments.report.document import Line, Mark, Record, TableCell
from asnets.experiments.report.paper import Estimate, cost_mark, coverage_mark, paper_estimate
from asnets.experiments.results import ExperimentResults, ProblemInfo, Score, SystemInfo
from asnets.experiments.shipped import shipped_experiments
from asnets.experiments.store import Row


def estimate(score: Score) -> Estimate:
    return Estimate(score.goals, score.runs, score.mean_cost, score.ci95)


def is_same_instance(problem: ProblemInfo) -> bool:
    """Whether the paper has the very same problem, not only one of the same distribution."""
    return problem.paper == problem.name


def estimate_lines(ours: Estimate, coverage: Mark = "", cost: Mark = "") -> list[Line]:
    """Coverage over cost, as in the paper's tables."""
    lines = [Line(f"{ours.goals}/{ours.runs}", "main", coverage)]
    if ours.mean_cost is not None:
        lines.append(Line(f"({cost_text(ours)})", "detail", cost))
    return lines


def cost_text(ours: Estimate) -> str:
    half = "" if ours.ci95 is None else f" ± {ours.ci95:.2f}"
    return f"{ours.mean_cost:.2f}{half}"


def paper_lines(theirs: Estimate | None) -> list[Line]:
    if theirs is None:
        return []
    if theirs.mean_cost is None:
        return [Line("–" if theirs.goals == 0 else f"{theirs.goals}/{theirs.runs}", "paper")]
    return [Line(f"{theirs.goals}/{theirs.runs}", "paper"), Line(f"({cost_text(theirs)})", "paper")]


def score_cell(experiment: ExperimentResults, system: SystemInfo, problem: ProblemInfo) -> TableCell:
    """Ours, why it failed where it did, and the paper's."""
    score = experiment.scores[system.name, problem.name]
    theirs = paper_estimate(system.paper, problem.paper)
    coverage, cost = marks(score, theirs)
    lines = estimate_lines(estimate(score), coverage, cost) if score.rows else []
    lines += seed_lines(experiment, system, problem)
    lines += exact_lines(score)
    lines += [Line(text, "note") for text in reasons(score, system)]
    if has_other_cut_offs(experiment, system, score):
        lines.append(Line("full cut-offs", "note"))
    return (*lines, *paper_lines(theirs))


def exact_numbers(score: Score) -> tuple[float, float | None] | None:
    """Goal probability and cost given the goal for all runs, means over the models; None if a chain was too large."""
    numbers = [exact for row in score.rows if (exact := row.result.metrics.get("exact")) is not None]
    if not numbers or len(numbers) < len(score.rows):
        return None
    goal = sum(number["goal_probability"] for number in numbers) / len(numbers)
    costs = [number["cost_given_goal"] for number in numbers if number["cost_given_goal"] is not None]
    return goal, sum(costs) / len(costs) if costs else None


def exact_lines(score: Score) -> list[Line]:
    """What holds for all runs, where it was found."""
    exact = exact_numbers(score)
    if exact is None:
        return []
    goal, cost = exact
    return [Line(f"exact: {100 * goal:.4g}%" + ("" if cost is None else f", {cost:.2f}"), "note")]


def seed_lines(experiment: ExperimentResults, system: SystemInfo, problem: ProblemInfo) -> list[Line]:
    """Goals by seed of training, where these differ."""
    seeds = experiment.trainings.get(system.name, {})
    scores = [experiment.seed_scores[system.name, problem.name, seed] for seed in seeds]
    texts = [str(score.goals) if score.rows else "–" for score in scores]
    return [Line(f"by seed: {', '.join(texts)}", "note")] if len({score.goals for score in scores}) > 1 else []


def marks(score: Score, theirs: Estimate | None) -> tuple[Mark, Mark]:
    """Of coverage and of cost; costs of other instances are not compared one by one."""
    if theirs is None or not score.rows:
        return "", ""
    ours = estimate(score)
    return coverage_mark(ours, theirs), cost_mark(ours, theirs) if is_same_instance(score.problem) else ""


def reasons(score: Score, system: SystemInfo) -> list[str]:
    """Why runs are missing or have not reached the goal."""
    found = []
    for outcome, count in sorted(score.outcomes.items()):
        if outcome != "finished":
            found.append(outcome if count == len(score.rows) else f"{count} of {len(score.rows)}: {outcome}")
    found += other_endings([score])
    if score.skipped:
        text = "no model" if system.kind == "asnet" else "skipped"
        found.append(f"{score.skipped} of {score.missing + len(score.rows)}: {text}" if score.rows else text)
    waiting = score.missing - score.skipped
    if waiting:
        found.append("not run yet" if not score.rows else f"{waiting} of {waiting + len(score.rows)} not run yet")
    return found


def other_endings(scores: Iterable[Score]) -> list[str]:
    """How many runs ended otherwise than at the goal, by ending, whatever endings there are."""
    endings = Counter(
        ending for score in scores for row in score.rows for ending in row.result.metrics.get("endings", [])
    )
    return [f"{number}× {name.replace('_', ' ')}" for name, number in sorted(endings.items()) if name != "goal"]


def not_run(cells: int) -> str:
    return "1 cell has not been run" if cells == 1 else f"{cells} cells have not been run"


def has_other_cut_offs(experiment: ExperimentResults, system: SystemInfo, score: Score) -> bool:
    """Whether a planner was run with other cut-offs than its scale's: those of the scale `paper`."""
    if system.kind != "planner":
        return False
    return any(row.payload["cut_offs"] != experiment.definition["scale"]["cut_offs"] for row in score.rows)


def score_record(experiment: ExperimentResults, system: SystemInfo, problem: ProblemInfo) -> Record:
    score = experiment.scores[system.name, problem.name]
    theirs = paper_estimate(system.paper, problem.paper)
    coverage, cost = marks(score, theirs)
    record: Record = {
        "experiment": experiment.name,
        "scale": experiment.scale,
        "system": system.name,
        "problem": problem.name,
        "size": problem.size,
        "goals": score.goals if score.rows else None,
        "runs": score.runs if score.rows else None,
        "mean_cost": score.mean_cost,
        "ci95": score.ci95,
        "cpu_seconds": score.seconds,
        "outcome": " ".join(f"{name}:{count}" for name, count in sorted(score.outcomes.items())),
        "why": "; ".join(reasons(score, system)),
        "cells_missing": score.missing - score.skipped,
        "cells_skipped": score.skipped,
        "paper_problem": problem.paper,
    }
    goal, exact_cost = exact_numbers(score) or (None, None)
    record |= {"exact_goal_probability": goal, "exact_cost_given_goal": exact_cost}
    record |= paper_record(theirs, coverage, cost)
    return record | origin(score.rows) | {"command": command(experiment, system.name, problem.name)}


def paper_record(theirs: Estimate | None, coverage: str, cost: str) -> Record:
    """The paper's numbers beside ours, and the marks of what differs."""
    return {
        "paper_goals": None if theirs is None else theirs.goals,
        "paper_runs": None if theirs is None else theirs.runs,
        "paper_mean_cost": None if theirs is None else theirs.mean_cost,
        "paper_ci95": None if theirs is None else theirs.ci95,
        "coverage_beyond_intervals": coverage,
        "cost_beyond_intervals": cost,
    }


def origin(rows: tuple[Row, ...]) -> Record:
    """Where numbers come from: seeds, versions, cut-offs and keys of their cells."""
    cut_offs = [row.payload["cut_offs"] for row in rows]
    return {
        "seeds": _joined(sorted({row.seed for row in rows})),
        "version": _joined(row.result.version for row in rows),
        "time_limit": _joined(f"{each['time_limit']:g}" for each in cut_offs),
        "memory_limit": _joined(each["memory_limit"] for each in cut_offs),
        "max_steps": _joined(row.payload.get("max_steps") for row in rows),
        "keys": _joined(row.key for row in rows),
    }


def command(experiment: ExperimentResults, system: str | None = None, problem: str | None = None) -> str:
    """What to type to get numbers again; DIR is any folder."""
    parts = ["asnets reproduce", argument(experiment), f"--scale {experiment.scale}"]
    parts += [] if system is None else [f"--system {shlex.quote(system)}"]
    parts += [] if problem is None else [f"--problem {shlex.quote(problem)}"]
    return " ".join([*parts, "-o DIR"])


def argument(experiment: ExperimentResults) -> str:
    """The experiment as an argument of the command: one of the package by name, others by their file."""
    return experiment.name if experiment.name in shipped_experiments() else shlex.quote(f"{experiment.name}.toml")


def _joined(values: Iterable[object]) -> str:
    return " ".join(dict.fromkeys(str(value) for value in values if value is not None))
