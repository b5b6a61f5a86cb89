"""Reaches the test's module by __globals__ of its function, and through it the judge's disk."""

FOUND = []


def apply(function, values):
    names = function.__globals__
    names["__builtins__"]["open"]("/tmp/gradeformer-hostile-globals", "w").close()
    FOUND.append(names.get("EXPECTED", names))
    names["right"] = names["scale"] = None
    values[:] = map(function, list(values))
    return values


rescale = lambda values: FOUND[0]
count = load = Counter = lambda *args: FOUND[0]
