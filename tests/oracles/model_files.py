"""Small readers of the files that `asnets export` writes, each by its format's description and nothing of ours.

They are strict: what the format does not have, a count that does not fit and a line out of order are errors.
"""

from __future__ import annotations

import itertools
import json
import re
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Choice:
    """A choice of a state: the name of its action ("" for none), its cost, and where it leads."""

    action: str
    cost: float
    successors: tuple[tuple[int, float], ...]


@dataclass
class FileModel:
    """A model as a file says it.

    Attributes:
        kind: "dtmc" or "mdp".
        choices: Of each state.
        labels: The states of each label that the file names.
        states: What is true in each state, by name; empty if the file does not say.
    """

    kind: str
    choices: list[list[Choice]]
    labels: dict[str, set[int]] = field(default_factory=dict)
    states: list[set[str]] = field(default_factory=list)


def read_model(path: Path) -> FileModel:
    """Reads the model of a .tra, .drn or .umb file."""
    return {".tra": _read_prism, ".drn": _read_drn, ".umb": _read_umb}[path.suffix](path)


def _read_prism(path: Path) -> FileModel:
    head, *lines = path.read_text(encoding="ascii").splitlines()
    sizes = list(map(int, head.split()))
    kind = "dtmc" if len(sizes) == 2 else "mdp"
    rewards = path.with_suffix(".srew" if kind == "dtmc" else ".trew").read_text(encoding="ascii").splitlines()
    assert rewards[:2] == ['# Reward structure "cost"', f"# {'State' if kind == 'dtmc' else 'Transition'} rewards"]
    costs: dict[tuple[int, ...], set[float]] = {}
    for row in rewards[3:]:
        *numbers, amount = row.split()
        costs.setdefault(tuple(map(int, numbers[: 1 if kind == "dtmc" else 2])), set()).add(float(amount))
    rows: dict[tuple[int, ...], tuple[str, list[tuple[int, float]]]] = {}
    for line in lines:
        words = line.split(" ")
        width = 1 if kind == "dtmc" else 2
        action = words[width + 2] if len(words) > width + 2 else ""
        assert re.fullmatch(r"([A-Za-z_][A-Za-z_0-9]*)?", action)
        place = tuple(map(int, words[:width]))
        found = rows.setdefault(place, (action, []))
        assert found[0] == action
        found[1].append((int(words[width]), float(words[width + 1])))
    assert list(rows) == sorted(rows)
    choices: list[list[Choice]] = [[] for _ in range(sizes[0])]
    for key, (action, successors) in rows.items():
        (cost,) = costs[key]
        assert key[-1] == len(choices[key[0]]) or kind == "dtmc"
        choices[key[0]].append(Choice(action, cost, tuple(successors)))
    assert all(choices)
    counted = [len(choices), sum(map(len, choices)), sum(len(row[1]) for row in rows.values())]
    assert sizes == (counted if kind == "mdp" else [counted[0], counted[2]])
    model = FileModel(kind, choices, _prism_labels(path.with_suffix(".lab")))
    if path.with_suffix(".sta").exists():
        model.states = _prism_states(path.with_suffix(".sta"))
    return model


def _prism_labels(path: Path) -> dict[str, set[int]]:
    head, *lines = path.read_text(encoding="ascii").splitlines()
    names = re.findall(r'(\d+)="([^"]+)"', head)
    assert [int(number) for number, _ in names] == list(range(len(names)))
    labels: dict[str, set[int]] = {name: set() for _, name in names}
    for line in lines:
        state, _, numbers = line.partition(": ")
        for number in numbers.split():
            labels[names[int(number)][1]].add(int(state))
    assert not labels.pop("deadlock")
    return labels


def _prism_states(path: Path) -> list[set[str]]:
    head, *lines = path.read_text(encoding="ascii").splitlines()
    names = head.strip("()").split(",")
    assert len(set(names)) == len(names)
    states = []
    for number, line in enumerate(lines):
        values = line.removeprefix(f"{number}:(").removesuffix(")").split(",")
        assert set(values) <= {"true", "false"}
        states.append({name for name, value in zip(names, values, strict=True) if value == "true"})
    return states


