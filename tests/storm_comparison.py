"""Our numbers about random chains and MDPs against Storm's on the exported files, and against exact fractions.

    python -m tests.storm_comparison --chains 2000 --mdps 500 --seed 0

Tasks come from `tests.ssp_strategies` (dead ends, traps, end components), some actions made free, with random policies
that may draw and give up; a third of the chains has any shape at all, with steps that cost nothing. The exact truth is
what Storm computes
with rational numbers from the fractions of the model. Then

- every bound of `solve_chain` has to contain it, compared as fractions, and be narrow;
- every planner that claims an objective has to come to the value of that objective;
- Storm has to come to it with doubles too, from the files that `asnets export` writes, in all formats in turn.

What the objectives mean for Storm: `maxprob` is Pmax of the goal. `penalty` is the least expected cost of the MDP with
one more action everywhere, which ends the run at the price of the penalty. `lexicographic` is the least expected cost
until the goal is reached or out of reach, in the MDP with those actions alone that keep the greatest probability.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import itertools
import math
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from asnets.errors import SemanticError
from asnets.extras import is_installed
from asnets.grounding import GroundTask, ground
from asnets.grounding.task import Bools
from asnets.planning import PLANNERS, SearchLimits, Solver
from asnets.ppddl import Domain, Problem
from asnets.ppddl.model import AndEffect, Change, Effect, Number
from asnets.verification import ExplicitModel, Interval, StateKind, explore_chain, explore_mdp, solve_chain
from asnets.verification.chain_solution import ChainSolution, Failure
from asnets.verification.export import FORMATS, write_model
from asnets.verification.labels import state_labels
from tests.oracles.rational_models import Fractions, rational_model
from tests.oracles.storm import Number as StormNumber
from tests.oracles.storm import Storm, why_missing
from tests.ssp_strategies import ssps
from tests.verification.random_chains import random_chain, random_policy

EPSILON = 1e-6
PENALTY = 500
STORM_PRECISION = 1e-9
TOLERANCE = 1e-6
"""Of Storm with doubles and of planners, relative to numbers over 1; the planners' ε is far smaller."""
SOLVER_EPSILON = 1e-9
_PATIENCE = SearchLimits(cpu_seconds=20)  # Where others take milliseconds: the search does not come to an end.
_GOAL = 'P=? [F "goal"]'
_COST_TO_END = 'R=? [F ("goal" | P<=0 [F "goal"])]'
_COST_GIVEN_GOAL = 'R=? [F "goal" || F "goal"]'
_BEST = 'Pmax=? [F "goal"]'
_LEAST_WITH_PENALTY = 'Rmin=? [F ("goal" | "end")]'


@dataclass
class Comparison:
    """What was compared, and what is wrong.

    Attributes:
        numbers: How many numbers of ours were held against the truth.
        widest: The widest bound, relative to numbers over 1.
        storm_off: How far Storm was off with doubles, likewise.
        planners_off: How far planners were off, by objective.
        failures: What is wrong, in words.
    """

    chains: int = 0
    mdps: int = 0
    states: int = 0
    numbers: int = 0
    widest: float = 0.0
    storm_off: float = 0.0
    planners_off: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def chain_numbers(solution: ChainSolution) -> dict[str, Interval | None]:
    """What is known of a chain, by name."""
    return {
        "goal": solution.goal_probability,
        "dead_end": solution.dead_end_probability,
        "loop": solution.loop_probability,
        "gives_up": solution.gives_up_probability,
        "expected cost": solution.expected_cost,
        "cost to end": solution.cost_to_end,
        "cost given goal": solution.cost_given_goal,
        "steps": solution.expected_steps,
        "variance": solution.variance,
    }


def failure_labels(model: ExplicitModel, solution: ChainSolution) -> dict[str, Bools]:
    """The components in which runs fail, by kind, besides the goal."""
    init = np.zeros(model.num_states, np.bool_)
    init[0] = True
    labels = {"init": init, "goal": model.kinds == StateKind.GOAL}
    for failure in (Failure.DEAD_END, Failure.LOOP, Failure.GIVES_UP):
        labels[failure.name.lower()] = solution.failures == failure
    return labels


