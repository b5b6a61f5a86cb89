"""Goal: overflow the C stack with nested data: JSON, pickles, literals, copies.

At most: 0
Status: import_error, crashed
"""

import ast
import copy
import json
import pickle

DEPTH = 100_000


def nested():
    inner = []
    for _ in range(DEPTH):
        inner = [inner]
    return inner


for attack in (
    lambda: json.loads("[" * DEPTH),
    lambda: pickle.loads(b"(" * DEPTH + b"l" * DEPTH + b"."),
    lambda: pickle.dumps(nested()),
    lambda: json.dumps(nested()),
    lambda: repr(nested()),
    lambda: copy.deepcopy(nested()),
    lambda: nested() == nested(),
    lambda: ast.literal_eval("-" * DEPTH + "1"),
):
    try:
        attack()
    except (RecursionError, ValueError, MemoryError, SyntaxError):
        pass
raise RuntimeError("survived")
