"""Student code in a process of its own, and nothing else in it.

`host` and `handle` are the judge's side. `server`, `child` and `confine` run in the other process,
which can open nothing of the project that is secret.
"""

CHOICES = ("auto", "tier1", "tier2", "tier3", "none")
