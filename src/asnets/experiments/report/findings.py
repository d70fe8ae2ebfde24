"""What an experiment says on each of the paper's questions, for networks of one's choice.

A finding counts the problems that a system solves fully: on which every run reaches the goal. The same rule, applied to
the paper's tables, gives what the paper's numbers say. A network is judged for each seed of its training. Nothing is
concluded from cells that have not been run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from asnets.experiments.report.charts import training_seconds
from asnets.experiments.report.networks import (
    is_admissible,
    is_in_paper,
    is_optimal,
    is_optimally_taught,
    landmark_pair,
    layers,
    planners,
)
from asnets.experiments.report.paper import Question, cut_offs_text, paper_systems, paper_title
from asnets.experiments.report.scores import estimate, not_run
from asnets.experiments.report.special import landmark_seconds
from asnets.experiments.report.tables import cost_ratio, of_size
from asnets.experiments.report.tallies import SystemTally, Tally, most, paper_tally, tallies, tally
from asnets.experiments.results import ExperimentResults, SystemInfo

OPEN, DIVIDED = "open", "divided"


@dataclass(frozen=True)
class Finding:
    """What an experiment says on a question.

    Attributes:
        verdicts: A word for each seed of training; none where cells are missing.
        paper: The verdict by the paper's numbers; None if it has none.
        summary: What was found, in a sentence or two.
        text: All that there is to say.
    """

    experiment: ExperimentResults
    verdicts: tuple[str, ...]
    paper: str | None
    summary: str
    text: str

    @property
    def verdict(self) -> str:
        """What more than half of the seeds say; "open" where cells are missing, "divided" where there is no such."""
        if not self.verdicts:
            return OPEN
        word, count = Counter(self.verdicts).most_common(1)[0]
        return word if 2 * count > len(self.verdicts) else DIVIDED

    @property
    def agreement(self) -> str:
        """How many seeds say so, where there are several."""
        number = len(self.verdicts)
        if number < 2 or self.verdict == DIVIDED:
            return ""
        return f"{self.verdicts.count(self.verdict)} of {number} training seeds"


def _in_paper(
    experiment: ExperimentResults, question: Question, verdict: Callable[[Tally, Tally], str]
) -> tuple[str | None, str]:
    """The verdict by the paper's tables and a sentence with their numbers; nothing where they have none."""
    ours, theirs = (
        max(
            (tally for each in paper_systems(group.systems) if (tally := paper_tally(experiment, each)) is not None),
            key=lambda tally: tally.full,
            default=None,
        )
        for group in (question.ours, question.theirs)
    )
    if ours is None or theirs is None:
        return None, ""
    numbers = f"{ours} {question.ours.words}, {theirs.full} {question.theirs.words}"
    return verdict(ours, theirs), f"In the paper’s tables: {numbers}."


def _judge(system: SystemTally, waiting: int, verdict: Callable[[Tally], str]) -> tuple[str, ...]:
    return () if waiting else tuple(verdict(each) for each in system.by_seed.values())


# When is it worth it?


def worth(experiment: ExperimentResults, systems: Sequence[SystemInfo], question: Question) -> Finding | None:
    """Whether an ASNet solves more problems than every baseline."""
    networks, baselines = tallies(experiment, systems), tallies(experiment, planners(experiment))
    if not networks or not baselines:
        return None
    ours, theirs = most(networks), most(baselines)
    network, planner = ours.system, theirs.system
    waiting = sum(each.waiting for each in networks + baselines)
    summary = f"{network.title} solves {ours}, the best baseline ({planner.title}) {theirs}" + (
        f", all up to size {size}." if (size := _all_up_to(experiment, planner)) is not None else "."
    )
    paper, in_paper = _in_paper(experiment, question, lambda ours, theirs: _compare(ours.full, theirs.full))
    parts = [
        summary,
        "" if waiting else _break_even(experiment, network),
        _cost_of_optimal(experiment, network),
        _shorter_cut_offs(experiment),
        in_paper,
        _unfinished(waiting),
    ]
    verdicts = _judge(ours, waiting, lambda each: _compare(each.full, theirs.full))
    return Finding(experiment, verdicts, paper, summary, sentences(parts))


