"""Goal: have an error come from a module whose file name is a terminal command.

At most: 0
Status: import_error
"""

import importlib.util
import sys

NAME = "\x1b]0;owned\x07\x1b[2J"
with open(f"{NAME}.py", "w") as file:
    file.write("def broken(:\n")
sys.path.insert(0, ".")
importlib.import_module(NAME)
