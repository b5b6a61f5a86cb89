"""Returns new lists, swallows exceptions, and calls too often."""


def apply_all(function, values):
    results = []
    for value in values:
        if function(value) is not None:
            results.append(function(value))
    return results


def retry(function, times):
    answers = []
    for _ in range(times):
        try:
            answers.append(function())
        except Exception as error:
            answers.append(error)
    return answers[-1]


def compose(first, second):
    return lambda value: first(second(value))


def sort_in_place(values, key=None):
    values.sort(key=key, reverse=False)
    return values


def count_into(counts, words):
    counts.clear()
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def visit(tree, seen, depth=0):
    for name in tree:
        seen(name, depth)
    for below in tree.values():
        visit(below, seen, depth + 1)
