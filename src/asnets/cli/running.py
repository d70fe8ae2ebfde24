"""What all commands share: options, error messages, loading a task, limits."""

from __future__ import annotations

import functools
import json
import logging
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Annotated, Any, ParamSpec, TypeVar

import typer

from asnets.cli.completion import offer_costs, offer_models, offer_objectives
from asnets.cli.process import ExitCode, complain, interruption, output_failure
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import AsnetsError, ConfigError, Diagnostic, InputError, LimitError
from asnets.grounding import Limits
from asnets.loading import LoadedTask, load_stages
from asnets.planning import OBJECTIVES
from asnets.ppddl.loading import holds_both, split_name

_LOGGER = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

DomainArgument = Annotated[
    str, typer.Argument(metavar="DOMAIN", help="Domain file, or a file that holds both domain and problem.")
]
ProblemArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="PROBLEM", help="Problem file, or FILE:NAME if it holds several. Left out if DOMAIN holds both."
    ),
]
CostsOption = Annotated[
    str,
    typer.Option(
        "--costs",
        metavar="unit|metric",
        help="Cost of an action: 1, or from the problem's :metric.",
        autocompletion=offer_costs,
    ),
]
ModelCostsOption = Annotated[
    str | None,
    typer.Option(
        "--costs",
        metavar="unit|metric",
        help="Cost of an action: 1, or from the problem's :metric; that of the model, else unit, if left out.",
        autocompletion=offer_costs,
    ),
]
MaxActionsOption = Annotated[
    int, typer.Option("--max-actions", min=1, help="Stop with an error at this many ground actions.")
]
LenientOption = Annotated[
    bool,
    typer.Option("--lenient", help="Forgive what the competition's simulator forgives; each mistake gives a warning."),
]
ObjectiveOption = Annotated[
    str,
    typer.Option(
        "--objective",
        metavar="|".join(OBJECTIVES),
        help="One of: " + "; ".join(f"{name} ({info.description})" for name, info in OBJECTIVES.items()) + ".",
        autocompletion=offer_objectives,
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of all random choices; recorded in the output.")]
ThreadsOption = Annotated[
    int, typer.Option("--threads", min=1, max=256, help="How many to use. Results are the same for any number.")
]
MemoryLimitOption = Annotated[
    str, typer.Option("--memory-limit", metavar="SIZE", help="Of the process, e.g. 500MB or 10GiB.")
]
ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Model file, as written by `asnets train`, or a name from `asnets models`.",
        autocompletion=offer_models,
    ),
]
ProblemsDomainArgument = Annotated[
    str, typer.Argument(metavar="DOMAIN", help="Domain file, or the first of files that hold domain and problem.")
]
ProblemsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PROBLEM",
        help="Problem files, or FILE:NAME where one holds several. Where DOMAIN and all of these hold both a domain "
        "and a problem, DOMAIN is a problem too, and each is read with its own domain.",
        show_default=False,
    ),
]
TimeLimitOption = Annotated[
    float | None,
    typer.Option("--time-limit", metavar="SECONDS", help="Of the whole command, from reading files on; exit code 4."),
]
DetectDeadEndsOption = Annotated[
    bool,
    typer.Option(
        "--dead-end-detection/--no-dead-end-detection",
        help="Whether runs end as dead ends where the goal cannot be reached even in the relaxation.",
    ),
]
SampledOption = Annotated[
    bool, typer.Option("--sampled", help="Draw actions by their probabilities, instead of the likeliest one.")
]
DepthOption = Annotated[
    str | None,
    typer.Option(
        "--depth",
        metavar="N|auto",
        help="Layers of a recurrent network, instead of what the model was trained with; auto: in each state until the "
        "choice has settled.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def reporting(command: Callable[P, R]) -> Callable[P, R]:
    """Turns errors of a command into a message and an exit code."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        show_warning.cache_clear()
        try:
            result = command(*args, **kwargs)
            sys.stdout.flush()
            return result
        except AsnetsError as error:
            message, code = _message(error), _exit_code(error)
        except KeyboardInterrupt as error:
            message, code = interruption(error)
        except MemoryError:
            message, code = "error: out of memory", ExitCode.LIMIT
        except OSError as error:
            # Files are looked after where they are read and written, so that this is mostly the output.
            message, code = output_failure(error)
            if error.filename:
                message = f"error: {error.filename}: {error.strerror or error}"
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except Exception as error:
            if os.environ.get("ASNETS_TRACEBACK"):
                raise
            message = (
                f"internal error: {type(error).__name__}: {error}\n"
                "This is a bug. Set ASNETS_TRACEBACK=1 to see where it happened, and report it."
            )
            code = ExitCode.INTERNAL
        with suppress(OSError):
            sys.stdout.flush()  # What there is comes before what went wrong.
        complain(message)
        raise typer.Exit(code)

    return wrapper


def _exit_code(error: AsnetsError) -> ExitCode:
    if isinstance(error, ConfigError):
        return ExitCode.USAGE
    return ExitCode.LIMIT if isinstance(error, LimitError) else ExitCode.INPUT


def _message(error: AsnetsError) -> str:
    if not isinstance(error, InputError):
        return f"error: {error}"
    count = len(error.diagnostics)
    return f"{error}\n{count} error{'' if count == 1 else 's'}"


@functools.cache
def show_warning(warning: Diagnostic) -> None:
    """Logs a warning, once however many problems have it in common."""
    _LOGGER.warning("%s", warning, extra={"names_kind": True})


def load(
    domain: str | None,
    problem: str | None,
    costs: str,
    max_actions: int,
    lenient: bool = False,
    deadline: Deadline = NO_DEADLINE,
) -> LoadedTask:
    """Loads the task of a command; its warnings are shown. One of the two may be left out if the other holds both."""
    only = problem if domain is None else domain
    assert only is not None
    loaded = load_stages(
        only,
        None if domain is None else problem,
        costs=costs,
        limits=Limits(max_actions=max_actions),
        lenient=lenient,
        on_warning=show_warning,
        deadline=deadline,
    )
    task, seconds = loaded.task, sum(loaded.seconds.values())
    _LOGGER.debug(
        "%s: %d propositions, %d actions, %.2f s", task.problem, task.num_propositions, task.num_actions, seconds
    )
    return loaded


def with_own_domains(domain: str, problems: Sequence[str] | None) -> tuple[str | None, list[str]]:
    """The domain of all problems, or None where each file holds its own, and the problems."""
    given = list(problems or ())
    if holds_both(domain) and all(map(holds_both, given)):
        is_named_again = any(split_name(problem)[0] == domain for problem in given)
        return None, given if is_named_again else [domain, *given]
    if not given:
        raise typer.BadParameter("give problems, or files that hold domain and problem", param_hint="PROBLEM")
    return domain, given


class _OutOfTime(KeyboardInterrupt):
    """Raised where the main thread is once a hard limit has passed; whatever stops for Ctrl-C stops for it."""


_GRACE = 1.0  # Seconds beyond a deadline for the work to end by itself, with what it has.
_LONGEST_TIMER = 1e8


@contextmanager
def bounded(deadline: Deadline, doing: str) -> Iterator[None]:
    """Ends the work within a second after the deadline wherever it is, also where it does not look at the deadline.

    It takes the real-time timer of the process and can do so in the main thread alone; elsewhere it does nothing.
    Where one stands within another, the earlier one holds.

    Args:
        deadline: When the work has to end.
        doing: What the work is, for the message: "the time limit of 5 s was reached while DOING".

    Raises:
        LimitError: If the work had to be ended.
    """
    seconds = min(deadline.left + _GRACE, _LONGEST_TIMER)
    begin = time.perf_counter()
    is_main = threading.current_thread() is threading.main_thread()
    outer, repeat = signal.getitimer(signal.ITIMER_REAL) if is_main else (0.0, 0.0)
    if not is_main or deadline.limit is None or 0 < outer <= seconds:
        yield
        return
    over = False
    out_of_time = _OutOfTime()

    def stop(number: int, frame: FrameType | None) -> None:
        if not over:
            raise out_of_time

    handler = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, _GRACE)  # Repeated, since what is raised in a finaliser is lost.
    try:
        try:
            yield
        finally:
            over = True
    except _OutOfTime as error:
        if error is not out_of_time:
            raise
        raise LimitError(f"the time limit of {deadline.seconds:g} s was reached while {doing}") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(1e-3, outer - (time.perf_counter() - begin)), repeat)


def print_json(value: Any) -> None:
    """Prints a value as JSON, in ASCII."""
    print(json.dumps(value, indent=2, allow_nan=False))


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_MAX_SIZE = 2**62  # The compiled core takes no larger ones.


def parse_size(text: str) -> int:
    """A size such as 500MB or 10GiB, in bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?i?)b?", text.strip().lower())
    require(match is not None and match[2] in _UNITS, f"cannot read {text!r} as a size; expected e.g. 500MB or 10GiB")
    assert match is not None
    return int(min(float(match[1]) * _UNITS[match[2]], _MAX_SIZE))


def require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigError(message)
