"""Follow-through: an error costs its points once, not again in what builds on it.

A component that uses a broken one is graded once more with a stand-in in its place, and every
criterion counts the better of the two runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from autograder.assignment import Assignment

# Under this name a component's own file stays beside its stand-in, for helpers that only it has.
OWN = "own_"
_LACKING = """

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    import {0}
    return getattr({0}, name)
"""


def files_of(components: Iterable[str]) -> frozenset[str]:
    """Return the files of components, and those that stay beside their stand-ins."""
    return frozenset(f"{prefix}{name}.py" for name in components for prefix in ("", OWN))


def with_stand_ins(
    assignment: Assignment, files: Mapping[str, bytes], broken: Sequence[str]
) -> dict[str, bytes]:
    """Put stand-ins in the place of components; names they lack come from the student's file."""
    working = dict(files)
    for used in broken:
        own = f"{OWN}{used}"
        working[f"{used}.py"] = (
            assignment.stand_in(used).read_bytes() + _LACKING.format(own).encode()
        )
        if f"{used}.py" in files:
            working[f"{own}.py"] = files[f"{used}.py"]
    return working
