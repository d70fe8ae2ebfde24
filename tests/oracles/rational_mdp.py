"""Small MDPs solved exactly, in fractions, for every objective: end components by brute force, then policy iteration.

An MDP is a list of states, each a list of choices, each a cost and the probabilities of its successors. A goal has no
choices and is named in `goals`. Nothing here is clever: sets of states are shrunk until they are closed, and linear
systems are solved by elimination.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tests.oracles.exact_chain import solve_linear

Choice = tuple[Fraction, dict[int, Fraction]]
Policy = dict[int, int | None]


@dataclass(frozen=True)
class RationalMDP:
    """States 0, 1, …; state 0 is the initial one."""

    choices: tuple[tuple[Choice, ...], ...]
    goals: frozenset[int]

    def __len__(self) -> int:
        return len(self.choices)


class UnboundedError(Exception):
    """Costs add up to less than nothing, without end."""


def reaching(mdp: RationalMDP, allowed: Callable[[int, int], bool], targets: set[int]) -> set[int]:
    """The states from which a target can be reached by allowed choices."""
    found = set(targets)
    while True:
        more = {
            state
            for state, choices in enumerate(mdp.choices)
            if state not in found
            for number, (_, outcomes) in enumerate(choices)
            if allowed(state, number) and found & outcomes.keys()
        }
        if not more:
            return found
        found |= more


def end_components(mdp: RationalMDP, allowed: Callable[[int, int], bool]) -> list[set[int]]:
    """The maximal end components of allowed choices, by taking apart candidates until nothing changes."""
    candidates = [set(range(len(mdp)))]
    found = []
    while candidates:
        states = candidates.pop()
        inner = {
            state: [
                outcomes.keys()
                for number, (_, outcomes) in enumerate(mdp.choices[state])
                if allowed(state, number) and outcomes.keys() <= states
            ]
            for state in states
        }
        stuck = {state for state in states if not inner[state]}
        if stuck:
            if states - stuck:
                candidates.append(states - stuck)
            continue

        def closure(start: int, inner: dict[int, list[set[int]]] = inner) -> set[int]:  # type: ignore[assignment]
            seen = {start}
            queue = [start]
            for state in queue:
                for outcomes in inner[state]:
                    queue += [other for other in outcomes if other not in seen]
                    seen |= set(outcomes)
            return seen

        reach = {state: closure(state) for state in states}
        first = min(states)
        together = {state for state in states if state in reach[first] and first in reach[state]}
        if together == states:
            found.append(states)
        else:
            left = set(states)
            while left:
                one = min(left)
                part = {state for state in left if state in reach[one] and one in reach[state]}
                candidates.append(part)
                left -= part
    return found


def least_costs(
    mdp: RationalMDP,
    allowed: Callable[[int, int], bool],
    ends: dict[int, Fraction],
    give_up: Fraction | None,
) -> list[Fraction]:
    """The least expected cost from each state until an end; None for `give_up` where that is not offered.

    Raises:
        UnboundedError: If an end component has a choice that earns something.
    """

    def inner(state: int, number: int) -> bool:
        return state not in ends and allowed(state, number)

    free = end_components(mdp, lambda s, c: inner(s, c) and mdp.choices[s][c][0] == 0)
    group = {state: min(part) for part in free for state in part}
    node = [group.get(state, state) for state in range(len(mdp))]
    for part in end_components(mdp, inner):
        for state in part:
            for number, (cost, outcomes) in enumerate(mdp.choices[state]):
                if inner(state, number) and outcomes.keys() <= part and cost < 0:
                    raise UnboundedError
    options: dict[int, list[Choice]] = {name: [] for name in node if name not in ends}
    for state, choices in enumerate(mdp.choices):
        for number, (cost, outcomes) in enumerate(choices):
            if not inner(state, number):
                continue
            merged: dict[int, Fraction] = {}
            for successor, probability in outcomes.items():
                merged[node[successor]] = merged.get(node[successor], Fraction(0)) + probability
            stays = merged.pop(node[state], Fraction(0))
            if merged:
                scale = 1 - stays
                options[node[state]].append((cost / scale, {s: p / scale for s, p in merged.items()}))
    names = sorted(options)
    index = {name: i for i, name in enumerate(names)}

    # A policy that ends: give up everywhere, or get nearer to an end.
    policy: Policy = dict.fromkeys(names)
    if give_up is None:
        near = set(ends)
        while len(near) < len(names) + len(ends):
            before = len(near)
            for name in names:
                for number, (_, outcomes) in enumerate(options[name]):
                    if name not in near and near & outcomes.keys():
                        policy[name] = number
                        near.add(name)
            assert len(near) > before, "no policy ends"

    while True:
        rows: list[dict[int, Fraction]] = []
        right: list[Fraction] = []
        for name in names:
            taken = policy[name]
            if taken is None:
                assert give_up is not None
                rows.append({})
                right.append(give_up)
                continue
            cost, outcomes = options[name][taken]
            rows.append({index[s]: p for s, p in outcomes.items() if s not in ends})
            right.append(cost + sum((p * ends[s] for s, p in outcomes.items() if s in ends), Fraction(0)))
        values = dict(zip(names, solve_linear(rows, right), strict=True)) | ends
        better = False
        for name in names:
            best = values[name]
            if give_up is not None and give_up < best:
                best, policy[name], better = give_up, None, True
            for number, (cost, outcomes) in enumerate(options[name]):
                value = cost + sum((p * values[s] for s, p in outcomes.items()), Fraction(0))
                if value < best:
                    best, policy[name], better = value, number, True
        if not better:
            return [values[name] for name in node]


def least_failures(mdp: RationalMDP) -> list[Fraction]:
    """The least probability of failing from each state."""
    free = RationalMDP(tuple(tuple((Fraction(0), o) for _, o in choices) for choices in mdp.choices), mdp.goals)
    hopeful = reaching(mdp, lambda *_: True, set(mdp.goals))
    ends = {s: Fraction(0) for s in mdp.goals} | {s: Fraction(1) for s in range(len(mdp)) if s not in hopeful}
    return least_costs(free, lambda *_: True, ends, Fraction(1))


def penalty_values(mdp: RationalMDP, penalty: Fraction) -> list[Fraction]:
    """The least expected cost from each state, where giving up costs a penalty, and so does a dead end, at once."""
    hopeful = reaching(mdp, lambda *_: True, set(mdp.goals))
    ends = {s: Fraction(0) for s in mdp.goals} | {s: penalty for s in range(len(mdp)) if s not in hopeful}
    return least_costs(mdp, lambda *_: True, ends, penalty)


def lexicographic_values(mdp: RationalMDP) -> list[Fraction]:
    """The least expected cost until the goal is reached or out of reach, by choices that keep its probability."""
    failing = least_failures(mdp)

    def keeps(state: int, number: int) -> bool:
        outcomes = mdp.choices[state][number][1]
        return sum((p * failing[s] for s, p in outcomes.items()), Fraction(0)) == failing[state]

    ends = {s: Fraction(0) for s in range(len(mdp)) if s in mdp.goals or failing[s] == 1}
    return least_costs(mdp, keeps, ends, None)


def policy_values(mdp: RationalMDP, policy: Policy, penalty: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Goal probability, cost to the end, and cost with the penalty for failing, of a policy from state 0.

    A run ends at a goal, where the policy gives up (None), and where it can no longer reach a goal.
    """

    def chosen(state: int, number: int) -> bool:
        return policy.get(state) == number

    hopeful = reaching(mdp, chosen, set(mdp.goals))
    states = [s for s in range(len(mdp)) if s in hopeful and s not in mdp.goals]
    index = {s: i for i, s in enumerate(states)}
    rows: list[dict[int, Fraction]] = []
    reach: list[Fraction] = []
    cost: list[Fraction] = []
    for state in states:
        number = policy[state]
        assert number is not None
        paid, outcomes = mdp.choices[state][number]
        rows.append({index[s]: p for s, p in outcomes.items() if s in index})
        reach.append(sum((p for s, p in outcomes.items() if s in mdp.goals), Fraction(0)))
        cost.append(paid)
    if 0 in mdp.goals:
        return Fraction(1), Fraction(0), Fraction(0)
    if 0 not in hopeful:
        return Fraction(0), Fraction(0), penalty
    probability = solve_linear(rows, reach)[index[0]]
    to_end = solve_linear(rows, cost)[index[0]]
    return probability, to_end, to_end + penalty * (1 - probability)
