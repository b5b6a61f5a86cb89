"""Returns what replies may look like: lists and dicts that name handles, calls and values."""

WORDS = ["value", "v", "o", "handle", "call", "top", "c", "T", "m", "b", "raised", "object", "proxy"]


def replies():
    for word in WORDS:
        for number in (0, 1, -1, 10**9, "eval", "os"):
            yield [word, number]
            yield {word: number, "kind": word, "id": number, "handle": number}


FOUND = list(replies())


class Counter:
    total = property(lambda self: FOUND.pop())
    add = lambda self, word: FOUND.pop()
    __iter__ = lambda self: iter(replies())


rescale = count = load = lambda values: FOUND.pop()
apply = lambda function, values: values.extend(FOUND) or FOUND
