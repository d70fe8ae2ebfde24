"""The problems of an experiment: from the generator of a family, from files that are named, or from a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from asnets.domains import FAMILIES, domain_text, generate
from asnets.errors import ConfigError
from asnets.experiments.toml_table import TomlTable, is_text, is_whole
from asnets.grounding.costs import COST_MODES
from asnets.ppddl import load_task, write_domain, write_problem
from asnets.ppddl.loading import holds_both
from asnets.words import by_number

LARGEST = 10**9
"""Of sizes and depths."""
SOURCES = ("family", "domain", "folder")
"""Where problems come from: keys of an experiment, of which it has one."""
SHARED_DOMAIN = "domain.pddl"
"""The file of a folder with the domain of problem files that hold none."""


@dataclass(frozen=True)
class ProblemText:
    """A problem with its domain, as PPDDL, so that it can be sent to another machine.

    Attributes:
        size: Orders problems; those of one size are averaged in charts.
        paper: Its name in the paper's tables; None if it is not there.
        costs: Of actions: "unit", or "metric" for those of the problem.
    """

    name: str
    size: int
    domain: str
    problem: str
    paper: str | None = None
    costs: str = "unit"


class ProblemReader:
    """Makes the problems of an experiment: from the generator of its family, from files, or from a folder."""

    def __init__(self, file: TomlTable, folder: Path) -> None:
        if sum(key in file for key in SOURCES) != 1:
            raise file.error("give one of family, domain and folder")
        self._family = file.values.get("family")
        for key in SOURCES[1:]:
            if key in file:
                file.text(key, expected=f"the name of a {'file' if key == 'domain' else key}")
        if "family" in file and (not is_text(self._family) or self._family not in FAMILIES):
            raise file.error(f"unknown family {self._family!r}; expected one of {', '.join(FAMILIES)}")
        self._costs: str = file.one_of("costs", COST_MODES, "unit")
        self._lenient: bool = file.flag("lenient", False)
        self._files_from = folder
        self._domain: str | None = file.values.get("domain")
        self._folder: Path | None = folder / file.values["folder"] if "folder" in file else None

    def problems(self, table: TomlTable) -> tuple[ProblemText, ...]:
        make = self._generated if self._family is not None else self._read if self._folder is None else self._in_folder
        problems = tuple(make(table))
        if not problems:
            raise table.error("there are no problems")
        names = Counter(each.name for each in problems)
        double = next((name for name, number in names.items() if number > 1), None)
        if double is not None:
            advice = (
                "give one of them another name in its file"
                if self._family is None
                else "name each size once, and leave out count where the family has one problem of each size"
            )
            raise table.error(f"two problems are called {double!r}; {advice}")
        return problems

    def _generated(self, table: TomlTable) -> Iterable[ProblemText]:
        assert self._family is not None
        table.check_keys(("sizes", "count", "seed", "paper"))
        sizes, count, seed = table.sizes("sizes"), table.values.get("count", 1), table.values.get("seed", 0)
        if not is_whole(count) or count < 1 or not is_whole(seed) or seed < 0:
            raise table.error("count must be at least 1 and seed at least 0, both whole numbers")
        text = domain_text(self._family)
        for size in sizes:
            for index in range(count):
                try:
                    problem = generate(self._family, size, seed=seed, index=index)
                except ConfigError as error:
                    raise table.error(str(error)) from None
                paper = _paper_name(table, size, index + 1) if "paper" in table else None
                yield ProblemText(problem.name, size, text, write_problem(problem), paper, self._costs)

    def _read(self, table: TomlTable) -> Iterable[ProblemText]:
        assert self._domain is not None
        table.check_keys(("problems",))
        position = 0
        for entry in table.value("problems", "a list of files", lambda value: isinstance(value, list)):
            named = {"file": entry} if isinstance(entry, str) else entry
            if isinstance(named, dict):
                TomlTable(named, table.where).check_keys(("file", "size"))
            if not isinstance(named, dict) or not isinstance(named.get("file"), str):
                raise table.error(f"a problem is a file, or {{ file = …, size = … }}, not {entry!r}")
            for path in self._files(named["file"], table):
                position += 1
                name = f"the size of {named['file']}"
                size = TomlTable({name: named.get("size", position)}, table.where).count(name, LARGEST)
                yield self._problem(self._files_from / self._domain, path, size)

    def _in_folder(self, table: TomlTable) -> Iterable[ProblemText]:
        """The problems of the folder by number, from `first` to `last`; the number is the size."""
        table.check_keys(("first", "last"))
        assert self._folder is not None
        if not self._folder.is_dir():
            raise table.error(f"there is no folder {self._folder}")
        shared = self._folder / SHARED_DOMAIN
        paths = sorted(self._folder.glob("*.pddl"), key=lambda path: by_number(path.name))
        paths = [path for path in paths if path != shared]
        if not paths:
            raise table.error(f"{self._folder} has no problem files *.pddl")
        first = table.count("first", len(paths), 1)
        last = table.count("last", len(paths), len(paths))
        if first > last:
            raise table.error(f"first must be at most last, not {first} and {last}")
        for number in range(first, last + 1):
            path = paths[number - 1]
            if holds_both(path):
                yield self._problem(path, None, number)
            elif shared.exists():
                yield self._problem(shared, path, number)
            else:
                raise table.error(f"{path} does not hold a domain and a problem, and there is no {shared}")

    def _problem(self, domain: Path, path: Path | None, size: int) -> ProblemText:
        read, problem = load_task(domain, path, lenient=self._lenient)
        return ProblemText(problem.name, size, write_domain(read), write_problem(problem), costs=self._costs)

    def _files(self, pattern: str, table: TomlTable) -> list[Path]:
        if not any(sign in pattern for sign in "*?["):
            return [self._files_from / pattern]
        root = Path(pattern).anchor
        folder = Path(root) if root else self._files_from
        try:
            matching = list(folder.glob(pattern.removeprefix(root)))
        except (ValueError, NotImplementedError) as error:
            raise table.error(f"cannot use the pattern {pattern!r}: {error}") from None
        if not matching:
            raise table.error(f"no file matches {pattern!r}")
        return sorted(matching, key=lambda path: (len(path.name), path.name))


def _paper_name(table: TomlTable, size: int, number: int) -> str:
    pattern = table.values["paper"]
    try:
        return str.format(pattern, size=size, number=number)
    except (TypeError, LookupError, ValueError, AttributeError, MemoryError):
        raise table.error(f"paper must be text with {{size}} and {{number}}, not {pattern!r}") from None
