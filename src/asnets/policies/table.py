"""Policies of planners in files: an action for each state that the policy can reach.

A file is in the safetensors format: the packed states, their actions and values as tensors, and in the header what the
policy is for, how it was found, and a checksum of it all. A policy belongs to one ground task: its propositions and
actions are named by number, and a fingerprint of their names makes sure that they are the same ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, FileError
from asnets.files import Arrays, checksum, join_tensors, read_bytes, read_metadata, split_tensors, write_atomically
from asnets.grounding import GroundTask
from asnets.grounding.fingerprint import fingerprint
from asnets.grounding.task import Ints
from asnets.notebook import NotebookView
from asnets.planning import GIVE_UP, PLANNERS, Solver
from asnets.planning.solvers import PolicyTable
from asnets.policies.protocol import Distribution, native_distributions

FORMAT = "asnets-policy-3"
_WITHOUT_BOUNDS = "asnets-policy-2"
_WITHOUT_CHECKSUM = "asnets-policy-1"


@dataclass(frozen=True)
class PolicyOrigin:
    """What a policy is for and how it was found.

    Attributes:
        fingerprint: Of the ground task.
        value: The value of the initial state, as the objective asks: an expected cost, or a probability of reaching a
            goal. If the search had not converged, what the policy guarantees.
        objective: One of `asnets.OBJECTIVES`; files from before there were others have none.
        status: How the search ended: "converged", or the limit that it reached. Older files are all of searches that
            had converged; they have no bounds.
        lower: Not above the optimal value of the initial state; None where nothing is known.
        upper: Not below it; None where nothing is known.
        guarantee: What the policy guarantees: a cost that it is at most, a probability that it is at least. None where
            nothing is known.
        start: The name of the policy that the search started from; None if there was none.
    """

    domain: str
    problem: str
    fingerprint: str
    planner: str
    heuristic: str
    epsilon: float
    penalty: float
    seed: int
    costs: str
    value: float
    objective: str = "penalty"
    status: str = "converged"
    lower: float | None = None
    upper: float | None = None
    guarantee: float | None = None
    start: str | None = None


@dataclass(frozen=True, eq=False)
class SavedPolicy(NotebookView):
    """A policy with an action for each state that it can reach.

    Attributes:
        states: Packed states: one row of 64-bit words each, proposition p in bit p mod 64 of word p div 64.
        actions: The action of each state; GIVE_UP at goals, dead ends and where the policy gives up.
        values: The value of each state, as the objective asks; if the search had not converged, what it guarantees.

    Example:
        >>> task = asnets.generate("triangle-tireworld", 2)
        >>> data = asnets.solve(task).policy.to_bytes()  # What policy.save("tires.policy") writes.
        >>> policy = asnets.SavedPolicy.from_bytes(data, task)
        >>> asnets.simulate(policy, episodes=100).count("goal")
        100
    """

    task: GroundTask
    origin: PolicyOrigin
    states: npt.NDArray[np.uint64]
    actions: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    sampled = False

    @property
    def name(self) -> str:
        return f"{self.origin.planner} with {self.origin.heuristic}"

    @cached_property
    def native(self) -> _native.Policy:
        """For running it.

        Raises:
            ValueError: If the table makes no sense in the task.
        """
        return _native.TablePolicy(self.task.native, self.states.ravel(), self.actions)

    def distributions(self, states: Sequence[Ints]) -> list[Distribution]:
        """What it does in each of these states.

        Raises:
            ConfigError: If it cannot reach one of them and has no action for it.
        """
        try:
            return native_distributions(self.native, states)
        except ValueError:
            raise ConfigError(f"the policy of {self.name} has no action for a state that it does not reach") from None

    @classmethod
    def load(cls, path: str | Path, task: GroundTask) -> SavedPolicy:
        """Reads a policy file of a task; see `load_policy`."""
        return load_policy(Path(path), task)

    def save(self, path: str | Path) -> None:
        """Writes a policy file; see `save_policy`."""
        save_policy(Path(path), self)

    @classmethod
    def from_bytes(cls, data: bytes, task: GroundTask) -> SavedPolicy:
        """Reads the contents of a policy file of a task; see `read_policy`."""
        return read_policy(data, task)

    def to_bytes(self) -> bytes:
        """The contents of a policy file."""
        return policy_bytes(self)

    def __repr__(self) -> str:
        size, value = f"{len(self.actions):,} states", f"value {self.origin.value:g}"
        if self.origin.status != "converged":
            known = "nothing" if self.origin.guarantee is None else f"{self.origin.guarantee:g}"
            value = f"{known} guaranteed, not converged"
        return f"<SavedPolicy of {self.name} for {self.task.problem}: {size}, {value}>"


def extract_policy(solver: Solver, deadline: Deadline = NO_DEADLINE) -> SavedPolicy:
    """The policy from the initial state; of an `anytime` solver that has not converged, the best that it knows.

    That one gives up wherever nothing better is known for certain. If nothing at all is known, it is the greedy policy
    as far as the search has looked; `origin.guarantee` says what is certain.

    Raises:
        ConfigError: If the solver has not converged and is not `anytime`, or never does (ssipp and puct decide as they
            go).
        LimitError: If the deadline passes.
    """
    is_known = solver.is_solved(solver.initial) or solver.anytime
    if not PLANNERS[solver.planner].optimal or not is_known:
        raise ConfigError(f"the planner {solver.planner!r} has no closed policy to save: it has not solved the problem")
    return _policy_of(solver, solver.policy_table(solver.initial, deadline))


def giving_up(solver: Solver) -> SavedPolicy:
    """The policy that gives up at once: what is left where there is no time for a better one."""
    words = np.zeros(max(1, -(-solver.task.num_propositions // 64)), np.uint64)
    for proposition in solver.propositions(solver.initial).tolist():
        words[proposition // 64] |= np.uint64(1 << proposition % 64)
    value = 0.0 if solver.objective == "maxprob" else solver.penalty
    return _policy_of(solver, PolicyTable(words, np.array([GIVE_UP], np.int32), np.array([value]), value, False))


def _policy_of(solver: Solver, table: PolicyTable) -> SavedPolicy:
    solution = solver.last_solution
    lower, upper = (None, None) if solution is None else (solution.lower, solution.upper)
    if table.converged:
        status, value = "converged", solver.value(solver.initial)
        guarantee = lower if solver.objective == "maxprob" else upper
    else:
        status, value = "interrupted" if solution is None else solution.status, float(table.values[0])
        guarantee = table.bound
    origin = PolicyOrigin(
        solver.task.domain,
        solver.task.problem,
        fingerprint(solver.task),
        solver.planner,
        solver.heuristic,
        solver.epsilon,
        solver.penalty,
        solver.seed,
        solver.task.cost_mode,
        value,
        solver.objective,
        status,
        _finite(lower),
        _finite(upper),
        _finite(guarantee),
        None if solver.policy is None else solver.policy.name,
    )
    states = table.states.reshape(len(table.actions), -1)
    return SavedPolicy(solver.task, origin, states, table.actions, table.values)


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def save_policy(path: Path, policy: SavedPolicy) -> None:
    """Writes a policy; an existing file is replaced at once or not at all.

    Raises:
        FileError: If it cannot be written.
    """
    write_atomically(path, policy_bytes(policy))


def policy_bytes(policy: SavedPolicy) -> bytes:
    """The contents of a policy file."""
    origin = asdict(policy.origin)
    tensors: Arrays = {"states": policy.states, "actions": policy.actions, "values": policy.values}
    metadata = {"format": FORMAT, "origin": json.dumps(origin), "checksum": checksum(origin, tensors)}
    return join_tensors(tensors, metadata)


def is_policy(path: Path) -> bool:
    """Whether a file says that it is a policy; it may be damaged."""
    return str(read_metadata(path).get("format", "")).startswith("asnets-policy-")


def load_policy(path: Path, task: GroundTask) -> SavedPolicy:
    """Reads a policy of a task.

    Raises:
        FileError: If the file cannot be read, holds no policy, or one of another task.
    """
    return read_policy(read_bytes(path), task, str(path))


def read_policy(data: bytes, task: GroundTask, path: str = "<policy>") -> SavedPolicy:
    """Reads the contents of a policy file of a task.

    Args:
        data: The contents.
        task: The task.
        path: What messages call it.

    Raises:
        FileError: If they are not those of a policy, or of one of another task.
    """
    try:
        tensors, header = split_tensors(data)
        if header["format"] not in (FORMAT, _WITHOUT_BOUNDS, _WITHOUT_CHECKSUM):
            raise FileError(f"{path}: the format is {header['format']!r}; expected {FORMAT!r}")
        fields_of_origin = json.loads(header["origin"])
        origin = PolicyOrigin(**fields_of_origin)
        states, actions, values = (tensors[name] for name in ("states", "actions", "values"))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FileError(f"{path}: not a policy file, or damaged") from None
    if header["format"] != _WITHOUT_CHECKSUM and header.get("checksum") != checksum(fields_of_origin, tensors):
        raise FileError(f"{path}: damaged: its checksum is wrong; `asnets solve --save-policy` writes it anew")
    if origin.fingerprint != fingerprint(task):
        same = (origin.domain, origin.problem) == (task.domain, task.problem) and origin.costs != task.cost_mode
        advice = f"; give --costs {origin.costs}" if same else ""
        raise FileError(
            f"{path}: the policy is for another task: {_described(vars(origin))}; "
            f"expected {_described({'problem': task.problem, 'domain': task.domain, 'costs': task.cost_mode})}{advice}"
        )
    policy = SavedPolicy(task, origin, states, actions, values)
    words = max(1, -(-task.num_propositions // 64))
    try:
        if states.shape != (len(actions), words) or len(values) != len(actions):
            raise ValueError
        _ = policy.native
    except (ValueError, TypeError):
        raise FileError(f"{path}: damaged: its states and actions are not those of the task") from None
    return policy


def _described(values: dict[str, Any]) -> str:
    return f"{values['problem']} of {values['domain']} with {values['costs']} costs"
