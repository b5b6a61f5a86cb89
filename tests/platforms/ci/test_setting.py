"""What a pipeline is set to: whose repositories it reads, and the token it is given."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.errors import UsageError
from autograder.platforms.ci.platforms import FETCH_TOKEN, POST_TOKEN, platform_of, take_token
from autograder.platforms.ci.written import Setting, files
from tests.tiny import write_tiny


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return load_assignment(write_tiny(tmp_path), "norm")


@pytest.mark.parametrize(
    "about, options",
    [
        ({}, "--repositories ci/norm/students.csv"),
        ({"repositories": "lists/a-b.csv"}, "--repositories lists/a-b.csv"),
        (
            {"organisation": "course/2026", "prefix": "hw1-"},
            "--organisation course/2026 --prefix hw1-",
        ),
    ],
)
def test_a_pipeline_says_whose_work_is_fetched(
    assignment: Assignment, about: dict[str, Any], options: str
) -> None:
    assert Setting(assignment, **about).whose() == options


@pytest.mark.parametrize(
    "about, words",
    [
        ({"organisation": "a", "prefix": "b", "repositories": "c"}, "and not both"),
        ({"organisation": "a b", "prefix": "b"}, "no name of one"),
        ({"organisation": "$(x)", "prefix": "b"}, "no name of one"),
        ({"organisation": "a"}, "--prefix is missing"),
        ({"organisation": "a", "prefix": ""}, "--prefix is missing"),
        ({"organisation": "a", "prefix": "b/c"}, "--prefix is missing, or is none"),
        ({"organisation": "a", "prefix": "b;c"}, "--prefix is missing, or is none"),
        ({"prefix": "b"}, "--prefix goes with --organisation"),
        ({"repositories": "../students.csv"}, "within the instructor's repository"),
        ({"repositories": "a/../../b.csv"}, "within the instructor's repository"),
        ({"repositories": "/etc/passwd"}, "within the instructor's repository"),
        ({"repositories": "a;b"}, "within the instructor's repository"),
    ],
)
def test_what_could_lead_elsewhere_is_refused(
    assignment: Assignment, about: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        Setting(assignment, **about).whose()


@pytest.mark.parametrize(
    "cron", ["", "daily", "* * * *", "* * * * * *", "0 0 * * mon", "0 0 * *\n*"]
)
def test_a_time_that_is_none_is_refused(assignment: Assignment, cron: str) -> None:
    with pytest.raises(UsageError, match=r"--cron .* is none: it has five fields"):
        files("github", Setting(assignment, cron=cron))


def test_a_token_is_taken_out_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FETCH_TOKEN, " ghp_5e7a91\n")
    monkeypatch.setenv(POST_TOKEN, "ghp_other")
    assert take_token(FETCH_TOKEN) == "ghp_5e7a91"
    assert {FETCH_TOKEN, POST_TOKEN}.isdisjoint(os.environ)


@pytest.mark.parametrize("value", [None, "", " \n"])
@pytest.mark.parametrize("variable", [FETCH_TOKEN, POST_TOKEN])
def test_a_token_that_is_missing_is_said_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str | None
) -> None:
    monkeypatch.delenv(variable, raising=False)
    if value is not None:
        monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError, match=f"^{variable} is not set: make a token as docs/ci.md"):
        take_token(variable)


@pytest.mark.parametrize("token", ["a b", "a\nb", "a\x1b", "ä"])
def test_what_cannot_be_sent_is_no_token_and_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv(FETCH_TOKEN, token)
    with pytest.raises(UsageError) as caught:
        take_token(FETCH_TOKEN)
    assert token not in str(caught.value)
    assert FETCH_TOKEN not in os.environ


def test_a_platform_that_is_none_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="choose one of github, gitlab"):
        platform_of("gitea")
