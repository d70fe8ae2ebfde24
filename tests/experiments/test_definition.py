"""Experiments as data: those of the package, a user's own, and the message for each mistake."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from asnets.domains import FAMILIES, domain_text, generate
from asnets.errors import AsnetsError, ConfigError, FileError, ParseError
from asnets.experiments.definition import (
    CutOffs,
    Experiment,
    load_experiment,
    load_scale,
    preset_of,
)
from asnets.experiments.shipped import paper_experiments, scale_names, shipped_experiments
from asnets.planning import HEURISTICS, PLANNERS
from asnets.ppddl import write_problem

BASELINES = [
    "ilao-lmcut",
    "ilao-hadd",
    "lrtdp-lmcut",
    "lrtdp-hadd",
    "ssipp-lmcut",
    "ssipp-hadd",
    "ssipp-lmcut-depth-2",
    "ssipp-hadd-depth-2",
]
NETWORKS = ["asnet-lmcut", "asnet-hadd", "asnet-hadd-no-landmarks"]
PAPER_NETWORKS = ["asnet-paper-lmcut", "asnet-paper-hadd", "asnet-paper-hadd-no-landmarks"]


def names(experiment: Experiment) -> list[str]:
    return [each.name for each in experiment.systems]


def sizes(experiment: Experiment) -> dict[int, int]:
    """How many test problems there are of each size."""
    return dict(Counter(each.size for each in experiment.test))


def trained_on(experiment: Experiment, system: str) -> Counter[int]:
    found = next(each for each in experiment.systems if each.name == system)
    return Counter(each.size for each in found.train)


def test_names() -> None:
    assert paper_experiments() == (
        "triangle-tireworld",
        "cosanostra",
        "prob-blocksworld",
        "prob-blocksworld-extended",
        "monster",
    )
    beyond = ("exploding-blocksworld", "monster-long", "cosanostra-no-landmarks")
    assert shipped_experiments() == paper_experiments() + beyond
    assert scale_names() == ("smoke", "quick", "paper")


@pytest.mark.parametrize("scale", scale_names())
@pytest.mark.parametrize("name", shipped_experiments())
def test_shipped(name: str, scale: str) -> None:
    experiment = load_experiment(name, scale)
    assert experiment.scale.name == scale
    assert experiment.title != name
    for system in experiment.systems:
        assert bool(system.train) == (system.kind == "asnet")
        assert system.title != system.name
    trained = {problem.name for system in experiment.systems for problem in system.train}
    if name != "monster":
        assert not trained & {each.name for each in experiment.test}, "tested on a problem of the training"
    assert set(experiment.full_sizes) <= set(sizes(experiment))


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_triangle_tireworld(scale: str) -> None:
    experiment = load_experiment("triangle-tireworld", scale)
    assert names(experiment) == PAPER_NETWORKS + NETWORKS + BASELINES
    assert sizes(experiment) == dict.fromkeys(range(4, 21), 1)
    assert trained_on(experiment, "asnet-hadd") == {1: 1, 2: 1, 3: 1}
    assert experiment.test[0].paper == "triangle-tire-4"
    assert experiment.full_sizes == ((4,) if scale == "quick" else ())


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_cosanostra(scale: str) -> None:
    experiment = load_experiment("cosanostra", scale)
    assert names(experiment) == PAPER_NETWORKS + NETWORKS + BASELINES
    assert sizes(experiment) == dict.fromkeys([*range(6, 16), 20], 1)
    assert trained_on(experiment, "asnet-lmcut") == dict.fromkeys(range(1, 6), 1)


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_blocksworld(scale: str) -> None:
    experiment = load_experiment("prob-blocksworld", scale)
    small = {"asnet-lmcut-small", "asnet-paper-lmcut-small"}
    optimal = {"asnet-lmcut", "asnet-paper-lmcut"} if scale == "paper" else set()
    assert set(names(experiment)) == {*PAPER_NETWORKS[1:], *NETWORKS[1:], *BASELINES, "us", "gn1"} | small | optimal
    assert sizes(experiment) == dict.fromkeys([9, 10, 15, 20, 25, 30, 35], 3)
    assert trained_on(experiment, "asnet-hadd") == dict.fromkeys(range(5, 10), 5)
    assert trained_on(experiment, "asnet-lmcut-small") == dict.fromkeys([4, 5, 6], 3)
    assert trained_on(experiment, "asnet-paper-lmcut-small") == dict.fromkeys([4, 5, 6], 3)
    assert [each.paper for each in experiment.test[:3]] == ["prob-bw-n9-s1", "prob-bw-n9-s2", "prob-bw-n9-s3"]


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_blocksworld_extended(scale: str) -> None:
    experiment = load_experiment("prob-blocksworld-extended", scale)
    assert names(experiment) == [*PAPER_NETWORKS[1:], *NETWORKS[1:], "us", "gn1"]
    assert sizes(experiment) == dict.fromkeys([10, 15, 20, 25, 30, 35], 10)
    others = {each.problem for each in load_experiment("prob-blocksworld", scale).test}
    assert not others & {each.problem for each in experiment.test}


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_monster(scale: str) -> None:
    experiment = load_experiment("monster", scale)
    assert [each.config["options"]["layers"] for each in experiment.systems] == [1, 2, 3, 4] * 2
    assert sizes(experiment) == dict.fromkeys(range(1, 6), 1)


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_exploding_blocksworld(scale: str) -> None:
    experiment = load_experiment("exploding-blocksworld", scale)
    assert sizes(experiment) == dict.fromkeys(range(11, 21), 3)
    assert trained_on(experiment, "asnet-features") == dict.fromkeys(range(4, 9), 4)
    kinds = Counter(each.kind for each in experiment.systems)
    assert kinds == {"asnet": 3, "search": 2, "planner": 4}


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_monster_long(scale: str) -> None:
    experiment = load_experiment("monster-long", scale)
    assert min(sizes(experiment)) == 6
    assert max(sizes(experiment)) == 50
    for system in experiment.systems:
        if system.kind == "asnet":
            assert trained_on(experiment, system.name) == dict.fromkeys(range(1, 6), 1)
            assert preset_of(system.config).network.recurrent == (system.name == "recurrent")


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_cosanostra_without_landmarks(scale: str) -> None:
    experiment = load_experiment("cosanostra-no-landmarks", scale)
    assert trained_on(experiment, "no-features") == dict.fromkeys(range(1, 6), 1)
    networks = [each for each in experiment.systems if each.kind == "asnet"]
    assert all("landmarks" not in preset_of(each.config).network.features for each in networks)
    assert {each.guard["search"]["name"] for each in networks if each.guard} == {"puct", "lrtdp"}


def test_scale_of_the_paper() -> None:
    scale = load_scale("paper")
    assert (scale.cut_offs.time_limit, scale.cut_offs.memory_limit) == (9000, 10**10)
    assert (scale.asnet_cut_offs.time_limit, scale.asnet_cut_offs.memory_limit) == (9000, 10**10)
    assert (scale.seeds, scale.asnet_runs, scale.max_steps) == (30, 30, 300)
    assert not scale.skip_above_failure


def test_scale_quick() -> None:
    scale = load_scale("quick")
    assert (scale.seeds, scale.asnet_runs, scale.skip_above_failure) == (3, 30, True)


def test_systems() -> None:
    """What the names say is what is run."""
    for system in load_experiment("triangle-tireworld", "quick").systems:
        if system.kind == "planner":
            assert system.name.startswith(f"{system.config['planner']}-{system.config['heuristic']}")
            depth = 2 if system.name.endswith("depth-2") else 3 if system.config["planner"] == "ssipp" else None
            assert system.config["depth"] == depth
        else:
            preset = preset_of(system.config)
            assert preset.training.teacher_heuristic == ("lmcut" if "lmcut" in system.name else "hadd")
            assert bool(preset.network.features) == ("no-landmarks" not in system.name)


DOMAIN = 'domain = "domain.pddl"\n'
PLANNER = 'systems = ["lrtdp-hadd"]\n'
TEST = "[test]\nproblems = ['p1.pddl']\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A domain with problems p1, p2 and p10 of growing size."""
    (tmp_path / "domain.pddl").write_text(domain_text("triangle-tireworld"))
    for number, size in ((1, 1), (2, 2), (10, 3)):
        (tmp_path / f"p{number}.pddl").write_text(write_problem(generate("triangle-tireworld", size)))
    return tmp_path