class Comparer:
    """Compares models, with one process of Storm, and files in a folder that may be thrown away."""

    def __init__(self, storm: Storm, folder: Path, keep: Path | None = None) -> None:
        """Nothing compared yet.

        Args:
            storm: The process.
            folder: For files.
            keep: Where to copy the files of what went wrong.
        """
        self._storm = storm
        self._folder = folder
        self._keep = keep
        usable = [name for name in FORMATS if name != "umb" or is_installed("umbi")]
        self._formats = itertools.cycle(usable)
        self._seen: set[bytes] = set()
        self.result = Comparison()

    def is_new(self, model: ExplicitModel) -> bool:
        """Whether no equal model was asked about before: what is drawn repeats itself."""
        columns = (model.kinds, model.first_choice, model.choice_cost, model.successors, model.probabilities)
        digest = hashlib.sha256(b"".join(column.tobytes() for column in columns)).digest()
        is_new = digest not in self._seen
        self._seen.add(digest)
        return is_new

    def chain(self, model: ExplicitModel, task: GroundTask | None = None) -> None:
        """Compares all numbers of a chain; if the task is given, also where it says that the goal is out of reach."""
        solution = solve_chain(model, PENALTY, EPSILON)
        labels = failure_labels(model, solution)
        truth = self._chain_truth(rational_model(model), labels)
        self.result.chains += 1
        self.result.states += model.num_states
        wrong = []
        for name, bounds in chain_numbers(solution).items():
            true = truth[name]
            if bounds is None or true is None:
                wrong += [] if bounds is None and true is None else [f"{name}: {bounds} for {true}"]
                continue
            self.result.numbers += 1
            self.result.widest = max(self.result.widest, bounds.width / max(1.0, abs(float(true))))
            if not bounds.lower <= true <= bounds.upper:  # Python compares floats and fractions exactly.
                wrong.append(f"{name}: {bounds!r} does not contain {float(true)!r}")
            if not bounds.is_narrow(EPSILON):
                wrong.append(f"{name}: {bounds!r} is wide")
        if task is not None:
            wrong += _wrong_dead_ends(model, solution, task)
        path = self._written(model, labels)
        properties = _known([_GOAL, _COST_TO_END], labels)
        answers = self._storm.check(path, properties, precision=STORM_PRECISION).results
        wrong += self._off("goal", answers[0].value, truth["goal"])
        wrong += self._off("cost to end", answers[1].value, truth["cost to end"])
        self._report(f"chain {self.result.chains}", wrong, path)

    def mdp(self, model: ExplicitModel, task: GroundTask) -> None:
        """Compares the value of each objective that planners claim."""
        labels = state_labels(model)
        truth = self._mdp_truth(rational_model(model), labels)
        self.result.mdps += 1
        self.result.states += model.num_states
        path = self._written(model, labels)
        answer = self._storm.check(path, _known([_BEST], labels), precision=STORM_PRECISION).results[0]
        wrong = self._off("Pmax", answer.value, truth["maxprob"])
        path = self._written(with_giving_up(model, PENALTY), _labels_with_end(labels))
        properties = _known([_LEAST_WITH_PENALTY], labels | {"end": labels["init"]})
        answer = self._storm.check(path, properties, precision=STORM_PRECISION).results[0]
        wrong += self._off("Rmin with a penalty", answer.value, truth["penalty"])
        for found in planned(task):
            self.result.numbers += 1
            true = truth[found.objective]
            off = _relative(found.value, true)
            self.result.planners_off[found.objective] = max(self.result.planners_off.get(found.objective, 0.0), off)
            what = f"{found.planner}, {found.objective}"
            if found.status != "converged":
                wrong.append(f"{what}: {found.status}")
            if off > TOLERANCE:
                wrong.append(f"{what}: {found.value!r} for {float(true)!r}")
            if found.bounds is None:
                continue
            self.result.widest = max(self.result.widest, found.bounds.width / max(1.0, abs(float(true))))
            if not found.bounds.lower <= true <= found.bounds.upper:
                wrong.append(f"{what}: {found.bounds!r} does not contain {float(true)!r}")
            if not found.bounds.is_narrow(EPSILON):
                wrong.append(f"{what}: {found.bounds!r} is wide")
        self._report(f"MDP {self.result.mdps}", wrong, path)

    def _chain_truth(self, model: ExplicitModel, labels: dict[str, Bools]) -> dict[str, Fraction | None]:
        """All numbers of a chain of fractions, exactly."""
        failures = ("dead_end", "loop", "gives_up")
        values = self._exact(model, labels, [_GOAL, _COST_TO_END])
        failing = self._exact(model, labels, [f'P=? [F "{name}"]' for name in failures])
        goal, cost = values[0][0], values[1][0]
        # The expected cost of what is left, with the penalty, in each state.
        value = [to_end + PENALTY * (1 - reached) for reached, to_end in zip(*values, strict=True)]
        ones: Fractions = np.array([Fraction(1)] * model.num_choices, np.object_)
        steps = self._exact(replace(model, choice_cost=ones), labels, [_COST_TO_END])[0][0]
        # E[C²] is an expected cost too: a step of cost c before what is left costs c² + 2c E[rest]. So is the cost of
        # runs that reach the goal: a step of cost c counts with their share of what follows.
        squares = _step_costs(model, lambda cost, after: cost**2 + 2 * cost * value[after])
        square = self._exact(replace(model, choice_cost=squares), labels, [_COST_TO_END])[0][0]
        shares = _step_costs(model, lambda cost, after: cost * values[0][after])
        of_success = self._exact(replace(model, choice_cost=shares), labels, [_COST_TO_END])[0][0]
        given = None if goal == 0 else of_success / goal
        if given is not None and model.joint is None:
            assert self._exact(model, labels, [_COST_GIVEN_GOAL], only_initial=True)[0][0] == given
        return {
            "goal": goal,
            "expected cost": value[0],
            "cost to end": cost,
            "cost given goal": given,
            "steps": steps,
            "variance": square + PENALTY**2 * (1 - goal) - value[0] ** 2,
            **{name: column[0] for name, column in zip(failures, failing, strict=True)},
        }

    def _mdp_truth(self, model: ExplicitModel, labels: dict[str, Bools]) -> dict[str, Fraction]:
        """The value of each objective in an MDP of fractions, exactly."""
        ending = with_giving_up(model, PENALTY)
        least = self._exact(ending, _labels_with_end(labels), [_LEAST_WITH_PENALTY])[0][0]
        best = self._exact(model, labels, [_BEST])[0]
        hopeless = np.array([probability == 0 for probability in best])
        cost = Fraction(0)
        if not hopeless[0]:
            until = ['Rmin=? [F ("goal" | "hopeless")]']
            cost = self._exact(with_best_actions(model, best), labels | {"hopeless": hopeless}, until)[0][0]
        return {"maxprob": best[0], "penalty": least, "lexicographic": cost}

    def _exact(
        self, model: ExplicitModel, labels: dict[str, Bools], properties: list[str], only_initial: bool = False
    ) -> list[list[Fraction]]:
        """The values of properties in all states, by rational numbers."""
        path = self._folder / "exact.drn"
        write_model(path, model, labels, "drn")
        # Storm takes rewards that are all 0 for a model without any.
        is_free = not np.any(model.choice_cost != 0)
        asked = [text for text in _known(properties, labels) if not (is_free and text.startswith("R"))]
        answer = self._storm.check(path, asked, exact=True, all_states=not only_initial)
        found = [[checked.value] for checked in answer.results] if only_initial else list(map(list, answer.values))
        free = [Fraction(0)] * (1 if only_initial else model.num_states)
        columns = [free if is_free and text.startswith("R") else found.pop(0) for text in properties]
        for column in columns:
            assert all(isinstance(value, Fraction) for value in column), f"an infinite value of {properties}"
        return columns  # type: ignore[return-value]

    def _written(self, model: ExplicitModel, labels: dict[str, Bools]) -> Path:
        name = next(self._formats)
        path = self._folder / f"model{FORMATS[name].suffixes[-1]}"
        write_model(path, model, labels, name)
        return path

    def _off(self, name: str, value: StormNumber, true: Fraction | None) -> list[str]:
        assert true is not None
        off = _relative(float(value), true)
        self.result.storm_off = max(self.result.storm_off, off)
        return [f"Storm, {name}: {value!r} for {float(true)!r}"] if off > TOLERANCE else []

    def _report(self, what: str, wrong: list[str], path: Path) -> None:
        self.result.failures += [f"{what}: {text}" for text in wrong]
        if wrong and self._keep is not None:
            self._keep.mkdir(parents=True, exist_ok=True)
            for file in self._folder.glob(f"{path.stem}.*"):
                shutil.copy(file, self._keep / f"{what.replace(' ', '-')}-{file.name}")


