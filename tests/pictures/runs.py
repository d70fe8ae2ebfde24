"""Shared by the tests of pictures: tasks, and policies that need no training."""

from __future__ import annotations

from pathlib import Path

from asnets import Policy, load
from asnets.domains import domain_text, generate
from asnets.grounding import GroundTask, ground
from asnets.network import NetworkConfig
from asnets.ppddl import parse_text, write_problem
from tests.network.building import random_network
from tests.support import PUBLISHED


def family_task(family: str, size: int) -> GroundTask:
    document = parse_text(domain_text(family) + write_problem(generate(family, size)))
    return ground(document.domains[0], document.problems[0])


def published_task(folder: str, problem: str) -> GroundTask:
    domain: Path = PUBLISHED / folder / "domain.pddl"
    return load(domain, f"{PUBLISHED / folder}/{problem}")


def random_policy(task: GroundTask, seed: int = 0) -> Policy:
    """A policy of a small network that has learnt nothing."""
    return Policy(random_network(task, NetworkConfig(layers=1, hidden=4, features=()), seed=seed), {})


ODD_TIRES = """
(:predicates (lane ?to ?from) (flat) (kit ?x) (car ?x))
(:action drive :parameters (?to ?from) :precondition (and (car ?from) (lane ?to ?from) (not (flat)))
 :effect (and (probabilistic 1/3 (flat)) (car ?to) (not (car ?from))))
(:action mend :parameters (?x) :precondition (and (kit ?x) (car ?x)) :effect (and (not (flat)) (not (kit ?x))))
"""
ODD_TIRES_PROBLEM = """
(:objects home work shop park - object)
(:init (car home) (lane shop home) (lane work shop) (lane work home) (lane park work) (lane work park) (kit shop))
(:goal (car work))
"""
"""A tireworld with other names, the road backwards, and a tire that is flat where it was intact."""