def _break_even(experiment: ExperimentResults, network: SystemInfo) -> str:
    """From which size on the ASNet, training included, is faster than every baseline that solves the size fully."""
    training = training_seconds(experiment, network)
    if training is None:
        return ""
    is_mean = len(experiment.trainings[network.name]) > 1
    spent = f"{training:.0f} s of CPU time{' in the mean' if is_mean else ''}"
    since: int | None = None
    for size in experiment.sizes():
        ours = _full_seconds(experiment, network, size)
        theirs = [
            found for each in planners(experiment) if (found := _full_seconds(experiment, each, size)) is not None
        ]
        if ours is None or (theirs and min(theirs) <= training + ours):
            since = None
        elif since is None:
            since = size
    if since is None and _full_seconds(experiment, network, experiment.sizes()[-1]) is None:
        return f"Its training took {spent}."
    if since is None:
        return f"With its training, {spent}, it is not the fastest at the largest sizes."
    return (
        f"With its training, {spent}, it is from size {since} on faster than every baseline that "
        "still solves all problems of a size, or the only one to do so."
    )


def _full_seconds(experiment: ExperimentResults, system: SystemInfo, size: int) -> float | None:
    scores = of_size(experiment, system, size)
    seconds = [score.seconds for score in scores if score.seconds is not None and estimate(score).is_full]
    return sum(seconds) / len(seconds) if len(seconds) == len(scores) else None


def _cost_of_optimal(experiment: ExperimentResults, network: SystemInfo) -> str:
    optimal = [
        each
        for each in planners(experiment)
        if is_optimal(each.config.get("planner")) and is_admissible(each.config.get("heuristic"))
    ]
    if not optimal:
        return ""
    reference = most(tallies(experiment, optimal)).system
    # What the planner computed, not what its runs came to: that is another sample of the same mean.
    pairs = [
        (network_score.mean_cost, planner_score.value)
        for each in experiment.problems
        for network_score, planner_score in [
            (experiment.scores[network.name, each.name], experiment.scores[reference.name, each.name])
        ]
    ]
    both = [(cost, value) for cost, value in pairs if cost is not None and value]
    if not both:
        return ""
    ratio = sum(cost for cost, _ in both) / sum(value for _, value in both)
    problems = "one problem" if len(both) == 1 else f"{len(both)} problems"
    return (
        f"On the {problems} that {reference.title} solves optimally, its mean cost is {ratio:.3f} times the expected "
        "cost of an optimal policy."
    )


# Are the heuristic features necessary?


def features(experiment: ExperimentResults, systems: Sequence[SystemInfo], question: Question) -> Finding | None:
    """Whether landmarks among the inputs make the difference, with the same teacher."""
    pair = landmark_pair(systems)
    if pair is None:
        return None
    ours, others = tallies(experiment, pair)
    waiting = ours.waiting + others.waiting
    verdicts = (
        ()
        if waiting
        else tuple(
            _features_verdict(ours.by_seed[seed], others.by_seed[seed])
            for seed in ours.by_seed
            if seed in others.by_seed
        )
    )
    paper, in_paper = _in_paper(experiment, question, _features_verdict)
    summary = (
        f"With landmarks it solves {ours} ({ours.goals} of {ours.runs} runs), without {others} ({others.goals} of "
        f"{others.runs} runs)."
    )
    text = [summary, _landmark_time(experiment, pair), in_paper, _unfinished(waiting)]
    return Finding(experiment, verdicts, paper, summary, sentences(text))


def _features_verdict(ours: Tally, others: Tally) -> str:
    """Necessary is a strong word: for all solved with them, and fewer than half without."""
    if ours.full > others.full:
        if not ours.is_full:
            return "not enough"
        return "necessary" if 2 * others.full < others.total else "helpful"
    if ours.full < others.full:
        return "a hindrance"
    return "not necessary" if ours.is_full else "without effect"


def _landmark_time(experiment: ExperimentResults, pair: tuple[SystemInfo, SystemInfo]) -> str:
    for size in reversed(experiment.sizes()):
        found = landmark_seconds(experiment, pair, size)
        if found is not None:
            return f"At size {size} solving takes {found[0] / found[1]:.1f} times as long with landmarks as without."
    return ""


# How do suboptimal teachers affect it?


