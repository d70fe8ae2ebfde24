"""Reading text and files: one of them, or the domain and the problem of a task."""

from __future__ import annotations

import logging
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import AsnetsError, ConfigError, Diagnostic, FileError, InputError, ParseError, input_error
from asnets.ppddl.checks import ALL_SECTIONS, check_domain, check_problem
from asnets.ppddl.mending import mend_domain, mend_problem
from asnets.ppddl.model import Domain, Problem
from asnets.ppddl.parser import Document, parse_source
from asnets.ppddl.source import Source

T = TypeVar("T")
_Definition = TypeVar("_Definition", Domain, Problem)
_LOGGER = logging.getLogger("asnets.ppddl")
LENIENT_HINT = "--lenient (in Python: lenient=True) forgives this, as the competition's simulator does, with warnings."
_BOM = "\ufeff"
_MAX_MISTAKES_TO_FORGIVE = 1000
"""A file with more mistakes is not read again to see whether lenience would help."""


def parse_text(text: str, path: str = "<text>", *, lenient: bool = False) -> Document:
    """Reads and checks PPDDL text.

    A problem is checked against its domain if that stands in the same text.

    Args:
        text: The text.
        path: What messages call it.
        lenient: Whether what the competition's simulator forgives is mended; its warnings are the diagnostics of the
            document. See `asnets.ppddl.mending`.

    Raises:
        InputError: With all mistakes of the text.
    """
    if not lenient:
        return _with_hint(lambda lenient: _parse_text(text, path, lenient))
    return _parse_text(text, path, lenient=True)


def _parse_text(text: str, path: str, lenient: bool) -> Document:
    document = parse_source(Source(text, path), lenient)
    if lenient:
        (document,) = _mend_documents([document])
    raise_if_any(check_documents([document]))
    return document


def parse_file(path: str | Path, *, lenient: bool = False) -> Document:
    """Reads and checks one file; see `parse_text`.

    Raises:
        FileError: If the file cannot be read.
        InputError: With all mistakes of the file.
    """
    return parse_text(read_text(path), str(path), lenient=lenient)


def log_warning(warning: Diagnostic) -> None:
    """Hands a warning to the logger `asnets.ppddl`."""
    _LOGGER.warning("%s", warning)


def load_task(
    domain: str | Path,
    problem: str | Path | None = None,
    *,
    lenient: bool = False,
    on_warning: Callable[[Diagnostic], None] = log_warning,
    deadline: Deadline = NO_DEADLINE,
) -> tuple[Domain, Problem]:
    """Reads a domain and one of its problems.

    Args:
        domain: A file, or FILE:NAME to choose one of several domains.
        problem: A file, or FILE:NAME to choose one of several problems; None if `domain` holds both.
        lenient: Whether what the competition's simulator forgives is mended, with a warning; see
            `asnets.ppddl.mending`.
        on_warning: Called with each warning.
        deadline: When reading has to end.

    Raises:
        FileError: If a file cannot be read or does not hold what is asked for.
        InputError: With all mistakes of the files.
        LimitError: If the deadline passes.
    """
    domain_place = _Place(*split_name(domain))
    problem_place = domain_place if problem is None else _Place(*split_name(problem))
    if problem is None:
        domain_place = _Place(domain_place.path)
    return _load_and_warn(domain_place, problem_place, lenient, on_warning, deadline)


def load_task_text(
    domain: str,
    problem: str | None = None,
    *,
    name: str | None = None,
    lenient: bool = False,
    on_warning: Callable[[Diagnostic], None] = log_warning,
    deadline: Deadline = NO_DEADLINE,
) -> tuple[Domain, Problem]:
    """As `load_task`, from text; messages call the texts <domain> and <problem>.

    Args:
        domain: The text of the domain, or of both.
        problem: The text of the problem; None if `domain` holds both.
        name: Of the problem, where the text holds several.
        lenient: As for `load_task`.
        on_warning: As for `load_task`.
        deadline: As for `load_task`.
    """
    for text in (domain, problem):
        if not isinstance(text, str | None):
            raise ConfigError(f"expected PPDDL text, not {text!r}; `load` takes files")
    domain_place = _Place("<domain>", text=domain.removeprefix(_BOM))
    problem_place = domain_place if problem is None else _Place("<problem>", text=problem.removeprefix(_BOM))
    problem_place = replace(problem_place, name=None if name is None else name.lower())
    return _load_and_warn(domain_place, problem_place, lenient, on_warning, deadline)


