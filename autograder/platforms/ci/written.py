"""The files that make a platform grade: for students' repositories, for ours, Gradescope's zip."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from autograder.archives import archive
from autograder.assignment import Assignment
from autograder.errors import UsageError
from autograder.platforms.ci import packing, roster

FAULT = (
    "The grader failed. That is not your fault, and this is no mark: "
    "tell your instructor, who can run it again."
)
# Gradescope ends a run after this time unless it is set otherwise; there is some to say so.
_SECONDS = 570
_SUFFIX = ".jinja"
_CRON = re.compile(r"[0-9*/,-]+( [0-9*/,-]+){4}")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}){0,20}")
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,200}")


@dataclass(frozen=True)
class Setting:
    """What a pipeline is set to.

    Attributes:
        assignment: what is graded.
        repositories: a list in the instructor's repository; None for one that is begun.
        organisation: instead of a list, where students' repositories are.
        prefix: what the names of those begin with.
        attempts: how many commits of a student are graded a day; 0 for all.
        cron: when it runs, as cron has it.
        fail_under: the percentage of the points below which a commit's state is a failure.
        comments: comment on commits.
    """

    assignment: Assignment
    repositories: str | None = None
    organisation: str | None = None
    prefix: str | None = None
    attempts: int = 3
    cron: str = "17 3 * * *"
    fail_under: float = 0.0
    comments: bool = True

    def whose(self) -> str:
        """Return the options that say whose work is fetched, as a shell is given them.

        Raises:
            UsageError: they are no such options.
        """
        if self.organisation is not None:
            if self.repositories is not None:
                raise UsageError("give --repositories or --organisation, and not both")
            if not _NAME.fullmatch(self.organisation):
                raise UsageError(f"--organisation {self.organisation!r} is no name of one")
            if not self.prefix or not _NAME.fullmatch(self.prefix) or "/" in self.prefix:
                raise UsageError(
                    "--prefix is missing, or is none: what do the names of the students' "
                    "repositories begin with?"
                )
            return shlex.join(["--organisation", self.organisation, "--prefix", self.prefix])
        if self.prefix is not None:
            raise UsageError("--prefix goes with --organisation")
        path = self.repositories or self.own_list
        if not _PATH.fullmatch(path) or ".." in path:
            raise UsageError(
                f"--repositories {path!r}: give the list's path within the instructor's repository"
            )
        return shlex.join(["--repositories", path])

    @property
    def own_list(self) -> str:
        """The list that is begun where none is named."""
        return f"ci/{self.assignment.name}/students.csv"


def files(platform: str, setting: Setting) -> dict[str, bytes]:
    """Return the files of a platform, by their paths below `student/` and `teacher/`.

    Raises:
        UsageError: something of the setting cannot be used.
    """
    if not _CRON.fullmatch(setting.cron):
        raise UsageError(f"--cron {setting.cron!r} is none: it has five fields, as in '17 3 * * *'")
    name = setting.assignment.name
    students = ("numpy", "pytest", "hypothesis", *setting.assignment.packages)
    values = {"name": name, "setting": setting, "packing": packing, "students": students}
    found = {path.replace("NAME", name): text.encode() for path, text in rendered(platform, values)}
    found[f"teacher/ci/{name}/constraints.txt"] = packing.constraints().encode()
    found[f"teacher/wheels/{packing.WHEEL_NAME}"] = packing.wheel()
    if setting.organisation is None and setting.repositories is None:
        found[f"teacher/{setting.own_list}"] = f"{','.join(roster.HEADER)}\n".encode()
    return found


def pack(assignment: Assignment, seconds: int = _SECONDS) -> bytes:
    """Return the zip.

    Args:
        assignment: what is graded; its solutions are in the zip.
        seconds: how long a submission may take in all.

    Raises:
        UsageError: a file of the assignment cannot be read.
    """
    values = {
        "name": assignment.name,
        "packing": packing,
        "packages": assignment.packages,
        "fault": FAULT,
        "seconds": seconds,
    }
    files = [(name, text.encode(), True) for name, text in rendered("gradescope", values)]
    files.append(("constraints.txt", packing.constraints().encode(), False))
    files.append((packing.WHEEL_NAME, packing.wheel(), False))
    for _, path in assignment.files():
        name = f"project/{path.relative_to(assignment.root).as_posix()}"
        files.append((name, _read(path), False))
    return archive(files)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def rendered(template: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the files of a template with their relative paths."""
    environment = jinja2.Environment(  # noqa: S701 - YAML and shell, and no HTML
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        # Braces are the platforms' own.
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        comment_start_string="[#",
        comment_end_string="#]",
    )
    origin = Path(__file__).parent / "templates" / template
    for path in sorted(origin.rglob(f"*{_SUFFIX}")):
        place = path.relative_to(origin).as_posix().removesuffix(_SUFFIX)
        text = environment.from_string(path.read_text(encoding="utf-8")).render(values)
        yield re.sub(r"(^|/)dot_", r"\1.", place), text
