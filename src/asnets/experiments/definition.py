"""Experiments as data: TOML files with training problems, test problems and systems.

An experiment is of a family that has a generator, of a user's own files, or of a folder of files, in their order:

    family = "triangle-tireworld"   domain = "domain.pddl"                                folder = "competition"
    systems = ["asnet-hadd"]        systems = ["asnet-hadd"]                              systems = ["asnet-hadd"]
    [train]                         [train]                                               [train]
    sizes = [1, 2, 3]               problems = ["small/*.pddl"]                           last = 5
    [test]                          [test]                                                [test]
    sizes = [4, 5, 6]               problems = [{ file = "large.pddl", size = 12 }]       first = 6

Systems are named after the tables of `files/systems.toml`, or of `[system.NAME]` in the experiment itself. How long and
how often they run is the matter of a scale (`files/scales.toml`); `[scales.NAME]` in an experiment changes problems,
systems, cut-offs and the like for a scale. docs/reproduce.md describes every key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from asnets.errors import ConfigError, FileError
from asnets.evaluation.blocks_strategies import STRATEGIES
from asnets.evaluation.rollouts import MAX_EPISODES
from asnets.experiments.problem_reader import LARGEST, SOURCES, ProblemReader, ProblemText
from asnets.experiments.shipped import scale_names, shipped_experiments, shipped_table
from asnets.experiments.toml_table import TomlTable, is_text, is_whole
from asnets.network import NetworkConfig
from asnets.planning import HEURISTICS, PLANNERS
from asnets.policies.guarded import ON_LOOP
from asnets.policies.online_search import OnlineSearch
from asnets.training.config import PRESETS, Preset, TrainingConfig

SystemKind = Literal["asnet", "planner", "search", "strategy"]
_MOST_SEEDS = 1000
_MOST_MEMORY = 2**62


@dataclass(frozen=True)
class System:
    """What is compared.

    Attributes:
        name: As in files and on the command line.
        title: For people.
        config: For an ASNet `preset` and `options`; for a planner `planner`, `heuristic` and `depth`; for a search
            `search`, a table of the options of `asnets.OnlineSearch`; for a strategy `strategy`.
        paper: System and variant in the paper's tables; None if it is not there.
        train: The training problems of an ASNet.
        seeds: How many seeds it is run with: a planner's search, an ASNet's training.
        guard: What an ASNet is run with, as far as it is given: `search`, a table of the options of
            `asnets.OnlineSearch`; `on_loop`; `shield`. See `guard_options`.
    """

    name: str
    kind: SystemKind
    title: str
    config: dict[str, Any]
    paper: tuple[str, str] | None = None
    train: tuple[ProblemText, ...] = ()
    seeds: int = 1
    guard: dict[str, Any] = field(default_factory=dict)


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

    Example:
        >>> from asnets.experiments.definition import load_experiment
        >>> experiment = load_experiment("monster", "smoke")
        >>> [problem.name for problem in experiment.test]
        ['monster-n1', 'monster-n2']
    """
    if name in shipped_experiments():
        return _experiment(name, TomlTable(shipped_table(f"{name}.toml"), f"experiment {name}"), scale, Path())
    path = Path(name)
    if path.suffix != ".toml":
        raise ConfigError(
            f"unknown experiment {name!r}; expected one of {', '.join(shipped_experiments())}, or a .toml file"
        )
    if path.stem in shipped_experiments():
        raise ConfigError(f"{path}: an experiment of the package is called {path.stem}; give the file another name")
    try:
        return _experiment(path.stem, TomlTable(_read_toml(path), str(path)), scale, path.parent)
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


_KEYS = ("title", *SOURCES, "costs", "lenient", "systems", "system", "options", "train", "test", "scales")
_REPLACED_KEYS = ("systems", "train", "test")


def _experiment(name: str, file: TomlTable, scale_name: str, folder: Path) -> Experiment:
    file.check_keys(_KEYS)
    scales = file.table("scales")
    scales.check_keys(scale_names())
    changes = TomlTable(scales.table(scale_name).values, f"{file.where}: [scales.{scale_name}]")
    scale = _changed_scale(load_scale(scale_name), changes)
    file = replace(
        file, values={**file.values, **{key: changes.values[key] for key in _REPLACED_KEYS if key in changes}}
    )
    common = file.table("options").values
    reader = ProblemReader(file, folder)
    own = file.table("system")
    known = {**shipped_table("systems.toml"), **{system: own.table(system).values for system in own.values}}
    names = file.names("systems")
    for system in names:
        if system not in known:
            raise file.error(f"unknown system {system!r}; expected some of {', '.join(known)}")
    if not names or len(set(names)) < len(names):
        raise file.error("systems must name at least one system, and each once")
    has_networks = any(known[system].get("kind") == "asnet" for system in names)
    train = file.required_table("train") if has_networks or "train" in file else None
    # Also those that no list names: a mistake in one is found now, not when it is used at another scale.
    systems = {
        system: _system(
            system, TomlTable(known[system], f"{file.where}: [system.{system}]"), common, scale, reader, train
        )
        for system in dict.fromkeys([*names, *own.values])
    }
    test = reader.problems(file.required_table("test"))
    full_sizes = tuple(changes.sizes("full_sizes", []))
    return Experiment(name, file.text("title", name), scale, tuple(systems[each] for each in names), test, full_sizes)


_COUNTS = {
    "seeds": _MOST_SEEDS,
    "training_seeds": _MOST_SEEDS,
    "runs": MAX_EPISODES,
    "asnet_runs": MAX_EPISODES,
    "max_steps": LARGEST,
    "planner_max_steps": LARGEST,
}
"""Whole numbers of a scale, with the largest value that an experiment may give them."""