def _relative(value: float, true: Fraction) -> float:
    if not math.isfinite(value):
        return math.inf
    return float(abs(Fraction(value) - true) / max(Fraction(1), abs(true)))


def _step_costs(model: ExplicitModel, counted: Callable[[Fraction, int], Fraction]) -> Fractions:
    """The expectation, for each choice, of a function of the cost of the step and of the state after it."""
    joint = model.joint
    first, successors = (model.first_transition, model.successors) if joint is None else (joint.first, joint.successors)
    probabilities = model.probabilities if joint is None else joint.probabilities
    result = np.empty(model.num_choices, np.object_)
    for choice in range(model.num_choices):
        total = Fraction(0)
        for place in range(int(first[choice]), int(first[choice + 1])):
            cost = model.choice_cost[choice] if joint is None else joint.costs[place]
            total += probabilities[place] * counted(cost, int(successors[place]))
        result[choice] = total
    return result


def _wrong_dead_ends(model: ExplicitModel, solution: ChainSolution, task: GroundTask) -> list[str]:
    """Whether the components that are called dead ends are those from which no policy reaches the goal."""
    whole = explore_mdp(task)
    ends = np.flatnonzero(state_labels(whole)["dead_end"]).tolist()
    dead = {whole.propositions(state).tobytes() for state in ends}
    wrong = []
    for state in np.flatnonzero(solution.failures != Failure.NONE).tolist():
        is_dead = model.propositions(state).tobytes() in dead
        if is_dead != (solution.failures[state] == Failure.DEAD_END):
            wrong.append(f"state {state} is called {Failure(solution.failures[state]).name}")
    return wrong


