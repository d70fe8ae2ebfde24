"""A hash of a ground task, to know it again."""

from __future__ import annotations

import hashlib
from dataclasses import fields

import numpy as np

from asnets.grounding.task import GroundTask, Lists


def fingerprint(task: GroundTask) -> str:
    """A hash of the whole task: names of atoms and actions, initial state, goal, conditions, effects and costs."""
    digest = hashlib.sha256()
    for names in (
        [task.atom_name(atom) for atom in range(task.num_atoms)],
        [task.action_name(action) for action in range(task.num_actions)],
    ):
        digest.update("\n".join(names).encode() + b"\0")
    for field in fields(task):
        value = getattr(task, field.name)
        if field.name == "block_cost" and len(value) == 0:
            continue  # Tasks without such costs are known by what they were before there were any.
        arrays = (value.offsets, value.values) if isinstance(value, Lists) else (value,)
        for array in arrays:
            if isinstance(array, np.ndarray | int):
                data = np.ascontiguousarray(array)
                digest.update(f"{field.name} {data.dtype} {data.shape}\n".encode() + data.tobytes())
    return digest.hexdigest()
