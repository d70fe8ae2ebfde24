"""Reading files: one file, or the domain and the problem of a task."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

from asnets.errors import Diagnostic, FileError, InputError, ParseError, input_error
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
        FileError: If a file cannot be read or does not hold what is asked for.
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
    _raise_if_broken(documents)
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


def _raise_if_broken(documents: Sequence[Document]) -> None:
    """Raises if something could not be read, with all that is wrong besides."""
    if any(document.diagnostics for document in documents):
        raise_if_any(check_documents(documents))


def _load_single(specification: str) -> tuple[Domain, Problem]:
    path, name = split_name(specification)
    document = _document(path)
    _raise_if_broken([document])
    if not document.domains:
        raise FileError(f"{path}: the file holds no domain; give the domain file and the problem file")
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
    unreadable: list[Diagnostic] = []
    for path in dict.fromkeys(map(str, paths)):
        try:
            documents.append(_document(path))
        except InputError as error:
            unreadable += error.diagnostics
    found = check_documents(documents, incomplete=bool(unreadable))
    return sorted(dict.fromkeys([*unreadable, *chain.from_iterable(found)]))


def check_documents(documents: Sequence[Document], incomplete: bool = False) -> list[list[Diagnostic]]:
    """The mistakes of each document, in the order of its text.

    Args:
        documents: What was read.
        incomplete: Whether there may be domains besides those in the documents.
    """
    everywhere: dict[str, tuple[Domain, Document]] = {}
    for document in documents:
        incomplete |= document.incomplete
        for domain in document.domains:
            everywhere.setdefault(domain.name, (domain, document))
    results = []
    for document in documents:
        found = [*document.diagnostics, *_repeated(document, document.domains), *_repeated(document, document.problems)]
        here = {domain.name: (domain, document) for domain in reversed(document.domains)}
        for domain in document.domains:
            found += check_domain(domain, document.broken[domain.at])
        for problem in document.problems:
            own = here.get(problem.domain) or everywhere.get(problem.domain)
            if own is None and everywhere and not incomplete:
                own = next(iter((here or everywhere).values()))  # To be told that the name is wrong.
            broken = document.broken[problem.at]
            if own is None or ":domain" in broken:
                found += check_problem(problem, None, broken)
            else:
                found += check_problem(problem, own[0], broken, own[1].broken[own[0].at])
        results.append(sorted(dict.fromkeys(found)))
    return results


def _repeated(document: Document, definitions: Sequence[Domain] | Sequence[Problem]) -> list[Diagnostic]:
    first: dict[str, int] = {}
    result = []
    for definition in definitions:
        if definition.name in first:
            what = "domain" if isinstance(definition, Domain) else "problem"
            line = document.source.line(first[definition.name])
            message = f"the {what} {definition.name!r} is already defined in line {line}"
            result.append(document.source.diagnostic(message, definition.at, "semantic"))
        else:
            first[definition.name] = definition.at
    return result


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
    data = data.removeprefix(BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        source = Source(before + data[error.start : error.start + 100].decode(errors="replace"), str(path))
        message = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
        raise ParseError([source.diagnostic_at_offset(message, len(before))]) from None


def split_name(specification: str | Path) -> tuple[str, str | None]:
    """FILE or FILE:NAME; a file of that very name wins."""
    text = str(specification)
    path, colon, name = text.rpartition(":")
    if not colon or not path or not name or "/" in name or _exists(text):
        return text, None
    return path, name.lower()


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # Such as a name that is too long.
        return False


def _document(path: str) -> Document:
    return parse_source(Source(read_text(path), path))


def _choose(items: Sequence[_Definition], name: str | None, what: str, path: str) -> _Definition:
    matching = [item for item in items if name is None or item.name == name]
    if len(matching) == 1:
        return matching[0]
    names = ", ".join(item.name for item in items[:20]) + (", …" if len(items) > 20 else "")
    if not items:
        raise FileError(f"{path}: the file holds no {what}")
    if not matching:
        raise FileError(f"{path}: no {what} named {name!r}; the file holds {names}")
    if name is not None:
        raise FileError(f"{path}: the {what} {name!r} is defined twice")
    raise FileError(f"{path}: the file holds {len(items)} {what}s; choose one as {path}:NAME from {names}")
