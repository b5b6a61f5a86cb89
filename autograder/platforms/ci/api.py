"""A platform's HTTP API, by httpx: within limits of size and time, and careful with the token."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import math
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import httpx

from autograder.errors import UsageError
from autograder.text import clean

MAX_ANSWER = 20_000_000
MAX_ARCHIVE = 100_000_000
MAX_PAGES = 100
_ATTEMPTS = 5
SECONDS = 30.0
_LONGEST_WAIT_S = 120.0
_MAX_REDIRECTS = 3
_LOCAL = ("127.0.0.1", "localhost", "::1")
_REDIRECTS = (301, 302, 303, 307, 308)
_BUSY = (408, 425, 429)
_MOVED = "it was moved or renamed: give its new name"
_HINTS = {
    401: "is the token right, and not expired?",
    403: "may the token do this? docs/ci.md lists the permissions",
    404: "it is not there, or the token may not read it",
    **dict.fromkeys(_REDIRECTS, _MOVED),
}


class ApiFault(Exception):
    """The platform does not do what it is asked; the message is one line without the token."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(clean(message, 300))
        self.code = code


class Unsure(ApiFault):
    """What was sent may have been done, or not; it may be tried again after `pause` seconds."""

    def __init__(self, message: str, pause: float = 2.0) -> None:
        super().__init__(message)
        self.pause = pause


class _Unreached(ApiFault):
    """A connection that was not made, or was lost."""


