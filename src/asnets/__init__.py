"""Action Schema Networks: generalised policies for probabilistic planning.

A task comes from PPDDL files, from text, or from a family of benchmark problems. A planner solves it if it is small. A
policy is trained on small problems of a domain and then acts in problems of that domain of any size.

    import asnets

    task = asnets.generate("triangle-tireworld", 3)  # or asnets.load("domain.pddl", "problem.pddl")
    solved = asnets.solve(task, planner="lrtdp", heuristic="lmcut")
    print(solved.status, solved.value)  # the expected cost V* of the initial state
    print(solved.value_of(["(vehicle-at l-1-6)", "(not-flattire)"]))  # V* of a state, by what is true in it

    simulator = asnets.Simulator(task, seed=1)  # step by step
    action = simulator.state.applicable_names[0]
    print(simulator.state.successors(action))  # probabilities and states
    print(simulator.step(action).is_goal)

    mine = asnets.FunctionPolicy(task, lambda state: state.applicable_names[0])  # a policy of one's own
    print(asnets.evaluate(mine, runs=30))

    policy = asnets.Policy.load("triangle-tireworld")  # a model of the package, or a file
    print(policy.probabilities(task))  # of the actions in the initial state
    print(policy.evaluate(task, runs=30))
    print(policy.verify(task))  # no sample: what holds for all runs

    data = policy.to_bytes()  # what policy.save("tires.asnet") writes
    policy = asnets.Policy.from_bytes(data)

`asnets.train("domain.pddl", ["small-1.pddl", "small-2.pddl"], time_limit=60)` trains a policy of one's own; it needs
torch (`pip install 'asnets[train]'`), and nothing else here does. With `progress=True`, training, evaluation and
more show how far they are, on a terminal and in a notebook. Tasks, policies, runs and their results show
themselves there too. `to_frame()` makes tables of pandas: of evaluations and simulations, of `policy.history`, and of
`asnets.results("DIR")`, which reads what `asnets reproduce -o DIR` has written.

Warnings go to the logger "asnets" of Python's `logging`, which prints them on standard error unless it is told
otherwise. What a user can cause is an `asnets.AsnetsError` with a message that says what to do. Each name below has
its own help, such as `help(asnets.load)`; the subpackages `asnets.pictures` and `asnets.experiments` have more.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asnets.api import Policy as Policy
    from asnets.api import train as train
    from asnets.deadline import Deadline as Deadline
    from asnets.domains import FAMILIES as FAMILIES
    from asnets.errors import AsnetsError as AsnetsError
    from asnets.evaluation import simulate as simulate
    from asnets.evaluation.evaluate import evaluate as evaluate
    from asnets.evaluation.runs import run as run
    from asnets.experiments.folder import results as results
    from asnets.grounding import GroundTask as GroundTask
    from asnets.loading import generate as generate
    from asnets.loading import load as load
    from asnets.loading import load_text as load_text
    from asnets.planning import HEURISTICS as HEURISTICS
    from asnets.planning import OBJECTIVES as OBJECTIVES
    from asnets.planning import PLANNERS as PLANNERS
    from asnets.policies import POLICIES as POLICIES
    from asnets.policies import SEARCHES as SEARCHES
    from asnets.policies import FunctionPolicy as FunctionPolicy
    from asnets.policies import GuardedPolicy as GuardedPolicy
    from asnets.policies import OnlineSearch as OnlineSearch
    from asnets.policies import RandomPolicy as RandomPolicy
    from asnets.policies import SavedPolicy as SavedPolicy
    from asnets.simulator import Simulator as Simulator
    from asnets.simulator import State as State
    from asnets.solving import solve as solve
    from asnets.testing.probe import ProbeOptions as ProbeOptions
    from asnets.testing.probe import probe as probe
    from asnets.training.diagnosis.diagnosing import diagnose as diagnose
    from asnets.verification.export import export as export
    from asnets.verification.verify import verify as verify

    __version__: str

# Imported when they are used, so that `import asnets` takes no time.
_HOMES = {
    "asnets.api": ("Policy", "train"),
    "asnets.deadline": ("Deadline",),
    "asnets.domains": ("FAMILIES",),
    "asnets.errors": ("AsnetsError",),
    "asnets.evaluation": ("simulate",),
    "asnets.evaluation.evaluate": ("evaluate",),
    "asnets.evaluation.runs": ("run",),
    "asnets.experiments.folder": ("results",),
    "asnets.grounding": ("GroundTask",),
    "asnets.loading": ("generate", "load", "load_text"),
    "asnets.planning": ("HEURISTICS", "OBJECTIVES", "PLANNERS"),
    "asnets.policies": (
        "FunctionPolicy",
        "GuardedPolicy",
        "OnlineSearch",
        "POLICIES",
        "RandomPolicy",
        "SEARCHES",
        "SavedPolicy",
    ),
    "asnets.simulator": ("Simulator", "State"),
    "asnets.solving": ("solve",),
    "asnets.testing.probe": ("ProbeOptions", "probe"),
    "asnets.training.diagnosis.diagnosing": ("diagnose",),
    "asnets.verification.verify": ("verify",),
    "asnets.verification.export": ("export",),
}
__all__ = [name for names in _HOMES.values() for name in names]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("asnets")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'asnets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", *(name for name in globals() if name.startswith("__"))])
