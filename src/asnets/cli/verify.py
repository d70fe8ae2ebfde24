"""`asnets verify`."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from asnets.cli.completion import offer_models, offer_objectives, offering
from asnets.cli.guarding import ShieldExpansionsOption, ShieldOption
from asnets.cli.policies import load_named
from asnets.cli.running import (
    JsonOption,
    LenientOption,
    MaxActionsOption,
    MemoryLimitOption,
    ModelCostsOption,
    ProblemsArgument,
    ProblemsDomainArgument,
    SampledOption,
    SeedOption,
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
from asnets.evaluation.rollouts import check_run
from asnets.files import refuse_overwriting, write_atomically
from asnets.grounding import DEFAULT_LIMITS
from asnets.planning import OBJECTIVES
from asnets.policies.guarded import DEFAULT_SHIELD_EXPANSIONS, guarded

if TYPE_CHECKING:
    from asnets.verification.counterexamples import Counterexample
    from asnets.verification.numbers import Number
    from asnets.verification.result import Verification
    from asnets.verification.sealing import Sealing

_LOGGER = logging.getLogger(__name__)
_METHODS = ("auto", "exact", "bounded", "statistical")


def verify(
    policy: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|POLICY|random",
            help="A model file or a name from `asnets models`, a policy saved by `asnets solve --save-policy`, or "
            "chance.",
            autocompletion=offer_models,
        ),
    ],
    domain: ProblemsDomainArgument,
    problems: ProblemsArgument = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="|".join(_METHODS),
            help="Solve the whole chain of states, bound it by a part, make runs; or the first that limits allow.",
            autocompletion=offering(_METHODS),
        ),
    ] = "auto",
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            metavar="|".join(OBJECTIVES),
            help="What is optimal: the least expected cost with the penalty, the greatest probability of the goal, or "
            "among the policies that have it, the least cost.",
            autocompletion=offer_objectives,
        ),
    ] = "penalty",
    penalty: Annotated[
        float | None,
        typer.Option(
            "--penalty",
            "--dead-end-penalty",
            help="What a run that fails pays; 500 if left out, or with --costs metric the problem's :goal-reward if it "
            "is positive.",
        ),
    ] = None,
    epsilon: Annotated[
        float, typer.Option("--epsilon", help="How far apart bounds of exact numbers may be, relative above 1.")
    ] = 1e-6,
    max_states: Annotated[
        int, typer.Option("--max-states", min=1, max=2**32 - 2, help="Explore at most so many states.")
    ] = 50_000_000,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="Of each problem, from reading it on.")
    ] = 600.0,
    memory_limit: MemoryLimitOption = "8GB",
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            min=1,
            max=256,
            help="How many to use; as many as there are cores if left out. Results are the same for any number.",
            show_default=False,
        ),
    ] = None,
    width: Annotated[
        float,
        typer.Option(
            "--width", help="Make runs until intervals are so narrow: of probabilities, and of costs, relative."
        ),
    ] = 0.01,
    confidence: Annotated[
        float, typer.Option("--confidence", help="The probability with which an interval from runs is to hold.")
    ] = 0.95,
    max_steps: Annotated[int, typer.Option("--max-steps", min=0, help="Step limit of a run.")] = 300,
    seed: SeedOption = 0,
    optimal: Annotated[
        bool, typer.Option("--optimal/--no-optimal", help="Whether a planner looks for the optimum as well.")
    ] = True,
    explain: Annotated[
        bool, typer.Option("--explain/--no-explain", help="Whether to show a way into failure, and what sealed it.")
    ] = True,
    rational: Annotated[
        bool, typer.Option("--rational", help="Also solve a small chain with fractions, without any rounding.")
    ] = False,
    picture: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.html", help="Draw the ways into failure, step by step."),
    ] = None,
    sampled: SampledOption = False,
    shield: ShieldOption = False,
    shield_expansions: ShieldExpansionsOption = DEFAULT_SHIELD_EXPANSIONS,
    costs: ModelCostsOption = None,
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Say what a policy guarantees: goal, failure and cost, with bounds.

    The chain of all states that the policy can meet is solved exactly. Where it is too large, its likeliest part gives
    bounds, and runs give confidence intervals that are no approximations. Each number says which of these it rests on.
    `asnets help verification` says what the numbers mean; -o draws the ways into failure. The exit code is 4 if
    --method exact was asked for, and a limit left less.
    """
    of_all, problems = with_own_domains(domain, problems)
    memory = parse_size(memory_limit)
    require(memory > 0, f"the memory limit must be positive, not {memory_limit}")
    require(method in _METHODS, f"the method must be one of {', '.join(_METHODS)}, not {method!r}")
    require(objective in OBJECTIVES, f"unknown objective {objective!r}; expected one of {', '.join(OBJECTIVES)}")
    require(0 < time_limit < math.inf, f"the time limit must be positive and finite, not {time_limit}")
    require(0 < confidence < 1, f"the confidence must be between 0 and 1, such as 0.95, not {confidence}")
    check_run(max_steps, seed)
    if picture is not None:
        require(picture.suffix.lower() == ".html", f"-o {picture} must end in .html")
        require(explain and method != "statistical", "-o needs a way into failure, which is not looked for here")
        refuse_overwriting(picture, (policy, domain, *problems))
    chosen = load_named(policy, sampled=sampled)
    from asnets.verification.verify import verify as verify_policy

    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    failures: list[tuple[Counterexample, Sealing | None]] = []
    for number, problem in enumerate(problems):
        deadline = Deadline(time_limit)
        try:
            with bounded(deadline, f"verifying {policy} on {problem}"):
                loaded = load(of_all, problem, costs or chosen.costs, max_actions, lenient, deadline)
                result = verify_policy(
                    guarded(chosen.of(loaded.task), on_loop="none", shield=shield, shield_expansions=shield_expansions),
                    method=method,  # type: ignore[arg-type]
                    objective=objective,
                    penalty=penalty,
                    epsilon=epsilon,
                    max_states=max_states,
                    time_limit=deadline.limit or time_limit,
                    memory_limit=memory,
                    threads=threads,
                    width=width,
                    confidence=confidence,
                    max_steps=max_steps,
                    seed=seed,
                    optimal=optimal,
                    explain=explain,
                    rational=rational,
                    deadline=deadline,
                    progress=True,
                )
        except LimitError as error:
            failed.append(f"  {problem}: {error}")
            rows.append({"problem": problem, "method": None, "limits": [str(error)]})
            continue
        if method == "exact" and result.method != "exact":
            failed.append(f"  {result.task.problem}: {'; '.join(result.limits)}")
        seconds = {"ground": sum(loaded.seconds.values())} | result.seconds
        rows.append(result.to_dict() | {"file": problem, "seconds_by_part": seconds})
        failures += [(example, result.sealing if i == 0 else None) for i, example in enumerate(result.counterexamples)]
        if not json:
            if number:
                print()
            _show(result)
    if (
        picture is not None
        and _draw(picture, f"{problems[0] if len(problems) == 1 else domain}: how {policy} fails", failures)
        and not json
    ):
        print(f"picture: {picture}")
    if json:
        print_json(rows)
    if failed:
        what = "could not be solved exactly" if method == "exact" else "were cut off"
        raise LimitError("\n".join([f"{len(failed)} of {len(rows)} problems {what}", *failed]))


