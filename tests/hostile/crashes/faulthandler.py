"""Goal: crash with a traceback that is written to the grader's terminal.

At most: 0
Status: crashed
"""

import faulthandler

faulthandler.enable(file=2)
faulthandler.dump_traceback_later(0.01, repeat=True, file=2)


def layer_norm(x, eps=1e-5):
    faulthandler._read_null()


LayerNorm = layer_norm
