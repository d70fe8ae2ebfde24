"""Reading files: one file, or the domain and the problem of a task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from asnets.errors import ConfigError, Diagnostic, FileError, InputError, ParseError, input_error
from asnets.ppddl.checks import check_domain, check_problem
from asnets.ppddl.model import Domain, Problem
from asnets.ppddl.parser import Document, parse_source
from asnets.ppddl.source import Source

_Definition = TypeVar("_Definition", Domain, Problem)


def parse_text(text: str, path: str = "<text>") -> Document:
    """Reads and checks PPDDL text.

    A problem is checked against its domain if that stands in the same text.

    Raises:
        InputError: With all mistakes of the text.
    """
    document = parse_source(Source(text, path))
    raise_if_any(check_documents([document]))
    return document


def parse_file(path: str | Path) -> Document:
    """Reads and checks one file; see `parse_text`.

    Raises:
        FileError: If the file cannot be read.
        InputError: With all mistakes of the file.
    """
    return parse_text(read_text(path), str(path))


def load_task(domain: str | Path, problem: str | Path | None = None) -> tuple[Domain, Problem]:
    """Reads a domain and one of its problems.

    Args:
        domain: A file, or FILE:NAME to choose one of several domains.
        problem: A file, or FILE:NAME to choose one of several problems; None if `domain` holds both.

    Raises:
        FileError: If a file cannot be read.
        ConfigError: If a file does not hold what is asked for.
        InputError: With all mistakes of the files.
    """
    if problem is None:
        return _load_single(str(domain))
    domain_path, domain_name = split_name(domain)
    problem_path, problem_name = split_name(problem)
    domain_document = _document(domain_path)
    same = domain_path == problem_path
    problem_document = domain_document if same else _document(problem_path)
    documents = [domain_document] if same else [domain_document, problem_document]
    raise_if_any(document.diagnostics for document in documents)
    chosen_problem = _choose(problem_document.problems, problem_name, "problem", problem_path)
    if domain_name is None and len(domain_document.domains) > 1:
        domain_name = chosen_problem.domain
    chosen_domain = _choose(domain_document.domains, domain_name, "domain", domain_path)
    raise_if_any(
        [
            check_domain(chosen_domain),
            check_problem(chosen_problem, chosen_domain),
        ]
    )
    return chosen_domain, chosen_problem


def _load_single(specification: str) -> tuple[Domain, Problem]:
    path, name = split_name(specification)
    document = _document(path)
    raise_if_any([document.diagnostics])
    if not document.domains:
        raise ConfigError(f"{path}: the file holds no domain; give the domain file and the problem file")
    problem = _choose(document.problems, name, "problem", path)
    domain = _choose(document.domains, problem.domain if len(document.domains) > 1 else None, "domain", path)
    raise_if_any([check_domain(domain), check_problem(problem, domain)])
    return domain, problem


def check_files(paths: Sequence[str | Path]) -> list[Diagnostic]:
    """All mistakes of several files; each problem is checked against its domain if one of the files holds it.

    Raises:
        FileError: If a file cannot be read.
    """
    documents: list[Document] = []
    diagnostics: list[Diagnostic] = []
    for path in dict.fromkeys(map(str, paths)):
        try:
            documents.append(_document(path))
        except InputError as error:
            diagnostics += error.diagnostics
    for found in check_documents(documents):
        diagnostics += found
    return list(dict.fromkeys(diagnostics))


def check_documents(documents: Sequence[Document]) -> list[list[Diagnostic]]:
    """The mistakes of each document, in the order of its text."""
    domains = [(domain, document) for document in documents for domain in document.domains]
    results = []
    for document in documents:
        found = list(document.diagnostics)
        names: set[str] = set()
        for domain in document.domains:
            if domain.name in names:
                found.append(
                    document.source.diagnostic(f"the domain {domain.name!r} is defined twice", domain.at, "semantic")
                )
            names.add(domain.name)
            found += check_domain(domain, document.broken[domain.at])
        names.clear()
        for problem in document.problems:
            if problem.name in names:
                found.append(
                    document.source.diagnostic(f"the problem {problem.name!r} is defined twice", problem.at, "semantic")
                )
            names.add(problem.name)
            # Its own domain, wherever it stands; else any, to be told that the name is wrong.
            matching = [pair for pair in domains if pair[0].name == problem.domain] or domains
            domain, home = matching[0] if matching else (None, document)
            broken = home.broken[domain.at] if domain is not None else frozenset()
            found += check_problem(problem, domain, document.broken[problem.at], broken)
        results.append(sorted(dict.fromkeys(found)))
    return results


def raise_if_any(groups: Iterable[Sequence[Diagnostic]]) -> None:
    """Raises one error with the diagnostics of all groups."""
    diagnostics = [diagnostic for group in groups for diagnostic in group]
    if diagnostics:
        raise input_error(diagnostics)


def read_text(path: str | Path) -> str:
    """The text of a file.

    Raises:
        FileError: If it cannot be read.
        ParseError: If it is not UTF-8.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot read the file: {error.strerror or error}") from None
    except ValueError as error:
        raise FileError(f"{path!r}: cannot read the file: {error}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        source = Source(before + "�", str(path))
        byte = data[error.start]
        raise ParseError(
            [source.diagnostic_at_offset(f"byte 0x{byte:02x} is not UTF-8 text", len(before))]
        ) from None


def split_name(specification: str | Path) -> tuple[str, str | None]:
    """FILE or FILE:NAME; a file of that very name wins."""
    text = str(specification)
    path, colon, name = text.rpartition(":")
    if not colon or not path or not name or "/" in name or Path(text).exists():
        return text, None
    return path, name.lower()


def _document(path: str) -> Document:
    return parse_source(Source(read_text(path), path))


def _choose(items: Sequence[_Definition], name: str | None, what: str, path: str) -> _Definition:
    matching = [item for item in items if name is None or item.name == name]
    if len(matching) == 1:
        return matching[0]
    names = ", ".join(item.name for item in items)
    if not items:
        raise ConfigError(f"{path}: the file holds no {what}")
    if not matching:
        raise ConfigError(f"{path}: no {what} named {name!r}; the file holds {names}")
    if name is not None:
        raise ConfigError(f"{path}: the {what} {name!r} is defined twice")
    raise ConfigError(f"{path}: the file holds {len(items)} {what}s; choose one as {path}:NAME from {names}")
