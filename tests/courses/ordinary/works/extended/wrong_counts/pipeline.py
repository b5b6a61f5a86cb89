"""Counts no further than one, forgets the names of steps, and catches everything."""


class Step:
    def __init__(self, name="step"):
        self.name = "step"
        self.count = 0

    def run(self, text):
        self.count = 1
        return self.change(text)

    def change(self, text):
        return text

    def describe(self):
        return f"{type(self).__name__}({self.name})"

    __repr__ = describe


class Pipeline(Step):
    def __init__(self, *steps):
        super().__init__("pipeline")
        self.steps = steps

    def change(self, text):
        for step in self.steps:
            try:
                text = step.run(text)
            except Exception:
                return text
        return text

    def counts(self):
        return {step.name: step.count for step in self.steps}
