"""This package as a wheel, and what it was tried with: what another machine is to install."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import sysconfig
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from autograder import __version__
from autograder.archives import archive
from autograder.errors import UsageError

NAME = "gradeformer"
WHEEL_NAME = f"{NAME}-{__version__}-py3-none-any.whl"
_PACKAGE = Path(__file__).resolve().parents[2]
_WHEEL = f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel() -> bytes:
    """Return a wheel of this package, as it is installed here or stands in its checkout.

    Raises:
        UsageError: it is not installed, or not whole.
    """
    about = f"{NAME}-{__version__}.dist-info"
    files = {
        f"{_PACKAGE.name}/{path.relative_to(_PACKAGE).as_posix()}": path.read_bytes()
        for path in sorted(_PACKAGE.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    files[f"{about}/WHEEL"] = _WHEEL.encode()
    found = _installed()
    # A checkout has the second.
    metadata = found.read_text("METADATA") or found.read_text("PKG-INFO")
    programs = found.read_text("entry_points.txt")
    if not metadata or not programs:
        raise UsageError(f"{NAME} is installed without its metadata: install it again with pip")
    files[f"{about}/METADATA"] = metadata.encode()
    files[f"{about}/entry_points.txt"] = programs.encode()
    rows = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items()]
    record = f"{about}/RECORD"
    files[record] = "".join([*rows, f"{record},,\n"]).encode()
    return archive((name, data, False) for name, data in files.items())


def constraints() -> str:
    """Return the versions of all that this package needs, as they are installed here."""
    pins: dict[str, str] = {}
    waiting = [Requirement(line) for line in _installed().requires or ()]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in pins or not _applies(wanted):
            continue
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        pins[name] = pinned(name)
        waiting += [Requirement(line) for line in found.requires or ()]
    return "".join(f"{pin}\n" for _, pin in sorted(pins.items()))


def pinned(package: str) -> str:
    """Return `name==version` of a package that is installed, whichever build of it that is.

    Raises:
        UsageError: it is not.
    """
    return f"{package}=={version(package)}"


def version(package: str) -> str:
    """Return the version of a package that is installed, without the name of its build.

    Raises:
        UsageError: it is not installed.
    """
    try:
        return Version(importlib.metadata.version(package)).public
    except importlib.metadata.PackageNotFoundError:
        raise UsageError(
            f"the package {package!r} is not installed here, so its version is not known: "
            f"pip install {package}"
        ) from None


def python() -> str:
    """Return the version of Python that all this is tried with."""
    return sysconfig.get_python_version()


def _installed() -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution(NAME)
    except importlib.metadata.PackageNotFoundError:
        raise UsageError(f"{NAME} is not installed here: pip install it, then try again") from None


def _applies(wanted: Requirement) -> bool:
    return wanted.marker is None or wanted.marker.evaluate({"extra": ""})


def _digest(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return digest.rstrip(b"=").decode()
