from __future__ import annotations

from pathlib import Path
from typing import Any

from asnets.experiments.report.answers import answers
from asnets.experiments.report.document import Bullets, Heading, Paragraph
from asnets.experiments.report.findings import Finding, find
from asnets.experiments.report.networks import judged_networks
from asnets.experiments.report.paper import paper_questions
from asnets.experiments.report.tallies import SystemTally, Tally, most, tally
from asnets.experiments.results import ExperimentResults, SystemInfo
from tests.experiments.report_support import Results, Runs, goals, network, problem, system

FAILED = Runs((), outcome="time", runs=30)
SIZES = (10, 12, 14)
SYSTEMS = [
    network("lmcut", "lm-cut", "ASNet, LM-cut teacher", teacher_heuristic="lmcut"),
    network("hadd", "h-add", "ASNet, h-add teacher", teacher_heuristic="hadd"),
    network("no-lm", "h-add-no-lm", "ASNet, no landmarks", teacher_heuristic="hadd", features=[]),
    system("lrtdp", title="LRTDP, LM-cut", planner="lrtdp", heuristic="lmcut", depth=None),
    system("ssipp-3", title="SSiPP, h-add", planner="ssipp", heuristic="hadd", depth=3),
    system("ssipp-2", title="SSiPP, h-add, depth 2", planner="ssipp", heuristic="hadd", depth=2),
]


def cosanostra(folder: Path, *, solved: dict[str, int], name: str = "cosanostra", **changes: Any) -> ExperimentResults:
    """Sizes 10, 12 and 14, of which each system solves the first so many; the cost is 3n + 4.

    LRTDP says that the least expected cost is 4/5 of that, so that it can be told from the cost of its runs.
    """
    cells: dict[tuple[str, str], Runs] = {}
    for each in SYSTEMS:
        for index, size in enumerate(SIZES):
            is_solved = index < solved.get(each["name"], 0)
            seconds = 0.5 if each["kind"] == "asnet" else 40.0 * (index + 1)
            cost = 3 * size + 4
            value = 0.8 * cost if each["name"] == "lrtdp" else None
            cells[each["name"], f"cosanostra-n{size}"] = (
                goals(30, cost, seconds=seconds, value=value) if is_solved else FAILED
            )
    cells |= changes.pop("cells", {})
    for key in changes.pop("missing", []):
        del cells[key]
    results = Results(folder)
    problems = [problem(f"cosanostra-n{size}", size, f"cosanostra-n{size}") for size in SIZES]
    results.add(name, SYSTEMS, problems, cells, title="CosaNostra Pizza", **changes)
    return results.collect()[0]


def finding_of(kind: str, experiment: ExperimentResults) -> Finding | None:
    return find(paper_questions()[kind], experiment, judged_networks(experiment))


def found(kind: str, experiment: ExperimentResults) -> tuple[str, str | None, str]:
    finding = finding_of(kind, experiment)
    assert finding is not None
    return finding.verdict, finding.paper, finding.text


AS_IN_THE_PAPER = {"lmcut": 3, "hadd": 3, "no-lm": 0, "lrtdp": 2, "ssipp-3": 2, "ssipp-2": 1}


def test_worth_where_a_network_solves_more_than_every_baseline(tmp_path: Path) -> None:
    # The paper: ASNets all three, ILAO* with h-add all three too, so that its numbers say "as many".
    verdict, paper, text = found("worth", cosanostra(tmp_path, solved=AS_IN_THE_PAPER))
    assert (verdict, paper) == ("more", "as many")
    assert text == (
        "ASNet, LM-cut teacher solves 3 of 3 problems, the best baseline (LRTDP, LM-cut) 2 of 3 problems, all up to "
        "size 12. With its training, 60 s of CPU time, it is from size 12 on faster than every baseline that still "
        "solves all problems of a size, or the only one to do so. On the 2 problems that LRTDP, LM-cut solves "
        "optimally, its mean cost is 1.250 times the expected cost of an optimal policy. Baselines had 20 s and 4 GB "
        "here, in the paper 9000 s and 10 GB. "
        "In the paper’s tables: 3 of 3 problems by an ASNet, 3 by a baseline."
    )


def test_not_worth_where_a_baseline_solves_more(tmp_path: Path) -> None:
    verdict, _, text = found("worth", cosanostra(tmp_path, solved={"lmcut": 1, "lrtdp": 3}, scale="paper"))
    assert verdict == "fewer"
    assert "Its training took 60 s of CPU time." in text
    assert "9000 s" not in text  # Ours had the same.


