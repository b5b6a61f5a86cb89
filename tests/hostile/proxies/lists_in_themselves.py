"""Returns lists, dicts and objects that hold themselves, and changes an argument to such a one."""


def round_list(*args):
    found = [0.0, 0.25]
    found.append(found)
    return found


class Counter(dict):
    def __init__(self):
        self["total"] = self.total = self

    add = lambda self, word: self
    __iter__ = lambda self: iter([self])


rescale = count = load = round_list


def apply(function, values):
    values[:] = [values]
    return values
