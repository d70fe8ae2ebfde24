"""Charts: running times and learning curves. Matplotlib is loaded only when one is drawn."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from asnets.experiments.report.document import Chart
from asnets.experiments.report.networks import is_in_paper, networks
from asnets.experiments.report.tables import of_size
from asnets.experiments.results import ExperimentResults, SystemInfo
from asnets.pictures.svg import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

# Okabe and Ito's colours, which people with any kind of colour blindness tell apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")
_DASHES: tuple[Any, ...] = ("solid", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 1.5, 1, 1.5)))
_MARKERS = ("o", "s", "^", "D")
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "asnets",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": "#333333",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "text.parse_math": False,
    "legend.fontsize": 8.5,
}
Points = list[tuple[int, float, bool]]
"""Size, seconds, and whether every run reached the goal."""


def training_seconds(experiment: ExperimentResults, system: SystemInfo) -> float | None:
    """Mean CPU seconds of an ASNet's trainings; zero for all others; None where none has given a model yet."""
    if system.kind != "asnet":
        return 0.0
    trained = [row.result.metrics.get("cpu") for row in experiment.trainings[system.name].values() if row is not None]
    seconds = [each for each in trained if each is not None]
    return sum(seconds) / len(seconds) if seconds else None


def time_points(experiment: ExperimentResults, system: SystemInfo, *, with_training: bool) -> Points:
    """Time by size, averaged over the problems of a size, up to the first size at which no run reached the goal."""
    training = training_seconds(experiment, system)
    points: Points = []
    if training is None:
        return points
    for size in experiment.sizes():
        scores = of_size(experiment, system, size)
        solved = [score.seconds for score in scores if score.seconds is not None]
        if not solved:
            if any(score.rows or score.skipped for score in scores):
                break
            continue
        is_full = all(score.goals == score.runs > 0 for score in scores)
        points.append((size, sum(solved) / len(solved) + (training if with_training else 0.0), is_full))
    return points


def running_times(experiments: Sequence[ExperimentResults]) -> Chart:
    """A panel for each experiment, above with the time of training, below without."""
    styles = _styles([system for experiment in experiments for system in experiment.systems])
    notes = max(len(_training_note(experiment).splitlines()) for experiment in experiments)
    with _drawing(max(8.6, 3.9 * len(experiments)), 7.4) as figure:
        panels = figure.subplots(2, len(experiments), squeeze=False, sharex="col")
        for column, experiment in enumerate(experiments):
            for row, with_training in enumerate((True, False)):
                axes = panels[row][column]
                for system in experiment.systems:
                    points = time_points(experiment, system, with_training=with_training)
                    if system.kind != "strategy" and points:
                        _line_of_points(axes, points, styles[system.title])
                _scale_axes(axes, experiment.sizes())
            panels[0][column].set_title(clean(experiment.title), pad=12 + 11 * notes)
            note = _training_note(experiment)
            text = panels[0][column].text(
                0, 1.02, note, transform=panels[0][column].transAxes, fontsize=7.5, color="#555555"
            )
            text.set_in_layout(False)  # It may be wider than its panel, which keeps its width.
            panels[1][column].set_xlabel("size")
        panels[0][0].set_ylabel("CPU seconds: training (TR) + solving")
        panels[1][0].set_ylabel("CPU seconds: solving alone")
        _legend(figure, {name: style for name, style in styles.items() if _is_drawn(experiments, name)})
        return _finished(
            figure,
            "running-times",
            "Time to solve a problem by size, on a logarithmic scale; above with the time of training (TR) of an "
            f"ASNet{', as in the paper' if any(map(is_in_paper, experiments)) else ''}, below without. TR is the mean "
            "over the seeds of training, in the order of the legend. Several problems of a size are averaged. A "
            "hollow mark: not all runs reached the goal. A line ends where none does, or at the sizes that have been "
            "run.",
        )


def learning_curves(experiment: ExperimentResults) -> Chart | None:
    """Coverage and loss by epoch and by time, a line for each training of an experiment; None if there is none."""
    curves = [
        (system, row.result.metrics["curve"])
        for system in networks(experiment)
        for row in experiment.trainings[system.name].values()
        if row is not None and row.result.metrics.get("curve")
    ]
    if not curves:
        return None
    from matplotlib.ticker import MaxNLocator

    # Lines that lie on each other are seen: the later ones are thinner and dashed.
    looks = {
        title: style
        | {"marker": "", "linestyle": _DASHES[index % len(_DASHES)], "linewidth": max(1.2, 3.2 - 0.7 * index)}
        for index, (title, style) in enumerate(_styles([system for system, _ in curves], by_group=False).items())
    }
    with _drawing(8.6, 5.2) as figure:
        panels = figure.subplots(2, 2, sharex="col", sharey="row")
        has_validation = False
        for system, curve in curves:
            epochs = list(range(1, len(curve) + 1))
            elapsed = [each["elapsed"] for each in curve]
            style = looks[system.title] | ({"marker": "o"} if len(curve) == 1 else {})
            for position, quantity in enumerate(("coverage", "loss")):
                values = [float("nan") if each[quantity] is None else each[quantity] for each in curve]
                panels[position][0].plot(epochs, values, **style)
                panels[position][1].plot(elapsed, values, **style)
            validated = [i for i, each in enumerate(curve) if each.get("validation") is not None]
            if validated:
                values = [curve[i]["validation"] for i in validated]
                dotted = style | {"linestyle": "none", "marker": "."}
                panels[0][0].plot([epochs[i] for i in validated], values, **dotted)
                panels[0][1].plot([elapsed[i] for i in validated], values, **dotted)
                has_validation = True
        panels[0][0].set_ylim(-0.03, 1.03)
        panels[0][0].set_ylabel("coverage on training problems")
        panels[1][0].set_ylabel("loss")
        panels[1][0].set_xlabel("epoch")
        panels[1][1].set_xlabel("wall seconds of training")
        panels[1][0].xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.suptitle(clean(experiment.title), x=0.01, ha="left", fontsize=10, fontweight="bold")
        _legend(figure, looks)
        return _finished(
            figure,
            f"learning-{experiment.file_name}",
            f"{experiment.title}: coverage on the training problems and loss, a line for each seed."
            f"{' Dots: coverage on the validation problems.' if has_validation else ''}",
        )


