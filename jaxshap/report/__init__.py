"""The report: an explanation as one HTML page."""

from jaxshap.report.page import report_html as report_html
from jaxshap.report.writing import write_report as write_report

__all__ = [
    "write_report",
]
