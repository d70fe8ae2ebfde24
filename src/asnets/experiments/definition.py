"""Experiments as data: TOML files with training problems, test problems and systems.

An experiment is either of a family that has a generator, or of a user's own files:

    family = "triangle-tireworld"          domain = "domain.pddl"
    systems = ["asnet-hadd", "lrtdp-hadd"] systems = ["asnet-hadd", "lrtdp-hadd"]
    [train]                                [train]
    sizes = [1, 2, 3]                      problems = ["small/*.pddl"]
    [test]                                 [test]
    sizes = [4, 5, 6]                      problems = [{ file = "large.pddl", size = 12 }]

Systems are named after the tables of `files/systems.toml`, or of `[system.NAME]` in the experiment itself. How long and
how often they run is the matter of a scale (`files/scales.toml`); `[scales.NAME]` in an experiment changes its problems
and systems for a scale. docs/reproduce.md describes every key.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args

from asnets.domains import FAMILIES, domain_text, generate
from asnets.errors import ConfigError, FileError
from asnets.evaluation.blocks_strategies import STRATEGIES
from asnets.experiments.shipped import scale_names, shipped_experiments, shipped_table
from asnets.grounding.costs import COST_MODES
from asnets.network import NetworkConfig
from asnets.planning import HEURISTICS, PLANNERS
from asnets.ppddl import load_task, write_domain, write_problem
from asnets.training.config import PRESETS, Preset, TrainingConfig

SystemKind = Literal["asnet", "planner", "strategy"]
Table = Mapping[str, Any]
_LARGEST = 10**9
"""Of sizes and depths."""
_MOST_SEEDS = 1000


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


@dataclass(frozen=True)
class System:
    """What is compared.

    Attributes:
        name: As in files and on the command line.
        title: For people.
        config: For an ASNet `preset` and `options`; for a planner `planner`, `heuristic` and `depth`; for a strategy
            `strategy`.
        paper: System and variant in the paper's tables; None if it is not there.
        train: The training problems of an ASNet.
        seeds: How many seeds it is run with: a planner's search, an ASNet's training.
    """

    name: str
    kind: SystemKind
    title: str
    config: dict[str, Any]
    paper: tuple[str, str] | None = None
    train: tuple[ProblemText, ...] = ()
    seeds: int = 1


@dataclass(frozen=True)
class CutOffs:
    """When a cell is stopped.

    Attributes:
        time_limit: CPU seconds for solving a problem and running what was found; on a shared machine they are fairer
            than wall time.
        memory_limit: Resident memory of the process, in bytes.
        margin: SSiPP stops training so many seconds before the time limit.
    """

    time_limit: float
    memory_limit: int
    margin: float


@dataclass(frozen=True)
class Scale:
    """How long and how often systems run.

    Attributes:
        cut_offs: Of planners.
        asnet_cut_offs: Of running an ASNet on a problem; the limit of training is one of the system's options.
        seeds: How many seeds each planner is run with.
        training_seeds: How many seeds each ASNet is trained with. A system may say otherwise of itself.
        runs: Runs of what a planner found, for each seed.
        asnet_runs: Runs of an ASNet, for each seed of training, or of a strategy on each problem.
        max_steps: Step limit of a run of an ASNet.
        planner_max_steps: Step limit of a run of a planner or a strategy.
        skip_above_failure: Whether planners are spared the sizes above one where no run has reached the goal.
        options: Options of training that hold for all ASNets of the scale.
    """

    name: str
    cut_offs: CutOffs
    asnet_cut_offs: CutOffs
    seeds: int
    training_seeds: int
    runs: int
    asnet_runs: int
    max_steps: int
    planner_max_steps: int
    skip_above_failure: bool
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """An experiment at a scale.

    Attributes:
        full_sizes: Sizes at which planners get the cut-offs of the scale `paper`.
    """

    name: str
    title: str
    scale: Scale
    systems: tuple[System, ...]
    test: tuple[ProblemText, ...]
    full_sizes: tuple[int, ...] = ()


def load_experiment(name: str, scale: str) -> Experiment:
    """An experiment of the package by name, or one of a user's own by the path of its file.

    Raises:
        ConfigError: If there is no such experiment or scale, or a key or value is wrong.
        FileError: If a file cannot be read.
        InputError: If a domain or problem file is not accepted.
    """
    if name in shipped_experiments():
        return _experiment(name, shipped_table(f"{name}.toml"), scale, f"experiment {name}", Path())
    path = Path(name)
    if path.suffix != ".toml":
        raise ConfigError(
            f"unknown experiment {name!r}; expected one of {', '.join(shipped_experiments())}, or a .toml file"
        )
    if path.stem in shipped_experiments():
        raise ConfigError(f"{path}: an experiment of the package is called {path.stem}; give the file another name")
    try:
        table = _read_toml(path)
        return _experiment(path.stem, table, scale, str(path), path.parent)
    except RecursionError:
        raise FileError(f"{path}: values are nested too deeply") from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path}: cannot read the file: {error.strerror or error}") from None
    except ValueError as error:  # Also of text that is not UTF-8, and of numbers with too many digits.
        raise FileError(f"{path}: not a TOML file: {error}") from None


def load_scale(name: str) -> Scale:
    """A scale by name.

    Raises:
        ConfigError: If there is none of that name.
    """
    scales = shipped_table("scales.toml")
    if name not in scales:
        raise ConfigError(f"unknown scale {name!r}; expected one of {', '.join(scales)}")
    table = scales[name]
    limits = {key: CutOffs(**table[key]) for key in ("cut_offs", "asnet_cut_offs")}
    return Scale(name=name, **(table | limits))


_KEYS = ("title", "family", "domain", "costs", "lenient", "systems", "system", "options", "train", "test", "scales")
_SCALE_KEYS = ("systems", "train", "test", "options", "full_sizes", "training_seeds")


def _experiment(name: str, table: dict[str, Any], scale_name: str, where: str, folder: Path) -> Experiment:
    scale = load_scale(scale_name)
    _check_keys(table, _KEYS, where)
    changes_of = _table(table, "scales", where)
    _check_keys(changes_of, scale_names(), f"{where}: [scales]")
    changes = _table(changes_of, scale_name, f"{where}: [scales]")
    where_changes = f"{where}: [scales.{scale_name}]"
    _check_keys(changes, _SCALE_KEYS, where_changes)
    table = table | {key: changes[key] for key in ("systems", "train", "test") if key in changes}
    options = dict(_table(changes, "options", where_changes))
    training_seeds = _seeds(changes, "training_seeds", scale.training_seeds, where_changes)
    scale = replace(scale, options=scale.options | options, training_seeds=training_seeds)
    common = _table(table, "options", where)
    reader = _ProblemReader(table, where, folder)
    own = _table(table, "system", where)
    known = shipped_table("systems.toml") | {each: _table(own, each, f"{where}: [system]") for each in own}
    names = _strings(table, "systems", where)
    for each in names:
        if each not in known:
            raise ConfigError(f"{where}: unknown system {each!r}; expected some of {', '.join(known)}")
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"{where}: systems must name at least one system, and each once")
    has_networks = any(known[each].get("kind") == "asnet" for each in names)
    train = _required(table, "train", where) if has_networks or "train" in table else None
    # Also those that no list names: a mistake in one is found now, not when it is used at another scale.
    read = {
        each: _system(each, dict(known[each]), common, scale, reader, train, f"{where}: [system.{each}]")
        for each in dict.fromkeys([*names, *own])
    }
    systems = tuple(read[each] for each in names)
    test = reader.problems(_required(table, "test", where), f"{where}: [test]")
    full = changes.get("full_sizes", [])
    if not _are_whole(full):
        raise ConfigError(f"{where_changes}: full_sizes must be a list of whole numbers, not {full!r}")
    title = table.get("title", name)
    if not isinstance(title, str):
        raise ConfigError(f"{where}: title must be text, not {title!r}")
    return Experiment(name, title, scale, systems, test, tuple(full))


_KEYS_OF_KIND: dict[str, tuple[str, ...]] = {
    "asnet": ("kind", "title", "paper", "preset", "options", "train", "seeds"),
    "planner": ("kind", "title", "paper", "planner", "heuristic", "depth", "seeds"),
    "strategy": ("kind", "title", "paper", "strategy"),
}


def _system(
    name: str,
    table: dict[str, Any],
    common: Table,
    scale: Scale,
    reader: _ProblemReader,
    train: Table | None,
    where: str,
) -> System:
    kind = table.get("kind")
    if not _is_among(kind, get_args(SystemKind)):
        raise ConfigError(f"{where}: kind must be one of {', '.join(get_args(SystemKind))}, not {kind!r}")
    _check_keys(table, _KEYS_OF_KIND[kind], where)
    title = table.get("title", name)
    paper = tuple(_strings(table, "paper", where)) if "paper" in table else None
    if not isinstance(title, str) or (paper is not None and len(paper) != 2):
        raise ConfigError(f"{where}: title must be text, and paper a system and a variant")
    seeds = _seeds(table, "seeds", scale.training_seeds if kind == "asnet" else scale.seeds, where)
    if kind == "asnet":
        config: dict[str, Any] = {
            "preset": table.get("preset", "default"),
            "options": dict(common) | _table(table, "options", where) | scale.options,
        }
        _check_options(config, where)
        own = table.get("train", train)
        problems = () if own is None else reader.problems(own, f"{where}: train")
        return System(name, "asnet", title, config, paper, problems, seeds)
    if kind == "planner":
        planner, heuristic, depth = table.get("planner"), table.get("heuristic", "lmcut"), table.get("depth")
        if not _is_among(planner, PLANNERS):
            raise ConfigError(f"{where}: planner must be one of {', '.join(PLANNERS)}, not {planner!r}")
        if not _is_among(heuristic, HEURISTICS):
            raise ConfigError(f"{where}: heuristic must be one of {', '.join(HEURISTICS)}, not {heuristic!r}")
        if depth is not None and (planner != "ssipp" or not _is_whole(depth) or not 1 <= depth <= _LARGEST):
            raise ConfigError(f"{where}: depth must be a whole number from 1 to {_LARGEST}, and is for ssipp alone")
        config = {"planner": planner, "heuristic": heuristic, "depth": depth}
        return System(name, "planner", title, config, paper, seeds=seeds)
    if not _is_among(table.get("strategy"), STRATEGIES):
        raise ConfigError(f"{where}: strategy must be one of {', '.join(STRATEGIES)}, not {table.get('strategy')!r}")
    return System(name, "strategy", title, {"strategy": table["strategy"]}, paper)


def preset_of(config: Table) -> Preset:
    """The preset of an ASNet's config, with its options."""
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in config["options"].items()}
    return PRESETS[config["preset"]].changed(**options)


