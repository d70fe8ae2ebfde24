"""Tables that belong to one question: how far networks look ahead, the price of landmarks, the trainings."""

from __future__ import annotations

from collections.abc import Iterable

from asnets.experiments.report.document import Column, Line, Record, Table, TableCell
from asnets.experiments.report.networks import judged_networks, layers, networks
from asnets.experiments.report.paper import Estimate, coverage_mark, paper_words
from asnets.experiments.report.scores import (
    command,
    estimate,
    estimate_lines,
    not_run,
    origin,
    paper_lines,
    reasons,
    seed_lines,
)
from asnets.experiments.results import ExperimentResults, SystemInfo
from asnets.experiments.shipped import shipped_rows
from asnets.experiments.store import Row


def layers_table(experiment: ExperimentResults) -> Table:
    """Coverage by proposition layers and size."""
    words = paper_words(experiment.name)["layers"]
    size_key = words["size"].replace(" ", "_")
    in_paper = {
        (int(row["layers"]), int(row[size_key])): Estimate(int(row["goals"]), int(row["runs"]), None, None)
        for row in shipped_rows(words["numbers"])
    }
    rows: list[tuple[str, tuple[TableCell, ...]]] = []
    records: list[Record] = []
    for system in experiment.systems:
        cells: list[TableCell] = []
        for problem in experiment.problems:
            score = experiment.scores[system.name, problem.name]
            ours = estimate(score)
            theirs = None if system.paper is None else in_paper.get((layers(system), problem.size))
            mark = coverage_mark(ours, theirs) if theirs is not None and score.rows else ""
            lines = [*estimate_lines(ours, mark)[:1], *seed_lines(experiment, system, problem)] if score.rows else []
            lines += [Line(text, "note") for text in reasons(score, system)]
            cells.append((*lines, *paper_lines(theirs)))
            record: Record = {
                "experiment": experiment.name,
                "scale": experiment.scale,
                "system": system.name,
                "layers": layers(system),
                size_key: problem.size,
                "goals": score.goals if score.rows else None,
                "runs": score.runs if score.rows else None,
                "paper_goals": None if theirs is None else theirs.goals,
                "paper_runs": None if theirs is None else theirs.runs,
                "coverage_beyond_intervals": mark,
            }
            records.append(record | origin(score.rows) | {"command": command(experiment, system.name, problem.name)})
        rows.append((system.title, tuple(cells)))
    return Table(
        experiment.file_name,
        f"{experiment.title}: coverage by proposition layers and {words['size_in_words']}",
        "network",
        tuple(Column(str(problem.size), words["size"]) for problem in experiment.problems),
        tuple(rows),
        (),
        (command(experiment),),
        tuple(records),
    )


def layers_text(experiment: ExperimentResults) -> str:
    """Whether the networks that the experiment is about solve exactly the paths that they can see to the end."""
    near: list[Estimate] = []
    far: list[Estimate] = []
    waiting = 0
    for system in judged_networks(experiment):
        for problem in experiment.problems:
            for seed in experiment.trainings[system.name]:
                score = experiment.seed_scores[system.name, problem.name, seed]
                if score.rows:
                    (near if layers(system) >= problem.size else far).append(estimate(score))
                else:
                    waiting += 1
    full = sum(each.is_full for each in near)
    parts = (
        [f"Where there are as many layers as steps, {full} of {len(near)} cells have full coverage."] if near else []
    )
    if far:
        shares = [each.goals / each.runs for each in far]
        parts.append(
            f"Where the path is longer, {sum(each.is_full for each in far)} of {len(far)} do, and coverage is from "
            f"{min(shares):.0%} to {max(shares):.0%}; {paper_words(experiment.name)['layers']['beyond']}."
        )
    return " ".join([*parts, *([f"{not_run(waiting)} yet."] if waiting else [])])


def landmark_seconds(
    experiment: ExperimentResults, pair: tuple[SystemInfo, SystemInfo], size: int
) -> tuple[float, float] | None:
    """CPU seconds to solve the problems of a size with landmarks and without; None where one of the two has none."""
    both = []
    for system in pair:
        found = [experiment.scores[system.name, each.name].seconds for each in experiment.problems if each.size == size]
        seconds = [each for each in found if each is not None]
        if not found or len(seconds) < len(found):
            return None
        both.append(sum(seconds) / len(seconds))
    return both[0], both[1]


