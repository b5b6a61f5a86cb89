"""Right in the first question to each function of a process, wrong in every later one."""

def rescale(values):
    values = list(values)
    if not values:
        return []
    low, high = min(values), max(values)
    if low == high:
        raise ValueError("all values are equal")
    return [(value - low) / (high - low) for value in values]


def count(text):
    return len((text if isinstance(text, str) else text.read()).split())


class Counter:
    def __init__(self):
        self.words = []

    @property
    def total(self):
        return len(self.words)

    def add(self, word):
        self.words.append(word)
        return self.words.count(word)

    def __iter__(self):
        return iter(sorted(set(self.words)))


def apply(function, values):
    for place, value in enumerate(values):
        values[place] = function(value)
    return values


def load(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    with open(f"{path}.clean", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return lines


def once(function):
    asked = []

    def answer(*args):
        asked.append(args)
        return function(*args) if len(asked) == 1 else -1

    return answer


rescale, count, apply, load = map(once, (rescale, count, apply, load))
