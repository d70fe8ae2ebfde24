"""The report: results beside the paper's, as HTML, Markdown, CSV, SVG and PNG."""

from asnets.experiments.report.write import check_charts, update_docs, write_report

__all__ = ["check_charts", "update_docs", "write_report"]