def teachers(experiment: ExperimentResults, systems: Sequence[SystemInfo], question: Question) -> Finding | None:
    """Whether the teacher with the inadmissible heuristic does as well as the optimal one."""
    optimal = tallies(experiment, [each for each in systems if is_optimally_taught(each)])
    suboptimal = next((each for each in systems if not is_optimally_taught(each)), None)
    if suboptimal is None or not optimal:
        return None
    ours = tally(experiment, suboptimal)
    summary = [f"{suboptimal.title} solves {ours}{_after(experiment, suboptimal)}."]
    text = []
    for theirs in optimal:
        summary.append(f"{theirs.system.title} solves {theirs}{_after(experiment, theirs.system)}.")
        ratio = cost_ratio(experiment, suboptimal, theirs.system, experiment.problems)
        if ratio is not None:
            text.append(
                "Where both reach the goal, the suboptimally taught one costs "
                f"{ratio:.3f} times as much as {theirs.system.title}."
            )
    waiting = sum(each.waiting for each in (ours, *optimal))
    verdicts = (
        ()
        if waiting
        else tuple(
            _teachers_verdict(each.full, max(theirs.by_seed[seed].full for theirs in optimal))
            for seed, each in ours.by_seed.items()
            if all(seed in theirs.by_seed for theirs in optimal)
        )
    )
    paper, in_paper = _in_paper(experiment, question, lambda ours, theirs: _teachers_verdict(ours.full, theirs.full))
    text += [in_paper, _unfinished(waiting)]
    return Finding(experiment, verdicts, paper, sentences(summary), sentences(summary + text))


def _teachers_verdict(ours: int, theirs: int) -> str:
    return "sufficient" if ours >= theirs else "not sufficient"


def _after(experiment: ExperimentResults, system: SystemInfo) -> str:
    seconds = training_seconds(experiment, system)
    return "" if seconds is None else f" after {seconds:.0f} s of training on {len(system.train)} problems"


# Is it performing fixed-depth lookahead?


def lookahead(experiment: ExperimentResults, systems: Sequence[SystemInfo], question: Question) -> Finding | None:
    """Whether a planner that looks ahead as far solves as much."""
    networks = tallies(experiment, systems)
    looking = [each for each in planners(experiment) if each.config.get("planner") == question.planner]
    replanners = tallies(experiment, looking)
    if not networks or not replanners:
        return None
    ours = most(networks)
    summary = [f"{ours.system.title} ({layers(ours.system)} proposition layers) solves {ours}."]
    text = []
    for depth in sorted({_depth(each.system) for each in replanners}, reverse=True):
        best = most([each for each in replanners if _depth(each.system) == depth])
        text.append(
            f"{paper_title(question.planner)} of depth {depth}, at its best ({best.system.title}), solves {best}."
        )
    waiting = sum(each.waiting for each in networks + replanners)
    verdicts = _judge(
        ours, waiting, lambda each: _lookahead_verdict(each.full, max(other.full for other in replanners))
    )
    paper, in_paper = _in_paper(experiment, question, lambda ours, theirs: _lookahead_verdict(ours.full, theirs.full))
    text += [_shorter_cut_offs(experiment), in_paper, _unfinished(waiting)]
    return Finding(experiment, verdicts, paper, sentences(summary), sentences(summary + text))


def _lookahead_verdict(ours: int, theirs: int) -> str:
    return "no" if ours > theirs else "not told"


def _depth(system: SystemInfo) -> int:
    depth = system.config.get("depth")
    return 3 if depth is None else int(depth)


def _compare(ours: int, theirs: int) -> str:
    return "more" if ours > theirs else "as many" if ours == theirs else "fewer"


def _all_up_to(experiment: ExperimentResults, system: SystemInfo) -> int | None:
    """The largest size up to which all problems are solved fully."""
    found = None
    for size in experiment.sizes():
        if not all(estimate(each).is_full for each in of_size(experiment, system, size)):
            break
        found = size
    return found


def _shorter_cut_offs(experiment: ExperimentResults) -> str:
    if experiment.scale == "paper" or not is_in_paper(experiment):
        return ""
    cut_offs = cut_offs_text(experiment.definition["scale"]["cut_offs"])
    return f"Baselines had {cut_offs} here, in the paper {cut_offs_text()}."


def _unfinished(waiting: int) -> str:
    return f"Not decided: of these systems, {not_run(waiting)}." if waiting else ""


def sentences(parts: Sequence[str]) -> str:
    return " ".join(part for part in parts if part)


_FINDINGS = {"worth": worth, "features": features, "teachers": teachers, "lookahead": lookahead}


def find(question: Question, experiment: ExperimentResults, systems: Sequence[SystemInfo]) -> Finding | None:
    """What an experiment says on a question about some networks; None if it has not the systems that it takes."""
    finding = _FINDINGS[question.kind](experiment, systems, question)
    said = question.said.get(experiment.name)
    if finding is None or said is None:
        return finding
    return replace(finding, paper=said["verdict"], text=sentences([finding.text, said["text"]]))
