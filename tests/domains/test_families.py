"""The benchmark families: against the published files, and by what they promise."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asnets.domains import FAMILIES, domain_text, generate
from asnets.domains.blocksworld import State, random_state, state_counts
from asnets.errors import ConfigError
from asnets.ppddl.model import And, Atom, Problem

PUBLISHED = (Path(__file__).resolve().parents[2] / ".." / "shared" / "problems").resolve()
needs_published_files = pytest.mark.skipif(not PUBLISHED.is_dir(), reason=f"no published problems at {PUBLISHED}")

Tree = Any  # a string or a list of trees
BLOCKS_FAMILIES = ("prob-blocksworld", "exploding-blocksworld", "blocksworld")
SIZES = {name: (family.minimum_size, family.minimum_size + 1, 6) for name, family in FAMILIES.items()}


def read_trees(text: str) -> list[Tree]:
    """The s-expressions of a text, in lower case and without comments."""
    lines = (line.split(";")[0].lower() for line in text.splitlines())
    stack: list[list[Tree]] = [[]]
    for token in " ".join(lines).replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    assert len(stack) == 1, "unbalanced parentheses"
    return stack[0]


def published_trees(path: str) -> list[Tree]:
    return read_trees((PUBLISHED / path).read_text(encoding="utf-8"))


def published_problem(path: str, name: str | None = None) -> dict[str, list[Tree]]:
    """The sections of a problem by keyword; with a name, of that one of the file's problems."""
    tree = next(t for t in published_trees(path) if name is None or t[1] == ["problem", name])
    return {section[0]: section[1:] for section in tree[1:]}


def facts(trees: list[Tree]) -> set[tuple[str, ...]]:
    return {tuple(tree) for tree in trees}


def init_facts(problem: Problem) -> set[tuple[str, ...]]:
    return {(atom.predicate, *atom.terms) for atom in problem.init}


def goal_facts(problem: Problem) -> set[tuple[str, ...]]:
    parts = problem.goal.parts if isinstance(problem.goal, And) else (problem.goal,)
    result = set()
    for part in parts:
        assert isinstance(part, Atom)
        result.add((part.predicate, *part.terms))
    return result


def published_goal(sections: dict[str, list[Tree]]) -> set[tuple[str, ...]]:
    [goal] = sections[":goal"]
    return facts(goal[1:] if goal[0] == "and" else [goal])


def typed(names: list[str]) -> list[tuple[str, str]]:
    """The names of a typed list, each with its type."""
    result: list[tuple[str, str]] = []
    waiting: list[str] = []
    tokens = iter(names)
    for token in tokens:
        if token == "-":
            kind = next(tokens)
            result += [(name, kind) for name in waiting]
            waiting = []
        else:
            waiting.append(token)
    return result + [(name, "object") for name in waiting]


# --- Against the published files --------------------------------------------------------------------------------


def triangle_file(size: int) -> str:
    return f"triangle-tireworld/triangle-tire-{'1-to-5' if size <= 5 else size}.pddl"


DETERMINISTIC = (
    [("triangle-tireworld", n, triangle_file(n), f"triangle-tire-{n}") for n in (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)]
    + [("cosanostra", n, f"cosanostra/cosanostra-n{n}.pddl", None) for n in (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)]
    + [("monster", n, f"monster/monster-n{n}.pddl", None) for n in (1, 2, 3, 4, 5)]
    + [("gripper", 2 * n + 2, f"classical/gripper/task{n:02}.pddl", None) for n in range(1, 11)]
)


@needs_published_files
@pytest.mark.parametrize(("family", "size", "path", "name"), DETERMINISTIC)
def test_deterministic_problem_equals_the_published_one(family: str, size: int, path: str, name: str | None) -> None:
    ours, theirs = generate(family, size), published_problem(path, name)
    assert [ours.domain] == theirs[":domain"]
    assert init_facts(ours) == facts(theirs[":init"])
    assert goal_facts(ours) == published_goal(theirs)
    our_objects = {(o.name, o.type[0]) for o in ours.objects}
    their_objects = set(typed(theirs.get(":objects", [])))
    if family == "triangle-tireworld":
        mentioned = {term for fact in theirs[":init"] for term in fact[1:]}
        assert our_objects == {(o, kind) for o, kind in their_objects if o in mentioned}
    else:
        assert our_objects == their_objects


