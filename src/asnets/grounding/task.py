"""The ground task: integer ids and flat arrays.

| name | in the papers | here |
|---|---|---|
| proposition | p ∈ P | atom ids 0 … `num_propositions` - 1: atoms that can be both true and false |
| constant atom | – | atom ids from `num_propositions` on: atoms of slots or the goal whose truth never changes |
| action | a ∈ A | 0 … `num_actions` - 1, those of a schema next to each other, by schema and then by arguments |
| literal | – | 2 · proposition for true (or: add), 2 · proposition + 1 for false (or: delete) |
| condition | pre_a, s⋆ | a conjunction of literals and clauses; a clause is a disjunction of conditions |
| block | e ∈ eff_a | guard, literals, child blocks, factors; see native/task.hpp |

Lists of lists are in CSR form: list i is `values[offsets[i]:offsets[i + 1]]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from asnets import _native
from asnets.errors import ConfigError
from asnets.notebook import NotebookView

Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class NumberedState(Protocol):
    """A state that knows its task and its true propositions by number, such as that of a simulator."""

    @property
    def task(self) -> GroundTask: ...
    @property
    def propositions(self) -> Ints: ...


StateLike = Sequence[str] | Sequence[int] | Ints | NumberedState
"""A state: its true propositions by name, as in "(at l-1-1)", or by number, or an object that knows them."""


@dataclass(frozen=True)
class Lists:
    """Lists of numbers in CSR form."""

    offsets: Ints
    values: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Ints:
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def __repr__(self) -> str:
        return f"<{len(self):,} lists of {len(self.values):,} numbers>"


@dataclass(frozen=True)
class Slot:
    """A lifted atom of a schema.

    Attributes:
        predicate: Name of the predicate.
        terms: Parameters and constants by name; variables bound by a quantifier as (type, number), so that atoms
            that differ only in the names of bound variables are the same slot.
        sources: Where it occurs: "precondition", "effect", "condition" (of an effect).
    """

    predicate: str
    terms: tuple[str | tuple[tuple[str, ...], int], ...]
    sources: frozenset[str]

    @property
    def is_set(self) -> bool:
        """Whether the atom stands under a quantifier, so that it has a set of instances."""
        return any(not isinstance(term, str) for term in self.terms)

    def __str__(self) -> str:
        words = (term if isinstance(term, str) else f"?{'|'.join(term[0])}#{term[1]}" for term in self.terms)
        return f"({' '.join((self.predicate, *words))})"


@dataclass(frozen=True)
class SlotInstances:
    """The ground instances of one slot for all actions of a schema.

    Attributes:
        rows: For each action of the schema, the row of `atoms` that is its set of instances. Actions share rows where
            the slot does not depend on all of their arguments.
        atoms: Atom ids. A slot that is not a set has exactly one in each row.
    """

    rows: Ints
    atoms: Lists

    def of(self, action: int) -> Ints:
        """The instances for an action, counted within its schema."""
        return self.atoms[int(self.rows[action])]

    def __repr__(self) -> str:
        return f"<SlotInstances of {len(self.rows):,} actions: {self.atoms!r}>"


@dataclass(frozen=True)
class GroundSchema:
    """The ground actions of a schema: ids `first_action` … `first_action` + n - 1.

    Attributes:
        arguments: n × number of parameters, object ids.
        slots: The lifted atoms, in order of first occurrence: precondition, then effect (conditions before bodies).
        instances: For each slot.
    """

    name: str
    parameters: tuple[str, ...]
    first_action: int
    arguments: Ints
    slots: tuple[Slot, ...]
    instances: tuple[SlotInstances, ...]

    @property
    def num_actions(self) -> int:
        return len(self.arguments)

    def __repr__(self) -> str:
        return f"<GroundSchema {self.name}: {self.num_actions:,} actions, {len(self.slots)} slots>"


@dataclass(frozen=True, eq=False)
class GroundTask(NotebookView):
    """A ground SSP; two of them are equal if they are the same object.

    Attributes:
        objects: Names, constants of the domain first.
        predicates: Names, in the order of the domain.
        atom_predicate: For each atom, its predicate.
        atom_arguments: For each atom, its objects.
        num_propositions: The first so many atoms are propositions, the others constant.
        initially_true: For each atom; for a constant atom, this is its truth value for ever.
        in_goal: For each atom, whether it occurs positively in the goal.
        schemas: One for each action schema of the domain, also those without ground actions.
        costs: What each action costs whatever the state; `cost` says what a step costs, `block_cost` included.
        block_cost: What each block adds to the cost where it applies; empty if there are no such costs.
        goal_reward: What the problem gives for reaching the goal; None if it says nothing, or costs do not come from
            a metric that counts it.
        cost_mode: "unit" or "metric".

    Example:
        >>> task = asnets.generate("triangle-tireworld", 1)
        >>> task
        <GroundTask triangle-tire-1 of triangle-tire: 10 propositions, 11 actions of 2 schemas, unit costs>
        >>> task.action_name(0)
        '(move-car l-1-1 l-1-2)'
        >>> [task.atom_name(atom) for atom in task.propositions_of()]
        ['(vehicle-at l-1-1)', '(spare-in l-2-1)', '(spare-in l-2-2)', '(spare-in l-3-1)', '(not-flattire)']
    """

    domain: str
    problem: str
    objects: tuple[str, ...]
    predicates: tuple[str, ...]
    atom_predicate: Ints
    atom_arguments: Lists
    num_propositions: int
    initially_true: Bools
    in_goal: Bools
    schemas: tuple[GroundSchema, ...]
    costs: Floats
    cost_mode: str
    condition_literals: Lists
    condition_clauses: Lists
    clause_conditions: Lists
    block_guard: Ints
    block_literals: Lists
    block_children: Lists
    block_factors: Lists
    factor_blocks: Lists
    factor_probability: Floats
    action_precondition: Ints
    action_block: Ints
    goal: int
    block_cost: Floats = field(default_factory=lambda: np.zeros(0))
    goal_reward: Fraction | None = None

    @property
    def num_atoms(self) -> int:
        return len(self.atom_predicate)

    @property
    def num_actions(self) -> int:
        return len(self.action_block)

    @property
    def goal_is_reachable(self) -> bool:
        """Whether the goal can hold at all, as far as relaxed reachability tells."""
        return self.goal != FALSE_CONDITION

    def atom_name(self, atom: int) -> str:
        names = (self.objects[index] for index in self.atom_arguments[atom])
        return f"({' '.join((self.predicates[self.atom_predicate[atom]], *names))})"

    def schema_of(self, action: int) -> GroundSchema:
        return self.schemas[int(np.searchsorted(self._first_actions, action, side="right")) - 1]

    def action_name(self, action: int) -> str:
        schema = self.schema_of(action)
        names = (self.objects[index] for index in schema.arguments[action - schema.first_action])
        return f"({' '.join((schema.name, *names))})"

    def propositions_of(self, state: StateLike | None = None) -> Ints:
        """The true propositions of a state by number, ascending; of the initial state by default.

        Atoms whose truth never changes may be named too.

        Raises:
            ConfigError: If something else is named.
        """
        if state is None:
            return np.flatnonzero(self.initially_true[: self.num_propositions]).astype(np.int32)
        if isinstance(state, np.ndarray):
            return self._numbers(state)
        if isinstance(state, str):
            raise ConfigError(f"expected the names of all true propositions of a state, not {state!r} alone")
        if not isinstance(state, Sequence):
            self.check_same(state.task)
            return state.propositions
        if len(state) and not isinstance(state[0], str):
            return self._numbers(np.array(state))
        unknown = [name for name in state if name not in self.atom_numbers]
        if unknown:
            raise ConfigError(f"the task has no proposition {unknown[0]!r}")
        true = {self.atom_numbers[str(name)] for name in state}
        return np.array(sorted(atom for atom in true if atom < self.num_propositions), np.int32)

    def _numbers(self, propositions: npt.NDArray[Any]) -> Ints:
        if propositions.ndim != 1 or (len(propositions) and propositions.dtype.kind not in "iu"):
            raise ConfigError("a state is given by the numbers or the names of its true propositions")
        if len(propositions) and not (propositions.min() >= 0 and propositions.max() < self.num_propositions):
            raise ConfigError(f"the numbers of propositions are from 0 to {self.num_propositions - 1}")
        return np.unique(propositions).astype(np.int32)

    def cost(self, action: int, state: StateLike | None = None) -> float:
        """The expected cost of taking an action in a state, the initial one by default.

        It may depend on the state where costs stand inside `when`; those inside `probabilistic` count by their
        probabilities. It is negative where the action earns something.

        Raises:
            ConfigError: If there is no such action or state.
        """
        if not 0 <= action < self.num_actions:
            raise ConfigError(f"the task has no action of the number {action}; there are {self.num_actions}")
        return self.native.cost(action, self.propositions_of(state))

    def check_same(self, other: GroundTask) -> None:
        """Checks that what belongs to another task can be used in this one.

        Raises:
            ConfigError: If the tasks differ in their propositions or actions.
        """
        if other is self:
            return
        same = (self.atom_numbers, self.num_actions) == (other.atom_numbers, other.num_actions)
        if not same or any(self.action_name(i) != other.action_name(i) for i in range(self.num_actions)):
            raise ConfigError(
                f"that is of another task: {other.problem} of {other.domain}; expected {self.problem} of {self.domain}"
            )

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made of it, so that it can be copied to other processes."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def atom_numbers(self) -> dict[str, int]:
        """The number of each atom by its name."""
        return {self.atom_name(atom): atom for atom in range(self.num_atoms)}

    @cached_property
    def _first_actions(self) -> Ints:
        # Of empty schemas that share a first action, searchsorted(side="right") finds the last: the non-empty one.
        return np.array([schema.first_action for schema in self.schemas], np.int32)

    @cached_property
    def native(self) -> _native.Task:
        """The same arrays in the compiled core, made once; states live there."""
        lists = (
            self.condition_literals,
            self.condition_clauses,
            self.clause_conditions,
            self.block_literals,
            self.block_children,
            self.block_factors,
            self.factor_blocks,
        )
        return _native.Task(
            self.atom_predicate[: self.num_propositions],
            [array for item in lists for array in (item.offsets, item.values)],
            self.factor_probability,
            self.block_guard,
            self.action_precondition,
            self.action_block,
            self.costs,
            self.goal,
            self.propositions_of(),
            self.block_cost,
        )

    def __repr__(self) -> str:
        return (
            f"<GroundTask {self.problem} of {self.domain}: {self.num_propositions:,} propositions, "
            f"{self.num_actions:,} actions of {len(self.schemas)} schemas, {self.cost_mode} costs>"
        )


TRUE_CONDITION = 0
FALSE_CONDITION = 1
