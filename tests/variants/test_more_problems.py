"""More problems by `asnets generate --from` and in training; domains that come with each problem."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import asnets
from asnets.domains import domain_text, generate
from asnets.errors import ConfigError, LimitError
from asnets.loading import load_stages
from asnets.network import DomainSignature, build_structure
from asnets.policies.native_network import NativeNetworkPolicy
from asnets.policies.torch_network import TorchNetworkPolicy
from asnets.ppddl import parse_text, write_problem
from asnets.training.checkpoint import read_checkpoint
from asnets.training.more_problems import from_json, to_json
from tests.cli.running import invoke

pytestmark = pytest.mark.native

QUICK = [
    "--max-epochs",
    "2",
    "--learn-steps",
    "5",
    "--hidden",
    "4",
    "--teacher",
    "lrtdp",
    "--teacher-heuristic",
    "hadd",
]
QUICK += ["--no-features", "--validate-made", "0"]


@pytest.fixture
def blocks(tmp_path: Path) -> tuple[Path, list[Path]]:
    domain = tmp_path / "domain.pddl"
    domain.write_text(domain_text("prob-blocksworld"))
    files = [tmp_path / f"p{size}.pddl" for size in (3, 4)]
    for size, file in zip((3, 4), files, strict=True):
        file.write_text(write_problem(generate("prob-blocksworld", size)))
    return domain, files


def test_generate_from(blocks: tuple[Path, list[Path]], tmp_path: Path) -> None:
    domain, files = blocks
    arguments = ["generate", "--from", *files, "--domain", domain, "--count", 4, "--seed", 7]
    result = invoke(*arguments, "-o", tmp_path / "one")
    assert result.exit_code == 0, result.stderr
    names = ["domain.pddl", *(f"more-{number}.pddl" for number in range(1, 5))]
    assert result.stdout.split() == [str(tmp_path / "one" / name) for name in names]
    assert invoke(*arguments, "-o", tmp_path / "two").exit_code == 0
    for name in names:
        text = (tmp_path / "one" / name).read_text()
        assert (tmp_path / "two" / name).read_text() == text
        assert name == "domain.pddl" or text.startswith("; Made by `asnets generate --from`, seed 7; it costs ")
        assert invoke("check", tmp_path / "one" / name, tmp_path / "one" / "domain.pddl").exit_code == 0
    assert invoke(*arguments, "-o", tmp_path / "one").exit_code == 0  # The same files.
    arguments[arguments.index(7)] = 8
    result = invoke(*arguments, "-o", tmp_path / "one")
    assert result.exit_code == 3
    assert "the file exists and differs; use --force" in result.stderr


def test_generate_from_files_with_their_own_domain(tmp_path: Path) -> None:
    for size in (2, 3):
        (tmp_path / f"{size}.pddl").write_text(domain_text("gripper") + write_problem(generate("gripper", size)))
    result = invoke("generate", "--from", tmp_path / "2.pddl", tmp_path / "3.pddl", "--kind", "joined")
    assert result.exit_code == 0, result.stderr
    document = parse_text(result.stdout)
    assert len(document.domains) == len(document.problems) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--size", "3"], 2, "--size is for families"),
        (["--kind", "small"], 2, "unknown kind of problems 'small'"),
        (["--heuristic", "none"], 2, "unknown heuristic 'none'"),
        (["--query-limit", "1"], 2, "no problem could be made of these"),
        (["--count", "2"], 2, "more than one problem: give a folder with -o DIR"),
        (["--time-limit", "1e-6"], 4, "the time limit of 1e-06 s was reached"),
    ],
)
def test_generate_from_used_wrongly(
    blocks: tuple[Path, list[Path]], arguments: list[str], code: int, message: str
) -> None:
    domain, files = blocks
    result = invoke("generate", "--from", files[0], "--domain", domain, *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stdout == ""


def test_what_is_read_is_not_replaced(blocks: tuple[Path, list[Path]]) -> None:
    domain, files = blocks
    before = domain.read_text()
    result = invoke("generate", "--from", files[0], "--domain", domain, "-o", domain.parent, "--force")
    assert result.exit_code == 2
    assert "is also read" in result.stderr
    assert domain.read_text() == before


def test_training_with_more_problems_goes_on_bit_for_bit(blocks: tuple[Path, list[Path]], tmp_path: Path) -> None:
    domain, files = blocks

    def train(model: str, *options: object) -> bytes:
        result = invoke("train", domain, *files, "-o", tmp_path / model, *QUICK, "--more-problems", 3, *options)
        assert result.exit_code == 0, result.stderr
        return (tmp_path / model).read_bytes()

    train("whole")
    train("parts", "--max-epochs", 1)
    kept = read_checkpoint(tmp_path / "parts.checkpoint").more_problems
    assert [problem.problem for problem in kept] == ["more-1", "more-2", "more-3"]
    assert from_json(json.loads(json.dumps(to_json(kept)))) == kept
    train("parts", "--resume")
    whole, parts = (asnets.Policy.load(tmp_path / model) for model in ("whole", "parts"))
    for name, values in whole._network.arrays().items():
        assert (parts._network.arrays()[name] == values).all()
    remembered = whole.training["more_problems"]
    assert remembered == [{"problem": problem.problem, "how": problem.how} for problem in kept]
    assert [problem["problem"] for problem in whole.training["problems"]][2:] == ["more-1", "more-2", "more-3"]
    policy = asnets.train(
        domain,
        files,
        max_epochs=2,
        learn_steps=5,
        hidden=4,
        teacher_planner="lrtdp",
        teacher_heuristic="hadd",
        features=(),
        more_problems=3,
        validate_made=0,
    )
    for name, values in policy._network.arrays().items():
        assert (whole._network.arrays()[name] == values).all()


def test_no_more_problems_of_ground_tasks() -> None:
    with pytest.raises(ConfigError, match="more problems are made of files"):
        asnets.train(None, [asnets.generate("monster", 1)], more_problems=1)


# --- Domains of their own ---------------------------------------------------------------------------------------------

LAST = """
(define (domain clock) (:types hour) (:constants {constants} - hour)
  (:predicates (left ?h - hour) (ready) (bell ?h - hour))
  (:action wait :parameters () :precondition (not (ready))
    :effect (and {steps} (when (left h0) (ready))))
  (:action ring :parameters (?h - hour) :precondition (ready) :effect (probabilistic 0.5 (bell ?h)))
  {more})
