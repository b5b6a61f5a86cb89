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

    Args:
        folder: where the submission lies, for all who want to see its text.
        sources: its files by path. A module that its code writes there itself is read from there.
    """

    class HandedOver(SourceFileLoader):
        def get_data(self, path: str) -> bytes:
            known = sources.get(path)
            return super().get_data(path) if known is None else known

        def path_stats(self, path: str) -> Any:
            # Nothing compiled is taken for it.
            raise OSError

    make = FileFinder.path_hook(
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (HandedOver, machinery.SOURCE_SUFFIXES),
        (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
    )

    def find(path: str) -> PathEntryFinder:
        if path != folder and not path.startswith(folder + os.sep):
            raise ImportError
        return make(path)

    return find
