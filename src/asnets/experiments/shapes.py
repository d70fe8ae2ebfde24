"""The shapes of stored JSON values: what readers of results rely on, and what else is refused with a message.

A shape is a type; a list of a shape; an object, whose keys with a question mark may be missing; or a tuple of shapes,
of which one has to fit. Keys that a shape does not name are nobody's business.
"""

from __future__ import annotations

from typing import Any

Shape = type | None | list["Shape"] | dict[str, "Shape"] | tuple["Shape", ...]

_CUT_OFFS: Shape = {"time_limit": float, "memory_limit": float, "margin": float}
_PAYLOAD: dict[str, Shape] = {"seed": int, "cut_offs": _CUT_OFFS}
_TEST: dict[str, Shape] = _PAYLOAD | {"runs": int, "max_steps": int}

PAYLOAD: dict[str, Shape] = {
    "train": _PAYLOAD,
    "asnet": _TEST | {"model": str},
    "planner": _TEST,
    "search": _TEST,
    "strategy": _TEST,
}
"""Of cells, by kind."""

_RUNS: dict[str, Shape] = {
    "endings?": [str],
    "costs?": [float],
    "seconds?": {"load": float, "execute": float, "search?": float},
    "status?": str,
    "value?": (float, None),
    "reason?": str,
}
_EXACT: Shape = {"states": int, "goal_probability": float, "cost_given_goal": (float, None)}
_LEVEL: Shape = {"elapsed": float, "coverage": (float, None), "loss": (float, None), "validation?": (float, None)}

METRICS: dict[str, Shape] = {
    "train": {"epochs?": int, "ended?": str, "cpu?": float, "curve?": [_LEVEL], "reason?": str},
    "asnet": _RUNS | {"exact?": (_EXACT, None)},
    "planner": _RUNS,
    "search": _RUNS,
    "strategy": _RUNS,
}
"""Of results, by kind of cell."""

MACHINE: Shape = {"processor?": str, "cores?": int, "memory?": float, "system?": str, "python?": str, "torch?": str}

DEFINITION: Shape = {
    "title": str,
    "scale": {
        "name": str,
        "seeds": int,
        "runs": int,
        "asnet_runs": int,
        "max_steps": int,
        "planner_max_steps": int,
        "skip_above_failure": bool,
        "cut_offs": _CUT_OFFS,
        "asnet_cut_offs": _CUT_OFFS,
    },
    "full_sizes": [int],
    "systems": [
        {
            "name": str,
            "kind": str,
            "title": str,
            "settings": dict,
            "paper": ([str], None),
            "train": [str],
            "guard?": dict,
        },
    ],
    "problems": [{"name": str, "size": int, "paper": (str, None)}],
    "picture": {"name": str},
}
"""Of experiments."""


def misfit(value: Any, shape: Shape, where: str = "") -> str | None:
    """Where a value does not have a shape; None if it has."""
    if isinstance(shape, tuple):
        return None if any(misfit(value, each) is None for each in shape) else where or "the whole"
    if isinstance(shape, list):
        if not isinstance(value, list):
            return where or "the whole"
        found = (misfit(each, shape[0], f"{where}[{index}]") for index, each in enumerate(value))
        return next((each for each in found if each is not None), None)
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return where or "the whole"
        for key, inner in shape.items():
            name = key.removesuffix("?")
            if name not in value and key.endswith("?"):
                continue
            place = f"{where}.{name}" if where else name
            found_at = misfit(value[name], inner, place) if name in value else place
            if found_at is not None:
                return found_at
        return None
    if shape is None:
        return None if value is None else where or "the whole"
    if isinstance(value, bool) and shape is not bool:
        return where or "the whole"
    return None if isinstance(value, (int, float) if shape is float else shape) else where or "the whole"
