"""`asnets test`."""

from __future__ import annotations

import json as json_format
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from asnets.cli.completion import offering
from asnets.cli.policies import load_trained
from asnets.cli.running import (
    JsonOption,
    LenientOption,
    MaxActionsOption,
    MemoryLimitOption,
    ModelArgument,
    ModelCostsOption,
    ProblemsArgument,
    ProblemsDomainArgument,
    SeedOption,
    TimeLimitOption,
    bounded,
    load,
    parse_size,
    print_json,
    require,
    with_own_domains,
)
from asnets.cli.tables import show_table
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, FileError, LimitError
from asnets.evaluation.rollouts import check_run
from asnets.files import FilesTogether, check_writable, read_bytes, refuse_overwriting
from asnets.grounding import DEFAULT_LIMITS, Limits
from asnets.ppddl import write_domain
from asnets.words import count

if TYPE_CHECKING:
    from asnets.testing import FindingGroup, PolicyTest
    from asnets.verification import Interval

_OBJECTIVES = ("penalty", "maxprob")
_SHRINKINGS = ("none", "objects", "facts")
_INDEX, _RESULTS = "index.html", "findings.json"
_SHARE_OF_TESTING = 0.95  # Of the budget; the rest is for reading and for ending in order.


def probe(
    model: ModelArgument,
    domain: ProblemsDomainArgument,
    problems: ProblemsArgument = None,
    budget: Annotated[
        float, typer.Option("--budget", metavar="SECONDS", help="For each problem, from reading it on.")
    ] = 60.0,
    states: Annotated[int, typer.Option("--states", min=1, help="Look at so many states of a problem at most.")] = 1000,
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            metavar="|".join(_OBJECTIVES),
            help="What counts as worse: more expected cost with the penalty, or less probability of the goal.",
            autocompletion=offering(_OBJECTIVES),
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
        float, typer.Option("--epsilon", help="What counts as equal, relative where values are above 1.")
    ] = 1e-4,
    effort: Annotated[
        int, typer.Option("--effort", min=1, help="Expand so many states at most in a search from one state.")
    ] = 20_000,
    max_steps: Annotated[
        int, typer.Option("--max-steps", min=1, help="Step limit of the runs that states come from.")
    ] = 100,
    disturbance: Annotated[
        float,
        typer.Option("--disturbance", help="Probability of a random action at each step of a disturbed run."),
    ] = 0.2,
    shrink: Annotated[
        str,
        typer.Option(
            "--shrink",
            metavar="|".join(_SHRINKINGS),
            help="Leave out objects and parts of the goal, or also single facts, as long as the finding stays.",
            autocompletion=offering(_SHRINKINGS),
        ),
    ] = "objects",
    per_group: Annotated[
        int,
        typer.Option(
            "--per-group", min=0, help="Make small problems of so many findings of a group at most, for each problem."
        ),
    ] = 3,
    recheck: Annotated[
        bool,
        typer.Option("--recheck/--no-recheck", help="Whether small problems are solved once more by other means."),
    ] = True,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help=f"Folder for {_INDEX} with pictures, {_RESULTS}, and a PPDDL file for each small problem.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the files of an earlier test in the folder.")] = False,
    seed: SeedOption = 0,
    time_limit: TimeLimitOption = None,
    memory_limit: MemoryLimitOption = "8GB",
    costs: ModelCostsOption = None,
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Look for states in which a policy's choice is proved worse than another.

    States come from runs of the policy, from disturbed runs and from random walks. A search bounds what follows each
    choice. What is found is made small: problems with fewer objects on which the policy makes the same mistake, which
    `asnets train` takes as further problems. The exit code is 0 whether something is found or not; 4 if a problem could
    not be read within its budget, or the time limit was reached.
    """
    of_all, problems = with_own_domains(domain, problems)
    memory = parse_size(memory_limit)
    require(memory > 0, f"the memory limit must be positive, not {memory_limit}")
    require(0 < budget < math.inf, f"the budget must be positive and finite, not {budget}")
    check_run(max_steps, seed)
    from asnets.testing import ProbeOptions, grouped, probe_task

    options = ProbeOptions(
        objective=objective,
        penalty=penalty,
        epsilon=epsilon,
        states=states,
        effort=effort,
        max_steps=max_steps,
        disturbance=disturbance,
        shrink=shrink,  # type: ignore[arg-type]
        per_group=per_group,
        recheck=recheck,
        seed=seed,
        memory=memory,
        budget=math.inf,
    )
    earlier = [] if output is None else _earlier_files(output, force=force)
    for file in earlier:
        refuse_overwriting(file, (model, domain, *problems))
    policy = load_trained(model)
    if output is not None:
        check_writable(output)
    whole = NO_DEADLINE if time_limit is None else Deadline(time_limit)
    tests: list[PolicyTest] = []
    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    names: set[str] = set()
    texts: dict[str, str] = {}  # Of small problems, with their domain where each file holds its own.
    for problem in problems:
        has_less = whole.left < budget
        deadline = whole if has_less else Deadline(budget, within=whole)
        try:
            with bounded(deadline, f"testing {model} on {problem}"):
                loaded = load(of_all, problem, costs or policy.costs, max_actions, lenient, deadline)
                result = probe_task(
                    policy,
                    loaded,
                    options,
                    limits=Limits(max_actions=max_actions),
                    names=names,
                    deadline=deadline.part(_SHARE_OF_TESTING),
                    progress=True,
                )
        except LimitError as error:
            failed.append(f"  {problem}: {error}")
            rows.append({"problem": problem, "states": 0, "limits": [str(error)]})
            continue
        tests.append(result)
        own_domain = "" if of_all is not None else write_domain(loaded.domain) + "\n"
        texts |= {f"{small.name}.pddl": own_domain + small.text for small in result.small_problems}
        rows.append(result.to_dict() | {"file": problem})
        if has_less and not result.is_complete:
            failed.append(f"  {problem}: the time limit of {whole.seconds:g} s left it less than its budget")
    groups = grouped(finding for test in tests for finding in test.findings)
    document = {"model": model, "problems": rows, "groups": [group.to_dict() for group in groups]}
    if output is not None:
        from asnets.pictures import findings_page

        page = findings_page(f"{domain}: a test of {model}", tests, groups)
        _write(output, page, texts, document, earlier)
    if json:
        print_json(document)
    elif tests:
        _show(tests, groups)
        if output is not None:
            print(f"{output / _INDEX}; {len(names):,} small problems in {output}")
    if failed:
        raise LimitError("\n".join([f"{len(failed)} of {len(problems)} problems were cut off", *failed]))


def _earlier_files(folder: Path, *, force: bool) -> list[Path]:
    """The files of an earlier test in the folder, which this one replaces.

    Raises:
        ConfigError: If the folder holds something else, or is not to be replaced.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is no folder; give the name of one")
    if not folder.is_dir() or not any(folder.iterdir()):
        return []
    results = folder / _RESULTS
    if not results.is_file():
        raise ConfigError(f"{folder} is there and holds no test ({_RESULTS}); it is not touched: choose another name")
    if not force:
        raise ConfigError(f"{folder} holds a test already; choose another name, or give --force to replace it")
    try:
        problems = json_format.loads(read_bytes(results))["small_problems"]
        return [folder / Path(name).name for name in problems]
    except (ValueError, TypeError, KeyError):
        raise FileError(f"{results}: not written by `asnets test`; choose another folder") from None


