"""A drawing as HTML: the finding above, the SVG for both widths, the numbers as a table below."""

from __future__ import annotations

from html import escape

from snippets.draw.figure import LAYOUTS, Draw, Figure, Table, same_text


def finding_id(name: str) -> str:
    """Id of the element that holds a figure's finding; its SVG is labelled by it."""
    return f"{name}-finding"


def table_html(table: Table) -> str:
    """The numbers behind a drawing; empty for an empty table."""
    if not table.rows:
        return ""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def figure_html(draw: Draw) -> str:
    """A figure for a page: both widths are in it and the style sheet shows the one that fits."""
    drawn: list[Figure] = [draw(layout) for layout in LAYOUTS]
    if not same_text(drawn):
        raise ValueError(f"figure {drawn[0].name}: the widths differ in more than the drawing")
    first = drawn[0]
    name = escape(first.name)
    drawings = "".join(
        f'<div class="drawing-{layout}">{one.svg}</div>' for layout, one in zip(LAYOUTS, drawn, strict=True)
    )
    data = table_html(first.table)
    numbers = f'<details class="figure-data"><summary>The numbers</summary>{data}</details>' if data else ""
    detail = f' <span class="figure-detail">{escape(first.detail)}</span>' if first.detail else ""
    return (
        f'<figure class="figure" data-figure="{name}" aria-labelledby="{finding_id(name)}">'
        f'<figcaption><strong id="{finding_id(name)}">{escape(first.finding)}</strong>{detail}</figcaption>'
        f'<div class="drawing">{drawings}</div>{numbers}</figure>'
    )
