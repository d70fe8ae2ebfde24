"""PPDDL: text to lifted tasks and back."""

from asnets.ppddl.loading import check_files, load_task, parse_file, parse_text
from asnets.ppddl.model import Action, Domain, Problem
from asnets.ppddl.parser import Document
from asnets.ppddl.writer import write_domain, write_problem

__all__ = [
    "Action",
    "Document",
    "Domain",
    "Problem",
    "check_files",
    "load_task",
    "parse_file",
    "parse_text",
    "write_domain",
    "write_problem",
]
