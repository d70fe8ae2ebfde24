"""Puts the report together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from asnets.experiments.report.answers import answers
from asnets.experiments.report.charts import learning_curves, running_times
from asnets.experiments.report.document import (
    Block,
    Commands,
    Document,
    Facts,
    Folded,
    Paragraph,
    Picture,
    Section,
)
from asnets.experiments.report.networks import is_in_paper, judged_networks, landmark_pair, networks
from asnets.experiments.report.paper import cut_offs_text, paper_words
from asnets.experiments.report.references import between_text
from asnets.experiments.report.scores import argument, is_same_instance
from asnets.experiments.report.seeds import has_several_seeds, seed_table
from asnets.experiments.report.selected import best_table, is_compared
from asnets.experiments.report.special import landmark_table, layers_table, layers_text, training_table
from asnets.experiments.report.tables import (
    comparison_text,
    coverage_table,
    has_paper,
    how_to_read,
    robustness_table,
    size_table,
    strategies,
)
from asnets.experiments.report.tallies import tallies
from asnets.experiments.results import ExperimentResults, count_cells
from asnets.experiments.shipped import shipped_table
from asnets.experiments.store import Row

_MANY = 5
"""From so many problems a size on, a summary by size comes first and the whole table is folded."""


def make_document(
    experiments: Sequence[ExperimentResults], pictures: Sequence[Picture] = (), *, with_charts: bool = True
) -> Document:
    """The report of all experiments of a folder; charts take longest and can be left out."""
    compared = [each for each in experiments if is_compared(each)]
    in_paper = any(map(is_in_paper, experiments))
    title = shipped_table("paper.toml")["title"] if in_paper else "What the runs say"
    sections = [Section(title, "questions", (*_unfinished(experiments), *answers(experiments)))]
    if compared:
        sections.append(Section("Best ASNet, best baseline", "best", (best_table(compared),)))
        if with_charts:
            sections.append(Section("Running times", "times", (running_times(compared),), for_docs=False))
    sections += [
        Section(each.title, f"experiment-{number}", tuple(_experiment(each)))
        for number, each in enumerate(experiments, start=1)
    ]
    if pictures:
        sections.append(Section("Runs to look at", "pictures", tuple(pictures), for_docs=False))
    if any(each.trainings for each in experiments):
        sections.append(Section("Trainings", "trainings", tuple(_trainings(experiments, with_charts)), for_docs=False))
    legend = tuple(map(Paragraph, how_to_read(in_paper=in_paper)))
    sections += [
        Section("How to read the tables", "reading", legend),
        Section("What was run", "run", _run(experiments)),
    ]
    scales = ", ".join(dict.fromkeys(each.scale for each in experiments))
    titles = ", ".join(each.title for each in experiments)
    return Document("Action Schema Networks: results", f"{titles}. Scale: {scales}.", tuple(sections))


def _unfinished(experiments: Sequence[ExperimentResults]) -> list[Block]:
    counts = count_cells(experiments)
    missing = counts["ready"] + counts["waiting"]
    if not missing:
        return []
    text = (
        f"{missing} of {counts.total()} cells have not been run. Everything below is made from the others, and says "
        "where something is missing."
    )
    return [Paragraph(text, "This run is not finished.")]


def _run(experiments: Sequence[ExperimentResults]) -> tuple[Block, ...]:
    rows = {row.key: row for each in experiments for row in each.rows()}
    counts = count_cells(experiments)
    missing = counts["ready"] + counts["waiting"]
    state = f"{counts['done']} cells finished, {counts['skipped']} skipped"
    facts = [
        ("State", f"{state}; nothing is missing" if not missing else f"{state}; {missing} have not been run yet"),
        *_scale_facts(experiments),
        ("Seeds", _seeds(experiments)),
        ("Versions", _joined(f"asnets {row.result.version}" for row in rows.values())),
        ("Machines", _joined(_machine(row) for row in rows.values())),
        ("Finished", _dates(list(rows.values()))),
    ]
    blocks: list[Block] = []
    blocks.append(Facts(tuple((name, value) for name, value in facts if value)))
    blocks.append(Paragraph("To get all of it again, in a folder DIR of your choice; what DIR holds is not run again:"))
    lines = []
    for scale in dict.fromkeys(each.scale for each in experiments):
        names = " ".join(argument(each) for each in experiments if each.scale == scale)
        lines.append(f"asnets reproduce {names} --scale {scale} -o DIR")
    blocks.append(Commands((*lines, "asnets report DIR")))
    return tuple(blocks)


def _scale_facts(experiments: Sequence[ExperimentResults]) -> list[tuple[str, str]]:
    """What was run how often, and for how long; by experiment where these differ."""
    titles: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for experiment in experiments:
        titles.setdefault(_facts_of_scale(experiment.definition["scale"]), []).append(experiment.title)
    facts = [
        (name if len(titles) == 1 else f"{name} ({', '.join(of)})", value)
        for scale, of in titles.items()
        for name, value in scale
    ]
    full = [
        f"{each.title} {', '.join(map(str, each.definition['full_sizes']))}"
        for each in experiments
        if each.definition["full_sizes"]
    ]
    return [
        *facts,
        ("Full cut-offs", f"planners have {cut_offs_text()} at {'; '.join(full)}" if full else ""),
    ]


def _facts_of_scale(scale: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    planners, networks = scale["cut_offs"], scale["asnet_cut_offs"]
    skips = (
        "; sizes above one where none of its runs reached the goal are skipped" if scale["skip_above_failure"] else ""
    )
    return (
        (
            f"Scale {scale['name']}",
            f"planners {scale['seeds']} × {scale['runs']} runs (seeds × runs) of at most "
            f"{scale['planner_max_steps']} steps, ASNets {scale['asnet_runs']} runs of at most "
            f"{scale['max_steps']} steps for each seed of training{skips}",
        ),
        (
            "Cut-offs",
            f"planners {planners['time_limit']:g} s of CPU time and {planners['memory_limit'] / 1e9:g} GB (SSiPP "
            f"stops training {planners['margin']:g} s earlier), ASNets {cut_offs_text(networks)} on a problem",
        ),
    )


def _seeds(experiments: Sequence[ExperimentResults]) -> str:
    """Which seeds networks were trained with, and planners run."""
    trainings = {
        f"{system.title.partition(', ')[0]} {_range(experiment.trainings[system.name])}": None
        for experiment in experiments
        for system in networks(experiment)
    }
    planners = max((each.definition["scale"]["seeds"] for each in experiments), default=0)
    searches = {
        f"searches {_range({seed for name, _, seed in experiment.seed_scores if name == system.name})}": None
        for experiment in experiments
        for system in experiment.systems
        if system.kind == "search"
    }
    return "; ".join([*trainings, f"planners {_range(range(planners))}", *searches, "strategies 0"])


def _range(seeds: Collection[int]) -> str:
    return "0" if len(seeds) == 1 else f"0 to {len(seeds) - 1}"


def _machine(row: Row) -> str:
    machine = row.result.machine
    parts = [
        str(machine.get("processor", "")),
        f"{machine['cores']} cores" if "cores" in machine else "",
        f"{machine['memory'] / 1e9:.0f} GB" if "memory" in machine else "",
        str(machine.get("system", "")),
        f"Python {machine['python']}" if "python" in machine else "",
        f"torch {machine['torch']}" if "torch" in machine else "",
    ]
    return ", ".join(part for part in parts if part)


def _dates(rows: Sequence[Row]) -> str:
    days = sorted(row.result.finished[:10] for row in rows)
    if not days:
        return ""
    return days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(sorted(set(texts)))


def _experiment(experiment: ExperimentResults) -> list[Block]:
    seeds: list[Block] = [seed_table(experiment)] if has_several_seeds(experiment) else []
    if "layers" in paper_words(experiment.name):
        return [Paragraph(layers_text(experiment)), layers_table(experiment), *seeds]
    blocks: list[Block] = []
    if has_paper(experiment):
        blocks.append(Paragraph(comparison_text(experiment)))
    is_own = any(each.paper is not None and not is_same_instance(each) for each in experiment.problems)
    if is_own and has_paper(experiment):
        blocks.append(
            Paragraph(
                "The problems are not the paper’s own, only of the same distribution and sizes, so that costs "
                "cannot be compared problem by problem; the paper’s are shown for orientation, and only means over "
                "the problems of a size are compared.",
                "Other instances.",
            )
        )
    if strategies(experiment):
        blocks += [Paragraph(text) for text in between_text(experiment)]
    if max(sum(each.size == size for each in experiment.problems) for size in experiment.sizes()) >= _MANY:
        for found in tallies(experiment, experiment.systems):
            blocks.append(Paragraph(f"solves {found}; {found.goals} of {found.runs} runs.", found.system.title))
        folded = Folded(f"All {len(experiment.problems)} problems", (coverage_table(experiment),))
        return [*blocks, robustness_table(experiment), *seeds, folded]
    if is_own:
        blocks.append(size_table(experiment))
    blocks += [coverage_table(experiment), *seeds]
    pair = landmark_pair(judged_networks(experiment))
    if "landmark_time_ratios" in paper_words(experiment.name) and pair is not None:
        blocks.append(landmark_table(experiment, pair))
    return blocks


def _trainings(experiments: Sequence[ExperimentResults], with_charts: bool) -> list[Block]:
    blocks: list[Block] = [training_table(experiments)]
    seen: set[str] = set()
    for experiment in experiments:
        keys = {row.key for rows in experiment.trainings.values() for row in rows.values() if row is not None}
        chart = learning_curves(experiment) if with_charts and not keys <= seen else None
        blocks += [] if chart is None else [chart]
        seen |= keys
    return blocks
