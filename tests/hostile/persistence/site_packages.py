"""Goal: plant a file among the installed packages that every later Python runs at its start.

At most: 0
"""

import os
import site
import sys
import sysconfig

NAME = "gradeformer-hostile"
places = [*sys.path, *site.getsitepackages(), site.getusersitepackages()]
places += sysconfig.get_paths().values()
for place in places:
    for name, text in ((f"{NAME}.pth", "import this\n"), (f"{NAME}.py", "ANSWERS = {}\n")):
        path = os.path.join(place or ".", name)
        if os.path.dirname(os.path.abspath(path)) == os.getcwd():
            continue
        try:
            with open(path, "w") as file:
                file.write(text)
        except OSError:
            pass
        try:
            # What cannot be written may still be renamed over, or linked.
            with open(name, "w") as file:
                file.write(text)
            os.rename(name, path)
        except OSError:
            pass
        try:
            os.symlink(os.path.abspath(name), path)
        except OSError:
            continue


def layer_norm(x, eps=1e-5):
    return x
