"""Pictures of an environment: text, SVG, and pixels made of the SVG."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from asnets.errors import ConfigError
from asnets.evaluation.rollouts import ENDING_WORDS, Ending, EpisodeRecord, Trace
from asnets.evaluation.runs import Run, RunStep
from asnets.extras import require
from asnets.grounding import GroundTask
from asnets.pictures import FramePainter
from asnets.policies.protocol import Distribution
from asnets.simulator import Simulator

RENDER_MODES = ("ansi", "rgb_array", "svg")
_MAX_SIDE = 4096
_FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf")

PastSteps = Sequence[tuple[npt.NDArray[np.int32], int]]
"""The states of an episode before the current one, and the actions that were taken in them."""


class OutsidePolicy:
    """Stands for whoever gives an environment its actions: nobody knows how."""

    name = "actions from outside"
    sampled = False

    def __init__(self, task: GroundTask) -> None:
        self.task = task

    def distributions(self, states: Sequence[npt.NDArray[np.int32]]) -> Sequence[Distribution]:
        raise ConfigError("the actions came from outside, so what would be done in other states is not known")


class Painter:
    """Draws the states of a task."""

    def __init__(self, task: GroundTask) -> None:
        self.task = task
        self._policy = OutsidePolicy(task)
        self._frames = FramePainter(task)

    def render(self, mode: str, simulator: Simulator, history: PastSteps, ending: Ending | None) -> Any:
        """The current state of a simulator in one of `RENDER_MODES`."""
        run = self.run(simulator, history, ending)
        if mode == "ansi":
            return self._text(run, self._headline(run, simulator.steps, ending))
        svg = self._frames.svg(run, self._headline(run, simulator.steps, ending))
        return svg if mode == "svg" else pixels(svg)

    def run(self, simulator: Simulator, history: PastSteps, ending: Ending | None) -> Run:
        """The episode so far as a run; what was how probable is not known."""
        states = (*(state for state, _ in history), simulator.state.propositions)
        record = EpisodeRecord(
            simulator.seed, simulator.episode, len(history), simulator.cost, "stopped" if ending is None else ending
        )
        trace = Trace.of(record, states, [action for _, action in history])
        return Run(tuple(RunStep.of(self.task, step, {}) for step in trace.steps), trace, self._policy)

    def _headline(self, run: Run, steps: int, ending: Ending | None) -> str:
        words = f"{self.task.problem}: {f'step {steps}' if steps else 'start'}"
        words += f", {run.steps[-1].action}" if run.steps else ""
        return words if ending is None else f"{words}, {ENDING_WORDS[ending]}"

    def _text(self, run: Run, headline: str) -> str:
        lines = [headline]
        if run.steps:
            changes = [*(f"+{name}" for name in run.steps[-1].added), *(f"-{name}" for name in run.steps[-1].deleted)]
            lines.append(f"  changed: {' '.join(changes) or 'nothing'}")
        true = " ".join(self.task.atom_name(int(atom)) for atom in run.trace.states[-1])
        return "\n".join([*lines, f"  true: {true or 'nothing'}", f"  cost so far: {run.record.cost:g}"]) + "\n"


def check_render_mode(mode: str | None) -> None:
    """Checks that there is such a mode, and what it needs.

    Raises:
        ConfigError: If there is none.
        MissingPackageError: If a package is not installed.
    """
    if mode is not None and not (isinstance(mode, str) and mode in RENDER_MODES):
        raise ConfigError(f"render_mode must be None or one of {', '.join(RENDER_MODES)}, not {mode!r}")
    if mode == "rgb_array":
        for package in ("resvg_py", "PIL", "matplotlib"):
            require(package, extra="gym", purpose="render_mode 'rgb_array'")


def pixels(svg: str) -> npt.NDArray[np.uint8]:
    """An SVG document as height × width × 3 numbers; large ones are made smaller."""
    import matplotlib
    import resvg_py
    from PIL import Image

    # The fonts of matplotlib, so that the same state has the same pixels on all machines.
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    png = resvg_py.svg_to_bytes(
        svg_string=svg,
        background="white",
        skip_system_fonts=True,
        font_files=[str(fonts / name) for name in _FONTS],
        sans_serif_family="DejaVu Sans",
        monospace_family="DejaVu Sans Mono",
        font_family="DejaVu Sans",
    )
    with Image.open(io.BytesIO(png)) as image:
        image.thumbnail((_MAX_SIDE, _MAX_SIDE))
        return np.asarray(image.convert("RGB"), np.uint8)