def load(folder: Path, text: str, scale: str = "smoke") -> Experiment:
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return load_experiment(str(path), scale)


def test_own_files(folder: Path) -> None:
    experiment = load(
        folder,
        """
        domain = "domain.pddl"
        systems = ["mine", "asnet-hadd", "gn1"]
        [train]
        problems = ["p1.pddl", { file = "p2.pddl", size = 7 }]
        [test]
        problems = ["p*.pddl"]
        [system.mine]
        kind = "planner"
        planner = "ssipp"
        depth = 5
        [system.gn1]
        kind = "planner"
        planner = "vi"
        heuristic = "zero"
        """,
    )
    assert (experiment.name, experiment.title) == ("own", "own")
    assert [each.size for each in experiment.test] == [1, 2, 3]
    assert [each.name for each in experiment.test] == [generate("triangle-tireworld", size).name for size in (1, 2, 3)]
    mine, network, own_gn1 = experiment.systems
    assert mine.config == {"planner": "ssipp", "heuristic": "lmcut", "depth": 5}
    assert own_gn1.config == {"planner": "vi", "heuristic": "zero", "depth": None}
    assert [(each.name, each.size) for each in network.train] == [
        (experiment.test[0].name, 1),
        (experiment.test[1].name, 7),
    ]


def test_files_that_are_read_leniently(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "p1.pddl").write_text((folder / "p1.pddl").read_text() + "stray")
    text = DOMAIN + PLANNER
    with pytest.raises(ParseError):
        load(folder, text + TEST)
    with pytest.raises(ConfigError, match="lenient must be true or false, not 1"):
        load(folder, text + "lenient = 1\n" + TEST)
    (problem,) = load(folder, text + "lenient = true\n" + TEST).test
    assert "stray" not in problem.problem
    assert "found 'stray'; the word is ignored" in caplog.text