BLOCKS_PATHS = {
    "prob-blocksworld": "prob-blocksworld/prob_bw_n5_s2.pddl",
    "exploding-blocksworld": "ippc08/ex-blocksworld/p01-n2-N5-s1.pddl",
    "blocksworld": "classical/blocks/task05.pddl",
}


@needs_published_files
@pytest.mark.parametrize("family", BLOCKS_FAMILIES)
def test_blocks_problem_has_the_published_form(family: str) -> None:
    theirs = published_problem(BLOCKS_PATHS[family])
    ours = [generate(family, 5, index=index) for index in range(20)]
    assert all([problem.domain] == theirs[":domain"] for problem in ours)
    assert {f[0] for problem in ours for f in init_facts(problem)} == {f[0] for f in facts(theirs[":init"])}
    assert {f[0] for problem in ours for f in goal_facts(problem)} >= {f[0] for f in published_goal(theirs)}


def normal_form(tree: Tree, names: dict[str, str]) -> Tree:
    """A condition or effect without the accidents of writing.

    Conjunctions become sets, conjunctions of one their only part, probabilities fractions, and variables are renamed.
    """
    if isinstance(tree, str):
        return names.get(tree, tree)
    if tree[0] == "and":
        parts = frozenset(normal_form(part, names) for part in tree[1:])
        return next(iter(parts)) if len(parts) == 1 else ("and", parts)
    if tree[0] == "probabilistic":
        pairs = zip(tree[1::2], tree[2::2], strict=True)
        return ("probabilistic", frozenset((Fraction(p), normal_form(effect, names)) for p, effect in pairs))
    return tuple(normal_form(part, names) for part in tree)


def domain_meaning(trees: list[Tree]) -> dict[str, Any]:
    """All that matters of a domain but its requirements, in a form that can be compared."""
    [tree] = trees
    sections = {section[0]: section[1:] for section in tree[1:] if section[0] != ":action"}
    actions = {}
    for _, name, *rest in (section for section in tree[1:] if section[0] == ":action"):
        fields = dict(zip(rest[0::2], rest[1::2], strict=True))
        parameters = typed(fields[":parameters"])
        names = {variable: f"?{position}" for position, (variable, _) in enumerate(parameters)}
        actions[name] = (
            [kind for _, kind in parameters],
            normal_form(fields[":precondition"], names),
            normal_form(fields[":effect"], names),
        )
    return {
        "name": sections["domain"],
        "types": set(typed(sections.get(":types", []))),
        "constants": set(typed(sections.get(":constants", []))),
        "predicates": {p[0]: [kind for _, kind in typed(p[1:])] for p in sections[":predicates"]},
        "actions": actions,
    }


DOMAIN_PATHS = {
    "triangle-tireworld": "triangle-tireworld",
    "cosanostra": "cosanostra",
    "prob-blocksworld": "prob-blocksworld",
    "monster": "monster",
    "exploding-blocksworld": "ippc08/ex-blocksworld",
    "blocksworld": "classical/blocks",
    "gripper": "classical/gripper",
}


@needs_published_files
@pytest.mark.parametrize("family", FAMILIES)
def test_domain_means_the_same_as_the_published_one(family: str) -> None:
    ours = domain_meaning(read_trees(domain_text(family)))
    assert ours == domain_meaning(published_trees(f"{DOMAIN_PATHS[family]}/domain.pddl"))


# --- Every family -----------------------------------------------------------------------------------------------


def test_registry_order() -> None:
    assert list(FAMILIES) == list(DOMAIN_PATHS)
    assert all(name == family.name for name, family in FAMILIES.items())


def problems(family: str) -> Iterator[Problem]:
    for size in SIZES[family]:
        for seed, index in product(range(3), range(3)) if FAMILIES[family].randomised else [(0, 0)]:
            yield generate(family, size, seed=seed, index=index)