@dataclass(frozen=True)
class _Place:
    """Where a definition is.

    Attributes:
        path: The file; what messages call the text.
        name: Of the definition, to choose it among several.
        text: The text, where it is not that of the file.
    """

    path: str
    name: str | None = None
    text: str | None = None

    @property
    def kind(self) -> str:
        return "file" if self.text is None else "text"

    @property
    def way_to_choose(self) -> str:
        """How the user chooses a definition among several."""
        return f"as {self.path}:NAME" if self.text is None else "by name="

    def read(self, lenient: bool, deadline: Deadline) -> Document:
        text = read_text(self.path) if self.text is None else self.text
        return parse_source(Source(text, self.path), lenient, deadline)


def _load_and_warn(
    domain: _Place, problem: _Place, lenient: bool, on_warning: Callable[[Diagnostic], None], deadline: Deadline
) -> tuple[Domain, Problem]:
    warnings: list[Diagnostic] = []

    def read(lenient: bool) -> tuple[Domain, Problem]:
        return _load(domain, problem, lenient, warnings, deadline)

    try:
        return read(lenient=True) if lenient else _with_hint(read)
    finally:
        for warning in sorted(dict.fromkeys(warnings)) if lenient else ():
            on_warning(warning)


def _with_hint(read: Callable[[bool], T]) -> T:
    """What is read strictly; where that fails and lenience would help, the error says so."""
    try:
        return read(False)
    except InputError as error:
        mistakes = error
    if len(mistakes.diagnostics) > _MAX_MISTAKES_TO_FORGIVE:
        raise mistakes
    try:
        read(True)
    except AsnetsError:
        raise mistakes from None
    raise input_error(mistakes.diagnostics, LENIENT_HINT)


def _load(
    domain: _Place, problem: _Place, lenient: bool, warnings: list[Diagnostic], deadline: Deadline
) -> tuple[Domain, Problem]:
    places = {domain.path: domain, problem.path: problem}
    documents = {path: place.read(lenient, deadline) for path, place in places.items()}
    errors = [diagnostic for document in documents.values() for diagnostic in document.diagnostics]
    warnings += [diagnostic for diagnostic in errors if diagnostic.severity == "warning"]
    if len(warnings) < len(errors):
        read = _mend_documents(list(documents.values())) if lenient else list(documents.values())
        raise_if_any(check_documents(read))  # With all that is wrong besides what could not be read.
    domains, problems = documents[domain.path].domains, documents[problem.path].problems
    if domain.path == problem.path and not domains:
        advice = f"give the domain {domain.kind} and the problem {domain.kind}"
        raise FileError(f"{domain.path}: the {domain.kind} holds no domain; {advice}")
    if documents[domain.path].problems and documents[problem.path].domains and not (domains or problems):
        what = f"{domain.path}: the {domain.kind} holds a problem, and {problem.path} a domain"
        raise FileError(f"{what}; they seem to be swapped: the domain goes first")
    chosen_problem = _choose(problems, problem, "problem")
    if domain.name is None and len(domains) > 1:
        domain = replace(domain, name=chosen_problem.domain)
    chosen_domain = _choose(domains, domain, "domain")
    if lenient:
        chosen_domain, found = mend_domain(chosen_domain)
        warnings += found
        if chosen_problem.domain == chosen_domain.name:
            chosen_problem, found = mend_problem(chosen_problem, chosen_domain)
            warnings += found
    deadline.check(f"checking {problem.path}")
    raise_if_any([check_domain(chosen_domain), check_problem(chosen_problem, chosen_domain)])
    return chosen_domain, chosen_problem


def holds_both(specification: str | Path) -> bool:
    """Whether a file, or FILE:NAME, holds a domain and problems. One that cannot be read does not."""
    path, _ = split_name(specification)
    try:
        document = _Place(path).read(True, NO_DEADLINE)
    except AsnetsError:
        return False
    return bool(document.domains and document.problems)


def check_files(paths: Sequence[str | Path], *, lenient: bool = False) -> list[Diagnostic]:
    """All mistakes of several files; each problem is checked against its domain if one of the files holds it.

    Args:
        paths: The files.
        lenient: Whether what the competition's simulator forgives is a warning.

    Raises:
        FileError: If a file cannot be read.
    """
    documents: list[Document] = []
    unreadable: list[Diagnostic] = []
    for path in dict.fromkeys(map(str, paths)):
        try:
            documents.append(_Place(path).read(lenient, NO_DEADLINE))
        except InputError as error:
            unreadable += error.diagnostics
    if lenient:
        documents = _mend_documents(documents, incomplete=bool(unreadable))
    found = check_documents(documents, incomplete=bool(unreadable))
    return sorted(dict.fromkeys([*unreadable, *chain.from_iterable(found)]))


