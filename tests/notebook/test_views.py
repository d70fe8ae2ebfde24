"""What notebooks show of each object."""

from __future__ import annotations

import html
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import asnets
from asnets.api import Policy
from asnets.grounding import GroundTask
from asnets.pictures import views
from asnets.pictures.html_view import MAX_ROWS, HtmlView, cut
from asnets.training.history import History
from asnets.training.progress import EpochRecord
from tests.experiments.report_support import Results, goals, problem, system
from tests.support import ground_text

pytestmark = pytest.mark.native

SMALL = 10_000
"""Characters of a view without a picture, its style sheet included."""


@pytest.fixture(scope="module")
def task() -> GroundTask:
    return asnets.generate("triangle-tireworld", 2)


@pytest.fixture(scope="module")
def policy() -> Policy:
    return Policy.load("triangle-tireworld")


def record(epoch: int, goals: int = 1, best: bool = False) -> EpochRecord:
    return EpochRecord(
        epoch, (goals, 2), 2, 1.5, 0.25, 10 * epoch, 0, {"explore": 0.5, "learn": 1.0}, 2.0 * epoch, best
    )


def shown(thing: object) -> str:
    """The view, which is well-formed, loads nothing and leaves colours to the notebook."""
    view = thing._repr_html_()  # type: ignore[attr-defined]
    assert isinstance(view, str)
    ElementTree.fromstring(view)
    assert not re.search(r"src=|href=|url\(|@import", view)
    return view


def words(view: str) -> str:
    """What a reader sees."""
    return html.unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", view, flags=re.DOTALL))


def test_task(task: GroundTask) -> None:
    view = shown(task)
    text = words(view)
    assert "triangle-tire-2 of triangle-tire" in text
    assert f"{task.num_actions} of 2 schemas" in text
    assert "unit: 1 an action" in text
    assert "(vehicle-at l-1-5)" in text
    assert "(road ?a ?b)" in text
    assert "color:" not in view.replace("background-color", "")  # Light or dark, the notebook's own.
    assert len(view) < SMALL


def test_tasks_of_all_kinds_of_goals() -> None:
    domain = "(:predicates (p) (q) (r)) (:action a :effect (and (p) (not (q)))) (:action b :effect (q))"
    assert "(p), (not (q))" in words(shown(ground_text(domain, "(:init (q)) (:goal (and (p) (not (q))))")))
    assert "1 disjunction" in words(shown(ground_text(domain, "(:init (q)) (:goal (or (p) (not (q))))")))
    assert "cannot be reached" in words(shown(ground_text(domain, "(:init) (:goal (r))")))
    assert "holds from the beginning" in words(shown(ground_text(domain, "(:init) (:goal (and))")))
    assert "0 of 1 schema" in words(
        shown(ground_text("(:predicates (p)) (:action a :precondition (p))", "(:goal (p))"))
    )


def test_large_tasks_have_small_views() -> None:
    task = asnets.generate("triangle-tireworld", 30)
    assert task.num_actions > 4000
    assert len(shown(task)) < SMALL
    goal = " ".join(f"(on x{i})" for i in range(3000))
    many = ground_text(
        "(:predicates (on ?x)) (:action go :parameters (?x) :effect (on ?x))",
        f"(:objects {' '.join(f'x{i}' for i in range(3000))}) (:goal (and {goal}))",
    )
    view = shown(many)
    assert "… and 2,992 more" in words(view)
    assert len(view) < SMALL


def test_policies(policy: Policy, task: GroundTask) -> None:
    text = words(shown(policy))
    assert "Policy of triangle-tire" in text
    assert "changetire, move-car" in text
    assert "2 layers of hidden size 16" in text
    assert "triangle-tire-1, triangle-tire-2, triangle-tire-3" in text
    text = words(shown(asnets.solve(task).policy))
    assert "lrtdp with lmcut" in text
    assert "11.5 (unit costs, penalty 500)" in text


