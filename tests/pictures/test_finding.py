"""Pictures of findings: what they say, and where."""

from __future__ import annotations

import dataclasses
import re

import pytest

import asnets
from asnets.pictures import findings_page, pictures_of_finding
from asnets.testing import PolicyTest, ProbeOptions
from tests.testing.policies import ByRule, family, shortest_way

pytestmark = pytest.mark.native

OPTIONS = ProbeOptions(states=20, budget=1e6, per_group=1)


@pytest.fixture(scope="module")
def tires() -> PolicyTest:
    return asnets.probe(shortest_way(), *family("triangle-tireworld", 2), OPTIONS)


def test_the_choice_and_what_is_better(tires: PolicyTest) -> None:
    small = tires.small_problems[0]
    chosen, better = pictures_of_finding(small)
    assert chosen.kind == better.kind == "map"
    assert small.comparison.chosen in chosen.html
    assert small.comparison.better in chosen.html
    assert "Worse" in chosen.html
    assert "Orange: the choice that is worse." in chosen.html
    assert "Confirmed by fractions." in chosen.html
    assert "Better" in better.html
    assert better.run.steps[0].action == small.comparison.better
    assert chosen.run.steps[0].action == small.comparison.chosen


def test_a_page(tires: PolicyTest) -> None:
    page = findings_page("What <is> wrong", [tires], tires.groups)
    assert page.startswith("<!DOCTYPE html>")
    assert "What &lt;is&gt; wrong" in page
    headings = re.findall(r"<h2>([^<]*)</h2>", page)
    assert len(headings) == 2 * len(tires.small_problems)
    assert f"<td>{tires.task.problem}</td>" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_policy_that_gives_up() -> None:
    domain, problem = family("triangle-tireworld", 1)
    test = asnets.probe(ByRule(lambda state: None), domain, problem, dataclasses.replace(OPTIONS, shrink="none"))
    assert test.groups[0].chosen == "gives up"
    chosen, better = pictures_of_finding(test.small_problems[0])
    assert chosen.run.steps == ()
    assert len(better.run.steps) == 1
