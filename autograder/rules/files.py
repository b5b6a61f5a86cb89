"""Which of a submission's files are a component's: one module, or a package of several."""

from __future__ import annotations

from collections.abc import Collection


def main_file(component: str, files: Collection[str]) -> str:
    """Return the file that is run when a component is imported: a package has one of its own.

    Args:
        component: its name.
        files: the files that there are, by relative path.
    """
    package = f"{component}/__init__.py"
    return package if package in files else f"{component}.py"


def module_name(file: str) -> str:
    """Return the name under which a file is imported, by its relative path."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_of(file: str, component: str) -> bool:
    """Return whether a file is a component's own, by its relative path."""
    return file == f"{component}.py" or file.startswith(f"{component}/")
