"""The paper's four questions, answered from our numbers.

An answer counts the problems that a system solves fully: on which every run reaches the goal. The same rule, applied to
the paper's tables, gives what the paper's numbers say; where both are there, the text says whether they agree. Nothing
is concluded from cells that have not been run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from asnets.experiments.report.document import Block, Bullets, Heading, Paragraph
from asnets.experiments.report.figures import training_seconds
from asnets.experiments.report.paper import paper_results
from asnets.experiments.report.scores import estimate, not_run
from asnets.experiments.report.selected import is_compared
from asnets.experiments.report.special import landmark_ratio, layers, variant
from asnets.experiments.report.tables import cost_ratio, of_size
from asnets.experiments.report.tallies import Tally, most, paper_tally, tallies, tally
from asnets.experiments.results import ExperimentResults, SystemInfo

_OPEN = "open"
_EXTENDED = "prob-blocksworld-extended"


@dataclass(frozen=True)
class Finding:
    """What an experiment says on a question.

    Attributes:
        verdict: A word; "open" where cells are missing.
        paper: The verdict by the paper's numbers; None if it has none.
    """

    experiment: ExperimentResults
    verdict: str
    paper: str | None
    text: str


Find = Callable[[ExperimentResults], Finding | None]


def answers(experiments: Sequence[ExperimentResults]) -> list[Block]:
    """All questions with their answers."""
    blocks: list[Block] = [
        Paragraph(
            "Each answer is made from the numbers of this report: a problem counts as solved where every run "
            "reached the goal. Heuristic features are called necessary where all problems are solved with them and "
            "fewer than half without. What the paper says is judged by the same rules from its tables. Every ASNet "
            "was trained once, with one seed: a difference of a problem or two may be the luck of a training."
        )
    ]
    for question, find, conclude in _QUESTIONS:
        findings = [found for each in experiments if (found := _find(find, each)) is not None]
        blocks.append(Heading(question))
        if not findings:
            blocks.append(Paragraph("There is no experiment here with the systems that it takes.", "Not answered."))
            continue
        blocks.append(Paragraph(_agreement(findings), conclude(findings)))
        blocks.append(Bullets(tuple(Paragraph(each.text, f"{each.experiment.title}:") for each in findings)))
    return blocks


def _find(find: Find, experiment: ExperimentResults) -> Finding | None:
    found = find(experiment)
    return found if found is None or experiment.rows() else replace(found, text="Nothing has been run yet.")


def _agreement(findings: Sequence[Finding]) -> str:
    compared = [each for each in findings if each.paper is not None and each.verdict != _OPEN]
    differ = [each.experiment.title for each in compared if each.paper != each.verdict]
    if not compared:
        return ""
    if not differ:
        return f"The paper’s numbers say the same of {_listed([each.experiment.title for each in compared])}."
    same = [each.experiment.title for each in compared if each.paper == each.verdict]
    return (f"The paper’s numbers say the same of {_listed(same)}, but " if same else "The paper’s numbers ") + (
        f"say otherwise of {_listed(differ)}."
    )


def _paper_text(ours: str, our_tally: Tally | None, theirs: str, their_tally: Tally | None) -> str:
    if our_tally is None or their_tally is None:
        return ""
    return f"In the paper’s tables: {our_tally} {ours}, {their_tally.full} {theirs}."


# When is it worth it?


def worth(experiment: ExperimentResults) -> Finding | None:
    """Whether an ASNet solves more problems than every baseline."""
    if not is_compared(experiment):
        return None
    networks, planners = (tallies(experiment, kind) for kind in ("asnet", "planner"))
    (network, ours), (planner, theirs) = most(networks), most(planners)
    waiting = sum(each.waiting for _, each in networks + planners)
    verdict = _OPEN if waiting else _compare(ours.full, theirs.full)
    parts = [
        f"{network.title} solves {ours}, the best baseline ({planner.title}) {theirs}"
        + (f", all up to size {size}." if (size := _all_up_to(experiment, planner)) is not None else "."),
        "" if waiting else _break_even(experiment, network),
        _cost_of_optimal(experiment, network),
        _shorter_cut_offs(experiment),
    ]
    best, other = (_paper_most(experiment, is_asnet=is_asnet) for is_asnet in (True, False))
    parts += [_paper_text("by an ASNet", best, "by a baseline", other), _unfinished(waiting)]
    paper = None if best is None or other is None else _compare(best.full, other.full)
    return Finding(experiment, verdict, paper, _sentences(parts))


def _paper_most(experiment: ExperimentResults, *, is_asnet: bool) -> Tally | None:
    """The tally of the paper's ASNet or baseline that solves most."""
    found = [paper_tally(experiment, each) for each in paper_results() if (each[0] == "asnet") == is_asnet]
    return max((each for each in found if each is not None), key=lambda each: each.full, default=None)


def _conclude_worth(findings: Sequence[Finding]) -> str:
    return _by_verdict(
        findings, {"more": "Worth it in", "as many": "No more solved than by a baseline in", "fewer": "Not worth it in"}
    )


