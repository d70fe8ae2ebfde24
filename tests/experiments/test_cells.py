"""Keys of cells: the same for the same work, different wherever the result may differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from asnets.experiments.cells import describe, grid
from asnets.experiments.definition import Experiment, load_experiment, load_scale
from asnets.experiments.shipped import paper_experiments, scale_names


def changed_keys(experiment: Experiment, change: Callable[[Experiment], Experiment]) -> set[str]:
    """Which kinds of cell of an experiment have other keys after a change."""
    before = {(place.system, place.problem, place.seed): cell for place, cell in grid(experiment)}
    after = {(place.system, place.problem, place.seed): cell for place, cell in grid(change(experiment))}
    return {cell.kind for where, cell in before.items() if where in after and after[where].key != cell.key}


@pytest.fixture(scope="module")
def blocks() -> Experiment:
    return load_experiment("prob-blocksworld", "smoke")


def test_grid(blocks: Experiment) -> None:
    found = grid(blocks)
    trainings = {place.system: cell for place, cell in found[:2] if (place.problem, place.size) == ("", 0)}
    assert list(trainings) == ["asnet-paper-hadd", "asnet-hadd"]
    assert len(found) == 2 + 6 * 4
    assert [place.size for place, _ in found] == [0] * 2 + [5] * 12 + [6] * 12
    assert len({cell.key for _, cell in found}) == len(found)
    assert all(place.key == cell.key and len(cell.key) == 24 for place, cell in found)
    for place, cell in found:
        assert cell.needs == (trainings[place.system].key if cell.kind == "asnet" else None)
    assert all(cell.kind == cell.payload["kind"] and json.loads(json.dumps(cell.payload)) for _, cell in found)


def test_seeds() -> None:
    """The paper's own networks are trained with several seeds, ours once; each model is run on every problem."""
    experiment = load_experiment("triangle-tireworld", "quick")
    seeds: dict[tuple[str, str], set[int]] = {}
    models: dict[tuple[str, int], str] = {}
    for place, cell in grid(experiment):
        seeds.setdefault((cell.kind, place.system), set()).add(place.seed)
        assert cell.payload["seed"] == place.seed
        if cell.kind == "train":
            models[place.system, place.seed] = cell.key
        elif cell.kind == "asnet":
            assert cell.needs == cell.payload["model"] == models[place.system, place.seed]
    assert len(set(models.values())) == len(models) == 3 * 3 + 3
    for each in experiment.systems:
        expected = {0} if each.kind == "asnet" and each.paper is None else {0, 1, 2}
        assert seeds[each.kind, each.name] == expected


def test_every_network_with_a_column_in_the_paper_is_of_its_preset() -> None:
    for name in paper_experiments():
        for scale in scale_names():
            systems = [each for each in load_experiment(name, scale).systems if each.kind == "asnet"]
            assert {each.config["preset"] for each in systems if each.paper is not None} == {"paper"}
            assert {each.config["preset"] for each in systems if each.paper is None} == {"default"}
            # Of the paper's own, nothing but teacher, features and layers is changed, and by `smoke` what is short.
            short = {"max_epochs", "learn_steps"} if scale == "smoke" else set()
            changed = {option for each in systems if each.paper is not None for option in each.config["options"]}
            assert changed <= {"teacher_heuristic", "features", "layers"} | short


def test_full_sizes_have_the_cut_offs_of_the_paper() -> None:
    limits = {
        (cell.kind, place.size == 4): cell.payload["cut_offs"]["time_limit"]
        for place, cell in grid(load_experiment("triangle-tireworld", "quick"))
        if place.problem
    }
    assert limits == {
        ("planner", True): 9000.0,
        ("planner", False): load_scale("quick").cut_offs.time_limit,
        ("asnet", True): 9000.0,
        ("asnet", False): 9000.0,
    }


def test_keys_are_stable(blocks: Experiment) -> None:
    again = load_experiment("prob-blocksworld", "smoke")
    assert [cell.key for _, cell in grid(blocks)] == [cell.key for _, cell in grid(again)]


