from __future__ import annotations

import dataclasses
import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from asnets.domains import domain_text, generate
from asnets.errors import FileError
from asnets.files import write_atomically
from asnets.grounding import GroundTask, ground
from asnets.network import DomainSignature, NetworkConfig, Structure, build_structure
from asnets.network.weights import num_parameters
from asnets.pictures import draw_network
from asnets.pictures.network_contents import MAX_SHOWN
from asnets.pictures.svg import colours, num_cells, shortened, tint
from asnets.ppddl import parse_text, write_problem
from asnets.ppddl.model import Domain, Problem
from tests.network.building import LINE, line_problem
from tests.strategies import tasks
from tests.support import REPOSITORY, ground_text

SVG = "{http://www.w3.org/2000/svg}"


def family_task(family: str, size: int) -> GroundTask:
    document = parse_text(domain_text(family) + write_problem(generate(family, size)))
    return ground(document.domains[0], document.problems[0])


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if element.get("class") == name]


def with_id(root: ElementTree.Element, name: str) -> ElementTree.Element:
    (element,) = (element for element in root.iter() if element.get("id") == name)
    return element


def titles(elements: list[ElementTree.Element]) -> list[str]:
    """The first lines of what is shown at the mouse pointer."""
    return [(element.findtext(f"{SVG}title") or "").split("\n")[0] for element in elements]


def names_in(root: ElementTree.Element, layer: str) -> list[str]:
    return [title.removesuffix(", never changes") for title in titles(with_class(with_id(root, layer), "module"))]


def related(task: GroundTask, structure: Structure) -> list[tuple[str, str]]:
    """The related pairs by name, action first, as the proposition modules pool them."""
    pairs = []
    for (name, _), part in zip(structure.signature.predicates, structure.predicates, strict=True):
        for source, pool in zip(structure.signature.pool_sources(name, "schema"), part.pools, strict=True):
            first = structure.schemas[source.schema].first_action
            for node, atom in enumerate(part.atoms):
                pairs += [(task.action_name(first + int(a)), task.atom_name(int(atom))) for a in pool[node]]
    return pairs


def texts(root: ElementTree.Element) -> str:
    return " ".join(element.text or "" for element in root.iter(f"{SVG}text"))


def check(task: GroundTask, config: NetworkConfig) -> ElementTree.Element:
    """That the picture of a task, small enough to be shown whole, shows its structure."""
    root = ElementTree.fromstring(draw_network(task, config))
    structure = build_structure(task)
    actions = [task.action_name(action) for action in range(task.num_actions)]
    nodes = [task.atom_name(int(atom)) for part in structure.predicates for atom in part.atoms]
    pairs = related(task, structure)
    layers = [f"{kind}-{layer}" for layer in range(1, config.layers + 2) for kind in ("action", "proposition")][:-1]
    assert [element.get("id") for element in with_class(root, "layer")] == layers
    for layer in layers:
        assert Counter(names_in(root, layer)) == Counter(actions if layer.startswith("action") else nodes)
    for before, after in itertools.pairwise(layers):
        shown = titles(with_class(with_id(root, f"{before}-to-{after}"), "edge"))
        order = 1 if before.startswith("action") else -1
        assert Counter(shown) == Counter(" → ".join(pair[::order]) for pair in pairs)
    for end in (f"input-to-{layers[0]}", f"{layers[-1]}-to-output"):
        assert len(with_class(with_id(root, end), "edge")) == task.num_actions
    check_colours(root, structure)
    return root


def check_colours(root: ElementTree.Element, structure: Structure) -> None:
    """One colour for each schema and predicate, the same in all layers and in the legend."""
    colour_of: dict[tuple[str, str], set[tuple[str | None, str | None]]] = {}
    for group in with_class(root, "group"):
        colour = (group.get("fill"), group.get("stroke"))
        weights = group.get("data-weights")
        if weights is not None:
            kind, _, name = weights.split(".", 2)
            colour_of.setdefault((kind, name), set()).add(colour)
    for kind, legend in zip(("action", "proposition"), with_class(root, "legend"), strict=True):
        for group in with_class(legend, "group"):
            (label,) = (text.get("data-name") for text in group.iter(f"{SVG}text") if text.get("data-name"))
            colour_of.setdefault((kind, str(label)), set()).add((group.get("fill"), group.get("stroke")))
    assert all(len(found) == 1 for found in colour_of.values())
    assert len(set.union(set(), *colour_of.values())) == len(colour_of)
    signature = structure.signature
    assert set(colour_of) == {("action", schema.name) for schema in signature.schemas} | {
        ("proposition", name) for name, _ in signature.predicates
    }


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_line(layers: int) -> None:
    task = ground_text(LINE, line_problem(4))
    root = check(task, NetworkConfig(layers=layers))
    assert names_in(root, "action-1") == ["(move l0 l1)", "(move l1 l2)", "(move l2 l3)"]
    constant = [element for element in root.iter(f"{SVG}rect") if element.get("stroke-dasharray")]
    assert len(constant) == 3 * layers
    assert not with_class(root, "more")
    assert "Left out" not in texts(root)


