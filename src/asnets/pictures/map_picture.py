"""The map of a tireworld with the path of a run: roads, spares, flat tires, the probability of each road."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np

from asnets.pictures.deciding import LEFT_WORDS, decided_words, draw_sign
from asnets.pictures.layout import Places, lay_out
from asnets.pictures.style import new_svg, percent
from asnets.pictures.svg import add, add_text, num_cells, shortened
from asnets.pictures.tireworld import Road, Tireworld
from asnets.words import count

if TYPE_CHECKING:
    from asnets.evaluation.runs import Run

MAX_LOCATIONS = 1500

_MARGIN = 36.0
_MIN_WIDTH, _MAX_WIDTH, _MAX_HEIGHT = 520.0, 1100.0, 720.0
_ROOMY = 56.0  # The length of a road from which there is room for names and all probabilities.
_LEAST_SHOWN = 0.005
_SURE = 0.95
_LEGEND_ROW = 22.0


@dataclass(frozen=True)
class Leg:
    """One step of the run on the map.

    Attributes:
        number: Of the step, from 1.
        here: Where the car was.
        there: Where it is after the step.
        is_move: Whether the action was to drive.
        chances: The probability that the policy gave each road.
        bursts: Whether the tire went flat.
        changes: Whether it was changed.
    """

    number: int
    here: int
    there: int
    is_move: bool
    chances: dict[Road, float]
    bursts: bool
    changes: bool


def find_legs(world: Tireworld, run: Run) -> list[Leg] | None:
    """The run on the map; None if the car is not always in exactly one place."""
    places = [world.location_in(state) for state in run.trace.states]
    flat = [world.is_flat(state) for state in run.trace.states]
    road_by_name = {world.task.action_name(action): road for action, road in world.road_of.items()}
    legs = []
    for index, (step, named) in enumerate(zip(run.trace.steps, run.steps, strict=True)):
        here, there = places[index], places[index + 1]
        if here is None or there is None:
            return None
        chances = {road_by_name[name]: chance for name, chance in named.probabilities.items() if name in road_by_name}
        is_move = step.action in world.road_of
        bursts = flat[index + 1] and not flat[index]
        legs.append(Leg(index + 1, here, there, is_move, chances, bursts, step.action in world.changes))
    return legs if places[0] is not None else None


def leg_note(leg: Leg) -> str:
    """What came of a step, if it is worth saying."""
    if leg.bursts:
        return "the tire went flat"
    return "tire changed, the spare is used up" if leg.changes else ""


def draw_map(world: Tireworld, run: Run, legs: list[Leg], title: str) -> ElementTree.Element:
    """The map as an SVG element; what belongs to a step has its number in `data-at`."""
    return _Map(world, run, legs).draw(title)


class _Map:
    def __init__(self, world: Tireworld, run: Run, legs: list[Leg]) -> None:
        self.world = world
        self.run = run
        self.legs = legs
        self.names = {location: world.task.objects[location] for location in world.locations}
        number = {location: index for index, location in enumerate(world.locations)}
        roads = [(number[a], number[b]) for a, b in world.roads]
        goal = number.get(world.goals[0]) if world.goals else None
        places: Places = lay_out(list(self.names.values()), roads, number[world.start], goal)
        span = places.max(axis=0) - places.min(axis=0)
        lengths = [float(np.linalg.norm(places[a] - places[b])) for a, b in roads] or [1.0]
        self.scale = min(96.0, _MAX_WIDTH / max(1.0, float(span[0])), _MAX_HEIGHT / max(1.0, float(span[1])))
        self.road = self.scale * sorted(lengths)[len(lengths) // 2]
        self.radius = max(3.0, min(11.0, 0.17 * self.road))
        map_width = float(span[0]) * self.scale
        self.width = max(_MIN_WIDTH, map_width + 2 * _MARGIN)
        self.top = _MARGIN + 12
        self.map_height = float(span[1]) * self.scale
        left = (self.width - map_width) / 2
        shifted = (places - places.min(axis=0)) * self.scale
        self.at = {
            location: (left + float(x), self.top + self.map_height - float(y))
            for location, (x, y) in zip(world.locations, shifted, strict=True)
        }

    @property
    def is_roomy(self) -> bool:
        return self.road >= _ROOMY

    @property
    def _leaves_policy(self) -> bool:
        return any(step.leaves_policy for step in self.run.steps)

    def draw(self, title: str) -> ElementTree.Element:
        legend = self._legend_rows()
        legend_top = self.top + self.map_height + _MARGIN + (36 if self.is_roomy else 18)
        root = new_svg(self.width, legend_top + _LEGEND_ROW * len(legend) + 6, title, self._description())
        self._draw_roads(add(root, "g", class_="roads"))
        self._draw_options(add(root, "g", class_="choices"))
        self._draw_path(add(root, "g", class_="path"))
        self._draw_places(add(root, "g", class_="places"))
        self._draw_tires(add(root, "g", class_="tires"))
        if self._leaves_policy:
            self._draw_signs(add(root, "g", class_="signs"))
        self._draw_chances(add(root, "g", class_="chances"))
        self._draw_car(root)
        for row, items in enumerate(legend):
            self._draw_legend(add(root, "g", class_="legend"), legend_top + _LEGEND_ROW * row, items)
        return root

    def _description(self) -> str:
        moves = sum(leg.is_move for leg in self.legs)
        flats = sum(leg.bursts for leg in self.legs)
        visited = [self.names[self.world.start], *(self.names[leg.there] for leg in self.legs if leg.is_move)]
        return (
            f"A map of {count(len(self.names), 'location')} and {count(len(self.world.roads), 'road')}. "
            f"The run has {count(moves, 'move')} and {count(flats, 'flat tire')}; it goes {', '.join(visited)}."
        )

    # --- The map itself -------------------------------------------------------------------------------------------

    def _draw_roads(self, group: ElementTree.Element) -> None:
        known = set(self.world.roads)
        for a, b in self.world.roads:
            both = (b, a) in known
            if both and a > b:
                continue
            (x1, y1), (x2, y2) = self.at[a], self.at[b]
            add(group, "line", x1=x1, y1=y1, x2=x2, y2=y2, class_="road")
            if not both:
                self._draw_tip(group, (a, b), 0.66, max(3.0, min(5.0, 0.1 * self.road)), "tip")

    def _draw_tip(self, group: ElementTree.Element, road: Road, share: float, size: float, style: str) -> None:
        (x1, y1), (x2, y2) = self.at[road[0]], self.at[road[1]]
        length = math.hypot(x2 - x1, y2 - y1) or 1.0
        u, v = (x2 - x1) / length, (y2 - y1) / length
        x, y = x1 + share * (x2 - x1), y1 + share * (y2 - y1)
        corners = [
            (x + size * u, y + size * v),
            (x - size * (u + 0.8 * v), y - size * (v - 0.8 * u)),
            (x - size * (u - 0.8 * v), y - size * (v + 0.8 * u)),
        ]
        add(group, "polygon", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in corners), class_=style)

    def _draw_places(self, group: ElementTree.Element) -> None:
        for location, name in self.names.items():
            x, y = self.at[location]
            place = add(group, "g", class_="location")
            words = [name]
            words += ["start"] if location == self.world.start else []
            words += ["goal"] if location in self.world.goals else []
            words += ["spare tire"] if location in self.world.spares else []
            add(place, "title", text=", ".join(words))
            if location in self.world.spares:
                _draw_spare(place, x, y, self.radius)
            else:
                add(place, "circle", cx=x, cy=y, r=self.radius * 0.6, class_="place")
            if location == self.world.start or location in self.world.goals:
                kind = "start" if location == self.world.start else "goal"
                add(place, "circle", cx=x, cy=y, r=self.radius + 4, class_=kind)
                add_text(place, x, y + self.radius + 20, kind, "strong middle")
                if self.is_roomy:
                    add_text(place, x, y + self.radius + 34, shortened(name), "small middle halo")
            elif self.is_roomy and num_cells(name) * 6.5 < self.road:
                add_text(place, x, y + self.radius + 14, name, "small middle halo")

    # --- The run --------------------------------------------------------------------------------------------------

    def _draw_options(self, group: ElementTree.Element) -> None:
        """Roads that were not taken, as wide as they are likely."""
        for leg in self.legs:
            for road, chance in leg.chances.items():
                if chance < _LEAST_SHOWN or (leg.is_move and road == (leg.here, leg.there)):
                    continue
                (x1, y1), (x2, y2) = self.at[road[0]], self.at[road[1]]
                width = 1.5 + chance * self._path_width
                option = add(group, "line", x1=x1, y1=y1, x2=x2, y2=y2, class_="option", stroke_width=width)
                option.set("data-at", str(leg.number))
                words = f"step {leg.number}: to {self.names[road[1]]}, {percent(chance)}, not taken"
                add(option, "title", text=words)

    @property
    def _path_width(self) -> float:
        return max(3.0, min(7.0, 0.09 * self.road))

    def _draw_path(self, group: ElementTree.Element) -> None:
        times: Counter[frozenset[int]] = Counter()
        for leg in self.legs:
            if not leg.is_move:
                continue
            road = (leg.here, leg.there)
            (x1, y1), (x2, y2) = self.at[leg.here], self.at[leg.there]
            # A road that is driven again gets a line beside the first one.
            length = math.hypot(x2 - x1, y2 - y1) or 1.0
            side = (self._path_width + 1) * times[frozenset(road)] * (1 if leg.here < leg.there else -1) / length
            times[frozenset(road)] += 1
            dx, dy = side * (y1 - y2), side * (x2 - x1)
            part = add(group, "g", class_="step")
            part.set("data-at", str(leg.number))
            line = add(part, "line", x1=x1 + dx, y1=y1 + dy, x2=x2 + dx, y2=y2 + dy, class_="segment")
            line.set("stroke-width", f"{self._path_width:.1f}")
            chance = leg.chances.get(road, math.nan)
            words = f"step {leg.number}: {self.names[leg.here]} to {self.names[leg.there]}, {percent(chance)}"
            add(line, "title", text=words)

    def _draw_tires(self, group: ElementTree.Element) -> None:
        for leg in self.legs:
            if leg.changes:
                mark = add(group, "g", class_="changed")
                mark.set("data-at", str(leg.number))
                x, y = self.at[leg.here]
                add(mark, "circle", cx=x, cy=y, r=self.radius, class_="used")
                add(mark, "title", text=f"step {leg.number}: tire changed at {self.names[leg.here]}")
        for leg in self.legs:
            if leg.bursts:
                mark = add(group, "g", class_="burst")
                mark.set("data-at", str(leg.number))
                _draw_flat(mark, *self.at[leg.there], max(5.0, 0.8 * self.radius))
                add(mark, "title", text=f"step {leg.number}: flat tire at {self.names[leg.there]}")

    def _draw_chances(self, group: ElementTree.Element) -> None:
        """Probabilities in words; on a small scale only those of which the policy was not sure."""
        shown: set[Road] = set()
        for leg in self.legs:
            for road, chance in leg.chances.items():
                if chance < max(_LEAST_SHOWN, 0.01):
                    continue
                (x1, y1), (x2, y2) = self.at[road[0]], self.at[road[1]]
                # Names stand below their locations: at the lower end of a road there is more room.
                share = 0.42 if y2 < y1 else 0.58
                text = add_text(group, x1 + share * (x2 - x1), y1 + share * (y2 - y1) + 4, percent(chance), "chance")
                text.set("data-at", str(leg.number))
                if road in shown or not (self.is_roomy or chance <= _SURE):
                    text.set("class", "chance closer")
                    text.set("display", "none")
                shown.add(road)

    def _draw_signs(self, group: ElementTree.Element) -> None:
        """Where a step is not what the policy alone would have done: beside the road, or the location."""
        for leg, step in zip(self.legs, self.run.steps, strict=True):
            if step.leaves_policy:
                (x1, y1), (x2, y2) = self.at[leg.here], self.at[leg.there]
                beside = 0.0 if leg.is_move else self.radius + 12
                words = f"step {leg.number}: {decided_words(step)}"
                sign = draw_sign(group, (x1 + x2) / 2 + beside, (y1 + y2) / 2 - 14, 6, words)
                sign.set("data-at", str(leg.number))

    def _draw_car(self, root: ElementTree.Element) -> None:
        last = self.legs[-1] if self.legs else None
        x, y = self.at[last.there if last else self.world.start]
        add(root, "circle", cx=x, cy=y, r=self.radius + 7, class_="car at-end")
        positions = [self.world.start, *(leg.there for leg in self.legs)]
        for step, location in enumerate(positions):
            x, y = self.at[location]
            car = add(root, "circle", cx=x, cy=y, r=self.radius + 7, class_="car by-step", display="none")
            car.set("data-at", str(step))

    # --- Legend ---------------------------------------------------------------------------------------------------

    def _legend_rows(self) -> list[list[tuple[str, str]]]:
        labels = "" if self.is_roomy else f"; written where at most {percent(_SURE)}"
        items = [
            ("segment", f"path, with probabilities{labels}"),
            ("option", "not taken, as wide as likely"),
            ("spare", "spare tire"),
            ("used", "spare used"),
            ("flat", "tire went flat here"),
            ("car", "the car, in the end"),
        ]
        items += [("sign", LEFT_WORDS[2:])] if self._leaves_policy else []
        rows: list[list[tuple[str, str]]] = [[]]
        for item in items:
            if sum(map(_legend_width, [*rows[-1], item])) > self.width - 2 * 14:
                rows.append([])
            rows[-1].append(item)
        return rows

    def _draw_legend(self, group: ElementTree.Element, y: float, items: list[tuple[str, str]]) -> None:
        lefts = itertools.accumulate(map(_legend_width, items), initial=14.0)
        for x, (kind, words) in zip(lefts, items, strict=False):
            if kind in ("segment", "option"):
                width = 5 if kind == "segment" else 3
                add(group, "line", x1=x, y1=y, x2=x + 18, y2=y, class_=kind, stroke_width=width)
            elif kind == "spare":
                _draw_spare(group, x + 9, y, 7)
            elif kind == "flat":
                _draw_flat(group, x + 9, y, 7)
            elif kind == "sign":
                draw_sign(group, x + 9, y, 6, words)
            else:
                add(group, "circle", cx=x + 9, cy=y, r=6, class_=kind)
            add_text(group, x + 25, y + 4, words, "small")


def _legend_width(item: tuple[str, str]) -> float:
    return 25 + 6.0 * len(item[1]) + 16


def _draw_spare(parent: ElementTree.Element, x: float, y: float, radius: float) -> None:
    add(parent, "circle", cx=x, cy=y, r=0.75 * radius, class_="spare", stroke_width=0.5 * radius)


def _draw_flat(parent: ElementTree.Element, x: float, y: float, radius: float) -> None:
    add(parent, "circle", cx=x, cy=y, r=radius, class_="flat")
    arm = 0.45 * radius
    add(parent, "path", d=f"M{x - arm:.1f} {y - arm:.1f}l{2 * arm:.1f} {2 * arm:.1f}m0 {-2 * arm:.1f}"
        f"l{-2 * arm:.1f} {2 * arm:.1f}", class_="cross", stroke_width=max(1.2, 0.25 * radius))  # fmt: skip
