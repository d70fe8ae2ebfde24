"""The best ASNet and the best baseline on selected problems, as in the table beside the paper's figure of times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from asnets.experiments.report.document import Column, Line, Record, Table, TableCell
from asnets.experiments.report.networks import is_in_paper, judged_networks, other_networks, planners
from asnets.experiments.report.paper import Estimate, cost_mark, coverage_mark, failed, paper_results, paper_title
from asnets.experiments.report.scores import command, estimate, estimate_lines, is_same_instance, origin, paper_lines
from asnets.experiments.results import ExperimentResults, ProblemInfo, SystemInfo
from asnets.experiments.store import Row

Best = tuple[str, Estimate]


def is_compared(experiment: ExperimentResults) -> bool:
    """Whether it has ASNets and planners."""
    return {"asnet", "planner"} <= {each.kind for each in experiment.systems}


def best(candidates: Iterable[Best]) -> Best | None:
    """Highest coverage, then lowest cost, then first; None where nothing reached the goal."""
    found = [each for each in candidates if each[1].mean_cost is not None]
    return min(found, key=lambda each: (-each[1].goals / each[1].runs, each[1].mean_cost), default=None)


def best_of(experiment: ExperimentResults, systems: Iterable[SystemInfo], problem: ProblemInfo) -> Best | None:
    """The best of some systems on a problem."""
    scores = (experiment.scores[each.name, problem.name] for each in systems)
    return best((score.system, estimate(score)) for score in scores if score.rows)


def paper_best(problem: str | None, *, is_asnet: bool) -> tuple[bool, Best | None]:
    """Whether the paper has the problem, and its best ASNet or baseline there."""
    found = [
        (f"{system} {variant}", results[problem])
        for (system, variant), results in paper_results().items()
        if (system == "asnet") == is_asnet and problem in results
    ]
    return bool(found), best(found)


def selected_problems(experiment: ExperimentResults) -> list[ProblemInfo]:
    """The first problem of the sizes that tell most.

    These are the smallest, the largest, the largest at which a baseline reaches the goal in every run and at all, and
    the one above that.
    """
    sizes = experiment.sizes()
    full, some = sizes[0], sizes[0]
    for problem in experiment.problems:
        found = best_of(experiment, planners(experiment), problem)
        if found is not None:
            some = max(some, problem.size)
            full = max(full, problem.size) if found[1].is_full else full
    above = next((size for size in sizes if size > some), sizes[-1])
    wanted = {sizes[0], full, some, above, sizes[-1]}
    firsts: dict[int, ProblemInfo] = {}
    for problem in experiment.problems:
        firsts.setdefault(problem.size, problem)
    return [firsts[size] for size in sorted(wanted)]


def best_table(experiments: Iterable[ExperimentResults]) -> Table:
    """Best ASNet, best baseline; the CSV has all problems."""
    experiments = [each for each in experiments if is_compared(each)]
    rows: list[tuple[str, tuple[TableCell, ...]]] = []
    records: list[Record] = []
    for experiment in experiments:
        chosen = {problem.name for problem in selected_problems(experiment)}
        for problem in experiment.problems:
            cells: list[TableCell] = []
            for group, systems in _groups(experiment).items():
                ours, theirs, record = _best_cells(experiment, group, systems, problem)
                cells += [ours, theirs]
                records.append(record)
            if problem.name in chosen:
                rows.append((problem.name, tuple(cells)))
    headings = [Column(title, group) for group in _GROUPS for title in ("here", "in the paper")]
    # Columns without any number are left out: those of the paper, or of ours, in experiments that have none.
    kept = [index for index in range(len(headings)) if any(cells[index] for _, cells in rows)]
    return Table(
        "best",
        "Selected problems",
        "problem",
        tuple(headings[index] for index in kept),
        tuple((name, tuple(cells[index] for index in kept)) for name, cells in rows),
        (
            "Best: highest coverage, then lowest mean cost, then first in the order of the columns"
            + ("; the paper’s by the same rule" if any(map(is_in_paper, experiments)) else "")
            + ". Selected: of each experiment the smallest and the largest size, the largest that a baseline solves "
            "in all runs and in any, and the size above that; all problems are in the CSV file.",
        ),
        tuple(command(experiment) for experiment in experiments),
        tuple(records),
    )


_GROUPS = ("best ASNet", "best ASNet of ours", "best baseline")


def _groups(experiment: ExperimentResults) -> dict[str, list[SystemInfo]]:
    """Which systems are compared with each other."""
    systems = (judged_networks(experiment), other_networks(experiment), planners(experiment))
    return dict(zip(_GROUPS, systems, strict=True))


def _no_goal(
    experiment: ExperimentResults, systems: Sequence[SystemInfo], problem: ProblemInfo, theirs: Estimate | None
) -> Line:
    """What to say where none of some systems has reached the goal: nothing, before all of them have been run."""
    scores = [experiment.scores[each.name, problem.name] for each in systems]
    if any(score.missing > score.skipped for score in scores):
        return Line("not run yet", "note")
    runs = max(score.runs for score in scores)
    return Line("–", mark=coverage_mark(Estimate(0, runs, None, None), theirs) if theirs is not None and runs else "")


def _best_cells(
    experiment: ExperimentResults, group: str, systems: Sequence[SystemInfo], problem: ProblemInfo
) -> tuple[TableCell, TableCell, Record]:
    is_network = any(each.kind == "asnet" for each in systems)
    has_paper = any(each.paper is not None for each in systems)
    is_known, theirs = paper_best(problem.paper, is_asnet=is_network) if has_paper else (False, None)
    ours = best_of(experiment, systems, problem)
    titles = {system.name: system.title for system in systems}
    rows: tuple[Row, ...] = ()
    if ours is not None:
        reference = None if not is_known else failed() if theirs is None else theirs[1]
        coverage = coverage_mark(ours[1], reference) if reference is not None else ""
        cost = cost_mark(ours[1], reference) if reference is not None and is_same_instance(problem) else ""
        lines = [*estimate_lines(ours[1], coverage, cost), Line(titles[ours[0]], "note")]
        rows = experiment.scores[ours[0], problem.name].rows
    elif systems:
        lines = [_no_goal(experiment, systems, problem, None if theirs is None else theirs[1])]
    else:
        lines = []
    paper: list[Line] = []
    if theirs is not None:
        paper = [*paper_lines(theirs[1]), Line(paper_title(theirs[0]), "paper")]
    elif is_known:
        paper = [Line("–", "paper")]
    record: Record = {
        "experiment": experiment.name,
        "scale": experiment.scale,
        "problem": problem.name,
        "size": problem.size,
        "group": group,
        "system": None if ours is None else ours[0],
        "goals": None if ours is None else ours[1].goals,
        "runs": None if ours is None else ours[1].runs,
        "mean_cost": None if ours is None else ours[1].mean_cost,
        "ci95": None if ours is None else ours[1].ci95,
        "paper_system": None if theirs is None else theirs[0],
        "paper_goals": theirs[1].goals if theirs is not None else 0 if is_known else None,
        "paper_mean_cost": None if theirs is None else theirs[1].mean_cost,
        "paper_ci95": None if theirs is None else theirs[1].ci95,
    }
    again = command(experiment, None if ours is None else ours[0], problem.name)
    return tuple(lines), tuple(paper), record | origin(rows) | {"command": again}
