"""Where solutions run: a folder of this process's own, that holds the assignment's data."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator

from autograder.api.loading import DATA
from autograder.assignment import Assignment
from autograder.sandbox.scratch import temporary_folder


@contextlib.contextmanager
def workplace(assignment: Assignment) -> Iterator[None]:
    """Work in a new folder, as a submission does: data can be opened and files be written there."""
    with temporary_folder() as folder:
        data = assignment.public / DATA
        if data.is_dir():
            shutil.copytree(data, folder / DATA)
        with contextlib.chdir(folder):
            yield
