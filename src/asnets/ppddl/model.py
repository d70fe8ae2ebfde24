"""The lifted task as written: domains and problems as frozen trees.

Equality is structural and ignores where a node stood in its file: the field `at` (an index into the tokens of the
`Source` that `Domain.source` / `Problem.source` hold) is there for error messages only. All names are lower-case;
a term is a plain string, a variable if it starts with "?". A *type* is a tuple of type names: one name, or the
alternatives of `(either …)`; `("object",)` where none was written.

| here | PPDDL |
|---|---|
| `Atom`, `Equals`, `Comparison`, `Not`, `And`, `Or`, `Imply`, `Forall`, `Exists` | conditions and goals |
| `Literal`, `AndEffect`, `ForallEffect`, `When`, `Probabilistic`, `Change` | effects |
| `Number`, `FunctionTerm`, `Arithmetic` | numeric expressions, in costs, comparisons and metrics |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asnets.ppddl.source import Source

OBJECT = "object"
Type = tuple[str, ...]


def is_variable(term: str) -> bool:
    return term.startswith("?")


@dataclass(frozen=True, slots=True)
class TypedName:
    """A variable, object or constant with its type."""

    name: str
    type: Type = (OBJECT,)
    at: int = field(default=-1, compare=False, repr=False)
    type_at: int = field(default=-1, compare=False, repr=False)


# --- Conditions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Atom:
    """`(predicate term …)`; a nullary atom may be written without parentheses.

    Term i stands at token `at + 2 + i`.
    """

    predicate: str
    terms: tuple[str, ...] = ()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Equals:
    left: str
    right: str
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    body: Condition
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Condition, ...] = ()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Condition, ...] = ()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Imply:
    premise: Condition
    conclusion: Condition
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Forall:
    variables: tuple[TypedName, ...]
    body: Condition
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Exists:
    variables: tuple[TypedName, ...]
    body: Condition
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`(< a b)` and the like, or `(= a b)` of numbers."""

    operator: str
    left: Expression
    right: Expression
    at: int = field(default=-1, compare=False, repr=False)


Condition = Atom | Equals | Comparison | Not | And | Or | Imply | Forall | Exists
TRUE = And(())


# --- Numeric expressions ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    value: Fraction
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionTerm:
    """`(function term …)`, e.g. `(distance ?a ?b)`, `(total-cost)` or `(reward)`; positions as in `Atom`."""

    name: str
    terms: tuple[str, ...] = ()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`(+ a b …)`, `(* a b …)`, `(- a)`, `(- a b)`, `(/ a b)`."""

    operator: str
    operands: tuple[Expression, ...]
    at: int = field(default=-1, compare=False, repr=False)


Expression = Number | FunctionTerm | Arithmetic


# --- Effects ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """An add effect (`positive`) or a delete effect."""

    atom: Atom
    positive: bool = True
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AndEffect:
    parts: tuple[Effect, ...] = ()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ForallEffect:
    variables: tuple[TypedName, ...]
    body: Effect
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class When:
    condition: Condition
    body: Effect
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Probabilistic:
    """Independent choice of one outcome; what the probabilities leave over changes nothing."""

    outcomes: tuple[tuple[Fraction, Effect], ...]
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Change:
    """`(increase|decrease (reward)|(total-cost) amount)`."""

    increase: bool
    quantity: str
    amount: Expression
    at: int = field(default=-1, compare=False, repr=False)


Effect = Literal | AndEffect | ForallEffect | When | Probabilistic | Change
NOTHING = AndEffect(())


# --- Domains and problems ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeDeclaration:
    name: str
    parent: str = OBJECT
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Predicate:
    name: str
    parameters: tuple[TypedName, ...] = ()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Function:
    """A numeric function; its values must be static, except for `reward` and `total-cost`."""

    name: str
    parameters: tuple[TypedName, ...] = ()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Action:
    """An action schema."""

    name: str
    parameters: tuple[TypedName, ...] = ()
    precondition: Condition = TRUE
    effect: Effect = NOTHING
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Domain:
    name: str
    requirements: tuple[str, ...] = ()
    types: tuple[TypeDeclaration, ...] = ()
    constants: tuple[TypedName, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    functions: tuple[Function, ...] = ()
    actions: tuple[Action, ...] = ()
    at: int = field(default=-1, compare=False, repr=False)
    source: Source | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"<Domain {self.name}: {len(self.predicates)} predicates, {len(self.actions)} actions>"


@dataclass(frozen=True, slots=True)
class Metric:
    maximize: bool
    expression: Expression
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """`(= (function object …) value)` in `:init`."""

    function: FunctionTerm
    value: Fraction
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem.

    Attributes:
        init: Each fact once, in the order of its first occurrence.
        negated_init: What `:init` says to be false. All that it does not name is false anyway, so that this is kept
            for the checks only.
    """

    name: str
    domain: str
    requirements: tuple[str, ...] = ()
    objects: tuple[TypedName, ...] = ()
    init: tuple[Atom, ...] = ()
    values: tuple[FunctionValue, ...] = ()
    goal: Condition = TRUE
    goal_reward: Fraction | None = None
    metric: Metric | None = None
    negated_init: tuple[Atom, ...] = field(default=(), compare=False, repr=False)
    domain_at: int = field(default=-1, compare=False, repr=False)
    at: int = field(default=-1, compare=False, repr=False)
    source: Source | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"<Problem {self.name} of {self.domain}: {len(self.objects):,} objects, {len(self.init):,} facts>"
