"""Commands of a pipeline: fetch the students' repositories, tell them their marks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer
from rich.console import Console

from autograder.assignment import load_assignment
from autograder.ci import roster
from autograder.ci.fetching import Fetched, Fetcher
from autograder.ci.git import Git
from autograder.ci.platforms import TOKEN, Platform, kind_of, take_token
from autograder.ci.posting import Poster
from autograder.ci.web import WebFault, check_address
from autograder.ci.work import Work
from autograder.cli.options import NameOption, Root
from autograder.errors import UsageError
from autograder.project import find_root
from autograder.reports.terminal import safe

_NOT_ALL = 1
WorkOption = Annotated[
    Path, typer.Option(help="The pipeline's folder: what is fetched, graded and posted.")
]
PlatformOption = Annotated[str, typer.Option(help="github or gitlab.")]
Api = Annotated[
    str | None,
    typer.Option(help="The root of the HTTP API; default: $GITHUB_API_URL or $CI_API_V4_URL."),
]
Attempts = Annotated[
    int, typer.Option(min=0, help="How many commits of a student are graded a day; 0 for all.")
]


def fetch(
    work: WorkOption,
    platform: PlatformOption = "github",
    repositories: Annotated[
        Path | None, typer.Option(help="A CSV file with the columns student and repository.")
    ] = None,
    organisation: Annotated[
        str | None, typer.Option(help="An organisation or group, whose repositories are listed.")
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(
            help="With --organisation: what the repositories begin with; the rest is ids."
        ),
    ] = None,
    attempts: Attempts = 0,
    ref: Annotated[str, typer.Option(help="The branch that is graded; default: theirs.")] = "HEAD",
    server: Annotated[
        str | None,
        typer.Option(
            help="The address that repositories are below; default: $GITHUB_SERVER_URL or "
            "$CI_SERVER_URL."
        ),
    ] = None,
    api: Api = None,
    seconds: Annotated[
        float, typer.Option(min=1, help="How long each step of fetching a repository may take.")
    ] = 60.0,
) -> None:
    """Fetch the students' repositories, as a batch to be graded.

    A token is taken from the variable GRADEFORMER_TOKEN. Exit code 1: not all could be fetched.
    """
    kind, token = kind_of(platform), take_token()
    address = server or os.environ.get(kind.server_variable) or kind.default_server
    _check_server(address)
    if ref.startswith("-") or not ref.isprintable() or " " in ref or ":" in ref:
        raise UsageError(f"--ref {ref!r} is no name of a branch or tag")
    console = Console(soft_wrap=True)
    if (repositories is None) == (organisation is None):
        raise UsageError(
            "say whose work is graded: give --repositories FILE or --organisation NAME"
        )
    complete = True
    if repositories is not None:
        if prefix is not None:
            raise UsageError("--prefix goes with --organisation")
        students = roster.from_list(repositories)
    else:
        assert organisation is not None
        if not prefix:
            raise UsageError("--prefix is missing: what do the students' repositories begin with?")
        names = _listed(_platform(kind, api, token), organisation)
        students, left_out = roster.from_names(names, prefix)
        for line in left_out:
            complete = False
            console.print(f"left out: {safe(line, 500)}", highlight=False)
    place = Work(work)
    fetcher = Fetcher(place, Git(token, kind.user, seconds), address, ref, attempts)

    def tell(one: Fetched) -> None:
        words = f"{one.student.id}: {one.outcome}"
        reason = f" ({one.reason})" if one.reason else ""
        console.print(safe(words + reason, 500), highlight=False)

    found = fetcher.fetch(students, tell)
    known = {student.id for student in students}
    for name in place.students():
        if name not in known:
            console.print(f"{safe(name)}: no longer listed; what was fetched is kept")
    failed = [one for one in found if one.outcome == "failed"]
    console.print(f"{len(found)} repositories, {len(failed)} failed", highlight=False)
    raise typer.Exit(0 if complete and not failed else _NOT_ALL)


def post(
    work: WorkOption,
    assignment: NameOption = None,
    platform: PlatformOption = "github",
    api: Api = None,
    attempts: Attempts = 0,
    fail_under: Annotated[
        float, typer.Option(min=0, max=100, help="The percentage below which a commit fails.")
    ] = 0.0,
    comments: Annotated[bool, typer.Option(help="Comment on commits, beside their status.")] = True,
    root: Root = None,
) -> None:
    """Tell students what their commits were graded, as much of it as they may see.

    A token is taken from the variable GRADEFORMER_TOKEN. Exit code 1: not all could be told.
    """
    kind, token = kind_of(platform), take_token()
    if assignment is None:
        raise UsageError("--assignment is missing: whose results are posted?")
    if token is None:
        raise UsageError(f"nothing can be posted without a token: set the variable {TOKEN}")
    found = load_assignment(find_root(root), assignment)
    console = Console(soft_wrap=True)

    def tell(student: str, said: str, done: bool) -> None:
        words = said if done else f"could not be told: {said}"
        console.print(safe(f"{student}: {words}", 500), highlight=False)

    poster = Poster(
        *(Work(work), _platform(kind, api, token), found.name, found.root),
        *(fail_under, comments, attempts),
    )
    raise typer.Exit(0 if poster.post(tell) else _NOT_ALL)


def _platform(kind: type[Platform], api: str | None, token: str | None) -> Platform:
    return kind(api or os.environ.get(kind.api_variable) or kind.default_api, token)


def _listed(platform: Platform, organisation: str) -> list[str]:
    try:
        return platform.repositories(organisation)
    except WebFault as fault:
        raise UsageError(
            f"the repositories of {organisation} cannot be listed ({fault}): see that the name is "
            "right and the token may read them"
        ) from fault


def _check_server(address: str) -> None:
    """Refuse a server to which a token may not be sent; folders of this machine get none."""
    if urlsplit(address).scheme != "file":
        check_address(address, "--server")
