"""Raises exception groups, deep and wide, with control exceptions in them."""


def answer(*args):
    group = BaseExceptionGroup("innermost", [KeyboardInterrupt(), SystemExit(0), GeneratorExit()])
    for number in range(500):
        group = BaseExceptionGroup(f"group {number}", [group, TypeError("x" * 1000)])
    raise group


rescale = count = apply = load = Counter = answer