@pytest.mark.parametrize(("family", "size"), [("triangle-tireworld", 1), ("gripper", 2), ("monster", 2)])
def test_families(family: str, size: int) -> None:
    check(family_task(family, size), NetworkConfig())


@settings(deadline=None, max_examples=40)
@given(tasks())
def test_any_task(task: tuple[Domain, Problem]) -> None:
    ground_task = ground(*task)
    structure = build_structure(ground_task)
    if max(ground_task.num_actions, sum(part.num_nodes for part in structure.predicates)) <= MAX_SHOWN:
        check(ground_task, NetworkConfig(layers=1))
    else:
        ElementTree.fromstring(draw_network(ground_task, NetworkConfig(layers=1)))


def test_words() -> None:
    task = ground_text(LINE, line_problem(3))
    config = NetworkConfig(layers=3, hidden=8, pooling="slot", features=())
    shown = texts(ElementTree.fromstring(draw_network(task, config)))
    assert "Action Schema Network for p of the domain d" in shown
    assert "2 actions of 1 schema, 5 propositions of 2 predicates (2 of them never change), 6 related pairs." in shown
    assert f"{num_parameters(DomainSignature.of(task), config):,} parameters in total" in shown
    # Three slots; two pools for `at`, one for `road`.
    assert "1: 8×6, 2–3: 8×24, 4: 1×24" in shown
    assert "1–3: 8×16" in shown
    assert "1–3: 8×8" in shown
    for config, words in (
        (NetworkConfig(), "without skip connections, action features: landmarks"),
        (NetworkConfig(skip=True, features=()), "with skip connections, action features: none"),
    ):
        assert words in texts(ElementTree.fromstring(draw_network(task, config)))


def test_number_of_parameters() -> None:
    signature = DomainSignature.of(ground_text(LINE, line_problem(3)))
    # move: 16 × (3 + 2 · 3) + 16 and 1 × 48 + 1; at, road: 16 × 16 + 16 each.
    assert num_parameters(signature, NetworkConfig(layers=1)) == 160 + 49 + 2 * 272


def test_skip_connections() -> None:
    task = ground_text(LINE, line_problem(3))
    root = check(task, NetworkConfig(layers=2, skip=True))
    skips = {str(element.get("id")): len(with_class(element, "edge")) for element in with_class(root, "skips")}
    assert skips == {"action-1-to-action-2": 2, "proposition-1-to-proposition-2": 5, "action-2-to-action-3": 2}
    assert not with_class(check(task, NetworkConfig()), "skips")


def test_recurrent_networks() -> None:
    """The layers that have weights of their own; the words say which of them are repeated."""
    task = ground_text(LINE, line_problem(3))
    deep = NetworkConfig(layers=9, recurrent=True, depth=40)
    root = ElementTree.fromstring(draw_network(task, deep))
    layers = [str(element.get("id")) for element in with_class(root, "layer")]
    assert layers == ["action-1", "proposition-1", "action-2", "proposition-2", "action-3"]
    assert "action and proposition layer 2 are repeated until there are 40, with the same weights" in texts(root)
    settled = draw_network(task, NetworkConfig(recurrent=True))
    assert "repeated until the choice has settled" in texts(ElementTree.fromstring(settled))


def test_large_problem() -> None:
    task = family_task("triangle-tireworld", 10)
    structure = build_structure(task)
    text = draw_network(task, NetworkConfig())
    root = ElementTree.fromstring(text)
    check_colours(root, structure)
    sizes = {f"action-{layer}": task.num_actions for layer in (1, 2, 3)}
    sizes |= {f"proposition-{layer}": sum(part.num_nodes for part in structure.predicates) for layer in (1, 2)}
    for layer, size in sizes.items():
        assert len(names_in(root, layer)) == MAX_SHOWN
        more = [
            int(part.findtext(f"{SVG}text", "").split()[2].replace(",", ""))
            for part in with_class(with_id(root, layer), "more")
        ]
        assert sum(more) == size - MAX_SHOWN
    # The only module of its group is there, and the first ones of others.
    assert names_in(root, "proposition-1")[:2] == ["(not-flattire)", "(road l-1-1 l-1-2)"]
    actions, nodes = names_in(root, "action-1"), names_in(root, "proposition-1")
    everything = related(task, structure)
    pairs = [f"{a} → {p}" for a, p in everything if a in actions and p in nodes]
    assert Counter(titles(with_class(with_id(root, "action-1-to-proposition-1"), "edge"))) == Counter(pairs)
    left_out = f"{task.num_actions - MAX_SHOWN:,} of {task.num_actions:,} actions"
    assert f"Left out of this picture: {left_out} and " in texts(root)
    assert f"({len(pairs):,} of {len(everything):,} related pairs)" in texts(root)
    assert "40 of 569 modules" in texts(root)


