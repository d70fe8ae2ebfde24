"""`asnets evaluate`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from asnets.cli.completion import offer_objectives
from asnets.cli.guarding import (
    ErrorRateOption,
    HeuristicOption,
    LeavesOption,
    OnLoopOption,
    RolloutsPerStepOption,
    SearchOption,
    ShieldExpansionsOption,
    ShieldOption,
    TimePerStepOption,
    online_search,
)
from asnets.cli.policies import load_trained
from asnets.cli.running import (
    DepthOption,
    DetectDeadEndsOption,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    MemoryLimitOption,
    ModelArgument,
    ModelCostsOption,
    ProblemsArgument,
    ProblemsDomainArgument,
    SampledOption,
    SeedOption,
    ThreadsOption,
    bounded,
    load,
    parse_size,
    print_json,
    require,
    with_own_domains,
)
from asnets.cli.tables import show_table
from asnets.deadline import Deadline
from asnets.errors import LimitError
from asnets.evaluation.objectives import ObjectiveEstimate, estimate
from asnets.evaluation.rollouts import ENDING_COUNTS, ENDINGS, Ending, check_run
from asnets.evaluation.statistics import wilson_interval_95
from asnets.grounding import DEFAULT_LIMITS
from asnets.grounding.costs import MAX_COST
from asnets.planning import OBJECTIVES
from asnets.planning.objectives import default_penalty
from asnets.policies.guarded import DEFAULT_SHIELD_EXPANSIONS, in_words
from asnets.words import count

if TYPE_CHECKING:
    from asnets.evaluation.evaluate import Evaluation
    from asnets.verification.result import Verification

_FAILURES: tuple[Ending, ...] = tuple(ending for ending in ENDINGS if ending not in ("goal", "stopped"))
_MESSAGES = {
    "finished": "",
    "time": "the time limit of {time:g} s was reached",
    "memory": "the memory limit of {memory} was reached",
}
_CUT_OFFS = {"time": "time limit", "memory": "memory limit", "size": "too large"}


def evaluate(
    model: ModelArgument,
    domain: ProblemsDomainArgument,
    problems: ProblemsArgument = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs on each problem.")] = 30,
    max_steps: Annotated[int, typer.Option("--max-steps", min=0, help="Step limit of a run.")] = 300,
    seed: SeedOption = 0,
    threads: ThreadsOption = 1,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            help="For each problem, from reading it on; runs left over count as failed, and the exit code is 4.",
        ),
    ] = 9000.0,
    memory_limit: MemoryLimitOption = "10GB",
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective",
            metavar="|".join(OBJECTIVES),
            help="Show what the runs say about one of: "
            + "; ".join(f"{name} ({info.description})" for name, info in OBJECTIVES.items())
            + ". JSON has penalty if left out.",
            autocompletion=offer_objectives,
        ),
    ] = None,
    penalty: Annotated[
        float | None,
        typer.Option(
            "--penalty",
            "--dead-end-penalty",
            help="What a run that does not reach the goal costs besides, under the objective penalty, and for a "
            "search; 500 if left out, or with --costs metric the problem's :goal-reward if it is positive.",
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Beside the runs, solve the chain of the policy where it is small enough, as `asnets verify` does.",
        ),
    ] = False,
    exact_states: Annotated[
        int,
        typer.Option("--exact-states", min=1, max=2**32 - 2, help="States of the largest chain that --exact solves."),
    ] = 1_000_000,
    sampled: SampledOption = False,
    depth: DepthOption = None,
    search: SearchOption = None,
    time_per_step: TimePerStepOption = None,
    rollouts_per_step: RolloutsPerStepOption = None,
    heuristic: HeuristicOption = None,
    leaves: LeavesOption = "auto",
    error_rate: ErrorRateOption = None,
    on_loop: OnLoopOption = None,
    shield: ShieldOption = False,
    shield_expansions: ShieldExpansionsOption = DEFAULT_SHIELD_EXPANSIONS,
    detect_dead_ends: DetectDeadEndsOption = True,
    costs: ModelCostsOption = None,
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Run a trained policy on problems and count goals.

    The policy is greedy: the likeliest action, one of equals at random; or, with --sampled, drawn. The mean cost, with
    its 95% confidence interval, is over the runs that reached the goal; coverage has a Wilson interval. Runs that
    failed are counted by how they ended. What a way out of loops and a shield did is said below the table.

    What the runs say about an objective is an estimate with a confidence interval, not a bound: under penalty the mean
    cost with the penalty for runs that fail, under maxprob the part that reach the goal, under lexicographic the mean
    cost of all runs until they end.
    """
    memory = parse_size(memory_limit)
    require(memory > 0, f"the memory limit must be positive, not {memory_limit}")
    require(0 < time_limit < math.inf, f"the time limit must be positive and finite, not {time_limit}")
    check_run(max_steps, seed, runs)
    require(
        objective in (None, *OBJECTIVES), f"unknown objective {objective!r}; expected one of {', '.join(OBJECTIVES)}"
    )
    require(
        penalty is None or 0 < penalty <= MAX_COST,
        f"the penalty must be above 0 and at most {MAX_COST:g}, not {penalty}",
    )
    require(
        not exact or on_loop in (None, "none"),
        f"--exact cannot be combined with --on-loop {on_loop}: what the policy does then depends on the run so far, "
        "not on the state alone; leave out one of them",
    )
    asked = online_search(
        search,
        time_per_step=time_per_step,
        rollouts_per_step=rollouts_per_step,
        heuristic=heuristic,
        leaves=leaves,
        error_rate=error_rate,
        penalty=None if search is None else penalty,  # It is for the table too.
        rollout_steps=max_steps,
        memory_limit=memory,
    )
    require(not exact or asked is None, "--exact cannot be combined with --search: what is found depends on the run")
    policy = load_trained(model, depth)
    of_all, problems = with_own_domains(domain, problems)
    rows: list[_Row] = []
    for problem in problems:
        deadline = Deadline(time_limit)
        try:
            with bounded(deadline, f"evaluating {model} on {problem}"):
                loaded = load(of_all, problem, costs or policy.costs, max_actions, lenient, deadline)
                ground_seconds = sum(loaded.seconds.values())
                result = policy.evaluate(
                    loaded.task,
                    runs=runs,
                    max_steps=max_steps,
                    seed=seed,
                    time_limit=deadline.limit or time_limit,
                    memory_limit=memory,
                    threads=threads,
                    sampled=sampled,
                    on_loop="none" if exact else on_loop,
                    shield=shield,
                    shield_expansions=shield_expansions,
                    search=asked,
                    detect_dead_ends=detect_dead_ends,
                    progress=True,
                )
                verified = None
                if exact:
                    verified = policy.verify(
                        loaded.task,
                        sampled=sampled,
                        shield=shield,
                        shield_expansions=shield_expansions,
                        method="exact",
                        penalty=penalty,
                        max_states=exact_states,
                        time_limit=deadline.limit or time_limit,
                        memory_limit=memory,
                        threads=threads,
                        optimal=False,
                        explain=False,
                        seed=seed,
                        deadline=deadline,
                        progress=True,
                    )
            message = _MESSAGES[result.status].format(time=time_limit, memory=memory_limit)
            paid = default_penalty(loaded.task) if penalty is None else penalty
            found = estimate(result.finished, objective or "penalty", paid)
            rows.append(
                _Row(loaded.task.problem, runs, result.status, message, result, ground_seconds, found, verified)
            )
        except LimitError as error:
            rows.append(_Row(problem, runs, "time" if deadline.has_passed() else "size", str(error)))
    if json:
        print_json([row.to_dict() for row in rows])
    else:
        _show(rows, seed, objective)
    cut_off = [f"  {row.problem}: {row.message}" for row in rows if row.status != "finished"]
    if cut_off:
        problems_cut_off = f"{len(cut_off)} of {len(rows)} problems were cut off"
        raise LimitError("\n".join([problems_cut_off, *cut_off]))


