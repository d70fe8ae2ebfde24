"""A Hypothesis strategy for stochastic shortest-path problems that are hard on planners.

`ssps()` draws tasks with one robot on a graph of places, some flags that multiply the state space, and costs that are
not all 1, some of them fractions. Shape and dangers of a task are drawn by Hypothesis, so that failures shrink; roads
and numbers come from a seed that is drawn as well, which keeps generation fast.

| part | what it is good for |
|---|---|
| `walk-i`: roads with outcomes, some conditional on flags, some that may change nothing | cycles, self-loops |
| `toggle-i`: conditional probabilistic effects on flags | the state space times the number of flags |
| `wait`: changes nothing | actions that are never of use |
| `cross`: the only way from the places of the start to those of the goal | dead ends that cannot be avoided |
| `slip`: a road on which one may fall into a trap | dead ends that can be avoided, at a cost |
| `circle`, `climb-out`: a ring; leaving it needs the robot at two places at once | traps that hmax does not see |
| `finish`: needs a token, which `cross` or `slip` may take; `forge` needs the robot at two places at once | the same |
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from asnets.ppddl.model import (
    NOTHING,
    Action,
    And,
    AndEffect,
    Atom,
    Change,
    Condition,
    Domain,
    Effect,
    ForallEffect,
    Function,
    FunctionTerm,
    FunctionValue,
    Literal,
    Metric,
    Not,
    Number,
    Predicate,
    Probabilistic,
    Problem,
    TypedName,
    When,
)

FLAGS = ("lamp", "wet", "loaded")
COSTS = tuple(Fraction(text) for text in ("1", "2", "3", "5", "1/2", "5/4", "1/3", "2.75"))
MAIN = tuple(Fraction(text) for text in ("1/2", "3/4", "0.9", "1/3", "2/7", "0.2"))
TOKEN = Atom("token")


@dataclass(frozen=True)
class _Shape:
    """What Hypothesis draws.

    Attributes:
        near: Places on the side of the start; likewise `far`, on that of the goal.
        crossing: What else may happen on the way from one side to the other.
        slips: Roads on which one may fall into a trap.
        trap: What becomes of those that fall.
        token: Whether the token that the goal needs is there at first.
        unit: Whether all costs are 1.
        nested: Whether there are costs inside `when`, `forall` and `probabilistic` too. All actions still cost
            something in every state.
        zeros: Whether half of the costs are 0.
    """

    near: int
    far: int
    flags: int
    walks: int
    crossing: str
    slips: int
    trap: str
    token: bool
    wait: bool
    unit: bool
    nested: bool
    zeros: bool
    seed: int


@dataclass
class _Parts:
    """The task, as far as it is built."""

    init: list[Atom] = field(default_factory=list)
    values: list[FunctionValue] = field(default_factory=list)
    predicates: dict[str, int] = field(default_factory=dict)
    functions: dict[str, int] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)


def _at(place: str) -> Atom:
    return Atom("at", (place,))


def _go(source: str, target: str) -> AndEffect:
    return AndEffect((Literal(_at(source), False), Literal(_at(target))))


class _Builder:
    def __init__(self, shape: _Shape) -> None:
        self.shape = shape
        self.random = random.Random(shape.seed)
        self.costs = COSTS + (Fraction(0),) * len(COSTS) if shape.zeros else COSTS
        self.near = [f"n{i}" for i in range(shape.near)]
        self.far = [f"f{i}" for i in range(shape.far)]
        self.ring = [f"r{i}" for i in range(3)] if shape.trap == "ring" else []
        self.pit = ["pit"] if shape.trap == "pit" else []
        self.flags = [Atom(flag) for flag in FLAGS[: shape.flags]]
        self.parts = _Parts()

    def task(self) -> tuple[Domain, Problem]:
        parts = self.parts
        parts.predicates["at"] = 1
        parts.predicates |= {flag.predicate: 0 for flag in self.flags}
        parts.predicates["token"] = 0
        parts.functions["total-cost"] = 0
        parts.init += [_at("n0"), TOKEN] if self.shape.token else [_at("n0")]
        parts.init += [flag for flag in self.flags if self.random.random() < 0.5]
        for number in range(self.shape.walks):
            self._walk(number)
        for number in range(self.shape.flags):
            self._toggle(number)
        self._cross()
        if self.shape.slips:
            self._slip()
        if self.ring:
            self._trap_ring()
        self._finish()
        if self.shape.wait:
            self._action("wait", "spot", [[place] for place in self.random.sample(self.near, 2)], [], NOTHING)
        places = [*self.near, *self.far, *self.ring, *self.pit, "home"]
        domain = Domain(
            name="ssp",
            requirements=(":adl", ":probabilistic-effects", ":fluents"),
            predicates=tuple(Predicate(name, _parameters(arity)) for name, arity in parts.predicates.items()),
            functions=tuple(Function(name, _parameters(arity)) for name, arity in parts.functions.items()),
            actions=tuple(parts.actions),
        )
        problem = Problem(
            name="random-ssp",
            domain="ssp",
            objects=tuple(TypedName(place) for place in places),
            init=tuple(dict.fromkeys(parts.init)),
            values=tuple(parts.values),
            goal=_at("home"),
            metric=Metric(False, FunctionTerm("total-cost")),
        )
        return domain, problem

    def _action(self, name: str, relation: str, rows: list[list[str]], also: list[Condition], effect: Effect) -> None:
        """An action on the rows of a static relation, from ?a, with a cost of its own or one for each row."""
        arity = len(rows[0])
        self.parts.predicates[relation] = arity
        self.parts.init += [Atom(relation, tuple(row)) for row in rows]
        variables = tuple(f"?{letter}" for letter in "abcd"[:arity])
        if self.shape.unit:
            amount: Number | FunctionTerm = Number(Fraction(1))
        elif self.random.random() < 0.5:
            amount = Number(self.random.choice(self.costs))
        else:
            function = f"{relation}-cost"
            self.parts.functions[function] = arity
            amount = FunctionTerm(function, variables)
            for row in dict.fromkeys(map(tuple, rows)):
                value = FunctionValue(FunctionTerm(function, row), self.random.choice(self.costs))
                self.parts.values.append(value)
        if self.shape.nested:
            effect = self._with_costs(effect)
        self.parts.actions.append(
            Action(
                name,
                tuple(TypedName(variable) for variable in variables),
                And((_at("?a"), Atom(relation, variables), *also)),
                AndEffect((effect, Change(True, "total-cost", amount))),
            )
        )

    def _with_costs(self, effect: Effect) -> Effect:
        """The effect with changes of the cost in some of its parts; one of them may be a discount."""

        def spread(part: Effect) -> Effect:
            match part:
                case AndEffect(parts):
                    part = AndEffect(tuple(map(spread, parts)))
                case When(condition, body):
                    part = When(condition, spread(body))
                case Probabilistic(outcomes):
                    part = Probabilistic(tuple((share, spread(outcome)) for share, outcome in outcomes))
                case _:
                    pass
            if self.random.random() < 0.3:
                part = AndEffect((part, Change(True, "total-cost", Number(self.random.choice(COSTS)))))
            return part

        extras = [spread(effect)]
        if self.random.random() < 0.5:
            discount = Change(False, "total-cost", Number(self.random.choice((Fraction(1, 4), Fraction(1, 8)))))
            extras.append(When(self._literal(), discount))
        if self.random.random() < 0.5:
            each = When(_at("?p"), Change(True, "total-cost", Number(self.random.choice(COSTS))))
            extras.append(ForallEffect((TypedName("?p"),), each))
        return AndEffect(tuple(extras))

    def _literal(self) -> Condition:
        flag = self.random.choice(self.flags)
        return flag if self.random.random() < 0.5 else Not(flag)

    def _flag_effect(self) -> Effect:
        return Literal(self.random.choice(self.flags), self.random.random() < 0.5)

    def _walk(self, number: int) -> None:
        """Roads within each side; the first kind makes a cycle of each, so that all places are reached."""
        rows = []
        for side in (self.near, self.far):
            for i, place in enumerate(side):
                others = [other for other in side if other != place]
                if number == 0:
                    rows.append([place, side[(i + 1) % len(side)], self.random.choice(others)])
                elif i == 0 or self.random.random() < 0.5:
                    rows.append([place, self.random.choice(others), self.random.choice(others)])
        main = self.random.choice(MAIN)
        first: Effect = _go("?a", "?b")
        second: Effect = _go("?a", "?c")
        if self.random.random() < 0.5:
            second = AndEffect((second, self._flag_effect()))
        rest = self.random.choice((Fraction(0), (1 - main) / 2, 1 - main))  # What is left changes nothing.
        chance = Probabilistic(((main, first), (rest, second)) if rest else ((main, first),))
        condition = self._literal()
        kind = self.random.choice(("certain", "chance", "when", "either"))
        if number == 1:
            kind = "either"
        effects: dict[str, Effect] = {
            "certain": first,
            "chance": chance,
            "when": AndEffect((When(condition, chance), When(_negation(condition), first))),
            "either": AndEffect(
                (When(condition, chance), When(_negation(condition), Probabilistic(((main, second),))))
            ),
        }
        also = [self._literal()] if number > 1 and self.random.random() < 0.3 else []
        self._action(f"walk-{number}", f"road-{number}", rows, also, effects[kind])

    def _toggle(self, number: int) -> None:
        flag = self.flags[number]
        main = self.random.choice(MAIN)
        effect = AndEffect(
            (
                When(flag, Probabilistic(((main, Literal(flag, False)),))),
                When(
                    Not(flag), Probabilistic(((main, Literal(flag)),)) if self.random.random() < 0.7 else Literal(flag)
                ),
            )
        )
        spots = self.random.sample(self.near, 2) + self.random.sample(self.far, 1)
        self._action(f"toggle-{number}", f"switch-{number}", [[spot] for spot in spots], [], effect)

    def _fall(self, variable: str) -> Effect:
        """What happens to those that fall; ?d is the place where they land, if there is one."""
        if self.shape.trap == "token":
            return AndEffect((_go("?a", variable), Literal(TOKEN, False)))
        return _go("?a", "?d")

    def _landing(self) -> str:
        return self.random.choice(self.ring or self.pit or self.far)

    def _cross(self) -> None:
        rows = [
            [place, self.random.choice(self.far), self.random.choice(self.near), self._landing()]
            for place in self.random.sample(self.near, 2)
        ]
        rows = [row if row[0] != row[2] else [row[0], row[1], row[1], row[3]] for row in rows]
        main = self.random.choice(MAIN)
        arrive = _go("?a", "?b")
        match self.shape.crossing:
            case "safe":
                effect: Effect = Probabilistic(((main, arrive), ((1 - main) / 2, _go("?a", "?c"))))
            case "risky":
                effect = Probabilistic(((main, arrive), ((1 - main) / 2, self._fall("?b"))))
            case _:  # More risky where some flag is as it should not be.
                condition = self._literal()
                effect = AndEffect(
                    (
                        When(condition, Probabilistic(((main, arrive), (1 - main, self._fall("?b"))))),
                        When(
                            _negation(condition),
                            Probabilistic(((Fraction("0.9"), arrive), (Fraction("0.05"), self._fall("?b")))),
                        ),
                    )
                )
        self._action("cross", "bridge", rows, [], effect)

    def _slip(self) -> None:
        """Dear or cheap as they may be, one can do without these roads."""
        places = [*self.near, *self.far]
        rows = []
        for place in self.random.sample(places, min(self.shape.slips, len(places))):
            side = [other for other in (self.near if place in self.near else self.far) if other != place]
            rows.append([place, self.random.choice(side), self.random.choice(side), self._landing()])
        if self.shape.trap == "token":
            rows = [[*row[:3], row[1]] for row in rows]
        main = self.random.choice(MAIN)
        self._action("slip", "ice", rows, [], Probabilistic(((main, _go("?a", "?b")), (1 - main, self._fall("?c")))))

    def _trap_ring(self) -> None:
        """Round and round. Leaving the ring needs the robot at two of its places: impossible, but not if relaxed."""
        ring = self.ring
        rows = [[place, ring[(i + 1) % len(ring)], ring[i - 1]] for i, place in enumerate(ring)]
        effect = Probabilistic(((self.random.choice(MAIN), _go("?a", "?b")), (Fraction(1, 10), _go("?a", "?c"))))
        self._action("circle", "arc", rows, [], effect)
        self._action("climb-out", "ladder", [[ring[0], ring[1], self.far[0]]], [_at("?b")], _go("?a", "?c"))

    def _finish(self) -> None:
        gates = self.random.sample(self.far, min(2, len(self.far)))
        arrive = _go("?a", "?b")
        effect = Probabilistic(((self.random.choice(MAIN), arrive),)) if self.random.random() < 0.5 else arrive
        rows = [[gate, "home"] for gate in gates]
        self._action("finish", "gate", rows, [TOKEN], effect)
        if self.shape.trap == "token":
            one, two = self.random.sample(self.far, 2)
            self._action("forge", "anvil", [[one, two]], [_at("?b")], Literal(TOKEN))


def _parameters(arity: int) -> tuple[TypedName, ...]:
    return tuple(TypedName(f"?x{i}") for i in range(arity))


def _negation(condition: Condition) -> Condition:
    return condition.body if isinstance(condition, Not) else Not(condition)


def ssps(*, nested: bool = False, zeros: bool = False, max_places: int = 12) -> SearchStrategy[tuple[Domain, Problem]]:
    """Tasks of some 20 to 300 reachable states; to be grounded with `costs="metric"`.

    Args:
        nested: Whether what actions cost depends on the state.
        zeros: Whether half of the costs are 0, so that there are end components in which one pays nothing.
        max_places: Of each side; 3 at least.
    """
    return _ssps(nested, zeros, max_places)


@st.composite
def _ssps(draw: DrawFn, nested: bool, zeros: bool, max_places: int) -> tuple[Domain, Problem]:
    shape = _Shape(
        near=draw(st.integers(3, max_places)),
        far=draw(st.integers(3, max_places)),
        flags=draw(st.sampled_from((2, 3, 1))),
        walks=draw(st.integers(2, 4)),
        crossing=draw(st.sampled_from(("risky", "when", "safe", "safe"))),
        slips=draw(st.sampled_from((1, 2, 3, 4, 0))),
        trap=draw(st.sampled_from(("ring", "token", "pit", "ring", "token"))),
        token=draw(st.sampled_from((True,) * 11 + (False,))),
        wait=draw(st.booleans()),
        unit=draw(st.integers(0, 9)) == 9,
        nested=nested,
        zeros=zeros,
        seed=draw(st.integers(0, 2**32 - 1)),
    )
    return _Builder(shape).task()


__all__ = ["ssps"]