def _changed_scale(scale: Scale, changes: TomlTable) -> Scale:
    """The scale with what an experiment changes of it for itself."""
    known = (*_REPLACED_KEYS, "options", "full_sizes", *_COUNTS, "skip_above_failure", "cut_offs", "asnet_cut_offs")
    changes.check_keys(known)
    return replace(
        scale,
        **{key: changes.count(key, most, getattr(scale, key)) for key, most in _COUNTS.items()},
        skip_above_failure=changes.flag("skip_above_failure", scale.skip_above_failure),
        cut_offs=_changed_cut_offs(scale.cut_offs, changes.table("cut_offs", "cut_offs")),
        asnet_cut_offs=_changed_cut_offs(scale.asnet_cut_offs, changes.table("asnet_cut_offs", "asnet_cut_offs")),
        options={**scale.options, **changes.table("options").values},
    )


def _changed_cut_offs(cut_offs: CutOffs, changes: TomlTable) -> CutOffs:
    changes.check_keys(each.name for each in fields(CutOffs))
    return CutOffs(
        changes.seconds("time_limit", cut_offs.time_limit),
        changes.count("memory_limit", _MOST_MEMORY, cut_offs.memory_limit),
        changes.seconds("margin", cut_offs.margin),
    )


_KEYS_OF_KIND: dict[str, tuple[str, ...]] = {
    "asnet": ("kind", "title", "paper", "preset", "options", "train", "seeds", "search", "on_loop", "shield"),
    "planner": ("kind", "title", "paper", "planner", "heuristic", "depth", "seeds"),
    "search": ("kind", "title", "search", "seeds"),
    "strategy": ("kind", "title", "paper", "strategy"),
}


def _system(
    name: str,
    table: TomlTable,
    common: Mapping[str, Any],
    scale: Scale,
    reader: ProblemReader,
    train: TomlTable | None,
) -> System:
    kind: SystemKind = table.one_of("kind", _KEYS_OF_KIND)
    table.check_keys(_KEYS_OF_KIND[kind])
    title = table.values.get("title", name)
    paper = tuple(table.names("paper")) if "paper" in table else None
    if not is_text(title) or (paper is not None and len(paper) != 2):
        raise table.error("title must be text, and paper a system and a variant")
    problems: tuple[ProblemText, ...] = ()
    seeds = 1
    guard: dict[str, Any] = {}
    if kind == "asnet":
        guard = _guard(table)
        seeds = table.count("seeds", _MOST_SEEDS, scale.training_seeds)
        options = {**common, **table.table("options").values, **scale.options}
        config: dict[str, Any] = {"preset": table.one_of("preset", PRESETS, "default"), "options": options}
        _check_options(config, table)
        train = table.table("train", "train") if "train" in table else train
        problems = () if train is None else reader.problems(replace(train, where=f"{table.where}: train"))
    elif kind == "planner":
        seeds = table.count("seeds", _MOST_SEEDS, scale.seeds)
        config = {
            "planner": table.one_of("planner", PLANNERS),
            "heuristic": table.one_of("heuristic", HEURISTICS, "lmcut"),
            "depth": (depth := table.values.get("depth")),
        }
        if depth is not None and (config["planner"] != "ssipp" or not is_whole(depth) or not 1 <= depth <= LARGEST):
            raise table.error(f"depth must be a whole number from 1 to {LARGEST}, and is for ssipp alone")
    elif kind == "search":
        seeds = table.count("seeds", _MOST_SEEDS, scale.training_seeds)
        config = {"search": _search(table)}
        if not config["search"]:
            raise table.error("search is missing")
    else:
        config = {"strategy": table.one_of("strategy", STRATEGIES)}
    return System(name, kind, title, config, paper, problems, seeds, guard)


def guard_options(guard: Mapping[str, Any]) -> dict[str, Any]:
    """What `asnets.policies.guarded.guarded` takes, from the guard of a system.

    Raises:
        ConfigError: If a value of the search cannot be used.
    """
    return {**guard, **({"search": OnlineSearch(**guard["search"])} if "search" in guard else {})}


def _guard(table: TomlTable) -> dict[str, Any]:
    on_loop, shield = table.one_of("on_loop", ON_LOOP, "none"), table.flag("shield", False)
    search = _search(table)
    if on_loop == "search" and not search:
        raise table.error('on_loop = "search" needs a search to ask')
    guard = {"search": search} if search else {}
    return guard | ({"on_loop": on_loop} if on_loop != "none" else {}) | ({"shield": True} if shield else {})


def _search(table: TomlTable) -> dict[str, Any]:
    """The options of an online search; none if there is no such table."""
    search = table.table("search", "search")
    search.check_keys(each.name for each in fields(OnlineSearch))
    if "search" in table:
        try:
            OnlineSearch(**search.values)
        except ConfigError as error:
            raise search.error(str(error)) from None
        except TypeError:
            raise search.error("name is missing, or a value is of the wrong type") from None
    return dict(search.values)


def preset_of(config: Mapping[str, Any]) -> Preset:
    """The preset of an ASNet's config, with its options."""
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in config["options"].items()}
    return PRESETS[config["preset"]].changed(**options)


def _check_options(config: Mapping[str, Any], table: TomlTable) -> None:
    options = TomlTable(config["options"], f"{table.where}: options")
    options.check_keys(each.name for each in (*fields(NetworkConfig), *fields(TrainingConfig)))
    try:
        preset_of(config)
    except ConfigError as error:
        raise table.error(str(error)) from None
    except TypeError:
        raise options.error("a value is of the wrong type") from None
