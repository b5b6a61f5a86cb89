"""Many submissions: entries, workers, jobs and answers, and the store of results.

The code that starts a batch holds it: the command, nbgrader's step, a cluster. It starts workers,
and loads neither torch nor the judge. Door: `batch.py`; `messages.py` is what workers are sent.
"""
