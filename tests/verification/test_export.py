"""Files for model checkers say what the model says, to the last bit, whoever reads them."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import asnets
from asnets.errors import ConfigError, FileError, LimitError
from asnets.extras import is_installed
from asnets.files import FilesTogether
from asnets.grounding import GroundTask, ground
from asnets.policies import TaskPolicy
from asnets.verification import ExplicitModel, explore_chain, explore_mdp
from asnets.verification.export import FORMATS, check_output, export, format_of, write_model
from asnets.verification.labels import state_labels
from asnets.verification.names import drn_names, prism_names
from asnets.verification.rows import counts, pieces
from tests.oracles.explicit import explore
from tests.oracles.model_files import FileModel, read_model
from tests.oracles.storm import Storm, StormError, why_missing
from tests.ssp_strategies import ssps

pytestmark = pytest.mark.native

SUFFIXES = (".tra", ".drn", pytest.param(".umb", marks=pytest.mark.skipif(not is_installed("umbi"), reason="no umbi")))
needs_storm = pytest.mark.skipif(why_missing() is not None, reason=str(why_missing()))

# One action has outcomes that doubles cannot hold, one a name that PRISM keeps for itself; the robot may be lost, or go
# round for ever.
DOMAIN = """
(define (domain walk)
  (:requirements :adl :probabilistic-effects :fluents)
  (:constants a b c)
  (:predicates (at ?x) (road ?x ?y))
  (:functions (total-cost))
  (:action walk :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y))
    :effect (and (probabilistic 1/3 (and (not (at ?x)) (at ?y)) 1/7 (not (at ?x))) (increase (total-cost) 2.5)))
  (:action max :parameters () :precondition (at b)
    :effect (and (not (at b)) (at a) (increase (total-cost) 0.1)))
  (:action jump :parameters (?x) :precondition (at ?x)
    :effect (and (not (at ?x)) (at c) (increase (total-cost) 10))))
(define (problem walking) (:domain walk) (:objects d)
  (:init (at a) (road a b) (road b a) (road b d) (road c c)) (:goal (at d)) (:metric minimize (total-cost)))
