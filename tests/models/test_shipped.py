"""The shipped models: each loads, is what its card says, and does what its card says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import asnets
from asnets.domains import FAMILIES, domain_text, generate
from asnets.errors import FileError
from asnets.grounding import GroundTask, ground
from asnets.models import FOLDER, card_markdown, find_model, load_card, model_names, results_line
from asnets.network import DomainSignature, NetworkConfig
from asnets.network.weights import num_parameters
from asnets.ppddl import load_task, parse_text
from tests.support import PUBLISHED, needs_published

NAMES = ["cosanostra", "exploding-blocksworld", "monster", "monster-long", "prob-blocksworld", "triangle-tireworld"]
FIGURES = ("problem", "runs", "goals", "dead_ends", "step_limits", "mean_cost", "ci95", "max_steps", "seed")
# Of each model, test problems that take little time.
GENERATED = {
    "cosanostra": ("cosanostra-n6.pddl", "cosanostra-n8.pddl"),
    "exploding-blocksworld": ("ex-bw-n9-s0-i0.pddl", "ex-bw-n10-s0-i3.pddl", "ex-bw-n12-s0-i2.pddl"),
    "monster": tuple(f"monster-n{length}.pddl" for length in (1, 2, 3, 4, 5)),
    "monster-long": tuple(f"monster-n{length}.pddl" for length in (6, 10, 50)),
    "prob-blocksworld": ("prob-bw-n10-s0-i0.pddl", "prob-bw-n10-s0-i1.pddl", "prob-bw-n15-s0-i0.pddl"),
    "triangle-tireworld": tuple(f"triangle-tire-{size}.pddl" for size in (4, 7, 10)),
}
PUBLISHED_FILES = {
    "cosanostra": ("cosanostra-n6.pddl", "cosanostra-n10.pddl"),
    "exploding-blocksworld": (),
    "monster": ("monster-n3.pddl", "monster-n5.pddl"),
    "monster-long": ("monster-n5.pddl",),
    "prob-blocksworld": ("prob_bw_n9_s1.pddl", "prob_bw_n10_s2.pddl"),
    "triangle-tireworld": ("triangle-tire-1-to-5.pddl:triangle-tire-4", "triangle-tire-10.pddl"),
}


def family_task(name: str, size: int, seed: int, index: int) -> GroundTask:
    family = load_card(name)["family"]
    return ground(parse_text(domain_text(family)).domains[0], generate(family, size, seed=seed, index=index))


def result_of(name: str, source: str, file: str) -> dict[str, Any]:
    (found,) = (row for row in load_card(name)["results"] if (row["source"], row["file"]) == (source, file))
    return dict(found)


def check_figures(name: str, task: GroundTask, row: dict[str, Any]) -> None:
    """Runs a model as its card says, and compares."""
    policy = asnets.Policy.load(name)
    found = policy.evaluate(task, runs=row["runs"], max_steps=row["max_steps"], seed=row["seed"]).to_dict()
    assert {key: found[key] for key in FIGURES} == {key: row[key] for key in FIGURES} | {
        "ci95": pytest.approx(row["ci95"], rel=1e-10)  # SciPy's quantile has other last digits.
    }


def test_names() -> None:
    assert model_names() == NAMES
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == NAMES
    assert {load_card(name)["family"] for name in NAMES} <= set(FAMILIES)


@pytest.mark.parametrize("name", NAMES)
def test_card_and_file(name: str) -> None:
    card = load_card(name)
    data = find_model(name).read_bytes()
    assert card["file"] == {
        "name": f"{name}.asnet",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    policy = asnets.Policy.load(name)
    config = policy.network.config
    parameters = num_parameters(policy.network.signature, config)
    described = dict(card["network"])
    assert described.pop("parameters") == parameters
    assert NetworkConfig.from_dict(described) == config  # Options that came after the card have their defaults.
    assert card["training"]["seed"] == policy.training["seed"]
    assert card["training"]["epochs"] == policy.training["epochs"]
    assert card["training"]["best"] == policy.training["best"]
    made = {each["problem"] for each in policy.training.get("more_problems", ())}
    given = [each["problem"] for each in policy.training["problems"] if each["problem"] not in made]
    assert card["training"]["problems"] == [f"{problem}.pddl" for problem in given]
    assert policy.training["left_out"] == []
    assert not {"seconds", "elapsed"} & {*policy.training, *policy.training["best"]}, "the file has no times"
    task = family_task(name, FAMILIES[card["family"]].minimum_size, 0, 0)
    assert policy.network.signature.differences(DomainSignature.of(task)) == []


@pytest.mark.parametrize("name", NAMES)
def test_what_the_cards_promise(name: str) -> None:
    """What was asked of the models, which the cards must not fall behind."""
    card = load_card(name)
    sources = {row["source"] for row in card["results"]}
    if name == "exploding-blocksworld":  # No policy reaches all goals.
        assert sources == {"generator"}
        assert sum(row["goals"] for row in card["results"]) >= 0.4 * sum(row["runs"] for row in card["results"])
        return
    assert sources == {"generator", "published"}
    for row in card["results"]:
        assert (row["runs"], row["goals"]) == (30, 30), row["file"]
        if name == "cosanostra" and "optimal_cost" in row:
            assert (row["mean_cost"], row["ci95"]) == (row["optimal_cost"], 0)
        if name == "triangle-tireworld" and "optimal_cost" in row:
            assert abs(row["mean_cost"] - row["optimal_cost"]) <= 1.5 * row["ci95"]  # about three standard errors


@pytest.mark.native
@pytest.mark.parametrize(("name", "file"), [(name, file) for name in NAMES for file in GENERATED[name]])
def test_results_on_generated_problems(name: str, file: str) -> None:
    row = result_of(name, "generator", file)
    check_figures(name, family_task(name, **row["generator"]), row)


@pytest.mark.native
@pytest.mark.parametrize(("name", "file"), [(name, file) for name in NAMES for file in GENERATED[name][:2]])
def test_exact_numbers_on_generated_problems(name: str, file: str) -> None:
    """What the cards say holds for all runs; `python scripts/make_models.py --verify` puts it there."""
    row = result_of(name, "generator", file)
    exact = row["exact"]
    if exact is None:
        assert name == "triangle-tireworld", "the only one with many states"
        return
    result = asnets.Policy.load(name).verify(family_task(name, **row["generator"]), optimal=False)
    assert result.chain is not None
    assert (result.method, result.chain.states) == ("exact", exact["states"])
    for number in ("goal_probability", "dead_end_probability", "expected_cost", "cost_given_goal"):
        found = result.numbers[number]
        assert (found.lower, found.upper) == pytest.approx((exact[number]["lower"], exact[number]["upper"]), abs=1e-9)
    if name != "exploding-blocksworld":
        assert exact["goal_probability"]["lower"] == 1
    if row["goals"]:
        assert exact["cost_given_goal"]["lower"] == pytest.approx(row["mean_cost"], abs=3 * max(row["ci95"], 1e-6))


@needs_published
@pytest.mark.native
@pytest.mark.parametrize(("name", "file"), [(name, file) for name in NAMES for file in PUBLISHED_FILES[name]])
def test_results_on_published_problems(name: str, file: str) -> None:
    folder = PUBLISHED / load_card(name)["family"]
    task = ground(*load_task(folder / "domain.pddl", f"{folder}/{file}"))
    check_figures(name, task, result_of(name, "published", file))


@pytest.mark.parametrize("name", NAMES)
def test_markdown(name: str) -> None:
    card = load_card(name)
    text = card_markdown(card)
    assert text.startswith(f"# {name}\n")
    assert results_line(card) in text
    for row in card["results"]:
        cost = "–" if row["mean_cost"] is None else f"{row['mean_cost']:.2f} ± {row['ci95']:.2f}"
        assert f"| {row['file']} | {row['goals']}/{row['runs']} | {cost} |" in text
    for command in card["training"]["without_the_script"]:
        assert f"      {command}\n" in text


def test_failures_in_markdown() -> None:
    card = load_card("monster")
    row = card["results"][0] | {"goals": 0, "mean_cost": None, "ci95": None}
    text = card_markdown(card | {"results": [row]})
    assert "The goal in 0 of 30 runs on 1 problems." in text
    assert "| monster-n1.pddl | 0/30 | – |" in text
    assert "Published files" not in text


def test_files_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_model("monster") == FOLDER / "monster.asnet"
    Path("monster").mkdir()  # as `asnets generate monster -o monster` does
    assert find_model("monster") == FOLDER / "monster.asnet"
    Path("monster").rmdir()
    Path("monster").write_bytes(find_model("cosanostra").read_bytes())
    assert find_model("monster") == Path("monster")
    assert asnets.Policy.load("monster").training["problems"][0]["domain"] == load_card("cosanostra")["domain"]


def test_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=f"tires: cannot read the file: .*; shipped models are {', '.join(NAMES)}$"):
        asnets.Policy.load("tires")
    with pytest.raises(FileError, match="shipped models are"):
        asnets.Policy.load("./monster")
    with pytest.raises(FileError, match="Is a directory"):
        asnets.Policy.load(tmp_path)
    with pytest.raises(FileError, match=f"no shipped model 'tires'; there are {', '.join(NAMES)}$"):
        load_card("tires")


def test_cards_are_json_with_finite_numbers() -> None:
    def refuse(constant: str) -> float:
        raise AssertionError(constant)

    for name in NAMES:
        assert json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"), parse_constant=refuse)["name"] == name
