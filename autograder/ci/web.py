"""A platform's HTTP API: JSON out and in, patient with the server, careful with the token."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from autograder.errors import UsageError
from autograder.text import clean

_ATTEMPTS = 5
_SECONDS = 30.0
_LONGEST_WAIT_S = 120.0
_MAX_ANSWER = 20_000_000
_LOCAL = ("127.0.0.1", "localhost", "::1")
_TRY_AGAIN = (408, 425, 429, 500, 502, 503, 504)


class WebFault(Exception):
    """The platform does not do what it is asked; the message is one line without the token."""

    def __init__(self, message: str) -> None:
        super().__init__(clean(message, 300))


class Unsure(WebFault):
    """Something was sent and nothing came back: it may have been done, or not."""


class Web:
    """One API.

    Args:
        root: its address, without a slash at the end.
        headers: of every request; the token is in one of them.
        wait: waits so many seconds.

    Raises:
        UsageError: what is sent there could be read on the way.
    """

    def __init__(
        self, root: str, headers: Mapping[str, str], wait: Callable[[float], None] = time.sleep
    ) -> None:
        check_address(root, "--api")
        self._root = root.rstrip("/")
        self._headers = {"Accept": "application/json", "User-Agent": "gradeformer", **headers}
        self._wait = wait
        self._opener = urllib.request.build_opener(_StayHere)

    def get(self, path: str, **query: str | int) -> Any:
        """Return what is there.

        Raises:
            WebFault: the server does not say.
        """
        address = f"{path}?{urlencode(query)}" if query else path
        return self._patiently(address, None)

    def all(self, path: str, **query: str | int) -> list[Any]:
        """Return the entries of a list, from all its pages."""
        found: list[Any] = []
        for page in range(1, 101):
            entries = self.get(path, per_page=100, page=page, **query)
            if not isinstance(entries, list):
                raise WebFault(f"{path} is no list")
            found += entries
            if len(entries) < 100:
                break
        return found

    def post(self, path: str, body: Mapping[str, Any]) -> None:
        """Send something, once.

        Raises:
            Unsure: it may have been done.
            WebFault: it was not.
        """
        self._patiently(path, json.dumps(body).encode())

    def _patiently(self, path: str, data: bytes | None) -> Any:
        for attempt in range(1, _ATTEMPTS + 1):
            request = urllib.request.Request(  # noqa: S310 - the scheme was checked
                self._root + path, data, {**self._headers, "Content-Type": "application/json"}
            )
            try:
                with self._opener.open(request, timeout=_SECONDS) as answer:
                    text = answer.read(_MAX_ANSWER)
                return json.loads(text or b"null")
            except urllib.error.HTTPError as error:
                reason = f"{error.code} {error.reason} for {path}"
                if data is not None and error.code >= 500:
                    raise Unsure(reason) from None
                pause = _pause(error, attempt)
                if pause is None or attempt == _ATTEMPTS:
                    raise WebFault(reason) from None
            except (OSError, http.client.HTTPException) as error:
                reason = f"{self._root} cannot be reached: {error}"
                if data is not None:
                    raise Unsure(reason) from None
                if attempt == _ATTEMPTS:
                    raise WebFault(reason) from None
                pause = 2.0**attempt
            except ValueError:
                raise WebFault(f"what {path} says is no JSON") from None
            self._wait(pause)
        raise AssertionError("the last attempt returns or raises")

    def pause(self, attempt: int) -> None:
        """Wait before something is tried once more."""
        self._wait(2.0**attempt)


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: it would take the token along, wherever it leads."""

    def redirect_request(self, *_: Any) -> None:
        return None


def check_address(address: str, option: str) -> None:
    """Refuse an address over which a token could be read on the way.

    Raises:
        UsageError: it is neither https nor on this machine.
    """
    try:
        parts = urlsplit(address)
        host, user = parts.hostname or "", parts.username
    except ValueError:
        parts, host, user = urlsplit(""), "", None
    fine = parts.scheme == "https" or (parts.scheme == "http" and host in _LOCAL)
    if not fine or not host or user is not None or parts.query or parts.fragment:
        raise UsageError(
            f"{option} {address!r} cannot be used: give an address that begins https://"
        )


def _pause(error: urllib.error.HTTPError, attempt: int) -> float | None:
    """Return how long to wait before another attempt; None if none would help."""
    headers = error.headers
    limited = error.code == 403 and (
        headers.get("Retry-After") or headers.get("X-RateLimit-Remaining") == "0"
    )
    if not limited and error.code not in _TRY_AGAIN:
        return None
    try:
        if headers.get("Retry-After"):
            pause = float(headers["Retry-After"])
        elif limited:
            pause = float(headers["X-RateLimit-Reset"]) - time.time()
        else:
            pause = 2.0**attempt
    except (TypeError, ValueError):
        pause = 2.0**attempt
    return min(max(pause, 0.0), _LONGEST_WAIT_S)