def _draw(picture: Path, title: str, failures: list[tuple[Counterexample, Sealing | None]]) -> bool:
    """Writes a page with the ways into failure; False where there are none."""
    if not failures:
        _LOGGER.warning("%s is not written: no way into failure was found", picture)
        return False
    from asnets.pictures import failure_page

    write_atomically(picture, failure_page(title, failures))
    return True


def _show(result: Verification) -> None:
    from asnets.verification.result import NUMBERS

    chain, samples, seconds = result.chain, result.samples, result.seconds
    print(f"{result.task.problem} of {result.task.domain}, policy {result.policy}: {result.method}")
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, number in _rows(result):
        table.add_row(name, number.words(), number.guarantee)
    optimum = result.optimum
    if optimum is not None:
        ended = "converged" if optimum.status == "converged" else f"stopped by the limit on {optimum.status}"
        cost = "optimal cost to the end" if result.objective == "lexicographic" else "optimal cost"
        for name, best in ((cost, optimum.cost), ("optimal goal", optimum.goal_probability)):
            if best is not None:
                table.add_row(name, best.words(), f"{best.guarantee}; {optimum.planner}, {ended}")
    if result.gap is not None:
        table.add_row("policy", result.gap.words, result.gap.guarantee)
    for name, number in result.within().items():
        if result.numbers.get(name) != number:
            table.add_row(NUMBERS[name], number.words(), number.guarantee)
    show_table(table)
    if result.rational is not None:
        from asnets.verification.rational import fraction_words

        exact = result.rational
        goal, cost = (fraction_words(x) or "too long" for x in (exact.goal_probability, exact.expected_cost))
        print(f"as fractions: goal {goal}, expected cost {cost}")
    for example in result.counterexamples:
        print(f"the {example.path.way} way into failure: {example.run.record}")
        print("  " + " ".join(step.action for step in example.run.steps))
    if result.sealing is not None:
        print(f"  {result.sealing.words}")
    if chain is not None:
        whole = "" if chain.status == "complete" else ", not all of them"
        print(f"chain: {chain.states:,} states{whole}, {chain.transitions:,} transitions")
    if samples is not None:
        print(
            f"runs: {samples.runs:,} of at most {result.max_steps} steps: {samples.goals:,} goals, "
            f"{samples.dead_ends:,} dead ends, {samples.unfinished:,} unfinished"
        )
    for limit in result.limits:
        print(f"limit: {limit}")
    times = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
    print(f"penalty: {result.penalty:g}; costs: {result.task.cost_mode}; seed: {result.seed}; {times}")


def _rows(result: Verification) -> list[tuple[str, Number]]:
    """What is shown of the numbers: those that say something."""
    from asnets.verification.result import NUMBERS

    rows = [
        (NUMBERS[name], number)
        for name, number in result.numbers.items()
        if (math.isfinite(number.upper) or number.lower > 0)
        and (name not in ("loop_probability", "gives_up_probability") or number.upper > 0)
    ]
    rows += [(f"quantile {100 * level:g}%", number) for level, number in result.quantiles.items() if number.is_known]
    return rows + [(f"worst {100 * share:g}%", number) for share, number in result.cvar.items() if number.is_known]