def _break_even(experiment: ExperimentResults, network: SystemInfo) -> str:
    """From which size on the ASNet, training included, is faster than every baseline that solves the size fully."""
    training = training_seconds(experiment, network)
    if training is None:
        return ""
    since: int | None = None
    for size in experiment.sizes():
        ours = _full_seconds(experiment, network, size)
        planners = [each for each in experiment.systems if each.kind == "planner"]
        theirs = [found for each in planners if (found := _full_seconds(experiment, each, size)) is not None]
        if ours is None or (theirs and min(theirs) <= training + ours):
            since = None
        elif since is None:
            since = size
    if since is None and _full_seconds(experiment, network, experiment.sizes()[-1]) is None:
        return f"Its training took {training:.0f} s of CPU time."
    if since is None:
        return f"With its training, {training:.0f} s of CPU time, it is not the fastest at the largest sizes."
    return (
        f"With its training, {training:.0f} s of CPU time, it is from size {since} on faster than every baseline that "
        "still solves all problems of a size, or the only one to do so."
    )


def _full_seconds(experiment: ExperimentResults, system: SystemInfo, size: int) -> float | None:
    scores = of_size(experiment, system, size)
    seconds = [score.seconds for score in scores if score.seconds is not None and estimate(score).is_full]
    return sum(seconds) / len(seconds) if len(seconds) == len(scores) else None


def _cost_of_optimal(experiment: ExperimentResults, network: SystemInfo) -> str:
    optimal = [
        each
        for each in experiment.systems
        if each.kind == "planner"
        and each.settings.get("planner") != "ssipp"
        and each.settings.get("heuristic") in ("lmcut", "hmax", "zero")
    ]
    if not optimal:
        return ""
    reference, _ = most([(each, tally(experiment, each)) for each in optimal])
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


def features(experiment: ExperimentResults) -> Finding | None:
    """Whether landmarks among the inputs make the difference, with the same teacher."""
    with_landmarks, without = variant(experiment, "h-add"), variant(experiment, "h-add-no-lm")
    if with_landmarks is None or without is None:
        return None
    ours, others = tally(experiment, with_landmarks), tally(experiment, without)
    waiting = ours.waiting + others.waiting
    verdict = _OPEN if waiting else _features_verdict(ours, others)
    best, other = paper_tally(experiment, ("asnet", "h-add")), paper_tally(experiment, ("asnet", "h-add-no-lm"))
    paper = None if best is None or other is None else _features_verdict(best, other)
    text = [
        f"With landmarks it solves {ours} ({ours.goals} of {ours.runs} runs), without {others} ({others.goals} of "
        f"{others.runs} runs).",
        _landmark_time(experiment),
        _paper_text("with landmarks", best, "without", other),
        _unfinished(waiting),
    ]
    if experiment.name == _EXTENDED:  # [toyer2018action, section 5.3], in words only: not how many without.
        paper = "helpful"
        text.append("The paper says that all were solved with landmarks, and not all without.")
    return Finding(experiment, verdict, paper, _sentences(text))


def _features_verdict(ours: Tally, others: Tally) -> str:
    """Necessary is a strong word: for all solved with them, and fewer than half without."""
    if ours.full > others.full:
        if not ours.is_full:
            return "not enough"
        return "necessary" if 2 * others.full < others.total else "helpful"
    if ours.full < others.full:
        return "a hindrance"
    return "not necessary" if ours.is_full else "without effect"


def _landmark_time(experiment: ExperimentResults) -> str:
    for size in reversed(experiment.sizes()):
        found = landmark_ratio(experiment, size)
        if found is not None:
            ratio = found[0] / found[1]
            return f"At size {size} solving takes {ratio:.1f} times as long with landmarks as without."
    return ""


def _conclude_features(findings: Sequence[Finding]) -> str:
    return _by_verdict(
        findings,
        {
            "necessary": "Necessary in",
            "helpful": "Helpful in",
            "not enough": "Helpful, but not enough, in",
            "not necessary": "Not necessary in",
            "without effect": "Without effect on what is solved in",
            "a hindrance": "A hindrance in",
        },
    )


# How do suboptimal teachers affect it?


def teachers(experiment: ExperimentResults) -> Finding | None:
    """Whether the teacher with the inadmissible heuristic does as well as the optimal one."""
    hadd = variant(experiment, "h-add")
    optimal = [each for each in experiment.systems if each.kind == "asnet" and _is_optimally_taught(each)]
    if hadd is None or not optimal:
        return None
    ours = tally(experiment, hadd)
    text = [f"{hadd.title} solves {ours}{_after(experiment, hadd)}."]
    waiting, theirs = ours.waiting, 0
    for system in optimal:
        optimally = tally(experiment, system)
        waiting += optimally.waiting
        theirs = max(theirs, optimally.full)
        text.append(f"{system.title} solves {optimally}{_after(experiment, system)}.")
        ratio = cost_ratio(experiment, hadd, system, experiment.problems)
        if ratio is not None:
            text.append(f"Where both reach the goal, the suboptimally taught one costs {ratio:.3f} times as much.")
    verdict = _OPEN if waiting else _teachers_verdict(ours.full, theirs)
    best, other = paper_tally(experiment, ("asnet", "h-add")), paper_tally(experiment, ("asnet", "lm-cut"))
    paper = None if best is None or other is None else _teachers_verdict(best.full, other.full)
    text += [_paper_text("with the h-add teacher", best, "with LM-cut", other), _unfinished(waiting)]
    return Finding(experiment, verdict, paper, _sentences(text))


