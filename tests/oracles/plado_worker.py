"""Answers, for the states it is given, which actions apply and where they lead according to ``plado``.

Run as ``python plado_worker.py DOMAIN PROBLEM [--raw]`` by a Python that has ``plado`` 0.1.6, always in a process of
its own; it imports nothing but ``plado`` and the standard library.

Protocol, one JSON object a line. First the worker prints ``{"ready": true, "initial": [atom, ...]}``, or, where plado
cannot take the problem, ``{"error": "..."}`` and exits with status 3. Then each line ``{"state": [atom, ...]}`` on
standard input is answered by ``{"actions": [{"name", "args", "successors"}, ...]}``, with ``successors`` a list of
``[probability, [atom, ...]]`` whose probabilities are exact fractions written as strings, equal successors merged; or
by ``{"error": "..."}`` where plado fails on that state, which does not end the worker. An atom is
``[predicate, object, ...]``. States hold every true atom, the static ones too (plado keeps those apart from its
states), but neither derived atoms nor numeric fluents, which keep their initial values. Names are in lower case: plado
lowers the whole file. All lists are sorted. Of a file with several problems plado reads the first and ignores the rest.

The parsing, normal form, applicability, conditions and effects are plado's. Its choice of outcomes is not, since plado
0.1.6 gets it wrong for probabilistic outcomes that mix conditional and unconditional effects: see
``ExactActionSuccessors``. ``--raw`` leaves plado as it is.
"""

import argparse
import contextlib
import json
import sys
from collections import defaultdict
from fractions import Fraction
from typing import Any

from plado.parser import parse_and_normalize
from plado.semantics.applicable_actions_generator import ApplicableActionsGenerator
from plado.semantics.successor_generator import ActionSuccessorGenerator, SuccessorGenerator
from plado.semantics.task import AtomicEffect, State, Task

Atom = list[str]
Outcome = tuple[Fraction, list[AtomicEffect]]


class ExactActionSuccessors(ActionSuccessorGenerator):
    """plado's successors of one action, with the outcomes of conditional effects put right.

    Where an outcome has both unconditional effects and conditional ones that hold, plado 0.1.6 enters it twice, and
    it leaves out every later outcome that has unconditional effects. Where no conditional effect holds it may give
    no successor at all.
    """

    def _collect_outcomes(self, state: State, grounding: tuple[int, ...]) -> list[Outcome]:
        atoms, fluents = self.task.prepare_for_query(state.atoms, state.fluents)
        atoms.extend({(obj,)} for obj in grounding)
        atoms.extend(set() for _ in range(self.action.effect.num_atomic_effects))
        model = self.evaluator(atoms, fluents)
        always = set(self.always_effects)
        result: list[Outcome] = []
        for choice in self.action.effect.effects:
            # A choice below a universal effect is one independent choice for each binding of its variables.
            choices: dict[tuple[int, ...], list[Outcome]] = defaultdict(list)
            for probability, effects in choice.outcomes:
                chosen: dict[tuple[int, ...], list[AtomicEffect]] = defaultdict(list)
                for effect in effects:
                    bindings = [()] if effect.idx in always else model[self.effect_relation + effect.idx]
                    for binding in bindings:
                        instance = effect.effect.instantiate(grounding + binding, state)
                        chosen[binding[: len(choice.parameters)]].append(instance)
                for binding, instances in chosen.items():
                    value = Fraction(probability.evaluate(grounding + binding, state.fluents))
                    choices[binding].append((value, instances))
            for outcomes in choices.values():
                result = self._merge(result, outcomes)
        return result or [(Fraction(1), [])]


class Worker:
    """One planning task held by plado, with states going in and out as lists of atoms."""

    def __init__(self, domain_path: str, problem_path: str, raw: bool = False) -> None:
        """Sets the task up.

        Args:
            domain_path: The domain file.
            problem_path: The problem file.
            raw: Whether to leave plado's own choice of outcomes as it is.
        """
        self.task = Task(*parse_and_normalize(domain_path, problem_path))
        self.applicable = ApplicableActionsGenerator(self.task)
        self.successors = SuccessorGenerator(self.task)
        if not raw:
            self.successors.gens = [ExactActionSuccessors(self.task, action) for action in self.task.actions]
        self.object_ids = {name: i for i, name in enumerate(self.task.objects)}
        self.predicate_ids = {predicate.name: i for i, predicate in enumerate(self.task.predicates)}
        first_static = len(self.task.predicates) - self.task.num_static_predicates
        self.static = [
            atom
            for i, facts in enumerate(self.task.static_facts, first_static)
            if self.task.predicates[i].name != "=" and not self.task.predicates[i].name.startswith("@")
            for atom in self._named(i, facts)
        ]

    def _named(self, predicate: int, facts: set[tuple[int, ...]]) -> list[Atom]:
        name = self.task.predicates[predicate].name
        return [[name, *(self.task.objects[obj] for obj in args)] for args in facts]

    def encode(self, state: State) -> list[Atom]:
        """Lists the atoms true in a state, the static ones too, in order."""
        return sorted(self.static + [atom for i, facts in enumerate(state.atoms) for atom in self._named(i, facts)])

    def decode(self, atoms: list[Atom]) -> State:
        """Makes plado's state from the list of all true atoms.

        Raises:
            ValueError: The static atoms are not those of the problem, or an atom is of a derived predicate.
        """
        state = self.task.initial_state.duplicate()
        state.atoms = [set() for _ in range(self.task.num_fluent_predicates)]
        static = []
        for atom in atoms:
            predicate = self.predicate_ids[atom[0]]
            if predicate < self.task.num_fluent_predicates:
                state.atoms[predicate].add(tuple(self.object_ids[name] for name in atom[1:]))
            else:
                static.append(atom)
        if sorted(static) != sorted(self.static):
            raise ValueError("the static atoms differ from the problem's")
        return state

    def answer(self, atoms: list[Atom]) -> dict[str, Any]:
        """Gives every applicable ground action of a state with its distribution over successors."""
        state = self.decode(atoms)
        actions = []
        for index, args in self.applicable(state):
            merged: dict[str, Fraction] = defaultdict(Fraction)
            for successor, probability in self.successors(state, (index, args)):
                merged[json.dumps(self.encode(successor))] += Fraction(probability)
            actions.append(
                {
                    "name": self.task.actions[index].name,
                    "args": [self.task.objects[obj] for obj in args],
                    "successors": [[str(p), json.loads(key)] for key, p in sorted(merged.items()) if p],
                }
            )
        return {"actions": sorted(actions, key=lambda action: (action["name"], action["args"]))}


def say(message: dict[str, Any]) -> None:
    """Prints one line of the protocol."""
    print(json.dumps(message), flush=True)


def main() -> int:
    """Runs the worker; returns its exit status."""
    parser = argparse.ArgumentParser(description="Answer for states with plado's actions and successors.")
    parser.add_argument("domain")
    parser.add_argument("problem")
    parser.add_argument("--raw", action="store_true", help="leave plado's choice of outcomes as it is")
    options = parser.parse_args()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            worker = Worker(options.domain, options.problem, options.raw)
    except Exception as error:  # plado fails by exceptions of many kinds, assertions among them
        say({"error": f"{type(error).__name__}: {error}"})
        return 3
    say({"ready": True, "initial": worker.encode(worker.task.initial_state)})
    for line in sys.stdin:
        try:
            say(worker.answer(json.loads(line)["state"]))
        except Exception as error:
            say({"error": f"{type(error).__name__}: {error}"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
