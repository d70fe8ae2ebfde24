"""When work has to end: one object that is handed down from a command to whatever takes the time."""

from __future__ import annotations

import math
import time

from asnets import _native
from asnets.errors import ConfigError, LimitError


class Deadline:
    """A moment by which work has to end, or any moment at which it is cancelled. Threads may share one.

    Attributes:
        seconds: How long after its beginning it lies; infinite for none.
        native: The same for the compiled core, which looks at it every few milliseconds; None for none.

    Example:
        >>> deadline = asnets.Deadline(60)
        >>> deadline.has_passed()
        False
        >>> deadline.cancel()  # From another thread, for example.
        >>> asnets.solve(asnets.generate("triangle-tireworld", 3), deadline=deadline).status
        'interrupted'
    """

    def __init__(self, seconds: float | None = None, within: Deadline | None = None, used: float = 0.0) -> None:
        """A deadline so many seconds from now; infinite for one that can only be cancelled, None for none at all.

        Args:
            seconds: How many.
            within: Another deadline, with which this one passes at the latest.
            used: How many of the seconds have passed already.

        Raises:
            ConfigError: If the number is not positive.
        """
        if seconds is not None and not seconds > 0:
            raise ConfigError(f"the time limit must be positive, not {seconds}")
        self.seconds = math.inf if seconds is None else float(seconds)
        self._begin = time.perf_counter() - used
        self.native = None
        if seconds is not None or (within is not None and within.native is not None):
            self.native = _native.Deadline(max(1e-9, self.seconds - used), None if within is None else within.native)
        self._within = within
        self._whole: Deadline | None = None  # Of which it is a part.

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._begin

    @property
    def left(self) -> float:
        """Seconds until the deadline; 0 once it has passed or was cancelled."""
        if self.has_passed():
            return 0.0
        left = max(0.0, self.seconds - self.elapsed)
        return left if self._within is None else min(left, self._within.left)

    @property
    def limit(self) -> float | None:
        """The seconds left as a limit of what is to come, which has to be positive; None for no limit."""
        return None if math.isinf(self.left) else max(1e-9, self.left)

    def part(self, share: float) -> Deadline:
        """A deadline after this share of the time that is left; it passes at the latest with this one."""
        limit = self.limit
        part = Deadline(None if limit is None else max(1e-9, limit * share), within=self)
        part._whole = self._whole or self
        return part

    @property
    def _limit_words(self) -> str:
        if self._whole is None:
            return f"the time limit of {self.seconds:.4g} s"
        return f"its share of the time limit of {self._whole.seconds:.4g} s"

    @property
    def words(self) -> str:
        """What it is called once it has passed."""
        given = [self] if self._whole is None else [self, self._whole]
        is_cancelled = any(each.has_passed() and each.elapsed < each.seconds for each in given)
        return "a deadline that was cancelled" if is_cancelled else self._limit_words

    def has_passed(self) -> bool:
        return self.native is not None and self.native.has_passed()

    def cancel(self) -> None:
        """Ends the work now, from any thread."""
        if self.native is None:
            raise ValueError("there is no deadline to cancel; Deadline(math.inf) makes one")
        self.native.cancel()

    def check(self, doing: str) -> None:
        """Raises an error that says what the time went to.

        Raises:
            LimitError: If the deadline has passed.
        """
        if self.has_passed():
            raise LimitError(f"{self._limit_words} was reached while {doing}")


NO_DEADLINE = Deadline()