(define (problem clock-{hours}) (:domain clock) (:init (left h{hours})) (:goal (forall (?h - hour) (bell ?h))))
"""


def clock(hours: int, more: str = "") -> str:
    """Every hour is a constant of the domain, as in the competition's schedule."""
    return LAST.format(
        hours=hours,
        constants=" ".join(f"h{hour}" for hour in range(hours + 1)),
        steps=" ".join(
            f"(when (left h{hour}) (and (not (left h{hour})) (left h{hour - 1})))" for hour in range(1, hours + 1)
        ),
        more=more,
    )


def test_constants_that_some_problems_lack(tmp_path: Path) -> None:
    files = [tmp_path / f"{hours}.pddl" for hours in (1, 2, 3)]
    for hours, file in zip((1, 2, 3), files, strict=True):
        file.write_text(clock(hours))
    result = invoke("train", files[0], files[2], "-o", tmp_path / "m", *QUICK)
    assert result.exit_code == 0, result.stderr
    assert "clock-1: 10 of 10" in result.stdout
    assert "clock-3: 10 of 10" in result.stdout
    result = invoke("evaluate", tmp_path / "m", *files, "--runs", 5, "--json")
    assert result.exit_code == 0, result.stderr
    assert [row["goals"] for row in json.loads(result.stdout)] == [5, 5, 5]
    assert asnets.train(None, [files[0], files[2]], max_epochs=1, learn_steps=1).signature == (
        asnets.Policy.load(tmp_path / "m").signature
    )
    files[0].write_text(clock(4))
    result = invoke("evaluate", tmp_path / "m", files[0])
    assert result.exit_code == 2
    assert result.stderr == (
        "error: the model has no weights for constants of 'clock-4' that its training problems lacked; there\n"
        "  schema wait: slot (left h4) is new\n"
    )


def test_domains_that_differ_in_more_than_constants(tmp_path: Path) -> None:
    files = [tmp_path / "1.pddl", tmp_path / "2.pddl"]
    files[0].write_text(clock(1))
    files[1].write_text(clock(2, more="(:action rest :parameters (?h - hour) :effect (not (bell ?h)))"))
    result = invoke("train", *files, "-o", tmp_path / "m", *QUICK)
    assert result.exit_code == 2
    assert "the problems 'clock-1' and 'clock-2' are of different domains: schema rest is new" in result.stderr


def test_what_a_problem_lacks_is_never_true(tmp_path: Path) -> None:
    """The compiled core and torch agree; a slot that is lacking reads an atom that is false."""
    tasks = []
    for hours in (1, 3):
        (tmp_path / "p.pddl").write_text(clock(hours))
        tasks.append(load_stages(tmp_path / "p.pddl").task)
    small, large = map(DomainSignature.of, tasks)
    joined = small.joined(large)
    assert joined == large.joined(small)
    assert joined.misfits(small) == joined.misfits(large) == []
    assert small.misfits(large) == small.differences(large) != []
    structure = build_structure(tasks[0], "schema", joined)
    extra = range(tasks[0].num_atoms, len(structure.in_goal))
    assert len(extra) == 1
    assert not structure.constant_truth[-1]
    assert not structure.in_goal[-1]
    policy = asnets.train(None, tasks, max_epochs=1, learn_steps=2)
    for task in tasks:
        state = task.propositions_of()
        native = NativeNetworkPolicy(policy.network, task).logits(state)
        assert native == pytest.approx(TorchNetworkPolicy(policy.network, task).logits(state), abs=1e-5)


def test_a_limit_ends_making_problems(blocks: tuple[Path, list[Path]]) -> None:
    domain, files = blocks
    passed = asnets.Deadline(1000)
    passed.cancel()
    with pytest.raises(LimitError):
        asnets.train(domain, files, more_problems=3, deadline=passed)
    config = replace(asnets.training.config.named_preset("default").training, more_kinds=("joined",))
    assert config.to_dict()["more_kinds"] == ["joined"]