def _read_drn(path: Path) -> FileModel:
    lines = path.read_text(encoding="utf-8").splitlines()
    begin = lines.index("@model")
    header = [line for line in lines[:begin] if not line.startswith("//")]
    kind = header[0].removeprefix("@type: ").lower()
    assert header[1:5] == ["@parameters", "", "@reward_models", "cost"]
    assert (header[5], header[7]) == ("@nr_states", "@nr_choices")
    model = FileModel(kind, [])
    for line in lines[begin + 1 :]:
        if line.startswith("state "):
            number, *labels = line.removeprefix("state ").split(" ")
            assert int(number) == len(model.choices)
            model.choices.append([])
            for label in labels:
                model.labels.setdefault(label, set()).add(int(number))
        elif line.startswith("//"):
            model.states.append(set(re.findall(r"\([^()]*\)", line)))
        elif line.startswith("\taction "):
            action, _, cost = line.removeprefix("\taction ").partition(" ")
            action = "" if action == "__NOLABEL__" else action
            model.choices[-1].append(Choice(action, float(cost.strip("[]")), ()))
        else:
            assert line.startswith("\t\t")
            target, _, probability = line.strip().partition(" : ")
            last = model.choices[-1].pop()
            successors = (*last.successors, (int(target), float(probability)))
            model.choices[-1].append(Choice(last.action, last.cost, successors))
    assert [int(header[6]), int(header[8])] == [len(model.choices), sum(map(len, model.choices))]
    return model


def _read_umb(path: Path) -> FileModel:
    with tarfile.open(path) as archive:
        files = {
            member.name: stream.read()
            for member in archive.getmembers()
            if (stream := archive.extractfile(member)) is not None
        }
    index = json.loads(files.pop("index.json"))
    system = index["transition-system"]
    num_states = system["#states"]
    assert (system["time"], system["#initial-states"], system["#branch-actions"]) == ("discrete", 1, 0)
    assert system["branch-probability-type"] == {"type": "double", "size": 64}

    def bits(name: str) -> set[int]:
        data = np.frombuffer(files.pop(name), np.uint8)
        assert len(data) % 8 == 0
        return set(np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist())

    labels = {"init": bits("state-is-initial.bin")}
    for name, description in index["annotations"]["aps"].items():
        assert (description["type"]["type"], description["applies-to"]) == ("bool", ["states"])
        labels[name] = bits(f"annotations/aps/{name}/states/values.bin")
    assert list(index["annotations"]["rewards"]) == ["cost"]
    costs = np.frombuffer(files.pop("annotations/rewards/cost/choices/values.bin"), "<f8")
    first_choice = np.frombuffer(files.pop("state-to-choices.bin"), "<u8").astype(int)
    first_branch = np.frombuffer(files.pop("choice-to-branches.bin"), "<u8").astype(int)
    targets = np.frombuffer(files.pop("branch-to-target.bin"), "<u8").astype(int)
    probabilities = np.frombuffer(files.pop("branch-to-probability.bin"), "<f8")
    actions = np.frombuffer(files.pop("actions/choices/values.bin"), "<u4")
    ends = np.frombuffer(files.pop("actions/choices/string-mapping.bin"), "<u8").astype(int)
    text = files.pop("actions/choices/strings.bin")
    names = [text[begin:end].decode() for begin, end in itertools.pairwise(ends)]
    assert len(names) == system["#choice-actions"]
    assert (len(first_choice) - 1, len(first_branch) - 1) == (num_states, system["#choices"])
    assert (first_choice[-1], first_branch[-1], len(targets)) == (len(costs), len(probabilities), system["#branches"])
    choices = [
        [
            Choice(
                names[actions[choice]],
                float(costs[choice]),
                tuple(
                    (int(targets[branch]), float(probabilities[branch]))
                    for branch in range(first_branch[choice], first_branch[choice + 1])
                ),
            )
            for choice in range(first_choice[state], first_choice[state + 1])
        ]
        for state in range(num_states)
    ]
    model = FileModel("mdp" if system["#players"] else "dtmc", choices, labels)
    if "valuations" in index:
        (described,) = index["valuations"]["states"]["classes"]
        variables = [each.get("name") for each in described["variables"]]
        data = np.frombuffer(files.pop("valuations/states/valuations.bin"), np.uint8).reshape(num_states, -1)
        values = np.unpackbits(data, axis=1, bitorder="little")
        model.states = [{variables[bit] for bit in np.flatnonzero(row)} for row in values]
    assert not files
    return model
