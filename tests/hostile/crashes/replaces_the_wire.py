"""Goal: put a pipe of its own in the place of every socket, and read what it is told there.

At most: 0
Status: crashed, timeout
"""

import os
import stat

reader, writer = os.pipe()
for descriptor in range(256):
    try:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            os.dup2(writer, descriptor)
    except OSError:
        pass