@pytest.mark.parametrize("training", [{}, {"problems": 3, "epochs": "x"}, {"problems": [4, {"domain": None}]}])
def test_policies_of_unknown_origin(policy: Policy, training: dict[str, object]) -> None:
    assert "elu" in words(shown(Policy(policy.network, training)))


@pytest.mark.parametrize(
    "training",
    [
        {"ended": "x" * 10**7},
        {"ended": "\u0301" * 10**6},
        {"seconds": 10**4000, "seed": 10**5000, "epochs": float("nan")},
        {"problems": [{"domain": f"d{number}\n", "problem": "p" * 10**4} for number in range(10**5)]},
        {"problems": [{"domain": "\x1b[31m" * 10**6, "problem": 10**5000}, {"domain": 10**5000}]},
    ],
)
def test_what_a_model_file_says_is_bounded(policy: Policy, training: dict[str, object]) -> None:
    strange = Policy(policy.network, training)
    assert len(shown(strange)) < SMALL
    assert len(repr(strange)) < 300
    assert repr(strange).isprintable()


def test_representations(policy: Policy) -> None:
    network = policy.network
    shape = "2 schemas, 4 predicates, 2 layers of hidden size 16, 7,474 parameters>"
    assert repr(Policy(network, {})) == f"<Policy: {shape}"
    domains = [{"domain": name} for name in "bcaedb"]
    assert repr(Policy(network, {"problems": domains[:2]})) == f"<Policy of b of c: {shape}"
    assert repr(Policy(network, {"problems": domains})) == f"<Policy of a of b of c and 2 more: {shape}"


def test_training_in_numbers(policy: Policy) -> None:
    text = words(shown(Policy(policy.network, {"epochs": 1, "seconds": 2.5, "seed": 2**64 - 1, "ended": "hand"})))
    assert re.search(rf"training\s+1 epoch, 2\.5 s, seed {2**64 - 1}\s+ended by\s+hand", text)


def test_names_are_text_and_not_html() -> None:
    hostile = "<script>alert('&')</script>\x01"
    policy = Policy(Policy.load("triangle-tireworld").network, {"problems": [{"domain": hostile, "problem": hostile}]})
    view = shown(policy)
    assert "<script" not in view
    assert "<script>alert('&')</script>" in words(view.replace("\ufffd", ""))


def test_evaluations(policy: Policy, task: GroundTask) -> None:
    text = words(shown(policy.evaluate(task, runs=30)))
    assert "30 of 30 runs (89%–100%, 95% confidence)" in text
    assert re.search(r"\d+\.\d\d ± \d\.\d\d over runs that reached the goal, unit costs", text)
    failing = asnets.evaluate(asnets.RandomPolicy(task), runs=200)
    text = words(shown(failing))
    assert failing.failures
    assert all(failure.example in text for failure in failing.failures)


def test_simulations(task: GroundTask) -> None:
    simulation = asnets.simulate(asnets.RandomPolicy(task), episodes=100)
    text = words(shown(simulation))
    assert "100 runs of random" in text
    assert re.search(rf"dead end\s+{simulation.count('dead_end')}\b", text)


def test_solutions(task: GroundTask) -> None:
    text = words(shown(asnets.solve(task)))
    assert "lrtdp with lmcut" in text
    assert re.search(r"expected cost\s+11\.5\b", text)
    stopped = asnets.solve(asnets.generate("triangle-tireworld", 6), time_limit=1e-9)
    assert "stopped by the limit on time" in words(shown(stopped))
    assert "(not final)" in words(shown(stopped))
    assert "guaranteed: the search has not converged" in words(shown(stopped.policy))
    deadline = asnets.Deadline(3600)
    deadline.cancel()
    assert re.search(r"status\s+interrupted\b", words(shown(asnets.solve(task, deadline=deadline))))


