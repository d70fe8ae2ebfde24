"""Coverage and cost: the table of an experiment, and summaries by size."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np

from asnets.evaluation.statistics import confidence_interval_95
from asnets.experiments.report.document import Column, Line, Record, Table, TableCell
from asnets.experiments.report.paper import Estimate, cost_mark, coverage_mark, cut_offs_text, failed, paper_estimate
from asnets.experiments.report.scores import (
    command,
    cost_text,
    estimate,
    estimate_lines,
    is_same_instance,
    marks,
    origin,
    other_endings,
    paper_lines,
    paper_record,
    reasons,
    score_cell,
    score_record,
)
from asnets.experiments.results import ExperimentResults, ProblemInfo, Score, SystemInfo


def how_to_read(*, in_paper: bool) -> list[str]:
    """What all tables have in common, and how they stand to the paper's where it has the experiments."""
    numbers = (
        "In the tables, 30/30 over (23.50 ± 0.70) is: the goal was reached in 30 of 30 runs, at a mean cost of 23.50 "
        "over the runs that reached it, with the half width of its 95% confidence interval (Student)."
    )
    together = (
        "All runs on a problem are taken together, as if independent; those of a planner with one seed share what it "
        "found, and those of an ASNet its training, so that intervals are rather too narrow. “By seed” are the goals "
        "with each seed of training, where they differ."
    )
    reasons = (
        "Why runs are missing: time, memory: the cut-off was reached; dead end, step limit and the like: how so many "
        "runs ended; skipped: not run, since a smaller size failed; crashed, killed, error: what became of the "
        f"process; no model: training gave none. Cells with full cut-offs were run with {cut_offs_text()}."
    )
    exact = (
        "“Exact” are the probability of the goal and the cost of the runs that reach it over all runs, solved from the "
        "chain of the policy where that is small; means over the seeds of training."
    )
    together = f"{together} {exact}"
    if not in_paper:
        return [numbers, together, reasons]
    theirs = f"Below it, in grey or italics, is the paper’s number, where it has one; – is none of {failed().runs}."
    marks = (
        "▲ is better than the paper’s and ▼ worse, beyond both confidence intervals: the two have nothing in common. "
        "For coverage these are Wilson’s intervals of a share."
    )
    return [f"{numbers} {theirs}", f"{marks} {together}", reasons]


def columns(systems: Sequence[SystemInfo]) -> tuple[Column, ...]:
    """A column for each system, under the first word of its title."""
    found = []
    for system in systems:
        group, comma, title = system.title.partition(", ")
        if system.kind == "strategy":
            found.append(Column(system.title, "strategies"))
        else:
            found.append(Column(title, group) if comma else Column(group))
    return tuple(found)


def coverage_table(experiment: ExperimentResults) -> Table:
    """Rows are problems, columns systems, as in the paper."""
    rows = tuple(
        (problem.name, tuple(score_cell(experiment, system, problem) for system in experiment.systems))
        for problem in experiment.problems
    )
    return Table(
        f"{experiment.file_name}-coverage",
        f"{experiment.title}: coverage and cost",
        "problem",
        columns(experiment.systems),
        rows,
        _system_names(experiment),
        (command(experiment), command(experiment).replace(" -o", " --system SYSTEM --problem PROBLEM -o")),
        tuple(
            score_record(experiment, system, problem)
            for problem in experiment.problems
            for system in experiment.systems
        ),
    )


def has_paper(experiment: ExperimentResults) -> bool:
    return any(
        paper_estimate(system.paper, problem.paper) for system in experiment.systems for problem in experiment.problems
    )


