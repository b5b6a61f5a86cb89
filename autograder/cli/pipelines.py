"""Commands of pipelines: fetch repositories, tell marks, and write what a platform grades with."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from autograder import private
from autograder.authoring.folders import must_be_new, whole, write_files
from autograder.cli.options import Name, NameOption, Root, the_assignment
from autograder.errors import ExitCode, UsageError
from autograder.reports.shown import about
from autograder.reports.terminal import say
from autograder.text import clean, counted

Work_ = Annotated[
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
FailUnder = Annotated[
    float, typer.Option(min=0, max=100, help="The percentage below which a commit fails.")
]
Comments = Annotated[bool, typer.Option(help="Comment on commits, beside their status.")]
Out = Annotated[Path, typer.Option(help="A new folder; the files are in student/ and teacher/.")]
Repositories = Annotated[
    str | None,
    typer.Option(help="The list's path in the instructor's repository; default: one is begun."),
]
Organisation = Annotated[
    str | None, typer.Option(help="Instead of a list: where students' repositories are.")
]
Prefix = Annotated[
    str | None, typer.Option(help="What the repositories begin with; the rest is the student's id.")
]
_QUESTION = "what is graded?"


def fetch(
    work: Work_,
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
    from autograder.platforms.ci import roster
    from autograder.platforms.ci.api import ApiFault
    from autograder.platforms.ci.fetching import Fetcher
    from autograder.platforms.ci.platforms import FETCH_TOKEN, platform_of, take_token
    from autograder.platforms.ci.work import Work

    if (repositories is None) == (organisation is None):
        raise UsageError(
            "say whose work is graded: give --repositories FILE or --organisation NAME"
        )
    if repositories is not None and prefix is not None:
        raise UsageError("--prefix goes with --organisation")
    if organisation is not None and not prefix:
        raise UsageError("--prefix is missing: what do the students' repositories begin with?")
    found = platform_of(platform)(api, take_token(FETCH_TOKEN))
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
    failed = 0
    for one in fetcher.fetch(students):
        reason = f" ({one.reason})" if one.reason else ""
        _log(f"{one.student.id}: {one.outcome}{reason}")
        failed += one.outcome == "failed"
    known = {student.id for student in students}
    for name in work_folder.students():
        if name not in known:
            _log(f"{name}: no longer listed; what was fetched is kept")
    _log(f"{counted(len(students), 'repository', 'repositories')}, {failed} failed")
    raise typer.Exit(ExitCode.NOT_ALL if failed or left_out else 0)


def post(
    work: Work_,
    assignment: NameOption = None,
    platform: PlatformOption = "github",
    api: Api = None,
    attempts: Attempts = 0,
    fail_under: FailUnder = 0.0,
    comments: Comments = True,
    root: Root = None,
) -> None:
    """Tell students what their commits were graded, as much of it as they may see.

    The token is in the variable GRADEFORMER_POST_TOKEN. Exit code 1: not all could be told.
    """
    from autograder.platforms.ci.platforms import POST_TOKEN, platform_of, take_token
    from autograder.platforms.ci.posting import Poster
    from autograder.platforms.ci.work import Work

    found = the_assignment(assignment, root, "whose results are posted?")
    on = platform_of(platform)(api, take_token(POST_TOKEN))
    of = about(found.name, found, datetime.now(UTC))
    poster = Poster(Work(work), on, of, fail_under, comments, attempts)
    complete = True
    for told in poster.post():
        _log(f"{told.student}: {told.said if told.done else f'could not be told: {told.said}'}")
        complete = complete and told.done
    raise typer.Exit(0 if complete else ExitCode.NOT_ALL)


def _log(line: str) -> None:
    """Print a line of which neither a terminal nor the runner's log takes a part for a command."""
    say(re.sub(r"([:#])(?=\1)", r"\1 ", clean(line, 500)))


def github(
    out: Out,
    assignment: NameOption = None,
    repositories: Repositories = None,
    organisation: Organisation = None,
    prefix: Prefix = None,
    attempts: Attempts = 3,
    cron: Annotated[str, typer.Option(help="When it grades, in UTC.")] = "17 3 * * *",
    fail_under: FailUnder = 0.0,
    comments: Comments = True,
    root: Root = None,
) -> None:
    """Write GitHub's workflows: for students' repositories, and for the instructor's."""
    from autograder.platforms.ci import written

    setting = written.Setting(
        the_assignment(assignment, root, _QUESTION),
        *(repositories, organisation, prefix, attempts, cron, fail_under, comments),
    )
    _write(out, written.files("github", setting))


def gitlab(
    out: Out,
    assignment: NameOption = None,
    repositories: Repositories = None,
    organisation: Organisation = None,
    prefix: Prefix = None,
    attempts: Attempts = 3,
    fail_under: FailUnder = 0.0,
    comments: Comments = True,
    root: Root = None,
) -> None:
    """Write GitLab's pipelines: for students' projects, and for the instructor's."""
    from autograder.platforms.ci import written

    setting = written.Setting(
        the_assignment(assignment, root, _QUESTION),
        *(repositories, organisation, prefix, attempts),
        fail_under=fail_under,
        comments=comments,
    )
    _write(out, written.files("gitlab", setting))


def gradescope(
    name: Name,
    out: Annotated[Path, typer.Option(help="The zip; a new file.")] = Path("autograder.zip"),
    seconds: Annotated[
        int, typer.Option(min=30, help="How long a submission may take; less than Gradescope's.")
    ] = 570,
    root: Root = None,
) -> None:
    """Write the zip that Gradescope grades with. It holds the solutions."""
    from autograder.platforms.ci import written

    data = written.pack(the_assignment(name, root, _QUESTION), seconds)
    try:
        with private.umask_of(out.parent), out.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise UsageError(f"--out {out} exists: give a new file") from None
    except OSError as error:
        raise UsageError(f"--out {out} cannot be written: {error.strerror}") from error
    say(f"{out}: {len(data) // 1024} kB")
    say("The solutions are in it: upload it to Gradescope, and nowhere else.")


def _write(out: Path, files: dict[str, bytes]) -> None:
    must_be_new(out, "give --out a new folder")
    with whole(out, secret=False) as made:
        write_files(made, files)
    for name in files:
        say(str(out / name), "  ")
    say("How to set it up: docs/ci.md")