def _check_options(config: Table, where: str) -> None:
    if not _is_among(config["preset"], PRESETS):
        raise ConfigError(f"{where}: preset must be one of {', '.join(PRESETS)}, not {config['preset']!r}")
    known = [each.name for each in (*fields(NetworkConfig), *fields(TrainingConfig))]
    _check_keys(config["options"], known, f"{where}: options")
    try:
        preset_of(config)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    except TypeError:
        raise ConfigError(f"{where}: options: a value is of the wrong type") from None


class _ProblemReader:
    """Makes the problems of an experiment: from the generator of its family, or from files."""

    def __init__(self, table: Table, where: str, folder: Path) -> None:
        family, domain = table.get("family"), table.get("domain")
        if (family is None) == (domain is None):
            raise ConfigError(f"{where}: give either family or domain")
        if family is not None and not _is_among(family, FAMILIES):
            raise ConfigError(f"{where}: unknown family {family!r}; expected one of {', '.join(FAMILIES)}")
        if domain is not None and not isinstance(domain, str):
            raise ConfigError(f"{where}: domain must be the name of a file, not {domain!r}")
        costs = table.get("costs", "unit")
        if not _is_among(costs, COST_MODES):
            raise ConfigError(f"{where}: costs must be one of {', '.join(COST_MODES)}, not {costs!r}")
        self._costs: str = costs
        lenient = table.get("lenient", False)
        if not isinstance(lenient, bool):
            raise ConfigError(f"{where}: lenient must be true or false, not {lenient!r}")
        self._lenient = lenient
        self._family: str | None = family
        self._domain: str | None = domain
        self._folder = folder

    def problems(self, table: Table, where: str) -> tuple[ProblemText, ...]:
        if not isinstance(table, dict):
            raise ConfigError(f"{where}: expected a table, not {table!r}")
        found = tuple(self._generated(table, where) if self._family is not None else self._read(table, where))
        if not found:
            raise ConfigError(f"{where}: there are no problems")
        names = [each.name for each in found]
        double = next((name for name, number in Counter(names).items() if number > 1), None)
        if double is not None:
            advice = (
                "give one of them another name in its file"
                if self._family is None
                else "name each size once, and leave out count where the family has one problem of each size"
            )
            raise ConfigError(f"{where}: two problems are called {double!r}; {advice}")
        return found

    def _generated(self, table: Table, where: str) -> Iterable[ProblemText]:
        assert self._family is not None
        _check_keys(table, ("sizes", "count", "seed", "paper"), where)
        sizes, count, seed = table.get("sizes"), table.get("count", 1), table.get("seed", 0)
        if not _are_whole(sizes):
            raise ConfigError(f"{where}: sizes must be a list of whole numbers, not {sizes!r}")
        if not _is_whole(count) or count < 1 or not _is_whole(seed) or seed < 0:
            raise ConfigError(f"{where}: count must be at least 1 and seed at least 0, both whole numbers")
        text = domain_text(self._family)
        for size in sizes:
            for index in range(count):
                try:
                    problem = generate(self._family, size, seed=seed, index=index)
                except ConfigError as error:
                    raise ConfigError(f"{where}: {error}") from None
                paper = _paper_name(table["paper"], size, index + 1, where) if "paper" in table else None
                yield ProblemText(problem.name, size, text, write_problem(problem), paper, self._costs)

    def _read(self, table: Table, where: str) -> Iterable[ProblemText]:
        assert self._domain is not None
        _check_keys(table, ("problems",), where)
        entries = table.get("problems")
        if not isinstance(entries, list):
            raise ConfigError(f"{where}: problems must be a list of files, not {entries!r}")
        position = 0
        for entry in entries:
            if isinstance(entry, dict):
                _check_keys(entry, ("file", "size"), where)
            named = {"file": entry} if isinstance(entry, str) else entry
            if not isinstance(named, dict) or not isinstance(named.get("file"), str):
                raise ConfigError(f"{where}: a problem is a file, or {{ file = …, size = … }}, not {entry!r}")
            for path in self._files(named["file"], where):
                position += 1
                size = named.get("size", position)
                if not _is_whole(size) or not 1 <= size <= _LARGEST:
                    raise ConfigError(
                        f"{where}: the size of {named['file']} must be a whole number from 1 to {_LARGEST}, "
                        f"not {size!r}"
                    )
                domain, problem = load_task(self._folder / self._domain, path, lenient=self._lenient)
                yield ProblemText(problem.name, size, write_domain(domain), write_problem(problem), costs=self._costs)

    def _files(self, pattern: str, where: str) -> list[Path]:
        if not any(sign in pattern for sign in "*?["):
            return [self._folder / pattern]
        root = Path(pattern).anchor
        folder = Path(root) if root else self._folder
        try:
            matching = list(folder.glob(pattern.removeprefix(root)))
        except (ValueError, NotImplementedError) as error:
            raise ConfigError(f"{where}: cannot use the pattern {pattern!r}: {error}") from None
        found = sorted(matching, key=lambda path: (len(path.name), path.name))
        if not found:
            raise ConfigError(f"{where}: no file matches {pattern!r}")
        return found


