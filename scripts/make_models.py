"""Trains and measures the models that the package ships. `make models` runs this.

    python scripts/make_models.py [NAME…] [--problems-dir DIR] [-o DIR]
    python scripts/make_models.py --verify [NAME…] [--problems-dir DIR] [-o DIR]

Each model is trained on problems of our generators with a fixed seed, run on larger ones and, with --problems-dir, on
the published files there (DIR/FAMILY/…), and written with its card: NAME.asnet and NAME.json. The same seed gives the
same bytes of the model on the same kind of processor and version of torch; what depends on the clock stands in the card
alone. Where the chain of a model on a problem is small, the card has its exact numbers too. With --verify, nothing is
trained: these numbers are put into the cards of models that are there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import torch

import asnets
from asnets import models
from asnets.domains import FAMILIES, domain_text, generate
from asnets.files import write_atomically
from asnets.grounding import GroundTask
from asnets.network.weights import num_parameters
from asnets.ppddl import write_problem

SEED = 0
RUNS = 30
MAX_STEPS = 300
PRESET = "default"
EXACT_STATES = 200_000
"""Of the largest chain whose exact numbers a card has."""


@dataclass(frozen=True)
class Problem:
    """A problem of a generator, by what it is made from."""

    size: int
    seed: int = 0
    index: int = 0


@dataclass(frozen=True)
class Recipe:
    """How a model is made.

    Attributes:
        family: The benchmark family; also the model's name, if it has no other.
        about: One sentence for the card.
        training: The problems that it is trained on.
        tests: Generated problems that it is measured on.
        published: Published files that it is measured on, below the family's folder; FILE:NAME where one holds several.
        options: Of training, where they differ from the preset.
        optimal: The optimal expected cost by size, where there is a closed form.
        other_name: The model's name, where the family has another model of its own name.
    """

    family: str
    about: str
    training: tuple[Problem, ...]
    tests: tuple[Problem, ...]
    published: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    optimal: Callable[[int], float] | None = None
    other_name: str | None = None

    @property
    def name(self) -> str:
        return self.other_name or self.family


def of_sizes(*sizes: int, count: int = 1) -> tuple[Problem, ...]:
    return tuple(Problem(size, index=index) for size in sizes for index in range(count))


_GIVEN_ALONE: dict[str, Any] = {"teacher_planner": "lrtdp", "more_problems": 0, "validate_made": 0}
"""One teacher, and nothing beside the problems of the recipe."""

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "triangle-tireworld",
            "Drives along the edge of the triangle, where the spare tires are. Reads no landmarks, so it is fast.",
            of_sizes(1, 2, 3),
            of_sizes(*range(4, 21)),
            (
                "triangle-tire-1-to-5.pddl:triangle-tire-4",
                "triangle-tire-1-to-5.pddl:triangle-tire-5",
                *(f"triangle-tire-{size}.pddl" for size in (6, 8, 10, 12, 15, 20)),
            ),
            {"features": ()} | _GIVEN_ALONE,
            lambda size: 6 * size - 0.5,
        ),
        Recipe(
            "cosanostra",
            "Pays every toll operator on the way out, so that the way back is safe.",
            of_sizes(1, 2, 3, 4, 5),
            of_sizes(*range(6, 21)),
            tuple(f"cosanostra-n{size}.pddl" for size in (6, 8, 10, 12, 15, 20)),
            {"features": ("landmarks",)} | _GIVEN_ALONE,
            optimal=lambda size: 3 * size + 4,
        ),
        Recipe(
            "prob-blocksworld",
            "Moves blocks with a hand that slips one time in four; taught by a planner with an inadmissible heuristic. "
            "Trained on after it solves all training problems: else it goes in circles on a few large ones.",
            of_sizes(5, 6, 7, 8, 9, count=5),
            of_sizes(10, 15, 20, 25, 30, 35, count=8),
            tuple(f"prob_bw_n{size}_s{number}.pddl" for size, number in product((9, 10, 15, 20), (1, 2, 3))),
            {"features": ("landmarks",), "teacher_heuristic": "hadd", "solved_epochs": 30, "patience": 30}
            | _GIVEN_ALONE,
        ),
        Recipe(
            "exploding-blocksworld",
            "Moves blocks that may explode and destroy what they are put on. Even the best policies often fail; this "
            "one is at its best beside a search (`--search puct`).",
            of_sizes(4, 5, 6, 7, 8, count=4),
            of_sizes(9, 10, 12, 15, count=4),
            (),
        ),
        Recipe(
            "monster",
            "Sees the monster at the end of a path of up to five moves; each move takes a layer, so it has five.",
            of_sizes(1, 2, 3, 4, 5),
            of_sizes(1, 2, 3, 4, 5),
            tuple(f"monster-n{size}.pddl" for size in (1, 2, 3, 4, 5)),
            {"layers": 5, "features": ()} | _GIVEN_ALONE,
        ),
        Recipe(
            "monster",
            "Sees the monster at the end of a path of any length, by the features distance and risk; two layers.",
            of_sizes(1, 2, 3, 4, 5),
            of_sizes(*range(1, 11), 15, 20, 30, 40, 50),
            tuple(f"monster-n{size}.pddl" for size in (1, 2, 3, 4, 5)),
            other_name="monster-long",
        ),
    )
}


def file_name(family: str, problem: Problem) -> str:
    return f"{FAMILIES[family].problem_name(problem.size, seed=problem.seed, index=problem.index)}.pddl"


def write_problems(recipe: Recipe, folder: Path) -> None:
    """Writes the domain and all problems of a recipe."""
    write_atomically(folder / "domain.pddl", domain_text(recipe.family))
    for each in {*recipe.training, *recipe.tests}:
        problem = generate(recipe.family, each.size, seed=each.seed, index=each.index)
        write_atomically(folder / file_name(recipe.family, each), write_problem(problem))


def commands(recipe: Recipe) -> list[str]:
    """What comes to the same weights without this script."""
    sizes = " ".join(f"--size {size}" for size in dict.fromkeys(each.size for each in recipe.training))
    count = 1 + max(each.index for each in recipe.training)
    options = ""
    for name, value in recipe.options.items():
        if name == "features":
            options += "".join(f" --feature {feature}" for feature in value) or " --no-features"
        else:
            options += f" --{name.replace('_', '-')} {value}"
    files = " ".join(f"problems/{file_name(recipe.family, each)}" for each in recipe.training)
    return [
        f"asnets generate {recipe.family} {sizes} --count {count} --seed 0 -o problems",
        f"asnets train problems/domain.pddl {files}{options} --preset {PRESET} --seed {SEED} -o {recipe.name}.asnet",
    ]


def without_clock(training: dict[str, Any]) -> dict[str, Any]:
    """What is remembered of the training, less what differs from run to run."""
    kept = {key: value for key, value in training.items() if key != "seconds"}
    kept["best"] = {key: value for key, value in training["best"].items() if key not in ("seconds", "elapsed")}
    return kept


def measured(policy: asnets.Policy, domain: Path, problem: Path | str, name: str) -> dict[str, Any]:
    """Runs a policy on a problem."""
    task = asnets.load(domain, problem)
    result = policy.evaluate(task, runs=RUNS, max_steps=MAX_STEPS, seed=SEED)
    found = result.to_dict()
    kept = ("problem", "runs", "goals", "dead_ends", "step_limits", "mean_cost", "ci95", "max_steps", "seed")
    values = {"file": name} | {key: found[key] for key in kept} | {"seconds": round(result.seconds["total"], 3)}
    return values | {"exact": exact_numbers(policy, task)}


def exact_numbers(policy: asnets.Policy, task: GroundTask) -> dict[str, Any] | None:
    """What holds for all runs on a problem; None if the chain is too large."""
    result = policy.verify(task, method="exact", max_states=EXACT_STATES, optimal=False, explain=False)
    if result.method != "exact":
        return None
    values = result.to_dict()
    kept = ("states", "goal_probability", "dead_end_probability", "expected_cost", "cost_given_goal", "penalty")
    return {key: values[key] for key in kept}


def results(recipe: Recipe, policy: asnets.Policy, folder: Path, problems_dir: Path | None) -> Iterator[dict[str, Any]]:
    """The results of all tests, in order."""
    for each in recipe.tests:
        name = file_name(recipe.family, each)
        made_from = {"size": each.size, "seed": each.seed, "index": each.index}
        optimal = {} if recipe.optimal is None else {"optimal_cost": recipe.optimal(each.size)}
        found = measured(policy, folder / "domain.pddl", folder / name, name)
        yield {"source": "generator", "generator": made_from} | found | optimal
    if problems_dir is not None:
        published = problems_dir / recipe.family
        for name in recipe.published:
            yield {"source": "published"} | measured(policy, published / "domain.pddl", f"{published / name}", name)


def verify_model(name: str, output: Path, problems_dir: Path | None = None) -> dict[str, Any]:
    """Puts exact numbers into the card of a model; returns the card."""
    path = output / f"{name}.json"
    card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    policy = asnets.Policy.load(output / f"{name}.asnet")
    family = card["family"]
    for result in card["results"]:
        if result["source"] == "generator":
            task = asnets.generate(family, **result["generator"])
        elif problems_dir is not None:
            folder = problems_dir / family
            task = asnets.load(folder / "domain.pddl", f"{folder / result['file']}")
        else:
            continue
        result["exact"] = exact_numbers(policy, task)
        states = None if result["exact"] is None else result["exact"]["states"]
        print(f"  {result['file']}: {'too large' if states is None else f'{states:,} states'}", file=sys.stderr)
    write_atomically(path, json.dumps(card, indent=2, allow_nan=False) + "\n")
    return card


def make_model(recipe: Recipe, output: Path, problems_dir: Path | None = None) -> dict[str, Any]:
    """Trains, measures and writes a model and its card; returns the card."""
    name, family = recipe.name, recipe.family
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_problems(recipe, folder)
        files = [folder / file_name(family, each) for each in recipe.training]
        cpu = time.process_time()
        policy = asnets.train(folder / "domain.pddl", files, preset=PRESET, seed=SEED, **recipe.options)
        cpu = time.process_time() - cpu
        seconds = float(policy.training["seconds"])
        print(f"{name}: trained in {seconds:.0f} s; {policy.training['ended']}", file=sys.stderr)
        found = []
        for result in results(recipe, policy, folder, problems_dir):
            print(f"  {result['file']}: {result['goals']}/{result['runs']}, {result['mean_cost']}", file=sys.stderr)
            found.append(result)
        policy.training = without_clock(policy.training)
        policy.save(folder / f"{name}.asnet")
        data = (folder / f"{name}.asnet").read_bytes()
    network = policy.network
    card = {
        "name": name,
        "family": family,
        "title": FAMILIES[family].title,
        "about": recipe.about,
        "domain": policy.training["problems"][0]["domain"],
        "file": {"name": f"{name}.asnet", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()},
        "network": network.config.to_dict() | {"parameters": num_parameters(network.signature, network.config)},
        "training": {
            "problems": [file_name(family, each) for each in recipe.training],
            "preset": PRESET,
            "options": recipe.options,
            "seed": SEED,
            "command": f"python scripts/make_models.py {name}",
            "without_the_script": commands(recipe),
            "teacher": {key: policy.training["config"][f"teacher_{key}"] for key in ("planner", "heuristic")},
            "epochs": policy.training["epochs"],
            "ended": policy.training["ended"],
            "best": policy.training["best"],
            "seconds": round(seconds, 1),
            "cpu_seconds": round(cpu, 1),
            "versions": {"asnets": version("asnets"), "torch": torch.__version__},
        },
        "results": found,
    }
    write_atomically(output / f"{name}.asnet", data)
    write_atomically(output / f"{name}.json", json.dumps(card, indent=2, allow_nan=False) + "\n")
    return card


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RECIPES)}; all if left out")
    parser.add_argument("--problems-dir", type=Path, metavar="DIR", help="published problems, a folder for each family")
    parser.add_argument("-o", "--output", type=Path, default=models.FOLDER, metavar="DIR", help="%(default)s")
    parser.add_argument("--verify", action="store_true", help="train nothing; add exact numbers to the cards")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in RECIPES]
    if unknown:
        parser.error(f"no model {unknown[0]!r}; there are {', '.join(RECIPES)}")
    for name in arguments.names or RECIPES:
        if arguments.verify:
            print(name, file=sys.stderr)
            verify_model(name, arguments.output, arguments.problems_dir)
        else:
            make_model(RECIPES[name], arguments.output, arguments.problems_dir)


if __name__ == "__main__":
    main()
