"""Commands of a pipeline: fetch the students' repositories, tell them their marks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder.assignment import load_assignment
from autograder.cli.options import NameOption, Root
from autograder.errors import UsageError
from autograder.project import find_root
from autograder.reports.terminal import safe
from autograder.text import clean

if TYPE_CHECKING:
    from autograder.ci.fetching import Fetched

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
    ref: Annotated[
        str | None, typer.Option(help="The branch that is graded; default: each repository's own.")
    ] = None,
    api: Api = None,
    seconds: Annotated[
        float, typer.Option(min=1, help="How long the download of a repository may take.")
    ] = 60.0,
) -> None:
    """Fetch the students' repositories, as a batch to be graded.

    The token is in the variable GRADEFORMER_FETCH_TOKEN. Exit code 1: not all could be fetched.
    """
    # Imported here, as no other command needs httpx.
    from autograder.ci import roster
    from autograder.ci.api import ApiFault
    from autograder.ci.fetching import Fetcher
    from autograder.ci.platforms import FETCH_TOKEN, Platform, dialect_of, take_token
    from autograder.ci.work import Work

    if (repositories is None) == (organisation is None):
        raise UsageError(
            "say whose work is graded: give --repositories FILE or --organisation NAME"
        )
    if repositories is not None and prefix is not None:
        raise UsageError("--prefix goes with --organisation")
    if organisation is not None and not prefix:
        raise UsageError("--prefix is missing: what do the students' repositories begin with?")
    found = Platform(dialect_of(platform), api, take_token(FETCH_TOKEN))
    left_out: list[str] = []
    if repositories is not None:
        students = roster.from_list(repositories)
    else:
        try:
            names = found.repositories(organisation or "")
        except ApiFault as fault:
            raise UsageError(
                f"the repositories of {organisation} cannot be listed ({fault}): see that the name "
                "is right and the token may read them"
            ) from fault
        students, left_out = roster.from_names(names, organisation or "", prefix or "")
    for line in left_out:
        _log(f"left out: {line}")
    work_folder = Work(work)
    fetcher = Fetcher(work_folder, found, None if ref == "HEAD" else ref, attempts, seconds)

    def tell(one: Fetched) -> None:
        reason = f" ({one.reason})" if one.reason else ""
        _log(f"{one.student.id}: {one.outcome}{reason}")

    fetched = fetcher.fetch(students, tell)
    known = {student.id for student in students}
    for name in work_folder.students():
        if name not in known:
            _log(f"{name}: no longer listed; what was fetched is kept")
    failed = [one for one in fetched if one.outcome == "failed"]
    _log(f"{len(fetched)} repositories, {len(failed)} failed")
    raise typer.Exit(_NOT_ALL if failed or left_out else 0)


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

    The token is in the variable GRADEFORMER_POST_TOKEN. Exit code 1: not all could be told.
    """
    from autograder.ci.platforms import POST_TOKEN, Platform, dialect_of, take_token
    from autograder.ci.posting import Poster
    from autograder.ci.work import Work

    if assignment is None:
        raise UsageError("--assignment is missing: whose results are posted?")
    on = Platform(dialect_of(platform), api, take_token(POST_TOKEN))
    found = load_assignment(find_root(root), assignment)

    def tell(student: str, said: str, done: bool) -> None:
        _log(f"{student}: {said if done else f'could not be told: {said}'}")

    poster = Poster(Work(work), on, found.name, found.root, fail_under, comments, attempts)
    raise typer.Exit(0 if poster.post(tell) else _NOT_ALL)


def _log(line: str) -> None:
    """Print a line of which neither a terminal nor the runner's log takes a part for a command."""
    apart = re.sub(r"([:#])(?=\1)", r"\1 ", clean(line, 500))
    Console(soft_wrap=True).print(safe(apart, 600), highlight=False)