@pytest.mark.parametrize("family", FAMILIES)
def test_problem_fits_its_domain(family: str) -> None:
    domain = domain_meaning(read_trees(domain_text(family)))
    parents = {"object": None, **dict(domain["types"])}
    for problem in problems(family):
        assert [problem.domain] == domain["name"]
        kinds = {o.name: o.type[0] for o in problem.objects} | dict(domain["constants"])
        assert len({o.name for o in problem.objects} | dict(domain["constants"]).keys()) == len(kinds)
        assert len({o.name for o in problem.objects}) == len(problem.objects)
        assert len(set(problem.init)) == len(problem.init)
        for predicate, *terms in init_facts(problem) | goal_facts(problem):
            for term, wanted in zip(terms, domain["predicates"][predicate], strict=True):
                kind: str | None = kinds[term]
                while kind != wanted:
                    assert kind is not None, f"{term} is no {wanted}"
                    kind = parents[kind]


@pytest.mark.parametrize("family", FAMILIES)
def test_goal_does_not_hold_initially(family: str) -> None:
    for problem in problems(family):
        assert goal_facts(problem)
        assert not goal_facts(problem) <= init_facts(problem)


@pytest.mark.parametrize("family", FAMILIES)
def test_same_arguments_give_the_same_problem(family: str) -> None:
    assert generate(family, 5, seed=3, index=2) == generate(family, 5, seed=3, index=2)


@pytest.mark.parametrize("family", FAMILIES)
def test_seed_and_index_matter_where_randomised(family: str) -> None:
    drawn = [generate(family, 8, seed=seed, index=index) for seed, index in product(range(4), range(4))]
    expected = len(drawn) if FAMILIES[family].randomised else 1
    assert len({problem.name for problem in drawn}) == expected
    assert len({(problem.init, problem.goal) for problem in drawn}) == expected


def test_problem_does_not_depend_on_the_hash_seed() -> None:
    script = f"from asnets.domains import generate; print([generate(f, 7, seed=1) for f in {list(FAMILIES)}])"
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def test_problem_names() -> None:
    names = [generate(family, 10, seed=3, index=1).name for family in FAMILIES]
    assert names == [
        "triangle-tire-10",
        "cosanostra-n10",
        "prob-bw-n10-s3-i1",
        "monster-n10",
        "ex-bw-n10-s3-i1",
        "blocks-n10-s3-i1",
        "gripper-n10",
    ]


def test_unknown_family_lists_the_known_ones() -> None:
    for call in (lambda: generate("towers", 3), lambda: domain_text("towers")):
        with pytest.raises(ConfigError, match=r"unknown family 'towers'.*triangle-tireworld.*gripper"):
            call()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("below", [1, 2, 50])
def test_size_out_of_range(family: str, below: int) -> None:
    size = FAMILIES[family].minimum_size - below
    with pytest.raises(ConfigError, match=f"{family}: size {size} is too small; the smallest is "):
        generate(family, size)


