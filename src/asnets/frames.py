"""Figures as tables of pandas, which is installed only for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asnets.extras import require

if TYPE_CHECKING:
    import pandas as pd


def frame(columns: Mapping[str, Sequence[Any]], *, what: str) -> pd.DataFrame:
    """A table.

    Args:
        columns: Values by name, all of one length.
        what: What it is a table of, for the message where pandas is missing.

    Raises:
        MissingPackageError: If pandas is not installed.
    """
    require("pandas", extra="pandas", purpose=f"a table of {what}")
    import pandas as pd

    return pd.DataFrame(dict(columns))
