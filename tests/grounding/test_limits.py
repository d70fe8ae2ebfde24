"""Grounding that would grow too large stops early and says which schema it was."""

from __future__ import annotations

from math import prod

import pytest

from asnets.errors import LimitError
from asnets.grounding import Limits, ground
from asnets.ppddl import parse_text
from benchmarks.grounding import coloured_tower, sysadmin
from tests.cli.running import run
from tests.support import ground_text, precondition_text

pytestmark = pytest.mark.native


def objects(count: int) -> str:
    return f"(:objects {' '.join(f'o{number}' for number in range(count))})"


def refusal(domain: str, problem: str, limits: Limits | None = None, costs: str = "unit") -> str:
    with pytest.raises(LimitError) as caught:
        ground_text(domain, problem, limits=limits, costs=costs)
    return str(caught.value)


# --- The defaults refuse what does not fit into memory ------------------------------------------------------------


def test_action_with_many_free_parameters() -> None:
    """300^8 ground actions."""
    domain = "(:predicates (p)) (:action wild :parameters (?a ?b ?c ?d ?e ?f ?g ?h) :effect (p))"
    assert refusal(domain, f"{objects(300)} (:goal (p))") == (
        "grounding stopped: the action schema 'wild' needs more ground actions, over the limit of 5,000,000"
    )


def test_universal_effect_on_very_many_atoms() -> None:
    """300^4 atoms that one action adds."""
    domain = "(:predicates (q ?a ?b ?c ?d)) (:action flood :effect (forall (?a ?b ?c ?d) (q ?a ?b ?c ?d)))"
    assert refusal(domain, f"{objects(300)} (:goal (and))") == (
        "grounding stopped: the action schema 'flood' needs more ground atoms, over the limit of 10,000,000"
    )


def test_quantified_goal() -> None:
    domain = "(:predicates (q ?a ?b ?c ?d)) (:action touch :parameters (?a) :effect (q ?a ?a ?a ?a))"
    for quantifier in ("forall", "exists"):
        goal = f"({quantifier} (?a ?b ?c ?d) (q ?a ?b ?c ?d))"
        assert refusal(domain, f"{objects(300)} (:goal {goal})") == (
            "grounding stopped: the goal needs 32,400,000,000 array entries, over the limit of 100,000,000"
        )


def test_slot_with_very_many_instances() -> None:
    """The condition is static and never holds, but its slot would have 300^4 instances."""
    domain = """
      (:predicates (p) (q ?a ?b ?c ?d) (never))
      (:action look :effect (when (and (never) (exists (?a ?b ?c ?d) (q ?a ?b ?c ?d))) (p)))
    """
    assert refusal(domain, f"{objects(300)} (:goal (p))") == (
        "grounding stopped: the action schema 'look' needs 32,400,000,000 array entries, over the limit of 100,000,000"
    )


def test_costs_of_a_universal_effect() -> None:
    domain = """
      (:predicates (p)) (:functions (total-cost))
      (:action pay :effect (forall (?a ?b ?c ?d) (increase (total-cost) 1)))
    """
    problem = f"{objects(300)} (:goal (p)) (:metric minimize (total-cost))"
    assert refusal(domain, problem, costs="metric").startswith("grounding stopped: the action schema 'pay' needs ")


# --- Each limit, to the point -------------------------------------------------------------------------------------

PAIRS = """
  (:predicates (q ?a ?b) (p))
  (:action one :parameters (?a) :effect (p))
  (:action two :parameters (?a ?b) :precondition (not (= ?a ?b)) :effect (q ?a ?b))
"""


def test_max_actions_names_the_schema() -> None:
    problem = f"{objects(10)} (:goal (p))"
    assert refusal(PAIRS, problem, Limits(max_actions=9)) == (
        "grounding stopped: the action schema 'one' needs more ground actions, over the limit of 9"
    )
    assert refusal(PAIRS, problem, Limits(max_actions=89)) == (
        "grounding stopped: the action schema 'two' needs more ground actions, over the limit of 89"
    )


def test_max_actions_counts_all_schemas_together() -> None:
    problem = f"{objects(10)} (:goal (p))"
    assert refusal(PAIRS, problem, Limits(max_actions=99)) == (
        "grounding stopped: the action schema 'two' needs more ground actions, over the limit of 99"
    )
    assert ground_text(PAIRS, problem, limits=Limits(max_actions=100)).num_actions == 100