def _with_choices(model: ExplicitModel, keep: Callable[[int, int], bool], more: float | None) -> ExplicitModel:
    """The model with some of its choices, and perhaps with one more in every state that is no goal: to a new state."""
    kinds, first, actions, costs, begins = [], [0], [], [], [0]
    successors: list[int] = []
    probabilities: list[object] = []
    for state in range(model.num_states):
        for choice in range(int(model.first_choice[state]), int(model.first_choice[state + 1])):
            if keep(state, choice):
                transitions = slice(int(model.first_transition[choice]), int(model.first_transition[choice + 1]))
                successors += model.successors[transitions].tolist()
                probabilities += model.probabilities[transitions].tolist()
                actions.append(int(model.choice_action[choice]))
                costs.append(model.choice_cost[choice])
                begins.append(len(successors))
        if more is not None and model.kinds[state] != StateKind.GOAL:
            successors.append(model.num_states)
            probabilities.append(type(model.probabilities[0])(1) if len(model.probabilities) else 1.0)
            actions.append(-1)
            costs.append(more)
            begins.append(len(successors))
        kinds.append(model.kinds[state] if len(actions) == first[-1] else StateKind.INNER)
        first.append(len(actions))
    if more is not None:
        kinds.append(StateKind.STOPPED)
        first.append(len(actions))
    numbers = np.object_ if model.probabilities.dtype == object else np.float64
    return ExplicitModel(
        np.array(kinds, np.uint8),
        np.array(first, np.uint64),
        np.array(actions, np.int32),
        np.array(costs, numbers),
        np.array(begins, np.uint64),
        np.array(successors, np.uint32),
        np.array(probabilities, numbers),
    )


def with_giving_up(model: ExplicitModel, penalty: int) -> ExplicitModel:
    """The MDP in which a run can be ended anywhere, at a price; the last state is where it has ended."""
    return _with_choices(model, lambda state, choice: True, penalty)


def with_best_actions(model: ExplicitModel, best: list[Fraction]) -> ExplicitModel:
    """The MDP with those choices alone that keep the greatest probability of the goal, and none where that is 0."""

    def keep(state: int, choice: int) -> bool:
        transitions = slice(int(model.first_transition[choice]), int(model.first_transition[choice + 1]))
        reached = sum(
            probability * best[int(successor)]
            for probability, successor in zip(
                model.probabilities[transitions], model.successors[transitions], strict=True
            )
        )
        return best[state] != 0 and reached == best[state]

    return _with_choices(model, keep, None)


def _labels_with_end(labels: dict[str, Bools]) -> dict[str, Bools]:
    """Of an MDP with one more state, in which it ends."""
    longer = {name: np.append(holds, False) for name, holds in labels.items()}
    end = np.zeros(len(longer["init"]), np.bool_)
    end[-1] = True
    return longer | {"end": end}


def _known(properties: list[str], labels: dict[str, Bools]) -> list[str]:
    """Properties that do not name a label that no state has, which DRN cannot have."""
    empty = [name for name, holds in labels.items() if not holds.any()]
    return [re.sub(rf'"({"|".join(empty)})"', "false", text) if empty else text for text in properties]


@dataclass(frozen=True)
class Planned:
    """What a planner came to for an objective; bounds where it gives some."""

    planner: str
    objective: str
    status: str
    value: float
    bounds: Interval | None


