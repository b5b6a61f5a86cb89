"""Goal: overflow the parser and the compiler with nested source.

At most: 0
Status: import_error, crashed, timeout
"""

for bomb in (
    "(" * 200_000,
    "-" * 200_000 + "1",
    "1+" * 100_000 + "1",
    "x" + ".a" * 100_000,
    "x" + "()" * 100_000,
    "f'" + "{" * 200_000,
    "".join(f"{' ' * depth}if 1:\n" for depth in range(500)),
    "a=" * 100_000 + "1",
    "lambda:" * 100_000 + "1",
):
    try:
        compile(bomb, "bomb", "exec")
    except (SyntaxError, MemoryError, RecursionError):
        pass
raise RuntimeError("survived")