class Api:
    """One API.

    Args:
        root: its address.
        headers: of every request that goes there, the token among them.
        token: what no message may hold.
        wait: waits that many seconds.

    Raises:
        UsageError: what is sent to the address could be read on the way.
    """

    def __init__(
        self,
        root: str,
        headers: Mapping[str, str],
        token: str,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        if not _is_safe(root) or urlsplit(root).query:
            raise UsageError(f"--api {root!r} cannot be used: give an address that begins https://")
        self.wait = wait
        self._root = root.rstrip("/")
        self._headers = dict(headers)
        self._token = token
        # It takes 20 ms to read whom to trust.
        self._trust = ssl.create_default_context()

    def get(self, path: str, **query: str | int) -> Any:
        """Return what is there.

        Raises:
            ApiFault: the server does not say, or not within the limits.
        """
        return self._read(path, self._patiently(path, self._root + path, query=query))

    def all(self, path: str, **query: str | int) -> list[Any]:
        """Return the entries of a list, from all its pages; arguments and errors as for `get`."""
        found: list[Any] = []
        address, asked = self._root + path, {"per_page": 100, **query}
        for _ in range(MAX_PAGES):
            answer = self._patiently(path, address, query=asked)
            entries = self._read(path, answer)
            if not isinstance(entries, list):
                raise ApiFault(f"{path} is not a list")
            found += entries
            following = answer.links.get("next", {}).get("url", "")
            if not following:
                return found
            # The query is in the link.
            address, asked = _joined(address, following), {}
            if not address.startswith(self._root + "/"):
                raise ApiFault(f"the next page of {path} is elsewhere, where no token is sent")
        raise ApiFault(f"{path} has more than {MAX_PAGES} pages; what is beyond is not read")

    def download(self, path: str, file: BinaryIO, seconds: float) -> None:
        """Write an archive to a file. Where the platform redirects, the token does not go along.

        Raises:
            ApiFault: it cannot be had within the limits.
        """
        address, headers = self._root + path, self._headers
        for _ in range(_MAX_REDIRECTS + 1):
            answer = self._patiently(path, address, headers=headers, file=file, seconds=seconds)
            if answer.status_code not in _REDIRECTS:
                return
            address, headers = _joined(address, answer.headers.get("Location", "")), {}
            if self._token.casefold() in address.casefold():
                raise ApiFault(f"{path} is redirected to an address that repeats the token")
            if not _is_safe(address):
                raise ApiFault(f"{path} is redirected to an address that is not https")
        raise ApiFault(f"{path} is redirected more than {_MAX_REDIRECTS} times")

    def post(self, path: str, body: Mapping[str, Any]) -> None:
        """Send something, once.

        Raises:
            Unsure: it may have been done.
            ApiFault: it was not.
        """
        try:
            answer = self._ask(self._root + path, body=body)
        except ApiFault as fault:
            raise Unsure(str(fault)) from None
        pause = _pause(answer, 1)
        if pause is not None:
            # A server, or one before it, can say so when it has done what it was asked.
            raise Unsure(_reason(answer.status_code, path), pause)
        if not answer.is_success:
            raise ApiFault(_reason(answer.status_code, path), answer.status_code)

    def _patiently(self, path: str, address: str, **how: Any) -> httpx.Response:
        """Ask until there is an answer; arguments are those of `_ask`."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = self._ask(address, **how)
                code = answer.status_code
                if code == 200 or ("file" in how and code in _REDIRECTS):
                    return answer
                fault, pause = ApiFault(_reason(code, path), code), _pause(answer, attempt)
            except _Unreached as unreached:
                fault, pause = unreached, 2.0**attempt
            if pause is None or attempt == _ATTEMPTS:
                raise fault
            self.wait(pause)
        raise AssertionError("the last attempt returns or raises")

    def _ask(
        self,
        address: str,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str | int] | None = None,
        body: Mapping[str, Any] | None = None,
        file: BinaryIO | None = None,
        seconds: float | None = None,
    ) -> httpx.Response:
        # Nothing is unpacked on the way, so that what is counted is what is kept.
        sent = {"Accept-Encoding": "identity", "User-Agent": "gradeformer"}
        sent |= self._headers if headers is None else headers
        method, limit = "GET" if body is None else "POST", MAX_ARCHIVE if file else MAX_ANSWER
        how: dict[str, Any] = {"params": query or None, "json": body, "headers": sent}
        host, most = urlsplit(address).hostname, SECONDS if seconds is None else seconds

        async def answered() -> httpx.Response:
            said, size = io.BytesIO(), 0
            # One limit for all of it: a server that sends a byte now and then is late, too.
            async with (
                asyncio.timeout(most),
                httpx.AsyncClient(verify=self._trust, timeout=most) as client,
                client.stream(method, address, **how) as answer,
            ):
                if answer.headers.get("Content-Encoding", "identity") != "identity":
                    raise ApiFault(f"{host} packs its answer, though it is asked not to")
                kept = file if file is not None and answer.status_code == 200 else said
                async for piece in answer.aiter_raw():
                    size += len(piece)
                    if size > limit:
                        raise ApiFault(f"{host} answers with more than {limit} bytes")
                    kept.write(piece)
            code, content = answer.status_code, said.getvalue()
            return httpx.Response(code, headers=answer.headers, content=content)

        if file is not None:
            # What an attempt before this one left.
            file.seek(0)
            file.truncate()
        try:
            return asyncio.run(answered())
        except (TimeoutError, httpx.TimeoutException):
            raise ApiFault(f"{host} takes longer than {most:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            said = f"{type(error).__name__} {error}".replace(self._token, "(the token)")
            raise _Unreached(f"{host} cannot be reached: {said}") from None

    def _read(self, path: str, answer: httpx.Response) -> Any:
        if self._token.encode() in answer.content:
            raise ApiFault(f"{path} repeats the token, so nothing of it is used")
        try:
            return json.loads(answer.content or b"null")
        except (ValueError, RecursionError):
            raise ApiFault(f"the answer to {path} is not JSON that can be read") from None


def _is_safe(address: str) -> bool:
    """Return whether nobody on the way can read what is sent to an address, nor redirect it."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    local = parts.scheme == "http" and host in _LOCAL
    odd = not host or parts.username is not None or bool(parts.fragment)
    return not odd and (parts.scheme == "https" or local)


def _joined(address: str, onward: str) -> str:
    try:
        return str(httpx.URL(address).join(onward))
    except (httpx.InvalidURL, ValueError):
        return ""


def _reason(code: int, path: str) -> str:
    # In our words: the server's own could hold anything.
    hint = f": {_HINTS[code]}" if code in _HINTS else ""
    return f"{code} {httpx.codes.get_reason_phrase(code)} for {path}{hint}"


def _pause(answer: httpx.Response, attempt: int) -> float | None:
    """Return how long to wait before another attempt; None if none would help."""
    headers, code = answer.headers, answer.status_code
    after = headers.get("Retry-After")
    limited = code == 403 and (after or headers.get("X-RateLimit-Remaining") == "0")
    if not limited and code not in _BUSY and code < 500:
        return None
    pause = 2.0**attempt
    with contextlib.suppress(KeyError, ValueError):
        if after:
            pause = float(after)
        elif limited:
            pause = float(headers["X-RateLimit-Reset"]) - time.time()
    return min(max(pause, 0.0), _LONGEST_WAIT_S) if math.isfinite(pause) else _LONGEST_WAIT_S
