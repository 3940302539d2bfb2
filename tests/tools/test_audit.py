"""`make audit` refuses a licence that is not allowed, and says what it could not ask."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tools import audit
from tools.audit import Package, spdx


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("MIT AND PSF-2.0", True),
        ("Apache-2.0 OR BSD-2-Clause", True),
        ("(GPL-3.0-only OR MIT)", True),
        ("MIT AND GPL-3.0-only", False),
        ("AGPL-3.0-or-later", False),
        ("Public Domain, I think", False),
        ("", False),
    ],
)
def test_a_licence_is_allowed_when_one_choice_of_it_is(licence: str, allowed: bool) -> None:
    assert Package("npm", "one", "1.0", licence).is_allowed is allowed


def test_a_name_from_a_classifier_stands_where_the_field_says_nothing() -> None:
    assert spdx(["UNKNOWN", " MIT License"]) == "MIT"
    assert spdx(["Copyright (c) 2015 Project Jupyter Contributors", "BSD License"]) == "BSD-3-Clause"
    assert spdx(["GPL"]) == "GPL"
    assert spdx([]) == ""


def test_every_dependency_here_is_under_a_licence_that_is_allowed() -> None:
    refused = [
        one for one in {*audit.python_packages(audit.installed_in()), *audit.npm_packages()} if not one.is_allowed
    ]
    assert refused == []


def answering(stdout: str, stderr: str) -> Any:
    return lambda command, **_: subprocess.CompletedProcess(command, 1, stdout, stderr)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Every service out of reach."""
    monkeypatch.setattr(audit, "auditor", lambda: "pip-audit")
    monkeypatch.setattr(subprocess, "run", answering("", "trying\nConnection refused"))
    return monkeypatch


def test_what_was_not_checked_is_said_and_licences_are_listed_all_the_same(
    alone: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.main() == 0
    said = capsys.readouterr().out
    for lock in ("requirements/site.lock", "requirements/test.lock", "requirements/audit.lock", "package-lock.json"):
        assert f"{lock}: known faults were NOT checked, the service could not be reached: Connection refused" in said
    assert "mkdocs 1.6.1: BSD-2-Clause" in said
    assert "pyodide 314.0.7: MPL-2.0" in said


def test_a_licence_that_is_not_allowed_fails(alone: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    alone.setattr(audit, "npm_packages", lambda: [Package("npm", "strict", "2.0", "GPL-3.0-only")])
    assert audit.main() == 1
    assert "strict 2.0 is under 'GPL-3.0-only', which is not allowed" in capsys.readouterr().out


def test_a_known_fault_fails_and_names_the_version_that_mends_it(
    alone: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = (
        '{"dependencies": [{"name": "one", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}]}'
    )
    alone.setattr(subprocess, "run", answering(report, ""))
    assert audit.main() == 1
    assert "one 1.0: PYSEC-1, mended in 1.1" in capsys.readouterr().out


def test_a_registry_that_answers_with_an_error_was_not_reached(alone: pytest.MonkeyPatch) -> None:
    alone.setattr(subprocess, "run", answering('{"message": "405 Method Not Allowed"}', ""))
    with pytest.raises(ConnectionError, match="405 Method Not Allowed"):
        audit.npm_faults()
