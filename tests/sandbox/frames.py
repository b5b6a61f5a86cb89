"""Frames of replies, read whole."""

from autograder.api.messages import Reply
from autograder.sandbox.wire import Receive, read_reply, receive_reply


def decode_reply(receive: Receive) -> tuple[int, Reply]:
    """Receive and read a reply; return it with its nonce."""
    nonce, header, data = receive_reply(receive)
    return nonce, read_reply(header, data)