def test_sizes_of_globs(folder: Path) -> None:
    experiment = load(folder, DOMAIN + PLANNER + "[test]\nproblems = [{ file = 'p?.pddl', size = 4 }, 'p1[0].pddl']")
    assert [each.size for each in experiment.test] == [4, 4, 3]


def test_glob_of_another_folder(folder: Path) -> None:
    experiment = load(folder, DOMAIN + PLANNER + f"[test]\nproblems = ['{folder}/p*.pddl']")
    assert len(experiment.test) == 3


def test_own_family(folder: Path) -> None:
    experiment = load(
        folder,
        """
        title = "Mine"
        family = "monster"
        systems = ["lrtdp-hadd"]
        test = { sizes = [1, 3], paper = "m{size}-{number}" }
        [scales.quick]
        systems = ["ilao-hadd"]
        test = { sizes = [2], count = 1 }
        full_sizes = [2]
        """,
    )
    assert (experiment.title, names(experiment)) == ("Mine", ["lrtdp-hadd"])
    assert [(each.size, each.paper) for each in experiment.test] == [(1, "m1-1"), (3, "m3-1")]
    quick = load_experiment(str(folder / "own.toml"), "quick")
    assert (names(quick), sizes(quick), quick.full_sizes) == (["ilao-hadd"], {2: 1}, (2,))


def test_options(folder: Path) -> None:
    text = """
        family = "monster"
        systems = ["n"]
        options = { layers = 1, hidden = 8 }
        train = { sizes = [1] }
        test = { sizes = [1] }
        [system.n]
        kind = "asnet"
        options = { layers = 3, features = [], learn_steps = 5 }
        [scales.smoke]
        options = { learn_steps = 9 }
        """
    smoke, quick = load(folder, text), load(folder, text, "quick")
    assert smoke.systems[0].config["options"] == {
        "layers": 3,
        "hidden": 8,
        "features": [],
        "learn_steps": 9,
        "max_epochs": 2,
    }
    assert quick.systems[0].config["options"] == {"layers": 3, "hidden": 8, "features": [], "learn_steps": 5}
    assert preset_of(quick.systems[0].config).network.features == ()