def test_max_actions_does_not_count_what_cannot_be_reached() -> None:
    domain = """
      (:predicates (at ?a) (next ?a ?b))
      (:action go :parameters (?a ?b) :precondition (and (at ?a) (next ?a ?b)) :effect (at ?b))
    """
    links = " ".join(f"(next o{number} o{number + 1})" for number in range(49))
    problem = f"{objects(50)} (:init (at o45) {links}) (:goal (at o49))"
    assert ground_text(domain, problem, limits=Limits(max_actions=4)).num_actions == 4
    assert "'go' needs more ground actions" in refusal(domain, problem, Limits(max_actions=3))


FLOOD = "(:predicates (q ?a ?b)) (:action flood :effect (forall (?a ?b) ({effect})))"


@pytest.mark.parametrize(("effect", "init"), [("q ?a ?b", ""), ("not (q ?a ?b)", "(q o0 o1)")])
def test_max_atoms(effect: str, init: str) -> None:
    domain, problem = FLOOD.format(effect=effect), f"{objects(10)} (:init {init}) (:goal (and))"
    assert refusal(domain, problem, Limits(max_atoms=99)) == (
        "grounding stopped: the action schema 'flood' needs more ground atoms, over the limit of 99"
    )
    assert ground_text(domain, problem, limits=Limits(max_atoms=100)).num_actions == 1


def test_max_atoms_of_every_predicate_of_an_effect() -> None:
    domain = """
      (:predicates (p) (q ?a ?b))
      (:action flood :effect (forall (?a ?b) (and (p) (q ?a ?b))))
    """
    assert refusal(domain, f"{objects(10)} (:goal (p))", Limits(max_atoms=99)) == (
        "grounding stopped: the action schema 'flood' needs more ground atoms, over the limit of 99"
    )


def test_max_atoms_of_unconditional_effects() -> None:
    domain = "(:predicates (q ?a ?b)) (:action put :parameters (?a ?b) :effect (q ?a ?b))"
    assert refusal(domain, f"{objects(10)} (:goal (and))", Limits(max_atoms=99)) == (
        "grounding stopped: the action schema 'put' needs more ground atoms, over the limit of 99"
    )


def test_max_entries_of_quantified_conditions() -> None:
    domain = """
      (:predicates (q ?a ?b) (p))
      (:action put :parameters (?a ?b) :effect (q ?a ?b))
      (:action check :parameters (?a) :precondition (forall (?b ?c) (or (q ?a ?b) (q ?b ?c))) :effect (p))
    """
    problem = f"{objects(20)} (:goal (p))"
    # The slot (q ?b ?c) has 400 instances; the precondition has 20 × 400 bindings of three variables.
    message = refusal(domain, problem, Limits(max_entries=8_000))
    assert message.startswith("grounding stopped: the action schema 'check' needs ")
    assert message.endswith(" array entries, over the limit of 8,000")
    assert ground_text(domain, problem, limits=Limits(max_entries=24_000)).num_actions == 420


def test_max_entries_of_effects() -> None:
    domain = "(:predicates (q ?a ?b)) (:action put :parameters (?a ?b) :effect (forall (?c) (and (q ?a ?c) (q ?c ?b))))"
    message = refusal(domain, f"{objects(20)} (:goal (and))", Limits(max_entries=10_000))
    assert message.startswith("grounding stopped: the action schema 'put' needs ")


def test_max_join_steps() -> None:
    domain = """
      (:predicates (q ?a ?b) (r ?a ?b) (p))
      (:action cheap :parameters (?a) :effect (p))
      (:action join :parameters (?a ?b ?c ?d) :precondition (and (q ?a ?b) (q ?c ?d) (r ?a ?d)) :effect (p))
    """
    facts = " ".join(f"(q o{a} o{b})" for a in range(20) for b in range(20))
    problem = f"{objects(20)} (:init {facts}) (:goal (p))"
    assert refusal(domain, problem, Limits(max_join_steps=15)) == (
        "grounding stopped: the action schema 'cheap' needs more partial instances, over the limit of 15"
    )
    assert ground_text(domain, problem, limits=Limits(max_join_steps=1_000)).num_actions == 20

    unordered = domain.replace("(and (q ?a ?b) (q ?c ?d) (r ?a ?d))", "(and (q ?a ?b) (q ?c ?d) (not (q ?a ?d)))")
    assert refusal(unordered, problem, Limits(max_join_steps=10_000)) == (
        "grounding stopped: the action schema 'join' needs more partial instances, over the limit of 10,000"
    )