@dataclass(frozen=True)
class _Row:
    """What came of a problem.

    Attributes:
        problem: Its name, or that of its file where a limit ended everything.
        status: "finished", or the kind of the limit that was reached, which the message tells.
        result: None where a limit ended everything.
        verified: What holds for all runs, where that was asked for; bounds alone where the chain is too large.
    """

    problem: str
    runs: int
    status: str
    message: str
    result: Evaluation | None = None
    ground_seconds: float = 0.0
    objective: ObjectiveEstimate | None = None
    verified: Verification | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        if self.result is not None:
            seconds = {"ground": self.ground_seconds} | self.result.seconds
            objective = None if self.objective is None else self.objective.to_dict()
            exact = {} if self.verified is None else {"exact": self._exact()}
            return self.result.to_dict() | exact | {"objective": objective, "seconds": seconds}
        return {
            "problem": self.problem,
            "runs": self.runs,
            "goals": 0,
            "not_run": self.runs,
            "coverage": 0.0,
            "coverage_ci95": list(wilson_interval_95(0, self.runs)),
            "mean_cost": None,
            "ci95": None,
            "objective": None,
            "status": self.status,
            "message": self.message,
        }

    def _exact(self) -> dict[str, Any] | None:
        """The numbers of the chain, for JSON; None where it is too large."""
        if self.verified is None or self.verified.method != "exact":
            return None
        values = self.verified.to_dict()
        left_out = ("domain", "problem", "runs", "within_max_steps", "counterexamples", "sealing", "rational", "gap")
        return {name: value for name, value in values.items() if name not in left_out}

    @property
    def exact_words(self) -> str:
        """The numbers of the chain in a line."""
        if self.verified is None:
            return ""
        if self.verified.method != "exact":
            return f"{self.problem}: not exact: {'; '.join(self.verified.limits)}"
        given = self.verified.cost_given_goal
        cost = "" if given is None else f", cost {given.words()} given the goal"
        return (
            f"{self.problem}: exactly: goal {self.verified.goal_probability.words(100, '%')}{cost}, "
            f"{count(self.verified.chain.states if self.verified.chain else 0, 'state')}"
        )


