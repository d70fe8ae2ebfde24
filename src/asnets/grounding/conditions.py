"""Ground conditions, for all bindings of a schema at once.

A node is a number: TRUE, FALSE, a literal (2 · proposition, + 1 if negated), or a composite node of the pool, which is
a conjunction or a disjunction of other nodes. Evaluating a lifted condition on N rows of bindings gives N nodes. What
is constant is evaluated away here; equal parts are merged, contradictions and tautologies of literals recognised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.grounding.atoms import AtomTable
from asnets.grounding.functions import Comparisons
from asnets.grounding.limits import Limits
from asnets.grounding.rows import (
    Index,
    conjuncts,
    expand,
    free_variables,
    group,
    join,
    necessary,
    project,
    take_lists,
)
from asnets.grounding.task import FALSE_CONDITION, TRUE_CONDITION, Ints, Lists
from asnets.grounding.universe import Scope, Universe, contains, distinct
from asnets.ppddl.model import (
    And,
    Atom,
    Comparison,
    Condition,
    Equals,
    Exists,
    Forall,
    Imply,
    Not,
    Or,
    TypedName,
    is_variable,
)

TRUE = -1
FALSE = -2
Nodes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Binding:
    """Rows of bindings while variables are bound one after the other, each with the row that it came from."""

    rows: Ints
    scope: Scope
    owner: Index

    def joined(self, terms: tuple[str, ...], tuples: Ints, universe: Universe, limits: Limits, what: str) -> _Binding:
        rows, scope, position = join(self.rows, self.scope, terms, tuples, universe, limits, what)
        return _Binding(rows, scope, self.owner[position])

    def expanded(self, variable: TypedName, universe: Universe, limits: Limits, what: str) -> _Binding:
        rows, scope, position = expand(self.rows, self.scope, [variable], universe, limits, what)
        return _Binding(rows, scope, self.owner[position])

    def kept(self, which: npt.NDArray[np.bool_]) -> _Binding:
        return self if which.all() else _Binding(self.rows[which], self.scope, self.owner[which])

    def sorted(self, names: Sequence[str]) -> _Binding:
        """By owner, then by the values of the variables."""
        keys: list[npt.NDArray[np.integer]] = [self.rows[:, self.scope[name]] for name in reversed(names)]
        order = np.lexsort([*keys, self.owner])
        return _Binding(self.rows[order], self.scope, self.owner[order])


class ConditionPool:
    """Builds ground conditions and turns them into the arrays of a task."""

    def __init__(
        self,
        universe: Universe,
        atoms: AtomTable,
        comparisons: Comparisons,
        limits: Limits,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self._deadline = deadline
        self._universe = universe
        self._atoms = atoms
        self._comparisons = comparisons
        self._limits = limits
        self._first = 2 * atoms.num_propositions  # Number of the first composite node.
        self._conjunction = np.zeros(0, np.bool_)
        self._children = Lists(np.zeros(1, np.int32), np.zeros(0, np.int32))

    # --- evaluation

    def evaluate(self, condition: Condition, rows: Ints, scope: Scope, what: str, positive: bool = True) -> Nodes:
        """The ground instances of a condition.

        Args:
            condition: The lifted condition.
            rows: Bindings, one row each.
            scope: Which column binds which variable.
            what: What is being ground, for messages.
            positive: Whether to negate.
        """
        match condition:
            case Atom():
                return self._atoms.literals(condition, rows, scope, positive)
            case Equals(left, right):
                equal = self._universe.column(left, rows, scope) == self._universe.column(right, rows, scope)
                return np.where(equal == positive, TRUE, FALSE).astype(np.int64)
            case Comparison():
                variables, tuples = self._comparisons.tuples(condition, positive, what)
                holding = distinct(self._universe.number(tuples))
                codes = self._universe.number(self._universe.arguments(variables, rows, scope))
                return np.where(contains(holding, codes), TRUE, FALSE).astype(np.int64)
            case Not(body):
                return self.evaluate(body, rows, scope, what, not positive)
            case And(parts) | Or(parts):
                return self._connect(
                    isinstance(condition, And) == positive, [(part, positive) for part in parts], rows, scope, what
                )
            case Imply(premise, conclusion):
                return self._connect(not positive, [(premise, not positive), (conclusion, positive)], rows, scope, what)
            case Forall() | Exists():
                return self._quantify(condition, rows, scope, what, positive)

    def _connect(
        self, conjunction: bool, parts: list[tuple[Condition, bool]], rows: Ints, scope: Scope, what: str
    ) -> Nodes:
        """Connects signed conditions. What can be decided without a state goes first and spares the rest its rows."""
        absorbing = FALSE if conjunction else TRUE
        open_rows = np.arange(len(rows), dtype=np.int64)
        owners, nodes = [], []
        for part, positive in sorted(parts, key=lambda part: not self._is_constant(part[0])):
            found = self.evaluate(part, rows if len(open_rows) == len(rows) else rows[open_rows], scope, what, positive)
            owners.append(open_rows)
            nodes.append(found)
            decided = found == absorbing
            if decided.any():
                open_rows = open_rows[~decided]
        if len(nodes) == 1:
            return nodes[0]
        nothing = np.zeros(0, np.int64)
        return self.combine(
            conjunction, len(rows), np.concatenate([nothing, *owners]), np.concatenate([nothing, *nodes]), what
        )

    def _is_constant(self, condition: Condition) -> bool:
        """Whether a condition is an equality or an atom of a predicate that never changes."""
        match condition:
            case Not(body):
                return self._is_constant(body)
            case Atom(predicate):
                return self._atoms.is_static(predicate)
            case Equals() | Comparison():
                return True
            case _:
                return False

    def _quantify(self, condition: Forall | Exists, rows: Ints, scope: Scope, what: str, positive: bool) -> Nodes:
        """Evaluates a quantifier for the distinct values of the variables that it mentions.

        A binding matters if it can make the body of an existential quantifier true, or that of a universal one false.
        What that takes and does not depend on the binding is decided first: it spares rows, and the variables that
        nothing else mentions need not be told apart.
        """
        conjunction = isinstance(condition, Forall) == positive
        bound = frozenset(variable.name for variable in condition.variables)
        parts = list(conjuncts(condition.body, positive != conjunction))
        apart = [part for part in parts if self._is_constant(part[0]) and bound.isdisjoint(free_variables(part[0]))]
        result = np.full(len(rows), TRUE if conjunction else FALSE, np.int64)
        open_rows = np.arange(len(rows), dtype=np.int64)
        for part, sign in apart:
            open_rows = open_rows[self._matters(part, sign, conjunction, rows[open_rows], scope, what)]
        rest = [part for part in parts if part not in apart]
        mentioned = frozenset[str]().union(*(free_variables(part) for part, _ in rest)) - bound
        columns = sorted(scope[name] for name in mentioned)
        distinct_rows, representative = project(rows[open_rows], columns, len(self._universe.objects))
        longer, inner, owner = self._bind(condition, conjunction, rest, distinct_rows, scope, what)
        if apart:
            signed = [(part, sign != conjunction) for part, sign in rest]
            nodes = self._connect(not conjunction, signed, longer, inner, what)
        else:
            nodes = self.evaluate(condition.body, longer, inner, what, positive)
        result[open_rows] = self.combine(conjunction, len(distinct_rows), owner, nodes, what)[representative]
        return result

    def _bind(
        self,
        condition: Forall | Exists,
        conjunction: bool,
        parts: list[tuple[Condition, bool]],
        rows: Ints,
        scope: Scope,
        what: str,
    ) -> tuple[Ints, Scope, Index]:
        """Binds quantified variables in all ways that can satisfy what every binding that matters satisfies.

        Static atoms and comparisons are joined, the most selective first; other constant conditions are tested as
        soon as their variables are bound. The rows come in the order of the first static atom among `parts`, then of
        the variables.
        """
        needed = list(dict.fromkeys(pair for part, sign in parts for pair in necessary(part, sign)))
        constant = [pair for pair in needed if self._is_constant(pair[0])]
        relations = [found for pair in constant if (found := self._relation(*pair, conjunction, what)) is not None]
        order = self._order(condition, parts)
        binding = _Binding(rows, scope, np.arange(len(rows), dtype=np.int64))
        tests = constant
        left = {variable.name: variable.type for variable in condition.variables}
        joined: list[str] = []
        while left:
            self._deadline.check(f"grounding {what}: binding {next(iter(left))}")
            useful = [item for item in relations if not left.keys().isdisjoint(item[0])]
            if useful:
                terms, tuples = min(useful, key=lambda item: self._matches(item, binding.scope))
                new = [name for name in dict.fromkeys(terms) if name in left]
                binding = binding.joined(terms, tuples, self._universe, self._limits, what)
            else:
                new = [next(iter(left))]
                binding = binding.expanded(TypedName(new[0], left[new[0]]), self._universe, self._limits, what)
            joined += new
            for name in new:
                members = self._universe.members(left.pop(name))
                if useful:
                    binding = binding.kept(np.isin(binding.rows[:, binding.scope[name]], members))
            ready = [pair for pair in tests if free_variables(pair[0]) <= binding.scope.keys()]
            tests = [pair for pair in tests if pair not in ready]
            for part, sign in ready:
                which = self._matters(part, sign, conjunction, binding.rows, binding.scope, what)
                binding = binding.kept(which)
        if joined != order:
            binding = binding.sorted(order)
        return binding.rows, binding.scope, binding.owner

    def _order(self, condition: Forall | Exists, parts: list[tuple[Condition, bool]]) -> list[str]:
        """The variables of a quantifier: those of the first static atom that mentions one, then the others."""
        names = [variable.name for variable in condition.variables]
        for part, sign in parts:
            if isinstance(part, Atom) and sign and self._atoms.is_static(part.predicate):
                first = [term for term in dict.fromkeys(part.terms) if term in names]
                if first:
                    return first + [name for name in names if name not in first]
        return names

    def _matters(
        self, part: Condition, sign: bool, conjunction: bool, rows: Ints, scope: Scope, what: str
    ) -> npt.NDArray[np.bool_]:
        """For which rows a constant part of the body of a quantifier leaves it open.

        A universal quantifier is concerned with bindings for which the part's negation does not hold, which is not the
        same as that the part holds: of a comparison without a value, neither does.
        """
        if conjunction:
            return np.not_equal(self.evaluate(part, rows, scope, what, not sign), TRUE)
        return np.equal(self.evaluate(part, rows, scope, what, sign), TRUE)

    def _relation(
        self, part: Condition, sign: bool, conjunction: bool, what: str
    ) -> tuple[tuple[str, ...], Ints] | None:
        """The terms of a constant part of the body of a quantifier, and the tuples for which it leaves that open."""
        if isinstance(part, Comparison) and not conjunction:
            return self._comparisons.tuples(part, sign, what)
        if isinstance(part, Atom) and sign:
            return part.terms, self._atoms.static_tuples(part.predicate)
        return None

    def _matches(self, relation: tuple[tuple[str, ...], Ints], scope: Scope) -> float:
        """How many tuples of a relation fit a row, on average."""
        terms, tuples = relation
        fixed = [column for column, term in enumerate(terms) if term in scope or not is_variable(term)]
        return len(tuples) / max(1, len(distinct(self._universe.number(tuples[:, fixed]))))

    def combine(self, conjunction: bool, size: int, owner: Index, nodes: Nodes, what: str) -> Nodes:
        """The conjunctions (or disjunctions) of nodes grouped by their owners 0 … size - 1."""
        self._deadline.check(f"grounding {what}: conditions")
        neutral, absorbing = (TRUE, FALSE) if conjunction else (FALSE, TRUE)
        result = np.full(size, neutral, np.int64)
        absorbed = np.zeros(size, np.bool_)
        absorbed[owner[nodes == absorbing]] = True
        kept = (nodes != neutral) & ~absorbed[owner]
        owner, nodes = self._flatten(conjunction, owner[kept], nodes[kept], what)
        if len(nodes):
            span = int(nodes.max()) + 1
            keys = distinct(owner * span + nodes)
            owner, nodes = keys // span, keys % span
            clash = (owner[1:] == owner[:-1]) & (nodes[:-1] % 2 == 0) & (nodes[1:] == nodes[:-1] + 1)
            absorbed[owner[1:][clash & (nodes[1:] < self._first)]] = True
            alive = ~absorbed[owner]
            owner, nodes = owner[alive], nodes[alive]
            counts = np.bincount(owner, minlength=size)
            single = counts[owner] == 1
            result[owner[single]] = nodes[single]
            several = np.flatnonzero(counts > 1)
            result[several] = self._append(conjunction, counts[several], nodes[~single])
        result[absorbed] = absorbing
        return result

    def _flatten(self, conjunction: bool, owner: Index, nodes: Nodes, what: str) -> tuple[Index, Nodes]:
        """Replaces conjunctions within conjunctions (disjunctions within disjunctions) by their parts."""
        composite = nodes >= self._first
        if not composite.any():
            return owner, nodes
        nested = np.zeros(len(nodes), np.bool_)
        nested[composite] = self._conjunction[nodes[composite] - self._first] == conjunction
        if not nested.any():
            return owner, nodes
        inner = nodes[nested] - self._first
        sizes = self._children.offsets[inner + 1].astype(np.int64) - self._children.offsets[inner]
        self._limits.check_entries(int(sizes.sum()), what)
        position, parts = take_lists(self._children, inner)
        return (
            np.concatenate([owner[~nested], owner[nested][position]]),
            np.concatenate([nodes[~nested], parts.astype(np.int64)]),
        )

    def _append(self, conjunction: bool, counts: npt.NDArray[np.int64], children: Nodes) -> Nodes:
        first = self._first + len(self._conjunction)
        self._conjunction = np.concatenate([self._conjunction, np.full(len(counts), conjunction, np.bool_)])
        offsets = self._children.offsets[-1] + np.cumsum(counts)
        self._children = Lists(
            np.concatenate([self._children.offsets, offsets.astype(np.int32)]),
            np.concatenate([self._children.values, children.astype(np.int32)]),
        )
        return first + np.arange(len(counts), dtype=np.int64)

    # --- the arrays of a task

    def export(self, roots: Nodes) -> tuple[Ints, Lists, Lists, Lists]:
        """Numbers the conditions that are in use.

        Returns:
            The condition of each root; literals and clauses of conditions; conditions of clauses. A condition comes
            before those it is made of.
        """
        used = self._used_composites(roots)
        composites = np.flatnonzero(used)[::-1]  # Parts were made before their wholes.
        number = np.full(len(used), -1, np.int64)
        number[composites] = 2 + np.arange(len(composites))
        owner, children = take_lists(self._children, composites)
        parts: Nodes = children.astype(np.int64)
        is_conjunction = self._conjunction[composites]
        # A literal needs a condition of its own where it is a root or a disjunct.
        disjuncts = parts[~is_conjunction[owner]]
        lone = distinct(np.concatenate([roots, disjuncts]))
        lone = lone[(lone >= 0) & (lone < self._first)]
        literal_number = 2 + len(composites) + np.arange(len(lone))
        count = 2 + len(composites) + len(lone)

        def condition_of(nodes: Nodes) -> Nodes:
            result = np.where(nodes == FALSE, FALSE_CONDITION, TRUE_CONDITION).astype(np.int64)
            literals = (nodes >= 0) & (nodes < self._first)
            result[literals] = literal_number[np.searchsorted(lone, nodes[literals])]
            composite = nodes >= self._first
            result[composite] = number[nodes[composite] - self._first]
            return result

        # Clause 0 is empty and makes FALSE; then one for each disjunction.
        disjunctions = np.flatnonzero(~is_conjunction)
        clause_of = np.full(len(composites), -1, np.int64)
        clause_of[disjunctions] = 1 + np.arange(len(disjunctions))
        in_conjunction = is_conjunction[owner]
        literal_parts = in_conjunction & (parts < self._first)
        clause_parts = in_conjunction & (parts >= self._first)
        literals = group(
            np.concatenate([2 + owner[literal_parts], literal_number]),
            np.concatenate([parts[literal_parts], lone]),
            count,
        )
        clauses = group(
            np.concatenate([[FALSE_CONDITION], 2 + owner[clause_parts], 2 + disjunctions]).astype(np.int64),
            np.concatenate(
                [[0], clause_of[number[parts[clause_parts] - self._first] - 2], clause_of[disjunctions]]
            ).astype(np.int64),
            count,
        )
        members = group(clause_of[owner[~in_conjunction]], condition_of(disjuncts), 1 + len(disjunctions))
        return condition_of(roots).astype(np.int32), literals, clauses, members

    def _used_composites(self, roots: Nodes) -> npt.NDArray[np.bool_]:
        used = np.zeros(len(self._conjunction), np.bool_)
        frontier = distinct(roots[roots >= self._first]) - self._first
        while len(frontier):
            used[frontier] = True
            _, parts = take_lists(self._children, frontier)
            below = distinct(parts[parts >= self._first]).astype(np.int64) - self._first
            frontier = below[~used[below]]
        return used
