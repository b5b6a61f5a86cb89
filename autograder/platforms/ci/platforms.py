"""GitHub and GitLab: whose repositories there are, their commits, statuses and comments."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal
from urllib.parse import quote

from autograder.errors import UsageError
from autograder.platforms.ci.api import Api, ApiFault

FETCH_TOKEN = "GRADEFORMER_FETCH_TOKEN"  # noqa: S105 - the name of a variable
POST_TOKEN = "GRADEFORMER_POST_TOKEN"  # noqa: S105
State = Literal["success", "failure", "pending", "error"]
_MAX_DESCRIPTION = 140
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class Dialect:
    """What a platform calls things; the defaults are GitHub's. `{c}` is a commit."""

    api_variable: str = "GITHUB_API_URL"
    default_api: str = "https://api.github.com"
    header: str = "Authorization"
    shown: str = "Bearer {}"
    listing: str = "/orgs/{}/repos"
    listing_query: tuple[tuple[str, str], ...] = (("type", "all"),)
    full_name: str = "full_name"
    repository: str = "/repos/{}"
    unescaped: str = "/"
    # A branch, and no tag that has its name.
    branch: str = "/branches/{}"
    sha: str = "sha"
    commits: str = "/commits"
    archive: str = "/tarball/{c}"
    statuses: str = "/commits/{c}/statuses"
    newest_first: bool = True
    context: str = "context"
    state: str = "state"
    states: tuple[tuple[State, str], ...] = ()
    comments: str = "/commits/{c}/comments"
    comment: str = "body"


GITHUB = Dialect()
GITLAB = Dialect(
    api_variable="CI_API_V4_URL",
    default_api="https://gitlab.com/api/v4",
    header="PRIVATE-TOKEN",
    shown="{}",
    listing="/groups/{}/projects",
    # What others share into a group does not belong to it.
    listing_query=(("simple", "true"), ("with_shared", "false")),
    full_name="path_with_namespace",
    repository="/projects/{}",
    unescaped="",
    branch="/repository/branches/{}",
    sha="id",
    commits="/repository/commits",
    archive="/repository/archive.tar.gz?sha={c}",
    statuses="/repository/commits/{c}/statuses",
    newest_first=False,
    context="name",
    state="status",
    states=(("failure", "failed"), ("error", "failed")),
    comments="/repository/commits/{c}/comments",
    comment="note",
)
PLATFORMS = {"github": GITHUB, "gitlab": GITLAB}


class Platform:
    """A platform, asked with a token.

    Args:
        dialect: which one it is.
        api: the root of its HTTP API; None for the pipeline's own or the public one.
        token: what it is shown.
        wait: waits so many seconds.
    """

    def __init__(
        self,
        dialect: Dialect,
        api: str | None,
        token: str,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        root = api or os.environ.get(dialect.api_variable) or dialect.default_api
        self._is = dialect
        self._api = Api(root, {dialect.header: dialect.shown.format(token)}, token, wait)
        self.wait = wait

    def repositories(self, organisation: str) -> list[str]:
        """Return all repositories of an organisation or group, as `owner/name`.

        This and all that follows raises ApiFault if the platform does not do it.
        """
        place = self._is.listing.format(quote(organisation, safe=""))
        entries = self._api.all(place, **dict(self._is.listing_query))
        return [_text(entry, self._is.full_name) for entry in entries]

    def newest(self, repository: str, branch: str | None) -> str | None:
        """Return the newest commit of a branch, or of the default one; None if there is none."""
        place = self._place(repository)
        if branch is not None:
            named = self._is.branch.format(quote(branch, safe=self._is.unescaped))
            found = self._api.get(place + named)
            entry = found.get("commit") if isinstance(found, dict) else None
        else:
            try:
                found = self._api.get(place + self._is.commits, per_page=1)
            except ApiFault as fault:
                # GitHub says so of a repository that is empty.
                if fault.code != 409:
                    raise
                return None
            if found == []:
                return None
            entry = found[0] if isinstance(found, list) else None
        commit = _text(entry, self._is.sha)
        if not _COMMIT.fullmatch(commit):
            raise ApiFault(f"{place} names no commit")
        return commit

    def archive(self, repository: str, commit: str, file: BinaryIO, seconds: float) -> None:
        """Write a commit's files to a file, as a .tar.gz."""
        self._api.archive(self._place(repository, self._is.archive, commit), file, seconds)

    def status(self, repository: str, commit: str, context: str) -> tuple[str, str] | None:
        """Return the newest status of this name that a commit has: its state and description."""
        entries = self._api.all(self._place(repository, self._is.statuses, commit))
        found = [entry for entry in entries if _text(entry, self._is.context) == context]
        if not found:
            return None
        newest = found[0 if self._is.newest_first else -1]
        return _text(newest, self._is.state), _text(newest, "description")

    def set_status(
        self, repository: str, commit: str, context: str, state: State, description: str
    ) -> None:
        """Give a commit a status."""
        cut = description[: _MAX_DESCRIPTION - 1] + "…"
        said = description if len(description) <= _MAX_DESCRIPTION else cut
        body = {"state": self.named(state), "description": said, self._is.context: context}
        self._api.post(self._place(repository, "/statuses/{c}", commit), body)

    def comments(self, repository: str, commit: str) -> list[str]:
        """Return the texts of a commit's comments."""
        entries = self._api.all(self._place(repository, self._is.comments, commit))
        return [_text(entry, self._is.comment) for entry in entries]

    def comment(self, repository: str, commit: str, text: str) -> None:
        """Comment on a commit."""
        place = self._place(repository, self._is.comments, commit)
        self._api.post(place, {self._is.comment: text})

    def named(self, state: State) -> str:
        """Return what a state is called there."""
        return dict(self._is.states).get(state, state)

    def _place(self, repository: str, path: str = "", commit: str = "") -> str:
        name = quote(repository, safe=self._is.unescaped)
        return self._is.repository.format(name) + path.format(c=commit)


def dialect_of(name: str) -> Dialect:
    """Return a platform's dialect by its name.

    Raises:
        UsageError: it is none of ours.
    """
    if name not in PLATFORMS:
        raise UsageError(f"--platform {name!r} is unknown; choose one of {', '.join(PLATFORMS)}")
    return PLATFORMS[name]


def take_token(variable: str) -> str:
    """Take a token out of the environment, so that nothing that is started inherits one.

    Raises:
        UsageError: it is not there, or cannot be sent.
    """
    tokens = {name: os.environ.pop(name, "").strip() for name in (FETCH_TOKEN, POST_TOKEN)}
    token = tokens[variable]
    if not token:
        raise UsageError(
            f'{variable} is not set: make a token as docs/ci.md says under "Tokens" and store it '
            "under this name, on GitHub as a secret of your repository, on GitLab as a variable of "
            "your project"
        )
    if not token.isprintable() or not token.isascii() or " " in token:
        raise UsageError(f"{variable} holds no token: there are characters in it that none has")
    return token


def _text(entry: Any, key: str) -> str:
    if not isinstance(entry, dict):
        raise ApiFault(f"an entry without {key}")
    value = entry.get(key)
    return value if isinstance(value, str) else ""