def test_not_the_fastest_where_a_baseline_is_faster_at_the_largest_size(tmp_path: Path) -> None:
    fast = {("lrtdp", "cosanostra-n14"): goals(30, 46.0, seconds=1.0)}
    _, _, text = found("worth", cosanostra(tmp_path, solved=AS_IN_THE_PAPER, cells=fast))
    assert "With its training, 60 s of CPU time, it is not the fastest at the largest sizes." in text


def test_cost_is_compared_on_the_problems_in_which_both_reach_the_goal(tmp_path: Path) -> None:
    text = found("worth", cosanostra(tmp_path, solved={"lmcut": 2, "lrtdp": 3}))[2]
    assert "On the 2 problems that LRTDP, LM-cut solves optimally, its mean cost is 1.250 times the expected" in text


def test_features_are_necessary_where_only_the_network_with_them_solves_all(tmp_path: Path) -> None:
    verdict, paper, text = found("features", cosanostra(tmp_path, solved=AS_IN_THE_PAPER))
    assert (verdict, paper) == ("necessary", "necessary")
    assert text == (
        "With landmarks it solves 3 of 3 problems (90 of 90 runs), without 0 of 3 problems (0 of 90 runs). In the "
        "paper’s tables: 3 of 3 problems with landmarks, 0 without."
    )


def test_features_verdicts(tmp_path: Path) -> None:
    cases = {
        (3, 3): "not necessary",
        (3, 2): "helpful",
        (3, 1): "necessary",
        (2, 1): "not enough",
        (1, 2): "a hindrance",
        (1, 1): "without effect",
    }
    for index, ((with_landmarks, without), expected) in enumerate(cases.items()):
        solved = {"hadd": with_landmarks, "no-lm": without}
        verdict, paper, _ = found("features", cosanostra(tmp_path / str(index), solved=solved))
        assert (verdict, paper) == (expected, "necessary")


def test_time_with_landmarks_is_part_of_the_answer(tmp_path: Path) -> None:
    slow = {("hadd", f"cosanostra-n{size}"): goals(30, 3.0 * size + 4, seconds=1.5) for size in SIZES}
    _, _, text = found("features", cosanostra(tmp_path, solved={"no-lm": 3}, cells=slow))
    assert " At size 14 solving takes 3.0 times as long with landmarks as without. " in text


def test_teachers(tmp_path: Path) -> None:
    verdict, paper, text = found(
        "teachers", cosanostra(tmp_path / "a", solved=AS_IN_THE_PAPER, trainings={"hadd": 50.0})
    )
    assert (verdict, paper) == ("sufficient", "sufficient")
    assert text == (
        "ASNet, h-add teacher solves 3 of 3 problems after 50 s of training on 2 problems. ASNet, LM-cut teacher "
        "solves 3 of 3 problems after 60 s of training on 2 problems. Where both reach the goal, the suboptimally "
        "taught one costs 1.000 times as much as ASNet, LM-cut teacher. In the paper’s tables: 3 of 3 problems with "
        "the h-add teacher, 3 with LM-cut."
    )
    verdict, paper, _ = found("teachers", cosanostra(tmp_path / "b", solved={"lmcut": 3, "hadd": 2}))
    assert (verdict, paper) == ("not sufficient", "sufficient")


def test_lookahead(tmp_path: Path) -> None:
    verdict, paper, text = found("lookahead", cosanostra(tmp_path / "a", solved=AS_IN_THE_PAPER))
    assert (verdict, paper) == ("no", "no")
    assert text.startswith(
        "ASNet, LM-cut teacher (2 proposition layers) solves 3 of 3 problems. SSiPP of depth 3, at its best (SSiPP, "
        "h-add), solves 2 of 3 problems. SSiPP of depth 2, at its best (SSiPP, h-add, depth 2), solves 1 of 3 "
        "problems."
    )
    verdict, paper, _ = found("lookahead", cosanostra(tmp_path / "b", solved={"lmcut": 3, "ssipp-2": 3}))
    assert (verdict, paper) == ("not told", "no")


