"""A helper that both files could use."""


def between(value, start, length):
    return value in range(start, start + length)
