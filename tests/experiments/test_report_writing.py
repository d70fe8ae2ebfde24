from __future__ import annotations

import csv
import re
import warnings
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from asnets.errors import FileError
from asnets.experiments.report import update_docs, write_report
from asnets.experiments.report.contents import make_document
from asnets.experiments.report.document import Column, Facts, Line, Table
from asnets.experiments.report.write import to_csv
from asnets.experiments.store import Store
from asnets.grounding import ground
from asnets.network import NetworkConfig
from asnets.network.model_file import save_model
from asnets.ppddl import parse_text
from tests.cli.running import run
from tests.experiments.report_support import Results, goals, network, problem, system
from tests.network.building import random_network

HOSTILE = "<script>alert('&\"|*_`$x$\x01')</script>题"
NAME = 'ä \\1 "<b>)'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an unfinished run of one of the paper's experiments and one of a user's own with hostile names."""
    folder = tmp_path_factory.mktemp("results")
    results = Results(folder)
    results.add(
        "triangle-tireworld",
        [
            network("asnet-hadd", "h-add", "ASNet, h-add teacher"),
            system("ilao-lmcut", title="ILAO*, LM-cut", planner="ilao", heuristic="lmcut", paper=("ilao", "lm-cut")),
        ],
        [problem(f"triangle-tire-{size}", size, f"triangle-tire-{size}") for size in (4, 5)],
        {
            ("asnet-hadd", "triangle-tire-4"): goals(30, 23.5, 1.0),
            ("asnet-hadd", "triangle-tire-5"): goals(30, 35.0, 1.0),
            ("ilao-lmcut", "triangle-tire-4"): goals(30, 23.5),
        },
        title="Triangle Tireworld",
    )
    results.add(
        NAME,
        [network("net", title=HOSTILE), system("plan", title=f"plan, {HOSTILE}", planner="lrtdp", heuristic="hadd")],
        [problem(HOSTILE, 1), *(problem(f"many-{index}", 2) for index in range(5))],
        {("net", HOSTILE): goals(30, 2.0, 1.0), ("plan", HOSTILE): goals(12, 2.0, 1.0)},
        title=HOSTILE,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert write_report(folder) == folder / "report.html"
    return folder


def page(folder: Path) -> ElementTree.Element:
    return ElementTree.fromstring((folder / "report.html").read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>"))


def test_page_is_well_formed_and_asks_for_nothing(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    root = page(folder)
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "image"}
    for element in root.iter():
        for name, value in element.attrib.items():
            assert "//" not in value, (element.tag, name, value)
            if name.rpartition("}")[2] in ("href", "src"):
                assert value.startswith("#")
    style = "".join(element.text or "" for element in root.iter("style"))
    assert style
    assert not re.search(r"//|@import|url\(", style)
    assert not re.search(r"https?:", re.sub(r'xmlns(:\w+)?="[^"]*"', "", text))


def test_ids_are_unique_and_links_lead_somewhere(folder: Path) -> None:
    root = page(folder)
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    links = {element.attrib["href"].removeprefix("#") for element in root.iter("a")}
    assert links
    assert links <= set(ids)


def test_hostile_names_are_text(folder: Path) -> None:
    heading = next(each for each in page(folder).iter("h2") if "script" in (each.text or ""))
    assert heading.text == HOSTILE.replace("\x01", "\ufffd")
    markdown = (folder / "report.md").read_text(encoding="utf-8")
    assert "<script" not in markdown
    assert r"&lt;script&gt;alert('&amp;\"\|\*\_\`\$x\$".replace(r"\"", '"') in markdown


def test_files_have_plain_names_and_figures_are_well_formed(folder: Path) -> None:
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    assert "learning-ä_20__5c_1_20__22__3c_b_3e__29_.svg" in names
    assert "ä_20__5c_1_20__22__3c_b_3e__29_-coverage.csv" in names
    for path in folder.glob("figures/*.svg"):
        ElementTree.fromstring(path.read_text(encoding="utf-8"))


def test_results_come_first_and_the_legend_last(folder: Path) -> None:
    titles = [each.text for each in page(folder).iter("h2")]
    assert titles[:3] == ["The paper’s four questions", "Best ASNet, best baseline", "Running times"]
    assert titles[-2:] == ["How to read the tables", "What was run"]


def test_reports_on_one_s_own_experiments_do_not_speak_of_the_paper(tmp_path: Path) -> None:
    results = Results(tmp_path)
    systems = [
        network("net", teacher_heuristic="hadd"),
        network("blind", teacher_heuristic="hadd", features=[]),
        network("optimal"),
        system("plan", planner="lrtdp", heuristic="lmcut", depth=None),
        system("ssipp", planner="ssipp", heuristic="hadd", depth=3),
        system("us", "strategy", "US", strategy="us"),
        system("gn1", "strategy", "GN1", strategy="gn1"),
    ]
    problems = [problem("a", 1), problem("b", 2)]
    cells = {(each["name"], test["name"]): goals(30, 5.0) for each in systems for test in problems}
    results.add("mine", systems, problems, cells, full_sizes=[1], title="Mine")
    write_report(tmp_path)
    for name in ("report.md", "report.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "not answered" not in text.lower()
        assert "paper" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL).replace('class="paper"', "")


def test_unfinished_run_says_so(folder: Path) -> None:
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "**This run is not finished.** 11 of 18 cells have not been run." in text
    assert f"asnets reproduce triangle-tireworld '{NAME}.toml' --scale quick -o DIR" in text
    assert "asnets 1.2.3" in text
    assert "Test processor, 2 cores, 8 GB, Linux, Python 3.11" in text
    assert "2026-01-02" in text


def test_markdown_has_the_tables_and_links_its_figures(folder: Path) -> None:
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "| triangle-tire-5 | 30/30<br>(35.00 ± 0.38) ▼<br>*30/30*<br>*(28.87 ± 0.81)* | not run yet<br>*–* |" in text
    for name in re.findall(r"\]\(([^)]*)\)", text):
        assert (folder / name).is_file()


def test_same_data_same_bytes(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert {path.suffix for path in before} >= {".html", ".md", ".csv", ".svg", ".png"}
    write_report(folder)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_csv_holds_records_exactly(folder: Path) -> None:
    table = Table(
        "t", "T", "x", (Column("a"),), (("r", ((Line("1"),),)),), records=({"a": 1.5, "b": None, "c": 'x,"y"\n'},)
    )
    assert to_csv(table) == 'a,b,c\n1.5,,"x,""y""\n"\n'
    with (folder / "tables" / "triangle-tireworld-coverage.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [
        (row["system"], row["problem"], row["goals"], row["mean_cost"], row["paper_mean_cost"]) for row in rows
    ] == [
        ("asnet-hadd", "triangle-tire-4", "30", "23.5", "23.37"),
        ("ilao-lmcut", "triangle-tire-4", "30", "23.5", "23.17"),
        ("asnet-hadd", "triangle-tire-5", "30", "35.0", "28.87"),
        ("ilao-lmcut", "triangle-tire-5", "", "", ""),
    ]


def test_docs_are_updated_between_their_marks(folder: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs.md"
    docs.write_text("before\n<!-- results: begin -->\nwhat was there\n<!-- results: end -->\nafter\n")
    update_docs(folder, docs)
    text = docs.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- results: begin -->\n\n### The paper’s four questions\n")
    assert text.endswith("\n\n<!-- results: end -->\nafter\n")
    assert "what was there" not in text
    assert "![" not in text
    assert "triangle-tire-5 | 30/30" in text
    update_docs(folder, docs)
    assert docs.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "text",
    [
        "none",
        "<!-- results: begin -->",
        "<!-- results: end --> <!-- results: begin -->",
        "<!-- results: begin --> <!-- results: end --> <!-- results: end -->",
    ],
)
def test_docs_without_marks_are_left_alone(folder: Path, tmp_path: Path, text: str) -> None:
    docs = tmp_path / "docs.md"
    docs.write_text(text)
    with pytest.raises(
        FileError, match="expected the lines <!-- results: begin --> and <!-- results: end --> once each"
    ):
        update_docs(folder, docs)
    assert docs.read_text() == text


def test_command(folder: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs.md"
    docs.write_text("<!-- results: begin --><!-- results: end -->")
    result = run("report", folder, "--update-docs", docs)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"results: {docs}\nreport: {folder / 'report.html'}\n"


def test_command_without_results(tmp_path: Path) -> None:
    result = run("report", tmp_path / "nothing")
    assert result.returncode == 3
    assert result.stderr == f"error: {tmp_path / 'nothing'}: there are no results here: results.sqlite is missing\n"
    assert not (tmp_path / "nothing").exists()
    Store(tmp_path, create=True).close()
    result = run("report", tmp_path)
    assert result.returncode == 3
    assert "there are no experiments in the file yet" in result.stderr
    assert not (tmp_path / "report.html").exists()


def test_a_run_is_drawn_with_the_model(tmp_path: Path) -> None:
    """A report with a real model, of an untrained network that has a single way to go."""
    domain = "(define (domain d) (:predicates (p) (q)) (:action go :parameters () :precondition (p) :effect (q)))"
    text = "(define (problem one) (:domain d) (:init (p)) (:goal (q)))"
    results = Results(tmp_path)
    results.add("mine", [network("net")], [problem("one", 1)], {("net", "one"): goals(30, 1.0)}, title="Mine")
    document = parse_text(domain + text)
    task = ground(document.domains[0], document.problems[0])
    model = tmp_path / "model.asnet"
    save_model(model, random_network(task, NetworkConfig(layers=1, hidden=4, features=())), {})
    with Store(tmp_path) as store:
        scale, definition = store.experiments()["mine"]
        definition["picture"] = {"name": "one", "domain": domain, "problem": text}
        store.set_experiment("mine", scale, definition, store.places("mine"))
        row = next(row for row in store.rows().values() if row.kind == "train")
        store.add(row.key, row.kind, row.payload, replace(row.result, model=model.read_bytes()))
    write_report(tmp_path)
    assert (tmp_path / "figures" / "run-mine.svg").read_text().startswith("<")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<figcaption>Mine: a run of net on one, seed 0.</figcaption>" in text
    assert '<a href="#pictures">Runs to look at</a>' in text
    assert not re.search(r"https?:", re.sub(r'xmlns(:\w+)?="[^"]*"', "", text))
    assert "![Mine: a run of net on one, seed 0.](figures/run-mine.svg)" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(
    ("scales", "names"),
    [
        (("quick", "quick"), ["Scale quick", "Cut-offs"]),
        (("quick", "smoke"), ["Scale quick (one)", "Cut-offs (one)", "Scale smoke (two)", "Cut-offs (two)"]),
    ],
)
def test_scales_are_told_apart_where_they_differ(tmp_path: Path, scales: tuple[str, str], names: list[str]) -> None:
    results = Results(tmp_path)
    for name, scale in zip(("one", "two"), scales, strict=True):
        results.add(name, [system("planner")], [problem("a", 1)], {}, scale=scale)
    facts = next(block for block in make_document(results.collect()).blocks() if isinstance(block, Facts))
    assert [name for name, _ in facts.items if name.startswith(("Scale", "Cut-offs"))] == names
