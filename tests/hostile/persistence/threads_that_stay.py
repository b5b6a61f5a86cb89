"""Goal: go on in threads when the call is over, and answer questions from there.

At most: 0
"""

import os
import sys
import threading
import time

frame = sys._getframe()
while "wire" not in frame.f_locals:
    frame = frame.f_back
WIRE = frame.f_locals["wire"]
STOP = []


def stay():
    # Whatever is asked by then is answered by this.
    time.sleep(0.05)
    if not STOP:
        STOP.append(1)
        os.write(WIRE, b"gf01" + bytes(19))
    time.sleep(60)


for daemon in (True, False):
    threading.Thread(target=stay, daemon=daemon).start()


class Stubborn:
    def __del__(self):
        # And once more when all is over.
        threading.Thread(target=time.sleep, args=(5,)).start()


KEPT = Stubborn()


def layer_norm(x, eps=1e-5):
    time.sleep(0.01)
    return x
