"""What the weights of a network depend on: the predicates and schemas of a domain, and nothing of a problem.

[toyer2018action], "Network structure": an action module has one input for each related proposition, in the order of the
schema; here, for each slot, in an order that does not depend on how the domain is written. So two domains that differ
only in the order of their declarations and in the names of parameters have equal signatures, and share weights.

Where each problem brings its own domain, constants may differ, and with them the slots that mention one. A slot with
a constant belongs to that constant by name: weights of `(time-left ?p three)` mean nothing for `(time-left ?p four)`.
So problems share what they have in common, and a signature may have slots with constants that a problem lacks: these
read an atom that is never true, or an empty set under a quantifier (`structure`). Whatever else differs, and a slot
of a problem that the signature lacks, for which there are no weights, is a misfit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from asnets.grounding import GroundTask
from asnets.grounding.task import GroundSchema, Slot

BoundTerm = tuple[tuple[str, ...], int]
"""A variable bound by a quantifier: its type, as alternatives, and its number within the atom."""
Term = int | str | BoundTerm
"""A parameter by its position from 0, a constant by its name, or a bound variable."""

_MOST_DIFFERENCES = 10
"""Of two domains that have nothing in common, all of them would fill the screen."""


@dataclass(frozen=True)
class SlotSignature:
    """A lifted atom of a schema, independent of the names of variables: one position among the p with R(a, p)."""

    predicate: str
    terms: tuple[Term, ...]

    @property
    def is_set(self) -> bool:
        """Whether the atom stands under a quantifier, so that an action has a set of instances of it."""
        return any(isinstance(term, tuple) for term in self.terms)

    @property
    def has_constants(self) -> bool:
        """Whether the atom mentions constants of the domain."""
        return any(isinstance(term, str) for term in self.terms)

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """Orders the slots of a schema; kinds of terms do not compare, so each has its number in front."""
        kinds = {int: 0, str: 1, tuple: 2}
        return (self.predicate, len(self.terms), tuple((kinds[type(term)], term) for term in self.terms))

    def __str__(self) -> str:
        return f"({' '.join((self.predicate, *map(_term_text, self.terms)))})"


@dataclass(frozen=True)
class SchemaSignature:
    """An action schema: the number of its parameters and its slots in canonical order."""

    name: str
    num_parameters: int
    slots: tuple[SlotSignature, ...]


class PoolSource(NamedTuple):
    """What one pooled input of a proposition module pools over: actions a of a schema with R(a, p), by any or one slot.

    Attributes:
        schema: Position in `DomainSignature.schemas`.
        slot: Position among the slots of the schema; None for any.
    """

    schema: int
    slot: int | None


@dataclass(frozen=True)
class DomainSignature:
    """The predicates that occur in schemas, as (name, arity), and the schemas; both in the order of their names."""

    predicates: tuple[tuple[str, int], ...]
    schemas: tuple[SchemaSignature, ...]

    def __repr__(self) -> str:
        return f"<DomainSignature: {len(self.predicates)} predicates, {len(self.schemas)} schemas>"

    @classmethod
    def of(cls, task: GroundTask) -> DomainSignature:
        """The signature of the domain of a task."""
        schemas = tuple(
            SchemaSignature(
                schema.name, len(schema.parameters), tuple(sorted(slot_signatures(schema), key=lambda s: s.sort_key))
            )
            for schema in sorted(task.schemas, key=lambda schema: schema.name)
        )
        arities = {slot.predicate: len(slot.terms) for schema in schemas for slot in schema.slots}
        return cls(tuple(sorted(arities.items())), schemas)

    def pool_sources(self, predicate: str, pooling: str) -> tuple[PoolSource, ...]:
        """The pooled inputs of the proposition modules of a predicate, in order."""
        sources: dict[PoolSource, None] = {}
        for number, schema in enumerate(self.schemas):
            for position, slot in enumerate(schema.slots):
                if slot.predicate == predicate:
                    sources[PoolSource(number, position if pooling == "slot" else None)] = None
        return tuple(sources)

    def to_json(self) -> dict[str, Any]:
        """A value that JSON can hold; equal signatures give equal values."""
        return {
            "predicates": dict(self.predicates),
            "schemas": {
                schema.name: {
                    "parameters": schema.num_parameters,
                    "slots": [[slot.predicate, *map(_term_to_json, slot.terms)] for slot in schema.slots],
                }
                for schema in self.schemas
            },
        }

    @classmethod
    def from_json(cls, value: object) -> DomainSignature:
        """The inverse of `to_json`.

        Raises:
            ValueError: If the value is not one that `to_json` gives.
        """
        try:
            result = cls._from_json(value)
            if result.to_json() == value and result._is_consistent():
                return result
        except (TypeError, KeyError, IndexError, AttributeError, ValueError):
            pass
        raise ValueError("not a domain signature")

    @classmethod
    def _from_json(cls, value: Any) -> DomainSignature:
        schemas = [
            SchemaSignature(
                str(name),
                schema["parameters"],
                tuple(
                    SlotSignature(str(predicate), tuple(map(_term_from_json, terms)))
                    for predicate, *terms in schema["slots"]
                ),
            )
            for name, schema in value["schemas"].items()
        ]
        return cls(tuple(value["predicates"].items()), tuple(schemas))

    def _is_consistent(self) -> bool:
        def is_count(value: object) -> bool:
            return isinstance(value, int) and not isinstance(value, bool) and value >= 0

        arities = dict(self.predicates)
        names = [schema.name for schema in self.schemas]
        used = {slot.predicate for schema in self.schemas for slot in schema.slots}
        if sorted(names) != names or sorted(arities) != list(arities) or used != set(arities):
            return False
        for schema in self.schemas:
            keys = [slot.sort_key for slot in schema.slots]
            if not is_count(schema.num_parameters) or sorted(set(keys)) != keys:
                return False
            for slot in schema.slots:
                positions = [term for term in slot.terms if isinstance(term, int)]
                bounds = [term for term in slot.terms if isinstance(term, tuple)]
                if (
                    arities[slot.predicate] != len(slot.terms)
                    or not all(is_count(position) and position < schema.num_parameters for position in positions)
                    or not all(is_count(number) and all(isinstance(t, str) for t in types) for types, number in bounds)
                ):
                    return False
        return True

    def joined(self, other: DomainSignature) -> DomainSignature:
        """This signature with the other's slots with constants in the schemas that both have."""
        arities = dict(self.predicates)
        theirs = {schema.name: schema for schema in other.schemas}
        schemas = []
        for schema in self.schemas:
            slots = set(schema.slots)
            for slot in theirs[schema.name].slots if schema.name in theirs else ():
                if slot.has_constants and arities.setdefault(slot.predicate, len(slot.terms)) == len(slot.terms):
                    slots.add(slot)
            schemas.append(replace(schema, slots=tuple(sorted(slots, key=lambda slot: slot.sort_key))))
        return DomainSignature(tuple(sorted(arities.items())), tuple(schemas))

    def misfits(self, problem: DomainSignature) -> list[str]:
        """In plain words, why a network of this signature cannot be used for a problem of another; not more than ten.

        As the differences, but for slots with constants that the problem lacks.
        """
        theirs = {schema.name: set(schema.slots) for schema in problem.schemas}
        schemas = tuple(
            replace(
                schema,
                slots=tuple(
                    slot for slot in schema.slots if not slot.has_constants or slot in theirs.get(schema.name, ())
                ),
            )
            for schema in self.schemas
        )
        used = {slot.predicate for schema in schemas for slot in schema.slots}
        predicates = tuple(entry for entry in self.predicates if entry[0] in used)
        return DomainSignature(predicates, schemas).differences(problem)

    def differences(self, other: DomainSignature) -> list[str]:
        """In plain words, what the other signature lacks or has too much compared with this one; not more than ten."""
        found = _differences_of_keys("predicate", dict(self.predicates), dict(other.predicates))
        arities = dict(other.predicates)
        for name, arity in self.predicates:
            if arities.get(name, arity) != arity:
                found.append(f"predicate {name}: has {arities[name]} arguments instead of {arity}")
        schemas = {schema.name: schema for schema in other.schemas}
        found += _differences_of_keys("schema", {schema.name: 0 for schema in self.schemas}, schemas)
        for schema in self.schemas:
            if schema.name in schemas:
                found += _differences_of_schemas(schema, schemas[schema.name])
        more = len(found) - _MOST_DIFFERENCES
        return found if more <= 0 else [*found[:_MOST_DIFFERENCES], f"and {more} more"]


