"""What pictures say of a search: who decided each step, where it left the policy, what it knew, its tree."""

from __future__ import annotations

import pytest

import asnets
from asnets.evaluation.runs import Run
from asnets.pictures import RunPicture, fragment, picture_of
from tests.pictures.runs import family_task, random_policy
from tests.pictures.test_draw import Tree, at, parsed, with_class, words

KINDS = {"map": "triangle-tireworld", "towers": "prob-blocksworld", "steps": "cosanostra"}


def searched(family: str, name: str = "puct", **options: object) -> Run:
    """A run of a network that has learnt nothing, with a search that knows better."""
    task = family_task(family, 3)
    search = asnets.OnlineSearch(name, rollouts_per_step=60)
    return random_policy(task).run(task, seed=1, max_steps=30, search=search, **options)  # type: ignore[arg-type]


def drawn(run: Run) -> RunPicture:
    return picture_of(run, run.policy.task)


@pytest.mark.parametrize("kind", KINDS)
def test_where_the_search_left_the_policy(kind: str) -> None:
    run = searched(KINDS[kind])
    left = [number for number, step in enumerate(run.steps, 1) if step.leaves_policy]
    assert 0 < len(left) < len(run.steps)
    picture = drawn(run)
    assert picture.kind == kind
    overview, page = parsed(picture)
    # By its form as well as by its colour, and in words.
    signs = [sign for sign in with_class(overview, "sign") if sign.findtext("{*}title") in _decided(run)]
    assert len(signs) == len(left)
    assert "not what the policy alone does" in words(overview)
    timeline = with_class(page, "timeline")[0]
    assert [at(bar) for bar in with_class(timeline, "left")] == left
    assert len(with_class(timeline, "sign")) == len(left)
    assert f"not what the policy alone does: {len(left)} step" in words(timeline)
    assert [at(card) for card in with_class(page, "card") if "left" in card.get("class", "").split()] == left


def _decided(run: Run) -> set[str]:
    found = {}
    for number, step in enumerate(run.steps, 1):
        assert step.decision is not None
        found[number] = step.decision.words(step.action)
    return {*found.values(), *(f"step {number}: {text}" for number, text in found.items())}


@pytest.mark.parametrize("name", ["rollout", "puct", "lrtdp"])
def test_cards_say_who_decided_and_what_was_known(name: str) -> None:
    run = searched("triangle-tireworld", name)
    _, page = parsed(drawn(run))
    cards = with_class(page, "card")[1:]
    for card, step in zip(cards, run.steps, strict=True):
        assert step.decision is not None
        text = step.decision.words(step.action)
        assert [words(line).replace("◆ ", "") for line in with_class(card, "decided")] == [text] * bool(text)
        rows = [[words(cell) for cell in row.iter("td")] for row in card.iter("tr")][1:]
        reports = {report.action: report for report in step.decision.actions}
        assert {row[0] for row in rows} <= set(reports)
        assert step.action in {row[0] for row in rows} or not rows
        for action, _, visits, _, remark in rows:
            assert int(visits.replace(",", "")) == reports[action].visits
            assert ("taken" in remark) == (action == step.action)
            assert ("the policy's" in remark) == (action == step.decision.policy_action)
        trees = with_class(card, "tree")
        assert len(trees) == bool(step.decision.tree)
        for tree in trees:
            text = words(tree)
            assert all(action.action in text for action in step.decision.tree)
            assert len(with_class(tree, "taken")) == 2  # The action and the line to it.
    assert bool(with_class(page, "tree")) == (name != "rollout")


def test_what_the_shield_excludes_is_in_the_table() -> None:
    task = family_task("triangle-tireworld", 3)
    run = random_policy(task).run(task, seed=1, shield=True, on_loop="none")
    excluded = [action for step in run.steps if step.decision for action in step.decision.excluded]
    assert excluded
    _, page = parsed(drawn(run))
    rows = [words(row) for row in page.iter("tr") if "excluded by the shield" in words(row)]
    assert len(rows) <= len(excluded)
    assert any(action in row for action in excluded for row in rows)


def test_runs_without_a_search_are_as_before() -> None:
    task = family_task("triangle-tireworld", 3)
    run = random_policy(task).run(task, seed=1, on_loop="none")
    picture = drawn(run)
    assert not any(name in picture.svg + picture.html for name in ("◆", 'class="reports', 'class="tree', "decided"))


def test_a_search_without_a_policy_is_drawn() -> None:
    task = family_task("cosanostra", 2)
    search = asnets.OnlineSearch("lrtdp", rollouts_per_step=50)
    run = asnets.run(asnets.GuardedPolicy(None, task, search=search), max_steps=20)
    picture = drawn(run)
    assert "nan" not in picture.svg + picture.html
    assert not any(step.leaves_policy for step in run.steps)


def test_long_runs_draw_some_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragment, "MAX_TREES", 3)
    run = searched("prob-blocksworld")
    having = [number for number, step in enumerate(run.steps, 1) if step.decision and step.decision.tree]
    left = [number for number in having if run.steps[number - 1].leaves_policy]
    assert len(having) > 3
    root = Tree(drawn(run).html).root
    shown = [at(card) for card in with_class(root, "card") if with_class(card, "tree")]
    assert shown == sorted([*left, *(number for number in having if number not in left)][:3])
    assert f"Trees of the search are drawn for 3 steps of {len(having)}." in words(root)