def test_keys_ignore_what_results_do_not_depend_on(blocks: Experiment) -> None:
    assert changed_keys(blocks, lambda it: replace(it, name="other", title="Other")) == set()
    assert changed_keys(blocks, lambda it: replace(it, systems=it.systems[::-1], test=it.test[::-1])) == set()
    renamed = tuple(replace(each, title="other", paper=None) for each in blocks.systems)
    assert changed_keys(blocks, lambda it: replace(it, systems=renamed)) == set()
    elsewhere = tuple(replace(each, size=each.size + 1, paper="other") for each in blocks.test)
    assert changed_keys(blocks, lambda it: replace(it, test=elsewhere)) == set()
    assert changed_keys(blocks, lambda it: replace(it, scale=replace(it.scale, name="x", seeds=5))) == set()


EVERY = {"train", "asnet", "planner", "strategy"}


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({"runs": 4}, {"planner"}),
        ({"asnet_runs": 4}, {"asnet", "strategy"}),
        ({"max_steps": 301}, {"asnet"}),
        ({"planner_max_steps": 1001}, {"planner", "strategy"}),
        ({"cut_offs": replace(load_scale("smoke").cut_offs, time_limit=11.0)}, {"planner"}),
        ({"cut_offs": replace(load_scale("smoke").cut_offs, margin=4.0)}, {"planner"}),
        ({"asnet_cut_offs": replace(load_scale("smoke").asnet_cut_offs, memory_limit=10**9)}, EVERY - {"planner"}),
        ({"skip_above_failure": False}, set()),
    ],
)
def test_keys_follow_the_scale(blocks: Experiment, change: dict[str, object], kinds: set[str]) -> None:
    assert changed_keys(blocks, lambda it: replace(it, scale=replace(it.scale, **change))) == kinds  # type: ignore[arg-type]


def test_keys_follow_problems_and_settings(blocks: Experiment) -> None:
    test = tuple(replace(each, problem=each.problem + " ") for each in blocks.test)
    assert changed_keys(blocks, lambda it: replace(it, test=test)) == EVERY - {"train"}
    test = tuple(replace(each, domain=each.domain + " ") for each in blocks.test)
    assert changed_keys(blocks, lambda it: replace(it, test=test)) == EVERY - {"train"}
    systems = tuple(replace(each, train=each.train[:1]) for each in blocks.systems)
    assert changed_keys(blocks, lambda it: replace(it, systems=systems)) == {"train", "asnet"}
    systems = tuple(
        replace(each, config=each.config | {"options": {"layers": 1}}) if each.kind == "asnet" else each
        for each in blocks.systems
    )
    assert changed_keys(blocks, lambda it: replace(it, systems=systems)) == {"train", "asnet"}
    for kind, setting in (("planner", {"heuristic": "hmax"}), ("strategy", {"strategy": "other"})):
        systems = tuple(
            replace(each, config=each.config | setting) if each.kind == kind else each for each in blocks.systems
        )
        assert changed_keys(blocks, lambda it, systems=systems: replace(it, systems=systems)) == {kind}  # type: ignore[misc]


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
def test_blocksworld_and_its_extension_share_trainings(scale: str) -> None:
    plain, extended = (
        {cell.key: cell.kind for _, cell in grid(load_experiment(name, scale))}
        for name in ("prob-blocksworld", "prob-blocksworld-extended")
    )
    shared = plain.keys() & extended.keys()
    assert {plain[key] for key in shared} == {"train"}
    assert len(shared) == sum(kind == "train" for kind in extended.values())


def test_describe_leaves_texts_out(blocks: Experiment) -> None:
    for _, cell in grid(blocks):
        text = json.dumps(describe(cell.payload))
        assert "define" not in text
        assert set(describe(cell.payload)) == set(cell.payload)
    training, problem = grid(blocks)[0][1], blocks.systems[0].train[0]
    named = describe(training.payload)["problems"][0]
    assert named["name"] == problem.name
    assert len(named["sha256"]) == 64