def test_runs_are_pictures(policy: Policy, task: GroundTask) -> None:
    view = policy.run(task)._repr_html_()
    assert 'class="asnets run map"' in view
    assert view.count("<svg") >= 2
    towers = asnets.generate("prob-blocksworld", 5)
    assert "run towers" in asnets.run(asnets.RandomPolicy(towers), max_steps=5)._repr_html_()


def test_pictures_of_runs(policy: Policy, task: GroundTask, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = asnets.pictures.draw_run(policy, task, title="Mine")
    assert repr(picture) == f"<RunPicture, map of triangle-tire-2 of triangle-tire: {picture.run.record}>"
    assert picture.html in picture._repr_html_()
    monkeypatch.setattr(views, "MAX_PICTURE", 1000)
    assert len(shown(picture)) < SMALL
    assert "too many for a picture" in words(shown(picture))


def test_states(task: GroundTask) -> None:
    simulator = asnets.Simulator(task)
    text = words(shown(simulator.state))
    assert "triangle-tire-2 of triangle-tire" in text
    assert "no goal yet" in text
    assert f"{len(simulator.state.names)} of {task.num_propositions} propositions: (vehicle-at l-1-1), " in text
    assert re.search(rf"applicable\s+2 of {task.num_actions} actions: \(move-car l-1-1 l-1-2\), \(", text)
    assert "a goal" in words(shown(simulator.state_of(["(vehicle-at l-1-5)"])))
    text = words(shown(simulator.state_of([])))
    assert "a dead end" in text
    assert f"0 of {task.num_propositions} propositions: none" in text
    assert not hasattr(simulator.state, "__dict__")  # Millions of them may be kept.
    large = asnets.Simulator(asnets.generate("triangle-tireworld", 30)).state
    assert len(shown(large)) < SMALL


def test_large_runs_are_tables(task: GroundTask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "MAX_PICTURE", 1000)
    run = asnets.run(asnets.solve(task).policy)
    view = shown(run)
    assert len(view) < SMALL
    text = words(view)
    assert all(step.action in text for step in run.steps[:20])
    assert "too many for a picture" in text


def test_histories() -> None:
    history = History([record(1), *(record(epoch, 2, best=True) for epoch in range(2, 2001))])
    view = shown(history)
    text = words(view)
    assert "Training of 2,000 epochs" in text
    assert "2000 (best)" in text
    assert "1,990 before" in text
    assert len(view) < 2 * SMALL
    assert "No epoch is known" in words(shown(History()))
    assert "<polyline" in shown(History([record(1)]))


def test_tables_are_cut() -> None:
    view = HtmlView("many", "rows")
    view.table(("number",), [(str(number),) for number in range(1000)])
    assert view.html().count("<tr>") == MAX_ROWS + 1
    assert f"{1000 - MAX_ROWS} more" in view.html()
    assert cut(str(number) for number in range(10)) == "0, 1, 2, 3, 4, 5, 6, 7 … and 2 more"


def test_results(tmp_path: Path) -> None:
    folder = Results(tmp_path)
    cells = {("plan", "p1"): goals(12, 2.0, 1.0)}
    folder.add("own", [system("plan", title="The <b>plan")], [problem("p1", 1), problem("p2", 2)], cells)
    results = asnets.results(tmp_path)
    assert repr(results) == f"<Results of {tmp_path}: 1 experiment, 1 of 2 cells done>"
    text = words(shown(results))
    assert re.search(r"The <b>plan\s+p1\s+12 of 30\s+40%\s+2\.00 ± 0\.6\d", text)
    assert re.search(r"p2\s+not run", text)
    assert results["own"].scores["plan", "p1"].goals == 12
    assert [score.goals for score in results.scores()] == [12, 0]
    with pytest.raises(asnets.AsnetsError, match="no experiment 'other'; there are own"):
        results["other"]
    with pytest.raises(asnets.AsnetsError, match="there are no results here"):
        asnets.results(tmp_path / "gone")