@pytest.mark.parametrize(
    "wrong", [{"size": None}, {"size": 2.0}, {"seed": "x"}, {"seed": True}, {"seed": float("nan")}, {"index": 1.5}]
)
def test_numbers_that_are_not_whole(wrong: dict[str, Any]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(ConfigError, match=f"gripper: {name} must be a whole number, not {value!r}"):
        generate("gripper", **{"size": 2} | wrong)


@pytest.mark.parametrize("name", ["seed", "index"])
def test_negative_seeds_and_numbers(name: str) -> None:
    with pytest.raises(ConfigError, match=f"gripper: {name} must not be negative, as -1 is"):
        generate("gripper", 2, **{name: -1})


def test_numbers_of_numpy() -> None:
    numbers: dict[str, Any] = {"seed": np.int64(3), "index": np.uint8(1)}
    assert generate("prob-blocksworld", 4, **numbers) == generate("prob-blocksworld", 4, seed=3, index=1)


def test_a_family_is_a_name() -> None:
    with pytest.raises(ConfigError, match=r"unknown family \[\]; known families: "):
        generate([], 2)  # type: ignore[arg-type]


# --- Single families --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 10, 25])
def test_triangle_has_only_its_own_locations(size: int) -> None:
    problem = generate("triangle-tireworld", size)
    mentioned = {term for atom in problem.init for term in atom.terms}
    assert len(problem.objects) == (size + 1) * (2 * size + 1)
    assert {o.name for o in problem.objects} == mentioned


def test_large_triangle() -> None:
    assert len(generate("triangle-tireworld", 100).objects) == 20_301


def test_monster_of_size_one_has_no_objects() -> None:
    assert generate("monster", 1).objects == ()


# --- Blocks states ----------------------------------------------------------------------------------------------


def is_state(below: State) -> bool:
    """Whether no two blocks stand on the same block and every block is held up by the table."""
    used = [under for under in below if under is not None]
    if len(set(used)) < len(used):
        return False
    for block in range(len(below)):
        under: int | None = block
        for _ in below:
            under = None if under is None else below[under]
        if under is not None:
            return False
    return True


def all_states(blocks: int) -> list[State]:
    return [state for state in product((None, *range(blocks)), repeat=blocks) if is_state(state)]


@pytest.mark.parametrize(("blocks", "count"), [(1, 1), (2, 3), (3, 13), (4, 73), (5, 501), (6, 4051)])
def test_counts_equal_the_number_of_states(blocks: int, count: int) -> None:
    assert state_counts(blocks)[blocks][0] == len(all_states(blocks)) == count


@pytest.mark.parametrize(("blocks", "quantile"), [(3, 32.909), (4, 114.835)])
@pytest.mark.parametrize("seed", range(5))
def test_states_are_uniform(blocks: int, quantile: float, seed: int) -> None:
    """Pearson's statistic stays below the 99.9 % quantile of χ² with (number of states - 1) degrees of freedom."""
    rng = random.Random(f"uniformity {seed}")
    states = all_states(blocks)
    draws = 200 * len(states)
    seen = Counter(random_state(blocks, rng) for _ in range(draws))
    assert set(seen) == set(states)
    expected = draws / len(states)
    assert sum((seen[state] - expected) ** 2 / expected for state in states) < quantile


def state_of(atoms: set[tuple[str, ...]], blocks: list[str]) -> State:
    """The state that the position facts describe; each block must have one position."""
    below: dict[str, int | None] = {}
    for predicate, *terms in atoms:
        if predicate in ("on", "on-table", "ontable"):
            assert terms[0] not in below
            below[terms[0]] = blocks.index(terms[1]) if predicate == "on" else None
    return tuple(below[block] for block in blocks)


@pytest.mark.parametrize("family", BLOCKS_FAMILIES)
def test_init_is_a_legal_state(family: str) -> None:
    hand = "handempty" if family == "blocksworld" else "emptyhand"
    for problem in problems(family):
        blocks = [o.name for o in problem.objects]
        init = init_facts(problem)
        state = state_of(init, blocks)
        assert is_state(state)
        assert {f[1] for f in init if f[0] == "clear"} == {b for i, b in enumerate(blocks) if i not in state}
        assert (hand,) in init
        assert not any(f[0] == "holding" for f in init)


@pytest.mark.parametrize("family", ["prob-blocksworld", "blocksworld"])
def test_goal_is_a_legal_state(family: str) -> None:
    for problem in problems(family):
        blocks = [o.name for o in problem.objects]
        state = state_of(goal_facts(problem), blocks)
        assert is_state(state)
        if family == "prob-blocksworld":
            clear = {("clear", b) for i, b in enumerate(blocks) if i not in state}
            assert {f for f in goal_facts(problem) if f[0] in ("clear", "emptyhand")} == clear | {("emptyhand",)}


def test_exploding_goal_places_half_of_the_blocks() -> None:
    for problem in problems("exploding-blocksworld"):
        placed = [f[1] for f in goal_facts(problem)]
        assert len(placed) == len(set(placed)) == (len(problem.objects) + 1) // 2
        assert {f[0] for f in goal_facts(problem)} <= {"on", "on-table"}


def test_exploding_start_is_whole() -> None:
    problem = generate("exploding-blocksworld", 4)
    whole = {(p, o.name) for p in ("no-detonated", "no-destroyed") for o in problem.objects} | {("no-destroyed-table",)}
    assert {f for f in init_facts(problem) if f[0].startswith("no-")} == whole
