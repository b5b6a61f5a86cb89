"""Where solutions run: a folder of this process's own, that holds the assignment's data."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from autograder.assignment import Assignment
from autograder.exchange.programs import DATA


@contextlib.contextmanager
def workplace(assignment: Assignment) -> Iterator[None]:
    """Work in a new folder, as a submission does: data can be opened and files be written there."""
    with TemporaryDirectory(prefix="gradeformer-") as folder:
        data = assignment.public / DATA
        if data.is_dir():
            shutil.copytree(data, f"{folder}/{DATA}")
        with contextlib.chdir(folder):
            yield
