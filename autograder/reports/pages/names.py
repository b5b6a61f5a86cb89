"""What students are called: the files of their pages, and other ids where theirs are not shown."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from autograder.grading.store import Stored
from autograder.results import ComponentResult, Held, SubmissionResult

_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,78}[A-Za-z0-9_-])?\Z")
_LONGEST = 40
# Names that Windows keeps for devices, whatever follows the first dot.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|\Z)", re.IGNORECASE)


def files_of(ids: Sequence[str]) -> list[str]:
    """Return a file name for every id: its own where any system takes it, else one made of it.

    No two are the same, even where capitals are not told apart.
    """
    counts = Counter(name.casefold() for name in ids)
    kept = {name for name in ids if _is_plain(name) and counts[name.casefold()] == 1}
    taken = {name.casefold() for name in kept}
    found = []
    for name in ids:
        file = name
        length = 10
        while name not in kept and (file == name or file.casefold() in taken):
            # Longer, should somebody's id be made to look like another's file.
            file = _made(name, length)
            length += 2
        taken.add(file.casefold())
        found.append(f"{file}.html")
    return found


def _is_plain(name: str) -> bool:
    return _PLAIN.match(name) is not None and _DEVICES.match(name) is None


def _made(name: str, length: int) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "-", name)[:_LONGEST].strip("-")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{words or 'student'}-{digest[:length]}"


def ids_of(results: Sequence[SubmissionResult]) -> Sequence[str]:
    """Return whose results they are, without reading those that lie in files."""
    if isinstance(results, Stored):
        return results.submissions
    return [result.submission for result in results]


def anonymous(
    results: Sequence[SubmissionResult], ids: Sequence[str]
) -> tuple[Iterator[SubmissionResult], dict[str, str]]:
    """Return results that name nobody, in an order that tells nothing, and who is called what.

    All that a student wrote, or that code of students said, is left out: a name may be in it.
    Points, outcomes, titles and known mistakes are the course's, and stay. `ids` says whose the
    results are, in their order; who is called what comes in the new one.
    """
    order = list(range(len(ids)))
    # Not to be guessed from the ids.
    random.SystemRandom().shuffle(order)
    width = len(str(len(order)))
    names = [f"student-{n:0{width}d}" for n in range(1, len(order) + 1)]
    called = {ids[place]: name for place, name in zip(order, names, strict=True)}
    pairs = zip(order, names, strict=True)
    return (without_names(results[place], name) for place, name in pairs), called


def without_names(result: SubmissionResult, called: str) -> SubmissionResult:
    """Return a result under another id, without what students wrote."""
    components = {name: _stripped(component) for name, component in result.components.items()}
    return SubmissionResult(
        submission=called,
        assignment=result.assignment,
        status=result.status,
        score=result.score,
        max_score=result.max_score,
        components=components,
        # What is held is known as held; its places name the student's own files.
        review=[
            Held(component=name, file="", line=0, what="")
            for name in dict.fromkeys(place.component for place in result.review)
        ],
        sandbox="",
    )


def _stripped(component: ComponentResult) -> ComponentResult:
    criteria = [
        criterion.model_copy(update={"facts": [], "hints": [], "message": ""})
        for criterion in component.criteria
    ]
    nothing: Mapping[str, object] = {"notes": [], "message": "", "views": []}
    return component.model_copy(update={**nothing, "criteria": criteria})