def comparison_text(experiment: ExperimentResults) -> str:
    """How many of the numbers that the paper has too differ."""
    compared, counts = 0, {"coverage": {"better": 0, "worse": 0}, "cost": {"better": 0, "worse": 0}}
    with_cost = 0
    for system in experiment.systems:
        for problem in experiment.problems:
            theirs = paper_estimate(system.paper, problem.paper)
            score = experiment.scores[system.name, problem.name]
            if theirs is None or not score.rows:
                continue
            compared += 1
            with_cost += is_same_instance(problem) and None not in (theirs.ci95, score.ci95)
            for kind, mark in zip(("coverage", "cost"), marks(score, theirs), strict=True):
                if mark:
                    counts[kind][mark] += 1
    if not compared:
        return "No cell has been run so far that the paper has a number for."
    coverage, cost = (
        f"better in {count['better']} and worse in {count['worse']}" if any(count.values()) else "different in none"
        for count in counts.values()
    )
    text = (
        f"{compared} cells have a number in the paper. Beyond both confidence intervals, coverage is {coverage} of them"
    )
    return text + (f"; of {with_cost} with a cost in both, cost is {cost}." if with_cost else ".")


def of_size(experiment: ExperimentResults, system: SystemInfo, size: int) -> list[Score]:
    return [experiment.scores[system.name, each.name] for each in experiment.problems if each.size == size]


def pooled(estimates: Sequence[Estimate]) -> Estimate:
    """Problems of one size together: all their runs; the mean of their mean costs, with the interval over problems."""
    means = np.array([each.mean_cost for each in estimates if each.mean_cost is not None])
    return Estimate(
        sum(each.goals for each in estimates),
        sum(each.runs for each in estimates),
        float(means.mean()) if len(means) else None,
        confidence_interval_95(means),
    )


def size_table(experiment: ExperimentResults) -> Table:
    """Means over the problems of a size, for problems that are not the paper's own."""
    rows: list[tuple[str, tuple[TableCell, ...]]] = []
    records: list[Record] = []
    for size in experiment.sizes():
        cells: list[TableCell] = []
        for system in experiment.systems:
            scores = of_size(experiment, system, size)
            found = [paper_estimate(system.paper, score.problem.paper) for score in scores]
            theirs = pooled([each for each in found if each is not None]) if None not in found else None
            # Means over different problems, where one side has not solved all, say nothing of each other.
            is_whole = all(each is not None and each.mean_cost is not None for each in found)
            is_whole = is_whole and all(score.costs for score in scores)
            cell, record = _size_cell(experiment, system, size, scores, theirs, with_cost=is_whole)
            cells.append(cell)
            records.append(record)
        rows.append((str(size), tuple(cells)))
    return Table(
        f"{experiment.file_name}-by-size",
        f"{experiment.title}: means over the problems of a size",
        "size",
        columns(experiment.systems),
        tuple(rows),
        (
            "Goals of all runs over the mean of the problems’ mean costs. Its 95% confidence interval (Student) is "
            "over the problems, which are random, so that it is wide for three; problems without any run that "
            "reached the goal are left out of the mean.",
        ),
        (command(experiment),),
        tuple(records),
    )


def _size_cell(
    experiment: ExperimentResults,
    system: SystemInfo,
    size: int,
    scores: list[Score],
    theirs: Estimate | None,
    *,
    with_cost: bool,
) -> tuple[TableCell, Record]:
    done = [score for score in scores if score.rows]
    ours = pooled([estimate(score) for score in done])
    is_comparable = theirs is not None and bool(done)
    coverage = coverage_mark(ours, theirs) if is_comparable and theirs else ""
    cost = cost_mark(ours, theirs) if is_comparable and theirs and with_cost else ""
    lines = estimate_lines(ours, coverage, cost) if done else []
    solved = sum(score.goals > 0 for score in done)
    if 0 < solved < len(scores):
        lines.append(Line(f"cost of {solved} of {len(scores)}", "note"))
    lines += [Line(text, "note") for text in (other_endings(done) if done else reasons(scores[0], system))]
    record: Record = _size_record(experiment, system, size, len(scores)) | {
        "goals": ours.goals if done else None,
        "runs": ours.runs if done else None,
        "mean_cost": ours.mean_cost,
        "ci95": ours.ci95,
    }
    record |= paper_record(theirs, coverage, cost)
    rows = tuple(row for score in scores for row in score.rows)
    return (*lines, *paper_lines(theirs)), record | origin(rows) | {"command": command(experiment, system.name)}


