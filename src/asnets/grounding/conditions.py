"""Ground conditions, for all bindings of a schema at once.

A node is a number: TRUE, FALSE, a literal (2 · proposition, + 1 if negated), or a composite node of the pool, which is
a conjunction or a disjunction of other nodes. Evaluating a lifted condition on N rows of bindings gives N nodes. What
is constant is evaluated away here; equal parts are merged, contradictions and tautologies of literals recognised.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from asnets.grounding.atoms import AtomTable
from asnets.grounding.functions import Comparisons
from asnets.grounding.limits import Limits
from asnets.grounding.rows import Index, conjuncts, expand, free_variables, group, join, project, take_lists
from asnets.grounding.task import FALSE_CONDITION, TRUE_CONDITION, Ints, Lists
from asnets.grounding.universe import Scope, Universe, contains, distinct
from asnets.ppddl.model import And, Atom, Comparison, Condition, Equals, Exists, Forall, Imply, Not, Or

TRUE = -1
FALSE = -2
Nodes = npt.NDArray[np.int64]


class ConditionPool:
    """Builds ground conditions and turns them into the arrays of a task."""

    def __init__(self, universe: Universe, atoms: AtomTable, comparisons: Comparisons, limits: Limits) -> None:
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
        columns = sorted(scope[name] for name in free_variables(condition))
        distinct_rows, representative = project(rows, columns, len(self._universe.objects))
        conjunction = isinstance(condition, Forall) == positive
        longer, inner, owner = self._bind(condition, conjunction, positive, distinct_rows, scope, what)
        nodes = self.evaluate(condition.body, longer, inner, what, positive)
        return self.combine(conjunction, len(distinct_rows), owner, nodes, what)[representative]

    def _bind(
        self, condition: Forall | Exists, conjunction: bool, positive: bool, rows: Ints, scope: Scope, what: str
    ) -> tuple[Ints, Scope, Index]:
        """Binds quantified variables in all ways that matter.

        Where `exists` asks for a static atom, or `forall` restricts itself to one, only the tuples of that atom can
        make a difference: they are joined instead of running over all objects.
        """
        for part, sign in conjuncts(condition.body, positive != conjunction):
            if isinstance(part, Atom) and sign and self._atoms.is_static(part.predicate):
                bound = [variable for variable in condition.variables if variable.name in part.terms]
                if not bound:
                    continue
                tuples = self._atoms.static_tuples(part.predicate)
                joined, inner, owner = join(rows, scope, part, tuples, self._universe, self._limits, what)
                fits = np.ones(len(joined), np.bool_)
                for variable in bound:
                    fits &= np.isin(joined[:, inner[variable.name]], self._universe.members(variable.type))
                left = [variable for variable in condition.variables if variable not in bound]
                expanded, all_bound, position = expand(joined[fits], inner, left, self._universe, self._limits, what)
                return expanded, all_bound, owner[fits][position]
        return expand(rows, scope, condition.variables, self._universe, self._limits, what)

    def combine(self, conjunction: bool, size: int, owner: Index, nodes: Nodes, what: str) -> Nodes:
        """The conjunctions (or disjunctions) of nodes grouped by their owners 0 … size - 1."""
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
