"""A policy's chain solved exactly, with fractions.

The probabilities of outcomes and the costs are those of the PPDDL text (`GroundTask.exact_probability` and
`exact_costs`), not the floats that they were rounded to. A greedy policy draws from its best actions with 1/k each; the
floats of a policy that samples are taken as they are, divided by their sum.

Every number is the solution of a linear system x = r + P x over the states that are passed through. Strongly connected
components are solved one after the other, those that are reached last first, so that most systems have one unknown;
within a component states are eliminated [daws2004symbolic], the one with the fewest neighbours first. What comes out is
the truth about the model, without any error; numerators and denominators may grow long, so this is for small chains.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.evaluation.rollouts import asked_distributions
from asnets.policies.protocol import Distribution, TaskPolicy
from asnets.simulator import Simulator
from asnets.verification.chain_solution import ChainSolution, Failure
from asnets.verification.exact_effects import ExactEffects, TrueSet
from asnets.verification.model import ExplicitModel

MAX_RATIONAL_STATES = 20_000
"""The most states of a chain that is solved with fractions, unless something else is asked for."""
_MAX_DIGITS = 4_000  # Python writes no longer numbers.
_STATES_AT_ONCE = 256
_DOING = "solving the chain with fractions"

FailureOf = Callable[[Sequence[int]], Failure]
"""Says of a bottom component without goal, given by its states, how runs fail that end there."""


@dataclass(frozen=True)
class RationalChain:
    """The chain of a policy with exact numbers; state 0 is the initial one.

    Attributes:
        propositions: For each state, its true propositions.
        successors: For each state, the states that may follow and how probable each is; none where runs end.
        cost_shares: For each state and successor, the sum over actions of their probability, that of the successor
            under them, and their cost: added up, the expected cost of the step.
        square_costs: For each state, the expected square of the cost of its step.
        goals: Whether each state is a goal.
    """

    propositions: tuple[TrueSet, ...]
    successors: tuple[Mapping[int, Fraction], ...]
    cost_shares: tuple[Mapping[int, Fraction], ...]
    square_costs: tuple[Fraction, ...]
    goals: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.successors)

    def __repr__(self) -> str:
        return f"<RationalChain of {len(self):,} states>"


@dataclass(frozen=True)
class RationalSolution:
    """What a policy comes to, exactly.

    Attributes:
        states: Of the chain.
        goal_probability: That a run reaches the goal.
        failures: The probability of each way to fail; empty if nobody said how runs fail.
        expected_cost: Of a run, with the penalty where it fails.
        cost_to_end: Of a run, until the goal or until the goal is out of the policy's reach.
        cost_given_goal: Of the runs that reach the goal; None if there are none.
        variance: Of the cost of a run, with the penalty.
        expected_steps: Until the goal or until the goal is out of the policy's reach.
    """

    states: int
    goal_probability: Fraction
    failures: Mapping[Failure, Fraction]
    expected_cost: Fraction
    cost_to_end: Fraction
    cost_given_goal: Fraction | None
    variance: Fraction
    expected_steps: Fraction

    def as_json(self) -> dict[str, object]:
        """Every number as a fraction in text and as the nearest float."""
        numbers = {
            "goal_probability": self.goal_probability,
            **{f"{failure.name.lower()}_probability": chance for failure, chance in self.failures.items()},
            "expected_cost": self.expected_cost,
            "cost_to_end": self.cost_to_end,
            "cost_given_goal": self.cost_given_goal,
            "variance": self.variance,
            "expected_steps": self.expected_steps,
        }
        return {"states": self.states, **{name: fraction_as_json(number) for name, number in numbers.items()}}


def fraction_as_json(number: Fraction | None) -> dict[str, object] | None:
    """A fraction as text, such as "59/2", and the nearest float; no text where it would have thousands of digits.

    Nor is there a float where it is beyond all of them.

    Example:
        >>> from fractions import Fraction
        >>> from asnets.verification import fraction_as_json
        >>> fraction_as_json(Fraction(59, 2))
        {'fraction': '59/2', 'decimal': 29.5}
    """
    if number is None:
        return None
    try:
        decimal = float(number)
    except OverflowError:
        decimal = None
    return {"fraction": fraction_words(number), "decimal": decimal}


def fraction_words(number: Fraction) -> str | None:
    """A fraction as text, such as "59/2"; None where it would have thousands of digits."""
    # A number of so many bits has at most 0.302 times as many digits.
    is_short = max(number.numerator.bit_length(), number.denominator.bit_length()) * 0.302 < _MAX_DIGITS
    return str(number) if is_short else None


def rational_chain(
    policy: TaskPolicy, *, max_states: int = MAX_RATIONAL_STATES, deadline: Deadline = NO_DEADLINE
) -> RationalChain:
    """The chain of a policy from the initial state, breadth first.

    Raises:
        LimitError: If it has more states, or the deadline passes.

    Example:
        >>> from asnets.verification import rational_chain
        >>> task = asnets.generate("triangle-tireworld", 1)
        >>> rational_chain(asnets.solve(task).policy)
        <RationalChain of 38 states>
    """
    task, effects, simulator = policy.task, ExactEffects(policy.task), Simulator(policy.task)
    initial = frozenset(task.propositions_of().tolist())
    numbers: dict[TrueSet, int] = {initial: 0}
    states = [initial]
    successors: list[dict[int, Fraction]] = []
    shares: list[dict[int, Fraction]] = []
    squares: list[Fraction] = []
    goals: list[bool] = []
    while len(successors) < len(states):
        lot = states[len(successors) : len(successors) + _STATES_AT_ONCE]
        arrays = [np.array(sorted(state), np.int32) for state in lot]
        met = [simulator.state_of(array) for array in arrays]
        # A policy is asked where there is something to choose from, and nowhere else.
        is_asked = [not state.is_goal and bool(state.applicable) for state in met]
        asked = [array for array, is_one in zip(arrays, is_asked, strict=True) if is_one]
        answers = iter(asked_distributions(policy, asked) if asked else ())
        for state, is_one, is_goal in zip(lot, is_asked, [state.is_goal for state in met], strict=True):
            deadline.check(f"writing out the chain of {policy.name} with fractions")
            onwards: dict[int, Fraction] = {}
            share: dict[int, Fraction] = {}
            square = Fraction(0)
            for action, chance in exact_choices(Distribution(*next(answers))) if is_one else ():
                cost = effects.cost(state, action)
                square += chance * cost**2
                for after, probability in effects.successors(state, action).items():
                    number = numbers.setdefault(after, len(states))
                    if number == len(states):
                        states.append(after)
                    onwards[number] = onwards.get(number, Fraction(0)) + chance * probability
                    share[number] = share.get(number, Fraction(0)) + chance * probability * cost
            if len(states) > max_states:
                raise LimitError(
                    f"the chain of {policy.name} on {task.problem} has more than {max_states:,} states: too many to be "
                    "solved with fractions (without --rational, bounds are computed with floats)"
                )
            successors.append(onwards)
            shares.append(share)
            squares.append(square)
            goals.append(is_goal)
    return RationalChain(tuple(states), tuple(successors), tuple(shares), tuple(squares), tuple(goals))


def exact_choices(distribution: Distribution) -> list[tuple[int, Fraction]]:
    """Actions of positive probability, with probabilities that add up to 1: 1/k if all k are the same."""
    actions = [int(action) for action, p in zip(*distribution, strict=True) if p > 0]
    floats = [float(p) for p in distribution.probabilities if p > 0]
    if not floats:
        return []
    if min(floats) == max(floats):
        return [(action, Fraction(1, len(actions))) for action in actions]
    shares = [Fraction(p) for p in floats]
    total = sum(shares, Fraction(0))
    return [(action, share / total) for action, share in zip(actions, shares, strict=True)]


def solve_rational(
    chain: RationalChain,
    *,
    penalty: Fraction,
    failure_of: FailureOf | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> RationalSolution:
    """Solves a chain.

    Args:
        chain: The chain.
        penalty: What a run that fails pays.
        failure_of: How runs fail, such as `failures_of` gives; without it, that is left out.
        deadline: When to stop.

    Raises:
        LimitError: If the deadline passes.

    Example:
        >>> from fractions import Fraction
        >>> from asnets.verification import rational_chain, solve_rational
        >>> task = asnets.generate("triangle-tireworld", 2)
        >>> chain = rational_chain(asnets.solve(task).policy)
        >>> solution = solve_rational(chain, penalty=Fraction(500))
        >>> solution.goal_probability, solution.expected_cost
        (Fraction(1, 1), Fraction(23, 2))
    """
    if len(chain) == 0:
        raise ConfigError("a chain has at least one state")
    components = _components(chain.successors, deadline)
    ends = _ends(chain, components, failure_of)
    kinds = [] if failure_of is None else [Failure.DEAD_END, Failure.LOOP, Failure.GIVES_UP]

    zero, one = Fraction(0), Fraction(1)
    # Where runs end, every number is known; elsewhere x = r + P x with one r for each number.
    failing = [[zero] * len(kinds) for _ in range(len(chain))]
    for state, end in ends.items():
        if end in kinds:
            failing[state][kinds.index(end)] = one
    ended = _solve(chain.successors, components, failing, set(ends), deadline)

    moments, stopped = _first_moments(chain, components, deadline)
    reached = [moment[0] for moment in moments]
    values = _values(moments, penalty)

    second = [[zero, penalty**2 if state in stopped else zero] for state in range(len(chain))]
    for state in range(len(chain)):
        if chain.goals[state]:
            second[state] = [zero, zero]
        elif state not in stopped:
            shares = chain.cost_shares[state].items()
            second[state] = [
                sum((share * reached[after] for after, share in shares), zero),
                chain.square_costs[state] + 2 * sum((share * values[after] for after, share in shares), zero),
            ]
    squares = _solve(chain.successors, components, second, stopped, deadline)

    goal, steps, cost = moments[0]
    return RationalSolution(
        states=len(chain),
        goal_probability=goal,
        failures=dict(zip(kinds, ended[0], strict=True)),
        expected_cost=values[0],
        cost_to_end=cost,
        cost_given_goal=squares[0][0] / goal if goal else None,
        variance=squares[0][1] - values[0] ** 2,
        expected_steps=steps,
    )


def rational_values(chain: RationalChain, *, penalty: Fraction, deadline: Deadline = NO_DEADLINE) -> list[Fraction]:
    """The expected cost from each state of a chain, with the penalty where a run fails.

    Raises:
        LimitError: If the deadline passes.

    Example:
        >>> from fractions import Fraction
        >>> from asnets.verification import rational_chain, rational_values
        >>> chain = rational_chain(asnets.solve(asnets.generate("triangle-tireworld", 2)).policy)
        >>> rational_values(chain, penalty=Fraction(500))[0]
        Fraction(23, 2)
    """
    components = _components(chain.successors, deadline)
    moments, _ = _first_moments(chain, components, deadline)
    return _values(moments, penalty)


def failures_of(chain: RationalChain, model: ExplicitModel, solution: ChainSolution) -> FailureOf:
    """How runs fail that end in a component, as the solution with floats says: that is no question of numbers.

    Example:
        >>> from fractions import Fraction
        >>> from asnets.verification import explore_chain, failures_of, rational_chain, solve_chain, solve_rational
        >>> policy = asnets.RandomPolicy(asnets.generate("triangle-tireworld", 1))
        >>> model, chain = explore_chain(policy), rational_chain(policy)
        >>> kinds = failures_of(chain, model, solve_chain(model))
        >>> exact = solve_rational(chain, penalty=Fraction(500), failure_of=kinds)
        >>> {failure.name: str(chance) for failure, chance in exact.failures.items()}
        {'DEAD_END': '3/8', 'LOOP': '0', 'GIVES_UP': '0'}
    """
    if model.native is None:
        raise ConfigError("the model was made from arrays, so that its states are not known")
    native = model.native

    def failure_of(component: Sequence[int]) -> Failure:
        number = native.find(np.array(sorted(chain.propositions[component[0]]), np.int32))
        return Failure.NONE if number < 0 else Failure(int(solution.failures[number]))

    return failure_of


def _first_moments(
    chain: RationalChain, components: list[list[int]], deadline: Deadline
) -> tuple[list[list[Fraction]], set[int]]:
    """Of each state, the probability of the goal, and expected steps and cost until the goal or failure.

    Returns:
        These, and the states in which runs end: goals, and where the goal is out of the policy's reach.
    """
    zero, one = Fraction(0), Fraction(1)
    reaches = _reaches_goal(chain, components)
    stopped = {state for state in range(len(chain)) if chain.goals[state] or not reaches[state]}
    first = [[zero, zero, zero] for _ in range(len(chain))]
    for state in range(len(chain)):
        if chain.goals[state]:
            first[state][0] = one
        elif state not in stopped:
            first[state][1:] = [one, sum(chain.cost_shares[state].values(), zero)]
    return _solve(chain.successors, components, first, stopped, deadline), stopped


def _values(moments: list[list[Fraction]], penalty: Fraction) -> list[Fraction]:
    """Expected costs with the penalty."""
    return [cost + penalty * (1 - goal) for goal, _, cost in moments]


def _ends(chain: RationalChain, components: list[list[int]], failure_of: FailureOf | None) -> dict[int, Failure]:
    """How runs fail in the states where they end: goals, where they do not, and bottom components without one."""
    ends: dict[int, Failure] = {}
    for component in components:
        inside = set(component)
        if chain.goals[component[0]]:
            ends[component[0]] = Failure.NONE
        elif all(after in inside for state in component for after in chain.successors[state]):
            ends |= dict.fromkeys(component, Failure.NONE if failure_of is None else failure_of(component))
    return ends


def _reaches_goal(chain: RationalChain, components: list[list[int]]) -> list[bool]:
    reaches = list(chain.goals)
    for component in components:  # Those behind it come first.
        if any(reaches[after] for state in component for after in chain.successors[state]):
            for state in component:
                reaches[state] = True
    return reaches


def _components(successors: Sequence[Mapping[int, Fraction]], deadline: Deadline) -> list[list[int]]:
    """Strongly connected components, each after all that can be reached from it [tarjan1972depth]."""
    order: list[int | None] = [None] * len(successors)
    low = [0] * len(successors)
    on_stack = [False] * len(successors)
    stack: list[int] = []
    found: list[list[int]] = []
    counter = 0
    for root in range(len(successors)):
        if order[root] is not None:
            continue
        order[root] = low[root] = counter
        counter += 1
        stack.append(root)
        on_stack[root] = True
        path = [(root, iter(successors[root]))]
        while path:
            state, after = path[-1]
            following = next(after, None)
            if following is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[state])
                if low[state] == order[state]:
                    component: list[int] = []
                    while not component or component[-1] != state:
                        component.append(stack.pop())
                        on_stack[component[-1]] = False
                    found.append(component)
                    deadline.check(_DOING)
            elif order[following] is None:
                order[following] = low[following] = counter
                counter += 1
                stack.append(following)
                on_stack[following] = True
                path.append((following, iter(successors[following])))
            elif on_stack[following]:
                low[state] = min(low[state], order[following] or 0)
    return found


def _solve(
    successors: Sequence[Mapping[int, Fraction]],
    components: list[list[int]],
    right: Sequence[Sequence[Fraction]],
    known: set[int],
    deadline: Deadline,
) -> list[list[Fraction]]:
    """Solves x = r + P x for every column of r; where a state is known, x is r."""
    solution = [list(row) for row in right]
    for component in components:
        deadline.check(_DOING)
        unknown = [state for state in component if state not in known]
        if unknown:
            _solve_component(successors, unknown, solution, deadline)
    return solution


def _solve_component(
    successors: Sequence[Mapping[int, Fraction]],
    unknown: list[int],
    solution: list[list[Fraction]],
    deadline: Deadline,
) -> None:
    inside = set(unknown)
    rows: dict[int, dict[int, Fraction]] = {}
    into: dict[int, set[int]] = {state: set() for state in unknown}
    for state in unknown:
        rows[state] = {after: p for after, p in successors[state].items() if after in inside}
        for after in rows[state]:
            into[after].add(state)
        for after, p in successors[state].items():
            if after not in inside:
                solution[state] = [x + p * y for x, y in zip(solution[state], solution[after], strict=True)]
    eliminated: list[int] = []
    queue = [(len(into[state]) * len(rows[state]), state) for state in unknown]
    heapq.heapify(queue)
    while len(eliminated) < len(unknown):
        deadline.check(_DOING)
        # About as few products as there can be now: what has become worse in the meantime is put back.
        products, state = heapq.heappop(queue)
        if len(into[state]) * len(rows[state]) > products:
            heapq.heappush(queue, (len(into[state]) * len(rows[state]), state))
            continue
        eliminated.append(state)
        row = rows[state]
        stay = row.pop(state, None)
        into[state].discard(state)
        if stay is not None:
            scale = 1 / (1 - stay)
            for after in row:
                row[after] *= scale
            solution[state] = [x * scale for x in solution[state]]
        for before in into[state]:
            weight = rows[before].pop(state)
            for after, p in row.items():
                rows[before][after] = rows[before].get(after, Fraction(0)) + weight * p
                into[after].add(before)
            solution[before] = [x + weight * y for x, y in zip(solution[before], solution[state], strict=True)]
        for after in row:
            into[after].discard(state)
    # The row of a state refers to states that were eliminated after it.
    for state in reversed(eliminated):
        for after, p in rows[state].items():
            solution[state] = [x + p * y for x, y in zip(solution[state], solution[after], strict=True)]
