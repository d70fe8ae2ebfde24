from __future__ import annotations

import pytest

from tests.ppddl import fuzz


def test_good_inputs_are_good() -> None:
    assert {fuzz.attempt(text) for text in fuzz.seeds()} == {"success"}


def test_inputs_depend_on_the_seed_alone() -> None:
    assert [fuzz.make_input(1, index) for index in range(50)] == [fuzz.make_input(1, index) for index in range(50)]
    assert fuzz.make_input(1, 0) != fuzz.make_input(2, 0)


def test_three_thousand_inputs() -> None:
    outcomes = fuzz.fuzz(3000, seed=1)
    assert sum(outcomes.values()) == 3000
    assert set(outcomes) == {"success", "forgiven", "ParseError", "SemanticError", "UnsupportedFeatureError"}
    assert outcomes["success"] > 100
    assert outcomes["forgiven"] > 30


def test_a_crash_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def crash(_: str) -> str:
        raise IndexError("by intent")

    monkeypatch.setattr(fuzz, "attempt", crash)
    assert fuzz.main(["--count", "5", "--seed", "3"]) == 1
    assert "IndexError: by intent" in capsys.readouterr().err
