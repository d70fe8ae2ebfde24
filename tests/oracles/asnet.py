"""An Action Schema Network written from the paper's equations, with loops and dictionaries and nothing else.

[toyer2018action], "Network structure" and "Heuristic features for expressiveness". Vectors are lists of floats. Nothing
is shared with `asnets.network` but the names and shapes of the weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asnets.grounding import GroundTask
from asnets.grounding.task import GroundSchema

Vector = list[float]
Weights = Mapping[str, Any]

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "elu": lambda x: x if x > 0 else math.expm1(x),
    "relu": lambda x: max(x, 0.0),
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}


@dataclass(frozen=True)
class Shape:
    """What the network is to look like; as in `NetworkConfig`."""

    layers: int
    hidden: int
    nonlinearity: str
    pooling: str
    skip: bool
    landmarks: bool
    recurrent: bool = False


@dataclass(frozen=True)
class Outputs:
    """The hidden vectors of all modules, by layer, and the policy."""

    actions: list[dict[int, Vector]]
    propositions: list[dict[int, Vector]]
    logits: dict[int, float]
    policy: dict[int, float]


def slot_order(schema: GroundSchema) -> list[int]:
    """The slots by predicate, arity and terms: parameters by position, then constants, then bound variables."""
    keys = []
    for slot in schema.slots:
        terms: list[tuple[int, Any]] = []
        for term in slot.terms:
            if not isinstance(term, str):
                terms.append((2, term))
            elif term in schema.parameters:
                terms.append((0, schema.parameters.index(term)))
            else:
                terms.append((1, term))
        keys.append((slot.predicate, len(terms), tuple(terms)))
    return sorted(range(len(keys)), key=lambda position: keys[position])


def evaluate(
    task: GroundTask,
    shape: Shape,
    weights: Weights,
    true: set[int],
    landmarks: Sequence[Sequence[float]],
    enabled: set[int],
) -> Outputs:
    """The network on one state, given as the set of its true propositions."""
    related: dict[int, list[tuple[str, list[int]]]] = {}
    is_set: dict[int, list[bool]] = {}
    name: dict[int, str] = {}
    for schema in task.schemas:
        order = slot_order(schema)
        for within in range(schema.num_actions):
            action = schema.first_action + within
            name[action] = schema.name
            is_set[action] = [schema.slots[position].is_set for position in order]
            related[action] = [
                (schema.slots[position].predicate, [int(atom) for atom in schema.instances[position].of(within)])
                for position in order
            ]
    atoms = sorted({atom for slots in related.values() for _, members in slots for atom in members})

    def truth(atom: int) -> float:
        return float(atom in true if atom < task.num_propositions else bool(task.initially_true[atom]))

    def goal(atom: int) -> float:
        return float(task.in_goal[atom])

    def read(action: int, values: Callable[[int], Vector], width: int) -> Vector:
        """The vectors of all slots of an action, one after the other."""
        result: Vector = []
        for (_, members), under_quantifier in zip(related[action], is_set[action], strict=True):
            columns = [[values(member)[k] for member in members] for k in range(width)]
            result += [max(column, default=0.0) for column in columns]
            if under_quantifier:
                result += [min(column, default=0.0) for column in columns]
        return result

    def affine(module: str, inputs: Vector) -> Vector:
        weight, bias = weights[f"{module}.weight"], weights[f"{module}.bias"]
        assert all(len(row) == len(inputs) for row in weight), module
        return [
            sum(float(w) * x for w, x in zip(row, inputs, strict=True)) + float(b)
            for row, b in zip(weight, bias, strict=True)
        ]

    def function(values: Vector) -> Vector:
        return [FUNCTIONS[shape.nonlinearity](value) for value in values]

    # The pool sources of each predicate: schemas, or slots of schemas, in the order of their names.
    schemas = sorted(task.schemas, key=lambda schema: schema.name)
    sources: dict[str, list[tuple[str, int | None]]] = {}
    for schema in schemas:
        for position, original in enumerate(slot_order(schema)):
            predicate = schema.slots[original].predicate
            source = (schema.name, position if shape.pooling == "slot" else None)
            if source not in sources.setdefault(predicate, []):
                sources[predicate].append(source)

    def inputs_of(action: int) -> Vector:
        features = [float(bit) for bit in landmarks[action]] if shape.landmarks else []
        return features + read(action, lambda atom: [truth(atom)], 1) + read(action, lambda atom: [goal(atom)], 1)

    def named(layer: int) -> int:
        """The number that the weights of a layer have: in recurrent networks all layers between share those of 2."""
        if not shape.recurrent:
            return layer
        return 1 if layer == 1 else 3 if layer == shape.layers + 1 else 2

    action_layers: list[dict[int, Vector]] = []
    proposition_layers: list[dict[int, Vector]] = []
    for layer in range(1, shape.layers + 2):
        outputs: dict[int, Vector] = {}
        for action in related:
            if layer == 1:
                inputs = inputs_of(action)
            else:
                hidden = proposition_layers[-1]
                inputs = read(action, lambda atom, hidden=hidden: hidden[atom], shape.hidden)  # type: ignore[misc]
                if shape.skip:
                    inputs += action_layers[-1][action]
                if named(layer) == 2 and shape.recurrent:
                    inputs += inputs_of(action)
            result = affine(f"action.{named(layer)}.{name[action]}", inputs)
            outputs[action] = result if layer == shape.layers + 1 else function(result)
        action_layers.append(outputs)
        if layer == shape.layers + 1:
            break
        modules: dict[int, Vector] = {}
        for atom in atoms:
            predicate = task.predicates[task.atom_predicate[atom]]
            inputs = []
            for schema_name, slot in sources[predicate]:
                pooled = [
                    outputs[action]
                    for action, slots in related.items()
                    if name[action] == schema_name
                    and any(
                        atom in members
                        for position, (_, members) in enumerate(slots)
                        if slot is None or position == slot
                    )
                ]
                inputs += [max((vector[k] for vector in pooled), default=0.0) for k in range(shape.hidden)]
            if shape.skip and layer > 1:
                inputs += proposition_layers[-1][atom]
            if shape.recurrent and layer > 1:
                inputs += [truth(atom), goal(atom)]
            modules[atom] = function(affine(f"proposition.{named(layer)}.{predicate}", inputs))
        proposition_layers.append(modules)

    logits = {action: outputs[action][0] for action in related}
    highest = max((logits[action] for action in enabled), default=0.0)
    exponentials = {action: math.exp(logits[action] - highest) for action in enabled}
    total = sum(exponentials.values())
    policy = {action: exponentials[action] / total if action in enabled else 0.0 for action in related}
    return Outputs(action_layers, proposition_layers, logits, policy)