class _Owners:
    """Finds the domain of a problem among several documents."""

    def __init__(self, documents: Sequence[Document], incomplete: bool) -> None:
        self._incomplete = incomplete or any(document.incomplete for document in documents)
        self._everywhere: dict[str, tuple[Domain, Document]] = {}
        for document in documents:
            for domain in document.domains:
                self._everywhere.setdefault(domain.name, (domain, document))

    def find(self, problem: Problem, document: Document) -> tuple[Domain, Document] | None:
        """The domain with its document, its own one first; one of another name, to be told so, where there is none."""
        if ":domain" in document.broken[problem.at]:
            return None
        here = {domain.name: (domain, document) for domain in reversed(document.domains)}
        owner = here.get(problem.domain) or self._everywhere.get(problem.domain)
        if owner is None and self._everywhere and not self._incomplete:
            owner = next(iter((here or self._everywhere).values()))
        return owner


def _mend_documents(documents: Sequence[Document], incomplete: bool = False) -> list[Document]:
    """The documents without what is forgiven, which is among their diagnostics as warnings."""
    mended = []
    for document in documents:
        results = [mend_domain(domain, document.broken[domain.at]) for domain in document.domains]
        warnings = chain.from_iterable(found for _, found in results)
        domains = tuple(domain for domain, _ in results)
        mended.append(replace(document, domains=domains, diagnostics=(*document.diagnostics, *warnings)))
    owners = _Owners(mended, incomplete)
    return [_mend_problems(document, owners) for document in mended]


def _mend_problems(document: Document, owners: _Owners) -> Document:
    problems: list[Problem] = []
    warnings: list[Diagnostic] = []
    for problem in document.problems:
        owner = owners.find(problem, document)
        if owner is None or owner[0].name != problem.domain:
            mended, found = mend_problem(problem, Domain(problem.domain), ALL_SECTIONS)
        else:
            broken_domain = owner[1].broken[owner[0].at]
            mended, found = mend_problem(problem, owner[0], document.broken[problem.at], broken_domain)
        problems.append(mended)
        warnings += found
    return replace(document, problems=tuple(problems), diagnostics=(*document.diagnostics, *warnings))


def check_documents(documents: Sequence[Document], incomplete: bool = False) -> list[list[Diagnostic]]:
    """The mistakes of each document, in the order of its text.

    Args:
        documents: What was read.
        incomplete: Whether there may be domains besides those in the documents.
    """
    owners = _Owners(documents, incomplete)
    results = []
    for document in documents:
        found = [*document.diagnostics, *_repeated(document, document.domains), *_repeated(document, document.problems)]
        for domain in document.domains:
            found += check_domain(domain, document.broken[domain.at])
        for problem in document.problems:
            owner = owners.find(problem, document)
            broken = document.broken[problem.at]
            if owner is None:
                found += check_problem(problem, None, broken)
            else:
                found += check_problem(problem, owner[0], broken, owner[1].broken[owner[0].at])
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
    """Raises one error with the errors of all groups."""
    diagnostics = [diagnostic for group in groups for diagnostic in group if diagnostic.severity == "error"]
    if diagnostics:
        raise input_error(diagnostics)


def read_text(path: str | Path) -> str:
    """The text of a file.

    Raises:
        ConfigError: If it is PPDDL text that was given for the name of a file.
        FileError: If it cannot be read.
        ParseError: If it is not UTF-8.
    """
    if "(define" in str(path):
        raise ConfigError("expected the name of a file, not PPDDL text; in Python, `asnets.load_text` takes text")
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


def _choose(items: Sequence[_Definition], place: _Place, what: str) -> _Definition:
    matching = [item for item in items if place.name is None or item.name == place.name]
    if len(matching) == 1:
        return matching[0]
    names = ", ".join(item.name for item in items[:20]) + (", …" if len(items) > 20 else "")
    if not items:
        raise FileError(f"{place.path}: the {place.kind} holds no {what}")
    if not matching:
        raise FileError(f"{place.path}: no {what} named {place.name!r}; the {place.kind} holds {names}")
    if place.name is not None:
        raise FileError(f"{place.path}: the {what} {place.name!r} is defined twice")
    raise FileError(
        f"{place.path}: the {place.kind} holds {len(items)} {what}s; choose one {place.way_to_choose} from {names}"
    )
