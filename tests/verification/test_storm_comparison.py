"""A part of `python -m tests.storm_comparison`, and that it sees what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tests.storm_comparison as comparison
from asnets.verification import ExplicitModel, Interval, solve_chain
from asnets.verification.chain_solution import ChainSolution
from tests.oracles.rational_models import fraction_of
from tests.oracles.storm import Storm, why_missing
from tests.verification.random_chains import random_chain

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(why_missing() is not None, reason=str(why_missing())),
]


@pytest.mark.slow
def test_chains_and_mdps() -> None:
    result = comparison.compare(chains=150, mdps=25, seed=1)
    assert result.failures == []
    assert (result.chains, result.mdps) == (150, 25)
    assert result.numbers > 8 * 150
    assert "penalty" in result.planners_off


@pytest.fixture
def comparer(tmp_path: Path) -> Iterator[comparison.Comparer]:
    with Storm() as storm:
        yield comparison.Comparer(storm, tmp_path / "work", tmp_path / "keep")


@pytest.mark.parametrize("number", ["goal_probability", "cost_to_end", "variance", "loop_probability"])
def test_a_wrong_number_is_seen(
    comparer: comparison.Comparer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: str
) -> None:
    def slightly_wrong(model: ExplicitModel, *options: float) -> ChainSolution:
        solution = solve_chain(model, *options)
        lower, upper = getattr(solution, number)
        shift = 1e-8 * max(1.0, upper)
        wrong: Any = {number: Interval(lower + shift, upper + shift)}
        return replace(solution, **wrong)

    monkeypatch.setattr(comparison, "solve_chain", slightly_wrong)
    rng = np.random.default_rng(0)
    for _ in range(5):
        comparer.chain(random_chain(rng))
    assert any("does not contain" in failure for failure in comparer.result.failures)
    assert list((tmp_path / "keep").iterdir())


def test_fractions_are_found_again() -> None:
    for numerator, denominator in ((1, 3), (2, 7), (999, 65536), (11, 4)):
        assert fraction_of(numerator / denominator).as_integer_ratio() == (numerator, denominator)
    with pytest.raises(ValueError, match="near no fraction"):
        fraction_of(2**0.5)
