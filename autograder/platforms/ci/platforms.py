"""GitHub and GitLab: whose repositories there are, their commits, statuses and comments."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, Literal
from urllib.parse import quote

from autograder.errors import UsageError
from autograder.platforms.ci.api import Api, ApiFault

FETCH_TOKEN = "GRADEFORMER_FETCH_TOKEN"  # noqa: S105 - the name of a variable
POST_TOKEN = "GRADEFORMER_POST_TOKEN"  # noqa: S105
State = Literal["success", "failure", "pending", "error"]
_MAX_DESCRIPTION = 140
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Platform(Api):
    """GitHub, or one that calls things otherwise, asked with a token.

    Args:
        api: the root of its HTTP API; None for the pipeline's own or the public one.
        token: what it is shown.
        wait: waits that many seconds.
    """

    api_variable = "GITHUB_API_URL"
    default_api = "https://api.github.com"
    header, shown = "Authorization", "Bearer {}"
    listing = "/orgs/{}/repos"
    listing_query: Mapping[str, str] = {"type": "all"}
    full_name = "full_name"
    repository, unescaped = "/repos/{}", "/"
    # A branch, and no tag that has its name.
    branch, sha = "branches/{}", "sha"
    commits, tarball = "commits", "tarball/{}"
    newest_first = True
    context, state = "context", "state"
    states: Mapping[State, str] = {}
    text = "body"

    def __init__(
        self, api: str | None, token: str, wait: Callable[[float], None] = time.sleep
    ) -> None:
        root = api or os.environ.get(self.api_variable) or self.default_api
        super().__init__(root, {self.header: self.shown.format(token)}, token, wait)

    def repositories(self, organisation: str) -> list[str]:
        """Return all repositories of an organisation or group, as `owner/name`.

        This and all that follows raises ApiFault if the platform does not do it.
        """
        place = self.listing.format(quote(organisation, safe=""))
        entries = self.all(place, **self.listing_query)
        return [_text(entry, self.full_name) for entry in entries]

    def newest(self, repository: str, branch: str | None) -> str | None:
        """Return the newest commit of a branch, or of the default one; None if there is none."""
        place = self._place(repository)
        if branch is not None:
            named = self.branch.format(quote(branch, safe=self.unescaped))
            found = self.get(f"{place}/{named}")
            entry = found.get("commit") if isinstance(found, dict) else None
        else:
            try:
                found = self.get(f"{place}/{self.commits}", per_page=1)
            except ApiFault as fault:
                # GitHub says so of a repository that is empty.
                if fault.code != 409:
                    raise
                return None
            if found == []:
                return None
            entry = found[0] if isinstance(found, list) else None
        commit = _text(entry, self.sha)
        if not _COMMIT.fullmatch(commit):
            raise ApiFault(f"{place} names no commit")
        return commit

    def archive(self, repository: str, commit: str, file: BinaryIO, seconds: float) -> None:
        """Write a commit's files to a file, as a .tar.gz."""
        self.download(self._place(repository, self.tarball.format(commit)), file, seconds)

    def has_status(
        self, repository: str, commit: str, context: str, state: State, words: str
    ) -> bool:
        """Return whether this is the newest status of its name that a commit has."""
        entries = self.all(self._place(repository, self.commits, commit, "statuses"))
        found = [entry for entry in entries if _text(entry, self.context) == context]
        if not found:
            return False
        newest = found[0 if self.newest_first else -1]
        said = _text(newest, "description")
        # A platform may cut a description off.
        same = said == words or (said.endswith("…") and words.startswith(said[:-1]))
        return same and _text(newest, self.state) == self.named(state)

    def set_status(
        self, repository: str, commit: str, context: str, state: State, words: str
    ) -> None:
        """Give a commit a status."""
        said = words if len(words) <= _MAX_DESCRIPTION else words[: _MAX_DESCRIPTION - 1] + "…"
        body = {"state": self.named(state), "description": said, self.context: context}
        self.post(self._place(repository, "statuses", commit), body)

    def has_comment(self, repository: str, commit: str, mark: str) -> bool:
        """Return whether a comment on a commit holds a mark."""
        entries = self.all(self._place(repository, self.commits, commit, "comments"))
        return any(mark in _text(entry, self.text) for entry in entries)

    def comment(self, repository: str, commit: str, text: str) -> None:
        """Comment on a commit."""
        self.post(self._place(repository, self.commits, commit, "comments"), {self.text: text})

    def named(self, state: State) -> str:
        """Return what a state is called there."""
        return self.states.get(state, state)

    def _place(self, repository: str, *parts: str) -> str:
        return "/".join([self.repository.format(quote(repository, safe=self.unescaped)), *parts])


class GitLab(Platform):
    """GitLab."""

    api_variable = "CI_API_V4_URL"
    default_api = "https://gitlab.com/api/v4"
    header, shown = "PRIVATE-TOKEN", "{}"
    listing = "/groups/{}/projects"
    # What others share into a group does not belong to it.
    listing_query: Mapping[str, str] = {"simple": "true", "with_shared": "false"}
    full_name = "path_with_namespace"
    repository, unescaped = "/projects/{}", ""
    branch, sha = "repository/branches/{}", "id"
    commits, tarball = "repository/commits", "repository/archive.tar.gz?sha={}"
    newest_first = False
    context, state = "name", "status"
    states: Mapping[State, str] = {"failure": "failed", "error": "failed"}
    text = "note"


PLATFORMS: Mapping[str, type[Platform]] = {"github": Platform, "gitlab": GitLab}


def platform_of(name: str) -> type[Platform]:
    """Return a platform by its name.

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
