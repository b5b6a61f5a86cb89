"""Returns objects of classes whose names and modules are markup, control signs, or endless."""

NAMES = ["<script>alert(1)</script>", "\x1b[2J", "a" * 10**6, "​", "\ud800", "int", "list\nPASSED"]


def odd(*args):
    kind = type("Kind", (), {"__repr__": lambda self: NAMES[0] + "\x1b]0;x\x07"})
    NAMES.append(NAMES.pop(0))
    try:
        kind.__name__ = kind.__qualname__ = NAMES[0]
    except (UnicodeError, ValueError):
        kind.__qualname__ = "x"
    kind.__module__ = NAMES[1] if len(NAMES[1]) < 1000 else 7
    return kind()


rescale = count = apply = load = Counter = odd