def _show(rows: list[_Row], seed: int, objective: str | None) -> None:
    shown = [] if objective is None else [objective]
    results = [row.result for row in rows if row.result is not None]
    failures = [ending for ending in _FAILURES if any(result.finished.count(ending) for result in results)]
    some_not_run = any(row.to_dict()["not_run"] for row in rows)
    headings = ["problem", "goals", *(ENDING_COUNTS[ending] for ending in failures)]
    headings += ["not run"] * some_not_run + ["coverage", "mean cost", *shown, "features", "network", "total"]
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "problem" else "right")
    for row in rows:
        values = row.to_dict()
        low, high = values["coverage_ci95"]
        mean, half = values["mean_cost"], values["ci95"]
        stopped = "" if row.status == "finished" else f" ({_CUT_OFFS[row.status]})"
        cells = [row.problem, f"{values['goals']}/{row.runs}{stopped}"]
        cells += [str(row.result.finished.count(ending)) if row.result else "0" for ending in failures]
        cells += [str(values["not_run"])] * some_not_run + [f"{100 * low:.0f}–{100 * high:.0f}%"]
        cells.append("–" if mean is None else f"{mean:.2f}" + ("" if half is None else f" ± {half:.2f}"))
        cells += [_estimate(row.objective)] * len(shown)
        seconds = values.get("seconds")
        if seconds is None:
            cells += ["–", "–", "–"]
        else:
            times = (seconds["features"], seconds["network"], seconds["ground"] + seconds["total"])
            cells += [f"{value:.2f} s" for value in times]
        table.add_row(*cells)
    show_table(table)
    for row in rows:
        if row.verified is not None:
            print(row.exact_words)
    for result in results:
        for sentence in () if result.guard is None else in_words(result.guard):
            print(f"{result.task.problem}: {sentence}")
        if result.depth is not None:
            print(f"{result.task.problem}: {result.depth}")
        if rates := [f"{rate:,.0f} {name}" for name, rate in result.search_rates.items()]:
            print(f"{result.task.problem}: {' and '.join(rates)} a second")
    for result in results:
        for failure in result.failures:
            print(f"{result.task.problem}: {failure.example}")
    if any(result.failures for result in results):
        same = ", and the same options of the search," if any(result.search_rates for result in results) else ""
        print(f"`asnets run` with --seed {seed} --episode N{same} shows run N step by step")
    modes = " and ".join(dict.fromkeys(result.task.cost_mode for result in results))
    costs = f"costs: {modes}; " if modes else ""
    print(
        f"{costs}seed: {seed}; {', '.join(['coverage', *shown])} and mean cost: 95% confidence; "
        "total: with reading, grounding and simulation"
    )


def _estimate(found: ObjectiveEstimate | None) -> str:
    if found is None or found.value is None:
        return "–"
    if found.interval is None:
        return f"{found.value:.2f}"
    return f"{found.value:.2f} ({found.interval[0]:.2f}–{found.interval[1]:.2f})"
