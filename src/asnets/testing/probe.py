"""Tests a policy on a problem: finds states, judges its choices in them, makes findings small, checks them once more.

States are judged with little effort first, those near the goal before others, and with ten times as much in each
further round, those first where the bounds speak most against the choice; all searches share one table. Effort is
counted in expanded states, so that results depend on the time only where the budget ends them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Protocol

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import AsnetsError, ConfigError
from asnets.grounding import DEFAULT_LIMITS, GroundTask, Limits, ground
from asnets.grounding.lifting import problem_at
from asnets.grounding.task import Ints
from asnets.loading import LoadedTask, load_stages
from asnets.planning import resident_memory
from asnets.planning.solvers import GIVE_UP
from asnets.policies.protocol import TaskPolicy
from asnets.ppddl import Domain, Problem, load_task_text, write_domain, write_problem
from asnets.progress import live_figures, show_progress
from asnets.testing.confirming import MAX_EXACT_STATES, Confirmation, confirm
from asnets.testing.judging import DEFAULT_EFFORT, DEFAULT_EPSILON, OBJECTIVES, Judge, Judgement
from asnets.testing.result import Comparison, Finding, PolicyTest, Reason, SmallProblem, grouped, schema_of, shown
from asnets.testing.shrinking import SHRINKINGS, Shrinking, shrink
from asnets.testing.states import FoundState, find_states
from asnets.words import count

_ROUNDS = (100, 10, 1)  # What the effort is divided by in each.
# Shares of the time that is left.
_SHARE_OF_LOOKING, _SHARE_OF_JUDGING, _SHARE_OF_COMPARING, _SHARE_OF_MAKING_SMALL = 0.2, 0.5, 0.4, 0.95
_SHARE_OF_SHRINKING = 0.6  # Of making one finding small; the rest is for checking it once more.
_GIVES_UP = "gives up"


class DomainPolicy(Protocol):
    """A policy of a domain, such as `asnets.Policy`."""

    @property
    def costs(self) -> str:
        """The costs to read problems with: "unit" or "metric"."""
        ...

    def of(self, task: GroundTask) -> TaskPolicy:
        """What it does in a task."""
        ...


@dataclass(frozen=True)
class ProbeOptions:
    """How to test.

    Attributes:
        objective: "penalty" or "maxprob".
        penalty: What failing costs; None for the default of the task.
        epsilon: What counts as equal, relative where values are above 1.
        states: How many states to look at, at most.
        budget: Seconds for the problem; infinite for as long as it takes.
        effort: How many states a search may expand, at most.
        max_steps: Step limit of the runs that states come from.
        disturbance: The probability with which a step of a disturbed run takes any applicable action.
        shrink: "objects", "facts" (also single facts) or "none".
        per_group: How many findings of a group are made small.
        recheck: Whether small problems are solved once more by other means.
        seed: Of all random choices.
        memory: Resident memory of the process, in bytes, at which searches end.

    Example:
        >>> asnets.ProbeOptions(states=100, objective="maxprob").effort
        20000
    """

    objective: str = "penalty"
    penalty: float | None = None
    epsilon: float = DEFAULT_EPSILON
    states: int = 1000
    budget: float = 60.0
    effort: int = DEFAULT_EFFORT
    max_steps: int = 100
    disturbance: float = 0.2
    shrink: Shrinking = "objects"
    per_group: int = 3
    recheck: bool = True
    seed: int = 0
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ConfigError(f"--objective (objective) must be one of {', '.join(OBJECTIVES)}, not {self.objective!r}")
        if self.shrink not in SHRINKINGS:
            raise ConfigError(f"--shrink (shrink) must be one of {', '.join(SHRINKINGS)}, not {self.shrink!r}")
        if not 0 < self.epsilon < 1:
            raise ConfigError(f"--epsilon (epsilon) must be between 0 and 1, not {self.epsilon}")
        for name in ("states", "effort", "max_steps"):
            if not 1 <= getattr(self, name) < 2**40:
                option = f"--{name.replace('_', '-')} ({name})"
                raise ConfigError(f"{option} must be between 1 and 2^40 - 1, not {getattr(self, name)}")
        if self.per_group < 0:
            raise ConfigError(f"--per-group (per_group) must not be negative, not {self.per_group}")
        if not self.budget > 0:
            raise ConfigError(f"--budget (budget) must be positive, not {self.budget}")


DEFAULT_OPTIONS = ProbeOptions()


def probe(
    policy: DomainPolicy,
    domain: str | Path | Domain,
    problem: str | Path | Problem,
    options: ProbeOptions = DEFAULT_OPTIONS,
    *,
    progress: bool | Callable[[str], None] = False,
    deadline: Deadline = NO_DEADLINE,
) -> PolicyTest:
    """Tests a policy: looks for states in which its choice is proved worse than another action.

    Args:
        policy: A trained policy, or anything that has costs and acts in tasks.
        domain: A file, or what was read from one.
        problem: The same.
        options: How to test.
        progress: True for a line on a terminal or in a notebook; or what is called with what is going on, in words.
        deadline: When to end with what there is.

    Raises:
        ConfigError: If the policy is one of another domain.
        FileError: If a file cannot be read.
        InputError: With all mistakes of the files.
        LimitError: If the problem is too large, or the deadline passes before it is read.

    Example:
        >>> from asnets.domains import domain_text, generate
        >>> from asnets.ppddl import parse_text
        >>> domain = parse_text(domain_text("monster")).domains[0]
        >>> policy = asnets.Policy.load("monster")  # It was trained on lengths up to 5.
        >>> asnets.probe(policy, domain, generate("monster", 5))
        <PolicyTest of asnet on monster-n5: 0 findings in 2 states, 2 of them decided>
        >>> test = asnets.probe(policy, domain, generate("monster", 8))
        >>> [(group.reason, group.chosen, len(group.findings)) for group in test.groups]
        [('less likely', 'drive', 2)]
        >>> test.findings[0].small.confirmation.by
        'fractions'
    """
    if not hasattr(policy, "costs") or not hasattr(policy, "of"):
        raise ConfigError(f"expected a policy of a domain such as asnets.Policy.load(...), not {policy!r}")
    if isinstance(domain, Domain) and isinstance(problem, Problem):
        begin = time.perf_counter()
        task = ground(domain, problem, costs=policy.costs, deadline=deadline)
        loaded = LoadedTask(domain, problem, task, {"ground": time.perf_counter() - begin})
    elif isinstance(domain, Domain) or isinstance(problem, Problem):
        raise ConfigError("give both domain and problem as files, or both as what was read from them")
    else:
        loaded = load_stages(domain, problem, costs=policy.costs, deadline=deadline)
    return probe_task(policy, loaded, options, progress=progress, deadline=deadline)


def probe_task(
    policy: DomainPolicy,
    loaded: LoadedTask,
    options: ProbeOptions = DEFAULT_OPTIONS,
    *,
    limits: Limits = DEFAULT_LIMITS,
    names: set[str] | None = None,
    progress: bool | Callable[[str], None] = False,
    deadline: Deadline = NO_DEADLINE,
) -> PolicyTest:
    """As `probe`, of a problem that was read.

    Args:
        policy: The policy.
        loaded: The problem.
        options: How to test.
        limits: Size limits of grounding small problems.
        names: Of small problems that are taken; those that are made are added.
        progress: As for `probe`.
        deadline: As for `probe`.
    """
    budget = Deadline(options.budget, within=deadline)
    with show_progress(progress, _shown, lambda figures: None) as show:
        tester = _Tester(policy, loaded, options, limits, set() if names is None else names, show)
        return tester.run(budget)


@contextmanager
def _shown() -> Iterator[Callable[[str], None]]:
    with live_figures("looking for states") as show:
        yield lambda figures: show(figures)


class _Tester:
    """One test at work."""

    def __init__(
        self,
        policy: DomainPolicy,
        loaded: LoadedTask,
        options: ProbeOptions,
        limits: Limits,
        names: set[str],
        show: Callable[[str], None],
    ) -> None:
        self._policy = policy
        self._loaded = loaded
        self._options = options
        self._limits = limits
        self._names = names
        self._show = show
        self._cut: list[str] = []
        self._lost = 0
        self._seconds: dict[str, float] = {}
        self._begin = time.perf_counter()
        self._small: dict[Problem, SmallProblem] = {}

    @property
    def _efforts(self) -> list[int]:
        return [max(1, self._options.effort // divisor) for divisor in _ROUNDS]

    def run(self, budget: Deadline) -> PolicyTest:
        options = self._options
        judge = self._judge(self._loaded.task)
        found = self._find(judge.policy, budget.part(_SHARE_OF_LOOKING))
        judged = self._judge_all(judge, found, budget.part(_SHARE_OF_JUDGING), budget)
        comparing = budget.part(_SHARE_OF_COMPARING)
        findings = [
            self._finding(judge, state, judgement, comparing)
            for state, judgement in judged
            if judgement.verdict == "worse"
        ]
        if findings and comparing.has_passed():
            self._cut.append("the budget ended the comparison of goal probabilities: some reasons may be sharper")
        self._note("judging")
        findings = self._make_small(findings, budget.part(_SHARE_OF_MAKING_SMALL), budget)
        self._note("shrinking")
        verdicts = [judgement.verdict for _, judgement in judged]
        return PolicyTest(
            task=self._loaded.task,
            policy=judge.policy.name,
            objective=options.objective,
            penalty=judge.penalty,
            epsilon=options.epsilon,
            seed=options.seed,
            states=len(judged),
            as_good=verdicts.count("as good"),
            hopeless=verdicts.count("hopeless"),
            undecided=verdicts.count("undecided"),
            findings=tuple(findings),
            lost=self._lost,
            searched_by=judge.searched_by,
            limits=tuple(self._cut),
            seconds=self._seconds | {"total": time.perf_counter() - self._begin},
        )

    def _note(self, part: str) -> None:
        """Remembers the seconds of a part that has ended."""
        self._seconds[part] = time.perf_counter() - self._begin - sum(self._seconds.values())

    def _judge(self, task: GroundTask) -> Judge:
        options = self._options
        return Judge(
            self._policy.of(task),
            objective=options.objective,
            penalty=options.penalty,
            epsilon=options.epsilon,
            memory=options.memory,
            seed=options.seed,
        )

    def _find(self, policy: TaskPolicy, deadline: Deadline) -> list[FoundState]:
        options = self._options
        found = []
        for state in find_states(
            policy,
            count=options.states,
            max_steps=options.max_steps,
            disturbance=options.disturbance,
            seed=options.seed,
            deadline=deadline,
        ):
            found.append(state)
            self._show(f"{count(len(found), 'state')} found")
        if deadline.has_passed():
            self._cut.append(f"the budget ended the search for states at {len(found):,}")
        self._note("looking")
        return found

    def _judge_all(
        self, judge: Judge, found: list[FoundState], share: Deadline, whole: Deadline
    ) -> list[tuple[FoundState, Judgement]]:
        """Judges states, round by round; those that nothing was asked about are left out."""
        judgements: list[Judgement | None] = [None] * len(found)
        pending = sorted(range(len(found)), key=lambda number: judge.distance(found[number].propositions))
        worse = 0
        for effort in self._efforts:
            for number in pending:
                # Time is kept for findings, once there are some.
                deadline = whole if worse == 0 else share
                if deadline.has_passed():
                    break
                judgement = judgements[number] = judge.judge(found[number].propositions, effort, deadline)
                worse += judgement.verdict == "worse"
                self._show(f"judging {count(len(found), 'state')} with effort {effort:,}: {worse:,} worse")
            known = [(each, number) for number in pending if (each := judgements[number]) is not None]
            # First where the bounds from below speak most against the choice.
            known.sort(key=lambda pair: -_promise(pair[0]))
            pending = [number for each, number in known if each.verdict == "undecided"]
        judged = [(state, each) for state, each in zip(found, judgements, strict=True) if each is not None]
        if (whole if worse == 0 else share).has_passed():
            left = len(found) - len(judged)
            more = f"; {count(left, 'state')} left out" if left else ""
            self._cut.append(f"the budget ended the judging of choices{more}")
        memory = self._options.memory
        if pending and memory is not None and resident_memory() >= memory:
            self._cut.append(f"the memory limit ended searches; {count(len(pending), 'state')} undecided")
        return judged

    def _finding(self, judge: Judge, state: FoundState, judgement: Judgement, deadline: Deadline) -> Finding:
        task = self._loaded.task
        narrowed = judge.narrowed(state.propositions, judgement, self._options.effort, deadline)
        return Finding(
            task,
            state.propositions,
            state.origin,
            state.episode,
            state.step,
            tuple(map(task.action_name, narrowed.choice)),
            self._compared(judge, state.propositions, narrowed, narrowed.better, deadline),
        )

    def _compared(
        self, judge: Judge, propositions: Ints, judgement: Judgement, better: int | None, deadline: Deadline
    ) -> Comparison:
        assert better is not None
        epsilon, objective = self._options.epsilon, self._options.objective
        reason: Reason = "dearer"
        for effort in self._efforts:
            goal = judge.goal_probability(propositions, judgement.chosen, effort, deadline)
            better_goal = judge.goal_probability(propositions, better, effort, deadline)
            if better_goal.lower - goal.upper > epsilon:
                reason = "dead end" if goal.upper <= epsilon else "less likely"
            may_be_out_of_reach = goal.lower <= epsilon < goal.upper
            if better_goal.upper - goal.lower <= epsilon or (reason != "dearer" and not may_be_out_of_reach):
                break
        task = judge.task
        return Comparison(
            chosen=_GIVES_UP if judgement.chosen == GIVE_UP else task.action_name(judgement.chosen),
            better=task.action_name(better),
            value=shown(judgement.value, objective),
            better_value=shown(judgement.better_value, objective),
            regret=judgement.regret,
            goal_probability=goal,
            better_goal_probability=better_goal,
            reason=reason,
        )

    def _make_small(self, findings: list[Finding], deadline: Deadline, whole: Deadline) -> list[Finding]:
        """Makes findings small, one of each group after the other, until there are enough or time is up."""
        made: dict[int, SmallProblem] = {}
        numbers = {id(finding): number for number, finding in enumerate(findings)}
        groups = [group.findings[: self._options.per_group] for group in grouped(findings)]
        turns = [finding for turn in zip_longest(*groups) for finding in turn if finding is not None]
        too_late = 0
        for turn, finding in enumerate(turns):
            if deadline.has_passed():
                too_late += len(turns) - turn
                break
            self._show(f"shrinking {turn + 1:,} of {count(len(turns), 'finding')}")
            share = deadline.part(1 / (len(turns) - turn))
            small = self._small_problem(finding, share, whole)
            if small is not None:
                made[numbers[id(finding)]] = small
            elif share.has_passed():
                too_late += 1
            else:
                self._lost += 1
        if too_late:
            self._cut.append(f"the budget left no time to shrink {too_late:,} of {count(len(turns), 'finding')}")
        return [replace(finding, small=made.get(number)) for number, finding in enumerate(findings)]

    def _small_problem(self, finding: Finding, deadline: Deadline, whole: Deadline) -> SmallProblem | None:
        """A small problem with the same finding; None if it is not there on one that begins in its state."""
        key = finding.comparison.key
        schema = schema_of(finding.comparison.chosen)
        domain, task = self._loaded.domain, self._loaded.task

        def holds(problem: Problem) -> bool:
            return self._seen(domain, problem, key, deadline) is not None

        begun = problem_at(self._loaded.problem, task, finding.propositions, "finding")
        try:
            if not holds(begun):
                return None
        except AsnetsError:
            return None
        small = shrink(begun, holds, by=self._options.shrink, deadline=deadline.part(_SHARE_OF_SHRINKING))
        if small in self._small:
            return self._small[small]
        name = self._free_name(f"{key[0]}-{schema}".replace(" ", "-"))
        compared = finding.comparison
        origin = f"; From {task.problem}: {compared.chosen} is worse than {compared.better}, {compared.reason}.\n"
        text = origin + write_problem(replace(small, name=name))
        made = self._read_again(name, text, key, deadline, whole)
        if made is not None:
            self._names.add(name)
            self._small[small] = made
        return made

    def _free_name(self, stem: str) -> str:
        number = 1
        while f"{stem}-{number}" in self._names:
            number += 1
        return f"{stem}-{number}"

    def _read_again(
        self, name: str, text: str, key: tuple[Reason, str, str], deadline: Deadline, whole: Deadline
    ) -> SmallProblem | None:
        """What was written is read strictly, and the finding looked for once more; None if it is not there."""
        try:
            domain, problem = load_task_text(write_domain(self._loaded.domain), text, deadline=whole)
            seen = self._seen(domain, problem, key, whole)
        except AsnetsError:
            return None
        if seen is None:
            return None
        judge, judgement, comparison = seen
        assert judgement.better is not None
        confirmation = Confirmation("bounds", comparison.value, comparison.better_value)
        if self._options.recheck:
            confirmation = confirm(judge, judgement, confirmation, max_states=MAX_EXACT_STATES, deadline=deadline)
        return SmallProblem(
            name,
            text,
            len(problem.objects),
            len(problem.init),
            comparison,
            confirmation,
            judge.policy,
            judgement.chosen,
            judgement.better,
        )

    def _seen(
        self, domain: Domain, problem: Problem, key: tuple[Reason, str, str], deadline: Deadline
    ) -> tuple[Judge, Judgement, Comparison] | None:
        """The finding in the initial state of a problem; None if there is none of that kind."""
        reason, chosen, better = key
        limits, effort = self._limits, self._options.effort
        task = ground(domain, problem, costs=self._loaded.task.cost_mode, limits=limits, deadline=deadline)
        judge = self._judge(task)
        initial = task.propositions_of()
        if not judge.has_choice(initial):
            return None
        judgement = judge.judge(initial, effort, deadline)
        if judgement.verdict != "worse":
            return None
        if schema_of(_GIVES_UP if judgement.chosen == GIVE_UP else task.action_name(judgement.chosen)) != chosen:
            return None
        for action in judge.better_actions(initial, judgement):
            if schema_of(task.action_name(action)) == better:
                narrowed = judge.narrowed(initial, replace(judgement, better=action), effort, deadline)
                if narrowed.verdict != "worse":
                    return None
                comparison = self._compared(judge, initial, narrowed, action, deadline)
                return (judge, narrowed, comparison) if comparison.reason == reason else None
        return None


def _promise(judgement: Judgement) -> float:
    return judgement.value.lower - judgement.better_value.lower