def slot_signatures(schema: GroundSchema) -> list[SlotSignature]:
    """The signatures of the slots of a ground schema, in its own order."""
    positions = {name: position for position, name in enumerate(schema.parameters)}
    return [_slot_signature(slot, positions) for slot in schema.slots]


def _slot_signature(slot: Slot, positions: Mapping[str, int]) -> SlotSignature:
    terms = tuple(positions.get(term, term) if isinstance(term, str) else term for term in slot.terms)
    return SlotSignature(slot.predicate, terms)


def _term_text(term: Term) -> str:
    if isinstance(term, int):
        return f"?{term + 1}"
    return term if isinstance(term, str) else f"?{'|'.join(term[0])}#{term[1]}"


def _term_to_json(term: Term) -> object:
    return [list(term[0]), term[1]] if isinstance(term, tuple) else term


def _term_from_json(value: Any) -> Term:
    if isinstance(value, list):
        types, number = value
        return (tuple(types), number)
    if isinstance(value, int | str):
        return value
    raise TypeError


def _differences_of_keys(kind: str, ours: Mapping[str, object], others: Mapping[str, object]) -> list[str]:
    return [f"{kind} {name} is missing" for name in ours if name not in others] + [
        f"{kind} {name} is new" for name in others if name not in ours
    ]


def _differences_of_schemas(ours: SchemaSignature, other: SchemaSignature) -> list[str]:
    found = []
    if ours.num_parameters != other.num_parameters:
        found.append(f"schema {ours.name}: has {other.num_parameters} parameters instead of {ours.num_parameters}")
    found += [f"schema {ours.name}: slot {slot} is missing" for slot in ours.slots if slot not in other.slots]
    found += [f"schema {ours.name}: slot {slot} is new" for slot in other.slots if slot not in ours.slots]
    return found