def test_nothing_is_concluded_from_cells_that_are_missing(tmp_path: Path) -> None:
    missing = [("hadd", "cosanostra-n14"), ("ssipp-3", "cosanostra-n12"), ("ssipp-3", "cosanostra-n14")]
    experiment = cosanostra(tmp_path, solved=AS_IN_THE_PAPER, missing=missing)
    for kind in paper_questions():
        assert found(kind, experiment)[0] == "open"
    assert found("worth", experiment)[2] == (
        "ASNet, LM-cut teacher solves 3 of 3 problems, the best baseline (LRTDP, LM-cut) 2 of 3 problems, all up to "
        "size 12. On the 2 problems that LRTDP, LM-cut solves optimally, its mean cost is 1.250 times the expected "
        "cost of an optimal policy. Baselines had "
        "20 s and 4 GB here, in the paper 9000 s and 10 GB. In the paper’s tables: 3 of 3 problems by an ASNet, 3 by a "
        "baseline. Not decided: of these systems, 3 cells have not been run."
    )
    assert found("features", experiment)[2] == (
        "With landmarks it solves 2 of the 2 problems run so far (60 of 60 runs), without 0 of 3 problems (0 of 90 "
        "runs). In the paper’s tables: 3 of 3 problems with landmarks, 0 without. Not decided: of these systems, 1 "
        "cell has not been run."
    )


def test_the_extended_set_is_compared_with_the_paper_s_words(tmp_path: Path) -> None:
    solved = {"hadd": 3, "no-lm": 3}
    verdict, paper, _ = found("features", cosanostra(tmp_path, solved=solved, name="prob-blocksworld-extended"))
    assert (verdict, paper) == ("not necessary", "helpful")


def test_answers_say_where_the_paper_s_numbers_differ(tmp_path: Path) -> None:
    blocks = answers([cosanostra(tmp_path, solved=AS_IN_THE_PAPER)])
    headings = [each.text for each in blocks if isinstance(each, Heading)]
    assert headings == [
        "When is it worth using an ASNet?",
        "Are the heuristic features necessary?",
        "How do suboptimal teachers affect it?",
        "Is it performing fixed-depth lookahead?",
        "How the answers are made",
    ]
    conclusions = [each for each in blocks if isinstance(each, Paragraph)][:-1]
    assert conclusions == [
        Paragraph("The paper’s numbers say otherwise of CosaNostra Pizza.", "Worth it in CosaNostra Pizza."),
        Paragraph("The paper’s numbers say the same of CosaNostra Pizza.", "Necessary in CosaNostra Pizza."),
        Paragraph(
            "The paper’s numbers say the same of CosaNostra Pizza.",
            "A suboptimal teacher is sufficient in CosaNostra Pizza.",
        ),
        Paragraph(
            "The paper’s numbers say the same of CosaNostra Pizza.",
            "No: equal lookahead solves less in CosaNostra Pizza.",
        ),
    ]
    assert sum(isinstance(each, Bullets) for each in blocks) == 4