def _line_of_points(axes: Axes, points: Points, style: dict[str, Any]) -> None:
    sizes, seconds = [size for size, _, _ in points], [value for _, value, _ in points]
    axes.plot(sizes, seconds, **style)
    partial = [(size, value) for size, value, is_full in points if not is_full]
    if partial:
        hollow = style | {"linestyle": "none", "markerfacecolor": "white", "zorder": 3}
        axes.plot([size for size, _ in partial], [value for _, value in partial], **hollow)


def _training_note(experiment: ExperimentResults) -> str:
    """Seconds of training, a line for each group of networks, in the order of the legend."""
    groups: dict[str, list[str]] = {}
    for system in networks(experiment):
        seconds = training_seconds(experiment, system)
        if seconds is not None:
            groups.setdefault(clean(system.title).partition(", ")[0], []).append(f"{seconds:.0f}")
    return "\n".join(f"TR of {group}: {', '.join(numbers)} s" for group, numbers in groups.items())


def _styles(systems: Sequence[SystemInfo], *, by_group: bool = True) -> dict[str, dict[str, Any]]:
    """A look for each title: a colour for each group of systems, dashes and marks within it."""
    groups: dict[str, list[str]] = {}
    for system in systems:
        if system.kind == "strategy":
            continue
        group = system.title.partition(", ")[0] if by_group else system.title
        titles = groups.setdefault(group, [])
        if system.title not in titles:
            titles.append(system.title)
    return {
        title: {
            "color": _COLOURS[position % len(_COLOURS)],
            "linestyle": _DASHES[index % len(_DASHES)],
            "marker": _MARKERS[index % len(_MARKERS)],
        }
        for position, titles in enumerate(groups.values())
        for index, title in enumerate(titles)
    }


def _is_drawn(experiments: Sequence[ExperimentResults], title: str) -> bool:
    return any(
        time_points(experiment, system, with_training=True)
        for experiment in experiments
        for system in experiment.systems
        if system.title == title
    )


def _legend(figure: Drawing, styles: dict[str, dict[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    if styles:
        handles = [Line2D([], [], label=clean(title), **style) for title, style in styles.items()]
        figure.legend(
            handles=handles, loc="outside lower center", ncols=2 if figure.get_figwidth() < 10 else 3, handlelength=3.2
        )


def _scale_axes(axes: Axes, sizes: Sequence[int]) -> None:
    """Whole sizes; whole powers of ten, of which at least two are seen."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    axes.set_yscale("log")
    if axes.lines:
        low, high = axes.dataLim.intervaly
        axes.set_ylim(10 ** math.floor(math.log10(low) - 0.05), 10 ** math.ceil(math.log10(high) + 0.05))
    else:
        axes.text(0.5, 0.5, "nothing solved so far", transform=axes.transAxes, ha="center", color="#888888")
    axes.yaxis.set_major_locator(LogLocator(numticks=8))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    space = max(0.5, 0.04 * (sizes[-1] - sizes[0]))
    axes.set_xlim(sizes[0] - space, sizes[-1] + space)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))


@contextmanager
def _drawing(width: float, height: float) -> Iterator[Drawing]:
    """A figure apart from pyplot and its state."""
    import matplotlib
    from matplotlib.figure import Figure as Drawing

    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # The SVG has the text.
        yield Drawing(figsize=(width, height), layout="constrained", facecolor="white")


def _finished(figure: Drawing, name: str, caption: str) -> Chart:
    svg, png = io.StringIO(), io.BytesIO()
    figure.draw_without_rendering()  # Finds the layout, once for both files.
    figure.set_layout_engine("none")
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    figure.savefig(png, format="png", dpi=150, metadata={"Software": None})
    return Chart(name, caption, _inlinable(svg.getvalue(), name), png.getvalue())


def _inlinable(svg: str, name: str) -> str:
    """The drawing alone, with ids that no other chart of a page has, and fonts that every system has."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    return svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
