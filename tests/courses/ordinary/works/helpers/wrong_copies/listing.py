"""Works on copies, and calls functions the wrong way round."""


def apply_all(function, values):
    return [function(value) for value in values[::-1]][::-1]


def retry(function, times):
    for _ in range(times + 1):
        try:
            return function()
        except Exception:
            pass


def compose(*functions):
    def composed(value):
        for function in functions:
            value = function(value)
        return value

    return composed


def sort_in_place(values, key=None):
    values = sorted(values, key=key)


def count_into(counts, words):
    counts = dict(counts)
    for word in words:
        counts[word] = counts.get(word, 0) + 1


def visit(tree, seen, depth=0):
    for name, below in tree.items():
        visit(below, seen, depth + 1)
        seen(name, depth)
