"""Threads go on to change the written file, and put links in its place, while it is read."""

import os
import threading


def keep_changing(path):
    turn = 0
    while True:
        turn += 1
        try:
            with open(f"{path}.new", "w") as file:
                file.write("wrong" * (turn % 1000))
            os.replace(f"{path}.new", f"{path}.clean")
            os.symlink("/etc/passwd", f"{path}.link")
            os.replace(f"{path}.link", f"{path}.clean")
        except OSError:
            pass


def load(path):
    for _ in range(3):
        threading.Thread(target=keep_changing, args=(path,), daemon=True).start()
    return ["first"]


rescale = count = apply = Counter = lambda *args: -1
