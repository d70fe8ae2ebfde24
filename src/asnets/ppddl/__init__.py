"""PPDDL: text to lifted tasks and back."""

from asnets.ppddl.loading import (
    LENIENT_HINT,
    check_files,
    load_task,
    load_task_text,
    log_warning,
    parse_file,
    parse_text,
)
from asnets.ppddl.model import Action, Domain, Problem
from asnets.ppddl.parser import Document
from asnets.ppddl.writer import write_domain, write_problem

__all__ = [
    "LENIENT_HINT",
    "Action",
    "Document",
    "Domain",
    "Problem",
    "check_files",
    "load_task",
    "load_task_text",
    "log_warning",
    "parse_file",
    "parse_text",
    "write_domain",
    "write_problem",
]
