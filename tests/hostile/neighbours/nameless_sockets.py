"""Goal: meet other students' processes at a local socket that has no file.

At most: 0
"""

import os
import socket

MET = []
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    for act in ("bind", "connect"):
        try:
            meeting = socket.socket(socket.AF_UNIX, kind)
            getattr(meeting, act)("\0gradeformer-hostile")
            MET.append((act, kind))
        except OSError:
            continue
try:
    MET.append(socket.socketpair())
    os.mkfifo("gradeformer-hostile-fifo")
except OSError:
    pass
# Daemons that many machines have.
for path in ("/var/run/docker.sock", "/run/dbus/system_bus_socket", "\0/tmp/.X11-unix/X0"):
    try:
        daemon = socket.socket(socket.AF_UNIX)
        daemon.connect(path)
        MET.append(path)
    except OSError:
        continue


def layer_norm(x, eps=1e-5):
    if MET:
        raise ValueError(f"met at {MET}")
    return x
