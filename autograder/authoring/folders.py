"""Folders that a command fills, whole or not at all, and the templates of what it writes."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder import private
from autograder.assignment import GIVEN, NOT_DECIDING
from autograder.errors import UsageError
from autograder.project import FOLDERS

if TYPE_CHECKING:
    import jinja2

_SUFFIX = ".jinja"
# Folders of an assignment that hold no code of a component's.
_OF_ASSIGNMENTS = (*GIVEN, *NOT_DECIDING, "tests", "stand_ins", "misconceptions")


def must_be_new(folder: Path, repair: str) -> None:
    """Check that a folder is empty or does not exist yet.

    Raises:
        UsageError: it is a file or holds something; the message ends in `repair`.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "is not empty" if folder.is_dir() else "is a file"
        raise UsageError(f"{folder} {what}: {repair}")


def modules_in(folder: Path) -> dict[str, bytes]:
    """Return the Python files of a folder, and of packages in it; none where there is no folder."""
    packages = [path.parent for path in sorted(folder.glob("*/__init__.py"))]
    inner = [
        path
        for package in packages
        if package.name not in _OF_ASSIGNMENTS
        for path in sorted(package.rglob("*.py"))
    ]
    files = [*sorted(folder.glob("*.py")), *inner]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their relative paths, with the folders that they need."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@contextlib.contextmanager
def whole(folder: Path, parts: Sequence[str] = (), secret: bool = True) -> Iterator[Path]:
    """Yield a folder whose content is moved to `folder` at the end; after an error nothing is left.

    Args:
        folder: may be missing; one that is there is filled, as someone may stand in it.
        parts: the paths that are moved; by default all that is in the folder.
        secret: whether solutions are among it, so that other accounts may not read it.
    """
    with readable_errors(folder):
        target = folder.resolve()
        above = next(place for place in (target, *target.parents) if place.is_dir())
        beside = target.parent if above == target and not parts else above
        closed = private.umask_of(beside) if secret else contextlib.nullcontext()
        # Beside the target, so that nothing is copied.
        apart = tempfile.TemporaryDirectory(prefix=".gradeformer-", dir=above)
        moved: list[Path] = []
        with closed, apart as name:
            # Folders on the way that are missing are made with it.
            made = Path(name) / target.relative_to(above)
            made.mkdir(parents=True, exist_ok=True)
            yield made
            try:
                for part in parts or sorted(path.name for path in Path(name).iterdir()):
                    (Path(name) / part).rename(above / part)
                    moved.append(above / part)
            except BaseException:
                for path in moved:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                raise


@contextlib.contextmanager
def readable_errors(folder: Path) -> Iterator[None]:
    """Turn an OSError into a UsageError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{folder} cannot be written: {reason}") from error


def text_of(template: str, **values: Any) -> str:
    """Return one template, filled in."""
    return _environment().get_template(f"{template}{_SUFFIX}").render(values)


def filled(
    folder: str, values: Mapping[str, Any], components: Sequence[str] = ()
) -> dict[str, bytes]:
    """Return the files of a folder of templates; those about a component once for each.

    In their paths `public/` and `secret/` are the two folders of the assignment, `COMPONENT` is a
    component, `dot_` a dot.
    """
    files = {}
    for path in _environment().list_templates(extensions=[_SUFFIX[1:]]):
        if not path.startswith(f"{folder}/"):
            continue
        template = path.removesuffix(_SUFFIX)
        for component in components if "COMPONENT" in template else ("",):
            place = template.removeprefix(f"{folder}/").replace("COMPONENT", component)
            for part, of in zip(("public", "secret"), FOLDERS, strict=True):
                place = re.sub(f"^{part}/", f"{of}/{values['name']}/", place)
            place = re.sub(r"(^|/)dot_", r"\1.", place)
            files[place] = text_of(template, **{**values, "component": component}).encode()
    return files


@functools.cache
def _environment() -> jinja2.Environment:
    # Here and not above: not every command writes texts.
    import jinja2

    environment = jinja2.Environment(  # noqa: S701 - Python, TOML and Markdown, and no HTML
        loader=jinja2.PackageLoader(__package__),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Strings of JSON are those of TOML, too; without this it would write `'` as HTML needs it.
    environment.filters["tojson"] = json.dumps
    return environment
