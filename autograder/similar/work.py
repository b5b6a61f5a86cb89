"""One submission as it is compared: its texts, their words and fingerprints."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from autograder.similar.prints import prints_of
from autograder.similar.words import words_of

# Of one submission, in characters; an honest one has a tenth of it.
MAX_TEXT = 200_000


@dataclass(frozen=True)
class Text:
    """One file: its words are those from `first` on of its submission, `count` of them."""

    name: str
    text: str
    first: int
    count: int


@dataclass(frozen=True)
class Work:
    """One submission.

    Attributes:
        id: whose it is.
        texts: its files, components first.
        prints: (n,) uint64, the fingerprint of the run that begins at each of its n words.
        begins: (n,) bool, whether a run begins there: not near the end of a file.
        starts, ends: (n,) int32, where in its file a word begins and ends.
        left_out: files that were too much, the last of them perhaps compared in part.
    """

    id: str
    texts: list[Text]
    prints: NDArray[np.uint64]
    begins: NDArray[np.bool_]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    left_out: Sequence[str] = field(default=())


def work_of(id_: str, files: Mapping[str, bytes], components: Collection[str]) -> Work:
    """Return a submission as it is compared.

    Args:
        id_: whose it is.
        files: its Python files by relative POSIX path.
        components: names of components, whose files are compared first.
    """
    first = [f"{name}.py" for name in components if f"{name}.py" in files]
    names = first + sorted(set(files) - set(first))
    stems = (PurePosixPath(name).parts[0].removesuffix(".py") for name in names)
    own_modules = frozenset((*components, *stems))
    texts: list[Text] = []
    # One that has no text has no words.
    found = [np.zeros(0, np.uint64)]
    begins = [np.zeros(0, np.bool_)]
    starts, ends = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    left, count = MAX_TEXT, 0
    left_out = []
    for name in names:
        whole = decoded(files[name])
        text = whole[:left]
        if len(text) < len(whole):
            left_out.append(name)
        left -= len(text)
        if not text:
            continue
        words = words_of(text, own_modules)
        prints = prints_of(words)
        size = len(words.values)
        found.append(np.pad(prints, (0, size - len(prints))))
        begins.append(np.arange(size) < len(prints))
        starts.append(words.starts)
        ends.append(words.ends)
        texts.append(Text(name, text, count, size))
        count += size
    return Work(
        id_,
        texts,
        np.concatenate(found),
        np.concatenate(begins),
        np.concatenate(starts),
        np.concatenate(ends),
        left_out,
    )


def decoded(data: bytes) -> str:
    """Return a file's text whatever its bytes are, its lines ended by `\\n`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")