def _size_record(experiment: ExperimentResults, system: SystemInfo, size: int, problems: int) -> Record:
    return {
        "experiment": experiment.name,
        "scale": experiment.scale,
        "system": system.name,
        "size": size,
        "problems": problems,
    }


def strategies(experiment: ExperimentResults) -> dict[str, SystemInfo]:
    """The strategies that are references of cost."""
    return {each.config["strategy"]: each for each in experiment.systems if each.kind == "strategy"}


def robustness_table(experiment: ExperimentResults) -> Table:
    """Many problems of each size: how many are solved, and cost in units of the strategies'."""
    references = strategies(experiment)
    rows: list[tuple[str, tuple[TableCell, ...]]] = []
    records: list[Record] = []
    for size in experiment.sizes():
        for system in experiment.systems:
            scores = of_size(experiment, system, size)
            done = [score for score in scores if score.rows]
            solved = sum(estimate(score).is_full for score in done)
            goals, runs = sum(score.goals for score in done), sum(score.runs for score in done)
            ours = pooled([estimate(score) for score in done])
            ratios = {
                name: cost_ratio(experiment, system, reference, [score.problem for score in scores])
                for name, reference in references.items()
            }
            cells: list[TableCell] = [
                (Line(f"{solved}/{len(scores)}"),) if done else (Line("not run yet", "note"),),
                (Line(f"{goals}/{runs}"), *(Line(text, "note") for text in other_endings(done))) if done else (),
                (Line(cost_text(ours), "detail"),) if ours.mean_cost is not None else (),
                *((Line("–" if ratio is None else f"{ratio:.2f}", "detail"),) for ratio in ratios.values()),
            ]
            rows.append((f"{size}: {system.title}", tuple(cells)))
            record: Record = _size_record(experiment, system, size, len(scores)) | {
                "fully_solved": solved,
                "goals": goals,
                "runs": runs,
                "mean_cost": ours.mean_cost,
                "ci95": ours.ci95,
            }
            record |= {f"cost_over_{name}": ratio for name, ratio in ratios.items()}
            record |= origin(tuple(row for score in scores for row in score.rows))
            records.append(record | {"command": command(experiment, system.name)})
    return Table(
        f"{experiment.file_name}-by-size",
        f"{experiment.title}: by size",
        "size and system",
        (
            Column("fully solved"),
            Column("goals"),
            Column("mean cost"),
            *(Column(f"cost over {references[name].title}") for name in references),
        ),
        tuple(rows),
        (
            "Fully solved: problems on which every run reached the goal. Mean cost: over the problems’ means, with "
            "the 95% confidence interval over problems. Ratios are over the problems that both solve.",
        ),
        (command(experiment),),
        tuple(records),
    )


def cost_ratio(
    experiment: ExperimentResults, system: SystemInfo, reference: SystemInfo, problems: Sequence[ProblemInfo]
) -> float | None:
    """Mean cost over the reference's, on the problems where both have one."""
    pairs = [
        (experiment.scores[system.name, each.name].mean_cost, experiment.scores[reference.name, each.name].mean_cost)
        for each in problems
    ]
    both = [(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None]
    if not both or not sum(theirs for _, theirs in both):
        return None
    return statistics.fmean(ours for ours, _ in both) / statistics.fmean(theirs for _, theirs in both)


def _system_names(experiment: ExperimentResults) -> tuple[str, ...]:
    names = "; ".join(f"{each.name} ({each.title})" for each in experiment.systems)
    return (f"SYSTEM is one of: {names}.",)
