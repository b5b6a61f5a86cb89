"""GitHub and GitLab: where repositories are, and how a commit gets a status and a comment."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import quote

from autograder.ci.web import Web, WebFault
from autograder.errors import UsageError

TOKEN = "GRADEFORMER_TOKEN"  # noqa: S105 - the name of a variable
State = Literal["success", "failure", "pending", "error"]
_MAX_DESCRIPTION = 140


class Platform(ABC):
    """What differs from one platform to another.

    Args:
        api: the root of its HTTP API.
        token: what it is shown.
        wait: waits so many seconds.
    """

    # The name that goes with a token over git, the variables and the values of its addresses.
    user: str
    server_variable: str
    api_variable: str
    default_server: str
    default_api: str

    def __init__(
        self, api: str, token: str | None, wait: Callable[[float], None] = time.sleep
    ) -> None:
        self._web = Web(api, self._shown(token) if token else {}, wait)

    def pause(self, attempt: int) -> None:
        """Wait before something is tried once more."""
        self._web.pause(attempt)

    @staticmethod
    @abstractmethod
    def _shown(token: str) -> dict[str, str]:
        """Return the header that shows a token."""

    @abstractmethod
    def repositories(self, organisation: str) -> list[str]:
        """Return all repositories of an organisation or group, as `owner/name`."""

    @abstractmethod
    def status(self, repository: str, commit: str, context: str) -> tuple[str, str] | None:
        """Return the newest status of this name that a commit has: its state and description."""

    @abstractmethod
    def set_status(
        self, repository: str, commit: str, context: str, state: State, description: str
    ) -> None:
        """Give a commit a status."""

    @abstractmethod
    def comments(self, repository: str, commit: str) -> list[str]:
        """Return the texts of a commit's comments."""

    @abstractmethod
    def comment(self, repository: str, commit: str, text: str) -> None:
        """Comment on a commit."""

    def named(self, state: State) -> str:
        """Return what a state is called there."""
        return state


class GitHub(Platform):
    """GitHub, also on a server of one's own."""

    user = "x-access-token"
    server_variable, default_server = "GITHUB_SERVER_URL", "https://github.com"
    api_variable, default_api = "GITHUB_API_URL", "https://api.github.com"

    @staticmethod
    def _shown(token: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {token}", "X-GitHub-Api-Version": "2022-11-28"}

    def repositories(self, organisation: str) -> list[str]:
        found = self._web.all(f"/orgs/{quote(organisation, safe='')}/repos", type="all")
        return [_text(entry, "full_name") for entry in found]

    def status(self, repository: str, commit: str, context: str) -> tuple[str, str] | None:
        # The newest is the first.
        for entry in self._web.all(f"/repos/{quote(repository)}/commits/{commit}/statuses"):
            if _text(entry, "context") == context:
                return _text(entry, "state"), _text(entry, "description")
        return None

    def set_status(
        self, repository: str, commit: str, context: str, state: State, description: str
    ) -> None:
        body = {"state": state, "context": context, "description": _short(description)}
        self._web.post(f"/repos/{quote(repository)}/statuses/{commit}", body)

    def comments(self, repository: str, commit: str) -> list[str]:
        found = self._web.all(f"/repos/{quote(repository)}/commits/{commit}/comments")
        return [_text(entry, "body") for entry in found]

    def comment(self, repository: str, commit: str, text: str) -> None:
        self._web.post(f"/repos/{quote(repository)}/commits/{commit}/comments", {"body": text})


class GitLab(Platform):
    """GitLab, also on a server of one's own."""

    user = "oauth2"
    server_variable, default_server = "CI_SERVER_URL", "https://gitlab.com"
    api_variable, default_api = "CI_API_V4_URL", "https://gitlab.com/api/v4"
    _STATES: Mapping[str, str] = {"failure": "failed", "error": "failed"}

    @staticmethod
    def _shown(token: str) -> dict[str, str]:
        return {"PRIVATE-TOKEN": token}

    def named(self, state: State) -> str:
        return self._STATES.get(state, state)

    def repositories(self, organisation: str) -> list[str]:
        found = self._web.all(f"/groups/{quote(organisation, safe='')}/projects", simple="true")
        return [_text(entry, "path_with_namespace") for entry in found]

    def status(self, repository: str, commit: str, context: str) -> tuple[str, str] | None:
        # The oldest is the first, and only the newest of a name is listed.
        place = f"{_project(repository)}/repository/commits/{commit}/statuses"
        found = [e for e in self._web.all(place, name=context) if _text(e, "name") == context]
        return (_text(found[-1], "status"), _text(found[-1], "description")) if found else None

    def set_status(
        self, repository: str, commit: str, context: str, state: State, description: str
    ) -> None:
        body = {"state": self.named(state), "name": context, "description": _short(description)}
        self._web.post(f"{_project(repository)}/statuses/{commit}", body)

    def comments(self, repository: str, commit: str) -> list[str]:
        found = self._web.all(f"{_project(repository)}/repository/commits/{commit}/comments")
        return [_text(entry, "note") for entry in found]

    def comment(self, repository: str, commit: str, text: str) -> None:
        place = f"{_project(repository)}/repository/commits/{commit}/comments"
        self._web.post(place, {"note": text})


PLATFORMS: Mapping[str, type[Platform]] = {"github": GitHub, "gitlab": GitLab}


def kind_of(name: str) -> type[Platform]:
    """Return a platform by its name.

    Raises:
        UsageError: it is none of ours.
    """
    if name not in PLATFORMS:
        raise UsageError(f"--platform {name!r} is unknown; choose one of {', '.join(PLATFORMS)}")
    return PLATFORMS[name]


def take_token() -> str | None:
    """Take the token out of the environment, so that nothing that is started inherits it.

    Raises:
        UsageError: it cannot be sent.
    """
    token = os.environ.pop(TOKEN, "").strip()
    if not token.isprintable() or not token.isascii() or " " in token:
        raise UsageError(f"the token in {TOKEN} is none: it has characters that no token has")
    return token or None


def _project(repository: str) -> str:
    return f"/projects/{quote(repository, safe='')}"


def _text(entry: Any, key: str) -> str:
    if not isinstance(entry, dict):
        raise WebFault(f"an entry without {key}")
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _short(text: str) -> str:
    return text if len(text) <= _MAX_DESCRIPTION else text[: _MAX_DESCRIPTION - 1] + "…"
