"""A policy, a search, a shield and a way out of loops as one policy; `docs/policy-and-search.md` says what each does.

Before each step the shield excludes actions after which the goal is proved to be less likely; the policy proposes one
of those that are left; the search decides, if there is one; where the run came back to where it was, the rule for loops
does, unless the search knows that its action is better. Whose action was taken, and why, is counted.

A rule for loops and a search remember the run: what such a policy does is no function of the state, and cannot be
verified state by state. A shield alone looks at each state anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from asnets import _native
from asnets.errors import ConfigError
from asnets.grounding import GroundTask
from asnets.grounding.task import Floats, Ints
from asnets.policies.online_search import SEARCHES, OnlineSearch
from asnets.policies.protocol import Distribution, TaskPolicy, check_policy, native_distributions
from asnets.words import count

ON_LOOP: dict[str, str] = {
    "none": "what the policy does anywhere else",
    "next": "its likeliest choice among those that the run knows least of: untried, leading to new states",
    "sample": "a draw by its probabilities",
    "search": "what a search finds, which is asked nowhere else",
}
"""What to do where a run came back to where it was without progress, by name."""
DEFAULT_ON_LOOP = "next"
"""Of runs of trained policies in the compiled core; `docs/policy-and-search.md` has the figures."""
DEFAULT_SHIELD_EXPANSIONS = 1000
"""States that a shield expands, at most, before each step."""

DECIDERS: dict[str, str] = {
    "policy": "the policy",
    "search": "the search",
    "planner": "the planner",
    "next": "the next choice",
    "sample": "a draw",
}
"""Whose action is taken, in words; by the names of the compiled core."""
REASONS: dict[str, str] = {
    "alone": "nobody else was asked",
    "agreed": "the search proposes the same",
    "not_better": "no test found a better action",
    "tested": "rollouts found it to be better",
    "proved": "bounds prove that it is as good as any, or better than the policy's",
    "policy_fails": "rollouts of the policy do not reach the goal",
    "no_budget": "the budget ended before anything was known",
    "loop": "the run came back to where it was",
    "excluded": "the shield excludes what would have been taken",
}
"""Why, in words; by the names of the compiled core."""


@dataclass(frozen=True)
class GuardCounts:
    """What a guard did in a number of runs.

    Attributes:
        episodes: Runs.
        steps: Actions taken.
        loops: Steps at which a run was found to have come back without progress.
        loops_left: Those of them at which something else was done than the policy does.
        loop_episodes: Runs with such steps.
        excluded_actions: What the shield excluded, over all steps.
        excluded_steps: Steps at which it excluded something.
        rollouts: Of the search.
        simulations: Of the search.
        decided: Steps by whose action was taken and why.
    """

    episodes: int
    steps: int
    loops: int
    loops_left: int
    loop_episodes: int
    excluded_actions: int
    excluded_steps: int
    rollouts: int
    simulations: int
    decided: dict[str, dict[str, int]]

    @classmethod
    def of(cls, statistics: dict[str, int]) -> GuardCounts:
        """Of what the compiled core counted."""
        decided: dict[str, dict[str, int]] = {}
        for name, steps in statistics.items():
            if ":" in name:
                decider, reason = name.split(":")
                decided.setdefault(decider, {})[reason] = steps
        return cls(**{name: value for name, value in statistics.items() if ":" not in name}, decided=decided)

    def since(self, before: GuardCounts) -> GuardCounts:
        """What was counted after `before`."""
        numbers = {
            name: value - getattr(before, name) for name, value in asdict(self).items() if isinstance(value, int)
        }
        decided = {
            decider: {
                reason: steps - before.decided.get(decider, {}).get(reason, 0)
                for reason, steps in reasons.items()
                if steps > before.decided.get(decider, {}).get(reason, 0)
            }
            for decider, reasons in self.decided.items()
        }
        return replace(self, **numbers, decided={decider: reasons for decider, reasons in decided.items() if reasons})

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class GuardedPolicy:
    """A policy with a shield, a search and a way out of loops, as far as they are asked for.

    Attributes:
        base: The policy that is guarded; None where the search acts alone.
        search: What decides beside it, if anything does.
        name: For reports.
        has_memory: Whether what it does depends on the run so far.
        native: In the compiled core.

    Example:
        >>> task = asnets.generate("triangle-tireworld", 2)
        >>> policy = asnets.GuardedPolicy(asnets.RandomPolicy(task), shield=True)
        >>> policy.name, policy.has_memory
        ('random with a shield', False)
        >>> asnets.evaluate(policy, runs=30).goals
        30
    """

    def __init__(
        self,
        policy: TaskPolicy | None,
        task: GroundTask | None = None,
        *,
        on_loop: str = "none",
        shield: bool = False,
        shield_expansions: int = DEFAULT_SHIELD_EXPANSIONS,
        search: OnlineSearch | None = None,
    ) -> None:
        """Guards a policy.

        Args:
            policy: What to guard: a policy in the compiled core; None if the search acts alone.
            task: Its task, where there is no policy.
            on_loop: What to do where a run came back to where it was without progress: one of `ON_LOOP`.
            shield: Whether to exclude actions after which the goal is proved to be less likely than after others.
            shield_expansions: States that the shield expands before each step, at most.
            search: What decides: at every step with a choice, or with on_loop="search" where a run came back.

        Raises:
            ConfigError: If an argument cannot be used.
        """
        if policy is None and (task is None or search is None or on_loop == "search"):
            raise ConfigError("expected a policy to guard, or a task and a search that decides at every step")
        if policy is not None:
            check_policy(policy)
        if on_loop not in ON_LOOP:
            raise ConfigError(f"unknown rule for loops {on_loop!r}; expected one of {', '.join(ON_LOOP)}")
        if search is not None and not isinstance(search, OnlineSearch):
            raise ConfigError(f'expected a search such as asnets.OnlineSearch("puct"), not {search!r}')
        if on_loop == "search" and search is None:
            raise ConfigError(
                f"--on-loop search needs a search to ask: give --search {'|'.join(SEARCHES)} (search=) too"
            )
        if not isinstance(shield, bool):
            raise ConfigError(f"shield must be True or False, not {shield!r}")
        if not isinstance(shield_expansions, int) or isinstance(shield_expansions, bool):
            raise ConfigError(f"shield_expansions must be a whole number, not {shield_expansions!r}")
        if not 0 <= shield_expansions < 2**62:
            raise ConfigError(
                f"--shield-expansions (shield_expansions) must be between 0 and 2^62 - 1, not {shield_expansions}"
            )
        of = task if policy is None else policy.task
        assert of is not None
        if task is not None and task is not of:
            raise ConfigError("the policy belongs to another task")
        self.task: GroundTask = of
        self.base = policy
        self.sampled = policy is not None and policy.sampled
        self.has_memory = on_loop != "none" or search is not None
        self.name = _name(policy, on_loop, shield, search)
        self.search = search
        base = None if policy is None else _native_of(policy)
        asked = None if search is None else search.of(of, base)
        at_loops = on_loop == "search"
        self.native: _native.GuardedPolicy = _native.GuardedPolicy(
            of.native,
            base,
            None if at_loops else asked,
            asked if at_loops else None,
            on_loop,
            shield_expansions if shield else None,
            self.sampled,
        )

    def counts(self) -> GuardCounts:
        """What it did in all runs so far."""
        return GuardCounts.of(self.native.statistics())

    def probabilities(self, propositions: Ints) -> tuple[Ints, Floats]:
        """What the policy that is guarded gives the applicable actions of a state; nothing where there is none."""
        if self.base is None:
            return np.zeros(0, np.int32), np.zeros(0)
        ask = getattr(self.base, "probabilities", None)
        return tuple(self.base.distributions([propositions])[0] if ask is None else ask(propositions))

    def distributions(self, states: Sequence[Ints]) -> list[Distribution]:
        """What it does in states, where that is all that it depends on.

        Raises:
            ConfigError: If it has memory.
        """
        check_memoryless(self, "said state by state")
        return native_distributions(self.native, states)


def guarded(
    policy: TaskPolicy,
    *,
    on_loop: str | None = None,
    shield: bool = False,
    shield_expansions: int = DEFAULT_SHIELD_EXPANSIONS,
    search: OnlineSearch | None = None,
) -> TaskPolicy:
    """The policy with the guards that are asked for; the policy itself where there are none. See `GuardedPolicy`.

    Args:
        policy: Any policy.
        on_loop: None for `DEFAULT_ON_LOOP`, where the policy is in the compiled core and there is no search, and "none"
            elsewhere.
        shield: As for `GuardedPolicy`, like the others.
        shield_expansions: Of the shield.
        search: What decides.

    Raises:
        ConfigError: If an argument cannot be used, or expansions are given without a shield.
    """
    if not shield and shield_expansions != DEFAULT_SHIELD_EXPANSIONS:
        raise ConfigError("expansions of a shield are given without one: expected --shield (shield=True) beside them")
    if on_loop is None:
        is_left = search is None and getattr(policy, "native", None) is not None
        on_loop = DEFAULT_ON_LOOP if is_left else "none"
    if on_loop == "none" and not shield and search is None:
        return policy
    return GuardedPolicy(policy, on_loop=on_loop, shield=shield, shield_expansions=shield_expansions, search=search)


def check_memoryless(policy: TaskPolicy, done: str) -> None:
    """Checks that what a policy does depends on the state alone.

    Args:
        policy: Any policy.
        done: What needs that, for the message: "cannot be DONE".

    Raises:
        ConfigError: If it does not.
    """
    if getattr(policy, "has_memory", False):
        raise ConfigError(
            f"what {policy.name!r} does cannot be {done}: it depends on the run so far, not on the state alone. "
            "Evaluate it by runs; or verify the policy without search and without a rule for loops (a shield may stay)"
        )


def in_words(counts: GuardCounts) -> list[str]:
    """What a guard did, in sentences; none where it had nothing to do."""
    sentences = []
    if counts.loops:
        sentences.append(
            f"came back without progress {count(counts.loops, 'time')} in {counts.loop_episodes:,} of "
            f"{count(counts.episodes, 'run')}, and did something else then {count(counts.loops_left, 'time')}"
        )
    if counts.excluded_actions:
        excluded, steps = count(counts.excluded_actions, "action"), count(counts.excluded_steps, "step")
        sentences.append(f"the shield excluded {excluded} in {steps} of {counts.steps:,}")
    if any(decider != "policy" or set(reasons) != {"alone"} for decider, reasons in counts.decided.items()):
        shares = "; ".join(
            f"{DECIDERS[decider]} {sum(reasons.values()):,} ("
            + ", ".join(f"{steps:,}: {REASONS[reason]}" for reason, steps in reasons.items())
            + ")"
            for decider, reasons in counts.decided.items()
        )
        sentences.append(f"steps by whose action was taken: {shares}")
    return sentences


def _native_of(policy: TaskPolicy) -> _native.Policy:
    native = getattr(policy, "native", None)
    if not isinstance(native, _native.Policy):
        raise ConfigError(f"the policy {policy.name!r} is not in the compiled core, where guarded policies run")
    if isinstance(native, _native.TablePolicy):
        raise ConfigError(
            f"the policy {policy.name!r} knows what to do in its own states alone, which a guarded policy may leave"
        )
    if native.has_memory:
        raise ConfigError(f"the policy {policy.name!r} has a memory of its own: guard the policy behind it once")
    return native


def _name(policy: TaskPolicy | None, on_loop: str, shield: bool, search: OnlineSearch | None) -> str:
    parts = ["a shield"] * shield
    if search is not None:
        parts.append(f"{search.name} on loops" if on_loop == "search" else search.name)
    if on_loop in ("next", "sample"):
        parts.append("next choice on loops" if on_loop == "next" else "draws on loops")
    if policy is None:
        return ", ".join(parts[::-1])
    return policy.name + (f" with {', '.join(parts)}" if parts else "")