def test_questions_without_their_systems_are_not_answered(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add("mine", [system("plan", planner="lrtdp", heuristic="hadd")], [problem("a", 1)], {})
    texts = [each.lead for each in answers(results.collect()) if isinstance(each, Paragraph)][:-1]
    assert texts == ["Not answered."] * 4


def seeds(folder: Path, by_seed: dict[str, tuple[int, ...]]) -> ExperimentResults:
    """The same, with networks trained with several seeds, of which each solves the first so many problems."""
    cells: dict[tuple[str, str], Any] = {}
    for name, solved in by_seed.items():
        for index, size in enumerate(SIZES):
            cells[name, f"cosanostra-n{size}"] = [
                goals(30, 3 * size + 4) if index < count else FAILED for count in solved
            ]
    trainings: dict[str, Any] = {name: [60.0] * len(solved) for name, solved in by_seed.items()}
    return cosanostra(folder, solved=AS_IN_THE_PAPER, cells=cells, trainings=trainings)


def test_every_seed_of_training_is_judged(tmp_path: Path) -> None:
    experiment = seeds(tmp_path, {"lmcut": (3, 3, 2), "hadd": (3, 2, 3), "no-lm": (0, 2, 0)})
    finding = finding_of("worth", experiment)
    assert finding is not None
    assert finding.verdicts == ("more", "more", "as many")
    assert (finding.verdict, finding.agreement) == ("more", "2 of 3 training seeds")
    assert "ASNet, LM-cut teacher solves 3, 3 and 2 of 3 problems (training seeds 0, 1 and 2)," in finding.text
    finding = finding_of("features", experiment)
    assert finding is not None
    assert finding.verdicts == ("necessary", "without effect", "necessary")
    finding = finding_of("teachers", experiment)
    assert finding is not None
    assert finding.verdicts == ("sufficient", "not sufficient", "sufficient")
    blocks = answers([experiment])
    leads = [each.lead for each in blocks if isinstance(each, Paragraph)][:-1]
    assert leads[0] == "Worth it in CosaNostra Pizza (2 of 3 training seeds)."
    bullets = [each.items[0].text for each in blocks if isinstance(each, Bullets)]
    assert bullets[0].endswith(" By training seed: 2 × more, 1 × as many.")
    assert bullets[3].endswith(" By training seed: 2 × no, 1 × not told.")


def test_seeds_without_a_majority_are_divided(tmp_path: Path) -> None:
    experiment = seeds(tmp_path, {"lmcut": (3, 2), "hadd": (2, 2), "no-lm": (0, 0)})
    assert found("worth", experiment)[0] == "divided"
    lead = next(each.lead for each in answers([experiment]) if isinstance(each, Paragraph))
    assert lead == "The training seeds are divided in CosaNostra Pizza."


def test_all_seeds_that_agree_are_said_to(tmp_path: Path) -> None:
    experiment = seeds(tmp_path, {"lmcut": (3, 3, 3)})
    assert (
        "ASNet, LM-cut teacher solves 3 of 3 problems with each of 3 training seeds," in found("worth", experiment)[2]
    )
    bullets = [each.items[0].text for each in answers([experiment]) if isinstance(each, Bullets)]
    assert bullets[0].endswith(" All 3 training seeds agree.")


def test_a_seed_without_a_model_solves_nothing_and_is_told(tmp_path: Path) -> None:
    results = Results(tmp_path)
    cells: dict[tuple[str, str], Any] = {
        ("lmcut", f"cosanostra-n{size}"): [goals(30, 3 * size + 4), None] for size in SIZES
    }
    problems = [problem(f"cosanostra-n{size}", size, f"cosanostra-n{size}") for size in SIZES]
    results.add("cosanostra", SYSTEMS[:1], problems, cells, trainings={"lmcut": [60.0, "memory"]})
    (experiment,) = results.collect()
    assert str(tally(experiment, experiment.systems[0])) == (
        "3 and 0 of 3 problems (training seeds 0 and 1); seed 1 gave no model"
    )


def test_answers_are_about_the_paper_s_own_network(tmp_path: Path) -> None:
    """Ours, which solves more, is mentioned beside it and decides nothing."""
    results = Results(tmp_path)
    systems = [*SYSTEMS, network("ours", title="Ours", teacher_heuristic="lmcut")]
    problems = [problem(f"cosanostra-n{size}", size, f"cosanostra-n{size}") for size in SIZES]
    cells = {(each["name"], test["name"]): FAILED for each in systems for test in problems}
    cells |= {("ours", test["name"]): goals(30, 40.0) for test in problems}
    results.add("cosanostra", systems, problems, cells)
    (experiment,) = results.collect()
    assert found("worth", experiment)[0] == "as many"
    bullets = [each.items[0].text for each in answers([experiment]) if isinstance(each, Bullets)]
    assert bullets[0].endswith(
        "Ours beside it: Ours solves 3 of 3 problems, the best baseline (LRTDP, LM-cut) 0 of 3 problems."
    )


def test_the_teacher_of_a_preset_counts(tmp_path: Path) -> None:
    """LM-cut is the teacher of both presets; nobody has to say so."""
    results = Results(tmp_path)
    systems = [
        network("optimal"),
        network("other", teacher_heuristic="hff"),
        network("blind", teacher_heuristic="hff", features=[]),
    ]
    results.add("mine", systems, [problem("a", 1)], {(each["name"], "a"): goals(30, 5.0) for each in systems})
    (experiment,) = results.collect()
    assert found("teachers", experiment)[0] == "sufficient"
    assert found("features", experiment)[0] == "not necessary"


def test_more_seeds_do_not_make_a_system_the_best() -> None:
    def found(name: str, *full: int) -> SystemTally:
        system = SystemInfo(name, "asnet", name, {}, None, ())
        return SystemTally(system, {seed: Tally(each, 5, 5, each, 5) for seed, each in enumerate(full)})

    assert most([found("three seeds", 3, 3, 3), found("one seed", 4)]).system.name == "one seed"
