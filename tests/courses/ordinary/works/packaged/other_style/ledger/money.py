"""How amounts are written."""


def written(cents: int) -> str:
    """Write cents as euros."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"