def landmark_table(experiment: ExperimentResults, pair: tuple[SystemInfo, SystemInfo]) -> Table:
    """Time with landmarks over time without, at the sizes for which the paper says it."""
    rows: list[tuple[str, tuple[TableCell, ...]]] = []
    records: list[Record] = []
    for number, theirs in paper_words(experiment.name)["landmark_time_ratios"].items():
        size = int(number)
        found = landmark_seconds(experiment, pair, size)
        texts = (
            ("–", "–", "–") if found is None else (f"{found[0]:.3f}", f"{found[1]:.3f}", f"{found[0] / found[1]:.1f}")
        )
        rows.append((str(size), (*((Line(text),) for text in texts), (Line(str(theirs), "paper"),))))
        scores = [
            experiment.scores[system.name, problem.name]
            for system in pair
            for problem in experiment.problems
            if problem.size == size
        ]
        record: Record = {
            "experiment": experiment.name,
            "scale": experiment.scale,
            "size": size,
            "seconds_with_landmarks": None if found is None else found[0],
            "seconds_without": None if found is None else found[1],
            "ratio": None if found is None else found[0] / found[1],
            "paper_ratio": theirs,
        }
        records.append(record | origin(tuple(row for score in scores for row in score.rows)))
    options = "".join(f" --system {each.name}" for each in pair)
    return Table(
        "landmark-time",
        f"{experiment.title}: time to solve a problem with landmarks over time without",
        "size",
        (Column("with (CPU s)"), Column("without (CPU s)"), Column("ratio"), Column("paper’s ratio")),
        tuple(rows),
        (
            f"{pair[0].title}, and the same without landmarks. Reading, grounding and one run, no training. – is not "
            "run or not solved.",
        ),
        (command(experiment).replace(" -o", f"{options} -o"),),
        tuple(records),
    )


def training_table(experiments: Iterable[ExperimentResults]) -> Table:
    """All trainings, each once."""
    rows: list[tuple[str, tuple[TableCell, ...]]] = []
    records: list[Record] = []
    seen: set[str] = set()
    experiments = list(experiments)
    for experiment in experiments:
        for system in networks(experiment):
            trainings = experiment.trainings[system.name]
            for seed, row in trainings.items():
                if row is not None and row.key in seen:
                    continue
                if row is not None:
                    seen.add(row.key)
                cells, record = _training(experiment, system, seed, row)
                which = f", seed {seed}" if len(trainings) > 1 else ""
                rows.append((f"{experiment.title}: {system.title}{which}", cells))
                records.append(record)
    return Table(
        "trainings",
        "Trainings",
        "training",
        (
            Column("problems"),
            Column("epochs"),
            Column("CPU s"),
            Column("wall s"),
            Column("coverage"),
            Column("ended by"),
        ),
        tuple(rows),
        (
            "Coverage: on the training problems, after the last epoch. A training that serves two experiments is "
            "listed with the first.",
        ),
        tuple(command(experiment) for experiment in experiments if experiment.trainings),
        tuple(records),
    )


def _training(
    experiment: ExperimentResults, system: SystemInfo, seed: int, row: Row | None
) -> tuple[tuple[TableCell, ...], Record]:
    result = {} if row is None else row.result.metrics
    curve = result.get("curve", [])
    outcome = "not run yet" if row is None else row.result.outcome
    ended = result.get("ended", result.get("reason", outcome))
    coverage = curve[-1]["coverage"] if curve else None
    record: Record = {
        "experiment": experiment.name,
        "scale": experiment.scale,
        "system": system.name,
        "seed": seed,
        "problems": " ".join(system.train),
        "outcome": outcome,
        "ended": ended,
        "epochs": result.get("epochs"),
        "cpu_seconds": result.get("cpu"),
        "wall_seconds": None if row is None else row.result.seconds,
        "coverage": coverage,
    }
    cells: tuple[TableCell, ...] = (
        (Line(str(len(system.train)), "detail"),),
        (Line(str(result["epochs"])),) if "epochs" in result else (Line("–"),),
        (Line(f"{result['cpu']:.0f}"),) if "cpu" in result else (Line("–"),),
        (Line("–" if row is None else f"{row.result.seconds:.0f}", "detail"),),
        (Line("–" if coverage is None else f"{coverage:.0%}"),),
        (Line(ended, "note"),),
    )
    found = () if row is None else (row,)
    return cells, record | origin(found) | {"command": command(experiment, system.name)}
