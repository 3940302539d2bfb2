"""A plan as JSON, Markdown, CSV, plain text and as the command that starts the server."""

from __future__ import annotations

from snippets.planner.report.as_csv import to_csv
from snippets.planner.report.as_json import to_json
from snippets.planner.report.as_markdown import to_markdown
from snippets.planner.report.as_text import to_explanation, to_text
from snippets.planner.report.serve_command import serve_command

__all__ = ["serve_command", "to_csv", "to_explanation", "to_json", "to_markdown", "to_text"]
