"""The error that a user can repair."""


class UsageError(Exception):
    """Something the user gave is unusable; the message is one sentence with the repair."""
