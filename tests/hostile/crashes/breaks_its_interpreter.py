"""Goal: take away what the code around it stands on: builtins, modules, frames.

At most: 0
Status: graded, crashed, import_error
"""

import builtins
import gc
import sys

for name in ("isinstance", "len", "getattr", "tuple", "zip", "Exception", "open"):
    setattr(builtins, name, None)
for module in list(sys.modules):
    sys.modules[module] = None
for thing in gc.get_objects():
    if type(thing) is dict and "__builtins__" in thing and thing is not globals():
        thing.clear()