def _write(
    folder: Path,
    page: str,
    problems: dict[str, str],
    document: dict[str, Any],
    earlier: list[Path],
) -> None:
    """Writes the page, the results and the small problems: all of them or none."""
    texts = {
        _INDEX: page,
        **problems,
        _RESULTS: json_format.dumps(document | {"small_problems": list(problems)}, indent=2, allow_nan=False) + "\n",
    }
    with FilesTogether(remove=earlier) as files:
        for name, text in texts.items():
            with files.writing(folder / name) as stream:
                stream.write(text.encode())


def _show(tests: list[PolicyTest], groups: tuple[FindingGroup, ...]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("problem", "states", "decided", "as good", "worse", "hopeless", "undecided", "time"):
        table.add_column(heading, justify="left" if heading == "problem" else "right")
    for test in tests:
        counts = (test.states, test.decided, test.as_good, len(test.findings), test.hopeless, test.undecided)
        table.add_row(test.task.problem, *(f"{number:,}" for number in counts), f"{test.seconds['total']:.1f} s")
    show_table(table)
    if groups:
        print()
        show_table(_groups_table(groups))
    for test in tests:
        for limit in test.limits:
            print(f"limit: {test.task.problem}: {limit}")
        if test.lost:
            print(
                f"{test.task.problem}: {count(test.lost, 'finding')} not seen again on a problem that begins in its "
                "state: what cannot be reached from there is left out of it, and the policy chooses otherwise"
            )
    first = tests[0]
    failing = "" if first.objective == "maxprob" else f"; penalty: {first.penalty:g}"
    print(
        f"objective: {first.objective}{failing}; costs: {first.task.cost_mode}; seed: {first.seed}; "
        f"bounds: {first.searched_by}"
    )


def _groups_table(groups: tuple[FindingGroup, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("reason", "choice", "better", "findings", "smallest", "objects", "values", "confirmed by"):
        table.add_column(heading, justify="right" if heading in ("findings", "objects") else "left")
    for group in groups:
        smallest = group.smallest
        row = [group.reason, group.chosen, group.better, f"{len(group.findings):,}"]
        if smallest is None or smallest.small is None:
            row += ["–", "–", "–", "bounds"]
        else:
            small = smallest.small
            compared = small.comparison
            values = f"{_bounds(compared.value)} / {_bounds(compared.better_value)}"
            row += [small.name, f"{small.objects:,}", values, small.confirmation.by]
        table.add_row(*row)
    return table


def _bounds(bounds: Interval) -> str:
    return f"{bounds.middle:.5g}" if bounds.is_narrow(1e-3) else f"{bounds.lower:.5g} to {bounds.upper:.5g}"