def test_max_join_steps_counts_quantified_conditions() -> None:
    """Bindings of quantified variables are looked at one by one, too, and each may be waited for."""
    domain = """
      (:predicates (q ?a ?b ?c) (p))
      (:action hope :precondition (exists (?a ?b ?c) (q ?a ?b ?c)) :effect (p))
      (:action make :parameters (?a) :precondition (p) :effect (q ?a ?a ?a))
    """
    assert refusal(domain, f"{objects(50)} (:goal (p))", Limits(max_join_steps=100_000)) == (
        "grounding stopped: the action schema 'hope' needs more partial instances, over the limit of 100,000"
    )


def test_limits_larger_than_any_machine_number() -> None:
    limits = Limits(max_actions=10**30, max_atoms=10**30, max_entries=10**30, max_join_steps=10**30)
    assert ground_text(PAIRS, f"{objects(10)} (:goal (p))", limits=limits).num_actions == 100


# --- The command line ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["inspect", "simulate"])
def test_exit_code(command: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("limits") / "task.pddl"
    path.write_text(f"(define (domain d) {PAIRS}) (define (problem p) (:domain d) {objects(10)} (:goal (p)))")
    result = run(command, path, "--max-actions", "50")
    assert result.returncode == 4
    assert result.stderr == (
        "error: grounding stopped: the action schema 'two' needs more ground actions, over the limit of 50\n"
    )
    assert result.stdout == ""


def test_max_waiting_counts_instances_whose_condition_is_not_yet_possible() -> None:
    domain = """
      (:predicates (q ?a ?b) (z) (go))
      (:action wait :parameters (?a ?b) :precondition (or (q ?a ?b) (z)) :effect (go))
      (:action never :parameters (?a ?b) :precondition (z) :effect (q ?a ?b))
    """
    problem = f"{objects(10)} (:goal (go))"
    # (z) is static, so that each of the 100 pairs waits for its (q ?a ?b) alone.
    assert ground_text(domain, problem, limits=Limits(max_waiting=100)).num_actions == 0
    assert refusal(domain, problem, Limits(max_waiting=99)) == (
        "grounding stopped: the action schema 'wait' needs more instances to wait for their condition, "
        "over the limit of 99"
    )


# --- What fits ----------------------------------------------------------------------------------------------------


def test_effects_of_all_actions_on_all_objects() -> None:
    """As many machines as actions: neither blocks nor joins grow with the square of blocks or the cube of joins."""
    size = 60
    document = parse_text(sysadmin(size))
    task = ground(document.domains[0], document.problems[0], limits=Limits(max_join_steps=20 * size**2))
    assert task.num_actions == size
    assert {len(task.block_factors[int(block)]) for block in task.action_block} == {2 * size - 1}
    assert len(task.block_guard) <= 6 * size
    assert len(task.factor_blocks) <= 4 * size


@pytest.mark.parametrize(("size", "colours"), [(8, 4), (10, 5)])
def test_goal_of_quantifiers_inside_each_other(size: int, colours: int) -> None:
    """A binding of all blocks that does not have the colours is never made: there are 8^8 of them."""
    document = parse_text(coloured_tower(size, colours))
    task = ground(document.domains[0], document.problems[0], limits=Limits(max_entries=200_000))
    (clause,) = task.condition_clauses[task.goal]
    per_colour = [sum(index % colours == colour for index in range(size)) for colour in range(colours)]
    assert len(task.clause_conditions[int(clause)]) == prod(count**count for count in per_colour)


@pytest.mark.parametrize(
    ("quantifier", "body", "count", "precondition"),
    [
        ("exists", "(and (n ?a ?b) (n ?b ?c) (n ?c ?d) (n ?d ?e) (not (p ?e)))", 36, "(not (p o7))"),
        ("forall", "(imply (and (n ?a ?b) (n ?b ?c) (n ?c ?d) (n ?d ?e)) (p ?e))", 40, "(p o7)"),
    ],
)
def test_quantifiers_inside_each_other_in_a_precondition(
    quantifier: str, body: str, count: int, precondition: str
) -> None:
    """Reachability joins them too: 40^4 bindings would be over the limit."""
    nested = " ".join(f"({quantifier} ({name})" for name in ("?b", "?c", "?d", "?e")) + f" {body}))))"
    facts = " ".join(f"(n o{number} o{number + 1})" for number in range(39))
    task = ground_text(
        f"(:predicates (p ?x) (n ?x ?y)) (:action act :parameters (?a) :precondition {nested} :effect (p ?a))",
        f"{objects(40)} (:init {facts}) (:goal (p o0))",
        limits=Limits(max_join_steps=10_000),
    )
    assert task.num_actions == count
    assert precondition_text(task, "(act o3)") == precondition
