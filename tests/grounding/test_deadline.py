"""Reading and grounding end when a deadline passes or a signal arrives, wherever they are, and say where that was."""

from __future__ import annotations

import math
import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import asnets
from asnets.deadline import Deadline
from asnets.errors import LimitError
from asnets.grounding import Limits, ground
from asnets.ppddl import load_task, parse_text
from asnets.ppddl.model import Domain, Problem

pytestmark = pytest.mark.native

DOMAIN = """(define (domain d)
  (:types t) (:predicates (p ?x - t) (q ?x ?y - t) (s ?x - t)) (:functions (f ?x) (total-cost))
  (:action act :parameters (?x ?y - t)
    :precondition (and (q ?x ?y) (> (f ?x) 0) (exists (?z - t) (and (q ?y ?z) (not (p ?z)))))
    :effect (and (forall (?z - t) (when (p ?z) (probabilistic 1/2 (s ?z)))) (p ?x) (increase (total-cost) (f ?x)))))
"""
PROBLEM = """(define (problem small) (:domain d) (:objects a b c - t)
  (:init (q a b) (q b c) (q c a) (= (f a) 1) (= (f b) 2) (= (f c) 3))
  (:goal (exists (?x ?y - t) (and (q ?x ?y) (p ?x) (s ?y)))) (:metric minimize (total-cost)))
"""
ENDLESS = """(define (domain d) (:predicates (p) (q ?x))
  (:action endless :parameters (?a ?b ?c ?d ?e ?f ?g) :precondition (and (p) (q ?a) (not (q ?b))) :effect (p)))
"""


class Recorder(Deadline):
    """A deadline that passes at the check of a number, and knows what was being done at each."""

    def __init__(self, passes_at: int | None = None) -> None:
        super().__init__(math.inf)
        self.checks: list[str] = []
        self._passes_at = passes_at

    def check(self, doing: str) -> None:
        self.checks.append(doing)
        if len(self.checks) - 1 == self._passes_at:
            self.cancel()
        super().check(doing)


def lifted(domain: str, problem: str) -> tuple[Domain, Problem]:
    document = parse_text(domain + problem)
    return document.domains[0], document.problems[0]


def test_every_stage_looks_at_the_deadline() -> None:
    task = lifted(DOMAIN, PROBLEM)
    recorder = Recorder()
    ground(*task, costs="metric", deadline=recorder)
    stages = list(dict.fromkeys(recorder.checks))
    for stage in (
        "grounding 'small'",
        "grounding the action schema 'act': comparing numbers",
        "grounding the action schema 'act': the atoms of (q ?x ?y)",
        "grounding 'small': numbering atoms",
        "grounding the action schema 'act': conditions",
        "grounding the effect of the action schema 'act'",
        "grounding the action schema 'act': costs",
        "grounding 'small': the goal",
        "grounding the goal: binding ?x",
        "grounding: putting effects together",
    ):
        assert stage in stages
    for number, doing in enumerate(recorder.checks):
        with pytest.raises(LimitError, match=f"was reached while {re.escape(doing)}$"):
            ground(*task, costs="metric", deadline=Recorder(number))


def test_reading(tmp_path: Path) -> None:
    domain, problem = tmp_path / "d.pddl", tmp_path / "p.pddl"
    domain.write_text(DOMAIN)
    problem.write_text(PROBLEM)
    recorder = Recorder()
    load_task(domain, problem, deadline=recorder)
    assert set(recorder.checks) == {f"reading {domain}", f"reading {problem}", f"checking {problem}"}
    for number, doing in enumerate(recorder.checks):
        with pytest.raises(LimitError, match=re.escape(doing)):
            asnets.load(domain, problem, deadline=Recorder(number))


def endless() -> tuple[Domain, Problem]:
    """Joins of 300^7 bindings, none of which is an action."""
    objects = " ".join(f"o{number}" for number in range(300))
    facts = " ".join(f"(q o{number})" for number in range(300))
    return lifted(ENDLESS, f"(define (problem big) (:domain d) (:objects {objects}) (:init (p) {facts}) (:goal (p)))")


UNLIMITED = Limits(max_join_steps=2**62)


def test_joins_look_at_the_deadline() -> None:
    class Passes(Deadline):
        """Passes once the joins have looked at it a few times."""

        looks = 0

        def check(self, doing: str) -> None:
            if "instantiating" in doing:
                self.looks += 1
                if self.looks == 3:
                    self.cancel()
            super().check(doing)

    with pytest.raises(LimitError, match=r"while grounding 'big': instantiating the action schema 'endless'$"):
        ground(*endless(), limits=UNLIMITED, deadline=Passes(math.inf))


@pytest.fixture
def interrupting() -> Iterator[threading.Event]:
    """An event upon which this process gets an interrupt."""
    begin = threading.Event()

    def interrupt() -> None:
        if begin.wait(600):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    yield begin
    begin.set()
    thread.join()


def test_joins_can_be_interrupted(interrupting: threading.Event) -> None:
    class Begins(Deadline):
        def check(self, doing: str) -> None:
            if "instantiating" in doing:
                interrupting.set()

    with pytest.raises(KeyboardInterrupt):
        ground(*endless(), limits=UNLIMITED, deadline=Begins(math.inf))


def test_joins_leave_other_threads_alone() -> None:
    """The interpreter is not held while joins run: another thread ends them."""
    begun = threading.Event()

    class Begins(Deadline):
        def check(self, doing: str) -> None:
            if "instantiating" in doing:
                begun.set()
            super().check(doing)

    deadline = Begins(math.inf)

    def end() -> None:
        if begun.wait(600):
            deadline.cancel()

    thread = threading.Thread(target=end)
    thread.start()
    with pytest.raises(LimitError, match=r"instantiating the action schema 'endless'$"):
        ground(*endless(), limits=UNLIMITED, deadline=deadline)
    thread.join()
