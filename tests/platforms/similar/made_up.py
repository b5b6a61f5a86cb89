"""A class of 60: 54 works that were done apart, and six copies in disguise.

Nobody's file is in two of the 54: each component of each right variant, of each work in the
made-up class that was written apart, and of each work that the wrong variants were made from, is
dealt to one of them. So each hands in about three components, each by another hand.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from autograder.assignment import Assignment
from tests.conftest import ROOT
from tests.platforms.similar.copies import (
    everything,
    names_changed,
    other_layout,
    texts_changed,
    turned_round,
    without_types,
)

APART = 54
# Of the made-up class, those that were written apart from each other.
WRITTEN_APART = {"transformer_block": ("s01", "s02", "s03", "s04", "s05", "s06")}
Files = Mapping[str, str]


def plain(text: str) -> str:
    return without_types(texts_changed(text))


DISGUISES: Mapping[str, Callable[[str], str]] = {
    "renamed": names_changed,
    "reordered": turned_round,
    "reformatted": other_layout,
    "plain": plain,
    "everything": everything,
}


def made_up(assignment: Assignment, seed: int) -> tuple[dict[str, Files], dict[str, str]]:
    """Return the files of a class of 60 by submission, and who copied from whom."""
    drawn = random.Random(seed)
    hands = list(_hands(assignment))
    drawn.shuffle(hands)
    people: dict[str, dict[str, str]] = {f"apart{number:02}": {} for number in range(APART + 1)}
    for component, text in hands:
        # Whoever has least, and not this one.
        free = [files for files in people.values() if f"{component}.py" not in files]
        min(free, key=len)[f"{component}.py"] = text
    victims = drawn.sample([name for name, files in people.items() if _worth(files)], 6)
    copied = {}
    for (how, disguise), victim in zip(DISGUISES.items(), victims[:5], strict=True):
        people[how] = {file: disguise(text) for file, text in people[victim].items()}
        copied[how] = victim
    # The last copies one component alone, the longest, beside work of their own.
    thief = next(name for name in people if name not in victims)
    longest = max(people[victims[5]], key=lambda file: len(people[victims[5]][file]))
    one = {file: text for file, text in people.pop(thief).items() if file != longest}
    people["one"] = {**one, longest: everything(people[victims[5]][longest])}
    copied["one"] = victims[5]
    return dict(people), copied


def _worth(files: Files) -> bool:
    """Tell whether there is something to copy: not only what is nearest at hand."""
    return sum(len(text) for text in files.values()) > 2500


def _hands(assignment: Assignment) -> Iterator[tuple[str, str]]:
    """Yield the components that somebody wrote, apart from all others: name and text."""
    secret = assignment.secret
    folders = [*sorted((secret / "right_variants").iterdir())]
    place = ROOT / "tests" / "classes" / assignment.name
    folders += [place / name for name in WRITTEN_APART.get(assignment.name, ())]
    for name in assignment.totals:
        paths = [folder / f"{name}.py" for folder in folders]
        paths += sorted((secret / "wrong_variants" / name).glob("*.py"))
        for path in paths:
            if path.is_file():
                yield name, _text(path.read_bytes())


def _text(data: bytes) -> str:
    """Return a file's text; one of the variants is in Latin-1."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def write(batch: Path, people: Mapping[str, Files]) -> Path:
    """Write a class as a folder of submissions and return it."""
    for name, files in people.items():
        for file, text in files.items():
            (batch / name / file).parent.mkdir(parents=True, exist_ok=True)
            (batch / name / file).write_text(text, encoding="utf-8")
    return batch
