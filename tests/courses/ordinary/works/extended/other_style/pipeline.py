"""With class attributes and reduce."""

import functools


class Step:
    count = 0

    def __init__(self, name="step"):
        self.name = name

    def run(self, text):
        setattr(self, "count", self.count + 1)
        result = self.change(text)
        return result

    def change(self, text):
        return text[:]

    def __repr__(self):
        return "{0.__class__.__qualname__}({0.name})".format(self)

    describe = __repr__


class Pipeline(Step):
    def __init__(self, *steps):
        Step.__init__(self, name="pipeline")
        self.steps = steps

    def change(self, text):
        return functools.reduce(lambda done, step: step.run(done), self.steps, text)

    def counts(self):
        found = {}
        for step in self.steps:
            found[step.name] = step.count
        return found