def test_more_groups_than_are_shown_at_most() -> None:
    count = MAX_SHOWN + 20
    schemas = " ".join(f"(:action a{n} :parameters (?x) :effect (p{n} ?x))" for n in range(count))
    predicates = " ".join(f"(p{n} ?x)" for n in range(count))
    task = ground_text(f"(:predicates {predicates}) {schemas}", "(:objects x y) (:goal (p0 x))")
    root = ElementTree.fromstring(draw_network(task, NetworkConfig(layers=1)))
    check_colours(root, build_structure(task))
    assert len(names_in(root, "action-1")) == len(names_in(root, "proposition-1")) == count
    assert {part.findtext(f"{SVG}text") for part in with_class(root, "more")} == {"… and 1 more"}


def test_nothing_to_draw() -> None:
    empty = ground_text("(:predicates (p))", "(:goal (p))")
    shown = texts(ElementTree.fromstring(draw_network(empty, NetworkConfig(layers=1))))
    assert shown.count("no modules") == 3
    # A schema without ground actions has weights, and no box.
    task = ground_text(LINE, "(:objects a b - loc) (:init (at a)) (:goal (at b))")
    root = ElementTree.fromstring(draw_network(task, NetworkConfig()))
    assert not with_class(root, "module")
    check_colours(root, build_structure(task))


def test_odd_names() -> None:
    task = ground_text(LINE, line_problem(3))
    long = "x" * 10_000
    names = ("<&\"l0'>", "\x00]]>\ud800\ufffe", long)
    schema = dataclasses.replace(task.schemas[0], name="<move>&amp;.1.é地")
    odd = dataclasses.replace(task, objects=names, problem="</svg>", domain=long, schemas=(schema,))
    text = draw_network(odd, NetworkConfig(skip=True))
    root = ElementTree.fromstring(text.encode())
    clean = "\ufffd]]>\ufffd\ufffd"
    assert names_in(root, "action-1") == [f"({schema.name} {names[0]} {clean})", f"({schema.name} {clean} {long})"]
    assert f"(at {names[0]})" in names_in(root, "proposition-1")
    assert float(root.get("width", "0")) < 3000
    assert all(len(element.text or "") < 300 for element in root.iter(f"{SVG}text"))


def test_texts_fit() -> None:
    assert shortened("short") == "short"
    for letter in ("x", "地", "e\u0301"):
        cut = shortened(letter * 100)
        assert cut.endswith("…")
        assert 34 < num_cells(cut) <= 36


def test_boxes_do_not_overlap() -> None:
    task = family_task("triangle-tireworld", 10)
    root = ElementTree.fromstring(draw_network(task, NetworkConfig()))
    width = float(root.get("width", "0"))
    spans = []
    for layer in with_class(root, "layer"):
        boxes = [
            [float(box.get(name, "0")) for name in ("x", "y", "width", "height")] for box in layer.iter(f"{SVG}rect")
        ]
        ends = sorted((y, y + height) for _, y, _, height in boxes)
        assert all(first[1] < second[0] for first, second in itertools.pairwise(ends))
        spans.append((min(x for x, *_ in boxes), max(x + size for x, _, size, _ in boxes)))
    assert all(before[1] + 50 < after[0] for before, after in itertools.pairwise(sorted(spans)))
    assert max(right for _, right in spans) < width


def test_colours_differ() -> None:
    found = colours(500)
    assert len(set(found)) == 500
    assert len({tint(colour) for colour in found[:24]}) == 24
    assert found[:20] == colours(20)


def test_same_bytes() -> None:
    """Also in another process, where hashes of strings differ."""
    code = (
        "import sys\n"
        "from tests.pictures.test_network_picture import family_task, draw_network, NetworkConfig\n"
        "sys.stdout.buffer.write(draw_network(family_task('gripper', 3), NetworkConfig(skip=True)).encode())\n"
    )
    expected = draw_network(family_task("gripper", 3), NetworkConfig(skip=True)).encode()
    result = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, check=True)
    assert result.stdout == expected


def test_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "net.svg").mkdir()
    with pytest.raises(FileError, match="cannot write the file"):
        write_atomically(tmp_path / "net.svg", draw_network(ground_text(LINE, line_problem(3)), NetworkConfig()))
    assert [path.name for path in tmp_path.iterdir()] == ["net.svg"]