def _teachers_verdict(ours: int, theirs: int) -> str:
    return "sufficient" if ours >= theirs else "not sufficient"


def _is_optimally_taught(system: SystemInfo) -> bool:
    return bool(system.settings.get("options", {}).get("teacher_heuristic") == "lmcut")


def _after(experiment: ExperimentResults, system: SystemInfo) -> str:
    seconds = training_seconds(experiment, system)
    return "" if seconds is None else f" after {seconds:.0f} s of training on {len(system.train)} problems"


def _conclude_teachers(findings: Sequence[Finding]) -> str:
    return _by_verdict(
        findings,
        {"sufficient": "A suboptimal teacher is sufficient in", "not sufficient": "An optimal teacher does better in"},
    )


# Is it performing fixed-depth lookahead?


def lookahead(experiment: ExperimentResults) -> Finding | None:
    """Whether SSiPP, which looks ahead as far, solves as much."""
    networks = tallies(experiment, "asnet")
    replanners = [each for each in tallies(experiment, "planner") if each[0].settings.get("planner") == "ssipp"]
    if not networks or not replanners:
        return None
    network, ours = most(networks)
    text = [f"{network.title} ({layers(network)} proposition layers) solves {ours}."]
    for depth in sorted({_depth(each) for each, _ in replanners}, reverse=True):
        best, theirs = most([each for each in replanners if _depth(each[0]) == depth])
        text.append(f"SSiPP of depth {depth}, at its best ({best.title}), solves {theirs}.")
    waiting = sum(each.waiting for _, each in networks + replanners)
    verdict = _OPEN if waiting else _lookahead_verdict(ours.full, max(each.full for _, each in replanners))
    paper_ours = _paper_most(experiment, is_asnet=True)
    found = [paper_tally(experiment, ("ssipp", heuristic)) for heuristic in ("lm-cut", "h-add")]
    other = max((each for each in found if each is not None), key=lambda each: each.full, default=None)
    paper = None if paper_ours is None or other is None else _lookahead_verdict(paper_ours.full, other.full)
    text += [
        _shorter_cut_offs(experiment),
        _paper_text("by an ASNet", paper_ours, "by SSiPP", other),
        _unfinished(waiting),
    ]
    return Finding(experiment, verdict, paper, _sentences(text))


def _lookahead_verdict(ours: int, theirs: int) -> str:
    return "no" if ours > theirs else "not told"


def _depth(system: SystemInfo) -> int:
    depth = system.settings.get("depth")
    return 3 if depth is None else int(depth)


def _conclude_lookahead(findings: Sequence[Finding]) -> str:
    return _by_verdict(
        findings,
        {
            "no": "No: equal lookahead solves less in",
            "not told": "These numbers do not rule it out, since SSiPP solves as much, in",
        },
    )


_QUESTIONS: tuple[tuple[str, Find, Callable[[Sequence[Finding]], str]], ...] = (
    ("When is it worth using an ASNet?", worth, _conclude_worth),
    ("Are the heuristic features necessary?", features, _conclude_features),
    ("How do suboptimal teachers affect it?", teachers, _conclude_teachers),
    ("Is it performing fixed-depth lookahead?", lookahead, _conclude_lookahead),
)


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
    if experiment.scale == "paper":
        return ""
    cut_offs = experiment.definition["scale"]["cut_offs"]
    return (
        f"Baselines had {cut_offs['time_limit']:g} s and {cut_offs['memory_limit'] / 1e9:g} GB here, in the paper "
        "9000 s and 10 GB."
    )


def _unfinished(waiting: int) -> str:
    return f"Not decided: of these systems, {not_run(waiting)}." if waiting else ""


def _by_verdict(findings: Sequence[Finding], words: dict[str, str]) -> str:
    groups = {
        verdict: [each.experiment.title for each in findings if each.verdict == verdict] for verdict in (*words, _OPEN)
    }
    parts = [
        f"{words[verdict]} {_listed(titles)}." for verdict, titles in groups.items() if verdict in words and titles
    ]
    return " ".join(parts + ([f"Open, as cells are missing: {_listed(groups[_OPEN])}."] if groups[_OPEN] else []))


def _listed(titles: Sequence[str]) -> str:
    return titles[0] if len(titles) == 1 else ", ".join(titles[:-1]) + f" and {titles[-1]}"


def _sentences(parts: Sequence[str]) -> str:
    return " ".join(part for part in parts if part)
