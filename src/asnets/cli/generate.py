"""`asnets generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from asnets.cli.completion import offer_families
from asnets.cli.running import SeedOption, require
from asnets.domains import FAMILIES, domain_text
from asnets.domains import generate as generate_problem
from asnets.errors import FileError
from asnets.files import read_bytes, write_atomically
from asnets.ppddl import write_problem

_MAX_PROBLEMS = 10_000
_FAMILY_HELP = "One of: " + "; ".join(f"{family.name} ({family.size_meaning})" for family in FAMILIES.values())


def generate(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help=_FAMILY_HELP, autocompletion=offer_families)],
    size: Annotated[list[int], typer.Option("--size", help="Size of the problems; may be given several times.")],
    count: Annotated[int, typer.Option("--count", min=1, help="How many problems of each size.")] = 1,
    seed: SeedOption = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder for domain.pddl and one file a problem."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that differ.")] = False,
) -> None:
    """Generate problems of a benchmark family.

    Without -o, domain and problem are printed as one text, which the other commands take as one file.
    """
    sizes = list(dict.fromkeys(size))
    require(
        len(sizes) * count <= _MAX_PROBLEMS, f"{len(sizes) * count:,} problems; at most {_MAX_PROBLEMS:,} at a time"
    )
    problems = [generate_problem(family, each, seed=seed, index=index) for each in sizes for index in range(count)]
    require(
        count == 1 or FAMILIES[family].randomised,
        f"all problems of {family} of one size are the same; --count must be 1",
    )
    if output is None:
        require(len(problems) == 1, "more than one problem: give a folder with -o DIR")
        print(domain_text(family) + "\n" + write_problem(problems[0]), end="")
        return
    files = {output / "domain.pddl": domain_text(family)}
    files |= {output / f"{problem.name}.pddl": write_problem(problem) for problem in problems}
    for path, text in files.items():
        if not force and path.exists() and read_bytes(path) != text.encode():
            raise FileError(f"{path}: the file exists and differs; use --force to overwrite it")
    for path, text in files.items():
        write_atomically(path, text)
        print(path)