def planned(task: GroundTask) -> Iterator[Planned]:
    """What each planner that solves to optimality comes to, for each objective that it claims."""
    make: Any = Solver
    has_objectives = "objective" in inspect.signature(Solver).parameters
    info: Any
    for planner, info in PLANNERS.items():
        if not info.optimal:
            continue
        options: dict[str, Any] = {"epsilon": SOLVER_EPSILON, "penalty": PENALTY}
        if not has_objectives:
            solution = make(task, planner, "lmcut", **options).solve(limits=_PATIENCE)
            yield Planned(planner, "penalty", solution.status, solution.value, None)
            continue
        for objective in info.objectives:
            solver = make(task, planner, "lmcut", objective=objective, **options)
            found = solver.solve(limits=_PATIENCE, bounds=True)
            yield Planned(planner, objective, found.status, found.value, Interval(found.lower, found.upper))


def for_free(domain: Domain, rng: np.random.Generator) -> Domain:
    """The domain with some actions, perhaps many, that cost nothing."""
    share = rng.choice([0.0, 0.3, 0.8])

    def freed(effect: Effect) -> Effect:
        if isinstance(effect, AndEffect):
            return AndEffect(tuple(map(freed, effect.parts)))
        return replace(effect, amount=Number(Fraction(0))) if isinstance(effect, Change) else effect

    actions = [
        replace(action, effect=freed(action.effect)) if rng.random() < share else action for action in domain.actions
    ]
    return replace(domain, actions=tuple(actions))


def compare(chains: int, mdps: int, seed: int, keep: Path | None = None, show: bool = False) -> Comparison:
    """Draws chains and MDPs, and compares them.

    Args:
        chains: How many; two thirds of them are those of random policies, in turn with the others.
        mdps: How many.
        seed: Of all that is drawn; nothing is compared twice.
        keep: Where to copy the files of what went wrong.
        show: Whether to print how far it is.
    """
    with Storm() as storm, tempfile.TemporaryDirectory() as folder:
        comparer = Comparer(storm, Path(folder), keep)
        from_tasks = -(-2 * chains // 3)
        left = {"mdps": mdps, "chains": from_tasks}
        start = time.perf_counter()

        def tell() -> None:
            result = comparer.result
            if show and (result.chains + result.mdps) % 100 == 0:
                seconds = time.perf_counter() - start
                wrong = len(result.failures)
                print(f"{result.chains} chains, {result.mdps} MDPs, {wrong} failures, {seconds:.0f} s", flush=True)

        @seeded(seed)
        @settings(
            max_examples=5 * max(mdps, -(-from_tasks // 2), 1),
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(drawn=ssps(), number=st.integers(0, 2**32 - 1))
        def of_tasks(drawn: tuple[Domain, Problem], number: int) -> None:
            if not any(left.values()):
                return
            domain, problem = drawn
            rng = np.random.default_rng(number)
            try:
                task = ground(for_free(domain, rng), problem, costs="metric")
            except SemanticError:  # Where actions have to cost something.
                task = ground(domain, problem, costs="metric")
            for _ in range(min(2, left["chains"])):
                chain = explore_chain(random_policy(task, rng))
                if comparer.is_new(chain):
                    left["chains"] -= 1
                    comparer.chain(chain, task)
                    tell()
            whole = explore_mdp(task)
            if left["mdps"] and comparer.is_new(whole):
                left["mdps"] -= 1
                comparer.mdp(whole, task)
                tell()

        if mdps or from_tasks:
            of_tasks()
        rng = np.random.default_rng(seed)
        while comparer.result.chains < chains - left["chains"]:
            chain = random_chain(rng)
            if comparer.is_new(chain):
                comparer.chain(chain)
                tell()
        return comparer.result


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.storm_comparison", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--chains", type=int, default=2000)
    parser.add_argument("--mdps", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the files of what went wrong")
    options = parser.parse_args()
    missing = why_missing()
    if missing is not None:
        print(missing, file=sys.stderr)
        return 3
    start = time.perf_counter()
    result = compare(options.chains, options.mdps, options.seed, options.keep, show=True)
    print("\n".join(result.failures[:50]))
    print(f"{result.chains} chains and {result.mdps} MDPs of {result.states:,} states, {result.numbers:,} numbers")
    print(f"widest bound {result.widest:.2g} (allowed {EPSILON:g}); Storm with doubles off by {result.storm_off:.2g}")
    for objective, off in result.planners_off.items():
        print(f"planners, {objective}: off by {off:.2g} (allowed {TOLERANCE:g})")
    print(f"{len(result.failures)} failures, {time.perf_counter() - start:.0f} s, seed {options.seed}")
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
