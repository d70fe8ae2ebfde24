"""Names of actions and propositions as the formats of model checkers allow them.

PRISM has identifiers: letters, digits and `_`, not beginning with a digit, and no word of its language. DRN has words
without spaces. Both are made of the name in PPDDL; names that would become equal are told apart by a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from asnets.verification.model import ExplicitModel

_PRISM_WORD = re.compile(
    r"""
    A|bool|clock|const|ctmc|C|double|dtmc|E|endinit|endinvariant|endmodule|endobservables|endrewards|
    endsystem|false|formula|filter|func|F|global|G|idtmc|imdp|init|invariant|I|int|label|max|mdp|
    min|module|X|nondeterministic|observable|observables|of|Pmax|Pmin|P|pomdp|popta|probabilistic|
    prob|pta|rate|rewards|Rmax|Rmin|R|S|stochastic|system|true|U|W
    """,
    re.VERBOSE,
)


def title(model: ExplicitModel) -> str:
    """What a model is of, in words."""
    task = model.task
    what = "a model" if task is None else f"{task.problem} of {task.domain}, {task.cost_mode} costs"
    return what if model.policy is None else f"{what}, policy {model.policy}"


def action_names(model: ExplicitModel) -> list[str]:
    """The names of all actions in PPDDL."""
    if model.task is None:
        return [f"(action-{action})" for action in range(int(model.choice_action.max(initial=-1)) + 1)]
    return [model.task.action_name(action) for action in range(model.task.num_actions)]


def proposition_names(model: ExplicitModel) -> list[str]:
    """The names of all propositions in PPDDL."""
    if model.task is None:
        return []
    return [model.task.atom_name(proposition) for proposition in range(model.task.num_propositions)]


def prism_names(names: Iterable[str]) -> list[str]:
    """Identifiers of PRISM for names of ground actions or atoms: `(move l-1-1 l-1-2)` is `move_l_1_1_l_1_2`."""
    identifiers = []
    for name in names:
        identifier = re.sub(r"[^A-Za-z0-9_]", "_", name.strip("()").strip())
        if not identifier or identifier[0].isdigit() or _PRISM_WORD.fullmatch(identifier):
            identifier = f"_{identifier}"
        identifiers.append(identifier)
    return _told_apart(identifiers)


def drn_names(names: Iterable[str]) -> list[str]:
    """Words for names of ground actions: `(move l-1-1 l-1-2)` is `move(l-1-1,l-1-2)`."""
    words = []
    for name in names:
        head, *arguments = name.strip("()").split() or [""]
        word = f"{head}({','.join(arguments)})" if arguments else head
        words.append(re.sub(r'[\s"\[\]]', "_", word))
    return _told_apart(words)


def _told_apart(names: list[str]) -> list[str]:
    taken = set(names)
    used: set[str] = set()
    result = []
    for name in names:
        unique, number = name, 2
        while unique in used or (unique != name and unique in taken):
            unique, number = f"{name}_{number}", number + 1
        used.add(unique)
        result.append(unique)
    return result
