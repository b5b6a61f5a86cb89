"""A submission's modules are imported as they were handed over, whatever lies on a disk by then."""

from __future__ import annotations

import importlib.machinery as machinery
import os
from collections.abc import Callable, Mapping
from importlib.abc import PathEntryFinder
from importlib.machinery import FileFinder, SourceFileLoader
from typing import Any


def imports_from(folder: str, sources: Mapping[str, bytes]) -> Callable[[str], PathEntryFinder]:
    """Return what finds modules in a folder, for `sys.path_hooks`.

    What its code writes there itself is imported by nobody: it has not been read.

    Args:
        folder: where the submission lies, for all who want to see its text.
        sources: its files by path.
    """

    class HandedOver(SourceFileLoader):
        def get_data(self, path: str) -> bytes:
            if path not in sources:
                raise ImportError(f"{os.path.basename(path)} was not handed in")
            return sources[path]

        def path_stats(self, path: str) -> Any:
            # Nothing compiled is taken for it.
            raise OSError

    make = FileFinder.path_hook((HandedOver, machinery.SOURCE_SUFFIXES))

    def find(path: str) -> PathEntryFinder:
        if path != folder and not path.startswith(folder + os.sep):
            raise ImportError
        # Nor is anything in there an archive of modules.
        return make(path) if os.path.isdir(path) else FileFinder(folder)

    return find
