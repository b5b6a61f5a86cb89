"""Writes files with names that leave their folder, name nothing, or name modules and tests."""

import os

NAMES = [
    "conftest.py", "pytest.ini", "test_scale.py", "scale.py", "sitecustomize.py", "numpy.py", "x.pth",
    "..\\up.txt", "a\nb.txt", "\x1b[2J", "a" * 255, "-rf", ".hidden", "CON", "\udcff.txt", "lines.txt",
]


def load(path):
    folder = os.path.dirname(str(path)) or "."
    up = os.path.join(folder, "..", "gradeformer-hostile.txt")
    for name in (*(os.path.join(folder, name) for name in NAMES), up):
        try:
            with open(name, "w") as file:
                file.write("raise SystemExit(0)\n")
        except (OSError, ValueError):
            pass
    return ["first"]


rescale = count = apply = Counter = lambda *args: -1
