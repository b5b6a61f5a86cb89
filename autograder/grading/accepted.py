"""What a person has accepted of what was held for review: `accepted.json` beside the results."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from autograder import private
from autograder.errors import UsageError
from autograder.grading.store import writing
from autograder.text import clean

NAME = "accepted.json"
_REPAIR = "repair it; or remove it, and accept again what it listed"

# By submission and component, the digest of the files that were accepted.
Accepted = dict[str, dict[str, str]]


class _File(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    accepted: Accepted


def read(out: Path) -> Accepted:
    """Read what was accepted of the results in a folder; nothing where there is no file.

    Raises:
        UsageError: the file cannot be read, or is damaged.
    """
    path = out / NAME
    try:
        return _File.model_validate_json(path.read_bytes()).accepted
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): {_REPAIR}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        why = clean(f"{place}: {first['msg']}")
        raise UsageError(f"{path} is damaged ({why}): {_REPAIR}") from error


def write(out: Path, accepted: Mapping[str, Mapping[str, str]]) -> Path:
    """Write what was accepted, whole or not at all, and return the file.

    Raises:
        UsageError: it cannot be written.
    """
    path = out / NAME
    listed = {name: dict(sorted(accepted[name].items())) for name in sorted(accepted)}
    data = _File(accepted=listed).model_dump_json(by_alias=True, indent=2)
    with writing(path):
        private.write_file(path, data.encode() + b"\n")
    return path


def command(out: Path, submission: str, *component: str) -> str:
    """Return what accepts a submission, or a component of it, as it is typed."""
    return shlex.join(["autograder", "accept", str(out), submission, *component])
