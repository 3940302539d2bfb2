"""The tables of logs, against counts made by hand from the collection."""

from __future__ import annotations

from snippets.draw.planner.agreement import by_kind, exceptions, left_out, log_by_log


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def test_every_kind_of_the_issue_has_a_row_and_all_85_logs_are_counted_once_below() -> None:
    found = rows(by_kind())
    assert [row[0] for row in found[2:]] == [
        "GQA",
        "MHA",
        "MLA",
        "sliding window",
        "recurrent state",
        "FP8 KV",
        "TP above the KV heads",
        "all",
    ]
    assert found[-1][1:4] == ["85", "68", "67"]


def test_only_two_figures_differ_and_both_say_why() -> None:
    lines = exceptions().splitlines()
    assert len(lines) == 2
    assert "DeepSeek-R1-Distill-Qwen-14B" in lines[0] and "+16.4" in lines[0]
    assert "Qwen3-235B" in lines[1] and "+1.1" in lines[1]
    assert all("rank" in line for line in lines)


def test_what_is_left_out_says_why() -> None:
    lines = left_out().splitlines()
    assert len(lines) == 85 - 68
    assert all(line.rstrip(".").split(": ", 1)[1] for line in lines)


def test_log_by_log_has_a_line_for_each_log_and_each_published_figure() -> None:
    found = rows(log_by_log())
    assert len(found) == 2 + 85 + 13
    assert {len(row) for row in found} == {8}
