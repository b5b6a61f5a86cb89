"""Student code in a process of its own, and nothing else in it.

`host` and `handle` are the judge's side. `server`, `child` and `confine` run on the far side, where
nothing of the project that is secret can be opened.
"""

CHOICES = ("auto", "tier1", "tier2", "tier3", "none")
