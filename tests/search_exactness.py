"""Compares policies with a search beside them to the same policies alone, on random SSPs.

    python -m tests.search_exactness --ssps 300 --seed 0

For each SSP (tests/ssp_strategies.py, small ones) networks with random weights are drawn, greedy ones and some that
draw, until one reaches the goal now and then; every fiftieth may fail always. The chain of its policy is solved
exactly. Beside a search a policy has memory, so its value is estimated by runs. A run that fails costs the penalty and
what was paid until it failed, as in the chain: until it came, for the last time, to where the policy alone is lost.

A search is *worse* where its mean is above the exact value of the policy by more than a one-sided test of 99% allows,
which chance does in about one of a hundred. That is repeated with other seeds and ten times the runs; what that
confirms is a true loss.

Also counted: whether the bounds of planners that start from the policy, and are stopped at a random number of
expansions, contain the optimal value, and whether the policy that they have keeps what they guarantee.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass, field

import numpy as np
import torch
from hypothesis import HealthCheck, Phase, given, seed, settings

from asnets.evaluation import Trace, simulate, trace
from asnets.grounding import GroundTask, ground
from asnets.grounding.fingerprint import fingerprint
from asnets.network import DomainSignature, NetworkConfig
from asnets.network.network import ASNet
from asnets.planning import SearchLimits, Solver
from asnets.policies import SEARCHES, GuardedPolicy, OnlineSearch, TaskPolicy
from asnets.policies.native_network import NativeNetworkPolicy
from asnets.policies.table import extract_policy
from asnets.ppddl.model import Domain, Problem
from asnets.verification.chain_solution import solve_chain
from asnets.verification.model import explore_chain
from tests.network.building import random_network
from tests.oracles.explicit import Explicit, explore
from tests.ssp_strategies import ssps

PENALTY = 100.0
RUNS, MORE_RUNS = 40, 600
MAX_STEPS = 60
ROLLOUTS_PER_STEP = 32
LOW_ERROR_RATE = 0.05
QUANTILE_99 = 2.326
MOST_STATES = 400
_TRIES = 12  # Networks that are drawn for one whose policy reaches the goal now and then.
_CONFIG = NetworkConfig(layers=1, hidden=4, features=())


@dataclass(frozen=True)
class Setting:
    """A search and its error rate."""

    search: str
    error_rate: float

    def beside(self, policy: TaskPolicy) -> GuardedPolicy:
        search = OnlineSearch(
            self.search,
            rollouts_per_step=ROLLOUTS_PER_STEP,
            error_rate=self.error_rate,
            penalty=PENALTY,
            rollout_steps=MAX_STEPS,
        )
        return GuardedPolicy(policy, search=search)


SETTINGS = tuple(
    Setting(name, rate) for name, info in SEARCHES.items() for rate in sorted({info.error_rate, LOW_ERROR_RATE})
)


@dataclass(frozen=True)
class Case:
    """A policy in an SSP.

    Attributes:
        value: Of the policy, exactly: the expected cost, with the penalty for failing.
        optimum: The least one.
    """

    explicit: Explicit
    policy: NativeNetworkPolicy
    value: float
    optimum: float


@dataclass
class Outcomes:
    """What a setting came to.

    Attributes:
        values: Estimated, by case.
        gains: The exact value of the policy less that, by case.
        worse: Cases in which the first test found it to be worse.
        losses: Of those in which the second one did too: as measured by that, with the number of the case.
    """

    values: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    worse: int = 0
    losses: list[tuple[float, int]] = field(default_factory=list)


@dataclass
class Comparison:
    """All of it.

    Attributes:
        unsound: Cases in which bounds of a solver that started from the policy are wrong.
    """

    cases: list[Case] = field(default_factory=list)
    outcomes: dict[Setting, Outcomes] = field(default_factory=lambda: {each: Outcomes() for each in SETTINGS})
    unsound: int = 0


def policy_steps(explicit: Explicit, policy: TaskPolicy) -> list[list[tuple[float, float, int]]]:
    """What a policy may do in each state: (probability, cost, successor) of each step; none at goals."""
    states = [explicit.states.propositions(number) for number in explicit.numbers]
    steps = []
    for place, (actions, probabilities) in enumerate(policy.distributions(states)):
        outcomes = dict(explicit.transitions[place])
        steps.append(
            [
                (chosen * probability, explicit.costs[place][action], successor)
                for action, chosen in zip(actions.tolist(), probabilities.tolist(), strict=True)
                if not explicit.goals[place]
                for successor, probability in outcomes[action]
            ]
        )
    return steps


def lost_states(explicit: Explicit, steps: list[list[tuple[float, float, int]]]) -> list[bool]:
    """From which states the policy of these steps never reaches the goal."""
    reaches = list(explicit.goals)
    changed = True
    while changed:
        changed = False
        for place, ahead in enumerate(steps):
            if not reaches[place] and any(reaches[successor] for _, _, successor in ahead):
                reaches[place] = changed = True
    return [not each for each in reaches]


class Judge:
    """What runs beside a policy cost."""

    def __init__(self, case: Case) -> None:
        self._explicit = case.explicit
        self._places = {number: place for place, number in enumerate(case.explicit.numbers)}
        self._lost = lost_states(case.explicit, policy_steps(case.explicit, case.policy))

    def mean(self, policy: TaskPolicy, runs: int, seed: int) -> tuple[float, float]:
        """The mean cost, with its standard error."""
        found = simulate(policy, episodes=runs, max_steps=MAX_STEPS, seed=seed, threads=1)
        costs = np.array(found.costs, np.float64)
        for episode in np.flatnonzero(np.asarray(found.endings) != 0).tolist():
            costs[episode] = PENALTY + self._paid(trace(policy, episode=episode, max_steps=MAX_STEPS, seed=seed))
        return float(costs.mean()), float(costs.std(ddof=1)) / math.sqrt(runs)

    def _paid(self, failed: Trace) -> float:
        places = [self._places[self._explicit.states.intern(state)] for state in failed.states]
        hopeful = [number for number, place in enumerate(places) if not self._lost[place]]
        before = hopeful[-1] + 1 if hopeful else 0  # Steps until it was lost.
        taken = zip(places[:before], failed.steps, strict=False)
        return sum(self._explicit.costs[place][step.action] for place, step in taken)


def draw_case(task: GroundTask, number: int) -> Case | None:
    """A case of a task; None where there is no choice to make, or the task is too large."""
    explicit = explore(task, MOST_STATES)
    if explicit is None or all(len(actions) < 2 for actions in explicit.transitions):
        return None
    optimum = explicit.optimal_values(PENALTY)[0]
    sampled = number % 6 == 0
    for attempt in range(_TRIES):
        weights = _TRIES * number + attempt
        # Sampled ones have small weights, with which all actions are likely: large ones would hardly ever end.
        small = ASNet(DomainSignature.of(task), _CONFIG, seed=weights, dtype=torch.float64)
        network = small if sampled else random_network(task, _CONFIG, seed=weights)
        policy = NativeNetworkPolicy(network, task, sampled=sampled)
        found = solve_chain(explore_chain(policy, threads=1), PENALTY)
        value = found.expected_cost.middle
        if found.expected_steps.upper < MAX_STEPS / 10 and (value < 0.95 * PENALTY or number % 50 == 1):
            return Case(explicit, policy, value, optimum)
    return None


def compare_case(case: Case, number: int, result: Comparison) -> None:
    """Adds a case to the comparison."""
    result.cases.append(case)
    judge = Judge(case)
    for setting, outcomes in result.outcomes.items():
        guarded = setting.beside(case.policy)
        value, error = judge.mean(guarded, RUNS, number)
        outcomes.values.append(value)
        outcomes.gains.append(case.value - value)
        if value - case.value <= QUANTILE_99 * error + 1e-9:
            continue
        outcomes.worse += 1
        value, error = judge.mean(guarded, MORE_RUNS, number + 2**32)
        if value - case.value > QUANTILE_99 * error + 1e-9:
            outcomes.losses.append((value - case.value, number))
    result.unsound += not has_sound_bounds(case, number)


def has_sound_bounds(case: Case, number: int) -> bool:
    """Whether a search from the policy, stopped somewhere, has bounds and a policy that are what they say."""
    rng = np.random.default_rng(number)
    planner = str(rng.choice(["lrtdp", "ilao", "cgilao"]))
    solver = Solver(case.policy.task, planner, "lmcut", penalty=PENALTY, seed=number, policy=case.policy)
    found = solver.solve(limits=SearchLimits(expansions=int(rng.integers(1, 60))), bounds=True)
    assert found.lower is not None
    assert found.upper is not None
    best = extract_policy(solver)
    exact = solve_chain(explore_chain(best, threads=1), PENALTY).expected_cost
    guarantee = best.origin.guarantee
    margin = 1e-7 * max(1.0, case.optimum)  # Of the oracle.
    holds = guarantee is None or exact.lower <= guarantee + margin
    return found.lower <= case.optimum + margin and found.upper >= case.optimum - margin and holds


def compare(count: int, first_seed: int, show: bool = False) -> Comparison:
    """Draws SSPs and policies until there are `count` cases, and compares them."""
    result = Comparison()
    seen: set[str] = set()
    start = time.perf_counter()

    @seed(first_seed)
    @settings(
        max_examples=10 * count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(ssps(max_places=5))
    def of_tasks(ssp: tuple[Domain, Problem]) -> None:
        task = ground(*ssp, costs="metric")
        if len(result.cases) >= count or fingerprint(task) in seen:
            return
        seen.add(fingerprint(task))
        number = 1_000_000 * first_seed + len(seen)
        case = draw_case(task, number)
        if case is None:
            return
        compare_case(case, number, result)
        if show and len(result.cases) % 50 == 0:
            print(f"{len(result.cases)} SSPs, {time.perf_counter() - start:.0f} s", flush=True)

    of_tasks()
    return result


def table(result: Comparison) -> list[str]:
    """The comparison, line by line."""
    cases = result.cases
    policy, optimum = (float(np.mean([getattr(case, name) for case in cases])) for name in ("value", "optimum"))
    lines = [f"mean value of the policies {policy:.2f}, of optimal ones {optimum:.2f}"]
    lines.append("search   error rate  mean value  mean gain  worse (by chance)  confirmed  largest loss  mean loss")
    for setting, outcomes in result.outcomes.items():
        losses = [loss for loss, _ in outcomes.losses]
        lines.append(
            f"{setting.search:8} {setting.error_rate:10.2f} {np.mean(outcomes.values):11.2f} "
            f"{np.mean(outcomes.gains):10.2f} {outcomes.worse:6} ({0.01 * len(cases):.0f}) {len(losses):16} "
            f"{max(losses, default=0.0):13.2f} {sum(losses) / len(cases):10.3f}"
        )
    for setting, outcomes in result.outcomes.items():
        each = ", ".join(f"{loss:.2f} (case {number})" for loss, number in sorted(outcomes.losses, reverse=True))
        lines += [f"losses of {setting.search} at {setting.error_rate:g}: {each}"] if each else []
    lines.append(f"bounds of solvers that start from the policy: {result.unsound} of {len(cases)} wrong")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.search_exactness", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--ssps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.perf_counter()
    result = compare(options.ssps, options.seed, show=True)
    sizes = [len(case.explicit) for case in result.cases]
    print(f"{len(sizes)} SSPs of {min(sizes)} to {max(sizes)} states, {time.perf_counter() - start:.0f} s")
    print("\n".join(table(result)))
    return 1 if result.unsound else 0


if __name__ == "__main__":
    sys.exit(main())