"""


def walking() -> GroundTask:
    return asnets.load_text(DOMAIN, costs="metric")


def stopping(task: GroundTask) -> TaskPolicy:
    """Gives up at b, where it could go on."""

    def act(state: asnets.State) -> str | None:
        return None if "(at b)" in state else state.applicable_names[0]

    return asnets.FunctionPolicy(task, act, name="stopping")


MODELS: dict[str, Callable[[], TaskPolicy | GroundTask]] = {
    "mdp": walking,
    "random": lambda: asnets.RandomPolicy(walking()),
    "stopping": lambda: stopping(walking()),
    "solved": lambda: asnets.solve(walking()).policy,
    "tires-mdp": lambda: asnets.generate("triangle-tireworld", 1),
    "tires": lambda: asnets.Policy.load("triangle-tireworld").of(asnets.generate("triangle-tireworld", 2)),
    "tires-sampled": lambda: asnets.Policy.load("triangle-tireworld").of(
        asnets.generate("triangle-tireworld", 2), sampled=True
    ),
    "blocks-random": lambda: asnets.RandomPolicy(asnets.generate("prob-blocksworld", 3)),
    "monster-mdp": lambda: asnets.generate("monster", 2),
}


def explored(what: TaskPolicy | GroundTask) -> ExplicitModel:
    return explore_mdp(what) if isinstance(what, GroundTask) else explore_chain(what)


def check_same(model: ExplicitModel, found: FileModel, suffix: str) -> None:
    """The file has the states, choices, numbers and labels of the model."""
    assert model.task is not None
    names = [model.task.action_name(action) for action in range(model.task.num_actions)]
    if suffix != ".umb":
        names = prism_names(names) if suffix == ".tra" else drn_names(names)
    assert found.kind == ("mdp" if model.policy is None else "dtmc")
    assert len(found.choices) == model.num_states
    for state, choices in enumerate(found.choices):
        begin, end = (int(model.first_choice[state + more]) for more in (0, 1))
        if begin == end:
            ((stay,),) = [choices]
            assert (stay.action, stay.cost, stay.successors) == ("", 0.0, ((state, 1.0),))
            continue
        assert len(choices) == end - begin
        for choice, number in zip(choices, range(begin, end), strict=True):
            action = int(model.choice_action[number])
            assert choice.action == ("" if action < 0 else names[action])
            assert choice.cost == model.choice_cost[number]
            transitions = slice(int(model.first_transition[number]), int(model.first_transition[number + 1]))
            rows = zip(model.successors[transitions].tolist(), model.probabilities[transitions].tolist(), strict=True)
            assert choice.successors == tuple(rows)
    labels = {label: set(np.flatnonzero(holds).tolist()) for label, holds in state_labels(model).items()}
    if suffix == ".drn":  # Has no way to name a label that no state has.
        labels = {label: states for label, states in labels.items() if states}
    assert found.labels == labels


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", MODELS)
def test_files_read_back_as_the_model(tmp_path: Path, name: str, suffix: str) -> None:
    what = MODELS[name]()
    model = explored(what)
    exported = export(what, tmp_path / f"model{suffix}", states=True)
    assert sorted(file.name for file in exported.files) == sorted(os.listdir(tmp_path))
    found = read_model(tmp_path / f"model{suffix}")
    check_same(model, found, suffix)
    task = exported.task
    for state, described in enumerate(found.states):
        true = [task.atom_name(int(proposition)) for proposition in model.propositions(state)]
        assert described == set(prism_names(true) if suffix == ".tra" else true)
    assert len(found.states) == model.num_states
    sizes = (len(found.choices), sum(map(len, found.choices)))
    assert (exported.states, exported.choices) == sizes
    assert exported.transitions == sum(len(choice.successors) for choices in found.choices for choice in choices)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_without_descriptions(tmp_path: Path, suffix: str) -> None:
    exported = export(walking(), tmp_path / f"model{suffix}")
    assert not read_model(exported.files[-1]).states
    assert not (tmp_path / "model.sta").exists()


@settings(max_examples=30, deadline=None)
@given(task=ssps(), seed=st.integers(0, 2**32 - 1))
def test_random_tasks(task: tuple[asnets.ppddl.Domain, asnets.ppddl.Problem], seed: int) -> None:
    """An MDP and the chain of some policy of it, in all formats."""
    grounded = ground(*task, costs="metric")
    with tempfile.TemporaryDirectory() as folder:
        for what in (grounded, random_policy(grounded, seed)):
            model = explored(what)
            for suffix in (".tra", ".drn", ".umb") if is_installed("umbi") else (".tra", ".drn"):
                path = Path(folder) / f"model{suffix}"
                export(what, path, force=True)
                check_same(model, read_model(path), suffix)


def random_policy(task: GroundTask, seed: int) -> TaskPolicy:
    """In each state one of the applicable actions, always the same, or now and then nothing."""
    rng = np.random.default_rng(seed)
    chosen: dict[asnets.State, str | None] = {}

    def act(state: asnets.State) -> str | None:
        if state not in chosen:
            names = state.applicable_names
            chosen[state] = None if not names or rng.random() < 0.05 else names[rng.integers(len(names))]
        return chosen[state]

    return asnets.FunctionPolicy(task, act, name="some")


def test_labels_of_an_mdp_are_all_dead_ends() -> None:
    for task in (walking(), asnets.generate("triangle-tireworld", 1), asnets.generate("monster", 2)):
        model = explore_mdp(task)
        written_out = explore(task, 10_000)
        assert written_out is not None
        hopeless = {
            frozenset(written_out.states.propositions(written_out.numbers[state]).tolist())
            for state, cost in enumerate(written_out.determinised_costs())
            if np.isinf(cost)
        }
        labels = state_labels(model)
        found = {frozenset(model.propositions(int(state)).tolist()) for state in np.flatnonzero(labels["dead_end"])}
        assert found == hopeless
        assert not labels["gives_up"].any()
        assert not labels["unexplored"].any()


@settings(max_examples=50, deadline=None)
@given(task=ssps(), seed=st.integers(0, 2**32 - 1))
def test_labels_of_a_chain_are_sound(task: tuple[asnets.ppddl.Domain, asnets.ppddl.Problem], seed: int) -> None:
    """Whatever is labelled a dead end is one of the MDP; where the policy gives up, some action is applicable."""
    grounded = ground(*task, costs="metric")
    whole, chain = explore_mdp(grounded), explore_chain(random_policy(grounded, seed))
    ends = np.flatnonzero(state_labels(whole)["dead_end"])
    dead = {whole.propositions(int(state)).tobytes() for state in ends}
    labels = state_labels(chain)
    simulator = asnets.Simulator(grounded)
    for number in range(chain.num_states):
        propositions = chain.propositions(number)
        state = simulator.state_of(propositions)
        if labels["dead_end"][number]:
            assert propositions.tobytes() in dead
        elif state.is_dead_end:
            raise AssertionError("a dead end that the relaxation shows has no label")
        stops = chain.first_choice[number] == chain.first_choice[number + 1]
        assert labels["gives_up"][number] == (stops and not state.is_goal and bool(state.applicable))
        assert labels["goal"][number] == state.is_goal


def test_pieces_are_the_whole() -> None:
    model = explore_chain(asnets.RandomPolicy(asnets.generate("prob-blocksworld", 3)))
    (whole,) = pieces(model, model.num_states)
    parts = list(pieces(model, 7))
    assert len(parts) == -(-model.num_states // 7)
    for column in ("choice_states", "choice_actions", "choice_costs", "sizes", "successors", "probabilities"):
        assert np.array_equal(np.concatenate([getattr(rows, column) for rows in parts]), getattr(whole, column))
    sizes = (whole.last_state, len(whole.sizes), len(whole.successors))
    assert sizes == counts(model)


def by_hand(**columns: object) -> ExplicitModel:
    """Three states: a choice that may stay, a goal, and one where the model ends."""
    arrays = {
        "kinds": np.array([0, 1, 3], np.uint8),
        "first_choice": np.array([0, 1, 1, 1], np.uint64),
        "choice_action": np.array([0], np.int32),
        "choice_cost": np.array([0.1]),
        "first_transition": np.array([0, 3], np.uint64),
        "successors": np.array([0, 1, 2], np.uint32),
        "probabilities": np.array([1 / 3, 1 / 3, 1 / 3]),
    }
    return ExplicitModel(**(arrays | columns))  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_model_by_hand(tmp_path: Path, suffix: str) -> None:
    for policy in (None, "mine"):
        model = by_hand(policy=policy)
        labels = state_labels(model)
        write_model(tmp_path / f"m{suffix}", model, labels, format_of(Path(f"m{suffix}")))
        found = read_model(tmp_path / f"m{suffix}")
        assert found.choices[0][0].successors == ((0, 1 / 3), (1, 1 / 3), (2, 1 / 3))
        assert (found.choices[0][0].cost, found.labels["unexplored"], found.labels["goal"]) == (0.1, {2}, {1})
        with pytest.raises(ConfigError, match="made from arrays"):
            write_model(tmp_path / f"s{suffix}", model, labels, format_of(Path(f"s{suffix}")), states=True)
    assert not [name for name in os.listdir(tmp_path) if name.startswith((".", "s"))]


def test_names() -> None:
    names = ["(go a-b c)", "(go a b-c)", "(go_a_b_c)", "(max)", "(1st)", "(go)", "(go_a_b_c_2)"]
    assert prism_names(names) == ["go_a_b_c", "go_a_b_c_3", "go_a_b_c_4", "_max", "_1st", "go", "go_a_b_c_2"]
    assert drn_names(["(go a-b c)", "(wait)", "(go a-b c)"]) == ["go(a-b,c)", "wait", "go(a-b,c)_2"]


def test_formats_by_name() -> None:
    assert [format_of(Path(name)) for name in ("a.tra", "a.lab", "b.drn", "c.x.umb")] == [
        "prism",
        "prism",
        "drn",
        "umb",
    ]
    assert format_of(Path("a.txt"), "drn") == "drn"
    assert [path.name for path in FORMATS["prism"].paths(Path("a.b"))][-1] == "a.b.tra"
    assert [path.name for path in FORMATS["prism"].paths(Path("a.lab"))][-1] == "a.tra"
    with pytest.raises(ConfigError, match=r"a\.txt: the name does not tell the format; expected one that ends with"):
        format_of(Path("a.txt"))
    with pytest.raises(ConfigError, match="unknown format 'xml'; expected one of prism, drn, umb"):
        format_of(Path("a.drn"), "xml")


def test_equal_models_are_equal_files(tmp_path: Path) -> None:
    for suffix in [".tra", ".drn"] + [".umb"] * is_installed("umbi"):
        policy = asnets.RandomPolicy(asnets.generate("triangle-tireworld", 1))
        for threads, folder in ((1, "a"), (2, "b")):
            export(policy, tmp_path / folder / f"m{suffix}", threads=threads)
    for name in os.listdir(tmp_path / "a"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_what_is_there(tmp_path: Path) -> None:
    """Files of another kind are never replaced, files of a model with `force`; none of an earlier set is left over."""
    task = walking()
    export(task, tmp_path / "m.tra", states=True)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    with pytest.raises(ConfigError, match=r"m\.lab is there; choose another name, or give --force"):
        export(task, tmp_path / "m.tra")
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before
    export(asnets.RandomPolicy(task), tmp_path / "m.tra", force=True)
    assert sorted(os.listdir(tmp_path)) == ["m.lab", "m.srew", "m.tra"]
    (tmp_path / "m.trew").write_text("my thesis")
    with pytest.raises(ConfigError, match=r"m\.trew is there and is no \.trew file of a model; it is not replaced"):
        export(task, tmp_path / "m.tra", force=True)
    (tmp_path / "folder.drn").mkdir()
    for path, message in (
        (tmp_path / "folder.drn", "is a folder"),
        (tmp_path, "is a folder"),
        (Path("/dev/null"), "null is there and is no .drn file"),
    ):
        with pytest.raises(ConfigError, match=message):
            export(task, path, format="drn", force=True)
    assert export(task, tmp_path / "odd.name", format="drn").files == (tmp_path / "odd.name",)


def test_check_output_says_what_may_be_written(tmp_path: Path) -> None:
    names = [path.name for path in check_output(tmp_path / "m.tra", "prism", force=False)]
    assert names == ["m.lab", "m.srew", "m.trew", "m.sta", "m.tra"]


def test_limits(tmp_path: Path) -> None:
    task = asnets.generate("triangle-tireworld", 4)
    with pytest.raises(LimitError, match=r"the MDP of triangle-tire-4 has more than 100 states, .*nothing is written"):
        export(task, tmp_path / "m.tra", max_states=100)
    with pytest.raises(LimitError, match=r"the chain of random on triangle-tire-4 has more than 100 states"):
        export(asnets.RandomPolicy(task), tmp_path / "m.drn", max_states=100)
    with pytest.raises(LimitError, match="the memory limit of 1 MB was reached"):
        export(task, tmp_path / "m.drn", memory_limit=10**6)
    deadline = asnets.Deadline(3600)
    deadline.cancel()
    with pytest.raises(LimitError, match="a deadline that was cancelled was reached after"):
        export(task, tmp_path / "m.drn", deadline=deadline)
    assert os.listdir(tmp_path) == []


def test_what_is_no_policy(tmp_path: Path) -> None:
    trained = asnets.Policy.load("triangle-tireworld")
    with pytest.raises(ConfigError, match=r"`of\(task\)` of a trained policy gives one"):
        export(trained, tmp_path / "m.drn")  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        export(trained.of(asnets.generate("gripper", 1)), tmp_path / "m.drn")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("is_signal", [False, True])
def test_whatever_ends_it_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, is_signal: bool
) -> None:
    """A full disk, or Ctrl-C, at any moment of writing: nothing new is there, and nothing old is gone."""
    task = walking()
    export(task, tmp_path / f"m{suffix}", states=True)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    real_replace, real_open = os.replace, Path.open

    class Moment:
        """The moment at which it goes wrong, counted from the beginning."""

        left = 0

        def pass_(self) -> None:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt if is_signal else OSError(errno.ENOSPC, "No space left on device")

    moment = Moment()

    def replace(source: Path, target: Path) -> None:
        moment.pass_()
        real_replace(source, target)

    def open_(path: Path, mode: str = "r", *args: object, **options: object) -> object:
        if "x" in mode:
            moment.pass_()
        return real_open(path, mode, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(Path, "open", open_)
    for number in range(1, 100):
        moment.left = number
        try:
            export(asnets.RandomPolicy(task), tmp_path / f"m{suffix}", force=True)
            break
        except (FileError, KeyboardInterrupt) as caught:
            message = str(caught)
        assert is_signal or message.endswith(": cannot write the file: No space left on device")
        assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before
    assert number > 2
    assert number < 99
    assert all(not name.startswith(".") for name in os.listdir(tmp_path))


def test_files_together_put_back_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("old")
    real = os.replace

    def fail_at_last(source: Path, target: Path) -> None:
        if Path(target) == tmp_path / "b":
            raise OSError(errno.EACCES, "Permission denied")
        real(source, target)

    monkeypatch.setattr(os, "replace", fail_at_last)

    def write() -> None:
        with FilesTogether(remove=[tmp_path / "c"]) as files:
            for name in ("a", "b"):
                with files.writing(tmp_path / name) as stream:
                    stream.write(b"new")

    with pytest.raises(FileError, match="b: cannot write the file: Permission denied"):
        write()
    assert {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)} == dict.fromkeys("abc", "old")


# What Storm makes of the files.


@pytest.fixture(scope="module")
def storm() -> Iterator[Storm]:
    with Storm() as process:
        yield process


@needs_storm
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", MODELS)
def test_storm_reads_the_files(tmp_path: Path, storm: Storm, name: str, suffix: str) -> None:
    exported = export(MODELS[name](), tmp_path / f"model{suffix}", states=True)
    answer = storm.check(exported.files[-1])
    assert answer.model == ("mdp" if exported.policy is None else "dtmc")
    assert (answer.states, answer.choices) == (exported.states, exported.choices)
    assert answer.transitions == exported.transitions
    for label, count in exported.labels.items():
        assert answer.labels.get(label, 0) == count
    if suffix != ".tra":  # Storm's dialect of PRISM's files has no names of actions.
        model = explored(MODELS[name]())
        assert answer.actions == np.count_nonzero(model.choice_action >= 0)


@needs_storm
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_storm_computes_what_is_known(tmp_path: Path, storm: Storm, suffix: str) -> None:
    """Triangle Tireworld: the goal for sure at cost 6n - 0.5, both for the planner's and the network's policy."""
    task = asnets.generate("triangle-tireworld", 2)
    for policy in (asnets.solve(task).policy, asnets.Policy.load("triangle-tireworld").of(task)):
        path = export(policy, tmp_path / f"chain{suffix}", force=True).files[-1]
        probability, cost = storm.check(path, ['P=? [F "goal"]', 'R=? [F "goal"]']).results
        assert probability.value == 1.0
        assert cost.value == pytest.approx(11.5, abs=1e-9)
    path = export(task, tmp_path / f"mdp{suffix}").files[-1]
    best, least = storm.check(path, ['Pmax=? [F "goal"]', 'Rmin=? [F "goal"]']).results
    assert best.value == 1.0
    assert least.value == pytest.approx(11.5, abs=1e-9)


@needs_storm
def test_storm_computes_with_fractions(tmp_path: Path, storm: Storm) -> None:
    """A model whose numbers are fractions, in DRN: 1/3 to the goal, 1/3 to stay."""
    third = Fraction(1, 3)
    model = by_hand(
        policy="mine",
        probabilities=np.array([third, third, third], np.object_),
        choice_cost=np.array([Fraction(1, 10)], np.object_),
    )
    write_model(tmp_path / "m.drn", model, state_labels(model), "drn")
    properties = ['P=? [F "goal"]', 'R=? [F "goal" | "unexplored"]', 'R=? [F "goal"]']
    answer = storm.check(tmp_path / "m.drn", properties, exact=True)
    assert [checked.value for checked in answer.results] == [Fraction(1, 2), Fraction(3, 20), float("inf")]


@needs_storm
def test_storm_says_what_is_wrong(tmp_path: Path, storm: Storm) -> None:
    (tmp_path / "bad.drn").write_text("@type: MDP\n")
    with pytest.raises(StormError, match=r"bad\.drn: "):
        storm.check(tmp_path / "bad.drn")
    good = export(walking(), tmp_path / "good.drn").files[0]
    assert storm.check(good).states > 1
