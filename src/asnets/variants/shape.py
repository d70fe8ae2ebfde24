"""What problems of a domain look like, learnt from states of the given ones, so that made ones look alike.

PPDDL does not say which initial states make sense: a block that stands nowhere, or two vehicles where there was one,
is allowed. What all states of the given problems have in common is taken for what a state must have:

* An object takes part in facts as some object of its sort did: the pairs of predicate and position in which it occurs,
  those of facts that never change and those of facts that do, each as a whole. Facts without arguments that change
  belong to the latter of every object, so that nothing is held while the hand is empty.
* Where no object was at a position of a predicate twice, none is; where a predicate never had two facts, it has no two;
  where it always had one, it has one.

The sort of an object is its type, with the predicates of one argument that hold of it and never change, which stand for
types in domains that have none. These are necessary conditions seen in samples, not invariants that are proved. Whether
a problem that meets them can be solved is for a teacher to say.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.grounding.lifting import problem_at
from asnets.loading import LoadedTask
from asnets.ppddl.model import Atom, Domain, Problem
from asnets.variants.walks import DRAWN_ACTIONS, MOST_STEPS, Walk, Walker

Position = tuple[str, int]
"""A predicate and the position of an argument; -1 for a fact without arguments."""
Profile = frozenset[Position]
Sort = tuple[str, ...]
_WALKS = 4
"""Of each kind on each problem, to see states."""


@dataclass
class Shape:
    """What was seen in states of problems of one domain.

    Attributes:
        changing: The predicates with facts that change.
        profiles: For each sort, where its objects occur in facts that never change, and in those that do.
        repeated: The positions at which an object was more than once.
        several: The predicates that had several facts at once.
        always: The predicates that had a fact in every state; None before one was seen.
    """

    domain: Domain
    changing: frozenset[str]
    profiles: dict[Sort, tuple[set[Profile], set[Profile]]] = field(default_factory=dict)
    repeated: set[Position] = field(default_factory=set)
    several: set[str] = field(default_factory=set)
    always: set[str] | None = None

    @classmethod
    def of(cls, given: Sequence[LoadedTask], seed: int, deadline: Deadline = NO_DEADLINE) -> Shape:
        """The shape of problems of one domain, from walks on them."""
        changing = frozenset(
            slot.predicate
            for loaded in given
            for schema in loaded.task.schemas
            for slot in schema.slots
            if "effect" in slot.sources
        )
        shape = cls(given[0].domain, changing)
        for number, loaded in enumerate(given):
            walker = Walker(loaded.task)
            shape._see(loaded.problem)
            for turn in range(2 * _WALKS):
                walk = Walk(MOST_STEPS // 2, DRAWN_ACTIONS if turn % 2 else 1)
                for state in walker.states(walk, random.Random(f"{seed}/shape/{number}/{turn}"), deadline):
                    shape._see(problem_at(loaded.problem, loaded.task, state, "seen"))
        return shape

    def sorts(self, problem: Problem) -> dict[str, Sort]:
        """The sort of each object of a problem and of each constant."""
        unary: dict[str, set[str]] = {}
        for fact in problem.init:
            if len(fact.terms) == 1 and fact.predicate not in self.changing:
                unary.setdefault(fact.terms[0], set()).add(fact.predicate)
        items = (*self.domain.constants, *problem.objects)
        return {item.name: (*item.type, *sorted(unary.get(item.name, ()))) for item in items}

    def admits(self, problem: Problem) -> bool:
        """Whether the initial state of a problem looks like the states that were seen."""
        counts = Counter(fact.predicate for fact in problem.init)
        if any(number > 1 and name not in self.several for name, number in counts.items()):
            return False
        if self.always is None or not self.always <= counts.keys():
            return False
        if any(number > 1 and place[1:] not in self.repeated for place, number in _places(problem.init).items()):
            return False
        seen = self.profiles
        return all(
            sort in seen and fixed in seen[sort][0] and changing in seen[sort][1]
            for sort, fixed, changing in self._profiles(problem)
        )

    def _see(self, problem: Problem) -> None:
        counts = Counter(fact.predicate for fact in problem.init)
        self.several.update(name for name, number in counts.items() if number > 1)
        self.always = set(counts) if self.always is None else self.always & counts.keys()
        self.repeated.update(place[1:] for place, number in _places(problem.init).items() if number > 1)
        for sort, fixed, changing in self._profiles(problem):
            of_sort = self.profiles.setdefault(sort, (set(), set()))
            of_sort[0].add(fixed)
            of_sort[1].add(changing)

    def _profiles(self, problem: Problem) -> Iterable[tuple[Sort, Profile, Profile]]:
        everywhere = {(fact.predicate, -1) for fact in problem.init if not fact.terms}
        fixed: dict[str, set[Position]] = {}
        changing: dict[str, set[Position]] = {}
        for fact in problem.init:
            places = changing if fact.predicate in self.changing else fixed
            for position, term in enumerate(fact.terms):
                places.setdefault(term, set()).add((fact.predicate, position))
        for name, sort in self.sorts(problem).items():
            yield sort, frozenset(fixed.get(name, ())), frozenset(changing.get(name, set()) | everywhere)


def _places(facts: Iterable[Atom]) -> Counter[tuple[str, str, int]]:
    """How often each object is at each position of each predicate."""
    return Counter((term, fact.predicate, position) for fact in facts for position, term in enumerate(fact.terms))