def _paper_name(pattern: Any, size: int, number: int, where: str) -> str:
    try:
        return str.format(pattern, size=size, number=number)
    except (TypeError, LookupError, ValueError, AttributeError, MemoryError):
        raise ConfigError(f"{where}: paper must be text with {{size}} and {{number}}, not {pattern!r}") from None


def _seeds(table: Table, key: str, default: int, where: str) -> int:
    value = table.get(key, default)
    if not _is_whole(value) or not 1 <= value <= _MOST_SEEDS:
        raise ConfigError(f"{where}: {key} must be a whole number from 1 to {_MOST_SEEDS}, not {value!r}")
    return value


def _is_among(value: Any, names: Iterable[str]) -> TypeGuard[str]:
    return isinstance(value, str) and value in names


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_whole(values: Any) -> TypeGuard[list[int]]:
    return isinstance(values, list) and all(map(_is_whole, values))


def _check_keys(table: Table, known: Iterable[str], where: str) -> None:
    known = tuple(known)
    for key in table:
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}; expected some of {', '.join(known)}")


def _table(table: Table, key: str, where: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: {key} must be a table, not {value!r}")
    return value


def _required(table: Table, key: str, where: str) -> dict[str, Any]:
    if key not in table:
        raise ConfigError(f"{where}: the table [{key}] is missing")
    return _table(table, key, where)


def _strings(table: Table, key: str, where: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ConfigError(f"{where}: {key} must be a list of names, not {value!r}")
    return value
