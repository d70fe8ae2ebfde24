"""Views: states whose applicable actions have the same colours, each as often: no policy tells them apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from asnets.grounding import GroundTask
from asnets.grounding.task import Ints
from asnets.network.colours import Colouring, number_lists, number_rows
from asnets.training.diagnosis.examined import ExaminedStates
from asnets.training.diagnosis.result import Conflict
from asnets.training.loss import Floats, Loss

_LEAST = 1e-9
"""Bounds on the loss of a state that differ by less are equal: they are sums of rounded logarithms."""


class Views:
    """What follows from the colours of the actions of states.

    An entry is an applicable action of a state. A class is the entries of one colour in a view; it is mixed if the
    labels of its entries differ.

    Attributes:
        excess: For each state of all problems, how much more it loses at least than its labels allow.
        forced: How many of the states that lose more are in views without a class of which all entries are best.
    """

    def __init__(self, examined: Sequence[ExaminedStates], colouring: Colouring, loss: Loss) -> None:
        """Bounds the loss of each view; `Loss.shared_bounds` must be there."""
        assert loss.shared_bounds is not None
        self._examined = examined
        self._begins = np.cumsum([0, *(len(each) for each in examined)])
        parts = [np.nonzero(each.enabled) for each in examined]
        state = np.concatenate([rows + begin for (rows, _), begin in zip(parts, self._begins, strict=False)])
        colour = np.concatenate([colours[at] for at, colours in zip(parts, colouring.actions, strict=True)])
        label = np.concatenate([each.labels[at] for at, each in zip(parts, examined, strict=True)])
        order = np.lexsort((colour, state))
        self._view = number_lists(state[order], colour[order], int(self._begins[-1]))  # Of each state.

        classes = number_rows([self._view[state], colour])
        order = np.argsort(classes, kind="stable")
        classes, self._state, self._label = classes[order], state[order], label[order]
        self._action = np.concatenate([actions for _, actions in parts])[order]
        self._class_begins = np.flatnonzero(np.diff(classes, prepend=-1))
        lowest = np.minimum.reduceat(self._label, self._class_begins)
        self._is_mixed = lowest != np.maximum.reduceat(self._label, self._class_begins)

        view_of_class = self._view[self._state[self._class_begins]]
        begins = np.flatnonzero(np.diff(view_of_class, prepend=-1))
        views = view_of_class[begins]
        states = np.bincount(self._view)[views]
        bounds = loss.shared_bounds(self._label, classes, begins, states)
        floors = np.concatenate([loss.lower_bounds(each.labels, each.enabled) for each in examined])
        excess = (bounds - np.bincount(self._view, weights=floors)[views]) / states
        excess[(excess < _LEAST) | ~np.logical_or.reduceat(self._is_mixed, begins)] = 0.0
        by_view = np.zeros(int(self._view.max()) + 1)
        by_view[views] = excess
        self.excess: Floats = by_view[self._view]
        has_choice = np.logical_or.reduceat(lowest.astype(np.bool_), begins)
        self.forced = int(states[(excess > 0) & ~has_choice].sum())

    def conflicts(self) -> list[Conflict]:
        """One for each schema, and for whether actions are in one state; those that cost most first."""
        # A view counts for one of its classes: if there is one, for one that is mixed within a state.
        chosen: dict[int, tuple[bool, int, int]] = {}
        for number in np.flatnonzero(self._is_mixed):
            state = self._state[self._class_begins[number]]
            view = int(self._view[state])
            if self.excess[state] > 0 and not (view in chosen and chosen[view][0]):
                pair = self._pair(int(number))
                if view not in chosen or pair[0]:
                    chosen[view] = pair
        kinds: dict[tuple[str, bool], list[tuple[int, int, int, int]]] = {}
        for view, (is_one_state, best, other) in chosen.items():
            task = self._task(best)
            schema = task.schema_of(int(self._action[best])).name
            kinds.setdefault((schema, is_one_state), []).append((task.num_actions, best, other, view))
        conflicts = [
            self._conflict(schema, is_one_state, min(pairs), [view for *_, view in pairs])
            for (schema, is_one_state), pairs in kinds.items()
        ]
        return sorted(conflicts, key=lambda conflict: -conflict.loss)

    def states_in_question(self, most: int) -> list[ExaminedStates]:
        """States that lose more than their labels allow: whole views, the dearest first, about so many states."""
        states = np.bincount(self._view)
        cost = np.bincount(self._view, weights=self.excess)
        wanted: list[int] = []
        total = 0
        for view in np.argsort(-cost, kind="stable"):
            if cost[view] > 0 and (not wanted or total + states[view] <= most):
                wanted.append(int(view))
                total += int(states[view])
        chosen = np.split(np.isin(self._view, wanted), self._begins[1:-1])
        return [each.at(np.flatnonzero(part)) for each, part in zip(self._examined, chosen, strict=True) if part.any()]

    def _pair(self, number: int) -> tuple[bool, int, int]:
        """Whether a mixed class is mixed within a state; an entry that is best and one that is not, of it if so."""
        end = np.append(self._class_begins, len(self._state))[number + 1]
        entries = np.arange(self._class_begins[number], end)
        is_best = self._label[entries] == self._label[entries].max()
        best, other = entries[is_best], entries[~is_best]
        both = np.intersect1d(self._state[best], self._state[other])
        if len(both):
            best, other = (part[self._state[part] == both[0]] for part in (best, other))
        return len(both) > 0, int(best[0]), int(other[0])

    def _conflict(self, schema: str, is_one_state: bool, pair: tuple[int, int, int, int], views: list[int]) -> Conflict:
        _, best, other, _ = pair
        states = np.isin(self._view, views)
        return Conflict(
            schema,
            self._task(best),
            self._propositions(best),
            int(self._action[best]),
            self._task(other),
            self._propositions(other),
            int(self._action[other]),
            is_one_state,
            int(np.count_nonzero(states)),
            float(self.excess[states].sum() / len(self.excess)),
        )

    def _problem(self, entry: int) -> int:
        return int(np.searchsorted(self._begins, self._state[entry], side="right")) - 1

    def _task(self, entry: int) -> GroundTask:
        return self._examined[self._problem(entry)].task

    def _propositions(self, entry: int) -> Ints:
        problem = self._problem(entry)
        return self._examined[problem].propositions(int(self._state[entry] - self._begins[problem]))
