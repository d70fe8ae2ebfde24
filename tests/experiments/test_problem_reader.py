"""Experiments on a folder of competition files: which problems they have, and the message for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from asnets.domains import domain_text, generate
from asnets.errors import AsnetsError
from asnets.experiments.cells import grid
from asnets.experiments.definition import Experiment, load_experiment
from asnets.experiments.work import do_cell
from asnets.ppddl import write_problem
from tests.support import PUBLISHED

SYSTEM = 'systems = ["lrtdp-hadd"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four problems, p2, p9 and p11 without a domain, p10 with its own, beside a shared domain."""
    files = tmp_path / "files"
    files.mkdir()
    (files / "domain.pddl").write_text(domain_text("gripper"))
    for number in (9, 10, 11, 2):
        problem = write_problem(generate("gripper", number))
        (files / f"p{number}.pddl").write_text(problem if number != 10 else domain_text("gripper") + problem)
    return tmp_path


def load(folder: Path, text: str) -> Experiment:
    path = folder / "own.toml"
    path.write_text(SYSTEM + text, encoding="utf-8")
    return load_experiment(str(path), "smoke")


@pytest.mark.parametrize(
    ("keys", "numbers"),
    [("", [1, 2, 3, 4]), ("last = 2", [1, 2]), ("first = 3", [3, 4]), ("first = 2\nlast = 2", [2])],
)
def test_problems_in_the_order_of_their_numbers(folder: Path, keys: str, numbers: list[int]) -> None:
    experiment = load(folder, f'folder = "files"\n[test]\n{keys}')
    balls = {1: 2, 2: 9, 3: 10, 4: 11}
    assert [(each.name, each.size) for each in experiment.test] == [(f"gripper-n{balls[n]}", n) for n in numbers]


def test_training_and_test(folder: Path) -> None:
    text = 'folder = "files"\ntrain = { last = 1 }\ntest = { first = 2, last = 3 }\n'
    text += "[scales.smoke]\nsystems = ['asnet-features', 'asnet-features-puct', 'puct', 'lrtdp-hadd']\n"
    experiment = load(folder, text)
    assert [[problem.size for problem in each.train] for each in experiment.systems] == [[1], [1], [], []]
    # A training, which two systems share, and two problems for each of four systems.
    assert len({cell.key for _, cell in grid(experiment)}) == 1 + 4 * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("folder = 3\n[test]", "own.toml: folder must be the name of a folder, not 3"),
        ("folder = 'files'\nfamily = 'gripper'\n[test]", "own.toml: give one of family, domain and folder"),
        ("folder = 'none'\n[test]", "own.toml: [test]: there is no folder {folder}/none"),
        ("folder = 'empty'\n[test]", "own.toml: [test]: {folder}/empty has no problem files *.pddl"),
        (
            "folder = 'files'\n[test]\nsizes = [1]",
            "own.toml: [test]: unknown key 'sizes'; expected some of first, last",
        ),
        ("folder = 'files'\n[test]\nlast = 5", "own.toml: [test]: last must be a whole number from 1 to 4, not 5"),
        ("folder = 'files'\n[test]\nfirst = 0", "own.toml: [test]: first must be a whole number from 1 to 4, not 0"),
        (
            "folder = 'files'\n[test]\nfirst = 3\nlast = 2",
            "own.toml: [test]: first must be at most last, not 3 and 2",
        ),
        (
            "folder = 'lone'\n[test]",
            "own.toml: [test]: {folder}/lone/p1.pddl does not hold a domain and a problem, and there is no "
            "{folder}/lone/domain.pddl",
        ),
    ],
)
def test_mistakes(folder: Path, text: str, message: str) -> None:
    (folder / "empty").mkdir()
    (folder / "lone").mkdir()
    (folder / "lone" / "p1.pddl").write_text(write_problem(generate("gripper", 1)))
    with pytest.raises(AsnetsError) as caught:
        load(folder, text)
    assert str(caught.value) == f"{folder}/{message.format(folder=folder)}"


@pytest.mark.native
@pytest.mark.parametrize("domain", ["blocksworld", "elevators", "schedule"])
def test_files_of_a_competition(tmp_path: Path, domain: str) -> None:
    """One domain for all files, one in each file, and one in each with constants of its own."""
    files = PUBLISHED / "ippc06" / domain
    if not files.is_dir():
        pytest.skip("the problems of the competition are not there")
    text = f"folder = '{files}'\ntrain = {{ last = 3 }}\ntest = {{ first = 4, last = 4 }}\n"
    text += "[scales.smoke]\nsystems = ['asnet-features', 'asnet-features-puct', 'puct']\n"
    text += "options = { max_epochs = 1, learn_steps = 3, explore_rounds = 3, judge_runs = 1 }\n"
    cells = {place.system if place.problem else "train": cell for place, cell in grid(load(tmp_path, text))}
    outcome, _, model = do_cell(cells["train"].payload, None, lambda metrics: None)
    assert outcome == "finished"
    for system in ("asnet-features", "asnet-features-puct", "puct"):
        payload = cells[system].payload | {"runs": 1}
        outcome, metrics, _ = do_cell(payload, model, lambda metrics: None)
        assert (outcome, len(metrics["endings"])) == ("finished", 1)
        if system != "asnet-features":
            assert metrics["endings"] == ["goal"]