def test_unknown_names() -> None:
    with pytest.raises(ConfigError) as caught:
        load_experiment("tireworld", "smoke")
    expected = ", ".join(shipped_experiments())
    assert str(caught.value) == f"unknown experiment 'tireworld'; expected one of {expected}, or a .toml file"
    with pytest.raises(ConfigError) as caught:
        load_experiment("monster", "huge")
    assert str(caught.value) == "unknown scale 'huge'; expected one of smoke, quick, paper"


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    with pytest.raises(FileError) as caught:
        load_experiment(str(path), "smoke")
    assert str(caught.value) == f"{path}: cannot read the file: No such file or directory"
    path.write_text("a = = 1")
    with pytest.raises(FileError) as caught:
        load_experiment(str(path), "smoke")
    assert str(caught.value) == f"{path}: not a TOML file: Invalid value (at line 1, column 5)"
    path.write_bytes(b"a = '\xff'")
    with pytest.raises(FileError) as caught:
        load_experiment(str(path), "smoke")
    assert str(caught.value).startswith(f"{path}: not a TOML file: 'utf-8' codec can't decode byte 0xff")


MONSTER = 'family = "monster"\ntest = { sizes = [1] }\n'
OWN = MONSTER + 'systems = ["x"]\n'
NETWORK = OWN + "train = { sizes = [1] }\n[system.x]\nkind = 'asnet'\n"
KINDS = "asnet, planner, search, strategy"
KEYS = "title, family, domain, folder, costs, lenient, systems, system, options, train, test, scales"
SHIPPED = (
    "asnet-paper-lmcut, asnet-paper-hadd, asnet-paper-hadd-no-landmarks, "
    "asnet-lmcut, asnet-hadd, asnet-hadd-no-landmarks, asnet-features, asnet-features-puct, puct, search-lrtdp, "
    "ilao-lmcut, ilao-hadd, cgilao-lmcut, cgilao-hadd, "
    "lrtdp-lmcut, lrtdp-hadd, ssipp-lmcut, ssipp-hadd, ssipp-lmcut-depth-2, ssipp-hadd-depth-2, us, gn1"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sistems = []", f"unknown key 'sistems'; expected some of {KEYS}"),
        ("scales = 3", "scales must be a table, not 3"),
        ("[scales.huge]", "[scales]: unknown key 'huge'; expected some of smoke, quick, paper"),
        ("[scales]\nsmoke = 3", "[scales]: smoke must be a table, not 3"),
        ("[scales.smoke]\nx = 1", "[scales.smoke]: unknown key 'x'; expected some of systems, train, test, options, ful"
         "l_sizes, seeds, training_seeds, runs, asnet_runs, max_steps, planner_max_steps, skip_above_failure, cut_offs"
         ", asnet_cut_offs"),
        ("[scales.smoke]\nruns = 0", "[scales.smoke]: runs must be a whole number from 1 to 100000000, not 0"),
        ("[scales.smoke]\nskip_above_failure = 1", "[scales.smoke]: skip_above_failure must be true or false, not 1"),
        ("[scales.smoke]\ncut_offs = 3", "[scales.smoke]: cut_offs must be a table, not 3"),
        ("[scales.smoke.cut_offs]\ntime = 3", "[scales.smoke]: cut_offs: unknown key 'time'; expected some of time_lim"
         "it, memory_limit, margin"),
        ("[scales.smoke.asnet_cut_offs]\ntime_limit = -1", "[scales.smoke]: asnet_cut_offs: time_limit must be a number"
         " that is not negative, not -1"),
        ("[scales.smoke.cut_offs]\nmemory_limit = 1.5", "[scales.smoke]: cut_offs: memory_limit must be a whole number "
         f"from 1 to {2**62}, not 1.5"),
        ("[scales.smoke]\ntraining_seeds = 'x'", "[scales.smoke]: training_seeds must be a whole number from 1 to "
         "1000, not 'x'"),
        ("[scales.smoke]\noptions = 1", "[scales.smoke]: options must be a table, not 1"),
        (PLANNER, "give one of family, domain and folder"),
        (PLANNER + "family = 'monster'\ndomain = 'd.pddl'", "give one of family, domain and folder"),
        ("family = 'monsters'", f"unknown family 'monsters'; expected one of {', '.join(FAMILIES)}"),
        ("family = ['monster']", f"unknown family ['monster']; expected one of {', '.join(FAMILIES)}"),
        ("domain = 3", "domain must be the name of a file, not 3"),
        (MONSTER + "options = 3", "options must be a table, not 3"),
        (MONSTER + "system = 3", "system must be a table, not 3"),
        (MONSTER + "system.x = 3", "[system]: x must be a table, not 3"),
        (MONSTER + "systems = 'x'", "systems must be a list of names, not 'x'"),
        (MONSTER + "systems = [1]", "systems must be a list of names, not [1]"),
        (OWN, f"unknown system 'x'; expected some of {SHIPPED}"),
        (MONSTER + "systems = ['z']\nsystem.y.kind = 'asnet'", f"unknown system 'z'; expected some of {SHIPPED}, y"),
        (MONSTER, "systems must name at least one system, and each once"),
        (MONSTER + "systems = ['us', 'us']", "systems must name at least one system, and each once"),
        (MONSTER + "systems = ['asnet-hadd']", "the table [train] is missing"),
        ("family = 'monster'\n" + PLANNER, "the table [test] is missing"),
        ("family = 'monster'\ntest = 3\n" + PLANNER, "test must be a table, not 3"),
        (NETWORK.replace("{ sizes = [1] }", "3"), "train must be a table, not 3"),
        (OWN + "[system.x]", f"[system.x]: kind must be one of {KINDS}, not None"),
        (OWN + "[system.x]\nkind = ['asnet']", f"[system.x]: kind must be one of {KINDS}, not ['asnet']"),
        (OWN + "[system.x]\nkind = 'strategy'\ndepth = 1", "[system.x]: unknown key 'depth'; expected some of kind, "
         "title, paper, strategy"),
        (OWN + "[system.x]\nkind = 'planner'\ntitle = 1", "[system.x]: title must be text, and paper a system and a var"
         "iant"),
        (OWN + "[system.x]\nkind = 'planner'\npaper = ['a']", "[system.x]: title must be text, and paper a system and a"
         " variant"),
        (OWN + "[system.x]\nkind = 'planner'\npaper = 'ab'", "[system.x]: paper must be a list of names, not 'ab'"),
        (NETWORK + "preset = 'fast'", "[system.x]: preset must be one of default, paper, not 'fast'"),
        (NETWORK + "preset = []", "[system.x]: preset must be one of default, paper, not []"),
        (NETWORK + "options = 3", "[system.x]: options must be a table, not 3"),
        (NETWORK + "options = { layers = 0 }", "[system.x]: layers must be a whole number from 1 to 64, not 0"),
        (NETWORK + "train = 3", "[system.x]: train must be a table, not 3"),
        (NETWORK + "seeds = 0", "[system.x]: seeds must be a whole number from 1 to 1000, not 0"),
        (NETWORK + "seeds = true", "[system.x]: seeds must be a whole number from 1 to 1000, not True"),
        # Systems that no experiment lists are read as well.
        (MONSTER + PLANNER + "[system.y]", f"[system.y]: kind must be one of {KINDS}, not None"),
        (MONSTER + PLANNER + "[system.y]\nkind = 'asnet'\npreset = 'fast'", "[system.y]: preset must be one of "
         "default, paper, not 'fast'"),
        (MONSTER + PLANNER + "[system.y]\nkind = 'asnet'\ntrain = { sizes = 1 }", "[system.y]: train: sizes must be a "
         "list of whole numbers, not 1"),
        (OWN + "[system.x]\nkind = 'planner'", f"[system.x]: planner must be one of {', '.join(PLANNERS)}, not None"),
        (OWN + "[system.x]\nkind = 'planner'\nplanner = []", f"[system.x]: planner must be one of {', '.join(PLANNERS)}"
         ", not []"),
        (OWN + "[system.x]\nkind = 'planner'\nplanner = 'vi'\nheuristic = 'h'",
         f"[system.x]: heuristic must be one of {', '.join(HEURISTICS)}, not 'h'"),
        (OWN + "[system.x]\nkind = 'planner'\nplanner = 'vi'\ndepth = 2",
         "[system.x]: depth must be a whole number from 1 to 1000000000, and is for ssipp alone"),
        (OWN + "[system.x]\nkind = 'planner'\nplanner = 'ssipp'\ndepth = 0",
         "[system.x]: depth must be a whole number from 1 to 1000000000, and is for ssipp alone"),
        (OWN + "[system.x]\nkind = 'planner'\nplanner = 'ssipp'\ndepth = 10000000000000000000000",
         "[system.x]: depth must be a whole number from 1 to 1000000000, and is for ssipp alone"),
        (OWN + "[system.x]\nkind = 'strategy'\nstrategy = 'x'", "[system.x]: strategy must be one of us, gn1, not 'x'"),
        (MONSTER + PLANNER + "[scales.smoke]\nfull_sizes = 4", "[scales.smoke]: full_sizes must be a list of whole numb"
         "ers, not 4"),
        (MONSTER + PLANNER + "[scales.smoke]\nfull_sizes = [true]", "[scales.smoke]: full_sizes must be a list of whole"
         " numbers, not [True]"),
        (MONSTER + PLANNER + "title = 4", "title must be text, not 4"),
        (MONSTER.replace("[1]", "[]") + PLANNER, "[test]: there are no problems"),
        (MONSTER.replace("[1]", "[1, 1]") + PLANNER, "[test]: two problems are called 'monster-n1'; name each size "
         "once, and leave out count where the family has one problem of each size"),
        (MONSTER.replace("[1]", "[1], count = 2") + PLANNER, "[test]: two problems are called 'monster-n1'; name each "
         "size once, and leave out count where the family has one problem of each size"),
        (MONSTER.replace("sizes", "size") + PLANNER, "[test]: unknown key 'size'; expected some of sizes, count, seed, "
         "paper"),
        (MONSTER.replace("[1]", "1") + PLANNER, "[test]: sizes must be a list of whole numbers, not 1"),
        (MONSTER.replace("[1]", "[1.5]") + PLANNER, "[test]: sizes must be a list of whole numbers, not [1.5]"),
        (MONSTER.replace("[1]", "[true]") + PLANNER, "[test]: sizes must be a list of whole numbers, not [True]"),
        (MONSTER.replace("[1]", "[1], count = 0") + PLANNER, "[test]: count must be at least 1 and seed at least 0, "
         "both whole numbers"),
        (MONSTER.replace("[1]", "[1], seed = -1") + PLANNER, "[test]: count must be at least 1 and seed at least 0, "
         "both whole numbers"),
        (MONSTER.replace("[1]", "[1], paper = 3") + PLANNER, "[test]: paper must be text with {size} and {number}, "
         "not 3"),
        (MONSTER.replace("[1]", "[1], paper = '{x}'") + PLANNER, "[test]: paper must be text with {size} and {number}, "
         "not '{x}'"),
        (MONSTER.replace("[1]", "[1], paper = '{size.x}'") + PLANNER, "[test]: paper must be text with {size} and "
         "{number}, not '{size.x}'"),
        (MONSTER.replace("[1]", "[1], paper = '{size:>99999999999999}'") + PLANNER, "[test]: paper must be text with "
         "{size} and {number}, not '{size:>99999999999999}'"),
        (DOMAIN + PLANNER + "[test]\nsizes = [1]", "[test]: unknown key 'sizes'; expected some of problems"),
        (DOMAIN + PLANNER + "[test]\nproblems = 'p1.pddl'", "[test]: problems must be a list of files, not 'p1.pddl'"),
        (DOMAIN + PLANNER + "[test]\nproblems = [{ file = 'p1.pddl', n = 1 }]", "[test]: unknown key 'n'; expected some"
         " of file, size"),
        (DOMAIN + PLANNER + "[test]\nproblems = [3]", "[test]: a problem is a file, or { file = …, size = … }, not 3"),
        (DOMAIN + PLANNER + "[test]\nproblems = [{ size = 3 }]", "[test]: a problem is a file, or { file = …, size = … "
         "}, not {'size': 3}"),
        (DOMAIN + PLANNER + "[test]\nproblems = [{ file = 'p1.pddl', size = '3' }]", "[test]: the size of p1.pddl must "
         "be a whole number from 1 to 1000000000, not '3'"),
        (DOMAIN + PLANNER + "[test]\nproblems = [{ file = 'p1.pddl', size = 0 }]", "[test]: the size of p1.pddl must "
         "be a whole number from 1 to 1000000000, not 0"),
        (DOMAIN + PLANNER + "[test]\nproblems = [{ file = 'p1.pddl', size = 10000000000000000000000 }]", "[test]: the "
         "size of p1.pddl must be a whole number from 1 to 1000000000, not 10000000000000000000000"),
        (DOMAIN + PLANNER + "[test]\nproblems = ['a**b/*.pddl']", "[test]: cannot use the pattern 'a**b/*.pddl': "
         "Invalid pattern: '**' can only be an entire path component"),
        (DOMAIN + PLANNER + "[test]\nproblems = ['q*.pddl']", "[test]: no file matches 'q*.pddl'"),
        (DOMAIN + PLANNER + "[test]\nproblems = ['/p*.pddl']", "[test]: no file matches '/p*.pddl'"),
        (DOMAIN + PLANNER + "[test]\nproblems = ['p1.pddl', 'p?.pddl']", "[test]: two problems are called "
         "'triangle-tire-1'; give one of them another name in its file"),
    ],
)  # fmt: skip
def test_messages(folder: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    assert str(caught.value) == f"{folder / 'own.toml'}: {message}"


def test_named_like_an_experiment_of_the_package(folder: Path) -> None:
    path = folder / "monster.toml"
    path.write_text(MONSTER + PLANNER, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_experiment(str(path), "smoke")
    assert str(caught.value) == f"{path}: an experiment of the package is called monster; give the file another name"


def test_unknown_option(folder: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(folder, NETWORK + "options = { layer = 1 }")
    assert str(caught.value).startswith(
        f"{folder / 'own.toml'}: [system.x]: options: unknown key 'layer'; expected some of layers, "
    )


@pytest.mark.parametrize("value", ["'a'", "[1]", "[[1]]", "{ a = 1 }", "true", "1979-05-27", "inf", "-1.5"])
@pytest.mark.parametrize("option", ["layers", "hidden", "features", "time_limit", "teacher_heuristic", "learn_steps"])
def test_option_of_a_wrong_type(folder: Path, option: str, value: str) -> None:
    with pytest.raises(ConfigError, match=r"own\.toml: \[system\.x\]: "):
        load(folder, NETWORK + f"options = {{ {option} = {value} }}", "quick")


def test_missing_and_bad_problem_files(folder: Path) -> None:
    with pytest.raises(AsnetsError, match=r"none\.pddl"):
        load(folder, DOMAIN + PLANNER + "[test]\nproblems = ['none.pddl']")
    (folder / "bad.pddl").write_text("(define")
    with pytest.raises(AsnetsError, match=r"bad\.pddl:1:"):
        load(folder, DOMAIN + PLANNER + "[test]\nproblems = ['bad.pddl']")


def test_size_that_a_family_does_not_have(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"own\.toml: \[test\]: monster: size 0 is too small"):
        load(folder, MONSTER.replace("[1]", "[0]") + PLANNER)


def test_cut_offs_are_whole() -> None:
    for name in scale_names():
        for cut_offs in (load_scale(name).cut_offs, load_scale(name).asnet_cut_offs):
            assert isinstance(cut_offs, CutOffs)
            assert 0 <= cut_offs.margin < cut_offs.time_limit


def test_scale_of_an_experiment(folder: Path) -> None:
    text = (
        MONSTER + PLANNER + "[scales.smoke]\nseeds = 4\nruns = 7\nskip_above_failure = false\nfull_sizes = [1]\n"
        "cut_offs = { time_limit = 180, margin = 0.5 }\nasnet_cut_offs = { memory_limit = 5 }"
    )
    scale, common = load(folder, text).scale, load_scale("smoke")
    assert (scale.seeds, scale.runs, scale.skip_above_failure) == (4, 7, False)
    assert scale.cut_offs == CutOffs(180, common.cut_offs.memory_limit, 0.5)
    assert scale.asnet_cut_offs == replace(common.asnet_cut_offs, memory_limit=5)
    assert (scale.max_steps, scale.training_seeds) == (common.max_steps, common.training_seeds)


def test_training_seeds_of_an_experiment_at_a_scale(folder: Path) -> None:
    path = folder / "own.toml"
    path.write_text(NETWORK + "[scales.quick]\ntraining_seeds = 2\n", encoding="utf-8")
    numbers = {scale: load_experiment(str(path), scale).systems[0].seeds for scale in scale_names()}
    assert numbers == {"smoke": 1, "quick": 2, "paper": load_scale("paper").training_seeds}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = " + "[" * 5000, "values are nested too deeply"),
        ("x = " + "{ y = " * 5000, "values are nested too deeply"),
        ("x = " + "9" * 5000, "not a TOML file: Exceeds the limit"),
        ("x = ", "not a TOML file: Invalid value (at end of document)"),
    ],
)
def test_files_that_are_no_toml(folder: Path, text: str, message: str) -> None:
    path = folder / "own.toml"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        load_experiment(str(path), "smoke")
    assert str(caught.value).startswith(f"{path}: {message}")
