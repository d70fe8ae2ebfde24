"""The paper's questions, answered from our numbers; where the paper has numbers, says whether they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from asnets.experiments.report.document import Block, Bullets, Heading, Paragraph
from asnets.experiments.report.findings import DIVIDED, OPEN, Finding, find, sentences
from asnets.experiments.report.networks import is_in_paper, judged_networks, other_networks
from asnets.experiments.report.paper import Question, paper_questions
from asnets.experiments.report.tallies import listed
from asnets.experiments.results import ExperimentResults


def answers(experiments: Sequence[ExperimentResults]) -> list[Block]:
    """All questions with their answers."""
    blocks: list[Block] = []
    for question in paper_questions().values():
        findings = [finding for each in experiments if (finding := _find(question, each)) is not None]
        blocks.append(Heading(question.text))
        if not findings:
            blocks.append(Paragraph("There is no experiment here with the systems that it takes.", "Not answered."))
            continue
        blocks.append(Paragraph(_paper_agreement(findings), _conclusion(findings, question.verdicts)))
        blocks.append(Bullets(tuple(Paragraph(each.text, f"{each.experiment.title}:") for each in findings)))
    return [*blocks, Heading("How the answers are made"), Paragraph(_rules(experiments))]


def _rules(experiments: Sequence[ExperimentResults]) -> str:
    rules = (
        "Each answer is made from the numbers of this report: a problem counts as solved where every run reached the "
        "goal. Heuristic features are called necessary where all problems are solved with them and fewer than half "
        "without. A network that was trained with several seeds is judged seed by seed, and the answer is what more "
        "than half of them say; one that was trained once may owe a problem or two to luck."
    )
    if not any(map(is_in_paper, experiments)):
        return rules
    return (
        f"{rules} In the paper’s experiments the answers are about the paper’s own network (preset paper); ours "
        "(preset default) is mentioned beside it. What the paper says is judged by the same rules from its tables."
    )


def _find(question: Question, experiment: ExperimentResults) -> Finding | None:
    finding = find(question, experiment, judged_networks(experiment))
    if finding is None:
        return None
    if not experiment.rows():
        return replace(finding, text="Nothing has been run yet.")
    parts = [finding.text]
    if len(finding.verdicts) > 1:
        parts.append(_seeds_text(finding.verdicts))
    beside = find(question, experiment, others) if (others := other_networks(experiment)) else None
    if beside is not None:
        parts.append(f"Ours beside it: {beside.summary}")
    return replace(finding, text=sentences(parts))


def _seeds_text(verdicts: Sequence[str]) -> str:
    counts = Counter(verdicts).most_common()
    if len(counts) == 1:
        return f"All {len(verdicts)} training seeds agree."
    return "By training seed: " + ", ".join(f"{count} × {word}" for word, count in counts) + "."


def _paper_agreement(findings: Sequence[Finding]) -> str:
    compared = [each for each in findings if each.paper is not None and each.verdict != OPEN]
    differ = [each.experiment.title for each in compared if each.paper != each.verdict]
    if not compared:
        return ""
    if not differ:
        return f"The paper’s numbers say the same of {listed([each.experiment.title for each in compared])}."
    same = [each.experiment.title for each in compared if each.paper == each.verdict]
    return (f"The paper’s numbers say the same of {listed(same)}, but " if same else "The paper’s numbers ") + (
        f"say otherwise of {listed(differ)}."
    )


def _conclusion(findings: Sequence[Finding], verdicts: Mapping[str, str]) -> str:
    parts = []
    for verdict, words in {**verdicts, DIVIDED: "The training seeds are divided in"}.items():
        titles = [_with_agreement(each) for each in findings if each.verdict == verdict]
        parts += [f"{words} {listed(titles)}."] if titles else []
    missing = [each.experiment.title for each in findings if each.verdict == OPEN]
    return " ".join(parts + ([f"Open, as cells are missing: {listed(missing)}."] if missing else []))


def _with_agreement(finding: Finding) -> str:
    return finding.experiment.title + (f" ({finding.agreement})" if finding.agreement else "")
