"""The report: results beside the paper's, as HTML, Markdown, CSV, SVG and PNG."""

from asnets.experiments.report.write import update_docs, write_report

__all__ = ["update_docs", "write_report"]
