"""The script that makes the shipped models."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import asnets
from asnets.models import FOLDER, load_card, model_names
from scripts.make_models import RECIPES, Recipe, commands, make_model, of_sizes, verify_model
from tests.cli.running import run
from tests.support import PUBLISHED, REPOSITORY, needs_published

QUICK = replace(RECIPES["monster"], training=of_sizes(1, 2), tests=of_sizes(1), published=("monster-n2.pddl",))
CLOCK = ("seconds", "cpu_seconds")


def quick(**options: object) -> Recipe:
    return replace(QUICK, options=QUICK.options | {"layers": 2, "learn_steps": 5, "max_epochs": 2} | options)


def test_there_is_a_recipe_for_each_model() -> None:
    assert sorted(RECIPES) == model_names()
    for name, recipe in RECIPES.items():
        training = load_card(name)["training"]
        assert training["without_the_script"] == commands(recipe)
        assert training["options"] == json.loads(json.dumps(recipe.options))
        assert training["command"] == f"python scripts/make_models.py {name}"


@needs_published
def test_same_seed_same_bytes(tmp_path: Path) -> None:
    cards = [make_model(quick(), tmp_path / folder, PUBLISHED) for folder in ("first", "second")]
    assert sorted(path.name for path in (tmp_path / "first").iterdir()) == ["monster.asnet", "monster.json"]
    first, second = ((tmp_path / folder / "monster.asnet").read_bytes() for folder in ("first", "second"))
    assert first == second
    assert json.loads((tmp_path / "first" / "monster.json").read_text())["file"] == cards[0]["file"]
    assert [row["file"] for row in cards[0]["results"]] == ["monster-n1.pddl", "monster-n2.pddl"]
    for card in cards:
        for part in (card["training"], *card["results"]):
            for key in CLOCK:
                part.pop(key, None)
    assert cards[0] == cards[1]


def test_exact_numbers_are_put_into_a_card(tmp_path: Path) -> None:
    """Without training anything; the rest of the card stays as it is."""
    for suffix in (".asnet", ".json"):
        (tmp_path / f"monster{suffix}").write_bytes((FOLDER / f"monster{suffix}").read_bytes())
    before = load_card("monster")
    for row in before["results"]:
        del row["exact"]
    (tmp_path / "monster.json").write_text(json.dumps(before))
    card = verify_model("monster", tmp_path)
    assert json.loads((tmp_path / "monster.json").read_text()) == card
    for row, old in zip(card["results"], before["results"], strict=True):
        exact = row.pop("exact", None)
        assert row == old
        assert (exact is None) == (row["source"] == "published"), "these files were not given"
        if exact is not None:
            assert exact["goal_probability"]["lower"] == 1
            assert exact["states"] == 5 + 2 * row["generator"]["size"]


@pytest.mark.slow
def test_the_commands_of_a_card(tmp_path: Path) -> None:
    """They come to the same weights as the script."""
    recipe = quick()
    make_model(recipe, tmp_path)
    generate, train = commands(recipe)
    for command in (generate, train.replace("-o monster.asnet", "-o by-hand.asnet")):
        result = run(*command.split()[1:], "--quiet", cwd=tmp_path)
        assert (result.returncode, result.stderr) == (0, "")
    made, by_hand = (asnets.Policy.load(tmp_path / name) for name in ("monster.asnet", "by-hand.asnet"))
    assert made.network.config == by_hand.network.config
    weights = by_hand.network.weights()
    assert all(bool((weight == weights[name]).all()) for name, weight in made.network.weights().items())


@pytest.mark.parametrize(("arguments", "message"), [(["tires"], "no model 'tires'; there are triangle-tireworld")])
def test_wrong_use(arguments: list[str], message: str) -> None:
    script = REPOSITORY / "scripts" / "make_models.py"
    result = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert message in result.stderr
