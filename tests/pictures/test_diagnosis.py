"""Pictures of diagnoses: the actions that look the same, and what the teacher wants of them."""

from __future__ import annotations

import dataclasses

import pytest

import asnets
from asnets.pictures import diagnosis_page, pictures_of_conflict

pytestmark = pytest.mark.native


def test_two_actions_and_a_page() -> None:
    diagnosis = asnets.diagnose("default", None, [asnets.generate("monster", 3)], features=())
    (conflict,) = diagnosis.conflicts
    best, other = pictures_of_conflict(conflict, 2)
    assert best.run.steps[0].action == conflict.best_name
    assert other.run.steps[0].action == conflict.other_name
    assert f"{conflict.words(2)}." in best.html
    assert "Best" in best.html
    assert "Not best" in other.html
    assert "Orange: what is not best." in other.html
    page = diagnosis_page("What <is> seen", dataclasses.replace(diagnosis, limits=("time",)))
    assert "What &lt;is&gt; seen" in page
    assert "<td>monster-n3</td>" in page
    assert "more layers: all of it, with 3 layers" in page
    assert "Limit: time." in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_page_without_conflicts() -> None:
    diagnosis = asnets.diagnose("default", None, [asnets.generate("triangle-tireworld", 1)], explore_rounds=1)
    page = diagnosis_page("Nothing", diagnosis)
    assert "all that the teacher wants can be told apart" in page
    assert "Not best" not in page
