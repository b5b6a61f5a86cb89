"""Asks for input again and again, with prompts that are objects, long or hostile."""

import builtins


class Prompt:
    __str__ = lambda self: "x" * 10**8


def answer(*args):
    for prompt in ("", Prompt(), "\x1b[2J", "x" * 10**7, *range(10**5)):
        try:
            input(prompt)
        except Exception:
            pass
    builtins.input = answer
    return -1


rescale = count = apply = load = Counter = answer
