"""`asnets generate`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from asnets.cli.completion import offer_families, offering
from asnets.cli.running import (
    CostsOption,
    LenientOption,
    MaxActionsOption,
    SeedOption,
    TimeLimitOption,
    bounded,
    load,
    require,
)
from asnets.deadline import Deadline
from asnets.domains import FAMILIES, domain_text
from asnets.domains import generate as generate_problem
from asnets.errors import ConfigError, FileError, LimitError
from asnets.files import FilesTogether, read_bytes, refuse_overwriting
from asnets.grounding import DEFAULT_LIMITS, Limits
from asnets.planning import HEURISTICS
from asnets.planning.solvers import check_options
from asnets.ppddl import write_domain, write_problem
from asnets.progress import live_figures
from asnets.variants import DEFAULT_BUDGET, KINDS, Variant, make_variants, planner_solve
from asnets.words import count as count_of

_LOGGER = logging.getLogger(__name__)

_MAX_PROBLEMS = 10_000
_FAMILY_HELP = "One of: " + "; ".join(f"{family.name} ({family.size_meaning})" for family in FAMILIES.values())
_KINDS_HELP = "; ".join(f"{name}: {kind.description}" for name, kind in KINDS.items())


def generate(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FAMILY | PROBLEM...]",
            help=f"{_FAMILY_HELP}. With --from, more problem files.",
            show_default=False,
            autocompletion=offer_families,
        ),
    ] = None,
    size: Annotated[
        list[int] | None, typer.Option("--size", help="Size of the problems; may be given several times.")
    ] = None,
    count: Annotated[int, typer.Option("--count", min=1, help="How many problems of each size, or with --from.")] = 1,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="PROBLEM",
            help="Make problems out of this one and the others that are named, instead of a family.",
        ),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option("--domain", metavar="DOMAIN", help="Of --from; if left out, each file holds its own domain."),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="|".join(KINDS),
            help=f"What --from makes; may be given several times; all if left out. {_KINDS_HELP}.",
            autocompletion=offering(KINDS.keys()),
        ),
    ] = None,
    heuristic: Annotated[
        str,
        typer.Option(
            "--heuristic",
            metavar="NAME",
            help="Of LRTDP, which has to solve what --from makes.",
            autocompletion=offering(HEURISTICS.keys()),
        ),
    ] = "hadd",
    penalty: Annotated[
        float | None,
        typer.Option(
            "--penalty",
            "--dead-end-penalty",
            help="What --from makes costs less; 500 if left out, or with --costs metric the problem's :goal-reward.",
        ),
    ] = None,
    query_limit: Annotated[
        int,
        typer.Option("--query-limit", min=1, help="States that LRTDP may expand for a problem that --from makes."),
    ] = DEFAULT_BUDGET,
    seed: SeedOption = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder for domain.pddl and one file a problem."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that differ.")] = False,
    time_limit: TimeLimitOption = None,
    costs: CostsOption = "unit",
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
) -> None:
    """Generate problems of a benchmark family, or more problems out of given ones.

    Without -o, domain and problem are printed as one text, which the other commands take as one file.

    With --from, problems are made of given ones: other starts and goals, fewer objects, several joined into one. Each
    is one that LRTDP solves within --query-limit; how it was made, its file says. Where the given problems have several
    domains, each file holds its own. With a --time-limit that is too short for all of them, nothing is written.
    """
    if given:
        require(not size, "--size is for families; leave it out with --from")
        require(count <= _MAX_PROBLEMS, f"{count:,} problems; at most {_MAX_PROBLEMS:,} at a time")
        check_options("lrtdp", heuristic, epsilon=1e-4, penalty=penalty, seed=seed, depth=None)
        problems = [*given, *(names or ())]
        deadline = Deadline(time_limit)
        with bounded(deadline, "making problems"), live_figures("making problems") as show:
            loaded = [load(domain, problem, costs, max_actions, lenient, deadline) for problem in problems]
            variants = make_variants(
                loaded,
                count,
                seed=seed,
                kinds=kinds or tuple(KINDS),
                solve=planner_solve("lrtdp", heuristic, penalty, query_limit),
                limits=Limits(max_actions=max_actions),
                deadline=deadline,
                show=show,
            )
        if len(variants) < count and deadline.has_passed():
            raise LimitError(f"{deadline.words} was reached with {len(variants)} of {count} problems made")
        _write(_texts(variants, seed), output, force, [domain, *problems])
        if len(variants) < count:
            _LOGGER.warning("only %s could be made, not %d", count_of(len(variants), "problem"), count)
        return
    require(domain is None and not kinds and time_limit is None, "--domain, --kind and --time-limit go with --from")
    if names is None or len(names) != 1:
        raise typer.BadParameter("name one family, or give problems with --from", param_hint="FAMILY")
    if not size:
        raise typer.BadParameter("a family needs a size", param_hint="--size")
    (family,) = names
    sizes = list(dict.fromkeys(size))
    require(
        len(sizes) * count <= _MAX_PROBLEMS, f"{len(sizes) * count:,} problems; at most {_MAX_PROBLEMS:,} at a time"
    )
    made = [generate_problem(family, each, seed=seed, index=index) for each in sizes for index in range(count)]
    require(
        count == 1 or FAMILIES[family].randomised,
        f"all problems of {family} of one size are the same; --count must be 1",
    )
    texts = {"domain.pddl": domain_text(family)} | {f"{problem.name}.pddl": write_problem(problem) for problem in made}
    _write(texts, output, force)


def _texts(variants: Sequence[Variant], seed: int) -> dict[str, str]:
    """The files of made problems: one domain for all, or, where there are several, each with its own."""
    if not variants:
        raise ConfigError("no problem could be made of these: LRTDP solved none, or none was new; see --query-limit")
    share = all(variant.domain == variants[0].domain for variant in variants)
    texts = {"domain.pddl": write_domain(variants[0].domain)} if share else {}
    for variant in variants:
        made = f"; Made by `asnets generate --from`, seed {seed}; it costs {variant.value:.4g}.\n; {variant.how}\n"
        own = "" if share else write_domain(variant.domain) + "\n"
        texts[f"{variant.problem.name}.pddl"] = made + own + write_problem(variant.problem)
    return texts


def _write(texts: dict[str, str], output: Path | None, force: bool, inputs: Sequence[str | None] = ()) -> None:
    """Prints a single problem with its domain, or writes all files together."""
    if output is None:
        problems = [name for name in texts if name != "domain.pddl"]
        require(len(problems) == 1, "more than one problem: give a folder with -o DIR")
        print("\n".join(texts.values()), end="")
        return
    files = {output / name: text for name, text in texts.items()}
    for path, text in files.items():
        refuse_overwriting(path, inputs)
        if not force and path.exists() and read_bytes(path) != text.encode():
            raise FileError(f"{path}: the file exists and differs; use --force to overwrite it")
    with FilesTogether() as together:
        for path, text in files.items():
            with together.writing(path) as stream:
                stream.write(text.encode())
    for path in files:
        print(path)
