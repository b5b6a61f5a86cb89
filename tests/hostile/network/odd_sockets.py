"""Goal: open a kind of socket that a filter may have forgotten.

At most: 0
"""

import socket

OPENED = []
KINDS = {
    "netlink": (16, socket.SOCK_RAW, 0),
    "packet": (17, socket.SOCK_RAW, 0x0300),
    "raw": (socket.AF_INET, socket.SOCK_RAW, 1),
    "ping": (socket.AF_INET, socket.SOCK_DGRAM, 1),
    "sctp": (socket.AF_INET, socket.SOCK_STREAM, 132),
    "mptcp": (socket.AF_INET, socket.SOCK_STREAM, 262),
    "crypto": (38, socket.SOCK_SEQPACKET, 0),
    "vsock": (40, socket.SOCK_STREAM, 0),
    "xdp": (44, socket.SOCK_RAW, 0),
    "bluetooth": (31, socket.SOCK_RAW, 0),
    "can": (29, socket.SOCK_RAW, 1),
}
for name, kind in KINDS.items():
    try:
        OPENED.append((name, socket.socket(*kind).fileno()))
    except OSError:
        continue


def layer_norm(x, eps=1e-5):
    if OPENED:
        raise ValueError(f"opened {OPENED}")
    return x
